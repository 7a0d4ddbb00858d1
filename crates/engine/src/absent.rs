//! Ranks from which nothing more is to come.
//!
//! A rank that has left tells so after all else that it tells. Whoever sees it, then takes in all that has arrived,
//! and still misses something of that rank misses it for ever. That is certain, and no time limit is needed.

use oxmpi_shm::{Job, Phase};

/// What is seen of the ranks of a job, at one time or at any.
#[derive(Debug)]
pub struct Absent {
    job: Job,
    /// Whether ranks in `MPI_Finalize` count: all that is waited for belongs to the world model.
    world_only: bool,
    /// What was seen, and is to be seen again: ranks, and whether their processes are gone.
    seen: Vec<(u32, bool)>,
    is_settled: bool,
}

impl Absent {
    pub(crate) fn new(job: Job, world_only: bool) -> Self {
        Self { job, world_only, seen: Vec::new(), is_settled: false }
    }

    /// From now on nobody is absent who was not found to be.
    pub fn settle(&mut self) {
        self.is_settled = true;
    }

    /// Whether a rank of the job begins nothing more; what it began it may still end.
    pub fn is_leaving(&mut self, rank: u32) -> bool {
        if self.is_settled {
            return self.seen.iter().any(|&(seen, _)| seen == rank);
        }
        let page = self.job.state(rank as usize);
        let is_gone = page.is_gone();
        let is_leaving = is_gone || self.world_only && page.phase() == Phase::Leaving;
        if is_leaving {
            self.seen.push((rank, is_gone));
        }
        is_leaving
    }

    /// Whether the process of a rank of the job has ended.
    pub fn is_gone(&mut self, rank: u32) -> bool {
        self.is_leaving(rank) && self.seen.contains(&(rank, true))
    }
}
