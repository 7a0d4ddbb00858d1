//! Links to processes of other jobs: how they come and go.
//!
//! The memory of another job is attached before its processes are peers. Who has something to tell one makes a ring to
//! it, in a block of its own arena, and announces that at the peer's doorway. The sender alone ends a ring: when no
//! channel has the peer as a member any more, so that nothing is left to be told, its last message says so. The
//! receiver closes the ring then, and the sender has its memory back. What is told later takes a new ring; the receiver
//! reads the rings of a peer one after the other.
//!
//! When no process of a job is in a channel, and all rings have ended, the memory of the job is given back too.
//!
//! A peer that has died, or left without what it owed, is *lost*: what needed it fails, and what goes to it is dropped.

use std::os::fd::OwnedFd;

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_shm::fault::{Point, reach};
use oxmpi_shm::ring::{Header, Receiver, RingSize, Sender};
use oxmpi_shm::{Announcement, Block, Doorway, Guest};

use crate::channel::Channel;
use crate::engine::Engine;
use crate::jobs::{Memory, Whereabouts};
use crate::p2p::kind;
use crate::peers::{Peer, PeerId, Seat};

/// What links to other jobs need of this process.
#[derive(Debug)]
pub(crate) struct Links {
    doorway: &'static Doorway,
    /// Rings that this process has finished, and their receivers not yet.
    parting: Vec<Parting>,
    /// A job may have become idle.
    has_idle: bool,
}

#[derive(Debug)]
struct Parting {
    sender: Sender,
    block: Block,
    receiver: Seat,
}

impl Links {
    pub(crate) fn new(doorway: &'static Doorway) -> Self {
        Self { doorway, parting: Vec::new(), has_idle: false }
    }
}

impl Engine {
    /// Takes in the memory of another job, which is behind `file`; its processes can be reached from then on.
    ///
    /// # Errors
    /// `Other` if it is that of no or another job, or cannot be mapped, or there are no numbers left for its ranks.
    pub fn attach(&mut self, job: u64, file: OwnedFd) -> Result<()> {
        let refused = |why: String| {
            Error::new(ErrorClass::Other, format!("the memory of job {job:016x} cannot be attached: {why}"))
        };
        reach(Point::Attaching);
        let guest = Guest::attach(file).map_err(|error| refused(error.to_string()))?;
        if guest.job().id() != job {
            drop(guest.retire());
            return Err(refused("it is that of another one".to_owned()));
        }
        self.take_in(Memory::Attached(guest))
    }

    /// The same, of a job all of whose ranks are in this process.
    ///
    /// # Errors
    /// `Other` if there are no numbers left for its ranks.
    pub fn attach_here(&mut self, other: &Self) -> Result<()> {
        self.take_in(Memory::Own(other.job()))
    }

    fn take_in(&mut self, memory: Memory) -> Result<()> {
        let id = memory.job().id();
        if self.is_attached(id) {
            memory.give_up(); // another thread was faster
            return Ok(());
        }
        self.p2p.peers.jobs.attach(memory)?;
        self.state().tie(id);
        self.links.doorway.remind(); // of those that have announced themselves already
        Ok(())
    }

    /// Lets a job stay attached until [`Engine::let_go`] as often, if it is; whether it is. Who is about to make the
    /// first channel with its processes must not lose them to the end of the last one.
    pub fn hold(&mut self, job: u64) -> bool {
        self.p2p.peers.jobs.hold(job)
    }

    /// See [`Engine::hold`].
    pub fn let_go(&mut self, job: u64) {
        self.p2p.peers.jobs.let_go(job);
        self.end_links();
    }

    /// A channel with these members is opened, or dissolved.
    pub(crate) fn count_uses(&mut self, members: &[PeerId], change: i32) {
        for &member in members {
            if let Some(foreign) = &mut self.p2p.peers[member].foreign {
                foreign.uses = foreign.uses.saturating_add_signed(change);
                self.links.has_idle |= foreign.uses == 0;
            }
        }
    }

    /// Makes and ends rings as is needed; whether there was anything to do.
    #[inline]
    pub(crate) fn tend_links(&mut self) -> bool {
        let is_calm = self.p2p.peers.foreign.is_empty() && !self.links.doorway.is_waiting();
        !is_calm && self.tend_foreign_links()
    }

    fn tend_foreign_links(&mut self) -> bool {
        let mut any = self.links.doorway.is_waiting() && self.take_announcements();
        for place in self.p2p.peers.job_size()..self.p2p.peers.places() {
            any |= self.p2p.peers.at(place).is_some_and(|peer| self.tend_link(peer));
        }
        if self.links.has_idle || self.links.parting.iter().any(|parting| parting.sender.is_closed()) {
            self.end_links();
        }
        any
    }

