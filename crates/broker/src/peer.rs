//! Who is at the other end of a socket.

use std::io;
use std::os::fd::AsFd;

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
        match peer.is_trusted(limits::user()) {
            true => Ok(peer),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("user {} is at the other end, who is not the one of this process", peer.uid),
            )),
        }
    }

    /// Whether a process of the user `own` speaks with it.
    fn is_trusted(self, own: u32) -> bool {
        const ROOT: u32 = 0;
        self.uid == own || self.uid == ROOT
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn only_the_same_user_and_root_are_trusted() {
        let is_trusted = |uid, own| Peer { pid: 1, uid }.is_trusted(own);
        assert!(is_trusted(1000, 1000) && is_trusted(0, 1000) && is_trusted(0, 0));
        assert!(!is_trusted(1001, 1000) && !is_trusted(1000, 0) && !is_trusted(u32::MAX, 0));
    }

    #[test]
    fn a_process_is_its_own_peer_and_a_file_has_none() {
        let (socket, _other) = UnixStream::pair().expect("sockets");
        let own = i32::try_from(std::process::id()).expect("a process");
        assert_eq!(Peer::of(&socket).expect("a socket").pid, own);
        assert!(Peer::of(std::fs::File::open("/dev/null").expect("it is there")).is_err());
    }
}
