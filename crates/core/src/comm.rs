//! Communicators: a group, and contexts that keep its messages apart from all others.
//!
//! A process numbers its contexts itself and tells the members of a new communicator its numbers, so nothing
//! has to be agreed on. A communicator has two: for messages, and (its channel's) for collectives.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Management.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::{Address, ChannelKey, ChannelPlan, Engine};
use oxmpi_shm::Block;

use crate::coll::{Record, exchange};
use crate::group::{Comparison, Group};
use crate::offer::check_lines;
use crate::process::{Process, State};
use crate::topology::Topology;

/// A communicator within one group.
#[derive(Debug)]
pub struct Communicator {
    group: Group,
    rank: u32,
    /// The context for messages, in this process.
    pub(crate) context: u32,
    /// The process of each member and its context for messages.
    pub(crate) addresses: Arc<[Address]>,
    /// The channel of the collectives.
    pub(crate) channel: ChannelKey,
    /// Set before anybody else sees the communicator, or never; shared by duplicates.
    pub(crate) topology: OnceLock<Arc<Topology>>,
    name: Mutex<String>,
}

/// What a member of a communicator that is being made tells the others.
#[derive(Clone, Copy, Debug, Default)]
struct Proposal {
    /// Which of several new communicators; -1 is none.
    color: i64,
    key: i32,
    context: u32,
    channel_context: u32,
    lines: u64,
}

impl Communicator {
    /// The communicator of all ranks: contexts and lines are where they are by convention.
    pub(crate) fn world(engine: &mut Engine) -> Self {
        let context = engine.p2p.open_context();
        let size = engine.size() as u32;
        let group = Group::new(0..size, engine.rank() as u32);
        let addresses = (0..size).map(|node_rank| Address { node_rank, context }).collect();
        let channel = engine.open_first_channel();
        Self::new(group, context, addresses, channel, "MPI_COMM_WORLD")
    }

    /// The communicator of this rank alone.
    pub(crate) fn myself(engine: &mut Engine) -> Self {
        let me = engine.rank() as u32;
        let context = engine.p2p.open_context();
        let channel_context = engine.p2p.open_context();
        let at = |context| Arc::from([Address { node_rank: me, context }]);
        let channel = engine.open_channel(
            ChannelPlan { rank: 0, members: at(channel_context), remote: Arc::default(), lines: Vec::new() },
            None,
        );
        Self::new(Group::new([me], me), context, at(context), channel, "MPI_COMM_SELF")
    }

    fn new(group: Group, context: u32, addresses: Arc<[Address]>, channel: ChannelKey, name: &str) -> Self {
        let rank = group.rank().expect("a process is a member of its communicators");
        let (topology, name) = (OnceLock::new(), Mutex::new(name.to_owned()));
        Self { group, rank, context, addresses, channel, topology, name }
    }

    /// Number of members.
    #[inline]
    pub fn size(&self) -> u32 {
        self.addresses.len() as u32
    }

    /// This process's rank.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// The group.
    pub fn group(&self) -> Group {
        self.group.clone()
    }

    /// Whether there is a remote group.
    pub fn is_inter(&self) -> bool {
        false
    }

