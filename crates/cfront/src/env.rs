//! Beginning and ending, time, place and memory.
//!
//! MPI-5.0: MPI Environmental Management; Process Initialization, Creation, and Management, The World Model.

use std::ffi::{c_char, c_double, c_int, c_void};

use oxmpi_base::{Error, ErrorClass, Function, LIBRARY_VERSION, Result, STANDARD_VERSION};
use oxmpi_core::info::Info;
use oxmpi_core::{Freed, Process, ThreadLevel, end_with, processor_name, wall_tick, wall_time};

use crate::argument::{Out, TextOut};
use crate::failure::{Hears, NoObject, at_any_time, in_process};
use crate::generated::constants::{
    MPI_SUBVERSION, MPI_SUCCESS, MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED,
    MPI_THREAD_SINGLE, MPI_VERSION,
};
use crate::generated::types::{MPI_Aint, MPI_Comm, MPI_Info};
use crate::object::{attributes, comm, errhandler, group, info};
use crate::process;
use crate::process::Init;
use crate::thread::Thread;

pub use crate::comm::get_hw_resource_info;

/// Memory of the library is aligned to a line of shared memory, if the program does not ask for more.
const ALIGNMENT: usize = 128;

const _: () = assert!(
    MPI_VERSION == STANDARD_VERSION.0 as c_int && MPI_SUBVERSION == STANDARD_VERSION.1 as c_int,
    "the header is of the standard's version"
);

/// `MPI_Init`; the arguments of the program are of no interest.
pub fn init(function: Function, _argc: *mut c_int, _argv: *mut *mut *mut c_char) -> c_int {
    at_any_time(function, || begin(|| process::begin_world(ThreadLevel::Single)).map(drop))
}

/// `MPI_Init_thread`: every level is provided as it is asked for, unless a session has fixed a lower one.
pub fn init_thread(
    function: Function,
    _argc: *mut c_int,
    _argv: *mut *mut *mut c_char,
    required: c_int,
    provided: Out<c_int>,
) -> c_int {
    at_any_time(function, || {
        let level = match required {
            MPI_THREAD_SINGLE => ThreadLevel::Single,
            MPI_THREAD_FUNNELED => ThreadLevel::Funneled,
            MPI_THREAD_SERIALIZED => ThreadLevel::Serialized,
            MPI_THREAD_MULTIPLE => ThreadLevel::Multiple,
            _ => {
                return Err(Error::new(
                    ErrorClass::Arg,
                    format!("required is {required}, which is no thread level"),
                ));
            }
        };
        let provided = provided.named("provided")?;
        let (_, level) = begin(|| process::begin_world(level))?;
        provided.set(constant_of(level));
        Ok(())
    })
}

/// Begins the world model as `begin_world` does, and makes it known.
///
/// # Errors
/// Those of `begin_world` and [`errhandler::world_may_hear`].
pub(crate) fn begin(
    begin_world: impl FnOnce() -> Result<(&'static Process, ThreadLevel)>,
) -> Result<(&'static Process, ThreadLevel)> {
    let world_may_hear = errhandler::world_may_hear()?;
    // Later the program may be in another folder.
    info::environment();
    let (process, provided) = begin_world()?;
    comm::begin(process, world_may_hear);
    process::world_has_begun();
    Ok((process, provided))
}

/// `MPI_Finalize`: ends the world model; sessions go on. A child that was forked off calls it unawares, where its
/// parent has had it registered for the end of the process, as mpi4py does: then nothing is told to anybody.
pub fn finalize(function: Function) -> c_int {
    let world = process::running().filter(|_| process::world_runs());
    if world.is_some_and(process::leave_world_to_parent) {
        return MPI_SUCCESS;
    }
    let code = in_process(function, complete);
    // The error handler of MPI_COMM_SELF has heard what went wrong; from here on it is no more.
    if let Some(process) = process::running().filter(|_| process::world_runs()) {
        take_down(process);
    }
    code
}

/// Ends the world model.
///
/// # Errors
/// `Other` if there is none, those of the callbacks of attributes and of a barrier.
pub(crate) fn end(process: &'static Process) -> Result<()> {
    if process::world_runs() && process::leave_world_to_parent(process) {
        return Ok(());
    }
    let completed = complete(process);
    if process::world_runs() {
        take_down(process);
    }
    completed
}

fn complete(process: &'static Process) -> Result<()> {
    if !process::world_runs() {
        return Err(process::no_world());
    }
    let deleted = attributes::end();
    let completed = process.complete_world();
    deleted.and(completed)
}

fn take_down(process: &'static Process) {
    comm::end_world(process);
    group::end_world();
    process::end_world(process);
}

/// `MPI_Initialized`.
pub fn initialized(function: Function, flag: Out<c_int>) -> c_int {
    at_any_time(function, || {
        flag.named("flag")?.set(process::is_initialized().into());
        Ok(())
    })
}

/// `MPI_Finalized`.
pub fn finalized(function: Function, flag: Out<c_int>) -> c_int {
    at_any_time(function, || {
        flag.named("flag")?.set(process::is_finalized().into());
        Ok(())
    })
}

/// `MPI_Query_thread`.
pub fn query_thread(function: Function, provided: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let level = fixed_at_initialisation()?.level;
        provided.named("provided")?.set(constant_of(level));
        Ok(())
    })
}

