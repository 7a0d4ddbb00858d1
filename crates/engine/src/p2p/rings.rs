//! The rings between this process and others: made when there is something to tell, ended when they are not needed.
//!
//! Every ring lies in the arena of its sender, who makes it and alone ends it: its last message, `FINISHED`, says where
//! the next one lies, or that there is none. The receiver closes the ring then, and the sender has the memory back. Of
//! a first ring a rank of the own job learns by a knock and the sender's table, that of another job at its doorway.
//!
//! Where a job has few ranks, and between two jobs, a pair begins with a ring of cells alone, and has a full one, or a
//! wide one at once, from the first message that does not fit into a cell: memory that was never used is dear. Where
//! there are many, most pairs never talk, or say one word: a pair begins with a small ring, and has a full one when a
//! message is longer or comes before the last one was read, or when the small one has served for a while. No rank keeps
//! more than some full ones; the rest are ended when nothing has gone by them lately. A long message for which no full
//! ring is to be had gets one of its own size.
//!
//! The data of long messages goes by a *wide* ring: what is written where the receiver has just read must be fetched
//! from that one's nearest cache first, so it is better to come back late. A pair has one from the first long message,
//! and the *widest*, which comes back when that cache has lost it, when it has exchanged many. With the first that is
//! full or wide a pair gets a [`Desk`], too.
//!
//! How they are read: see the module `reading`.
//!
//! MPI-5.0: Point-to-Point Communication, Progress.

use oxmpi_base::Result;
use oxmpi_shm::ring::{CELL_BYTES, DESK_BYTES, DESKS, Desk, Header, RingSize, Sender};
use oxmpi_shm::{Announcement, Arena, Block, Doorway, RingPlace, Rings, has_narrow_address_space};

use super::{P2p, kind};
use crate::peers::{Link, Peer, PeerId, Peers, Seat};

/// What there is to know of the rings to all peers.
#[derive(Debug)]
pub(crate) struct OwnRings {
    /// Where others knock, and announce theirs.
    pub doorway: &'static Doorway,
    /// Where the first ones to ranks of the own job lie.
    table: Rings,
    /// Those that have ended here, and at their receivers not yet.
    parting: Vec<Parting>,
    /// Peers of the own job to which there is a full one, where that is counted.
    full: Vec<PeerId>,
    /// How many full ones this rank keeps; a wide one counts as several.
    most_full: usize,
    /// Desks that this rank has made, as many at most.
    desks: usize,
    /// The size of the widest, where there are such.
    widest: Option<RingSize>,
    /// Rings whose last message has been read: by whom they were made, and what follows.
    pub finished: Vec<(PeerId, Option<RingPlace>)>,
    /// How often it was looked which rings rest.
    rests: u32,
}

#[derive(Debug)]
struct Parting {
    sender: Sender,
    block: Block,
    receiver: PeerId,
    seat: Seat,
}

/// Where so many ranks are in a job each may have full rings to all others.
const FEW_RANKS: usize = 16;
/// For the full rings of all ranks of larger jobs together.
const FULL_BYTES: usize = 256 << 20;
const LEAST_FULL: usize = 4;
const MOST_FULL: usize = 64;
/// Data of so many bytes is worth a wide ring, which has the memory of so many full ones.
const WIDE_FROM_BYTES: u64 = 32 << 10;
const FULL_PER_WIDE: usize = 4;
/// A pair has a widest ring when so many times what that holds was announced.
const ANNOUNCED_PER_WIDEST: u64 = 8;
/// An arena holds so many of these at least, or none.
const WIDEST_PER_ARENA: usize = 16;
/// How often rings have to be found resting until the full ones among them are ended.
const RESTS_PER_END: u32 = 64;

impl OwnRings {
    pub(super) fn new(peers: &Peers, arena: &Arena) -> Self {
        let (job, rank) = (peers.job(), peers.my_rank());
        let share = FULL_BYTES / RingSize::FULL.bytes() / job.size();
        Self {
            doorway: job.doorway(rank),
            table: job.rings(rank),
            parting: Vec::new(),
            full: Vec::new(),
            desks: 0,
            most_full: share.clamp(LEAST_FULL, MOST_FULL),
            widest: widest(job.size(), arena.range_bytes(), has_narrow_address_space()),
            finished: Vec::new(),
            rests: 0,
        }
    }
}

