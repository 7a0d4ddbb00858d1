//! Messages of a persistent operation between nodes: bound once to memory of their receivers, then written there.
//!
//! A persistent operation has a channel of its own, and begins the same messages in each run. So what two processes on
//! different nodes tell each other in it is a stream in each direction, in which a message is known by its number: it
//! needs no envelope, and is not matched. The ends here of both directions are a *bond*.
//!
//! | when | what |
//! |---|---|
//! | the plan is bound | each member offers each other one, with whom it has messages, [slots](super::slots) for those to it: [`kind::BIND`], or says that there are none |
//! | the offer comes | the other one says whether it takes it: [`kind::BOUND`] |
//! | a send begins | its message is written into the next slot, with the slot's number as data: one write, nothing else; short ones that begin [together](super::together) are one write |
//! | a long one begins | it is written into the memory of its receive, once that has begun: see [`direct`](super::direct) |
//! | a message is taken | that is told with the next one of the other direction; in words of its own ([`kind::RELEASED`]) if four were taken meanwhile |
//! | a long receive is taken back | its sender is asked to write no more, and answers: see [`closing`](super::closing) |
//! | the channel is left | nobody can write into the slots any more |
//!
//! No end waits for the other in binding ([`offers`](super::offers)). What begins before it is settled waits for that,
//! in its order; where there are no slots, since no memory can be registered, it goes on as an ordinary message. An
//! operation that waits is in [`P2p`]'s table like any other: it is cancelled, lost with its peer and reported alike.
//! Nothing is written into a user's buffer before its receive has begun.
//!
//! A message whose operation was cancelled, as happens when a run has failed for want of another process, leaves a gap
//! in the stream. Nothing is sent by it any more: all runs of a channel that has lost a member fail.

use std::collections::VecDeque;

use oxmpi_base::Ordered;
use oxmpi_datatype::Buffer;
use oxmpi_fabric::{Failure, Order, Place, Posted};
use oxmpi_mem::{Pool, Region, Taken};
use oxmpi_shm::ring::Header;

use super::Net;
use super::carrier::is_held_up;
use super::direct::Direct;
use super::offers::Offer;
use super::slots::{
    Incoming, LONGEST_BYTES, Outgoing, OwnSlots, PREFIX_BYTES, Part, Prefix, SHORTER, SLOTS, Way,
};
use super::together::Together;
use crate::matching::Pattern;
use crate::p2p::op::State;
use crate::p2p::outbox::Outgoing as Control;
use crate::p2p::{Address, Op, OpKey, P2p, kind};
use crate::peers::PeerId;
use crate::slab::{Key, Slab};

/// The number of a bond.
pub(crate) type BondKey = Key<Bond>;

/// See the module.
#[derive(Debug)]
pub(crate) struct Bond {
    pub(super) peer: PeerId,
    pub(super) carrier: usize,
    /// The channel's context here, and there.
    pub(super) context: u32,
    pub(super) context_there: u32,
    pub(super) out: Outgoing,
    pub(super) into: Incoming,
    /// Whether it is among those with something that waits.
    is_listed: bool,
}

/// All bonds, and what they have under way.
#[derive(Debug, Default)]
pub(super) struct Bonds {
    all: Slab<Bond>,
    by_name: Ordered<(u32, PeerId), BondKey>,
    /// Those in each channel, by its context: there may be many thousand channels.
    in_channel: Ordered<u32, Vec<BondKey>>,
    /// Those whose slots begin with these numbers, none of which is used again for long: what comes late finds nothing.
    by_number: Ordered<u32, BondKey>,
    next_number: u32,
    /// What was offered by members that were faster.
    pub(super) offers: Ordered<(u32, PeerId), Option<Offer>>,
    /// Those with something that waits to be written.
    listed: VecDeque<BondKey>,
    /// What the fabric writes.
    writes: Slab<Writing>,
    /// How often the fabric had told all when the first of them was posted, since there was none.
    written_at: u64,
    /// What is to be written together.
    pub(super) together: VecDeque<Together>,
    /// Those into whose slots something has come.
    touched: VecDeque<BondKey>,
    pub(super) direct: Direct,
    /// What the fabric writes at a time.
    remote_bytes: u64,
}

