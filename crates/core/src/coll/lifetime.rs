//! The three lifetimes of any collective.
//!
//! *Blocking*: the run lives on the caller's stack and goes to its end. *Nonblocking*: the engine keeps the
//! run, begun once. *Persistent*: the engine keeps it, on a channel of its own, to be begun at will.
//!
//! MPI-5.0: Collective Communication, Nonblocking Collective Operations; Persistent Collective Operations.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_engine::{Absent, Address, ChannelKey, ChannelPlan, Program, Run, RunKey};
use oxmpi_plan::Peer;
use oxmpi_shm::Block;

use super::exchange::Records;
use super::irregular::{Irregular, Source};
use super::placing::Known;
use super::{Case, Operation, Record, exchange};
use crate::comm::Communicator;
use crate::lines::check_lines;
use crate::process::{Process, State};
use crate::request::{Kind, Request, RequestKey};
use crate::wait::Awaited;

impl Process {
    /// Runs a collective to its end.
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    pub fn blocking(&self, comm: &Arc<Communicator>, operation: &Operation) -> Result<()> {
        let mut state = self.enter();
        let plan = state.lend_plan(comm, operation);
        let mut run = Run::new(&plan);
        state.engine.begin(comm.channel, &mut run, &plan, &operation.binding);
        self.wait_inside(state, OnTheStack { comm, operation, run, plan: Some(plan) })
    }

    /// Begins a collective.
    ///
    /// # Errors
    /// None yet; what goes wrong is in the completion.
    pub fn nonblocking(&self, comm: &Arc<Communicator>, operation: Operation) -> Result<RequestKey> {
        let mut state = self.enter();
        let run = state.begin(comm, operation);
        Ok(state.requests.insert(Request::new(Kind::Collective(run), comm)))
    }

    /// Prepares a collective to be started at will. Collective: all ranks prepare the same.
    ///
    /// # Errors
    /// `Other` if another rank prepares another collective, or the same with other arguments; the text names
    /// both. `NoMem` if shared memory is used up.
    pub fn persistent(&self, comm: &Arc<Communicator>, operation: Operation) -> Result<RequestKey> {
        let (mine, lines) = self.enter().prepare(comm, &operation);
        let theirs = exchange(self, comm, &mine).and_then(|theirs| agreed(comm.rank(), &mine, theirs));
        let theirs = theirs.inspect_err(|_| {
            let mut state = self.enter();
            state.withdraw(&[mine.context], lines);
            state.engine.release(&operation.binding);
        })?;
        let channel = self.enter().open_channel(comm, &theirs, lines)?;
        let everybody = theirs.local.iter().chain(&theirs.remote);
        let plan = self.plan_among(comm, &operation, everybody.map(|other| other.known));
        let mut state = self.enter();
        let plan = plan.inspect_err(|_| {
            state.engine.leave_channel(channel, None);
            state.engine.release(&operation.binding);
        })?;
        let run = state.engine.keep(channel, plan, operation.binding);
        let kind = Kind::PersistentCollective { active: false, run, channel };
        Ok(state.requests.insert(Request::new(kind, comm)))
    }
}

/// The run of a blocking call. What it has borrowed it gives back when it is complete.
struct OnTheStack<'a> {
    comm: &'a Communicator,
    operation: &'a Operation,
    run: Run,
    /// Until the run is complete.
    plan: Option<Arc<Program>>,
}

impl Awaited for OnTheStack<'_> {
    type Outcome = Result<()>;

    #[inline]
    fn look(&mut self, state: &mut State) -> Option<Result<()>> {
        if self.run.awaits().is_some_and(|awaits| !awaits.has_come()) {
            return None;
        }
        let plan = self.plan.as_ref()?;
        let (channel, binding) = (self.comm.channel, &self.operation.binding);
        let outcome = match state.engine.advance(channel, &mut self.run, plan, binding) {
            Ok(false) => return None,
            outcome => outcome.map(drop),
        };
        if let Some(plan) = self.plan.take() {
            state.give_plan_back(self.comm, self.operation, plan);
        }
        state.engine.release(binding);
        Some(outcome)
    }

    fn describe(&self, state: &State) -> Option<String> {
        self.plan.as_ref().map(|plan| state.engine.describe_run(self.comm.channel, &self.run, plan, state))
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<u32> {
        state.engine.misses(self.comm.channel, &self.run, self.plan.as_ref()?, absent)
    }
}

impl State {
    #[inline]
    fn lend_plan(&mut self, comm: &Communicator, operation: &Operation) -> Arc<Program> {
        match &operation.irregular {
            Some(irregular) => self.plan_of(comm, irregular),
            None => self.plans.lend(comm.channel, &operation.case, comm.rank()),
        }
    }

    #[inline]
    fn give_plan_back(&mut self, comm: &Communicator, operation: &Operation, plan: Arc<Program>) {
        if operation.irregular.is_none() {
            self.plans.give_back(comm.channel, &operation.case, plan);
        }
    }

    pub(super) fn share_plan(&mut self, comm: &Communicator, operation: &Operation) -> Arc<Program> {
        match &operation.irregular {
            Some(irregular) => self.plan_of(comm, irregular),
            None => self.plans.share(comm.channel, &operation.case, comm.rank()),
        }
    }

    /// The plan of an operation for this run: others plan theirs by themselves.
    fn plan_of(&mut self, comm: &Communicator, irregular: &Irregular) -> Arc<Program> {
        match &irregular.source {
            Source::Lengths { lengths, form } => {
                self.plans.of_lengths(comm, irregular.function, form, lengths)
            }
            Source::Made(plan) => Arc::clone(plan),
        }
    }

