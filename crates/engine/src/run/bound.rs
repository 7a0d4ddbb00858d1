//! A short plan that is bound to its lines and its memory: then a Start is a few stores.
//!
//! A run that is kept to be begun again finds each line and each piece of memory where it found it before. Where all
//! that it does are [moves](super::moves) between lines and dense buffers, these places are found once, when it is
//! kept. What is out of the ordinary - no credit, a peer that calls something else - is left to who looks at
//! everything, and goes on at the same step.

use oxmpi_mem::Region;
use oxmpi_plan::Peer;
use oxmpi_shm::fault::{Point, reach};

use super::moves::{Buffers, Made, Move, Theirs};
use super::sequence::is_shown;
use super::{Awaits, Run};
use crate::binding::Binding;
use crate::call::{LAG, most_ahead};
use crate::channel::{Channel, Column};
use crate::p2p::P2p;
use crate::program::Program;
use crate::results::LONG_BYTES;

/// More moves are not bound: the lines of so many ranks take longer than to find them.
const MOST_MOVES: usize = 16;

/// See the module.
#[derive(Debug)]
pub(crate) struct Bound {
    moves: Box<[BoundMove]>,
}

/// As [`Move`], with its places.
#[derive(Debug)]
enum BoundMove {
    Combine { of: Post, with: Region, into: Region, is_left: bool },
    Copy { from: Region, into: Region },
    Post { line: u8, on: Column, from: Region },
    Pull { of: Post, into: Region },
}

/// What a peer posts.
#[derive(Debug)]
struct Post {
    peer: Peer,
    on: Column,
    skip: usize,
}

impl Bound {
    /// What is to be kept beside runs of a plan that are begun again and again, if it is short, and all it does is done
    /// in lines.
    pub(crate) fn of(plan: &Program, binding: &Binding, channel: &Channel) -> Option<Box<Self>> {
        let moves = plan.moves().filter(|moves| moves.len() <= MOST_MOVES)?;
        if !plan.is_plain() || binding.images.is_some() || binding.recv.bytes() >= LONG_BYTES {
            return None;
        }
        let (send, recv) = (binding.send.as_dense()?, binding.recv.as_dense()?);
        let buffers = Buffers { send, recv, scratch: Region::EMPTY };
        let post = |of: &Theirs| {
            Some(Post { peer: of.peer, on: channel.column(of.peer, of.line)?, skip: of.skip.into() })
        };
        let bound = |next: &Move| {
            Some(match next {
                Move::Combine { of, with, into, is_left } => BoundMove::Combine {
                    of: post(of)?,
                    with: buffers.part(with),
                    into: buffers.part(into),
                    is_left: *is_left,
                },
                Move::Copy { from, into } => {
                    BoundMove::Copy { from: buffers.part(from), into: buffers.part(into) }
                }
                Move::Planned => return None,
                Move::Post { line, from } => {
                    let on = channel.column(Peer::Local(channel.rank()), *line)?;
                    BoundMove::Post { line: *line, on, from: buffers.part(from) }
                }
                Move::Pull { of, into } => BoundMove::Pull { of: post(of)?, into: buffers.part(into) },
            })
        };
        let moves = moves.iter().map(bound).collect::<Option<_>>()?;
        Some(Box::new(Self { moves }))
    }
}

impl Run {
    /// Begins the next run of what is bound and has been begun before.
    #[inline]
    pub(crate) fn begin_bound(&mut self, channel: &mut Channel) {
        self.turn = channel.begin_again();
        (self.iteration, self.step, self.awaits, self.finished) = (0, 0, None, false);
    }

    /// Whether this was begun before, so that it is known what it tells the others.
    #[inline]
    pub(crate) fn has_begun(&self) -> bool {
        self.word != 0
    }

    /// Does what can be done now of a run that is not over: whether that was all, or nothing if what comes next is out
    /// of the ordinary.
    #[inline(always)]
    pub(crate) fn make_bound_moves(
        &mut self,
        bound: &Bound,
        binding: &Binding,
        channel: &mut Channel,
        p2p: &P2p,
    ) -> Option<bool> {
        if self.failure.is_some() {
            return None;
        }
        while let Some(next) = bound.moves.get(self.step) {
            match self.make_bound(next, binding, channel, p2p) {
                Made::All => self.step += 1,
                Made::NotYet => return Some(false),
                Made::Nothing => return None,
            }
        }
        self.finished = true;
        channel.complete(self.turn.number, p2p);
        Some(true)
    }

    #[inline(always)]
    fn make_bound(&mut self, next: &BoundMove, binding: &Binding, channel: &mut Channel, p2p: &P2p) -> Made {
        match next {
            BoundMove::Post { line, on, from } => {
                if !channel.has_credit(self.turn.number, *line) {
                    return Made::Nothing;
                }
                debug_assert_eq!(
                    channel.completed(),
                    self.turn.number,
                    "the operation has one run at a time"
                );
                reach(Point::BeforePost);
                on.of(self.turn).post(self.sequence(0), self.word, from);
                reach(Point::BeforeRing);
                channel.wake_members(&p2p.peers);
            }
            BoundMove::Pull { of, into } => match self.look_bound(of, into.len(), channel) {
                Ok(posted) => into.copy_from(&posted),
                Err(made) => return made,
            },
            BoundMove::Combine { of, with, into, is_left } => {
                match self.look_bound(of, into.len(), channel) {
                    Ok(posted) if *is_left => binding.reducer().combine(&posted, with, into),
                    Ok(posted) => binding.reducer().combine(with, &posted, into),
                    Err(made) => return made,
                }
            }
            BoundMove::Copy { from, into } => into.copy_from(from),
        }
        Made::All
    }

    /// What a peer has posted, or what has come of the move that needs it.
    #[inline(always)]
    fn look_bound(&mut self, of: &Post, bytes: usize, channel: &mut Channel) -> Result<Region, Made> {
        let (line, sequence) = (of.on.of(self.turn), self.sequence(0));
        if !is_shown(line, sequence) {
            if channel.is_stranger(self.turn.number, of.peer) {
                return Err(Made::Nothing);
            }
            self.awaits = Some(Awaits { line, sequence });
            return Err(Made::NotYet);
        }
        let note = line.note();
        if note | LAG != self.expected | LAG {
            return Err(Made::Nothing);
        }
        channel.note_completed(of.peer, self.turn.number.saturating_sub(most_ahead(note)));
        reach(Point::InCopy);
        Ok(line.payload().part(of.skip, bytes))
    }
}
