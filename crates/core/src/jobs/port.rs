//! Ports: opening and closing them, accepting and connecting there.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_broker::{Calling, Link, Port};

use super::broker::failed;
use super::connection::Connection;
use crate::comm::Communicator;
use crate::process::Process;
use oxmpi_engine::machine::now_ns;

/// Where to connect.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The name of the port.
    pub port: String,
    /// How long to wait to be accepted there, if not as the user has set for all.
    pub timeout: Option<Duration>,
}

/// An attempt to connect, which nobody has answered yet.
#[derive(Debug)]
pub(super) struct Call {
    port: String,
    until_ns: u64,
}

impl Process {
    /// Opens a port, at which this process may [accept](Process::comm_accept): its name.
    ///
    /// # Errors
    /// `Other` if the system refuses.
    pub fn open_port(&self) -> Result<String> {
        let port = Port::open(self.abroad.tree())
            .map_err(|error| failed(ErrorClass::Other, "a port cannot be opened", &error))?;
        let name = port.name().to_owned();
        self.abroad.open(port);
        Ok(name)
    }

    /// Closes a port.
    ///
    /// # Errors
    /// `Port` if this process has no such port open.
    pub fn close_port(&self, name: &str) -> Result<()> {
        self.abroad.close(name).map(drop).ok_or_else(|| not_open(name))
    }

    /// A communicator between the members of `comm` and those of a communicator that connects at a port of the
    /// `root`, which alone names it. Collective over both.
    ///
    /// # Errors
    /// `Comm` if `comm` is an intercommunicator; `Root` if `root` is no rank of it; `Port` if the root has no such
    /// port open, or can have no broker; `Other` if the other side goes away; `NoMem` if shared memory is used up.
    pub fn comm_accept(
        &self,
        comm: &Arc<Communicator>,
        root: i32,
        port: Result<String>,
    ) -> Result<Arc<Communicator>> {
        self.connect_groups(comm, root, ("MPI_Comm_accept", ErrorClass::Port), || {
            let name = port?;
            let port = self.abroad.port(&name).ok_or_else(|| not_open(&name))?;
            self.accept_at(&port, || None)
        })
    }

    /// A communicator between the members of `comm` and those of a communicator that accepts at a port, which the
    /// `root` alone names. Collective over both.
    ///
    /// # Errors
    /// As [`Process::comm_accept`]; `Port` if nobody has such a port open, or it is closed before this is accepted, or
    /// nobody accepts in time.
    pub fn comm_connect(
        &self,
        comm: &Arc<Communicator>,
        root: i32,
        destination: Result<Destination>,
    ) -> Result<Arc<Communicator>> {
        let function = ("MPI_Comm_connect", ErrorClass::Port);
        self.connect_groups(comm, root, function, || self.connect_to(destination?))
    }

    /// The communicator with the job that has spawned this one, if one has: the caller's from now on.
    pub fn take_parent(&self) -> Option<Arc<Communicator>> {
        self.abroad.take_parent()
    }

    /// Connects with the job that has spawned this one, which waits at the port. Collective over the world.
    ///
    /// # Errors
    /// Those of [`Process::comm_connect`].
    pub(crate) fn meet_parent(&self, port: String) -> Result<()> {
        let parent =
            self.comm_connect(self.world(), 0, Ok(Destination { port, timeout: Some(Duration::MAX) }))?;
        parent.set_name("MPI_COMM_PARENT");
        self.abroad.keep_parent(parent);
        Ok(())
    }

    /// A communicator between this process and one that does the same at the other end of a stream socket, over which
    /// nothing else goes meanwhile. The socket stays open.
    ///
    /// # Errors
    /// `Arg` if it is no socket; `Other` if the other side goes away, or is no process of oxmpi on this machine;
    /// `NoMem` if shared memory is used up.
    pub fn comm_join(&self, socket: OwnedFd) -> Result<Arc<Communicator>> {
        let link = Link::over_stream(socket)
            .map_err(|error| Error::new(ErrorClass::Arg, format!("fd is no stream socket: {error}")))?;
        let function = "MPI_Comm_join";
        let connection = || Ok(Connection::over(link, function));
        self.connect_groups(self.myself(), 0, (function, ErrorClass::Other), connection)
    }

    /// Waits for whoever connects at a port; `fails` says why nobody will any more.
    pub(super) fn accept_at(
        &self,
        port: &Port,
        mut fails: impl FnMut() -> Option<Error>,
    ) -> Result<Connection> {
        let accept = || loop {
            return match port.accept() {
                // Who has given up while it waited to be accepted is not there any more.
                Ok(Some(link)) if link.is_closed() => continue,
                Ok(link) => link.map(Ok).or_else(|| fails().map(Err)),
                Err(error) => Some(Err(failed(ErrorClass::Port, "cannot accept", &error))),
            };
        };
        let link = self.wait_for_others("MPI_Comm_accept: waits for another job to connect", accept)?;
        Ok(Connection::over(link, "MPI_Comm_accept"))
    }

    fn connect_to(&self, Destination { port, timeout }: Destination) -> Result<Connection> {
        let call = Call::new(port, timeout.unwrap_or_else(|| self.abroad.connect_timeout()));
        let mut calling = None;
        let mut go_on = || -> io::Result<Option<Link>> {
            let mut begun = match calling.take() {
                Some(begun) => begun,
                None => Calling::begin(&call.port, self.abroad.tree())?,
            };
            if begun.advance()? {
                return Ok(Some(begun.into_link()));
            }
            calling = Some(begun);
            Ok(None)
        };
        let connect = || match go_on() {
            Ok(Some(link)) => Some(Ok(link)),
            Ok(None) => call.time_out().map(Err),
            // There is a long queue.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => call.time_out().map(Err),
            Err(error) => Some(Err(call.refused(&error))),
        };
        let link = self.wait_for_others("MPI_Comm_connect: waits to be accepted", connect)?;
        Ok(Connection::calling(link, call))
    }
}

impl Call {
    fn new(port: String, timeout: Duration) -> Self {
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        Self { port, until_ns: now_ns().saturating_add(timeout_ns) }
    }

    /// The error if it has lasted too long.
    pub(super) fn time_out(&self) -> Option<Error> {
        (now_ns() >= self.until_ns).then(|| self.failed("where nobody has accepted in time"))
    }

    /// The error if the port is not open, or has been closed.
    #[cold]
    pub(super) fn refused(&self, error: &io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::NotFound => self.failed("which nobody on this machine has open"),
            io::ErrorKind::ConnectionRefused => self.failed("which is not open any more"),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof => {
                self.failed("which was closed before this was accepted")
            }
            _ => self.failed(&error.to_string()),
        }
    }

    #[cold]
    fn failed(&self, why: &str) -> Error {
        Error::new(ErrorClass::Port, format!("port_name is {:?}, {why}", self.port))
    }
}

#[cold]
fn not_open(name: &str) -> Error {
    Error::new(ErrorClass::Port, format!("port_name is {name:?}, which this process has not opened"))
}