    /// Begins a collective that the engine keeps.
    pub(crate) fn begin(&mut self, comm: &Communicator, operation: Operation) -> RunKey {
        let plan = self.share_plan(comm, &operation);
        let run = self.engine.keep(comm.channel, plan, operation.binding);
        self.engine.start(run);
        run
    }

    fn prepare(&mut self, comm: &Communicator, operation: &Operation) -> (Preparation, Option<Block>) {
        let remote = if comm.is_inter() { comm.peers() } else { 0 };
        let (offset, lines) = self.offer_lines(comm.size() + remote);
        let context = self.engine.p2p.open_context();
        let known = Known::of(comm, operation.irregular.as_deref());
        (Preparation { lines: offset, context, call: Call::of(operation), known }, lines)
    }

    fn open_channel(
        &mut self,
        comm: &Communicator,
        theirs: &Records<Preparation>,
        lines: Option<Block>,
    ) -> Result<ChannelKey> {
        let channel = self.engine.channel(comm.channel);
        let beside = |peer, other: &Preparation| Address {
            node_rank: channel.address(peer).node_rank,
            context: other.context,
        };
        let members =
            (0..).zip(&theirs.local).map(|(rank, other)| beside(Peer::Local(rank), other)).collect();
        let remote =
            (0..).zip(&theirs.remote).map(|(rank, other)| beside(Peer::Remote(rank), other)).collect();
        let everybody = theirs.local.iter().chain(&theirs.remote);
        let offsets = if lines.is_some() { everybody.map(|other| other.lines).collect() } else { Vec::new() };
        self.engine.open_channel(ChannelPlan { rank: comm.rank(), members, remote, lines: offsets }, lines)
    }
}

/// What a rank tells the others when it prepares a persistent collective.
#[derive(Clone, Copy, Debug)]
struct Preparation {
    lines: u64,
    context: u32,
    call: Call,
    known: Known,
}

/// What must be the same on all ranks, as words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    /// Index of the [`Function`].
    function: u16,
    commutative: bool,
    /// `NO_ROOT` where there is none.
    root: u32,
    unit: u32,
    bytes: u64,
}

const NO_ROOT: u32 = u32::MAX;

impl Call {
    fn of(operation: &Operation) -> Self {
        let alike = |function| Self {
            function: function as u16,
            commutative: true,
            root: NO_ROOT,
            unit: 1,
            bytes: 0,
        };
        let Case { shape, .. } = operation.case;
        let info = shape.collective.info();
        if let Some(irregular) = &operation.irregular {
            Self { root: irregular.root().unwrap_or(NO_ROOT), ..alike(irregular.function) }
        } else if shape.is_between() {
            // The groups need not see the same lengths, and are told differently who the root is.
            alike(info.functions.persistent)
        } else {
            Self {
                commutative: shape.commutative,
                root: if info.is_rooted() { shape.root.rank() } else { NO_ROOT },
                unit: shape.unit,
                bytes: shape.bytes,
                ..alike(info.functions.persistent)
            }
        }
    }

    fn describe(&self) -> String {
        let name = Function::from_index(self.function).map_or("?", Function::name);
        let root = if self.root == NO_ROOT { String::new() } else { format!(", root {}", self.root) };
        let unit = if self.unit > 1 { format!(" in elements of {}", self.unit) } else { String::new() };
        format!("{name} ({} bytes{unit}{root})", self.bytes)
    }
}

/// What all ranks tell, if they prepare the same and have the memory for it.
fn agreed(rank: u32, mine: &Preparation, theirs: Records<Preparation>) -> Result<Records<Preparation>> {
    for (group, whose) in [(&theirs.local, "rank"), (&theirs.remote, "remote rank")] {
        if let Some(other) = group.iter().position(|other| other.call != mine.call) {
            return Err(mismatch(rank, &mine.call, &format!("{whose} {other}"), &group[other].call));
        }
    }
    check_lines("group", theirs.local.iter().map(|other| other.lines))?;
    check_lines("remote group", theirs.remote.iter().map(|other| other.lines))?;
    Ok(theirs)
}

#[cold]
fn mismatch(rank: u32, mine: &Call, who: &str, other: &Call) -> Error {
    let (mine, other) = (mine.describe(), other.describe());
    let text = format!("ranks prepare different collectives: rank {rank} calls {mine}, {who} calls {other}");
    Error::new(ErrorClass::Other, text)
}

impl Record for Preparation {
    const BYTES: usize = 31 + Known::BYTES;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.lines.to_ne_bytes());
        into.extend_from_slice(&self.call.bytes.to_ne_bytes());
        into.extend_from_slice(&self.context.to_ne_bytes());
        into.extend_from_slice(&self.call.root.to_ne_bytes());
        into.extend_from_slice(&self.call.unit.to_ne_bytes());
        into.extend_from_slice(&self.call.function.to_ne_bytes());
        into.push(u8::from(self.call.commutative));
        self.known.write(into);
    }

    fn read(from: &[u8]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(from[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_ne_bytes(from[at..at + 4].try_into().expect("4 bytes"));
        let call = Call {
            function: u16::from_ne_bytes([from[28], from[29]]),
            commutative: from[30] != 0,
            root: half(20),
            unit: half(24),
            bytes: word(8),
        };
        Self { lines: word(0), context: half(16), call, known: Known::read(&from[31..]) }
    }
}
