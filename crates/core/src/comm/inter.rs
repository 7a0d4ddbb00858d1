//! Intercommunicators: made of two groups whose leaders can reach each other, and merged into one group.
//!
//! MPI-5.0: Inter-Communication, Inter-Communicator Operations.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::Buffer;
use oxmpi_engine::Address;
use oxmpi_plan::Peer;

use super::Communicator;
use super::meeting::PrivateLine;
use super::offer::{Form, Proposal, members};
use crate::coll::{self, Record, Root, exchange};
use crate::group::Group;
use crate::process::Process;

/// One of the two groups that an intercommunicator is made of.
#[derive(Clone, Copy, Debug)]
pub struct Party<'a> {
    /// The group.
    pub group: &'a Group,
    /// The rank in it of its leader.
    pub leader: i32,
}

impl Party<'_> {
    /// # Errors
    /// `Rank` if the leader, which the function calls `argument`, is no rank of the group.
    pub(super) fn check_leader(&self, argument: &str) -> Result<()> {
        check_rank(argument, self.leader, self.group.size()).map(drop)
    }
}

/// How a leader reaches the other one.
#[derive(Clone, Debug)]
pub struct RemoteLeader {
    /// A communicator of both leaders.
    pub peer_comm: Arc<Communicator>,
    /// The rank of the other leader there.
    pub rank: i32,
    /// What keeps calls of different threads apart.
    pub tag: i32,
}

impl Process {
    /// A communicator between the group of `local` and that of a remote communicator, each with a leader.
    /// Collective over both; `remote` counts at the leader only: an error in place of it reaches the whole group.
    ///
    /// # Errors
    /// `Comm` if `local` is an intercommunicator, or the groups have members in common; `Rank` if a leader is
    /// no rank of its communicator; `Tag` if the tag is negative; `Other` where the leader has failed.
    pub fn intercomm_create(
        &self,
        local: &Arc<Communicator>,
        local_leader: i32,
        remote: Result<RemoteLeader>,
    ) -> Result<Arc<Communicator>> {
        local.only_group()?;
        let leader = check_rank("local_leader", local_leader, local.size)?;
        let offer = self.enter().offer(Form::Inter, 0, 0);
        let introduction = exchange(self, local, &offer.proposal).and_then(|mine| {
            let theirs = if leader == local.rank {
                let theirs = remote.and_then(|remote| self.swap_proposals(&remote, &mine.local));
                self.tell_group(local, leader, theirs)?
            } else {
                self.hear_from_leader(local, leader)?
            };
            check_disjoint(&mine.local, &theirs)?;
            Ok((mine.local, theirs))
        });
        let mut state = self.enter();
        match introduction {
            Ok((mine, theirs)) => Ok(Arc::new(state.settle(offer, &mine, Some(&theirs))?)),
            Err(error) => {
                state.decline(offer);
                Err(error)
            }
        }
    }

    /// A communicator of both groups of an intercommunicator. The members of one group agree on `high`: the
    /// group that says so comes last. Collective.
    ///
    /// # Errors
    /// `Comm` if `comm` is an intracommunicator; `Arg` if the members of a group do not agree; `NoMem` if
    /// shared memory is used up.
    pub fn intercomm_merge(&self, comm: &Arc<Communicator>, high: bool) -> Result<Arc<Communicator>> {
        let Some(remote_group) = &comm.remote_group else {
            let text = "intercomm is an intracommunicator, which has no remote group";
            return Err(Error::new(ErrorClass::Comm, text));
        };
        let form = Form::Intra(comm.size + remote_group.size());
        let offer = self.enter().offer(form, 0, high.into());
        let proposals = exchange(self, comm, &offer.proposal)?;
        let mut state = self.enter();
        if ![&proposals.local, &proposals.remote].into_iter().all(|group| agree(group)) {
            state.decline(offer);
            let text = "high is not the same in all ranks of a group";
            return Err(Error::new(ErrorClass::Arg, text));
        }
        let mut groups = [proposals.local, proposals.remote];
        // Where both say the same, the group that begins with the lower rank in the job is first.
        groups.sort_by_key(|group| (group[0].key, group[0].node_rank));
        let merged = members(&groups.concat(), 0);
        Ok(Arc::new(state.settle(offer, &merged, None)?))
    }

