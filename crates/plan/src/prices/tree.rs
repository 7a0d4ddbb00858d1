//! What messages of trees cost, where parents have children at each power of the arity.

use super::Prices;
use crate::cost::Cost;
use crate::crossing::{self, Round};

/// A level of a tree, on some of its paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// From a child to the next one.
    pub(crate) distance: u32,
    /// The places to which these paths lead: so many, from the first one on.
    pub(crate) places: u32,
}

impl Prices<'_> {
    /// A message over a level of a tree: the last of those of its parent that all parents' messages let through.
    pub(crate) fn tree_message(&self, arity: u32, level: Level, bytes: f64) -> Cost {
        let waits = self.tree_crossing(arity, level.distance).div_ceil(arity - 1);
        if waits > 0 && self.descends_across(arity, level) {
            return self.message_between_nodes(waits.into(), bytes);
        }
        // Others leave meanwhile by the same port.
        self.message_on_node(bytes) + Cost::port(f64::from(waits) * self.passage_ns(bytes))
    }

    /// Whether the longest path down a tree crosses at a level. Where ranks follow no rule it may do so at another one.
    fn descends_across(&self, arity: u32, Level { distance, places }: Level) -> bool {
        let Some(map) = self.map else { return true };
        let root = self.root;
        let crossings = |distance| map.crossing(Round::Descent { arity, distance, root, places }).all;
        let above = distance.checked_mul(arity).filter(|&above| above < places);
        crossings(distance) > above.map_or(0, crossings)
    }

    /// What another message of the same parent costs, where one inside a node costs `inside`.
    pub(crate) fn tree_another(&self, arity: u32, distance: u32, bytes: f64, inside: Cost) -> Cost {
        if self.tree_crossing(arity, distance) > 0 { self.another_crossing(bytes) } else { inside }
    }

    /// After how long each segment follows the one before in a binomial tree of `places`, whose first place has
    /// `more` to do for each message: it passes all of a segment before the next one.
    pub(crate) fn tree_pace(&self, places: u32, bytes: f64, inside: Cost, more: Cost) -> Cost {
        let is_inside = |distance| self.tree_crossing(2, distance) == 0;
        let core = self.levels(2, places, |distance| {
            more + if is_inside(distance) { inside } else { self.net_overhead() }
        });
        let leaving = match self.map {
            Some(map) => map.crossing(Round::Tree { root: self.root }).most,
            None => self.tree_leaving(places),
        };
        core.beside(Cost::port(f64::from(leaving) * self.passage_ns(bytes)))
    }

    /// How many messages of a binomial tree leave the same node, or come to it, at most.
    fn tree_leaving(&self, places: u32) -> u32 {
        if self.nodes == 1 {
            return 0;
        }
        // Nodes of equal lengths look the same from each of them.
        let root = if self.ranks.is_multiple_of(self.reach) { self.root % self.reach } else { self.root };
        if root > 0 || !self.reach.is_power_of_two() {
            return crossing::of_regular(Round::Tree { root }, self.ranks, self.reach).most;
        }
        // Those of the first place.
        places.next_power_of_two().ilog2().saturating_sub(self.reach.ilog2())
    }

    /// How many messages of a level of a tree leave the same node, or come to it, at most.
    fn tree_crossing(&self, arity: u32, distance: u32) -> u32 {
        if let Some(map) = self.map {
            return map.crossing(Round::Level { arity, distance, root: self.root }).most;
        }
        let farthest = distance.saturating_mul(arity - 1);
        // Of the levels within nodes, the widest one crosses a border where these are not as wide as subtrees.
        let is_widest = farthest.saturating_mul(arity) >= self.reach;
        let width = distance.saturating_mul(arity);
        // Places begin at the root, and go on with rank 0.
        let begins = [self.reach, self.root, if self.root > 0 { self.ranks - self.root } else { 0 }];
        let is_cut = is_widest && !begins.iter().all(|begin| begin.is_multiple_of(width));
        if self.crosses(farthest) || self.nodes > 1 && is_cut { arity - 1 } else { 0 }
    }

    /// The longest path down a tree of `places`, or up: over a level by a `message`, past it when `another` one goes
    /// before. Who has children over all levels has only some over the longest distance, unless distances and
    /// places end alike: below these the tree is not as deep.
    pub(crate) fn tree(
        &self,
        arity: u32,
        places: u32,
        message: &dyn Fn(Level) -> Cost,
        another: &dyn Fn(u32) -> Cost,
    ) -> Cost {
        self.subtree(arity, places, places, message, another)
    }

    /// The same from a place on that has so many below it, where paths lead to so many `places` in all.
    fn subtree(
        &self,
        arity: u32,
        below: u32,
        places: u32,
        message: &dyn Fn(Level) -> Cost,
        another: &dyn Fn(u32) -> Cost,
    ) -> Cost {
        if below < 2 {
            return Cost::NONE;
        }
        let distance = arity.pow((below - 1).ilog(arity));
        let (children, last) = ((below - 1) / distance, (below - 1) % distance + 1);
        let on = |below, places| self.subtree(arity, below, places, message, another);
        let sent = message(Level { distance, places });
        if children > 1 || last == distance {
            return sent + f64::from(children - 1) * another(distance) + on(distance, places);
        }
        // Paths that do not take this level lead to those before its only child.
        let before = places - last;
        (sent + on(last, places)).beside(another(distance) + on(distance, before))
    }
}
