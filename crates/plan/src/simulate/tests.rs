//! The walk against what can be computed by hand, and folding against walking all.

use super::*;
use crate::pattern::{self, allgatherv_over_levels};
use crate::{Collective, Nodes, Overrides, Plan, candidates, select};

mod choices;

fn walked(shape: &Shape, algorithm: &Algorithm, fold: Fold) -> Option<Simulation> {
    walk(shape, algorithm, &Machine::default(), fold, &|_| true).expect("it is short")
}

fn shape(collective: Collective, ranks: u32, nodes: Nodes, bytes: u64) -> Shape {
    let bytes = if collective.info().moves_data() { bytes } else { 0 };
    let unit = if collective.info().is_reduction() { 8 } else { 1 };
    Shape { unit, nodes, ..Shape::of(collective, ranks, bytes) }
}

fn named(shape: &Shape, name: &str) -> &'static Algorithm {
    candidates(shape).iter().copied().find(|algorithm| algorithm.name() == name).expect("it is known")
}

#[test]
fn what_can_be_computed_by_hand_is_found() {
    let machine = Machine::default();
    let exact = |shape: &Shape, name| {
        let walked = simulate(shape, named(shape, name), &machine, &|_| true).expect("it is short");
        walked.cost.total_ns()
    };
    let barrier = shape(Collective::Barrier, 2, Nodes::One, 0);
    let by_hand = machine.post_ns + machine.hop_far_ns + machine.pull_ns;
    assert!((exact(&barrier, "node-flat") - by_hand).abs() < 1e-6);
    // Three rounds, in each of which everybody sends and receives.
    let barrier = shape(Collective::Barrier, 8, Nodes::APART, 0);
    let round = 2.0 * machine.net_overhead_ns + machine.net_latency_ns + machine.net_gap_ns;
    assert!((exact(&barrier, "dissemination") - 3.0 * round).abs() < 1e-6);
    // The root's messages leave its port one after the other.
    let scatter = shape(Collective::Scatter, 9, Nodes::APART, 100_000);
    let passage = machine.net_gap_ns + 100_000.0 * machine.net_byte_ns;
    let by_hand = 2.0 * machine.net_overhead_ns + machine.net_latency_ns + 8.0 * passage;
    assert!((exact(&scatter, "linear") - by_hand).abs() < 1e-3);
}

/// Of blocks of all lengths nothing is chosen: over two levels is never much worse than by messages, and soon better.
#[test]
fn allgatherv_over_levels_is_worth_it() {
    fn over_levels(shape: &Shape, rank: u32, in_place: bool) -> Plan {
        let bytes = vec![shape.bytes; shape.ranks as usize];
        allgatherv_over_levels(&bytes, shape.nodes, rank, in_place).expect("short, and on two levels")
    }
    fn by_messages(shape: &Shape, rank: u32, in_place: bool) -> Plan {
        pattern::allgatherv(&vec![shape.bytes; shape.ranks as usize], rank, in_place).by_messages()
    }
    let admits = |_: &Shape| true;
    let [levels, messages] = [over_levels as fn(&Shape, u32, bool) -> Plan, by_messages]
        .map(|plan| Algorithm { name: "allgatherv", admits, cost: None, plan });
    let takes_ns = |shape: &Shape, algorithm: &Algorithm| {
        walked(shape, algorithm, Fold::none(shape.ranks)).expect("it ends").cost.total_ns()
    };
    for (ranks, per_node) in [(3, 2), (4, 2), (4, 3), (8, 4), (16, 4), (24, 8), (64, 16), (64, 2)] {
        for bytes in [8, 1 << 10, 8 << 10] {
            let shape = shape(Collective::Allgather, ranks, Nodes::Regular { per_node }, bytes);
            let ratio = takes_ns(&shape, &levels) / takes_ns(&shape, &messages);
            let most = if per_node >= 4 && ranks >= 16 { 0.6 } else { 1.5 };
            assert!(ratio <= most, "{ratio:.2} for {shape:?}");
        }
    }
}

#[test]
fn who_waits_for_nobody_runs_ahead_in_a_loop() {
    let machine = Machine { run_ns: 20.0, ..Machine::default() };
    let pace = |shape: &Shape, name| {
        simulate_loop(shape, named(shape, name), &machine, &|_| true).expect("it is short")
    };
    let barrier = shape(Collective::Barrier, 2, Nodes::One, 0);
    let by_hand = machine.run_ns + machine.post_ns + machine.hop_far_ns + machine.pull_ns;
    assert!((pace(&barrier, "node-flat") - by_hand).abs() < 1e-6);
    // The reader finds what it wants, as long as the root is not too far ahead.
    let bcast = shape(Collective::Bcast, 2, Nodes::One, 8);
    let by_hand = machine.run_ns + machine.pull_ns + 8.0 * machine.pull_byte_ns;
    let pace = pace(&bcast, "node-flat");
    assert!((by_hand..1.2 * by_hand).contains(&pace), "{pace} for {by_hand}");
}

