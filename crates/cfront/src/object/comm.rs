//! Communicators: their handles, and what the front keeps beside the core's objects.
//!
//! `MPI_COMM_WORLD` and `MPI_COMM_SELF` are found without a look into a table. What a handle means before its
//! communicator is there is in `reserved`, and after it is freed in `freed`; how errors are told of operations on a
//! communicator that the function does not name, in `indirect`.
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Management.

pub mod freed;
pub mod indirect;
pub mod reserved;

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Communicator, Process};

use super::attributes;
use super::errhandler::{self, ErrhandlerCell};
use crate::failure::{Hears, NoObject, call_handler, let_world_hear, tell};
use crate::generated::constants::{MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_SUCCESS};
use crate::generated::types::{MPI_Comm, MPI_Errhandler};
use crate::handle::{Found, Held, Sharing, Table};
use crate::process::{self, Call, Origin};

/// A communicator with what belongs to its handle.
pub struct Entry {
    /// The core's object.
    pub core: Arc<Communicator>,
    /// The error handler.
    pub errhandler: Arc<ErrhandlerCell>,
    /// What it is derived from.
    pub origin: Origin,
}

/// Those that are not predefined.
pub static COMMUNICATORS: Table<MPI_Comm, Arc<Entry>> = Table::new(Sharing::ByThreadLevel);
/// `MPI_COMM_WORLD` and `MPI_COMM_SELF`, which can be used while the world model runs.
static PREDEFINED: OnceLock<[Arc<Entry>; 2]> = OnceLock::new();
/// With the job that has spawned this one; `MPI_COMM_NULL` if none has.
static PARENT: OnceLock<MPI_Comm> = OnceLock::new();
/// Whether errors that belong to no object may go to the error handler of `MPI_COMM_WORLD`.
static WORLD_MAY_HEAR: AtomicBool = AtomicBool::new(false);

impl Entry {
    fn new(core: Arc<Communicator>, errhandler: MPI_Errhandler, origin: Origin) -> Self {
        let errhandler = Arc::new(ErrhandlerCell::new(errhandler));
        Self { core, errhandler, origin }
    }
}

/// Makes the predefined communicators known, once.
pub fn begin(process: &Process, world_may_hear: bool) {
    WORLD_MAY_HEAR.store(world_may_hear, Ordering::Relaxed);
    let entry = |core: &Arc<Communicator>| {
        Arc::new(Entry::new(Arc::clone(core), errhandler::initial_handle(), Origin::World))
    };
    PREDEFINED.get_or_init(|| [entry(process.world()), entry(process.myself())]);
    let parent = process.take_parent().map_or(MPI_COMM_NULL, |parent| {
        let errhandler = errhandler::initial_handle();
        COMMUNICATORS.insert(Arc::new(Entry::new(parent, errhandler, Origin::World)))
    });
    PARENT.get_or_init(|| parent);
    let_world_hear(|function, error| {
        let (comm, entry) = of_no_object()?;
        Some(tell(function, comm, &entry.errhandler, error))
    });
}

/// The handle of a communicator of the program's part in Rust, the same each time; it names it until [`take_back`].
pub fn lend(comm: &Arc<Communicator>) -> MPI_Comm {
    handle_of(comm).unwrap_or_else(|| {
        let entry = Entry::new(Arc::clone(comm), errhandler::initial_handle(), Origin::Rust);
        COMMUNICATORS.insert(Arc::new(entry))
    })
}

/// Lets what [`lend`] has given for a communicator name nothing any more; its attributes are deleted.
///
/// # Errors
/// What a delete callback has returned; no attribute stays all the same.
pub fn take_back(comm: &Arc<Communicator>) -> Result<()> {
    let mut deleted = Ok(());
    // Threads that have asked at the same time may have got one each.
    while let Some(handle) =
        COMMUNICATORS.search(|entry| entry.origin == Origin::Rust && Arc::ptr_eq(&entry.core, comm))
    {
        deleted = deleted.and(attributes::delete_all_forcibly(handle));
        if let Some(entry) = COMMUNICATORS.remove(handle) {
            freed::keep_errhandler(Arc::downgrade(comm), Arc::clone(&entry.errhandler));
        }
    }
    deleted
}

/// Frees the communicators derived from the world model that the program has not freed.
pub fn end_world(process: &Process) {
    for entry in COMMUNICATORS.take(|entry| entry.origin == Origin::World) {
        let core = Arc::clone(&entry.core);
        drop(entry);
        process.comm_free(core).expect("what has a dynamic handle is not predefined");
    }
}

fn predefined() -> Option<&'static [Arc<Entry>; 2]> {
    PREDEFINED.get().filter(|_| process::world_runs())
}

/// The communicator with the job that has spawned this one, as long as the program has not freed it.
pub fn parent() -> MPI_Comm {
    PARENT.get().copied().filter(|&parent| COMMUNICATORS.get(parent).is_some()).unwrap_or(MPI_COMM_NULL)
}

