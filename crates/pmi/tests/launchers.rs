//! Launchers that are installed here start this test program as ranks, which find each other.
//!
//! Where one is, its variable says: `MPICH_ROOT`, `IMPI_ROOT`, `OPENMPI_ROOT`; `SLURM_CONF`, where a Slurm runs that
//! has two nodes. Those that are not there are named, and not tested.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::{env, fs};

use oxmpi_pmi::{Joined, join};

/// A launcher, by the variable that says where it is installed.
fn launcher(root: &str) -> Option<Command> {
    installed(root, "bin/mpiexec")
}

/// A program, by the variable that says where what it belongs to is installed.
fn installed(root: &str, name: &str) -> Option<Command> {
    let found = env::var_os(root).map(|root| PathBuf::from(root).join(name)).filter(|path| path.exists());
    if found.is_none() {
        eprintln!("NOT TESTED: {root} names no folder with {name}");
    }
    found.map(Command::new)
}

/// A program of a test, which is removed when that is over.
struct Script(PathBuf);

impl Script {
    /// Another process writes it: while this one did, what other tests fork here would hold it open for writing, and
    /// nobody could execute it.
    fn write(name: &str, text: &str) -> Self {
        let script = Self(env::temp_dir().join(format!("oxmpi-{name}-{}", std::process::id())));
        let mut writer = Command::new("sh");
        writer.args(["-c", "printf %s \"$1\" >\"$0\" && chmod 700 \"$0\""]).arg(&script.0).arg(text);
        assert!(writer.status().expect("there is a shell").success(), "it is written");
        script
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

/// The words with which this test program is a [`rank`].
const RANK: [&str; 5] = ["--exact", "rank", "--ignored", "--nocapture", "--quiet"];

/// What ranks print that a launcher starts with these options, sorted.
fn run(mut launcher: Command, options: &[&str]) -> Vec<String> {
    let program = env::current_exe().expect("a test program");
    let output = launcher.args(options).arg(program).args(RANK).output().expect("it is there");
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
    let first = place.nodes.ranks_of(place.node()).next().expect("this one at least");
    let record = launcher.get(&format!("node.{}", place.node()), first).expect("told");
    assert_eq!(record, job.id().to_string().as_bytes());
    say(&format!("rank {} of {}, seat {} of {}", place.rank, place.size(), place.local_rank(), job.size()));
    if env::var_os(PARENT).is_some() {
        let mut child = Command::new(env::current_exe().expect("a test program"));
        child.args(["--exact", "child", "--ignored", "--nocapture", "--quiet"]);
        assert!(child.status().expect("it is this program").success());
    }
    launcher.leave();
}

/// Prints a line that begins as one, at once: the harness of another rank may have printed a dot before.
fn say(line: &str) {
    io::stdout().write_all(format!("\n{line}\n").as_bytes()).expect("the launcher reads");
}

/// Tells ranks to start a child.
const PARENT: &str = "OXMPI_TEST_PARENT";

#[test]
#[ignore = "not a test: the program that a rank starts"]
fn child() {
    match join() {
        Ok(Joined::Outsider { rank, pid }) if pid == std::os::unix::process::parent_id() => {
            say(&format!("rank {rank} has a child"));
        }
        joined => panic!("{joined:?}"),
    }
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

/// Hydra, started by a rank of oxmpi's launcher.
#[test]
fn hydra_within_a_rank_starts_a_world_of_its_own() {
    let Some(mut hydra) = launcher("MPICH_ROOT") else { return };
    hydra.envs([("OXMPI_JOB_FD", "1000"), ("OXMPI_LOCAL_RANK", "0")]);
    assert_eq!(run(hydra, &["-n", "2"]), ["rank 0 of 2, seat 0 of 2", "rank 1 of 2, seat 1 of 2"]);
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

/// A namespace of the network, which is there as long as a process that does nothing else.
struct Network(Child);

impl Network {
    /// A new one; none, said aloud, where this process may not make any.
    fn new() -> Option<Self> {
        // What it prints says that it is inside.
        let mut holder = Command::new("unshare");
        holder.args(["--net", "sh", "-c", "echo; exec sleep 1000"]).stdout(Stdio::piped());
        let mut holder = Self(holder.spawn().expect("util-linux"));
        let mut byte = [0];
        let is_made = holder.0.stdout.take().is_some_and(|mut out| out.read_exact(&mut byte).is_ok());
        if !is_made {
            eprintln!("NOT TESTED: there can be no namespaces of the network here");
        }
        is_made.then_some(holder)
    }

    fn path(&self) -> String {
        format!("--net=/proc/{}/ns/net", self.0.id())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

#[test]
fn ranks_of_a_node_that_are_in_two_networks_are_on_two_nodes() {
    let (Some(launcher), Some(network)) = (launcher("MPICH_ROOT"), Network::new()) else { return };
    let (program, path) = (env::current_exe().expect("a test program"), network.path());
    let name = program.to_string_lossy();
    let program = [&[&*name], &RANK[..]].concat();
    let inside = ["-n", "1", "nsenter", &path];
    let options = [&inside[..], &program, &[":", "-n", "2"], &program, &[":"], &inside].concat();
    let expected = [
        "rank 0 of 4, seat 0 of 2",
        "rank 1 of 4, seat 0 of 2",
        "rank 2 of 4, seat 1 of 2",
        "rank 3 of 4, seat 1 of 2",
    ];
    assert_eq!(run(launcher, &options), expected);
}

/// PRRTE's launcher, of Open MPI, which root may use.
fn prterun() -> Option<Command> {
    let mut found = installed("OPENMPI_ROOT", "bin/prterun")?;
    found.envs([("PRTE_ALLOW_RUN_AS_ROOT", "1"), ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    Some(found)
}

#[test]
fn ranks_that_prterun_starts_share_memory() {
    let Some(launcher) = prterun() else { return };
    let expected: Vec<String> = (0..4).map(|rank| format!("rank {rank} of 4, seat {rank} of 4")).collect();
    assert_eq!(run(launcher, &["--map-by", ":oversubscribe", "-n", "4"]), expected);
}

#[test]
fn prterun_tells_which_ranks_share_a_node() {
    let Some(launcher) = prterun() else { return };
    // What is called instead of ssh, with a host and a command, has both here.
    let agent = Script::write("agent", "#!/bin/sh\nshift\nexec sh -c \"$*\"\n");
    let (prefix, name) = (env::var("OPENMPI_ROOT").expect("it is set"), agent.0.to_string_lossy());
    let options = ["--prefix", &prefix, "--prtemca", "plm_ssh_agent", &name];
    let options = [&options[..], &["--host", "left.invalid:2,right.invalid:2", "-n", "4"]].concat();
    let expected: Vec<String> =
        (0..4).map(|rank| format!("rank {rank} of 4, seat {} of 2", rank % 2)).collect();
    assert_eq!(run(launcher, &options), expected);
}

/// What two ranks start that a launcher starts with these options is none of them.
fn start_children(mut launcher: Command, options: &[&str]) {
    launcher.env(PARENT, "1");
    let expected =
        ["rank 0 has a child", "rank 0 of 2, seat 0 of 2", "rank 1 has a child", "rank 1 of 2, seat 1 of 2"];
    assert_eq!(run(launcher, &[options, &["-n", "2"]].concat()), expected);
}

#[test]
fn who_is_started_by_a_rank_of_prterun_is_not_that_rank() {
    let Some(launcher) = prterun() else { return };
    start_children(launcher, &["--map-by", ":oversubscribe"]);
}

#[test]
fn who_is_started_by_a_rank_of_hydra_is_not_that_rank() {
    for root in ["MPICH_ROOT", "IMPI_ROOT"] {
        let Some(launcher) = launcher(root) else { continue };
        start_children(launcher, &[]);
    }
}

#[test]
fn a_library_of_another_release_than_the_launcher_is_refused() {
    let Some(mut launcher) = prterun() else { return };
    launcher.args(["-n", "1", "env", "PMIX_VERSION=3.2.1"]);
    let program = env::current_exe().expect("a test program");
    let output = launcher.arg(program).args(["--exact", "rank", "--ignored", "--nocapture"]).output();
    let err = output.map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).expect("it is there");
    assert!(err.contains("the launcher speaks PMIx 3.2.1") && err.contains("libpmix.so.2"), "{err}");
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
