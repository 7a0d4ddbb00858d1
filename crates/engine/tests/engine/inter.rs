//! Channels of intercommunicators: two groups, and runs of plans between them.
//!
//! MPI-5.0: Collective Communication, Applying Collective Operations to Intercommunicators.

use std::sync::Arc;

use oxmpi_base::{ErrorClass, Result};
use oxmpi_engine::{
    Address, Binding, Call, ChannelKey, ChannelPlan, Engine, Form, Lifetime, Lines, Notes, Program, RunKey,
    Whereabouts,
};
use oxmpi_plan::{Action, Buf, Collective, Nodes, Overview, Peer, Plan, Span, Step};

use crate::groups::{GroupsCase, Kind, Sizes, chosen};
use crate::harness::{Lie, Store, World};

const TURNS: usize = 3_000_000;

/// Two groups on the engines of a world, in some order.
pub struct Pair {
    pub sizes: Sizes,
    pub engines: Vec<usize>,
}

/// What a rank tells about a channel that is to be opened.
pub struct Offer {
    process: Whereabouts,
    context: u32,
    lines: Lines,
}

const FORM: Form = Form::of_communicator(Notes::Calls);

impl Pair {
    /// Two jobs, each of which is a group.
    pub fn of_jobs(first: u32, second: u32, seed: u64) -> (World, Self) {
        let world = World::of_jobs(&[first, second], seed);
        let engines = (0..world.engines.len()).collect();
        (world, Self { sizes: Sizes { first, second }, engines })
    }

    fn new(first: u32, second: u32, seed: u64) -> (World, Self) {
        let mut world = World::new(first + second, seed);
        let mut engines: Vec<usize> = (0..world.engines.len()).collect();
        world.random.shuffle(&mut engines);
        (world, Self { sizes: Sizes { first, second }, engines })
    }

    pub fn engine<'a>(&self, world: &'a mut World, rank: u32) -> &'a mut Engine {
        &mut world.engines[self.engines[rank as usize]]
    }

    /// What all ranks tell about a channel that is to be opened.
    pub fn offer(&self, world: &mut World) -> Vec<Offer> {
        let offer = |&node_rank: &usize| {
            let engine = &mut world.engines[node_rank];
            let (context, lines) = (engine.p2p.open_context(), engine.take_lines(FORM).expect("room"));
            Offer { process: engine.whereabouts(), context, lines }
        };
        self.engines.iter().map(offer).collect()
    }

    pub fn open(&self, world: &mut World, offers: &[Offer], rank: u32) -> ChannelKey {
        self.open_beside(world, offers, rank, None)
    }

    fn open_beside(&self, world: &mut World, offers: &[Offer], rank: u32, beside: Option<u32>) -> ChannelKey {
        let (first, second) = offers.split_at(self.sizes.first as usize);
        let (members, remote) = if rank < self.sizes.first { (first, second) } else { (second, first) };
        let engine = self.engine(world, rank);
        let mut address = |offer: &Offer| {
            let peer = engine.peer(offer.process).expect("its job is attached");
            Address { peer, context: offer.context }
        };
        let mut addresses = |group: &[Offer]| group.iter().map(&mut address).collect();
        let plan = ChannelPlan {
            beside,
            rank: rank - self.sizes.fellows(rank).start,
            members: addresses(members),
            remote: addresses(remote),
            lines: members.iter().chain(remote).map(|offer| offer.lines.offset()).collect(),
            form: FORM,
        };
        self.engine(world, rank).open_channel(plan, Some(offers[rank as usize].lines)).expect("address space")
    }

    pub fn open_all(&self, world: &mut World) -> Vec<ChannelKey> {
        let offers = self.offer(world);
        self.sizes.ranks().map(|rank| self.open(world, &offers, rank)).collect()
    }

    /// The same of a communicator, which has messages beside its channel.
    pub fn open_communicator(&self, world: &mut World) -> Vec<ChannelKey> {
        let offers = self.offer(world);
        let open = |rank| {
            let beside = self.engine(world, rank).p2p.open_context();
            self.open_beside(world, &offers, rank, Some(beside))
        };
        self.sizes.ranks().map(open).collect()
    }

    pub fn keep(&self, world: &mut World, channels: &[ChannelKey], case: &GroupsCase) -> Vec<RunKey> {
        let keep = |rank: u32| {
            let (plan, binding) = (Arc::new(case.plan(rank)), case.binding(rank));
            self.engine(world, rank).keep(channels[rank as usize], plan, binding, Lifetime::Nonblocking)
        };
        self.sizes.ranks().map(keep).collect()
    }

    /// Starts kept runs `rounds` times with other data each time. No rank waits for another between rounds.
    pub fn run(&self, world: &mut World, keys: &[RunKey], case: &GroupsCase, rounds: u64) {
        let note = format!("seed {}", world.seed);
        let mut begun = vec![0; keys.len()];
        for _ in 0..TURNS {
            if begun.iter().all(|&begun| begun > rounds) {
                return;
            }
            let node_rank = world.next_rank();
            let rank = self.engines.iter().position(|&engine| engine == node_rank).expect("all have a place");
            let (engine, key, begun) = (&mut world.engines[node_rank], keys[rank], &mut begun[rank]);
            let mut moved = engine.poll();
            if *begun <= rounds && engine.drive(key) {
                moved = true;
                if *begun > 0 {
                    engine.outcome(key).expect("no error");
                    case.check(rank as u32, *begun, &note);
                }
                *begun += 1;
                if *begun <= rounds {
                    case.fill(rank as u32, *begun);
                    engine.start(key);
                }
            }
            world.note(moved);
        }
        world.report(&format!("{rounds} rounds of {:?} of {:?}", case.kind, self.sizes));
    }
}

