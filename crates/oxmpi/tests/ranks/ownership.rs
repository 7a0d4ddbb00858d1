//! What becomes of operations whose requests are dropped, forgotten, or left behind by a panic.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use oxmpi::{Op, Result};

use crate::job::{is_rank, on_ranks, start, text};

#[test]
fn a_dropped_request_is_complete_at_the_end_of_its_scope() {
    on_ranks("ownership::a_dropped_request_is_complete_at_the_end_of_its_scope", |env| {
        let world = env.world();
        let size = world.size();
        let (mine, mut sum, mut left) = ([world.rank()], [0], [usize::MAX; 1000]);
        let sent = vec![world.rank(); 1000];
        world.scope(|scope| {
            let _ = scope.recv(&mut left, (world.rank() + size - 1) % size, 0)?;
            let _ = scope.allreduce(&mine, &mut sum, &Op::SUM)?;
            let _ = scope.send(&sent, (world.rank() + 1) % size, 0)?;
            Ok(())
        })?;
        assert_eq!(sum, [size * (size - 1) / 2]);
        assert_eq!(left, [(world.rank() + size - 1) % size; 1000]);
        Ok(())
    });
}

#[test]
fn ten_thousand_operations_are_under_way_at_once() {
    on_ranks("ownership::ten_thousand_operations_are_under_way_at_once", |env| {
        let world = env.world();
        let mut sums = vec![[1]; 10_000];
        world.scope(|scope| {
            let begin = |sum| scope.allreduce_in_place(sum, &Op::SUM);
            let requests: Vec<_> = sums.iter_mut().map(begin).collect::<Result<_>>()?;
            let late_first = requests.into_iter().rev().take(5_000);
            late_first.map(|request| request.wait()).try_for_each(|sum| {
                assert_eq!(sum?, [world.size()]);
                Ok(())
            })
        })?;
        assert!(sums.iter().all(|sum| *sum == [world.size()]));
        Ok(())
    });
}

#[test]
fn a_dropped_active_request_is_waited_for() {
    on_ranks("ownership::a_dropped_active_request_is_waited_for", |env| {
        let world = env.world();
        for _ in 0..100 {
            drop(world.allreduce_init(vec![1.0; 500], vec![0.0; 500], &Op::SUM)?.start()?);
            drop(world.barrier_init()?);
        }
        world.barrier()
    });
}

#[test]
fn a_forgotten_active_request_keeps_its_buffers() {
    on_ranks("ownership::a_forgotten_active_request_keeps_its_buffers", |env| {
        let world = env.world();
        let other = world.size() - 1 - world.rank();
        mem::forget(world.recv_init(vec![0u8; 4096], other, 0)?.start()?);
        world.barrier()?;
        let reused: Vec<Vec<u8>> = (0..100).map(|_| vec![7; 4096]).collect();
        world.send(&[1u8; 4096], other, 0)?;
        world.barrier()?;
        assert!(reused.iter().flatten().all(|&byte| byte == 7));
        Ok(())
    });
}

#[test]
fn a_rank_that_panics_ends_the_job() {
    const NAME: &str = "ownership::a_rank_that_panics_ends_the_job";
    if !is_rank() {
        let output = start(NAME, 3);
        assert_eq!(output.status.code(), Some(101), "{}", text(&output));
        return;
    }
    on_ranks(NAME, |env| {
        let world = env.world();
        let _active = world.recv_init(vec![0], 0, 0)?.start()?;
        assert!(world.rank() != 1, "this rank gives up");
        world.barrier()
    });
}

#[test]
fn a_panic_in_a_scope_does_not_return_lent_buffers() {
    const NAME: &str = "ownership::a_panic_in_a_scope_does_not_return_lent_buffers";
    if !is_rank() {
        let output = start(NAME, 2);
        assert_eq!(output.status.code(), Some(101), "{}", text(&output));
        assert!(text(&output).contains("while operations were under way"), "{}", text(&output));
        return;
    }
    on_ranks(NAME, |env| {
        let mut never = [0];
        env.world().scope(|scope| {
            let _ = scope.recv(&mut never, 0, 99)?;
            panic!("this rank gives up");
        })
    });
}

#[test]
fn a_panic_in_an_operation_of_the_user_is_caught_by_nobody() {
    const NAME: &str = "ownership::a_panic_in_an_operation_of_the_user_is_caught_by_nobody";
    if !is_rank() {
        let output = start(NAME, 2);
        assert!(!output.status.success(), "{}", text(&output));
        assert!(text(&output).contains("it cannot combine"), "{}", text(&output));
        assert!(!text(&output).contains("goes on"), "{}", text(&output));
        return;
    }
    on_ranks(NAME, |env| {
        let fails = Op::user(|_: u32, _| panic!("it cannot combine"));
        let mut sum = 1;
        let _ = catch_unwind(AssertUnwindSafe(|| env.world().allreduce_in_place(&mut sum, &fails)));
        eprintln!("rank {} goes on", env.world().rank());
        Ok(())
    });
}
