//! Who is missed: ranks that have left without doing what something here waits for.

use super::{ChannelKey, Engine, RunKey};
use crate::absent::Absent;
use crate::peers::PeerId;
use crate::program::Program;
use crate::run::Run;

impl Engine {
    /// To look for ranks that have left, those in `MPI_Finalize` included if all that is waited for belongs to the
    /// world model.
    pub fn absent(&self, world_only: bool) -> Absent {
        Absent::new(&self.p2p.peers, world_only)
    }

    /// The peer that has left without doing what a run waits for.
    pub fn misses(
        &self,
        channel: ChannelKey,
        run: &Run,
        plan: &Program,
        absent: &mut Absent,
    ) -> Option<PeerId> {
        run.misses(plan, self.channel(channel), &self.p2p, absent)
    }

    /// The same of a kept run.
    pub fn misses_for(&self, key: RunKey, absent: &mut Absent) -> Option<PeerId> {
        let kept = self.runs.get(key)?;
        self.misses(kept.channel, &kept.run, &kept.plan, absent)
    }

    /// The same of all kept runs of a channel.
    pub fn misses_on(&self, channel: ChannelKey, absent: &mut Absent) -> Option<PeerId> {
        let is_there = |key: &RunKey| self.runs.get(*key).is_some_and(|kept| kept.channel == channel);
        self.active.iter().copied().filter(is_there).find_map(|key| self.misses_for(key, absent))
    }

    /// Whether this rank has told all that it will tell: its runs are over, or never will be.
    pub fn is_told(&self, absent: &mut Absent) -> bool {
        self.p2p.is_told()
            && self.has_shown_all()
            && self.active.iter().all(|&run| self.misses_for(run, absent).is_some())
    }
}