/// The size of the widest rings of a job: none where there are many ranks, or where these are as wide as others are.
///
/// Who sends makes them, but who receives needs address space, too, and cannot go without a ring that was made. So
/// there are none where that is scarce, be it by a limit, which ranks have alike, or for want of a longer arena.
fn widest(ranks: usize, arena_bytes: usize, is_narrow: bool) -> Option<RingSize> {
    let size = RingSize::widest(ranks);
    let has_room = size.bytes() * WIDEST_PER_ARENA <= arena_bytes && !is_narrow;
    (ranks <= FEW_RANKS && size != RingSize::WIDE && has_room).then_some(size)
}

impl P2p {
    /// Sees to it that a message of `bytes` bytes may find room in a ring to a peer, where it has found none; whether
    /// there is another ring now.
    ///
    /// # Errors
    /// `NoMem` if there is no memory for any ring.
    #[cold]
    pub(super) fn make_way(&mut self, to: PeerId, bytes: usize) -> Result<bool> {
        let peer = &mut self.peers[to];
        if peer.is_lost() {
            return Ok(false);
        }
        match &peer.sender {
            None => self.make_first_ring(to, bytes),
            Some(_) if peer.carrier().is_some() => Ok(false), // what does not fit goes past it
            Some(sender) if !sender.takes(bytes) || sender.is_small() => self.make_next_ring(to, bytes),
            Some(_) => Ok(false), // it is full of messages
        }
    }

    fn make_first_ring(&mut self, to: PeerId, bytes: usize) -> Result<bool> {
        if let Some(carrier) = self.peers[to].carrier() {
            return self.make_ring_over_fabric(to, carrier);
        }
        if self.peers[to].parting != 0 {
            self.take_back_rings();
            if self.peers[to].parting != 0 {
                return Ok(false); // the receiver might not see the last first one any more
            }
        }
        let size = match bytes <= CELL_BYTES {
            true if self.has_few_ranks(to) => RingSize::SHORT,
            true => RingSize::SMALL,
            false => self.size_for(to, bytes),
        };
        let (sender, block) = self.make_ring_or_least(size, bytes)?;
        let place = self.rings.table.place(block, sender.size(), self.peers[to].first_rings);
        self.send_by(to, sender, block);
        if let Some(rank) = self.peers.rank_in_job(to) {
            self.peers[to].first_rings += 1;
            self.rings.table.show(rank, place);
            self.peers[to].knock();
        } else {
            self.announce(to);
        }
        Ok(true)
    }

    /// Goes on by a larger ring, if there may be one.
    fn make_next_ring(&mut self, to: PeerId, bytes: usize) -> Result<bool> {
        let size = self.size_for(to, bytes);
        let peer = &mut self.peers[to];
        let Some(sender) = &mut peer.sender else { return Ok(false) };
        if size.cells == RingSize::SMALL.cells && sender.takes(bytes) {
            sender.go_on();
            return Ok(true);
        }
        self.go_on_by(to, |p2p| p2p.make_ring_or_least(size, bytes))
    }

    /// Sees to it that long data to a peer goes by a wide ring, if there may be one and it is worth its memory.
    pub(super) fn widen(&mut self, to: PeerId, data_bytes: u64) {
        let Some(sender) = self.peers[to].sender.as_ref().filter(|_| data_bytes >= WIDE_FROM_BYTES) else {
            return;
        };
        if sender.size() == RingSize::WIDE {
            return self.widen_again(to);
        }
        if ![RingSize::SHORT, RingSize::FULL].contains(&sender.size()) {
            return;
        }
        if self.has_few_ranks(to) || self.full_rings() + FULL_PER_WIDE - 1 <= self.rings.most_full {
            // If there is no memory for it, this one will do.
            self.go_on_by(to, |p2p| p2p.make_ring(RingSize::WIDE)).ok();
        }
    }

    /// The same where so much is sent to a rank of the own job that new memory is worth what it takes to use it first.
    fn widen_again(&mut self, to: PeerId) {
        let Some(widest) = self.rings.widest else { return };
        let many = ANNOUNCED_PER_WIDEST * widest.bulk_bytes as u64;
        if self.peers[to].announced < many || self.peers.rank_in_job(to).is_none() {
            return;
        }
        let make = |p2p: &mut Self| p2p.make_ring(widest).inspect(|(sender, _)| sender.touch());
        if self.go_on_by(to, make).is_err() {
            self.peers[to].announced = 0; // nor will there be memory soon
        }
    }

