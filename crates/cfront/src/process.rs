//! The one MPI process that the C functions speak for.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model.

use std::panic;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ThreadId};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Process, ThreadLevel};
use oxmpi_mem::Gate;

static PROCESS: OnceLock<Process> = OnceLock::new();
/// From the start of `MPI_Init` or `MPI_Init_thread`.
static INIT: OnceLock<Init> = OnceLock::new();
static RUNNING: AtomicBool = AtomicBool::new(false);
static FINALIZED: AtomicBool = AtomicBool::new(false);

/// What initialisation fixed.
#[derive(Clone, Copy, Debug)]
pub struct Init {
    /// What threads may do.
    pub level: ThreadLevel,
    /// The thread that initialised.
    pub thread: ThreadId,
}

/// The running process.
///
/// # Errors
/// `Other` before initialisation and after finalization.
#[inline]
pub fn current() -> Result<&'static Process> {
    match PROCESS.get() {
        Some(process) if RUNNING.load(Ordering::Relaxed) => Ok(process),
        _ => Err(not_running()),
    }
}

/// The running process, if there is one.
pub fn running() -> Option<&'static Process> {
    PROCESS.get().filter(|_| RUNNING.load(Ordering::Relaxed))
}

#[cold]
fn not_running() -> Error {
    let text = if is_finalized() { "called after MPI_Finalize" } else { "called before MPI_Init" };
    Error::new(ErrorClass::Other, text)
}

/// Joins the job.
///
/// # Errors
/// `Other` if it was joined before, and those of [`Process::init`].
pub fn join(level: ThreadLevel) -> Result<&'static Process> {
    let init = Init { level, thread: thread::current().id() };
    if INIT.set(init).is_err() {
        return Err(Error::new(ErrorClass::Other, "MPI was initialised before, and cannot be twice"));
    }
    end_on_panic();
    let process = Process::init(gate)?;
    let process = PROCESS.get_or_init(|| process);
    RUNNING.store(true, Ordering::Release); // pairs with the Acquire in `is_initialized`
    Ok(process)
}

/// Lets a panic say whose it is and end the process at once, as it must not unwind into C.
fn end_on_panic() {
    panic::set_hook(Box::new(|panic| {
        let rank = running().map_or(String::new(), |process| format!("rank {} ", process.world().rank()));
        eprintln!("oxmpi: {rank}cannot go on: {panic}");
        std::process::abort()
    }));
}

/// Leaves the job.
///
/// # Errors
/// Those of [`Process::finalize`]; the process has left all the same.
pub fn leave(process: &Process) -> Result<()> {
    let result = process.finalize();
    RUNNING.store(false, Ordering::Relaxed);
    FINALIZED.store(true, Ordering::Release); // pairs with the Acquire in `is_finalized`
    result
}

/// What initialisation fixed; `None` before.
pub fn init() -> Option<Init> {
    INIT.get().copied().filter(|_| is_initialized())
}

/// Whether initialisation is over, also after finalization.
pub fn is_initialized() -> bool {
    RUNNING.load(Ordering::Acquire) || is_finalized() // pairs with the Release in `join`
}

/// Whether finalization is over.
pub fn is_finalized() -> bool {
    FINALIZED.load(Ordering::Acquire) // pairs with the Release in `leave`
}

/// A door into `value`, with a lock if threads may call at the same time.
pub fn gate<T>(value: T) -> Gate<T> {
    match INIT.get() {
        Some(init) if init.level < ThreadLevel::Multiple => {
            // SAFETY: by asking for this level the program has promised to make one call at a time, each after
            // the end of the one before; a gate is entered and left inside a call.
            unsafe { Gate::unthreaded(value) }
        }
        _ => Gate::threaded(value),
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
