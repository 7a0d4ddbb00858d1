//! A tool that defines `MPI_X` and calls `PMPI_X` sees the program's calls, however it gets in.
//!
//! MPI-5.0: Profiling Interface.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use oxmpi_tests::prefix;

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

/// Compiles C sources of `tests/interposition` to `name`, linked with the library and with what was compiled before.
fn compile(name: &str, arguments: &[&str]) -> PathBuf {
    let folder = prefix().join("tests/interposition");
    fs::create_dir_all(&folder).expect("the prefix can be written to");
    let path = folder.join(name);
    let (libraries, others): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|argument| argument.starts_with("-l"));
    let mut compiler = Command::new("cc");
    compiler.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("interposition"));
    compiler.arg("-I").arg(prefix().join("include")).args(["-Wall", "-Werror", "-o"]).arg(&path).args(others);
    for from in [folder, prefix().join("lib")] {
        compiler.arg(format!("-L{}", from.display())).arg(format!("-Wl,-rpath,{}", from.display()));
    }
    output(compiler.args(libraries));
    path
}

fn output(command: &mut Command) -> String {
    // Cargo's search path for libraries would hide the installed one.
    let output = command.env_remove("LD_LIBRARY_PATH").output().expect("the program can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).expect("the output is text")
}
