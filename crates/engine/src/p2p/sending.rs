//! How a send begins.

use oxmpi_datatype::Buffer;
use oxmpi_shm::ring::{Header, RingSize};

use super::{Address, Event, Mode, Op, OpKey, P2p, State, kind};
use crate::matching::Message;
use crate::slab::Key;

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
                && bytes < sender.eager_below()
                && let Some(room) = sender.room(bytes as usize)
            {
                buffer.read(0, &room.payload);
                room.send(header);
                peer.told();
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
        let copy = self.keeping.pool.take(buffer.bytes() as usize);
        buffer.read(0, &copy);
        let sent = self.send(to, source, tag, &Buffer::dense(*copy), Mode::Standard);
        match sent.and_then(|key| self.ops.get_mut(key)) {
            None => self.keeping.pool.give(copy),
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
        if self.peers.is_lost(to.peer) {
            return Some(self.fail_to_send(to, header));
        }
        if header.bytes > RingSize::LARGEST_PAYLOAD as u64 {
            header.kind = kind::ANNOUNCE;
        }
        let key = self.ops.insert(Op::new(State::Queued, to, buffer.clone(), header));
        self.enqueue_message(to.peer, key);
        if self.ops.get(key).is_some_and(|op| op.state == State::Done) {
            self.ops.remove(key);
            return None;
        }
        Some(key)
    }

    fn send_to_self(&mut self, mut header: Header, buffer: &Buffer) -> Option<OpKey> {
        let from = self.peers.me();
        let packed = self.keeping.take(buffer.bytes() as usize);
        buffer.read(0, &packed);
        if let Some(receive) = self.contexts.at(header.context).take_posted(&header) {
            header.kind = kind::EAGER;
            self.matched(receive, from, &header, &packed);
            self.let_go(packed);
            return None;
        }
        let key = (header.kind == kind::EAGER_SYNCHRONOUS).then(|| {
            let to = Address { peer: from, context: header.context };
            self.ops.insert(Op::new(State::Announced, to, Buffer::EMPTY, header))
        });
        header.token = key.map_or(0, Key::to_word);
        self.kept += 1;
        self.wake_own_threads();
        self.happened(Event::Arrival(header.context));
        self.contexts.at(header.context).keep(Message { from, header, payload: packed });
        key
    }
}
