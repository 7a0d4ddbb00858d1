//! Whether a process is there that does not answer, where the network is the system's TCP.
//!
//! A provider over TCP connects when the program of the other side lets it, so that one which computes and one which
//! has died look alike: `ofi_rxm` tries again, and says nothing of it. The system knows. Who is there listens, and the
//! system of its machine connects whatever its program does; where nobody listens any more it refuses. So a
//! connection is made beside, and held: it breaks when the process ends, and the next one is refused. A host that
//! cannot be reached refuses nothing: whether it comes back nobody here knows, but that it does not answer can be said.
//!
//! Cost: a descriptor, and a connection that the other side drops when it hears that it was reset.

use std::io::ErrorKind;
use std::net::{IpAddr, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};

use oxmpi_system::socket::{begin_connecting, receive};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Lifeline(Option<OwnedFd>);

impl Lifeline {
    /// Looks whether the process is there whose endpoint listens, or has listened, at an address of TCP; whether it is
    /// certain that it is not. To be asked again and again: the first time nothing is known.
    pub(crate) fn is_cut(&mut self, address: &[u8]) -> bool {
        let ended = match &self.0 {
            None => begin_connecting(address).map(|socket| self.0 = Some(socket)),
            Some(socket) => receive(socket.as_fd(), &mut [0]).map(|_| self.0 = None),
        };
        match ended {
            Err(error) if error.kind() != ErrorKind::WouldBlock => {
                self.0 = None;
                error.kind() == ErrorKind::ConnectionRefused
            }
            _ => false,
        }
    }

    /// Whether a connection was asked for, and not even the other side's system has answered.
    pub(crate) fn is_unanswered(&self) -> bool {
        let socket = self.0.as_ref().and_then(|socket| socket.try_clone().ok());
        socket.is_some_and(|socket| TcpStream::from(socket).peer_addr().is_err())
    }
}

/// The address in a `sockaddr_in` or `sockaddr_in6`.
pub(crate) fn address_in(name: &[u8]) -> Option<IpAddr> {
    match libc::c_int::from(libc::sa_family_t::from_ne_bytes(*name.first_chunk()?)) {
        libc::AF_INET => Some(<[u8; 4]>::try_from(name.get(4..8)?).ok()?.into()),
        libc::AF_INET6 => Some(<[u8; 16]>::try_from(name.get(8..24)?).ok()?.into()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_drops_what_is_asked_is_told_from_who_is_silent() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
        let address = listener.local_addr().expect("it has one");
        let port = address.port().to_be_bytes();
        let name =
            [&libc::sa_family_t::to_ne_bytes(libc::AF_INET as u16)[..], &port, &[127, 0, 0, 1], &[0; 8]]
                .concat();
        assert_eq!(address_in(&name), Some(address.ip()));
        let mut lifeline = Lifeline::default();
        assert!(
            !lifeline.is_cut(&name) && !lifeline.is_unanswered(),
            "nobody accepts, but the system answers"
        );
        // As many as a system keeps for who accepts nobody: it answers no others.
        let one_more = || TcpStream::connect_timeout(&address, Duration::from_millis(50)).ok();
        let _held: Vec<TcpStream> = std::iter::from_fn(one_more).collect();
        let mut another = Lifeline::default();
        assert!(!another.is_cut(&name) && another.is_unanswered());
        drop(listener);
        assert!(std::iter::repeat_with(|| lifeline.is_cut(&name)).take(100).any(|is_cut| is_cut));
    }
}
