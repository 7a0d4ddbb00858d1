//! Planned messages and others, receives of all kinds, probes and cancelled receives in random order: whatever happens,
//! the order of messages is kept.
//!
//! MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication.

use oxmpi_engine::{Message, Mode, OpKey, Outcome, Pattern, Received};

use crate::harness::{Lie, Store, World, seeds};
use crate::messages::contents;
use crate::planned::{ANY, plan_receive, plan_send, start};

/// A message of a storm: who sent it, as its how-manieth, with which tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    sender: u32,
    number: usize,
    tag: i32,
}

/// A receive of a storm, in the order in which they were started.
struct Asked {
    pattern: Pattern,
    key: OpKey,
    into: usize,
    got: Option<Sent>,
    /// When it was seen to be over, or cancelled.
    at: Option<usize>,
}

/// Messages and receives, planned and others, of two senders and one receiver, in random order.
struct Storm {
    world: World,
    sent: Vec<Sent>,
    asked: Vec<Asked>,
    sends: Vec<(u32, i32, OpKey, Store, bool)>,
    receives: Vec<(Pattern, OpKey)>,
    stores: Vec<Store>,
    ordinary: Vec<(Sent, OpKey, Store)>,
    /// Messages of each rank so far, cancelled ones too.
    counts: [usize; 3],
    /// Messages that matched probes have taken.
    taken: Vec<(usize, Message)>,
    step: usize,
}

/// What of another node may be read where it lies.
const LONGEST: usize = 36_000;

impl Storm {
    fn new(seed: u64) -> Self {
        Self::keeping(seed, None)
    }

    /// The same, where the receiver keeps at most so many bytes of messages that nobody asks for.
    fn keeping(seed: u64, bytes: Option<usize>) -> Self {
        let mut world = World::new(3, seed);
        bytes.into_iter().for_each(|bytes| world.engines[0].p2p.keep_at_most(bytes));
        let (mut sends, mut receives, mut stores) = (Vec::new(), Vec::new(), Vec::new());
        for (sender, tag) in [(1, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 1)] {
            let bytes = world.random.pick(&[8, 8, 8, 90, LONGEST]);
            let mode = world.random.pick(&[Mode::Standard, Mode::Standard, Mode::Synchronous]);
            let store = Store::new(bytes, Lie::Dense);
            let key = plan_send(&mut world, sender, 0, tag, &store, mode);
            sends.push((sender, tag, key, store, false));
        }
        for (source, tag) in
            [(Some(1), Some(0)), (Some(1), Some(0)), (Some(2), None), (None, Some(1)), (None, None)]
        {
            let (pattern, store) = (Pattern { source, tag }, Store::new(LONGEST, Lie::Dense));
            receives.push((pattern, plan_receive(&mut world, 0, pattern, &store)));
            stores.push(store);
        }
        let (sent, asked, ordinary, taken) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { world, sent, asked, sends, receives, stores, ordinary, counts: [0; 3], taken, step: 0 }
    }

    /// Notes one more message, and makes what it is to hold.
    fn note(&mut self, sender: u32, tag: i32, bytes: usize) -> Vec<u8> {
        let number = self.counts[sender as usize];
        self.counts[sender as usize] += 1;
        self.sent.push(Sent { sender, number, tag });
        let mut held = contents(sender, number, bytes);
        held[..8].copy_from_slice(&number.to_ne_bytes());
        held
    }

    fn send(&mut self) {
        let place = self.world.random.below(self.sends.len() + 2);
        if let Some(&(sender, tag, key, ref store, is_active)) = self.sends.get(place) {
            let (bytes, p2p) =
                (store.buffer().bytes() as usize, &mut self.world.engines[sender as usize].p2p);
            let is_over = is_active && p2p.take_outcome(key).is_some();
            if !is_active {
                let held = self.note(sender, tag, bytes);
                self.sends[place].3.put(&held);
                let p2p = &mut self.world.engines[sender as usize].p2p;
                let is_over = p2p.start(key) && p2p.take_outcome(key).is_some();
                self.sends[place].4 = !is_over;
            } else if is_over {
                self.sends[place].4 = false;
            }
            return;
        }
        let (sender, tag) = (self.world.random.pick(&[1, 2]), self.world.random.pick(&[0, 1]));
        let bytes = self.world.random.pick(&[8, LONGEST]);
        let store = Store::of(&self.note(sender, tag, bytes), Lie::Dense);
        let key = self.world.send(sender, 0, tag, &store, Mode::Standard);
        let sent = *self.sent.last().expect("just noted");
        self.ordinary.extend(key.map(|key| (sent, key, store)));
    }

