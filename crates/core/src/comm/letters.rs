//! Letters: what processes tell each other to make something together, where no collective of theirs can.
//!
//! A letter goes to a context of the receiver's that the sender knows: that of a communicator's collectives, or
//! the one that all processes have from the start. There its tag keeps it apart from the messages of
//! collectives, and its subject from other letters, so that any number of threads may correspond at the same
//! time. Letters of one process on one subject keep their order. Who writes one does not wait until it is read.

use std::mem;

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Absent, Address, OpKey, P2p, Pattern, PeerId, Received};
use oxmpi_mem::Taken;

use crate::process::{Process, State};
use crate::wait::Awaited;

/// The tag of letters: collectives have none below 0.
const TAG: i32 = -1;
/// Their source: who writes one may have no rank that its reader knows.
const NO_RANK: i32 = 0;

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

/// A letter that nobody has read.
#[derive(Debug)]
pub(crate) struct Letter {
    context: u32,
    /// The writer.
    from: PeerId,
    /// The subject, and what is told.
    text: Text,
}

#[derive(Debug)]
enum Text {
    Arriving(OpKey, Taken),
    Here(Vec<u8>),
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
        let mut state = process.enter();
        let p2p = &mut state.engine.p2p;
        let letter = p2p.pool.take(self.subject.len() + told.len());
        letter.write(&[&self.subject, told].concat());
        p2p.send_copy(to, NO_RANK, TAG, &Buffer::dense(*letter));
        p2p.pool.give(letter);
    }

    /// Waits for the next letter of a peer: what is told.
    pub(super) fn read(&self, process: &Process, from: PeerId) -> Vec<u8> {
        process.wait_for(Expected { correspondence: self, from })
    }
}

/// A letter that somebody waits for.
struct Expected<'a> {
    correspondence: &'a Correspondence,
    from: PeerId,
}

impl Awaited for Expected<'_> {
    type Outcome = Vec<u8>;

    fn look(&mut self, state: &mut State) -> Option<Vec<u8>> {
        state.collect_letters(self.correspondence.context);
        state.take_letter(self.correspondence, self.from)
    }

    fn describe(&self, state: &State) -> Option<String> {
        let (from, function) = (state.title_of(self.from), self.correspondence.purpose.function());
        Some(format!("{function}: waits for {from} to take part"))
    }

    fn misses(&self, state: &State, absent: &mut Absent) -> Option<PeerId> {
        let is_arriving =
            |letter: &Letter| letter.from == self.from && matches!(letter.text, Text::Arriving(..));
        let is_missed = match state.letters.iter().any(is_arriving) {
            true => absent.is_gone(self.from),
            false => absent.is_leaving(self.from),
        };
        is_missed.then_some(self.from)
    }
}

impl State {
    /// Takes in what has come to a context.
    fn collect_letters(&mut self, context: u32) {
        let p2p = &mut self.engine.p2p;
        while let Some(message) = p2p.take_message(context, &Pattern { source: None, tag: Some(TAG) }) {
            let (from, (.., bytes)) = (message.from(), message.envelope());
            let memory = p2p.pool.take(bytes as usize);
            let text = match p2p.receive_message(message, Buffer::dense(*memory)) {
                Received::Done(_) => Text::taken(memory, p2p),
                Received::Pending(op) => Text::Arriving(op, memory),
            };
            self.letters.push(Letter { context, from, text });
        }
    }

    /// The first letter of a correspondence that comes from a process, if it is here.
    fn take_letter(&mut self, correspondence: &Correspondence, from: PeerId) -> Option<Vec<u8>> {
        let Correspondence { context, subject, .. } = correspondence;
        for place in 0..self.letters.len() {
            let letter = &mut self.letters[place];
            if (letter.context, letter.from) != (*context, from) {
                continue;
            }
            // As long as one is arriving nobody knows whether it is the one.
            let told = letter.text.arrived(&mut self.engine.p2p)?.strip_prefix(&subject[..]);
            if let Some(told) = told.map(<[u8]>::to_vec) {
                self.letters.remove(place);
                return Some(told);
            }
        }
        None
    }
}

impl Text {
    fn taken(memory: Taken, p2p: &mut P2p) -> Self {
        let text = memory.to_vec();
        p2p.pool.give(memory);
        Self::Here(text)
    }

    /// All of it, if it has arrived.
    fn arrived(&mut self, p2p: &mut P2p) -> Option<&[u8]> {
        if let Self::Arriving(op, memory) = self {
            p2p.take_outcome(*op)?;
            *self = Self::taken(mem::replace(memory, Taken::EMPTY), p2p);
        }
        match self {
            Self::Arriving(..) => None,
            Self::Here(text) => Some(text),
        }
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
