//! Which rings this process reads, and when it looks at them.
//!
//! Of a first ring it hears at its doorway: see the module `rings`. It looks at those by which something has come
//! lately, and parks the others: their senders knock when they send again. So a poll costs no more where many have
//! talked once.

use oxmpi_base::Result;
use oxmpi_shm::ring::{Receiver, RingSize, park};
use oxmpi_shm::{Announcement, RingPlace};

use super::{OpKey, P2p};
use crate::jobs::Whereabouts;
use crate::peers::{Link, PeerId};

/// So many rings are looked at without asking by which something comes.
const FEW_RINGS: usize = 4;

impl P2p {
    /// Takes in what a peer has told; whether there was anything.
    pub(crate) fn take_in_from(&mut self, from: PeerId) -> bool {
        self.take_in_by(from, |p2p| p2p.poll_from(from))
    }

    /// The same as far as an operation waits for it.
    pub(super) fn take_in_for(&mut self, from: PeerId, awaited: OpKey) {
        self.take_in_by(from, |p2p| p2p.poll_from_for(from, awaited));
    }

    #[inline]
    fn take_in_by(&mut self, from: PeerId, poll: impl FnOnce(&mut Self) -> bool) -> bool {
        let is_called = self.is_called() && self.answer_door();
        let has_told = self.peers.known(from).is_some() && poll(self);
        let has_finished = self.has_finished();
        if has_finished {
            self.follow_rings();
        }
        is_called || has_told || has_finished
    }

    /// Parks the rings by which nothing has come since this was done last.
    pub(super) fn park_rings(&mut self) {
        if self.peers.readable.len() <= FEW_RINGS || !self.peers.job().has_barriers() {
            return;
        }
        let Self { peers, .. } = self;
        let mut idle = Vec::new();
        for place in 0..peers.readable.len() {
            let id = peers.readable[place];
            let peer = &mut peers[id];
            let received = peer.receiver.as_ref().map_or(0, Receiver::received);
            if peer.foreign.is_none() && received == peer.received_before {
                idle.push(id);
            }
            peer.received_before = received;
        }
        let receivers: Vec<&Receiver> =
            idle.iter().filter_map(|&id| peers.known(id)?.receiver.as_ref()).collect();
        if receivers.is_empty() {
            return;
        }
        let parked = park(&receivers);
        for (&id, _) in idle.iter().zip(parked).filter(|(_, parked)| *parked) {
            peers.unlist(id);
        }
    }

    /// Whether anybody wants to be looked at.
    #[inline]
    pub(super) fn is_called(&self) -> bool {
        self.rings.doorway.is_waiting()
    }

    /// Looks who it is: ranks of the own job that have made or use a ring, processes of others that have made one, and
    /// those behind a fabric, if there is one; whether anybody was there.
    #[cold]
    pub(super) fn answer_door(&mut self) -> bool {
        let doorway = self.rings.doorway;
        doorway.look();
        let mut knocked = Vec::new();
        self.peers.job().knocks(self.peers.my_rank()).take(|rank| knocked.push(rank));
        let mut any = !knocked.is_empty() || self.net.is_none();
        for rank in knocked {
            if let Some(id) = self.peers.of_job_rank(rank)
                && (self.has_ring_from(id) || self.adopt_first_ring(id))
            {
                self.peers.list(id);
            }
        }
        while let Some(announcement) = {
            let jobs = &self.peers.jobs;
            doorway.take(|from| jobs.is_attached(from.job))
        } {
            // Who has told us nonsense will be waited for in vain, and no more.
            drop(self.adopt_announced(&announcement));
            any = true;
        }
        self.serve_fabric() || any
    }

    fn has_ring_from(&self, id: PeerId) -> bool {
        self.peers.known(id).is_some_and(|peer| peer.receiver.is_some())
    }

    /// Reads the first ring of a rank of the own job from now on, if there is one that was not read before.
    fn adopt_first_ring(&mut self, from: PeerId) -> bool {
        let (Some(rank), me) = (self.peers.rank_in_job(from), self.peers.my_rank()) else { return false };
        let Some(place) = self.peers.job().rings(rank).first(me) else { return false };
        let peer = &mut self.peers[from];
        if peer.adopted == Some(place) {
            return false;
        }
        peer.adopted = Some(place);
        self.adopt(from, place)
    }

    fn adopt(&mut self, from: PeerId, place: RingPlace) -> bool {
        let Some(rank) = self.peers.rank_in_job(from) else { return false };
        let job = self.peers.job();
        let (offset, size) = job.rings(rank).at(place);
        let receiver = Receiver::at(job.segment(), offset, size).ok();
        if size.bulk_bytes > RingSize::WIDE.bulk_bytes {
            receiver.iter().for_each(Receiver::touch);
        }
        let is_there = receiver.is_some();
        self.peers[from].receiver = receiver;
        is_there
    }

    fn adopt_announced(&mut self, announcement: &Announcement) -> Result<()> {
        let Announcement { job, rank, offset, size } = *announcement;
        let id = self.peers.find(Whereabouts::new(job, rank))?;
        let peer = &mut self.peers[id];
        let receiver = Receiver::at(peer.seat.segment(), offset, size)?;
        match (&peer.receiver, &mut peer.foreign) {
            (None, _) => {
                peer.receiver = Some(receiver);
                self.peers.list(id);
            }
            (Some(_), Some(foreign)) => match &mut foreign.link {
                Link::Shared { next, .. } => next.push_back(receiver),
                Link::Net { .. } => {} // nobody on another node announces anything here
            },
            (Some(_), None) => {} // a rank of the own job knocks
        }
        Ok(())
    }

    /// Notes that the last message of a ring has been read, and what it has said.
    #[cold]
    pub(super) fn note_finished(&mut self, from: PeerId, token: u64) {
        self.rings.finished.push((from, RingPlace::of_word(token)));
    }

    /// Whether rings have ended that are still read.
    #[inline]
    pub(super) fn has_finished(&self) -> bool {
        !self.rings.finished.is_empty()
    }

    /// Closes the rings that have ended, and reads on where their senders go on.
    #[cold]
    pub(super) fn follow_rings(&mut self) {
        while let Some((from, next)) = self.rings.finished.pop() {
            let peer = &mut self.peers[from];
            let over = peer.receiver.take();
            let goes_on = match (&mut peer.foreign, next) {
                (Some(foreign), _) => {
                    peer.receiver = match &mut foreign.link {
                        Link::Shared { next, .. } => next.pop_front(),
                        Link::Net { .. } => None,
                    };
                    self.has_idle = true;
                    self.peers[from].receiver.is_some()
                }
                (None, Some(next)) => self.adopt(from, next),
                (None, None) => self.adopt_first_ring(from),
            };
            if let Some(over) = over {
                self.peers[from].receiver.iter_mut().for_each(|next| next.keep_desks(&over));
                over.close();
            }
            if !goes_on {
                self.peers.unlist(from);
            }
        }
    }
}
