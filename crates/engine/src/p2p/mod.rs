//! Point-to-point messages between the ranks of a node.
//!
//! | message | protocol | cost |
//! |---|---|---|
//! | up to [`Sender::largest_payload`], standard or ready | *eager*: header and data through the ring | one copy in, one out |
//! | the same, synchronous | eager, and the receiver answers `MATCHED` | one answer more |
//! | longer | *announced*: `ANNOUNCE`, the receiver answers `ACCEPT`, the data follows in pieces | both ends copy at the same time, through cache |
//! | longer, where reading the sender's memory wins | announced with the address; the receiver reads, and answers `FETCHED` | one copy, one system call |
//! | to itself | copied at once, into the receive or into the pool | |
//!
//! A sender that wants to cancel what waits at the receiver asks it by `RETRACT`; the answer is `RETRACTED`, or
//! that which follows the match. A receiver that posts no receives any more answers what waits there by `REFUSED`.
//!
//! Whatever finds no room in a ring waits in the outbox of that peer; nothing here blocks.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Modes.

mod arrivals;
mod leaving;
mod outbox;
mod single;

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_mem::{Pool, Region};
use oxmpi_shm::ring::{Header, Receiver};

use crate::matching::{Context, Message, Pattern, Source};
use crate::names::Names;
use crate::peers::{PeerId, Peers};
use crate::slab::{Key, Slab};
pub use leaving::Needs;
pub(crate) use outbox::Outbox;
use outbox::Outgoing;
pub(crate) use single::Reach;

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

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When the buffer can be used again. Serves the ready mode too.
    Standard,
    /// When, moreover, a receive has matched.
    Synchronous,
}

/// How an operation ended.
#[derive(Debug)]
pub struct Outcome {
    /// What to tell about it.
    pub status: Status,
    /// What went wrong.
    pub error: Option<Error>,
}

impl Outcome {
    /// The status, unless something went wrong.
    ///
    /// # Errors
    /// What went wrong.
    #[inline]
    pub fn into_result(self) -> Result<Status> {
        self.error.map_or(Ok(self.status), Err)
    }
}

/// A receive that is over, or not.
#[derive(Debug)]
pub enum Received {
    /// A message was there.
    Done(Outcome),
    /// It waits.
    Pending(OpKey),
}

/// What [`P2p::receive_at_once`] found.
#[derive(Debug)]
pub enum AtOnce {
    /// The message.
    Done(Outcome),
    /// Something else, which only [`P2p::receive`] and [`P2p::poll`] can deal with.
    NeedsOperation,
    /// Nothing.
    NotYet,
}

/// All point-to-point traffic of a rank.
#[derive(Debug)]
pub struct P2p {
    pub(crate) peers: Peers,
    /// Outboxes that are not empty.
    busy_outboxes: usize,
    ops: Slab<Op>,
    contexts: Vec<Option<Context>>,
    /// Messages that found no receive when they arrived, so far.
    kept: u64,
    free_contexts: Vec<u32>,
    /// Private memory for early messages and temporaries.
    pub pool: Pool,
    /// Messages of so many bytes are read directly though that is slower.
    direct_from_bytes: u64,
    /// Several threads may wait.
    has_threads: bool,
    /// Contexts that a peer has left, to be told to the engine.
    pub(crate) departures: Vec<Address>,
}

/// An operation under way.
#[derive(Debug)]
pub struct Op {
    /// The other side; of a receive, once it is known.
    peer: PeerId,
    context: u32,
    buffer: Buffer,
    state: State,
    status: Status,
    error: Option<Error>,
    /// Nobody will ask for the outcome.
    detached: bool,
    /// The copy that a buffered send sends.
    copy: Option<Region>,
    /// What the caller wants to be told about it in reports.
    header: Header,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A send in the outbox.
    Queued,
    /// A send that waits for the receiver's answer.
    Announced,
    /// The same, after the receiver was asked to forget it.
    Retracting,
    /// A send that no receive will ever match: the receiver posts none any more.
    Refused,
    /// A send whose data is on its way: the receiver's operation, and bytes sent.
    Streaming { receive: u64, sent: u64 },
    /// A receive that waits for a message.
    Posted,
    /// A receive whose data is on its way: bytes arrived.
    Filling { arrived: u64 },
    /// Over.
    Done,
}

