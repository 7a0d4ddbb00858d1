//! Whether a process is there that does not answer, where the network is the system's TCP.
//!
//! A provider over TCP connects when the program of the other side lets it, so that one which computes and one which
//! has died look alike: `ofi_rxm` tries again, and says nothing of it. The system knows. Who is there listens, and the
//! system of its machine connects whatever its program does; where nobody listens any more it refuses. So a
//! connection is made beside, and held: it breaks when the process ends, and the next one is refused. A host that
//! cannot be reached refuses nothing: whether it comes back nobody here knows.
//!
//! Cost: a descriptor, and a connection that the other side drops when it hears that it was reset.

use std::io::ErrorKind;
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
}
