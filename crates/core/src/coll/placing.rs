//! How a persistent collective whose blocks have lengths of their own comes to run on lines.
//!
//! When it is prepared, each rank tells all others what it [`Known`] of lengths, beside what every persistent
//! collective tells. If all blocks of all ranks are equally long, the regular collective is run. Else, if what each
//! rank sends fits a line, each tells those that get its blocks where they lie ([`Place`]), and Start posts and
//! pulls. Longer ones are sent as messages, and so are those of several nodes, but for what goes over levels.
//!
//! MPI-5.0: Collective Communication, Persistent Collective Operations.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Call, Program};
use oxmpi_plan::Peer;
use oxmpi_plan::pattern::{Pattern, Place};

use super::candidates::{LEVELS, LINES, MESSAGES};
use super::irregular::Irregular;
use super::operation::Operation;
use crate::comm::Communicator;
use crate::process::Process;
use crate::record::Record;

/// What a rank knows of the lengths of blocks, or several ranks together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Bytes of the longest stream that a rank would post.
    longest: u64,
    /// The length of all blocks, if they are equal and a regular collective may do.
    equal: Option<u64>,
}

impl Known {
    /// What this rank knows.
    pub(super) fn of(comm: &Communicator, irregular: Option<&Irregular>) -> Self {
        match irregular {
            Some(Irregular::Lengths { lengths, form, .. }) => {
                let longest = (form.pattern)(lengths, comm).posted_bytes();
                Self { longest, equal: form.equal(lengths) }
            }
            Some(Irregular::Made(_)) | None => Self { longest: 0, equal: None },
        }
    }

    /// What both know together.
    pub(super) fn of_both(self, other: Self) -> Self {
        let equal = self.equal.filter(|_| self.equal == other.equal);
        Self { longest: self.longest.max(other.longest), equal }
    }
}

impl Process {
    /// The plan of a persistent operation, of whose lengths the ranks know this. Collective.
    ///
    /// # Errors
    /// `Truncate`, `Count` if a rank sends this one a block of another length than it expects; those of messages.
    pub(super) fn plan_among(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        known: Known,
    ) -> Result<Arc<Program>> {
        let Some(Irregular::Lengths { function, lengths, form }) = operation.irregular.as_deref() else {
            return Ok(self.enter().share_plan(comm, operation));
        };
        if let Some(case) = known.equal.and_then(|bytes| form.regular(lengths, comm, bytes)) {
            return Ok(self.enter().plans.share(comm, &case));
        }
        let pattern = (form.pattern)(lengths, comm);
        let places = self.places(comm, &pattern)?;
        let call = form.call(*function, lengths);
        let over_levels = form.over_levels(lengths, comm);
        Ok(Arc::new(match (fits_lines(comm, known), over_levels) {
            (true, _) => Program::new(pattern.by_lines(&places, known.longest), call).by(LINES),
            (false, Some(plan)) => Program::new(plan, call).by(LEVELS),
            (false, None) => Program::new(pattern.by_messages(), call).by(MESSAGES),
        }))
    }

    /// The plans by all admissible algorithms, that of [`Process::plan_among`] first; alone where nobody has anything
    /// for another rank. Collective.
    ///
    /// # Errors
    /// As [`Process::plan_among`].
    pub(super) fn plans_among(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        known: Known,
    ) -> Result<Vec<Arc<Program>>> {
        let Some(Irregular::Lengths { function, lengths, form }) = operation.irregular.as_deref() else {
            return Ok(self.enter().programs(comm, operation));
        };
        if known.longest == 0 {
            return Ok(vec![self.plan_among(comm, operation, known)?]);
        }
        let case = known.equal.and_then(|bytes| form.regular(lengths, comm, bytes));
        let mut all = case.map_or(Vec::new(), |case| self.enter().programs_of_regular(comm, &case));
        let pattern = (form.pattern)(lengths, comm);
        let places = self.places(comm, &pattern)?;
        let call = form.call(*function, lengths);
        if fits_lines(comm, known) {
            all.push(Arc::new(Program::new(pattern.by_lines(&places, known.longest), call).by(LINES)));
        }
        let over_levels = form.over_levels(lengths, comm).map(|plan| Program::new(plan, call).by(LEVELS));
        all.extend(over_levels.map(Arc::new));
        all.push(Arc::new(Program::new(pattern.by_messages(), call).by(MESSAGES)));
        Ok(all)
    }

    /// Where the blocks that this rank receives lie in the streams of those that send them.
    ///
    /// # Errors
    /// As [`Process::plan_among`].
    fn places(&self, comm: &Arc<Communicator>, pattern: &Pattern) -> Result<Vec<u64>> {
        let mut told = Vec::with_capacity(Place::BYTES * pattern.places().len());
        pattern.places().for_each(|place| place.write(&mut told));
        let (send, recv) = {
            let mut state = self.enter();
            let pool = state.pool();
            (pool.take(told.len()), pool.take(Place::BYTES * pattern.received().len()))
        };
        send.write(&told);
        let plan = pattern.placing(Place::BYTES as u64).by_messages();
        let exchange = Operation::planned(
            Program::new(plan, Call::PREPARATION),
            Buffer::dense(*send),
            Buffer::dense(*recv),
        );
        let result = exchange.and_then(|exchange| self.blocking(comm, &exchange));
        let heard = recv.to_vec();
        {
            let mut state = self.enter();
            let pool = state.pool();
            pool.give(send);
            pool.give(recv);
        }
        result?;
        let places = heard.chunks_exact(Place::BYTES).map(Place::read);
        places.zip(pattern.received()).map(|(place, (peer, bytes))| agreed(place, peer, bytes)).collect()
    }
}

/// Whether what all ranks send goes by lines.
fn fits_lines(comm: &Communicator, known: Known) -> bool {
    comm.is_on_one_node() && Pattern::fits_lines(known.longest)
}

/// # Errors
/// `Truncate`, `Count` if a block is not as long as this rank expects.
fn agreed(place: Place, peer: Peer, bytes: u64) -> Result<u64> {
    if place.bytes == bytes {
        return Ok(place.begin);
    }
    let class = if place.bytes > bytes { ErrorClass::Truncate } else { ErrorClass::Count };
    let text =
        format!("rank {peer} sends a block of {} bytes, where {bytes} are expected of it", place.bytes);
    Err(Error::new(class, text))
}

impl Record for Known {
    const BYTES: usize = 16;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.longest.to_ne_bytes());
        into.extend_from_slice(&self.equal.unwrap_or(u64::MAX).to_ne_bytes());
    }

    fn read(from: &[u8]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(from[at..at + 8].try_into().expect("8 bytes"));
        Self { longest: word(0), equal: Some(word(8)).filter(|&bytes| bytes != u64::MAX) }
    }
}

impl Record for Place {
    const BYTES: usize = 16;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.begin.to_ne_bytes());
        into.extend_from_slice(&self.bytes.to_ne_bytes());
    }

    fn read(from: &[u8]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(from[at..at + 8].try_into().expect("8 bytes"));
        Self { begin: word(0), bytes: word(8) }
    }
}
