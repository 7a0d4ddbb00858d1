//! Ports: opening and closing them, accepting and connecting there.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_broker::{Link, Port};

use super::broker::failed;
use super::connection::Connection;
use crate::comm::Communicator;
use crate::process::Process;

impl Process {
    /// Opens a port, at which this process may [accept](Process::comm_accept): its name.
    ///
    /// # Errors
    /// `Other` if the system refuses.
    pub fn open_port(&self) -> Result<String> {
        let port =
            Port::open().map_err(|error| failed(ErrorClass::Other, "a port cannot be opened", &error))?;
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
    /// port open; `Other` if the other side goes away; `NoMem` if shared memory is used up.
    pub fn comm_accept(
        &self,
        comm: &Arc<Communicator>,
        root: i32,
        port: Result<String>,
    ) -> Result<Arc<Communicator>> {
        self.connect_groups(comm, root, "MPI_Comm_accept", || {
            let name = port?;
            let port = self.abroad.port(&name).ok_or_else(|| not_open(&name))?;
            self.accept_at(&port, || None)
        })
    }

    /// A communicator between the members of `comm` and those of a communicator that accepts at a port, which the
    /// `root` alone names. Collective over both.
    ///
    /// # Errors
    /// As [`Process::comm_accept`]; `Port` if nobody has such a port open.
    pub fn comm_connect(
        &self,
        comm: &Arc<Communicator>,
        root: i32,
        port: Result<String>,
    ) -> Result<Arc<Communicator>> {
        self.connect_groups(comm, root, "MPI_Comm_connect", || self.connect_to(&port?))
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
        let parent = self.comm_connect(self.world(), 0, Ok(port))?;
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
        self.connect_groups(self.myself(), 0, "MPI_Comm_join", || Ok(Connection::over(link, "MPI_Comm_join")))
    }

    /// Waits for whoever connects at a port; `fails` says why nobody will any more.
    pub(super) fn accept_at(
        &self,
        port: &Port,
        mut fails: impl FnMut() -> Option<Error>,
    ) -> Result<Connection> {
        let accept = || match port.accept() {
            Ok(link) => link.map(Ok).or_else(|| fails().map(Err)),
            Err(error) => Some(Err(failed(ErrorClass::Port, "cannot accept", &error))),
        };
        let link = self.wait_for_others("MPI_Comm_accept: waits for another job to connect", accept)?;
        Ok(Connection::over(link, "MPI_Comm_accept"))
    }

    fn connect_to(&self, name: &str) -> Result<Connection> {
        let connect = || match Link::connect(name) {
            Ok(link) => Some(Ok(link)),
            // There is a long queue.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => None,
            Err(error) => Some(Err(unreachable(name, &error))),
        };
        let link = self.wait_for_others("MPI_Comm_connect: waits to be accepted", connect)?;
        Ok(Connection::over(link, "MPI_Comm_connect"))
    }
}

fn not_open(name: &str) -> Error {
    Error::new(ErrorClass::Port, format!("port_name is `{name}`, which this process has not opened"))
}

fn unreachable(name: &str, error: &io::Error) -> Error {
    let text = match error.kind() {
        io::ErrorKind::NotFound => "which nobody on this machine has open".to_owned(),
        _ => error.to_string(),
    };
    Error::new(ErrorClass::Port, format!("port_name is `{name}`: {text}"))
}
