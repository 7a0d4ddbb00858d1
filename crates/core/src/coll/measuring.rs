//! Trying all algorithms of a persistent collective before its initialisation returns.
//!
//! Each runs as it would if it were bound: as a persistent operation on a channel of its own, with memory that stands
//! in for the program's. The channel of the best one becomes the operation's, with what it has learned of its readers.
//! After each batch of runs all ranks tell each other how long it took, on the communicator's channel: so they begin
//! the next together, and know the same when they decide (see `contest`). Other operations of the process go on
//! meanwhile, as in any call that waits.
//! MPI-5.0: Collective Communication, Persistent Collective Operations, which lets initialisation synchronise.

use std::sync::Arc;

use oxmpi_base::{Error, Result};
use oxmpi_engine::machine::now_ns;
use oxmpi_engine::{Binding, Call, ChannelKey, Lifetime, Program};

use super::contest::{Batch, Contest};
use super::exchange::exchange;
use super::operation::Operation;
use super::stand_in::StandIn;
use crate::comm::Communicator;
use crate::process::{Process, State};
use crate::record::Record;
use crate::request::RequestKey;

/// What came of trying.
#[derive(Debug)]
pub(super) struct Measured {
    /// The place of the best among the candidates: the same on all ranks, also on those that have no others.
    pub best: usize,
    /// Nanoseconds of a run of each that was tried, as far as they are known.
    pub times_ns: Vec<Option<f64>>,
    /// The channel of the best one.
    pub channel: ChannelKey,
}

/// What a rank tells between two batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pulse {
    /// Algorithms that it could try, or can; [`UNKNOWN`] beside a root.
    candidates: u32,
    has_failed: bool,
    batch_ns: u64,
    elapsed_ns: u64,
}

/// A rank that knows nothing of the others' algorithms.
const UNKNOWN: u32 = u32::MAX;

impl Process {
    /// Tries this rank's `candidates`, which are the same algorithms on all ranks, the first of them on `channel`.
    /// Collective.
    ///
    /// # Errors
    /// Those of telling each other; `channel` is still there.
    pub(super) fn measure(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        candidates: &[Arc<Program>],
        channel: ChannelKey,
    ) -> Result<Measured> {
        let is_user = operation.binding.reducer.as_ref().is_some_and(|reducer| reducer.is_user());
        let scratch_bytes = candidates.iter().map(|candidate| candidate.scratch_bytes);
        let stand_in =
            if is_user { None } else { StandIn::take(self.enter().pool(), operation, scratch_bytes) };
        let candidates = if stand_in.is_some() { candidates } else { &[] };
        let measured = self.try_all(comm, operation, candidates, stand_in.as_ref(), channel);
        stand_in.into_iter().for_each(|stand_in| stand_in.give_back(self.enter().pool()));
        measured
    }

    fn try_all(
        &self,
        comm: &Arc<Communicator>,
        operation: &Operation,
        candidates: &[Arc<Program>],
        stand_in: Option<&StandIn>,
        mut channel: ChannelKey,
    ) -> Result<Measured> {
        let is_unknown = operation.is_beside_root() && !candidates.is_empty();
        let known = if is_unknown { UNKNOWN } else { candidates.len() as u32 };
        let count = match self.beat(comm, &Pulse::of(known))?.candidates {
            UNKNOWN => 0,
            count => count as usize,
        };
        // Who is beside the root does nothing in any of them, as often.
        let candidates = (0..count).map(|place| candidates.get(place).unwrap_or(&candidates[0]));
        let mut trials = Vec::new();
        for (place, candidate) in candidates.enumerate() {
            let own = if place == 0 { Ok(channel) } else { self.open_for(comm, operation, candidate) };
            let binding = stand_in.expect("who has none has told so").bind(operation);
            trials.push(own.map(|own| self.enter().prepare_trial(comm, own, candidate, binding)).ok());
        }
        let decided = self.hold_contest(comm, &trials);
        let best = decided.as_ref().map_or(0, |(best, _)| *best);
        let mut state = self.enter();
        for (place, key) in trials.into_iter().enumerate() {
            match key.and_then(|key| state.take_back_prepared(key)) {
                Some(own) if place == best => channel = own,
                Some(own) => state.engine.leave_channel(own),
                None => {}
            }
        }
        decided.map(|(best, times_ns)| Measured { best, times_ns, channel })
    }

    /// Lets all that could be prepared on all ranks run in turn; the best of them, and how long a run of each takes.
    fn hold_contest(
        &self,
        comm: &Arc<Communicator>,
        trials: &[Option<RequestKey>],
    ) -> Result<(usize, Vec<Option<f64>>)> {
        let begun_ns = now_ns();
        let prepared: Vec<RequestKey> = trials.iter().map_while(|key| *key).collect();
        let mut mine = Pulse::of(prepared.len() as u32);
        let mut contest = Contest::new(self.beat(comm, &mine)?.candidates as usize);
        while let Some(batch) = contest.next() {
            let (took_ns, outcome) = self.run_batch(prepared[batch.candidate], batch);
            (mine.has_failed, mine.batch_ns) = (outcome.is_err(), took_ns);
            mine.elapsed_ns = now_ns().saturating_sub(begun_ns);
            let all = self.beat(comm, &mine)?;
            contest.record(batch, (!all.has_failed).then_some(all.batch_ns), all.elapsed_ns);
        }
        Ok(contest.decide())
    }

    /// Runs a candidate, as often on all ranks, whatever goes wrong.
    fn run_batch(&self, trial: RequestKey, batch: Batch) -> (u64, Result<()>) {
        let begun_ns = now_ns();
        let mut failure: Option<Error> = None;
        for _ in 0..batch.runs {
            let completion = self.start(trial).and_then(|()| self.wait(trial));
            failure = completion.map_or_else(Some, |completion| completion.error).or(failure);
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

impl State {
    /// A request for a candidate on a channel of its own.
    fn prepare_trial(
        &mut self,
        comm: &Arc<Communicator>,
        channel: ChannelKey,
        candidate: &Arc<Program>,
        binding: Binding,
    ) -> RequestKey {
        self.engine.bind(channel, candidate, &binding);
        let run = self.engine.keep(channel, Arc::clone(candidate), binding, Lifetime::Persistent);
        self.add_prepared(run, channel, comm)
    }
}

impl Pulse {
    /// Of a rank that has run nothing yet.
    fn of(candidates: u32) -> Self {
        Self { candidates, has_failed: false, batch_ns: 0, elapsed_ns: 0 }
    }

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
