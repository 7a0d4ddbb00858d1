//! Messages and the ends of ranks: what must still be sent, what will never come.

use std::mem;

use oxmpi_base::{Error, ErrorClass, Status};
use oxmpi_shm::ring::Header;

use super::arrivals::word_of;
use super::outbox::Outgoing;
use super::{Address, Op, OpKey, P2p, State, kind};
use crate::addresses::Addresses;
use crate::matching::Message;
use crate::peers::{Peer, PeerId};

/// Without what an operation cannot end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// An answer or data of this peer.
    Answer(PeerId),
    /// A message from this rank of the communicator; `None` if it may come from any.
    Message(Option<i32>),
    /// Nothing: it is over.
    Nothing,
    /// A receive of this peer, which posts none any more.
    Receive(PeerId),
}

/// With `REFUSED`: the receiver is through with what the message belongs to.
const LATE: u64 = 1;

/// The note that came with the announcement of a collective's message.
fn note_of(message: &Message) -> Option<u64> {
    let is_announced = message.header.kind == kind::ANNOUNCE;
    is_announced.then(|| word_of(&message.payload.part(8, 8))).filter(|&note| note != 0)
}

impl P2p {
    /// Posts no receives any more, but in `except` and in contexts that are yet to be opened: whoever waits to be
    /// received hears that, and is forgotten.
    pub fn refuse_all_but(&mut self, except: u32) {
        let me = self.peers.me();
        let waits = |message: &Message| message.from != me && message.header.kind != kind::EAGER;
        let closing = self.contexts.iter_mut().filter(|(number, _)| *number != except);
        let refused: Vec<Message> = closing.flat_map(|(_, context)| context.refuse(waits)).collect();
        refused.into_iter().for_each(|message| self.refuse(message));
        self.ask_for_all();
    }

    /// Forgets a message that is not to be received, and tells its sender, if that waits.
    pub fn refuse(&mut self, message: Message) {
        self.refuse_as(message, 0);
    }

    /// Forgets the messages of a context that come too late by their tags and notes: what they belong to is over here,
    /// and had no receive for them. What their senders wait with fails.
    pub(crate) fn refuse_late(&mut self, context: u32, is_late: impl Fn(i32, u64) -> bool) {
        let me = self.peers.me();
        let is_late = |message: &Message| {
            message.from != me && note_of(message).is_some_and(|note| is_late(message.header.tag, note))
        };
        let here = self.contexts.at(context);
        let late = here.take_all(is_late);
        if !here.has_no_unexpected() {
            self.announced_in.push(context);
        }
        late.into_iter().for_each(|message| self.refuse_as(message, LATE));
    }

    /// The contexts in which announcements of collectives may wait, once.
    pub(crate) fn take_announced_in(&mut self) -> Vec<u32> {
        mem::take(&mut self.announced_in)
    }

    /// Notes where an announcement of a collective waits, if this is one.
    pub(super) fn note_announcement(&mut self, message: &Message) {
        let context = message.header.context;
        if note_of(message).is_some() && !self.announced_in.contains(&context) {
            self.announced_in.push(context);
        }
    }

    fn refuse_as(&mut self, Message { from, header, payload }: Message, word: u64) {
        self.let_go(payload);
        if from != self.peers.me() && header.kind != kind::EAGER {
            self.answer(from, kind::REFUSED, header.token, word);
        }
    }

    /// Tells a member of a channel, which cannot see it, that this rank has left and will tell no more by it.
    pub(crate) fn tell_departure(&mut self, to: Address) {
        let header = Header { kind: kind::LEFT, context: to.context, ..Header::default() };
        if !self.peers.is_lost(to.peer) {
            self.enqueue(to.peer, Outgoing::Control(header, 0));
        }
    }

    /// Whether a member has told so of the channel with this context.
    pub(crate) fn has_departed(&self, context: u32, member: PeerId) -> bool {
        self.departed.contains_key((context, member))
    }

    /// The same, once.
    pub(crate) fn take_departure(&mut self, context: u32, from: PeerId) -> bool {
        self.departed.remove((context, from)).is_some()
    }

    /// Lets everything fail that needs a peer; `is_awaited` says which receives do that wait for a message from a rank
    /// of a context.
    pub(crate) fn lose(&mut self, lost: PeerId, is_awaited: impl Fn(u32, i32) -> bool) {
        let needs = |op: &Op| match op.state {
            State::Done | State::Inactive => false,
            State::Posted { .. } => is_awaited(op.context, op.header.source),
            _ => op.peer == lost,
        };
        // What is being read from another node, or written there, fails when no byte of it moves any more.
        let moves = |key: OpKey| self.is_being_read(key) || self.is_being_written(key);
        let failing = self.ops.entries().filter(|&(key, op)| needs(op) && !moves(key));
        let failing = failing.map(|(key, op)| (key, op.is_posted().then_some(op.context)));
        for (key, posted_in) in failing.collect::<Vec<_>>() {
            if let Some(context) = posted_in {
                self.contexts.at(context).withdraw(key);
            }
            self.fail(key, self.peers[lost].lost());
        }
        self.empty_outbox(lost);
        self.forget_coming(lost);
        self.ask_no_more_of(lost);
    }

