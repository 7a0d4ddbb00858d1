//! One MPI process: what it consists of, and how it leaves.
//!
//! Who finalises says that he is leaving as soon as he has told all that he will ever tell. A rank that waits and
//! sees that someone has left without whom the wait can never end, ends the job: see `wait`.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use oxmpi_base::Result;
use oxmpi_engine::machine::{ProcessorQueue, StatePage, end_process};
use oxmpi_engine::{Absent, Address, Bed, Engine, Needs, OpKey, PeerId, Slab};
use oxmpi_mem::{Entered, Gate};

pub use oxmpi_engine::machine::Phase;

use crate::arrival::{PATIENCE, arrive};
use crate::coll::PlanCache;
use crate::comm::{Communicator, Letter};
use crate::jobs::Abroad;
use crate::p2p::KeptMessage;
use crate::policy::{Policy, VainLooks};
use crate::request::{Request, RequestKey};
use crate::send_buffer::SendBuffers;
use crate::settings::Settings;
use crate::wait::Awaited;

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

/// One MPI process.
pub struct Process {
    gate: Gate<State>,
    world: Arc<Communicator>,
    myself: Arc<Communicator>,
    /// Where all ranks meet in the end, and for nothing else: who is there cannot be taken to take part in another
    /// collective.
    farewell: Arc<Communicator>,
    has_sessions: AtomicBool,
    pub(crate) abroad: Abroad,
    compares_types: bool,
    page: &'static StatePage,
    pub(crate) bed: Bed,
    pub(crate) policy: Policy,
    pub(crate) processor: ProcessorQueue,
}

/// What the threads of a process share, behind its gate.
pub struct State {
    pub(crate) engine: Engine,
    pub(crate) requests: Slab<Request>,
    pub(crate) messages: Slab<KeptMessage>,
    pub(crate) buffers: SendBuffers,
    pub(crate) plans: PlanCache,
    /// Of tests and probes.
    pub(crate) vain: VainLooks,
    /// By their contexts here, for reports.
    pub(crate) known: BTreeMap<u32, Weak<Communicator>>,
    /// Communicators that were freed while operations on them were under way.
    pub(crate) leaving: Vec<Arc<Communicator>>,
    /// The requests of duplicates that are made for others.
    pub(crate) unwanted: Vec<RequestKey>,
    /// Where processes meet that share no communicator: the same context in all.
    pub(crate) meeting_context: u32,
    /// In the order in which they came.
    pub(crate) letters: Vec<Letter>,
    world: Arc<Communicator>,
    myself: Arc<Communicator>,
}