/// The first ranks of a chain are ahead, but the others have to do as much as they.
#[test]
fn what_all_have_to_do_on_a_core_takes_its_time_in_a_loop() {
    let machine = Machine { cores: 1, ..Machine::default() };
    let scan = shape(Collective::Scan, 8, Nodes::One, 1 << 18);
    let bytes = f64::from(1 << 18);
    let work = bytes * 7.0 * (machine.post_byte_ns + machine.reduce_byte_ns);
    let pace = simulate_loop(&scan, named(&scan, "node-chain"), &machine, &|_| true).expect("it is short");
    assert!((work..1.2 * work).contains(&pace), "{pace} for {work}");
}

#[test]
fn ranks_that_share_a_core_take_turns() {
    let machine = Machine { cores: 1, ..Machine::default() };
    let exact = |shape: &Shape, name| {
        let walked = simulate(shape, named(shape, name), &machine, &|_| true).expect("it is short");
        walked.cost.total_ns()
    };
    // Each posts in its turn, the last one goes on with what it finds, and then come the others.
    let barrier = shape(Collective::Barrier, 3, Nodes::One, 0);
    let by_hand = 4.0 * machine.hop_shared_ns + 3.0 * machine.post_ns + 6.0 * machine.pull_ns;
    let took = exact(&barrier, "node-flat");
    assert!((took - by_hand).abs() < 1e-6, "{took} for {by_hand}");
    // All segments that fit are passed on in a turn: so a chain of many takes few turns.
    let scan = shape(Collective::Scan, 3, Nodes::One, 64 << 10);
    let work = 3.0 * (64 << 10) as f64 * (machine.post_byte_ns + machine.reduce_byte_ns);
    let took = exact(&scan, "node-chain");
    assert!(took < work + 5.0 * machine.hop_shared_ns, "{took}");
    for &collective in Collective::ALL {
        for ranks in [2, 3, 7, 16] {
            for cores in [1, 2, 5] {
                let machine = Machine { cores, ..Machine::default() };
                let shape = shape(collective, ranks, Nodes::One, 100_000);
                for algorithm in candidates(&shape).iter().filter(|algorithm| algorithm.admits(&shape)) {
                    let turns =
                        simulate(&shape, algorithm, &machine, &|_| true).expect("nobody waits for ever");
                    let own =
                        simulate(&shape, algorithm, &Machine::default(), &|_| true).expect("it is short");
                    let pace = simulate_loop(&shape, algorithm, &machine, &|_| true).expect("it goes on");
                    assert!(pace > 0.0, "{shape:?} by {algorithm:?}");
                    assert!(ranks > cores || turns == own, "{shape:?} by {algorithm:?}: cores of their own");
                }
            }
        }
    }
}

#[test]
fn what_a_rank_of_the_same_core_has_fetched_does_not_cross_again() {
    let took = |ranks, far_byte_ns| {
        let machine = Machine { cores: 2, far_byte_ns, ..Machine::default() };
        let bcast = shape(Collective::Bcast, ranks, Nodes::One, 8000);
        let walked = simulate(&bcast, named(&bcast, "node-flat"), &machine, &|_| true).expect("it is short");
        walked.cost.total_ns()
    };
    // Two and four ranks: one or two have another core than the root, and one of them fetches.
    for ranks in [2, 4] {
        let more = took(ranks, 1.0) - took(ranks, 0.0);
        assert!((more - 8000.0).abs() < 1e-6, "{more} among {ranks}");
    }
}

#[test]
fn the_terms_of_the_critical_path_add_up_and_its_stops_are_in_order() {
    for &collective in Collective::ALL {
        for nodes in [Nodes::One, Nodes::APART, Nodes::Regular { per_node: 3 }] {
            let shape = shape(collective, 13, nodes, 10_000);
            for algorithm in candidates(&shape).iter().filter(|algorithm| algorithm.admits(&shape)) {
                let simulation = walked(&shape, algorithm, Fold::none(13)).expect("nobody waits for ever");
                let path = &simulation.path;
                assert!((path[0].at_ns - simulation.cost.total_ns()).abs() < 1e-6, "{algorithm:?}");
                assert!(path.is_sorted_by(|one, other| one.at_ns >= other.at_ns), "{algorithm:?}: {path:?}");
                assert_eq!(simulation.walked_ranks, 13);
            }
        }
    }
}

