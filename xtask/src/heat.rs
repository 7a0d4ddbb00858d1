//! The example of heat in a rod: in C against an installation, in Rust by cargo. Python's is checked with mpi4py.

use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::cargo::{AS_TESTED, cargo, succeed, target_directory, workspace_root};

/// Runs both on 1 to 4 ranks: they print the same line, and no heat is lost.
pub fn check(prefix: &Path) -> Outcome {
    let in_c = prefix.join("bin/heat");
    let source = workspace_root().join("examples/heat/heat.c");
    succeed(Command::new(prefix.join("bin/mpicc")).args(["-O2", "-Wall", "-o"]).args([&in_c, &source]))?;
    succeed(cargo().args(["build", "--package", "heat"]).args(AS_TESTED))?;
    let in_rust = target_directory()?.join("debug/heat");
    for ranks in 1..=4 {
        let (in_c, in_rust) = (run(prefix, ranks, &in_c)?, run(prefix, ranks, &in_rust)?);
        let begin = format!("{ranks} ranks: heat 100.000000 in all, ");
        if in_c != in_rust || !in_c.starts_with(&begin) {
            return Err(format!("on {ranks} ranks\nC:    {in_c}Rust: {in_rust}").into());
        }
    }
    println!("8 passed, 0 failed");
    Ok(())
}

/// What the program prints on so many ranks.
fn run(prefix: &Path, ranks: u32, program: &Path) -> Outcome<String> {
    let mut command = Command::new(prefix.join("bin/mpiexec"));
    // Cargo's search path for libraries would hide the installed one.
    command.env_remove("LD_LIBRARY_PATH").args(["--timeout", "60", "-n", &ranks.to_string()]).arg(program);
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
