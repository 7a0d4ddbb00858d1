//! Communicators: one group or two, and contexts that keep their messages apart from all others.
//!
//! A process numbers its contexts itself and tells the members of a new communicator its numbers, so nothing
//! has to be agreed on. A communicator has two: for messages, and (its channel's) for collectives.
//!
//! | module | what |
//! |---|---|
//! | `known` | the communicators that there are |
//! | `offer` | what a process offers to a communicator that is made, and how offers become one |
//! | `create`, `split_type` | new communicators of the members of one that exists |
//! | `idup`, `duplication` | duplicating without waiting |
//! | `from_group` | new communicators of groups, whose members alone take part |
//! | `inter` | intercommunicators: made of two groups, and merged into one |
//! | `names` | what reports call them |
//! | `attachments` | what programs keep with them |
//! | `meeting`, `correspondence`, `letters` | how processes tell each other offers that share no communicator yet |
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Management; Inter-Communication.

mod attachments;
mod correspondence;
mod create;
pub(crate) mod duplication;
mod from_group;
mod idup;
pub(crate) mod inter;
pub(crate) mod known;
pub(crate) mod letters;
mod meeting;
mod names;
mod offer;
pub(crate) mod split_type;

use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::{Address, Addresses, ChannelKey, ChannelPlan, Engine, Form, Notes, PeerId};
use oxmpi_plan::Nodes;

use attachments::Attachments;

use crate::group::{Comparison, Group};
use crate::info::{Hints, memory_kinds};
use crate::nodes::Everybody;
use crate::topology::{Cartesian, DistGraph, Graph, Topology};

/// A communicator within one group, or between two.
#[derive(Debug)]
pub struct Communicator {
    /// The group that this process is a member of: the local one.
    group: Group,
    /// The other group of an intercommunicator.
    remote_group: Option<Group>,
    rank: u32,
    size: u32,
    /// Cores that its ranks share, the same to all of them: the most that one of their jobs has.
    pub(crate) cores: u32,
    /// Which of its ranks share memory; if it has two groups, whether all do.
    pub(crate) nodes: Nodes,
    /// The context for messages, in this process.
    pub(crate) context: u32,
    /// Where messages to a rank go: to members of the remote group, if there is one. The process and its
    /// context for messages.
    pub(crate) addresses: Addresses,
    /// The channel of the collectives.
    pub(crate) channel: ChannelKey,
    /// Set before anybody else sees the communicator, or never; shared by duplicates.
    topology: OnceLock<Arc<Topology>>,
    name: Mutex<OsString>,
    /// From when somebody asks, or the front knows better.
    hints: OnceLock<Mutex<Hints>>,
    attachments: Attachments,
}

impl Communicator {
    /// The communicator of all ranks: contexts and lines are where they are by convention.
    pub(crate) fn world(engine: &mut Engine) -> Self {
        let context = engine.p2p.open_context();
        let size = engine.size() as u32;
        let group = Group::new(0..size, engine.rank() as u32);
        let addresses = (0..size).map(|rank| Address { peer: PeerId::of_rank(rank), context }).collect();
        let channel = engine.open_first_channel(Some(context));
        let cores = engine.cpus() as u32;
        Self::new((group, None), cores, Nodes::One, context, addresses, channel, "MPI_COMM_WORLD")
    }

    /// The same of a job on several nodes.
    ///
    /// # Errors
    /// `Other` if a rank cannot be reached.
    pub(crate) fn world_of_nodes(engine: &mut Engine, all: &Everybody) -> Result<Self> {
        let context = engine.p2p.open_context();
        let group = all.group(engine)?;
        let addresses = all.addresses(engine, context)?;
        let channel = engine.open_first_channel_among(&all.processes, all.rank, Some(context))?;
        let (cores, nodes) = (all.cores, all.nodes);
        Ok(Self::new((group, None), cores, nodes, context, addresses, channel, "MPI_COMM_WORLD"))
    }

    /// The communicator of this rank alone.
    pub(crate) fn myself(engine: &mut Engine) -> Self {
        let me = engine.rank() as u32;
        let context = engine.p2p.open_context();
        let channel_context = engine.p2p.open_context();
        let at = |context| [Address { peer: PeerId::of_rank(me), context }].into_iter().collect();
        let plan = without_lines(0, at(channel_context), context);
        let channel = engine.open_channel(plan, None).expect("one rank alone has no lines");
        let groups = (Group::new([me], me), None);
        Self::new(groups, 1, Nodes::One, context, at(context), channel, "MPI_COMM_SELF")
    }

    /// The communicator of all ranks in which they meet in the end. As it is used once, it has no lines.
    ///
    /// # Errors
    /// `Other` if a rank of another node cannot be reached.
    pub(crate) fn farewell(engine: &mut Engine, all: Option<&Everybody>) -> Result<Self> {
        let (size, me) = (engine.size() as u32, engine.rank() as u32);
        let (context, channel_context) = (engine.p2p.open_context(), engine.p2p.open_context());
        let at = |context| (0..size).map(|rank| Address { peer: PeerId::of_rank(rank), context }).collect();
        let (group, rank, addresses, members) = match all {
            None => (Group::new(0..size, me), me, at(context), at(channel_context)),
            Some(all) => (
                all.group(engine)?,
                all.rank,
                all.addresses(engine, context)?,
                all.addresses(engine, channel_context)?,
            ),
        };
        let plan = without_lines(rank, members, context);
        let channel =
            engine.open_channel(plan, None).expect("a channel without lines needs no address space");
        let cores = engine.cpus() as u32;
        Ok(Self::new((group, None), cores, Nodes::APART, context, addresses, channel, "MPI_Finalize"))
    }

