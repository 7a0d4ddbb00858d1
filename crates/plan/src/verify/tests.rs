//! All algorithms pass, and spoiled plans do not.

mod algorithms;
mod between;
mod inter;
mod nodes;
mod pattern;
mod spoiled;
mod uneven;

use super::contract::{Expected, Part};
use crate::{Algorithm, Buf, Collective, Plan, Root, Shape};

impl Part {
    /// The part of a rank that sends `send_bytes` bytes and receives what `result` says.
    fn receiving(send_bytes: u64, result: Vec<Expected>) -> Self {
        let recv_bytes = result.iter().map(|expected| expected.bytes).sum();
        Self { send_bytes, recv_bytes, input: Buf::Send, alias: None, result }
    }
}

/// The plans of all ranks.
fn plans(algorithm: &Algorithm, shape: &Shape, in_place: &[bool]) -> Vec<Plan> {
    (0..shape.ranks).map(|rank| algorithm.plan(shape, rank, in_place[rank as usize])).collect()
}

/// A collective of `elements` elements of `unit` bytes within one group, rooted at `root` if at all.
fn shape_of(collective: Collective, root: u32, ranks: u32, elements: u64, unit: u32) -> Shape {
    let info = collective.info();
    let bytes = if info.moves_data() { elements * u64::from(unit) } else { 0 };
    let unit = if info.is_reduction() { unit } else { 1 };
    let root = if info.is_rooted() { root } else { 0 };
    Shape { unit, ..Shape::of(collective, ranks, bytes).rooted(Root::Rank(root)) }
}
