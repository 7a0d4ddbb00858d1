//! The processes that this one exchanges messages with: how each is reached, and whether it lives.
//!
//! A peer is known by its place here, the [`PeerId`]: what is looked at for every message is found by it at once. The
//! ranks of the own job have the first places, by rank, and are here from the first message on; those of other jobs
//! come when the first communicator with them is made, and go with the last.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Ordered, Ordinal, Result};
use oxmpi_shm::ring::{Arrival, Desk, Receiver, Room, Sender};
use oxmpi_shm::{Block, Doorway, Job, Knocks, Phase, RingPlace, Segment, SingleCopy, StatePage};

use crate::jobs::{Jobs, Whereabouts, Whose};
use crate::p2p::{Beginning, Coming, Memory, Outbox, PostDesks, Reach, Stalled};
use crate::writes::Writes;

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
    /// What it was asked, as long as it has messages that were only shown here.
    pub stalled: Option<Box<Stalled>>,
    /// Whether its memory can be read.
    pub memory: Memory,
    /// Whether long messages are read there.
    pub reach: Reach,
    /// How what it will read is written.
    pub writes: Writes,
    /// Bytes of long messages to it.
    pub announced: u64,
    /// The memory of the ring to it.
    pub block: Option<Block>,
    /// Desks that were made for the pair, until something goes on them, and how many were.
    pub desks: Vec<Desk>,
    pub made_desks: usize,
    /// What is written already of a message to it that is announced.
    pub beginning: Option<Beginning>,
    /// Whether it has read the last long message to it in this rank's memory.
    pub reads_itself: bool,
    /// The message from it of which more pieces are to come, unasked.
    pub coming: Option<Coming>,
    /// Those for what is posted.
    pub post_desks: Option<Box<PostDesks>>,
    /// How many rings to it have ended here that it may read still.
    pub parting: u32,
    /// How many first rings to it there were; of ranks of the own job.
    pub first_rings: u64,
    /// Its first ring that was adopted last.
    pub adopted: Option<RingPlace>,
    /// What had gone to it by its ring, and come by the other one, when it was looked which ones rest.
    pub sent_before: u64,
    pub received_before: u64,
    /// What had come when something was sent to it last.
    pub received_when_sent: u64,
    /// Whether it is among those who are looked at.
    is_listed: bool,
    /// How to knock there, and as which rank; of ranks of the own job.
    knocks: Option<(Knocks, usize)>,
}

/// What there is to know of a peer of another job.
#[derive(Debug)]
pub(crate) struct Foreign {
    /// Channels that it is a member of.
    pub uses: u32,
    /// How it is reached.
    pub link: Link,
    /// Nothing will come from it any more, and nothing reaches it.
    pub is_lost: bool,
    /// How its host is called, if it is lost, and that is known.
    pub host: Option<String>,
    /// Why it is not reached though it may be there, if it is lost for that.
    pub obstacle: Option<Error>,
}

/// How a process of another job is reached.
#[derive(Debug)]
pub(crate) enum Link {
    /// Over a fabric.
    Net {
        /// By this one of the carriers of [`P2p`](crate::p2p::P2p).
        carrier: usize,
        /// The rank that it has in the whole of its job, and whose that is, for texts.
        rank: u32,
        whose: Whose,
    },
    /// Through memory.
    Shared {
        /// It has been told where the ring to it is.
        is_announced: bool,
        /// The rings that it has made since the one that is read.
        next: VecDeque<Receiver>,
    },
}

/// The place of a process in its job. One on another node has none that can be seen: this process's own stands in for
/// it, since what is told it is carried on from here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seat {
    job: Job,
    rank: usize,
    /// Which process it is, on another node.
    elsewhere: Option<Whereabouts>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Peers {
    me: PeerId,
    job: Job,
    job_size: u32,
    /// By number; none where nothing was exchanged yet, or one of another job has gone.
    all: Vec<Option<Box<Peer>>>,
    /// Those whose rings are looked at.
    pub(crate) readable: Vec<PeerId>,
    /// Numbers of other jobs' peers that have gone.
    vacant: Ordered<PeerId, ()>,
    /// Where those of other jobs are, by number, for those who look at all; made when it is first asked for.
    seats: OnceCell<Arc<[Option<Seat>]>>,
    pub(crate) jobs: Jobs,
    /// Those of other jobs.
    pub(crate) foreign: Ordered<Whereabouts, PeerId>,
    /// How many of them are on other nodes, and which of these have told that they leave.
    elsewhere: usize,
    leaving: Ordered<PeerId, ()>,
}

