//! Ties: which jobs this process is connected with, as its launcher is shown.
//!
//! A communicator ties its members to each other from its making until it is disconnected, or until this process has
//! left it: two jobs are connected as long as one process shows it, and so by a communicator that is freed until all
//! have freed it. Who is about to make one with a job [holds](Engine::hold) that, which ties as well. A process that
//! nothing ties to a job any more shows so at once, though memory stays attached until what was told has been seen:
//! see `links`. It does before it tells anybody else that it has disconnected, or left.
//!
//! All that is noted is noted when communicators between jobs are made, and end.
//! MPI-5.0: The Dynamic Process Model, Releasing Connections.

use crate::channel::Channel;
use crate::engine::{ChannelKey, Engine};
use crate::jobs::Jobs;
use crate::peers::PeerId;

impl Engine {
    /// Whether processes of several jobs are members of a channel.
    pub fn is_between_jobs(&self, key: ChannelKey) -> bool {
        self.channel(key).users().into_iter().any(|user| self.is_of_another_job(user))
    }

    /// A communicator ties this process to its other members no longer: it is about to be left. All do so before one of
    /// them relies on it.
    pub fn untie(&mut self, key: ChannelKey) {
        self.end_ties(self.channel(key).context());
    }

    /// Whether nothing that was told to the members of a channel waits here: they need not wait for this process.
    pub fn has_told_members(&self, key: ChannelKey) -> bool {
        self.channel(key).all().all(|at| self.p2p.has_told(at.peer, Some(at.context)))
    }

    /// A channel is opened, which uses its members; that of a communicator, which has messages beside it, ties them.
    pub(crate) fn begin_uses(&mut self, channel: &Channel) {
        let users = channel.users();
        self.count_uses(&users, 1);
        if channel.beside().is_none() {
            return; // of an operation: its communicator lasts as long, or was disconnected
        }
        let others = users.into_iter().filter(|&user| self.is_of_another_job(user));
        let mut jobs: Vec<u64> = others.map(|user| self.p2p.peers.seat(user).whereabouts().job()).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs.iter().for_each(|&job| self.change_ties(job, |jobs| jobs.tie(job)));
        if !jobs.is_empty() {
            self.ties.insert(channel.context(), jobs);
        }
    }

    /// What was tied by the communicator whose channel has this context is so no more, if it is.
    pub(crate) fn end_ties(&mut self, context: u32) {
        for job in self.ties.remove(context).into_iter().flatten() {
            self.change_ties(job, |jobs| jobs.untie(job));
        }
    }

    /// Changes what ties this process to a job, and shows it.
    pub(crate) fn change_ties<T>(&mut self, job: u64, change: impl FnOnce(&mut Jobs) -> T) -> T {
        let jobs = &mut self.p2p.peers.jobs;
        let (was_tied, changed) = (jobs.is_tied(job), change(jobs));
        match (was_tied, jobs.is_tied(job)) {
            (false, true) => self.state().tie(job),
            (true, false) => self.state().untie(job),
            _ => {}
        }
        changed
    }

    fn is_of_another_job(&self, peer: PeerId) -> bool {
        let seat = self.p2p.peers.seat(peer);
        !self.p2p.peers.jobs.is_own(seat.whereabouts()) && !self.is_of_part_elsewhere(peer)
    }
}
