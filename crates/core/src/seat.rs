//! Jobs whose ranks are threads of this process.
//!
//! There is no launcher: whoever makes the job gives a [`Seat`] to a thread for each rank, and says in its place when a
//! rank is gone ([`Seats::show_gone`]), so that nobody waits for it for ever.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::fmt;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::machine::{Bed, Job, Phase, StatePage, Ticket};
use oxmpi_mem::Callers;

use crate::process::{Exit, Process, Start};
use crate::settings::Settings;

/// The place of one rank in a job of this process.
#[derive(Debug)]
pub struct Seat {
    ticket: Ticket,
    settings: Settings,
}

/// What can be seen of all ranks of a job, and be shown to them.
#[derive(Clone)]
pub struct Seats(Box<[(&'static StatePage, Bed)]>);

impl Seat {
    /// The seats of a new job of so many ranks.
    ///
    /// # Errors
    /// `Arg` if there are no ranks, or the environment says what does not exist; `Other` if the system refuses.
    pub fn of_new_job(ranks: u32) -> Result<(Vec<Self>, Seats)> {
        if ranks == 0 {
            return Err(Error::new(ErrorClass::Arg, "ranks is 0: a job has one at least"));
        }
        let refused = |error| Error::new(ErrorClass::Other, format!("cannot make a job: {error}"));
        let tickets = Job::within(ranks).map_err(refused)?;
        let seen = |ticket: &Ticket| (ticket.job().state(ticket.rank()), ticket.job().bed(ticket.rank()));
        let seats = tickets.iter().map(seen).collect();
        let seat = |ticket| Ok(Self { ticket, settings: Settings::read()? });
        Ok((tickets.into_iter().map(seat).collect::<Result<_>>()?, Seats(seats)))
    }

    /// Makes this thread the rank, for as long as the program runs. `end` is called, by whichever of its threads, where
    /// a process would end: it must not return to the call, by unwinding either. `callers` are as for [`Process::new`].
    ///
    /// # Errors
    /// As [`Process::new`].
    pub fn take(self, end: Arc<dyn Exit>, callers: Callers) -> Result<&'static Process> {
        let Self { ticket, settings } = self;
        let (launcher, everybody) = (None, None); // all are in this process
        let start = Start { is_launched: false, launcher, everybody, settings, phase: Phase::Running, end };
        Process::new_for_good(ticket, start, callers)
    }
}

impl Seats {
    /// How far a rank has come.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn phase(&self, rank: usize) -> Phase {
        self.0[rank].0.phase()
    }

    /// Tells all ranks that this one has ended, as it should or not.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn show_gone(&self, rank: usize, is_well: bool) {
        self.0[rank].0.set_gone();
        for (page, bed) in &self.0 {
            if !is_well {
                page.release();
            }
            bed.ring();
        }
    }
}

impl fmt::Debug for Seats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.0.len()).map(|rank| self.phase(rank))).finish()
    }
}