impl PeerId {
    /// The peer with this rank in the own job.
    #[inline]
    pub const fn of_rank(rank: u32) -> Self {
        Self(rank)
    }

    /// The peer so many numbers behind this one.
    #[inline]
    pub(crate) fn behind(self, places: u32) -> Self {
        Self(self.0.wrapping_add(places))
    }

    #[inline]
    fn place(self) -> usize {
        self.0 as usize
    }

    /// The rank that this peer has in the own job, if it is of that.
    pub(crate) fn rank_in(self, job: &Job) -> Option<usize> {
        (self.place() < job.size()).then(|| self.place())
    }

    /// What belongs to this peer, of something for each from `first` on.
    pub(crate) fn of<T: Copy>(self, all: &[Option<T>], first: u32) -> Option<T> {
        all.get(self.0.checked_sub(first)? as usize).copied().flatten()
    }
}

impl Ordinal for PeerId {
    fn ordinal(self) -> u128 {
        self.0.into()
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "peer {}", self.0)
    }
}

impl Seat {
    pub(crate) fn new(job: Job, rank: usize) -> Self {
        Self { job, rank, elsewhere: None }
    }

    /// What the process shows; nothing if it is on another node.
    pub(crate) fn page(&self) -> Option<&'static StatePage> {
        self.elsewhere.is_none().then(|| self.job.state(self.rank))
    }

    /// Its own memory, if that can be read.
    pub(crate) fn memory(&self) -> Option<SingleCopy> {
        if self.elsewhere.is_none() { SingleCopy::of(&self.job, self.rank) } else { None }
    }

    /// Whether it is seen that the process has left MPI: the launcher may say that it has ended.
    pub(crate) fn has_left(&self) -> bool {
        self.page().is_some_and(|page| page.phase().has_left() || page.is_gone())
    }

    /// Whether it is seen that the process has left MPI in order: it may have kept what ends with it.
    pub(crate) fn has_finalized(&self) -> bool {
        self.page().is_some_and(|page| page.phase() == Phase::Finalized)
    }

    /// Whether the launcher says that the process has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.page().is_some_and(StatePage::is_gone)
    }

    /// Whether the system says so: a launcher may have ended with its job.
    pub(crate) fn is_empty(&self) -> bool {
        self.elsewhere.is_none() && self.job.owner(self.rank).is_none()
    }

    /// Where other jobs announce that they have made rings.
    pub(crate) fn doorway(&self) -> &'static Doorway {
        self.job.doorway(self.rank)
    }

    /// Which process it is.
    pub(crate) fn whereabouts(&self) -> Whereabouts {
        self.elsewhere.unwrap_or(Whereabouts::new(self.job.id(), self.rank as u32))
    }

    /// Whether it is on another node.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Whether it is in another job.
    pub(crate) fn is_foreign_to(&self, job: &Job) -> bool {
        self.elsewhere.is_some() || self.job.id() != job.id()
    }

    /// The memory that the process shares.
    pub(crate) fn segment(&self) -> &'static Segment {
        self.job.segment()
    }
}

impl Peer {
    fn new(seat: Seat) -> Self {
        Self {
            seat,
            sender: None,
            receiver: None,
            foreign: None,
            outbox: Outbox::default(),
            stalled: None,
            memory: Memory::Unknown,
            reach: Reach::Unknown,
            writes: Writes::default(),
            announced: 0,
            block: None,
            desks: Vec::new(),
            made_desks: 0,
            beginning: None,
            coming: None,
            reads_itself: false,
            post_desks: None,
            parting: 0,
            first_rings: 0,
            adopted: None,
            sent_before: 0,
            received_before: 0,
            received_when_sent: 0,
            is_listed: false,
            knocks: None,
        }
    }

