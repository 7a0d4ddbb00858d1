//! Examples against an installation: heat in a rod in C and in Rust (Python's is checked with mpi4py), and what the
//! tour shows of programs that start others; the rest of it `cargo test` walks through. The longest is [`crate::cg`].
//! And what `cargo oxmpi` starts.

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

use crate::cargo::{AS_TESTED, cargo, succeed, target_directory, workspace_root};
use crate::install::SUBCOMMAND;
use crate::{Outcome, alone};

/// How many ranks run each.
const RANKS: RangeInclusive<u32> = 1..=4;

/// Runs them.
pub fn check(prefix: &Path) -> Outcome {
    succeed(cargo().args(["build", "--package", "heat", "--package", "tour"]).args(AS_TESTED))?;
    check_heat(prefix)?;
    check_spawning(prefix)?;
    alone::check_launched(&prefix.join("bin").join(SUBCOMMAND))?;
    println!("{} passed, 0 failed", 3 * RANKS.count() + 1);
    Ok(())
}

/// Both programs print the same line, and no heat is lost.
fn check_heat(prefix: &Path) -> Outcome {
    let in_c = prefix.join("bin/heat");
    let source = workspace_root().join("examples/heat/heat.c");
    succeed(Command::new(prefix.join("bin/mpicc")).args(["-O2", "-Wall", "-o"]).args([&in_c, &source]))?;
    let in_rust = target_directory()?.join("debug/heat");
    for ranks in RANKS {
        let (in_c, in_rust) = (run(prefix, ranks, &in_c, &[])?, run(prefix, ranks, &in_rust, &[])?);
        let begin = format!("{ranks} ranks: heat 100.000000 in all, ");
        if in_c != in_rust || !in_c.starts_with(&begin) {
            return Err(format!("on {ranks} ranks\nC:    {in_c}Rust: {in_rust}").into());
        }
    }
    Ok(())
}

/// What is asked for is reached, and what was started ends.
fn check_spawning(prefix: &Path) -> Outcome {
    let tour = target_directory()?.join("debug/tour");
    for ranks in RANKS {
        let printed = run(prefix, ranks, &tour, &["spawn", "spawn_multiple"])?;
        if printed != "spawn: done\nspawn_multiple: done\n" {
            return Err(format!("{} on {ranks} ranks: {printed}", tour.display()).into());
        }
    }
    Ok(())
}

/// What the program prints on so many ranks.
fn run(prefix: &Path, ranks: u32, program: &Path, arguments: &[&str]) -> Outcome<String> {
    let mut command = Command::new(prefix.join("bin/mpiexec"));
    // Cargo's search path for libraries would hide the installed one.
    command
        .env_remove("LD_LIBRARY_PATH")
        .args(["--timeout", "60", "-n", &ranks.to_string()])
        .arg(program)
        .args(arguments);
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
