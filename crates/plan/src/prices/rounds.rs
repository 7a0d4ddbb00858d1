//! What rounds cost, in which all ranks send over the same distance.

use super::Prices;
use crate::cost::Cost;
use crate::crossing::{self, Crossing, Round, Way};

impl Prices<'_> {
    /// Messages between all ranks whose numbers differ in the bit `distance` alone.
    pub(crate) fn exchange(&self, distance: u32, bytes: f64) -> Cost {
        self.exchange_among(distance.saturating_mul(2), distance, bytes)
    }

    /// Messages from the first of so many pairs of neighbours to the second.
    pub(crate) fn fold(&self, pairs: u32, bytes: f64) -> Cost {
        let most = if self.nodes > 1 { self.counted(Round::Fold { pairs }).most } else { 0 };
        if most == 0 { self.message_on_node(bytes) } else { self.message_between_nodes(most.into(), bytes) }
    }

    /// Messages over this distance within ranges of so many ranks.
    pub(crate) fn exchange_among(&self, range: u32, distance: u32, bytes: f64) -> Cost {
        // Where some ranks are left over the others are not as far from each other as their bits say.
        let way = if self.ranks.is_power_of_two() { Way::Pairs } else { Way::Around };
        if self.stays_in(range, distance) {
            self.message_on_node(bytes)
        } else {
            self.round(way, distance, bytes)
        }
    }

    /// Whether nobody leaves his node, over this distance within ranges of so many ranks.
    fn stays_in(&self, range: u32, distance: u32) -> bool {
        let is_aligned = || self.ranks.is_power_of_two() || self.ranks.is_multiple_of(self.reach);
        self.nodes == 1 || distance < self.reach && self.reach.is_multiple_of(range.max(1)) && is_aligned()
    }

    /// Messages of all ranks to those that are `distance` ranks further on: a part of them leave their node.
    pub(crate) fn shift(&self, distance: u32, bytes: f64) -> Cost {
        self.round(Way::Around, distance, bytes)
    }

    /// After how long the rounds of a circulant graph follow those before, of which each alone would make a turn: ports
    /// that have little to do in one have more in another.
    pub(crate) fn flow(&self, turn: Cost, bytes: f64) -> Cost {
        let Some(map) = self.map else { return turn };
        let most = map.crossing(Round::Flow { root: self.root }).most;
        Cost { port_ns: f64::from(most) * self.passage_ns(bytes), ..turn }
    }

    /// The first of the messages of all ranks over these distances, the farthest one last, where the rounds before were
    /// not over the half of them, the half of that, and so on.
    pub(crate) fn shift_by_digit(&self, distances: &[u32], bytes: f64) -> Cost {
        let Some((&farthest, nearer)) = distances.split_last() else { return Cost::NONE };
        if self.nodes == 1 || self.is_even(farthest) {
            return self.shift(farthest, bytes);
        }
        let crosses = |&distance: &u32| self.crossing(Way::Around, distance).most > 0;
        let first = nearer.iter().copied().find(crosses).unwrap_or(farthest);
        self.uneven_shifts(&[first], &|_| bytes)
    }

    /// The same without those for which there are no ranks further on.
    pub(crate) fn upward(&self, distance: u32, bytes: f64) -> Cost {
        self.round(Way::Up, distance, bytes)
    }

    /// Messages of all ranks over a distance.
    fn round(&self, way: Way, distance: u32, bytes: f64) -> Cost {
        let inside = self.message_on_node(bytes);
        if self.nodes == 1 {
            return inside;
        }
        if let Some(crosses) = self.longest_path_crosses(way, distance) {
            // Somebody waits for the busiest port in each round.
            let message = if crosses { self.message_between_nodes(0.0, bytes) } else { inside };
            let most = self.crossing(way, distance).most;
            return message + Cost::port(f64::from(most) * self.passage_ns(bytes));
        }
        let Crossing { all, most } = self.crossing(way, distance);
        let share = (f64::from(all) / f64::from(self.ranks)).min(1.0);
        share * self.message_between_nodes(most.into(), bytes) + (1.0 - share) * inside
    }

    /// Whether a message of this round goes from node to node on the path that does so most often, where nodes are not
    /// alike: there the average of all ranks says little.
    fn longest_path_crosses(&self, way: Way, distance: u32) -> Option<bool> {
        if self.is_even(distance) {
            return None;
        }
        let crossings = |distance| self.counted(Round::Path { way, distance }).all;
        // Rounds over other distances do not come after those over half of them.
        Some(if distance.is_power_of_two() {
            crossings(distance) > crossings(distance / 2)
        } else {
            self.crossing(way, distance).most > 0
        })
    }

    /// Whether nodes are alike, or all messages over this distance leave them.
    fn is_even(&self, distance: u32) -> bool {
        let is_far = || distance >= self.reach && distance + self.reach <= self.ranks;
        self.map.is_none() && (self.ranks.is_multiple_of(self.reach) || is_far())
    }

    /// What another one of several messages of all ranks over this distance costs, within ranges of so many ranks.
    pub(crate) fn another_among(&self, range: u32, distance: u32, bytes: f64) -> Cost {
        let stays = self.stays_in(range, distance);
        let inside = 0.5 * self.message_on_node(bytes);
        let port = || self.shift_port(distance, bytes);
        let outside = || match self.map {
            // Ports wait for those who have the most to do, and they for these.
            Some(_) => self.net_overhead() + port(),
            None => (2.0 * self.net_overhead()).beside(port()),
        };
        if stays { inside } else { outside() }
    }

    /// What all messages over this distance occupy the port of a node.
    pub(crate) fn shift_port(&self, distance: u32, bytes: f64) -> Cost {
        let most = if self.nodes > 1 { self.crossing(Way::Around, distance).most } else { 0 };
        Cost::port(f64::from(most) * self.passage_ns(bytes))
    }

    /// How many of the messages of all ranks over this distance leave their node.
    fn crossing(&self, way: Way, distance: u32) -> Crossing {
        if self.map.is_some() || !self.ranks.is_multiple_of(self.reach) {
            return self.counted(Round::Shift { way, distance });
        }
        let most = if self.crosses(distance) { self.on_node } else { distance };
        Crossing { all: (u64::from(self.ranks) * u64::from(most) / u64::from(self.on_node)) as u32, most }
    }

    /// What is counted, where no rule tells it.
    fn counted(&self, round: Round) -> Crossing {
        match self.map {
            Some(map) => map.crossing(round),
            None => crossing::of_regular(round, self.ranks, self.reach),
        }
    }

    /// Messages of all ranks over each of some distances at a time, the farthest one last.
    pub(crate) fn shifts(&self, distances: &[u32], bytes: &dyn Fn(u32) -> f64) -> Cost {
        let Some((&farthest, nearer)) = distances.split_last() else { return Cost::NONE };
        if self.nodes > 1 && nearer.iter().any(|&distance| !self.is_even(distance)) {
            return self.uneven_shifts(distances, bytes);
        }
        let another = |&distance: &u32| {
            let bytes = bytes(distance);
            let inside = self.sending(bytes) + self.receiving(bytes);
            if self.nodes == 1 {
                return inside;
            }
            let all = self.crossing(Way::Around, distance).all;
            let share = (f64::from(all) / f64::from(self.ranks)).min(1.0);
            let across = self.net_overhead().beside(self.shift_port(distance, bytes));
            share * across + (1.0 - share) * inside
        };
        self.shift(farthest, bytes(farthest)) + nearer.iter().map(another).sum()
    }

    /// The same where some ranks have more messages to other nodes than others: all wait for them.
    fn uneven_shifts(&self, distances: &[u32], bytes: &dyn Fn(u32) -> f64) -> Cost {
        let each = |&distance: &u32| {
            let (bytes, most) = (bytes(distance), self.crossing(Way::Around, distance).most);
            if most == 0 {
                return self.sending(bytes) + self.receiving(bytes);
            }
            self.net_overhead().beside(Cost::port(f64::from(most) * self.passage_ns(bytes)))
        };
        let crosses = distances.iter().any(|&distance| self.crossing(Way::Around, distance).most > 0);
        let first = if crosses { self.net_overhead() + self.net_latency() } else { self.hop() };
        first + distances.iter().map(each).sum()
    }

    /// What rounds over the distances 1, 2, 4 ... among `ranks` ranks cost together.
    pub(crate) fn doubling(&self, ranks: u32, round: impl Fn(u32) -> Cost) -> Cost {
        self.levels(2, ranks, round)
    }

    /// What rounds over the distances 1, k, k^2 ... among `ranks` ranks cost together.
    pub(crate) fn levels(&self, arity: u32, ranks: u32, round: impl Fn(u32) -> Cost) -> Cost {
        let distances = std::iter::successors(Some(1u32), |distance| distance.checked_mul(arity));
        distances.take_while(|&distance| distance < ranks).map(round).sum()
    }

    /// A step of all ranks around their ring, of which each node's last one leaves it: as a wave passes on the average.
    pub(crate) fn ring_step(&self, bytes: f64) -> Cost {
        if self.nodes == 1 {
            return self.message_on_node(bytes);
        }
        let Crossing { all, most } = match self.map {
            Some(map) => map.crossing(Round::Shift { way: Way::Around, distance: 1 }),
            None => Crossing { all: self.nodes, most: 1 },
        };
        let crossing = (f64::from(all) / f64::from(self.ranks - 1)).min(1.0);
        let between = self.message_between_nodes(1.0, bytes);
        let inside = self.message_on_node(bytes);
        let wave = crossing * between + (1.0 - crossing) * inside;
        let busy = 2.0 * self.net_overhead() + Cost::port(f64::from(most) * self.passage_ns(bytes));
        wave.beside(busy)
    }
}
