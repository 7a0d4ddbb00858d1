//! Programs that are started by programs.

use std::env;
use std::process::Command;

use oxmpi::{Environment, ErrorClass, Here, Op, Result, There};

use crate::job::on_ranks;

const NAME: &str = "spawning::what_is_spawned_talks_to_its_parents";
const CHILDREN: usize = 2;

#[test]
fn what_is_spawned_talks_to_its_parents() {
    on_ranks(NAME, |env| if env::var_os(CHILD).is_some() { child(env) } else { parent(env) });
}

/// In the environment of a child.
const CHILD: &str = "OXMPI_TEST_CHILD";

fn parent(env: &Environment) -> Result<()> {
    assert!(env.parent().is_none());
    let world = env.world();
    let mut program = Command::new(env::current_exe().expect("this program has a path"));
    program.args(["--exact", NAME, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    let children = world.spawn(world.size() - 1, CHILDREN, &program)?;
    assert_eq!((children.size(), children.remote_size()), (world.size(), CHILDREN));
    let mut theirs = [0; CHILDREN];
    children.allgather(&world.rank(), &mut theirs)?;
    assert_eq!(theirs, [100, 101]);
    if world.rank() == 0 {
        children.bcast(Here(&[7, 8]))?;
    } else {
        children.bcast::<i32>(oxmpi::Beside)?;
    }
    children.disconnect();
    let nothing = world.spawn(0, 1, &Command::new("/there/is/no/such/program"));
    assert_eq!(nothing.expect_err("it cannot be started").class(), ErrorClass::Spawn);
    Ok(())
}

fn child(env: &Environment) -> Result<()> {
    let parent = env.parent().expect("it was spawned");
    assert!(env.parent().is_none(), "once");
    let mut theirs = vec![0; parent.remote_size()];
    parent.allgather(&(100 + env.world().rank()), &mut theirs)?;
    assert!(theirs.into_iter().eq(0..parent.remote_size()));
    let mut numbers = [0; 2];
    parent.bcast(There(0, &mut numbers))?;
    env.world().allreduce_in_place(&mut numbers, &Op::SUM)?;
    assert_eq!(numbers, [7 * CHILDREN as i32, 8 * CHILDREN as i32]);
    parent.disconnect();
    Ok(())
}

const NAME_OF_SEVERAL: &str = "spawning::several_programs_are_one_job_in_their_order";

#[test]
fn several_programs_are_one_job_in_their_order() {
    on_ranks(NAME_OF_SEVERAL, |env| match env::var(CHILD) {
        Ok(kind) => one_of_several(env, &kind),
        Err(_) => parent_of_several(env),
    });
}

fn parent_of_several(env: &Environment) -> Result<()> {
    let world = env.world();
    assert_eq!((env.app_number(), env.universe_size()), (Some(0), world.size()));
    let programs = ["a", "b"].map(|kind| {
        let mut program = Command::new(env::current_exe().expect("this program has a path"));
        program.args(["--exact", NAME_OF_SEVERAL, "--nocapture", "--test-threads=1"]).env(CHILD, kind);
        program
    });
    let children = world.spawn_multiple(0, &[(1, &programs[0]), (2, &programs[1])])?;
    let mut kinds = ['-'; 3];
    children.allgather(&'p', &mut kinds)?;
    assert_eq!(kinds, ['a', 'b', 'b']);
    children.disconnect();
    let nothing = world.spawn_multiple(0, &[]).expect_err("there is no program");
    assert_eq!((nothing.class(), nothing.function()), (ErrorClass::Arg, Some("MPI_Comm_spawn_multiple")));
    Ok(())
}

fn one_of_several(env: &Environment, kind: &str) -> Result<()> {
    assert_eq!(env.world().size(), 3);
    assert_eq!((env.app_number(), env.universe_size()), (Some(usize::from(kind == "b")), 3));
    let parent = env.parent().expect("it was spawned");
    let mut theirs = vec!['-'; parent.remote_size()];
    parent.allgather(&kind.chars().next().expect("it has a name"), &mut theirs)?;
    assert!(theirs.iter().all(|kind| *kind == 'p'));
    parent.disconnect();
    Ok(())
}
