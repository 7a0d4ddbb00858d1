//! A tool that defines `MPI_X` and calls `PMPI_X` sees the program's calls, however it gets in.
//!
//! MPI-5.0: Profiling Interface.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;
use std::{env, fs};

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

/// Compiles C sources beside this file to `name`, linked with the library and with what was compiled before.
fn compile(name: &str, arguments: &[&str]) -> PathBuf {
    let scratch = library();
    let path = scratch.join(name);
    let (libraries, others): (Vec<&str>, Vec<&str>) =
        arguments.iter().partition(|argument| argument.starts_with("-l"));
    let mut compiler = Command::new("cc");
    compiler.current_dir(SOURCES).args(["-I", HEADERS, "-Wall", "-Werror", "-o"]).arg(&path).args(others);
    compiler.arg(format!("-L{0}", scratch.display())).arg(format!("-Wl,-rpath,{0}", scratch.display()));
    output(compiler.args(libraries));
    path
}

/// The folder that holds the library under the names that linkers and programs ask for. Cargo builds no
/// `cdylib` for a test.
fn library() -> &'static Path {
    static BUILT: Once = Once::new();
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    BUILT.call_once(|| {
        let target = scratch.parent().expect("the scratch folder lies in the target folder");
        let cargo = env::var_os("CARGO").expect("cargo runs the tests");
        output(Command::new(cargo).args(["build", "--package", "oxmpi-library", "--target-dir"]).arg(target));
        for name in ["libmpi_abi.so", "libmpi_abi.so.1"] {
            fs::copy(target.join("debug/libmpi_abi.so"), scratch.join(name))
                .expect("cargo built the library");
        }
    });
    scratch
}

fn output(command: &mut Command) -> String {
    let output = command.output().expect("the program can be started");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).expect("the output is text")
}
