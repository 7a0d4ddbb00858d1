//! What a run waits for, and who is missed.

use oxmpi_plan::Action;

use super::Run;
use crate::absent::Absent;
use crate::call::Lifetime;
use crate::channel::{Channel, Turn};
use crate::matching::{Source, source};
use crate::p2p::{Needs, P2p};
use crate::peers::PeerId;
use crate::program::Program;

impl Run {
    /// Whose post alone moves the run on, if that is known.
    pub(crate) fn awaited(&self, plan: &Program, channel: &Channel) -> Option<PeerId> {
        self.awaits.filter(|awaits| (!self.finished || self.lends) && !awaits.has_come())?;
        if self.finished {
            return Some(channel.address(channel.member(self.readers)).peer);
        }
        match plan.steps.get(self.step)?.action {
            Action::Excerpt { peer, .. } | Action::Pull { peer, .. } => Some(channel.address(peer).peer),
            _ => None,
        }
    }

    /// The rank of the job that has left without doing what the run waits for.
    pub(crate) fn misses(
        &self,
        plan: &Program,
        channel: &Channel,
        p2p: &P2p,
        absent: &mut Absent,
    ) -> Option<PeerId> {
        if self.finished {
            return self.awaited(plan, channel).filter(|&peer| absent.is_leaving(peer));
        }
        if !channel.admits(self.turn.number) {
            return None;
        }
        let message = self.under_way.iter().find_map(|&(begun, key)| match p2p.needs(key) {
            Needs::Answer(peer) => absent.is_gone(peer).then_some(peer),
            Needs::Message(_) => match plan.steps[begun.step as usize].action {
                Action::Receive { from, .. } => {
                    let peer = channel.address(from).peer;
                    absent.is_leaving(peer).then_some(peer)
                }
                _ => None,
            },
            Needs::Nothing => None,
            Needs::Receive(peer) => Some(peer),
        });
        message.or_else(|| match plan.steps.get(self.step)?.action {
            Action::Post { line, .. } => channel.debtor(self.turn.number, line, absent),
            _ => self.awaited(plan, channel).filter(|&peer| absent.is_leaving(peer)),
        })
    }

    /// Where the run stands, for reports.
    pub(crate) fn describe(&self, plan: &Program, channel: &Channel, p2p: &P2p) -> String {
        let Self { turn: Turn { number, .. }, step, under_way, .. } = self;
        let called = self.called().describe();
        if self.finished && self.lends {
            let reader = Source(source(channel.member(self.readers)));
            return format!("run {number}, {called}: waits until {reader} has read what was posted");
        }
        if !channel.admits(*number) {
            return format!("run {number}, {called}: waits for earlier ones");
        }
        let Some(next) = plan.steps.get(*step) else {
            return format!("run {number}, {called}: {} messages are on their way", under_way.len());
        };
        let begin = format!("run {number}, {called}, step {step} of {}", plan.steps.len());
        match next.action {
            Action::Excerpt { peer, .. } | Action::Pull { peer, .. } => {
                let does = match channel.called_by(peer, *number, p2p) {
                    None if self.lifetime == Lifetime::Persistent => String::new(),
                    None => ", which has not called it yet".to_owned(),
                    Some(theirs) if theirs == self.called() => String::new(),
                    Some(theirs) => format!(", which called {}", theirs.describe()),
                };
                format!("{begin}: waits for {}{does}", Source(source(peer)))
            }
            Action::Post { .. } => format!("{begin}: waits until all ranks have completed earlier runs"),
            _ => format!("{begin}: waits for messages"),
        }
    }
}