    /// Takes in the rings that others have made.
    fn take_announcements(&mut self) -> bool {
        let mut any = false;
        loop {
            let jobs = &self.p2p.peers.jobs;
            let Some(announcement) = self.links.doorway.take(|from| jobs.is_attached(from.job)) else {
                return any;
            };
            any = true;
            // Who has told us nonsense will be waited for in vain, and no more.
            drop(self.adopt(&announcement));
        }
    }

    fn adopt(&mut self, announcement: &Announcement) -> Result<()> {
        let Announcement { job, rank, offset, size } = *announcement;
        let id = self.p2p.peers.find(Whereabouts::new(job, rank))?;
        let peer = &mut self.p2p.peers[id];
        let receiver = Receiver::at(peer.seat.segment(), offset, size)?;
        match (&peer.receiver, &mut peer.foreign) {
            (None, _) => peer.receiver = Some(receiver),
            (Some(_), Some(foreign)) => foreign.next.push_back(receiver),
            (Some(_), None) => {} // a rank of the own job has its ring
        }
        Ok(())
    }

    fn tend_link(&mut self, id: PeerId) -> bool {
        let peer = &mut self.p2p.peers[id];
        let Some(foreign) = &peer.foreign else { return false };
        let is_closed = foreign.has_finished;
        if is_closed {
            peer.next_ring();
            self.links.has_idle = true;
        }
        let peer = &self.p2p.peers[id];
        let is_idle = peer.foreign.as_ref().is_none_or(|foreign| foreign.uses == 0 || foreign.is_lost);
        let did = match (peer.outbox.is_empty(), is_idle) {
            (false, _) => !peer.is_lost() && self.make_ring(id),
            (true, true) if peer.sender.is_some() => self.finish_ring(id),
            (true, _) => false,
        };
        did || is_closed
    }

    /// Makes the ring to a peer, if there is none that it knows of; whether it knows of one only now.
    fn make_ring(&mut self, id: PeerId) -> bool {
        let (process, own) = (self.whereabouts(), self.job().segment());
        let peer = &mut self.p2p.peers[id];
        let Some(foreign) = &mut peer.foreign else { return false };
        if foreign.is_announced {
            return false;
        }
        if peer.sender.is_none() {
            // Without memory now, perhaps there is some later.
            let Ok(block) = self.arena.take(RingSize::FULL.bytes()) else { return false };
            let Ok(sender) = Sender::make(own, block, RingSize::FULL) else {
                self.arena.give(block);
                return false;
            };
            (peer.sender, foreign.block) = (Some(sender), Some(block));
        }
        let offset = foreign.block.map_or(0, |block| block.offset);
        let (job, rank) = (process.job(), process.rank());
        foreign.is_announced =
            peer.seat.doorway().announce(&Announcement { job, rank, offset, size: RingSize::FULL });
        let is_announced = foreign.is_announced;
        if is_announced {
            self.p2p.peers[id].wake();
            self.p2p.poll();
        }
        is_announced
    }

    /// Ends the ring to a peer to which nothing is left to be told.
    fn finish_ring(&mut self, id: PeerId) -> bool {
        let peer = &mut self.p2p.peers[id];
        if !peer.is_lost() {
            let Some(room) = peer.room(0) else { return false };
            room.send(Header { kind: kind::FINISHED, ..Header::default() });
            peer.wake();
        }
        if let (Some(sender), Some(foreign)) = (peer.sender.take(), &mut peer.foreign)
            && let Some(block) = foreign.block.take()
        {
            foreign.is_announced = false;
            self.links.parting.push(Parting { sender, block, receiver: peer.seat });
        }
        true
    }

    /// Takes back the memory of rings that have ended, and gives that of jobs back.
    fn end_links(&mut self) {
        let arena = &mut self.arena;
        self.links.parting.retain(|Parting { sender, block, receiver }| {
            let is_over = sender.is_closed() || receiver.is_empty();
            if is_over {
                arena.give(*block);
            }
            !is_over
        });
        self.links.has_idle = false;
        for job in self.p2p.peers.jobs.attached().collect::<Vec<_>>() {
            let parts = self.links.parting.iter().any(|parting| parting.receiver.whereabouts().job() == job);
            let peers = &self.p2p.peers;
            let mut of_job = peers.foreign.iter().filter(|(process, _)| process.job() == job);
            if !parts && !peers.jobs.is_held(job) && of_job.all(|(_, &id)| peers[id].is_idle()) {
                self.detach(job);
            }
        }
    }

