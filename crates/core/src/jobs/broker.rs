//! What the broker of a job is asked for: names of ports, and the end of other jobs.

use std::io;

use oxmpi_base::{Error, ErrorClass, Result, order};
use oxmpi_broker::Broker;

use crate::comm::Communicator;
use crate::process::Process;

impl Process {
    /// The broker of this job, which is started if there is none.
    ///
    /// # Errors
    /// `class` if there can be none: another launcher has started several ranks of this node, or there is no `mpiexec`.
    pub(super) fn broker(&self, class: ErrorClass) -> Result<Broker> {
        self.abroad.broker(|| {
            let state = self.enter();
            let (job, ranks) = (state.engine.whereabouts().job(), state.engine.size());
            if ranks > 1 {
                let text = format!(
                    "oxmpi's mpiexec has not started this job, and only under that can several ranks of a \
                     node ({ranks} here) have to do with other jobs: start it so, or with one rank on each \
                     node"
                );
                return Err(Error::new(class, text));
            }
            Broker::start_for_singleton(state.engine.file(), job)
                .map_err(|error| failed(class, "mpiexec, by which a job has to do with others", &error))
        })
    }

    /// Publishes the name of a port under the name `service`.
    ///
    /// # Errors
    /// `Service` if that is taken, or this process can have no broker.
    pub fn publish_name(&self, service: &str, port: &str) -> Result<()> {
        self.broker(ErrorClass::Service)?.publish(service, port).map_err(about_service)
    }

    /// Withdraws a name that this job has published.
    ///
    /// # Errors
    /// `Service` if it has not published it, or this process can have no broker.
    pub fn unpublish_name(&self, service: &str) -> Result<()> {
        self.broker(ErrorClass::Service)?.unpublish(service).map_err(about_service)
    }

    /// The name of the port that a process of this user has published under the name `service` on this machine, or one
    /// of this launcher's on any of its hosts.
    ///
    /// # Errors
    /// `Name` if nobody has.
    pub fn lookup_name(&self, service: &str) -> Result<String> {
        // Who looks again and again waits, perhaps for a job that does not end before this rank has answered it.
        self.enter().engine.poll();
        let here = oxmpi_broker::lookup(service);
        let found = match (here, self.abroad.known_broker()) {
            (Err(_), Some(broker)) => broker.lookup(service),
            (here, _) => here,
        };
        found.map_err(about_service)
    }

    /// Ends the other jobs that have members in `comm`, as far as that is possible: a callback of the program's does
    /// not know them.
    pub fn abort_others(&self, comm: &Communicator, code: i32) {
        let Some(state) = self.try_enter() else { return };
        let own = state.engine.whereabouts().job();
        let groups = [Some(comm.group()), comm.remote_group()];
        let members = groups.iter().flatten().flat_map(|group| group.members());
        let mut jobs: Vec<u64> = members.map(|number| state.engine.at_number(number).job()).collect();
        // Parts of this job are ended by its launcher.
        jobs.retain(|&job| job != own && !state.engine.is_part_elsewhere(job));
        drop(state);
        order::by_key(&mut jobs, |&job| job);
        jobs.dedup();
        // Who is gone has ended already.
        jobs.into_iter().for_each(|job| drop(Broker::of_job(job).abort(code)));
    }
}

fn about_service(error: Error) -> Error {
    error.about("service_name")
}

pub(super) fn failed(class: ErrorClass, what: &str, error: &io::Error) -> Error {
    Error::new(class, format!("{what}: {error}"))
}
