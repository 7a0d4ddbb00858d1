//! The processes from which this one descends, as far as the system shows them: not the memory of another user's.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A process.
#[derive(Clone, Debug)]
pub struct Process(OsString);

/// All of them, the parent first.
pub fn ancestors() -> impl Iterator<Item = Process> {
    std::iter::successors(Process("self".into()).parent(), Process::parent)
}

/// The rank that one of them is for whom this process could take itself, and that process: it has inherited the
/// variables that say who that one is. What has only passed them on, as a shell does, has not loaded the library.
pub fn rank_above() -> Option<(usize, u32)> {
    let own = ["PMIX_NAMESPACE", "PMIX_RANK"].map(|name| Some((name, env::var_os(name)?)));
    let [Some(space), Some(rank)] = own else { return None };
    let number = rank.1.to_str()?.parse().ok()?;
    let is_that = |process: &Process| {
        let environment = process.read("environ");
        let has = |(name, value): &(&str, OsString)| {
            let entry = [name.as_bytes(), b"=", value.as_bytes()].concat();
            environment.split(|&byte| byte == 0).any(|other| other == entry)
        };
        has(&space) && has(&rank) && process.library().is_some()
    };
    let process = ancestors().find(is_that)?;
    Some((number, process.0.to_str()?.parse().ok()?))
}

impl Process {
    /// The copy of the library that it has loaded.
    pub fn library(&self) -> Option<PathBuf> {
        library_in(&String::from_utf8_lossy(&self.read("maps")))
    }

    fn parent(&self) -> Option<Self> {
        let status = self.read("status");
        let status = String::from_utf8_lossy(&status);
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim();
        (parent != "0").then(|| Self(parent.into()))
    }

    /// What the system says of it; nothing, where it may not be known.
    fn read(&self, what: &str) -> Vec<u8> {
        fs::read(Path::new("/proc").join(&self.0).join(what)).unwrap_or_default()
    }
}

/// The copy that is mapped in a process, by what the system says of its memory.
fn library_in(maps: &str) -> Option<PathBuf> {
    let path = maps.lines().find_map(|line| {
        let path = &line[line.find('/')?..];
        path.rsplit('/').next()?.starts_with(super::copies::NAME).then_some(path)
    })?;
    Some(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_of_a_server_is_found_in_its_memory() {
        let maps = "55d0-55d1 r--p 00000000 fe:00 1234   /usr/bin/prterun\n\
                    7f1c-7f1d r-xp 00011000 fe:00 1235   /opt/with space/lib/libpmix.so.2.6.2\n\
                    7f1e-7f1f rw-p 00000000 00:00 0 \n";
        assert_eq!(library_in(maps), Some(PathBuf::from("/opt/with space/lib/libpmix.so.2.6.2")));
        assert_eq!(library_in("7f1e-7f1f rw-p 00000000 00:00 0      [heap]\n"), None);
    }

    #[test]
    fn the_parent_is_the_first() {
        let parent = ancestors().next().expect("somebody has started the test");
        assert_eq!(parent.0, std::os::unix::process::parent_id().to_string().as_str());
    }
}
