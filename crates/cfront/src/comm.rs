//! Communicators: their handles, and what the front keeps beside the core's objects.
//!
//! `MPI_COMM_WORLD` and `MPI_COMM_SELF` are found without a look into a table.
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Management.

use std::ffi::{c_char, c_int};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Communicator, Comparison, Process};

use crate::errhan::ErrhandlerCell;
use crate::failure::{Failure, at_any_time, on_comm, on_comm_called, on_object};
use crate::generated::constants::{
    MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_HW_UNGUIDED,
    MPI_COMM_TYPE_RESOURCE_GUIDED, MPI_COMM_TYPE_SHARED, MPI_COMM_WORLD, MPI_CONGRUENT, MPI_IDENT,
    MPI_MAX_OBJECT_NAME, MPI_SIMILAR, MPI_UNDEFINED, MPI_UNEQUAL,
};
use crate::generated::types::{MPI_Comm, MPI_Errhandler, MPI_Group, MPI_Info};
use crate::handle::{Found, Sharing, Table};
use crate::hints::Hints;
use crate::info::Info;
use crate::pointer::{InOut, Out, StringOut, string};
use crate::process::Origin;
use crate::{attr, errhan, group, info, memory_kinds, process};

pub use crate::hints::{comm_get_info, comm_set_info};

/// A communicator with what belongs to its handle.
pub struct Entry {
    /// The core's object.
    pub core: Arc<Communicator>,
    /// The error handler.
    pub errhandler: ErrhandlerCell,
    /// What it is derived from.
    pub origin: Origin,
    hints: Mutex<Hints>,
}

static COMMUNICATORS: Table<MPI_Comm, Arc<Entry>> = Table::new(Sharing::ByThreadLevel);
/// `MPI_COMM_WORLD` and `MPI_COMM_SELF`, which can be used while the world model runs.
static PREDEFINED: OnceLock<[Arc<Entry>; 2]> = OnceLock::new();

impl Entry {
    fn new(core: Arc<Communicator>, errhandler: MPI_Errhandler, origin: Origin, hints: Hints) -> Self {
        Self { core, errhandler: ErrhandlerCell::new(errhandler), origin, hints: Mutex::new(hints) }
    }

    /// The hints.
    pub fn hints(&self) -> MutexGuard<'_, Hints> {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the predefined communicators known, once.
pub fn begin(process: &Process) {
    let hints = || Hints::new(memory_kinds::of_world());
    let entry = |core: &Arc<Communicator>| {
        Arc::new(Entry::new(Arc::clone(core), errhan::initial_handle(), Origin::World, hints()))
    };
    PREDEFINED.get_or_init(|| [entry(process.world()), entry(process.myself())]);
}

/// Frees the communicators derived from `origin` that the program has not freed.
pub fn end(process: &Process, origin: Origin) {
    for entry in COMMUNICATORS.take(|entry| entry.origin == origin) {
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
    let entry = Entry::new(core, parent.errhandler.get(), parent.origin, parent.hints().of_child());
    COMMUNICATORS.insert(Arc::new(entry))
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

/// `MPI_Comm_dup`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_dup(function: Function, comm: MPI_Comm, newcomm: *mut MPI_Comm) -> c_int {
    on_comm(function, comm, |process, entry| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        out.set(duplicate(process, comm, entry)?);
        Ok(())
    })
}

/// `MPI_Comm_dup_with_info`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_dup_with_info(
    function: Function,
    comm: MPI_Comm,
    hints: MPI_Info,
    newcomm: *mut MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, entry| {
        let hints = info::hints("info", hints)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        let new = duplicate(process, comm, entry)?;
        set_hints(new, &hints)?;
        out.set(new);
        Ok(())
    })
}

/// Gives a new communicator, if the process has become a member, the hints that it was made with.
fn set_hints(new: MPI_Comm, hints: &Info) -> Result<()> {
    if new != MPI_COMM_NULL {
        find("newcomm", new)?.hints().update(hints);
    }
    Ok(())
}

fn duplicate(process: &Process, old: MPI_Comm, entry: &Entry) -> Result<MPI_Comm> {
    let new = adopt(process.comm_dup(&entry.core)?, entry);
    match attr::copy_all(old, new) {
        Ok(()) => Ok(new),
        Err(error) => {
            // Everybody frees it here or by `MPI_Comm_free`.
            let core = COMMUNICATORS.remove(new).map(|entry| Arc::clone(&entry.core));
            core.map_or(Ok(()), |core| process.comm_free(core))?;
            Err(error)
        }
    }
}

/// `MPI_Comm_create`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_create(
    function: Function,
    comm: MPI_Comm,
    group: MPI_Group,
    newcomm: *mut MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let group = group::find("group", group)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        out.set(adopt_any(process.comm_create(&comm.core, &group)?, comm));
        Ok(())
    })
}

/// `MPI_Comm_split`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_split(
    function: Function,
    comm: MPI_Comm,
    color: c_int,
    key: c_int,
    newcomm: *mut MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        let color = (color != MPI_UNDEFINED).then_some(color);
        out.set(adopt_any(process.comm_split(&comm.core, color, key)?, comm));
        Ok(())
    })
}

/// `MPI_Comm_split_type`: all ranks share the memory of one node. No other kind of hardware is told apart.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_split_type(
    function: Function,
    comm: MPI_Comm,
    split_type: c_int,
    key: c_int,
    hints: MPI_Info,
    newcomm: *mut MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let hints = info::hints("info", hints)?;
        let color = match split_type {
            MPI_COMM_TYPE_SHARED => Some(0),
            MPI_COMM_TYPE_HW_GUIDED | MPI_COMM_TYPE_RESOURCE_GUIDED => {
                (hints.get("mpi_hw_resource_type") == Some("mpi_shared_memory")).then_some(0)
            }
            MPI_COMM_TYPE_HW_UNGUIDED | MPI_UNDEFINED => None,
            _ => return Err(Error::new(ErrorClass::Arg, format!("split_type {split_type} is none"))),
        };
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        let new = adopt_any(process.comm_split(&comm.core, color, key)?, comm);
        set_hints(new, &hints)?;
        out.set(new);
        Ok(())
    })
}

/// `MPI_Comm_free`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_free(function: Function, comm: *mut MPI_Comm) -> c_int {
    on_object(function, |process| {
        // SAFETY: the caller's promise.
        let comm = unsafe { InOut::new("comm", comm) }?;
        let handle = comm.get();
        let core = Arc::clone(&find("comm", handle)?.core);
        if handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF {
            let refused = process.comm_free(Arc::clone(&core));
            return refused.map_err(|error| Failure { error, comm: Some(core) });
        }
        attr::delete_all(handle).map_err(|error| Failure { error, comm: Some(Arc::clone(&core)) })?;
        comm.set(MPI_COMM_NULL);
        COMMUNICATORS.remove(handle);
        Ok(process.comm_free(core)?)
    })
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
    let write = |name: &str| {
        // SAFETY: the caller's promise.
        unsafe { StringOut::new("comm_name", comm_name, MPI_MAX_OBJECT_NAME, resultlen) }?.set(name);
        Ok(())
    };
    if comm == MPI_COMM_NULL {
        return at_any_time(function, || write("MPI_COMM_NULL"));
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
        comm.core.set_name(&unsafe { string("comm_name", comm_name) }?);
        Ok(())
    })
}
