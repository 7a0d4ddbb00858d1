//! A rank without the MPI library: does to its state page what the library would do, as a script says.
//!
//! It is this test program itself, started by the launcher to run the one ignored "test" below.

use std::env;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process;
use std::thread;
use std::time::Duration;

use oxmpi_base::generated::functions::Function;
use oxmpi_broker::Broker;
use oxmpi_pmi::{Joined, World};
use oxmpi_shm::{Claim, Invitation, Job, Phase};
use rustix::pipe::PipeFlags;

use crate::partner::Partner;
use crate::run::{Ended, command, finish};

/// A launcher with one fake rank per script, not yet started. `options` may name a program that runs the rank.
pub fn launcher(options: &[&str], scripts: &[&str]) -> process::Command {
    let program = env::current_exe().expect("a test program");
    let ranks = scripts.len().to_string();
    let program = program.to_str().expect("a path of letters");
    let rank = [program, "--exact", "fake_rank::rank", "--ignored", "--nocapture", "--quiet"];
    let mut command = command(&[&["-n", &ranks], options, &rank].concat());
    for (rank, script) in scripts.iter().enumerate() {
        command.env(format!("FAKE_RANK_{rank}"), script);
    }
    command
}

/// Starts a launcher with one fake rank per script.
pub fn start(options: &[&str], scripts: &[&str]) -> process::Child {
    launcher(options, scripts).spawn().expect("mpiexec is built")
}

/// Runs a launcher with one fake rank per script.
pub fn run(options: &[&str], scripts: &[&str]) -> Ended {
    finish(start(options, scripts))
}

/// The same, where a slow machine may take long to let ranks end by themselves.
pub fn run_patiently(scripts: &[&str]) -> Ended {
    finish(launcher(&[], scripts).env("OXMPI_GRACE", "25").spawn().expect("mpiexec is built"))
}

#[test]
#[ignore = "not a test: the program that other tests launch"]
fn rank() {
    let Ok(rank) = env::var("OXMPI_RANK") else { return };
    let script = env::var(format!("FAKE_RANK_{rank}")).expect("a script per rank");
    let job = Job::attach(inherited("OXMPI_JOB_FD")).expect("the job's segment");
    let seat = env::var("OXMPI_LOCAL_RANK").expect("set by the launcher");
    let rank: usize = seat.parse().expect("a number");
    play(&job, rank, &Broker::of_job(job.id()), &script);
}

/// Does what the script of a rank says.
fn play(job: &Job, rank: usize, broker: &Broker, script: &str) {
    let mut partner = Partner::new(job, rank, broker);
    let mut pending = "nothing".to_owned();
    let mut world = None;
    for word in script.split_whitespace() {
        let (verb, value) = word.split_once(':').unwrap_or((word, "0"));
        match verb {
            "inherit" => take_seat(),
            "join" => world = Some(join()),
            "tell" => tell_all(world.as_mut().expect("it has joined")),
            "fence" => fence(world.as_mut().expect("it has joined")),
            "init" => job.state(rank).set_phase(Phase::Running),
            "session" => job.state(rank).set_phase(Phase::InSession),
            "leave" => wait_to_be_released(job, rank),
            "strand" => {
                job.state(rank).set_phase(Phase::Stranded(number(value).cast_unsigned()));
                process::exit(1);
            }
            "fail" => {
                job.state(rank).set_phase(Phase::Failed(number(value)));
                process::exit(number(value) & 0xff);
            }
            "missed" => wait_for_end(job, number(value).unsigned_abs() as usize),
            "finalize" => job.state(rank).set_phase(Phase::Finalized),
            "abort" => {
                job.state(rank).set_phase(Phase::Aborted(number(value)));
                process::exit(number(value) & 0xff);
            }
            "call" => job.state(rank).set_call(function(value)),
            "exit" => process::exit(number(value)),
            "lifeline" => wait_for_lifeline(),
            "pending" => pending = value.replace('_', " "),
            "late" => thread::sleep(Duration::from_millis(500)),
            "pid" => println!("{}", process::id()),
            "print" => println!("{value}"),
            "settle" => wait_for_others(job, rank),
            "sleep" => wait(job, rank, &pending),
            "succeeded" => wait_for_successor(job, number(value).unsigned_abs() as usize),
            "worker" => start_worker(job, rank),
            _ => partner.play(verb, value),
        }
    }
    process::exit(0);
}

