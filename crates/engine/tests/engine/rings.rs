//! Rings that come and go: small ones, full ones, and parked ones.

use std::collections::VecDeque;

use oxmpi_engine::{Mode, OpKey};
use oxmpi_shm::ring::RingSize;

use crate::harness::{Lie, Store, World};
use crate::messages::contents;

/// Enough that pairs begin with small rings, and that a rank may not have full ones to all others.
const MANY: u32 = 90;
/// In a cell, on a desk, in the bulk, the longest that is sent at once, and announced: with a last piece that fits into
/// a cell, the longest that goes on desks, and a longer one.
const SIZES: [usize; 9] = [0, 80, 81, 4096, 5000, 16 << 10, (16 << 10) + 24, 64 << 10, (64 << 10) + 8];

/// Messages between some ranks of many, each pair's in their order.
struct Traffic {
    world: World,
    /// How many messages each has sent to each, and received.
    sent: Vec<usize>,
    received: Vec<usize>,
    sends: VecDeque<(u32, Option<OpKey>, Store)>,
}

impl Traffic {
    fn new(seed: u64) -> Self {
        let pairs = (MANY * MANY) as usize;
        let (sent, received) = (vec![0; pairs], vec![0; pairs]);
        Self { world: World::new(MANY, seed), sent, received, sends: VecDeque::new() }
    }

    fn pair(from: u32, to: u32) -> usize {
        (from * MANY + to) as usize
    }

    fn bytes(pair: usize, number: usize) -> usize {
        SIZES[(pair * 31 + number * 7 + pair / 5) % SIZES.len()]
    }

    fn send(&mut self, from: u32, to: u32) {
        let pair = Self::pair(from, to);
        let number = self.sent[pair];
        let message = Store::of(&contents(from, number, Self::bytes(pair, number)), Lie::Dense);
        let key = self.world.send(from, to, 1, &message, Mode::Standard);
        self.sent[pair] += 1;
        self.sends.push_back((from, key, message));
    }

    fn receive(&mut self, from: u32, to: u32) {
        let pair = Self::pair(from, to);
        let number = self.received[pair];
        let into = Store::new(Self::bytes(pair, number), Lie::Dense);
        let received = self.world.receive(to, Some(from), Some(1), &into);
        let outcome = self.world.finish(to, received);
        assert!(outcome.error.is_none(), "{from} to {to}, message {number}: {outcome:?}");
        assert_eq!(into.get(), contents(from, number, Self::bytes(pair, number)), "{from} to {to}");
        self.received[pair] += 1;
    }

    fn receive_all(&mut self) {
        for from in 0..MANY {
            for to in 0..MANY {
                while self.received[Self::pair(from, to)] < self.sent[Self::pair(from, to)] {
                    self.receive(from, to);
                }
            }
        }
        while let Some((from, key, _message)) = self.sends.pop_front() {
            self.world.finish_send(from, key);
        }
    }

    /// Shared memory in use, in bytes.
    fn memory(&self, rank: u32) -> usize {
        self.world.engines[rank as usize].memory().0
    }
}

#[test]
fn pairs_that_say_one_word_cost_half_a_kilobyte() {
    let mut traffic = Traffic::new(1);
    let word = Store::of(&[7; 8], Lie::Dense);
    for from in 0..MANY {
        for to in (0..MANY).filter(|&to| to != from) {
            assert!(traffic.world.send(from, to, 1, &word, Mode::Standard).is_none(), "it is on its way");
        }
    }
    for to in 0..MANY {
        for from in (0..MANY).filter(|&from| from != to) {
            let into = Store::new(8, Lie::Dense);
            let received = traffic.world.receive(to, Some(from), Some(1), &into);
            traffic.world.finish(to, received);
            assert_eq!(into.get(), [7; 8]);
        }
    }
    for rank in 0..MANY {
        assert!(traffic.memory(rank) <= 512 * MANY as usize, "rank {rank}: {}", traffic.memory(rank));
    }
}

/// The first one that does not fit into a cell needs more; all arrive in their order, though nobody has read the short
/// ones.
#[test]
fn few_ranks_that_say_short_words_use_a_ring_of_cells() {
    let mut world = World::new(2, 5);
    let shared = |world: &World| world.engines[0].memory().0;
    let before = shared(&world);
    let words: Vec<_> =
        (0..40).map(|number| contents(0, number, if number < 39 { 80 } else { 81 })).collect();
    for (number, word) in words.iter().enumerate() {
        let is_short = number < 39;
        assert!(
            world.send(0, 1, 1, &Store::of(word, Lie::Dense), Mode::Standard).is_none(),
            "it is on its way"
        );
        assert_eq!(shared(&world) <= before + (16 << 10), is_short, "after word {number}");
    }
    for word in words {
        let into = Store::new(word.len(), Lie::Dense);
        let received = world.receive(1, Some(0), Some(1), &into);
        world.finish(1, received);
        assert_eq!(into.get(), word);
    }
}

