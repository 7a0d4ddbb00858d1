//! Ranks that are threads of the test, as users' tests have them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use oxmpi::{Communicator, Comparison, ErrorClass, Multiple, Op, Session, Source};

#[oxmpi::test(ranks = [1, 2, 3, 4, 8])]
fn ranks_add_up(world: Communicator<'_>) -> oxmpi::Result<()> {
    let mut sum = vec![world.rank(); 10_000];
    world.allreduce_in_place(&mut sum, &Op::SUM)?;
    assert_eq!(sum, vec![world.size() * (world.size() - 1) / 2; 10_000]);
    Ok(())
}

#[oxmpi::test(ranks = 3)]
fn long_messages_go_around(world: Communicator<'_>) -> Result<(), String> {
    let (rank, size) = (world.rank(), world.size());
    let (mine, mut left) = (vec![rank; 300_000], vec![usize::MAX; 300_000]);
    world
        .sendrecv(&mine, (rank + 1) % size, 0, &mut left, (rank + size - 1) % size, 0)
        .map_err(|error| error.to_string())?;
    if left == vec![(rank + size - 1) % size; 300_000] { Ok(()) } else { Err("not what was sent".into()) }
}

#[oxmpi::test(ranks = 2)]
fn threads_of_ranks_call(world: Communicator<'_, Multiple>) {
    let peer = 1 - world.rank();
    std::thread::scope(|threads| {
        for tag in 0..4 {
            let world = &world;
            threads.spawn(move || {
                world.send(&tag, peer, tag).expect("a rank");
                assert_eq!(world.recv_vec::<i32>(peer, tag).expect("a rank").0, [tag]);
            });
        }
    });
}