/// Kinds of messages; see the module.
pub(crate) mod kind {
    pub(super) const EAGER: u32 = 1;
    pub(super) const EAGER_SYNCHRONOUS: u32 = 2;
    pub(super) const ANNOUNCE: u32 = 3;
    pub(super) const ACCEPT: u32 = 4;
    pub(super) const DATA: u32 = 5;
    pub(super) const MATCHED: u32 = 6;
    pub(super) const FETCHED: u32 = 7;
    pub(super) const DEPARTED: u32 = 8;
    pub(super) const RETRACT: u32 = 9;
    pub(super) const RETRACTED: u32 = 10;
    pub(super) const REFUSED: u32 = 11;
    pub(crate) const FINISHED: u32 = 12;
}

impl P2p {
    pub(crate) fn new(peers: Peers) -> Self {
        Self {
            peers,
            busy_outboxes: 0,
            ops: Slab::new(),
            contexts: Vec::new(),
            kept: 0,
            free_contexts: Vec::new(),
            pool: Pool::default(),
            direct_from_bytes: u64::MAX,
            has_threads: false,
            departures: Vec::new(),
        }
    }

    /// A new context. Messages for it are kept from now on.
    pub fn open_context(&mut self) -> u32 {
        let index = self.free_contexts.pop().unwrap_or_else(|| {
            self.contexts.push(None);
            self.contexts.len() as u32 - 1
        });
        self.contexts[index as usize] = Some(Context::default());
        index
    }

    /// Ends a context: no peer will send to it any more. Receives that still wait are cancelled.
    pub fn close_context(&mut self, context: u32) {
        let (receives, messages) = self.context_mut(context).drain();
        receives.into_iter().for_each(|receive| self.finish_cancelled(receive));
        messages.into_iter().for_each(|message| self.pool.give(message.payload));
        self.contexts[context as usize] = None;
        self.free_contexts.push(context);
    }

    /// Begins to send. `None` if the send is complete already.
    ///
    /// `source` is this rank's rank in the communicator.
    #[inline]
    pub fn send(&mut self, to: Address, source: i32, tag: i32, buffer: &Buffer, mode: Mode) -> Option<OpKey> {
        let bytes = buffer.bytes();
        let header = Header { kind: kind::EAGER, context: to.context, source, tag, bytes, token: 0 };
        self.send_headed(to, header, buffer, mode)
    }

    /// Begins to send a message with a note, for [`P2p::take_noted`], in the standard mode.
    pub(crate) fn send_noted(
        &mut self,
        to: Address,
        source: i32,
        tag: i32,
        note: u64,
        buffer: &Buffer,
    ) -> Option<OpKey> {
        let bytes = buffer.bytes();
        let header = Header { kind: kind::EAGER, context: to.context, source, tag, bytes, token: note };
        self.send_headed(to, header, buffer, Mode::Standard)
    }

    #[inline]
    fn send_headed(&mut self, to: Address, header: Header, buffer: &Buffer, mode: Mode) -> Option<OpKey> {
        let bytes = header.bytes;
        if mode == Mode::Standard && to.peer != self.peers.me() {
            let peer = &mut self.peers[to.peer];
            if peer.outbox.is_empty()
                && let Some(sender) = &mut peer.sender
                && bytes <= sender.largest_payload() as u64
                && let Some(room) = sender.room(bytes as usize)
            {
                buffer.read(0, &room.payload);
                room.send(header);
                peer.wake();
                return None;
            }
        }
        self.send_slowly(to, header, buffer, mode)
    }

    /// Sends a copy of the data, so that the send is complete at once whatever the receiver does. While the copy is
    /// kept here, the operation that is returned is not [done](P2p::is_done); nobody is to ask for its outcome.
    pub fn send_copy(&mut self, to: Address, source: i32, tag: i32, buffer: &Buffer) -> Option<OpKey> {
        if to.peer == self.peers.me() {
            // Such a message is always copied. It is kept here until a receive takes it.
            let key = self.send(to, source, tag, buffer, Mode::Synchronous)?;
            self.detach(key);
            return Some(key);
        }
        let copy = self.pool.take(buffer.bytes() as usize);
        buffer.read(0, &copy);
        let sent = self.send(to, source, tag, &Buffer::dense(copy), Mode::Standard);
        match sent.and_then(|key| self.ops.get_mut(key)) {
            None => self.pool.give(copy),
            Some(op) => {
                op.detached = true;
                op.copy = Some(copy);
            }
        }
        sent
    }