    /// Ends an operation with an error.
    pub(super) fn fail(&mut self, key: OpKey, error: Error) {
        self.take_back_loan(key);
        if let Some(op) = self.ops.get_mut(key) {
            op.status.error = error.class();
            op.error = Some(error);
            self.finish(key);
        }
    }

    /// No receive will match a send, as `REFUSED` says with this word.
    pub(super) fn refused(&mut self, key: OpKey, word: u64) {
        match self.ops.get_mut(key) {
            Some(Op { state: State::Retracting { .. }, .. }) => self.finish_cancelled(key),
            Some(op) if op.detached => self.finish(key),
            Some(op) if word == LATE => {
                let bytes = op.buffer.bytes();
                let text =
                    format!("{bytes} bytes are sent to a rank that has completed the call and expected none");
                self.fail(key, Error::new(ErrorClass::Truncate, text));
            }
            Some(op) => op.state = State::Refused,
            None => {}
        }
    }

    /// What an operation needs to end.
    pub fn needs(&self, key: OpKey) -> Needs {
        self.ops.get(key).map_or(Needs::Nothing, |op| match op.state {
            State::Done | State::Inactive => Needs::Nothing,
            State::Posted { asked } => match self.asked(asked) {
                Some(peer) => Needs::Answer(peer),
                None => Needs::Message(Some(op.header.source).filter(|&source| source != Status::ANY)),
            },
            State::Refused => Needs::Receive(op.peer),
            State::Announced { .. } | State::Retracting { .. } => Needs::Answer(op.peer),
            State::Filling { .. } | State::Queued | State::Streaming { .. } => Needs::Answer(op.peer),
        })
    }

    /// The operations that there are, each with its context.
    pub(crate) fn contexts_of_operations(&self) -> impl Iterator<Item = (OpKey, u32)> {
        self.ops.entries().map(|(key, op)| (key, op.context))
    }

    /// Whether all that this rank has sent is with its peers, but for data that they have not asked for.
    pub fn is_told(&self) -> bool {
        let is_told = |op: &Op| !matches!(op.state, State::Queued | State::Streaming { .. });
        self.are_empty() && self.ops.iter().all(|op| is_told(op) || self.has_left(op.peer))
    }

    /// Whether all messages to a peer, or those in one of its contexts, lie in a ring that it knows of or is about to
    /// hear of, so that it finds them before what it sees next; or it finds none any more.
    pub(crate) fn has_told(&self, peer: PeerId, context: Option<u32>) -> bool {
        let has_been_told = |peer: &Peer| peer.knows_ring() && peer.outbox.has_told(context, &self.ops);
        self.peers.known(peer).is_none_or(has_been_told) || self.has_left(peer)
    }

    /// Whether anything that this rank has sent still needs it: finalizing must wait. What waits for a peer that
    /// has left MPI, or for this rank itself, would wait for ever.
    pub fn is_quiet(&self) -> bool {
        let is_over =
            |op: &Op| !op.is_under_way() || matches!(op.state, State::Posted { .. } | State::Refused);
        self.are_empty() && self.ops.iter().all(|op| is_over(op) || self.has_left(op.peer))
    }

    /// Whether nothing waits for room in the ring of a peer that may make some.
    fn are_empty(&self) -> bool {
        self.busy_outboxes.iter().all(|&peer| self.peers[peer].outbox.has_sent() || self.has_left(peer))
            && self.has_carried_all()
    }

    /// The receives of a context and the sends to one of `peers` that are under way. What waits for a peer that has
    /// left MPI to answer, or for this rank itself, is not counted: it would wait for ever.
    pub fn under_way_on(&self, context: u32, peers: &Addresses) -> impl Iterator<Item = OpKey> {
        let is_under_way = move |op: &Op| match op.state {
            State::Done | State::Inactive | State::Refused => false,
            State::Filling { .. } | State::Posted { .. } => op.context == context,
            State::Announced { .. } | State::Queued | State::Retracting { .. } | State::Streaming { .. } => {
                let to = Address { peer: op.peer, context: op.context };
                peers.rank_of(to).is_some() && !self.has_left(op.peer)
            }
        };
        self.ops.entries().filter(move |(_, op)| is_under_way(op)).map(|(key, _)| key)
    }

    /// Whether an operation is over or would never be: it needs a peer that has left MPI, or this rank itself.
    pub fn is_settled(&self, key: OpKey) -> bool {
        self.ops
            .get(key)
            .is_none_or(|op| !op.is_under_way() || op.state == State::Refused || self.has_left(op.peer))
    }

    #[cold]
    pub(super) fn has_left(&self, peer: PeerId) -> bool {
        peer == self.peers.me() || self.peers.seat(peer).has_left() || self.peers.is_lost(peer)
    }
}
