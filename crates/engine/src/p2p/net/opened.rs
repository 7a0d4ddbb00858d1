//! Long messages written into the memory of their receives, where the fabric reads none without its owner's processor.
//!
//! Over sockets who is read from must look as often as who writes, and hears no end: it waits for an answer more. There
//! the receiver of an announced message *opens* its receive: it registers the memory, and answers where that is, and
//! how long pieces are to be ([`kind::OPENED`]). The sender writes the message there, and is done when its memory is
//! its own again; each piece tells the receiver, by a number, that it is there. So a message is an announcement, an
//! answer, and its data.
//!
//! If a piece is refused, or the sender's end of the network takes none so long, it says so ([`kind::UNWRITTEN`]), and
//! is asked for the data in frames. Numbers are not used again for long: of a receive that has failed meanwhile they
//! mean nothing.

use oxmpi_base::Ordered;
use oxmpi_fabric::{Access, Order, Place};
use oxmpi_shm::ring::Header;

use super::bound::Write;
use super::piece_bytes;
use crate::p2p::op::State;
use crate::p2p::outbox::{Outgoing, Stream};
use crate::p2p::{OpKey, P2p, kind};
use crate::peers::PeerId;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// The receives that are open, by number.
    receives: Ordered<u32, Receive>,
    next: u32,
    /// Those of which a piece is here.
    told: Vec<u32>,
    /// Where the sends go that have been answered.
    sends: Ordered<OpKey, Opening>,
}

#[derive(Debug)]
struct Receive {
    receive: OpKey,
    from: PeerId,
    place: Place,
    /// Pieces that are not here.
    left: u64,
}

#[derive(Clone, Copy, Debug)]
struct Opening {
    place: Place,
    number: u32,
    piece: u64,
}

/// What no other number has by which the fabric tells something.
const OF_RECEIVES: u32 = 1 << 31;

impl Opened {
    /// Whether a peer may write into anything.
    pub(super) fn is_any(&self) -> bool {
        !self.receives.is_empty()
    }

    /// A peer has written; whether it was here.
    pub(super) fn note_told(&mut self, number: u32) -> bool {
        let is_here = number & OF_RECEIVES != 0;
        if is_here {
            self.told.push(number);
        }
        is_here
    }

    /// A number for a receive.
    fn open(&mut self, receive: Receive) -> u32 {
        while self.receives.contains_key(self.next | OF_RECEIVES) {
            self.next = self.next.wrapping_add(1);
        }
        let number = self.next | OF_RECEIVES;
        self.next = self.next.wrapping_add(1);
        self.receives.insert(number, receive);
        number
    }

    /// Nothing is written to a peer any more, nor by it: what it could have written into.
    pub(super) fn lose(&mut self, lost: PeerId) -> Vec<Place> {
        let mut places = Vec::new();
        self.receives.retain(|_, one| {
            places.extend((one.from == lost).then_some(one.place));
            one.from != lost
        });
        places
    }
}

impl P2p {
    /// Opens a receive for an announced message, if it goes there in one piece; whether the sender will write it.
    pub(in crate::p2p) fn open_for(&mut self, receive: OpKey, from: PeerId, header: &Header) -> bool {
        if self.peers[from].carrier().is_none() || self.peers.is_lost(from) {
            return false;
        }
        let into = self.ops.get(receive).and_then(|op| op.buffer.as_dense());
        let into = into.filter(|into| header.bytes != 0 && into.len() as u64 >= header.bytes);
        let (Some(into), Some(net)) = (into, self.net.as_mut().filter(|net| net.writes_long())) else {
            return false;
        };
        let memory = into.part(0, header.bytes as usize);
        let Ok(place) = net.fabric.register(memory, Access::Write) else { return false };
        let piece = piece_bytes(net.fabric.limits());
        let left = header.bytes.div_ceil(piece as u64);
        let number = net.opened.open(Receive { receive, from, place, left });
        let (tag, bytes, token) = (number.cast_signed(), place.key, header.token);
        let answer =
            Header { kind: kind::OPENED, source: piece as i32, tag, bytes, token, ..Header::default() };
        self.enqueue(from, Outgoing::Control(answer, place.address));
        true
    }