    fn send_slowly(&mut self, to: Address, mut header: Header, buffer: &Buffer, mode: Mode) -> Option<OpKey> {
        if mode == Mode::Synchronous {
            header.kind = kind::EAGER_SYNCHRONOUS;
        }
        if to.peer == self.peers.me() {
            return self.send_to_self(header, buffer);
        }
        if self.peers[to.peer].is_lost() {
            return Some(self.fail_to_send(to, header));
        }
        if header.bytes > self.peers[to.peer].largest_payload() as u64 {
            header.kind = kind::ANNOUNCE;
        }
        let key = self.ops.insert(Op::new(State::Queued, to, buffer.clone(), header));
        self.enqueue(to.peer, Outgoing::Message(key));
        if self.ops.get(key).is_some_and(|op| op.state == State::Done) {
            self.ops.remove(key);
            return None;
        }
        Some(key)
    }

    fn send_to_self(&mut self, mut header: Header, buffer: &Buffer) -> Option<OpKey> {
        let from = self.peers.me();
        let packed = self.pool.take(buffer.bytes() as usize);
        buffer.read(0, &packed);
        if let Some(receive) = self.context_mut(header.context).take_posted(&header) {
            header.kind = kind::EAGER;
            self.matched(receive, from, &header, &packed);
            self.pool.give(packed);
            return None;
        }
        let key = (header.kind == kind::EAGER_SYNCHRONOUS).then(|| {
            let to = Address { peer: from, context: header.context };
            self.ops.insert(Op::new(State::Announced, to, Buffer::EMPTY, header))
        });
        header.token = key.map_or(0, Key::to_word);
        self.kept += 1;
        self.wake_own_threads();
        self.context_mut(header.context).keep(Message { from, header, payload: packed });
        key
    }

    /// Begins to receive into `buffer` a message that matches `pattern`.
    #[inline]
    pub fn receive(&mut self, context: u32, pattern: Pattern, buffer: Buffer) -> Received {
        match self.context_mut(context).take_unexpected(&pattern) {
            Some(message) => self.receive_message(message, buffer),
            None => Received::Pending(self.post_receive(context, pattern, buffer)),
        }
    }

    #[inline]
    fn post_receive(&mut self, context: u32, pattern: Pattern, buffer: Buffer) -> OpKey {
        let here = Address { peer: self.peers.me(), context };
        let header = Header {
            context,
            source: pattern.source.unwrap_or(Status::ANY),
            tag: pattern.tag.unwrap_or(Status::ANY),
            ..Header::default()
        };
        let key = self.ops.insert(Op::new(State::Posted, here, buffer, header));
        self.context_mut(context).post(pattern, key);
        key
    }

    /// Begins to receive a message with a note. Its outcome is to be asked for.
    pub(crate) fn receive_noted(&mut self, context: u32, pattern: Pattern, buffer: Buffer) -> OpKey {
        match self.context_mut(context).take_unexpected(&pattern) {
            Some(message) => self.begin_to_receive(message, buffer),
            None => self.post_receive(context, pattern, buffer),
        }
    }

    /// How an operation ended, and the note that came with the message, if it is over.
    pub(crate) fn take_noted(&mut self, key: OpKey) -> Option<(Outcome, u64)> {
        let note = self.ops.get(key)?.header.token;
        self.take_outcome(key).map(|outcome| (outcome, note))
    }

    /// Receives a short message that has arrived from `from` already, or just now, without making an operation
    /// of it.
    ///
    /// `pattern` names the sender, which is `from`.
    #[inline]
    pub fn receive_at_once(
        &mut self,
        context: u32,
        from: PeerId,
        pattern: &Pattern,
        buffer: &Buffer,
    ) -> AtOnce {
        let here = self.context_mut(context);
        if !here.has_no_posted() {
            return AtOnce::NeedsOperation;
        }
        if let Some(message) = here.peek(pattern) {
            if message.header.kind != kind::EAGER {
                return AtOnce::NeedsOperation;
            }
            let message = here.take_unexpected(pattern).expect("just seen");
            let outcome = delivered(&message.header, &message.payload, buffer);
            self.pool.give(message.payload);
            return AtOnce::Done(outcome);
        }
        let peer = &mut self.peers[from];
        let Some(receiver) = &mut peer.receiver else { return AtOnce::NotYet };
        let Some(arrival) = receiver.arrival() else { return AtOnce::NotYet };
        let header = &arrival.header;
        if header.kind != kind::EAGER || header.context != context || !pattern.matches(header) {
            return AtOnce::NeedsOperation;
        }
        let outcome = delivered(header, &arrival.payload, buffer);
        receiver.release(&arrival);
        peer.wake(); // it may wait for the room
        AtOnce::Done(outcome)
    }