/// `MPI_Is_thread_main`.
pub fn is_thread_main(function: Function, flag: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let main = fixed_at_initialisation()?.thread;
        flag.named("flag")?.set((main == Thread::current()).into());
        Ok(())
    })
}

fn constant_of(level: ThreadLevel) -> c_int {
    match level {
        ThreadLevel::Single => MPI_THREAD_SINGLE,
        ThreadLevel::Funneled => MPI_THREAD_FUNNELED,
        ThreadLevel::Serialized => MPI_THREAD_SERIALIZED,
        ThreadLevel::Multiple => MPI_THREAD_MULTIPLE,
    }
}

fn fixed_at_initialisation() -> Result<Init> {
    process::init().ok_or_else(|| Error::new(ErrorClass::Other, "called before MPI_Init"))
}

/// `MPI_Abort`: ends the whole job, whatever the communicator.
pub fn abort(function: Function, comm: MPI_Comm, errorcode: c_int) -> c_int {
    let Some(process) = process::running() else { end_with(errorcode) };
    match comm::find("comm", comm) {
        Ok(entry) => {
            process.abort_others(&entry.core, errorcode);
            process.abort(errorcode)
        }
        Err(error) => NoObject.hear(function, &error),
    }
}

/// `MPI_Wtime`.
pub fn wtime(_function: Function) -> c_double {
    wall_time()
}

/// `MPI_Wtick`.
pub fn wtick(_function: Function) -> c_double {
    wall_tick()
}

/// `MPI_Get_processor_name`.
pub fn get_processor_name(function: Function, name: TextOut, resultlen: Out<c_int>) -> c_int {
    in_process(function, |_| {
        let out = name.with_length("name", resultlen)?;
        out.set(&processor_name());
        Ok(())
    })
}

/// `MPI_Get_version`.
pub fn get_version(function: Function, version: Out<c_int>, subversion: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let version = version.named("version")?;
        let subversion = subversion.named("subversion")?;
        version.set(MPI_VERSION);
        subversion.set(MPI_SUBVERSION);
        Ok(())
    })
}

/// `MPI_Get_library_version`.
pub fn get_library_version(function: Function, version: TextOut, resultlen: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let out = version.with_length("version", resultlen)?;
        out.set(LIBRARY_VERSION);
        Ok(())
    })
}

/// `MPI_Alloc_mem`: shared memory, or private memory where there is none for it.
pub fn alloc_mem(function: Function, size: MPI_Aint, hints: MPI_Info, baseptr: Out<*mut c_void>) -> c_int {
    in_process(function, |process| {
        let Ok(bytes) = usize::try_from(size) else {
            return Err(Error::new(ErrorClass::Arg, format!("size is {size}")));
        };
        let alignment = alignment(&info::hints("info", hints)?);
        let out = baseptr.named("baseptr")?;
        let none =
            || Error::new(ErrorClass::NoMem, format!("size is {size}: there is no memory of so many bytes"));
        if let Some(base) = process.allocate(bytes, alignment) {
            out.set(base.cast());
            return Ok(());
        }
        let bytes = bytes.max(1).checked_next_multiple_of(alignment).ok_or_else(none)?;
        // SAFETY: the alignment is a power of two, and a multiple of it is asked for.
        let base = unsafe { libc::aligned_alloc(alignment, bytes) };
        if base.is_null() {
            return Err(none());
        }
        out.set(base);
        Ok(())
    })
}

/// What memory is aligned to; a hint that is no power of two is ignored.
fn alignment(hints: &Info) -> usize {
    let asked = hints.get("mpi_minimum_memory_alignment").and_then(|bytes| bytes.trim().parse().ok());
    asked.filter(|bytes: &usize| bytes.is_power_of_two()).map_or(ALIGNMENT, |bytes| bytes.max(ALIGNMENT))
}

/// `MPI_Free_mem`.
///
/// # Safety
/// `base` is null, or `MPI_Alloc_mem` gave this memory, and it is used no more.
pub unsafe fn free_mem(function: Function, base: *mut c_void) -> c_int {
    in_process(function, |process| {
        if base.is_null() {
            return Err(Error::new(ErrorClass::Base, "base is a null pointer"));
        }
        match process.free(base.addr()) {
            Freed::Done => Ok(()),
            Freed::Nothing => {
                let text = format!(
                    "base {base:p} is no memory that MPI_Alloc_mem has given and that is still there"
                );
                Err(Error::new(ErrorClass::Base, text))
            }
            Freed::Strange => {
                // SAFETY: it is not null: `MPI_Alloc_mem` gave it, by way of `aligned_alloc` if not of `allocate`.
                unsafe { libc::free(base) };
                Ok(())
            }
        }
    })
}