    /// Cancels a send, or sees how one has ended: what was cancelled is never received.
    fn cancel_send(&mut self) {
        if self.ordinary.is_empty() {
            return;
        }
        let place = self.world.random.below(self.ordinary.len());
        let (sent, key) = (self.ordinary[place].0, self.ordinary[place].1);
        let p2p = &mut self.world.engines[sent.sender as usize].p2p;
        p2p.cancel(key);
        if let Some(outcome) = p2p.take_outcome(key) {
            self.ordinary.swap_remove(place);
            if outcome.status.cancelled {
                self.sent.retain(|other| *other != sent);
            }
        }
    }

    fn is_asking(&self, key: OpKey) -> bool {
        self.asked.iter().any(|asked| asked.key == key && asked.at.is_none())
    }

    fn receive(&mut self) {
        let place = self.world.random.below(self.receives.len() + 2);
        match self.receives.get(place) {
            Some(&(_, key)) if self.is_asking(key) => {}
            Some(&(pattern, key)) => {
                let started = start(&mut self.world, 0, key);
                self.ask(pattern, key, place, started);
            }
            None => {
                let (source, tag) =
                    self.world.random.pick(&[(Some(1), Some(0)), (Some(2), Some(1)), (None, None)]);
                self.receive_once(Pattern { source, tag });
            }
        }
    }

    fn receive_once(&mut self, pattern: Pattern) {
        let into = Store::new(LONGEST, Lie::Dense);
        let buffer = into.buffer().clone();
        let from = pattern.source.map(|source| self.world.peer(0, source as usize));
        let received = self.world.engines[0].p2p.receive(self.world.context, pattern, from, buffer);
        self.stores.push(into);
        let key = match received {
            Received::Pending(key) => key,
            Received::Done(_) => OpKey::from_word(u64::MAX),
        };
        self.ask(pattern, key, self.stores.len() - 1, received);
    }

    fn ask(&mut self, pattern: Pattern, key: OpKey, into: usize, received: Received) {
        self.asked.push(Asked { pattern, key, into, got: None, at: None });
        if let Received::Done(outcome) = received {
            self.got(self.asked.len() - 1, &outcome);
        }
    }

    fn got(&mut self, place: usize, outcome: &Outcome) {
        let Asked { into, pattern, .. } = self.asked[place];
        self.asked[place].at = Some(self.step);
        if outcome.status.cancelled {
            return;
        }
        assert!(outcome.error.is_none(), "seed {}: {outcome:?}", self.world.seed);
        let held = self.stores[into].get();
        let number = usize::from_ne_bytes(held[..8].try_into().expect("8 bytes"));
        let (sender, tag) = (outcome.status.source.cast_unsigned(), outcome.status.tag);
        let sent = Sent { sender, number, tag };
        assert!(self.sent.contains(&sent) && matches(&pattern, &sent), "seed {}: {sent:?}", self.world.seed);
        let bytes = outcome.status.bytes as usize;
        assert!(held[8..bytes] == contents(sender, number, bytes)[8..], "seed {}", self.world.seed);
        self.asked[place].got = Some(sent);
    }

    /// Looks at a receive that is under way, perhaps after it was cancelled.
    fn look(&mut self, cancels: bool) {
        let waiting = (0..self.asked.len()).filter(|&place| self.asked[place].at.is_none());
        let waiting: Vec<usize> = waiting.collect();
        if waiting.is_empty() {
            return;
        }
        let place = self.world.random.pick(&waiting);
        let key = self.asked[place].key;
        if cancels {
            self.world.engines[0].p2p.cancel(key);
        }
        let looks_at_ring = self.world.random.chance();
        let p2p = &mut self.world.engines[0].p2p;
        let at_head = if looks_at_ring { p2p.take_at_head(key) } else { None };
        let at_head = at_head.map(|status| Outcome { status, error: None });
        if let Some(outcome) = at_head.or_else(|| p2p.take_outcome(key)) {
            self.got(place, &outcome);
        }
    }

    fn probe(&mut self) {
        let (source, tag) = self.world.random.pick(&[(Some(1), Some(0)), (None, Some(1)), (None, None)]);
        let pattern = Pattern { source, tag };
        if let Some(status) = self.world.engines[0].p2p.probe(self.world.context, &pattern) {
            self.receive_once(Pattern { source: Some(status.source), tag: Some(status.tag) });
        }
    }

