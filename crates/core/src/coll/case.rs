//! What decides the plan of a regular collective.

use oxmpi_engine::Call;
use oxmpi_plan::{Collective, Root, Shape};

/// All that decides a plan on this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    pub(super) shape: Shape,
    pub(super) in_place: bool,
}

impl Case {
    /// Where there are no plans to choose from.
    pub(super) const NONE: Self = Self { shape: Shape::of(Collective::Barrier, 1, 0), in_place: false };

    /// What `rank` and all others must call alike.
    pub(super) fn call(&self, rank: u32) -> Call {
        let shape = &self.shape;
        let info = shape.collective.info();
        let call = Call::new(info.functions.persistent);
        // What one group sends the other receives.
        let call = if info.moves_data() { call.of_bytes(shape.longest()) } else { call };
        let call = if info.is_reduction() { call.in_units(shape.unit) } else { call };
        match shape.root {
            _ if !info.is_rooted() => call,
            Root::Beside => call.beside_root(),
            Root::Here => call.rooted(rank).known_in_part(),
            Root::Rank(root) if shape.is_between() => call.rooted(root).known_in_part(),
            Root::Rank(root) => call.rooted(root),
        }
    }
}
