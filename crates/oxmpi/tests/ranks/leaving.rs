//! Ranks that leave early, by an error that ends `main` (so that the environment is dropped) or by an abort.

use std::io::Write;
use std::{mem, process};

use oxmpi::{Environment, Op};

use crate::job::{is_rank, on_ranks, start, text};

/// Numbers of ranks of these jobs.
const RANKS: [usize; 3] = [2, 3, 5];

/// Runs `main` on a rank and ends it as a program ends whose `main` it is.
fn as_main(main: impl FnOnce() -> Result<(), String>) -> ! {
    match main() {
        Ok(()) => process::exit(0),
        Err(error) => {
            eprintln!("Error: {error:?}");
            process::exit(1)
        }
    }
}

/// `main` of a program whose last rank finds an error while the others go on.
fn fails_on_one(others: impl FnOnce(&Environment, usize) -> oxmpi::Result<()>) -> Result<(), String> {
    let env = oxmpi::init().map_err(|error| error.to_string())?;
    let world = env.world();
    let last = world.size() - 1;
    world.barrier().map_err(|error| error.to_string())?;
    if world.rank() == last {
        "no number".parse::<i32>().map_err(|error| format!("the input is wrong: {error}"))?;
    }
    others(&env, last).map_err(|error| error.to_string())
}

fn ends_with_the_error(
    name: &str,
    function: &str,
    others: impl FnOnce(&Environment, usize) -> oxmpi::Result<()>,
) {
    if is_rank() {
        as_main(|| fails_on_one(others));
    }
    for ranks in RANKS {
        let output = start(name, ranks);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(1), "{ranks} ranks: {said}");
        assert!(said.contains("the input is wrong: invalid digit"), "{ranks} ranks: {said}");
        let waited = format!("in {function} for rank {}", ranks - 1);
        assert!(said.contains(&waited), "{ranks} ranks: {said}");
        assert!(said.contains("exited with status 1 after MPI_Finalize"), "{ranks} ranks: {said}");
    }
}

#[test]
fn an_error_in_main_ends_those_in_an_allreduce() {
    ends_with_the_error("leaving::an_error_in_main_ends_those_in_an_allreduce", "MPI_Allreduce", |env, _| {
        env.world().allreduce(&[1.0], &mut [0.0], &Op::SUM)
    });
}

#[test]
fn an_error_in_main_ends_those_in_a_receive() {
    ends_with_the_error("leaving::an_error_in_main_ends_those_in_a_receive", "MPI_Recv", |env, last| {
        env.world().recv(&mut [0], last, 7).map(drop)
    });
}

#[test]
fn an_error_in_main_ends_those_that_wait_for_a_request() {
    ends_with_the_error(
        "leaving::an_error_in_main_ends_those_that_wait_for_a_request",
        "MPI_Wait",
        |env, _| {
            let mut sum = [0.0];
            env.world().scope(|scope| scope.allreduce(&[1.0], &mut sum, &Op::SUM)?.wait().map(drop))
        },
    );
}

#[test]
fn an_error_in_main_ends_those_that_await_a_request() {
    ends_with_the_error(
        "leaving::an_error_in_main_ends_those_that_await_a_request",
        "MPI_Wait",
        |env, last| {
            let mut buf = [0];
            env.world().scope(|scope| {
                env.driver().block_on(async { scope.recv(&mut buf, last, 7)?.await.map(drop) })
            })
        },
    );
}

#[test]
fn an_abort_is_told_from_a_fatal_error() {
    let name = "leaving::an_abort_is_told_from_a_fatal_error";
    if is_rank() {
        let env = oxmpi::init().expect("the launcher has made a job");
        let _ = std::io::stdout().flush();
        env.abort(7);
    }
    let output = start(name, 2);
    assert_eq!(output.status.code(), Some(7));
    assert!(text(&output).contains("called MPI_Abort with code 7"), "{}", text(&output));
}

#[test]
fn a_panic_in_a_scope_is_told_from_an_abort() {
    let name = "leaving::a_panic_in_a_scope_is_told_from_an_abort";
    if is_rank() {
        let env = oxmpi::init().expect("the launcher has made a job");
        let world = env.world();
        let mut sum = [0.0];
        let _: oxmpi::Result<()> = world.scope(|scope| {
            let _pending =
                if world.rank() == 0 { Some(scope.allreduce(&[1.0], &mut sum, &Op::SUM)?) } else { None };
            if world.rank() == 0 {
                panic!("a defect of the program");
            }
            Ok(())
        });
        return;
    }
    let output = start(name, 2);
    assert_eq!(output.status.code(), Some(101), "{}", text(&output));
    assert!(!text(&output).contains("MPI_Abort"), "{}", text(&output));
    assert!(text(&output).contains("could not go on after an error"), "{}", text(&output));
}

/// Whom a message has come to, and who frees its communicator, says to its sender that it will never be received.
#[test]
fn what_nobody_receives_on_a_communicator_that_is_freed_keeps_nobody() {
    on_ranks("leaving::what_nobody_receives_on_a_communicator_that_is_freed_keeps_nobody", |env| {
        let world = env.world();
        let (library, other) = (world.duplicate()?, world.size() - 1 - world.rank());
        let room = library.buffered(2 << 20)?;
        room.send(&vec![1_u8; 1 << 20], other, 0)?;
        mem::forget(room); // or it would wait
        Ok(())
    });
}
