//! Other jobs: ports, published names, and processes that are started.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::ffi::{OsString, c_char, c_int};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Communicator, Program};

use crate::failure::in_process;
use crate::generated::constants::{
    MPI_ARGV_NULL, MPI_ARGVS_NULL, MPI_ERRCODES_IGNORE, MPI_MAX_PORT_NAME, MPI_SUCCESS,
};
use crate::generated::types::{MPI_Comm, MPI_Info};
use crate::object::comm::reserved::{Reserved, adopt};
use crate::object::comm::{self, on_comm};
use crate::object::errhandler;
use crate::object::info::{self, Info};
use crate::pointer::{Array, Out, Text, bytes, string};
use crate::process::Origin;

pub use crate::comm::comm_disconnect;

/// `MPI_Comm_get_parent`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_get_parent(function: Function, parent: *mut MPI_Comm) -> c_int {
    in_process(function, |_| {
        // SAFETY: the caller's promise.
        unsafe { Out::new("parent", parent) }?.set(comm::parent());
        Ok(())
    })
}

/// `MPI_Open_port`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn open_port(function: Function, info: MPI_Info, port_name: *mut c_char) -> c_int {
    in_process(function, |process| {
        info::hints("info", info)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Text::new("port_name", port_name, MPI_MAX_PORT_NAME as usize) }?;
        out.set(&process.open_port()?);
        Ok(())
    })
}

/// `MPI_Close_port`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn close_port(function: Function, port_name: *const c_char) -> c_int {
    in_process(function, |process| {
        // SAFETY: the caller's promise.
        process.close_port(&unsafe { string("port_name", port_name) }?)
    })
}

/// `MPI_Publish_name`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn publish_name(
    function: Function,
    service_name: *const c_char,
    info: MPI_Info,
    port_name: *const c_char,
) -> c_int {
    in_process(function, |process| {
        info::hints("info", info)?;
        // SAFETY: the caller's promise.
        let service = unsafe { string("service_name", service_name) }?;
        // SAFETY: the caller's promise.
        process.publish_name(&service, &unsafe { string("port_name", port_name) }?)
    })
}

/// `MPI_Unpublish_name`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn unpublish_name(
    function: Function,
    service_name: *const c_char,
    info: MPI_Info,
    port_name: *const c_char,
) -> c_int {
    in_process(function, |process| {
        info::hints("info", info)?;
        // SAFETY: the caller's promise.
        unsafe { string("port_name", port_name) }?;
        // SAFETY: the caller's promise.
        process.unpublish_name(&unsafe { string("service_name", service_name) }?)
    })
}

/// `MPI_Lookup_name`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn lookup_name(
    function: Function,
    service_name: *const c_char,
    info: MPI_Info,
    port_name: *mut c_char,
) -> c_int {
    in_process(function, |process| {
        info::hints("info", info)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Text::new("port_name", port_name, MPI_MAX_PORT_NAME as usize) }?;
        // SAFETY: the caller's promise.
        out.set(&process.lookup_name(&unsafe { string("service_name", service_name) }?)?);
        Ok(())
    })
}

/// `MPI_Comm_accept`: `port_name` and `info` count at the root only.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_accept(
    function: Function,
    port_name: *const c_char,
    info: MPI_Info,
    root: c_int,
    comm: MPI_Comm,
    newcomm: *mut MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        // SAFETY: the caller's promise.
        let port = unsafe { port_of_root(&comm.core, root, info, port_name) };
        out.set(adopt(process.comm_accept(&comm.core, root, port)?, comm));
        Ok(())
    })
}

/// `MPI_Comm_connect`: `port_name` and `info` count at the root only.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_connect(
    function: Function,
    port_name: *const c_char,
    info: MPI_Info,
    root: c_int,
    comm: MPI_Comm,
    newcomm: *mut MPI_Comm,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("newcomm", newcomm) }?;
        // SAFETY: the caller's promise.
        let port = unsafe { port_of_root(&comm.core, root, info, port_name) };
        out.set(adopt(process.comm_connect(&comm.core, root, port)?, comm));
        Ok(())
    })
}

