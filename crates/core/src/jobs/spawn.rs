//! Spawning: the broker starts a job, which connects with its parents when it begins.

use std::sync::Arc;

use oxmpi_base::{ErrorClass, Result};
use oxmpi_broker::{Block, Port, Spawn};

use super::broker::failed;
use super::connection::{Connection, ended};
use crate::comm::Communicator;
use crate::process::Process;

impl Process {
    /// Starts the programs that the `root` names, as one job: a communicator with it. Collective.
    ///
    /// # Errors
    /// `Spawn` if not all could be started, or they ended before they had connected: none is left then; or if the root
    /// can have no broker. Else as [`Process::comm_accept`].
    pub fn comm_spawn(
        &self,
        comm: &Arc<Communicator>,
        root: i32,
        programs: Result<Vec<Block>>,
    ) -> Result<Arc<Communicator>> {
        self.connect_groups(comm, root, ("MPI_Comm_spawn", ErrorClass::Spawn), || self.spawn(programs?))
    }

    fn spawn(&self, blocks: Vec<Block>) -> Result<Connection> {
        let port = Port::open(None)
            .map_err(|error| failed(ErrorClass::Spawn, "the new job cannot be met", &error))?;
        let rank = self.enter().engine.whereabouts().rank();
        let request = Spawn { rank, blocks, parent_port: port.name().to_owned() };
        let mut spawning = self.broker(ErrorClass::Spawn)?.spawn(&request)?;
        self.wait_for_others("MPI_Comm_spawn: waits for the launcher", || spawning.poll())?;
        let connection = self.accept_at(&port, || spawning.ended().map(ended))?;
        Ok(connection.with(spawning))
    }
}
