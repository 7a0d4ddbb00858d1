//! What a process offers to a communicator that is made together with others, and how the offers of all become
//! the communicator.
//!
//! Whatever way the members find each other, each tells all others one [`Proposal`]; from these alone everybody
//! makes the same communicator.

use std::sync::Arc;

use oxmpi_base::{Ordered, Result, order};
use oxmpi_engine::{Address, Addresses, ChannelPlan, Engine, Lines, Whereabouts};
use oxmpi_plan::Nodes;

use super::Communicator;
use super::known::Communicators;
use crate::group::Group;
use crate::lines::{NO_LINES, abandon, check_lines, offer_lines, withdraw};
use crate::record::Record;

/// What a process tells the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// Which of several new communicators; [`NO_COLOR`] is none.
    pub color: i64,
    /// What the order of the members follows.
    pub key: i32,
    pub process: Whereabouts,
    /// The context for messages, in this process.
    pub context: u32,
    /// That of the channel.
    pub channel_context: u32,
    /// Offset of this process's lines.
    pub lines: u64,
    /// Cores that the ranks of its job share.
    pub cores: u32,
    /// Those on the same machine share memory.
    pub machine: u64,
}

/// The color of a process that becomes a member of nothing.
pub(crate) const NO_COLOR: i64 = -1;

/// A proposal and what it names, to be taken back if nothing comes of it.
#[derive(Debug)]
pub(crate) struct Offer {
    pub proposal: Proposal,
    lines: Option<Lines>,
}

/// What is going to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A communicator within one group, of at most so many members.
    Intra(u32),
    /// A communicator between two groups.
    Inter,
}

impl Communicator {
    /// What is made of all its members.
    pub(super) fn form(&self) -> Form {
        if self.is_inter() { Form::Inter } else { Form::Intra(self.size) }
    }
}

impl Offer {
    /// Contexts and lines for a communicator that is to be made; none without a color.
    pub(super) fn new(engine: &mut Engine, form: Form, color: i64, key: i32) -> Self {
        let process = engine.whereabouts();
        if color == NO_COLOR {
            return Self { proposal: Proposal { color, process, ..Proposal::default() }, lines: None };
        }
        let members = match form {
            Form::Intra(members) => members,
            Form::Inter => 2, // at least
        };
        let form = engine.form_of_communicator();
        let (offset, lines) = offer_lines(engine, members, form);
        let context = engine.p2p.open_context();
        let channel_context = engine.p2p.open_context();
        let (cores, machine) = (engine.cpus() as u32, engine.machine());
        let proposal =
            Proposal { color, key, process, context, channel_context, lines: offset, cores, machine };
        Self { proposal, lines }
    }

    /// Whether there is no memory for it here.
    pub(super) fn is_short(&self) -> bool {
        self.proposal.color != NO_COLOR && self.proposal.lines == NO_LINES
    }

    /// Takes it back: all see that no communicator is made of it.
    pub(super) fn decline(self, engine: &mut Engine) {
        if self.proposal.color != NO_COLOR {
            withdraw(engine, &self.contexts(), self.lines);
        }
    }

    /// Gives it up: this process makes no communicator of it, but others may.
    pub(super) fn abandon(&self, engine: &mut Engine) {
        if self.proposal.color != NO_COLOR {
            abandon(engine, &self.contexts());
        }
    }

    fn contexts(&self) -> [u32; 2] {
        [self.proposal.context, self.proposal.channel_context]
    }

    /// The communicator of those that made the proposals `local`, in that order, and with the group of `remote`
    /// on the other side, if given. This process is one of `local`.
    ///
    /// # Errors
    /// `NoMem` if a member has no shared memory left, the same for all; or if there is no address space here.
    pub(super) fn settle(
        self,
        engine: &mut Engine,
        comms: &mut Communicators,
        local: &[Proposal],
        remote: Option<&[Proposal]>,
    ) -> Result<Arc<Communicator>> {
        let theirs = remote.unwrap_or_default();
        let lines_of = |members: &[Proposal]| members.iter().map(|member| member.lines).collect::<Vec<_>>();
        if let Err(error) =
            check_lines("group", lines_of(local)).and_then(|()| check_lines("remote group", lines_of(theirs)))
        {
            self.decline(engine);
            return Err(error);
        }
        let group = group_of(engine, local)?;
        let rank = group.rank().expect("a process that names a color becomes a member");
        let shares_lines = local.len() + theirs.len() > 1;
        let plan = ChannelPlan {
            rank,
            members: addresses(engine, local, |member| member.channel_context)?,
            remote: addresses(engine, theirs, |member| member.channel_context)?,
            beside: Some(self.proposal.context),
            lines: if shares_lines { [lines_of(local), lines_of(theirs)].concat() } else { Vec::new() },
            form: engine.form_of_communicator(),
        };
        let peers = addresses(engine, remote.unwrap_or(local), |member| member.context)?;
        let remote_group = remote.map(|remote| group_of(engine, remote)).transpose()?;
        let channel = engine.open_channel(plan, self.lines)?;
        let cores = cores_of(local.iter().chain(theirs));
        let context = self.proposal.context;
        let nodes = nodes_of(local, theirs);
        let groups = (group, remote_group);
        let made = Arc::new(Communicator::new(groups, cores, nodes, context, peers, channel, ""));
        comms.note(&made);
        Ok(made)
    }
}

