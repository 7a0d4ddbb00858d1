//! What goes on at a rank that makes no call, and what does not: nothing of the program's own is run.

use oxmpi_engine::{Binding, Engine, RunKey};
use oxmpi_plan::{Collective, Overrides, select};

use crate::collective::{Case, Rooted, shape};
use crate::harness::{Lie, World};
use crate::outstanding::keep;

/// 4 MiB of elements: more than what is under way at a time.
const ELEMENTS: u64 = 1 << 20;
/// Polls in vain after which nothing more happens.
const PATIENCE: u32 = 10_000;

/// A collective that two ranks have begun.
struct Begun {
    world: World,
    case: Case,
    runs: Vec<RunKey>,
}

impl Begun {
    fn new(collective: Rooted) -> Self {
        let mut world = World::new(2, 1);
        let shape = shape(collective, 2, ELEMENTS);
        let case = Case::new(shape, select(&shape, &Overrides::default()), false, Lie::Dense);
        let begin = |rank: usize| {
            case.fill(rank, 1);
            let channel = world.channels[rank];
            let run = keep(&mut world, rank, channel, &case);
            world.engines[rank].start(run);
            run
        };
        let runs = (0..2).map(begin).collect();
        Self { world, case, runs }
    }

    /// Polls rank 0 so, and rank 1 as calls do, until nothing happens any more; whether both ranks are done.
    fn poll(&mut self, mut first: impl FnMut(&mut Engine) -> bool) -> bool {
        let mut vain = 0;
        while vain < PATIENCE {
            let [one, other] = &mut self.world.engines[..] else { unreachable!("there are two") };
            let any = first(one) | other.poll();
            vain = if any { 0 } else { vain + 1 };
        }
        (0..2).all(|rank| self.world.engines[rank].is_idle(self.runs[rank]))
    }

    /// How many bytes of what rank 1 is to get it has.
    fn bytes_there(&self) -> usize {
        let binding = |rank| self.case.binding(rank).recv;
        let [sent, got] = [0, 1].map(|rank| binding(rank).as_dense().expect("one piece").to_vec());
        sent.iter().zip(&got).take_while(|(sent, got)| sent == got).count()
    }

    fn ends_well(mut self) {
        for rank in 0..2 {
            self.world.engines[rank].outcome(self.runs[rank]).expect("no error");
            self.case.check(rank, 1, "seed 1");
            self.world.engines[rank].forget(self.runs[rank]);
        }
    }
}

#[test]
fn a_root_that_makes_no_call_gives_all_that_it_has() {
    let total = (ELEMENTS * 4) as usize;
    let mut begun = Begun::new((Collective::Bcast, 0));
    assert!(!begun.poll(|_| false));
    let without = begun.bytes_there();
    assert!(without < total, "{without} of {total} bytes have gone without the root");
    assert!(begun.poll(Engine::poll_without_callbacks));
    assert_eq!(begun.bytes_there(), total);
    begun.ends_well();
}

#[test]
fn what_combines_by_an_operation_of_the_program_waits_for_its_calls() {
    let mut begun = Begun::new((Collective::Allreduce, 0));
    assert!(!begun.poll(Engine::poll_without_callbacks));
    let calls_back =
        |rank: usize| begun.world.engines[rank].binding(begun.runs[rank]).map(Binding::calls_back);
    assert_eq!([0, 1].map(calls_back), [Some(true); 2]);
    assert!(begun.poll(Engine::poll));
    begun.ends_well();
}
