//! Chores of the workspace: `cargo xtask generate|...`.
//!
//! Everything a machine can check about the sources is checked here; nothing here ends up in a library.

use std::process::ExitCode;

mod generate;

const USAGE: &str = "\
usage: cargo xtask <command>

  generate [--check]   write the files derived from spec/, or fail if the committed ones differ
";

fn main() -> ExitCode {
    match run(lexopt::Parser::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What every chore returns: a sentence for the terminal when it fails.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

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
    match command.as_str() {
        "generate" => {
            let mut check = false;
            while let Some(argument) = arguments.next()? {
                match argument {
                    Long("check") => check = true,
                    other => return Err(other.unexpected().into()),
                }
            }
            generate::run(check)
        }
        other => Err(format!("no command named {other}\n{USAGE}").into()),
    }
}
