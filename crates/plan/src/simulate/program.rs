//! Plans in 16 bytes an action, without loops: what a rank does, in order.

use oxmpi_base::Result;

use super::{ACTIONS, given_up, too_long};
use crate::{Action, Algorithm, MAX_LINES, Peer, Plan, Shape, Span, Take};

/// An action of a rank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Op {
    pub(super) kind: Kind,
    pub(super) line: u8,
    pub(super) peer: u32,
    /// The segment of a post or pull; which of the rank's messages it is, or which is awaited.
    pub(super) number: u32,
    pub(super) bytes: f32,
}

const _: () = assert!(size_of::<Op>() == 16);

/// What an [`Op`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Waits for a message of its own to be sent, or to arrive.
    Await,
    Copy,
    Post,
    Pull,
    PullReduce,
    Receive,
    Reduce,
    Send,
}

/// The actions of the first ranks, each rank's in a range of one list.
pub(super) struct Programs {
    pub(super) ops: Vec<Op>,
    /// Where those of each rank begin, and where the last ones end.
    pub(super) begins: Vec<usize>,
}

impl Programs {
    /// Those of the ranks `0..walked`.
    ///
    /// # Errors
    /// If there are too many, or they may not all be made.
    pub(super) fn of(
        shape: &Shape,
        algorithm: &Algorithm,
        walked: u32,
        may_go_on: &dyn Fn(f64) -> bool,
    ) -> Result<Self> {
        let mut programs = Self { ops: Vec::new(), begins: vec![0] };
        for rank in 0..walked {
            if !may_go_on(0.0) {
                return Err(given_up());
            }
            append(&mut programs.ops, &algorithm.plan(shape, rank, false));
            if programs.ops.len() as u64 > ACTIONS {
                return Err(too_long(algorithm, Self::expected_actions(shape, algorithm)));
            }
            programs.begins.push(programs.ops.len());
        }
        programs.ops.shrink_to_fit();
        Ok(programs)
    }

    /// How often each rank posts on each line.
    pub(super) fn posts(&self) -> Vec<[u32; MAX_LINES]> {
        let count = |range: &[usize]| {
            let mut posts = [0; MAX_LINES];
            for op in self.ops[range[0]..range[1]].iter().filter(|op| op.kind == Kind::Post) {
                posts[usize::from(op.line)] += 1;
            }
            posts
        };
        self.begins.windows(2).map(count).collect()
    }

    /// About how many actions all ranks take together, guessed from a few of them.
    pub(super) fn expected_actions(shape: &Shape, algorithm: &Algorithm) -> u64 {
        let samples = [0, 1, shape.ranks / 3, shape.ranks / 2, shape.ranks - 1];
        let actions = |rank: u32| {
            let plan = algorithm.plan(shape, rank.min(shape.ranks - 1), false);
            plan.steps.len() as u64 * plan.segments
        };
        let sum: u64 = samples.into_iter().map(actions).sum();
        sum * u64::from(shape.ranks) / samples.len() as u64
    }
}

/// Appends the actions of a plan, those of one iteration of its loop after those of another.
pub(super) fn append(ops: &mut Vec<Op>, plan: &Plan) {
    let number = |step: usize, segment: u64| {
        let number = step as u64 * plan.segments + segment;
        u32::try_from(number).expect("a plan has fewer actions than are walked")
    };
    for iteration in 0..plan.iterations() {
        for (index, step) in plan.steps.iter().enumerate() {
            let Some(segment) = iteration.checked_sub(step.delay.into()) else { continue };
            if segment >= plan.segments {
                continue;
            }
            ops.extend(step.after.iter().map(|&awaited| Op {
                kind: Kind::Await,
                line: 0,
                peer: 0,
                number: number(awaited as usize, segment),
                bytes: 0.0,
            }));
            ops.extend(op(plan, &step.action, segment, number(index, segment)));
        }
    }
}

/// An action on one segment; `None` if there is nothing to do.
fn op(plan: &Plan, action: &Action, segment: u64, message: u32) -> Option<Op> {
    let bytes = |span: &Span| span.at(segment).1 as f32;
    let at = u32::try_from(segment).expect("segments are long");
    let local = |kind, bytes| Op { kind, line: 0, peer: 0, number: 0, bytes };
    Some(match action {
        Action::Copy { from, .. } => local(Kind::Copy, bytes(from)),
        Action::Reduce { left, .. } => local(Kind::Reduce, bytes(left)),
        Action::Post { line, from } => {
            Op { kind: Kind::Post, line: *line, peer: 0, number: at, bytes: bytes(from) }
        }
        Action::Pull { peer, line, into, take, .. } => {
            let kind = if matches!(take, Take::Copy) { Kind::Pull } else { Kind::PullReduce };
            Op { kind, line: *line, peer: rank_of(*peer), number: at, bytes: bytes(into) }
        }
        Action::Excerpt { peer, line, begin, into } => {
            let (_, part) = plan.lines[usize::from(*line)].excerpt(*begin, into, segment)?;
            let bytes = part.bytes as f32;
            Op { kind: Kind::Pull, line: *line, peer: rank_of(*peer), number: at, bytes }
        }
        Action::Send { to, from } => {
            Op { kind: Kind::Send, line: 0, peer: rank_of(*to), number: message, bytes: bytes(from) }
        }
        Action::Receive { from, into } => {
            Op { kind: Kind::Receive, line: 0, peer: rank_of(*from), number: message, bytes: bytes(into) }
        }
    })
}

fn rank_of(peer: Peer) -> u32 {
    match peer {
        Peer::Local(rank) => rank,
        Peer::Remote(_) => unreachable!("only collectives of one group are walked"),
    }
}
