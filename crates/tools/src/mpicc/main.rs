//! `mpicc` and `mpicxx`: call the compiler with what an MPI program needs.
//!
//! One program under several names: one that ends in `xx`, `++` or `CC` compiles C++. It finds the
//! installation from where it lies itself, so that an installation may be moved. Build systems ask it
//! for flags in two dialects, MPICH's (`-show`, `-compile_info`) and Open MPI's (`-showme:compile`); it
//! refuses the queries it does not know, which is how CMake finds out which dialect to use.

use std::env;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

mod installation;
mod invocation;

use installation::{Installation, Language};
use invocation::{Action, Invocation};
use oxmpi_manual::{Dashes, Entry, FORMATS, Manual, Section, Values};

const MANUAL: Manual<'static> = Manual {
    names: &["mpicc", "mpicxx", "mpic++", "mpiCC"],
    purpose: "Compiles and links MPI programs: calls the compiler with the flags that MPI needs",
    usage: &["[options of the compiler] file ..."],
    about: "mpicxx, mpic++ and mpiCC are for C++.",
    dashes: Dashes::Any,
    options: &[
        Entry::new(&["show", "showme"], &[], "print the whole command instead of running it"),
        Entry::new(&["showme:command"], &[], "... the compiler"),
        Entry::new(&["showme:compile"], &[], "... the flags to compile"),
        Entry::new(&["showme:link"], &[], "... the flags to link"),
        Entry::new(&["showme:incdirs"], &[], "... the folders of headers"),
        Entry::new(&["showme:libdirs"], &[], "... the folders of libraries"),
        Entry::new(&["showme:libs"], &[], "... the names of libraries"),
        Entry::new(&["showme:version"], &[], "... the version of oxmpi"),
        Entry::new(&["compile_info", "link_info"], &[], "print the command to compile, to link"),
        Entry::new(&["cc=", "cxx="], &["PROGRAM"], "use this compiler"),
        Entry::new(&["help"], &[], "print this text"),
        Entry::new(&["manual="], &["FORMAT"], "print the manual page (man), or completion (bash, zsh, fish)")
            .completes(Values::Words(FORMATS)),
    ],
    operands: Values::Files,
    commands: &[],
    sections: &[Section {
        title: "Environment",
        rows: &[
            ("OXMPI_CC, MPICH_CC, OMPI_CC", "the compiler of mpicc, the first that is set (cc)"),
            ("OXMPI_CXX, MPICH_CXX, OMPI_CXX", "that of mpicxx (c++)"),
        ],
    }],
};

fn main() -> ExitCode {
    let name = env::args_os().next().unwrap_or_default();
    let language = Language::of_program(Path::new(&name));
    let installation = match Installation::find() {
        Ok(installation) => installation,
        Err(error) => return fail(format_args!("cannot find where I am installed: {error}")),
    };
    // What is not text names no compiler, and the error says which.
    let variable = |name: &str| Some(env::var_os(name)?.to_string_lossy().into_owned());
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    match Invocation::new(&installation, language, arguments, variable).action() {
        Err(error) => fail(format_args!("{error}")),
        Ok(Action::Help) => print(&MANUAL.help()),
        Ok(Action::Manual(format)) => match MANUAL.print_as(&format) {
            Some(text) => print(&text),
            None => fail(format_args!("-manual={format}: it must be one of {}", FORMATS.join(", "))),
        },
        Ok(Action::Print(text)) => print(&format!("{text}\n")),
        Ok(Action::Run(command)) => {
            let (program, arguments) = command.split_first().expect("a command begins with its program");
            let error = Command::new(program).args(arguments).exec();
            fail(format_args!("cannot run the compiler {}: {error}", Path::new(program).display()))
        }
    }
}

fn print(text: &str) -> ExitCode {
    match oxmpi_manual::print(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(format_args!("cannot write standard output: {error}")),
    }
}

fn fail(message: std::fmt::Arguments<'_>) -> ExitCode {
    // Whoever reads errors may have gone.
    let _ = writeln!(io::stderr(), "mpicc: {message}");
    ExitCode::FAILURE
}
