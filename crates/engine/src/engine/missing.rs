//! Who is missed: ranks that have left without doing what something here waits for, or that do something else; and
//! what is waited for, in reports.

use super::{ChannelKey, Engine, RunKey};
use crate::absent::Absent;
use crate::names::Names;
use crate::p2p::Needs;
use crate::peers::PeerId;
use crate::program::Program;
use crate::run::Run;

impl Engine {
    /// Looks whether kept runs wait for ranks that do something else, and lets them go on then; whether messages wait
    /// for memory that is not to be had; and whether ranks wait for this one to receive in runs that are over here.
    #[cold]
    pub fn suspect(&mut self) {
        self.p2p.rest();
        self.look_after_links();
        self.look_at_all_left();
        self.p2p.flush_or_fail();
        for &key in &self.active {
            let kept = self.runs.get_mut(key).expect("active runs are kept");
            let channel = self.channels.get_mut(kept.channel).expect("channels are left last");
            kept.run.suspect(&kept.plan, channel, &mut self.p2p);
        }
        self.refuse_late();
    }

    /// Refuses messages of runs that are over here.
    fn refuse_late(&mut self) {
        let announced_in = self.p2p.take_announced_in();
        if announced_in.is_empty() {
            return; // there may be thousands of channels
        }
        for channel in self.channels.iter().filter(|channel| announced_in.contains(&channel.context())) {
            self.p2p.refuse_late(channel.context(), |tag, note| channel.is_through_with(tag, note));
        }
    }

    /// The same of a run that its caller moves on.
    #[cold]
    pub fn suspect_run(&mut self, key: ChannelKey, run: &mut Run, plan: &Program) {
        let channel = self.channels.get_mut(key).expect("channels are left last");
        run.suspect(plan, channel, &mut self.p2p);
    }

    /// Tells those on other nodes who have asked what this rank calls in a run, if it calls something else; as soon as
    /// it does.
    pub(crate) fn answer_those_who_ask(&mut self) {
        for asking in self.p2p.take_asking() {
            let channel = self.channels.iter().find(|channel| channel.context() == asking.context);
            let Some(channel) = channel.filter(|channel| channel.has_begun(asking.run)) else {
                self.p2p.keep_asking(asking);
                continue;
            };
            let called = channel.called(asking.run).filter(|called| called.conflict(asking.called).is_some());
            if let (Some(called), Some(to)) = (called, channel.address_of(asking.from)) {
                self.p2p.tell_call(to, asking.run, called, false);
            }
        }
    }

    /// To look for ranks that have left, those in `MPI_Finalize` included if all that is waited for belongs to the
    /// world model.
    pub fn absent(&self, world_only: bool) -> Absent {
        Absent::new(&self.p2p.peers, world_only)
    }

    /// The same, to [ask](Engine::ask_after) those of other nodes who were looked for and not found to have left.
    pub fn absent_or_silent(&self, world_only: bool) -> Absent {
        self.absent(world_only).noting_doubtful()
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

    /// Looks at all those without whom something that is under way here will not be over: who is not seen, and was not
    /// found to be gone, may be [asked](Engine::ask_after) then.
    pub fn look_after_needed(&self, absent: &mut Absent) {
        self.active.iter().for_each(|&run| _ = self.misses_for(run, absent));
        let of_messages =
            self.p2p.contexts_of_operations().filter_map(|(op, context)| match self.p2p.needs(op) {
                Needs::Answer(peer) => Some(peer),
                Needs::Message(source) => self.sender(context, source),
                Needs::Nothing | Needs::Receive(_) => None,
            });
        of_messages.chain(self.p2p.undelivered()).for_each(|peer| _ = absent.is_leaving(peer));
    }

    /// From whom a message of a communicator comes; of all from whom it may come somebody of another job, which ends as
    /// a whole.
    fn sender(&self, context: u32, source: Option<i32>) -> Option<PeerId> {
        let channel = self.channels.iter().find(|channel| channel.beside() == Some(context))?;
        let mut sources = channel.sources().map(|(_, peer)| peer);
        match source {
            Some(rank) => sources.nth(usize::try_from(rank).ok()?),
            None => sources.find(|&peer| self.p2p.peers.is_of_another_job_elsewhere(peer)),
        }
    }

    /// Whether this rank has told all that it will tell: its runs are over, or never will be.
    pub fn is_told(&self, absent: &mut Absent) -> bool {
        self.p2p.is_told()
            && self.has_shown_all()
            && self.active.iter().all(|&run| self.misses_for(run, absent).is_some())
    }

    /// Where a run stands, for reports.
    pub fn describe_run(&self, channel: ChannelKey, run: &Run, plan: &Program, names: &impl Names) -> String {
        let channel = self.channel(channel);
        format!("collective on {}, {}", names.comm(channel.context()), run.describe(plan, channel, &self.p2p))
    }

    /// One line per operation under way, for reports.
    pub fn describe(&self, names: &impl Names) -> Vec<String> {
        let runs = self.active.iter().filter_map(|&key| self.runs.get(key));
        let runs = runs.map(|kept| self.describe_run(kept.channel, &kept.run, &kept.plan, names));
        let held = self.held.iter().map(|(&channel, held)| {
            let comm = names.comm(self.channel(channel).context());
            format!("collectives on {comm}: {} wait for earlier ones", held.len())
        });
        runs.chain(held).chain(self.p2p.describe(names)).collect()
    }
}
