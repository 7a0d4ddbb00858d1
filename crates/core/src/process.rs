//! One MPI process: what it consists of.
//!
//! How it joins its job, what it does there, and how it leaves, is written in the chapters: see the table of the
//! crate.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use oxmpi_base::Result;
use oxmpi_engine::machine::{Bed, ProcessorQueue, StatePage, end_process, usable_cpus};
use oxmpi_engine::{Engine, PeerId};
use oxmpi_mem::{Callers, Entered, Gate, Helper, Pool};
use oxmpi_pmi::Bootstrap;

pub use oxmpi_engine::machine::Phase;

use crate::arrival::{PATIENCE, arrive};
use crate::coll::cache::PlanCache;
use crate::coll::machines::Machines;
use crate::comm::Communicator;
use crate::comm::known::Communicators;
use crate::comm::letters::Letters;
use crate::jobs::abroad::Abroad;
use crate::kept::KeptMessages;
use crate::lent::Lent;
use crate::nodes::Everybody;
use crate::policy::{Policy, Silence, VainLooks};
use crate::progress::{Absence, Progress, ProgressThread};
use crate::request::Requests;
use crate::send_buffer::SendBuffers;
use crate::settings::Settings;
use crate::users::Users;
use crate::vain::Patience;

/// How the threads of a program use MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ThreadLevel {
    /// There is one thread.
    Single,
    /// Only the thread that initialised MPI calls it.
    Funneled,
    /// Several call it, one at a time.
    Serialized,
    /// Several call it at the same time.
    Multiple,
}

/// What ends a process.
pub trait Exit: Send + Sync {
    /// Ends it with a status.
    fn exit(&self, status: u8) -> !;
}

impl Exit for fn(u8) -> ! {
    fn exit(&self, status: u8) -> ! {
        self(status)
    }
}

/// How a process begins.
pub struct Start {
    /// Whether there is a launcher to turn to.
    pub is_launched: bool,
    /// The launcher, where it is to be told how the process ends.
    pub launcher: Option<Box<dyn Bootstrap>>,
    /// The processes of the job, if they are on several nodes: only if there is a launcher.
    pub everybody: Option<Everybody>,
    /// Those of all ranks of the job; those on several nodes have compared them.
    pub settings: Settings,
    /// What it shows of itself from then on: in the world model, or in a session.
    pub phase: Phase,
    /// What ends it with a status, when the job cannot go on: [`end_process`], where it is all that the process does.
    pub end: Arc<dyn Exit>,
}

/// One MPI process.
pub struct Process {
    gate: Gate<State>,
    world: Arc<Communicator>,
    myself: Arc<Communicator>,
    farewell: Arc<Communicator>,
    has_sessions: AtomicBool,
    pub(crate) users: Users,
    /// The launcher that is to be told how this process ends, if there is one and it was not told yet.
    launcher: Mutex<Option<Box<dyn Bootstrap>>>,
    pub(crate) abroad: Abroad,
    pub(crate) lent: Lent,
    compares_types: bool,
    pub(crate) is_reproducible: bool,
    pub(crate) shows_plans: bool,
    end: Arc<dyn Exit>,
    page: &'static StatePage,
    pub(crate) bed: Bed,
    pub(crate) policy: Policy,
    pub(crate) processor: ProcessorQueue,
    pub(crate) progress: ProgressThread<Self>,
}

/// What the threads of a process share, behind its gate: rooms, each of which keeps its own things in order.
pub struct State {
    pub(crate) engine: Engine,
    pub(crate) buffers: SendBuffers,
    pub(crate) comms: Communicators,
    pub(crate) kept: KeptMessages,
    pub(crate) letters: Letters,
    pub(crate) plans: PlanCache,
    pub(crate) requests: Requests,
    /// Of tests and probes.
    pub(crate) vain: VainLooks,
    /// Since these find nothing: how many waits had begun before.
    pub(crate) silence: Option<(u64, Silence)>,
    /// How many waits have begun, but for those that had nothing to wait for.
    pub(crate) waits: u64,
    /// Where a thread may move something on while the program computes, or what was told may not have gone.
    pub(crate) absence: Option<Absence>,
    /// With waits that are in vain unless another thread cancels what is waited for.
    pub(crate) patience: Patience,
}

