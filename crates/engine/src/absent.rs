//! Ranks from which nothing more is to come.
//!
//! A rank that has left tells so after all else that it tells. Whoever sees it, then takes in all that has arrived,
//! and still misses something of that rank misses it for ever. That is certain, and no time limit is needed.

use std::sync::Arc;

use oxmpi_shm::{Job, Phase};

use crate::peers::{PeerId, Peers, Seat};

/// What is seen of the peers, at one time or at any.
#[derive(Debug)]
pub struct Absent {
    job: Job,
    /// Those of other jobs, by number.
    seats: Arc<[Option<Seat>]>,
    /// Whether ranks in `MPI_Finalize` count: all that is waited for belongs to the world model.
    world_only: bool,
    /// Those of other nodes that have told that they leave, in order.
    leaving: Box<[PeerId]>,
    /// Those of which it is not known here whether they are still there, and was asked; if they are to be noted.
    doubtful: Option<Vec<PeerId>>,
    /// What was seen, and is to be seen again: peers, and whether their processes are gone.
    seen: Vec<(PeerId, bool)>,
    is_settled: bool,
}

impl Absent {
    pub(crate) fn new(peers: &Peers, world_only: bool) -> Self {
        Self {
            job: *peers.job(),
            seats: peers.seats(),
            world_only,
            leaving: peers.leaving(),
            doubtful: None,
            seen: Vec::new(),
            is_settled: false,
        }
    }

    /// The same, to find out also who is to be [asked](crate::Engine::ask_after).
    pub(crate) fn noting_doubtful(self) -> Self {
        Self { doubtful: Some(Vec::new()), ..self }
    }

    /// From now on nobody is absent who was not found to be.
    pub fn settle(&mut self) {
        self.is_settled = true;
    }

    /// Whether a peer begins nothing more; what it began it may still end.
    pub fn is_leaving(&mut self, peer: PeerId) -> bool {
        if self.is_settled {
            return self.seen.iter().any(|&(seen, _)| seen == peer);
        }
        let Some(seat) = self.seat(peer) else { return true };
        let tells = match seat.page() {
            Some(page) => page.phase() == Phase::Leaving,
            None => self.leaving.binary_search(&peer).is_ok(),
        };
        let is_gone = seat.is_gone();
        let is_leaving = is_gone || self.world_only && tells;
        if seat.is_elsewhere() && !is_leaving {
            self.doubtful.iter_mut().for_each(|doubtful| doubtful.push(peer));
        }
        if is_leaving {
            self.seen.push((peer, is_gone));
        }
        is_leaving
    }

    /// Whether the process of a peer has ended.
    pub fn is_gone(&mut self, peer: PeerId) -> bool {
        self.is_leaving(peer) && self.seen.contains(&(peer, true))
    }

    /// Those who may have left, or died, and have not said so, as far as they were noted.
    pub(crate) fn doubtful(&self) -> &[PeerId] {
        self.doubtful.as_deref().unwrap_or_default()
    }

    fn seat(&self, peer: PeerId) -> Option<Seat> {
        match peer.rank_in(&self.job) {
            Some(rank) => Some(Seat::new(self.job, rank)),
            None => peer.of(&self.seats, self.job.size() as u32),
        }
    }
}
