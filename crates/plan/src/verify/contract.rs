//! What the standard says of buffers: their sizes, what stands in them before a collective, and what must
//! stand in them after it.

use super::value::{Piece, list};
use super::{Flaw, FlawKind};
use crate::peers::groups::counted_through;
use crate::{Buf, Collective, Peer, Shape};

/// A collective's promises.
pub(super) struct Contract {
    /// What each rank gives and gets; of two groups, the second one's ranks follow the first one's.
    pub(super) parts: Vec<Part>,
    /// Ranks of the first group, or of the only one.
    pub(super) first_group: u32,
    /// Bytes of an element; reductions never cut one.
    pub(super) unit: u64,
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
    /// Everybody; see [`Shape::synchronizes`].
    All,
    /// All ranks of the group that it is not in.
    Groups,
    /// Nobody.
    Nobody,
}

/// One rank's part.
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
#[derive(Clone, Copy)]
pub(super) struct Alias {
    /// The part.
    pub(super) buf: Buf,
    /// The whole.
    pub(super) of: Buf,
    /// Where the part begins in the whole.
    pub(super) offset: u64,
}

/// What a range of the receive buffer must hold.
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
    /// The contract of a shape, `in_place[r]` saying whether rank `r` works in place.
    pub(super) fn of(shape: &Shape, in_place: &[bool]) -> Self {
        Self {
            parts: (0..shape.ranks).zip(in_place).map(|(rank, &flag)| part(shape, rank, flag)).collect(),
            first_group: shape.ranks,
            unit: u64::from(shape.unit.max(1)),
            commutative: shape.commutative,
            synchronizes: if shape.synchronizes() { Synchronizes::All } else { Synchronizes::Nobody },
            has_equal_results: shape.collective == Collective::Allreduce,
        }
    }

    /// The group of a rank: 0 or 1.
    pub(super) fn group(&self, rank: u32) -> usize {
        usize::from(rank >= self.first_group)
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

fn part(shape: &Shape, rank: u32, in_place: bool) -> Part {
    let (block, total) = (shape.bytes, shape.total_bytes());
    let at_root = |bytes| if rank == shape.root() { bytes } else { 0 };
    let (send_bytes, recv_bytes) = match shape.collective {
        Collective::Allgather => (block, total),
        Collective::Allreduce => (block, block),
        Collective::Alltoall => (total, total),
        Collective::Barrier => (0, 0),
        Collective::Bcast { .. } => (0, block),
        Collective::Gather { .. } => (block, at_root(total)),
        Collective::Reduce { .. } => (block, at_root(block)),
        Collective::Scatter { .. } => (at_root(total), block),
    };
    let input = match shape.collective {
        Collective::Bcast { root } if rank == root => Buf::Recv,
        _ => Buf::Send,
    };
    let alias = in_place.then(|| alias(shape, rank)).flatten();
    Part { send_bytes, recv_bytes, input, alias, result: result(shape, rank) }
}

/// In place: which buffer is part of which.
fn alias(shape: &Shape, rank: u32) -> Option<Alias> {
    let own = shape.block(Buf::Recv, rank).offset;
    let send_in_recv = |offset| Some(Alias { buf: Buf::Send, of: Buf::Recv, offset });
    match shape.collective {
        Collective::Allgather => send_in_recv(own),
        Collective::Allreduce | Collective::Alltoall => send_in_recv(0),
        Collective::Gather { root } if rank == root => send_in_recv(own),
        Collective::Reduce { root } if rank == root => send_in_recv(0),
        Collective::Scatter { root } if rank == root => {
            Some(Alias { buf: Buf::Recv, of: Buf::Send, offset: own })
        }
        _ => None,
    }
}

/// What must stand in the receive buffer of `rank`.
fn result(shape: &Shape, rank: u32) -> Vec<Expected> {
    let expected = |begin, origin, ranks| Expected { begin, bytes: shape.bytes, origin, ranks };
    let all = u128::MAX >> (128 - shape.ranks);
    let own = shape.block(Buf::Send, rank).offset;
    let from_all = |origin| {
        let block = |peer| expected(shape.block(Buf::Recv, peer).offset, origin, 1 << peer);
        (0..shape.ranks).map(block).collect()
    };
    match shape.collective {
        Collective::Allgather => from_all(0),
        Collective::Allreduce => vec![expected(0, 0, all)],
        Collective::Alltoall => from_all(own),
        Collective::Barrier => Vec::new(),
        Collective::Bcast { root } => vec![expected(0, 0, 1 << root)],
        Collective::Gather { root } if rank == root => from_all(0),
        Collective::Reduce { root } if rank == root => vec![expected(0, 0, all)],
        Collective::Gather { .. } | Collective::Reduce { .. } => Vec::new(),
        Collective::Scatter { root } => vec![expected(0, own, 1 << root)],
    }
}
