//! One collective of two groups as the engine sees it: what each rank has, and what it must get.
//!
//! The ranks of both groups are counted through, and so are roots.

use std::ops::Range;

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Binding, Call, Program};
use oxmpi_plan::inter::{Groups, exchange};
use oxmpi_plan::pattern::inter::{allgatherv, alltoallv, gatherv, scatterv};
use oxmpi_plan::{Collective, Nodes, Overrides, Overview, Plan, Root, select};

use crate::collective::{Rooted, UNIT_BYTES, compose, composition};
use crate::harness::{Lie, Random, Store};

/// How many ranks two groups have.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    pub first: u32,
    pub second: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Allgather(Lengths),
    Allreduce,
    Alltoall(Lengths),
    Barrier,
    Bcast { root: u32 },
    Exchange,
    Gather { root: u32, lengths: Lengths },
    Reduce { root: u32 },
    Scatter { root: u32, lengths: Lengths },
}

/// Whether blocks are equally long, or each is as long as it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    Equal,
    Own,
}

/// A collective of vectors and blocks of about `bytes` bytes, and where all ranks have their data.
pub struct GroupsCase {
    pub kind: Kind,
    sizes: Sizes,
    bytes: usize,
    /// What each rank sends from, and receives into.
    stores: Vec<[Store; 2]>,
}

impl Sizes {
    pub fn ranks(self) -> Range<u32> {
        0..self.first + self.second
    }

    /// The ranks of the group of `rank`.
    pub fn fellows(self, rank: u32) -> Range<u32> {
        if rank < self.first { 0..self.first } else { self.first..self.ranks().end }
    }

    /// The ranks of the group that `rank` is not in.
    pub fn others(self, rank: u32) -> Range<u32> {
        if rank < self.first { self.first..self.ranks().end } else { 0..self.first }
    }

    fn groups(self, rank: u32) -> Groups {
        let (fellows, others) = (self.fellows(rank), self.others(rank));
        Groups { rank: rank - fellows.start, local: fellows.len() as u32, remote: others.len() as u32 }
    }

    fn root(self, rank: u32, root: u32) -> Root {
        match self.fellows(rank).contains(&root) {
            _ if rank == root => Root::Here,
            true => Root::Beside,
            false => Root::Rank(root - self.others(rank).start),
        }
    }
}

impl Kind {
    /// All collectives, with every root.
    pub fn all(sizes: Sizes) -> Vec<Self> {
        let mut all = vec![Self::Allreduce, Self::Barrier, Self::Exchange];
        for root in sizes.ranks() {
            all.push(Self::Bcast { root });
            all.push(Self::Reduce { root });
        }
        for lengths in [Lengths::Equal, Lengths::Own] {
            all.push(Self::Allgather(lengths));
            all.push(Self::Alltoall(lengths));
            all.extend(sizes.ranks().map(|root| Self::Gather { root, lengths }));
            all.extend(sizes.ranks().map(|root| Self::Scatter { root, lengths }));
        }
        all
    }

    pub fn reduces(self) -> bool {
        matches!(self, Self::Allreduce | Self::Reduce { .. })
    }
}

impl GroupsCase {
    pub fn new(kind: Kind, sizes: Sizes, bytes: usize, lie: Lie) -> Self {
        let mut case = Self { kind, sizes, bytes: bytes.next_multiple_of(UNIT_BYTES), stores: Vec::new() };
        let store = |contents: Vec<u8>| Store::new(contents.len(), lie);
        case.stores =
            sizes.ranks().map(|rank| [store(case.sent(rank, 0)), store(case.received(rank, 0))]).collect();
        case
    }

    pub fn plan(&self, rank: u32) -> Program {
        Program::new(self.plan_of(rank), Call::UNKNOWN)
    }