/// The name of a port, at the root. What is wrong with it there all ranks are told of.
///
/// # Safety
/// At the root, a pointer that is not null is that of a string that ends with a zero byte.
unsafe fn port_of_root(
    comm: &Communicator,
    root: c_int,
    info: MPI_Info,
    port_name: *const c_char,
) -> Result<String> {
    if !is_root(comm, root) {
        return Ok(String::new());
    }
    info::hints("info", info)?;
    // SAFETY: the caller's promise.
    unsafe { string("port_name", port_name) }
}

fn is_root(comm: &Communicator, root: c_int) -> bool {
    comm.rank().cast_signed() == root
}

/// `MPI_Comm_join`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn comm_join(function: Function, fd: c_int, intercomm: *mut MPI_Comm) -> c_int {
    in_process(function, |process| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("intercomm", intercomm) }?;
        let no_socket =
            |why: &dyn std::fmt::Display| Error::new(ErrorClass::Arg, format!("fd is {fd}: {why}"));
        if fd < 0 {
            return Err(no_socket(&"no descriptor"));
        }
        // SAFETY: the descriptor is borrowed for this call alone; if it is not open, the call says so.
        let socket = unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned();
        let made = process.comm_join(socket.map_err(|error| no_socket(&error))?)?;
        out.set(orphan(made));
        Ok(())
    })
}

/// A handle of a communicator that has no parent.
fn orphan(core: Arc<Communicator>) -> MPI_Comm {
    Reserved::orphan(errhandler::initial_handle(), Origin::World, &Info::default()).name(core)
}

/// `MPI_Comm_spawn`: all but `root`, `comm` and what is written counts at the root only.
///
/// # Safety
/// As the standard says of its arguments.
#[expect(clippy::too_many_arguments, reason = "the arguments of the standard")]
pub unsafe fn comm_spawn(
    function: Function,
    command: *const c_char,
    argv: *mut *mut c_char,
    maxprocs: c_int,
    info: MPI_Info,
    root: c_int,
    comm: MPI_Comm,
    intercomm: *mut MPI_Comm,
    array_of_errcodes: *mut c_int,
) -> c_int {
    let block = || {
        // SAFETY: the caller's promise.
        let (command, arguments) = unsafe { (word("command", command)?, words("argv", argv)?) };
        Ok(vec![program(command, arguments, maxprocs, &info::hints("info", info)?)?])
    };
    // SAFETY: the caller's promise.
    unsafe { spawn(function, block, root, comm, intercomm, array_of_errcodes) }
}

/// `MPI_Comm_spawn_multiple`: all but `root`, `comm` and what is written counts at the root only.
///
/// # Safety
/// As the standard says of its arguments.
#[expect(clippy::too_many_arguments, reason = "the arguments of the standard")]
pub unsafe fn comm_spawn_multiple(
    function: Function,
    count: c_int,
    array_of_commands: *mut *mut c_char,
    array_of_argv: *mut *mut *mut c_char,
    array_of_maxprocs: *const c_int,
    array_of_info: *const MPI_Info,
    root: c_int,
    comm: MPI_Comm,
    intercomm: *mut MPI_Comm,
    array_of_errcodes: *mut c_int,
) -> c_int {
    let blocks = || {
        // SAFETY: the caller's promise.
        let commands = unsafe { Array::new("array_of_commands", array_of_commands, count) }?;
        // SAFETY: the caller's promise.
        let max_procs = unsafe { Array::new("array_of_maxprocs", array_of_maxprocs.cast_mut(), count) }?;
        // SAFETY: the caller's promise.
        let infos = unsafe { Array::new("array_of_info", array_of_info.cast_mut(), count) }?;
        let argvs = (array_of_argv != MPI_ARGVS_NULL)
            // SAFETY: the caller's promise.
            .then(|| unsafe { Array::new("array_of_argv", array_of_argv, count) })
            .transpose()?;
        let block = |place: usize| {
            let argv = argvs.map_or(MPI_ARGV_NULL, |argvs| argvs.get(place));
            // SAFETY: the caller's promise.
            let command = unsafe { word(&format!("array_of_commands[{place}]"), commands.get(place)) }?;
            // SAFETY: the caller's promise.
            let arguments = unsafe { words(&format!("array_of_argv[{place}]"), argv) }?;
            let info = info::hints(&format!("array_of_info[{place}]"), infos.get(place))?;
            program(command, arguments, max_procs.get(place), &info)
        };
        (0..commands.len()).map(block).collect()
    };
    // SAFETY: the caller's promise.
    unsafe { spawn(function, blocks, root, comm, intercomm, array_of_errcodes) }
}

