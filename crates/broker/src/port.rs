//! Ports: where a process of MPI can be reached by processes that know nothing of it but a name.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Establishing Communication.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::Link;
use crate::address::{self, Address};

/// An open port. It is closed when it is dropped.
#[derive(Debug)]
pub struct Port {
    listener: OwnedFd,
    name: String,
}

const SCHEME: &str = "oxmpi:";

impl Port {
    /// Opens a port, whose name no other one has.
    ///
    /// # Errors
    /// The system's.
    pub fn open() -> io::Result<Self> {
        let number = address::random()?;
        let listener = Address::Port(number).listen()?;
        Ok(Self { listener, name: format!("{SCHEME}{number:032x}") })
    }

    /// Its name: 38 printable characters that begin with `oxmpi:`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next process of this user, or of root, that has connected, if there is one.
    ///
    /// # Errors
    /// The system's: there are no more descriptors.
    pub fn accept(&self) -> io::Result<Option<Link>> {
        Ok(address::accept(&self.listener)?.map(|(socket, _)| Link::over(socket)))
    }
}

/// Readable when there may be something to accept.
impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Link {
    /// Connects to the port of this name, which may not have accepted yet.
    ///
    /// # Errors
    /// `InvalidInput` if `name` is not the name of a port, `NotFound` if nobody has that port open on this machine,
    /// `PermissionDenied` if another user has, `WouldBlock` if too many wait to be accepted there: then it may be
    /// tried again. Else the system's.
    pub fn connect(name: &str) -> io::Result<Self> {
        let malformed = || {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("`{name}` is not the name of a port of oxmpi"),
            )
        };
        let number = parse(name).ok_or_else(malformed)?;
        Ok(Self::over(Address::Port(number).connect()?))
    }
}

/// The number of the port that is called `name`.
fn parse(name: &str) -> Option<u128> {
    let digits = name.strip_prefix(SCHEME)?;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (digits.len() == 32 && digits.bytes().all(is_digit)).then(|| u128::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_sent_to_a_port_arrives_there() {
        let port = Port::open().expect("a port");
        assert!(port.name().starts_with("oxmpi:") && port.name().len() < 256);
        assert!(port.accept().expect("it listens").is_none());
        let mut client = Link::connect(port.name()).expect("it is open");
        client.send(b"hello").expect("short");
        assert!(client.flush().expect("room"));
        let mut server = port.accept().expect("it listens").expect("somebody");
        assert_eq!(server.receive().expect("a frame").as_deref(), Some(&b"hello"[..]));
        assert!(server.receive().expect("it is open").is_none());
        drop(client);
        assert_eq!(server.receive().expect_err("closed").kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_port_that_is_closed_is_told_from_no_port_at_all() {
        let port = Port::open().expect("a port");
        let name = port.name().to_owned();
        drop(port);
        let kind = |name: &str| Link::connect(name).expect_err("nobody").kind();
        assert_eq!(kind(&name), io::ErrorKind::NotFound);
        for wrong in ["", "oxmpi:", "oxmpi:12", &name[1..], &format!("{name}0"), &name.to_uppercase()] {
            assert_eq!(kind(wrong), io::ErrorKind::InvalidInput, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "(oxmpi:)?\\PC{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn names_round_trip(number in any::<u128>()) {
            prop_assert_eq!(parse(&format!("{SCHEME}{number:032x}")), Some(number));
        }
    }
}
