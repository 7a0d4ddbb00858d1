//! Partitioned messages, in whatever order partitions become ready and engines have their turns.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication.

use std::sync::Arc;

use oxmpi_base::{ErrorClass, Status};
use oxmpi_engine::{Address, Arrivals, Marks, PartitionedKey};

use crate::harness::{Lie, Random, Store, World};
use crate::messages::{LIES, contents};

/// A send and its receive, and the memory of both.
struct Pair {
    ranks: [usize; 2],
    stores: [Store; 2],
    send: PartitionedKey,
    receive: PartitionedKey,
    marks: Arc<Marks>,
    arrivals: Arc<Arrivals>,
}

const TAG: i32 = 5;

fn make_send(
    world: &mut World,
    [from, to]: [usize; 2],
    store: &Store,
    partitions: u32,
) -> (PartitionedKey, Arc<Marks>) {
    let to = world.address(from, to);
    let p2p = &mut world.engines[from].p2p;
    p2p.partitioned_send(Some(to), from as i32, TAG, store.buffer().clone(), partitions)
}

fn make_receive(
    world: &mut World,
    [from, to]: [usize; 2],
    store: &Store,
    partitions: u32,
) -> (PartitionedKey, Arc<Arrivals>) {
    let (source, context) = (Some((world.peer(to, from), from as i32)), world.context);
    let status = Status { source: from as i32, tag: TAG, ..Status::EMPTY };
    let p2p = &mut world.engines[to].p2p;
    p2p.partitioned_receive(context, source, TAG, status, store.buffer().clone(), partitions)
}

impl Pair {
    fn new(world: &mut World, ranks: [usize; 2], bytes: usize, lies: [Lie; 2], partitions: [u32; 2]) -> Self {
        let stores = lies.map(|lie| Store::new(bytes, lie));
        let (send, marks, receive, arrivals);
        if world.random.chance() {
            (send, marks) = make_send(world, ranks, &stores[0], partitions[0]);
            (receive, arrivals) = make_receive(world, ranks, &stores[1], partitions[1]);
        } else {
            (receive, arrivals) = make_receive(world, ranks, &stores[1], partitions[1]);
            (send, marks) = make_send(world, ranks, &stores[0], partitions[0]);
        }
        Self { ranks, stores, send, receive, marks, arrivals }
    }

    fn start(&self, world: &mut World) {
        let begin_with = world.random.below(2);
        for side in [begin_with, 1 - begin_with] {
            let key = if side == 0 { self.send } else { self.receive };
            world.engines[self.ranks[side]].p2p.start_partitioned(key);
            (0..world.random.below(20)).for_each(|_| world.turn());
        }
    }

    /// Marks partitions, and sends where that is due.
    fn mark(&self, world: &mut World, first: u32, last: u32) {
        let marked = self.marks.mark(first, last);
        assert_eq!(marked.twice, None);
        if marked.is_due {
            self.marks.serve(|| world.engines[self.ranks[0]].p2p.serve_partitioned(self.send));
        }
    }

    /// The bytes of a partition of the receive have arrived if those of the send have all become ready.
    fn check_arrivals(&self, world: &World, ready: &[bool], message: &[u8]) {
        let each = message.len() / self.arrivals.partitions() as usize;
        let ready_each = message.len() / ready.len();
        let here = self.stores[1].get();
        for partition in 0..self.arrivals.partitions() {
            if self.arrivals.has_arrived(partition) {
                let range = partition as usize * each..(partition as usize + 1) * each;
                assert_eq!(here[range.clone()], message[range.clone()], "seed {}", world.seed);
                let mut of_send = range.map(|byte| byte / ready_each.max(1));
                assert!(of_send.all(|partition| ready[partition]), "seed {}", world.seed);
            }
        }
    }

    fn finish(&self, world: &mut World, bytes: usize) {
        for (side, key) in [(0, self.send), (1, self.receive)] {
            let rank = self.ranks[side];
            world.until("the end of a round", |engines| engines[rank].p2p.is_over_partitioned(key));
            let outcome = world.engines[rank].p2p.take_partitioned(key).expect("it is over");
            assert!(outcome.error.is_none(), "seed {}: {outcome:?}", world.seed);
            if side == 1 {
                let expected = (self.ranks[0] as i32, TAG, bytes as u64);
                let Status { source, tag, bytes, .. } = outcome.status;
                assert_eq!((source, tag, bytes), expected);
            }
        }
    }

