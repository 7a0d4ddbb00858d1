//! Other jobs: ports, published names, and processes that are started.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::ffi::{OsString, c_int};
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStringExt;
use std::sync::Arc;
use std::time::Duration;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::info::{Info, memory_kinds};
use oxmpi_core::{Communicator, Destination, Program, parse_seconds};

use crate::argument::{ArrayIn, Out, TextIn, TextOut, Texts, Unmeasured, WordLists, Words, Writing};
use crate::failure::in_process;
use crate::generated::constants::MPI_SUCCESS;
use crate::generated::types::{MPI_Comm, MPI_Info};
use crate::object::comm::reserved::{Reserved, adopt};
use crate::object::comm::{self, on_comm};
use crate::object::errhandler;
use crate::object::info;
use crate::process::Origin;

pub use crate::comm::comm_disconnect;

/// `MPI_Comm_get_parent`.
pub fn comm_get_parent(function: Function, parent: Out<MPI_Comm>) -> c_int {
    in_process(function, |_| {
        parent.named("parent")?.set(comm::parent());
        Ok(())
    })
}

/// `MPI_Open_port`.
pub fn open_port(function: Function, info: MPI_Info, port_name: TextOut) -> c_int {
    in_process(function, |process| {
        info::hints("info", info)?;
        let out = port_name.named("port_name")?;
        out.set(&process.open_port()?);
        Ok(())
    })
}

/// `MPI_Close_port`.
pub fn close_port(function: Function, port_name: TextIn) -> c_int {
    in_process(function, |process| process.close_port(&port_name.string("port_name")?))
}

/// `MPI_Publish_name`.
pub fn publish_name(function: Function, service_name: TextIn, info: MPI_Info, port_name: TextIn) -> c_int {
    in_process(function, |process| {
        info::hints("info", info)?;
        let service = service_name.string("service_name")?;
        process.publish_name(&service, &port_name.string("port_name")?)
    })
}

/// `MPI_Unpublish_name`.
pub fn unpublish_name(function: Function, service_name: TextIn, info: MPI_Info, port_name: TextIn) -> c_int {
    in_process(function, |process| {
        info::hints("info", info)?;
        port_name.string("port_name")?;
        process.unpublish_name(&service_name.string("service_name")?)
    })
}

/// `MPI_Lookup_name`.
pub fn lookup_name(function: Function, service_name: TextIn, info: MPI_Info, port_name: TextOut) -> c_int {
    in_process(function, |process| {
        info::hints("info", info)?;
        let out = port_name.named("port_name")?;
        out.set(&process.lookup_name(&service_name.string("service_name")?)?);
        Ok(())
    })
}

/// `MPI_Comm_accept`: `port_name` and `info` count at the root only.
pub fn comm_accept(
    function: Function,
    port_name: TextIn,
    info: MPI_Info,
    root: c_int,
    comm: MPI_Comm,
    newcomm: Out<MPI_Comm>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let out = newcomm.named("newcomm")?;
        let port = port_of_root(&comm.core, root, info, port_name);
        out.set(adopt(process.comm_accept(&comm.core, root, port)?, comm));
        Ok(())
    })
}

/// `MPI_Comm_connect`: `port_name` and `info` count at the root only.
pub fn comm_connect(
    function: Function,
    port_name: TextIn,
    info: MPI_Info,
    root: c_int,
    comm: MPI_Comm,
    newcomm: Out<MPI_Comm>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let out = newcomm.named("newcomm")?;
        let port = port_of_root(&comm.core, root, info, port_name);
        let destination = port.and_then(|port| Ok(Destination { port, timeout: timeout(info)? }));
        out.set(adopt(process.comm_connect(&comm.core, root, destination)?, comm));
        Ok(())
    })
}

/// The time that a hint grants for connecting.
fn timeout(info: MPI_Info) -> Result<Option<Duration>> {
    const KEY: &str = "timeout";
    let hints = info::hints("info", info)?;
    let time = hints.get(KEY).map(parse_seconds).transpose();
    time.map_err(|error| Error::new(ErrorClass::InfoValue, format!("{KEY} in info: {}", error.text())))
}

/// The name of a port, at the root. What is wrong with it there all ranks are told of.
fn port_of_root(comm: &Communicator, root: c_int, info: MPI_Info, port_name: TextIn) -> Result<String> {
    if !is_root(comm, root) {
        return Ok(String::new());
    }
    info::hints("info", info)?;
    port_name.string("port_name")
}

fn is_root(comm: &Communicator, root: c_int) -> bool {
    comm.rank().cast_signed() == root
}