#[test]
#[ignore = "not a test: the program that other tests start without a launcher"]
fn singleton() {
    let Ok(script) = env::var("FAKE_SINGLETON") else { return };
    let job = Job::create(1).expect("memory");
    assert!(matches!(job.claim(0), Ok(Claim::Taken(ticket)) if ticket.round() == 0));
    job.state(0).set_phase(Phase::Running);
    // As programs make them that have never thought of other processes.
    let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::NONBLOCK).expect("a pipe");
    let broker = Broker::start_for_singleton(job.file(), job.id()).expect("mpiexec serves");
    drop(writer);
    assert_eq!(rustix::io::read(&reader, &mut [0; 1]), Ok(0), "mpiexec keeps nothing that it inherits");
    assert_eq!(job.owner(0), Some(process::id()), "the seat is kept");
    println!("served");
    play(&job, 0, &broker, &script);
}

/// Takes the seat as `MPI_Init` does, until the end of this process.
fn take_seat() {
    let Ok(Invitation::Seat(ticket)) = Job::inherited() else { panic!("no seat") };
    ticket.job().state(ticket.rank()).set_phase(Phase::Running);
}

/// Takes the seat in a job of several nodes.
fn join() -> World {
    let Ok(Joined::Member(world)) = oxmpi_pmi::join() else { panic!("no seat") };
    world.ticket.job().state(world.ticket.rank()).set_phase(Phase::Running);
    world
}

/// Waits until all ranks have come to this.
fn fence(world: &mut World) {
    world.bootstrap.as_mut().expect("there are several nodes").fence().expect("all come");
}

/// Tells a record for this node, and prints those of all nodes.
fn tell_all(world: &mut World) {
    let bootstrap = world.bootstrap.as_mut().expect("there are several nodes");
    let node = world.place.node();
    if world.place.local_rank() == 0 {
        bootstrap.put(&format!("node.{node}"), format!("record of node {node}").as_bytes()).expect("told");
    }
    bootstrap.fence().expect("all come");
    let mut get =
        |node| String::from_utf8(bootstrap.get(&format!("node.{node}"), 0).expect("told")).expect("text");
    println!("{}", (0..world.place.nodes.count()).map(&mut get).collect::<Vec<_>>().join(", "));
}

/// Starts another process that is in MPI in this one's stead, and that takes some time to end when asked to.
#[expect(clippy::zombie_processes, reason = "it is to outlive this process")]
fn start_worker(job: &Job, rank: usize) {
    let file = job.file().as_raw_fd();
    let script = format!(
        "import fcntl, signal, time\n\
         def save(*_): time.sleep(0.1); print('saved', flush=True); raise SystemExit\n\
         signal.signal(signal.SIGTERM, save)\n\
         fcntl.lockf({file}, fcntl.LOCK_EX, 1, {rank})\n\
         print('ready', flush=True)\n\
         while True: time.sleep(1)"
    );
    process::Command::new("python3").args(["-c", &script]).spawn().expect("python3");
    while job.owner(rank).is_none() {
        thread::sleep(Duration::from_millis(1));
    }
}

fn number(text: &str) -> i32 {
    text.parse().expect("a number")
}

fn function(name: &str) -> u16 {
    Function::all().find(|function| function.name() == name).expect("a function").index()
}

fn inherited(variable: &str) -> OwnedFd {
    let fd = env::var(variable).expect("set by the launcher").parse().expect("a number");
    // SAFETY: the launcher left it open for this process, which takes it once.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Blocks until the launcher is gone.
fn wait_for_lifeline() {
    println!("{}", process::id());
    let mut byte = [0];
    let _ = File::from(inherited("OXMPI_LIFELINE_FD")).read(&mut byte);
}

/// Waits until every other rank is in some call or has left MPI.
fn wait_for_others(job: &Job, rank: usize) {
    let is_settled =
        |other: usize| job.state(other).call() != 0 || job.state(other).phase() == Phase::Finalized;
    while !(0..job.size()).filter(|&other| other != rank).all(is_settled) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits in `MPI_Finalize` for others who never come.
fn wait_to_be_released(job: &Job, rank: usize) {
    job.state(rank).set_phase(Phase::Leaving);
    while !job.state(rank).is_released() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until the launcher says that another rank's process has ended.
fn wait_for_end(job: &Job, other: usize) {
    while !job.state(other).is_gone() {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until a second process has taken the seat of a rank.
fn wait_for_successor(job: &Job, other: usize) {
    while job.round(other) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Blocks for ever, as in a call that nobody completes; answers what it is asked.
fn wait(job: &Job, rank: usize, pending: &str) {
    loop {
        if job.state(rank).is_asked() {
            job.state(rank).answer(pending);
        }
        thread::sleep(Duration::from_millis(1));
    }
}