    fn of_job(seat: Seat, me: PeerId) -> Self {
        Self { knocks: Some((seat.job.knocks(seat.rank), me.place())), ..Self::new(seat) }
    }

    fn foreign(seat: Seat, link: Link) -> Self {
        Self {
            foreign: Some(Box::new(Foreign { uses: 0, link, is_lost: false, host: None, obstacle: None })),
            ..Self::new(seat)
        }
    }

    /// What there is to say of it, which will not do its part.
    #[cold]
    pub(crate) fn lost(&self) -> Error {
        let (process, link) = (self.seat.whereabouts(), self.foreign.as_ref().map(|foreign| &foreign.link));
        let host = self.foreign.as_ref().and_then(|foreign| foreign.host.as_deref());
        let host = host.unwrap_or("another node");
        let text = match link {
            Some(Link::Net { rank, whose: Whose::OwnJob, .. }) => {
                format!("rank {rank}, on {host}, is not reached any more")
            }
            Some(Link::Net { rank, .. }) => {
                format!("rank {rank} of another job, on {host}, has left MPI, or is not reached any more")
            }
            _ => format!(
                "rank {} of another job ({:016x}) has ended, or left MPI, without its part",
                process.rank(),
                process.job()
            ),
        };
        match self.foreign.as_ref().and_then(|foreign| foreign.obstacle.clone()) {
            Some(obstacle) => obstacle.about(text),
            None => Error::new(ErrorClass::ProcAborted, text),
        }
    }

    /// Who carries its messages, if it is reached over a fabric.
    #[inline]
    pub(crate) fn carrier(&self) -> Option<usize> {
        match self.foreign.as_ref()?.link {
            Link::Net { carrier, .. } => Some(carrier),
            Link::Shared { .. } => None,
        }
    }

    /// Whether it is of another job and has been lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.foreign.as_ref().is_some_and(|foreign| foreign.is_lost)
    }

    /// Whether it knows of the ring to it, or is about to hear of it.
    pub(crate) fn knows_ring(&self) -> bool {
        let is_unknown = |foreign: &Foreign| matches!(foreign.link, Link::Shared { is_announced: false, .. });
        !(self.sender.is_some() && self.foreign.as_deref().is_some_and(is_unknown))
    }

    /// Wakes it: something was published for it.
    #[inline]
    pub(crate) fn wake(&self) {
        self.seat.job.wake(self.seat.rank);
    }

    /// Lets it see what was just sent by its ring.
    #[inline(always)]
    pub(crate) fn told(&self) {
        if self.sender.as_ref().is_some_and(Sender::must_knock) {
            self.knock();
        }
        self.wake();
    }

    /// Lets it look at this process.
    #[cold]
    pub(crate) fn knock(&self) {
        if let Some((knocks, me)) = &self.knocks {
            knocks.knock(*me);
        }
    }

    /// Room for a message of so many bytes, if there is some now.
    #[inline]
    pub(crate) fn room(&mut self, bytes: usize) -> Option<Room<'_>> {
        self.sender.as_mut().filter(|sender| sender.takes(bytes))?.room(bytes)
    }

    /// Whether a message of it has come.
    #[inline]
    pub(crate) fn has_arrival(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::has_arrival)
    }

    /// The next message of it, if one has come.
    #[inline]
    pub(crate) fn arrival(&mut self) -> Option<Arrival> {
        self.receiver.as_mut()?.arrival()
    }

    /// Gives the room of a message back, for which the peer may wait: it is to be woken.
    #[inline]
    pub(crate) fn release(&mut self, arrival: &Arrival) {
        if let Some(receiver) = &mut self.receiver {
            receiver.release(arrival);
        }
    }
}

impl Peers {
    /// Those of a rank of a job.
    pub(crate) fn of_job(job: Job, rank: usize) -> Self {
        Self {
            me: PeerId::of_rank(rank as u32),
            job,
            job_size: job.size() as u32,
            all: (0..job.size()).map(|_| None).collect(),
            readable: Vec::new(),
            vacant: Ordered::new(),
            seats: OnceCell::new(),
            jobs: Jobs::new(job),
            foreign: Ordered::new(),
            elsewhere: 0,
            leaving: Ordered::new(),
        }
    }

