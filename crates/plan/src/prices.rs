//! What elementary actions cost the ranks of a shape on a machine: the words of which costs are made.
//!
//! Formulas price ranks as if all were as far from each other as the farthest ones; the simulation knows who is where.

use crate::cost::Cost;
use crate::crossing::{self, Crossing, Round, Way};
use crate::{Holds, Machine, NodeMap, Nodes, Shape};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prices<'a> {
    machine: &'a Machine,
    ranks: u32,
    /// The most ranks of a node.
    on_node: u32,
    nodes: u32,
    /// The rank from which places of trees are counted.
    root: u32,
    /// The fewest ranks of a node.
    smallest: u32,
    /// Ranks of the root's node.
    with_root: u32,
    /// Over so many ranks or more everybody is on another node.
    reach: u32,
    /// Where ranks are, if that follows no rule.
    map: Option<NodeMap>,
    /// What each byte costs more than in a cache.
    stream_byte_ns: f64,
    /// Ranks whose work a core does, one after the other.
    share: f64,
}

impl<'a> Prices<'a> {
    pub(crate) fn of(shape: &Shape, machine: &'a Machine) -> Self {
        let (on_node, smallest, nodes, with_root) = if shape.is_between() {
            let all = shape.ranks + shape.remote_ranks;
            (all, all, 1, all)
        } else {
            let Shape { nodes, ranks, root, .. } = *shape;
            let with_root = nodes.ranks_of(nodes.node_of(root.rank()), ranks).len() as u32;
            (nodes.largest(ranks), nodes.smallest(ranks), nodes.count(ranks), with_root)
        };
        let share = machine.ranks_of_core(on_node);
        let touched = touched_bytes(shape).saturating_mul(share.into());
        // Where ranks are placed without a rule, neighbours are as far from each other as anybody.
        let map = if let Nodes::Irregular(map) = shape.nodes { Some(map) } else { None };
        let reach = if map.is_some() { 1 } else { on_node };
        Self {
            machine,
            ranks: shape.ranks,
            on_node,
            smallest,
            nodes,
            root: if shape.commutative { shape.root.rank() } else { 0 },
            with_root,
            reach,
            map,
            stream_byte_ns: machine.stream_byte_ns * machine.part_beyond(touched),
            share: share.into(),
        }
    }

    /// Prices of what so many ranks of a node do at the same time, while the others wait; else all do the same.
    pub(crate) fn of_workers(&self, workers: u32) -> Self {
        Self { share: self.machine.ranks_of_core(workers).into(), ..*self }
    }

    /// The same of so many ranks of which each is `stride` ranks further on than the one before: as neighbours are on
    /// different cores, these share some of them.
    pub(crate) fn of_workers_apart(&self, workers: u32, stride: u32) -> Self {
        self.of_workers(workers.saturating_mul(greatest_common_divisor(self.machine.cores, stride)))
    }

    /// Prices of what ranks do for each other in turn, so that no core waits for long.
    pub(crate) fn of_flow(&self, workers: u32) -> Self {
        let cores = self.machine.cores;
        let share = if cores == 0 { 1.0 } else { (f64::from(workers) / f64::from(cores)).max(1.0) };
        Self { share, ..*self }
    }

    /// The nodes that ranks are on.
    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    /// The same of two places of a node.
    pub(crate) fn hop_between(&self, one: u32, other: u32) -> Cost {
        Cost::hops(self.machine.hop_ns(one, other, self.on_node))
    }

    /// The same where the ranks of a node take turns, and changing hands is counted apart.
    pub(crate) fn hop_in_turns(&self, one: u32, other: u32) -> Cost {
        let shares = self.machine.core_of(one) == self.machine.core_of(other);
        Cost::hops(if shares { 0.0 } else { self.machine.hop_of_cores_ns(one, other) })
    }

    /// How long it takes that a core goes from one rank to the next.
    pub(crate) fn handover(&self) -> Cost {
        Cost::hops(self.machine.handover_ns(self.on_node))
    }

    /// The cores of a node and the ranks that share them, if these have none of their own.
    pub(crate) fn shared_cores(&self) -> Option<(u32, u32)> {
        let cores = self.machine.cores;
        (cores > 0 && self.on_node > cores).then_some((cores, self.on_node))
    }

    /// The core of a place of a node.
    pub(crate) fn core_of(&self, place: u32) -> u32 {
        self.machine.core_of(place)
    }

