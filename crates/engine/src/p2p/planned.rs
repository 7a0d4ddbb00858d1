//! Messages that are planned once and started any number of times: persistent sends and receives.
//!
//! All that can be found out before is: the peer, the envelope, the memory. The operation stays where it is, under its
//! number, and is [inactive](State::Inactive) between its outcome and the next start. A start is a copy into the ring,
//! or a place in the queue of receives; nothing is made, cloned or looked up by a name.
//!
//! What is started goes the way of all messages. So it keeps its place among them, is matched, probed for, cancelled
//! and refused as any other, and the two ends need not know that both are planned. A channel between the two would
//! save the envelope, 40 bytes of a line that crosses anyway, and its comparison with that of the first receive that
//! waits; and would need a place in the order of the ring for each of its messages, to be looked at by each receive
//! that names no sender, each probe, and each message that is not planned.
//!
//! An answer or data that comes late finds no later round of an operation: a round is over when all has come that
//! belongs to it, or will never come.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use oxmpi_base::Status;
use oxmpi_datatype::Buffer;
use oxmpi_shm::ring::Header;

use super::op::{Plan, status_of};
use super::{Address, Mode, Op, OpKey, P2p, State, kind};
use crate::matching::Pattern;
use crate::peers::{Peer, PeerId};

impl Peer {
    /// Lets a receive that waits alone take the message at the head of the peer's ring, if it asks for that one and it
    /// is here, whole; what there is to say about it then.
    #[inline(always)] // the message is in registers
    fn fill_from_head(&mut self, receive: &mut Op, pattern: &Pattern) -> Option<Status> {
        let receiver = self.receiver.as_mut()?;
        let arrival = receiver.arrival()?;
        let header = &arrival.header;
        let is_asked_for = header.context == receive.context && pattern.matches(header);
        if header.kind != kind::EAGER || !is_asked_for || header.bytes > receive.buffer.bytes() {
            return None;
        }
        receive.fill(header, &arrival.payload);
        let status = status_of(header); // not that of `receive`, which has just been written in parts
        receiver.release(&arrival);
        self.wake(); // it may wait for the room
        Some(status)
    }
}

impl P2p {
    /// A send that [`P2p::start`] begins; [`P2p::detach`] ends it.
    ///
    /// `source` is this rank's rank in the communicator.
    pub fn plan_send(&mut self, to: Address, source: i32, tag: i32, buffer: Buffer, mode: Mode) -> OpKey {
        let bytes = buffer.bytes();
        let header = Header { kind: kind::EAGER, context: to.context, source, tag, bytes, token: 0 };
        self.plan(Plan::Send(mode), Op::new(State::Inactive, to, buffer, header))
    }

    /// The same of a receive; `from` is the peer that the pattern names, if it names one.
    pub fn plan_receive(
        &mut self,
        context: u32,
        pattern: Pattern,
        from: Option<PeerId>,
        buffer: Buffer,
    ) -> OpKey {
        let peer = from.unwrap_or(self.peers.me());
        let op = Op::new(State::Inactive, Address { peer, context }, buffer, pattern.header(context));
        self.plan(Plan::Receive(pattern, peer), op)
    }

    fn plan(&mut self, plan: Plan, op: Op) -> OpKey {
        self.ops.insert(Op { plan: Some(plan), ..op })
    }

    /// Starts what was planned and is inactive; whether it is over at once. Then, or later, [`P2p::take_outcome`] tells
    /// how it ended, and it is inactive again.
    ///
    /// # Panics
    /// If nothing was planned under this number.
    #[inline]
    pub fn start(&mut self, key: OpKey) -> bool {
        let op = self.ops.get_mut(key).expect("what is planned is forgotten last");
        debug_assert!(op.state == State::Inactive, "it is started again when it was completed");
        match op.plan.expect("it was planned") {
            Plan::Receive(pattern, from) => self.start_to_receive(key, pattern, from),
            Plan::Send(mode) => {
                op.header.kind = kind::EAGER; // of the last round it may be another
                if mode == Mode::Standard
                    && let Some(peer) = self.peers.known_mut(op.peer)
                    && peer.send_at_once(&op.header, &op.buffer)
                {
                    (op.state, op.status) = (State::Done, Status::EMPTY);
                    return true;
                }
                self.begin_to_send(key, mode);
                self.is_done(key)
            }
        }
    }

    #[inline]
    fn start_to_receive(&mut self, key: OpKey, pattern: Pattern, from: PeerId) -> bool {
        let Some(op) = self.ops.get_mut(key) else { return false };
        let here = self.contexts.at(op.context);
        op.state = State::Posted { asked: 0 };
        if !here.has_no_unexpected()
            && let Some(message) = here.take_unexpected(&pattern)
        {
            self.receive_into(key, message);
            return self.is_done(key);
        }
        op.peer = from;
        if here.has_no_posted()
            && let Some(peer) = self.peers.known_mut(from)
            && peer.fill_from_head(op, &pattern).is_some()
        {
            op.state = State::Done;
            return true;
        }
        op.header = pattern.header(op.context);
        here.post(pattern, key);
        self.ask_for(key, &pattern);
        false
    }

    /// What a receive has got from the head of its sender's ring, if no other one waits in its context, and that is a
    /// message for it which is here, whole: as after [`P2p::look_for`] and [`P2p::take_status`]. Nothing else is done.
    #[inline]
    pub fn take_at_head(&mut self, key: OpKey) -> Option<Status> {
        // Others may have to hear of it.
        if self.has_threads || !self.busy_outboxes.is_empty() {
            return None;
        }
        let op = self.ops.get_mut(key).filter(|op| op.is_posted() && !op.detached)?;
        let here = self.contexts.at(op.context);
        let pattern = here.pattern_of_only(key)?;
        let status = self.peers.known_mut(op.peer)?.fill_from_head(op, &pattern)?;
        here.take_only_posted();
        self.board.strike(op.entry);
        match op.plan {
            None => self.ops.discard(key),
            Some(_) => op.state = State::Inactive,
        }
        Some(status)
    }

    /// The peer that has to say something until a receive can be over, if that is known.
    #[inline]
    pub fn awaits(&self, key: OpKey) -> Option<PeerId> {
        let op = self.ops.get(key).filter(|op| op.is_posted())?;
        Some(op.peer).filter(|&peer| peer != self.peers.me())
    }

    /// Whether what [awaits](P2p::awaits) a peer still does, and nothing of that has come: to look closer is in vain.
    #[inline]
    pub fn is_in_vain(&self, key: OpKey, from: PeerId) -> bool {
        self.ops.get(key).is_some_and(Op::is_posted) && !self.has_arrival(from)
    }
}
