//! How the program was started: what `MPI_INFO_ENV` holds.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Starting MPI Processes.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use oxmpi_core::info::{Info, memory_kinds};
use oxmpi_core::processor_name;

use crate::object::errhandler;

/// The variable by which the launcher tells how many ranks it was asked for with this program.
const MAX_PROCS: &str = "OXMPI_MAXPROCS";

/// What the standard lets a program know of how it was started: the same before and after initialisation.
pub fn environment() -> Info {
    let mut info = Info::default();
    let mut arguments = env::args_os().map(OsString::into_vec);
    if let Some(command) = arguments.next() {
        info.set("command", command);
    }
    info.set("argv", arguments.collect::<Vec<_>>().join(&b' '));
    // A program that was not started by the launcher is a world of its own.
    info.set("maxprocs", env::var(MAX_PROCS).unwrap_or_else(|_| "1".to_owned()));
    info.set("host", processor_name());
    info.set("arch", env::consts::ARCH);
    if let Ok(folder) = env::current_dir() {
        info.set("wdir", folder.into_os_string().into_vec());
    }
    info.set(errhandler::INITIAL_KEY, errhandler::initial().name().to_lowercase());
    info.set(memory_kinds::KEY, memory_kinds::of_world());
    info
}