    fn forget(&self, world: &mut World) {
        world.engines[self.ranks[0]].p2p.forget_partitioned(self.send);
        world.engines[self.ranks[1]].p2p.forget_partitioned(self.receive);
    }
}

/// A message of `unit` bytes times what both numbers of partitions divide.
fn one_case(seed: u64, ranks: u32, pairs: usize) {
    // Of those that live, memory can be read.
    let mut world = if seed.is_multiple_of(2) || cfg!(any(miri, portable)) {
        World::new(ranks, seed)
    } else {
        World::alive(ranks, seed)
    };
    if world.random.chance() {
        world.engines.iter_mut().for_each(|engine| engine.p2p.read_directly_from(0));
    }
    let pairs: Vec<_> = (0..pairs)
        .map(|_| {
            let random = &mut world.random;
            let partitions = [0, 1].map(|_| random.pick(&[1, 2, 3, 8, 64, 65, 200]));
            let unit = random.pick(&[0, 1, 8, 100, 3000]);
            let bytes = (unit * partitions[0] * partitions[1]).min(1_200_000);
            let bytes = bytes - bytes % (partitions[0] * partitions[1]);
            let lies = [0, 1].map(|_| random.pick(&LIES));
            let pair = [0, 1].map(|_| random.below(ranks as usize));
            (Pair::new(&mut world, pair, bytes, lies, partitions.map(|count| count as u32)), bytes)
        })
        .collect();
    for round in 0..3 {
        let mut plans = Vec::new();
        for (number, (pair, bytes)) in pairs.iter().enumerate() {
            let message = contents(round, number, *bytes);
            pair.stores[0].put(&message);
            pair.stores[1].put(&vec![0; *bytes]);
            pair.start(&mut world);
            let count = pair.marks.partitions();
            plans.push((message, ranges(&mut world.random, count), vec![false; count as usize]));
        }
        while plans.iter().any(|(_, ranges, _)| !ranges.is_empty()) {
            let number = world.random.below(pairs.len());
            let (message, ranges, ready) = &mut plans[number];
            if let Some((first, last)) = ranges.pop() {
                ready[first as usize..=last as usize].fill(true);
                pairs[number].0.mark(&mut world, first, last);
            }
            (0..world.random.below(4)).for_each(|_| world.turn());
            pairs[number].0.check_arrivals(&world, ready, message);
        }
        for ((pair, bytes), (message, ..)) in pairs.iter().zip(&plans) {
            pair.finish(&mut world, *bytes);
            assert_eq!(pair.stores[1].get(), *message, "seed {seed}, round {round}");
        }
    }
    pairs.iter().for_each(|(pair, _)| pair.forget(&mut world));
    world.settle();
}

/// All partitions, in ranges and in any order.
fn ranges(random: &mut Random, partitions: u32) -> Vec<(u32, u32)> {
    let (mut ranges, mut first) = (Vec::new(), 0);
    while first < partitions {
        let last = (first + random.pick(&[0, 0, 1, 7, 100])).min(partitions - 1);
        ranges.push((first, last));
        first = last + 1;
    }
    random.shuffle(&mut ranges);
    ranges
}

/// Semantics of Partitioned Point-to-Point Communication: the numbers of partitions may differ; partitions are ready in
/// any order, and messages are started again with other data.
#[test]
pub fn partitions_arrive_when_they_are_ready_and_each_round_brings_its_data() {
    let seeds = if cfg!(miri) { 0..2 } else { 0..150 };
    for seed in seeds {
        one_case(seed, 1 + seed as u32 % 3, 1 + seed as usize % 4);
    }
}

/// Order: sends and receives with one envelope belong together in the order in which they were made, in whatever order
/// they are started.
#[test]
pub fn pairs_with_one_envelope_are_matched_in_the_order_in_which_they_were_made() {
    const PAIRS: usize = 6;
    for seed in 0..30 {
        let mut world = World::new(2, seed);
        let pairs: Vec<_> =
            (0..PAIRS).map(|_| Pair::new(&mut world, [0, 1], 300, [Lie::Dense; 2], [3, 2])).collect();
        for round in 0..2 {
            let mut order: Vec<usize> = (0..PAIRS).collect();
            for side in [0, 1] {
                world.random.shuffle(&mut order);
                for &number in &order {
                    let pair = &pairs[number];
                    let key = if side == 0 { pair.send } else { pair.receive };
                    pair.stores[0].put(&contents(round, number, 300));
                    world.engines[side].p2p.start_partitioned(key);
                    (0..world.random.below(10)).for_each(|_| world.turn());
                }
            }
            for number in order {
                pairs[number].mark(&mut world, 0, 2);
            }
            for (number, pair) in pairs.iter().enumerate() {
                pair.finish(&mut world, 300);
                assert_eq!(pair.stores[1].get(), contents(round, number, 300), "seed {seed}");
            }
        }
    }
}

