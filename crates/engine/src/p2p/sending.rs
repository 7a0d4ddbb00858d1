//! How a send begins.

use oxmpi_base::{Error, ErrorClass, Status};
use oxmpi_datatype::Buffer;
use oxmpi_shm::ring::{CELL_BYTES, DESK_BYTES, DESKS, Header, Receiver, RingSize};

use super::beginnings::take_desk;
use super::{Address, Event, Mode, Op, OpKey, P2p, State, kind};
use crate::matching::Message;
use crate::peers::{Peer, PeerId};

/// The longest messages that go on desks, where there are enough for all their pieces. Of longer ones what was read
/// first has left the reader's cache before the answer is written.
pub(super) const DESKED_BYTES: u64 = (DESKS * DESK_BYTES) as u64;
/// A message to this process itself is copied in pieces of so many bytes.
pub(super) const OWN_PIECE_BYTES: usize = 64 << 10;

impl P2p {
    /// Begins to send. `None` if the send is complete already.
    ///
    /// `source` is this rank's rank in the communicator.
    #[inline]
    pub fn send(&mut self, to: Address, source: i32, tag: i32, buffer: &Buffer, mode: Mode) -> Option<OpKey> {
        let bytes = buffer.bytes();
        let header = Header { kind: kind::EAGER, context: to.context, source, tag, bytes, token: 0 };
        self.send_headed(to, header, buffer, mode)
    }

    /// Sends in the standard mode, if nothing is in the way; whether it has.
    #[inline(always)] // so that a header is never in memory
    pub fn send_at_once(&mut self, to: Address, source: i32, tag: i32, buffer: &Buffer) -> bool {
        let Address { peer, context } = to;
        let header = Header { kind: kind::EAGER, context, source, tag, bytes: buffer.bytes(), token: 0 };
        self.is_gone_at_once(peer, &header, buffer)
    }

    #[inline(always)]
    fn is_gone_at_once(&mut self, to: PeerId, header: &Header, buffer: &Buffer) -> bool {
        // To itself nobody has a ring.
        self.peers.known_mut(to).is_some_and(|peer| peer.send_at_once(header, buffer))
            || to == self.peers.me() && self.give_to_itself(*header, buffer)
    }

