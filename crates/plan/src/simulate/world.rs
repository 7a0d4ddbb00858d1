//! The walk: each rank has a clock, and whose clock is least takes the next action.
//!
//! So whatever several ranks use in turn, a port or a line, they use in the order of time. A rank that waits is out of
//! the queue until what it waits for is there. Where ranks share cores, it has to get one first.
//!
//! Where runs follow each other a rank begins the next one as soon as it has ended one, unless it would be more than
//! [`AHEAD`] runs ahead of somebody.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::mem;

use oxmpi_base::Result;

use super::fold::Fold;
use super::program::{Kind, Op, Programs};
use super::turns::{Claim, Handover, Turn, Turns};
use super::{AHEAD, MIDDLE, Simulation, Stop, given_up};
use crate::prices::Prices;
use crate::{Cost, MAX_LINES, Shape};

/// See the module.
pub(super) struct World<'a> {
    shape: &'a Shape,
    prices: Prices<'a>,
    fold: Fold,
    programs: Programs,
    ranks: Vec<Rank>,
    /// Messages under way, by the pair of ranks, in order.
    messages: HashMap<(u32, u32), VecDeque<Tidings>, BuildHasherDefault<Mixed>>,
    /// Who waits for a post of a rank.
    waiting: HashMap<u32, Vec<u32>, BuildHasherDefault<Mixed>>,
    ports: Vec<Port>,
    /// Where the ranks of a node share its cores.
    turns: Option<Turns>,
    /// All ranks, then.
    sharers: Vec<Sharer>,
    runs: Vec<Run>,
    /// What each rank posts in a run on each line, where there are several runs.
    posts_of_run: Vec<[u32; MAX_LINES]>,
    /// Who is next, and when: ranks, and after these in number the ports at which messages leave.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    trail: Vec<Link>,
}

/// A run of all ranks.
#[derive(Default)]
struct Run {
    ended: u32,
    /// Of who ended it last.
    end: Tidings,
    /// Who waits for that.
    waiting: Vec<u32>,
}

/// A rank on its way.
#[derive(Default)]
struct Rank {
    /// The action that is next.
    next: usize,
    /// The run that it is in, or is to begin.
    run: usize,
    has_begun: bool,
    /// What its time was spent on, along the path by which it got here.
    spent: Cost,
    /// The last link of that path; 0 at its beginning.
    link: u32,
    /// Messages that it receives and has not awaited: which of its messages, and from whom.
    arriving: VecDeque<(u32, u32)>,
    /// Messages that still leave its node: which, and when they have left.
    leaving: Vec<(u32, f64)>,
    /// What it has posted on each line, by segment.
    posts: [Vec<Tidings>; MAX_LINES],
    /// Until when readers occupy its lines.
    busy_ns: f64,
    /// The pair whose message it waits for.
    awaited: Option<(u32, u32)>,
}

/// A rank that takes turns with others.
#[derive(Clone, Copy, Default)]
struct Sharer {
    /// When it left its core last.
    left: Tidings,
    /// What it waits for, until when its core is free.
    expected: Option<Tidings>,
}

/// What somebody waits for, as it is there.
#[derive(Clone, Copy, Default)]
struct Tidings {
    /// What the time until then was spent on.
    spent: Cost,
    link: u32,
    /// Who sent it, and when it was his last act.
    from: Stop,
    bytes: f32,
    is_net: bool,
    /// A bit for each of the first cores that have all of it, where ranks share cores.
    fetched: u16,
}

/// What connects a node with the others, either way; when it is free.
#[derive(Clone, Default)]
struct Port {
    out_ns: f64,
    in_ns: f64,
    /// Messages that wait for others to leave, in order.
    held: VecDeque<Message>,
}

/// A message from node to node.
#[derive(Clone, Copy)]
struct Message {
    pair: (u32, u32),
    /// Who receives it, of those that are walked.
    to: u32,
    leaves_ns: f64,
    passage_ns: f64,
    tidings: Tidings,
}

