//! A collective between two groups seen from outside: what tools and the verifier start from.

use std::ops::Range;

use crate::inter::Groups;
use crate::prices::greatest_common_divisor;
use crate::{Algorithm, Collective, Holds, Nodes, Plan, Root, Shape};

/// A collective of two groups, whose ranks are counted through: those of the second group follow those of the
/// first.
#[derive(Clone, Copy, Debug)]
pub struct Overview {
    /// What is done.
    pub collective: Collective,
    /// The root, counted through; 0 where there is none.
    pub root: u32,
    /// Ranks of the first group; at least 1.
    pub first: u32,
    /// Ranks of the second group; at least 1.
    pub second: u32,
    /// Packed bytes of the vector, or of a block that a rank of the first group sends, and of the second. They
    /// differ in an allgather or alltoall at most, and where both cut a vector of one length.
    pub bytes: [u64; 2],
    /// As in [`Shape`].
    pub unit: u32,
    /// As in [`Shape`].
    pub nodes: Nodes,
}

impl Overview {
    /// The same with `bytes` bytes in each direction. Of a vector that both groups cut into blocks for their ranks,
    /// these are the bytes of the whole, rounded up to what both can cut.
    #[must_use]
    pub fn with_bytes(self, bytes: u64) -> Self {
        let info = self.collective.info();
        if !info.is_reduction() || info.send.holds == Holds::One {
            return Self { bytes: [bytes; 2], ..self };
        }
        let (first, second) = (u64::from(self.first), u64::from(self.second));
        let shared = greatest_common_divisor(self.first, self.second).max(1);
        let both = first * second / u64::from(shared) * u64::from(self.unit.max(1));
        let total = bytes.next_multiple_of(both);
        Self { bytes: [total / second, total / first], ..self }
    }

    /// Ranks of both groups.
    pub fn ranks(&self) -> u32 {
        self.first + self.second
    }

    /// The ranks of the group of `rank`.
    pub(crate) fn fellows(&self, rank: u32) -> Range<u32> {
        if rank < self.first { 0..self.first } else { self.first..self.ranks() }
    }

    /// The ranks of the group that `rank` is not in.
    pub(crate) fn others(&self, rank: u32) -> Range<u32> {
        if rank < self.first { self.first..self.ranks() } else { 0..self.first }
    }

    /// What a rank of the group of `rank` sends.
    pub(crate) fn sent(&self, rank: u32) -> u64 {
        self.bytes[usize::from(rank >= self.first)]
    }

    /// What a rank of the other group than that of `rank` sends.
    pub(crate) fn received(&self, rank: u32) -> u64 {
        self.bytes[usize::from(rank < self.first)]
    }

    /// The groups as `rank` sees them.
    pub fn groups(&self, rank: u32) -> Groups {
        let (fellows, others) = (self.fellows(rank), self.others(rank));
        Groups { rank: rank - fellows.start, local: fellows.len() as u32, remote: others.len() as u32 }
    }

    /// The root as `rank` sees it.
    pub fn root_of(&self, rank: u32) -> Root {
        let root = self.root;
        if rank == root {
            Root::Here
        } else if self.fellows(rank).contains(&root) {
            Root::Beside
        } else {
            Root::Rank(root - self.others(rank).start)
        }
    }

    /// The shape as `rank` sees it. Beside the root there are no lengths.
    pub fn shape(&self, rank: u32) -> Shape {
        let groups = self.groups(rank);
        let shape = Shape {
            remote_ranks: groups.remote,
            received: self.received(rank),
            unit: self.unit,
            nodes: self.nodes,
            ..Shape::of(self.collective, groups.local, self.sent(rank))
        };
        if self.collective.info().is_rooted() { shape.rooted(self.root_of(rank)) } else { shape }
    }

    /// The part of `rank` by an algorithm for the shape.
    ///
    /// # Panics
    /// As [`Algorithm::plan`].
    pub fn plan(&self, algorithm: &Algorithm, rank: u32) -> Plan {
        algorithm.plan(&self.shape(rank), self.groups(rank).rank, false)
    }
}
