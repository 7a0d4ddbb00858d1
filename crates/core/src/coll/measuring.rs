//! Trying all algorithms of a persistent collective before its initialisation returns.
//!
//! They run on the communicator's channel, as blocking collectives that nobody has called, with memory that stands in
//! for the program's. After each batch of runs all ranks tell each other how long it took: so they begin the next
//! together, and know the same when they decide (see `contest`). Other operations of the process go on meanwhile, as
//! in any call that waits.
//! MPI-5.0: Collective Communication, Persistent Collective Operations, which lets initialisation synchronise.

use std::sync::Arc;

use oxmpi_base::{Error, Result};
use oxmpi_engine::machine::now_ns;
use oxmpi_engine::{Call, Program};

use super::case::Case;
use super::contest::{Batch, Contest};
use super::exchange::exchange;
use super::irregular::Irregular;
use super::operation::Operation;
use super::stand_in::StandIn;
use crate::comm::Communicator;
use crate::process::Process;
use crate::record::Record;

/// What came of trying.
#[derive(Debug)]
pub(super) struct Measured {
    /// The place of the best among the candidates: the same on all ranks, also on those that have no others.
    pub best: usize,
    /// Nanoseconds of a run of each, as far as they are known.
    pub times_ns: Vec<Option<f64>>,
}

/// What a rank tells between two batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pulse {
    /// Algorithms that it could try; [`UNKNOWN`] beside a root.
    candidates: u32,
    has_failed: bool,
    batch_ns: u64,
    elapsed_ns: u64,
}

/// A rank that knows nothing of the others' algorithms.
const UNKNOWN: u32 = u32::MAX;

impl Process {
    /// Tries this rank's `candidates`, which are the same algorithms on all ranks. Collective.
    ///
    /// # Errors
    /// Those of telling each other.
    pub(super) fn measure(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        candidates: &[Arc<Program>],
    ) -> Result<Measured> {
        let is_user = operation.binding.reducer.as_ref().is_some_and(|reducer| reducer.is_user());
        let scratch_bytes = candidates.iter().map(|candidate| candidate.scratch_bytes);
        let stand_in =
            if is_user { None } else { StandIn::take(self.enter().pool(), operation, scratch_bytes) };
        let trials: Vec<Operation> = stand_in
            .iter()
            .flat_map(|stand_in| {
                (0..).zip(candidates).map(|(number, candidate)| trial(operation, stand_in, number, candidate))
            })
            .collect();
        let is_unknown = operation.is_beside_root() && !trials.is_empty();
        let known = if is_unknown { UNKNOWN } else { trials.len() as u32 };
        let measured = self.hold_contest(comm, &trials, known);
        let mut state = self.enter();
        state.engine.forget_trials(comm.channel);
        stand_in.into_iter().for_each(|stand_in| stand_in.give_back(state.pool()));
        measured
    }

    fn hold_contest(&self, comm: &Arc<Communicator>, trials: &[Operation], known: u32) -> Result<Measured> {
        let begun_ns = now_ns();
        let mut mine = Pulse { candidates: known, has_failed: false, batch_ns: 0, elapsed_ns: 0 };
        let first = self.beat(comm, &mine)?;
        let candidates = if first.candidates == UNKNOWN { 0 } else { first.candidates as usize };
        let mut contest = Contest::new(candidates);
        while let Some(batch) = contest.next() {
            // Who is beside the root does nothing in any of them, as often.
            let trial = trials.get(batch.candidate).or(trials.first()).expect("who has none has said so");
            let (took_ns, outcome) = self.run_batch(comm, trial, batch);
            (mine.has_failed, mine.batch_ns) = (outcome.is_err(), took_ns);
            mine.elapsed_ns = now_ns().saturating_sub(begun_ns);
            let all = self.beat(comm, &mine)?;
            contest.record(batch, (!all.has_failed).then_some(all.batch_ns), all.elapsed_ns);
        }
        let (best, times_ns) = contest.decide();
        Ok(Measured { best, times_ns })
    }

    /// Runs a candidate, as often on all ranks, whatever goes wrong.
    fn run_batch(&self, comm: &Arc<Communicator>, trial: &Operation, batch: Batch) -> (u64, Result<()>) {
        let begun_ns = now_ns();
        let mut failure: Option<Error> = None;
        for _ in 0..batch.runs {
            failure = self.blocking(comm, trial).err().or(failure);
        }
        (now_ns().saturating_sub(begun_ns), failure.map_or(Ok(()), Err))
    }

    /// What all ranks tell, when all have.
    fn beat(&self, comm: &Arc<Communicator>, mine: &Pulse) -> Result<Pulse> {
        let all = exchange(self, comm, mine)?;
        let all = all.local.into_iter().chain(all.remote).reduce(Pulse::and);
        Ok(all.expect("this rank is one of them"))
    }
}

/// An operation on stand-ins, which ranks run while they prepare another one.
fn trial(operation: &Operation, stand_in: &StandIn, number: u32, candidate: &Program) -> Operation {
    let program = Program::new(oxmpi_plan::Plan::clone(candidate), Call::trial(number));
    Operation {
        case: Case::NONE,
        irregular: Some(Box::new(Irregular::Made(Arc::new(program)))),
        binding: stand_in.bind(operation),
        signature: None,
    }
}

impl Pulse {
    /// What two ranks tell together.
    fn and(self, other: Self) -> Self {
        Self {
            candidates: self.candidates.min(other.candidates),
            has_failed: self.has_failed || other.has_failed,
            batch_ns: self.batch_ns.max(other.batch_ns),
            elapsed_ns: self.elapsed_ns.max(other.elapsed_ns),
        }
    }
}

impl Record for Pulse {
    const BYTES: usize = 24;
    const CALL: Call = Call::PREPARATION;

    fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.candidates.to_ne_bytes());
        into.extend_from_slice(&u32::from(self.has_failed).to_ne_bytes());
        into.extend_from_slice(&self.batch_ns.to_ne_bytes());
        into.extend_from_slice(&self.elapsed_ns.to_ne_bytes());
    }

    fn read(from: &[u8]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(from[at..at + 8].try_into().expect("8 bytes"));
        let half = |at: usize| u32::from_ne_bytes(from[at..at + 4].try_into().expect("4 bytes"));
        Self { candidates: half(0), has_failed: half(4) != 0, batch_ns: word(8), elapsed_ns: word(16) }
    }
}