    /// The peer that is this process.
    ///
    /// # Errors
    /// `Other` if its job is not known.
    pub(crate) fn find(&mut self, process: Whereabouts) -> Result<PeerId> {
        if self.jobs.is_own(process) {
            return self.jobs.number(process).map(PeerId);
        }
        if let Some(&id) = self.foreign.get(process) {
            return Ok(id);
        }
        let link = Link::Shared { is_announced: false, next: VecDeque::new() };
        Ok(self.add(process, Seat::new(self.jobs.memory(process)?, process.rank() as usize), link))
    }

    /// A process of another node becomes a peer, which it is not yet.
    pub(crate) fn add_elsewhere(&mut self, process: Whereabouts, rank: u32, carrier: usize) -> PeerId {
        let is_part = self.jobs.is_part_elsewhere(process.job());
        let whose = if is_part { Whose::OwnJob } else { Whose::OtherJob };
        let seat = Seat { job: self.job, rank: self.me.place(), elsewhere: Some(process) };
        self.elsewhere += 1; // they are never forgotten
        self.add(process, seat, Link::Net { carrier, rank, whose })
    }

    fn add(&mut self, process: Whereabouts, seat: Seat, link: Link) -> PeerId {
        let peer = Some(Box::new(Peer::foreign(seat, link)));
        let vacant = self.vacant.first().map(|(id, ())| id);
        let id = vacant.unwrap_or(PeerId(self.all.len() as u32));
        match self.vacant.remove(id) {
            Some(()) => self.all[id.place()] = peer,
            None => self.all.push(peer),
        }
        self.foreign.insert(process, id);
        self.seats.take();
        id
    }

    /// Whether a peer is a rank of the own job.
    pub(crate) fn is_of_job(&self, id: PeerId) -> bool {
        id.0 < self.job_size
    }

    /// Whether any rank of the own job sleeps.
    #[inline]
    pub(crate) fn someone_sleeps(&self) -> bool {
        self.job.someone_sleeps()
    }

    /// Wakes those of these who sleep and wait for a post of this process: it has posted something.
    #[cold]
    pub(crate) fn wake_for_post(&self, peers: impl Iterator<Item = PeerId>) {
        let asleep = self.job.asleep();
        for peer in peers {
            if self.is_of_job(peer) {
                asleep.iter().for_each(|asleep| asleep.wake_for_post(peer.place(), self.me.place()));
            } else {
                self[peer].wake();
            }
        }
    }

    /// This process.
    #[inline]
    pub(crate) fn me(&self) -> PeerId {
        self.me
    }

    /// The own job.
    pub(crate) fn job(&self) -> &Job {
        &self.job
    }

    /// This process's rank in it.
    pub(crate) fn my_rank(&self) -> usize {
        self.me.place()
    }

    /// Which process this is.
    pub(crate) fn myself(&self) -> Whereabouts {
        Whereabouts::new(self.job.id(), self.me.0)
    }

    /// The rank that a peer has in the own job, if it is of that.
    #[inline]
    pub(crate) fn rank_in_job(&self, id: PeerId) -> Option<usize> {
        self.is_of_job(id).then(|| id.place())
    }

    /// The peer that is another rank of the own job.
    pub(crate) fn of_job_rank(&self, rank: usize) -> Option<PeerId> {
        let id = PeerId(rank as u32);
        (rank < self.job.size() && id != self.me).then_some(id)
    }

    /// Where a peer is.
    ///
    /// # Panics
    /// If it is of a job that nobody knows any more.
    pub(crate) fn seat(&self, id: PeerId) -> Seat {
        match self.rank_in_job(id) {
            Some(rank) => Seat::new(self.job, rank),
            None => self[id].seat,
        }
    }

