//! How the groups of two jobs connect: their roots speak for them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_broker::Link;

use super::failed;
use crate::comm::{Communicator, Counterpart};
use crate::process::{Process, State};
use crate::wait::Awaited;

/// What the root of a group hears the other root by.
#[derive(Debug)]
pub(crate) struct Connection {
    link: Link,
    /// What this is for, in reports.
    function: &'static str,
}

/// What comes over sockets rings no bell.
const NAP: Duration = Duration::from_millis(1);

impl Connection {
    pub(super) fn over(link: Link, function: &'static str) -> Self {
        Self { link, function }
    }

    /// Tells the other root something, and hears what that tells.
    ///
    /// # Errors
    /// `Other` if it has gone, or is no process of oxmpi.
    pub(crate) fn exchange(&mut self, process: &Process, told: &[u8]) -> Result<Vec<u8>> {
        let Self { link, function } = self;
        let gone = |error| failed(ErrorClass::Other, "the other job does not answer", &error);
        link.send(told).map_err(gone)?;
        process.wait_for_others(&format!("{function}: waits for the other job"), || {
            link.flush().and_then(|_| link.receive()).map_err(gone).transpose()
        })
    }
}

impl Process {
    /// Waits until `look` finds what comes from outside of the job.
    pub(super) fn wait_for_others<T>(
        &self,
        what: &str,
        look: impl FnMut() -> Option<Result<T>>,
    ) -> Result<T> {
        self.wait_for(FromOutside { what, look })
    }

    /// A communicator between the members of `comm` and those that the connection of the root leads to.
    pub(super) fn connect_groups(
        &self,
        comm: &Arc<Communicator>,
        root: i32,
        function: &'static str,
        connection: impl FnOnce() -> Result<Connection>,
    ) -> Result<Arc<Communicator>> {
        comm.check_intra("comm")?;
        let root = u32::try_from(root).ok().filter(|&root| root < comm.size()).ok_or_else(|| {
            let text = format!("root is {root}, no rank of comm, whose size is {}", comm.size());
            Error::new(ErrorClass::Root, text)
        })?;
        // The others may need the broker only later, but all of them need the root's.
        let connection = match comm.rank() == root {
            true => self.broker().and_then(|_| connection()).map(Counterpart::Connection),
            false => Err(Error::new(ErrorClass::Intern, format!("{function}: only the root connects"))),
        };
        self.comm_between_jobs(comm, root, connection)
    }

    /// Makes sure that the processes of all these jobs can be reached.
    pub(crate) fn reach_all(&self, jobs: BTreeSet<u64>) -> Result<()> {
        jobs.into_iter().try_for_each(|job| self.reach(job))
    }
}

/// Something that no rank of the job tells.
struct FromOutside<'a, L> {
    what: &'a str,
    look: L,
}

impl<T, L: FnMut() -> Option<Result<T>>> Awaited for FromOutside<'_, L> {
    type Outcome = Result<T>;

    fn look(&mut self, _: &mut State) -> Option<Result<T>> {
        (self.look)()
    }

    fn describe(&self, _: &State) -> Option<String> {
        Some(self.what.to_owned())
    }

    fn nap(&self) -> Duration {
        NAP
    }
}