    fn new(
        (group, remote_group): (Group, Option<Group>),
        cores: u32,
        nodes: Nodes,
        context: u32,
        addresses: Addresses,
        channel: ChannelKey,
        name: &str,
    ) -> Self {
        let rank = group.rank().expect("a process is a member of its communicators");
        let (size, name) = (group.size(), Mutex::new(name.into()));
        let (topology, hints, attachments) = (OnceLock::new(), OnceLock::new(), Attachments::default());
        Self {
            group,
            remote_group,
            rank,
            size,
            cores,
            nodes,
            context,
            addresses,
            channel,
            topology,
            name,
            hints,
            attachments,
        }
    }

    /// Number of members of this process's group.
    #[inline]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// This process's rank in its group.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// This process's group.
    pub fn group(&self) -> Group {
        self.group.clone()
    }

    /// The other group, of an intercommunicator.
    pub fn remote_group(&self) -> Option<Group> {
        self.remote_group.clone()
    }

    /// Whether there is a remote group.
    #[inline]
    pub fn is_inter(&self) -> bool {
        self.remote_group.is_some()
    }

    /// Whether all its ranks share memory, so that they read the same clock, too.
    #[inline]
    pub fn is_on_one_node(&self) -> bool {
        self.nodes == Nodes::One
    }

    /// Number of ranks that messages go to and that blocks of collectives are counted by: those of the remote
    /// group, if there is one.
    #[inline]
    pub fn peers(&self) -> u32 {
        self.addresses.len() as u32
    }

    /// The name: bytes, as C has it.
    pub fn name(&self) -> OsString {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the name.
    pub fn set_name(&self, name: impl AsRef<OsStr>) {
        name.as_ref().clone_into(&mut self.name.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The hints.
    pub fn hints(&self) -> MutexGuard<'_, Hints> {
        let hints = self.hints.get_or_init(|| Mutex::new(Hints::new(memory_kinds::of_world())));
        hints.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives it other hints than those it has.
    pub fn set_hints(&self, hints: Hints) {
        if let Err(hints) = self.hints.set(Mutex::new(hints)) {
            *self.hints() = hints.into_inner().unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How the two are alike.
    pub fn compare(&self, other: &Self) -> Comparison {
        let groups = match (&self.remote_group, &other.remote_group) {
            (None, None) => self.group.compare(&other.group),
            (Some(mine), Some(theirs)) => self.group.compare(&other.group).and(mine.compare(theirs)),
            _ => Comparison::Unequal,
        };
        match groups {
            Comparison::Ident if self.channel != other.channel => Comparison::Congruent,
            comparison => comparison,
        }
    }

    /// The topology, if there is one.
    pub fn topology(&self) -> Option<&Topology> {
        self.topology.get().map(Arc::as_ref)
    }

    /// The grid.
    ///
    /// # Errors
    /// `Topology` if there is none.
    pub fn cartesian(&self) -> Result<&Cartesian> {
        match self.topology() {
            Some(Topology::Cartesian(grid)) => Ok(grid),
            other => Err(unlike("a Cartesian", other)),
        }
    }

    /// The distributed graph.
    ///
    /// # Errors
    /// `Topology` if there is none.
    pub fn dist_graph(&self) -> Result<&DistGraph> {
        match self.topology() {
            Some(Topology::DistGraph(graph)) => Ok(graph),
            other => Err(unlike("a distributed graph", other)),
        }
    }

    /// The graph.
    ///
    /// # Errors
    /// `Topology` if there is none.
    pub fn graph(&self) -> Result<&Graph> {
        match self.topology() {
            Some(Topology::Graph(graph)) => Ok(graph),
            other => Err(unlike("a graph", other)),
        }
    }

    /// Gives a new communicator the topology of the one that it duplicates.
    pub(crate) fn inherit_topology(&self, from: &Self) {
        if let Some(topology) = from.topology.get() {
            self.attach_topology(Arc::clone(topology));
        }
    }

    /// Gives a new communicator its topology.
    pub(crate) fn attach_topology(&self, topology: Arc<Topology>) {
        self.topology.set(topology).expect("a new communicator has no topology yet");
    }

    /// Refuses an intercommunicator, which was passed as `argument`.
    ///
    /// # Errors
    /// `Comm` if it is one.
    pub(crate) fn check_intra(&self, argument: &str) -> Result<()> {
        if self.is_inter() {
            let text = format!("{argument} is an intercommunicator, which this function does not take");
            return Err(Error::new(ErrorClass::Comm, text));
        }
        Ok(())
    }
}

/// The channel of a communicator whose collectives are messages, or concern this process alone.
fn without_lines(rank: u32, members: Addresses, context: u32) -> ChannelPlan {
    let (remote, form) = (Addresses::NONE, Form::of_communicator(Notes::None));
    ChannelPlan { rank, members, remote, beside: Some(context), lines: Vec::new(), form }
}

#[cold]
fn unlike(wanted: &str, found: Option<&Topology>) -> Error {
    let found = match found {
        None => "none",
        Some(Topology::Cartesian(_)) => "a Cartesian one",
        Some(Topology::DistGraph(_)) => "a distributed graph",
        Some(Topology::Graph(_)) => "a graph",
    };
    Error::new(ErrorClass::Topology, format!("comm should have {wanted} topology, but has {found}"))
}
