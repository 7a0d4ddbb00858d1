//! Point-to-point messages.
//!
//! | message | protocol | cost |
//! |---|---|---|
//! | up to [`RingSize::LARGEST_PAYLOAD`](oxmpi_shm::ring::RingSize::LARGEST_PAYLOAD), standard or ready | *eager*: header and data through the ring | one copy in, one out |
//! | the same, synchronous | eager, and the receiver answers `MATCHED` | one answer more |
//! | up to 64 KiB, where the ring has room for all of it | [unasked], in pieces: `FIRST` with the header, and `NEXT` | as eager |
//! | longer | *announced*: `ANNOUNCE`, the receiver answers `ACCEPT`, the data follows in pieces, the first [written meanwhile](beginnings) | both ends copy at the same time, through cache |
//! | up to 64 KiB, to another node whose fabric sends so much at once | eager, in a frame past the ring ([`net`]) | as eager |
//! | longer, to another node | announced with the address; the receiver reads, and answers `FETCHED` | none, where the network copies nothing |
//! | the same over sockets | announced; the receiver answers `OPENED`, and the sender writes there | those of the system |
//! | longer, of memory that the receiver knows by name (`allocations`) | announced with the name; the receiver copies, and answers `FETCHED` | one copy |
//! | longer, where reading the sender's memory wins | announced with the address; the receiver reads, and answers `FETCHED` | one copy, one system call |
//! | to itself | copied at once, into the receive or into the pool | |
//!
//! A persistent one is planned (`planned`), and goes the same ways.
//!
//! A sender that wants to cancel what waits at the receiver asks it by `RETRACT`; the answer is `RETRACTED`, or
//! that which follows the match. A receiver that posts no receives any more answers what waits there by `REFUSED`.
//!
//! Whatever finds no room in a ring waits in the outbox of that peer; nothing here blocks. The rings to and from a peer
//! on another node have their far ends here too, where a fabric carries what goes by them ([`net`]).
//!
//! # Messages that nobody asks for
//!
//! A receiver keeps them, up to 64 MiB (`keeping`), counted with 128 bytes for each. Who sends it one more is asked,
//! by a word in the ring's credit, to announce all that it sends; who sends what is waited for is not. The sender
//! reads that word with the credit, so that what comes before is what the ring holds. From then on envelopes alone
//! move, in the order of the messages, and the data stays with its sender until a receive has matched; but of what
//! takes no more than its announcement: that comes whole, and its sender waits for the match alone. So no program can
//! deadlock that counts on no buffers: whatever a receive waits for arrives, if only as an announcement. When less
//! than half is kept, the word is taken back.
//!
//! When a quarter more is kept, envelopes are no longer kept either. The word says so, and each message is only *shown*
//! (`SHOWN`): a receive that waits takes it, else the receiver forgets it, and the sender files it (`shown`). A
//! receive or a probe that finds nothing here asks the senders that have shown something from which it might receive
//! (`asking`): `WANTED`, answered by `FOUND`, the envelope of the first message that matches, or by `NO_MORE`. When
//! there is room, the receiver lets a sender `GO_ON`: the first of what was shown is announced again, to be kept. Who
//! has anything left there shows all that follows, so that what is kept of a sender always comes before what is not. A
//! matched probe takes what was `FOUND` by telling so (`CLAIMED`), and so does a receive that reads it from another
//! node, which answers later; a shown message that is to be cancelled is `RETRACTED` unless a receive has taken it.
//!
//! Nothing holds messages back that a rank sends to itself, which are counted, and buffered sends, whose copies stay
//! here until they are asked for, in place of the user's buffer. Collectives are not to suffer from a flood: their
//! messages go ahead of others that wait for room, in another context, and short ones are never announced. There are
//! few of these, for few runs of a channel are under way at a time; a long message may be one of many pieces, and its
//! round trip is little beside its copy. They are never only shown, and nor are letters, which have tags below 0.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Modes.

mod allocations;
mod arrivals;
mod asking;
mod beginnings;
mod calls;
mod desks;
mod keeping;
mod leaving;
mod net;
mod op;
mod outbox;
mod partitioned;
mod planned;
mod reading;
mod receiving;
mod rings;
mod sending;
mod shown;
mod single;
mod unasked;
mod ways;

use std::sync::Arc;

use oxmpi_base::{Ordered, Status};
use oxmpi_mem::reserve::Growth;
use oxmpi_mem::{Alarm, Pool};
use oxmpi_shm::Arena;
use oxmpi_shm::ring::Header;

