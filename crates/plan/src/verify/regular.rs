//! The contract of a collective, derived from what its row in the table of collectives says.
//!
//! One group is seen as two that are the same: whom a rank receives from, and who receives from it, are all
//! ranks of the group opposite.

use std::ops::Range;

use super::contract::{Alias, Contract, Expected, Part, Synchronizes};
use crate::{Buf, CollectiveInfo, Combines, Holds, Nodes, Overview, Shape, Whose};

impl Contract {
    /// The contract of a shape, `in_place[r]` saying whether rank `r` works in place.
    pub(super) fn of(shape: &Shape, in_place: &[bool]) -> Self {
        let overview = Overview {
            collective: shape.collective,
            root: shape.root.rank(),
            first: shape.ranks,
            second: 0,
            bytes: [shape.bytes; 2],
            unit: shape.unit,
            nodes: shape.nodes,
        };
        let synchronizes = if shape.synchronizes() { Synchronizes::All } else { Synchronizes::Nobody };
        Self {
            commutative: shape.commutative,
            nodes: shape.nodes,
            synchronizes,
            ..Self::new(&overview, in_place)
        }
    }

    /// The contract of a collective between two groups. Its plans keep the order of ranks for all operations.
    pub(super) fn between(overview: &Overview) -> Self {
        let moves_data = overview.collective.info().moves_data();
        let synchronizes = if moves_data { Synchronizes::Nobody } else { Synchronizes::Groups };
        Self { synchronizes, ..Self::new(overview, &vec![false; overview.ranks() as usize]) }
    }

    fn new(overview: &Overview, in_place: &[bool]) -> Self {
        let part =
            |(rank, &in_place)| Seat { overview, info: overview.collective.info(), rank }.part(in_place);
        Self {
            parts: (0..).zip(in_place).map(part).collect(),
            first_group: overview.first,
            unit: u64::from(overview.unit.max(1)),
            commutative: false,
            nodes: Nodes::One,
            synchronizes: Synchronizes::Nobody,
            has_equal_results: overview.collective.info().has_equal_results(),
        }
    }
}

/// A rank of a collective.
#[derive(Clone, Copy)]
struct Seat<'a> {
    overview: &'a Overview,
    info: &'static CollectiveInfo,
    rank: u32,
}

impl Seat<'_> {
    fn part(self, in_place: bool) -> Part {
        let Self { info, overview, rank } = self;
        let (sends, receives) = (self.is_among(info.send.whose), self.is_among(info.recv.whose));
        let peers = self.opposite().len() as u64;
        let length = |block: u64, holds| if holds == Holds::Each { block * peers } else { block };
        let send_bytes = if sends { length(overview.sent(rank), info.send.holds) } else { 0 };
        let receives = receives && (in_place || !self.gets_nothing());
        let recv_bytes = if receives { length(overview.received(rank), info.recv.holds) } else { 0 };
        if info.has_one_buffer {
            let source = if sends { rank } else { overview.root };
            let bytes = send_bytes.max(recv_bytes);
            let whole = Expected { begin: 0, bytes, origin: 0, ranks: 1 << source };
            let input = if sends { Buf::Recv } else { Buf::Send };
            return Part { send_bytes: 0, recv_bytes: bytes, input, alias: None, result: vec![whole] };
        }
        let alias = (in_place && sends && receives).then(|| self.alias());
        let is_in_result = alias.is_some_and(|alias| alias.of == Buf::Recv);
        let recv_bytes = if is_in_result { recv_bytes.max(send_bytes) } else { recv_bytes };
        let result = if receives { self.result() } else { Vec::new() };
        Part { send_bytes, recv_bytes, input: Buf::Send, alias, result }
    }

    /// The ranks that this one sends to and receives from, as far as they take part.
    fn opposite(self) -> Range<u32> {
        let Self { overview, rank, .. } = self;
        if overview.second == 0 { overview.fellows(rank) } else { overview.others(rank) }
    }

    /// Whether this rank is one of those that contribute, or that receive.
    fn is_among(self, whose: Whose) -> bool {
        let root = self.overview.root;
        match whose {
            Whose::Everybody => !self.info.is_rooted() || self.opposite().contains(&root),
            Whose::Nobody => false,
            Whose::Root => self.rank == root,
        }
    }

    /// Whether nothing is combined for this rank, which in place keeps what it has.
    fn gets_nothing(self) -> bool {
        self.info.combines == Combines::BeforeOwn && self.rank == self.overview.fellows(self.rank).start
    }

    /// Where the block of this rank begins, among those of its group.
    fn own(self) -> u64 {
        let index = self.rank - self.overview.fellows(self.rank).start;
        u64::from(index) * self.overview.received(self.rank)
    }

    /// In place: the shorter buffer is this rank's block of the longer one. But the result of a reduction comes to
    /// where its operands begin.
    fn alias(self) -> Alias {
        match (self.info.send.holds, self.info.recv.holds) {
            (Holds::One, Holds::Each) => Alias { buf: Buf::Send, of: Buf::Recv, offset: self.own() },
            (Holds::Each, Holds::One) if self.info.is_reduction() => {
                Alias { buf: Buf::Send, of: Buf::Recv, offset: 0 }
            }
            (Holds::Each, Holds::One) => Alias { buf: Buf::Recv, of: Buf::Send, offset: self.own() },
            (Holds::Each, Holds::Each) | (Holds::One, Holds::One) => {
                Alias { buf: Buf::Send, of: Buf::Recv, offset: 0 }
            }
        }
    }

    /// What must stand in the receive buffer.
    fn result(self) -> Vec<Expected> {
        let (info, bytes) = (self.info, self.overview.received(self.rank));
        let contributes = |&rank: &u32| Self { rank, ..self }.is_among(info.send.whose);
        let counts = |&rank: &u32| match info.combines {
            Combines::BeforeOwn => rank < self.rank || self.gets_nothing() && rank == self.rank,
            Combines::UpToOwn => rank <= self.rank,
            Combines::All | Combines::Nothing => true,
        };
        let contributors = self.opposite().filter(contributes).filter(counts);
        let origin = if info.send.holds == Holds::Each { self.own() } else { 0 };
        match info.combines {
            Combines::Nothing => {
                let block = |(index, rank): (u64, u32)| Expected {
                    begin: index * bytes,
                    bytes,
                    origin,
                    ranks: 1 << rank,
                };
                (0..).zip(contributors).map(block).collect()
            }
            Combines::All | Combines::BeforeOwn | Combines::UpToOwn => {
                let ranks = contributors.fold(0, |set, rank| set | 1 << rank);
                vec![Expected { begin: 0, bytes, origin, ranks }]
            }
        }
    }
}
