//! The abstract addresses of everything that listens, and how it is listened there and connected to.
//!
//! The version of what is said there is part of each: who speaks another one is not found.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};
use std::{io, thread};

use oxmpi_system::{limits, random, socket};

use crate::peer::Peer;

const VERSION: u32 = 1;

/// Connections that may wait to be accepted, as far as the system allows.
const BACKLOG: i32 = 4096;

/// What listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// The broker of the job with this number.
    Broker(u64),
    /// Where the processes of a node meet.
    Meeting(u128),
    /// Who has published a name of this hash.
    Name(u128),
    /// A port with this number.
    Port(u128),
}

impl Address {
    /// Where the name `service` is published, by whoever does.
    pub fn of_service(service: &str) -> Self {
        // Fowler, Noll and Vo's hash 1a of 128 bits: whoever answers tells the whole name, too.
        const BASIS: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        Self::Name(service.bytes().fold(BASIS, step))
    }

    /// Listens there; a connection is accepted without waiting.
    ///
    /// # Errors
    /// The system's; `AddrInUse` if somebody does already.
    pub fn listen(self) -> io::Result<OwnedFd> {
        socket::listen(self.name().as_bytes(), BACKLOG)
    }

    /// Connects to who listens there, and looks who it is.
    ///
    /// # Errors
    /// The system's; `NotFound` if nobody does, `WouldBlock` if too many want to be accepted, `PermissionDenied` if it
    /// is another user.
    pub fn connect(self) -> io::Result<OwnedFd> {
        // Without waiting: the other side may have been stopped.
        let socket = socket::connect(self.name().as_bytes()).map_err(|error| match error.kind() {
            io::ErrorKind::ConnectionRefused => {
                io::Error::new(io::ErrorKind::NotFound, "nobody listens there on this machine")
            }
            _ => error,
        })?;
        Peer::of(&socket)?;
        Ok(socket)
    }

    /// The same, as soon as there is room for one more: where many come at once, they are accepted one after the
    /// other. Without a limit however long that takes.
    ///
    /// # Errors
    /// As for [`Address::connect`]; `WouldBlock` if there was no room until then.
    pub fn connect_until(self, limit: Option<Instant>) -> io::Result<OwnedFd> {
        let is_time_left = || limit.is_none_or(|limit| Instant::now() < limit);
        loop {
            match self.connect() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && is_time_left() => {
                    thread::sleep(Duration::from_millis(1));
                }
                connected => return connected,
            }
        }
    }

    fn name(self) -> String {
        match self {
            Self::Broker(id) => format!("oxmpi-{VERSION}-job-{id:016x}"),
            Self::Meeting(number) => format!("oxmpi-{VERSION}-node-{number:032x}"),
            Self::Name(hash) => format!("oxmpi-{VERSION}-name-{}-{hash:032x}", limits::user()),
            Self::Port(number) => format!("oxmpi-{VERSION}-port-{number:032x}"),
        }
    }
}

/// So many strangers are turned away before something else is looked at: they may come faster than that.
const MOST_AT_ONCE: usize = 64;

/// The next connection to `listener` of somebody who is trusted, if there is one now.
///
/// # Errors
/// The system's: there are no more descriptors.
pub(crate) fn accept(listener: &OwnedFd) -> io::Result<Option<(OwnedFd, Peer)>> {
    for _ in 0..MOST_AT_ONCE {
        let Some(socket) = socket::accept(listener.as_fd())? else { return Ok(None) };
        // Who is not trusted is not even answered.
        if let Ok(peer) = Peer::of(&socket) {
            return Ok(Some((socket, peer)));
        }
    }
    Ok(None)
}

/// A number that nobody guesses.
///
/// # Errors
/// The system's.
pub(crate) fn random() -> io::Result<u128> {
    Ok(u128::from_ne_bytes(random::bytes()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_listener_and_is_free_again_afterwards() {
        let address = Address::Port(random().expect("random numbers"));
        assert_eq!(address.connect().expect_err("nobody").kind(), io::ErrorKind::NotFound);
        let listener = address.listen().expect("a socket");
        assert_eq!(address.listen().expect_err("taken").kind(), io::ErrorKind::AddrInUse);
        assert!(accept(&listener).expect("it listens").is_none());
        let _socket = address.connect().expect("somebody");
        assert!(accept(&listener).expect("it listens").is_some());
        drop(listener);
        address.listen().expect("free again");
    }

    #[test]
    fn names_have_addresses_of_their_own() {
        let names = ["", "a", "b", "ab", "ba", "a b"].map(Address::of_service);
        for (index, name) in names.iter().enumerate() {
            assert!(!names[..index].contains(name), "{name:?}");
        }
    }
}
