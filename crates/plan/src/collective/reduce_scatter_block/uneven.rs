//! Reduce-scatter with blocks of lengths of their own.

use std::sync::Arc;

use super::task::{Task, Way};
use super::{between, circulant, node_flat, node_whole, pairwise, ring};
use crate::build::Builder;
use crate::prices::Prices;
use crate::select::cheapest;
use crate::{Buf, Collective, Nodes, Overrides, Plan, Shape};

/// All that may decide the plan of a reduce-scatter with any blocks, as a [`Shape`] does for equal ones.
///
/// Within one group all ranks know the lengths of all blocks; between two, only those of the own group, but they
/// add up to the same in both.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Uneven {
    /// Packed bytes of the block of each rank of this rank's group.
    pub lengths: Arc<[u64]>,
    /// As in [`Shape`].
    pub remote_ranks: u32,
    /// As in [`Shape`].
    pub unit: u32,
    /// As in [`Shape`].
    pub commutative: bool,
    /// As in [`Shape`].
    pub nodes: Nodes,
}

impl Uneven {
    /// The plan of `rank`, which works in place or not, by the algorithm for these blocks. What is preferred for equal
    /// blocks is preferred here.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn compile(&self, rank: u32, in_place: bool, overrides: &Overrides) -> Plan {
        assert!((rank as usize) < self.lengths.len(), "rank {rank} of {self:?}");
        let task = self.task();
        if task.total() == 0 {
            return Builder::new().finish();
        }
        if self.lengths.len() == 1 && self.remote_ranks == 0 {
            return alone(&task, in_place);
        }
        (self.select(&task, overrides).plan)(&task, rank, in_place)
    }

    /// The name of the algorithm for these blocks, where there is anything to do with other ranks.
    pub fn selected(&self, overrides: &Overrides) -> Option<&'static str> {
        let task = self.task();
        (!self.is_alone()).then(|| self.select(&task, overrides).name)
    }

    /// The plans of `rank` by all algorithms that serve these blocks, with their names; none where there is nothing to
    /// do with other ranks.
    pub fn plans(&self, rank: u32, in_place: bool) -> Vec<(&'static str, Plan)> {
        let task = self.task();
        let all = self.admissible(&task).filter(|_| !self.is_alone());
        all.map(|way| (way.name, (way.plan)(&task, rank, in_place))).collect()
    }

    /// Whether there is nothing to do with other ranks.
    fn is_alone(&self) -> bool {
        let has_no_peer = self.lengths.len() == 1 && self.remote_ranks == 0;
        has_no_peer || self.lengths.iter().all(|&bytes| bytes == 0)
    }

    fn admissible(&self, task: &Task) -> impl Iterator<Item = &'static Way> {
        let all = if self.remote_ranks == 0 { WITHIN } else { BETWEEN };
        all.iter().copied().filter(|way| (way.admits)(task))
    }

    fn task(&self) -> Task {
        let lengths = self.lengths.iter().copied();
        Task::new(lengths, self.remote_ranks, self.unit, self.commutative, self.nodes)
    }

    fn select(&self, task: &Task, overrides: &Overrides) -> &'static Way {
        let admissible = || self.admissible(task);
        // Two groups have different blocks, of as much together.
        let bytes = if self.remote_ranks > 0 { task.total() } else { task.longest() };
        let shape = Shape {
            remote_ranks: self.remote_ranks,
            nodes: self.nodes,
            ..Shape::of(Collective::ReduceScatterBlock, task.ranks(), bytes)
        };
        if let Some(named) = overrides.get(&shape)
            && let Some(way) = admissible().find(|way| way.name == named.name())
        {
            return way;
        }
        let prices = Prices::of(&shape, overrides.machine());
        let priced = admissible().map(|way| (way, way.cost.map(|cost| cost(task, &prices))));
        cheapest(priced).expect("messages serve any blocks").0
    }
}

/// The own block is the whole vector.
fn alone(task: &Task, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    if !in_place {
        builder.copy(task.block(Buf::Send, 0), task.result(0), &[]);
    }
    builder.finish()
}

const WITHIN: &[&Way] = &[&node_flat::WAY, &node_whole::WAY, &pairwise::WAY, &circulant::WAY, &ring::WAY];

/// The preferred ones first.
const BETWEEN: &[&Way] = &[&between::NODE_WHOLE, &between::NODE_SLICED, &between::THROUGH_ROOTS];
