//! All algorithms pass, and spoiled plans do not.

mod algorithms;
mod between;
mod inter;
mod irregular;
mod spoiled;

use crate::{Algorithm, Collective, Plan, Shape};

/// The plans of all ranks.
fn plans(algorithm: &Algorithm, shape: &Shape, in_place: &[bool]) -> Vec<Plan> {
    (0..shape.ranks).map(|rank| algorithm.plan(shape, rank, in_place[rank as usize])).collect()
}

/// The collectives without a root, and those with, rooted at `root`.
fn collectives(root: u32) -> [Collective; 8] {
    [
        Collective::Allgather,
        Collective::Allreduce,
        Collective::Alltoall,
        Collective::Barrier,
        Collective::Bcast { root },
        Collective::Gather { root },
        Collective::Reduce { root },
        Collective::Scatter { root },
    ]
}
