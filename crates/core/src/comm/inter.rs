//! Intercommunicators: made of two groups whose leaders can reach each other, and merged into one group.
//!
//! MPI-5.0: Inter-Communication, Inter-Communicator Operations.

use std::collections::HashSet;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::{Address, Whereabouts};
use oxmpi_plan::Peer;

use super::Communicator;
use super::correspondence::{Correspondence, Purpose, Subject};
use super::from_group::check_membership;
use super::meeting::{Meeting, decode, encode, not_oxmpi};
use super::offer::{Form, Proposal, members};
use crate::coll::exchange::exchange;
use crate::envelope::checked_tag;
use crate::group::Group;
use crate::jobs::connection::Connection;
use crate::jobs::reach::{Introduction, Reach, Reached};
use crate::process::{Process, State};
use crate::record::Record;
use crate::settings::Told;

/// One of the two groups that an intercommunicator is made of.
#[derive(Clone, Debug)]
pub struct Party {
    /// The group.
    pub group: Group,
    /// The rank in it of its leader.
    pub leader: i32,
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

/// How a leader reaches the other one.
#[derive(Debug)]
pub(crate) enum Counterpart {
    /// By what leads to another job.
    Connection(Connection),
    /// By letters.
    Letters(Address, Correspondence),
}

impl Counterpart {
    /// Tells the other leader something, and hears what that tells.
    fn exchange(&mut self, process: &Process, told: &[u8]) -> Result<Vec<u8>> {
        match self {
            Self::Connection(connection) => connection.exchange(process, told),
            Self::Letters(address, letters) => {
                letters.write(process, *address, told);
                letters.read(process, address.peer)
            }
        }
    }
}

impl Process {
    /// A communicator between the group of `local` and that of a remote communicator, each with a leader.
    /// Collective over both; `remote` counts at the leader only: an error in place of it reaches the whole group.
    ///
    /// # Errors
    /// `Comm` if `local` is an intercommunicator, or the groups have members in common; `Rank` if a leader is
    /// no rank of its communicator; `Tag` if the tag is negative; what is wrong at a leader, for its whole
    /// group; `NoMem` if shared memory is used up.
    pub fn intercomm_create(
        &self,
        local: &Arc<Communicator>,
        local_leader: i32,
        remote: Result<RemoteLeader>,
    ) -> Result<Arc<Communicator>> {
        local.check_intra("local_comm")?;
        let leader = check_rank("local_leader", local_leader, local.size)?;
        let subject = Subject { purpose: Purpose::IntercommCreate, tag: &[] };
        let meeting = Meeting::inside(&self.enter(), local, &local.group, subject);
        self.comm_between(&meeting, leader, remote.and_then(|remote| self.across_peer_comm(&remote)))
    }

    /// A communicator between two groups, this process being a member of `local`. Collective over both; `remote`
    /// counts at the leader only: an error in place of it reaches the whole group. Calls of different threads
    /// differ in `tag`.
    ///
    /// # Errors
    /// `Rank` if a leader is no rank of its group; `Group` if this process is not a member of the local group,
    /// or the groups have members in common; what is wrong at a leader, for its whole group; `NoMem` if shared
    /// memory is used up.
    pub fn intercomm_create_from_groups(
        &self,
        local: &Party,
        remote: Result<Party>,
        tag: &[u8],
    ) -> Result<Arc<Communicator>> {
        check_membership(&local.group)?;
        let leader = check_rank("local_leader", local.leader, local.group.size())?;
        let subject = Subject { purpose: Purpose::IntercommCreateFromGroups, tag };
        let meeting = Meeting::of_group(&mut self.enter(), &local.group, subject)?;
        let remote = remote.and_then(|remote| {
            if local.group.intersection(&remote.group).size() != 0 {
                return Err(Error::new(ErrorClass::Group, "the groups have members in common"));
            }
            self.across_job(&remote, subject)
        });
        self.comm_between(&meeting, leader, remote)
    }

    /// A communicator between the group of `comm` and that which the leader's counterpart speaks for, of any job.
    pub(crate) fn comm_between_jobs(
        &self,
        comm: &Arc<Communicator>,
        leader: u32,
        counterpart: Result<Counterpart>,
    ) -> Result<Arc<Communicator>> {
        let subject = Subject { purpose: Purpose::CommConnect, tag: &[] };
        let meeting = Meeting::inside(&self.enter(), comm, &comm.group, subject);
        self.comm_between(&meeting, leader, counterpart)
    }

