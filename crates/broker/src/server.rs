//! The launcher's side: everything that its jobs are asked, as events for a loop that waits for descriptors.
//!
//! The loop waits for [`Server::sources`], hands what is ready to [`Server::handle`], and answers the requests that
//! come out, when it can. Nothing here waits, and nothing here knows what a request means, but for published names,
//! which it keeps and tells itself.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::Link;
use crate::address::{self, Address};
use crate::wire::{Answer, Request};

/// The brokers of all jobs of a launcher.
#[derive(Debug, Default)]
pub struct Server {
    listeners: BTreeMap<u64, Listener>,
    clients: BTreeMap<u64, Client>,
    /// Number of the next listener or client.
    next: u64,
    /// There were no descriptors left when somebody wanted to be accepted: that waits until a client has gone.
    is_full: bool,
}

/// What listens, for a job.
#[derive(Debug)]
struct Listener {
    job: u64,
    socket: OwnedFd,
    /// What it is told who asks for a published name; nothing for the broker itself.
    name: Option<Name>,
}

#[derive(Debug)]
struct Name {
    service: String,
    port: String,
}

/// Who has connected.
#[derive(Debug)]
struct Client {
    /// The job whose broker it has asked.
    job: u64,
    pid: i32,
    link: Link,
    /// It has been told all.
    is_leaving: bool,
}

/// A client of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(u64);

/// Something that a server waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token(Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Client(u64),
    Listener(u64),
}

/// What a server waits for at a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// To be readable.
    Read,
    /// To be readable or writable.
    ReadAndWrite,
}

/// What has happened.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// A client has gone: what it has asked need not be answered.
    Gone(ClientId),
    /// A client wants something.
    Request {
        /// The client, to be answered by [`Server::answer`].
        client: ClientId,
        /// Its process; 0 if it cannot be seen from here.
        pid: i32,
        /// The job whose broker it asks.
        job: u64,
        /// What it wants.
        request: Request,
    },
}

impl Server {
    /// Begins to be the broker of a job.
    ///
    /// # Errors
    /// The system's; `AddrInUse` if it has one already.
    pub fn serve(&mut self, job: u64) -> io::Result<()> {
        let socket = Address::Broker(job).listen()?;
        self.listen(Listener { job, socket, name: None });
        Ok(())
    }

    /// Ends being the broker of a job: who was connected is disconnected, and its names are published no more.
    pub fn dismiss(&mut self, job: u64) {
        self.listeners.retain(|_, listener| listener.job != job);
        self.clients.retain(|_, client| client.job != job);
        self.is_full = false;
    }

    /// Publishes a name for a job.
    ///
    /// # Errors
    /// The system's; `AddrInUse` if somebody has published it already.
    pub fn publish(&mut self, job: u64, service: String, port: String) -> io::Result<()> {
        let socket = Address::of_service(&service).listen().map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => {
                io::Error::new(io::ErrorKind::AddrInUse, format!("{service:?} is published already"))
            }
            _ => error,
        })?;
        self.listen(Listener { job, socket, name: Some(Name { service, port }) });
        Ok(())
    }

    /// Withdraws a name of a job; whether the job had published it.
    pub fn unpublish(&mut self, job: u64, service: &str) -> bool {
        let is_it = |listener: &Listener| {
            listener.job == job && listener.name.as_ref().is_some_and(|name| name.service == service)
        };
        let before = self.listeners.len();
        self.listeners.retain(|_, listener| !is_it(listener));
        self.listeners.len() < before
    }

    /// The names that a job has published, and not withdrawn.
    pub fn names_of(&self, job: u64) -> Vec<String> {
        let listeners = self.listeners.values().filter(|listener| listener.job == job);
        listeners.filter_map(|listener| Some(listener.name.as_ref()?.service.clone())).collect()
    }

    /// What to wait for.
    pub fn sources(&self) -> impl Iterator<Item = (Token, BorrowedFd<'_>, Interest)> {
        let listeners = self.listeners.iter().filter(|_| !self.is_full).map(|(&number, listener)| {
            (Token(Kind::Listener(number)), listener.socket.as_fd(), Interest::Read)
        });
        let clients = self.clients.iter().map(|(&number, client)| {
            let interest = if client.link.is_writing() { Interest::ReadAndWrite } else { Interest::Read };
            (Token(Kind::Client(number)), client.link.as_fd(), interest)
        });
        listeners.chain(clients)
    }

    /// Acts where something is ready, or may be.
    pub fn handle(&mut self, token: Token) -> Vec<Event> {
        match token.0 {
            Kind::Listener(number) => {
                self.accept(number);
                Vec::new()
            }
            Kind::Client(number) => self.hear(number),
        }
    }

    /// Answers a client, with a descriptor if need be. One that has gone hears nothing.
    pub fn answer(&mut self, to: ClientId, answer: &Answer, file: Option<OwnedFd>) {
        let Some(client) = self.clients.get_mut(&to.0) else { return };
        // What cannot be told is found out when the client is heard next.
        if client.link.send_with(&answer.encode(), file).is_ok() {
            let _ = client.link.flush();
        }
    }

    fn listen(&mut self, listener: Listener) {
        let number = self.number();
        self.listeners.insert(number, listener);
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn accept(&mut self, number: u64) {
        while let Some(listener) = self.listeners.get(&number) {
            let (socket, peer) = match address::accept(&listener.socket) {
                Ok(Some(accepted)) => accepted,
                Ok(None) => return,
                Err(_) => {
                    self.is_full = !self.clients.is_empty();
                    return;
                }
            };
            let mut client =
                Client { job: listener.job, pid: peer.pid, link: Link::over(socket), is_leaving: false };
            if let Some(Name { service, port }) = &listener.name {
                let (service, port) = (service.clone(), port.clone());
                client.is_leaving = true;
                if client.link.send(&Answer::Published { service, port }.encode()).is_err() {
                    continue;
                }
                if !matches!(client.link.flush(), Ok(false)) {
                    continue; // it has been told, or is gone
                }
            }
            let number = self.number();
            self.clients.insert(number, client);
        }
    }

    fn hear(&mut self, number: u64) -> Vec<Event> {
        let Some(client) = self.clients.get_mut(&number) else { return Vec::new() };
        let id = ClientId(number);
        let mut events = Vec::new();
        let is_gone = loop {
            match client.link.receive().map(|frame| frame.map(|frame| Request::decode(&frame))) {
                Ok(None) => break client.link.flush().map_or(true, |is_done| is_done && client.is_leaving),
                Ok(Some(Ok(request))) if !client.is_leaving => {
                    events.push(Event::Request { client: id, pid: client.pid, job: client.job, request });
                }
                // Whoever says what is no request is not listened to any longer.
                Ok(Some(_)) | Err(_) => break true,
            }
        };
        if is_gone {
            self.clients.remove(&number);
            self.is_full = false;
            events.push(Event::Gone(id));
        }
        events
    }
}

#[cfg(test)]
mod tests;
