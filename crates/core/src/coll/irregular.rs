//! Collectives whose blocks have lengths, and datatypes, of their own.
//!
//! A buffer argument is a list of blocks, one per rank (or per edge of a topology), wherever each lies: that covers
//! the v forms (counts and displacements) and the w forms (datatypes too) alike. What a rank knows of the lengths
//! makes a [`Pattern`]; blocking and nonblocking calls send its blocks as messages, persistent ones (`placing`) and
//! those that know where blocks lie with others post them on lines.
//! MPI-5.0: Collective Communication, the vector variants.

use std::sync::Arc;

use oxmpi_base::Function;
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Call, Program};
use oxmpi_plan::pattern::Pattern;
use oxmpi_plan::{self as plan, Collective, Plan, Shape};

use super::case::Case;
use crate::comm::Communicator;

/// A collective whose plan no shape decides.
#[derive(Debug)]
pub(super) enum Irregular {
    /// These lengths do. The function is the persistent form, which stands for all.
    Lengths { function: Function, lengths: Lengths, form: &'static Form },
    /// It is there.
    Made(Arc<Program>),
}

/// All that decides a pattern on a rank of a communicator, but for who has blocks for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    /// Rank 0 where there is no root.
    pub root: plan::Root,
    pub in_place: bool,
    /// Packed bytes of the blocks that this rank has for others; of one block, where all get the same.
    pub sent: Box<[u64]>,
    /// The same of those that it gets.
    pub received: Box<[u64]>,
}

/// Who has blocks for whom.
#[derive(Debug)]
pub(super) struct Form {
    /// What a rank of a communicator does, whose topology counts in a neighbourhood.
    pub pattern: fn(&Lengths, &Communicator) -> Pattern,
    /// The regular collective of the same form, within one group.
    pub regular: Option<Collective>,
    /// What a rank knows of the streams of those that send to it without asking them, if it does.
    pub streams: Option<fn(&Lengths, &Communicator, &Pattern) -> Streams>,
    /// The plan over two levels, if all ranks know enough for one, where there are two.
    pub over_levels: Option<fn(&Lengths, &Communicator) -> Option<Plan>>,
}

/// The streams that a rank receives from.
#[derive(Debug)]
pub(super) struct Streams {
    /// Where each block that it receives begins, as in [`Pattern::by_lines`].
    pub places: Vec<u64>,
    /// Bytes of the longest stream of any rank, or more, but the same on all ranks.
    pub longest: u64,
}

impl Irregular {
    /// What all ranks must call alike.
    pub fn call(&self) -> Call {
        match self {
            Self::Lengths { function, lengths, form } => form.call(*function, lengths),
            Self::Made(plan) => plan.call(),
        }
    }
}

impl Lengths {
    /// The same, where there is no root.
    pub fn rootless(in_place: bool, sent: Box<[u64]>, received: Box<[u64]>) -> Self {
        Self { root: plan::Root::Rank(0), in_place, sent, received }
    }

    /// The length of the longest block that this rank sends or receives, if any: in the regular forms among neighbours
    /// that of any rank, since one of two that differ in what they send knows that of the other, too.
    pub fn longest(&self) -> Option<u64> {
        self.sent.iter().chain(&self.received).max().copied()
    }

    /// Those of the blocks that this rank has of a gather or scatter.
    pub fn blocks(&self) -> &[u64] {
        if self.sent.is_empty() { &self.received } else { &self.sent }
    }
}

impl Form {
    /// A form that has no regular one.
    pub const fn new(pattern: fn(&Lengths, &Communicator) -> Pattern) -> Self {
        Self { pattern, regular: None, streams: None, over_levels: None }
    }

    /// A form within one group.
    pub const fn of(regular: Collective, pattern: fn(&Lengths, &Communicator) -> Pattern) -> Self {
        Self { pattern, regular: Some(regular), streams: None, over_levels: None }
    }

    /// What all ranks must call alike: each has lengths of its own, and in some forms all name a root.
    pub fn call(&self, function: Function, lengths: &Lengths) -> Call {
        let call = Call::new(function);
        let has_root = self.regular.is_some_and(|collective| collective.info().is_rooted());
        match self.regular {
            _ if has_root => call.rooted(lengths.root.rank()),
            // Among neighbours, of equal lengths; but who has no neighbours knows none, and nobody minds.
            None if self.streams.is_some() => {
                let call = match (lengths.sent.first(), lengths.received.first()) {
                    (Some(&sent), Some(&received)) => call.exchanging(sent, received),
                    (Some(&bytes), None) | (None, Some(&bytes)) => call.of_bytes(bytes),
                    (None, None) => call,
                };
                call.known_in_part()
            }
            _ => call,
        }
    }

    /// The plan that needs nothing of other ranks: by lines or over levels where all know where their blocks lie, else
    /// by messages.
    pub fn plan(&self, lengths: &Lengths, comm: &Communicator) -> Plan {
        if let Some(plan) = self.over_levels(lengths, comm) {
            return plan;
        }
        let pattern = (self.pattern)(lengths, comm);
        let streams = self.streams.filter(|_| comm.is_on_one_node());
        let streams = streams.map(|streams| streams(lengths, comm, &pattern));
        match streams.filter(|streams| Pattern::fits_lines(streams.longest)) {
            Some(Streams { places, longest }) => pattern.by_lines(&places, longest),
            None => pattern.by_messages(),
        }
    }

    /// See the field.
    pub fn over_levels(&self, lengths: &Lengths, comm: &Communicator) -> Option<Plan> {
        self.over_levels.and_then(|plan| plan(lengths, comm))
    }

    /// The length of all blocks that this rank knows, if they are equal and a regular collective could be instead.
    pub fn equal(&self, lengths: &Lengths) -> Option<u64> {
        self.regular?;
        let mut all = lengths.sent.iter().chain(&lengths.received);
        let first = *all.next()?;
        all.all(|&bytes| bytes == first).then_some(first)
    }

    /// What decides the plan instead if all blocks of all ranks are `bytes` long.
    pub fn regular(&self, lengths: &Lengths, comm: &Communicator, bytes: u64) -> Option<Case> {
        let shape = Shape { nodes: comm.nodes, ..Shape::of(self.regular?, comm.size(), bytes) };
        let shape = shape.rooted(lengths.root);
        Some(Case { shape, in_place: lengths.in_place })
    }
}

/// Packed bytes of each block.
pub(super) fn lengths(blocks: &[Buffer]) -> Box<[u64]> {
    blocks.iter().map(Buffer::bytes).collect()
}