/// The communicator that a handle names.
///
/// # Errors
/// `Comm` if it names none.
#[inline]
pub fn find(argument: &str, handle: MPI_Comm) -> Result<Found<Arc<Entry>>> {
    let predefined = match handle {
        MPI_COMM_WORLD => predefined().map(|[world, _]| world),
        MPI_COMM_SELF => predefined().map(|[_, myself]| myself),
        _ => return COMMUNICATORS.find(argument, handle).map(Found::Dynamic),
    };
    predefined.map(Found::Predefined).ok_or_else(|| outside_world(argument, handle))
}

/// The communicator that a handle names, as long as `held` is kept. Until then nothing of the program's may be called.
#[inline(always)]
pub fn hold(handle: MPI_Comm, held: &mut Held<Arc<Entry>>) -> Option<&Arc<Entry>> {
    match handle {
        MPI_COMM_WORLD => predefined().map(|[world, _]| world),
        MPI_COMM_SELF => predefined().map(|[_, myself]| myself),
        _ => COMMUNICATORS.hold(handle, held),
    }
}

/// The error of naming a predefined communicator outside the world model.
#[cold]
fn outside_world(argument: &str, handle: MPI_Comm) -> Error {
    let name = if handle == MPI_COMM_WORLD { "MPI_COMM_WORLD" } else { "MPI_COMM_SELF" };
    let when = if process::is_finalized() { "after MPI_Finalize" } else { "before MPI_Init" };
    Error::new(ErrorClass::Comm, format!("{argument} is {name} {when}"))
}

/// The communicator whose error handler hears of errors that belong to no object, if the world model runs.
///
/// By the standard it is `MPI_COMM_SELF`. But other libraries ask `MPI_COMM_WORLD`, and programs set the handler of
/// that one alone, and count on it: so it decides where the program has set it and not the other.
fn of_no_object() -> Option<(MPI_Comm, &'static Arc<Entry>)> {
    let [world, myself] = predefined()?;
    let is_meant = world.errhandler.was_set() && !myself.errhandler.was_set();
    if is_meant && WORLD_MAY_HEAR.load(Ordering::Relaxed) {
        return Some((MPI_COMM_WORLD, world));
    }
    Some((MPI_COMM_SELF, myself))
}

/// The handle of a communicator, if the program has not freed it.
pub fn handle_of(comm: &Arc<Communicator>) -> Option<MPI_Comm> {
    if let Some([world, myself]) = predefined() {
        for (entry, handle) in [(world, MPI_COMM_WORLD), (myself, MPI_COMM_SELF)] {
            if Arc::ptr_eq(&entry.core, comm) {
                return Some(handle);
            }
        }
    }
    COMMUNICATORS.search(|entry| Arc::ptr_eq(&entry.core, comm))
}

impl Hears for MPI_Comm {
    #[cold]
    fn hear(self, function: Function, error: &Error) -> c_int {
        match find("comm", self) {
            Ok(entry) => tell(function, self, &entry.errhandler, error),
            Err(_) => NoObject.hear(function, error),
        }
    }
}

/// Runs the body of a function on a communicator; errors go to its error handler.
#[inline]
pub fn on_comm(
    function: Function,
    comm: MPI_Comm,
    body: impl FnOnce(&'static Process, &Arc<Entry>) -> Result<()>,
) -> c_int {
    on_comm_called("comm", function, comm, body)
}

/// As [`on_comm`], where C calls the communicator `argument`.
#[inline]
pub fn on_comm_called(
    argument: &str,
    function: Function,
    comm: MPI_Comm,
    body: impl FnOnce(&'static Process, &Arc<Entry>) -> Result<()>,
) -> c_int {
    let process = match process::current() {
        Ok(process) => process,
        Err(error) => return NoObject.hear(function, &error),
    };
    let _call = Call::begin(process, function);
    let entry = match find(argument, comm) {
        Ok(entry) => entry,
        Err(error) => return NoObject.hear(function, &error),
    };
    match body(process, &entry) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => comm.hear(function, &error),
    }
}

/// Runs the body of a function that makes a communicator out of none; its errors go to the handler that the
/// communicator is to have.
pub fn by_argument(
    function: Function,
    errhandler: MPI_Errhandler,
    body: impl FnOnce(&'static Process) -> Result<()>,
) -> c_int {
    let handler = errhandler::find::<MPI_Comm>("errhandler", errhandler);
    let (handler, process) = match handler.and_then(|handler| Ok((handler, process::current()?))) {
        Ok(found) => found,
        Err(error) => return NoObject.hear(function, &error),
    };
    let _call = Call::begin(process, function);
    match body(process) {
        Ok(()) => MPI_SUCCESS,
        Err(error) => call_handler(function, MPI_COMM_NULL, handler, error.code(), error.text()),
    }
}
