//! New communicators of groups: there is none that all members share.
//!
//! The members meet in a context that every process of the job has from the start. What tells meetings apart
//! is a number made of the string that the program passes.
//!
//! MPI-5.0: Communicator Constructors, MPI_COMM_CREATE_FROM_GROUP; Inter-Communicator Operations.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};

use super::meeting::Meeting;
use super::offer::{Form, Offer, Proposal};
use super::{Communicator, Party};
use crate::group::Group;
use crate::process::Process;

impl Process {
    /// A communicator of the members of `group`, in its order. Collective over `group`; calls that may be
    /// under way at the same time differ in `tag`.
    ///
    /// # Errors
    /// `Group` if this process is not a member; `NoMem` if shared memory is used up.
    pub fn comm_create_from_group(&self, group: &Group, tag: &str) -> Result<Arc<Communicator>> {
        check_membership(group)?;
        let (offer, proposals) = self.hold_meeting(group, number_of(tag, 0), Form::Intra(group.size()))?;
        let proposals = in_order(group, &proposals);
        Ok(Arc::new(self.enter().settle(offer, &proposals, None)?))
    }

    /// A communicator between two groups, this process being a member of the local one. Collective over both,
    /// which name each other; calls that may be under way at the same time differ in `tag`.
    ///
    /// # Errors
    /// `Rank` if a leader is no rank of its group; `Group` if this process is not a member of the local group,
    /// or the groups have members in common.
    pub fn intercomm_create_from_groups(
        &self,
        local: Party<'_>,
        remote: Party<'_>,
        tag: &str,
    ) -> Result<Arc<Communicator>> {
        check_membership(local.group)?;
        local.check_leader("local_leader")?;
        remote.check_leader("remote_leader")?;
        if local.group.intersection(remote.group).size() != 0 {
            return Err(Error::new(ErrorClass::Group, "the groups have members in common"));
        }
        let everybody = local.group.union(remote.group);
        let (offer, proposals) = self.hold_meeting(&everybody, number_of(tag, 1), Form::Inter)?;
        let (mine, theirs) = (in_order(local.group, &proposals), in_order(remote.group, &proposals));
        Ok(Arc::new(self.enter().settle(offer, &mine, Some(&theirs))?))
    }

    /// The proposals of all members of a group, in the order of their ranks in the job.
    fn hold_meeting(&self, group: &Group, number: i32, form: Form) -> Result<(Offer, Vec<Proposal>)> {
        let mut node_ranks: Vec<u32> = group.members().collect();
        node_ranks.sort_unstable();
        let mut state = self.enter();
        let meeting = Meeting::in_job(&state, &node_ranks, number);
        let offer = state.offer(form, 0, 0);
        drop(state);
        let proposals = meeting.exchange(self, &offer.proposal)?;
        Ok((offer, proposals))
    }
}

fn check_membership(group: &Group) -> Result<()> {
    if group.rank().is_none() {
        return Err(Error::new(ErrorClass::Group, "this process is not a member of the group"));
    }
    Ok(())
}

/// The proposals of the members of a group in its order; `sorted` holds them by their ranks in the job.
fn in_order(group: &Group, sorted: &[Proposal]) -> Vec<Proposal> {
    let of = |member: u32| {
        let place = sorted.binary_search_by_key(&member, |proposal| proposal.node_rank);
        sorted[place.expect("every member has met")]
    };
    group.members().map(of).collect()
}

/// A number from 0 for a string and what it is used for: FNV-1a, as many bits as a tag holds.
fn number_of(tag: &str, purpose: u8) -> i32 {
    let hash = tag.bytes().chain([0, purpose]).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 33) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_tags_and_differ_by_string_and_purpose() {
        let numbers = [number_of("", 0), number_of("a", 0), number_of("a", 1), number_of("b", 0)];
        assert!(numbers.iter().all(|&number| number >= 0));
        for (place, number) in numbers.iter().enumerate() {
            assert!(!numbers[..place].contains(number));
        }
    }

    #[test]
    fn proposals_are_found_by_their_process() {
        let proposal = |node_rank| Proposal { node_rank, ..Proposal::default() };
        let group = Group::new([7, 2, 5], 2);
        let ordered = in_order(&group, &[proposal(2), proposal(5), proposal(7)]);
        assert_eq!(ordered, [proposal(7), proposal(2), proposal(5)]);
    }
}
