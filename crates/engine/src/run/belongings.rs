//! What a run has beside its place in the plan: memory, and what it has found out of how long data go.
//!
//! A run that is all [moves](super::moves) has nothing of it, and is not asked for it each time.

use oxmpi_mem::{Region, Taken};
use oxmpi_plan::{Buf, MAX_LINES};

use super::{Means, Run};
use crate::channel::{Channel, Taking};
use crate::course::Way;
use crate::p2p::P2p;
use crate::program::Program;
use crate::results::Writing;

/// How what is long goes in a run.
#[derive(Debug, Default)]
pub(super) struct Direct {
    /// The way of all that is posted, and how long the first of it is.
    pub(super) way: Option<(Way, u64)>,
    /// The lowest rank below this one of those that it has pulled from, and the way that rank's data took.
    pub(super) leader: Option<(u32, Way)>,
    /// What others read by its address, with its line.
    pub(super) shown: Vec<(u8, Region)>,
    /// What it takes by itself of what others have posted, so that they learn which way is faster.
    pub(super) taking: Taking,
    /// The result, if it is long.
    pub(super) result: Option<Writing>,
}

impl Direct {
    /// Nothing is known of the next run.
    #[cold]
    pub(super) fn forget(&mut self) {
        self.shown.clear();
        (self.way, self.leader, self.taking, self.result) = (None, None, Taking::default(), None);
    }
}

impl Run {
    /// Whether a run of a plan has, or may have, any of this.
    #[inline]
    pub(super) fn has_belongings(&self, plan: &Program) -> bool {
        !plan.is_plain() || self.signature.is_some() || self.direct.is_some()
    }

    /// Makes what the last run has kept ready for this one.
    #[inline(never)]
    pub(super) fn prepare(&mut self, channel: &mut Channel, plan: &Program, p2p: &mut P2p) {
        if let Some(signature) = &self.signature {
            channel.tell_types(self.turn.number, self.called(), signature, plan, p2p);
        }
        self.asked.clear();
        self.staged = [None; MAX_LINES];
        if let Some(direct) = &mut self.direct {
            direct.forget();
        }
        self.lends = false;
        if plan.scratch_bytes != 0 {
            self.scratch = p2p.pool.take(plan.scratch_bytes as usize);
        }
    }

    /// Gives back what this run has kept, and tells what it has found out.
    #[inline(never)]
    pub(super) fn put_away(&mut self, means: &mut Means<'_>) {
        if !self.scratch.is_empty() {
            means.p2p.pool.give(std::mem::replace(&mut self.scratch, Taken::EMPTY));
        }
        if let Some(direct) = &self.direct {
            if let (Some((_, bytes)), Some((_, way))) = (direct.way, direct.leader) {
                means.channel.is_led(&means.plan.call(), bytes, way);
            }
            if direct.taking.timed_ns != 0 {
                means.channel.tell_time(self.turn.number, &direct.taking);
            }
            if let Some(writing) = direct.result
                && let Some(result) = self.part(means.binding, Buf::Recv, 0, means.binding.recv.bytes())
            {
                means.p2p.results.end(writing, &result, &mut means.p2p.pool);
            }
        }
        self.keep_desks(means);
    }
}
