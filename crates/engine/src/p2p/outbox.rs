//! What waits for room in the rings.

use std::collections::VecDeque;

use oxmpi_shm::ring::Header;

use super::{OpKey, P2p, State, kind};
use crate::peers::PeerId;

/// What waits to be sent to one peer. Messages and answers go first, in order; data fills what is left.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    ordered: VecDeque<Outgoing>,
    streams: VecDeque<OpKey>,
}

/// Something that takes one place in a ring.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outgoing {
    /// A send: the message, or its announcement.
    Message(OpKey),
    /// An answer, and a word that goes with it.
    Control(Header, u64),
}

impl Outbox {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.ordered.is_empty() && self.streams.is_empty()
    }
}

impl P2p {
    /// Sends when there is room, after what waits already: perhaps at once.
    pub(super) fn enqueue(&mut self, peer: PeerId, outgoing: Outgoing) {
        self.change_outbox(peer, |outbox| outbox.ordered.push_back(outgoing));
        self.flush(peer);
    }

    /// Sends the data of an accepted send, as there is room.
    pub(super) fn stream(&mut self, peer: PeerId, key: OpKey) {
        self.change_outbox(peer, |outbox| outbox.streams.push_back(key));
        self.flush(peer);
    }

    /// Takes a send out again; false if it is not there.
    pub(super) fn unqueue(&mut self, peer: PeerId, key: OpKey) -> bool {
        self.change_outbox(peer, |outbox| {
            let before = outbox.ordered.len();
            outbox
                .ordered
                .retain(|outgoing| !matches!(outgoing, Outgoing::Message(queued) if *queued == key));
            outbox.ordered.len() != before
        })
    }

    /// Sends what there is room for, to all peers; whether anything was sent.
    pub(super) fn flush_all(&mut self) -> bool {
        if self.busy_outboxes == 0 {
            return false;
        }
        let mut sent = false;
        for place in 0..self.peers.places() {
            sent |= self.peers.at(place).is_some_and(|peer| self.flush(peer));
        }
        sent
    }

    fn flush(&mut self, peer: PeerId) -> bool {
        let mut sent = false;
        while let Some(&outgoing) = self.peers[peer].outbox.ordered.front() {
            if !self.push(peer, outgoing) {
                return sent;
            }
            sent = true;
            self.change_outbox(peer, |outbox| outbox.ordered.pop_front());
        }
        while let Some(&key) = self.peers[peer].outbox.streams.front() {
            if !self.push_data(peer, key) {
                return sent;
            }
            sent = true;
        }
        sent
    }

    fn push(&mut self, peer: PeerId, outgoing: Outgoing) -> bool {
        let pushed = match outgoing {
            Outgoing::Control(header, word) => self.push_control(peer, header, word),
            Outgoing::Message(key) => self.push_message(peer, key),
        };
        if pushed {
            self.peers[peer].wake();
        }
        pushed
    }

    fn push_control(&mut self, peer: PeerId, header: Header, word: u64) -> bool {
        let Some(room) = self.peers[peer].room(8) else { return false };
        room.payload.write(&word.to_ne_bytes());
        room.send(header);
        true
    }

    fn push_message(&mut self, peer: PeerId, key: OpKey) -> bool {
        let Some(op) = self.ops.get_mut(key) else { return true };
        let note = op.header.token;
        // Nobody answers an eager message.
        let token = if op.header.kind == kind::EAGER { note } else { key.to_word() };
        let header = Header { token, ..op.header };
        let peer = &mut self.peers[peer];
        if header.kind == kind::ANNOUNCE {
            // Where the data is one piece, the receiver may prefer to read it itself.
            let address = op.buffer.as_dense().map_or(0, |region| region.as_ptr().addr() as u64);
            let Some(room) = peer.room(2 * size_of::<u64>()) else { return false };
            room.payload.write(&address.to_ne_bytes());
            room.payload.part(8, 8).write(&note.to_ne_bytes());
            room.send(header);
        } else {
            let Some(room) = peer.room(header.bytes as usize) else { return false };
            op.buffer.read(0, &room.payload);
            room.send(header);
        }
        if header.kind == kind::EAGER {
            self.finish(key);
        } else {
            op.state = State::Announced;
        }
        true
    }

    /// One piece of a send; false if there was no room.
    fn push_data(&mut self, peer: PeerId, key: OpKey) -> bool {
        let Some(op) = self.ops.get_mut(key) else {
            self.change_outbox(peer, |outbox| outbox.streams.pop_front());
            return true;
        };
        let State::Streaming { receive, sent } = op.state else {
            unreachable!("only accepted sends are streamed");
        };
        let piece = (op.buffer.bytes() - sent).min(self.peers[peer].largest_payload() as u64);
        let Some(room) = self.peers[peer].room(piece as usize) else { return false };
        op.buffer.read(sent, &room.payload);
        room.send(Header { kind: kind::DATA, bytes: piece, token: receive, ..Header::default() });
        op.state = State::Streaming { receive, sent: sent + piece };
        if sent + piece == op.buffer.bytes() {
            self.finish(key);
            self.change_outbox(peer, |outbox| outbox.streams.pop_front());
        }
        self.peers[peer].wake();
        true
    }

    /// Forgets what waits to be sent to a peer.
    pub(super) fn empty_outbox(&mut self, peer: PeerId) {
        self.change_outbox(peer, |outbox| *outbox = Outbox::default());
    }

    fn change_outbox<R>(&mut self, peer: PeerId, change: impl FnOnce(&mut Outbox) -> R) -> R {
        let outbox = &mut self.peers[peer].outbox;
        let was_busy = !outbox.is_empty();
        let result = change(outbox);
        let is_busy = !outbox.is_empty();
        self.busy_outboxes = self.busy_outboxes + usize::from(is_busy) - usize::from(was_busy);
        result
    }
}
