//! The plans of a process's communicators, so that a collective called again is not compiled again.
//!
//! A few places per communicator, each for any shape: a shape goes to the place that its hash names, and
//! drives out what was there. Looking up costs a hash of 40 bytes and a comparison.

use std::collections::HashMap;
use std::sync::Arc;

use oxmpi_engine::{ChannelKey, Program};
use oxmpi_plan::{Collective, Overrides, Shape, compile};

/// See the module.
#[derive(Debug)]
pub(crate) struct PlanCache {
    overrides: Overrides,
    places: HashMap<ChannelKey, Box<[Option<Entry>; PLACES]>>,
    /// The communicator looked up last, which is mostly the one looked up next.
    recent: Option<(ChannelKey, Box<[Option<Entry>; PLACES]>)>,
}

#[derive(Debug)]
struct Entry {
    shape: Shape,
    in_place: bool,
    /// `None` while it is lent.
    plan: Option<Arc<Program>>,
}

const PLACES: usize = 64;

impl PlanCache {
    pub(crate) fn new(overrides: Overrides) -> Self {
        Self { overrides, places: HashMap::new(), recent: None }
    }

    /// The plan of `rank` for a shape, to be given back: that costs less than sharing it.
    #[inline]
    pub(crate) fn lend(
        &mut self,
        channel: ChannelKey,
        shape: &Shape,
        rank: u32,
        in_place: bool,
    ) -> Arc<Program> {
        let place = &mut self.places_of(channel)[place_of(shape)];
        match place {
            Some(Entry { shape: cached, in_place: cached_in_place, plan: plan @ Some(_) })
                if *cached == *shape && *cached_in_place == in_place =>
            {
                plan.take().expect("just seen")
            }
            _ => {
                *place = Some(Entry { shape: *shape, in_place, plan: None });
                Arc::new(Program::new(compile(shape, rank, in_place, &self.overrides)))
            }
        }
    }

    /// Takes back a plan that was lent for a shape.
    #[inline]
    pub(crate) fn give_back(
        &mut self,
        channel: ChannelKey,
        shape: &Shape,
        in_place: bool,
        plan: Arc<Program>,
    ) {
        if let Some(entry) = &mut self.places_of(channel)[place_of(shape)]
            && entry.shape == *shape
            && entry.in_place == in_place
        {
            entry.plan = Some(plan);
        }
    }

    /// The plan of `rank` for a shape, shared.
    pub(crate) fn share(
        &mut self,
        channel: ChannelKey,
        shape: &Shape,
        rank: u32,
        in_place: bool,
    ) -> Arc<Program> {
        let plan = self.lend(channel, shape, rank, in_place);
        self.give_back(channel, shape, in_place, Arc::clone(&plan));
        plan
    }

    /// Forgets the plans of a communicator.
    pub(crate) fn forget(&mut self, channel: ChannelKey) {
        self.places.remove(&channel);
        self.recent.take_if(|(recent, _)| *recent == channel);
    }

    #[inline]
    fn places_of(&mut self, channel: ChannelKey) -> &mut [Option<Entry>; PLACES] {
        if self.recent.as_ref().is_none_or(|(recent, _)| *recent != channel) {
            self.make_recent(channel);
        }
        &mut self.recent.as_mut().expect("just made").1
    }

    #[cold]
    fn make_recent(&mut self, channel: ChannelKey) {
        let places = self.places.remove(&channel).unwrap_or_else(|| Box::new([const { None }; PLACES]));
        if let Some((before, places)) = self.recent.replace((channel, places)) {
            self.places.insert(before, places);
        }
    }
}

#[inline]
fn place_of(shape: &Shape) -> usize {
    let (kind, root) = match shape.collective {
        Collective::Allgather => (0, 0),
        Collective::Allreduce => (1, 0),
        Collective::Alltoall => (2, 0),
        Collective::Barrier => (3, 0),
        Collective::Bcast { root } => (4, root),
        Collective::Gather { root } => (5, root),
        Collective::Reduce { root } => (6, root),
        Collective::Scatter { root } => (7, root),
    };
    let word = shape.bytes << 3 ^ kind ^ u64::from(root) << 40;
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize
}
const _: () = assert!(PLACES == 1 << (64 - 58));
