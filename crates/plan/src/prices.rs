//! What elementary actions cost the ranks of a shape on a machine: the words of which costs are made.
//!
//! Formulas price ranks as if all were as far from each other as the farthest ones; the simulation knows who is where.

mod rounds;
mod tree;

use crate::collective::{Holds, Side, Whose};
use crate::cost::Cost;
use crate::segment::SLOT_BUDGET_BYTES;
use crate::{FIRST_BYTES, Machine, NodeMap, Nodes, Shape};

pub(crate) use tree::Level;

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
    /// Which part of the bytes is not found in a cache.
    missed: f64,
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
            missed: machine.part_beyond(touched_bytes(shape, share, machine.cores), share),
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
    #[cfg(any(test, feature = "tools"))]
    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    /// The same of two places of a node.
    #[cfg(any(test, feature = "tools"))]
    pub(crate) fn hop_between(&self, one: u32, other: u32) -> Cost {
        Cost::hops(self.machine.hop_ns(one, other, self.on_node))
    }

    /// The same where the ranks of a node take turns, and changing hands is counted apart.
    #[cfg(any(test, feature = "tools"))]
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
    #[cfg(any(test, feature = "tools"))]
    pub(crate) fn core_of(&self, place: u32) -> u32 {
        self.machine.core_of(place)
    }

    /// Whether two places of a node are far from each other.
    #[cfg(any(test, feature = "tools"))]
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
        self.acted(self.machine.post_ns) + self.handed(bytes, self.posted_byte_ns())
    }

    /// Pulling what is there.
    pub(crate) fn pull(&self, bytes: f64) -> Cost {
        self.pull_from(self.are_far(), bytes)
    }

    /// The same of a rank that is far, or near.
    pub(crate) fn pull_from(&self, is_far: bool, bytes: f64) -> Cost {
        self.acted(self.machine.pull_ns)
            + self.handed(bytes, self.machine.pull_byte_ns)
            + self.fetched(is_far, bytes)
    }

    /// Combining with what is there.
    pub(crate) fn pull_reduce(&self, bytes: f64) -> Cost {
        self.pull_reduce_from(self.are_far(), bytes)
    }

    /// The same of a rank that is far, or near.
    pub(crate) fn pull_reduce_from(&self, is_far: bool, bytes: f64) -> Cost {
        self.acted(self.machine.pull_ns)
            + self.handed(bytes, self.machine.reduce_byte_ns)
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
        self.moved(bytes, self.machine.copy_byte_ns)
    }

    /// Combining one's own bytes.
    pub(crate) fn reduce(&self, bytes: f64) -> Cost {
        self.moved(bytes, self.machine.reduce_byte_ns)
    }

    /// What a message inside a node costs its sender, who writes where the receiver has read.
    pub(crate) fn sending(&self, bytes: f64) -> Cost {
        self.end_of_message((SENDERS_SHARE * self.machine.message_byte_ns).max(self.posted_byte_ns()), bytes)
    }

    /// What it costs its receiver, apart from its hop.
    pub(crate) fn receiving(&self, bytes: f64) -> Cost {
        self.end_of_message((1.0 - SENDERS_SHARE) * self.machine.message_byte_ns, bytes)
    }

    fn end_of_message(&self, byte_ns: f64, bytes: f64) -> Cost {
        self.acted(0.5 * self.machine.message_ns) + self.moved(bytes, byte_ns)
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
        Cost::bytes(self.share * bytes * (byte_ns + self.missed * self.machine.stream_byte_ns))
    }

    /// Writing a byte where another rank has read, in whose cache it is. What is in no cache is nobody's, and costs
    /// what copying one's own does.
    fn posted_byte_ns(&self) -> f64 {
        let Machine { post_byte_ns, copy_byte_ns, .. } = *self.machine;
        post_byte_ns - self.missed * (post_byte_ns - copy_byte_ns).max(0.0)
    }

    /// Bytes that go from rank to rank.
    fn handed(&self, bytes: f64, byte_ns: f64) -> Cost {
        let first_ns = bytes.min(FIRST_BYTES as f64) * self.machine.first_byte_ns;
        self.moved(bytes, byte_ns) + Cost::bytes(self.share * first_ns)
    }

    /// Bytes on their way out of a cache of a core that is far: those for all ranks of a core come once.
    fn fetched(&self, is_far: bool, bytes: f64) -> Cost {
        let crossing = (1.0 - self.missed) * self.machine.far_byte_ns;
        Cost::bytes(if is_far { bytes * crossing } else { 0.0 })
    }

    fn are_far(&self) -> bool {
        self.machine.are_some_far(self.on_node)
    }
}

