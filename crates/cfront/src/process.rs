//! The one MPI process that the C functions speak for, and who uses it: the world model, and sessions.
//!
//! Whoever comes first joins the job, and fixes whether threads may be inside at the same time. What it means that one
//! begins or ends is written in `core::leaving`. See `docs/decisions/12-sessions.md`.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model; The Sessions Model.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Phase, Process, ThreadLevel};
use oxmpi_mem::Callers;

use crate::generated::types::MPI_Session;
use crate::signature;
use crate::thread::Thread;

static PROCESS: OnceLock<Process> = OnceLock::new();
/// Whether threads may be inside at the same time, and what the first to join said; from its start, unless it fails.
static FIRST: RwLock<Option<(bool, Init)>> = RwLock::new(None);
/// From the start of `MPI_Init` or `MPI_Init_thread`.
static WORLD: OnceLock<Init> = OnceLock::new();
/// Held while somebody begins to use the process, which may be the first.
static JOINING: Mutex<()> = Mutex::new(());
static STANDING: Standing = Standing(AtomicU8::new(Standing::BEFORE));

/// How far the world model has come. It is one value, lest who asks while another thread finalises sees that it does
/// not run any more, and not yet that it has.
#[derive(Debug)]
struct Standing(AtomicU8);

/// What initialisation fixed.
#[derive(Clone, Copy, Debug)]
pub struct Init {
    /// What threads may do.
    pub level: ThreadLevel,
    /// The thread that initialised.
    pub thread: Thread,
}

/// What an object is derived from. What is derived from the world model ends with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The part of the program that is written in Rust, which has it of the world model or of a session, and ends it.
    Rust,
    /// This session.
    Session(MPI_Session),
    /// The world model.
    World,
}

/// That nobody else begins to use the process.
type Joining = MutexGuard<'static, ()>;

impl Standing {
    const BEFORE: u8 = 0;
    const RUNS: u8 = 1;
    const FINALIZED: u8 = 2;

    #[inline]
    fn get(&self) -> u8 {
        self.0.load(Ordering::Acquire) // pairs with the Release in `set`
    }

    /// Whether it runs, or did.
    fn has_begun(&self) -> bool {
        self.get() != Self::BEFORE
    }

    /// What was done before is visible to who sees this.
    fn set(&self, standing: u8) {
        self.0.store(standing, Ordering::Release); // pairs with the Acquire in `get`
    }
}

fn joining() -> Joining {
    JOINING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn first() -> Option<(bool, Init)> {
    *FIRST.read().unwrap_or_else(PoisonError::into_inner)
}

fn set_first(first: Option<(bool, Init)>) {
    *FIRST.write().unwrap_or_else(PoisonError::into_inner) = first;
}

/// The process, while it is in use.
///
/// # Errors
/// `Other` before the first initialisation and while neither the world model nor a session uses it.
#[inline]
pub fn current() -> Result<&'static Process> {
    match PROCESS.get() {
        Some(process) if process.is_in_use() => Ok(process),
        _ => Err(not_in_use()),
    }
}

/// The process, if it is in use.
#[inline]
pub fn running() -> Option<&'static Process> {
    PROCESS.get().filter(|process| process.is_in_use())
}

#[cold]
fn not_in_use() -> Error {
    let text = if is_finalized() {
        "called after MPI_Finalize"
    } else if PROCESS.get().is_some() {
        "called after MPI_Session_finalize, and before MPI_Init"
    } else {
        "called before MPI_Init"
    };
    Error::new(ErrorClass::Other, text)
}

/// Whether the world model is initialised and not finalised.
#[inline]
pub fn world_runs() -> bool {
    STANDING.get() == Standing::RUNS
}

/// The error of needing the world model, which is not there.
#[cold]
pub fn no_world() -> Error {
    let text = if is_finalized() { "called after MPI_Finalize" } else { "called before MPI_Init" };
    Error::new(ErrorClass::Other, text)
}

/// Begins the world model; the level that is provided may be lower than `required` if a session came first.
///
/// # Errors
/// `Other` if it was begun before, and those of [`Process::init`].
pub fn begin_world(required: ThreadLevel) -> Result<(&'static Process, ThreadLevel)> {
    let joining = joining();
    begin(&joining, required)
}

/// Begins the world model for who calls from this thread alone if he `is_confined`.
///
/// # Errors
/// Those of [`begin_world`]; `Other` if threads may not be inside at the same time, and this is not the one that is.
pub fn begin_world_apart(
    required: ThreadLevel,
    is_confined: bool,
) -> Result<(&'static Process, ThreadLevel)> {
    let joining = joining();
    admit(&joining, is_confined)?;
    begin(&joining, required)
}

fn begin(_: &Joining, required: ThreadLevel) -> Result<(&'static Process, ThreadLevel)> {
    if WORLD.get().is_some() {
        return Err(Error::new(ErrorClass::Other, "MPI was initialised before, and cannot be twice"));
    }
    let process = take_up(required, required == ThreadLevel::Multiple, Phase::Running)?;
    let level = provided(required);
    WORLD.get_or_init(|| Init { level, thread: Thread::current() });
    process.begin_world();
    Ok((process, level))
}