use crate::board::{Board, Entry, SetKey};
use crate::contexts::Contexts;
use crate::engine::RunKey;
use crate::names::Names;
use crate::peers::{PeerId, Peers};
use crate::results::Results;
use crate::slab::{Key, Slab};
use crate::writes::Writes;
use allocations::Allocations;
pub(crate) use allocations::{name_of_offset, offset_of_name};
pub(crate) use asking::Stalled;
pub(crate) use beginnings::Beginning;
use calls::TheirCalls;
pub(crate) use desks::{PostDesk, PostDesks};
use keeping::Keeping;
pub use leaving::Needs;
use net::Net;
pub(crate) use net::{BondKey, Part};
use op::State;
pub use op::{Mode, Op, Outcome};
pub(crate) use outbox::Outbox;
use outbox::Outgoing;
use partitioned::PartitionedOps;
pub use partitioned::{Partitioned, PartitionedKey};
pub use receiving::{AtOnce, Received};
pub(crate) use rings::OwnRings;
pub use single::Reading;
pub(crate) use single::{Memory, Reach};
pub(crate) use unasked::Coming;
pub(crate) use ways::ByLength as WaysByLength;

/// The number of an operation that is not over yet, or whose outcome nobody has asked for yet.
pub type OpKey = Key<Op>;

/// A process and the context that a communicator has there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The process.
    pub peer: PeerId,
    /// Index of the context in that process.
    pub context: u32,
}

/// What a thread may sleep until, since another one of its rank notices it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message has arrived, for which no receive was posted in this context.
    Arrival(u32),
    /// A run that the engine keeps is complete.
    Complete(RunKey),
    /// A thing of this set of the board is struck out.
    Next(SetKey),
    /// An operation is over.
    Over(OpKey),
    /// This is struck out on the board.
    Struck(Entry),
}

/// A thread that sleeps away from the doorbell, until one of these happens.
#[derive(Debug)]
struct Sleeper {
    events: Vec<Event>,
    alarm: Arc<Alarm>,
}

impl Event {
    /// The thing with this number is struck out on the board.
    pub fn struck<T>(key: Key<T>) -> Self {
        Self::Struck(Entry::of(key))
    }
}

/// All point-to-point traffic of a rank.
#[derive(Debug)]
pub struct P2p {
    pub(crate) peers: Peers,
    pub(crate) rings: OwnRings,
    /// The shared memory of this rank.
    pub(crate) arena: Arena,
    /// What of it the program has.
    pub(crate) allocations: Allocations,
    /// Peers whose outboxes are not empty.
    busy_outboxes: Vec<PeerId>,
    /// Whether a message that finds no memory has waited enough.
    fails_without_memory: bool,
    /// By what processes on other nodes are reached, and which of them have left the channels with these contexts.
    net: Option<Box<Net>>,
    departed: Ordered<(u32, PeerId), ()>,
    calls: TheirCalls,
    ops: Slab<Op>,
    partitioned: PartitionedOps,
    /// What callers wait for.
    pub board: Board,
    contexts: Contexts,
    /// Those that have ended, and in which something was only shown that may be left with its sender.
    ended_contexts: Vec<u32>,
    /// Messages that found no receive when they arrived, so far.
    kept: u64,
    /// Private memory for temporaries.
    pub pool: Pool,
    /// Which way it went last, by length.
    pub(crate) post_ways: WaysByLength,
    /// How what this rank posts is written.
    pub(crate) writes: Writes,
    /// And what it gives its program.
    pub(crate) results: Results,
    keeping: Keeping,
    /// Senders that keep what was shown here, and how many questions there were to them.
    stalled: Vec<PeerId>,
    questions: u64,
    /// Contexts in which announcements of collectives may wait for receives.
    announced_in: Vec<u32>,
    /// How many messages were shown elsewhere.
    shown: u64,
    /// Messages of so many bytes are read directly though that is slower.
    direct_from_bytes: u64,
    /// Processors that are left to the ranks of the job by others.
    pub(crate) most_cpus: usize,
    /// What the user has said of it.
    pub(crate) reading: Reading,
    /// Several threads may wait.
    has_threads: bool,
    /// What threads of this rank sleep for, away from the doorbell.
    sleepers: Vec<Sleeper>,
    /// A job may have become idle.
    pub(crate) has_idle: bool,
}