    /// The receiver of a send has opened its receive.
    pub(in crate::p2p) fn write_into(&mut self, to: PeerId, send: OpKey, answer: &Header, address: u64) {
        let (Some(net), Some(op)) = (&mut self.net, self.ops.get_mut(send)) else { return };
        op.state = State::Streaming { receive: 0, sent: 0 };
        let (place, number) = (Place { key: answer.bytes, address }, answer.tag.cast_unsigned());
        let limits = net.fabric.limits();
        let most = if limits.tells_writes { limits.remote_bytes as u64 } else { 0 };
        let piece = u64::try_from(answer.source).unwrap_or_default();
        net.opened.sends.insert(send, Opening { place, number, piece });
        // The receiver counts pieces of that length, and no others.
        if !(1..=most).contains(&piece) {
            return self.end_of_opened(to, send, true);
        }
        net.bonds.direct.begin(send, to);
        self.stream(to, Stream::Opened(send));
    }

    /// Writes what is left of a send into the receive that is open for it; false if there was no room.
    pub(in crate::p2p) fn push_into_opened(&mut self, peer: PeerId, send: OpKey) -> bool {
        let Some(carrier) = self.peers[peer].carrier() else { return true };
        while let (Some(net), Some(op)) = (&mut self.net, self.ops.get_mut(send))
            && let State::Streaming { sent, .. } = op.state
            && sent < op.buffer.bytes()
            && let Some(&Opening { place, number, piece }) = net.opened.sends.get(send)
        {
            if net.bonds.direct.is_enough(peer) {
                return false;
            }
            let bytes = (op.buffer.bytes() - sent).min(piece);
            let (memory, from) = net.in_one_piece(&op.buffer, sent, bytes);
            let (place, number, order) = (place.behind(sent), Some(number), Order::Any);
            let write = Write { memory, from, place, number, order, of: Some(send) };
            if let Err(memory) = net.give_to_fabric(None, (peer, carrier), write) {
                net.pool.give(memory);
                return false;
            }
            op.state = State::Streaming { receive: 0, sent: sent + bytes };
            net.bonds.direct.note_posted(send);
        }
        self.end_direct_send(send);
        self.end_stream(peer);
        true
    }

    /// All of a send was written into a receive, or its place was refused: then the data goes in frames.
    pub(super) fn end_of_opened(&mut self, peer: PeerId, send: OpKey, is_refused: bool) {
        let of = self.net.as_mut().and_then(|net| net.opened.sends.remove(send));
        let Some(Opening { number, .. }) = of.filter(|_| is_refused) else { return self.finish(send) };
        self.ops.get_mut(send).into_iter().for_each(|op| op.state = State::Announced { shown: 0 });
        let header = Header { kind: kind::UNWRITTEN, tag: number.cast_signed(), ..Header::default() };
        self.enqueue(peer, Outgoing::Control(header, send.to_word()));
    }

    /// Ends the receives of which all is here; whether there was any.
    pub(super) fn serve_opened(&mut self) -> bool {
        let told = self.net.as_mut().map(|net| std::mem::take(&mut net.opened.told)).unwrap_or_default();
        let any = !told.is_empty();
        for number in told {
            let one = self.net.as_mut().and_then(|net| net.opened.receives.get_mut(number));
            let is_last = one.is_some_and(|one| {
                one.left -= 1;
                one.left == 0
            });
            if is_last && let Some(Receive { receive, .. }) = self.close_opened(number, None) {
                self.finish(receive);
            }
        }
        any
    }

    /// A peer could not write into a receive.
    pub(in crate::p2p) fn unwritten(&mut self, from: PeerId, header: &Header, send: u64) {
        if let Some(Receive { receive, .. }) = self.close_opened(header.tag.cast_unsigned(), Some(from)) {
            self.answer(from, kind::ACCEPT, send, receive.to_word());
        }
    }

    /// Nobody may write into a receive any more, be it this peer's that says so.
    fn close_opened(&mut self, number: u32, from: Option<PeerId>) -> Option<Receive> {
        let net = self.net.as_mut()?;
        let is_its = |one: &&Receive| from.is_none_or(|from| one.from == from);
        net.opened.receives.get(number).filter(is_its)?;
        let one = net.opened.receives.remove(number)?;
        net.fabric.unregister(one.place);
        Some(one)
    }
}