/// The cores that members share. Those of another job may have been given others, or fewer: the most of all, since who
/// has more than that job does not take as many turns.
fn cores_of<'a>(members: impl Iterator<Item = &'a Proposal>) -> u32 {
    members.map(|member| member.cores).max().unwrap_or(0)
}

/// Which members of a group share memory; of two groups, whether all do.
fn nodes_of(local: &[Proposal], theirs: &[Proposal]) -> Nodes {
    let all = || local.iter().chain(theirs);
    if all().all(|member| member.machine == local[0].machine) {
        return Nodes::One;
    }
    if !theirs.is_empty() {
        return Nodes::APART;
    }
    let mut machines = Ordered::new();
    let label = |member: &Proposal| {
        let next = machines.len() as u32;
        *machines.get_or_insert_with(member.machine, || next)
    };
    Nodes::of(&all().map(label).collect::<Vec<_>>())
}

fn group_of(engine: &mut Engine, members: &[Proposal]) -> Result<Group> {
    let numbers = members.iter().map(|member| engine.number(member.process));
    Ok(Group::new(numbers.collect::<Result<Vec<_>>>()?, engine.rank() as u32))
}

fn addresses(
    engine: &mut Engine,
    members: &[Proposal],
    context: impl Fn(&Proposal) -> u32,
) -> Result<Addresses> {
    let mut address =
        |member: &Proposal| Ok(Address { peer: engine.peer(member.process)?, context: context(member) });
    members.iter().map(&mut address).collect()
}

/// Those of `proposals` that name `color`, in the order of their keys, and as given where keys are equal.
pub(super) fn members(proposals: &[Proposal], color: i64) -> Vec<Proposal> {
    let mut members: Vec<_> = proposals.iter().filter(|proposal| proposal.color == color).copied().collect();
    order::by_key(&mut members, |member| member.key.abs_diff(i32::MIN).into());
    members
}

impl Record for Proposal {
    const BYTES: usize = 40 + Whereabouts::BYTES;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.color.to_ne_bytes());
        into.extend_from_slice(&self.lines.to_ne_bytes());
        into.extend_from_slice(&self.key.to_ne_bytes());
        into.extend_from_slice(&self.context.to_ne_bytes());
        into.extend_from_slice(&self.channel_context.to_ne_bytes());
        into.extend_from_slice(&self.cores.to_ne_bytes());
        into.extend_from_slice(&self.machine.to_ne_bytes());
        self.process.write(into);
    }

    fn read(from: &[u8]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(from[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_ne_bytes(from[at..at + 4].try_into().expect("4 bytes"));
        Self {
            color: word(0).cast_signed(),
            lines: word(8),
            key: half(16).cast_signed(),
            context: half(20),
            channel_context: half(24),
            cores: half(28),
            machine: word(32),
            process: Whereabouts::read(&from[40..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(color: i64, key: i32, context: u32) -> Proposal {
        Proposal { color, key, context, ..Proposal::default() }
    }

    #[test]
    fn members_are_those_of_the_color_in_the_order_of_keys_then_ranks() {
        let all = [proposal(1, 5, 0), proposal(2, 0, 1), proposal(1, -3, 2), proposal(1, 5, 3)];
        let ranks: Vec<_> = members(&all, 1).iter().map(|member| member.context).collect();
        assert_eq!(ranks, [2, 0, 3]);
    }

    #[test]
    fn a_proposal_survives_its_record() {
        let process = Whereabouts::read(&[7; Whereabouts::BYTES]);
        let (lines, cores, machine) = (1 << 40, 11, u64::MAX - 5);
        let all =
            Proposal { color: -1, key: -7, process, context: 9, channel_context: 10, lines, cores, machine };
        let mut bytes = Vec::new();
        all.write(&mut bytes);
        assert_eq!(bytes.len(), Proposal::BYTES);
        assert_eq!(Proposal::read(&bytes), all);
    }
}
