//! Links to processes of other jobs: how they come and go.
//!
//! The memory of another job is attached before its processes are peers. When no channel has a peer as a member any
//! more, so that nothing is left to be told, the ring to it ends: see the module `p2p::rings`. When no process of a job
//! is in a channel, and all rings have ended, the memory of the job is given back too.
//!
//! A peer that has died, or left without what it owed, is *lost*: what needed it fails, and what goes to it is dropped.

use std::os::fd::OwnedFd;

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_fabric::Fabric;
use oxmpi_shm::Guest;
use oxmpi_shm::fault::{Point, reach};

use crate::absent::Absent;
use crate::channel::Channel;
use crate::engine::{ChannelKey, Engine};
use crate::jobs::{Memory, Whereabouts, Whose};
use crate::peers::{Link, Peer, PeerId};

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

    /// The number of the machine that this process is on: those that have the same share memory, and no others
    /// do. It is 0 where nobody says otherwise, as among jobs that are all on one.
    pub fn machine(&self) -> u64 {
        self.machine
    }

    /// This process is on that machine. To be told before it meets others.
    pub fn set_machine(&mut self, machine: u64) {
        self.machine = machine;
    }

    /// Whether the processes of a job can be reached.
    pub fn is_attached(&self, job: u64) -> bool {
        self.p2p.peers.jobs.is_attached(job)
    }

    /// Whether a job is what of this one is on another node, and not another one.
    pub fn is_part_elsewhere(&self, job: u64) -> bool {
        self.p2p.peers.jobs.is_part_elsewhere(job)
    }

    /// The same as [`Engine::attach`], of a job all of whose ranks are in this process.
    ///
    /// # Errors
    /// `Other` if there are no numbers left for its ranks.
    pub fn attach_here(&mut self, other: &Self) -> Result<()> {
        self.take_in(Memory::Own(other.job()))
    }

    /// Reaches processes on other nodes by this endpoint from now on.
    ///
    /// # Errors
    /// `Other` if it does not carry frames, or there is one already.
    pub fn join_fabric(&mut self, fabric: Box<dyn Fabric>) -> Result<()> {
        self.p2p.join_fabric(fabric)
    }

    /// Whether a peer is a rank of this job on another node.
    pub fn is_of_part_elsewhere(&self, peer: PeerId) -> bool {
        self.p2p.peers.is_part_elsewhere(peer)
    }

    /// Whether processes of other jobs are known on other nodes.
    pub fn are_others_elsewhere(&self) -> bool {
        self.p2p.peers.jobs.are_others_elsewhere()
    }

    /// Whether a process can be reached.
    pub fn is_reached(&self, process: Whereabouts) -> bool {
        self.p2p.is_reached(process)
    }

    /// Whether this process has an endpoint of a fabric, which nothing wakes it for.
    pub fn has_fabric(&self) -> bool {
        self.p2p.has_fabric()
    }

    /// Whether processes on other nodes may read or write memory of this one: that moves on with each poll, and nothing
    /// says so before it is over.
    pub fn lends_elsewhere(&self) -> bool {
        self.p2p.lends_over_fabric()
    }

    /// Where processes on other nodes reach this one, if it has [joined](Engine::join_fabric) a fabric.
    pub fn fabric_address(&self) -> Option<Vec<u8>> {
        self.p2p.fabric_address()
    }

    /// Lets the ranks of a job on another node be reached, whose addresses these are, with what ranks they are in the
    /// whole of which that job and this one are parts. They stay so.
    ///
    /// # Errors
    /// `Other` if this process has joined no fabric, or there are no numbers left for the ranks.
    pub fn attach_elsewhere(&mut self, job: u64, addresses: Vec<(u32, Vec<u8>)>) -> Result<()> {
        let (size, addresses) = (addresses.len() as u32, addresses.into_iter().map(Some).collect());
        self.p2p.attach_elsewhere(job, size, Whose::OwnJob, addresses)
    }

    /// Lets a process of another job, on another node, be reached at an address: it has the rank `rank` in the whole of
    /// its job, of which so many share its memory. It stays so.
    ///
    /// # Errors
    /// As [`Engine::attach_elsewhere`].
    pub fn meet_elsewhere(
        &mut self,
        process: Whereabouts,
        job_size: u32,
        (rank, address): (u32, Vec<u8>),
    ) -> Result<()> {
        self.p2p.meet_elsewhere(process, job_size, (rank, address))
    }

    fn take_in(&mut self, memory: Memory) -> Result<()> {
        if self.is_attached(memory.job().id()) {
            memory.give_up(); // another thread was faster
            return Ok(());
        }
        self.p2p.peers.jobs.attach(memory)?;
        self.p2p.rings.doorway.remind(); // of those that have announced themselves already
        Ok(())
    }

    /// Lets a job stay attached until [`Engine::let_go`] as often, if it is; whether it is. Who is about to make the
    /// first channel with its processes must not lose them to the end of the last one.
    pub fn hold(&mut self, job: u64) -> bool {
        self.change_ties(job, |jobs| jobs.hold(job))
    }

    /// See [`Engine::hold`].
    pub fn let_go(&mut self, job: u64) {
        self.change_ties(job, |jobs| jobs.let_go(job));
        self.end_links();
    }

    /// A channel with these members is opened, or dissolved.
    pub(crate) fn count_uses(&mut self, members: &[PeerId], change: i32) {
        for &member in members {
            if let Some(foreign) = &mut self.p2p.peers[member].foreign {
                foreign.uses = foreign.uses.saturating_add_signed(change);
                self.p2p.has_idle |= foreign.uses == 0;
                self.p2p.note_if_unneeded(member);
            }
        }
    }

    /// Announces and ends rings as is needed; whether there was anything to do.
    #[inline]
    pub(crate) fn tend_links(&mut self) -> bool {
        !self.p2p.peers.foreign.is_empty() && self.tend_foreign_links()
    }

    fn tend_foreign_links(&mut self) -> bool {
        self.look_at_some_left();
        self.answer_those_who_ask();
        let mut any = false;
        for unreached in self.p2p.take_unreached() {
            self.give_up(unreached);
        }
        if self.p2p.peers.shares_with_others() {
            for id in self.p2p.peers.foreign_ids() {
                any |= self.tend_link(id);
            }
        }
        self.p2p.end_unneeded_rings();
        if self.p2p.has_idle || self.p2p.has_closed_rings() {
            self.end_links();
        }
        any
    }

    fn tend_link(&mut self, id: PeerId) -> bool {
        let Some(peer) = self.p2p.peers.known(id) else { return false };
        let Some(foreign) = &peer.foreign else { return false };
        let Link::Shared { is_announced, .. } = foreign.link else { return false };
        let is_idle = foreign.uses == 0 || foreign.is_lost;
        match (peer.sender.is_some(), peer.outbox.is_empty()) {
            (true, _) if !is_announced && !foreign.is_lost => self.p2p.announce(id),
            (true, true) if is_idle => self.p2p.end_ring(id),
            _ => false,
        }
    }

    /// Takes back the memory of rings that have ended, and gives that of jobs back.
    fn end_links(&mut self) {
        self.p2p.take_back_rings();
        self.p2p.has_idle = false;
        for job in self.p2p.peers.jobs.attached().collect::<Vec<_>>() {
            let peers = &self.p2p.peers;
            let is_idle = peers
                .foreign
                .iter()
                .filter(|(process, _)| process.job() == job)
                .all(|(_, &id)| peers[id].is_idle());
            if is_idle && !self.p2p.parts_from(job) && !peers.jobs.is_held(job) {
                self.detach(job);
            }
        }
    }

    fn detach(&mut self, job: u64) {
        self.p2p.peers.forget(job);
        self.p2p.ask_nobody_unknown();
        self.p2p.rings.doorway.forget(job);
        self.p2p.peers.jobs.detach(job).into_iter().for_each(Memory::give_up);
    }

    /// Looks whether processes of other jobs have ended, or left MPI.
    pub(crate) fn look_after_links(&mut self) {
        if self.p2p.peers.foreign.is_empty() {
            return;
        }
        let mut lost_before = Vec::new();
        for id in self.p2p.peers.foreign_ids() {
            let Some(peer) = self.p2p.peers.known(id) else { continue };
            if peer.has_left() {
                self.lose(id);
            } else if peer.is_lost() {
                lost_before.push(id);
            }
        }
        self.fail_without(&lost_before); // what was begun since
        self.p2p.has_idle = true;
    }

    /// Asks those on other nodes that are [waited for](Absent) whether they are there: who is not is found out so, and
    /// who leaves says it. It costs a frame for each; `all` says whether also those are asked with whom nothing was
    /// exchanged, which takes a connection. Until [`Engine::ask_no_more`], runs that are suspected ask what they call.
    pub fn ask_after(&mut self, absent: &Absent, all: bool) {
        absent.doubtful().iter().for_each(|&peer| self.p2p.ask_whether_there(peer, all));
        self.p2p.ask_for_calls(true);
    }

    /// See [`Engine::ask_after`].
    pub fn ask_no_more(&mut self) {
        self.p2p.ask_for_calls(false);
    }

    /// Tells those on other nodes that this process leaves: it has told all that it will ever tell, and only answers.
    pub fn tell_of_leaving(&mut self) {
        self.p2p.tell_of_leaving();
    }

    /// This process, which has told that it leaves, is in use again.
    pub fn come_back(&mut self) {
        self.p2p.come_back();
    }

    /// A rank of this job on another node that is not reached any more, for no reason that lies here.
    pub fn lost_part(&self) -> Option<PeerId> {
        let peers = &self.p2p.peers;
        let is_reason = |id: PeerId| {
            let foreign = peers[id].foreign.as_ref();
            foreign.is_some_and(|foreign| foreign.is_lost && foreign.obstacle.is_none())
        };
        peers.foreign.iter().map(|(_, &id)| id).find(|&id| is_reason(id) && peers.is_part_elsewhere(id))
    }

    /// What there is to say of a process of another job that has ended, or left MPI. What it told before may be under
    /// way still.
    pub fn lost(&self, peer: PeerId) -> Option<Error> {
        self.is_gone(peer).then(|| self.p2p.peers[peer].lost())
    }

    /// The same of those from whom a message may come by the communicator of a channel: of one whose message might be
    /// the one that is waited for.
    pub fn lost_source(&self, channel: ChannelKey) -> Option<Error> {
        let missed = self.missed_source(self.channel(channel), |peer| self.is_gone(peer))?;
        self.lost(missed)
    }

    /// Whether a process is one of another job that has ended, or left MPI.
    fn is_gone(&self, peer: PeerId) -> bool {
        let known = self.p2p.peers.known(peer);
        known.is_some_and(|peer| peer.foreign.is_some() && (peer.is_lost() || peer.is_over()))
    }

    /// One of those from whom a message may come by the communicator of a channel, and who is gone: without having said
    /// that it leaves, for then nobody knows what it would have sent; or with all others.
    fn missed_source(&self, channel: &Channel, is_gone: impl Fn(PeerId) -> bool) -> Option<PeerId> {
        let others = || channel.sources().filter(|&(_, peer)| peer != self.me());
        let is_silent = |&(place, peer): &(usize, PeerId)| {
            let is_leaving = channel.has_left_from(place) || self.p2p.peers.is_leaving(peer);
            let in_order = is_leaving || self.p2p.peers.seat(peer).has_finalized();
            is_gone(peer) && !in_order && !self.p2p.has_departed(channel.context(), peer)
        };
        let missed = others().find(is_silent);
        let missed = missed.or_else(|| others().next().filter(|_| others().all(|(_, peer)| is_gone(peer))));
        missed.map(|(_, peer)| peer)
    }

    /// Whether a peer is of another job, and nothing is expected of it any more.
    pub fn is_lost(&self, peer: PeerId) -> bool {
        self.p2p.peers.is_lost(peer)
    }

    /// Lets everything fail that needs a peer of another job which will never do what somebody waits for.
    pub fn give_up(&mut self, peer: PeerId) {
        if !self.p2p.peers.is_lost(peer) {
            self.lose(peer);
        }
    }

    /// Lets everything fail that needs a peer of another job, and nothing be told to it any more.
    fn lose(&mut self, id: PeerId) {
        // What it told before it left is here, in its ring or in frames for which that had no room: dealt with now.
        while self.p2p.take_in_from(id) && self.p2p.peers[id].carrier().is_none() {}
        while self.p2p.poll_from(id) || self.p2p.bring_in_from(id) {}
        let (host, obstacle) = (self.p2p.host_of(id), self.p2p.obstacle_to(id));
        let Some(foreign) = &mut self.p2p.peers[id].foreign else { return };
        (foreign.is_lost, foreign.host, foreign.obstacle) = (true, host, obstacle);
        self.fail_without(&[id]);
        for (_, channel) in self.channels.entries_mut() {
            // One that has told that it leaves has done its part.
            if !self.p2p.has_departed(channel.context(), id) {
                channel.lose(id);
            }
        }
        self.p2p.end_ring(id);
        self.p2p.end_carrying(id);
        self.p2p.has_idle = true;
    }

    /// Lets the messages fail that need peers which are lost.
    fn fail_without(&mut self, ids: &[PeerId]) {
        if ids.is_empty() {
            return;
        }
        let channels = &self.channels;
        let is_lost = |peer: PeerId| self.p2p.peers.is_lost(peer);
        let doubtful: Vec<u32> = (channels.iter())
            .filter(|channel| self.missed_source(channel, is_lost).is_some())
            .filter_map(Channel::beside)
            .collect();
        for &id in ids {
            self.p2p.lose(id, |context, rank| match rank {
                Status::ANY => doubtful.contains(&context),
                rank => channels.iter().any(|channel| channel.is_source(context, rank, id)),
            });
            self.p2p.lose_partitioned(id);
        }
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
        self.seat.has_left() || self.seat.is_empty()
    }

    /// Whether nothing connects it with this process.
    fn is_idle(&self) -> bool {
        let is_unused = self.foreign.as_ref().is_none_or(|foreign| foreign.uses == 0);
        let is_silent = self.receiver.is_none() || self.seat.is_empty();
        is_unused && is_silent && self.sender.is_none() && self.outbox.is_empty()
    }
}