impl Process {
    /// The process whose `engine` this is.
    ///
    /// Its `callers` are any for [`ThreadLevel::Multiple`], otherwise they come in turn by the front's promise.
    ///
    /// # Errors
    /// `Other` if ranks have other settings, or one on another node cannot be reached.
    pub fn new(mut engine: Engine, start: Start, callers: Callers) -> Result<Self> {
        let Start { is_launched, launcher, everybody, settings, phase, end } = start;
        if everybody.is_none() {
            settings.agree(&engine)?;
        }
        if settings.checks {
            engine.note_types();
        }
        settings.kept_bytes.into_iter().for_each(|bytes| engine.p2p.keep_at_most(bytes));
        engine.p2p.read_directly(settings.reading);
        let (job, told) = (engine.whereabouts().job(), settings.told());
        let world = Arc::new(match &everybody {
            None => Communicator::world(&mut engine),
            Some(all) => Communicator::world_of_nodes(&mut engine, all)?,
        });
        let myself = Arc::new(Communicator::myself(&mut engine));
        let meeting_context = engine.p2p.open_context();
        let farewell = Arc::new(Communicator::farewell(&mut engine, everybody.as_ref())?);
        let (page, bed) = (engine.state(), engine.bed());
        let policy = policy(&engine, everybody.as_ref(), settings.progress);
        page.set_phase(phase);
        // Sessions are opened by whom and when the program likes.
        arrive(&engine, if phase == Phase::Running { PATIENCE } else { Duration::ZERO });
        // How ranks share a machine, and what is between machines, is not to decide in which order they combine, then.
        let mut plans = PlanCache::new(Machines::new(settings.overrides, settings.is_reproducible));
        let network = everybody.as_ref().and_then(|all| all.prices).filter(|_| !settings.is_reproducible);
        network.into_iter().for_each(|network| plans.meet_network(network));
        let state = State {
            absence: absence(&engine, settings.progress),
            engine,
            buffers: SendBuffers::default(),
            comms: Communicators::new([&world, &myself], &farewell),
            kept: KeptMessages::new(),
            letters: Letters::new(meeting_context),
            plans,
            requests: Requests::default(),
            vain: VainLooks::default(),
            silence: None,
            waits: 0,
            patience: Patience::default(),
        };
        let gate = Gate::new(state, callers);
        if settings.checks {
            gate.enter().requests.origins.begin();
        }
        if gate.is_threaded() {
            gate.enter().engine.p2p.note_threads();
        }
        let Settings { checks: compares_types, is_reproducible, shows_plans, .. } = settings;
        Ok(Self {
            gate,
            world,
            myself,
            farewell,
            has_sessions: AtomicBool::new(false),
            users: Users::new(),
            launcher: Mutex::new(launcher),
            abroad: Abroad::new(is_launched.then_some(job), settings.connect_timeout, told),
            lent: Lent::default(),
            compares_types,
            is_reproducible,
            shows_plans,
            end,
            page,
            bed,
            policy,
            processor: ProcessorQueue::of_this_thread(),
            progress: ProgressThread::default(),
        })
    }

    /// Whether the types of the data in collectives are to be compared, as the user has set.
    pub fn compares_types(&self) -> bool {
        self.compares_types
    }

    /// The communicator of all ranks.
    pub fn world(&self) -> &Arc<Communicator> {
        &self.world
    }

    /// The communicator of this rank alone.
    pub fn myself(&self) -> &Arc<Communicator> {
        &self.myself
    }

    /// Notes that there are sessions, or were: ranks in `MPI_Finalize` may come back for what belongs to them.
    pub(crate) fn note_session(&self) {
        self.has_sessions.store(true, Ordering::Relaxed);
    }

    /// Whether all that this process has belongs to the world model.
    pub(crate) fn is_world_only(&self) -> bool {
        !self.has_sessions.load(Ordering::Relaxed)
    }

    /// Notes how far this process has come, for the launcher and for ranks that wait for its part.
    pub(crate) fn note_phase(&self, phase: Phase) {
        if phase == Phase::Finalized {
            self.end_progress_thread();
        }
        self.page.set_phase(phase);
    }

    /// Ends the job as the program wishes: tells the launcher, and ends this process.
    pub fn abort(&self, code: i32) -> ! {
        self.page.set_phase(Phase::Aborted(code));
        self.tell_of_abort(code, "MPI_Abort was called");
        self.end.exit(status(code))
    }

    /// Ends the job because of an error of this code that nobody could handle.
    pub fn fail(&self, code: i32) -> ! {
        // What has ended that one is why the job ends, and its launcher tells.
        if let Some(state) = self.try_enter()
            && let Some(peer) = state.engine.lost_part()
        {
            self.strand(&state, peer);
        }
        self.page.set_phase(Phase::Failed(code));
        self.tell_of_abort(code, "an error was not handled");
        self.end.exit(status(code))
    }