/// A stop on a path, and the link before.
struct Link {
    stop: Stop,
    before: u32,
}

/// So many turns are taken until somebody is asked whether to go on.
const TURNS: u64 = 1 << 9;

/// What came of an attempt to act.
enum Next {
    Acted,
    Done,
    Waits,
}

impl<'a> World<'a> {
    pub(super) fn new(
        shape: &'a Shape,
        prices: Prices<'a>,
        fold: Fold,
        programs: Programs,
        runs: usize,
    ) -> Self {
        let nodes = if fold.walked == shape.ranks { prices.nodes() } else { 1 };
        let turns = prices.shared_cores().map(|(cores, ranks)| Turns::new(nodes as usize, cores, ranks));
        let posts_of_run = if runs > 1 { programs.posts() } else { Vec::new() };
        let ready = (0..fold.walked).map(|rank| Reverse((0, rank))).collect();
        Self {
            shape,
            prices: prices.of_workers(1),
            fold,
            ranks: (0..fold.walked as usize)
                .map(|rank| Rank { next: programs.begins[rank], ..Rank::default() })
                .collect(),
            programs,
            messages: HashMap::default(),
            waiting: HashMap::default(),
            ports: vec![Port::default(); nodes as usize],
            sharers: vec![Sharer::default(); if turns.is_some() { fold.walked as usize } else { 0 }],
            turns,
            runs: (0..runs).map(|_| Run::default()).collect(),
            posts_of_run,
            ready,
            trail: vec![Link { stop: Stop { rank: 0, at_ns: 0.0 }, before: 0 }],
        }
    }

    /// Walks to the end; `None` if somebody waits for ever.
    ///
    /// # Errors
    /// If it may not go on.
    pub(super) fn run(mut self, may_go_on: &dyn Fn(f64) -> bool) -> Result<Option<Simulation>> {
        let mut done = 0;
        let mut turns = 0u64;
        let mut first = self.ready.pop();
        while let Some(Reverse((time, rank))) = first {
            turns += 1;
            if turns.is_multiple_of(TURNS) && !may_go_on(f64::from_bits(time)) {
                return Err(given_up());
            }
            first = match self.take_turn(rank, &mut done) {
                // Who is next, and this rank later.
                Some(later) => self.ready.peek_mut().map(|mut next| mem::replace(&mut *next, later)),
                None => self.ready.pop(),
            };
        }
        Ok((done == self.fold.walked).then(|| self.result()))
    }

    /// Lets a rank act, or a message leave at a port, as long as nobody else is before it; when it goes on.
    fn take_turn(&mut self, rank: u32, done: &mut u32) -> Option<Reverse<(u64, u32)>> {
        if let Some(port) = rank.checked_sub(self.fold.walked) {
            let held = self.ports[port as usize].held.pop_front();
            self.arrive(held.expect("a message for each time that it was to leave"));
            return None;
        }
        if !self.has_turn(rank) {
            return None;
        }
        loop {
            match self.act(rank) {
                Next::Acted => {}
                next => {
                    *done += u32::from(matches!(next, Next::Done));
                    self.end_turn(rank);
                    return None;
                }
            }
            let now = order(self.now(rank));
            if self.ready.peek().is_some_and(|Reverse((earliest, _))| *earliest < now) {
                return Some(Reverse((now, rank)));
            }
        }
    }

    fn result(&self) -> Simulation {
        let last = (0..self.fold.walked).max_by(|&one, &other| self.now(one).total_cmp(&self.now(other)));
        let last = last.expect("there is a rank");
        let end = &self.ranks[last as usize];
        let mut path = vec![Stop { rank: last, at_ns: end.spent.total_ns() }];
        let mut link = end.link;
        while link != 0 {
            path.push(self.trail[link as usize].stop);
            link = self.trail[link as usize].before;
        }
        Simulation {
            cost: end.spent,
            path,
            actions: self.programs.ops.len() as u64,
            pace_ns: self.pace_ns(),
            walked_ranks: self.fold.walked,
        }
    }