    /// Full rings that this rank keeps, by their memory.
    fn full_rings(&self) -> usize {
        let size = |peer: &PeerId| self.peers[*peer].sender.as_ref().map(Sender::size);
        let wide = self.rings.full.iter().filter(|peer| size(peer) == Some(RingSize::WIDE)).count();
        self.rings.full.len() + wide * (FULL_PER_WIDE - 1)
    }

    /// Goes on by another ring to a peer; false if this one has no room for telling so now.
    fn go_on_by(
        &mut self,
        to: PeerId,
        make: impl FnOnce(&mut Self) -> Result<(Sender, Block)>,
    ) -> Result<bool> {
        if self.peers[to].sender.as_mut().is_none_or(|sender| sender.last_room().is_none()) {
            return Ok(false);
        }
        let (next, block) = make(self)?;
        let place = self.rings.table.place(block, next.size(), 0);
        self.end_ring_with(to, Some(place));
        self.send_by(to, next, block);
        self.announce(to); // a peer of another job cannot see where it lies
        Ok(true)
    }

    /// Goes on by a new ring.
    fn send_by(&mut self, to: PeerId, sender: Sender, block: Block) {
        let is_short = sender.is_small() || sender.size() == RingSize::SHORT;
        if !is_short && !self.has_few_ranks(to) {
            self.rings.full.push(to);
        }
        let peer = &mut self.peers[to];
        (peer.sender, peer.block) = (Some(sender), Some(block));
        if !is_short {
            self.make_desks(to, 1);
        }
    }

    /// The desks on which a message may go in pieces.
    pub(super) fn make_desks_for_pieces(&mut self, to: PeerId) {
        if self.has_few_ranks(to) && self.peers[to].made_desks > 0 {
            self.make_desks(to, DESKS);
        }
    }

    /// Sees to it that so many desks were made for a rank of the own job. They are never given back, so there are few.
    fn make_desks(&mut self, to: PeerId, number: usize) {
        let segment = self.peers.job().segment();
        let peer = &mut self.peers[to];
        while peer.made_desks < number && peer.foreign.is_none() && self.rings.desks < self.rings.most_full {
            let Ok(block) = self.arena.take(DESK_BYTES) else { return };
            peer.desks.extend(Desk::new(segment, block));
            peer.made_desks += 1;
            self.rings.desks += 1;
        }
    }

    /// A ring of this size, or one that is just large enough.
    fn make_ring_or_least(&mut self, size: RingSize, bytes: usize) -> Result<(Sender, Block)> {
        self.make_ring(size).or_else(|_| self.make_ring(RingSize::for_payload(bytes)))
    }

    pub(super) fn make_ring(&mut self, size: RingSize) -> Result<(Sender, Block)> {
        if !self.rings.parting.is_empty() {
            self.take_back_rings();
        }
        let block = self.arena.take(size.bytes())?;
        let sender =
            Sender::make(self.peers.job().segment(), block, size).inspect_err(|_| self.arena.give(block))?;
        Ok((sender, block))
    }

    /// How large a ring for a message of so many bytes may be, and others after it.
    fn size_for(&mut self, to: PeerId, bytes: usize) -> RingSize {
        let has_full = self.has_few_ranks(to)
            || self.full_rings() < self.rings.most_full
            || self.rings.parting.len() < self.rings.most_full && self.end_a_resting_ring();
        if has_full { RingSize::FULL } else { RingSize::for_payload(bytes) }
    }

    /// Whether rings to a peer may be full ones, however many there are.
    pub(super) fn has_few_ranks(&self, to: PeerId) -> bool {
        self.peers.rank_in_job(to).is_none_or(|_| self.peers.job().size() <= FEW_RANKS)
    }

    /// Tells a peer of another job where the ring to it lies, if that can be just now.
    pub(crate) fn announce(&mut self, to: PeerId) -> bool {
        let me = self.peers.myself();
        let peer = &mut self.peers[to];
        let (Some(sender), Some(block), Some(foreign)) = (&peer.sender, peer.block, &mut peer.foreign) else {
            return false;
        };
        let Link::Shared { is_announced: is_announced @ false, .. } = &mut foreign.link else { return false };
        let (job, rank, offset, size) = (me.job(), me.rank(), block.offset, sender.size());
        *is_announced = peer.seat.doorway().announce(&Announcement { job, rank, offset, size });
        let is_announced = *is_announced;
        peer.wake();
        is_announced
    }

