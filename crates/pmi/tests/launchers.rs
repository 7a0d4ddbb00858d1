//! Launchers that are installed here start this test program as ranks, which find each other.
//!
//! Where one is, its variable says: `MPICH_ROOT`, `IMPI_ROOT`; `SLURM_CONF`, where a Slurm runs that has two nodes.
//! Those that are not there are named, and not tested.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use oxmpi_pmi::{Joined, join};

/// A launcher, by the variable that says where it is installed.
fn launcher(root: &str) -> Option<Command> {
    let found =
        env::var_os(root).map(|root| PathBuf::from(root).join("bin/mpiexec")).filter(|path| path.exists());
    if found.is_none() {
        eprintln!("NOT TESTED: {root} names no folder with bin/mpiexec");
    }
    found.map(Command::new)
}

/// What ranks print that a launcher starts with these options, sorted.
fn run(mut launcher: Command, options: &[&str]) -> Vec<String> {
    let program = env::current_exe().expect("a test program");
    let words = ["--exact", "rank", "--ignored", "--nocapture", "--quiet"];
    let output = launcher.args(options).arg(program).args(words).output().expect("it is there");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    let mut lines: Vec<String> =
        out.lines().filter(|line| line.starts_with("rank")).map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
#[ignore = "not a test: the program that launchers start"]
fn rank() {
    let Ok(Joined::Member(world)) = join().inspect_err(|error| eprintln!("{error}")) else {
        panic!("no seat")
    };
    let place = world.place;
    let mut launcher = world.bootstrap.expect("it is not ours");
    let job = world.ticket.job();
    // What is written into the node's memory is seen by all of the node.
    job.state(world.ticket.rank()).arrive(1);
    if place.local_rank() == 0 {
        launcher.put(&format!("node.{}", place.node()), format!("{}", job.id()).as_bytes()).expect("told");
    }
    launcher.fence().expect("all come");
    assert!((0..job.size()).all(|seat| job.state(seat).has_arrived(1)), "the memory is the same");
    let record = launcher.get(&format!("node.{}", place.node())).expect("told");
    assert_eq!(record, job.id().to_string().as_bytes());
    println!("rank {} of {}, seat {} of {}", place.rank, place.size(), place.local_rank(), job.size());
    launcher.leave();
}

/// The ranks of one node.
fn on_one_node(root: &str) {
    let Some(launcher) = launcher(root) else { return };
    let expected: Vec<String> = (0..4).map(|rank| format!("rank {rank} of 4, seat {rank} of 4")).collect();
    assert_eq!(run(launcher, &["-n", "4"]), expected);
}

#[test]
fn ranks_that_hydra_starts_share_memory() {
    on_one_node("MPICH_ROOT");
}

#[test]
fn ranks_that_the_launcher_of_intel_starts_share_memory() {
    on_one_node("IMPI_ROOT");
}

#[test]
fn hydra_tells_which_ranks_share_a_node() {
    let Some(launcher) = launcher("MPICH_ROOT") else { return };
    let options = ["-launcher", "fork", "-hosts", "left,right", "-ppn", "2", "-n", "4"];
    let expected: Vec<String> =
        (0..4).map(|rank| format!("rank {rank} of 4, seat {} of 2", rank % 2)).collect();
    assert_eq!(run(launcher, &options), expected);
}

#[test]
fn ranks_that_slurm_starts_share_memory_on_each_node() {
    if env::var_os("SLURM_CONF").is_none() {
        eprintln!("NOT TESTED: SLURM_CONF names no Slurm that runs");
        return;
    }
    let options = ["--mpi=pmi2", "-N", "2", "-n", "4"];
    let expected: Vec<String> =
        (0..4).map(|rank| format!("rank {rank} of 4, seat {} of 2", rank % 2)).collect();
    assert_eq!(run(Command::new("srun"), &options), expected);
}