/// Something that the fabric has, to be written.
#[derive(Debug)]
struct Writing {
    /// Of none, if it is a message of its own.
    bond: Option<BondKey>,
    peer: PeerId,
    memory: Taken,
    /// The send whose own memory is written.
    of: Option<OpKey>,
}

/// What is to be written into a peer's memory.
#[derive(Debug)]
pub(super) struct Write {
    /// Memory that was taken for this.
    pub memory: Taken,
    pub from: Region,
    pub place: Place,
    pub number: Option<u32>,
    pub order: Order,
    pub of: Option<OpKey>,
}

impl Bonds {
    pub(super) fn new(remote_bytes: usize) -> Self {
        Self { remote_bytes: remote_bytes as u64, ..Self::default() }
    }

    /// Whether everything is written.
    pub(super) fn is_quiet(&self) -> bool {
        self.writes.is_empty() && self.together.is_empty()
    }

    /// Whether anything waits to be written; or is on its way, if that counts, as of a carrier's frames.
    pub(super) fn is_behind(&self, looks: Option<u64>) -> bool {
        let is_held_up = |looks| is_held_up(self.writes.len() as u64, self.written_at, looks);
        !self.together.is_empty() || !self.writes.is_empty() && looks.is_some_and(is_held_up)
    }

    pub(super) fn get(&self, key: BondKey) -> Option<&Bond> {
        self.all.get(key)
    }

    /// A slot was written.
    pub(super) fn note_told(&mut self, number: u32) {
        let Some(&key) = self.by_number.get(number - number % SLOTS as u32) else { return };
        let Some(bond) = self.all.get_mut(key) else { return };
        if let Some(taken) = bond.into.note_arrival(number) {
            bond.out.note_taken(taken);
            self.touched.push_back(key);
        }
        if bond.out.note_opening(number) {
            self.list(key);
        }
    }

    /// A message was written, or will not be; whose peer is gone then.
    pub(super) fn note_written(
        &mut self,
        context: u64,
        failure: Option<Failure>,
        pool: &mut Pool,
    ) -> Option<PeerId> {
        let Writing { bond, peer, memory, of } = self.writes.remove(Key::from_word(context))?;
        pool.give(memory);
        of.into_iter().for_each(|send| self.direct.note_written(send, failure));
        if failure.is_some()
            && let Some(bond) = bond.and_then(|bond| self.all.get_mut(bond))
        {
            bond.out.way = Way::Nowhere;
        }
        (failure == Some(Failure::Gone)).then_some(peer)
    }

    /// A number with which as many begin as there are slots.
    pub(super) fn take_numbers(&mut self, key: BondKey) -> u32 {
        while self.by_number.contains_key(self.next_number) {
            self.next_number = after(self.next_number);
        }
        let first = self.next_number;
        self.next_number = after(first);
        self.by_number.insert(first, key);
        first
    }

    /// Nothing is written to a peer any more, nor by it. What it has written stays.
    pub(super) fn lose(&mut self, lost: PeerId) -> Vec<Place> {
        self.direct.lose(lost);
        let of_peer = self.all.entries_mut().filter(|(_, bond)| bond.peer == lost);
        let end = |(_, bond): (BondKey, &mut Bond)| {
            bond.out.way = Way::Messages; // those fail
            bond.out.waiting.clear();
            bond.into.openings = None;
            bond.into.slots.as_mut().and_then(|slots| slots.place.take())
        };
        of_peer.filter_map(end).collect()
    }

