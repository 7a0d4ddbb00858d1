//! Whether an installation that was moved can be built against: by its compilers, pkg-config and CMake.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::cargo::succeed;

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
    cmake(&programs, scratch)
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
    let mut query = Command::new("pkg-config");
    query.args(["--cflags", "--libs", "mpi_abi"]).env("PKG_CONFIG_PATH", moved.join("lib/pkgconfig"));
    let Ok(output) = query.output() else {
        println!("pkg-config is not installed: not checked");
        return Ok(());
    };
    if !output.status.success() {
        return Err(format!("pkg-config: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let flags = String::from_utf8(output.stdout)?;
    compile(Command::new("cc").arg("program.c").args(flags.split_whitespace()), scratch)
}

/// CMake finds us by asking `mpicc`, which it looks for beside `mpiexec` in the path.
fn cmake(programs: &Path, scratch: &Path) -> Outcome {
    if Command::new("cmake").arg("--version").output().is_err() {
        println!("cmake is not installed: not checked");
        return Ok(());
    }
    fs::write(scratch.join("CMakeLists.txt"), CMAKE_LISTS)?;
    let path = std::env::join_paths(
        [programs.to_owned()]
            .into_iter()
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )?;
    let build = scratch.join("build");
    let mut configure = Command::new("cmake");
    configure.env("PATH", path).arg("-S").arg(scratch).arg("-B").arg(&build).args(["--log-level", "WARNING"]);
    succeed(&mut configure)?;
    succeed(Command::new("cmake").arg("--build").arg(&build))?;
    for program in ["c_program", "cxx_program"] {
        run(&build.join(program))?;
    }
    Ok(())
}
