//! How a receive begins, and what has arrived without one.

use oxmpi_base::Status;
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;

use super::op::{delivered, status_of};
use super::{Address, Op, OpKey, Outcome, P2p, State, kind};
use crate::board::Entry;
use crate::matching::{Message, Pattern};
use crate::peers::PeerId;
use crate::slab::Key;

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

impl P2p {
    /// Begins to receive into `buffer` a message that matches `pattern`; `from` is the peer that the pattern names, if
    /// it names one.
    #[inline(always)] // what is received at once is seldom, and else there is only a number
    pub fn receive(
        &mut self,
        context: u32,
        pattern: Pattern,
        from: Option<PeerId>,
        buffer: Buffer,
    ) -> Received {
        match self.take_unexpected(context, &pattern) {
            Some(message) => self.receive_message(message, buffer),
            None => Received::Pending(self.post_receive(context, pattern, from, buffer)),
        }
    }

    /// Whether no message has come by this context that nobody has asked for.
    #[inline(always)]
    pub fn has_no_unexpected(&mut self, context: u32) -> bool {
        self.contexts.at(context).has_no_unexpected()
    }

    /// Begins to receive where [nothing has come](P2p::has_no_unexpected). The end is struck out on the board: there
    /// `entry` is under way.
    #[inline(always)] // so that the operation is made in its place
    pub fn post<T>(
        &mut self,
        context: u32,
        pattern: Pattern,
        from: PeerId,
        into: Region,
        entry: Key<T>,
    ) -> OpKey {
        let from = Address { peer: from, context };
        let op = Op::new(State::Posted { asked: 0 }, from, Buffer::dense(into), pattern.header(context));
        let key = self.ops.insert(Op { entry: Entry::of(entry), ..op });
        self.contexts.at(context).post(pattern, key);
        self.ask_for(key, &pattern);
        key
    }

    #[inline(always)]
    pub(super) fn take_unexpected(&mut self, context: u32, pattern: &Pattern) -> Option<Message> {
        let here = self.contexts.at(context);
        if here.has_no_unexpected() { None } else { here.take_unexpected(pattern) }
    }

    fn post_receive(
        &mut self,
        context: u32,
        pattern: Pattern,
        from: Option<PeerId>,
        buffer: Buffer,
    ) -> OpKey {
        let from = Address { peer: from.unwrap_or(self.peers.me()), context };
        let key = self.ops.insert(Op::new(State::Posted { asked: 0 }, from, buffer, pattern.header(context)));
        self.contexts.at(context).post(pattern, key);
        self.ask_for(key, &pattern);
        key
    }

    /// Begins to receive a message with a note. Its outcome is to be asked for.
    pub(crate) fn receive_noted(&mut self, context: u32, pattern: Pattern, buffer: Buffer) -> OpKey {
        match self.take_unexpected(context, &pattern) {
            Some(message) => self.begin_to_receive(message, buffer),
            None => self.post_receive(context, pattern, None, buffer),
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
        let here = self.contexts.at(context);
        if !here.has_no_posted() {
            return AtOnce::NeedsOperation;
        }
        if let Some(message) = here.peek(pattern) {
            if message.header.kind != kind::EAGER {
                return AtOnce::NeedsOperation;
            }
            let message = here.take_unexpected(pattern).expect("just seen");
            let outcome = delivered(&message.header, &message.payload, buffer);
            self.let_go(message.payload);
            return AtOnce::Done(outcome);
        }
        let peer = &mut self.peers[from];
        let Some(receiver) = &mut peer.receiver else { return AtOnce::NotYet };
        let Some(arrival) = receiver.arrival() else {
            // What was only shown is asked for by an operation, and what comes over a network goes into one.
            let is_simple = peer.stalled.is_none() && peer.carrier().is_none();
            return if is_simple { AtOnce::NotYet } else { AtOnce::NeedsOperation };
        };
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
        match self.peers.known(from).and_then(|peer| peer.receiver.as_ref()) {
            Some(receiver) => receiver.has_arrival(),
            None => self.is_called(),
        }
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
        let key = self.ops.insert(Op::new(State::Posted { asked: 0 }, here, buffer, message.header));
        self.receive_into(key, message);
        key
    }

    /// A message that was kept goes into a receive.
    pub(super) fn receive_into(&mut self, receive: OpKey, message: Message) {
        self.matched(receive, message.from, &message.header, &message.payload);
        self.let_go(message.payload);
    }

    /// Whether a message that matches has arrived, and what it says about itself.
    pub fn probe(&mut self, context: u32, pattern: &Pattern) -> Option<Status> {
        let kept = self.contexts.at(context).peek(pattern).map(|message| status_of(&message.header));
        kept.or_else(|| self.probe_further(context, pattern))
    }

    /// As [`P2p::probe`], and takes the message: only [`P2p::receive_message`] receives it from now on.
    pub fn take_message(&mut self, context: u32, pattern: &Pattern) -> Option<Message> {
        self.contexts.at(context).take_unexpected(pattern).or_else(|| self.take_further(context, pattern))
    }
}