    fn pace_ns(&self) -> f64 {
        let [Some(begin), Some(end)] = [MIDDLE.start, MIDDLE.end].map(|run| self.runs.get(run)) else {
            return 0.0;
        };
        (end.end.spent.total_ns() - begin.end.spent.total_ns()) / MIDDLE.len() as f64
    }

    fn now(&self, rank: u32) -> f64 {
        self.ranks[rank as usize].spent.total_ns()
    }

    fn spend(&mut self, rank: u32, cost: Cost) {
        self.ranks[rank as usize].spent += cost;
    }

    /// Lets `rank` act, if what it needs is there.
    fn act(&mut self, rank: u32) -> Next {
        let state = &self.ranks[rank as usize];
        if !state.has_begun {
            return if self.begin(rank) { Next::Acted } else { Next::Waits };
        }
        if state.next == self.programs.begins[rank as usize + 1] {
            return self.finish(rank);
        }
        let op = self.programs.ops[state.next];
        let bytes = f64::from(op.bytes);
        let can = match op.kind {
            Kind::Await => self.await_message(rank, op.number),
            Kind::Pull | Kind::PullReduce => self.pull(rank, op),
            Kind::Copy => self.simply(rank, self.prices.copy(bytes)),
            Kind::Reduce => self.simply(rank, self.prices.reduce(bytes)),
            Kind::Post => self.post(rank, op),
            Kind::Receive => {
                self.ranks[rank as usize].arriving.push_back((op.number, op.peer));
                true
            }
            Kind::Send => self.send(rank, op),
        };
        self.ranks[rank as usize].next += usize::from(can);
        if can { Next::Acted } else { Next::Waits }
    }

    fn simply(&mut self, rank: u32, cost: Cost) -> bool {
        self.spend(rank, cost);
        true
    }

    fn post(&mut self, rank: u32, op: Op) -> bool {
        self.spend(rank, self.prices.post(f64::from(op.bytes)));
        let tidings = self.tidings(rank, op.bytes, false);
        let number = self.number_of_post(rank, rank, op);
        let state = &mut self.ranks[rank as usize];
        debug_assert_eq!(state.posts[usize::from(op.line)].len(), number, "in order");
        state.posts[usize::from(op.line)].push(tidings);
        for reader in self.waiting.remove(&rank).unwrap_or_default() {
            self.tell(reader, tidings);
        }
        true
    }

    /// Which post of `poster` on a line, in all runs, is meant in the run of `rank`.
    fn number_of_post(&self, rank: u32, poster: u32, op: Op) -> usize {
        let of_run = self.posts_of_run.get(poster as usize).map_or(0, |posts| posts[usize::from(op.line)]);
        self.ranks[rank as usize].run * of_run as usize + op.number as usize
    }

    /// What is to be known of what `rank` has just done.
    fn tidings(&self, rank: u32, bytes: f32, is_net: bool) -> Tidings {
        let Rank { spent, link, .. } = self.ranks[rank as usize];
        Tidings { spent, link, from: Stop { rank, at_ns: spent.total_ns() }, bytes, is_net, fetched: 0 }
    }

    fn wake(&mut self, rank: u32, at_ns: f64) {
        let time = order(self.now(rank).max(at_ns));
        self.ready.push(Reverse((time, rank)));
    }

    /// Where `rank` takes turns.
    fn claim(&self, turns: &Turns, rank: u32) -> Claim {
        turns.claim(rank, self.port_of(rank), self.shape.nodes.place(rank))
    }

    /// Whether `rank` has a core, or gets one.
    fn has_turn(&mut self, rank: u32) -> bool {
        let Some(mut turns) = self.turns.take() else { return true };
        let turn = turns.take(self.claim(&turns, rank));
        self.turns = Some(turns);
        if let Turn::Now(Some(handover)) = turn {
            self.hand_over(handover);
        }
        matches!(turn, Turn::Now(None))
    }

