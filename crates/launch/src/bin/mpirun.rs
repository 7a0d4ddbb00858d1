//! `mpirun`: see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    oxmpi_launch::main("mpirun")
}
