//! Who is at the other end of a socket.

use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::{fs, io};

use oxmpi_system::{limits, socket};

/// The process that was at the other end when the connection was made, as the system tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    /// Its number; 0 if it cannot be seen from here.
    pub pid: i32,
    uid: u32,
}

impl Peer {
    /// Whoever is connected by `socket`.
    ///
    /// # Errors
    /// The system's; `PermissionDenied` if it is another user, who is not root either.
    pub fn of(socket: impl AsFd) -> io::Result<Self> {
        let (pid, uid) = socket::peer(socket.as_fd())?;
        let peer = Self { pid, uid };
        match peer.is_trusted(limits::user(), stands_for_others, shares_users) {
            true => Ok(peer),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("user {} is at the other end, who is not the one of this process", peer.uid),
            )),
        }
    }

    /// Whether a process of the user `own` speaks with it. In a namespace of users all those who have no number there
    /// seem to be one user, of whom only those inside are trusted.
    fn is_trusted(
        self,
        own: u32,
        stands_for_others: impl Fn(u32) -> bool,
        shares_users: impl Fn(i32) -> bool,
    ) -> bool {
        const ROOT: u32 = 0;
        self.uid == ROOT || self.uid == own && (!stands_for_others(own) || shares_users(self.pid))
    }
}

/// Whether the system gives this number to users who have none here.
fn stands_for_others(user: u32) -> bool {
    const USUAL: u32 = 65534;
    static NUMBER: OnceLock<u32> = OnceLock::new();
    let read = || fs::read_to_string("/proc/sys/kernel/overflowuid").ok()?.trim().parse().ok();
    user == *NUMBER.get_or_init(|| read().unwrap_or(USUAL))
}

/// Whether a process is in this one's namespace of users, and can be looked at by it.
fn shares_users(pid: i32) -> bool {
    let namespace = |process: &str| fs::read_link(format!("/proc/{process}/ns/user")).ok();
    let own = namespace("self");
    own.is_some() && own == namespace(&pid.to_string())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn only_the_same_user_and_root_are_trusted() {
        let is_trusted = |uid, own| Peer { pid: 1, uid }.is_trusted(own, |_| false, |_| false);
        assert!(is_trusted(1000, 1000) && is_trusted(0, 1000) && is_trusted(0, 0));
        assert!(!is_trusted(1001, 1000) && !is_trusted(1000, 0) && !is_trusted(u32::MAX, 0));
    }

    #[test]
    fn who_seems_to_be_the_same_user_for_want_of_a_number_is_trusted_inside_the_namespace_alone() {
        let is_trusted =
            |pid, uid, own| Peer { pid, uid }.is_trusted(own, |user| user == 65534, |pid| pid == 7);
        assert!(is_trusted(7, 65534, 65534) && is_trusted(8, 1000, 1000) && is_trusted(8, 0, 65534));
        assert!(!is_trusted(8, 65534, 65534) && !is_trusted(0, 65534, 65534));
        assert!(shares_users(i32::try_from(std::process::id()).expect("a process")) && !shares_users(0));
    }

    #[test]
    fn a_process_is_its_own_peer_and_a_file_has_none() {
        let (socket, _other) = UnixStream::pair().expect("sockets");
        let own = i32::try_from(std::process::id()).expect("a process");
        assert_eq!(Peer::of(&socket).expect("a socket").pid, own);
        assert!(Peer::of(std::fs::File::open("/dev/null").expect("it is there")).is_err());
    }
}
