//! `cargo oxmpi run -n 4`: see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    oxmpi_launch::cargo::main()
}