/// Kinds of messages; see the module.
pub(crate) mod kind {
    pub(crate) const EAGER: u32 = 1;
    pub(super) const EAGER_SYNCHRONOUS: u32 = 2;
    pub(super) const ANNOUNCE: u32 = 3;
    pub(super) const ACCEPT: u32 = 4;
    pub(super) const DATA: u32 = 5;
    pub(super) const MATCHED: u32 = 6;
    pub(super) const FETCHED: u32 = 7;
    pub(super) const RETRACT: u32 = 9;
    pub(super) const RETRACTED: u32 = 10;
    pub(super) const REFUSED: u32 = 11;
    pub(crate) const FINISHED: u32 = 12;
    pub(super) const OFFER: u32 = 13;
    pub(super) const WITHDRAW: u32 = 14;
    pub(super) const BEGUN: u32 = 15;
    pub(super) const PART: u32 = 16;
    pub(super) const LEND: u32 = 17;
    pub(super) const TAKEN: u32 = 18;
    pub(super) const DECLINED: u32 = 19;
    pub(super) const SHOWN: u32 = 20;
    pub(super) const WANTED: u32 = 21;
    pub(super) const GO_ON: u32 = 22;
    pub(super) const FOUND: u32 = 23;
    pub(super) const NO_MORE: u32 = 24;
    pub(super) const CLAIMED: u32 = 25;
    pub(super) const FOUND_WHOLE: u32 = 26;
    pub(super) const LEFT: u32 = 27;
    pub(super) const BIND: u32 = 28;
    pub(super) const BOUND: u32 = 29;
    pub(super) const RELEASED: u32 = 30;
    pub(super) const CALLED: u32 = 31;
    pub(super) const SIGNED: u32 = 32;
    pub(super) const OPENED: u32 = 33;
    pub(super) const UNWRITTEN: u32 = 34;
    pub(super) const FIRST: u32 = 35;
    pub(super) const NEXT: u32 = 36;
    pub(super) const CLOSE: u32 = 37;
    pub(super) const CLOSED: u32 = 38;
}

impl P2p {
    pub(crate) fn new(peers: Peers, arena: Arena) -> Self {
        let rings = OwnRings::new(&peers, &arena);
        Self {
            peers,
            rings,
            arena,
            allocations: Allocations::default(),
            busy_outboxes: Vec::new(),
            fails_without_memory: false,
            net: None,
            departed: Ordered::new(),
            calls: TheirCalls::default(),
            ops: Slab::new(),
            partitioned: PartitionedOps::default(),
            board: Board::default(),
            contexts: Contexts::default(),
            ended_contexts: Vec::new(),
            kept: 0,
            pool: Pool::default(),
            post_ways: WaysByLength::default(),
            writes: Writes::default(),
            results: Results::default(),
            keeping: Keeping::default(),
            stalled: Vec::new(),
            announced_in: Vec::new(),
            questions: 0,
            shown: 0,
            direct_from_bytes: u64::MAX,
            most_cpus: usize::MAX,
            reading: Reading::Auto,
            has_threads: false,
            sleepers: Vec::new(),
            has_idle: false,
        }
    }

    /// A new context. Messages for it are kept from now on.
    pub fn open_context(&mut self) -> u32 {
        self.contexts.open()
    }

    /// Ends a context: no peer will send to it any more, but what was only shown. What has come and nobody has received
    /// is refused. When nothing of what was shown can come, receives that still wait are cancelled.
    pub fn close_context(&mut self, context: u32) {
        self.close_partitioned(context);
        self.forget_offers(context);
        self.forget_calls(context);
        let (receives, messages) = match self.may_be_shown_in(context) {
            true => {
                self.ended_contexts.push(context);
                (Vec::new(), self.contexts.end(context))
            }
            false => self.contexts.close(context).map(|mut closed| closed.drain()).unwrap_or_default(),
        };
        receives.into_iter().for_each(|receive| self.finish_cancelled(receive));
        // Who waits for one of them to be received would wait for ever.
        messages.into_iter().for_each(|message| self.refuse(message));
    }

    /// Ends a context that others may take for one of a communicator, now or later: what they send to it is refused,
    /// and its number is never used again.
    pub fn end_context(&mut self, context: u32) {
        self.contexts.end(context).into_iter().for_each(|message| self.refuse(message));
    }

    /// Whether an operation is over. One that is not known is.
    #[inline]
    pub fn is_done(&self, key: OpKey) -> bool {
        self.ops.get(key).is_none_or(|op| op.state == State::Done)
    }

