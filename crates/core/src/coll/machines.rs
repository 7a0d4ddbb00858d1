//! The machine as the ranks of a communicator see it: what all have been told of it, and the cores that they share.
//!
//! How many cores a job has is a fact of its node. Whoever made the segment wrote it there, before any rank was bound
//! to a part of them, so all ranks know the same. Communicators of several jobs take the most that one has, which their
//! members tell each other when they make one: see [`Communicator`](crate::Communicator).

use oxmpi_fabric::Prices;
use oxmpi_plan::{Machine, Nodes, Overrides};

/// See the module.
#[derive(Debug)]
pub(crate) struct Machines {
    told: Overrides,
    /// What is combined is combined in the order that the number of ranks and the length alone decide.
    is_reproducible: bool,
    /// Whether cores count where nobody has said how many there are.
    counts_cores: bool,
    /// The same with as many cores, as far as there are communicators.
    known: Vec<(u32, Overrides)>,
}

impl Machines {
    /// Of the machine that ranks were told of.
    pub(crate) fn new(told: Overrides, is_reproducible: bool) -> Self {
        let counts_cores = !is_reproducible && told.machine().cores == 0;
        Self { told, is_reproducible, counts_cores, known: Vec::new() }
    }

    /// Which ranks of a communicator share memory in the eyes of who plans a collective of it: none where the order in
    /// which they combine must not depend on that.
    #[inline]
    pub(super) fn nodes_for(&self, is_reduction: bool, nodes: Nodes) -> Nodes {
        if is_reduction && self.is_reproducible { Nodes::APART } else { nodes }
    }

    /// There is such a network between nodes, unless ranks were told what that costs.
    pub(super) fn meet_network(&mut self, network: Prices) {
        let costs = |machine: &Machine| {
            [machine.net_latency_ns, machine.net_overhead_ns, machine.net_gap_ns, machine.net_byte_ns]
        };
        let told = self.told.machine().clone();
        if costs(&told) != costs(&Machine::default()) {
            return;
        }
        let machine = Machine {
            net_latency_ns: network.latency_ns,
            net_overhead_ns: network.overhead_ns,
            net_gap_ns: network.gap_ns,
            net_byte_ns: network.byte_ns,
            ..told
        };
        self.told = std::mem::take(&mut self.told).on(machine);
        self.known.clear();
    }

    /// What decides among ranks that share so many cores.
    pub(super) fn of_cores(&mut self, cores: u32) -> &Overrides {
        if !self.counts_cores {
            return &self.told;
        }
        let index = self.known.iter().position(|(known, _)| *known == cores).unwrap_or_else(|| {
            let machine = Machine { cores, ..self.told.machine().clone() };
            self.known.push((cores, self.told.clone().on(machine)));
            self.known.len() - 1
        });
        &self.known[index].1
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_plan::{Collective, Shape, select};

    use super::*;

    /// What 16 ranks of a node get for a scan of 16 KiB.
    fn choice(machines: &mut Machines, cores: u32) -> &'static str {
        let shape = Shape { unit: 8, ..Shape::of(Collective::Scan, 16, 16 << 10) };
        select(&shape, machines.of_cores(cores)).name()
    }

    #[test]
    fn the_cores_that_ranks_share_decide() {
        let mut machines = Machines::new(Overrides::default(), false);
        let [few, many, again] = [2, 16, 2].map(|cores| choice(&mut machines, cores));
        assert!(few != many && few == again, "{few}, {many}, {again}");
    }

    #[test]
    fn a_network_has_its_prices_unless_a_file_says_others() {
        let network = Prices { latency_ns: 1e6, overhead_ns: 1e5, gap_ns: 1e5, byte_ns: 10.0 };
        let machine = |told: Machine| {
            let mut machines = Machines::new(Overrides::default().on(told), false);
            machines.of_cores(4);
            machines.meet_network(network);
            machines.of_cores(4).machine().clone()
        };
        assert_eq!(machine(Machine::default()).net_byte_ns, 10.0);
        assert_eq!(machine(Machine { net_gap_ns: 7.0, ..Machine::default() }).net_latency_ns, 1500.0);
    }

    #[test]
    fn what_a_file_says_of_them_or_that_they_do_not_count_comes_first() {
        let usual = choice(&mut Machines::new(Overrides::default(), false), 16);
        let told = Overrides::default().on(Machine { cores: 16, ..Machine::default() });
        assert_eq!(choice(&mut Machines::new(told, false), 2), usual);
        assert_eq!(choice(&mut Machines::new(Overrides::default(), true), 2), usual);
    }

    #[test]
    fn where_ranks_run_does_not_count_for_what_is_combined_if_that_is_to_be_reproducible() {
        let (usual, fixed) = [false, true].map(|is| Machines::new(Overrides::default(), is)).into();
        for nodes in [Nodes::One, Nodes::Regular { per_node: 3 }, Nodes::APART] {
            assert_eq!(usual.nodes_for(true, nodes), nodes);
            assert_eq!(fixed.nodes_for(false, nodes), nodes);
            assert_eq!(fixed.nodes_for(true, nodes), Nodes::APART);
        }
    }
}
