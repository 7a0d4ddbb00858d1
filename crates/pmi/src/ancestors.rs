//! The processes from which this one descends, as far as the system shows them: not the memory of another user's.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// `O_CLOEXEC` on all architectures that we know.
const CLOSED_BY_EXEC: u64 = 0o2_000_000;

/// A process.
#[derive(Clone, Debug)]
pub struct Process(OsString);

/// All of them, the parent first.
pub fn ancestors() -> impl Iterator<Item = Process> {
    std::iter::successors(Process("self".into()).parent(), Process::parent)
}

/// The rank that one of them is for whom this process could take itself, and that process: it has inherited the
/// `variables` that say who that one is, the last of which is the number of the rank; and that one `is_rank`, and has
/// not only passed them on, as a shell does.
pub fn rank_above(variables: [&'static str; 2], is_rank: impl Fn(&Process) -> bool) -> Option<(usize, u32)> {
    let own = variables.map(|name| Some((name, env::var_os(name)?)));
    let [Some(first), Some(rank)] = own else { return None };
    let number = rank.1.to_str()?.parse().ok()?;
    let is_that = |process: &Process| {
        let environment = process.read("environ");
        let has = |(name, value): &(&str, OsString)| {
            let entry = [name.as_bytes(), b"=", value.as_bytes()].concat();
            environment.split(|&byte| byte == 0).any(|other| other == entry)
        };
        has(&first) && has(&rank) && is_rank(process)
    };
    let process = ancestors().find(is_that)?;
    Some((number, process.0.to_str()?.parse().ok()?))
}

impl Process {
    /// The file that it has loaded whose name begins like this.
    pub fn library(&self, name: &str) -> Option<PathBuf> {
        library_in(&String::from_utf8_lossy(&self.read("maps")), name)
    }

    /// Whether it has a descriptor that those whom it starts do not get.
    pub fn keeps(&self, descriptor: u64) -> bool {
        is_kept(&String::from_utf8_lossy(&self.read(&format!("fdinfo/{descriptor}"))))
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

/// What begins like this of what is mapped in a process, by what the system says of its memory.
fn library_in(maps: &str, name: &str) -> Option<PathBuf> {
    let path = maps.lines().find_map(|line| {
        let path = &line[line.find('/')?..];
        path.rsplit('/').next()?.starts_with(name).then_some(path)
    })?;
    Some(PathBuf::from(path))
}

/// Whether a descriptor is closed when another program is executed, by what the system says of it.
fn is_kept(info: &str) -> bool {
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u64::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & CLOSED_BY_EXEC != 0)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn the_copy_of_a_server_is_found_in_its_memory() {
        let maps = "55d0-55d1 r--p 00000000 fe:00 1234   /usr/bin/prterun\n\
                    7f1c-7f1d r-xp 00011000 fe:00 1235   /opt/with space/lib/libpmix.so.2.6.2\n\
                    7f1e-7f1f rw-p 00000000 00:00 0 \n";
        let name = "libpmix.so.2";
        assert_eq!(library_in(maps, name), Some(PathBuf::from("/opt/with space/lib/libpmix.so.2.6.2")));
        assert_eq!(library_in("7f1e-7f1f rw-p 00000000 00:00 0      [heap]\n", name), None);
    }

    #[test]
    fn what_a_process_keeps_from_its_children_is_seen() {
        let (file, own) = (fs::File::open("/dev/null").expect("it is there"), Process("self".into()));
        assert!(own.keeps(file.as_raw_fd().try_into().expect("it is open")), "std keeps its files");
        assert!(!own.keeps(10_000_000), "it is not open");
        assert!(!is_kept("pos:\t0\nflags:\t0100002\n"));
    }

    #[test]
    fn the_parent_is_the_first() {
        let parent = ancestors().next().expect("somebody has started the test");
        assert_eq!(parent.0, std::os::unix::process::parent_id().to_string().as_str());
    }
}