/// Of another length, so that one that is taken for another is found out; when they are freed is no matter.
#[test]
pub fn requests_that_are_freed_unused_keep_their_place() {
    const UNUSED: usize = 4;
    for seed in 0..40 {
        let mut world = World::new(2, seed);
        let stores = [Store::of(&contents(0, 0, 32), Lie::Dense), Store::new(32, Lie::Dense)];
        let mut unused = Vec::new();
        for _ in 0..UNUSED {
            unused.push((0, make_send(&mut world, [0, 1], &stores[0], 1).0));
            unused.push((1, make_receive(&mut world, [0, 1], &stores[1], 1).0));
            (0..world.random.below(5)).for_each(|_| world.turn());
        }
        let mut free_one = |world: &mut World| {
            let (rank, key) = unused.swap_remove(world.random.below(unused.len()));
            world.engines[rank].p2p.forget_partitioned(key);
            (0..world.random.below(5)).for_each(|_| world.turn());
        };
        let before = world.random.below(2 * UNUSED + 1);
        (0..before).for_each(|_| free_one(&mut world));
        let pair = Pair::new(&mut world, [0, 1], 64, [Lie::Dense; 2], [2, 2]);
        pair.stores[0].put(&contents(0, 1, 64));
        pair.start(&mut world);
        (before..2 * UNUSED).for_each(|_| free_one(&mut world));
        pair.mark(&mut world, 0, 1);
        pair.finish(&mut world, 64);
        assert_eq!(pair.stores[1].get(), contents(0, 1, 64), "seed {seed}");
    }
}

/// Nothing is written to the buffer of a receive that has not begun.
#[test]
pub fn what_is_ready_waits_for_the_receive_to_begin() {
    let mut world = World::new(2, 1);
    let pair = Pair::new(&mut world, [0, 1], 5000, [Lie::Dense; 2], [5, 1]);
    for round in 0..3 {
        let message = contents(round, 1, 5000);
        pair.stores[0].put(&message);
        pair.stores[1].put(&[7; 5000]);
        world.engines[0].p2p.start_partitioned(pair.send);
        pair.mark(&mut world, 0, 4);
        world.settle();
        assert_eq!(pair.stores[1].get(), [7; 5000]);
        assert!(!world.engines[0].p2p.is_over_partitioned(pair.send));
        assert!(world.engines[0].describe(&())[0].contains("whose receive has not begun: 5 of 5"));
        world.engines[1].p2p.start_partitioned(pair.receive);
        pair.finish(&mut world, 5000);
        assert_eq!(pair.stores[1].get(), message);
    }
}

/// Much that lies in one piece is read out of the sender's memory: a few words are told, however long it is.
#[cfg(not(any(miri, portable)))]
#[test]
fn large_partitions_are_read_by_the_receiver_itself() {
    for (lies, is_read) in [([Lie::Dense; 2], true), ([Lie::Dense, Lie::Scattered], false)] {
        let mut world = World::alive(2, 1);
        world.engines[1].p2p.read_directly_from(0);
        let pair = Pair::new(&mut world, [0, 1], 6 << 20, lies, [2, 3]);
        for round in 0..2 {
            let message = contents(round, 1, 6 << 20);
            pair.stores[0].put(&message);
            pair.start(&mut world);
            world.settle();
            pair.mark(&mut world, 0, 1);
            for rank in [1, 0, 1, 0, 1, 0] {
                world.engines[rank].poll();
            }
            assert_eq!(world.engines[0].p2p.is_over_partitioned(pair.send), is_read);
            pair.finish(&mut world, 6 << 20);
            assert!(pair.stores[1].get() == message);
        }
    }
}