fn run_everything(first: u32, second: u32, seed: u64, bytes: &[usize], lies: &[Lie]) {
    run_everything_of(Pair::new(first, second, seed), bytes, lies);
}

/// Every collective between two groups, several times each.
pub fn run_everything_of((mut world, pair): (World, Pair), bytes: &[usize], lies: &[Lie]) {
    let channels = pair.open_all(&mut world);
    for kind in Kind::all(pair.sizes) {
        for (&bytes, &lie) in bytes.iter().flat_map(|bytes| lies.iter().map(move |lie| (bytes, lie))) {
            if lie == Lie::Scattered && kind.reduces() {
                continue; // reductions are bound to packed images
            }
            let case = GroupsCase::new(kind, pair.sizes, bytes, lie);
            let held = world.random.below(3 * world.engines.len());
            world.hold(Some(held).filter(|&rank| rank < world.engines.len()));
            let keys = pair.keep(&mut world, &channels, &case);
            pair.run(&mut world, &keys, &case, 3);
            for (rank, key) in (0..).zip(keys) {
                pair.engine(&mut world, rank).forget(key);
            }
        }
    }
    world.hold(None);
    world.settle();
    assert!(world.engines.iter().all(Engine::is_quiet));
}

#[test]
fn every_collective_gives_the_result_for_small_groups_and_every_root() {
    for first in 1..=4 {
        for second in 1..=4 {
            let seed = u64::from(10 * first + second);
            run_everything(first, second, seed, &[0, 1, 100], &[Lie::Dense, Lie::Scattered]);
        }
    }
}

#[test]
fn every_collective_gives_the_result_for_groups_of_unequal_sizes() {
    for (first, second) in [(1, 7), (6, 2), (5, 8)] {
        run_everything(first, second, u64::from(first), &[40], &[Lie::Dense]);
    }
}

/// Longer than a message that is sent without asking.
#[test]
fn long_vectors_go_from_group_to_group() {
    run_everything(2, 3, 5, &[300_000], &[Lie::Dense, Lie::Scattered]);
}

/// Nonblocking Collective Operations: any number may be outstanding, and they complete independently of the
/// order in which they are waited for.
#[test]
fn a_thousand_runs_between_two_groups_are_completed_in_random_order() {
    const RUNS: usize = 1000;
    let (mut world, pair) = Pair::new(2, 3, 21);
    let channels = pair.open_all(&mut world);
    let kinds = Kind::all(pair.sizes);
    let cases: Vec<_> = (0..RUNS)
        .map(|run| GroupsCase::new(kinds[run % kinds.len()], pair.sizes, run % 60, Lie::Dense))
        .collect();
    let keys: Vec<_> = cases.iter().map(|case| pair.keep(&mut world, &channels, case)).collect();
    for rank in pair.sizes.ranks() {
        for (run, case) in cases.iter().enumerate() {
            case.fill(rank, run as u64);
            pair.engine(&mut world, rank).start(keys[run][rank as usize]);
        }
    }
    for rank in pair.sizes.ranks() {
        let mut order: Vec<usize> = (0..RUNS).collect();
        world.random.shuffle(&mut order);
        let engine = pair.engines[rank as usize];
        for run in order {
            let key = keys[run][rank as usize];
            world.until("the end of a run", |engines| engines[engine].drive(key));
            world.engines[engine].outcome(key).expect("no error");
            cases[run].check(rank, run as u64, "seed 21");
            world.engines[engine].forget(key);
        }
    }
    assert!(world.engines.iter().all(Engine::is_quiet));
}