    /// What an operation that is over and has not failed says about itself; as [`P2p::take_outcome`].
    #[inline(always)]
    pub fn take_status(&mut self, key: OpKey) -> Option<Status> {
        let op = self.ops.get_mut(key).filter(|op| op.state == State::Done && op.error.is_none())?;
        let status = op.status;
        match op.plan {
            None => self.ops.discard(key),
            Some(_) => op.state = State::Inactive,
        }
        Some(status)
    }

    /// How many bytes an operation sends, or receives at most.
    pub fn bytes_of(&self, key: OpKey) -> u64 {
        self.ops.get(key).map_or(0, |op| op.buffer.bytes())
    }

    /// What the next operation takes.
    #[inline]
    pub fn growth(&self) -> Growth {
        self.ops.growth()
    }

    /// What the contexts of another channel take.
    pub(crate) fn growth_of_contexts(&self) -> Growth {
        self.contexts.growth()
    }

    /// How an operation ended, if it is over; unless it can be started again, its number means nothing any more then.
    #[inline]
    pub fn take_outcome(&mut self, key: OpKey) -> Option<Outcome> {
        let op = self.ops.get_mut(key).filter(|op| op.state == State::Done)?;
        let outcome = Outcome { status: op.status, error: op.error.take() };
        match op.plan {
            None => self.ops.discard(key),
            Some(_) => op.state = State::Inactive,
        }
        Some(outcome)
    }

    /// The same, after a [look](P2p::look_for) at what has arrived if it is not over yet.
    #[inline]
    pub fn poll_for(&mut self, key: OpKey) -> Option<Outcome> {
        self.take_outcome(key).or_else(|| if self.look_for(key) { self.take_outcome(key) } else { None })
    }

    /// Looks at what has arrived, from whom an operation waits for, if that is known; whether it is over then. Who
    /// waits for it is to poll everything now and then.
    #[inline(never)]
    pub fn look_for(&mut self, key: OpKey) -> bool {
        match self.awaits(key) {
            Some(from) if self.busy_outboxes.is_empty() => self.take_in_for(from, key),
            _ => drop(self.poll()),
        }
        self.is_done(key)
    }

    /// What an operation that is over says about itself, without ending it; if it is planned and inactive, what it said
    /// the last time.
    pub fn peek_status(&self, key: OpKey) -> Option<Status> {
        self.ops.get(key).filter(|op| !op.is_under_way()).map(|op| op.status)
    }

    /// Strikes this out on the board when an operation is over, each time; at once, if it is.
    #[inline(always)]
    pub fn tell<T>(&mut self, key: OpKey, entry: Key<T>) {
        match self.ops.get_mut(key) {
            Some(op) if op.state != State::Done => op.entry = Entry::of(entry),
            _ => self.board.strike(Entry::of(entry)),
        }
    }

    /// Nobody will ask for the outcome, nor start it again: the operation goes on, and is forgotten when it is over.
    pub fn detach(&mut self, key: OpKey) {
        if let Some(op) = self.ops.get_mut(key) {
            op.detached = true;
            match op.state {
                State::Done | State::Inactive => drop(self.ops.remove(key)),
                State::Refused => self.finish(key),
                _ => {}
            }
        }
    }

    /// Ends an operation if it has not matched; else it goes on. Of a send that has reached the receiver's
    /// process, that process decides.
    pub fn cancel(&mut self, key: OpKey) {
        let Some(op) = self.ops.get_mut(key) else { return };
        let (context, peer) = (op.context, op.peer);
        let withdrawn = match op.state {
            State::Posted { .. } => self.contexts.at(context).withdraw(key) || self.take_out_of_bond(key),
            State::Queued => {
                // The outbox passes it over; but one that may be started again is not to have its old place there.
                if op.plan.is_some() {
                    self.take_out(peer, key);
                }
                self.take_out_of_bond(key);
                true
            }
            State::Announced { .. } if peer == self.peers.me() => self.retract(context, peer, key.to_word()),
            State::Announced { shown } => {
                op.state = State::Retracting { shown };
                self.show_no_more(peer, context, key);
                let header =
                    Header { kind: kind::RETRACT, context, token: key.to_word(), ..Header::default() };
                self.enqueue(peer, Outgoing::Control(header, shown));
                false
            }
            State::Refused => true,
            State::Done | State::Filling { .. } | State::Inactive => false,
            State::Retracting { .. } | State::Streaming { .. } => false,
        };
        if withdrawn {
            self.finish_cancelled(key);
        }
    }