    /// Whether two places of a node are far from each other.
    pub(crate) fn are_far_between(&self, one: u32, other: u32) -> bool {
        self.machine.are_far(one, other)
    }

    /// Prices among `ranks` ranks of a node.
    pub(crate) fn of_node(&self, ranks: u32) -> Self {
        let share = self.machine.ranks_of_core(ranks).into();
        let (root, with_root, map) = (0, ranks, None);
        Self {
            ranks,
            on_node: ranks,
            smallest: ranks,
            nodes: 1,
            root,
            with_root,
            reach: ranks,
            map,
            share,
            ..*self
        }
    }

    /// Prices among one rank of each of so many nodes, counted as neighbours.
    pub(crate) fn of_leaders(&self, nodes: u32) -> Self {
        let (root, with_root, map) = (0, 1, None);
        Self {
            ranks: nodes,
            on_node: 1,
            smallest: 1,
            nodes,
            root,
            with_root,
            reach: 1,
            map,
            share: 1.0,
            ..*self
        }
    }

    /// Beginning and ending a run.
    pub(crate) fn run(&self) -> Cost {
        Cost::actions(self.machine.run_ns)
    }

    /// The same where neighbours are on one node as far as they can be.
    pub(crate) fn along_nodes(&self) -> Self {
        Self { reach: self.on_node, map: None, ..*self }
    }

    /// Prices among one rank of each range of consecutive ranks of a node.
    pub(crate) fn of_ranges(&self, nodes: Nodes, ranges: u32) -> Self {
        let Nodes::Irregular(map) = nodes.of_ranges() else { return self.of_leaders(ranges) };
        let [on_node, smallest] = [Nodes::largest, Nodes::smallest].map(|of| of(&nodes.of_ranges(), ranges));
        Self { ranks: ranges, on_node, smallest, reach: 1, map: Some(map), ..*self }
    }

    /// Until a rank has seen what another one of its node has posted.
    pub(crate) fn hop(&self) -> Cost {
        Cost::hops(self.machine.hop_ns(0, self.on_node.saturating_sub(1), self.on_node))
    }

    /// The same along a chain of ranks, each of which waits for the one before: a core changes hands once, to the next.
    pub(crate) fn hop_of_chain(&self) -> Cost {
        if self.shared_cores().is_some() { self.handover() } else { self.hop() }
    }

    /// Until all ranks of a node, each of which waits for all others, have seen what these have posted: where they
    /// share cores each gets one to post, and all but the last one get it once more.
    pub(crate) fn hop_among_all(&self) -> Cost {
        self.hop() + self.turns_again()
    }

    /// All turns but one of the ranks of a core: after the first round in which all wait for each other, each of them
    /// must get its core once more. Where all share one core, the last one to post finds all that it waits for at once.
    pub(crate) fn turns_again(&self) -> Cost {
        let enough = if self.machine.cores == 1 { 2.0 } else { 1.0 };
        (self.share - enough).max(0.0) * self.handover()
    }

    /// Posting.
    pub(crate) fn post(&self, bytes: f64) -> Cost {
        self.acted(self.machine.post_ns) + self.moved(bytes, self.machine.post_byte_ns)
    }

    /// Pulling what is there.
    pub(crate) fn pull(&self, bytes: f64) -> Cost {
        self.pull_from(self.are_far(), bytes)
    }

    /// The same of a rank that is far, or near.
    pub(crate) fn pull_from(&self, is_far: bool, bytes: f64) -> Cost {
        self.acted(self.machine.pull_ns)
            + self.moved(bytes, self.machine.pull_byte_ns)
            + self.fetched(is_far, bytes)
    }

    /// Combining with what is there.
    pub(crate) fn pull_reduce(&self, bytes: f64) -> Cost {
        self.pull_reduce_from(self.are_far(), bytes)
    }

    /// The same of a rank that is far, or near.
    pub(crate) fn pull_reduce_from(&self, is_far: bool, bytes: f64) -> Cost {
        self.acted(self.machine.pull_ns)
            + self.moved(bytes, self.machine.reduce_byte_ns)
            + self.fetched(is_far, bytes)
    }

    /// Waiting for a line that `readers` ranks, all but one of which are before, want to read at the same time. So
    /// few that it was never seen in a measurement do not count.
    pub(crate) fn readers(&self, readers: u32, bytes: f64) -> Cost {
        Cost::readers(f64::from(readers.saturating_sub(FEW_READERS)) * self.occupied_ns(bytes))
    }

