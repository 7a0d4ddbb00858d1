//! Which copy of `libpmix.so.2` is taken, where there are several: one of the server's own release.
//!
//! What goes between them is a format of their own, which changes with the releases: with another one a process may
//! begin and find later what it does not understand. The server tells its version. Its own copy is the one that a
//! process has loaded from which this one descends, unless another user's or another container's; else the system's
//! may fit.

use std::path::{Path, PathBuf};
use std::{env, io};

use super::library::Library;
use crate::ancestors::ancestors;

/// Names a copy, which is taken whatever its version.
const CHOSEN: &str = "OXMPI_PMIX";
/// The version of the server.
const VERSION: &str = "PMIX_VERSION";
/// The name of the library; of its file, the beginning.
pub const NAME: &str = "libpmix.so.2";

/// The copy of the library that serves this process.
///
/// # Errors
/// `Unsupported` if none is there that fits: what was tried, and both versions.
pub fn find() -> io::Result<Library> {
    let unsupported = |text| io::Error::new(io::ErrorKind::Unsupported, text);
    if let Some(path) = env::var_os(CHOSEN) {
        let wrong = |why| unsupported(format!("{CHOSEN}={} cannot be loaded: {why}", path.display()));
        return Library::load(Path::new(&path)).map_err(wrong);
    }
    let server = env::var(VERSION).ok();
    let mut tried = Vec::new();
    for path in loaded_by_ancestors().into_iter().chain([PathBuf::from(NAME)]) {
        match Library::load(&path) {
            Ok(library) if fits(server.as_deref(), &library.version()) => return Ok(library),
            Ok(library) => tried.push(format!("{} is of {}", path.display(), library.version())),
            Err(why) => tried.push(why),
        }
    }
    let server = server.map_or_else(|| "PMIx".to_owned(), |version| format!("PMIx {version}"));
    let tried = tried.join("; ");
    Err(unsupported(format!(
        "the launcher speaks {server}, and no copy of {NAME} fits ({tried}): install one (Debian and Ubuntu: \
         libpmix2; Fedora and RHEL: pmix), or name one with {CHOSEN}"
    )))
}

/// Whether a library that says it is `library` understands a server of this version.
fn fits(server: Option<&str>, library: &str) -> bool {
    server.is_none_or(|server| major(server).is_none() || major(server) == major(library))
}

/// The first number of a text like `5.0.11rc1` or `OpenPMIx 4.2.2 (...)`.
fn major(version: &str) -> Option<u32> {
    let begin = version.find(|letter: char| letter.is_ascii_digit())?;
    version[begin..].split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// The copies that the processes have loaded from which this one descends, as far as that can be seen.
fn loaded_by_ancestors() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in ancestors().filter_map(|process| process.library(NAME)) {
        if path.exists() && !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_another_release_does_not_fit() {
        assert!(fits(Some("5.0.11rc1"), "OpenPMIx 5.0.3 (PMIx Standard: 5.1, Stable ABI: 5.0)"));
        assert!(!fits(Some("5.0.11rc1"), "OpenPMIx 4.2.2, repo rev: v4.2.2"));
        assert!(fits(None, "OpenPMIx 4.2.2"), "an old server says nothing");
        assert!(!fits(Some("4.1"), ""));
    }
}