/// Persistent Collective Operations: started operations need not be started in the same order on all ranks.
#[test]
fn persistent_runs_of_two_groups_are_started_in_another_order_on_every_rank() {
    let (mut world, pair) = Pair::new(3, 2, 31);
    let cases: Vec<_> = Kind::all(pair.sizes)
        .into_iter()
        .map(|kind| GroupsCase::new(kind, pair.sizes, 100, Lie::Dense))
        .collect();
    let mut keys = Vec::new();
    for case in &cases {
        let channels = pair.open_all(&mut world);
        keys.push(pair.keep(&mut world, &channels, case));
    }
    for round in 1..=20 {
        for rank in pair.sizes.ranks() {
            let mut order: Vec<usize> = (0..cases.len()).collect();
            world.random.shuffle(&mut order);
            for run in order {
                cases[run].fill(rank, round);
                pair.engine(&mut world, rank).start(keys[run][rank as usize]);
            }
        }
        for rank in pair.sizes.ranks() {
            let engine = pair.engines[rank as usize];
            let own = || keys.iter().map(|keys| keys[rank as usize]);
            world.until("the end of a round", |engines| own().all(|key| engines[engine].is_idle(key)));
            cases.iter().for_each(|case| case.check(rank, round, "seed 31"));
        }
    }
}

#[test]
fn a_context_is_used_again_when_both_groups_have_left_and_no_sooner() {
    let (mut world, pair) = Pair::new(2, 2, 41);
    let offers = pair.offer(&mut world);
    let channels: Vec<_> = (0..4).map(|rank| pair.open(&mut world, &offers, rank)).collect();
    let leave = |world: &mut World, rank: u32| {
        pair.engine(world, rank).leave_channel(channels[rank as usize]);
    };
    leave(&mut world, 0);
    leave(&mut world, 1);
    leave(&mut world, 2);
    world.settle();
    let other = pair.engine(&mut world, 0).p2p.open_context();
    assert_ne!(other, offers[0].context, "the remote group may still send");
    leave(&mut world, 3);
    world.settle();
    world.look_at_departures();
    for rank in 0..4 {
        let context = pair.engine(&mut world, rank).p2p.open_context();
        assert_eq!(context, offers[rank as usize].context, "rank {rank}");
    }
}

/// A whole group may open, use and leave a channel before a rank of the other one gets round to opening it.
#[test]
fn a_remote_group_that_leaves_before_a_rank_has_opened_is_remembered() {
    let (mut world, pair) = Pair::new(2, 1, 42);
    let offers = pair.offer(&mut world);
    let case = GroupsCase::new(Kind::Bcast { root: 0 }, pair.sizes, 100, Lie::Dense);
    for rank in 0..2 {
        let channel = pair.open(&mut world, &offers, rank);
        case.fill(rank, 1);
        let engine = pair.engine(&mut world, rank);
        let key = engine.keep(channel, Arc::new(case.plan(rank)), case.binding(rank), Lifetime::Nonblocking);
        engine.start(key);
        assert!(engine.is_idle(key), "a short broadcast leaves the root at once");
        engine.forget(key);
        engine.leave_channel(channel);
    }
    world.settle();
    let channel = pair.open(&mut world, &offers, 2);
    case.fill(2, 1);
    let engine = pair.engine(&mut world, 2);
    let key = engine.keep(channel, Arc::new(case.plan(2)), case.binding(2), Lifetime::Nonblocking);
    engine.start(key);
    assert!(engine.is_idle(key), "the message has been kept");
    case.check(2, 1, "seed 42");
    engine.forget(key);
    engine.leave_channel(channel);
    assert_eq!(engine.p2p.open_context(), offers[2].context);
}

