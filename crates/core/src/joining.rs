//! How a process finds its place: by what its launcher and its user have put into its environment.
//!
//! This is the one place where that is read. A [`Process`] is told all it needs.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::env;
use std::io;
use std::sync::Arc;

use oxmpi_base::generated::functions::Function;
use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_broker::send_as_ranks_do;
use oxmpi_engine::Engine;
use oxmpi_engine::machine::{Job, Phase, Ticket, end_process};
use oxmpi_mem::Callers;
use oxmpi_mem::copy::choose_copy;
use oxmpi_op::{choose_instructions, recover_infinities};
use oxmpi_pmi::{Bootstrap, Joined, NodeMap, Place, World, join};
use oxmpi_system::file;
use oxmpi_system::notice::say;

use crate::hardware::machine_called;
use crate::nodes::Everybody;
use crate::process::{Process, Start};
use crate::settings::Settings;

/// The environment variable that names how memory is copied.
const COPY: &str = "OXMPI_COPY";
/// The one that names the instructions by which vectors are combined.
const COMBINE: &str = "OXMPI_COMBINE";
/// The one that names the port at which the job that has spawned this one waits.
const PARENT_PORT: &str = "OXMPI_PARENT_PORT";
/// The one that says how the host is called, in a job over several and in what that spawns.
const HOST: &str = "OXMPI_HOST";
/// The one that says which of the launcher's programs this is.
const APP_NUMBER: &str = "OXMPI_APPNUM";

/// Which of the programs of its command line the launcher has started here, from 0; `None` if it does not tell.
pub fn app_number() -> Option<u32> {
    env::var(APP_NUMBER).ok()?.parse().ok()
}

impl Process {
    /// Joins the job that the launcher has made; without one, becomes a job of one rank. `phase` is what the process
    /// shows from then on; as [`Process::new`] else.
    ///
    /// # Errors
    /// `Other` if the launcher's environment is damaged or of another version, or the system refuses, or ranks have
    /// other settings; `Arg` if one of these, `OXMPI_COPY` or `OXMPI_COMBINE` names something that is not there.
    pub fn init(phase: Phase, callers: Callers) -> Result<Self> {
        file::fill_standard();
        // Before the seat is taken, which cannot be given up.
        let settings = Settings::read()?;
        let copy = env::var_os(COPY).unwrap_or_default();
        choose_copy(&copy.to_string_lossy()).map_err(|error| error.about(COPY))?;
        let combine = env::var_os(COMBINE).unwrap_or_default();
        choose_instructions(&combine.to_string_lossy()).map_err(|error| error.about(COMBINE))?;
        recover_infinities(settings.recovers_infinities);
        let refused = |error| Error::new(ErrorClass::Other, format!("cannot join the job: {error}"));
        let Seat { ticket, place, mut launcher, is_launched } = seat().map_err(refused)?;
        let mut engine = Engine::new(ticket);
        let everybody = match &mut launcher {
            Some(launcher) if place.nodes.count() > 1 => {
                // The launcher sees who waits here, and ends the job where that is for a rank that has left.
                let page = engine.state();
                let function = match phase {
                    Phase::Running => Function::Init,
                    _ => Function::SessionInit,
                };
                page.set_call(function.index());
                page.set_phase(phase);
                let met = Everybody::meet(&mut engine, &place, launcher.as_mut(), &settings);
                page.set_call(0);
                Some(met.inspect_err(|_| page.set_phase(Phase::Outside))?)
            }
            _ => None,
        };
        let end = Arc::new(end_process as fn(u8) -> !);
        let start = Start { is_launched, launcher, everybody, settings, phase, end };
        if let Some(host) = env::var_os(HOST) {
            engine.set_machine(machine_called(host.as_encoded_bytes()));
        }
        let process = Self::new(engine, start, callers)?;
        if let Some(port) = env::var(PARENT_PORT).ok().filter(|_| is_launched) {
            process.meet_parent(port)?;
        }
        Ok(process)
    }

    /// As [`Process::init`], for as long as the program runs: its progress thread may outlive a value that was
    /// forgotten. What drops a process, with all that it consists of, is compiled in each module that has one, or an
    /// engine, by value: here, and not again in that of the caller.
    ///
    /// # Errors
    /// As [`Process::init`].
    pub fn init_for_good(phase: Phase, callers: Callers) -> Result<&'static Self> {
        let process = Self::init(phase, callers)?;
        Ok(Box::leak(Box::new(process)))
    }

    /// As [`Process::new`], of who has this seat, for as long as the program runs.
    pub(crate) fn new_for_good(ticket: Ticket, start: Start, callers: Callers) -> Result<&'static Self> {
        let process = Self::new(Engine::new(ticket), start, callers)?;
        Ok(Box::leak(Box::new(process)))
    }
}

/// Where this process finds itself.
struct Seat {
    ticket: Ticket,
    place: Place,
    /// The launcher, if there is one to talk to.
    launcher: Option<Box<dyn Bootstrap>>,
    /// Whether it can be asked for more.
    is_launched: bool,
}

/// This process as a rank of the job of its launcher, or else as the only one of its own.
fn seat() -> io::Result<Seat> {
    match join()? {
        Joined::Member(world) => {
            let World { ticket, place, bootstrap: launcher, has_broker: is_launched } = world;
            return Ok(Seat { ticket, place, launcher, is_launched });
        }
        Joined::Outsider { rank, pid } => note_outsider(rank, pid),
        Joined::Alone => send_as_ranks_do(),
    }
    let ticket = Job::within(1)?.remove(0);
    let place = Place { rank: 0, nodes: NodeMap::one(1) };
    Ok(Seat { ticket, place, launcher: None, is_launched: false })
}

/// Says that this program does not take part in the job of the rank that has started it: its world is itself.
#[cold]
fn note_outsider(rank: usize, pid: u32) {
    let whose = if pid == 0 { String::new() } else { format!(" (process {pid})") };
    say(format_args!(
        "started by rank {rank} of a job{whose}, which keeps its seat: this is a job of one rank"
    ));
}
