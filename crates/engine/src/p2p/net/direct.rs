//! Long messages of a bond: written into the memory in which they are received.
//!
//! The buffer in which a persistent operation receives is registered as long as it is bound. When a receive begins, its
//! place is *opened* for the next message, by one small write into memory of the sender: [`SLOTS`] at most are open.
//! When a send has begun too, its data is written there, in pieces as long as the fabric takes, and after all of them
//! what tells that they are there: a slot without payload. So an opening is credit, too.
//!
//! | bytes of an opening, in little-endian order | what |
//! |---|---|
//! | 0..8 | the key of the memory |
//! | 8..16 | its address |
//! | 16..24 | its length |
//!
//! Where messages are received elsewhere than in that buffer, in scratch memory say, or it has gaps, they go as others
//! do. A send is over when all its pieces are written; not before, whatever happens, for the fabric reads its memory.
//! When a receive is taken back, or its sender lost, nothing more is opened in the operation, since such a channel has
//! lost a member; and when nothing is [written](super::closing) any more its memory is not registered any more.

use oxmpi_base::Ordered;
use oxmpi_datatype::Buffer;
use oxmpi_fabric::{Access, Failure, Order, Place};
use oxmpi_mem::{Region, Taken};

use super::bound::{Bond, BondKey, Write};
use super::slots::{Outgoing, PREFIX_BYTES, Prefix, SLOTS, Way};
use super::{Net, piece_bytes};
use crate::p2p::op::State;
use crate::p2p::{OpKey, P2p};
use crate::peers::PeerId;

/// What is written into memory of others, and what may be written here.
#[derive(Debug, Default)]
pub(super) struct Direct {
    /// The buffers in which operations receive, by the contexts of their channels.
    landings: Ordered<u32, Landing>,
    sends: Ordered<OpKey, Pieces>,
}

/// Where an operation receives.
#[derive(Clone, Copy, Debug)]
struct Landing {
    buffer: Region,
    place: Place,
    /// Nothing more is opened there, and it is closed when nothing is open.
    is_closing: bool,
}

/// What there is of a send.
#[derive(Clone, Copy, Debug)]
struct Pieces {
    peer: PeerId,
    under_way: u32,
    /// Whether no more will be.
    is_last: bool,
    failure: Option<Failure>,
}

/// Where a message goes.
#[derive(Clone, Copy, Debug)]
struct Opening {
    place: Place,
    bytes: u64,
}

/// Pieces that are under way to a peer.
const PIECES: u32 = 4;

impl Direct {
    /// Whether the buffer of an operation can be written into.
    pub(super) fn has_landing(&self, context: u32) -> bool {
        self.landings.contains_key(context)
    }

    /// It is to be closed, and others may be writing into it.
    pub(super) fn close_later(&mut self, context: u32) {
        self.landings.get_mut(context).into_iter().for_each(|landing| landing.is_closing = true);
    }

    /// Whether it is.
    pub(super) fn is_closing(&self, context: u32) -> bool {
        self.landings.get(context).is_some_and(|landing| landing.is_closing)
    }

    /// The channels whose operations receive into buffers that can be.
    pub(super) fn contexts(&self) -> impl Iterator<Item = u32> {
        self.landings.iter().map(|(context, _)| context)
    }

    /// A send to a peer begins, of which nothing is written yet, unless it has.
    pub(super) fn begin(&mut self, send: OpKey, peer: PeerId) {
        let fresh = Pieces { peer, under_way: 0, is_last: false, failure: None };
        self.sends.get_or_insert_with(send, || fresh);
    }

    /// The fabric has all of a send to a peer, in one piece.
    pub(super) fn begin_whole(&mut self, send: OpKey, peer: PeerId) {
        self.sends.insert(send, Pieces { peer, under_way: 1, is_last: true, failure: None });
    }

    /// Whether as many pieces are under way to a peer as may be. One that takes none, since it computes, would have
    /// all the room that the fabric has for everybody; and what is packed has memory of its own.
    pub(super) fn is_enough(&self, peer: PeerId) -> bool {
        let of_peer = self.sends.iter().filter(|(_, pieces)| pieces.peer == peer);
        of_peer.map(|(_, pieces)| pieces.under_way).sum::<u32>() >= PIECES
    }

    /// The fabric has a piece.
    pub(super) fn note_posted(&mut self, send: OpKey) {
        self.sends.get_mut(send).into_iter().for_each(|pieces| pieces.under_way += 1);
    }

    /// A piece was written, or will not be.
    pub(super) fn note_written(&mut self, send: OpKey, failure: Option<Failure>) {
        if let Some(pieces) = self.sends.get_mut(send) {
            pieces.under_way -= 1;
            pieces.failure = pieces.failure.or(failure);
        }
    }