    /// How long a reader occupies a line with `bytes` bytes.
    pub(crate) fn occupied_ns(&self, bytes: f64) -> f64 {
        self.machine.reader_ns + bytes * self.machine.reader_byte_ns
    }

    /// Copying one's own bytes.
    pub(crate) fn copy(&self, bytes: f64) -> Cost {
        self.moved(bytes, self.machine.post_byte_ns)
    }

    /// Combining one's own bytes.
    pub(crate) fn reduce(&self, bytes: f64) -> Cost {
        self.moved(bytes, self.machine.reduce_byte_ns)
    }

    /// What a message inside a node costs its sender.
    pub(crate) fn sending(&self, bytes: f64) -> Cost {
        self.end_of_message(SENDERS_SHARE, bytes)
    }

    /// What it costs its receiver, apart from its hop.
    pub(crate) fn receiving(&self, bytes: f64) -> Cost {
        self.end_of_message(1.0 - SENDERS_SHARE, bytes)
    }

    fn end_of_message(&self, share: f64, bytes: f64) -> Cost {
        let copy = self.moved(bytes, share * self.machine.message_byte_ns);
        self.acted(0.5 * self.machine.message_ns) + copy
    }

    /// A message inside a node.
    fn message_on_node(&self, bytes: f64) -> Cost {
        self.sending(bytes) + self.hop() + self.receiving(bytes)
    }

    /// What a message between nodes costs either end's core.
    pub(crate) fn net_overhead(&self) -> Cost {
        Cost::net(self.machine.net_overhead_ns)
    }

    /// From port to port.
    pub(crate) fn net_latency(&self) -> Cost {
        Cost::net(self.machine.net_latency_ns)
    }

    /// How long a message occupies the port of its node.
    pub(crate) fn passage_ns(&self, bytes: f64) -> f64 {
        self.machine.net_gap_ns + bytes * self.machine.net_byte_ns
    }

    /// A message between nodes that leaves its port after `crossing - 1` others.
    fn message_between_nodes(&self, crossing: f64, bytes: f64) -> Cost {
        let ends = 2.0 * self.net_overhead() + self.net_latency();
        ends + Cost::port(crossing * self.passage_ns(bytes))
    }

