//! Tests that run jobs: C programs and mpi4py, against an installation; and those that run on another machine.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::cargo::{AS_TESTED, cargo, succeed, target_directory, workspace_root};
use crate::install;

/// `cargo xtask test [ARGUMENT ...]`: installs a quickly built workspace and runs the multi-process tests.
pub fn test(arguments: &[OsString]) -> Outcome {
    let prefix = target_directory()?.join("test-prefix");
    install::run(&prefix, true)?;
    check(&prefix, arguments)
}

/// Runs the multi-process tests against what is installed under `prefix`.
///
/// The tests cannot install by themselves: cargo would wait for the cargo that runs them.
pub fn check(prefix: &Path, arguments: &[OsString]) -> Outcome {
    build_rust_and_c(prefix)?;
    // A word that names a file of tests means all of that file.
    let (files, words): (Vec<_>, Vec<_>) = arguments.iter().partition(|&word| is_file_of_tests(word));
    let targets: Vec<_> = files.into_iter().flat_map(|file| [OsStr::new("--test"), file]).collect();
    run(prefix, &targets, &words)
}

/// All of these tests but those of [`WAITING`].
pub fn check_most(prefix: &Path) -> Outcome {
    build_rust_and_c(prefix)?;
    let mut targets = vec!["--lib".to_owned()];
    for entry in fs::read_dir(workspace_root().join("tests/tests"))? {
        let path = entry?.path();
        let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        if path.extension() == Some(OsStr::new("rs")) && name != WAITING {
            targets.extend(["--test".to_owned(), name.to_owned()]);
        }
    }
    run(prefix, &targets, &[] as &[&str])
}

/// Those of [`WAITING`] alone.
pub fn check_waiting(prefix: &Path) -> Outcome {
    run(prefix, &["--test", WAITING], &[] as &[&str])
}

/// The file of tests that leave half of the processors' time to others, for long.
const WAITING: &str = "dynamic";

fn run(prefix: &Path, targets: &[impl AsRef<OsStr>], words: &[impl AsRef<OsStr>]) -> Outcome {
    let mut command = cargo();
    command.args(["test", "--package", "oxmpi-tests", "--no-fail-fast"]).args(targets);
    succeed(command.arg("--").args(words).env("OXMPI_TEST_PREFIX", prefix))
}

/// `cargo xtask hosts [ARGUMENT ...]`: the same tests, of which each job runs on three hosts.
pub fn over_hosts(arguments: &[OsString]) -> Outcome {
    let prefix = target_directory()?.join("test-prefix");
    install::run(&prefix, true)?;
    build_rust_and_c(&prefix)?;
    let mut command = Command::new(workspace_root().join("tests/hosts/tree.py"));
    succeed(command.arg(prefix).args(arguments))
}

fn is_file_of_tests(word: &OsString) -> bool {
    workspace_root().join("tests/tests").join(word).with_extension("rs").is_file()
}

/// Builds the programs of `tests/rust_and_c`, with an engine for both languages and with one for each.
fn build_rust_and_c(prefix: &Path) -> Outcome {
    let folder = prefix.join("tests");
    fs::create_dir_all(&folder)?;
    let source = workspace_root().join("tests/rust_and_c/of_c.c");
    let mut compiler = Command::new(prefix.join("bin/mpicc"));
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o"]);
    succeed(compiler.arg(folder.join("libof_c.so")).arg(source))?;
    for (name, features) in [("rust_beside_c", ""), ("rust_shares_with_c", "oxmpi-rust-and-c/shared")] {
        let mut build = cargo();
        build.args(["build", "--package", "oxmpi-rust-and-c"]).args(AS_TESTED).args(["--features", features]);
        succeed(build.env("OXMPI_TEST_C_LIBRARY", &folder))?;
        fs::copy(target_directory()?.join("debug/oxmpi-rust-and-c"), folder.join(name))?;
    }
    Ok(())
}

/// Builds mpi4py against what is installed under `prefix`, and runs its programs and ours.
pub fn check_python(prefix: &Path) -> Outcome {
    let mut command = Command::new(workspace_root().join("tests/python/run.sh"));
    let folder = target_directory()?.join("ci-python");
    succeed(command.arg(prefix).arg(folder).env_remove("LD_LIBRARY_PATH"))
}

/// Runs the tests of what is written for AArch64.
pub fn check_neon() -> Outcome {
    let folder = target_directory()?.join("ci-neon");
    succeed(Command::new(workspace_root().join("tests/neon/run.sh")).arg(folder))
}