    /// Nothing more is written to a peer than what the fabric has.
    pub(super) fn lose(&mut self, lost: PeerId) {
        self.sends.retain(|_, pieces| pieces.peer != lost || pieces.under_way != 0);
        for (_, pieces) in self.sends.values_mut().filter(|(_, pieces)| pieces.peer == lost) {
            // Of one that is not written whole the rest is missing, even if all pieces that the fabric has arrive.
            if !std::mem::replace(&mut pieces.is_last, true) {
                pieces.failure.get_or_insert(Failure::Gone);
            }
        }
    }
}

impl Outgoing {
    /// A receive was opened; whether it was one of this direction.
    pub(super) fn note_opening(&mut self, number: u32) -> bool {
        let first = self.openings.as_ref().map(|openings| openings.number);
        let place = first.and_then(|first| self.is_open.get_mut(number.wrapping_sub(first) as usize));
        place.map(|is_open| *is_open = true).is_some()
    }

    /// Where the next message goes, if that is open.
    fn opening(&self) -> Option<Opening> {
        let slot = (self.written % SLOTS) as usize;
        let openings = self.openings.as_ref().filter(|_| self.is_open[slot])?;
        let (Prefix { note: key, taken: address, bytes, .. }, _) = openings.at(slot);
        Some(Opening { place: Place { key, address }, bytes })
    }
}

impl Net {
    /// Bytes of what is sent in one piece: where they lie, or packed into memory that is to be given back.
    pub(super) fn in_one_piece(&mut self, buffer: &Buffer, offset: u64, bytes: u64) -> (Taken, Region) {
        if let Some(part) = buffer.part(offset, bytes) {
            return (Taken::EMPTY, part);
        }
        let packed = self.pool.take(bytes as usize);
        buffer.read(offset, &packed);
        let from = *packed;
        (packed, from)
    }

    /// Where a receive lies in the buffer of its operation.
    fn landing_of(&self, context: u32, receive: &Region) -> Option<Place> {
        let landing = self.bonds.direct.landings.get(context).filter(|landing| !landing.is_closing)?;
        let &Landing { buffer, place, .. } = landing;
        let offset = receive.as_ptr().addr().checked_sub(buffer.as_ptr().addr());
        match receive.is_empty() {
            true => Some(place),
            false => {
                let offset = offset.filter(|offset| offset.saturating_add(receive.len()) <= buffer.len())?;
                Some(place.behind(offset as u64))
            }
        }
    }

    /// Tells the other end of a bond where it may write the next message.
    fn open(&mut self, key: BondKey, place: Place, bytes: u64) -> bool {
        let opened = self.bond(key).and_then(|bond| Some((bond.into.openings?, bond.into.opened)));
        let Some((landing, number)) = opened else { return false };
        let memory = self.pool.take(PREFIX_BYTES);
        Prefix { note: place.key, taken: place.address, bytes, behind: 0 }.write(&memory);
        let (from, (place, number)) = (*memory, landing.at(number));
        self.put(key, Write { memory, from, place, number: Some(number), order: Order::Any, of: None })
    }

    /// Tells the other end of a bond that the next message is there.
    fn close(&mut self, key: BondKey, note: u64, bytes: u64) -> bool {
        let Some(Bond { out, into, .. }) = self.bond(key) else { return false };
        let (Way::Slots(landing), taken) = (out.way, into.taken) else { return false };
        let (place, number) = landing.at(out.written);
        let memory = self.pool.take(PREFIX_BYTES);
        Prefix { note, taken, bytes, behind: 0 }.write(&memory);
        let (from, number) = (*memory, Some(number));
        // After the pieces.
        let write = Write { memory, from, place, number, order: Order::After, of: None };
        self.put(key, write) && self.note_message_written(key)
    }
}

impl P2p {
    /// Lets others write into the buffer in which the operation of a channel receives, if they are to: some messages
    /// are long.
    pub(super) fn register_landing(&mut self, context: u32, buffer: Option<Region>) {
        let Some(net) = &mut self.net else { return };
        let Some(buffer) = buffer.filter(|buffer| !buffer.is_empty()) else { return };
        if net.tells_writes()
            && net.bonds.wants_landing(context)
            && let Ok(place) = net.fabric.register(buffer, Access::Write)
        {
            net.bonds.direct.landings.insert(context, Landing { buffer, place, is_closing: false });
        }
    }

    /// Lets nobody write there any more.
    pub(super) fn close_landing(&mut self, context: u32) {
        if let Some(net) = &mut self.net
            && let Some(Landing { place, .. }) = net.bonds.direct.landings.remove(context)
        {
            net.fabric.unregister(place);
        }
    }