    /// A message to a rank that is `distance` ranks away, where few others send.
    pub(crate) fn message(&self, distance: u32, bytes: f64) -> Cost {
        if self.crosses(distance) {
            self.message_between_nodes(1.0, bytes)
        } else {
            self.message_on_node(bytes)
        }
    }

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
        // Nodes of equal lengths look the same from each of them.
        let root = if self.ranks.is_multiple_of(self.reach) { self.root % self.reach } else { self.root };
        if self.nodes > 1 && (root > 0 || !self.reach.is_power_of_two()) {
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
        self.uneven_shifts(&[first], |_| bytes)
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
    pub(crate) fn shifts(&self, distances: &[u32], bytes: impl Fn(u32) -> f64) -> Cost {
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
    fn uneven_shifts(&self, distances: &[u32], bytes: impl Fn(u32) -> f64) -> Cost {
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

    /// What another message costs who sends several at a time over this distance.
    pub(crate) fn another_sent(&self, distance: u32, bytes: f64) -> Cost {
        if self.crosses(distance) { self.another_crossing(bytes) } else { self.sending(bytes) }
    }

    /// What another message costs who receives several at a time over this distance.
    pub(crate) fn another_received(&self, distance: u32, bytes: f64) -> Cost {
        if self.crosses(distance) { self.another_crossing(bytes) } else { self.receiving(bytes) }
    }

    fn another_crossing(&self, bytes: f64) -> Cost {
        self.net_overhead().beside(Cost::port(self.passage_ns(bytes)))
    }

    /// Whether the ranks of a node are all on another one after so many ranks.
    fn crosses(&self, distance: u32) -> bool {
        self.nodes > 1 && distance >= self.reach
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

    /// Messages from each rank to all others, `window` of them under way at a time, with `more` to do for each: those
    /// of the largest node have the most to do inside, and those of the smallest one outside.
    pub(crate) fn all_others(&self, ranks: u32, window: f64, bytes: f64, more: Cost) -> Cost {
        let of_largest = self.all_others_of(self.on_node, ranks, window, bytes, more);
        if self.smallest == self.on_node {
            return of_largest;
        }
        of_largest.beside(self.all_others_of(self.smallest, ranks, window, bytes, more))
    }

    /// The same of the ranks of a node of so many.
    fn all_others_of(&self, on_node: u32, ranks: u32, window: f64, bytes: f64, more: Cost) -> Cost {
        let inside = f64::from(on_node - 1);
        let across = f64::from(ranks - on_node);
        // Of those that are under way together at the end one is sent after the others.
        let rounds = |messages: f64| (messages / window).ceil();
        let last = (across.min(window) - 1.0).max(0.0) * self.net_overhead();
        let work = inside * (self.sending(bytes) + self.receiving(bytes) + more);
        let work = if inside > 0.0 { work + self.hop_among_all() } else { Cost::NONE };
        let cores = across * (2.0 * self.net_overhead() + more);
        let ends = 2.0 * self.net_overhead() + self.net_latency();
        let port = Cost::port(f64::from(on_node) * across * self.passage_ns(bytes));
        work + cores.beside(rounds(across) * ends + last).beside(port)
    }

    /// Messages from all others to a rank.
    pub(crate) fn fan_in(&self, ranks: u32, bytes: f64) -> Cost {
        self.fan(ranks, bytes, self.receiving(bytes), self.sending(bytes))
    }

    /// Messages from a rank to all others.
    pub(crate) fn fan_out(&self, ranks: u32, bytes: f64) -> Cost {
        self.fan(ranks, bytes, self.sending(bytes), self.receiving(bytes))
    }

    fn fan(&self, ranks: u32, bytes: f64, here: Cost, there: Cost) -> Cost {
        let inside = f64::from(self.with_root - 1);
        let across = f64::from(ranks - self.with_root);
        let last = if across > 0.0 { self.net_latency() + self.net_overhead() } else { self.hop() + there };
        let cores = across * self.net_overhead();
        (inside * here + cores).beside(Cost::port(across * self.passage_ns(bytes))) + last
    }

    /// What an action costs apart from its bytes.
    fn acted(&self, ns: f64) -> Cost {
        Cost::actions(self.share * ns)
    }

    fn moved(&self, bytes: f64, byte_ns: f64) -> Cost {
        Cost::bytes(self.share * bytes * (byte_ns + self.stream_byte_ns))
    }

    /// Bytes on their way from a core that is far: those for all ranks of a core come once.
    fn fetched(&self, is_far: bool, bytes: f64) -> Cost {
        Cost::bytes(if is_far { bytes * self.machine.far_byte_ns } else { 0.0 })
    }

    fn are_far(&self) -> bool {
        self.machine.are_some_far(self.on_node)
    }
}

/// A level of a tree, on some of its paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// From a child to the next one.
    pub(crate) distance: u32,
    /// The places to which these paths lead: so many, from the first one on.
    pub(crate) places: u32,
}

/// The greatest number that divides both.
pub(crate) fn greatest_common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// What a rank touches of its own, at most.
fn touched_bytes(shape: &Shape) -> u64 {
    let all = u64::from(shape.ranks.max(shape.remote_ranks));
    let info = shape.collective.info();
    let [sent, received] = [info.send, info.recv].map(|side| if side.holds == Holds::Each { all } else { 1 });
    let blocks = if info.has_one_buffer { sent.max(received) } else { sent + received };
    shape.longest().saturating_mul(blocks)
}

/// How much of copying a message's bytes is the sender's part: reading what another core has written takes longer.
const SENDERS_SHARE: f64 = 0.4;

/// The most readers of a line of which measurements say nothing.
const FEW_READERS: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collective;

    #[test]
    fn ranks_that_are_apart_have_a_part_of_the_cores() {
        let shape = Shape::of(Collective::Barrier, 1000, 0);
        let share = |cores, workers, stride| {
            let machine = Machine { cores, ..Machine::default() };
            Prices::of(&shape, &machine).of_workers_apart(workers, stride).share
        };
        assert_eq!([share(6, 4, 1), share(6, 4, 4), share(6, 4, 9), share(6, 4, 6)], [1.0, 2.0, 2.0, 4.0]);
        assert_eq!([share(0, 4, 6), share(1, 4, 6), share(2, 4, 6)], [1.0, 4.0, 4.0]);
        // There is no machine like this, but a file of constants may say so.
        assert_eq!([share(u32::MAX, 4, 7), share(u32::MAX - 4, 4, 1 << 20)], [1.0, 1.0]);
    }
}