    /// The peer, if anything was exchanged with it.
    #[inline]
    pub(crate) fn known(&self, id: PeerId) -> Option<&Peer> {
        self.all[id.place()].as_deref()
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn known_mut(&mut self, id: PeerId) -> Option<&mut Peer> {
        self.all[id.place()].as_deref_mut()
    }

    /// Whether a peer is of another job and has been lost.
    pub(crate) fn is_lost(&self, id: PeerId) -> bool {
        self.known(id).is_some_and(Peer::is_lost)
    }

    /// Wakes a peer: something was published for it.
    #[inline]
    pub(crate) fn wake(&self, id: PeerId) {
        match self.rank_in_job(id) {
            Some(rank) => self.job.wake(rank),
            None => self[id].wake(),
        }
    }

    /// Whether a peer is on another node.
    pub(crate) fn is_elsewhere(&self, id: PeerId) -> bool {
        self.known(id).is_some_and(|peer| peer.carrier().is_some())
    }

    /// Whether a peer on another node is a rank of the own job.
    pub(crate) fn is_part_elsewhere(&self, id: PeerId) -> bool {
        let foreign = self.known(id).and_then(|peer| peer.foreign.as_ref());
        foreign.is_some_and(|foreign| matches!(foreign.link, Link::Net { whose: Whose::OwnJob, .. }))
    }

    /// Whether a peer is on another node, and of another job.
    pub(crate) fn is_of_another_job_elsewhere(&self, id: PeerId) -> bool {
        let foreign = self.known(id).and_then(|peer| peer.foreign.as_ref());
        foreign.is_some_and(|foreign| matches!(foreign.link, Link::Net { whose: Whose::OtherJob, .. }))
    }

    /// A peer on another node has told that it leaves, and all that it had to tell before is here.
    pub(crate) fn note_leaving(&mut self, id: PeerId) {
        self.leaving.insert(id, ());
    }

    /// Whether it has.
    pub(crate) fn is_leaving(&self, id: PeerId) -> bool {
        self.leaving.contains_key(id)
    }

    /// Those that have, in order.
    pub(crate) fn leaving(&self) -> Box<[PeerId]> {
        self.leaving.iter().map(|(id, ())| id).collect()
    }

    /// Whether there are peers of other jobs whose memory is mapped here.
    pub(crate) fn shares_with_others(&self) -> bool {
        self.foreign.len() > self.elsewhere
    }

    /// What numbers those of other jobs have, and those had that have gone.
    pub(crate) fn foreign_ids(&self) -> impl Iterator<Item = PeerId> + use<> {
        (self.job_size..self.all.len() as u32).map(PeerId)
    }

    /// Looks at the ring from a peer from now on.
    pub(crate) fn list(&mut self, id: PeerId) {
        if !std::mem::replace(&mut self[id].is_listed, true) {
            self.readable.push(id);
        }
    }

    /// Looks there no longer.
    pub(crate) fn unlist(&mut self, id: PeerId) {
        self[id].is_listed = false;
        self.readable.retain(|&listed| listed != id);
    }

    /// Where those of other jobs are, by number.
    pub(crate) fn seats(&self) -> Arc<[Option<Seat>]> {
        let foreign = || self.all.iter().skip(self.job_size as usize);
        let seats = || foreign().map(|peer| peer.as_ref().map(|peer| peer.seat)).collect();
        Arc::clone(self.seats.get_or_init(seats))
    }

    /// Forgets the peers of a job, which nobody knows any more.
    pub(crate) fn forget(&mut self, job: u64) {
        let (all, readable, vacant) = (&mut self.all, &mut self.readable, &mut self.vacant);
        self.foreign.retain(|process, id| {
            let stays = process.job() != job;
            if !stays {
                all[id.place()] = None;
                vacant.insert(*id, ());
                readable.retain(|listed| listed != id);
            }
            stays
        });
        self.seats.take();
    }
}

impl Index<PeerId> for Peers {
    type Output = Peer;

    #[inline]
    fn index(&self, id: PeerId) -> &Peer {
        self.known(id).expect("it is known")
    }
}

/// A rank of the own job becomes known.
impl IndexMut<PeerId> for Peers {
    #[inline]
    fn index_mut(&mut self, id: PeerId) -> &mut Peer {
        if self.all[id.place()].is_none() {
            self.meet(id);
        }
        self.all[id.place()].as_mut().expect("it is known")
    }
}

impl Peers {
    #[cold]
    fn meet(&mut self, id: PeerId) {
        let rank = self.rank_in_job(id).expect("peers of other jobs are known until nobody needs them");
        self.all[id.place()] = Some(Box::new(Peer::of_job(Seat::new(self.job, rank), self.me)));
    }
}
