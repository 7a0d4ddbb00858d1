//! Partitioned messages: made by threads, seen when they arrive, and started again.

use std::thread;

use oxmpi::{Dest, ErrorClass, Multiple, Result, Source};

use crate::job::{RANKS, is_rank, on_ranks, start, text};

#[test]
fn partitions_that_are_ready_arrive_before_the_others() {
    on_ranks("partitioned::partitions_that_are_ready_arrive_before_the_others", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let left = (rank + size - 1) % size;
        let mut send = world.psend_init(vec![0; 1200], 6, (rank + 1) % size, 0)?;
        let mut recv = world.precv_init(vec![0; 1200], 3, left, 0)?;
        for round in 0..4 {
            send.buf_mut().fill(usize::MAX);
            let (receiving, mut sending) = oxmpi::start_all((recv, send))?;
            assert_eq!(receiving.arrived(1)?, None);
            world.barrier()?;
            // Two of the send are one of the receive.
            for mut partition in sending.partitions().filter(|partition| [2, 3].contains(&partition.index()))
            {
                partition.fill(100 * rank + round);
                partition.ready()?;
            }
            let arrived = loop {
                if let Some(arrived) = receiving.arrived(1)? {
                    break arrived;
                }
            };
            assert_eq!(arrived, [100 * left + round; 400]);
            world.barrier()?;
            assert_eq!(sending.partitions().count(), 4);
            assert!(!sending.test()?);
            // What is not made ready here is when it is waited for.
            sending.partitions().next().expect("one is not ready").fill(rank);
            (recv, send) = oxmpi::wait_all((receiving, sending))?;
            assert_eq!((recv.buf()[0], recv.buf()[1199]), (left, usize::MAX));
            assert_eq!((recv.status().source(), recv.status().count::<usize>()), (Some(left), Some(1200)));
        }
        Ok(())
    });
}

#[test]
fn a_request_may_be_dropped_before_its_partitions_are_ready() {
    on_ranks("partitioned::a_request_may_be_dropped_before_its_partitions_are_ready", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let send = world.psend_init(vec![rank; 10], 5, (rank + 1) % size, 0)?;
        let recv = world.precv_init(vec![0; 10], 1, (rank + size - 1) % size, 0)?.start()?;
        let mut send = send.start()?;
        for partition in send.partitions().take(2) {
            partition.ready()?;
        }
        drop(send);
        assert_eq!(recv.wait()?.buf(), [(rank + size - 1) % size; 10]);
        Ok(())
    });
}

#[test]
fn partitions_that_cannot_be_are_refused() {
    on_ranks("partitioned::partitions_that_cannot_be_are_refused", |env| {
        let world = env.world();
        for partitions in [0, 3, usize::MAX] {
            let error = world.psend_init(vec![0u8; 10], partitions, Dest::Null, 0).expect_err("not so many");
            assert_eq!(error.class(), ErrorClass::Arg);
            let error =
                world.precv_init(vec![0u8; 10], partitions, Source::Null, 0).expect_err("not so many");
            assert!(error.text().contains(&format!("partitions is {partitions}")), "{error}");
        }
        assert_eq!(
            world.precv_init(vec![0u8; 10], 5, Source::Any, 0).expect_err("no wildcards").class(),
            ErrorClass::Rank
        );
        let recv = world.precv_init(vec![7u8; 10], 5, Source::Null, 0)?.start()?;
        assert_eq!(recv.arrived(5).expect_err("there are five").class(), ErrorClass::Arg);
        assert_eq!(recv.arrived(4)?, Some(&[7, 7][..]));
        assert_eq!(recv.wait()?.status().source(), None);
        Ok(())
    });
}

const NAME: &str = "partitioned::threads_make_partitions_ready_at_the_same_time";

#[test]
fn threads_make_partitions_ready_at_the_same_time() {
    if is_rank() {
        return by_threads().expect("the calls succeed");
    }
    for ranks in RANKS {
        let output = start(NAME, ranks);
        assert!(output.status.success(), "{ranks} ranks: {}\n{}", output.status, text(&output));
    }
}

fn by_threads() -> Result<()> {
    const THREADS: usize = 4;
    let env = oxmpi::init_with::<Multiple>()?;
    let world = env.world();
    let (rank, size) = (world.rank(), world.size());
    let left = (rank + size - 1) % size;
    for partitions in [4, 100, 1000] {
        let mut send = world.psend_init(vec![0; 8000], partitions, (rank + 1) % size, 1)?;
        let mut recv = world.precv_init(vec![0; 8000], 8, left, 1)?;
        for round in 0..5 {
            let (receiving, mut sending) = oxmpi::start_all((recv, send))?;
            let mut shares: Vec<Vec<_>> = (0..THREADS).map(|_| Vec::new()).collect();
            for partition in sending.partitions() {
                shares[partition.index() % THREADS].push(partition);
            }
            thread::scope(|threads| {
                for share in shares {
                    threads.spawn(move || {
                        for mut partition in share {
                            let index = partition.index();
                            partition.fill(1_000_000 * rank + 1000 * round + index);
                            partition.ready().expect("it is ready for the first time");
                        }
                    });
                }
                for place in 0..8 {
                    let receiving = &receiving;
                    threads.spawn(move || {
                        while receiving.arrived(place).expect("there are 8").is_none() {
                            thread::yield_now();
                        }
                    });
                }
            });
            (recv, send) = oxmpi::wait_all((receiving, sending))?;
            for (place, &value) in recv.buf().iter().enumerate() {
                assert_eq!(value, 1_000_000 * left + 1000 * round + place * partitions / 8000);
            }
        }
    }
    Ok(())
}