    /// A matched probe takes its place among the receives at once, and receives later.
    fn take(&mut self) {
        let (source, tag) = self.world.random.pick(&[(Some(2), Some(0)), (Some(1), None), (None, None)]);
        let pattern = Pattern { source, tag };
        if let Some(message) = self.world.engines[0].p2p.take_message(self.world.context, &pattern) {
            self.stores.push(Store::new(LONGEST, Lie::Dense));
            let key = OpKey::from_word(u64::MAX);
            self.asked.push(Asked { pattern, key, into: self.stores.len() - 1, got: None, at: None });
            self.taken.push((self.asked.len() - 1, message));
        }
    }

    fn receive_taken(&mut self) {
        if self.taken.is_empty() {
            return;
        }
        let (place, message) = self.taken.swap_remove(self.world.random.below(self.taken.len()));
        let buffer = self.stores[self.asked[place].into].buffer().clone();
        match self.world.engines[0].p2p.receive_message(message, buffer) {
            Received::Done(outcome) => self.got(place, &outcome),
            Received::Pending(key) => self.asked[place].key = key,
        }
    }

    fn run(&mut self, steps: usize) {
        for step in 0..steps {
            self.step = step;
            match self.world.random.below(38) {
                0..=7 => self.send(),
                8..=15 => self.receive(),
                16..=19 => self.look(false),
                20..=21 => self.look(true),
                22..=23 => self.probe(),
                24..=25 => self.take(),
                26..=27 => self.receive_taken(),
                28 => self.cancel_send(),
                _ => self.world.turn(),
            }
        }
        // All that was sent is received in the end, and no receive is left.
        while !self.taken.is_empty() {
            self.receive_taken();
        }
        while self.asked.iter().filter(|asked| asked.got.is_some()).count() < self.sent.len() {
            self.step += 1;
            assert!(self.step < 100 * steps, "seed {}: a message is lost", self.world.seed);
            match self.world.random.below(9) {
                8 => self.cancel_send(),
                0 if self.asked.iter().all(|asked| asked.at.is_some()) => self.receive_once(ANY),
                1 => self.look(self.step.is_multiple_of(10)),
                2 => self.look(false),
                _ => self.world.turn(),
            }
        }
        while self.asked.iter().any(|asked| asked.at.is_none()) {
            self.step += 1;
            self.look(true);
        }
        while !self.ordinary.is_empty() {
            self.cancel_send();
            self.world.turn();
        }
    }

    /// Order: messages of one sender that match the same receive are received in the order in which they were sent, and
    /// of receives that match the same message the first takes it.
    fn check(&self) {
        let seed = self.world.seed;
        let placed = self.asked.iter().enumerate().filter_map(|(place, asked)| Some((place, asked.got?)));
        let placed: Vec<(usize, Sent)> = placed.collect();
        for &(place, got) in &placed {
            let pattern = &self.asked[place].pattern;
            let earlier =
                |sent: &Sent| sent.sender == got.sender && sent.number < got.number && matches(pattern, sent);
            let overtaken = placed.iter().find(|(other, sent)| earlier(sent) && *other > place);
            assert_eq!(overtaken, None, "seed {seed}: receive {place} got {got:?}");
            for before in &self.asked[..place] {
                let waited = before.got.is_none() && before.at > self.asked[place].at;
                assert!(!(waited && matches(&before.pattern, &got)), "seed {seed}: {got:?} passed a receive");
            }
        }
        let mut all: Vec<_> = placed.iter().map(|(_, sent)| (sent.sender, sent.number)).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), self.sent.len(), "seed {seed}: each message is received once");
    }
}

fn matches(pattern: &Pattern, sent: &Sent) -> bool {
    pattern.source.is_none_or(|source| source == sent.sender.cast_signed())
        && pattern.tag.is_none_or(|tag| tag == sent.tag)
}

/// Semantics of Point-to-Point Communication, Order.
#[test]
pub fn planned_messages_and_others_keep_their_order_together() {
    let (seeds, steps) = if cfg!(miri) { (3, 200) } else { (seeds(400), 1000) };
    for seed in 0..seeds {
        let mut storm = Storm::new(seed);
        storm.run(steps);
        storm.check();
    }
}

/// The same where next to nothing is kept, so that most messages are shown, asked for and sent again.
#[test]
pub fn messages_keep_their_order_that_are_only_shown() {
    let (seeds, steps) = if cfg!(miri) { (2, 400) } else { (seeds(200), 4000) };
    for seed in 0..seeds {
        let bytes = [0, 300, 2000, 40_000][seed as usize % 4];
        let mut storm = Storm::keeping(seed, Some(bytes));
        storm.run(steps);
        storm.check();
    }
}