    /// Answers a sender that wants a message back, if no receive has taken it. One that was only shown, under this
    /// number, it has itself.
    fn retract_for(&mut self, from: PeerId, header: &Header, shown: u64) {
        if shown != 0 {
            self.change_shown(from);
        }
        if self.retract(header.context, from, header.token) || shown != 0 {
            self.answer(from, kind::RETRACTED, header.token, shown);
        }
    }

    /// Forgets a message that nobody has received; false if it is not there.
    fn retract(&mut self, context: u32, from: PeerId, token: u64) -> bool {
        let message = self.contexts.at(context).retract(from, token);
        message.is_some_and(|message| {
            self.let_go(message.payload);
            true
        })
    }

    fn finish_cancelled(&mut self, key: OpKey) {
        self.take_back_loan(key);
        if let Some(op) = self.ops.get_mut(key) {
            op.status = Status { cancelled: true, ..Status::EMPTY };
            self.finish(key);
        }
    }

    /// Several threads of this rank may wait at the same time from now on.
    pub fn note_threads(&mut self) {
        self.has_threads = true;
    }

    /// Whether several threads of this rank may wait at the same time.
    pub fn has_threads(&self) -> bool {
        self.has_threads
    }

    /// A thread is about to sleep away from the doorbell, until one of `events`; how many threads do.
    pub fn sleep_until(&mut self, events: Vec<Event>, alarm: &Arc<Alarm>) -> usize {
        self.sleepers.push(Sleeper { events, alarm: Arc::clone(alarm) });
        self.sleepers.len()
    }

    /// The thread with this alarm has got up.
    pub fn get_up(&mut self, alarm: &Arc<Alarm>) {
        self.sleepers.retain(|sleeper| !Arc::ptr_eq(alarm, &sleeper.alarm));
    }

    /// Wakes the threads that sleep until one of these, which happen now.
    #[inline]
    pub fn happened<const N: usize>(&self, events: impl FnOnce() -> [Event; N]) {
        if !self.sleepers.is_empty() {
            ring_for(&self.sleepers, &self.board, &events());
        }
    }

    /// Wakes other threads of this rank that sleep: this one has done what they may wait for.
    #[inline]
    pub(crate) fn wake_own_threads(&self) {
        if self.has_threads {
            self.peers.wake(self.peers.me());
        }
    }

    /// Bytes of shared memory that are in use now, but for what the program has.
    pub fn shared_bytes(&self) -> usize {
        self.arena.used_bytes()
    }

    /// Bytes of private memory that were ever in use at the same time, for temporaries and what is kept.
    pub(crate) fn private_bytes(&self) -> usize {
        self.pool.peak_bytes() + self.keeping.pool.peak_bytes()
    }

    /// Messages of `bytes` bytes and more are read out of the sender's memory from now on where that is possible, be
    /// it slower.
    #[inline]
    pub fn read_directly_from(&mut self, bytes: u64) {
        self.direct_from_bytes = bytes;
    }

    /// When peers' memory is read directly.
    pub fn read_directly(&mut self, when: Reading) {
        self.reading = when;
    }

    /// One line per operation under way, for reports.
    pub fn describe(&self, names: &impl Names) -> Vec<String> {
        let messages = self.ops.iter().filter(|op| op.is_under_way()).map(|op| op.describe(names));
        messages.chain(self.describe_partitioned(names)).collect()
    }

    /// Notes that an operation is over.
    pub(super) fn finish(&mut self, key: OpKey) {
        self.wake_own_threads();
        let Some(op) = self.ops.get_mut(key) else { return };
        if !self.sleepers.is_empty() {
            ring_for(&self.sleepers, &self.board, &[Event::Over(key), Event::Struck(op.entry)]);
        }
        op.state = State::Done;
        self.board.strike(op.entry);
        if op.detached {
            self.forget(key);
        }
    }

    fn forget(&mut self, key: OpKey) {
        if let Some(copy) = self.ops.remove(key).and_then(|op| op.copy) {
            self.keeping.pool.give(copy);
        }
    }
}

/// Wakes those of these threads that sleep until something that happens now.
#[cold]
fn ring_for(sleepers: &[Sleeper], board: &Board, happening: &[Event]) {
    let is_it = |event: &Event| match *event {
        Event::Next(set) => happening.iter().any(|now| match *now {
            Event::Struck(entry) => board.is_listed_in(set, entry),
            _ => false,
        }),
        _ => happening.contains(event),
    };
    let sleepers = sleepers.iter().filter(|sleeper| sleeper.events.iter().any(is_it));
    sleepers.for_each(|sleeper| sleeper.alarm.ring());
}
