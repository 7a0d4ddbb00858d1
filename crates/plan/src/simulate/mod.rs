//! What an algorithm takes, found out by walking the plans of all ranks under the model of a [`Machine`].
//!
//! The model has two levels, each in the manner of LogGP (latency, overhead, gap, gap per byte). Inside a node a post
//! is seen a hop later, whose length depends on where the two cores lie; who pulls pays for the line and its bytes,
//! and readers of one line wait for each other. Between nodes a message costs the cores of both ends an overhead,
//! occupies the ports of both nodes for a gap and for its bytes, and takes the latency in between; ranks of a node
//! share its port. Where a node has fewer cores than ranks, these take turns: who waits leaves the core to the next one
//! that can go on. Everybody begins at once. What a rank waits for decides the *critical path*.
//!
//! There are two ways. *Exactly*, every rank is walked, by a queue of events: plans are kept as 16 bytes an action, and
//! up to [`ACTIONS`] are walked at all. *Folded*, the ranks of one node stand for those of all: right where plans look
//! the same from every node, because then all nodes do the same at the same time. So the rings of a million ranks are
//! walked in seconds, too. What is neither short nor folds is [`ErrorClass::Other`].

mod fold;
mod goal;
mod program;
mod turns;
mod world;

#[cfg(test)]
mod tests;

use oxmpi_base::{Error, ErrorClass, Result};

use crate::prices::Prices;
use crate::{Algorithm, Cost, Machine, Shape};
use fold::Fold;
pub use goal::goal;
use program::Programs;
use world::World;

/// What a simulation has found.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulation {
    /// When the last rank is done, told apart by what that is spent on along the critical path.
    pub cost: Cost,
    /// The critical path from its end: each rank, and when what the next one waited for left it.
    pub path: Vec<Stop>,
    /// Actions that were walked.
    pub actions: u64,
    /// Nanoseconds of a run in a loop, of those in its middle; 0 of a single one.
    pub(crate) pace_ns: f64,
    /// Ranks that were walked: all, or those of one node that stand for the others.
    pub walked_ranks: u32,
}

/// A rank on the critical path.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stop {
    /// Which; where ranks were folded, one of those that do the same.
    pub rank: u32,
    /// When it posted, or had sent, what the next stop waited for; when it was done, at the end of the path.
    pub at_ns: f64,
}

/// The most actions that are walked.
pub const ACTIONS: u64 = 200_000_000;

/// Up to so many actions everything is walked exactly.
const FEW_ACTIONS: u64 = 4_000_000;

/// Walks the plans of all ranks, none of which works in place, for as long as `may_go_on` says, which is told now and
/// then at what time the walk is, in nanoseconds.
///
/// # Errors
/// [`ErrorClass::Other`] if that are too many actions, or it may not go on; [`ErrorClass::Arg`] between two groups.
pub fn simulate(
    shape: &Shape,
    algorithm: &Algorithm,
    machine: &Machine,
    may_go_on: &dyn Fn(f64) -> bool,
) -> Result<Simulation> {
    if shape.is_between() {
        return Err(Error::new(ErrorClass::Arg, "only collectives of one group can be simulated"));
    }
    let expected = Programs::expected_actions(shape, algorithm);
    if expected > FEW_ACTIONS
        && let Some(fold) = Fold::of(shape, algorithm)
        && let Some(simulation) = walk(shape, algorithm, machine, fold, may_go_on)?
    {
        return Ok(simulation);
    }
    if expected > 2 * ACTIONS {
        return Err(too_long(algorithm, expected));
    }
    let walked = walk(shape, algorithm, machine, Fold::none(shape.ranks), may_go_on)?;
    Ok(walked.expect("plans that are verified do not deadlock"))
}

/// Nanoseconds of a run in a loop, in which each rank begins the next run as soon as it has ended one: ranks that wait
/// for nobody run ahead, and others find what they want there already. For as long as `may_go_on` says.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_loop(
    shape: &Shape,
    algorithm: &Algorithm,
    machine: &Machine,
    may_go_on: &dyn Fn(f64) -> bool,
) -> Result<f64> {
    let expected = LOOP as u64 * Programs::expected_actions(shape, algorithm);
    if shape.is_between() || expected > ACTIONS {
        return Err(too_long(algorithm, expected));
    }
    let programs = Programs::of(shape, algorithm, shape.ranks, may_go_on)?;
    let world = World::new(shape, Prices::of(shape, machine), Fold::none(shape.ranks), programs, LOOP);
    let walked = world.run(may_go_on)?.expect("plans that are verified do not deadlock");
    Ok(walked.pace_ns)
}

/// A rank is at most so many runs ahead of another one: so many runs of the world, or of a persistent operation,
/// can be under way.
const AHEAD: usize = 63;

/// Runs of a loop. Those in its middle tell the pace, where ranks are as far ahead as they can be, at the end of it as
/// much as at its beginning: what is done ahead is left undone in the same time.
const LOOP: usize = 6 * AHEAD;
const MIDDLE: std::ops::Range<usize> = 2 * AHEAD..5 * AHEAD;

/// `None` if somebody waits for ever, which folding could bring about.
fn walk(
    shape: &Shape,
    algorithm: &Algorithm,
    machine: &Machine,
    fold: Fold,
    may_go_on: &dyn Fn(f64) -> bool,
) -> Result<Option<Simulation>> {
    let programs = Programs::of(shape, algorithm, fold.walked, may_go_on)?;
    World::new(shape, Prices::of(shape, machine), fold, programs, 1).run(may_go_on)
}

fn given_up() -> Error {
    Error::new(ErrorClass::Other, "the simulation takes too long, and was given up")
}

fn too_long(algorithm: &Algorithm, actions: u64) -> Error {
    let text = format!(
        "{} takes about {actions} actions, and differently on each node: up to {ACTIONS} are walked",
        algorithm.name()
    );
    Error::new(ErrorClass::Other, text)
}
