//! What goes to and from peers on other nodes where there is no shared memory for rings: each message, and each piece
//! of a longer one, in a frame of its own, and into a receive, or what is kept, as it comes.
//!
//! So who is short of memory still talks, and hears from others that they need no more what it has freed: that memory
//! comes back by these messages alone. What nobody waits for is kept as long as there is room; then it is the carrier
//! that waits, until there is room or a receive.

use oxmpi_mem::Region;
use oxmpi_shm::ring::{Header, Wish};

use super::Past;
use super::frame::PREFIX_BYTES;
use crate::p2p::outbox::{Outgoing, announced_kind};
use crate::p2p::{OpKey, P2p, State, kind};
use crate::peers::PeerId;

impl P2p {
    /// Sends something to a peer to which there is no ring; whether it was sent. It is to be tried again else.
    pub(in crate::p2p) fn push_without_ring(&mut self, to: PeerId, outgoing: Outgoing) -> bool {
        match outgoing {
            // What was shown was so by a ring; the next one that there is memory for serves.
            Outgoing::Again(..) => false,
            Outgoing::Control(header, word) => self.push_words(to, header, &[word]),
            Outgoing::Message(key) => self.push_message_without_ring(to, key),
        }
    }

    fn push_message_without_ring(&mut self, to: PeerId, key: OpKey) -> bool {
        let Some(carrier) = self.peers[to].carrier() else { return false };
        let Some(net) = &mut self.net else { return false };
        // One that was cancelled is passed over.
        let Some(op) = self.ops.get_mut(key).filter(|op| op.state == State::Queued) else { return true };
        let asked = net.carriers[carrier].asked;
        if asked == Wish::Shown || self.peers[to].outbox.shown.is_some() {
            return false;
        }
        let is_short = op.header.bytes <= (net.frame_bytes - PREFIX_BYTES) as u64;
        if op.header.kind != kind::ANNOUNCE && (asked != Wish::Whole || !is_short) {
            op.header.kind = announced_kind(op);
        }
        if op.header.kind == kind::ANNOUNCE {
            return self.announce_without_ring(to, key);
        }
        let (is_eager, note) = (op.header.kind == kind::EAGER, op.header.token);
        let header = Header { token: if is_eager { note } else { key.to_word() }, ..op.header };
        if net.send_past_ring((to, carrier), header, &op.buffer, None) == Past::NotNow {
            return false;
        }
        match is_eager {
            true => self.finish(key),
            false => op.state = State::Announced { shown: 0 },
        }
        true
    }

    fn announce_without_ring(&mut self, to: PeerId, key: OpKey) -> bool {
        let loan = self.lend_to(to, key);
        let Some(op) = self.ops.get(key) else { return true };
        let (header, note) = (Header { token: key.to_word(), ..op.header }, op.header.token);
        let is_told = match loan {
            Some(place) => self.push_words(to, header, &[place.address, note, place.key]),
            None => self.push_words(to, header, &[self.allocations.told_address(op), note]),
        };
        if is_told {
            self.ops.get_mut(key).into_iter().for_each(|op| op.state = State::Announced { shown: 0 });
        }
        is_told
    }

    /// Sends the next piece of a send that is streamed to a peer to which there is no ring; whether it was sent.
    pub(in crate::p2p) fn push_data_without_ring(&mut self, to: PeerId, key: OpKey) -> bool {
        let (Some(carrier), Some(net)) = (self.peers[to].carrier(), &mut self.net) else { return false };
        let Some(op) = self.ops.get_mut(key) else { return false };
        let State::Streaming { receive, sent } = op.state else { return false };
        if !net.greet(carrier) {
            return false;
        }
        let Some(number) = net.carriers[carrier].next_number() else { return false };
        let left = op.buffer.bytes() - sent;
        let piece = left.min(net.part_bytes() as u64);
        let header = Header { kind: kind::DATA, bytes: piece, token: receive, ..Header::default() };
        let read = |into: &Region| op.buffer.read(sent, into);
        if !net.post_filled(carrier, number, header, [piece as usize, 0], read) {
            return false;
        }
        op.state = State::Streaming { receive, sent: sent + piece };
        if piece == left {
            self.end_data(to, key);
        }
        true
    }

    /// Sends a message of these words.
    fn push_words(&mut self, to: PeerId, header: Header, words: &[u64]) -> bool {
        let (Some(carrier), Some(net)) = (self.peers[to].carrier(), &mut self.net) else { return false };
        if !net.greet(carrier) {
            return false;
        }
        let Some(number) = net.carriers[carrier].next_number() else { return false };
        let write = |into: &Region| {
            let places = (0..words.len()).map(|place| into.part(place * size_of::<u64>(), size_of::<u64>()));
            places.zip(words).for_each(|(place, word)| place.write(&word.to_ne_bytes()));
        };
        net.post_filled(carrier, number, header, [size_of_val(words), 0], write)
    }

    /// Takes in a message for which there is no ring, unless it is one too many to be kept; whether it has. It may lie
    /// in two pieces.
    pub(super) fn take_without_ring(
        &mut self,
        from: PeerId,
        header: &Header,
        [payload, rest]: [Region; 2],
    ) -> bool {
        let may_wait = matches!(header.kind, kind::EAGER | kind::EAGER_SYNCHRONOUS | kind::ANNOUNCE);
        let has_no_room = may_wait && !self.keeping.has_room();
        if has_no_room && self.contexts.at(header.context).first_posted(header).is_none() {
            return false;
        }
        if rest.is_empty() {
            self.arrived(from, header, &payload);
            return true;
        }
        let Some(net) = &mut self.net else { return false };
        let whole = net.pool.take(payload.len() + rest.len());
        whole.part(0, payload.len()).copy_from(&payload);
        whole.part(payload.len(), rest.len()).copy_from(&rest);
        self.arrived(from, header, &whole);
        if let Some(net) = &mut self.net {
            net.pool.give(whole);
        }
        true
    }
}