/// Starts what the root names.
///
/// # Safety
/// As the standard says of its arguments.
unsafe fn spawn(
    function: Function,
    blocks: impl FnOnce() -> Result<Vec<Program>>,
    root: c_int,
    comm: MPI_Comm,
    intercomm: *mut MPI_Comm,
    errcodes: *mut c_int,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        // SAFETY: the caller's promise.
        let out = unsafe { Out::new("intercomm", intercomm) }?;
        let blocks = if is_root(&comm.core, root) { blocks() } else { Ok(Vec::new()) };
        let asked = blocks.iter().flatten().map(|block| block.max_procs).sum();
        let spawned = process.comm_spawn(&comm.core, root, blocks);
        let (size, code) = match &spawned {
            Ok(made) => (made.peers(), MPI_SUCCESS),
            Err(error) => (asked, error.class().code()),
        };
        if errcodes != MPI_ERRCODES_IGNORE {
            // SAFETY: the caller's promise.
            let codes = unsafe { Array::new("array_of_errcodes", errcodes, size) }?;
            codes.fill((0..size).map(|_| code));
        }
        out.set(adopt(spawned?, comm));
        Ok(())
    })
}

/// A program to be started, with the standard's keys of `info`; those that say nothing here are not looked at.
fn program(command: OsString, arguments: Vec<OsString>, max_procs: c_int, info: &Info) -> Result<Program> {
    let max_procs = u32::try_from(max_procs)
        .map_err(|_| Error::new(ErrorClass::Arg, format!("maxprocs is {max_procs}")))?;
    let value = |key: &str| info.value(key.as_bytes()).map(|value| OsString::from_vec(value.to_vec()));
    let hosts = info.get("host").unwrap_or_default().split(',').map(str::trim);
    let handler = info.get(errhandler::INITIAL_KEY).map(|name| (errhandler::INITIAL.into(), name.into()));
    Ok(Program {
        command,
        arguments,
        max_procs,
        dir: value("wdir").map(Into::into),
        path: value("path"),
        hosts: hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect(),
        environment: handler.into_iter().collect(),
    })
}

/// A word of a command line, as it is.
///
/// # Safety
/// A pointer that is not null is that of a string that ends with a zero byte.
unsafe fn word(argument: &str, pointer: *const c_char) -> Result<OsString> {
    // SAFETY: the caller's promise.
    Ok(OsString::from_vec(unsafe { bytes(argument, pointer) }?))
}

/// Words before a null pointer; none if there is no list (`MPI_ARGV_NULL`).
///
/// # Safety
/// A list that is not null is one of strings, each of which ends with a zero byte, and ends with a null pointer.
unsafe fn words(argument: &str, list: *mut *mut c_char) -> Result<Vec<OsString>> {
    let mut words = Vec::new();
    if list == MPI_ARGV_NULL {
        return Ok(words);
    }
    loop {
        // SAFETY: the list goes on to its null pointer, before which this is.
        let next = unsafe { list.wrapping_add(words.len()).read() };
        if next.is_null() {
            return Ok(words);
        }
        // SAFETY: the caller's promise.
        words.push(unsafe { word(argument, next) }?);
    }
}
