//! `mpiexec`, and `mpirun`, if that is how it is called: see the library of this crate.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let called = std::env::args_os().next();
    let is_mpirun =
        called.is_some_and(|path| Path::new(&path).file_name().is_some_and(|name| name == "mpirun"));
    oxmpi_launch::main(if is_mpirun { "mpirun" } else { "mpiexec" })
}
