//! Runs the plans of all ranks symbolically and says what is wrong with them.
//!
//! Bytes stand for themselves: each carries which ranks' contributions it holds, from which run of the plan,
//! and from which place of the contributed vector. Plans are run [`RUNS`] times in a row, ranks skewed as far
//! as the executor lets them, under [`Conditions`] that fix who steps next and whether sends are buffered.
//! What is found:
//!
//! - [`FlawKind::Malformed`]: spans beyond their buffers, unequal lengths, cut elements, lines that differ, more slots
//!   filled than a rank has a budget for;
//! - [`FlawKind::Deadlock`]: nobody can go on; the text says who waits for whom;
//! - [`FlawKind::Race`]: a slot is overwritten, or a buffer with a pending send or receive is touched, and
//!   nothing orders that after the other access;
//! - [`FlawKind::Undefined`]: bytes are read that nobody wrote in this run;
//! - [`FlawKind::Wrong`]: contributions are combined in a forbidden order or twice, a result differs from the
//!   standard's, results differ in their brackets between ranks, the send buffer is modified, or an operation
//!   that synchronizes does not;
//! - [`FlawKind::Leftover`]: a message was never received.
//!
//! Of an intercommunicator the plans of both groups are run together, and the ranks of the second one are
//! counted on from those of the first.
//!
//! Order is judged by vector clocks and so does not depend on the interleaving that happened: which post a
//! pull gets, and which send a receive, is fixed by the plans, hence one run shows the order of all. The
//! interleavings are varied nevertheless.
//!
//! The executor's rule between runs: a rank has lines for [`LINE_SETS`] runs, and posts in run `k` only when
//! every rank has completed run `k - LINE_SETS`. Where [`Shape::synchronizes`] the plans must do without it.

mod buffers;
mod channels;
mod clock;
mod contract;
mod form;
mod lines;
mod memory;
mod pieces;
mod regular;
mod schedule;
#[cfg(test)]
mod tests;
pub(crate) mod value;
mod world;

use std::fmt;

use crate::{Action, Overview, Plan, Shape};

use contract::Contract;
use world::World;

pub use schedule::Schedule;

/// How often the plans are run in a row.
pub const RUNS: u32 = 3;

/// For how many runs each rank has lines.
pub const LINE_SETS: u32 = 2;

/// The most ranks that can be verified.
pub const MAX_RANKS: u32 = 128;

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sends {
    /// As soon as it has begun.
    Buffered,
    /// When the receive that matches it has begun.
    Synchronous,
}

impl Sends {
    /// All of them, but one where nothing is sent.
    fn that_differ(plans: &[Plan]) -> &'static [Self] {
        let sends = |plan: &Plan| plan.steps.iter().any(|step| matches!(step.action, Action::Send { .. }));
        if plans.iter().any(sends) { &[Self::Buffered, Self::Synchronous] } else { &[Self::Synchronous] }
    }
}

/// What the plans do not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// When sends are complete.
    pub sends: Sends,
    /// Which rank steps next.
    pub schedule: Schedule,
}

/// What is wrong with plans.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// The kind of mistake.
    pub kind: FlawKind,
    /// Where it was found, and the values that were wrong.
    pub text: String,
}

/// Kinds of mistakes in plans; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the module documentation lists them")]
pub enum FlawKind {
    Deadlock,
    Leftover,
    Malformed,
    Race,
    Undefined,
    Wrong,
}

impl Flaw {
    fn new(kind: FlawKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// The same flaw, with `place` before the text.
    fn at(mut self, place: impl fmt::Display) -> Self {
        self.text = format!("{place}: {}", self.text);
        self
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.text)
    }
}

impl std::error::Error for Flaw {}

/// Verifies the plans of all ranks, `in_place[r]` saying whether rank `r` works in place, under fair, skewed
/// and random interleavings, with buffered and with synchronous sends.
///
/// # Errors
/// The first flaw found.
pub fn verify(shape: &Shape, in_place: &[bool], plans: &[Plan], seed: u64) -> Result<(), Flaw> {
    let last = shape.ranks - 1;
    let schedules =
        [Schedule::Fair, Schedule::Ahead(shape.root.rank()), Schedule::Behind(last), Schedule::Random(seed)];
    for &sends in Sends::that_differ(plans) {
        for schedule in schedules {
            verify_under(shape, in_place, plans, Conditions { sends, schedule })?;
        }
    }
    Ok(())
}

/// Verifies the plans of all ranks under the given conditions.
///
/// # Errors
/// The first flaw found.
///
/// # Panics
/// If there is not one plan and one flag for each rank, or there are more than [`MAX_RANKS`].
pub fn verify_under(
    shape: &Shape,
    in_place: &[bool],
    plans: &[Plan],
    conditions: Conditions,
) -> Result<(), Flaw> {
    assert!(shape.ranks <= MAX_RANKS, "{} ranks", shape.ranks);
    assert!(plans.len() == shape.ranks as usize && in_place.len() == plans.len(), "one plan for each rank");
    verify_contract(&Contract::of(shape, in_place), plans, conditions)
}

/// Verifies the plans of both groups of an intercommunicator, under the same conditions as [`verify`].
///
/// # Errors
/// The first flaw found.
///
/// # Panics
/// If there is not one plan for each rank, or there are more than [`MAX_RANKS`].
pub fn verify_between(overview: &Overview, plans: &[Plan], seed: u64) -> Result<(), Flaw> {
    let (ranks, second) = (overview.ranks(), overview.first);
    assert!(ranks <= MAX_RANKS, "{ranks} ranks");
    assert!(plans.len() == ranks as usize, "one plan for each rank");
    let contract = Contract::between(overview);
    let schedules = [
        Schedule::Fair,
        Schedule::Ahead(0),
        Schedule::Ahead(second),
        Schedule::Behind(second - 1),
        Schedule::Behind(ranks - 1),
        Schedule::Random(seed),
    ];
    for &sends in Sends::that_differ(plans) {
        for schedule in schedules {
            verify_contract(&contract, plans, Conditions { sends, schedule })?;
        }
    }
    Ok(())
}

/// Verifies the plans of all ranks against `contract`.
fn verify_contract(contract: &Contract, plans: &[Plan], conditions: Conditions) -> Result<(), Flaw> {
    form::check(contract, plans)?;
    let Conditions { sends, schedule } = conditions;
    World::new(contract, plans, sends)
        .and_then(|world| world.run(schedule))
        .map_err(|flaw| flaw.at(format_args!("{sends:?} sends, {schedule:?}")))
}
