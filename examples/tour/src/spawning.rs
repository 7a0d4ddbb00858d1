//! Programs that a program starts: a job of their own. Its ranks are processes; those of `oxmpi::run` are threads, and
//! do not come here.

use std::env;
use std::f64::consts::PI;
use std::process::Command;

use oxmpi::{Beside, Communicator, Environment, Here, Intercommunicator, Op, Result, There};

/// Two workers, who are told of a task, compute a part of it each, and tell what comes of it in all.
pub fn spawn(world: &Communicator<'_>) -> Result<()> {
    let workers = world.spawn(0, 2, &worker("integrate"))?;
    if world.rank() == 0 {
        let mut pi = 0.0;
        workers.bcast(Here(&1_000_u32))?;
        workers.reduce(Here(&mut pi), &Op::SUM)?;
        assert!((pi - PI).abs() < 1e-6, "{pi}");
    } else {
        workers.bcast::<u32>(Beside)?;
        workers.reduce(Beside, &Op::<f64>::SUM)?;
    }
    workers.disconnect();
    Ok(())
}

/// Two kinds of workers in one job, whose ranks are in the order of their description; merged, these ranks follow ours.
pub fn spawn_multiple(world: &Communicator<'_>) -> Result<()> {
    let (reader, solver) = (worker("read"), worker("solve"));
    let workers = world.spawn_multiple(0, &[(1, &reader), (2, &solver)])?;
    let all = workers.merge(false)?;
    assert_eq!((all.rank(), all.size()), (world.rank(), world.size() + 3));
    assert!(parts(&all, 'p')?.ends_with(&['p', 'r', 's', 's']));
    Ok(())
}

/// This program once more, which finds what it is to do among its arguments.
fn worker(task: &str) -> Command {
    let mut program = Command::new(env::current_exe().expect("this program has a path"));
    program.arg(task);
    program
}

/// What a [`worker`] does: `parent` is between its job and that which has started it.
pub fn work(env: &Environment, parent: Intercommunicator<'_>) -> Result<()> {
    let task = env::args().nth(1).expect("a worker has a task");
    match task.as_str() {
        "integrate" => integrate(&env.world(), parent),
        "read" => parts(&parent.merge(true)?, 'r').map(drop),
        "solve" => parts(&parent.merge(true)?, 's').map(drop),
        _ => panic!("there is no task {task}"),
    }
}

/// 4 / (1 + x²) from 0 to 1, in strips that are dealt round.
fn integrate(world: &Communicator<'_>, parent: Intercommunicator<'_>) -> Result<()> {
    let mut strips = 0_u32;
    parent.bcast(There(0, &mut strips))?;
    let width = 1.0 / f64::from(strips);
    let area = |strip: u32| width * 4.0 / (1.0 + ((f64::from(strip) + 0.5) * width).powi(2));
    let mine: f64 = (world.rank() as u32..strips).step_by(world.size()).map(area).sum();
    parent.reduce(There(0, &mine), &Op::SUM)?;
    parent.disconnect();
    Ok(())
}

/// Which part each rank of a communicator plays, of which this one tells its own.
fn parts(all: &Communicator<'_>, mine: char) -> Result<Vec<char>> {
    let mut parts = vec![' '; all.size()];
    all.allgather(&mine, &mut parts)?;
    Ok(parts)
}