    /// Lets the launcher end the job, if it does not see that by itself.
    fn tell_of_abort(&self, code: i32, why: &str) {
        if let Some(mut launcher) = self.take_launcher() {
            launcher.abort(status(code), why);
        }
    }

    /// The launcher that is to be told how this process ends, if there is one; once.
    pub(crate) fn take_launcher(&self) -> Option<Box<dyn Bootstrap>> {
        self.launcher().take()
    }

    /// The inverse.
    pub(crate) fn keep_launcher(&self, launcher: Box<dyn Bootstrap>) {
        *self.launcher() = Some(launcher);
    }

    /// Whether there is one.
    pub(crate) fn has_launcher(&self) -> bool {
        self.launcher().is_some()
    }

    fn launcher(&self) -> MutexGuard<'_, Option<Box<dyn Bootstrap>>> {
        self.launcher.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the job because this process would wait for ever for `peer`, which has left. Those who wait in
    /// `MPI_Finalize` need not wait for this one.
    #[cold]
    pub(crate) fn strand(&self, state: &State, peer: PeerId) -> ! {
        let rank = self.world.addresses.iter().position(|address| address.peer == peer);
        self.page.set_phase(Phase::Stranded(rank.map_or(u32::MAX, |rank| rank as u32)));
        (0..state.engine.size()).for_each(|rank| state.engine.state_of(rank).release());
        state.engine.wake_all();
        self.end.exit(1)
    }

    /// Whether several threads have called MPI.
    pub(crate) fn has_had_several(&self) -> bool {
        self.gate.has_had_several()
    }

    /// Notes which function of the standard is being called, for reports; 0 is none.
    #[inline]
    pub fn note_call(&self, function: u16) {
        self.page.set_call(function);
    }

    /// Wakes a thread of this process that sleeps: another one has done what it may wait for.
    pub(crate) fn ring_own_bell(&self) {
        self.bed.ring();
    }

    /// Where all ranks meet in the end, and for nothing else: who is there cannot be taken to take part in another
    /// collective.
    pub(crate) fn farewell(&self) -> &Arc<Communicator> {
        &self.farewell
    }

    #[inline]
    pub(crate) fn enter(&self) -> Entered<'_, State> {
        self.gate.enter()
    }

    /// As [`Process::enter`], unless this thread is inside: a callback has called.
    pub(crate) fn try_enter(&self) -> Option<Entered<'_, State>> {
        self.gate.try_enter()
    }

    /// Who comes in beside the program's threads, if there is nobody yet.
    pub(crate) fn helper(&self) -> Option<Helper<'_, State>> {
        self.gate.helper()
    }

    /// Lets the [helper](Process::helper) come in no more.
    pub(crate) fn end_helper(&self) {
        self.gate.end_helper();
    }

    /// As [`Process::enter`], unless another thread is inside.
    #[inline]
    pub(crate) fn enter_if_free(&self) -> Option<Entered<'_, State>> {
        self.gate.enter_if_free()
    }
}

/// What calls are to note for a thread that stands in for them, if there may be one.
fn absence(engine: &Engine, progress: Progress) -> Option<Absence> {
    let for_long = progress.absence(engine.size(), engine.cpus(), usable_cpus());
    for_long.or_else(|| engine.has_fabric().then(Absence::of_network))
}

/// How the threads of this process wait, beside the ranks that use the same processors.
fn policy(engine: &Engine, everybody: Option<&Everybody>, progress: Progress) -> Policy {
    let threads = progress.threads(engine.size());
    match everybody {
        None => Policy::new(threads, engine.cpus()),
        Some(&Everybody { beside: (ranks, cpus), .. }) => {
            Policy::beside(threads, cpus, progress.threads(ranks))
        }
    }
}

/// Ends this process with `code`, as far as a status can hold it.
pub fn end_with(code: i32) -> ! {
    end_process(status(code))
}

/// The status that tells `code`, as far as one can.
fn status(code: i32) -> u8 {
    match code.to_le_bytes()[0] {
        0 if code != 0 => 1,
        low => low,
    }
}

impl State {
    /// Memory for what the library itself sends and receives.
    #[inline]
    pub(crate) fn pool(&mut self) -> &mut Pool {
        &mut self.engine.p2p.pool
    }

    /// Whether the launcher wants to know what this rank is waiting for.
    pub(crate) fn is_asked(&self) -> bool {
        self.engine.state().is_asked()
    }
}
