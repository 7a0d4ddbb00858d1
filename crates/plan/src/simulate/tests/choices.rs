//! What is chosen against what the walk shows to be the best.

use std::cell::Cell;

use super::shape;
use crate::share::{Asked, IRREGULAR, irregular, partitions};
use crate::simulate::{simulate, simulate_loop};
use crate::verify::value::mix;
use crate::{Algorithm, Collective, Machine, Nodes, Overrides, Root, Shape, candidates, select};

/// The choice is never more than 1.5 times worse than the best candidate.
#[test]
fn choices_are_good() {
    let regular = |per_node| Nodes::Regular { per_node };
    let labelled =
        |ranks: u32, node: fn(u32) -> u32| (ranks, Nodes::of(&(0..ranks).map(node).collect::<Vec<_>>()));
    let maps = [
        (2, Nodes::One),
        (3, Nodes::One),
        (5, Nodes::One),
        (8, Nodes::One),
        (16, Nodes::One),
        (17, Nodes::One),
        (33, Nodes::One),
        (64, Nodes::One),
        (128, Nodes::One),
        (300, Nodes::One),
        (2, regular(1)),
        (3, regular(2)),
        // A shorter node at the end.
        (4, regular(3)),
        (12, regular(8)),
        (48, regular(47)),
        (100, regular(48)),
        (5, regular(2)),
        (7, regular(1)),
        (7, regular(3)),
        (15, regular(5)),
        (16, regular(1)),
        (16, regular(4)),
        (33, regular(8)),
        (64, regular(1)),
        (64, regular(16)),
        (60, regular(7)),
        (256, regular(32)),
        (300, regular(1)),
        labelled(60, |rank| rank * 7 % 11),
        // Dealt out in turn: all of a node send at the same time.
        labelled(8, |rank| rank % 2),
        labelled(64, |rank| rank % 4),
        // By chance.
        labelled(7, |rank| rank * rank * 5 % 7 % 3),
        labelled(100, |rank| rank.wrapping_mul(2_654_435_761) >> 28),
        // One node with most of the ranks, the first or the last one.
        labelled(32, |rank| rank.saturating_sub(23)),
        labelled(32, |rank| rank.min(8)),
        // One of another node among few.
        labelled(4, |rank| u32::from(rank == 2)),
        labelled(6, |rank| u32::from(rank == 1)),
        labelled(7, |rank| u32::from(rank == 2)),
        labelled(7, |rank| u32::from(rank > 0)),
        labelled(6, |rank| rank.abs_diff(2) / 2),
        // One pair among many alone.
        labelled(7, |rank| rank.min(5)),
        // Ever larger ones.
        labelled(40, |rank| rank.isqrt()),
        // Up a tree, the paths over its widest level cross where the others do not.
        (18, irregular(18, 19)),
    ];
    let bad: Vec<_> = maps.into_iter().flat_map(|(ranks, nodes)| bad_choices(ranks, nodes, 1)).collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

/// The same of all maps of few ranks, and of those without a rule of more.
#[test]
fn choices_are_good_on_any_map() {
    let asked = Asked::read();
    let few = (2..=7).flat_map(|ranks| partitions(ranks).into_iter().map(move |nodes| (ranks, nodes)));
    let some = |ranks| (0..IRREGULAR).map(move |number| (ranks, irregular(ranks, number)));
    let all = (0..).zip(few.chain((8..=24).flat_map(some)));
    let taken = all.filter(|(number, _)| asked.includes(mix(*number, 1)));
    let bad: Vec<_> = taken.flat_map(|(_, (ranks, nodes))| bad_choices(ranks, nodes, 2)).collect();
    assert!(bad.is_empty(), "{} are bad:\n{}", bad.len(), bad.join("\n"));
}

/// What a choice may take longer than the best one.
const GOOD: f64 = 1.5;

/// The choices on a map that are worse than that, for vectors and blocks of all lengths and so many roots.
fn bad_choices(ranks: u32, nodes: Nodes, roots: usize) -> Vec<String> {
    let mut bad = Vec::new();
    for &collective in Collective::ALL {
        let info = collective.info();
        for bytes in [8, 200, 1 << 10, 6000, 16 << 10, 100_000, 1 << 18, 1 << 20, 6 << 20] {
            let shape = shape(collective, ranks, nodes, bytes / 8 * 8);
            if !info.is_rooted() {
                bad.extend(bad_choice(&shape));
            } else {
                let last_first = bytes == 200 || bytes == 1 << 20;
                let all = if last_first { [ranks - 1, 0] } else { [0, ranks - 1] };
                let rooted = all[..roots].iter().map(|&root| shape.rooted(Root::Rank(root)));
                bad.extend(rooted.filter_map(|shape| bad_choice(&shape)));
            }
            if !info.moves_data() {
                break;
            }
        }
    }
    bad
}

/// A choice that is worse than that.
fn bad_choice(shape: &Shape) -> Option<String> {
    let machine = Machine::default();
    let chosen = select(shape, &Overrides::default());
    let alone = |algorithm: &_, limit_ns| alone_ns(shape, algorithm, &machine, limit_ns);
    let (ratio, best) = compared(shape, chosen, alone);
    (ratio > GOOD).then(|| format!("{ratio:.2} times {best:?}: {chosen:?} for {shape:?}"))
}

/// The same where the ranks of a node take turns: of a run alone, or in a loop. What is the best may be twice as slow
/// in the other case there, as a chain is, which is filled once and then passes something on with every turn.
#[test]
fn choices_are_good_where_ranks_take_turns() {
    let usual = [(1, 600.0), (2, 600.0), (2, 1250.0), (4, 1250.0)].map(|(cores, hop_shared_ns)| Machine {
        cores,
        hop_shared_ns,
        ..Machine::default()
    });
    for machine in usual.into_iter().chain([measured()]) {
        let overrides = Overrides::default().on(machine.clone());
        for &collective in Collective::ALL {
            for ranks in [2, 3, 4, 5, 7, 8, 16, 33] {
                for bytes in [8, 1 << 10, 16 << 10, 100_000, 1 << 20] {
                    let shape = shape(collective, ranks, Nodes::One, bytes / 8 * 8);
                    let chosen = select(&shape, &overrides);
                    let alone = |algorithm: &_, limit_ns| alone_ns(&shape, algorithm, &machine, limit_ns);
                    let (alone, _) = compared(&shape, chosen, alone);
                    let looped = |algorithm: &_, _| {
                        simulate_loop(&shape, algorithm, &machine, &|_| true).expect("it is short")
                    };
                    if alone > GOOD {
                        let (looped, _) = compared(&shape, chosen, looped);
                        let place = format!("{machine:?}, {shape:?}");
                        assert!(
                            looped <= GOOD,
                            "{place}: {chosen:?} takes {alone:.2} and {looped:.2} of the best"
                        );
                    }
                    if !collective.info().moves_data() {
                        break;
                    }
                }
            }
        }
    }
}

/// What `oxmpi tune` has found of two processors: `docs/performance.md`, "Predicted and measured".
fn measured() -> Machine {
    Machine {
        cores: 2,
        hop_far_ns: 12.7,
        hop_shared_ns: 2117.0,
        run_ns: 34.7,
        call_ns: 11.7,
        post_ns: 43.4,
        pull_ns: 21.2,
        copy_byte_ns: 0.0235,
        post_byte_ns: 0.0403,
        pull_byte_ns: 0.0235,
        reduce_byte_ns: 0.027,
        first_byte_ns: 0.0688,
        far_byte_ns: 0.018,
        cache_bytes: 8 << 20,
        stream_byte_ns: 0.0603,
        message_ns: 757.0,
        message_byte_ns: 0.0482,
        ..Machine::default()
    }
}

/// Who has its turn after hundreds of others finds nothing of its own in the caches, so each round more costs much.
#[test]
fn choices_are_good_where_hundreds_of_ranks_take_turns() {
    let machine = Machine { cores: 2, ..Machine::default() };
    let overrides = Overrides::default().on(machine.clone());
    for &collective in Collective::ALL {
        for (ranks, bytes) in [(250, 8), (250, 64), (1000, 64)] {
            let shape = shape(collective, ranks, Nodes::One, bytes);
            let chosen = select(&shape, &overrides);
            let alone = |algorithm: &_, limit_ns| alone_ns(&shape, algorithm, &machine, limit_ns);
            let (ratio, best) = compared(&shape, chosen, alone);
            assert!(ratio <= GOOD, "{ratio:.2} times {best:?}: {chosen:?} for {shape:?}");
        }
    }
    let allgather = shape(Collective::Allgather, 1000, Nodes::One, 64);
    assert_eq!(select(&allgather, &overrides).name(), "node-flat");
}

/// What a run alone takes; for ever, if that is more than a limit. Whatever else keeps a walk from its end is a defect.
fn alone_ns(shape: &Shape, algorithm: &Algorithm, machine: &Machine, limit_ns: f64) -> f64 {
    let is_over = Cell::new(false);
    let may_go_on = |time_ns| {
        is_over.set(time_ns > limit_ns);
        !is_over.get()
    };
    match simulate(shape, algorithm, machine, &may_go_on) {
        Ok(walked) => walked.cost.total_ns(),
        Err(_) if is_over.get() => f64::INFINITY,
        Err(error) => panic!("{algorithm:?} for {shape:?}: {}", error.text()),
    }
}

/// How much longer what is chosen takes than the best of all, and which that is. Only of what is better by more than
/// [`GOOD`] the time is asked exactly: others need not be walked to their end, but to a time that is passed along.
fn compared(
    shape: &Shape,
    chosen: &'static Algorithm,
    takes_ns: impl Fn(&Algorithm, f64) -> f64,
) -> (f64, &'static Algorithm) {
    let chosen_ns = takes_ns(chosen, f64::INFINITY);
    assert!(chosen_ns.is_finite(), "{chosen:?} can be walked for {shape:?}");
    let is_other = |algorithm: &&Algorithm| algorithm.admits(shape) && algorithm.name() != chosen.name();
    let others = candidates(shape).iter().copied().filter(is_other);
    let timed = others.map(|algorithm| (takes_ns(algorithm, chosen_ns / GOOD), algorithm));
    let all = timed.chain([(chosen_ns, chosen)]);
    let (best_ns, best) = all.min_by(|one, other| one.0.total_cmp(&other.0)).expect("there is one");
    (chosen_ns / best_ns, best)
}