    /// Whether long messages are received in a channel that can be written into its operation's buffer.
    pub(super) fn wants_landing(&self, context: u32) -> bool {
        let most = self.longest_in_slots();
        let is_long = |bond: &Bond| bond.into.lands && bond.into.longest > most;
        self.of_channel(context).any(is_long)
    }

    fn of_channel(&self, context: u32) -> impl Iterator<Item = &Bond> {
        let keys = self.in_channel.get(context).into_iter().flatten();
        keys.filter_map(|&key| self.all.get(key))
    }

    /// Bytes of the longest message that is put into slots which are made now.
    pub(super) fn longest_in_slots(&self) -> u64 {
        let shorter = SHORTER.iter().rev().find(|(bonds, _)| self.all.len() > *bonds);
        let most = shorter.map_or(LONGEST_BYTES, |&(_, bytes)| bytes);
        most.min(self.remote_bytes.saturating_sub(PREFIX_BYTES as u64))
    }

    /// A peer that is lost writes into no receives any more: the channels in which it might have.
    pub(super) fn lose_opened(&mut self, peer: PeerId) -> Vec<u32> {
        let is_open = |bond: &&mut Bond| bond.peer == peer && bond.into.has_opened();
        let lost = self.all.entries_mut().map(|(_, bond)| bond).filter(is_open);
        let close = |bond: &mut Bond| {
            bond.into.opened = bond.into.taken;
            bond.into.closing.clear(); // they fail
            bond.context
        };
        lost.map(close).collect()
    }

    /// Whether anybody may write into the buffer of a channel's operation.
    pub(super) fn is_open(&self, context: u32) -> bool {
        self.of_channel(context).any(|bond| bond.into.has_opened())
    }

    /// The channels in which receives wait for a peer to say that it writes no more.
    pub(super) fn closing_with(&self, peer: PeerId) -> Vec<u32> {
        let is_closing = |bond: &&Bond| bond.peer == peer && !bond.into.closing.is_empty();
        self.all.iter().filter(is_closing).map(|bond| bond.context).collect()
    }

    /// Whether anything of a bond is being written into receives.
    pub(super) fn is_writing(&self, key: BondKey) -> bool {
        self.writes.iter().any(|writing| writing.bond == Some(key) && writing.of.is_some())
    }

    /// Whether any peer may.
    pub(super) fn have_opened(&self) -> bool {
        self.direct.contexts().any(|context| self.is_open(context))
    }

    /// Lets it be looked at again with the next poll.
    pub(super) fn list(&mut self, key: BondKey) {
        if let Some(bond) = self.all.get_mut(key).filter(|bond| !bond.is_listed) {
            bond.is_listed = true;
            self.listed.push_back(key);
        }
    }
}

impl Net {
    pub(super) fn end_slots(&mut self, slots: OwnSlots) {
        slots.place.into_iter().for_each(|place| self.fabric.unregister(place));
        self.bonds.by_number.remove(slots.number);
        self.pool.give(slots.memory);
    }

    /// Writes a message into the next slot, if there is room; perhaps not at once, but with others.
    fn write(&mut self, key: BondKey, note: u64, buffer: &Buffer) -> bool {
        if self.put_together(key, note, buffer) {
            return true;
        }
        let Some(Bond { out, into, .. }) = self.bonds.all.get(key) else { return false };
        let Some((place, number)) = out.next() else { return false };
        let (bytes, taken) = (buffer.bytes(), into.taken);
        let memory = self.pool.take(PREFIX_BYTES + bytes as usize);
        Prefix { note, taken, bytes, behind: 0 }.write(&memory);
        buffer.read(0, &memory.part(PREFIX_BYTES, bytes as usize));
        let (from, number) = (*memory, Some(number));
        let write = Write { memory, from, place, number, order: Order::Any, of: None };
        self.put(key, write) && self.note_message_written(key)
    }