    /// Ends the ring to a peer to which nothing is left to be told; whether that could be done now.
    pub(crate) fn end_ring(&mut self, to: PeerId) -> bool {
        let peer = &mut self.peers[to];
        let has_room =
            peer.is_lost() || peer.sender.as_mut().is_some_and(|sender| sender.last_room().is_some());
        if has_room {
            self.end_ring_with(to, None);
        }
        has_room
    }

    /// Ends the ring to a peer, which has room for the last message.
    fn end_ring_with(&mut self, to: PeerId, next: Option<RingPlace>) {
        let peer = &mut self.peers[to];
        let (Some(mut sender), Some(block)) = (peer.sender.take(), peer.block.take()) else { return };
        if !peer.is_lost()
            && let Some(room) = sender.last_room()
        {
            let token = next.map_or(0, RingPlace::word);
            room.send(Header { kind: kind::FINISHED, token, ..Header::default() });
            if sender.must_knock() {
                peer.knock();
            }
            peer.wake();
        }
        peer.parting += 1;
        if let Some(Link::Shared { is_announced, .. }) =
            peer.foreign.as_mut().map(|foreign| &mut foreign.link)
        {
            *is_announced = false;
        }
        let seat = peer.seat;
        self.rings.full.retain(|&full| full != to);
        self.rings.parting.push(Parting { sender, block, receiver: to, seat });
    }

    /// Ends a full ring by which nothing has gone since none was found last; false if there is none.
    fn end_a_resting_ring(&mut self) -> bool {
        let Self { rings, peers, .. } = self;
        let sent = |peer: &Peer| peer.sender.as_ref().map_or(0, Sender::sent);
        let rests = |peer: &Peer| peer.outbox.is_empty() && peer.sent_before == sent(peer);
        if let Some(&resting) = rings.full.iter().find(|&&full| rests(&peers[full])) {
            return self.end_ring(resting);
        }
        for &full in &rings.full {
            peers[full].sent_before = sent(&peers[full]);
        }
        false
    }

    /// Takes back the memory of rings that have ended.
    pub(crate) fn take_back_rings(&mut self) {
        let Self { arena, peers, rings, .. } = self;
        rings.parting.retain(|Parting { sender, block, seat, receiver }| {
            // Nobody reads on in a job that a rank has left.
            let is_over = sender.is_closed() || seat.is_foreign_to(peers.job()) && seat.is_empty();
            if is_over {
                arena.give(*block);
                peers[*receiver].parting -= 1;
            }
            !is_over
        });
    }

    /// Whether rings to a job have ended here and at their receivers not yet.
    pub(crate) fn parts_from(&self, job: u64) -> bool {
        self.rings.parting.iter().any(|parting| parting.seat.whereabouts().job() == job)
    }

    /// Whether there is memory to be taken back.
    pub(crate) fn has_closed_rings(&self) -> bool {
        self.rings.parting.iter().any(|parting| parting.sender.is_closed())
    }

    /// Parks the rings by which nothing comes, ends those by which nothing goes, and takes memory back; to be done now
    /// and then.
    #[cold]
    pub(crate) fn rest(&mut self) {
        if !self.rings.parting.is_empty() {
            self.take_back_rings();
        }
        self.rings.rests = self.rings.rests.wrapping_add(1);
        if self.rings.full.len() > LEAST_FULL && self.rings.rests.is_multiple_of(RESTS_PER_END) {
            while self.rings.full.len() > LEAST_FULL && self.end_a_resting_ring() {}
        }
        self.park_rings();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A receiver without addresses for a ring that was made would wait for ever.
    #[test]
    fn the_widest_rings_are_for_few_ranks_with_room_for_many() {
        let size = RingSize::widest(2);
        let found = Some(size).filter(|size| *size != RingSize::WIDE);
        assert_eq!(widest(2, 1 << 38, false), found);
        assert_eq!(widest(2, 1 << 38, true), None);
        assert_eq!(widest(2, 8 * size.bulk_bytes, false), None);
        assert_eq!(widest(FEW_RANKS + 1, 1 << 38, false), None);
    }
}