    /// Opens the receives of a bond that have begun, as far as there is room.
    pub(super) fn open_next(&mut self, key: BondKey) {
        while let Some(net) = &mut self.net
            && let Some(Bond { context, into, .. }) = net.bond(key)
            && into.is_direct
            && into.openings.is_some()
            && into.way != Way::Nowhere
            && into.opened < into.taken + SLOTS
            && let Some(&receive) = into.waiting.get((into.opened - into.taken) as usize)
        {
            let context = *context;
            let memory =
                self.ops.get(receive).filter(|op| op.is_posted()).and_then(|op| op.buffer.as_dense());
            let place = memory.and_then(|memory| Some((net.landing_of(context, &memory)?, memory.len())));
            match place {
                Some((place, bytes)) if !net.open(key, place, bytes as u64) => return net.bonds.list(key),
                Some(_) => net.bond(key).into_iter().for_each(|bond| bond.into.opened += 1),
                // It has failed, or the memory is closed since another one has.
                None => net.bond(key).into_iter().for_each(|bond| bond.into.way = Way::Nowhere),
            }
        }
    }

    /// Writes a send into the receive that is open for it; whether all of it is on its way.
    pub(super) fn write_directly(&mut self, key: BondKey, send: OpKey) -> bool {
        let (Some(net), Some(op)) = (&mut self.net, self.ops.get_mut(send)) else { return true };
        let piece = piece_bytes(net.fabric.limits()) as u64;
        let Some(out) = net.bond(key).map(|bond| &bond.out) else { return true };
        let (Some(Opening { place, bytes }), mut asked) = (out.opening(), out.asked) else { return false };
        let total = op.buffer.bytes().min(bytes);
        while asked < total {
            if net.bonds.direct.is_enough(op.peer) {
                return false;
            }
            net.bonds.direct.begin(send, op.peer);
            let bytes = piece.min(total - asked);
            let (memory, from) = net.in_one_piece(&op.buffer, asked, bytes);
            let (place, order) = (place.behind(asked), Order::Any);
            if !net.put(key, Write { memory, from, place, number: None, order, of: Some(send) }) {
                return false;
            }
            asked += bytes;
            op.state = State::Streaming { receive: 0, sent: asked };
            net.bond(key).into_iter().for_each(|bond| bond.out.asked = asked);
            net.bonds.direct.note_posted(send);
        }
        let (note, length) = (op.header.token, op.buffer.bytes());
        if !net.close(key, note, length) {
            return false;
        }
        if let Some(Bond { out, .. }) = net.bond(key) {
            out.asked = 0;
            out.is_open[((out.written - 1) % SLOTS) as usize] = false;
        }
        match total {
            0 => self.finish(send),
            _ => self.end_direct_send(send),
        }
        true
    }

    /// No more of a send will be written than what the fabric has.
    pub(super) fn end_direct_send(&mut self, send: OpKey) {
        let pieces = self.net.as_mut().and_then(|net| net.bonds.direct.sends.get_mut(send));
        pieces.into_iter().for_each(|pieces| pieces.is_last = true);
    }

    /// Ends the sends of which all is written that will be; whether any is over.
    pub(super) fn end_direct_sends(&mut self) -> bool {
        let Some(net) = self.net.as_mut().filter(|net| !net.bonds.direct.sends.is_empty()) else {
            return false;
        };
        let peers = &self.peers;
        let is_over = |pieces: &Pieces| {
            // Who is gone is lost soon.
            let is_settled = pieces.failure != Some(Failure::Gone) || peers.is_lost(pieces.peer);
            pieces.is_last && pieces.under_way == 0 && is_settled
        };
        let sends = &mut net.bonds.direct.sends;
        let over = sends.iter().filter(|(_, pieces)| is_over(pieces)).map(|(send, &pieces)| (send, pieces));
        let over: Vec<(OpKey, Pieces)> = over.collect();
        over.iter().for_each(|&(send, _)| _ = sends.remove(send));
        for &(send, Pieces { peer, failure, .. }) in &over {
            match failure {
                Some(_) if self.peers.is_lost(peer) => self.fail(send, self.peers[peer].lost()),
                _ => self.end_of_opened(peer, send, failure.is_some()),
            }
        }
        !over.is_empty()
    }

    /// Whether the fabric may still read the memory of a send.
    pub(crate) fn is_being_written(&self, send: OpKey) -> bool {
        let pieces = self.net.as_ref().and_then(|net| net.bonds.direct.sends.get(send));
        pieces.is_some_and(|pieces| pieces.under_way != 0)
    }
}