    /// The communicator between the group of those who meet and that of the leader's counterpart.
    fn comm_between(
        &self,
        meeting: &Meeting,
        leader: u32,
        counterpart: Result<Counterpart>,
    ) -> Result<Arc<Communicator>> {
        let offer = self.propose(Form::Inter, 0, 0);
        let mut embassy = Embassy { process: self, meeting, leader, counterpart, reached: Vec::new() };
        let introduced = embassy.introduce(&offer.proposal);
        let mut state = self.enter();
        let settled = match introduced {
            Ok((mine, theirs)) => {
                let State { engine, comms, .. } = &mut *state;
                offer.settle(engine, comms, &mine, Some(&theirs))
            }
            Err(Apart::Unfit(error)) => {
                offer.decline(&mut state.engine);
                Err(error)
            }
            Err(Apart::Unheard(error)) => {
                offer.abandon(&mut state.engine);
                Err(error)
            }
        };
        embassy.reached.iter().for_each(|&job| state.engine.let_go(job));
        drop(state);
        if let (Ok(_), Ok(Counterpart::Connection(connection))) = (&settled, embassy.counterpart) {
            connection.complete();
        }
        settled
    }

    fn across_peer_comm(&self, remote: &RemoteLeader) -> Result<Counterpart> {
        let RemoteLeader { peer_comm, rank, tag } = remote;
        let rank = check_rank("remote_leader", *rank, peer_comm.peers())?;
        let tag = checked_tag("tag", *tag)?.to_ne_bytes();
        let state = self.enter();
        let channel = state.engine.channel(peer_comm.channel);
        let peer = if peer_comm.is_inter() { Peer::Remote(rank) } else { Peer::Local(rank) };
        let subject = Subject { purpose: Purpose::IntercommCreate, tag: &tag };
        let letters = Correspondence::new(channel.context(), subject);
        Ok(Counterpart::Letters(channel.address(peer), letters))
    }

    fn across_job(&self, remote: &Party, subject: Subject<'_>) -> Result<Counterpart> {
        let leader = check_rank("remote_leader", remote.leader, remote.group.size())?;
        let address = self.enter().meeting_place(remote.group.member(leader))?;
        Ok(Counterpart::Letters(address, Correspondence::new(address.context, subject)))
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
        let offer = self.propose(form, 0, high.into());
        let proposals =
            exchange(self, comm, &offer.proposal).inspect_err(|_| offer.abandon(&mut self.enter().engine))?;
        let mut state = self.enter();
        if ![&proposals.local, &proposals.remote].into_iter().all(|group| agree(group)) {
            offer.decline(&mut state.engine);
            let text = "high is not the same in all ranks of a group";
            return Err(Error::new(ErrorClass::Arg, text));
        }
        let mut groups = [proposals.local, proposals.remote];
        // Where both say the same, the group that begins with the lower rank in the job is first.
        let [local, remote] = groups.each_ref().map(|group| (group[0].key, group[0].process));
        if remote < local {
            groups.reverse();
        }
        let merged = members(&groups.concat(), 0);
        let State { engine, comms, .. } = &mut *state;
        offer.settle(engine, comms, &merged, None)
    }
}

/// Why two groups do not come together.
enum Apart {
    /// They do not fit each other, as all members of both see; or one has nobody to come together with, as all its
    /// members see.
    Unfit(Error),
    /// This member has failed to hear of the others, or to reach them, who may have come together.
    Unheard(Error),
}

/// One group, whose leader alone speaks with the leader of another one.
struct Embassy<'a> {
    process: &'a Process,
    meeting: &'a Meeting,
    leader: u32,
    /// At the leader.
    counterpart: Result<Counterpart>,
    /// Jobs that are kept within reach.
    reached: Vec<u64>,
}