    /// Changes when [`P2p::receive_at_once`] could find something that it did not find before, though nothing
    /// has arrived from the sender since.
    #[inline]
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// Whether anything from a peer waits to be dealt with.
    #[inline]
    pub fn has_arrival(&self, from: PeerId) -> bool {
        self.peers[from].receiver.as_ref().is_some_and(Receiver::has_arrival)
    }

    /// Receives a message that a matched probe has taken, or that has just been found.
    pub fn receive_message(&mut self, message: Message, buffer: Buffer) -> Received {
        let key = self.begin_to_receive(message, buffer);
        match self.take_outcome(key) {
            Some(outcome) => Received::Done(outcome),
            None => Received::Pending(key),
        }
    }

    fn begin_to_receive(&mut self, message: Message, buffer: Buffer) -> OpKey {
        let here = Address { peer: self.peers.me(), context: message.header.context };
        let key = self.ops.insert(Op::new(State::Posted, here, buffer, message.header));
        self.matched(key, message.from, &message.header, &message.payload);
        self.pool.give(message.payload);
        key
    }

    /// Whether a message that matches has arrived, and what it says about itself.
    pub fn probe(&mut self, context: u32, pattern: &Pattern) -> Option<Status> {
        self.context_mut(context).peek(pattern).map(|message| status_of(&message.header))
    }

    /// As [`P2p::probe`], and takes the message: only [`P2p::receive_message`] receives it from now on.
    pub fn take_message(&mut self, context: u32, pattern: &Pattern) -> Option<Message> {
        self.context_mut(context).take_unexpected(pattern)
    }

    /// Whether an operation is over. One that is not known is.
    #[inline]
    pub fn is_done(&self, key: OpKey) -> bool {
        self.ops.get(key).is_none_or(|op| op.state == State::Done)
    }

    /// How an operation ended, if it is over; its number means nothing any more then.
    #[inline]
    pub fn take_outcome(&mut self, key: OpKey) -> Option<Outcome> {
        let op = self.ops.get_mut(key).filter(|op| op.state == State::Done)?;
        let outcome = Outcome { status: op.status, error: op.error.take() };
        self.ops.discard(key);
        Some(outcome)
    }

    /// What an operation that is over says about itself, without ending it.
    pub fn peek_status(&self, key: OpKey) -> Option<Status> {
        self.ops.get(key).filter(|op| op.state == State::Done).map(|op| op.status)
    }

