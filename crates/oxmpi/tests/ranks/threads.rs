//! Threads of several ranks that communicate at the same time.

use std::thread;

use oxmpi::{Active, Communicator, Environment, Multiple, One, Op, Persistent, Result, Two};

use crate::job::{RANKS, is_rank, start, text};

/// What the threads of an environment with several may share, and hand to each other.
const _: () = {
    const fn is_shared<T: Send + Sync>() {}
    is_shared::<Environment<Multiple>>();
    is_shared::<Communicator<'_, Multiple>>();
    is_shared::<Persistent<'_, Two<f64>, Multiple>>();
    is_shared::<Active<'_, One<u8>, Multiple>>();
    is_shared::<Op<f32>>();
};

const NAME: &str = "threads::threads_communicate_at_the_same_time";
const THREADS: i32 = 3;

#[test]
fn threads_communicate_at_the_same_time() {
    if is_rank() {
        return communicate().expect("the calls succeed");
    }
    for ranks in RANKS {
        let output = start(NAME, ranks);
        assert!(output.status.success(), "{ranks} ranks: {}\n{}", output.status, text(&output));
    }
}

/// Each thread has a communicator for its collectives; messages of all go by the same one, told apart by tags.
fn communicate() -> Result<()> {
    let env = oxmpi::init_with::<Multiple>()?;
    let world = env.world();
    let own = (0..THREADS).map(|_| world.duplicate()).collect::<Result<Vec<_>>>()?;
    thread::scope(|threads| {
        for (comm, tag) in own.iter().zip(0..) {
            let world = &world;
            threads.spawn(move || {
                let next = (world.rank() + 1) % world.size();
                let last = (world.rank() + world.size() - 1) % world.size();
                for step in 0..50 {
                    let mut sum = [step];
                    comm.allreduce_in_place(&mut sum, &Op::SUM).expect("an allreduce");
                    assert_eq!(sum, [step * world.size()]);
                    let mut token = [0];
                    world.sendrecv(&[tag], next, tag, &mut token, last, tag).expect("a message");
                    assert_eq!(token, [tag]);
                }
            });
        }
    });
    Ok(())
}
