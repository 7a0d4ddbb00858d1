//! Chores of the workspace: `cargo xtask api|bench|ci|counts|demo|generate|hosts|install|miri|symbols|test|tidy`.
//!
//! Everything a machine can check about the sources is checked here; nothing here ends up in a library.

use std::ffi::OsString;
use std::process::ExitCode;

mod alone;
mod api;
mod bench;
mod cargo;
mod cg;
mod ci;
mod counts;
mod examples;
mod generate;
mod guide;
mod install;
mod jobs;
mod manuals;
mod miri;
mod oldest;
mod packages;
mod soundness;
mod standard;
mod symbols;
mod tidy;
mod wrappers;

const USAGE: &str = "\
usage: cargo xtask <command>

  api [--record]                   compare what the crate oxmpi promises with its record, or make it
  bench NAME=PREFIX ... [OPTION ...]
                                   measure this beside mpich, openmpi and intel, and compare with the
                                   aims; options are those of tests/bench/targets.py
  ci [STEP ...]                    everything that must pass before a commit, or only these steps
  counts [--record]                compare the instructions of short calls with their record, or make it
  demo                             build everything and solve a linear system on 4 ranks, in C and in Rust
  generate [--check]               write the files derived from spec/, or fail if the committed ones differ
  hosts [FILE ...] [WORD ...]      the same tests over three hosts, namespaces of the network (as root), but
                                   for what tests/hosts/tree.txt names
  install --prefix DIR [--debug]   build and install programs, header, library and manuals
  miri                             look for undefined behaviour in what runs in one process (minutes)
  symbols LIBRARY HEADER           compare an installed library and header with spec/
  test [FILE ...] [ARGUMENT ...]   the multi-process tests, or those of files in tests/tests (dynamic, say),
                                   with arguments for the test programs (the name of a test, say)
  tidy                             check what the compiler and clippy do not: lengths, names, marks
";

/// What every chore returns: a sentence for the terminal when it fails.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run(lexopt::Parser::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: lexopt::Parser) -> Outcome {
    use lexopt::prelude::*;
    let command = match arguments.next()? {
        Some(Value(command)) => command.string()?,
        Some(Short('h') | Long("help")) | None => {
            print!("{USAGE}");
            return Ok(());
        }
        Some(other) => return Err(other.unexpected().into()),
    };
    if command == "bench" {
        return bench::run(arguments.raw_args()?);
    }
    let mut options = Options::default();
    while let Some(argument) = arguments.next()? {
        match (command.as_str(), argument) {
            ("generate", Long("check")) => options.check = true,
            ("api" | "counts", Long("record")) => options.record = true,
            ("install", Long("prefix")) => options.values = vec![arguments.value()?],
            ("install", Long("debug")) => options.debug = true,
            ("ci" | "hosts" | "symbols" | "test", Value(argument)) => options.values.push(argument),
            (_, other) => return Err(other.unexpected().into()),
        }
    }
    match (command.as_str(), options.values.as_slice()) {
        ("api", _) => api::run(options.record),
        ("ci", steps) => ci::run(steps),
        ("counts", _) => counts::run(options.record),
        ("demo", _) => cg::demo(),
        ("generate", _) => generate::run(options.check),
        ("hosts", arguments) => jobs::over_hosts(arguments),
        ("miri", _) => miri::run(),
        ("install", [prefix]) => install::run(prefix.as_ref(), options.debug),
        ("symbols", [library, header]) => symbols::run(library.as_ref(), header.as_ref()),
        ("test", arguments) => jobs::test(arguments),
        ("tidy", _) => tidy::run(),
        ("install", _) => Err("where to? say --prefix DIR".into()),
        ("symbols", _) => Err("which? say LIBRARY HEADER".into()),
        (other, _) => Err(format!("no command named {other}\n{USAGE}").into()),
    }
}

/// What follows the command's name.
#[derive(Default)]
struct Options {
    check: bool,
    record: bool,
    debug: bool,
    values: Vec<OsString>,
}