    /// The next message is on its way; with it goes what was taken of the other direction.
    pub(super) fn note_message_written(&mut self, key: BondKey) -> bool {
        self.bond(key).is_some_and(|Bond { out, into, .. }| {
            (out.written, into.told) = (out.written + 1, into.taken);
            true
        })
    }

    /// Writes into memory of the other end of a bond; false if it cannot now.
    pub(super) fn put(&mut self, key: BondKey, write: Write) -> bool {
        let Some(&Bond { peer, carrier, .. }) = self.bonds.get(key) else { return false };
        let refused = self.give_to_fabric(Some(key), (peer, carrier), write).err();
        let is_accepted = refused.is_none();
        refused.into_iter().for_each(|memory| self.pool.give(memory));
        is_accepted
    }

    /// The same of what may be written though the bond is no more. If it cannot be now, its memory comes back.
    pub(super) fn give_to_fabric(
        &mut self,
        bond: Option<BondKey>,
        (peer, carrier): (PeerId, usize),
        write: Write,
    ) -> Result<(), Taken> {
        let Write { memory, from, place, number, order, of } = write;
        let Self { fabric, carriers, bonds, looks, .. } = self;
        if bonds.writes.is_empty() {
            bonds.written_at = *looks;
        }
        let writing = bonds.writes.insert(Writing { bond, peer, memory, of });
        let target = carriers[carrier].target;
        match fabric.write(target, from, place, number, order, writing.to_word()) {
            Posted::Yes => Ok(()),
            Posted::NotNow => {
                Err(bonds.writes.remove(writing).map_or(Taken::EMPTY, |writing| writing.memory))
            }
        }
    }

    pub(super) fn bond(&mut self, key: BondKey) -> Option<&mut Bond> {
        self.bonds.all.get_mut(key)
    }

    pub(super) fn bond_with(&mut self, context: u32, peer: PeerId) -> Option<(BondKey, &mut Bond)> {
        let &key = self.bonds.by_name.get((context, peer))?;
        Some((key, self.bonds.all.get_mut(key)?))
    }
}

impl P2p {
    /// The bond with a member of the channel with this context, if it is on another node: it is to carry this part of
    /// a plan, too.
    pub(crate) fn bond(&mut self, context: u32, member: Address, part: Part) -> Option<BondKey> {
        let carrier = self.peers[member.peer].carrier()?;
        let bonds = &mut self.net.as_mut()?.bonds;
        let Address { peer, context: context_there } = member;
        let key = *bonds.by_name.get_or_insert_with((context, peer), || {
            let (out, into) = (Outgoing::new(), Incoming::new());
            let bond = Bond { peer, carrier, context, context_there, out, into, is_listed: false };
            let key = bonds.all.insert(bond);
            bonds.in_channel.get_or_default(context).push(key);
            key
        });
        let bond = bonds.all.get_mut(key)?;
        match part {
            Part::Receive(bytes, lands) => {
                bond.into.longest = bond.into.longest.max(bytes);
                bond.into.lands &= lands;
            }
            Part::Send(bytes) => bond.out.longest = bond.out.longest.max(bytes),
        }
        Some(key)
    }

    /// Ends the bonds in a channel: nobody writes into their slots any more.
    pub(crate) fn end_bonds(&mut self, context: u32) {
        for key in self.bonds_in(context) {
            let Some(net) = &mut self.net else { return };
            net.bonds.in_channel.remove(context);
            let Some(bond) = net.bonds.all.remove(key) else { continue };
            net.bonds.by_name.remove((context, bond.peer));
            net.bonds.listed.retain(|&listed| listed != key);
            bond.into.slots.into_iter().chain(bond.out.openings).for_each(|slots| net.end_slots(slots));
            if bond.out.is_to_close {
                self.tell_closed(bond.peer, bond.context_there);
            }
        }
        self.close_landing(context);
    }