#[test]
fn channels_of_two_groups_are_opened_used_and_left_in_the_same_memory() {
    let (mut world, pair) = Pair::new(2, 3, 43);
    let case = GroupsCase::new(Kind::Allreduce, pair.sizes, 1000, Lie::Dense);
    let mut before = None;
    for cycle in 0..200 {
        let channels = pair.open_all(&mut world);
        let keys = pair.keep(&mut world, &channels, &case);
        pair.run(&mut world, &keys, &case, 2);
        for rank in pair.sizes.ranks() {
            let engine = pair.engine(&mut world, rank);
            engine.forget(keys[rank as usize]);
            engine.leave_channel(channels[rank as usize]);
        }
        world.settle();
        world.look_at_departures();
        let contexts = next_contexts(&mut world);
        if cycle > 0 {
            assert_eq!(before.as_ref(), Some(&contexts), "cycle {cycle}");
        }
        before = Some(contexts);
    }
}

/// The context that each engine would take next.
fn next_contexts(world: &mut World) -> Vec<u32> {
    let next = |engine: &mut Engine| {
        let context = engine.p2p.open_context();
        engine.p2p.close_context(context);
        context
    };
    world.engines.iter_mut().map(next).collect()
}

/// Runs a plan on each rank, rank by rank; a buffer serves for sending and for receiving. Returns the outcome
/// of rank 0, and its buffer.
fn run_by_hand(pair: &Pair, world: &mut World, plans: &[Plan], buffers: &[Vec<u8>]) -> (Result<()>, Vec<u8>) {
    let channels = pair.open_all(world);
    let stores: Vec<_> = buffers.iter().map(|bytes| Store::of(bytes, Lie::Dense)).collect();
    let mut keys = Vec::new();
    for (rank, plan) in (0..).zip(plans) {
        let recv = stores[rank as usize].buffer().clone();
        let binding = Binding { send: recv.clone(), recv, reducer: None, images: None };
        let plan = Arc::new(Program::new(plan.clone(), Call::UNKNOWN));
        keys.push(pair.engine(world, rank).keep(
            channels[rank as usize],
            plan,
            binding,
            Lifetime::Nonblocking,
        ));
    }
    for rank in pair.sizes.ranks().rev() {
        pair.engine(world, rank).start(keys[rank as usize]);
    }
    let first = pair.engines[0];
    world.until("the end of rank 0's run", |engines| engines[first].drive(keys[0]));
    (world.engines[first].outcome(keys[0]), stores[0].get())
}

fn plan(actions: &[Action]) -> Plan {
    let steps = actions.iter().map(|&action| Step { action, delay: 0, after: Vec::new() });
    Plan { steps: steps.collect(), segments: 1, lines: Vec::new(), scratch_bytes: 0 }
}

#[test]
fn messages_of_ranks_with_equal_numbers_in_both_groups_are_not_mixed_up() {
    let span = |begin| Span::fixed(Buf::Recv, begin, 4);
    let plans = [
        plan(&[
            Action::Receive { from: Peer::Local(1), into: span(0) },
            Action::Receive { from: Peer::Remote(1), into: span(4) },
        ]),
        plan(&[Action::Send { to: Peer::Local(0), from: span(0) }]),
        plan(&[]),
        plan(&[Action::Send { to: Peer::Remote(0), from: span(0) }]),
    ];
    let buffers = [vec![0; 8], vec![1; 4], Vec::new(), vec![3; 4]];
    // Which of the two messages arrives first depends on where the ranks are.
    for seed in 0..8 {
        let (mut world, pair) = Pair::new(2, 2, seed);
        let (outcome, received) = run_by_hand(&pair, &mut world, &plans, &buffers);
        outcome.expect("the messages fit");
        assert_eq!(received, [1, 1, 1, 1, 3, 3, 3, 3], "seed {seed}");
    }
}

#[test]
fn a_message_too_long_names_the_rank_of_the_remote_group() {
    let (mut world, pair) = Pair::new(1, 1, 44);
    let plans = [8, 100].map(|bytes| Overview {
        collective: Collective::Bcast,
        root: 1,
        first: 1,
        second: 1,
        bytes: [bytes; 2],
        unit: 1,
        nodes: Nodes::APART,
    });
    let plans = [chosen(&plans[0], 0), chosen(&plans[1], 1)];
    let (outcome, _) = run_by_hand(&pair, &mut world, &plans, &[vec![0; 8], vec![1; 100]]);
    let error = outcome.expect_err("100 bytes do not fit into 8");
    assert_eq!(error.class(), ErrorClass::Truncate);
    assert!(error.to_string().contains("rank 0 of the remote group"), "{error}");
}