    /// Leaves the core of `rank` to others.
    fn end_turn(&mut self, rank: u32) {
        let Some(mut turns) = self.turns.take() else { return };
        let next = turns.leave(self.claim(&turns, rank));
        self.turns = Some(turns);
        self.sharers[rank as usize].left = self.tidings(rank, 0.0, false);
        if let Some(handover) = next {
            self.hand_over(handover);
        }
        if let Some(expected) = self.sharers[rank as usize].expected.take() {
            self.wait_for(rank, expected);
            self.wake(rank, 0.0);
        }
    }

    /// Lets a rank that has its core now go on when it has changed hands.
    fn hand_over(&mut self, Handover { from, to, steps }: Handover) {
        self.wait_for(to, self.sharers[from as usize].left);
        self.spend(to, f64::from(steps) * self.prices.handover());
        self.wake(to, 0.0);
    }

    /// Waits until `tidings` are there, if that can be done without leaving a shared core.
    fn can_wait_for(&mut self, rank: u32, tidings: Tidings) -> bool {
        if self.turns.is_some() && tidings.spent.total_ns() > self.now(rank) {
            self.sharers[rank as usize].expected = Some(tidings);
            return false;
        }
        self.wait_for(rank, tidings);
        true
    }

    /// Begins a run, if all have ended the one that it would be too far ahead of.
    fn begin(&mut self, rank: u32) -> bool {
        if let Some(before) = self.ranks[rank as usize].run.checked_sub(AHEAD) {
            let before = &mut self.runs[before];
            if before.ended < self.fold.walked {
                before.waiting.push(rank);
                return false;
            }
            let end = before.end;
            if !self.can_wait_for(rank, self.seen_by(rank, end)) {
                return false;
            }
        }
        self.ranks[rank as usize].has_begun = true;
        self.simply(rank, self.prices.run())
    }

    /// Ends a run.
    fn end(&mut self, rank: u32) -> Next {
        let end = self.tidings(rank, 0.0, false);
        let state = &mut self.ranks[rank as usize];
        let run = &mut self.runs[state.run];
        state.run += 1;
        state.has_begun = false;
        state.next = self.programs.begins[rank as usize];
        run.ended += 1;
        if end.spent.total_ns() >= run.end.spent.total_ns() {
            run.end = end;
        }
        if run.ended == self.fold.walked {
            let end = run.end;
            let waiting = std::mem::take(&mut run.waiting);
            waiting.into_iter().for_each(|other| self.tell(other, end));
        }
        if self.ranks[rank as usize].run == self.runs.len() { Next::Done } else { Next::Acted }
    }

    /// Lets `rank` look again when something is there that it has perhaps waited for.
    fn tell(&mut self, rank: u32, tidings: Tidings) {
        if self.turns.is_some() {
            self.wait_for(rank, self.seen_by(rank, tidings)); // it asks for its core then
        }
        self.wake(rank, tidings.from.at_ns);
    }

    /// What `rank` sees of what another one of its node has done, and when.
    fn seen_by(&self, rank: u32, tidings: Tidings) -> Tidings {
        Tidings { spent: tidings.spent + self.hop_between(rank, tidings.from.rank), ..tidings }
    }

    fn pull(&mut self, rank: u32, op: Op) -> bool {
        let poster = self.fold.walked_for(op.peer);
        let number = self.number_of_post(rank, poster, op);
        let Rank { posts, busy_ns, .. } = &self.ranks[poster as usize];
        let busy_ns = *busy_ns;
        let Some(&posted) = posts[usize::from(op.line)].get(number) else {
            self.waiting.entry(poster).or_default().push(rank);
            return false;
        };
        let spent = posted.spent + self.hop_between(rank, op.peer);
        if !self.can_wait_for(rank, Tidings { spent, ..posted }) {
            return false;
        }
        // Others may be reading what this peer has posted.
        let now_ns = self.now(rank);
        self.spend(rank, Cost::readers((busy_ns - now_ns).max(0.0)));
        let occupied_ns = self.prices.occupied_ns(f64::from(op.bytes));
        self.ranks[poster as usize].busy_ns = now_ns.max(busy_ns) + occupied_ns;
        let is_far = self.fetch(rank, (poster, number), op, posted);
        let bytes = f64::from(op.bytes);
        let price = match op.kind {
            Kind::PullReduce => self.prices.pull_reduce_from(is_far, bytes),
            _ => self.prices.pull_from(is_far, bytes),
        };
        self.simply(rank, price)
    }

