//! Where the installation lies that is tested, and what starts its jobs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

static PREFIX: LazyLock<Option<PathBuf>> = LazyLock::new(|| env::var_os("OXMPI_TEST_PREFIX").map(Into::into));

/// The folder with `bin`, `include` and `lib`.
///
/// # Panics
/// If nobody said where: these tests need an installation, which a test cannot build while cargo runs it.
pub fn prefix() -> &'static Path {
    PREFIX.as_deref().unwrap_or_else(|| {
        panic!("OXMPI_TEST_PREFIX is not set: run `cargo xtask test`, which installs and sets it")
    })
}

/// What starts jobs: the installed `mpiexec`, or what `tests/hosts/tree.py` says, which calls it with hosts.
pub fn launcher() -> PathBuf {
    env::var_os(LAUNCHER).map_or_else(|| prefix().join("bin/mpiexec"), PathBuf::from)
}

/// Whether jobs run on several hosts.
pub fn is_over_hosts() -> bool {
    env::var_os(LAUNCHER).is_some()
}

/// A program without a launcher; on the first host, by what `tests/hosts/tree.py` says, where there are several.
pub(crate) fn alone(program: &Path) -> Command {
    let Some(enter) = env::var_os(ALONE) else { return Command::new(program) };
    let mut command = Command::new(enter);
    command.arg(program);
    command
}

const LAUNCHER: &str = "OXMPI_TEST_MPIEXEC";
const ALONE: &str = "OXMPI_TEST_ALONE";