    /// Nobody will ask for the outcome: the operation goes on, and is forgotten when it is over.
    pub fn detach(&mut self, key: OpKey) {
        if let Some(op) = self.ops.get_mut(key) {
            op.detached = true;
            match op.state {
                State::Done => drop(self.ops.remove(key)),
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
            State::Posted => self.context_mut(context).withdraw(key),
            State::Queued => self.unqueue(peer, key),
            State::Announced if peer == self.peers.me() => self.retract(context, peer, key.to_word()),
            State::Announced => {
                op.state = State::Retracting;
                let header =
                    Header { kind: kind::RETRACT, context, token: key.to_word(), ..Header::default() };
                self.enqueue(peer, Outgoing::Control(header, 0));
                false
            }
            State::Refused => true,
            State::Done | State::Filling { .. } | State::Retracting | State::Streaming { .. } => false,
        };
        if withdrawn {
            self.finish_cancelled(key);
        }
    }

    /// Forgets a message that nobody has received; false if it is not there.
    fn retract(&mut self, context: u32, from: PeerId, token: u64) -> bool {
        let message = self.context_mut(context).retract(from, token);
        message.is_some_and(|message| {
            self.pool.give(message.payload);
            true
        })
    }

    fn finish_cancelled(&mut self, key: OpKey) {
        if let Some(op) = self.ops.get_mut(key) {
            op.status = Status { cancelled: true, ..Status::EMPTY };
            self.finish(key);
        }
    }

    /// Tells a peer that this rank has left a context for good.
    pub(crate) fn depart(&mut self, from: Address) {
        let header = Header { kind: kind::DEPARTED, context: from.context, ..Header::default() };
        self.enqueue(from.peer, Outgoing::Control(header, 0));
    }

    /// Several threads of this rank may wait at the same time from now on.
    pub fn note_threads(&mut self) {
        self.has_threads = true;
    }

    /// Whether several threads of this rank may wait at the same time.
    pub fn has_threads(&self) -> bool {
        self.has_threads
    }

    /// Wakes other threads of this rank that sleep: this one has done what they may wait for.
    #[inline]
    pub(crate) fn wake_own_threads(&self) {
        if self.has_threads {
            self.peers[self.peers.me()].wake();
        }
    }

    /// Messages of `bytes` bytes and more are read out of the sender's memory from now on where that is possible, be
    /// it slower.
    #[inline]
    pub fn read_directly_from(&mut self, bytes: u64) {
        self.direct_from_bytes = bytes;
    }

    /// One line per operation under way, for reports.
    pub fn describe(&self, names: &impl Names) -> Vec<String> {
        self.ops.iter().filter(|op| op.state != State::Done).map(|op| op.describe(names)).collect()
    }

    #[inline]
    fn context_mut(&mut self, index: u32) -> &mut Context {
        let context = self.contexts.get_mut(index as usize).and_then(Option::as_mut);
        context.expect("a context is opened before its number is told, and closed when nobody uses it")
    }

    pub(super) fn finish(&mut self, key: OpKey) {
        self.wake_own_threads();
        let Some(op) = self.ops.get_mut(key) else { return };
        op.state = State::Done;
        if op.detached
            && let Some(copy) = self.ops.remove(key).and_then(|op| op.copy)
        {
            self.pool.give(copy);
        }
    }
}

impl Op {
    fn new(state: State, peer: Address, buffer: Buffer, header: Header) -> Self {
        let (Address { peer, context }, status) = (peer, Status::EMPTY);
        Self { peer, context, buffer, state, status, error: None, detached: false, copy: None, header }
    }

    fn is_announced(&self) -> bool {
        matches!(self.state, State::Announced | State::Retracting)
    }

    fn describe(&self, names: &impl Names) -> String {
        let (Header { source, tag, bytes: total, .. }, bytes) = (self.header, self.buffer.bytes());
        let named = |value: i32| (value != Status::ANY).then_some(value);
        let asked = || Pattern { source: named(source), tag: named(tag) }.describe(&names.comm(self.context));
        let receiver = || names.member(Address { peer: self.peer, context: self.context });
        match self.state {
            State::Posted => format!("receive of up to {bytes} bytes from {}", asked()),
            State::Filling { arrived } => {
                format!("receive from {}: {arrived} of {total} bytes are here", asked())
            }
            State::Streaming { sent, .. } => {
                format!("send to {}, tag {tag}: {sent} of {bytes} bytes are sent", receiver())
            }
            State::Refused => {
                format!("send of {bytes} bytes to {}, tag {tag}: will not be received", receiver())
            }
            _ => format!("send of {bytes} bytes to {}, tag {tag}: not received yet", receiver()),
        }
    }
}

/// Puts a message that is here, whole, where it belongs.
#[inline]
fn delivered(header: &Header, payload: &Region, buffer: &Buffer) -> Outcome {
    let capacity = buffer.bytes();
    if header.bytes <= capacity {
        buffer.write(0, payload);
    } else {
        buffer.write(0, &payload.part(0, payload.len().min(capacity as usize)));
    }
    judged(header, capacity)
}

/// How a receive of at most `capacity` bytes ends that gets the message of `header`.
#[inline]
fn judged(header: &Header, capacity: u64) -> Outcome {
    let mut outcome = Outcome { status: status_of(header), error: None };
    if header.bytes > capacity {
        outcome.status.bytes = capacity;
        outcome.status.error = ErrorClass::Truncate;
        outcome.error = Some(truncated(header, capacity));
    }
    outcome
}

#[cold]
fn truncated(header: &Header, capacity: u64) -> Error {
    let Header { bytes, source, tag, .. } = header;
    let sender = Source(*source);
    let text =
        format!("a message of {bytes} bytes from {sender} with tag {tag} does not fit into {capacity} bytes");
    Error::new(ErrorClass::Truncate, text)
}

fn status_of(header: &Header) -> Status {
    Status { source: header.source, tag: header.tag, bytes: header.bytes, ..Status::EMPTY }
}
