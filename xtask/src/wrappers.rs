//! Whether an installation that was moved can be built against: by hand, and by its compilers, pkg-config, CMake and
//! Meson.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::{env, fs, iter};

use crate::Outcome;
use crate::cargo::succeed;
use crate::install::PACKAGES;

/// Compiles as C and as C++, and runs without a launcher.
const PROGRAM: &str = "\
#include <mpi.h>

int main(void) {
    int version, subversion;
    return MPI_Get_version(&version, &subversion) != MPI_SUCCESS || version != MPI_VERSION;
}
";

const CMAKE_LISTS: &str = "\
cmake_minimum_required(VERSION 3.18)
project(find_mpi C CXX)
find_package(MPI REQUIRED COMPONENTS C CXX)
add_executable(c_program program.c)
target_link_libraries(c_program MPI::MPI_C)
add_executable(cxx_program program.cc)
target_link_libraries(cxx_program MPI::MPI_CXX)
";

const MESON_BUILD: &str = "\
project('find_mpi', 'c', 'cpp')
executable('c_program', 'program.c', dependencies: dependency('mpi', language: 'c'))
executable('cxx_program', 'program.cc', dependencies: dependency('mpi', language: 'cpp'))
";

/// Moves the installation at `prefix` to `moved`, then builds and runs programs in `scratch`.
pub fn check_moved(prefix: &Path, moved: &Path, scratch: &Path) -> Outcome {
    for folder in [moved, scratch] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    fs::rename(prefix, moved)?;
    fs::create_dir_all(scratch)?;
    for name in ["program.c", "program.cc"] {
        fs::write(scratch.join(name), PROGRAM)?;
    }
    let programs = moved.join("bin");
    compile(Command::new(programs.join("mpicc")).arg("program.c"), scratch)?;
    compile(Command::new(programs.join("mpicxx")).arg("program.cc"), scratch)?;
    pkg_config(moved, scratch)?;
    cmake(&programs, scratch)?;
    meson(&programs, scratch)?;
    by_hand(moved, scratch)
}

/// Runs a compiler in `scratch`, then what it made.
fn compile(compiler: &mut Command, scratch: &Path) -> Outcome {
    succeed(compiler.args(["-o", "program"]).current_dir(scratch))?;
    run(&scratch.join("program"))
}

/// Runs a program as a user would: cargo's search path for libraries would hide the installed one.
fn run(program: &Path) -> Outcome {
    succeed(Command::new(program).env_remove("LD_LIBRARY_PATH"))
}

fn pkg_config(moved: &Path, scratch: &Path) -> Outcome {
    if !is_there("pkg-config") {
        return Ok(());
    }
    for package in PACKAGES.into_iter().chain(["mpi_abi"]) {
        let mut query = Command::new("pkg-config");
        query.args(["--cflags", "--libs", package]).env("PKG_CONFIG_PATH", moved.join("lib/pkgconfig"));
        let output = query.output()?;
        if !output.status.success() {
            return Err(format!("pkg-config: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let flags = String::from_utf8(output.stdout)?;
        let (compiler, program) =
            if package == "mpi-cxx" { ("c++", "program.cc") } else { ("cc", "program.c") };
        compile(Command::new(compiler).arg(program).args(flags.split_whitespace()), scratch)?;
    }
    Ok(())
}

/// Whether `program` is installed; says so if it is not.
fn is_there(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    if !found {
        println!("{program} is not installed: not checked");
    }
    found
}

/// CMake finds us by asking `mpicc`, which it looks for beside `mpiexec` in the path.
fn cmake(programs: &Path, scratch: &Path) -> Outcome {
    if !is_there("cmake") {
        return Ok(());
    }
    fs::write(scratch.join("CMakeLists.txt"), CMAKE_LISTS)?;
    let build = scratch.join("build");
    let mut configure = Command::new("cmake");
    configure.env("PATH", search_path(programs)?).arg("-S").arg(scratch).arg("-B").arg(&build);
    succeed(configure.args(["--log-level", "WARNING"]))?;
    succeed(Command::new("cmake").arg("--build").arg(&build))?;
    run_both(&build)
}

/// Meson asks `mpicc` too, in the words of Open MPI.
fn meson(programs: &Path, scratch: &Path) -> Outcome {
    if !is_there("meson") {
        return Ok(());
    }
    fs::write(scratch.join("meson.build"), MESON_BUILD)?;
    let build = scratch.join("meson");
    let mut configure = Command::new("meson");
    // A wrapper may be set as the compiler, or another library's may be named.
    for name in ["CC", "CXX", "MPICC", "MPICXX"] {
        configure.env_remove(name);
    }
    succeed(configure.env("PATH", search_path(programs)?).arg("setup").arg(&build).arg(scratch))?;
    succeed(Command::new("ninja").arg("--quiet").arg("-C").arg(&build))?;
    run_both(&build)
}

/// Without any help to find the library when it runs: `mpiexec` gives it.
fn by_hand(moved: &Path, scratch: &Path) -> Outcome {
    let mut compiler = Command::new("cc");
    compiler
        .arg("program.c")
        .arg("-I")
        .arg(moved.join("include"))
        .arg("-L")
        .arg(moved.join("lib"))
        .arg("-lmpi");
    succeed(compiler.args(["-o", "program"]).current_dir(scratch))?;
    let mut launcher = Command::new(moved.join("bin/mpiexec"));
    succeed(launcher.env_remove("LD_LIBRARY_PATH").args(["-n", "2"]).arg(scratch.join("program")))
}

fn run_both(build: &Path) -> Outcome {
    run(&build.join("c_program"))?;
    run(&build.join("cxx_program"))
}

/// The value of `PATH` with our programs first.
fn search_path(programs: &Path) -> Outcome<OsString> {
    let before = env::var_os("PATH").unwrap_or_default();
    Ok(env::join_paths(iter::once(programs.to_owned()).chain(env::split_paths(&before)))?)
}
