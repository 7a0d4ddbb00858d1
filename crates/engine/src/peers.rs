//! The processes that this one exchanges messages with: how each is reached, and whether it lives.
//!
//! A peer is known by its place here, the [`PeerId`]: what is looked at for every message is found by it at once. The
//! ranks of the own job are here from the start, by rank; those of other jobs come when the first communicator with
//! them is made, and go with the last.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_shm::ring::{Arrival, Receiver, RingSize, Room, Sender};
use oxmpi_shm::{Arena, Block, Doorbell, Doorway, Job, Member, Segment, SingleCopy, StatePage, Waker};

use crate::jobs::{Jobs, Whereabouts};
use crate::p2p::{Outbox, Reach};

/// The number of a peer, in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(u32);

/// A process, and this one's link to it.
#[derive(Debug)]
pub(crate) struct Peer {
    /// Where it is.
    pub seat: Seat,
    /// Where its messages go, once there is a ring.
    pub sender: Option<Sender>,
    /// Where its messages come from, once it has made a ring.
    pub receiver: Option<Receiver>,
    /// What only a process of another job needs.
    pub foreign: Option<Box<Foreign>>,
    /// What waits for room.
    pub outbox: Outbox,
    /// Whether its memory can be read.
    pub reach: Reach,
    doorbell: &'static Doorbell,
    waker: Waker,
}

/// What there is to know of a peer of another job.
#[derive(Debug, Default)]
pub(crate) struct Foreign {
    /// Channels that it is a member of.
    pub uses: u32,
    /// The memory of the ring to it.
    pub block: Option<Block>,
    /// It has been told where that is.
    pub is_announced: bool,
    /// It has said that nothing more comes by the ring from it.
    pub has_finished: bool,
    /// The rings that it has made since.
    pub next: VecDeque<Receiver>,
    /// Nothing will come from it any more, and nothing reaches it.
    pub is_lost: bool,
}

/// The place of a process in its job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    job: Job,
    rank: usize,
}

/// The longest payload by a ring that is yet to be made.
const MADE_PAYLOAD: usize = RingSize::FULL.bulk_bytes / 4;

/// See the module.
#[derive(Debug)]
pub(crate) struct Peers {
    me: PeerId,
    job_size: u32,
    /// Of the own job.
    waker: Waker,
    /// By number; none where one has gone.
    all: Vec<Option<Peer>>,
    /// The same, for those who look at all.
    seats: Arc<[Option<Seat>]>,
    pub(crate) jobs: Jobs,
    /// Those of other jobs.
    pub(crate) foreign: BTreeMap<Whereabouts, PeerId>,
}

impl PeerId {
    /// The peer with this rank in the own job.
    #[inline]
    pub fn of_rank(rank: u32) -> Self {
        Self(rank)
    }

    #[inline]
    fn place(self) -> usize {
        self.0 as usize
    }

    /// What belongs to this peer, of something for each.
    pub(crate) fn of<T: Copy>(self, all: &[Option<T>]) -> Option<T> {
        all.get(self.place()).copied().flatten()
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}", self.0)
    }
}

impl Seat {
    pub(crate) fn new(job: Job, rank: usize) -> Self {
        Self { job, rank }
    }

    /// What the process shows.
    pub(crate) fn page(&self) -> &'static StatePage {
        self.job.state(self.rank)
    }

    /// The process that has the seat and lives; 0 if it cannot be seen from here.
    pub(crate) fn owner(&self) -> Option<u32> {
        self.job.owner(self.rank)
    }

    /// Its own memory, if that can be read.
    pub(crate) fn memory(&self) -> Option<SingleCopy> {
        SingleCopy::of(&self.job, self.rank)
    }

    /// Whether the launcher says that the process has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.page().is_gone()
    }

    /// Whether the system says so: a launcher may have ended with its job.
    pub(crate) fn is_empty(&self) -> bool {
        self.owner().is_none()
    }

    /// Where other jobs announce that they have made rings.
    pub(crate) fn doorway(&self) -> &'static Doorway {
        self.job.doorway(self.rank)
    }

    /// Which process it is.
    pub(crate) fn whereabouts(&self) -> Whereabouts {
        Whereabouts::new(self.job.id(), self.rank as u32)
    }

    /// The memory that the process shares.
    pub(crate) fn segment(&self) -> &'static Segment {
        self.job.segment()
    }
}

impl Peer {
    fn new(seat: Seat, sender: Option<Sender>, receiver: Option<Receiver>) -> Self {
        let (doorbell, waker) = (seat.job.doorbell(seat.rank), seat.job.waker());
        let (outbox, reach, foreign) = (Outbox::default(), Reach::Unknown, None);
        Self { seat, sender, receiver, foreign, outbox, reach, doorbell, waker }
    }

    fn foreign(seat: Seat) -> Self {
        Self { foreign: Some(Box::default()), ..Self::new(seat, None, None) }
    }

    /// Notes that nothing more comes by the ring that it is read from.
    #[cold]
    pub(crate) fn note_finished(&mut self) {
        if let Some(foreign) = &mut self.foreign {
            foreign.has_finished = true;
        }
    }

