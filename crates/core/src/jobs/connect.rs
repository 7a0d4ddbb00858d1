//! How the groups of two jobs connect: their roots speak for them.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};

use super::connection::Connection;
use crate::comm::Communicator;
use crate::comm::inter::Counterpart;
use crate::process::Process;

impl Process {
    /// A communicator between the members of `comm` and those that the connection of the root leads to, for a function
    /// that fails with `class` where there can be none.
    pub(super) fn connect_groups(
        &self,
        comm: &Arc<Communicator>,
        root: i32,
        (function, class): (&'static str, ErrorClass),
        connection: impl FnOnce() -> Result<Connection>,
    ) -> Result<Arc<Communicator>> {
        comm.check_intra("comm")?;
        let root = u32::try_from(root).ok().filter(|&root| root < comm.size()).ok_or_else(|| {
            let text = format!("root is {root}, no rank of comm, whose size is {}", comm.size());
            Error::new(ErrorClass::Root, text)
        })?;
        // The others may need the broker only later, but all of them need the root's.
        let connection = match comm.rank() == root {
            true => self.broker(class).and_then(|_| connection()).map(Counterpart::Connection),
            false => Err(Error::new(ErrorClass::Intern, format!("{function}: only the root connects"))),
        };
        self.comm_between_jobs(comm, root, connection)
    }
}
