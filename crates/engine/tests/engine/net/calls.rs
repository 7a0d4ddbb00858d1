//! Ranks on several nodes that call different collectives: who waits for the other one in vain hears of it.
//!
//! MPI-5.0: Collective Communication, Correctness.

use std::sync::Arc;

use oxmpi_base::{BasicType, ErrorClass, Function, Result};
use oxmpi_engine::{Binding, Call, Lifetime, Program, RunKey, Signature};
use oxmpi_fabric::sim::Conduct;
use oxmpi_plan::{Action, Buf, Peer, Plan, Span, Step};

use crate::harness::{Lie, Store, World};

const BYTES: u64 = 64;
/// What is not sent before it is asked for.
const LONG: u64 = 100_000;

/// Two ranks, each on a node of its own, that call what they like.
struct Pair {
    world: World,
    stores: [Store; 2],
}

fn gather() -> Call {
    Call::new(Function::GatherInit).rooted(1).of_bytes(BYTES)
}

fn bcast() -> Call {
    Call::new(Function::BcastInit).rooted(0).of_bytes(BYTES)
}

/// What a rank does of it.
#[derive(Clone, Copy)]
enum Part {
    Exchanges,
    Nothing,
    Receives,
    Sends,
    SendsMuch,
}

impl Pair {
    fn new(seed: u64) -> Self {
        let stores = [(); 2].map(|()| Store::of(&[7; LONG as usize], Lie::Dense));
        Self { world: World::of_nodes(&[1, 1], seed, Conduct::ROUGH), stores }
    }

    fn start(&mut self, rank: usize, call: Call, part: Part) -> RunKey {
        self.start_signed(rank, call, part, None)
    }

    fn start_signed(&mut self, rank: usize, call: Call, part: Part, types: Option<Signature>) -> RunKey {
        let peer = Peer::Local(1 - rank as u32);
        let (from, into) = (Span::fixed(Buf::Send, 0, BYTES), Span::fixed(Buf::Recv, 0, BYTES));
        let (send, receive) = (Action::Send { to: peer, from }, Action::Receive { from: peer, into });
        let actions = match part {
            Part::Exchanges => vec![send, receive],
            Part::Nothing => Vec::new(),
            Part::Receives => vec![receive],
            Part::Sends => vec![send],
            Part::SendsMuch => vec![Action::Send { to: peer, from: Span::fixed(Buf::Send, 0, LONG) }],
        };
        let steps = actions.into_iter().map(|action| Step { action, delay: 0, after: Vec::new() });
        let plan = Plan { steps: steps.collect(), segments: 1, lines: Vec::new(), scratch_bytes: 0 };
        let buffer = || self.stores[rank].buffer().clone();
        let binding = Binding { send: buffer(), recv: buffer(), reducer: None, images: None };
        let (engine, channel) = (&mut self.world.engines[rank], self.world.channels[rank]);
        let key = engine.keep(channel, Arc::new(Program::new(plan, call)), binding, Lifetime::Nonblocking);
        types.into_iter().for_each(|types| engine.sign(key, Box::new(types)));
        engine.start(key);
        key
    }

    /// A rank has waited for long.
    fn ask(&mut self, rank: usize) {
        let peer = self.world.peer(rank, 1 - rank);
        let engine = &mut self.world.engines[rank];
        let mut absent = engine.absent_or_silent(true);
        absent.is_leaving(peer);
        engine.ask_after(&absent, true);
        engine.suspect();
        engine.ask_no_more();
    }

    /// How a run ends whose rank waits for long now and then.
    fn end(&mut self, rank: usize, run: RunKey) -> Result<()> {
        for turn in 0..20_000 {
            if self.world.engines[rank].is_idle(run) {
                return self.world.engines[rank].outcome(run);
            }
            self.world.turn();
            if turn % 100 == 0 {
                self.ask(rank);
            }
        }
        self.world.report("the end of a run")
    }
}

fn assert_different(ended: Result<()>, when: &str, seed: u64) {
    let error = ended.expect_err("the other rank calls something else");
    assert_eq!(error.class(), ErrorClass::Other, "seed {seed}: {error}");
    for said in [when, "MPI_Igather (64 bytes, root 1)", "MPI_Ibcast (64 bytes, root 0)"] {
        assert!(error.text().contains(said), "seed {seed}: {error} should say {said}");
    }
}

#[test]
fn who_wait_for_each_other_hear_that_they_call_something_else() {
    for seed in 0..40 {
        let mut pair = Pair::new(seed);
        let runs = [(0, gather()), (1, bcast())].map(|(rank, call)| pair.start(rank, call, Part::Receives));
        assert_different(pair.end(0, runs[0]), "ranks call different", seed);
        assert_different(pair.end(1, runs[1]), "ranks call different", seed);
    }
}

