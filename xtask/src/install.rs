//! `cargo xtask install`: programs, header, library and manuals under one folder, which may be moved afterwards.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::Outcome;
use crate::cargo::{AS_TESTED, cargo, succeed, target_directory, workspace_root};
use crate::manuals;

/// Programs by the name under which cargo builds them, and their further names; they print their manuals.
pub const PROGRAMS: [(&str, &[&str]); 3] =
    [("mpicc", &["mpicxx", "mpic++", "mpiCC"]), ("mpiexec", &["mpirun"]), ("oxmpi", &[])];

/// The subcommand of cargo, whose help is its manual.
pub const SUBCOMMAND: &str = "cargo-oxmpi";

/// Where they and the library are.
const CRATES: [&str; 3] = ["oxmpi-library", "oxmpi-launch", "oxmpi-tools"];

/// Names under which build systems ask pkg-config for an MPI library, besides our own.
pub const PACKAGES: [&str; 3] = ["mpi", "mpi-c", "mpi-cxx"];

/// Builds everything and installs it under `prefix`; for tests with `debug`: then it has faults, too.
pub fn run(prefix: &Path, debug: bool) -> Outcome {
    let programs = PROGRAMS.into_iter().chain([(SUBCOMMAND, &[][..])]);
    let mut build = cargo();
    build.arg("build").args(CRATES.into_iter().flat_map(|name| ["--package", name]));
    build.arg("--lib").args(programs.clone().flat_map(|(name, _)| ["--bin", name]));
    match debug {
        true => build.args(AS_TESTED),
        false => build.arg("--release"),
    };
    succeed(&mut build)?;
    let built = target_directory()?.join(if debug { "debug" } else { "release" });

    if !debug {
        check_without_faults(&built.join("libmpi_abi.so"))?;
    }
    for folder in ["bin", "include", "lib/oxmpi", "lib/pkgconfig"] {
        fs::create_dir_all(prefix.join(folder))
            .map_err(|error| format!("cannot create {folder} in {}: {error}", prefix.display()))?;
    }
    for (program, further_names) in programs {
        replace(&built.join(program), &prefix.join("bin").join(program))?;
        for name in further_names {
            link(program, &prefix.join("bin").join(name))?;
        }
    }
    for header in ["include/mpi.h", "include/mpi_fint.h"] {
        replace(&workspace_root().join(header), &prefix.join(header))?;
    }
    replace(&built.join("libmpi_abi.so"), &prefix.join("lib/libmpi_abi.so.1"))?;
    for name in ["libmpi_abi.so", "libmpi.so"] {
        link("libmpi_abi.so.1", &prefix.join("lib").join(name))?;
    }
    link("../libmpi_abi.so.1", &prefix.join("lib/oxmpi/libmpi_abi.so.1"))?; // where mpiexec points to
    fs::write(prefix.join("lib/pkgconfig/mpi_abi.pc"), pkg_config())?;
    for name in PACKAGES {
        link("mpi_abi.pc", &prefix.join("lib/pkgconfig").join(name).with_extension("pc"))?;
    }
    manuals::install(prefix)?;
    println!("installed under {}", prefix.display());
    Ok(())
}

/// What is installed for use has nothing of what only tests need.
fn check_without_faults(library: &Path) -> Outcome {
    const VARIABLE: &[u8] = b"OXMPI_FAULT";
    let bytes = fs::read(library).map_err(|error| format!("cannot read {}: {error}", library.display()))?;
    match bytes.windows(VARIABLE.len()).any(|window| window == VARIABLE) {
        true => Err(format!("{} has faults that tests ask for", library.display()).into()),
        false => Ok(()),
    }
}

/// Copies a file over another one. A new inode, so that running programs keep the old contents.
fn replace(from: &Path, to: &Path) -> Outcome {
    let fresh = to.with_extension("new");
    fs::copy(from, &fresh)
        .and_then(|_| fs::rename(&fresh, to))
        .map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()).into())
}

/// Makes `at` a link to `to`, which is seen from the folder of `at`.
pub fn link(to: &str, at: &Path) -> Outcome {
    if at.symlink_metadata().is_ok() {
        fs::remove_file(at)?;
    }
    symlink(to, at).map_err(|error| format!("cannot link {}: {error}", at.display()).into())
}

fn pkg_config() -> String {
    format!(
        "\
prefix=${{pcfiledir}}/../..
includedir=${{prefix}}/include
libdir=${{prefix}}/lib

Name: mpi_abi
Description: MPI-5.0 in the standard C ABI (oxmpi)
Version: {}
Cflags: -I${{includedir}}
Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} -lmpi_abi
",
        env!("CARGO_PKG_VERSION")
    )
}