    /// Copies a message of one piece to this process itself into the receive that waits for it, if one does.
    #[inline(never)]
    fn give_to_itself(&mut self, header: Header, buffer: &Buffer) -> bool {
        let Some(payload) = buffer.as_dense() else { return false };
        let Some(receive) = self.contexts.at(header.context).take_posted(&header) else { return false };
        self.fill(receive, &header, &payload);
        true
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

    #[inline(always)]
    fn send_headed(&mut self, to: Address, header: Header, buffer: &Buffer, mode: Mode) -> Option<OpKey> {
        let is_sent = mode == Mode::Standard && self.is_gone_at_once(to.peer, &header, buffer);
        if is_sent { None } else { self.send_slowly(to, header, buffer, mode) }
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
        let copy = self.keeping.pool.take(buffer.bytes() as usize);
        buffer.read(0, &copy);
        let sent = self.send(to, source, tag, &Buffer::dense(*copy), Mode::Standard);
        let Some((key, op)) = sent.and_then(|key| Some((key, self.ops.get_mut(key)?))) else {
            self.keeping.pool.give(copy);
            return None;
        };
        op.detached = true;
        op.copy = Some(copy);
        if op.state == State::Done {
            self.finish(key); // it has failed
        }
        sent
    }

    #[inline(never)]
    fn send_slowly(&mut self, to: Address, header: Header, buffer: &Buffer, mode: Mode) -> Option<OpKey> {
        let key = self.ops.insert(Op::new(State::Queued, to, buffer.clone(), header));
        self.begin_to_send(key, mode);
        let is_sent = self.ops.get(key).is_some_and(|op| op.state == State::Done && op.error.is_none());
        if is_sent {
            self.ops.discard(key);
        }
        (!is_sent).then_some(key)
    }

    /// Lets a send begin that could not be sent off at once.
    pub(super) fn begin_to_send(&mut self, key: OpKey, mode: Mode) {
        let Some(op) = self.ops.get_mut(key) else { return };
        let to = op.peer;
        op.state = State::Queued;
        op.status = Status::EMPTY;
        op.is_synchronous = mode == Mode::Synchronous;
        op.header.kind = match mode {
            Mode::Standard => kind::EAGER,
            Mode::Synchronous => kind::EAGER_SYNCHRONOUS,
        };
        if to == self.peers.me() {
            return self.send_to_self(key);
        }
        let bytes = op.header.bytes;
        if bytes > RingSize::LARGEST_PAYLOAD as u64 && !self.goes_past_ring(to, bytes) {
            self.ops.get_mut(key).into_iter().for_each(|op| op.header.kind = kind::ANNOUNCE);
        }
        if self.peers.is_lost(to) {
            self.fail(key, self.peers[to].lost());
        } else if !self.send_unasked(to, key) {
            self.enqueue_message(to, key);
        }
    }

    fn send_to_self(&mut self, key: OpKey) {
        let Some(op) = self.ops.get(key) else { return };
        let header = op.header;
        match self.contexts.at(header.context).take_posted(&header) {
            Some(receive) => self.hand_over(key, receive),
            None => self.keep_own(key, header),
        }
    }

    /// What a send has goes into a receive of this process, as far as that has room.
    fn hand_over(&mut self, send: OpKey, receive: OpKey) {
        let Self { ops, keeping, .. } = self;
        let [Some(from), Some(into)] = [send, receive].map(|key| ops.get(key)) else { return };
        let (header, bytes) = (from.header, from.header.bytes.min(into.buffer.bytes()));
        let piece = keeping.take(bytes.min(OWN_PIECE_BYTES as u64) as usize);
        for at in (0..bytes).step_by(OWN_PIECE_BYTES) {
            let piece = piece.part(0, piece.len().min((bytes - at) as usize));
            from.buffer.read(at, &piece);
            into.buffer.write(at, &piece);
        }
        keeping.give(piece);
        let into = self.ops.get_mut(receive).expect("posted receives exist");
        into.note_filled(&Header { kind: kind::EAGER, ..header });
        self.finish(receive);
        self.finish(send);
    }

    /// No receive of this process waits for what it sends to itself.
    fn keep_own(&mut self, key: OpKey, mut header: Header) {
        let Some(packed) = self.keeping.try_take(header.bytes as usize) else {
            let text = format!("there is no memory for {} bytes from this process to itself", header.bytes);
            return self.fail(key, Error::new(ErrorClass::NoMem, text));
        };
        let Some(op) = self.ops.get_mut(key) else { return };
        op.buffer.read(0, &packed);
        if header.kind == kind::EAGER_SYNCHRONOUS {
            op.state = State::Announced { shown: 0 };
            header.token = key.to_word();
        } else {
            header.token = 0;
            self.finish(key);
        }
        self.kept += 1;
        self.wake_own_threads();
        self.happened(|| [Event::Arrival(header.context)]);
        let from = self.peers.me();
        self.contexts.at(header.context).keep(Message { from, header, payload: packed });
    }
}

impl Peer {
    /// Sends a short message, if nothing waits before it and there is room; whether it is sent.
    #[inline(always)] // so that a header is never in memory
    pub(super) fn send_at_once(&mut self, header: &Header, buffer: &Buffer) -> bool {
        let Some(sender) = &mut self.sender else { return false };
        if !self.outbox.is_empty() || header.bytes >= sender.eager_below() {
            return false;
        }
        if header.bytes > CELL_BYTES as u64 {
            return self.send_piece(*header, header.bytes as usize, buffer, 0);
        }
        let Some(room) = sender.room_in_cell(header.bytes as usize) else { return false };
        buffer.read(0, &room.payload);
        room.send(*header);
        // Where nothing has come meanwhile, more will go.
        let received = self.receiver.as_ref().map_or(0, Receiver::received);
        if received == self.received_when_sent {
            sender.prepare();
        }
        self.received_when_sent = received;
        self.told();
        true
    }

    /// Sends so many bytes of a message, of which `sent` bytes have gone, if there is room; whether it has.
    #[inline(never)]
    pub(super) fn send_piece(&mut self, header: Header, bytes: usize, buffer: &Buffer, sent: u64) -> bool {
        let Self { sender: Some(sender), receiver, desks, .. } = self else { return false };
        let take = || take_desk(receiver, desks);
        if buffer.bytes() <= DESKED_BYTES
            && bytes > CELL_BYTES
            && let Some(room) = sender.room_on(take, bytes)
        {
            buffer.read(sent, &room.payload);
            room.send(header);
            self.told();
            return true;
        }
        let Some(room) = sender.room(bytes) else { return false };
        self.writes.write(buffer, sent, &room.payload);
        room.send(header);
        self.told();
        true
    }
}