    /// Whether what is pulled comes from a far core: one from which no rank of the own core has fetched all of it.
    fn fetch(&mut self, rank: u32, (poster, number): (u32, usize), op: Op, posted: Tidings) -> bool {
        let [own, other] = [rank, op.peer].map(|rank| self.shape.nodes.place(rank));
        if !self.prices.are_far_between(own, other) {
            return false;
        }
        if self.turns.is_none() || op.bytes < posted.bytes {
            return true;
        }
        let bit = 1_u16.checked_shl(self.prices.core_of(own)).unwrap_or(0);
        self.ranks[poster as usize].posts[usize::from(op.line)][number].fetched |= bit;
        posted.fetched & bit == 0
    }

    /// Moves the clock of `rank` on to where `tidings` are there, if that is later.
    fn wait_for(&mut self, rank: u32, tidings: Tidings) {
        let state = &mut self.ranks[rank as usize];
        if tidings.spent.total_ns() > state.spent.total_ns() {
            state.spent = tidings.spent;
            state.link = u32::try_from(self.trail.len()).expect("fewer waits than actions");
            self.trail.push(Link { stop: tidings.from, before: tidings.link });
        }
    }

    fn send(&mut self, rank: u32, op: Op) -> bool {
        let bytes = f64::from(op.bytes);
        let to = self.fold.walked_for(op.peer);
        let pair = self.fold.pair(rank, op.peer);
        if !self.shape.nodes.shares(rank, op.peer) {
            self.send_across(rank, to, pair, op);
            return true;
        }
        self.spend(rank, self.prices.sending(bytes));
        let mut tidings = self.tidings(rank, op.bytes, false);
        tidings.spent += self.hop_between(rank, op.peer);
        self.deliver(to, pair, tidings);
        true
    }

    /// Sends from node to node: when the port is free.
    fn send_across(&mut self, rank: u32, to: u32, pair: (u32, u32), op: Op) {
        self.spend(rank, self.prices.net_overhead());
        let mut tidings = self.tidings(rank, op.bytes, true);
        let passage_ns = self.prices.passage_ns(f64::from(op.bytes));
        let out = self.port_of(rank);
        let queued_ns = (self.ports[out].out_ns - tidings.from.at_ns).max(0.0);
        let leaves_ns = tidings.from.at_ns + queued_ns;
        self.ports[out].out_ns = leaves_ns + passage_ns;
        let state = &mut self.ranks[rank as usize];
        if state.leaving.len() == state.leaving.capacity() {
            state.leaving.retain(|(_, left_ns)| *left_ns > tidings.from.at_ns);
        }
        state.leaving.push((op.number, leaves_ns + passage_ns));
        tidings.spent += Cost::port(queued_ns);
        let message = Message { pair, to, leaves_ns, passage_ns, tidings };
        if queued_ns == 0.0 {
            self.arrive(message);
        } else {
            // What others send meanwhile may be there before.
            self.ports[out].held.push_back(message);
            self.ready.push(Reverse((order(leaves_ns), self.fold.walked + out as u32)));
        }
    }