#[test]
fn folded_ranks_take_as_long_as_all() {
    let mut folded_cases = 0;
    for &collective in Collective::ALL {
        for (ranks, per_node) in [(4, 1), (8, 2), (12, 3), (16, 4), (21, 7), (32, 1), (64, 8), (60, 12)] {
            for bytes in [8, 4096, 300_000] {
                let shape = shape(collective, ranks, Nodes::Regular { per_node }, bytes);
                for algorithm in candidates(&shape).iter().filter(|algorithm| algorithm.admits(&shape)) {
                    let Some(fold) = Fold::of(&shape, algorithm) else { continue };
                    let Some(folded) = walked(&shape, algorithm, fold) else { continue };
                    let all = walked(&shape, algorithm, Fold::none(ranks)).expect("nobody waits for ever");
                    let (one, other) = (folded.cost.total_ns(), all.cost.total_ns());
                    let case =
                        format!("{collective:?} by {algorithm:?} on {ranks} / {per_node}, {bytes} bytes");
                    // Those that come to a port at the same time may do so in another order.
                    let is_close = (one - other).abs() <= 0.1 * other;
                    assert!(is_close, "{case}: {one} folded, {other} walked");
                    assert_eq!(folded.walked_ranks, per_node);
                    folded_cases += 1;
                }
            }
        }
    }
    assert!(folded_cases > 100, "{folded_cases}");
}

#[test]
fn a_million_ranks_are_walked() {
    let machine = Machine::default();
    let nodes = Nodes::Regular { per_node: 64 };
    for (ranks, walked_ranks) in [(1 << 20, 64), ((1 << 20) - 7, (1 << 20) - 7)] {
        let shape = shape(Collective::Allreduce, ranks, nodes, 8);
        let chosen = select(&shape, &Overrides::default());
        let simulation = simulate(&shape, chosen, &machine, &|_| true).expect("it has few actions a rank");
        assert_eq!(simulation.walked_ranks, walked_ranks);
        let predicted = chosen.cost(&shape, &machine).expect("it has a price").total_ns();
        let ratio = simulation.cost.total_ns() / predicted;
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }
    let ring = shape(Collective::Allgather, 1 << 17, Nodes::APART, 8);
    let simulation = simulate(&ring, named(&ring, "ring"), &machine, &|_| true).expect("it folds");
    assert_eq!(simulation.walked_ranks, 1);
    assert!(simulate(&ring, named(&ring, "ring"), &machine, &|_| false).is_err());
}

#[test]
fn goal_text_keeps_to_the_grammar_and_pairs_every_send() {
    let machine = Machine::default();
    for &collective in Collective::ALL {
        for nodes in [Nodes::One, Nodes::APART, Nodes::Regular { per_node: 2 }] {
            let shape = shape(collective, 6, nodes, 100_000);
            let chosen = select(&shape, &Overrides::default());
            let mut text = Vec::new();
            goal(&shape, chosen, &machine, &mut text).expect("it is short").expect("memory takes all");
            check_goal(&String::from_utf8(text).expect("text"));
        }
    }
}

/// What the parsers of LogGOPSim accept, and that as many bytes arrive under each tag as are sent.
fn check_goal(text: &str) {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    assert_eq!(lines.next(), Some("num_ranks 6"));
    let mut rank = None;
    let mut labels = Vec::new();
    let mut open = std::collections::BTreeMap::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["rank", number, "{"] => {
                rank = Some(number.to_owned());
                labels.clear();
            }
            ["}"] => rank = None,
            [label, "calc", ns] => {
                labels.push(label.trim_end_matches(':').to_owned());
                ns.parse::<u64>().expect("whole nanoseconds");
            }
            [label, verb @ ("send" | "recv"), size, word, peer, "tag", tag] => {
                labels.push(label.trim_end_matches(':').to_owned());
                let bytes: i64 = size.strip_suffix('b').and_then(|bytes| bytes.parse().ok()).expect("bytes");
                let own = rank.clone().expect("inside of a rank");
                let peer = peer.to_owned();
                let (from, to) = if verb == "send" { (own, peer) } else { (peer, own) };
                assert_eq!(word, if verb == "send" { "to" } else { "from" });
                *open.entry((from, to, tag.to_owned())).or_insert(0) +=
                    if verb == "send" { bytes } else { -bytes };
            }
            [label, "requires", required] => {
                assert!(labels.iter().any(|known| known == label), "{line}");
                assert!(labels.iter().any(|known| known == required), "{line}");
            }
            _ => panic!("{line}"),
        }
    }
    assert!(open.values().all(|&bytes| bytes == 0), "{open:?}");
}
