//! Plans that were right until somebody changed one thing.

use super::{plans, shape_of};
use crate::verify::{Conditions, FlawKind, Schedule, Sends, verify, verify_under};
use crate::{Action, Algorithm, Buf, Collective, Nodes, Peer, Plan, Shape, Span, Step, Take, candidates};

fn shape((collective, root): (Collective, u32), ranks: u32, bytes: u64) -> Shape {
    Shape { commutative: false, ..shape_of(collective, root, ranks, bytes / 8, 8) }
}

fn named(shape: &Shape, name: &str) -> &'static Algorithm {
    candidates(shape).iter().find(|algorithm| algorithm.name() == name).expect("it is listed")
}

/// The flaw found in the plans after `spoil` changed them; without it there must be none.
fn flaw_after(shape: &Shape, name: &str, spoil: impl Fn(&mut [Plan])) -> FlawKind {
    let in_place = vec![false; shape.ranks as usize];
    let mut plans = plans(named(shape, name), shape, &in_place);
    verify(shape, &in_place, &plans, 1).expect("the plan is right before it is spoiled");
    spoil(&mut plans);
    verify(shape, &in_place, &plans, 1).expect_err("the spoiled plan was found right").kind
}

#[test]
fn a_broadcast_that_does_not_wait_for_credit_races() {
    let flaw = flaw_after(&shape((Collective::Bcast, 0), 4, 1 << 22), "node-flat", |plans| {
        plans[0].steps.retain(|step| !matches!(step.action, Action::Pull { .. }));
    });
    assert_eq!(flaw, FlawKind::Race);
}

#[test]
fn a_broadcast_that_forgets_one_reader_races() {
    let flaw = flaw_after(&shape((Collective::Bcast, 0), 4, 1 << 22), "node-flat", |plans| {
        plans[0].steps.remove(1);
    });
    assert_eq!(flaw, FlawKind::Race);
}

#[test]
fn a_reader_that_gives_no_credit_blocks_the_root() {
    let flaw = flaw_after(&shape((Collective::Bcast, 0), 4, 1 << 22), "node-flat", |plans| {
        plans[2].steps.pop();
    });
    assert_eq!(flaw, FlawKind::Deadlock);
}

#[test]
fn every_pipeline_needs_all_its_slots() {
    let pipelines = [
        ((Collective::Allgather, 0), "node-flat"),
        ((Collective::Allreduce, 0), "node-sliced"),
        ((Collective::Alltoall, 0), "node-flat"),
        ((Collective::Bcast, 1), "node-flat"),
        ((Collective::Exscan, 0), "node-chain"),
        ((Collective::Gather, 1), "node-flat"),
        ((Collective::Reduce, 1), "node-flat"),
        ((Collective::Reduce, 1), "node-sliced"),
        ((Collective::ReduceScatterBlock, 0), "node-flat"),
        ((Collective::Scan, 0), "node-chain"),
        ((Collective::Scatter, 1), "node-flat"),
    ];
    for (collective, name) in pipelines {
        let flaw = flaw_after(&shape(collective, 3, 1 << 22), name, |plans| {
            for plan in plans {
                plan.lines[0].depth -= 1;
            }
        });
        assert_eq!(flaw, FlawKind::Race, "{collective:?}");
    }
}

#[test]
fn more_slots_than_the_budget_allows_are_malformed() {
    for (collective, name) in [(Collective::Bcast, "node-flat"), (Collective::Allreduce, "node-sliced")] {
        let flaw = flaw_after(&shape((collective, 0), 4, 1 << 24), name, |plans| {
            for line in plans.iter_mut().flat_map(|plan| &mut plan.lines) {
                line.depth *= 3;
            }
        });
        assert_eq!(flaw, FlawKind::Malformed, "{collective:?}");
    }
}

#[test]
fn results_of_slices_need_all_their_slots() {
    for collective in [(Collective::Allreduce, 0), (Collective::Reduce, 1)] {
        let flaw = flaw_after(&shape(collective, 3, 1 << 22), "node-sliced", |plans| {
            for plan in plans {
                plan.lines[2].depth -= 1;
            }
        });
        assert_eq!(flaw, FlawKind::Race, "{collective:?}");
    }
}

#[test]
fn swapped_operands_are_in_the_wrong_order() {
    let flaw = flaw_after(&shape((Collective::Allreduce, 0), 2, 8), "node-flat", |plans| {
        if let Action::Pull { take, .. } = &mut plans[1].steps[1].action
            && let Take::Left { right } = *take
        {
            *take = Take::Right { left: right };
        }
    });
    assert_eq!(flaw, FlawKind::Wrong);
}