    pub fn binding(&self, rank: u32) -> Binding {
        let [send, recv] = self.stores[rank as usize].each_ref().map(|store| store.buffer().clone());
        let reducer = self.kind.reduces().then(|| composition(false));
        match self.role(rank) {
            // A broadcast has one buffer only.
            Some(Root::Here) if matches!(self.kind, Kind::Bcast { .. }) => {
                Binding { send: Buffer::EMPTY, recv: send, reducer, images: None }
            }
            // What to combine with is known where there is something to combine.
            Some(Root::Beside) => Binding { send, recv, reducer: None, images: None },
            _ => Binding { send, recv, reducer, images: None },
        }
    }

    /// What the rank contributes to round `round` is in its memory; what it receives is overwritten.
    pub fn fill(&self, rank: u32, round: u64) {
        let [send, recv] = &self.stores[rank as usize];
        send.put(&self.sent(rank, round));
        recv.put(&vec![0xdd; recv.buffer().bytes() as usize]);
    }

    /// Fails unless the rank has what the standard says that it gets.
    pub fn check(&self, rank: u32, round: u64, note: &str) {
        let [send, recv] = &self.stores[rank as usize];
        let (kind, sizes) = (self.kind, self.sizes);
        assert!(
            recv.get() == self.received(rank, round),
            "{note}: {kind:?}, {sizes:?}, rank {rank}, {round}"
        );
        assert!(send.get() == self.sent(rank, round), "{note}: {kind:?}, {sizes:?}, rank {rank}: sent data");
    }

    fn role(&self, rank: u32) -> Option<Root> {
        match self.kind {
            Kind::Bcast { root }
            | Kind::Gather { root, .. }
            | Kind::Reduce { root }
            | Kind::Scatter { root, .. } => Some(self.sizes.root(rank, root)),
            _ => None,
        }
    }

    fn plan_of(&self, rank: u32) -> Plan {
        let (groups, bytes) = (self.sizes.groups(rank), self.bytes as u64);
        let root = self.role(rank).unwrap_or(Root::Beside);
        let to = |peer| self.length(rank, peer) as u64;
        let from = |peer| self.length(peer, rank) as u64;
        let others = || self.sizes.others(rank);
        let of_each = |peer| self.length(peer, peer) as u64;
        let lengths = || -> Vec<u64> {
            if root == Root::Here { others().map(of_each).collect() } else { vec![of_each(rank)] }
        };
        match self.kind {
            Kind::Allgather(Lengths::Own) => {
                allgatherv(&groups, of_each(rank), &others().map(of_each).collect::<Vec<_>>()).by_messages()
            }
            Kind::Alltoall(Lengths::Own) => {
                let (sent, received): (Vec<_>, Vec<_>) = others().map(|peer| (to(peer), from(peer))).unzip();
                alltoallv(&groups, &sent, &received).by_messages()
            }
            Kind::Exchange => exchange(&groups, bytes),
            Kind::Gather { lengths: Lengths::Own, .. } => gatherv(&groups, root, &lengths()).by_messages(),
            Kind::Scatter { lengths: Lengths::Own, .. } => scatterv(&groups, root, &lengths()).by_messages(),
            Kind::Allgather(_) => self.regular(rank, (Collective::Allgather, 0)),
            Kind::Allreduce => self.regular(rank, (Collective::Allreduce, 0)),
            Kind::Alltoall(_) => self.regular(rank, (Collective::Alltoall, 0)),
            Kind::Barrier => self.regular(rank, (Collective::Barrier, 0)),
            Kind::Bcast { root } => self.regular(rank, (Collective::Bcast, root)),
            Kind::Gather { root, .. } => self.regular(rank, (Collective::Gather, root)),
            Kind::Reduce { root } => self.regular(rank, (Collective::Reduce, root)),
            Kind::Scatter { root, .. } => self.regular(rank, (Collective::Scatter, root)),
        }
    }

    /// The plan of a collective whose algorithm is chosen.
    fn regular(&self, rank: u32, (collective, root): Rooted) -> Plan {
        let Sizes { first, second } = self.sizes;
        let bytes = if collective == Collective::Barrier { 0 } else { self.bytes as u64 };
        let unit = if self.kind.reduces() { UNIT_BYTES as u32 } else { 1 };
        chosen(
            &Overview { collective, root, first, second, bytes: [bytes; 2], unit, nodes: Nodes::One },
            rank,
        )
    }

