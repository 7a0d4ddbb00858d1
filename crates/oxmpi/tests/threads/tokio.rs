//! Requests that tasks of tokio await, an executor that knows nothing of MPI.

use std::thread;

use oxmpi::{Communicator, Driver, Multiple, Op, Result, ThreadLevel};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("it starts no thread")
}

/// Moves everything on, and lets others run in between.
async fn drive(driver: Driver<'_>) -> ! {
    loop {
        driver.progress();
        tokio::task::yield_now().await;
    }
}

/// Messages and sums that each need what came before.
async fn talk<L: ThreadLevel>(world: &Communicator<'_, L>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut token = vec![rank; 1000];
    let mut sum = world.allreduce_init([0], [0], &Op::SUM)?;
    for step in 1..=size {
        let received = world.irecv(vec![usize::MAX; 1000], (rank + size - 1) % size, 0)?;
        let sent = world.isend(token, (rank + 1) % size, 0)?;
        token = received.await?.0;
        drop(sent.await?);
        assert_eq!(token, vec![(rank + size - step) % size; 1000]);
        sum.send_buf_mut()[0] = token[0];
        sum = sum.start()?.await?;
        assert_eq!(sum.recv_buf(), [size * (size - 1) / 2]);
    }
    Ok(())
}

#[oxmpi::test(ranks = [1, 2, 3])]
fn in_one_thread_the_driver_is_a_future_beside_the_others(world: Communicator<'_>) -> Result<()> {
    runtime().block_on(async {
        tokio::select! {
            result = talk(&world) => result,
            never = drive(world.driver()) => never,
        }
    })
}

/// The runtime's thread sleeps until the other one wakes its task.
#[oxmpi::test(ranks = [1, 2, 3])]
fn a_thread_of_its_own_drives_for_a_runtime(world: Communicator<'_, Multiple>) -> Result<()> {
    let (end, ended) = oneshot::channel::<()>();
    thread::scope(|threads| {
        let driver = world.driver();
        threads.spawn(move || driver.block_on(ended));
        let result = runtime().block_on(talk(&world));
        drop(end);
        result
    })
}