    /// Brings a message that leaves its node into another one.
    fn arrive(&mut self, message: Message) {
        let Message { pair, to, leaves_ns, passage_ns, mut tidings } = message;
        let into = self.port_of(to);
        let latency = self.prices.net_latency();
        let reaches_ns = leaves_ns + latency.total_ns();
        let enters_ns = reaches_ns.max(self.ports[into].in_ns);
        self.ports[into].in_ns = enters_ns + passage_ns;
        tidings.spent += latency + Cost::port(enters_ns - reaches_ns + passage_ns);
        self.deliver(to, pair, tidings);
    }

    /// Gives a message to its receiver, which may wait for it.
    fn deliver(&mut self, to: u32, pair: (u32, u32), tidings: Tidings) {
        self.messages.entry(pair).or_default().push_back(tidings);
        if self.ranks[to as usize].awaited == Some(pair) {
            self.ranks[to as usize].awaited = None;
            if self.turns.is_some() {
                self.wait_for(to, tidings);
            }
            self.wake(to, tidings.spent.total_ns());
        }
    }

    fn hop_between(&self, one: u32, other: u32) -> Cost {
        let nodes = &self.shape.nodes;
        let [one, other] = [one, other].map(|rank| nodes.place(rank));
        if self.turns.is_some() {
            self.prices.hop_in_turns(one, other)
        } else {
            self.prices.hop_between(one, other)
        }
    }

    fn port_of(&self, rank: u32) -> usize {
        if self.ports.len() == 1 { 0 } else { self.shape.nodes.node_of(rank) as usize }
    }

    /// Waits for a message of `rank`. What comes from one sender is taken in the order in which it comes.
    fn await_message(&mut self, rank: u32, number: u32) -> bool {
        let state = &mut self.ranks[rank as usize];
        if let Some(index) = state.leaving.iter().position(|(leaving, _)| *leaving == number) {
            let (_, left_ns) = state.leaving.swap_remove(index);
            let queued_ns = (left_ns - state.spent.total_ns()).max(0.0);
            state.spent += Cost::port(queued_ns);
            return true;
        }
        let Some(index) = state.arriving.iter().position(|(arriving, _)| *arriving == number) else {
            return true; // sent inside the node, or awaited before
        };
        let (_, from) = state.arriving[index];
        if !self.take(rank, from) {
            return false;
        }
        self.ranks[rank as usize].arriving.remove(index);
        true
    }

    /// Takes in a message from `from`, if there is one.
    fn take(&mut self, rank: u32, from: u32) -> bool {
        let pair = self.fold.pair(from, rank);
        let Some(queue) = self.messages.get(&pair) else {
            self.ranks[rank as usize].awaited = Some(pair);
            return false;
        };
        let tidings = *queue.front().expect("empty queues are taken away");
        if !self.can_wait_for(rank, tidings) {
            return false;
        }
        let queue = self.messages.get_mut(&pair).expect("it was there");
        queue.pop_front();
        if queue.is_empty() {
            self.messages.remove(&pair);
        }
        let price = if tidings.is_net {
            self.prices.net_overhead()
        } else {
            self.prices.receiving(f64::from(tidings.bytes))
        };
        self.simply(rank, price)
    }

    /// Waits for what has not been awaited.
    fn finish(&mut self, rank: u32) -> Next {
        while let Some(&(_, from)) = self.ranks[rank as usize].arriving.front() {
            if !self.take(rank, from) {
                return Next::Waits;
            }
            self.ranks[rank as usize].arriving.pop_front();
        }
        let state = &mut self.ranks[rank as usize];
        let left_ns = state.leaving.iter().map(|(_, left_ns)| *left_ns).fold(0.0, f64::max);
        let queued_ns = (left_ns - state.spent.total_ns()).max(0.0);
        state.spent += Cost::port(queued_ns);
        state.leaving = Vec::new();
        self.end(rank)
    }
}

/// A time as a number in the same order: its bits.
fn order(time_ns: f64) -> u64 {
    time_ns.to_bits() // times are not negative
}

/// A hash of few instructions, for numbers of ranks.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    fn write_u32(&mut self, number: u32) {
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 29;
    }
}
