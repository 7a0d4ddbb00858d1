//! `mpicc` and `mpicxx`: call the compiler with what an MPI program needs.
//!
//! One program under several names: one that ends in `xx`, `++` or `CC` compiles C++. It finds the
//! installation from where it lies itself, so that an installation may be moved. Build systems ask it
//! for flags in two dialects, MPICH's (`-show`, `-compile_info`) and Open MPI's (`-showme:compile`); it
//! refuses the queries it does not know, which is how CMake finds out which dialect to use.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

mod installation;
mod invocation;

use installation::{Installation, Language};
use invocation::{Action, Invocation};

const HELP: &str = "\
Compiles and links MPI programs: calls the compiler with the flags that MPI needs.

usage: mpicc [options of the compiler] file ...          (mpicxx for C++)

  -show, -showme             print the whole command instead of running it
  -showme:command            ... the compiler
  -showme:compile            ... the flags to compile
  -showme:link               ... the flags to link
  -showme:incdirs            ... the folders of headers
  -showme:libdirs            ... the folders of libraries
  -showme:libs               ... the names of libraries
  -showme:version            ... the version of oxmpi
  -compile_info, -link_info  print the command to compile, to link
  -cc=PROGRAM, -cxx=PROGRAM  use this compiler

environment: OXMPI_CC, OXMPI_CXX (or MPICH_CC, OMPI_CC, MPICH_CXX, OMPI_CXX) name the compiler.
";

fn main() -> ExitCode {
    let name = env::args_os().next().unwrap_or_default();
    let language = Language::of_program(Path::new(&name));
    let installation = match Installation::find() {
        Ok(installation) => installation,
        Err(error) => return fail(format_args!("cannot find where I am installed: {error}")),
    };
    let variable = |name: &str| env::var(name).ok();
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    match Invocation::new(&installation, language, arguments, variable).action() {
        Err(error) => fail(format_args!("{error}")),
        Ok(Action::Help) => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Action::Print(text)) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Ok(Action::Run(command)) => {
            let (program, arguments) = command.split_first().expect("a command begins with its program");
            let error = Command::new(program).args(arguments).exec();
            fail(format_args!("cannot run the compiler {}: {error}", Path::new(program).display()))
        }
    }
}

fn fail(message: std::fmt::Arguments<'_>) -> ExitCode {
    eprintln!("mpicc: {message}");
    ExitCode::FAILURE
}