/// The other one begins before it is asked, afterwards, or is somewhere in between; it waits for nothing itself.
#[test]
fn who_waits_for_nobody_answers_when_it_calls_something_else() {
    for seed in 0..40 {
        let mut pair = Pair::new(seed);
        let part = pair.world.random.pick(&[Part::Receives, Part::SendsMuch]);
        let waits = pair.start(0, gather(), part);
        let before = pair.world.random.below(300);
        (0..before).for_each(|_| pair.world.turn());
        pair.ask(0);
        let between = pair.world.random.below(300);
        (0..between).for_each(|_| pair.world.turn());
        let other = pair.start(1, bcast(), Part::Nothing);
        assert_different(pair.end(0, waits), "ranks call different", seed);
        pair.end(1, other).expect("it has done all that it had to do");
    }
}

#[test]
fn who_has_only_told_hears_of_it_in_the_next_run() {
    for seed in 0..40 {
        let mut pair = Pair::new(seed);
        let tells = pair.start(0, bcast(), Part::Sends);
        let reads = pair.start(1, gather(), Part::Receives);
        assert_different(pair.end(1, reads), "ranks call different", seed);
        pair.end(0, tells).expect("nobody has told it anything");
        let both =
            [(0, Part::Receives), (1, Part::Sends)].map(|(rank, part)| pair.start(rank, bcast(), part));
        assert_different(pair.end(0, both[0]), "before this one", seed);
        pair.end(1, both[1]).expect("it knows that already");
        let both =
            [(0, Part::Receives), (1, Part::Sends)].map(|(rank, part)| pair.start(rank, bcast(), part));
        both.into_iter().enumerate().for_each(|(rank, run)| pair.end(rank, run).expect("all is well again"));
    }
}

/// Both have only told.
#[test]
fn who_reads_that_they_differed_asks_and_knows_in_the_run_after() {
    for seed in 0..40 {
        let mut pair = Pair::new(seed);
        let both = [(0, bcast()), (1, gather())].map(|(rank, call)| pair.start(rank, call, Part::Sends));
        both.into_iter()
            .enumerate()
            .for_each(|(rank, run)| pair.end(rank, run).expect("it has read nothing"));
        let mut errors = [0; 2];
        for _ in 0..4 {
            let both = [0, 1].map(|rank| pair.start(rank, bcast(), Part::Exchanges));
            for (rank, run) in both.into_iter().enumerate() {
                if let Err(error) = pair.end(rank, run) {
                    assert_different(Err(error), "before this one", seed);
                    errors[rank] += 1;
                }
            }
        }
        assert_eq!(errors, [1, 1], "seed {seed}");
    }
}

/// Who reads hears of it then; who only tells, in the next run.
#[test]
fn who_calls_the_same_with_other_types_hears_of_it_once() {
    for seed in 0..40 {
        let mut pair = Pair::new(seed);
        let types = |basic, count| Signature::of([(basic, count), (BasicType::Char, 48)]);
        let differ = [types(BasicType::Int, 4), types(BasicType::Double, 2)];
        let parts = [Part::Sends, Part::Receives];
        let mut errors = [0; 2];
        for run in 0..4 {
            let both = [0, 1].map(|rank| match run {
                0 => pair.start_signed(rank, bcast(), parts[rank], differ[rank].clone()),
                _ => pair.start_signed(rank, bcast(), Part::Exchanges, differ[0].clone()),
            });
            for (rank, key) in both.into_iter().enumerate() {
                let Err(error) = pair.end(rank, key) else { continue };
                assert_eq!((error.class(), run), (ErrorClass::Type, 1 - rank), "seed {seed}: {error}");
                for said in ["4 MPI_INT, 48 MPI_CHAR", "2 MPI_DOUBLE, 48 MPI_CHAR", "MPI_Ibcast"] {
                    assert!(error.text().contains(said), "seed {seed}: {error} should say {said}");
                }
                errors[rank] += 1;
            }
        }
        assert_eq!(errors, [1, 1], "seed {seed}");
    }
}

#[test]
fn who_calls_the_same_is_waited_for_however_often_it_is_asked() {
    for seed in 0..20 {
        let mut pair = Pair::new(seed);
        let waits = pair.start(0, bcast(), Part::Receives);
        for _ in 0..10 {
            pair.ask(0);
            (0..50).for_each(|_| pair.world.turn());
        }
        let first = pair.start(1, bcast(), Part::Nothing);
        pair.end(1, first).expect("there is nothing to do");
        for _ in 0..10 {
            pair.ask(0);
            (0..50).for_each(|_| pair.world.turn());
        }
        assert!(!pair.world.engines[0].is_idle(waits), "seed {seed}");
    }
}
