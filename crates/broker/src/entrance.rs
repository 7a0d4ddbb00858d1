//! The way to a port from other hosts: over TCP, for those who prove that they are of a job of the same launcher.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Establishing Communication.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::Link;
use crate::handshake::Handshake;
use crate::tree::Tree;

/// See the module: the side of who has the port open.
#[derive(Debug)]
pub(crate) struct Entrance {
    listener: TcpListener,
    tree: Tree,
    /// The port's, which who comes says.
    number: u32,
    strangers: Mutex<Vec<Stranger>>,
}

/// Who has connected, and has not proved yet who he is.
#[derive(Debug)]
struct Stranger {
    link: Link,
    handshake: Handshake,
    /// When he is not listened to any longer.
    until: Instant,
}

/// A connection that is being made with a port.
#[derive(Debug)]
pub struct Calling {
    link: Link,
    /// Until both know who the other one is.
    handshake: Option<Handshake>,
}

/// Who is there says who he is at once, but may be stopped.
const PATIENCE: Duration = Duration::from_secs(4);
/// So many at a time may be anybody.
const MOST_STRANGERS: usize = 64;
/// A host that is there answers sooner.
const CONNECT_TIME: Duration = Duration::from_secs(2);

impl Entrance {
    pub fn open(tree: &Tree, number: u128) -> io::Result<Self> {
        let listener = TcpListener::bind((tree.address, 0))?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, tree: tree.clone(), number: number as u32, strangers: Mutex::default() })
    }

    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// The next who has proved that he is of the tree, and comes to this port: another one may have had its address.
    ///
    /// # Errors
    /// The system's: there are no more descriptors.
    pub fn accept(&self) -> io::Result<Option<Link>> {
        let mut strangers = self.strangers.lock().unwrap_or_else(PoisonError::into_inner);
        while strangers.len() < MOST_STRANGERS {
            match self.listener.accept() {
                Ok((stream, _)) => strangers.push(self.greet(stream)?),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        let (now, mut place) = (Instant::now(), 0);
        while let Some(Stranger { link, handshake, until }) = strangers.get_mut(place) {
            match handshake.advance(link) {
                Ok(None) if *until > now => place += 1,
                Ok(Some(number)) if number == self.number => return Ok(Some(strangers.remove(place).link)),
                _ => drop(strangers.remove(place)),
            }
        }
        Ok(None)
    }

    fn greet(&self, stream: TcpStream) -> io::Result<Stranger> {
        let _ = stream.set_nodelay(true); // it is only slower without
        let mut link = Link::over(stream.into());
        let handshake = Handshake::accept(&mut link, self.tree.secret.clone())?;
        Ok(Stranger { link, handshake, until: Instant::now() + PATIENCE })
    }
}

impl Calling {
    /// With who was reached on this machine, and seen to be of this user.
    pub(crate) fn here(link: Link) -> Self {
        Self { link, handshake: None }
    }

    /// With who listens on another host.
    ///
    /// # Errors
    /// The system's: `ConnectionRefused` if nobody does.
    pub(crate) fn there(address: &SocketAddr, tree: &Tree, number: u128) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(address, CONNECT_TIME)?;
        let _ = stream.set_nodelay(true); // as above
        let mut link = Link::over(stream.into());
        let handshake = Handshake::connect(&mut link, tree.secret.clone(), number as u32)?;
        Ok(Self { link, handshake: Some(handshake) })
    }

    /// Goes on as far as possible now; whether there may be something to be said.
    ///
    /// # Errors
    /// The system's; `PermissionDenied` if the other side is not of the tree.
    pub fn advance(&mut self) -> io::Result<bool> {
        let Some(handshake) = &mut self.handshake else { return Ok(true) };
        let is_over = handshake.advance(&mut self.link)?.is_some();
        if is_over {
            self.handshake = None;
        }
        Ok(is_over)
    }

    /// What is said and heard over it.
    pub fn into_link(self) -> Link {
        self.link
    }
}
