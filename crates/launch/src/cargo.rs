//! `cargo oxmpi`: what cargo builds and runs, on the ranks of a job.
//!
//! Cargo runs programs by a *runner*, if it is told one. That is this program again, as the launcher: so what is built,
//! and where it lies, is cargo's affair.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::launch_words;

/// Runs `cargo oxmpi` with the arguments of this process.
///
/// The process must have no other thread: ranks die with the thread that made them.
pub fn main() -> ExitCode {
    // Cargo hands the name of the subcommand on.
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let words = words.strip_prefix(&[OsString::from("oxmpi")]).unwrap_or(&words);
    if let Some(job) = words.strip_prefix(&[OsString::from(LAUNCH)]) {
        return launch_words("cargo oxmpi", job.to_vec());
    }
    match command(words) {
        Ok(mut cargo) => failed(&format!("cannot start cargo: {}", cargo.exec())),
        Err(Wrong) => failed(USAGE),
    }
}

/// The word by which this program, as a runner, knows that it is one.
const LAUNCH: &str = "--as-runner";

const USAGE: &str = "\
usage: cargo oxmpi run|test|bench [-n RANKS] [ARGUMENTS OF CARGO] [-- ARGUMENTS OF THE PROGRAM]

Builds as cargo does, and starts the program on the ranks of a job: 1 if not said. What mpiexec
takes may stand behind the number, in one word: -n \"4 -bind-to none\". Tests that begin with
oxmpi::init() run on these ranks, too; those that are `#[oxmpi::test]`s need none of this.";

/// The words are not understood.
#[derive(Debug)]
struct Wrong;

/// What cargo is called with.
fn command(words: &[OsString]) -> Result<Command, Wrong> {
    let (kind, rest) = words.split_first().ok_or(Wrong)?;
    if !["run", "test", "bench"].iter().any(|known| kind == known) {
        return Err(Wrong);
    }
    let (ranks, rest) = ranks(rest)?;
    let this = env::current_exe().map_err(|_| Wrong)?;
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg(kind).arg("--config").arg(runner(this.as_os_str(), &ranks)).args(rest);
    Ok(cargo)
}

/// Takes `-n RANKS` out of the words before `--`.
fn ranks(words: &[OsString]) -> Result<(Vec<String>, Vec<OsString>), Wrong> {
    let (mut ranks, mut rest) = (vec!["1".to_owned()], Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.to_str() {
            Some("-n" | "-np") => {
                let value = words.next().and_then(|value| value.to_str()).ok_or(Wrong)?;
                ranks = value.split_whitespace().map(str::to_owned).collect();
            }
            Some("-h" | "--help") => return Err(Wrong),
            Some("--") => {
                rest.push(word.clone());
                rest.extend(words.by_ref().cloned());
            }
            _ => rest.push(word.clone()),
        }
    }
    Ok((ranks, rest))
}

/// What tells cargo to run all programs by this one.
fn runner(this: &OsStr, ranks: &[String]) -> String {
    let words = [this.to_string_lossy().into_owned(), LAUNCH.to_owned(), "-n".to_owned()];
    let quoted: Vec<String> = words.iter().chain(ranks).map(|word| format!("{word:?}")).collect();
    format!("target.'cfg(all())'.runner = [{}]", quoted.join(", "))
}

fn failed(text: &str) -> ExitCode {
    // Whoever reads it may have gone; the status says enough.
    let _ = writeln!(io::stderr(), "{text}");
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Vec<String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        let cargo = command(&words).expect("these are understood");
        cargo.get_args().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn cargo_gets_its_own_words_and_a_runner_with_the_ranks() {
        let found = arguments(&["run", "--release", "-n", "4", "--example", "heat", "--", "-n", "7"]);
        let [kind, config, runner, rest @ ..] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((kind.as_str(), config.as_str()), ("run", "--config"));
        assert!(runner.ends_with("\"--as-runner\", \"-n\", \"4\"]"), "{runner}");
        assert_eq!(rest, ["--release", "--example", "heat", "--", "-n", "7"]);
    }

    #[test]
    fn the_launcher_gets_what_stands_behind_the_ranks() {
        let found = arguments(&["test", "-n", "2 -bind-to none"]);
        assert!(found[2].ends_with("\"-n\", \"2\", \"-bind-to\", \"none\"]"), "{found:?}");
    }

    #[test]
    fn other_words_are_not_understood() {
        for words in [&[][..], &["build"], &["run", "-n"], &["run", "--help"]] {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            command(&words).expect_err("not understood");
        }
    }
}