    pub(super) fn bonds_in(&self, context: u32) -> Vec<BondKey> {
        self.net.as_ref().and_then(|net| net.bonds.in_channel.get(context)).cloned().unwrap_or_default()
    }

    /// As [`P2p::send_noted`], by a bond.
    #[cold] // so that messages in a node are those which are expected
    pub(crate) fn send_bound(
        &mut self,
        key: BondKey,
        to: Address,
        source: i32,
        tag: i32,
        note: u64,
        buffer: &Buffer,
    ) -> Option<OpKey> {
        let is_lost = self.peers.is_lost(to.peer);
        let way = self.net.as_mut().and_then(|net| Some(net.bond(key)?.out.way));
        match way.filter(|_| !is_lost) {
            None | Some(Way::Messages) => return self.send_noted(to, source, tag, note, buffer),
            Some(Way::Nowhere) => return None,
            Some(Way::Open | Way::Slots(_)) => {}
        }
        let net = self.net.as_mut()?;
        let out = &net.bond(key)?.out;
        if out.waiting.is_empty() && out.openings.is_none() && net.write(key, note, buffer) {
            return None;
        }
        let header = Header {
            kind: kind::EAGER,
            context: to.context,
            source,
            tag,
            bytes: buffer.bytes(),
            token: note,
        };
        let send = self.ops.insert(Op::new(State::Queued, to, buffer.clone(), header));
        net.bond(key)?.out.waiting.push_back(send);
        net.bonds.list(key);
        self.write_waiting(key);
        Some(send)
    }

    /// As [`P2p::receive_noted`], by a bond.
    #[cold]
    pub(crate) fn receive_bound(
        &mut self,
        key: BondKey,
        context: u32,
        pattern: Pattern,
        buffer: Buffer,
    ) -> OpKey {
        let bond = self.net.as_mut().and_then(|net| net.bond(key));
        let Some(bond) = bond.filter(|bond| bond.into.way != Way::Messages) else {
            return self.receive_noted(context, pattern, buffer);
        };
        let here = Address { peer: self.peers.me(), context };
        let op = Op::new(State::Posted { asked: 0 }, here, buffer, pattern.header(context));
        let receive = self.ops.insert(op);
        bond.into.waiting.push_back(receive);
        self.fill_from_slots(key);
        self.open_next(key);
        receive
    }

    /// Takes an operation that is cancelled out of its bond, if it has one: whether that is all there is of it.
    #[cold]
    pub(in crate::p2p) fn take_out_of_bond(&mut self, op: OpKey) -> bool {
        let Some(net) = &mut self.net else { return false };
        let waits = |bond: &Bond| bond.out.waiting.contains(&op) || bond.into.waiting.contains(&op);
        let found = net.bonds.all.entries().find(|(_, bond)| waits(bond)).map(|(key, _)| key);
        let Some((key, bond)) = found.and_then(|key| Some((key, net.bond(key)?))) else { return false };
        if take_out(&mut bond.out.waiting, op).is_some() {
            bond.out.way = Way::Nowhere;
        }
        let Some(place) = take_out(&mut bond.into.waiting, op) else { return true };
        bond.into.way = Way::Nowhere;
        let is_open = bond.into.is_direct && bond.into.taken + (place as u64) < bond.into.opened;
        !(is_open && self.close_first(key, op))
    }

    /// Moves on what is bound; whether anything was.
    pub(super) fn serve_bonds(&mut self) -> bool {
        let mut any = false;
        while let Some(key) = self.net.as_mut().and_then(|net| net.bonds.touched.pop_front()) {
            self.fill_from_slots(key);
            self.open_next(key);
            any = true;
        }
        // What is listed meanwhile has its turn with the next poll.
        for _ in 0..self.net.as_ref().map_or(0, |net| net.bonds.listed.len()) {
            let Some(net) = &mut self.net else { break };
            let Some(key) = net.bonds.listed.pop_front() else { break };
            net.bond(key).into_iter().for_each(|bond| bond.is_listed = false);
            self.open_next(key);
            any |= self.write_waiting(key);
            any |= self.answer_close(key);
        }
        any | self.write_together() | self.end_direct_sends()
    }

