//! Where the installation lies that is tested.

use std::env;
use std::path::Path;
use std::sync::LazyLock;

static PREFIX: LazyLock<Option<std::path::PathBuf>> =
    LazyLock::new(|| env::var_os("OXMPI_TEST_PREFIX").map(Into::into));

/// The folder with `bin`, `include` and `lib`.
///
/// # Panics
/// If nobody said where: these tests need an installation, which a test cannot build while cargo runs it.
pub fn prefix() -> &'static Path {
    PREFIX.as_deref().unwrap_or_else(|| {
        panic!("OXMPI_TEST_PREFIX is not set: run `cargo xtask test`, which installs and sets it")
    })
}
