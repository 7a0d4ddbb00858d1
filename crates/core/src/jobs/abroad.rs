//! What a process keeps of other jobs: the broker of its own, open ports, and the job that has spawned it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use oxmpi_base::Result;
use oxmpi_broker::{Broker, Port, Tree};

use crate::comm::Communicator;
use crate::settings::Told;

/// See the module.
#[derive(Debug)]
pub(crate) struct Abroad {
    /// Of the own job, once it is known.
    broker: Mutex<Option<Broker>>,
    /// What this job shares with others of its launcher on other hosts, if it may, once that was asked for.
    tree: OnceLock<Option<Tree>>,
    /// Open ports.
    ports: Mutex<Vec<Arc<Port>>>,
    /// Between this job and the one that has spawned it, until the front takes it.
    parent: Mutex<Option<Arc<Communicator>>>,
    /// How long to wait to be accepted at a port.
    connect_timeout: Duration,
    /// What processes of other jobs that are met must have been told as well.
    pub(crate) told: Told,
}

/// See [`Abroad`]: a server may have much to do before it accepts, but who waits shall not wait for ever.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(180);

impl Abroad {
    /// Of a process that was `told` this, and whose launcher, if it has one, has made the job `launched`.
    pub(crate) fn new(launched: Option<u64>, connect_timeout: Option<Duration>, told: Told) -> Self {
        Self {
            broker: Mutex::new(launched.map(Broker::of_job)),
            tree: OnceLock::new(),
            ports: Mutex::default(),
            parent: Mutex::default(),
            connect_timeout: connect_timeout.unwrap_or(CONNECT_TIMEOUT),
            told,
        }
    }

    /// How long to wait to be accepted at a port, where nobody says otherwise.
    pub(super) fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    /// The broker of this job, or what `start` starts if there is none.
    ///
    /// # Errors
    /// Those of `start`.
    pub(super) fn broker(&self, start: impl FnOnce() -> Result<Broker>) -> Result<Broker> {
        let mut broker = lock(&self.broker);
        match &*broker {
            Some(broker) => Ok(broker.clone()),
            None => Ok(broker.insert(start()?).clone()),
        }
    }

    /// The broker of this job, if there is one already.
    pub(super) fn known_broker(&self) -> Option<Broker> {
        lock(&self.broker).clone()
    }

    /// What this job shares with others of its launcher on other hosts, if these are several.
    pub(super) fn tree(&self) -> Option<&Tree> {
        self.tree.get_or_init(|| self.known_broker()?.tree()).as_ref()
    }

    /// Takes in a port.
    pub(super) fn open(&self, port: Port) {
        lock(&self.ports).push(Arc::new(port));
    }

    /// The open port of this name.
    pub(super) fn port(&self, name: &str) -> Option<Arc<Port>> {
        lock(&self.ports).iter().find(|port| port.name() == name).cloned()
    }

    /// Closes the port of this name, if it is open.
    pub(super) fn close(&self, name: &str) -> Option<Arc<Port>> {
        let mut ports = lock(&self.ports);
        let place = ports.iter().position(|port| port.name() == name)?;
        Some(ports.remove(place))
    }

    /// Keeps the communicator with the job that has spawned this one.
    pub(super) fn keep_parent(&self, parent: Arc<Communicator>) {
        *lock(&self.parent) = Some(parent);
    }

    /// Gives it away.
    pub(super) fn take_parent(&self) -> Option<Arc<Communicator>> {
        lock(&self.parent).take()
    }
}

/// What these protect is whole after every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