    /// The name.
    pub fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the name.
    pub fn set_name(&self, name: &str) {
        name.clone_into(&mut self.name.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// How the two are alike.
    pub fn compare(&self, other: &Self) -> Comparison {
        match self.group.compare(&other.group) {
            Comparison::Ident if self.channel != other.channel => Comparison::Congruent,
            comparison => comparison,
        }
    }

    /// The only group.
    ///
    /// # Errors
    /// `Comm` for an intercommunicator.
    pub(crate) fn only_group(&self) -> Result<&Group> {
        if self.is_inter() {
            let text = "the communicator is an intercommunicator, which this function does not take";
            return Err(Error::new(ErrorClass::Comm, text));
        }
        Ok(&self.group)
    }

    /// The root of a collective.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank of the communicator.
    pub(crate) fn root(&self, root: i32) -> Result<u32> {
        u32::try_from(root).ok().filter(|&root| root < self.size()).ok_or_else(|| {
            let size = self.size();
            Error::new(
                ErrorClass::Root,
                format!("root {root} is not a rank of the communicator, whose size is {size}"),
            )
        })
    }
}

impl Process {
    /// A communicator with the same group and topology and new contexts. Collective.
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    pub fn comm_dup(&self, comm: &Arc<Communicator>) -> Result<Arc<Communicator>> {
        let made = self.comm_split(comm, Some(0), 0)?;
        let made = made.expect("whoever names a color becomes a member");
        made.inherit_topology(comm);
        Ok(made)
    }

    /// Communicators of the members that name the same color, in the order of their keys (and of their ranks,
    /// where keys are equal); none for those that name none. Collective.
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
        self.make_communicator(comm, color.map_or(-1, i64::from), key)
    }

    /// A communicator of the members of `group`, in its order; none for the others. Collective over `comm`.
    ///
    /// # Errors
    /// `Group` if a member of `group` is not one of `comm`; `NoMem` if shared memory is used up.
    pub fn comm_create(&self, comm: &Arc<Communicator>, group: &Group) -> Result<Option<Arc<Communicator>>> {
        if group.difference(&comm.group).size() != 0 {
            let text = "the group has members that the communicator has not";
            return Err(Error::new(ErrorClass::Group, text));
        }
        let rank = group.rank();
        // Groups of one call are disjoint or equal, so the first member names one.
        let color = rank.map_or(-1, |_| i64::from(group.member(0)));
        self.make_communicator(comm, color, rank.map_or(0, |rank| rank as i32))
    }

    fn make_communicator(
        &self,
        parent: &Arc<Communicator>,
        color: i64,
        key: i32,
    ) -> Result<Option<Arc<Communicator>>> {
        let (mine, lines) = self.enter().propose(parent, color, key);
        let proposals: Vec<Proposal> = exchange(self, parent, &mine)?;
        if color < 0 {
            return Ok(None);
        }
        let mut members: Vec<usize> =
            (0..proposals.len()).filter(|&rank| proposals[rank].color == color).collect();
        members.sort_by_key(|&rank| (proposals[rank].key, rank));
        let mut state = self.enter();
        if let Err(error) = check_lines(members.iter().map(|&rank| proposals[rank].lines)) {
            state.withdraw(&[mine.context, mine.channel_context], lines);
            return Err(error);
        }
        let chosen = members.iter().map(|&rank| (parent.addresses[rank].node_rank, proposals[rank]));
        let made = state.settle(chosen.collect(), lines);
        Ok(Some(Arc::new(made)))
    }

    /// Frees a communicator: it ends when what is under way on it is over. Collective.
    ///
    /// # Errors
    /// `Comm` for those that exist from the start.
    pub fn comm_free(&self, comm: Arc<Communicator>) -> Result<()> {
        let mut state = self.enter();
        if state.is_predefined(&comm) {
            return Err(Error::new(ErrorClass::Comm, format!("{} cannot be freed", comm.name())));
        }
        state.leaving.push(comm);
        state.leave_communicators();
        Ok(())
    }
}

impl State {
    /// Contexts and lines for a communicator that is to be made; none without a color.
    fn propose(&mut self, parent: &Communicator, color: i64, key: i32) -> (Proposal, Option<Block>) {
        if color < 0 {
            return (Proposal { color, ..Proposal::default() }, None);
        }
        let (offset, lines) = self.offer_lines(parent.size());
        let context = self.engine.p2p.open_context();
        let channel_context = self.engine.p2p.open_context();
        (Proposal { color, key, context, channel_context, lines: offset }, lines)
    }

    /// The communicator of the members that proposed it, in order.
    fn settle(&mut self, members: Vec<(u32, Proposal)>, lines: Option<Block>) -> Communicator {
        let me = self.engine.rank() as u32;
        let group = Group::new(members.iter().map(|&(node_rank, _)| node_rank), me);
        let rank = group.rank().expect("a process that names a color becomes a member");
        let context = members[rank as usize].1.context;
        let addresses = members
            .iter()
            .map(|&(node_rank, proposal)| Address { node_rank, context: proposal.context })
            .collect();
        let of_channel = members
            .iter()
            .map(|&(node_rank, proposal)| Address { node_rank, context: proposal.channel_context })
            .collect();
        let offsets = if members.len() > 1 {
            members.iter().map(|(_, proposal)| proposal.lines).collect()
        } else {
            Vec::new()
        };
        let plan = ChannelPlan { rank, members: of_channel, remote: Arc::default(), lines: offsets };
        let channel = self.engine.open_channel(plan, lines);
        Communicator::new(group, context, addresses, channel, "")
    }

    /// Leaves those freed communicators that no operation needs any more.
    pub(crate) fn leave_communicators(&mut self) {
        let (over, still): (Vec<_>, Vec<_>) =
            self.leaving.drain(..).partition(|comm| Arc::strong_count(comm) == 1);
        self.leaving = still;
        for comm in over {
            self.plans.forget(comm.channel);
            self.engine.leave_channel(comm.channel, Some(comm.context));
        }
    }
}

impl Record for Proposal {
    const BYTES: usize = 28;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.color.to_ne_bytes());
        into.extend_from_slice(&self.lines.to_ne_bytes());
        into.extend_from_slice(&self.key.to_ne_bytes());
        into.extend_from_slice(&self.context.to_ne_bytes());
        into.extend_from_slice(&self.channel_context.to_ne_bytes());
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
        }
    }
}
