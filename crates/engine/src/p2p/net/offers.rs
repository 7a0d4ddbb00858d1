//! How the ends of a [bond](super::bound) settle where its messages go: one offers memory, the other takes it or not.

use std::collections::VecDeque;
use std::mem;

use oxmpi_fabric::{Access, Place};
use oxmpi_mem::Region;
use oxmpi_shm::ring::Header;

use super::Net;
use super::bound::{Bond, BondKey};
use super::slots::{Landing, OwnSlots, PREFIX_BYTES, SLOTS, Way, slot_bytes};
use crate::matching::Pattern;
use crate::p2p::{Mode, P2p, kind};
use crate::peers::PeerId;

/// What a member has offered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offer {
    landing: Landing,
    /// It is for what is told when messages were written elsewhere.
    is_direct: bool,
}

impl Net {
    /// Slots for the messages to here of a bond, if the memory can be registered.
    fn make_slots(&mut self, key: BondKey) -> Option<Landing> {
        let Bond { context, into, .. } = self.bonds.get(key).filter(|_| self.tells_writes())?;
        let is_long = into.longest > self.bonds.longest_in_slots();
        let (lands, longest) = (into.lands, into.longest);
        if is_long && !(lands && self.bonds.direct.has_landing(*context)) {
            return None;
        }
        let (slots, landing) = self.register_slots(key, if is_long { 0 } else { longest })?;
        let into = &mut self.bond(key)?.into;
        (into.slots, into.is_direct) = (Some(slots), is_long);
        Some(landing)
    }

    /// Memory into which the other end of a bond writes.
    pub(super) fn register_slots(&mut self, key: BondKey, longest: u64) -> Option<(OwnSlots, Landing)> {
        let slot_bytes = slot_bytes(longest);
        let memory = self.pool.try_take((SLOTS * slot_bytes) as usize)?;
        let Ok(place) = self.fabric.register(*memory, Access::Write) else {
            self.pool.give(memory);
            return None;
        };
        let number = self.bonds.take_numbers(key);
        let own = OwnSlots { memory, place: Some(place), number, slot_bytes: slot_bytes as usize };
        Some((own, Landing { place, number, slot_bytes }))
    }

    /// Gives up the slots of a bond, into which nobody has written.
    fn drop_slots(&mut self, key: BondKey) {
        let slots = self.bond(key).and_then(|bond| bond.into.slots.take());
        slots.into_iter().for_each(|slots| self.end_slots(slots));
    }

    /// Whether this fabric writes into memory of others, and tells them.
    pub(super) fn tells_writes(&self) -> bool {
        let limits = self.fabric.limits();
        limits.tells_writes && limits.remote_bytes >= PREFIX_BYTES
    }

    /// Whether messages of so many bytes can be written where a peer has offered it.
    fn suits(&self, landing: &Landing, longest: u64) -> bool {
        let bytes = PREFIX_BYTES as u64 + longest;
        self.tells_writes()
            && bytes <= landing.slot_bytes
            && bytes <= self.fabric.limits().remote_bytes as u64
    }
}

impl P2p {
    /// Offers slots to those with whom the channel with this context has bonds: all parts of its plan are known, and
    /// the buffer in which its operation receives, if that is one piece of memory.
    pub(crate) fn offer_slots(&mut self, context: u32, landing: Option<Region>) {
        self.register_landing(context, landing);
        for key in self.bonds_in(context) {
            let Some(net) = &mut self.net else { return };
            let landing = net.make_slots(key);
            let Some(bond) = net.bond(key) else { continue };
            if landing.is_none() {
                bond.into.way = Way::Messages;
            }
            let (peer, context_there) = (bond.peer, bond.context_there);
            let is_direct = i32::from(bond.into.is_direct);
            let offered = net.bonds.offers.remove((context, peer));
            let (header, address) = told_as(kind::BIND, context_there, landing, is_direct);
            self.tell_bound(peer, header, address);
            offered.into_iter().for_each(|offered| self.slots_offered(key, offered));
        }
    }

    /// Whether the other end of a bond has not said yet what it has for it.
    pub(crate) fn waits_for_offer(&self, key: BondKey) -> bool {
        self.net.as_ref().and_then(|net| net.bonds.get(key)).is_some_and(|bond| bond.out.way == Way::Open)
    }