/// "Send-side and receive-side buffers must be identical in size."
#[test]
pub fn both_sides_hear_of_unequal_sizes_and_nothing_is_written() {
    for (sent, received) in [(100, 200), (200, 100), (0, 100), (100, 0)] {
        let mut world = World::new(2, 1);
        let stores =
            [Store::of(&contents(0, 0, sent), Lie::Dense), Store::of(&vec![7; received], Lie::Dense)];
        let (send, marks) = make_send(&mut world, [0, 1], &stores[0], 2);
        let (receive, _) = make_receive(&mut world, [0, 1], &stores[1], 2);
        for _ in 0..2 {
            for (rank, key) in [(0, send), (1, receive)] {
                world.engines[rank].p2p.start_partitioned(key);
            }
            marks.mark(0, 1);
            world.settle();
            for (rank, key) in [(0, send), (1, receive)] {
                let outcome = world.engines[rank].p2p.take_partitioned(key).expect("it is over");
                let error = outcome.error.expect("the sizes differ");
                assert_eq!(error.class(), ErrorClass::Truncate);
                assert!(error.text().contains(&format!("{sent} bytes")), "{error}");
            }
            assert_eq!(stores[1].get(), vec![7; received]);
        }
    }
}

#[test]
fn what_is_sent_to_nobody_is_over_when_all_is_ready() {
    let mut world = World::new(1, 1);
    let store = Store::new(80, Lie::Dense);
    let p2p = &mut world.engines[0].p2p;
    let (send, marks) = p2p.partitioned_send(None, 0, TAG, store.buffer().clone(), 2);
    let nobody = Status { source: -7, ..Status::EMPTY };
    let (receive, arrivals) = p2p.partitioned_receive(0, None, TAG, nobody, store.buffer().clone(), 2);
    for _ in 0..2 {
        p2p.start_partitioned(receive);
        let outcome = p2p.take_partitioned(receive).expect("nothing comes from nobody");
        assert_eq!((outcome.status.source, outcome.status.bytes), (-7, 0));
        assert!(arrivals.has_arrived(0));
        p2p.start_partitioned(send);
        marks.mark(0, 0);
        p2p.serve_partitioned(send);
        assert!(!p2p.is_over_partitioned(send));
        marks.mark(1, 1);
        p2p.serve_partitioned(send);
        assert!(p2p.take_partitioned(send).is_some_and(|outcome| outcome.error.is_none()));
    }
}

#[test]
fn partitioned_messages_go_from_job_to_job_and_fail_with_a_process_that_has_left() {
    use oxmpi_engine::machine::Phase;
    let mut world = World::of_jobs(&[1, 1], 3);
    for (rank, other) in [(0, 1), (1, 0)] {
        let there = world.engines[other].whereabouts().job();
        assert!(world.engines[rank].hold(there));
    }
    let context = world.engines[1].p2p.open_context();
    let to = world.engines[1].whereabouts();
    let to = Address { peer: world.engines[0].peer(to).expect("attached"), context };
    let from = world.engines[0].whereabouts();
    let from = world.engines[1].peer(from).expect("attached");
    let stores = [Store::of(&contents(0, 0, 300_000), Lie::Dense), Store::new(300_000, Lie::Scattered)];
    let (send, marks) =
        world.engines[0].p2p.partitioned_send(Some(to), 0, TAG, stores[0].buffer().clone(), 3);
    let buffer = stores[1].buffer().clone();
    let (receive, _) =
        world.engines[1].p2p.partitioned_receive(context, Some((from, 0)), TAG, Status::EMPTY, buffer, 2);
    world.engines[0].p2p.start_partitioned(send);
    world.engines[1].p2p.start_partitioned(receive);
    marks.mark(0, 2);
    world.until("a message", |engines| engines[1].p2p.is_over_partitioned(receive));
    assert_eq!(stores[1].get(), contents(0, 0, 300_000));
    world.until("the end of a send", |engines| engines[0].p2p.is_over_partitioned(send));
    drop((world.engines[0].p2p.take_partitioned(send), world.engines[1].p2p.take_partitioned(receive)));
    world.engines[1].p2p.start_partitioned(receive);
    world.engines[0].state().set_phase(Phase::Finalized);
    world.engines[1].give_up(from);
    let error = world.engines[1].p2p.take_partitioned(receive).and_then(|outcome| outcome.error);
    assert_eq!(error.expect("the sender has left").class(), ErrorClass::ProcAborted);
}
