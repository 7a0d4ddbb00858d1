//! What the standard says of buffers: their sizes, what stands in them before a collective, and what must
//! stand in them after it.

use super::value::{Piece, list};
use super::{Flaw, FlawKind};
use crate::peers::groups::counted_through;
use crate::{Buf, Nodes, Peer};

/// A collective's promises.
pub(super) struct Contract {
    /// What each rank gives and gets; of two groups, the second one's ranks follow the first one's.
    pub(super) parts: Vec<Part>,
    /// Ranks of the first group, or of the only one.
    pub(super) first_group: u32,
    /// Bytes of an element; reductions never cut one.
    pub(super) unit: u64,
    /// Which ranks share memory; between two groups all do.
    pub(super) nodes: Nodes,
    /// Whether contributions may be combined in another order than that of the ranks.
    pub(super) commutative: bool,
    /// Whom a rank that is through knows to have begun.
    pub(super) synchronizes: Synchronizes,
    /// Whether all ranks of a group must get the same bits, so that brackets must be equal.
    pub(super) has_equal_results: bool,
}

/// Whom a rank that has completed a run knows to have begun it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Synchronizes {
    /// Everybody; see [`Shape::synchronizes`](crate::Shape::synchronizes).
    All,
    /// All ranks of the group that it is not in.
    Groups,
    /// Nobody.
    Nobody,
}

/// One rank's part.
#[derive(PartialEq, Eq)]
pub(super) struct Part {
    /// Bytes of the send buffer.
    pub(super) send_bytes: u64,
    /// Bytes of the receive buffer.
    pub(super) recv_bytes: u64,
    /// The buffer that this rank's contribution stands in.
    pub(super) input: Buf,
    /// In place, which buffer is a part of another one.
    pub(super) alias: Option<Alias>,
    /// What the receive buffer must hold.
    pub(super) result: Vec<Expected>,
}

/// One buffer is a part of another one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Alias {
    /// The part.
    pub(super) buf: Buf,
    /// The whole.
    pub(super) of: Buf,
    /// Where the part begins in the whole.
    pub(super) offset: u64,
}

/// What a range of the receive buffer must hold.
#[derive(PartialEq, Eq)]
pub(super) struct Expected {
    /// The first byte.
    pub(super) begin: u64,
    /// How many.
    pub(super) bytes: u64,
    /// The place of the first byte in the contributed vectors.
    pub(super) origin: u64,
    /// Whose contributions; bit `r` for rank `r`.
    pub(super) ranks: u128,
}

impl Contract {
    /// The group of a rank: 0 or 1.
    pub(super) fn group(&self, rank: u32) -> usize {
        usize::from(rank >= self.first_group)
    }

    /// The node of a rank.
    pub(super) fn node(&self, rank: u32) -> usize {
        self.nodes.node_of(rank) as usize
    }

    /// Whether two ranks can see each other's lines.
    pub(super) fn shares(&self, a: u32, b: u32) -> bool {
        self.nodes.shares(a, b)
    }

    /// Whom `rank` means by `peer`.
    ///
    /// # Errors
    /// [`FlawKind::Malformed`] if there is no such rank.
    pub(super) fn resolve(&self, rank: u32, peer: Peer) -> Result<u32, Flaw> {
        counted_through(self.first_group, self.parts.len() as u32, rank, peer)
            .ok_or_else(|| Flaw::new(FlawKind::Malformed, format!("there is no rank {peer}")))
    }
}

impl Expected {
    /// Checks a piece of the receive buffer that lies in this range.
    ///
    /// # Errors
    /// [`FlawKind::Wrong`] if it is not what this rank should have.
    pub(super) fn check(&self, found: &Piece, run: u32) -> Result<(), Flaw> {
        let origin = self.origin + (found.begin - self.begin);
        let value = found.value;
        if found.origin == origin && value.run == run && value.ranks == self.ranks {
            return Ok(());
        }
        let place = format!("the result's bytes {}..{}", found.begin, found.end);
        let is = format!("bytes {}.. of ranks {} of run {}", found.origin, list(value.ranks), value.run);
        let should_be = format!("bytes {origin}.. of ranks {} of run {run}", list(self.ranks));
        Err(Flaw::new(FlawKind::Wrong, format!("{place} are {is}, and should be {should_be}")))
    }
}
