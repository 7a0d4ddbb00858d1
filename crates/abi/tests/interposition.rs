//! A tool that defines `MPI_X` and calls `PMPI_X` sees the program's calls, however it gets in.
//!
//! MPI-5.0: Profiling Interface.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interposition");
const HEADERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../include");

#[test]
fn without_a_tool_both_names_do_the_same() {
    let program = compile("plain", &["program.c", "-lmpi_abi"]);
    assert_eq!(output(&mut Command::new(program)), "same result\n");
}

#[test]
fn a_preloaded_tool_sees_the_call() {
    let tool = compile("libpreloaded.so", &["tool.c", "-shared", "-fPIC"]);
    let program = compile("to_be_preloaded", &["program.c", "-lmpi_abi"]);
    assert_eq!(output(Command::new(program).env("LD_PRELOAD", tool)), "tool sees the call\nsame result\n");
}

#[test]
fn a_tool_linked_before_the_library_sees_the_call() {
    compile("liblinked_tool.so", &["tool.c", "-shared", "-fPIC"]);
    let program = compile("linked", &["program.c", "-llinked_tool", "-lmpi_abi"]);
    assert_eq!(output(&mut Command::new(program)), "tool sees the call\nsame result\n");
}

#[test]
fn a_tool_inside_the_executable_sees_the_call() {
    let program = compile("inside", &["program.c", "tool.c", "-lmpi_abi"]);
    assert_eq!(output(&mut Command::new(program)), "tool sees the call\nsame result\n");
}

/// Compiles C sources beside this file to `name`; libraries are found where they were built.
fn compile(name: &str, arguments: &[&str]) -> PathBuf {
    let libraries = library();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = scratch.join(name);
    let mut compiler = Command::new("cc");
    compiler.current_dir(SOURCES).args(["-I", HEADERS, "-Wall", "-Werror", "-o"]).arg(&path);
    compiler.args(arguments.iter().filter(|argument| !argument.starts_with("-l")));
    for folder in [scratch, libraries.as_path()] {
        compiler.arg(format!("-L{0}", folder.display())).arg(format!("-Wl,-rpath,{0}", folder.display()));
    }
    compiler.args(arguments.iter().filter(|argument| argument.starts_with("-l")));
    output(&mut compiler);
    path
}

/// The folder that holds the library under the name programs ask for. Cargo builds no `cdylib` for a test.
fn library() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = scratch.parent().expect("the scratch folder lies in the target folder");
    let cargo = env::var_os("CARGO").expect("cargo runs the tests");
    output(Command::new(cargo).args(["build", "--package", "oxmpi-abi", "--target-dir"]).arg(target));
    let folder = target.join("debug");
    let soname = folder.join("libmpi_abi.so.1");
    match std::os::unix::fs::symlink("libmpi_abi.so", &soname) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => panic!("{soname:?}: {error}"),
        _ => folder,
    }
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("the program can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).expect("the output is text")
}
