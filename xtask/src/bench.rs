//! The benchmark of collectives in `tests/bench`: beside peers, against the aims; or looking at data, not at the clock.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::cargo::{succeed, target_directory, workspace_root};
use crate::install;

/// `cargo xtask bench`: measures this workspace beside peers, `mpich=PREFIX` and the like, and prints what `targets.py`
/// says of the aims; with `--show` only that, of what was measured before.
pub fn run(arguments: impl Iterator<Item = OsString>) -> Outcome {
    let mut arguments: Vec<OsString> = arguments.collect();
    if !arguments.iter().any(|word| word == "--show") {
        let prefix = target_directory()?.join("bench");
        install::run(&prefix, false)?;
        let mut ours = OsString::from("oxmpi=");
        ours.push(&prefix);
        arguments.push(ours);
    }
    let program = workspace_root().join("tests/bench/targets.py");
    // Cargo's search path for libraries would hide the installed one.
    succeed(Command::new("python3").env_remove("LD_LIBRARY_PATH").arg(program).args(arguments))
}

/// Ranks, and whether they are one group or the two halves are two.
const RUNS: [(u32, &[&str]); 7] =
    [(1, &[]), (2, &[]), (3, &["--used"]), (4, &[]), (2, &["--used"]), (2, &["--inter"]), (4, &["--inter"])];

/// Compiles it against an installation and runs it: every collective leaves the right data, in all
/// lifetimes, with fixed and rotating roots, with equal and uneven blocks.
pub fn check(prefix: &Path) -> Outcome {
    let program = prefix.join("bin/collectives");
    let folder = workspace_root().join("tests/bench/collectives");
    let sources = ["main.c", "measure.c", "neighbors.c", "operations.c", "pairs.c", "used.c"]
        .map(|file| folder.join(file));
    let mut compile = Command::new(prefix.join("bin/mpicc"));
    compile.args(["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]).arg(&program).args(&sources);
    succeed(&mut compile)?;
    let mut points = 0;
    for (ranks, options) in RUNS {
        let mut command = Command::new(prefix.join("bin/mpiexec"));
        // Cargo's search path for libraries would hide the installed one.
        command
            .env_remove("LD_LIBRARY_PATH")
            .args(["--timeout", "60", "-n", &ranks.to_string()])
            .arg(&program);
        command.args(["--check", "--batches", "4", "--sizes", "8,1K,64K"]).args(options);
        let output = command.output()?;
        let lines = String::from_utf8(output.stdout)?;
        let bad = |line: &&str| !line.ends_with(r#""wrong":0}"#);
        if let Some(line) = lines.lines().find(bad) {
            return Err(format!("on {ranks} ranks: {line}").into());
        }
        if !output.status.success() || lines.is_empty() {
            return Err(format!("on {ranks} ranks: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        points += lines.lines().count();
    }
    println!("{points} passed, 0 failed");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_shown_as_it_is_and_words_stand_before_options_and_behind() {
        let words = ["/dev/null", "--rounds", "7", "--show", "/dev/null"];
        run(words.map(OsString::from).into_iter()).expect("two files without points");
    }
}
