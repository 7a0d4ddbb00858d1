//! Which ranks of a job a launcher, or an agent of one, starts itself: those of its node.

use std::iter::StepBy;
use std::ops::RangeFrom;

use oxmpi_pmi::NodeMap;

/// The number of the first job that is spawned.
pub const FIRST_SPAWNED: u32 = 2;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// How the host is called, where there are several.
    pub host: Option<String>,
    /// The ranks, in their order; the first has seat 0 on the node.
    pub ranks: Vec<u32>,
    /// Ranks of the whole job.
    pub size: u32,
    /// Which ranks share nodes, as text; nothing, if all do.
    pub nodes: String,
    /// Of each block of programs: its place in the command line, and for how many ranks that asks there.
    pub apps: Vec<App>,
}

/// A block of programs, in the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct App {
    /// Its place, from 0.
    pub number: u32,
    /// Its ranks on all nodes.
    pub count: u32,
}

impl Part {
    /// All of a job whose blocks have so many ranks.
    pub fn whole(counts: impl Iterator<Item = u32>) -> Self {
        let apps: Vec<App> = (0..).zip(counts).map(|(number, count)| App { number, count }).collect();
        let size = apps.iter().map(|app| app.count).sum();
        Self { host: None, ranks: (0..size).collect(), size, nodes: String::new(), apps }
    }

    /// The numbers of the jobs that are spawned on its node: nodes take turns, so that no two jobs have the same.
    pub fn numbers_of_spawned(&self) -> StepBy<RangeFrom<u32>> {
        let nodes = NodeMap::from_mapping(&self.nodes, self.size);
        let (node, nodes) = nodes.map_or((0, 1), |nodes| (nodes.node_of(self.ranks[0]), nodes.count()));
        (FIRST_SPAWNED + node..).step_by(nodes as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_nodes_give_a_spawned_job_the_same_number() {
        let first = |part: &Part| part.numbers_of_spawned().take(3).collect::<Vec<_>>();
        let whole = Part::whole([4].into_iter());
        assert_eq!(first(&whole), [2, 3, 4]);
        let nodes = NodeMap::of([0, 0, 1, 2]).to_mapping();
        let on = |ranks| first(&Part { ranks, nodes: nodes.clone(), ..whole.clone() });
        assert_eq!([vec![0, 1], vec![2], vec![3]].map(on), [[2, 5, 8], [3, 6, 9], [4, 7, 10]]);
    }
}
