//! New communicators of the members of one that exists, who all take part.
//!
//! MPI-5.0: Communicator Constructors; Communicator Destructors.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::{Absent, PeerId};

use super::Communicator;
use super::offer::{NO_COLOR, members};
use crate::coll::barrier::barrier;
use crate::coll::exchange::exchange;
use crate::group::Group;
use crate::process::{Process, State};
use crate::wait::Needing;

impl Process {
    /// A communicator with the same groups and topology and new contexts. Collective.
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    pub fn comm_dup(&self, comm: &Arc<Communicator>) -> Result<Arc<Communicator>> {
        let made = self.comm_split(comm, Some(0), 0)?;
        let made = made.expect("whoever names a color becomes a member");
        made.inherit_topology(comm);
        made.inherit_attachments(comm.inheritance());
        Ok(made)
    }

    /// Communicators of the members that name the same color, in the order of their keys (and of their ranks,
    /// where keys are equal); none for those that name none. Of an intercommunicator each group is split, and
    /// there is none for a color that one group alone names. Collective.
    ///
    /// # Errors
    /// `Arg` if the color is negative; `NoMem` if shared memory is used up.
    pub fn comm_split(
        &self,
        comm: &Arc<Communicator>,
        color: Option<i32>,
        key: i32,
    ) -> Result<Option<Arc<Communicator>>> {
        if let Some(color) = color.filter(|&color| color < 0) {
            return Err(Error::new(ErrorClass::Arg, format!("color {color} is negative")));
        }
        self.comm_of_color(comm, color.map_or(NO_COLOR, i64::from), key)
    }

    /// A communicator of the members of `group`, in its order; none for the others. Of an intercommunicator
    /// `group` is a part of the local group. Collective over `comm`.
    ///
    /// # Errors
    /// `Group` if a member of `group` is not one of `comm`; `NoMem` if shared memory is used up.
    pub fn comm_create(&self, comm: &Arc<Communicator>, group: &Group) -> Result<Option<Arc<Communicator>>> {
        check_members(group, comm)?;
        let rank = group.rank();
        // Groups of one call are disjoint or equal, so the first member names one: by its rank, for its number is
        // another one in each job. The two groups of an intercommunicator have no member in common, and name none.
        let first = if comm.is_inter() { Some(0) } else { group.translate(0, &comm.group).ok().flatten() };
        let color = rank.and(first).map_or(NO_COLOR, i64::from);
        self.comm_of_color(comm, color, rank.map_or(0, |rank| rank as i32))
    }

    fn comm_of_color(
        &self,
        parent: &Arc<Communicator>,
        color: i64,
        key: i32,
    ) -> Result<Option<Arc<Communicator>>> {
        let offer = self.propose(parent.form(), color, key);
        let proposals = exchange(self, parent, &offer.proposal)
            .inspect_err(|_| offer.abandon(&mut self.enter().engine))?;
        let local = members(&proposals.local, color);
        let remote = parent.is_inter().then(|| members(&proposals.remote, color));
        let mut state = self.enter();
        if color == NO_COLOR || remote.as_ref().is_some_and(Vec::is_empty) {
            offer.decline(&mut state.engine);
            return Ok(None);
        }
        let State { engine, comms, .. } = &mut *state;
        offer.settle(engine, comms, &local, remote.as_deref()).map(Some)
    }

    /// Waits until nothing is under way on a communicator, as disconnecting it demands. Sends that only ranks could
    /// receive that have left, or this one, are not waited for.
    pub fn comm_complete(&self, comm: &Arc<Communicator>) {
        self.wait_at_leisure(Needing::new(
            |state: &mut State| state.is_idle_on(comm).then_some(()),
            |state: &State, absent: &mut Absent| state.misses_on(comm, absent),
        ));
    }

    /// Ends what a communicator on which nothing is under way connects, as disconnecting it demands: when this returns,
    /// no member is tied to another job by it any more. If a member is gone, nobody is waited for. Collective; to be
    /// freed next.
    pub fn comm_part(&self, comm: &Arc<Communicator>) {
        {
            let engine = &mut self.enter().engine;
            if !engine.is_between_jobs(comm.channel) {
                return;
            }
            engine.untie(comm.channel);
        }
        // In a barrier between two groups each waits for the other one: behind the second, also for all of its own.
        for _ in 0..1 + u32::from(comm.is_inter()) {
            // An error is that of one who is gone, or has called something else, and so is not waited for.
            let _ = barrier(self, comm).and_then(|barrier| self.blocking(comm, &barrier));
        }
        // What is posted is seen without this process; what is told may wait here.
        self.wait_for_delivery(|state| {
            let engine = &state.engine;
            !engine.channel(comm.channel).is_spread() || engine.has_told_members(comm.channel)
        });
    }

    /// Frees a communicator: it ends when what is under way on it is over. What is attached to it is dropped here, if
    /// it was not [taken off](Communicator::detach_all) before. Collective.
    ///
    /// # Errors
    /// `Comm` for those that exist from the start.
    pub fn comm_free(&self, comm: Arc<Communicator>) -> Result<()> {
        let mut state = self.enter();
        if state.comms.is_predefined(&comm) {
            return Err(Error::new(
                ErrorClass::Comm,
                format!("comm is {}, which cannot be freed", comm.name().display()),
            ));
        }
        let attached = comm.detach_all();
        state.comms.free(comm);
        state.leave_communicators();
        drop(state);
        drop(attached); // whose destructors may call
        Ok(())
    }
}

/// # Errors
/// `Group` if a member of `group` is not one of `comm`.
pub(super) fn check_members(group: &Group, comm: &Communicator) -> Result<()> {
    if group.difference(&comm.group).size() != 0 {
        let text = "the group has members that the communicator has not";
        return Err(Error::new(ErrorClass::Group, text));
    }
    Ok(())
}

impl State {
    fn is_idle_on(&self, comm: &Arc<Communicator>) -> bool {
        self.engine.p2p.under_way_on(comm.context, &comm.addresses).next().is_none()
            && self.engine.is_idle_channel(comm.channel)
            && self.requests.under_way_on(comm, &self.engine).next().is_none()
    }

    /// The rank of the job without which a communicator will never be idle.
    fn misses_on(&self, comm: &Arc<Communicator>, absent: &mut Absent) -> Option<PeerId> {
        let mut messages = self.engine.p2p.under_way_on(comm.context, &comm.addresses);
        let mut persistent = self.requests.under_way_on(comm, &self.engine);
        messages
            .find_map(|op| self.misses(comm, op, absent))
            .or_else(|| self.engine.misses_on(comm.channel, absent))
            .or_else(|| persistent.find_map(|key| self.misses_for(key, absent)))
    }

    /// Leaves those freed communicators that no operation needs any more.
    pub(crate) fn leave_communicators(&mut self) {
        for comm in self.comms.take_over() {
            self.plans.forget(comm.channel);
            self.buffers.forget(comm.buffer_owner());
            self.engine.leave_channel(comm.channel);
        }
    }
}