#[oxmpi::test(ranks = 2)]
#[should_panic(expected = "rank 1 of 2: \"wrong\"")]
fn a_rank_that_returns_an_error_fails_the_test(world: Communicator<'_>) -> Result<(), &'static str> {
    if world.rank() == 1 { Err("wrong") } else { Ok(()) }
}

#[test]
fn an_abort_ends_the_job_and_is_told() {
    let ended = oxmpi::run(3, |world| {
        if world.rank() == 1 {
            world.abort(7);
        }
        world.barrier()
    });
    let error = ended.expect_err("a rank has given up");
    assert_eq!((error.class(), error.text()), (ErrorClass::Other, "rank 1 has called MPI_Abort with code 7"));
}

#[test]
fn an_abort_is_told_whatever_other_ranks_return() {
    let ended = oxmpi::run(2, |world| {
        if world.rank() == 1 {
            world.abort(7);
        }
        world.send(&[0], 7, 0)
    });
    let error = ended.expect_err("a rank has given up");
    assert_eq!((error.class(), error.text()), (ErrorClass::Other, "rank 1 has called MPI_Abort with code 7"));
}

#[test]
fn jobs_run_side_by_side() {
    static RUNS: AtomicUsize = AtomicUsize::new(0);
    std::thread::scope(|threads| {
        for size in 1..=3 {
            threads.spawn(move || {
                let ranks = oxmpi::run(size, move |world| {
                    RUNS.fetch_add(1, Ordering::Relaxed);
                    world.barrier()?;
                    Ok((world.rank(), world.size()))
                });
                assert!(ranks.expect("they succeed").into_iter().eq((0..size).map(|rank| (rank, size))));
            });
        }
    });
    assert_eq!(RUNS.load(Ordering::Relaxed), 6);
}

#[test]
fn the_error_of_a_rank_is_that_of_the_run_though_others_wait_for_it() {
    let error = oxmpi::run(3, |world| {
        if world.rank() == 2 {
            world.send(&[0], 7, 0)?;
        }
        world.barrier()
    });
    let error = error.expect_err("there is no rank 7");
    assert_eq!(error.class(), ErrorClass::Rank, "{error}");
}

#[test]
fn who_waits_for_a_rank_that_has_left_is_told() {
    let error = oxmpi::run(2, |world| {
        if world.rank() == 0 {
            world.recv(&mut [0_u8], 1, 0)?;
        }
        Ok(())
    });
    let error = error.expect_err("nobody sends");
    assert!(error.to_string().contains("rank 0 waits for rank 1, which has left"), "{error}");
}

#[test]
fn a_thread_of_a_rank_that_waits_for_one_that_has_left_is_told() {
    let error = oxmpi::run_with::<Multiple, _>(2, |world| {
        if world.rank() == 0 {
            std::thread::scope(|threads| {
                threads.spawn(|| world.recv(&mut [0_u8], 1, 0).map(drop));
            });
        }
        Ok(())
    });
    let error = error.expect_err("nobody sends");
    assert!(error.to_string().contains("rank 0 waits for rank 1, which has left"), "{error}");
}

#[test]
fn an_abort_of_a_thread_of_a_rank_is_told() {
    let ended = oxmpi::run_with::<Multiple, _>(3, |world| {
        if world.rank() == 1 {
            std::thread::scope(|threads| {
                threads.spawn(|| world.abort(7));
            });
        }
        world.barrier()
    });
    let error = ended.expect_err("a rank has given up");
    assert_eq!((error.class(), error.text()), (ErrorClass::Other, "rank 1 has called MPI_Abort with code 7"));
}

#[test]
fn a_panic_of_a_rank_is_that_of_the_run() {
    let run = catch_unwind(|| {
        oxmpi::run(3, |world| {
            if world.rank() == 1 {
                panic!("a defect of the program");
            }
            world.recv(&mut [0_u8], Source::Any, 0).map(drop)
        })
    });
    let payload = run.expect_err("rank 1 panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"a defect of the program"));
}

#[test]
fn a_panic_while_operations_are_under_way_ends_the_rank() {
    let error = oxmpi::run(2, |world| {
        let mut never = [0];
        world.scope(|scope| {
            if world.rank() == 0 {
                let _never = scope.recv(&mut never, 1, 0)?;
                panic!("a defect of the program");
            }
            Ok(())
        })?;
        world.barrier()
    });
    let error = error.expect_err("rank 0 cannot go on");
    assert!(error.to_string().contains("rank 0 could not go on after an error"), "{error}");
}

/// No other rank counts on its result, and nothing has been lent.
#[test]
fn a_panic_in_a_local_reduction_goes_to_the_caller() {
    let fails = Op::user(|_: u32, _| panic!("it cannot combine"));
    let mut result = [1, 2];
    let reduce = AssertUnwindSafe(|| fails.reduce_local(&[3, 4], &mut result));
    let payload = catch_unwind(reduce).expect_err("it panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"it cannot combine"));
    assert_eq!(result, [1, 2]);
}

/// Requests that nobody has waited for, of which one is dropped.
#[oxmpi::test(ranks = 1)]
fn a_panic_in_a_scope_goes_on_when_all_operations_are_over(world: Communicator<'_>) {
    let (mut first, mut second, mut third) = ([0], [0], [0]);
    let scope = || {
        world.scope(|scope| {
            let recv = scope.recv(&mut first, 0, 1)?;
            let _ = scope.recv(&mut second, 0, 2)?;
            let active = scope.recv_init(&mut third, 0, 3)?.start()?;
            for tag in 1..4 {
                world.send(&[tag], 0, tag)?;
            }
            while !(recv.test()? && active.test()?) {}
            assert!(world.size() > 1, "a defect of the program");
            Ok(())
        })
    };
    let payload = catch_unwind(AssertUnwindSafe(scope)).expect_err("it panics");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"a defect of the program"));
    assert_eq!((first, second, third), ([1], [2], [3]));
}

#[test]
fn there_is_no_job_without_ranks() {
    assert_eq!(oxmpi::run(0, |_| Ok(())).expect_err("no ranks").class(), ErrorClass::Arg);
}

/// Its thread would be part of two jobs, the other of a single rank.
#[oxmpi::test(ranks = 2)]
fn a_rank_that_is_a_thread_neither_initialises_nor_opens_a_session(
    world: Communicator<'_>,
) -> oxmpi::Result<()> {
    let sessions = [Session::new().map(drop), Session::<Multiple>::with_level().map(drop)];
    let worlds = [oxmpi::init().map(drop), oxmpi::init_with::<Multiple>().map(drop)];
    for refused in sessions.into_iter().chain(worlds) {
        let error = refused.expect_err("it is a rank already");
        assert_eq!(error.class(), ErrorClass::Other);
        assert!(error.to_string().contains("`oxmpi::run`"), "{error}");
    }
    world.barrier()
}

/// What outlives the job is of the process, which is no rank of it, though its number is that of one.
#[test]
fn groups_and_communicators_of_two_jobs_are_not_mixed() {
    let env = oxmpi::init_with::<Multiple>().expect("the only one of these tests");
    let outside: &'static Communicator<'static, Multiple> =
        Box::leak(Box::new(Box::leak(Box::new(env)).world()));
    let run = oxmpi::run_with::<Multiple, _>(2, move |world| {
        let (mine, theirs) = (world.group(), outside.group());
        assert_eq!((mine.intersection(&theirs).size(), mine.difference(&theirs).size()), (0, 2));
        assert_eq!(mine.translate(0, &theirs)?, None);
        assert_eq!(mine.include([0])?.compare(&theirs), Comparison::Unequal);
        assert_eq!(world.compare(outside), Comparison::Unequal);
        let refused = [
            (mine.union(&theirs).map(drop), ErrorClass::Group),
            (world.create(&theirs).map(drop), ErrorClass::Group),
            (world.create_group(&theirs, 0).map(drop), ErrorClass::Group),
            (world.intercommunicator(0, outside, 0, 0).map(drop), ErrorClass::Comm),
        ];
        for (result, class) in refused {
            let error = result.expect_err("they are of two jobs");
            assert_eq!(error.class(), class, "{error}");
            assert!(error.to_string().contains("another job of this program"), "{error}");
        }
        // What is wrong at a leader is so for all.
        let bridge = if world.rank() == 0 { outside } else { &world };
        let error = world.intercommunicator(0, bridge, 0, 0).map(drop).expect_err("the leader has no bridge");
        assert_eq!(error.class(), ErrorClass::Comm, "{error}");
        world.barrier()
    });
    run.expect("the ranks go on");
}
