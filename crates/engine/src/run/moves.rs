//! What the steps of a short plan come to, found out once: which piece of which buffer goes where.
//!
//! A plan of one segment goes through its steps once, and where its buffers are dense each of them is a copy of bytes
//! at a place that the plan knows: into a line, out of one, or from one buffer to another. To find out, in each call
//! with 8 bytes, which segment it is, how much of it there is and in which kind of memory, was most of the work. What
//! is longer than a line, and whatever else there is, is done as the plan says.

use oxmpi_mem::Region;
use oxmpi_plan::{Action, Buf, Peer, Plan, Span, Take};
use oxmpi_shm::fault::{Point, reach};

use super::posting::is_inline;
use super::pulling::Look;
use super::{Means, Run};

/// What is to be done for a step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    /// What a peer has posted is combined with a piece.
    Combine { of: Theirs, with: Piece, into: Piece, is_left: bool },
    /// A copy.
    Copy { from: Piece, into: Piece },
    /// What the plan says.
    Planned,
    /// A piece is posted in a line.
    Post { line: u8, from: Piece },
    /// What a peer has posted is taken; if there are no bytes, it is only waited for.
    Pull { of: Theirs, into: Piece },
}

/// What has come of a move.
pub(super) enum Made {
    /// It is made.
    All,
    /// It must wait.
    NotYet,
    /// There is nothing to make it of, or to go on with.
    Nothing,
}

/// What a peer has posted in a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theirs {
    pub(super) peer: Peer,
    pub(super) line: u8,
    pub(super) skip: u8,
}

/// A part of a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    buf: Buf,
    offset: usize,
    bytes: usize,
}

/// The buffers of a run, all of which are dense.
pub(super) struct Buffers {
    pub(super) send: Region,
    pub(super) recv: Region,
    pub(super) scratch: Region,
}

/// Those of a plan, if it goes through its steps once, and it saves something to have them.
pub(crate) fn of_plan(plan: &Plan) -> Option<Box<[Move]>> {
    if plan.segments != 1 || plan.iterations() != 1 {
        return None;
    }
    let moves: Box<[Move]> = plan.steps.iter().map(|step| of_action(&step.action, plan)).collect();
    let are_planned = plan.steps.iter().any(|step| !step.after.is_empty())
        || moves.iter().all(|what| matches!(what, Move::Planned));
    (!are_planned).then_some(moves)
}

/// Whether nothing is left to be done as the plan says.
pub(crate) fn are_all(moves: &[Move]) -> bool {
    !moves.iter().any(|what| matches!(what, Move::Planned))
}

fn of_action(action: &Action, plan: &Plan) -> Move {
    let is_short = |line: u8| is_inline(&plan.lines[usize::from(line)], plan);
    match *action {
        Action::Post { line, from } if is_short(line) => Move::Post { line, from: Piece::of(&from) },
        Action::Pull { peer, line, skip, into, take } if is_short(line) => {
            let into = Piece::of(&into);
            // Of nothing, what is skipped may be beyond the line.
            let Ok(skip) = u8::try_from(if into.bytes == 0 { 0 } else { skip }) else { return Move::Planned };
            let of = Theirs { peer, line, skip };
            match take {
                Take::Copy => Move::Pull { of, into },
                _ if into.bytes == 0 => Move::Pull { of, into },
                Take::Left { right } => Move::Combine { of, with: Piece::of(&right), into, is_left: true },
                Take::Right { left } => Move::Combine { of, with: Piece::of(&left), into, is_left: false },
            }
        }
        Action::Copy { from, into } => Move::Copy { from: Piece::of(&from), into: Piece::of(&into) },
        _ => Move::Planned,
    }
}

impl Piece {
    /// A span, in the only segment.
    fn of(span: &Span) -> Self {
        let (offset, bytes) = span.at(0);
        Self { buf: span.buf, offset: offset as usize, bytes: bytes as usize }
    }
}

impl Buffers {
    #[inline(always)]
    pub(super) fn part(&self, piece: &Piece) -> Region {
        if piece.bytes == 0 {
            return Region::EMPTY;
        }
        let whole = match piece.buf {
            Buf::Send => &self.send,
            Buf::Recv => &self.recv,
            Buf::Scratch => &self.scratch,
        };
        whole.part(piece.offset, piece.bytes)
    }
}

impl Run {
    /// Does what can be done now of a plan that has moves, if the buffers are dense: whether that was all.
    #[inline(always)]
    pub(super) fn make_moves(&mut self, means: &mut Means<'_>) -> Option<bool> {
        let moves = means.plan.moves().filter(|_| !self.is_spoilt)?;
        let (send, recv) = (means.binding.send.as_dense()?, means.binding.recv.as_dense()?);
        let buffers = Buffers { send, recv, scratch: *self.scratch };
        while let Some(next) = moves.get(self.step) {
            match self.make(next, &buffers, means) {
                Made::All => self.step += 1,
                Made::NotYet => return Some(false),
                Made::Nothing => {
                    self.step += 1;
                    return None; // what is left is not as planned
                }
            }
        }
        Some(true)
    }

    /// One move.
    #[inline(always)]
    fn make(&mut self, next: &Move, buffers: &Buffers, means: &mut Means<'_>) -> Made {
        match next {
            Move::Post { line, from } => {
                if !self.post_inline(*line, 0, &buffers.part(from), means) {
                    return Made::NotYet;
                }
            }
            Move::Pull { of, into } => match self.look(of.peer, of.line, 0, means) {
                Look::NotYet => return Made::NotYet,
                Look::Nothing => return Made::Nothing,
                Look::There(line) => {
                    reach(Point::InCopy);
                    buffers.part(into).copy_from(&line.payload().part(usize::from(of.skip), into.bytes));
                }
            },
            Move::Combine { of, with, into, is_left } => match self.look(of.peer, of.line, 0, means) {
                Look::NotYet => return Made::NotYet,
                Look::Nothing => return Made::Nothing,
                Look::There(line) => {
                    reach(Point::InCopy);
                    let posted = line.payload().part(usize::from(of.skip), into.bytes);
                    let (with, into) = (buffers.part(with), buffers.part(into));
                    let (left, right) = if *is_left { (posted, with) } else { (with, posted) };
                    means.binding.reducer().combine(&left, &right, &into);
                }
            },
            Move::Copy { from, into } => buffers.part(into).copy_from(&buffers.part(from)),
            Move::Planned => return self.perform_planned(means),
        }
        Made::All
    }

    #[inline(never)]
    fn perform_planned(&mut self, means: &mut Means<'_>) -> Made {
        let plan = means.plan;
        match self.perform(&plan.steps[self.step], means) {
            false => Made::NotYet,
            true if self.is_spoilt => Made::Nothing,
            true => Made::All,
        }
    }
}