impl Process {
    /// The process whose `engine` this is; `settings` are those of all ranks of its job.
    ///
    /// `phase` is what it shows of itself from then on: in the world model, or in a session. `gate` makes the door
    /// to its state: with a lock for [`ThreadLevel::Multiple`], otherwise by the front's promise that calls are
    /// serialised. `is_launched` says whether there is a launcher to turn to.
    ///
    /// # Errors
    /// `Other` if ranks have other settings.
    pub fn new(
        mut engine: Engine,
        is_launched: bool,
        settings: Settings,
        phase: Phase,
        gate: impl FnOnce(State) -> Gate<State>,
    ) -> Result<Self> {
        settings.agree(&engine)?;
        let job = engine.whereabouts().job();
        let world = Arc::new(Communicator::world(&mut engine));
        let myself = Arc::new(Communicator::myself(&mut engine));
        let meeting_context = engine.p2p.open_context();
        let farewell = Arc::new(Communicator::farewell(&mut engine));
        let (page, bed) = (engine.state(), engine.bed());
        let policy = Policy::new(engine.size(), engine.cpus());
        page.set_phase(phase);
        // Sessions are opened by whom and when the program likes.
        arrive(&engine, if phase == Phase::Running { PATIENCE } else { Duration::ZERO });
        let state = State {
            engine,
            requests: Slab::new(),
            messages: Slab::new(),
            buffers: SendBuffers::default(),
            plans: PlanCache::new(settings.overrides),
            vain: VainLooks::default(),
            known: [&world, &myself, &farewell].map(|comm| (comm.context, Arc::downgrade(comm))).into(),
            leaving: Vec::new(),
            unwanted: Vec::new(),
            meeting_context,
            letters: Vec::new(),
            world: Arc::clone(&world),
            myself: Arc::clone(&myself),
        };
        let gate = gate(state);
        if gate.is_threaded() {
            gate.enter().engine.p2p.note_threads();
        }
        let processor = ProcessorQueue::of_this_thread();
        let has_sessions = AtomicBool::new(false);
        let abroad = if is_launched { Abroad::launched(job) } else { Abroad::default() };
        let compares_types = settings.checks;
        Ok(Self {
            gate,
            world,
            myself,
            farewell,
            has_sessions,
            abroad,
            compares_types,
            page,
            bed,
            policy,
            processor,
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

    /// Completes what is under way and waits for the other ranks. Nothing may be called afterwards.
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn finalize(&self) -> Result<()> {
        self.leave()?;
        self.note_phase(Phase::Finalized);
        Ok(())
    }

    /// Completes what is under way and waits for the other ranks. No more is to be begun on what belongs to the
    /// world model, nor was anything else; a send that waits for a receive of a rank that is leaving too is dropped.
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn leave(&self) -> Result<()> {
        let is_world_only = self.is_world_only();
        if is_world_only {
            self.enter().refuse_messages();
        }
        // While the others still poll: once a rank has left, nobody makes room in its rings.
        self.wait_for(|state: &mut State| {
            let mut absent = state.engine.absent(is_world_only);
            (state.engine.is_told(&mut absent) || state.is_released()).then_some(())
        });
        self.note_phase(Phase::Leaving);
        self.enter().engine.wake_all();
        self.wait_for(|state: &mut State| (state.engine.is_served() || state.is_released()).then_some(()));
        self.meet()
    }

    /// Waits until nothing that this process has under way needs it any more. What only ranks could complete that
    /// have left, or this one, is not waited for.
    pub fn complete(&self) {
        self.wait_for(|state: &mut State| (state.engine.is_quiet() || state.is_released()).then_some(()));
    }

    /// Waits until all ranks of the world have come here, or not all will.
    ///
    /// # Errors
    /// Those of a barrier.
    pub fn meet(&self) -> Result<()> {
        let run = {
            let barrier = crate::coll::barrier_by_messages(&self.farewell)?;
            self.enter().begin(&self.farewell, barrier)
        };
        self.wait_for(|state: &mut State| {
            if state.engine.drive(run) {
                let outcome = state.engine.outcome(run);
                state.engine.forget(run);
                return Some(outcome);
            }
            state.is_released().then_some(Ok(()))
        })
    }

    /// Notes that there are sessions, or were: ranks in `MPI_Finalize` may come back for what belongs to them.
    pub fn note_session(&self) {
        self.has_sessions.store(true, Ordering::Relaxed);
    }

    /// Whether all that this process has belongs to the world model.
    pub(crate) fn is_world_only(&self) -> bool {
        !self.has_sessions.load(Ordering::Relaxed)
    }

    /// Notes how far this process has come, for the launcher and for ranks that wait for its part.
    pub fn note_phase(&self, phase: Phase) {
        self.page.set_phase(phase);
    }

    /// Ends the job as the program wishes: tells the launcher, and ends this process.
    pub fn abort(&self, code: i32) -> ! {
        self.page.set_phase(Phase::Aborted(code));
        end_with(code)
    }

    /// Ends the job because of an error of this code that nobody could handle.
    pub fn fail(&self, code: i32) -> ! {
        self.page.set_phase(Phase::Failed(code));
        end_with(code)
    }

    /// Ends the job because this process would wait for ever for `peer`, which has left. Those who wait in
    /// `MPI_Finalize` need not wait for this one.
    #[cold]
    pub(crate) fn strand(&self, state: &State, peer: PeerId) -> ! {
        self.page.set_phase(Phase::Stranded(state.engine.whereabouts_of(peer).rank()));
        (0..state.engine.size()).for_each(|rank| state.engine.state_of(rank).release());
        state.engine.wake_all();
        end_with(1)
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

    #[inline]
    pub(crate) fn enter(&self) -> Entered<'_, State> {
        self.gate.enter()
    }
}

/// Ends this process with `code`, as far as a status can hold it.
pub fn end_with(code: i32) -> ! {
    match code.to_le_bytes()[0] {
        0 if code != 0 => end_process(1),
        low => end_process(low),
    }
}

impl State {
    /// Posts no receives any more on what belongs to the world model.
    fn refuse_messages(&mut self) {
        self.engine.p2p.refuse_all_but(self.meeting_context);
        let taken: Vec<_> = self.messages.entries().map(|(key, _)| key).collect();
        for kept in taken.into_iter().filter_map(|key| self.messages.remove(key)) {
            self.engine.p2p.refuse(kept.message);
        }
    }

    /// Whether not all ranks will come to the end.
    fn is_released(&self) -> bool {
        self.engine.state().is_released()
    }

    /// The peer without which an operation on `comm` will never be over.
    pub(crate) fn misses(&self, comm: &Communicator, op: OpKey, absent: &mut Absent) -> Option<PeerId> {
        match self.engine.p2p.needs(op) {
            Needs::Answer(peer) => absent.is_gone(peer).then_some(peer),
            Needs::Message(source) => self.misses_source(comm, source, absent),
            Needs::Nothing => None,
            Needs::Receive(peer) => Some(peer),
        }
    }

    /// The peer without which no message will come from `source`, or from anybody.
    pub(crate) fn misses_source(
        &self,
        comm: &Communicator,
        source: Option<i32>,
        absent: &mut Absent,
    ) -> Option<PeerId> {
        let peer_of = |address: &Address| address.peer;
        if let Some(source) = source {
            let peer = comm.addresses.get(usize::try_from(source).ok()?).map(peer_of)?;
            return absent.is_leaving(peer).then_some(peer);
        }
        let me = self.engine.me();
        let others: Vec<PeerId> = comm.addresses.iter().map(peer_of).filter(|&peer| peer != me).collect();
        // Another thread may still send to this process.
        let is_alone = !self.engine.p2p.has_threads() || others.len() == comm.addresses.len();
        let first = others.first().copied().filter(|_| is_alone)?;
        others.into_iter().all(|peer| absent.is_leaving(peer)).then_some(first)
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.engine.state().is_asked()
    }

    /// Answers the launcher, if it wants to know what this rank is waiting for.
    pub(crate) fn answer_if_asked(&self, awaited: &impl Awaited) {
        if self.is_asked() {
            let mut pending: Vec<String> = awaited.describe(self).into_iter().collect();
            pending.extend(self.engine.describe(self));
            let report =
                if pending.is_empty() { "nothing is under way".to_owned() } else { pending.join("\n") };
            self.engine.state().answer(&report);
        }
    }

    /// Whether a communicator exists from the start, and so cannot be freed.
    pub(crate) fn is_predefined(&self, comm: &Arc<Communicator>) -> bool {
        Arc::ptr_eq(comm, &self.world) || Arc::ptr_eq(comm, &self.myself)
    }
}