    /// The leaders tell each other the proposals of their groups.
    fn swap_proposals(&self, remote: &RemoteLeader, mine: &[Proposal]) -> Result<Vec<Proposal>> {
        let RemoteLeader { peer_comm, rank, tag } = remote;
        let rank = check_rank("remote_leader", *rank, peer_comm.peers())?;
        let tag = crate::p2p::checked_tag("tag", *tag)?;
        let (address, line) = {
            let state = self.enter();
            let channel = state.engine.channel(peer_comm.channel);
            let peer = if peer_comm.is_inter() { Peer::Remote(rank) } else { Peer::Local(rank) };
            (channel.address(peer), PrivateLine::numbered(channel.context(), tag))
        };
        let swap = |sent: &[u8], expected: usize| self.swap_bytes(address, line, sent, expected);
        let count = swap(&(mine.len() as u64).to_ne_bytes(), size_of::<u64>())?;
        let count = u64::from_ne_bytes(count.try_into().expect("8 bytes were received"));
        let theirs = swap(&table(mine), count as usize * Proposal::BYTES)?;
        Ok(read_table(&theirs))
    }

    /// Sends some bytes to a process and receives others from it.
    fn swap_bytes(&self, peer: Address, line: PrivateLine, sent: &[u8], expected: usize) -> Result<Vec<u8>> {
        let (send, recv) = {
            let pool = &mut self.enter().engine.p2p.pool;
            (pool.take(sent.len()), pool.take(expected))
        };
        send.write(sent);
        let result = self.swap(peer, peer, line, send, recv);
        let received = recv.to_vec();
        let pool = &mut self.enter().engine.p2p.pool;
        pool.give(send);
        pool.give(recv);
        result.map(|()| received)
    }

    /// As the leader: tells the group what the other group's leader has said, or that it could not be reached.
    fn tell_group(
        &self,
        comm: &Arc<Communicator>,
        leader: u32,
        theirs: Result<Vec<Proposal>>,
    ) -> Result<Vec<Proposal>> {
        let count = theirs.as_ref().map_or(NOT_REACHED, |theirs| theirs.len() as u64);
        self.bcast_bytes(comm, leader, &count.to_ne_bytes())?;
        let theirs = theirs?;
        self.bcast_bytes(comm, leader, &table(&theirs))?;
        Ok(theirs)
    }

    fn hear_from_leader(&self, comm: &Arc<Communicator>, leader: u32) -> Result<Vec<Proposal>> {
        let count = self.bcast_bytes(comm, leader, &[0; size_of::<u64>()])?;
        let count = u64::from_ne_bytes(count.try_into().expect("8 bytes were sent"));
        if count == NOT_REACHED {
            let text = format!("the local leader, rank {leader}, cannot reach the remote one");
            return Err(Error::new(ErrorClass::Other, text));
        }
        let theirs = self.bcast_bytes(comm, leader, &vec![0; count as usize * Proposal::BYTES])?;
        Ok(read_table(&theirs))
    }

    /// Broadcasts the root's bytes; the others pass as many.
    fn bcast_bytes(&self, comm: &Arc<Communicator>, root: u32, bytes: &[u8]) -> Result<Vec<u8>> {
        let region = self.enter().engine.p2p.pool.take(bytes.len());
        region.write(bytes);
        let operation = coll::bcast(self, comm, Buffer::dense(region), Root::Rank(root.cast_signed()))?;
        let result = self.blocking(comm, &operation);
        let bytes = region.to_vec();
        self.enter().engine.p2p.pool.give(region);
        result.map(|()| bytes)
    }
}

/// The number of proposals that a leader tells its group if it has none.
const NOT_REACHED: u64 = u64::MAX;

fn table(proposals: &[Proposal]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(proposals.len() * Proposal::BYTES);
    proposals.iter().for_each(|proposal| proposal.write(&mut bytes));
    bytes
}

fn read_table(bytes: &[u8]) -> Vec<Proposal> {
    bytes.chunks_exact(Proposal::BYTES).map(Proposal::read).collect()
}

fn agree(group: &[Proposal]) -> bool {
    group.iter().all(|member| member.key == group[0].key)
}

fn check_disjoint(mine: &[Proposal], theirs: &[Proposal]) -> Result<()> {
    let common = mine.iter().find(|one| theirs.iter().any(|other| other.node_rank == one.node_rank));
    common.map_or(Ok(()), |common| {
        let text = format!("both groups have rank {} of MPI_COMM_WORLD as a member", common.node_rank);
        Err(Error::new(ErrorClass::Comm, text))
    })
}

fn check_rank(argument: &str, rank: i32, size: u32) -> Result<u32> {
    u32::try_from(rank).ok().filter(|&rank| rank < size).ok_or_else(|| {
        let text = format!("{argument} is {rank}, no rank of its group, whose size is {size}");
        Error::new(ErrorClass::Rank, text)
    })
}
