//! Short messages of a [bond](super::bound) that begin together, and are written together.
//!
//! A write takes a system call at either end where sockets are beneath, whatever it holds; and a neighbourhood often
//! has several messages to one peer. Those that fit are put into memory here as they are to lie in the slots, one
//! behind the other, and are written as one piece: when the run that has begun them can do no more, with the next poll
//! at the latest. The first slot says how many there are behind it.

use oxmpi_datatype::Buffer;
use oxmpi_fabric::{Order, Place};
use oxmpi_mem::{Region, Taken};

use super::Net;
use super::bound::{Bond, BondKey, Write};
use super::slots::{PREFIX_BYTES, Prefix, SLOTS, Way};
use crate::p2p::P2p;
use crate::peers::PeerId;

/// Messages that are to be written into slots side by side.
#[derive(Debug)]
pub(super) struct Together {
    bond: BondKey,
    /// Whose slots they are, and who reaches it.
    peer: PeerId,
    carrier: usize,
    /// The first slot, and what tells that something is there.
    place: Place,
    number: u32,
    slot_bytes: usize,
    memory: Taken,
    /// How many there are, and where the last one ends.
    count: usize,
    bytes: usize,
}

/// No more is written together, as no more of several messages goes in a frame.
const MOST_BYTES: usize = 64 << 10;
/// So many of those that wait are looked at for one to whose messages another one belongs.
const RECENT: usize = 8;
/// The fabric has room for nobody if it has none for so many peers.
const REFUSALS: usize = 4;

impl Together {
    /// Whether the message for this slot lies behind these.
    fn is_before(&self, bond: BondKey, number: u32) -> bool {
        let next = self.number.wrapping_add(self.count as u32);
        (self.bond, next) == (bond, number) && self.memory.len() >= (self.count + 1) * self.slot_bytes
    }

    fn add(&mut self, note: u64, taken: u64, buffer: &Buffer) {
        let (begin, bytes) = (self.count * self.slot_bytes, buffer.bytes() as usize);
        let slot = self.memory.part(begin, PREFIX_BYTES + bytes);
        Prefix { note, taken, bytes: bytes as u64, behind: 0 }.write(&slot);
        buffer.read(0, &slot.part(PREFIX_BYTES, bytes));
        if self.count > 0 {
            Prefix::note_behind(&self.memory, self.count as u64);
        }
        (self.count, self.bytes) = (self.count + 1, begin + slot.len());
    }

    fn message(&self) -> Region {
        self.memory.part(0, self.bytes)
    }
}

impl Net {
    /// Puts a message of a bond among those that are written together; false if it is too long for that, or there is
    /// no room.
    pub(super) fn put_together(&mut self, key: BondKey, note: u64, buffer: &Buffer) -> bool {
        let Some(Bond { peer, carrier, out, into, .. }) = self.bonds.get(key) else { return false };
        let (Way::Slots(landing), Some((place, number))) = (out.way, out.next()) else { return false };
        let (peer, carrier, taken) = (*peer, *carrier, into.taken);
        let slot_bytes = landing.slot_bytes as usize;
        let most = MOST_BYTES.min(self.fabric.limits().remote_bytes);
        if slot_bytes > most / 2 {
            return false;
        }
        let together = &mut self.bonds.together;
        let recent = together.iter_mut().rev().take(RECENT);
        match recent.into_iter().find(|one| one.is_before(key, number)) {
            Some(one) => one.add(note, taken, buffer),
            None => {
                let memory = self.pool.take(most.min(slot_bytes * SLOTS as usize));
                let (bond, count, bytes) = (key, 0, 0);
                let mut one =
                    Together { bond, peer, carrier, place, number, slot_bytes, memory, count, bytes };
                one.add(note, taken, buffer);
                together.push_back(one);
            }
        }
        self.note_message_written(key)
    }

    /// Writes what was put together, as far as the fabric takes it; whether anything was written. What it refuses is
    /// tried again behind all others: it may take nothing for that peer alone.
    fn write_together(&mut self) -> bool {
        let (mut any, mut refused) = (false, Vec::new());
        for _ in 0..self.bonds.together.len() {
            let Some(one) = self.bonds.together.pop_front() else { break };
            let Together { bond, peer, carrier, place, number, .. } = one;
            if refused.contains(&peer) {
                self.bonds.together.push_back(one);
                continue;
            }
            let (from, number, order) = (one.message(), Some(number), Order::Any);
            let write = Write { memory: one.memory, from, place, number, order, of: None };
            match self.give_to_fabric(Some(bond), (peer, carrier), write) {
                Ok(()) => any = true,
                Err(memory) => {
                    refused.push(peer);
                    self.bonds.together.push_back(Together { memory, ..one });
                    if refused.len() == REFUSALS {
                        break;
                    }
                }
            }
        }
        any
    }

    /// Forgets what was put together for a peer that is lost.
    pub(super) fn forget_together(&mut self, lost: PeerId) {
        let together = std::mem::take(&mut self.bonds.together);
        let (lost, kept) = together.into_iter().partition(|one: &Together| one.peer == lost);
        self.bonds.together = kept;
        Vec::from(lost).into_iter().for_each(|one| self.pool.give(one.memory));
    }
}

impl P2p {
    /// Writes what runs have put together, which can do no more now; whether anything was written.
    #[inline]
    pub(crate) fn write_together(&mut self) -> bool {
        self.net.as_mut().is_some_and(|net| net.write_together())
    }
}