    /// What the rank sends.
    fn sent(&self, rank: u32, round: u64) -> Vec<u8> {
        let others = self.sizes.others(rank);
        match (self.kind, self.role(rank)) {
            (Kind::Barrier, _) | (_, Some(Root::Beside)) => Vec::new(),
            (Kind::Scatter { .. }, Some(Root::Here)) => {
                others.flat_map(|to| self.own_block(to, round)).collect()
            }
            (Kind::Bcast { .. }, Some(Root::Here)) => self.vector(rank, round),
            (_, Some(Root::Here)) | (Kind::Bcast { .. } | Kind::Scatter { .. }, _) => Vec::new(),
            (Kind::Allreduce | Kind::Exchange | Kind::Reduce { .. }, _) => self.vector(rank, round),
            (Kind::Allgather(_) | Kind::Gather { .. }, _) => self.own_block(rank, round),
            (Kind::Alltoall(_), _) => others.flat_map(|to| self.block(rank, to, round)).collect(),
        }
    }

    /// What the rank receives.
    fn received(&self, rank: u32, round: u64) -> Vec<u8> {
        let (fellows, others) = (self.sizes.fellows(rank), self.sizes.others(rank));
        let combined = || {
            let vectors = self.sizes.others(rank).map(|from| self.vector(from, round));
            vectors.reduce(|left, right| compose(&left, &right, false)).unwrap_or_default()
        };
        match (self.kind, self.role(rank)) {
            (Kind::Barrier, _) | (_, Some(Root::Beside)) => Vec::new(),
            (Kind::Allgather(_), _) | (Kind::Gather { .. }, Some(Root::Here)) => {
                others.flat_map(|from| self.own_block(from, round)).collect()
            }
            (Kind::Allreduce, _) | (Kind::Reduce { .. }, Some(Root::Here)) => combined(),
            (Kind::Alltoall(_), _) => others.flat_map(|from| self.block(from, rank, round)).collect(),
            (Kind::Exchange, _) => fellows.chain(others).flat_map(|from| self.vector(from, round)).collect(),
            (_, Some(Root::Here)) | (Kind::Gather { .. } | Kind::Reduce { .. }, _) => Vec::new(),
            (Kind::Bcast { root }, _) => self.vector(root, round),
            (Kind::Scatter { .. }, _) => self.own_block(rank, round),
        }
    }

    /// Bytes of the block that `from` has for `to`: where lengths differ, some have none.
    fn length(&self, from: u32, to: u32) -> usize {
        match (3 * from + 5 * to) % 7 {
            _ if self.has_equal_blocks() => self.bytes,
            3 => 0,
            some => self.bytes + some as usize,
        }
    }

    fn has_equal_blocks(&self) -> bool {
        match self.kind {
            Kind::Allgather(lengths)
            | Kind::Alltoall(lengths)
            | Kind::Gather { lengths, .. }
            | Kind::Scatter { lengths, .. } => lengths == Lengths::Equal,
            _ => false,
        }
    }

    fn block(&self, from: u32, to: u32, round: u64) -> Vec<u8> {
        let seed = (round * 1000 + u64::from(from)) * 1000 + u64::from(to) + 1;
        Random::new(seed).bytes(self.length(from, to))
    }

    /// The block of a rank where each has one.
    fn own_block(&self, rank: u32, round: u64) -> Vec<u8> {
        self.block(rank, rank, round)
    }

    fn vector(&self, rank: u32, round: u64) -> Vec<u8> {
        Random::new(round * 1000 + u64::from(rank) + 1).bytes(self.bytes)
    }
}

/// A rank's part by the algorithm that is chosen.
pub fn chosen(overview: &Overview, rank: u32) -> Plan {
    overview.plan(select(&overview.shape(rank), &Overrides::default()), rank)
}
