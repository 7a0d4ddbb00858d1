//! What engines take from the system does not grow with what they have done.

use oxmpi_engine::{Address, Engine, Mode, PeerId};
use oxmpi_plan::{Collective, Overrides, Shape, select};

use crate::collective::{Case, shape};
use crate::harness::{Lie, Store, World};
use crate::outstanding::keep;

/// Starts and completes a kept run on all ranks, over and over.
fn run_again_and_again(world: &mut World, case: &Case, rounds: usize) {
    let keys: Vec<_> = (0..world.engines.len())
        .map(|rank| {
            case.fill(rank, 1);
            let channel = world.channels[rank];
            keep(world, rank, channel, case)
        })
        .collect();
    let mut begun = vec![0; keys.len()];
    world.until("many rounds", |engines| {
        for ((engine, begun), &key) in engines.iter_mut().zip(&mut begun).zip(&keys) {
            if *begun <= rounds && engine.drive(key) {
                *begun += 1;
                if *begun <= rounds {
                    engine.start(key);
                }
            }
        }
        begun.iter().all(|&begun| begun > rounds)
    });
    keys.iter().zip(&mut world.engines).for_each(|(&key, engine)| engine.forget(key));
}

#[test]
fn ten_thousand_runs_use_the_memory_of_a_few() {
    let mut world = World::new(3, 1);
    let mut cases = Vec::new();
    for collective in [(Collective::Allreduce, 0), (Collective::Bcast, 0), (Collective::Reduce, 1)] {
        for elements in [10u64, 2000] {
            let shape = Shape { commutative: true, ..shape(collective, 3, elements) };
            cases.push(Case::new(shape, select(&shape, &Overrides::default()), false, Lie::Dense));
        }
    }
    for _ in 0..3 {
        cases.iter().for_each(|case| run_again_and_again(&mut world, case, 600));
    }
    for (shared, private) in world.engines.iter().map(Engine::memory) {
        // A sixteenth of what peers have read may rest.
        assert!(shared + private < 4 << 20, "{shared} and {private} bytes, of {} posted", 5400 * 8000);
    }
}

#[test]
fn messages_that_come_early_use_the_memory_of_those_before() {
    let mut world = World::new(2, 2);
    let to = Address { peer: PeerId::of_rank(1), context: world.context };
    let (mut before, mut grown) = (None, Vec::new());
    for round in 0..100 {
        let mut keys = Vec::new();
        for bytes in [0, 8, 100, 9000, 50_000] {
            for mode in [Mode::Standard, Mode::Synchronous] {
                let from = Store::new(bytes, Lie::Dense);
                world.engines[0].p2p.send_copy(to, 0, 1, from.buffer());
                keys.push((world.send(0, 1, 0, &from, mode), Store::new(bytes, Lie::Dense), from));
            }
        }
        world.settle();
        for (key, into, _from) in keys {
            for tag in [0, 1] {
                let received = world.receive(1, None, Some(tag), &into);
                world.finish(1, received);
            }
            world.finish_send(0, key);
        }
        let memory: Vec<_> = world.engines.iter().map(Engine::memory).collect();
        if before.replace(memory.clone()).is_some_and(|before| before != memory) {
            grown.push((round, memory));
        }
    }
    // From the second round on what is not long comes unasked; and some time the pair has its widest ring.
    assert!(grown.len() <= 2, "{grown:?}");
}