/// `MPI_Comm_join`.
pub fn comm_join(function: Function, fd: c_int, intercomm: Out<MPI_Comm>) -> c_int {
    in_process(function, |process| {
        let out = intercomm.named("intercomm")?;
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
#[expect(clippy::too_many_arguments, reason = "the arguments of the standard")]
pub fn comm_spawn(
    function: Function,
    command: TextIn,
    argv: Words,
    maxprocs: c_int,
    info: MPI_Info,
    root: c_int,
    comm: MPI_Comm,
    intercomm: Out<MPI_Comm>,
    array_of_errcodes: Unmeasured<c_int, Writing>,
) -> c_int {
    let block = || {
        let info = info::hints("info", info)?;
        Ok(vec![program("maxprocs", command.bytes("command")?, argv, maxprocs, &info)?])
    };
    spawn(function, "command", block, root, comm, intercomm, array_of_errcodes)
}

/// `MPI_Comm_spawn_multiple`: all but `root`, `comm` and what is written counts at the root only.
#[expect(clippy::too_many_arguments, reason = "the arguments of the standard")]
pub fn comm_spawn_multiple(
    function: Function,
    count: c_int,
    array_of_commands: Texts,
    array_of_argv: WordLists,
    array_of_maxprocs: ArrayIn<c_int>,
    array_of_info: ArrayIn<MPI_Info>,
    root: c_int,
    comm: MPI_Comm,
    intercomm: Out<MPI_Comm>,
    array_of_errcodes: Unmeasured<c_int, Writing>,
) -> c_int {
    let blocks = || {
        if count < 1 {
            return Err(Error::new(ErrorClass::Arg, format!("count is {count}")));
        }
        let commands = array_of_commands.counted("array_of_commands", "count")?;
        let max_procs = array_of_maxprocs.counted("array_of_maxprocs", "count")?;
        let infos = array_of_info.counted("array_of_info", "count")?;
        let block = |(place, command): (usize, Vec<u8>)| {
            let info = info::hints(&format!("array_of_info[{place}]"), infos.get(place))?;
            let argv = array_of_argv.list("array_of_argv", place)?;
            program(&format!("array_of_maxprocs[{place}]"), command, argv, max_procs.get(place), &info)
        };
        commands.into_iter().enumerate().map(block).collect()
    };
    spawn(function, "array_of_commands", blocks, root, comm, intercomm, array_of_errcodes)
}

/// Starts what the root names.
fn spawn(
    function: Function,
    commands: &str,
    blocks: impl FnOnce() -> Result<Vec<Program>>,
    root: c_int,
    comm: MPI_Comm,
    intercomm: Out<MPI_Comm>,
    errcodes: Unmeasured<c_int, Writing>,
) -> c_int {
    on_comm(function, comm, |process, comm| {
        let out = intercomm.named("intercomm")?;
        let blocks = if is_root(&comm.core, root) { blocks() } else { Ok(Vec::new()) };
        let asked = blocks.iter().flatten().map(|block| block.max_procs).sum();
        let about = |error: Error| match error.class() {
            ErrorClass::Spawn => error.about(commands),
            _ => error,
        };
        let spawned = process.comm_spawn(&comm.core, root, blocks).map_err(about);
        let (size, code) = match &spawned {
            Ok(made) => (made.peers(), MPI_SUCCESS),
            Err(error) => (asked, error.class().code()),
        };
        // MPI_ERRCODES_IGNORE is no array.
        if !errcodes.is_null() {
            // SAFETY: the array has an item for each process that the root asks for; where others do not know how
            // many these are, none is written.
            let codes = unsafe { errcodes.of_len(size) }.named("array_of_errcodes")?;
            codes.fill((0..size).map(|_| code));
        }
        out.set(adopt(spawned?, comm));
        Ok(())
    })
}

/// A program to be started, with the standard's keys of `info`; those that say nothing here are not looked at.
fn program(
    argument: &str,
    command: Vec<u8>,
    arguments: Words,
    max_procs: c_int,
    info: &Info,
) -> Result<Program> {
    let max_procs = u32::try_from(max_procs)
        .map_err(|_| Error::new(ErrorClass::Arg, format!("{argument} is {max_procs}")))?;
    let value = |key: &str| info.value(key.as_bytes()).map(|value| OsString::from_vec(value.to_vec()));
    let hosts = info.get("host").unwrap_or_default().split(',').map(str::trim);
    let variables =
        [(errhandler::INITIAL_KEY, errhandler::INITIAL), (memory_kinds::KEY, memory_kinds::REQUESTED)];
    let told = |(key, variable): (&str, &str)| info.get(key).map(|value| (variable.into(), value.into()));
    Ok(Program {
        command: OsString::from_vec(command),
        arguments: arguments.words().into_iter().map(OsString::from_vec).collect(),
        max_procs,
        dir: value("wdir").map(Into::into),
        path: value("path"),
        hosts: hosts.filter(|host| !host.is_empty()).map(str::to_owned).collect(),
        environment: variables.into_iter().filter_map(told).collect(),
    })
}