#[test]
fn a_reduction_that_does_not_wait_for_its_operand_races() {
    let flaw = flaw_after(&shape((Collective::Allreduce, 0), 4, 8), "recursive-doubling", |plans| {
        plans[0].steps[2].after.retain(|&step| step != 1);
    });
    assert_eq!(flaw, FlawKind::Race);
}

#[test]
fn a_reduction_into_what_is_being_sent_races() {
    let flaw = flaw_after(&shape((Collective::Allreduce, 0), 4, 8), "recursive-doubling", |plans| {
        plans[0].steps[5].after.retain(|&step| step != 3);
    });
    assert_eq!(flaw, FlawKind::Race);
}

#[test]
fn a_rank_cannot_pull_from_another_node() {
    let near = shape((Collective::Allreduce, 0), 4, 8);
    let plans = plans(named(&near, "node-flat"), &near, &[false; 4]);
    let far = Shape { nodes: Nodes::Regular { per_node: 2 }, ..near };
    let conditions = Conditions { sends: Sends::Buffered, schedule: Schedule::Fair };
    assert_eq!(verify_under(&near, &[false; 4], &plans, conditions), Ok(()));
    let flaw = verify_under(&far, &[false; 4], &plans, conditions).expect_err("they share no memory");
    assert_eq!(flaw.kind, FlawKind::Malformed);
}

/// A vector of two segments passed on from rank to rank by messages, `delays` saying how far behind the front they are
/// received, and sent on.
fn passed_on(delays: [u32; 2]) -> Result<(), FlawKind> {
    let shape = Shape { nodes: Nodes::APART, ..shape((Collective::Bcast, 0), 3, 20) };
    let vector = Span { buf: Buf::Recv, offset: 0, bytes: 12, stride: 12, end: shape.bytes };
    let step = |action, delay, after| Step { action, delay, after };
    let plan = |rank: u32| {
        let receive = (rank > 0)
            .then(|| step(Action::Receive { from: Peer::Local(rank - 1), into: vector }, delays[0], vec![]));
        let after = if rank > 0 { vec![0] } else { vec![] };
        let send = (rank < 2)
            .then(|| step(Action::Send { to: Peer::Local(rank + 1), from: vector }, delays[1], after));
        let steps = receive.into_iter().chain(send).collect();
        Plan { steps, segments: 2, lines: vec![], scratch_bytes: 0 }
    };
    let plans: Vec<_> = (0..3).map(plan).collect();
    verify(&shape, &[false; 3], &plans, 1).map_err(|flaw| flaw.kind)
}

#[test]
fn messages_of_segments_are_waited_for_segment_by_segment() {
    assert_eq!(passed_on([0, 0]), Ok(()));
    assert_eq!(passed_on([0, 1]), Ok(()));
    assert_eq!(passed_on([1, 0]), Err(FlawKind::Malformed));
}

#[test]
fn a_peer_left_out_is_missed_in_the_result() {
    let flaw = flaw_after(&shape((Collective::Allreduce, 0), 4, 8), "node-flat", |plans| {
        plans[3].steps.remove(2);
    });
    assert_eq!(flaw, FlawKind::Wrong);
}

#[test]
fn brackets_that_differ_between_ranks_are_found() {
    let mut shape = shape((Collective::Allreduce, 0), 3, 8);
    shape.commutative = true;
    let flaw = flaw_after(&shape, "node-flat", |plans| plans[0].steps.swap(1, 2));
    assert_eq!(flaw, FlawKind::Undefined);
    let flaw = flaw_after(&shape, "node-flat", |plans| {
        let steps = &mut plans[0].steps;
        let (Action::Pull { peer: one, .. }, Action::Pull { peer: two, .. }) =
            (steps[1].action, steps[2].action)
        else {
            panic!("rank 0 pulls twice")
        };
        for (step, peer) in [(1, two), (2, one)] {
            if let Action::Pull { peer: old, .. } = &mut steps[step].action {
                *old = peer;
            }
        }
    });
    assert_eq!(flaw, FlawKind::Wrong);
}

#[test]
fn a_message_nobody_receives_is_left_over() {
    let flaw = flaw_after(&shape((Collective::Barrier, 0), 2, 0), "dissemination", |plans| {
        plans[1].steps.pop();
    });
    assert!(matches!(flaw, FlawKind::Leftover | FlawKind::Wrong));
}

