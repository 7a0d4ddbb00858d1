//! MPI-5.0: Collective Communication, Barrier Synchronization.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_plan::Collective;

use super::Operation;
use crate::comm::Communicator;
use crate::process::Process;

/// Nobody leaves before everybody has come.
///
/// # Errors
/// None yet.
pub fn barrier(_: &Process, comm: &Arc<Communicator>) -> Result<Operation> {
    Ok(Operation::moving(comm, Collective::Barrier, 0))
}