/// Its beginning by a wide ring, and the rest by the widest, where a second cache is large enough.
#[test]
fn a_message_arrives_that_is_worth_other_rings_as_it_goes() {
    let mut world = World::new(2, 3);
    let widest = RingSize::widest(2);
    for (number, bytes) in [40_000, 9 * widest.bulk_bytes, 100_000].into_iter().enumerate() {
        let data = contents(0, number, bytes);
        let (from, into) = (Store::of(&data, Lie::Dense), Store::new(bytes, Lie::Dense));
        let key = world.send(0, 1, 1, &from, Mode::Standard);
        let received = world.receive(1, Some(0), Some(1), &into);
        assert!(world.finish(1, received).error.is_none());
        assert!(into.get() == data, "message {number}");
        world.finish_send(0, key);
    }
    let (shared, _) = world.engines[0].memory();
    assert!(shared >= widest.bulk_bytes, "{shared} bytes were in use at most");
}

/// What lies on desks, with rings that get wider meanwhile.
#[test]
fn questions_and_answers_come_whole_by_whatever_ring() {
    let mut world = World::new(2, 7);
    let widest = RingSize::widest(2).bulk_bytes;
    for number in 0..120 {
        let bytes = if number == 70 { 9 * widest } else { SIZES[number * 5 % SIZES.len()] };
        let data = [0, 1].map(|rank| contents(rank, number, bytes));
        // In turn, or at the same time.
        let turns: &[&[u32]] = if number % 3 == 0 { &[&[0, 1]] } else { &[&[0], &[1]] };
        for senders in turns {
            let sends: Vec<_> = senders
                .iter()
                .map(|&from| {
                    let message = Store::of(&data[from as usize], Lie::Dense);
                    let key = world.send(from, 1 - from, 1, &message, Mode::Standard);
                    (from, key, message)
                })
                .collect();
            for (from, key, _message) in sends {
                let into = Store::new(bytes, Lie::Dense);
                let received = world.receive(1 - from, Some(from), Some(1), &into);
                assert!(world.finish(1 - from, received).error.is_none());
                assert!(into.get() == data[from as usize], "message {number} of rank {from}");
                world.finish_send(from, key);
            }
        }
    }
}

/// Some ranks talk much, others seldom; receivers park what is silent, senders end what rests.
#[test]
fn messages_keep_their_order_whatever_rings_they_take() {
    for seed in 0..6 {
        let mut traffic = Traffic::new(seed);
        let hub = traffic.world.random.below(MANY as usize) as u32;
        for step in 0..2500 {
            let [one, other] = [(); 2].map(|()| traffic.world.random.below(MANY as usize) as u32);
            let near = (one + 1) % MANY;
            let pair = match traffic.world.random.below(4) {
                0 => (hub, other),
                1 => (other, hub),
                2 => (one, near),
                _ => (one, other),
            };
            if pair.0 == pair.1 {
                continue;
            }
            let is_behind =
                traffic.received[Traffic::pair(pair.0, pair.1)] < traffic.sent[Traffic::pair(pair.0, pair.1)];
            match traffic.world.random.below(5) {
                0 | 1 => traffic.send(pair.0, pair.1),
                2 if is_behind => traffic.receive(pair.0, pair.1),
                3 => traffic.world.turn(),
                _ => traffic.world.engines[pair.1 as usize].suspect(),
            }
            if step % 500 == 499 {
                traffic.receive_all();
                traffic.world.engines.iter_mut().for_each(|engine| (0..70).for_each(|_| engine.suspect()));
            }
        }
        traffic.receive_all();
    }
}

/// Most of them go by small rings, each of which is used up many times.
#[test]
fn long_messages_go_on_where_no_full_ring_is_to_be_had() {
    let mut traffic = Traffic::new(4);
    for round in 0..24 {
        let long = Store::of(&contents(0, round, 40_000), Lie::Dense);
        let sends: Vec<_> =
            (1..MANY).map(|to| (to, traffic.world.send(0, to, 1, &long, Mode::Standard))).collect();
        for (to, send) in sends {
            let into = Store::new(40_000, Lie::Dense);
            let received = traffic.world.receive(to, Some(0), Some(1), &into);
            traffic.world.finish(to, received);
            traffic.world.finish_send(0, send);
            assert_eq!(into.get(), long.get(), "to {to}, round {round}");
        }
    }
}

/// Beside one that rests: else they are made again, at the cost of memory and of messages that wait for it.
#[test]
fn full_rings_that_are_used_are_kept() {
    const BUSY: u32 = 20;
    let mut traffic = Traffic::new(5);
    (1..=BUSY + 1).for_each(|to| traffic.send(0, to));
    let mut at_first = None;
    for _ in 0..200 {
        (1..=BUSY).for_each(|to| traffic.send(0, to));
        traffic.receive_all();
        traffic.world.engines[0].suspect();
        assert_eq!(traffic.memory(0), *at_first.get_or_insert(traffic.memory(0)));
    }
}

/// A rank that has talked to all keeps no more than its share of full rings.
#[test]
fn full_rings_are_ended_when_they_rest() {
    let mut traffic = Traffic::new(3);
    for _ in 0..3 {
        for to in 1..MANY {
            (0..4).for_each(|_| traffic.send(0, to));
            traffic.receive_all();
        }
    }
    // Its share, and as many that have ended and are read still; all would be 89.
    let most = traffic.memory(0);
    assert!(most <= 78 * (128 << 10), "{most} bytes");
    for _ in 0..200 {
        traffic.world.engines.iter_mut().for_each(|engine| engine.suspect());
        traffic.world.settle();
    }
    (1..MANY).for_each(|to| traffic.send(0, to));
    traffic.receive_all();
}
