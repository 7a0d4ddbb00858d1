//! Sets of processes that have a name.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The Sessions Model, Process Sets.

use oxmpi_base::{Error, ErrorClass, Result};

use crate::group::Group;
use crate::process::Process;

/// The names of the sets that every process is in. They are URIs, of which case does not matter.
pub const PROCESS_SETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

impl Process {
    /// The processes of the set with this name.
    ///
    /// # Errors
    /// `Arg` if there is none.
    pub fn process_set(&self, name: &str) -> Result<Group> {
        match PROCESS_SETS.iter().position(|known| known.eq_ignore_ascii_case(name)) {
            Some(0) => Ok(self.world().group()),
            Some(_) => Ok(self.myself().group()),
            None => {
                let text = format!("pset_name is \"{name}\", which names no process set");
                Err(Error::new(ErrorClass::Arg, text))
            }
        }
    }
}
