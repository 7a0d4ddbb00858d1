//! Communicators: their handles, and what the front keeps beside the core's objects.
//!
//! `MPI_COMM_WORLD` and `MPI_COMM_SELF` are found without a look into a table. Those made of other communicators are
//! in `create` and `split_type`, what a handle means before its communicator is there in `reserved`, and after it is
//! freed in `freed`.
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Management.

mod create;
mod freed;
mod reserved;
mod split_type;

use std::ffi::{OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Communicator, Comparison, Process};

use crate::errhan::ErrhandlerCell;
use crate::failure::{at_any_time, on_comm, on_comm_called};
use crate::generated::constants::{
    MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_CONGRUENT, MPI_IDENT, MPI_MAX_OBJECT_NAME, MPI_SIMILAR,
    MPI_UNEQUAL,
};
use crate::generated::types::{MPI_Comm, MPI_Errhandler, MPI_Group};
use crate::handle::{Found, Sharing, Table};
use crate::hints::Hints;
use crate::info::Info;
use crate::pointer::{Out, StringOut, bytes};
use crate::process::Origin;
use crate::{errhan, group, memory_kinds, process};

pub use self::create::{
    comm_create, comm_create_from_group, comm_create_group, comm_disconnect, comm_dup, comm_dup_with_info,
    comm_free, comm_idup, comm_idup_with_info, comm_split,
};
pub use self::freed::errhandler as errhandler_of_freed;
pub use self::reserved::{Reserved, announced_errhandler, clear_failed};
pub use self::split_type::{comm_split_type, get_hw_resource_info};
pub use crate::hints::{comm_get_info, comm_set_info};

/// A communicator with what belongs to its handle.
pub struct Entry {
    /// The core's object.
    pub core: Arc<Communicator>,
    /// The error handler.
    pub errhandler: Arc<ErrhandlerCell>,
    /// What it is derived from.
    pub origin: Origin,
    hints: Mutex<Hints>,
}

static COMMUNICATORS: Table<MPI_Comm, Arc<Entry>> = Table::new(Sharing::ByThreadLevel);
/// `MPI_COMM_WORLD` and `MPI_COMM_SELF`, which can be used while the world model runs.
static PREDEFINED: OnceLock<[Arc<Entry>; 2]> = OnceLock::new();
/// Whether errors that belong to no object may go to the error handler of `MPI_COMM_WORLD`.
static WORLD_MAY_HEAR: AtomicBool = AtomicBool::new(false);

impl Entry {
    fn new(core: Arc<Communicator>, errhandler: MPI_Errhandler, origin: Origin, hints: Hints) -> Self {
        let errhandler = Arc::new(ErrhandlerCell::new(errhandler));
        Self { core, errhandler, origin, hints: Mutex::new(hints) }
    }

    /// The hints.
    pub fn hints(&self) -> MutexGuard<'_, Hints> {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the predefined communicators known, once.
pub fn begin(process: &Process, world_may_hear: bool) {
    WORLD_MAY_HEAR.store(world_may_hear, Ordering::Relaxed);
    let hints = || Hints::new(memory_kinds::of_world());
    let entry = |core: &Arc<Communicator>| {
        Arc::new(Entry::new(Arc::clone(core), errhan::initial_handle(), Origin::World, hints()))
    };
    PREDEFINED.get_or_init(|| [entry(process.world()), entry(process.myself())]);
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
pub fn of_no_object() -> Option<(MPI_Comm, &'static Arc<Entry>)> {
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

/// Makes a handle of a new communicator, which inherits error handler and origin of `parent`.
pub fn adopt(core: Arc<Communicator>, parent: &Entry) -> MPI_Comm {
    Reserved::child(parent, &Info::default()).name(core)
}

/// As [`adopt`]; `MPI_COMM_NULL` if there is none.
pub fn adopt_any(core: Option<Arc<Communicator>>, parent: &Entry) -> MPI_Comm {
    core.map_or(MPI_COMM_NULL, |core| adopt(core, parent))
}

/// `MPI_Comm_size`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_size(function: Function, comm: MPI_Comm, size: *mut c_int) -> c_int {
    on_comm(function, comm, |_, comm| {
        // SAFETY: the caller's promise.
        unsafe { Out::new("size", size) }?.set(comm.core.size().cast_signed());
        Ok(())
    })
}

/// `MPI_Comm_rank`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_rank(function: Function, comm: MPI_Comm, rank: *mut c_int) -> c_int {
    on_comm(function, comm, |_, comm| {
        // SAFETY: the caller's promise.
        unsafe { Out::new("rank", rank) }?.set(comm.core.rank().cast_signed());
        Ok(())
    })
}

/// `MPI_Comm_group`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_group(function: Function, comm: MPI_Comm, group: *mut MPI_Group) -> c_int {
    on_comm(function, comm, |_, comm| {
        // SAFETY: the caller's promise.
        unsafe { Out::new("group", group) }?.set(group::adopt(comm.core.group(), comm.origin));
        Ok(())
    })
}

/// `MPI_Comm_compare`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_compare(
    function: Function,
    comm1: MPI_Comm,
    comm2: MPI_Comm,
    result: *mut c_int,
) -> c_int {
    on_comm_called("comm1", function, comm1, |_, first| {
        let second = find("comm2", comm2)?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("result", result) }?.set(comparison(first.core.compare(&second.core)));
        Ok(())
    })
}

/// The constant that says how two objects are alike.
pub fn comparison(comparison: Comparison) -> c_int {
    match comparison {
        Comparison::Congruent => MPI_CONGRUENT,
        Comparison::Ident => MPI_IDENT,
        Comparison::Similar => MPI_SIMILAR,
        Comparison::Unequal => MPI_UNEQUAL,
    }
}

/// `MPI_Comm_get_name`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_get_name(
    function: Function,
    comm: MPI_Comm,
    comm_name: *mut c_char,
    resultlen: *mut c_int,
) -> c_int {
    let write = |name: &OsStr| {
        // SAFETY: the caller's promise.
        unsafe { StringOut::new("comm_name", comm_name, MPI_MAX_OBJECT_NAME, resultlen) }?
            .set_bytes(name.as_bytes());
        Ok(())
    };
    if comm == MPI_COMM_NULL {
        return at_any_time(function, || write(OsStr::new("MPI_COMM_NULL")));
    }
    on_comm(function, comm, |_, comm| write(&comm.core.name()))
}

/// `MPI_Comm_set_name`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_set_name(function: Function, comm: MPI_Comm, comm_name: *const c_char) -> c_int {
    on_comm(function, comm, |_, comm| {
        // SAFETY: the caller's promise.
        comm.core.set_name(OsStr::from_bytes(&unsafe { bytes("comm_name", comm_name) }?));
        Ok(())
    })
}
