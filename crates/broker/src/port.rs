//! Ports: where a process of MPI can be reached by processes that know nothing of it but a name.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Establishing Communication.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::Link;
use crate::address::{self, Address};
use crate::entrance::{Calling, Entrance};
use crate::tree::{SIGN_DIGITS, Tree};

/// An open port. It is closed when it is dropped.
#[derive(Debug)]
pub struct Port {
    listener: OwnedFd,
    /// For those on other hosts.
    entrance: Option<Entrance>,
    name: String,
}

/// What the name of a port says.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    number: u128,
    /// The sign of the tree whose jobs reach it from other hosts, and where.
    elsewhere: Option<(String, SocketAddr)>,
}

const SCHEME: &str = "oxmpi:";
/// What stands before each part but the first.
const PART: char = '@';

impl Port {
    /// Opens a port, whose name no other one has; for those on other hosts, too, if it is of a tree.
    ///
    /// # Errors
    /// The system's.
    pub fn open(tree: Option<&Tree>) -> io::Result<Self> {
        let number = address::random()?;
        let listener = Address::Port(number).listen()?;
        let entrance = tree.map(|tree| Entrance::open(tree, number)).transpose()?;
        let address = entrance.as_ref().map(Entrance::address).transpose()?;
        let elsewhere = tree.map(Tree::sign).zip(address);
        Ok(Self { listener, entrance, name: Place { number, elsewhere }.to_name() })
    }

    /// Its name: some 38 printable characters that begin with `oxmpi:`, or some 80.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The next process that has connected, if there is one: of this user, or of root, or from elsewhere of the tree.
    ///
    /// # Errors
    /// The system's: there are no more descriptors.
    pub fn accept(&self) -> io::Result<Option<Link>> {
        match (address::accept(&self.listener)?, &self.entrance) {
            (Some((socket, _)), _) => Ok(Some(Link::over(socket))),
            (None, Some(entrance)) => entrance.accept(),
            (None, None) => Ok(None),
        }
    }
}

/// Readable when there may be something to accept.
impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Calling {
    /// Connects to the port of this name, which may not have accepted yet.
    ///
    /// # Errors
    /// `InvalidInput` if `name` is not the name of a port, `NotFound` if nobody has that port open on this machine,
    /// `ConnectionRefused` if nobody has on the host of the tree that it names, `Unsupported` if it names one of
    /// another tree, `PermissionDenied` if another user has it, `WouldBlock` if too many wait to be accepted there:
    /// then it may be tried again. Else the system's.
    pub fn begin(name: &str, tree: Option<&Tree>) -> io::Result<Self> {
        let malformed = || {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("`{name}` is not the name of a port of oxmpi"),
            )
        };
        let Place { number, elsewhere } = Place::parse(name).ok_or_else(malformed)?;
        let nobody = match Address::Port(number).connect() {
            Ok(socket) => return Ok(Self::here(Link::over(socket))),
            Err(error) => error,
        };
        match (elsewhere, tree) {
            (Some((sign, address)), Some(tree)) if nobody.kind() == io::ErrorKind::NotFound => {
                if sign != tree.sign() {
                    return Err(of_others());
                }
                Self::there(&address, tree, number)
            }
            (Some(_), None) if nobody.kind() == io::ErrorKind::NotFound => Err(of_others()),
            _ => Err(nobody),
        }
    }
}

fn of_others() -> io::Error {
    let text = "which is not open on this host, and was opened under another mpiexec: ports on other hosts \
                are found by jobs of their own one alone";
    io::Error::new(io::ErrorKind::Unsupported, text)
}

impl Place {
    fn to_name(&self) -> String {
        let Self { number, elsewhere } = self;
        match elsewhere {
            None => format!("{SCHEME}{number:032x}"),
            Some((sign, address)) => format!("{SCHEME}{number:032x}{PART}{sign}{PART}{address}"),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(SCHEME)?.splitn(3, PART);
        let digits = parts.next().filter(|digits| are_digits(digits, 32))?;
        let number = u128::from_str_radix(digits, 16).ok()?;
        let elsewhere = match (parts.next(), parts.next()) {
            (None, _) => None,
            (Some(sign), Some(address)) if are_digits(sign, SIGN_DIGITS) => {
                Some((sign.to_owned(), address.parse().ok()?))
            }
            _ => return None,
        };
        Some(Self { number, elsewhere })
    }
}

/// Whether these are so many digits of a hexadecimal number, as they are written here.
fn are_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use proptest::prelude::*;