impl Embassy<'_> {
    /// What the other group's leader tells for what this group's leader tells. An error on either side, or between
    /// them, is that of all members of both groups.
    fn exchange(&mut self, told: Result<Vec<u8>>) -> Result<Vec<u8>> {
        let heard = self.is_led_here().then(|| {
            let counterpart = self.counterpart.as_mut().map_err(|error| error.clone())?;
            let heard = counterpart.exchange(self.process, &encode(&told))?;
            told.and_then(|_| decode(&heard))
        });
        self.meeting.spread(self.process, self.leader, heard).map_err(|error| self.of_leader(error))
    }

    /// The first exchange. Where the leader has no counterpart nobody else was told anything, as all members hear.
    fn address(&mut self, told: Vec<u8>) -> std::result::Result<Vec<u8>, Apart> {
        let heard = self.is_led_here().then(|| match &mut self.counterpart {
            Ok(counterpart) => {
                counterpart.exchange(self.process, &encode(&Ok(told))).map(|heard| encode(&Ok(heard)))
            }
            Err(error) => Ok(encode(&Err::<Vec<u8>, _>(error.clone()))),
        });
        let unheard = |error| Apart::Unheard(self.of_leader(error));
        let answer = self.meeting.spread(self.process, self.leader, heard).map_err(unheard)?;
        let heard = decode(&answer).map_err(|error| Apart::Unfit(self.of_leader(error)))?;
        decode(&heard).map_err(unheard)
    }

    fn is_led_here(&self) -> bool {
        self.meeting.rank() == self.leader
    }

    /// What the leader has told of itself.
    fn of_leader(&self, error: Error) -> Error {
        if self.is_led_here() { error } else { error.about(format!("rank {} of the group", self.leader)) }
    }

    /// The proposals of both groups, whose members can reach each other then.
    fn introduce(
        &mut self,
        proposal: &Proposal,
    ) -> std::result::Result<(Vec<Proposal>, Vec<Proposal>), Apart> {
        let mine = self.meeting.exchange(self.process, proposal).map_err(Apart::Unheard)?;
        let (told, theirs) = self.hear_of(&mine)?;
        // Each chooses algorithms for itself.
        let own = &self.process.abroad.told;
        own.compare(&told, || ["this group", "the other group"].map(String::from)).map_err(Apart::Unfit)?;
        check_disjoint(&mine, &theirs).map_err(Apart::Unfit)?;
        self.reach_all(&mine, &theirs).map_err(Apart::Unheard)?;
        Ok((mine, theirs))
    }

    /// What the other group was told of algorithms, and its proposals, for those of this one.
    fn hear_of(&mut self, mine: &[Proposal]) -> std::result::Result<(Told, Vec<Proposal>), Apart> {
        let mut told = Vec::new();
        self.process.abroad.told.write(&mut told);
        told.extend(table(mine));
        let heard = self.address(told)?;
        let (told, proposals) = Told::read(&heard).ok_or_else(not_oxmpi).map_err(Apart::Unheard)?;
        Ok((told, read_table(proposals).map_err(Apart::Unheard)?))
    }

    /// Makes sure that all members of both groups can reach each other, or none can.
    fn reach_all(&mut self, mine: &[Proposal], theirs: &[Proposal]) -> Result<()> {
        let job = mine[0].process.job();
        let all = || mine.iter().chain(theirs);
        if all().all(|member| member.process.job() == job) {
            return Ok(()); // as everybody sees
        }
        let reached =
            self.process.reach_all(all().map(|member| (member.process, member.machine)), &mut self.reached);
        if self.agree(reached)? == Reach::Everybody {
            return Ok(());
        }
        let addressed = self.tell_addresses(mine, theirs);
        self.agree(addressed).map(drop)
    }

    /// Lets the members of both groups know where each is reached over the network.
    fn tell_addresses(&mut self, mine: &[Proposal], theirs: &[Proposal]) -> Result<Reach> {
        let introduction = self.process.introduction();
        // One without an address is of a process that has found no network, which tells the others why.
        let told = introduction.as_ref().map_or_else(|_| Introduction::default(), Clone::clone);
        let known = self.meeting.exchange(self.process, &told)?;
        let heard: Vec<Introduction> = read_table(&self.exchange(Ok(table(&known)))?)?;
        introduction?;
        for (member, introduction) in mine.iter().zip(known).chain(theirs.iter().zip(heard)) {
            self.process.meet_elsewhere(member.process, member.machine, introduction)?;
        }
        Ok(Reach::Everybody)
    }

    /// What all members of both groups have come to: the least of all, or an error of one.
    fn agree(&mut self, mine: Result<Reach>) -> Result<Reach> {
        let all = self.meeting.exchange(self.process, &Reached(mine.as_ref().ok().copied()))?;
        let least = match all.iter().position(|told| told.0.is_none()) {
            None => Ok(all.iter().filter_map(|told| told.0).min().unwrap_or(Reach::Everybody)),
            Some(rank) => {
                let text = format!("rank {rank} of a group cannot reach the processes of another job");
                Err(mine.err().unwrap_or_else(|| Error::new(ErrorClass::Other, text)))
            }
        };
        let told = least.as_ref().map(|&least| table(&[Reached(Some(least))])).map_err(Error::clone);
        let theirs = read_table(&self.exchange(told)?)?.first().and_then(|told: &Reached| told.0);
        Ok(theirs.ok_or_else(not_oxmpi)?.min(least?))
    }
}

fn table<T: Record>(records: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(records.len() * T::BYTES);
    records.iter().for_each(|record| record.write(&mut bytes));
    bytes
}

fn read_table<T: Record>(bytes: &[u8]) -> Result<Vec<T>> {
    if bytes.is_empty() || !bytes.len().is_multiple_of(T::BYTES) {
        return Err(not_oxmpi());
    }
    Ok(bytes.chunks_exact(T::BYTES).map(T::read).collect())
}

fn agree(group: &[Proposal]) -> bool {
    group.iter().all(|member| member.key == group[0].key)
}

fn check_disjoint(mine: &[Proposal], theirs: &[Proposal]) -> Result<()> {
    let mine: HashSet<Whereabouts> = mine.iter().map(|member| member.process).collect();
    let common = theirs.iter().find(|member| mine.contains(&member.process));
    common.map_or(Ok(()), |common| {
        let text = format!("both groups have rank {} of MPI_COMM_WORLD as a member", common.process.rank());
        Err(Error::new(ErrorClass::Comm, text))
    })
}

fn check_rank(argument: &str, rank: i32, size: u32) -> Result<u32> {
    u32::try_from(rank).ok().filter(|&rank| rank < size).ok_or_else(|| {
        let text = format!("{argument} is {rank}, no rank of its group, whose size is {size}");
        Error::new(ErrorClass::Rank, text)
    })
}