    fn detach(&mut self, job: u64) {
        self.p2p.peers.forget(job);
        self.state().untie(job);
        self.links.doorway.forget(job);
        self.p2p.peers.jobs.detach(job).into_iter().for_each(Memory::give_up);
    }

    /// Looks whether processes of other jobs have ended, or left MPI.
    pub(crate) fn look_after_links(&mut self) {
        for place in self.p2p.peers.job_size()..self.p2p.peers.places() {
            let Some(id) = self.p2p.peers.at(place) else { continue };
            if self.p2p.peers[id].has_left() {
                self.lose(id);
            } else if self.p2p.peers[id].is_lost() {
                self.fail_without(id); // what was begun since
            }
        }
        self.links.has_idle |= !self.links.parting.is_empty();
    }

    /// Takes in what a peer of another job has told; whether there was anything.
    fn take_in_from(&mut self, id: PeerId) -> bool {
        let is_announced = self.links.doorway.is_waiting() && self.take_announcements();
        let has_told = self.p2p.poll_from(id);
        let has_finished = self.p2p.peers[id].foreign.as_ref().is_some_and(|foreign| foreign.has_finished);
        if has_finished {
            self.p2p.peers[id].next_ring();
        }
        is_announced || has_told || has_finished
    }

    /// What there is to say of a process of another job that has ended, or left MPI. What it told before may be under
    /// way still.
    pub fn lost(&self, peer: PeerId) -> Option<Error> {
        let peer = &self.p2p.peers[peer];
        (peer.foreign.is_some() && (peer.is_lost() || peer.is_over())).then(|| peer.lost())
    }

    /// Lets everything fail that needs a peer of another job which will never do what somebody waits for.
    pub fn give_up(&mut self, peer: PeerId) {
        if !self.p2p.peers[peer].is_lost() {
            self.lose(peer);
        }
    }

    /// Lets everything fail that needs a peer of another job, and nothing be told to it any more.
    fn lose(&mut self, id: PeerId) {
        // What it told before it left is here, and dealt with now.
        while self.take_in_from(id) {}
        self.note_departures();
        let Some(foreign) = &mut self.p2p.peers[id].foreign else { return };
        foreign.is_lost = true;
        self.fail_without(id);
        let mut over = Vec::new();
        for (key, channel) in self.channels.entries_mut() {
            if channel.lose(id) {
                over.push(key);
            }
        }
        over.into_iter().for_each(|key| self.dissolve(key));
        self.finish_ring(id);
        self.links.has_idle = true;
    }

    /// Lets the messages fail that need a peer which is lost.
    fn fail_without(&mut self, id: PeerId) {
        let channels = &self.channels;
        let is_lost = |peer: PeerId| self.p2p.peers[peer].is_lost();
        // A message from anybody may be one that the peer would have sent: nobody knows.
        let doubtful: Vec<u32> = (channels.iter())
            .filter(|channel| channel.sources().any(is_lost))
            .filter_map(Channel::beside)
            .collect();
        self.p2p.lose(id, |context, rank| match rank {
            Status::ANY => doubtful.contains(&context),
            rank => channels.iter().any(|channel| channel.is_source(context, rank, id)),
        });
    }
}

impl Peer {
    /// Whether its process has ended or left MPI, and this is not known yet.
    fn has_left(&self) -> bool {
        let is_used = self.foreign.as_ref().is_some_and(|foreign| foreign.uses != 0 && !foreign.is_lost);
        is_used && self.is_over()
    }

    /// Whether its process has ended or left MPI.
    fn is_over(&self) -> bool {
        self.seat.page().phase().has_left() || self.seat.is_gone() || self.seat.is_empty()
    }

    /// Ends the ring from it, and goes on with the next that it has made.
    fn next_ring(&mut self) {
        if let Some(foreign) = &mut self.foreign {
            foreign.has_finished = false;
            let over = std::mem::replace(&mut self.receiver, foreign.next.pop_front());
            over.into_iter().for_each(Receiver::close);
        }
    }

    /// Whether nothing connects it with this process.
    fn is_idle(&self) -> bool {
        let is_unused = self.foreign.as_ref().is_none_or(|foreign| foreign.uses == 0);
        let is_silent = self.receiver.is_none() || self.seat.is_empty();
        is_unused && is_silent && self.sender.is_none() && self.outbox.is_empty()
    }
}
