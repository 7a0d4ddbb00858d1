//! New communicators of groups, in which their members alone take part: there need be none that all share.
//!
//! MPI-5.0: Communicator Constructors, MPI_COMM_CREATE_GROUP, MPI_COMM_CREATE_FROM_GROUP.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};

use super::Communicator;
use super::correspondence::{Purpose, Subject};
use super::create::check_members;
use super::meeting::Meeting;
use super::offer::Form;
use crate::envelope::checked_tag;
use crate::group::Group;
use crate::process::{Process, State};

impl Process {
    /// A communicator of the members of `group`, in its order; none for others. Collective over `group`: the
    /// other members of `comm` do not take part. Calls of different threads differ in `tag` or `comm`.
    ///
    /// # Errors
    /// `Comm` if `comm` is an intercommunicator; `Group` if a member of `group` is not one of `comm`; `Tag` if
    /// `tag` is negative; `NoMem` if shared memory is used up.
    pub fn comm_create_group(
        &self,
        comm: &Arc<Communicator>,
        group: &Group,
        tag: i32,
    ) -> Result<Option<Arc<Communicator>>> {
        comm.check_intra("comm")?;
        check_members(group, comm)?;
        let tag = checked_tag("tag", tag)?.to_ne_bytes();
        if group.rank().is_none() {
            return Ok(None);
        }
        let subject = Subject { purpose: Purpose::CommCreateGroup, tag: &tag };
        let meeting = Meeting::inside(&self.enter(), comm, group, subject);
        self.comm_of_meeting(&meeting, group).map(Some)
    }

    /// A communicator of the members of `group`, in its order. Collective over `group`; calls of different
    /// threads differ in `tag`.
    ///
    /// # Errors
    /// `Group` if this process is not a member; `NoMem` if shared memory is used up.
    pub fn comm_create_from_group(&self, group: &Group, tag: &[u8]) -> Result<Arc<Communicator>> {
        check_membership(group)?;
        let subject = Subject { purpose: Purpose::CommCreateFromGroup, tag };
        let meeting = Meeting::of_group(&mut self.enter(), group, subject)?;
        self.comm_of_meeting(&meeting, group)
    }

    /// The communicator of those who meet, the members of `group`.
    fn comm_of_meeting(&self, meeting: &Meeting, group: &Group) -> Result<Arc<Communicator>> {
        let offer = self.propose(Form::Intra(group.size()), 0, 0);
        let proposals = meeting.exchange(self, &offer.proposal);
        let mut state = self.enter();
        match proposals {
            Ok(proposals) => {
                let State { engine, comms, .. } = &mut *state;
                offer.settle(engine, comms, &proposals, None)
            }
            Err(error) => {
                offer.abandon(&mut state.engine);
                Err(error)
            }
        }
    }
}

/// # Errors
/// `Group` if this process is not a member of `group`.
pub(super) fn check_membership(group: &Group) -> Result<()> {
    if group.rank().is_none() {
        return Err(Error::new(ErrorClass::Group, "this process is not a member of the group"));
    }
    Ok(())
}