    /// Forgets what was offered in a context that ends.
    pub(in crate::p2p) fn forget_offers(&mut self, context: u32) {
        self.net.iter_mut().for_each(|net| net.bonds.offers.retain(|(of, _), _| of != context));
    }

    /// What a member says of the bond with it.
    pub(in crate::p2p) fn bond_told(&mut self, from: PeerId, header: &Header, word: u64) {
        let Some(net) = self.net.as_mut().filter(|_| self.peers[from].carrier().is_some()) else { return };
        match header.kind {
            kind::CLOSE => return self.close_told(from, header),
            kind::CLOSED => return self.closed_told(from, header.context),
            _ => {}
        }
        let bond = net.bond_with(header.context, from);
        match (header.kind, bond) {
            (kind::BIND, Some((key, _))) => self.slots_offered(key, offered_by(header, word)),
            (kind::BIND, None) => {
                net.bonds.offers.insert((header.context, from), offered_by(header, word));
            }
            (kind::BOUND, Some((key, bond))) if bond.into.way == Way::Open => match header.source {
                0 => self.receive_by_messages(key),
                _ => {
                    bond.into.way = Way::Slots(());
                    bond.into.openings = offered_by(header, word).map(|offer| offer.landing);
                    self.open_next(key);
                }
            },
            (kind::RELEASED, Some((_, bond))) => bond.out.note_taken(word),
            _ => {}
        }
    }

    /// A member has offered slots, or none.
    fn slots_offered(&mut self, key: BondKey, offered: Option<Offer>) {
        let Some(net) = &mut self.net else { return };
        let Some(bond) = net.bond(key).filter(|bond| bond.out.way == Way::Open) else { return };
        let longest = bond.out.longest;
        let is_direct = offered.is_some_and(|offer| offer.is_direct);
        let longest = if is_direct { 0 } else { longest }; // of what goes into a slot
        let suited = offered.filter(|offer| net.suits(&offer.landing, longest));
        let openings = suited.filter(|_| is_direct).and_then(|_| net.register_slots(key, 0));
        let suited = suited.filter(|_| openings.is_some() == is_direct);
        let Some(bond) = net.bond(key) else { return };
        bond.out.way = suited.map_or(Way::Messages, |offer| Way::Slots(offer.landing));
        let (own, openings) = openings.unzip();
        bond.out.openings = own;
        let (peer, context) = (bond.peer, bond.context_there);
        let waiting = if suited.is_none() { mem::take(&mut bond.out.waiting) } else { VecDeque::new() };
        waiting.into_iter().for_each(|send| self.begin_to_send(send, Mode::Standard));
        if offered.is_some() {
            let (answer, word) = told_as(kind::BOUND, context, openings, i32::from(suited.is_some()));
            self.tell_bound(peer, answer, word);
        }
    }

    /// The other end does not write into the slots here.
    fn receive_by_messages(&mut self, key: BondKey) {
        let Some(net) = &mut self.net else { return };
        net.drop_slots(key);
        let Some(bond) = net.bond(key) else { return };
        bond.into.way = Way::Messages;
        for receive in mem::take(&mut bond.into.waiting) {
            let Some(op) = self.ops.get(receive).filter(|op| op.is_posted()) else { continue };
            let (context, pattern) = (op.context, Pattern::of(&op.header));
            match self.take_unexpected(context, &pattern) {
                Some(message) => self.receive_into(receive, message),
                None => {
                    self.contexts.at(context).post(pattern, receive);
                    self.ask_for(receive, &pattern);
                }
            }
        }
    }
}

/// Slots, or none, as a member is told of them by its context: a header with a note, and a word.
fn told_as(kind: u32, context: u32, landing: Option<Landing>, note: i32) -> (Header, u64) {
    let none = Landing { place: Place { key: 0, address: 0 }, number: 0, slot_bytes: 0 };
    let Landing { place, number, slot_bytes } = landing.unwrap_or(none);
    let (tag, token) = (number.cast_signed(), place.key);
    (Header { kind, context, tag, bytes: slot_bytes, token, source: note }, place.address)
}

/// The same, as it comes.
fn offered_by(header: &Header, address: u64) -> Option<Offer> {
    let place = Place { key: header.token, address };
    let landing = Landing { place, number: header.tag.cast_unsigned(), slot_bytes: header.bytes };
    (landing.slot_bytes != 0).then_some(Offer { landing, is_direct: header.source != 0 })
}