    /// Writes the sends of a bond that wait, as far as there is room; whether any was written.
    fn write_waiting(&mut self, key: BondKey) -> bool {
        let mut any = false;
        while let Some(net) = &mut self.net
            && let Some(bond) = net.bond(key)
            && let Some(&send) = bond.out.waiting.front()
        {
            let (is_gone, is_direct) = (bond.out.way == Way::Nowhere, bond.out.openings.is_some());
            let has_gone = match self.ops.get(send).filter(|op| is_to_be_sent(op)) {
                Some(op) if is_gone => {
                    let is_begun = matches!(op.state, State::Streaming { .. });
                    if is_begun {
                        self.end_direct_send(send)
                    } else {
                        self.finish(send)
                    }
                    true
                }
                Some(_) if is_direct => self.write_directly(key, send),
                Some(op) => {
                    let is_written = net.write(key, op.header.token, &op.buffer);
                    if is_written {
                        self.finish(send);
                    }
                    is_written
                }
                None => true,
            };
            let Some(net) = &mut self.net else { return any };
            if !has_gone {
                net.bonds.list(key);
                return any;
            }
            any = true;
            net.bond(key).and_then(|bond| bond.out.waiting.pop_front());
        }
        any
    }

    /// Puts messages that have come into the receives that wait for them.
    fn fill_from_slots(&mut self, key: BondKey) {
        while let Some(bond) = self.net.as_mut().and_then(|net| net.bond(key))
            && bond.into.way != Way::Nowhere
            && let Some(&receive) = bond.into.waiting.front()
            && let Some((prefix, payload)) = bond.into.next()
        {
            bond.into.waiting.pop_front();
            // One that has failed leaves its message behind.
            if let Some(op) = self.ops.get_mut(receive).filter(|op| op.is_posted()) {
                let header = Header { bytes: payload.len() as u64, token: prefix.note, ..op.header };
                match bond.into.is_direct {
                    true => op.note_filled(&Header { bytes: prefix.bytes, ..header }),
                    false => op.fill(&header, &payload),
                }
                self.finish(receive);
            }
            if let Some(bond) = self.net.as_mut().and_then(|net| net.bond(key)) {
                bond.into.release();
            }
        }
        self.tell_taken(key);
        self.close_late(key);
    }

    /// Tells the other end how much was taken, if it is to hear of that.
    fn tell_taken(&mut self, key: BondKey) {
        let Some(bond) = self.net.as_mut().and_then(|net| net.bond(key)) else { return };
        if bond.into.owes_a_word() {
            bond.into.told = bond.into.taken;
            let (peer, context, taken) = (bond.peer, bond.context_there, bond.into.taken);
            let header = Header { kind: kind::RELEASED, context, ..Header::default() };
            self.tell_bound(peer, header, taken);
        }
    }

    pub(super) fn tell_bound(&mut self, peer: PeerId, header: Header, word: u64) {
        if !self.peers.is_lost(peer) {
            self.enqueue(peer, Control::Control(header, word));
        }
    }
}

/// The number of the next slots: those in the upper half are of [receives that are open](super::opened).
fn after(number: u32) -> u32 {
    number.wrapping_add(SLOTS as u32) & (u32::MAX >> 1)
}

/// Takes an operation out of those that wait: its place, if it was there.
fn take_out(waiting: &mut VecDeque<OpKey>, op: OpKey) -> Option<usize> {
    let place = waiting.iter().position(|&waits| waits == op)?;
    waiting.remove(place).map(|_| place)
}

/// Whether a send that waits is one still.
fn is_to_be_sent(op: &Op) -> bool {
    matches!(op.state, State::Queued | State::Streaming { .. })
}