    use super::*;
    use crate::Secret;

    fn connect(name: &str, tree: Option<&Tree>) -> io::Result<Link> {
        Calling::begin(name, tree).map(Calling::into_link)
    }

    fn tree() -> Tree {
        Tree::new(&Secret::new().expect("random numbers"), Ipv4Addr::LOCALHOST.into())
    }

    /// Its name as on another host: nobody has this port open on this one.
    fn seen_from_elsewhere(port: &Port) -> String {
        let Place { number, elsewhere } = Place::parse(port.name()).expect("it is a name");
        Place { number: number ^ 1 << 100, elsewhere }.to_name()
    }

    #[test]
    fn what_is_sent_to_a_port_arrives_there() {
        let port = Port::open(None).expect("a port");
        assert!(port.name().starts_with("oxmpi:") && port.name().len() < 256);
        assert!(port.accept().expect("it listens").is_none());
        let mut client = connect(port.name(), None).expect("it is open");
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
        let port = Port::open(None).expect("a port");
        let name = port.name().to_owned();
        drop(port);
        let kind = |name: &str| connect(name, None).expect_err("nobody").kind();
        assert_eq!(kind(&name), io::ErrorKind::NotFound);
        for wrong in ["", "oxmpi:", "oxmpi:12", &name[1..], &format!("{name}0"), &name.to_uppercase()] {
            assert_eq!(kind(wrong), io::ErrorKind::InvalidInput, "{wrong}");
        }
    }

    #[test]
    fn who_is_of_the_tree_reaches_a_port_from_elsewhere() {
        let tree = tree();
        let port = Port::open(Some(&tree)).expect("a port");
        assert!(port.name().len() < 128, "{}", port.name());
        let mut calling = Calling::begin(&seen_from_elsewhere(&port), Some(&tree)).expect("it is open");
        assert!(!calling.advance().expect("it is there"), "nobody has accepted");
        let mut accepted = None;
        while accepted.is_none() {
            accepted = port.accept().expect("it listens");
            calling.advance().expect("it is of the tree");
        }
        let (mut server, mut client) = (accepted.expect("just seen"), calling.into_link());
        client.send(b"hello").expect("short");
        assert!(client.flush().expect("room"));
        let heard = loop {
            if let Some(heard) = server.receive().expect("it is open") {
                break heard;
            }
        };
        assert_eq!(heard, b"hello");
        // On its own host it is reached as any.
        assert!(Calling::begin(port.name(), None).expect("it is open").advance().expect("it is there"));
    }

    #[test]
    fn who_is_of_another_tree_is_told_so_and_is_not_let_in() {
        let (mine, other) = (tree(), tree());
        let port = Port::open(Some(&mine)).expect("a port");
        let name = seen_from_elsewhere(&port);
        for tree in [None, Some(&other)] {
            let error = Calling::begin(&name, tree).expect_err("it is of others");
            assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
        }
        // Who pretends to be of the tree, or comes for a port that was there before.
        let (_, address) = Place::parse(&name).and_then(|place| place.elsewhere).expect("it is for others");
        let number = Place::parse(&name).expect("it is a name").number;
        for (tree, number) in [(&other, number), (&mine, number + 1)] {
            let mut calling = Calling::there(&address, tree, number).expect("it listens");
            let is_refused = loop {
                assert!(port.accept().expect("it listens").is_none());
                match calling.advance() {
                    Ok(false) => {}
                    outcome => break outcome.is_err(),
                }
            };
            let mut link = calling.into_link();
            while !is_refused && link.receive().is_ok() {
                assert!(port.accept().expect("it listens").is_none());
            }
        }
        drop(port);
        let error = Calling::begin(&name, Some(&mine)).expect_err("it is closed");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "(oxmpi:)?(0{32}@0{16}@)?\\PC{0,40}") {
            let _ = Place::parse(&text);
        }

        #[test]
        fn names_round_trip(number: u128, sign: u64, at in proptest::option::of(any::<(IpAddr, u16)>())) {
            let elsewhere = at.map(|at| (format!("{sign:016x}"), SocketAddr::from(at)));
            let place = Place { number, elsewhere };
            prop_assert_eq!(Place::parse(&place.to_name()), Some(place));
        }
    }
}
