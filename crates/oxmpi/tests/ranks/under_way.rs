//! Requests of different kinds, of which those that are over are found.

use oxmpi::{Op, test_any, test_some, wait_any, wait_some};

use crate::job::on_ranks;

#[test]
fn of_requests_of_all_kinds_those_that_are_over_are_found() {
    on_ranks("under_way::of_requests_of_all_kinds_those_that_are_over_are_found", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        let mut borrowed = [usize::MAX; 2];
        world.scope(|scope| {
            let first = scope.recv(&mut borrowed, left, 0)?;
            let second = world.irecv(vec![usize::MAX; 20_000], left, 1)?;
            let third = world.recv_init([0; 3], left, 2)?.start()?;
            let sum = world.allreduce_init(rank, 0, &Op::SUM)?.start()?;
            assert_eq!(wait_any(&[&first, &second, &sum])?, Some(2), "nobody sends yet");
            assert!(test_any(&[&first, &second, &third])?.is_none());
            assert!(test_some(&[&first, &third])?.is_empty());
            world.barrier()?;
            world.send(&[rank; 3], right, 2)?;
            assert_eq!(wait_some(&[&first, &second, &third])?, [2]);
            assert_eq!(third.wait()?.buf(), [left; 3]);
            world.barrier()?;
            let sent = world.isend(vec![rank; 20_000], right, 1)?;
            assert_eq!(wait_any(&[&first, &second])?, Some(1));
            assert_eq!(second.wait()?.0, vec![left; 20_000]);
            drop(sent);
            world.barrier()?;
            world.send(&[rank; 2], right, 0)?;
            assert_eq!(wait_some(&[&first])?, [0]);
            assert_eq!(test_any(&[&first, &sum])?, Some(0));
            assert_eq!(first.wait()?, [left; 2]);
            assert_eq!(sum.wait()?.recv_buf(), [size * (size - 1) / 2]);
            Ok(())
        })?;
        assert!(wait_any(&[])?.is_none() && wait_some(&[])?.is_empty());
        Ok(())
    });
}