/// The greatest number that divides both.
pub(crate) fn greatest_common_divisor(one: u32, other: u32) -> u32 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}

/// What those ranks of a node touch that take turns on a core, at most: their buffers, and slots for a block or vector
/// that they contribute. Cores that share caches share them as they need: what the root alone has is spread over these.
fn touched_bytes(shape: &Shape, sharers: u32, cores: u32) -> u64 {
    let with_one_cache = u64::from(cores.clamp(1, CORES_OF_A_CACHE));
    let all = u64::from(shape.ranks.max(shape.remote_ranks));
    let info = shape.collective.info();
    let by_ranks = |side: Side, bytes: u64| match side.whose {
        Whose::Everybody => bytes.saturating_mul(sharers.into()),
        Whose::Nobody => 0,
        Whose::Root => bytes / with_one_cache,
    };
    let held = |side: Side| {
        let blocks = if side.holds == Holds::Each { all } else { 1 };
        by_ranks(side, shape.longest().saturating_mul(blocks))
    };
    let [sent, received] = [info.send, info.recv].map(held);
    let buffers = if info.has_one_buffer { sent.max(received) } else { sent.saturating_add(received) };
    buffers.saturating_add(by_ranks(info.send, shape.longest().min(SLOT_BUDGET_BYTES)))
}

/// So many cores share a cache, at most; for so many at a time `oxmpi tune` measures what a core has of it.
const CORES_OF_A_CACHE: u32 = 8;

/// How much of copying a message's bytes is the sender's part, where messages are answered: reading what another core
/// has written takes longer.
const SENDERS_SHARE: f64 = 0.4;

/// The most readers of a line of which measurements say nothing.
const FEW_READERS: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collective, candidates};

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

    /// As far as nothing is found in caches it does not matter whose these are.
    #[test]
    fn what_is_in_no_cache_is_in_nobody_elses() {
        let near = Machine { cores: 2, post_byte_ns: 0.02, copy_byte_ns: 0.02, ..Machine::default() };
        let far = Machine { post_byte_ns: 0.06, far_byte_ns: 0.05, ..near.clone() };
        let ns = |cost: Cost| cost.total_ns();
        let costs = |machine: &Machine, bytes: u64| {
            let shape = Shape::of(Collective::Allgather, 4, bytes);
            let (prices, bytes) = (Prices::of(&shape, machine), bytes as f64);
            [prices.post(bytes), prices.pull(bytes), prices.sending(bytes)].map(|cost| ns(cost) / bytes)
        };
        let differences = |bytes| {
            let [near, far] = [&near, &far].map(|machine| costs(machine, bytes));
            [0, 1, 2].map(|action| ((far[action] - near[action]) * 1e4).round() / 1e4)
        };
        assert_eq!(differences(64 << 10), [0.08, 0.05, 0.08], "two ranks of a core fetch a byte once");
        assert_eq!(differences(64 << 20), [0.0; 3]);
    }

    /// Of a node some ranks may know a network, and others not: they must choose alike.
    #[test]
    fn within_a_node_nothing_depends_on_what_a_network_costs() {
        let other = Machine {
            net_latency_ns: 1e5,
            net_overhead_ns: 2e4,
            net_gap_ns: 4e3,
            net_byte_ns: 8.0,
            ..Machine::default()
        };
        for &collective in Collective::ALL {
            for (ranks, unit) in (2..=17).flat_map(|ranks| [8, 12, 320_000].map(|unit| (ranks, unit))) {
                for elements in [1, 4, 1000] {
                    let shape = Shape { unit, ..Shape::of(collective, ranks, u64::from(unit) * elements) };
                    for algorithm in candidates(&shape) {
                        let costs =
                            [&Machine::default(), &other].map(|machine| algorithm.cost(&shape, machine));
                        let [here, there] = costs.map(|cost| cost.map(|cost| cost.total_ns()));
                        assert_eq!(here, there, "{} of {shape:?}", algorithm.name());
                    }
                }
            }
        }
    }
}