    /// What there is to say of it, which will not do its part.
    #[cold]
    pub(crate) fn lost(&self) -> Error {
        let process = self.seat.whereabouts();
        let (rank, job) = (process.rank(), process.job());
        let text =
            format!("rank {rank} of another job ({job:016x}) has ended, or left MPI, without its part");
        Error::new(ErrorClass::ProcAborted, text)
    }

    /// Whether it is of another job and has been lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.foreign.as_ref().is_some_and(|foreign| foreign.is_lost)
    }

    /// Wakes it: something was published for it.
    #[inline]
    pub(crate) fn wake(&self) {
        if self.waker.needed() {
            self.doorbell.ring();
        }
    }

    /// Room for a message of so many bytes, if there is some now.
    #[inline]
    pub(crate) fn room(&mut self, bytes: usize) -> Option<Room<'_>> {
        self.sender.as_mut()?.room(bytes)
    }

    /// The longest payload of a message to it.
    #[inline]
    pub(crate) fn largest_payload(&self) -> usize {
        self.sender.as_ref().map_or(MADE_PAYLOAD, Sender::largest_payload)
    }

    /// The next message of it, if one has come.
    #[inline]
    pub(crate) fn arrival(&mut self) -> Option<Arrival> {
        self.receiver.as_mut()?.arrival()
    }

    /// Gives the room of a message back, for which the peer may wait.
    #[inline]
    pub(crate) fn release(&mut self, arrival: &Arrival) {
        if let Some(receiver) = &mut self.receiver {
            receiver.release(arrival);
            self.wake();
        }
    }
}

impl Peers {
    /// The ranks of a job, of which `member` is this process.
    pub(crate) fn of_job(job: Job, member: Member) -> (Self, Arena) {
        let Member { rank, senders, receivers, arena } = member;
        let links = senders.into_iter().zip(receivers).enumerate();
        let peer = |(rank, (sender, receiver))| Peer::new(Seat::new(job, rank), Some(sender), Some(receiver));
        let mut peers = Self {
            me: PeerId::of_rank(rank as u32),
            job_size: job.size() as u32,
            waker: job.waker(),
            all: links.map(|link| Some(peer(link))).collect(),
            seats: Arc::default(),
            jobs: Jobs::new(job),
            foreign: BTreeMap::new(),
        };
        peers.note_seats();
        (peers, arena)
    }

    /// The peer that is this process.
    ///
    /// # Errors
    /// `Other` if its job is not known.
    pub(crate) fn find(&mut self, process: Whereabouts) -> Result<PeerId> {
        if self.jobs.is_own(process) {
            return self.jobs.number(process).map(PeerId);
        }
        if let Some(&id) = self.foreign.get(&process) {
            return Ok(id);
        }
        let seat = Seat::new(self.jobs.memory(process)?, process.rank() as usize);
        let place = self.all.iter().position(Option::is_none).unwrap_or_else(|| {
            self.all.push(None);
            self.all.len() - 1
        });
        let id = PeerId(place as u32);
        self.all[place] = Some(Peer::foreign(seat));
        self.foreign.insert(process, id);
        self.note_seats();
        Ok(id)
    }

    /// Whether a peer is a rank of the own job.
    pub(crate) fn is_of_job(&self, id: PeerId) -> bool {
        id.0 < self.job_size
    }

    /// Whether any rank of the own job sleeps.
    #[inline]
    pub(crate) fn someone_sleeps(&self) -> bool {
        self.waker.needed()
    }

    /// This process.
    #[inline]
    pub(crate) fn me(&self) -> PeerId {
        self.me
    }

    /// How many places the ranks of the own job take; those of others come behind.
    #[inline]
    pub(crate) fn job_size(&self) -> u32 {
        self.job_size
    }

    /// All that there are.
    pub(crate) fn ids(&self) -> impl Iterator<Item = PeerId> {
        (0..self.places()).filter_map(|place| self.at(place))
    }

    /// Where each is, by number.
    pub(crate) fn seats(&self) -> Arc<[Option<Seat>]> {
        Arc::clone(&self.seats)
    }

    fn note_seats(&mut self) {
        self.seats = self.all.iter().map(|peer| peer.as_ref().map(|peer| peer.seat)).collect();
    }

    /// Forgets the peers of a job, which nobody knows any more.
    pub(crate) fn forget(&mut self, job: u64) {
        let all = &mut self.all;
        self.foreign.retain(|process, id| {
            let stays = process.job() != job;
            if !stays {
                all[id.place()] = None;
            }
            stays
        });
        self.note_seats();
    }

    /// How many places there are for peers.
    #[inline]
    pub(crate) fn places(&self) -> u32 {
        self.all.len() as u32
    }

    /// The peer at a place, if there is one.
    #[inline]
    pub(crate) fn at(&self, place: u32) -> Option<PeerId> {
        self.all[place as usize].as_ref().map(|_| PeerId(place))
    }
}

impl Index<PeerId> for Peers {
    type Output = Peer;

    #[inline]
    fn index(&self, id: PeerId) -> &Peer {
        self.all[id.place()].as_ref().expect("peers go when nobody knows them any more")
    }
}

impl IndexMut<PeerId> for Peers {
    #[inline]
    fn index_mut(&mut self, id: PeerId) -> &mut Peer {
        self.all[id.place()].as_mut().expect("peers go when nobody knows them any more")
    }
}