/// Tells that the world's communicators are known.
pub fn world_has_begun() {
    STANDING.set(Standing::RUNS);
}

/// Ends the world model of a child that was [forked off](Process::is_forked), if it is one; for its parent it goes on.
pub fn leave_world_to_parent(process: &Process) -> bool {
    let is_forked = process.is_forked();
    if is_forked {
        STANDING.set(Standing::FINALIZED);
    }
    is_forked
}

/// Ends the world model.
pub fn end_world(process: &Process) {
    STANDING.set(Standing::FINALIZED);
    process.end_world();
}

/// Opens a session; the level that is provided may be lower than `required` if somebody else came first.
///
/// # Errors
/// Those of [`Process::init`].
pub fn open_session(required: ThreadLevel) -> Result<(&'static Process, ThreadLevel)> {
    let joining = joining();
    open(&joining, required)
}

/// Opens a session for who calls from this thread alone if he `is_confined`.
///
/// # Errors
/// `Other` if threads may not be inside at the same time, and this is not the one that is; those of [`Process::init`].
pub fn open_apart(required: ThreadLevel, is_confined: bool) -> Result<&'static Process> {
    let joining = joining();
    admit(&joining, is_confined)?;
    open(&joining, required).map(|(process, _)| process)
}

/// Refuses who may call while another thread is inside, if there is no lock.
fn admit(_: &Joining, is_confined: bool) -> Result<()> {
    let only = first().and_then(|(threaded, init)| (!threaded).then_some(init.thread));
    if only.is_some_and(|only| !is_confined || only != Thread::current()) {
        let text = "this process has been initialised for one thread: only that one begins more, for itself";
        return Err(Error::new(ErrorClass::Other, text));
    }
    Ok(())
}

fn open(_: &Joining, required: ThreadLevel) -> Result<(&'static Process, ThreadLevel)> {
    // Only who promises that there is one thread speaks for the others too: sessions know nothing of each other.
    let process = take_up(required, required != ThreadLevel::Single, Phase::InSession)?;
    process.open_session();
    Ok((process, provided(required)))
}

/// Joins the job for what `phase` tells, unless that was done before.
fn take_up(required: ThreadLevel, threaded: bool, phase: Phase) -> Result<&'static Process> {
    if let Some(process) = PROCESS.get() {
        return Ok(process);
    }
    set_first(Some((threaded, Init { level: required, thread: Thread::current() })));
    let process = Process::init(phase, callers()).inspect_err(|_| set_first(None))?;
    signature::want(&process);
    let process = PROCESS.get_or_init(|| process);
    process.may_have_progress_thread();
    process.tell_launcher_at_exit();
    Ok(process)
}

/// What can be given to who asks for `required`.
fn provided(required: ThreadLevel) -> ThreadLevel {
    match first() {
        Some((false, _)) => required.min(ThreadLevel::Serialized),
        _ => required,
    }
}

/// What the initialisation of the world model fixed, or that of the first session if there was no other.
pub fn init() -> Option<Init> {
    if is_initialized() {
        return WORLD.get().copied();
    }
    running().and(first()).map(|(_, init)| init)
}

/// Whether the world model was initialised, also after its end.
pub fn is_initialized() -> bool {
    STANDING.has_begun()
}

/// Whether the world model was finalised.
pub fn is_finalized() -> bool {
    STANDING.get() == Standing::FINALIZED
}

/// Who comes to the gates of this process: any thread, or one after the other.
pub fn callers() -> Callers {
    match first() {
        Some((false, _)) => {
            // SAFETY: the first to join has promised for the whole program that there is one thread, or (the world
            // model below MPI_THREAD_MULTIPLE) that calls are made one at a time, each after the end of the one
            // before; C code that came later was told the same by the level it got, and what is written in Rust is
            // let in by `admit`. A gate is entered and left inside a call.
            unsafe { Callers::in_turn() }
        }
        _ => Callers::ANY,
    }
}

/// A call of `function`, shown to the launcher until it is dropped.
pub struct Call {
    process: &'static Process,
}

impl Call {
    /// Shows that `process` is in `function`.
    #[inline]
    pub fn begin(process: &'static Process, function: Function) -> Self {
        process.note_call(function.index());
        Self { process }
    }
}

impl Drop for Call {
    #[inline]
    fn drop(&mut self) {
        self.process.note_call(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_while_another_thread_finalises_hears_that_the_world_was_initialised() {
        for _ in 0..2000 {
            let standing = Standing(AtomicU8::new(Standing::RUNS));
            std::thread::scope(|scope| {
                scope.spawn(|| standing.set(Standing::FINALIZED));
                while standing.get() != Standing::FINALIZED {
                    assert!(standing.has_begun());
                }
            });
        }
    }
}
