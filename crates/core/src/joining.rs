//! How a process finds its place: by what its launcher and its user have put into its environment.
//!
//! This is the one place where that is read. A [`Process`] is told all it needs.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::env;
use std::io::{self, Write as _};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::machine::Phase;
use oxmpi_engine::{Engine, Joining};
use oxmpi_mem::Gate;
use oxmpi_mem::copy::choose_copy;

use crate::launcher;
use crate::process::{Process, State};
use crate::settings::Settings;

/// The environment variable that names how memory is copied.
const COPY: &str = "OXMPI_COPY";

impl Process {
    /// Joins the job that the launcher has made; without one, becomes a job of one rank. As [`Process::new`] else.
    ///
    /// # Errors
    /// `Other` if the launcher's environment is damaged or of another version, or the system refuses, or ranks have
    /// other settings; `Arg` if one of these or `OXMPI_COPY` names something that is not there.
    pub fn init(phase: Phase, gate: impl FnOnce(State) -> Gate<State>) -> Result<Self> {
        // Before the seat is taken, which cannot be given up.
        let settings = Settings::read()?;
        let copy = env::var_os(COPY).unwrap_or_default();
        choose_copy(&copy.to_string_lossy()).map_err(|error| error.about(COPY))?;
        let engine =
            join().map_err(|error| Error::new(ErrorClass::Other, format!("cannot join the job: {error}")))?;
        Self::new(engine, settings, phase, gate)
    }
}

fn join() -> io::Result<Engine> {
    match Engine::inherited()? {
        Joining::Member(engine) => return Ok(*engine),
        Joining::Outsider { rank, pid } => note_outsider(rank, pid),
        Joining::NotInvited => launcher::warn_if_foreign(),
    }
    Ok(Engine::of_new_job(1)?.remove(0))
}

/// Says that this program does not take part in the job of the rank that has started it: its world is itself.
#[cold]
fn note_outsider(rank: usize, pid: u32) {
    let whose = if pid == 0 { String::new() } else { format!(" (process {pid})") };
    // There is nobody left to tell if this fails.
    let _ = writeln!(
        io::stderr(),
        "oxmpi: started by rank {rank} of a job{whose}, which keeps its seat: this is a job of one rank"
    );
}
