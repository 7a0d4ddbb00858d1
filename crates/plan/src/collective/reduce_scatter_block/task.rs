//! What a reduce-scatter works on: a vector that consists of a block for each rank.

use crate::build::Builder;
use crate::prices::Prices;
use crate::segment::Segments;
use crate::shape::shares_memory;
use crate::{Buf, Cost, Nodes, Plan, Shape, Span};

/// A reduce-scatter with blocks of any lengths.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// Where the block of each rank of this rank's group begins, and where the last one ends.
    begins: Vec<u64>,
    /// Ranks of the remote group, which combines for this one; 0 within one group.
    pub(super) remote_ranks: u32,
    /// As in [`Shape`].
    pub(super) unit: u32,
    /// As in [`Shape`].
    pub(super) commutative: bool,
    /// As in [`Shape`].
    pub(super) nodes: Nodes,
}

/// One way to carry it out: what an [`Algorithm`](crate::Algorithm) is, for a [`Task`].
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) admits: fn(&Task) -> bool,
    /// `None` where the order of the list is that of preference.
    pub(super) cost: Option<fn(&Task, &Prices<'_>) -> Cost>,
    pub(super) plan: fn(&Task, u32, bool) -> Plan,
}

impl Task {
    /// Blocks of these lengths.
    pub(super) fn new(
        lengths: impl Iterator<Item = u64>,
        remote_ranks: u32,
        unit: u32,
        commutative: bool,
        nodes: Nodes,
    ) -> Self {
        let mut end = 0;
        let ends = lengths.map(|bytes| {
            end += bytes;
            end
        });
        let begins = std::iter::once(0).chain(ends).collect();
        Self { begins, remote_ranks, unit, commutative, nodes }
    }

    /// Blocks of equal lengths. Between two groups this rank's gets those that the other one sends.
    pub(super) fn of(shape: &Shape) -> Self {
        let &Shape { ranks, remote_ranks, unit, commutative, nodes, .. } = shape;
        let block = if shape.is_between() { shape.received } else { shape.bytes };
        Self::new((0..ranks).map(|_| block), remote_ranks, unit, commutative, nodes)
    }

    /// As [`Shape::shares_memory`].
    pub(super) fn shares_memory(&self) -> bool {
        shares_memory(self.nodes, self.ranks(), self.remote_ranks)
    }

    /// Ranks of this rank's group.
    pub(super) fn ranks(&self) -> u32 {
        self.begins.len() as u32 - 1
    }

    /// Bytes of the vector.
    pub(super) fn total(&self) -> u64 {
        self.begins[self.begins.len() - 1]
    }

    /// Where the block of `rank` begins.
    pub(super) fn begin(&self, rank: u32) -> u64 {
        self.begins[rank as usize]
    }

    /// Bytes of the block of `rank`.
    pub(super) fn bytes(&self, rank: u32) -> u64 {
        self.begins[rank as usize + 1] - self.begins[rank as usize]
    }

    /// Bytes of the longest block.
    pub(super) fn longest(&self) -> u64 {
        (0..self.ranks()).map(|rank| self.bytes(rank)).max().unwrap_or(0)
    }

    /// The block of `rank` in a vector.
    pub(super) fn block(&self, buf: Buf, rank: u32) -> Span {
        Span::fixed(buf, self.begin(rank), self.bytes(rank))
    }

    /// The result of `rank`.
    pub(super) fn result(&self, rank: u32) -> Span {
        Span::fixed(Buf::Recv, 0, self.bytes(rank))
    }

    /// All ranks but `rank`, beginning with its successor.
    pub(super) fn others(&self, rank: u32) -> impl Iterator<Item = u32> + use<> {
        let ranks = self.ranks();
        (1..ranks).map(move |distance| (rank + distance) % ranks)
    }

    /// Appends: `rank` combines its block, cut into `segments`, with what the others have posted of it where
    /// `posted_by` says. This rank has appended its own posts before, one segment ahead if there are several.
    pub(super) fn combine(
        &self,
        builder: &mut Builder,
        segments: Segments,
        (rank, in_place): (u32, bool),
        posted_by: impl Fn(u32) -> (u8, u64),
    ) {
        let bytes = self.bytes(rank);
        let own = segments.part(Buf::Send, self.begin(rank), bytes);
        let result = segments.part(Buf::Recv, 0, bytes);
        if !in_place || self.fits_in_place(segments, rank) {
            return builder.pull_outward(rank, self.ranks(), own, result, posted_by);
        }
        let scratch = builder.scratch(bytes);
        let sum = segments.part(Buf::Scratch, scratch.offset, bytes);
        builder.pull_outward(rank, self.ranks(), own, sum, posted_by);
        // By then, all segments have been posted and combined.
        builder.delay(u32::try_from(segments.count).expect("segments are long"));
        builder.copy(sum, result, &[]);
    }

    /// Whether in place no segment of the result of `rank` comes to where something is that is still to be read.
    ///
    /// What lies in the first block has been posted as far as the result has been combined, and the first rank's
    /// result comes to where its own operand is.
    fn fits_in_place(&self, segments: Segments, rank: u32) -> bool {
        let bytes = self.bytes(rank);
        bytes <= self.bytes(0) || segments.count == 1 && bytes <= self.begin(rank)
    }
}
