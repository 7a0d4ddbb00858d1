//! Sets of requests: what completed comes first, and each comes once.

use oxmpi::{ErrorClass, Op};

use crate::job::on_ranks;

#[test]
fn of_many_receives_the_next_that_is_complete_is_found() {
    on_ranks("request_sets::of_many_receives_the_next_that_is_complete_is_found", |env| {
        const MANY: usize = 10_000;
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        let numbers: Vec<[usize; 1]> = (0..MANY).map(|number| [number * (1 + rank)]).collect();
        let mut received = vec![[usize::MAX]; MANY];
        world.scope(|scope| {
            let mut set = scope.request_set();
            set.extend(
                received
                    .iter_mut()
                    .zip(0..)
                    .map(|(buf, tag)| scope.recv(buf, left, tag))
                    .collect::<Result<Vec<_>, _>>()?,
            );
            let order = (0..MANY).map(|step| step * 7919 % MANY);
            for index in order.clone() {
                let _ = scope.send(&numbers[index], right, index as i32)?;
            }
            for (done, expected) in order.enumerate() {
                assert_eq!(set.len(), MANY - done);
                let (index, result) = set.wait_any().expect("not all are complete");
                let (buf, status) = result?;
                assert_eq!((index, buf[0], status.source()), (expected, expected * (1 + left), Some(left)));
            }
            assert!(set.is_empty() && set.wait_any().is_none() && set.test_any().is_none());
            Ok(())
        })
    });
}

#[test]
fn a_set_that_is_dropped_leaves_its_requests_to_the_scope() {
    on_ranks("request_sets::a_set_that_is_dropped_leaves_its_requests_to_the_scope", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (mine, mut theirs) = ([rank], vec![[usize::MAX]; 3]);
        world.scope(|scope| {
            let mut set = scope.request_set();
            for (tag, buf) in theirs.iter_mut().enumerate() {
                assert_eq!(set.insert(scope.recv(buf, (rank + 1) % size, tag as i32)?), tag);
            }
            assert!(set.test_any().is_none());
            drop(set);
            world.barrier()?; // nobody sends before all have looked
            (0..3).try_for_each(|tag| scope.send(&mine, (rank + size - 1) % size, tag).map(drop))
        })?;
        assert_eq!(theirs, [[(rank + 1) % size]; 3]);
        Ok(())
    });
}

#[test]
fn one_that_fails_says_so_and_the_others_go_on() {
    on_ranks("request_sets::one_that_fails_says_so_and_the_others_go_on", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let mine = [rank; 2];
        let (mut short, mut long) = ([0; 1], [0; 2]);
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        world.scope(|scope| {
            let mut set = scope.request_set();
            set.insert(scope.recv(&mut short, left, 0)?);
            set.insert(scope.recv(&mut long, left, 1)?);
            (0..2).try_for_each(|tag| scope.send(&mine, right, tag).map(drop))?;
            let (index, failed) = set.wait_any().expect("two are there");
            assert_eq!((index, failed.expect_err("it is too short").class()), (0, ErrorClass::Truncate));
            assert_eq!(set.wait_all()?, [&mut [left; 2]]);
            Ok(())
        })
    });
}

#[test]
fn collectives_of_a_set_are_complete_when_all_ranks_have_called_them() {
    on_ranks("request_sets::collectives_of_a_set_are_complete_when_all_ranks_have_called_them", |env| {
        let world = env.world();
        let inputs: Vec<[usize; 1]> = (0..40).map(|number| [number + world.rank()]).collect();
        let mut sums = vec![[0]; inputs.len()];
        let done = world.scope(|scope| {
            let mut set = scope.request_set();
            for (input, sum) in inputs.iter().zip(&mut sums) {
                set.insert(scope.allreduce(input, sum, &Op::SUM)?);
            }
            set.wait_all().map(|done| done.len())
        })?;
        assert_eq!(done, inputs.len());
        let ranks: usize = (0..world.size()).sum();
        assert!(sums.iter().zip(0..).all(|(sum, number)| sum[0] == world.size() * number + ranks));
        Ok(())
    });
}