#[test]
fn a_barrier_that_misses_somebody_is_no_barrier() {
    let flaw = flaw_after(&shape((Collective::Barrier, 0), 4, 0), "node-flat", |plans| {
        plans[1].steps.pop();
    });
    assert_eq!(flaw, FlawKind::Wrong);
}

#[test]
fn a_send_before_the_other_waits_for_ever_if_it_is_synchronous() {
    let flaw = flaw_after(&shape((Collective::Barrier, 0), 2, 0), "dissemination", |plans| {
        for plan in plans {
            plan.steps[1].after = vec![0];
        }
    });
    assert_eq!(flaw, FlawKind::Deadlock);
}

#[test]
fn a_plan_that_reads_beyond_its_buffer_is_malformed() {
    let flaw = flaw_after(&shape((Collective::Gather, 0), 2, 8), "linear", |plans| {
        if let Action::Send { from, .. } = &mut plans[1].steps[0].action {
            from.offset += 8;
            from.end += 8;
        }
    });
    assert_eq!(flaw, FlawKind::Malformed);
}

#[test]
fn a_plan_must_not_write_to_the_send_buffer() {
    let flaw = flaw_after(&shape((Collective::Allreduce, 0), 2, 8), "node-flat", |plans| {
        if let Action::Pull { into, .. } = &mut plans[0].steps[1].action {
            into.buf = Buf::Send;
        }
    });
    assert_eq!(flaw, FlawKind::Malformed);
}

/// All collectives and algorithms, five ranks working in place, in one segment and in many; on one node, and on several
/// what is for several.
fn for_each_plan(check: impl Fn(&Shape, &Algorithm, &[bool], &[Plan])) {
    let maps = [Nodes::One, Nodes::Regular { per_node: 2 }, Nodes::of(&[0, 1, 1, 0, 2])];
    for (&collective, nodes) in Collective::ALL.iter().flat_map(|it| maps.map(|nodes| (it, nodes))) {
        for bytes in [12_800, 6 << 20] {
            let near = Shape { commutative: true, ..shape((collective, 2), 5, bytes) };
            let shape = Shape { nodes, ..near };
            let is_new = |algorithm: &&&Algorithm| nodes == Nodes::One || !algorithm.admits(&near);
            let admitted = candidates(&shape).iter().filter(|algorithm| algorithm.admits(&shape));
            for algorithm in admitted.filter(is_new) {
                let in_place = [true; 5];
                check(&shape, algorithm, &in_place, &plans(algorithm, &shape, &in_place));
            }
        }
    }
}

/// Whether a flaw is found in plans with one thing changed.
fn is_flawed(shape: &Shape, in_place: &[bool], plans: &[Plan]) -> bool {
    let conditions = Conditions { sends: Sends::Buffered, schedule: Schedule::Fair };
    verify_under(shape, in_place, plans, conditions).is_err()
}

#[test]
fn no_step_of_any_plan_can_be_left_out() {
    for_each_plan(|shape, algorithm, in_place, plans| {
        for (rank, plan) in plans.iter().enumerate() {
            for index in 0..plan.steps.len() {
                let mut spoiled = plans.to_vec();
                let steps = &mut spoiled[rank].steps;
                steps[index].action = Action::Copy { from: Span::EMPTY, into: Span::EMPTY };
                steps.iter_mut().for_each(|step| step.after.retain(|&earlier| earlier as usize != index));
                let is_found = is_flawed(shape, in_place, &spoiled);
                assert!(is_found, "{shape:?}, {algorithm:?}, rank {rank}: {}", plan.steps[index]);
            }
        }
    });
}

#[test]
fn no_dependency_of_any_plan_can_be_left_out() {
    for_each_plan(|shape, algorithm, in_place, plans| {
        // One only bounds how much is under way; in the others five ranks, or three nodes, hear of some twice.
        let hears_twice = shape.collective == Collective::Barrier && algorithm.name() == "two-level";
        let is_exempt = hears_twice || ["pairwise", "dissemination"].contains(&algorithm.name());
        for (rank, plan) in plans.iter().enumerate().filter(|_| !is_exempt) {
            for (index, step) in plan.steps.iter().enumerate() {
                for dependency in 0..step.after.len() {
                    let mut spoiled = plans.to_vec();
                    spoiled[rank].steps[index].after.remove(dependency);
                    let is_found = is_flawed(shape, in_place, &spoiled);
                    assert!(is_found, "{shape:?}, {algorithm:?}, rank {rank}: {step}");
                }
            }
        }
    });
}
