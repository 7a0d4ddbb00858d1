//! Other jobs: connecting with them, and starting them.
//!
//! Two jobs connect at a *port*: a name by which one process reaches another on this machine. The roots of both groups
//! tell each other over it what leaders of groups that share a communicator write in letters, and the
//! intercommunicator is made like any other (`comm/inter.rs`). To *spawn* is to let the broker start a job that
//! connects at a port of the root as soon as it begins; to *join* is to do the same over a socket of the program.
//!
//! Whoever meets a process of another job asks that job's broker, which is its launcher, for the memory that the job
//! shares. A process that nobody has launched starts a broker when it first needs one.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

mod connect;
mod port;
mod spawn;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_broker::{Broker, Port};

use crate::comm::Communicator;
use crate::process::Process;

pub(crate) use connect::Connection;

/// What a process has to do with other jobs.
#[derive(Debug, Default)]
pub(crate) struct Abroad {
    /// Of the own job, once it is known.
    broker: Mutex<Option<Broker>>,
    /// Open ports.
    ports: Mutex<Vec<Arc<Port>>>,
    /// Between this job and the one that has spawned it, until the front takes it.
    parent: Mutex<Option<Arc<Communicator>>>,
}

impl Abroad {
    /// Of a process that has a launcher.
    pub(crate) fn launched(job: u64) -> Self {
        Self { broker: Mutex::new(Some(Broker::of_job(job))), ..Self::default() }
    }
}

impl Process {
    /// The communicator with the job that has spawned this one, if one has: the caller's from now on.
    pub fn take_parent(&self) -> Option<Arc<Communicator>> {
        lock(&self.abroad.parent).take()
    }

    /// Connects with the job that has spawned this one, which waits at the port. Collective over the world.
    ///
    /// # Errors
    /// Those of [`Process::comm_connect`].
    pub(crate) fn meet_parent(&self, port: String) -> Result<()> {
        let parent = self.comm_connect(self.world(), 0, Ok(port))?;
        parent.set_name("MPI_COMM_PARENT");
        *lock(&self.abroad.parent) = Some(parent);
        Ok(())
    }

    /// The broker of this job, which is started if there is none.
    fn broker(&self) -> Result<Broker> {
        let mut broker = lock(&self.abroad.broker);
        if let Some(broker) = &*broker {
            return Ok(broker.clone());
        }
        let started = {
            let state = self.enter();
            let job = state.engine.whereabouts().job();
            Broker::start_for_singleton(state.engine.file(), job)
        };
        let started = started.map_err(|error| failed(ErrorClass::Other, "there is no broker", &error))?;
        Ok(broker.insert(started).clone())
    }

    /// Makes sure that the processes of a job can be reached.
    pub(crate) fn reach(&self, job: u64) -> Result<()> {
        if self.enter().engine.is_attached(job) {
            return Ok(());
        }
        let file = Broker::of_job(job).segment().map_err(|error| {
            failed(ErrorClass::Other, &format!("the memory of job {job:016x} is not to be had"), &error)
        })?;
        self.enter().engine.attach(job, file)
    }

    /// Publishes the name of a port under the name `service`.
    ///
    /// # Errors
    /// `Service` if that is taken.
    pub fn publish_name(&self, service: &str, port: &str) -> Result<()> {
        self.broker()?.publish(service, port)
    }

    /// Withdraws a name that this job has published.
    ///
    /// # Errors
    /// `Service` if it has not published it.
    pub fn unpublish_name(&self, service: &str) -> Result<()> {
        self.broker()?.unpublish(service)
    }

    /// The name of the port that a process of this user has published under the name `service`.
    ///
    /// # Errors
    /// `Name` if nobody has.
    pub fn lookup_name(&self, service: &str) -> Result<String> {
        oxmpi_broker::lookup(service)
    }

    /// Ends the other jobs that have members in `comm`, as far as that is possible.
    pub fn abort_others(&self, comm: &Communicator, code: i32) {
        let state = self.enter();
        let own = state.engine.whereabouts().job();
        let groups = [Some(comm.group()), comm.remote_group()];
        let members = groups.iter().flatten().flat_map(|group| group.members());
        let mut jobs: Vec<u64> = members.map(|number| state.engine.at_number(number).job()).collect();
        drop(state);
        jobs.sort_unstable();
        jobs.dedup();
        // Who is gone has ended already.
        jobs.into_iter().filter(|&job| job != own).for_each(|job| drop(Broker::of_job(job).abort(code)));
    }
}

/// What these protect is whole after every step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(class: ErrorClass, what: &str, error: &io::Error) -> Error {
    Error::new(class, format!("{what}: {error}"))
}
