//! All algorithms pass, and spoiled plans do not.

mod algorithms;
mod spoiled;

use crate::{Algorithm, Plan, Shape};

/// The plans of all ranks.
fn plans(algorithm: &Algorithm, shape: &Shape, in_place: &[bool]) -> Vec<Plan> {
    (0..shape.ranks).map(|rank| algorithm.plan(shape, rank, in_place[rank as usize])).collect()
}
