//! What short calls cost through this crate, beside `tests/bench/beside_rust.c`, which makes the same in C.
//!
//! Both are run by `tests/bench/rust.py`, and print lines `name ns`: the median over batches of the time of a call (of
//! a message, for the ping-pong) on rank 0.

use std::time::Instant;

use oxmpi::{Communicator, Op, Result};

const BATCHES: usize = 31;

fn main() -> Result<()> {
    let env = oxmpi::init()?;
    let world = env.world();
    show(&world, "pingpong", pingpong(&world)?);
    show(&world, "pingpong_init", persistent_pingpong(&world)?);
    show(&world, "allreduce_init", persistent_allreduce(&world)?);
    show(&world, "allreduce", allreduce(&world)?);
    show(&world, "bcast_1M", bcast(&world)?);
    Ok(())
}

fn show(world: &Communicator<'_>, name: &str, ns: f64) {
    if world.rank() == 0 {
        println!("{name} {ns:.1}");
    }
}

/// The median of the time of one of `times` calls that a batch makes, which works on `state`.
fn measure<S>(
    world: &Communicator<'_>,
    times: u32,
    state: S,
    mut batch: impl FnMut(S, u32) -> Result<S>,
) -> Result<f64> {
    let mut each = Vec::new();
    let mut state = batch(state, times)?;
    for _ in 0..BATCHES {
        world.barrier()?;
        let begin = Instant::now();
        state = batch(state, times)?;
        each.push(begin.elapsed().as_nanos() as f64 / f64::from(times));
    }
    each.sort_by(f64::total_cmp);
    Ok(each[BATCHES / 2])
}

fn pingpong(world: &Communicator<'_>) -> Result<f64> {
    let (mine, mut theirs) = ([1.0], [0.0]);
    let there_and_back = measure(world, 2_000, (), |(), times| {
        for _ in 0..times {
            match world.rank() {
                0 => {
                    world.send(&mine, 1, 0)?;
                    world.recv(&mut theirs, 1, 0)?;
                }
                1 => {
                    world.recv(&mut theirs, 0, 0)?;
                    world.send(&mine, 0, 0)?;
                }
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok(there_and_back / 2.0)
}

fn persistent_pingpong(world: &Communicator<'_>) -> Result<f64> {
    let peer = usize::from(world.rank() == 0);
    let requests = (world.send_init([1.0], peer, 1)?, world.recv_init([0.0], peer, 1)?);
    let there_and_back = measure(world, 2_000, requests, |(mut send, mut recv), times| {
        for _ in 0..times {
            match world.rank() {
                0 => {
                    send = send.start()?.wait()?;
                    recv = recv.start()?.wait()?;
                }
                1 => {
                    recv = recv.start()?.wait()?;
                    send = send.start()?.wait()?;
                }
                _ => {}
            }
        }
        Ok((send, recv))
    })?;
    Ok(there_and_back / 2.0)
}

fn persistent_allreduce(world: &Communicator<'_>) -> Result<f64> {
    let sum = world.allreduce_init([1.0], [0.0], &Op::SUM)?;
    measure(world, 5_000, sum, |mut sum, times| {
        for _ in 0..times {
            sum = sum.start()?.wait()?;
        }
        Ok(sum)
    })
}

fn allreduce(world: &Communicator<'_>) -> Result<f64> {
    let (mine, mut sum) = ([1.0], [0.0]);
    measure(world, 5_000, (), |(), times| {
        (0..times).try_for_each(|_| world.allreduce(&mine, &mut sum, &Op::SUM))
    })
}

fn bcast(world: &Communicator<'_>) -> Result<f64> {
    let mut buf = vec![1_u8; 1 << 20]; // pages that were never written are all the same one
    measure(world, 20, (), |(), times| (0..times).try_for_each(|_| world.bcast(&mut buf, 0)))
}
