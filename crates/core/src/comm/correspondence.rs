//! Letters: what processes tell each other to make something together, where no collective of theirs can.
//!
//! A letter goes to a context of the receiver's that the sender knows: that of a communicator's collectives, or
//! the one that all processes have from the start. There its tag keeps it apart from the messages of
//! collectives, and its subject from other letters, so that any number of threads may correspond at the same
//! time. Letters of one process on one subject keep their order. Who writes one does not wait until it is read.

use oxmpi_base::{Error, Result};
use oxmpi_engine::{Absent, Address, PeerId};

use super::letters::Letters;
use crate::process::{Process, State};
use crate::wait::Awaited;

/// What letters are for: a function that makes a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the variants are the standard's names")]
pub(super) enum Purpose {
    CommCreateFromGroup,
    CommCreateGroup,
    /// Of two jobs.
    CommConnect,
    IntercommCreate,
    IntercommCreateFromGroups,
}

/// What letters are about: the calls that pass `tag` to the function of `purpose`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject<'a> {
    pub purpose: Purpose,
    pub tag: &'a [u8],
}

/// Letters on one subject, which arrive at one context of this process.
#[derive(Debug)]
pub(crate) struct Correspondence {
    context: u32,
    purpose: Purpose,
    /// How its letters begin. None of them begins as those of another do.
    subject: Vec<u8>,
}

impl Purpose {
    fn function(self) -> &'static str {
        match self {
            Self::CommCreateFromGroup => "MPI_Comm_create_from_group",
            Self::CommCreateGroup => "MPI_Comm_create_group",
            Self::CommConnect => "connecting with another job",
            Self::IntercommCreate => "MPI_Intercomm_create",
            Self::IntercommCreateFromGroups => "MPI_Intercomm_create_from_groups",
        }
    }
}

impl Correspondence {
    pub(super) fn new(context: u32, Subject { purpose, tag }: Subject<'_>) -> Self {
        let length = (tag.len() as u64).to_ne_bytes();
        Self { context, purpose, subject: [&[purpose as u8], &length[..], tag].concat() }
    }

    /// Writes a letter.
    pub(super) fn write(&self, process: &Process, to: Address, told: &[u8]) {
        Letters::write(&mut process.enter().engine.p2p, to, &self.subject, told);
    }

    /// Waits for the next letter of a peer: what is told.
    ///
    /// # Errors
    /// `ProcAborted` if it is of another job, and has ended, or left MPI.
    pub(super) fn read(&self, process: &Process, from: PeerId) -> Result<Vec<u8>> {
        process.wait_at_leisure(Expected { correspondence: self, from, lost: None })
    }
}

/// A letter that somebody waits for.
struct Expected<'a> {
    correspondence: &'a Correspondence,
    from: PeerId,
    /// Why it does not come any more.
    lost: Option<Error>,
}

impl Awaited for Expected<'_> {
    type Outcome = Result<Vec<u8>>;

    fn look(&mut self, state: &mut State) -> Option<Result<Vec<u8>>> {
        let Correspondence { context, subject, .. } = self.correspondence;
        let State { letters, engine, .. } = state;
        letters.collect(&mut engine.p2p, *context);
        let told = letters.take(&mut engine.p2p, *context, subject, self.from);
        told.map(Ok).or_else(|| self.lost.take().map(Err))
    }

    fn suspect(&mut self, state: &mut State) {
        self.lost = state.engine.lost(self.from);
        // What it told before is here, and dealt with now.
        while self.lost.is_some() && state.engine.poll() {}
    }

    fn describe(&self, state: &State) -> Option<String> {
        let (from, function) = (state.title_of(self.from), self.correspondence.purpose.function());
        Some(format!("{function}: waits for {from} to take part"))
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        let is_missed = match state.letters.is_arriving(self.from) {
            true => absent.is_gone(self.from),
            false => absent.is_leaving(self.from),
        };
        is_missed.then_some(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_subject_is_the_beginning_of_another() {
        let subject = |purpose, tag: &[u8]| Correspondence::new(4, Subject { purpose, tag }).subject;
        let subjects = [
            subject(Purpose::CommCreateFromGroup, b""),
            subject(Purpose::CommCreateFromGroup, b"a"),
            subject(Purpose::CommCreateFromGroup, b"ab"),
            subject(Purpose::IntercommCreateFromGroups, b"a"),
            subject(Purpose::CommCreateGroup, &7_i32.to_ne_bytes()),
            subject(Purpose::IntercommCreate, &7_i32.to_ne_bytes()),
        ];
        for (place, one) in subjects.iter().enumerate() {
            assert!(subjects.iter().enumerate().all(|(other, two)| place == other || !two.starts_with(one)));
        }
    }
}
