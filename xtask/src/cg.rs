//! The example of conjugate gradients: in C against an installation, in Rust by cargo; shown, or checked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::cargo::{AS_TESTED, cargo, succeed, target_directory, workspace_root};
use crate::install;

const MATRIX: &str = "examples/cg/data/494_bus.mtx";
const LIFETIMES: [&str; 3] = ["blocking", "nonblocking", "persistent"];

/// `cargo xtask demo`: builds and installs everything, then solves a linear system on 4 ranks.
pub fn demo() -> Outcome {
    let prefix = target_directory()?.join("demo");
    install::run(&prefix, false)?;
    for program in [build_in_c(&prefix)?, build_in_rust("release")?] {
        for lifetime in LIFETIMES {
            let mut job = job(&prefix, 4, &program, lifetime);
            println!("\n$ mpiexec -n 4 {} --lifetime {lifetime} {MATRIX}", short(&program));
            succeed(&mut job)?;
        }
    }
    println!("\nFor programs of your own: export PATH={}:$PATH", prefix.join("bin").display());
    Ok(())
}

/// A path as somebody in the workspace's root would type it.
fn short(path: &Path) -> String {
    path.strip_prefix(workspace_root()).unwrap_or(path).display().to_string()
}

/// Solves on 1 to 4 ranks, in both languages and all lifetimes. The program itself compares with a serial solve.
pub fn check(prefix: &Path) -> Outcome {
    let mut passed = 0;
    for program in [build_in_c(prefix)?, build_in_rust("debug")?] {
        for lifetime in LIFETIMES {
            for ranks in 1..=4 {
                let output = job(prefix, ranks, &program, lifetime).output()?;
                let (out, err) =
                    (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
                if !output.status.success() || !out.trim_end().ends_with(": ok") {
                    let name = program.display();
                    return Err(format!("{name} on {ranks} ranks, {lifetime}:\n{out}{err}").into());
                }
                passed += 1;
            }
        }
    }
    println!("{passed} passed, 0 failed");
    Ok(())
}

fn job(prefix: &Path, ranks: u32, program: &Path, lifetime: &str) -> Command {
    let mut command = Command::new(prefix.join("bin/mpiexec"));
    // Cargo's search path for libraries would hide the installed one.
    command.env_remove("LD_LIBRARY_PATH");
    command.args(["--timeout", "60", "-n", &ranks.to_string()]).arg(program);
    command.args(["--lifetime", lifetime, MATRIX]).current_dir(workspace_root());
    command
}

fn build_in_c(prefix: &Path) -> Outcome<PathBuf> {
    let program = prefix.join("bin/cg");
    let mut sources = Vec::new();
    for entry in fs::read_dir(workspace_root().join("examples/cg"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            sources.push(path);
        }
    }
    let mut compiler = Command::new(prefix.join("bin/mpicc"));
    succeed(compiler.args(["-O2", "-Wall", "-o"]).arg(&program).args(sources).arg("-lm"))?;
    Ok(program)
}

/// Builds the program for the folder of this name: `release` takes much longer, and is what users measure.
fn build_in_rust(folder: &str) -> Outcome<PathBuf> {
    let how = if folder == "release" { &["--release"][..] } else { &AS_TESTED };
    succeed(cargo().args(["build", "--package", "cg"]).args(how))?;
    Ok(target_directory()?.join(folder).join("cg"))
}
