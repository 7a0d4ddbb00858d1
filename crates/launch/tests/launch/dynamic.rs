//! Jobs that jobs spawn, and jobs that find each other.

use std::env;
use std::fs;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use crate::fake_rank;
use crate::run::{Ended, MPIEXEC, finish, process, read_lines, wait_until_gone};

/// A job of one rank with this script, whose children have those.
fn start(options: &[&str], script: &str, children: &[(&str, &str)]) -> Child {
    start_all(options, &[script], children)
}

/// A job of a rank for each of these scripts.
fn start_all(options: &[&str], scripts: &[&str], children: &[(&str, &str)]) -> Child {
    let mut command = fake_rank::launcher(options, scripts);
    for (name, script) in children {
        command.env(format!("FAKE_CHILD_{name}"), script);
    }
    command.spawn().expect("mpiexec is built")
}

fn run(script: &str, children: &[(&str, &str)]) -> Ended {
    finish(start(&[], script, children))
}

/// A process without a launcher, with this script.
fn start_singleton(script: &str, children: &[(&str, &str)]) -> Child {
    let mut command = Command::new(env::current_exe().expect("a test program"));
    command.args(["--exact", "fake_rank::singleton", "--ignored", "--nocapture", "--quiet"]);
    command.env("FAKE_SINGLETON", script).env("OXMPI_MPIEXEC", MPIEXEC);
    for (name, script) in children {
        command.env(format!("FAKE_CHILD_{name}"), script);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("this program")
}

/// Reads the output of a launcher to a line that begins with `word`; returns the rest of that line.
fn read_to(child: &mut Child, word: &str) -> String {
    loop {
        let line = read_lines(child, 1).concat();
        if let Some(rest) = line.strip_prefix(word) {
            return rest.trim().to_owned();
        }
    }
}

/// A name that no other test publishes.
fn service(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

/// Two hosts, both of which are this machine.
const TWO: [&str; 4] = ["-launcher", "fork", "-host", "left:1,right:1"];

const PARENT: &str = "accept connected finalize";

#[test]
fn a_spawned_job_meets_its_parent() {
    let ended = run(&format!("init spawn:c {PARENT}"), &[("c", "init greet hear finalize")]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    assert!(ended.out.contains("spawned\n") && ended.out.contains("met a job of 1\n"), "{}", ended.out);
}

#[test]
fn several_programs_are_one_job_and_their_lines_say_so() {
    let script = format!("init spawn:c,d,d {PARENT}");
    let ended = finish(start(
        &["-l"],
        &script,
        &[("c", "init greet hear print:hello finalize"), ("d", "init print:hello finalize")],
    ));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains("[0] met a job of 3\n"), "{}", ended.out);
    for rank in 0..3 {
        assert!(ended.out.contains(&format!("[2:{rank}] hello\n")), "{}", ended.out);
    }
}

#[test]
fn nothing_is_started_if_one_program_is_not_there() {
    let ended = run("init spawn:c,missing print:on finalize", &[("c", "print:started sleep")]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    assert!(
        ended.out.contains("failed: program /no/such/program not found (MPI_ERR_SPAWN)\non\n"),
        "{}",
        ended.out
    );
    assert!(!ended.out.contains("started"), "{}", ended.out);
}

#[test]
fn a_parent_hears_of_a_child_that_dies_before_it_connects_and_goes_on() {
    let ended = run("init spawn:c await_end print:on finalize", &[("c", "init exit:3")]);
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{}", ended.out);
    let end = ended.out.lines().find_map(|line| line.strip_prefix("ended: ")).expect("it hears");
    assert!(end.starts_with("rank 0 (") && end.contains("exited with status 3 before MPI_Finalize"), "{end}");
    let ended = run("init spawn:c await_end finalize", &[("c", "print:bye")]);
    assert!(ended.out.contains("ended: all its processes have ended\n"), "{}", ended.out);
}

#[test]
fn a_child_that_fails_ends_its_parent_once_they_are_connected() {
    let ended = run("init spawn:c accept connected call:MPI_Recv sleep", &[("c", "init greet hear abort:5")]);
    assert_eq!(ended.status, Some(5), "{}", ended.out);
    assert!(ended.err.contains("mpiexec: job 2: rank 0 ("), "{}", ended.err);
    assert!(ended.err.contains("called MPI_Abort with code 5\n"), "{}", ended.err);
    let connected =
        "mpiexec: job 1: ends with job 2, to which it is connected\nmpiexec: job 1:   rank 0 in MPI_Recv\n";
    assert!(ended.err.contains(connected), "{}", ended.err);
}

/// It has returned from `MPI_Init`, and its parent has not come to say so when the launcher sees its end.
#[test]
fn a_child_that_fails_before_its_parent_says_that_they_are_connected_ends_it_too() {
    // All of it ends at once, or what is left takes its time.
    let children = [("c", "init greet hear exit:5"), ("d", "init worker sleep")];
    for (script, job) in [
        ("init spawn:c accept tell_job outlive connected_too_late call:MPI_Recv sleep", "c"),
        ("init spawn:c accept tell_job outlive late connected_too_late call:MPI_Recv sleep", "c"),
        ("init spawn:c,d accept tell_job outlive connected_too_late call:MPI_Recv sleep", "c,d"),
    ] {
        let ended = run(script, &children);
        assert_eq!(ended.status, Some(5), "{job}: {}{}", ended.out, ended.err);
        let reports = ended.err.matches("exited with status 5 before MPI_Finalize\n").count();
        assert_eq!(reports, 1, "{job}: {}", ended.err);
        let connected = "mpiexec: job 1: ends with job 2, to which it is connected\n";
        assert!(ended.err.contains(connected), "{job}: {}", ended.err);
    }
}

/// The same where they have parted before the parent has said so, or the child fails after `MPI_Finalize`.
#[test]
fn a_child_that_fails_before_its_parent_says_that_they_are_connected_counts() {
    let parent =
        "init spawn:c accept tell_job outlive late part connected_too_late late print:alive finalize";
    for child in ["init greet hear exit:6", "init greet hear finalize exit:6"] {
        let ended = run(parent, &[("c", child)]);
        assert_eq!(ended.status, Some(6), "{}{}", ended.out, ended.err);
        assert!(ended.out.contains("alive\n"), "{}{}", ended.out, ended.err);
        assert!(ended.err.contains("mpiexec: job 2: rank 0 ("), "{}", ended.err);
        assert!(ended.err.contains("exited with status 6"), "{}", ended.err);
    }
}

#[test]
fn a_parent_that_fails_ends_all_its_children() {
    let ended = run(
        "init spawn:c accept connected spawn:d accept connected exit:7",
        &[("c", "init greet sleep"), ("d", "init greet sleep")],
    );
    assert_eq!(ended.status, Some(7), "{}", ended.out);
    for job in [2, 3] {
        assert!(ended.err.contains(&format!("mpiexec: job {job}: ends with job 1")), "{}", ended.err);
    }
}

/// Two agents that spawn, each for itself.
#[test]
fn what_ranks_on_several_hosts_spawn_has_files_of_its_own() {
    let folder = env::temp_dir().join(format!("oxmpi-spawned-{}", std::process::id()));
    let name = folder.to_str().expect("a path of letters");
    let options = [&TWO[..], &["--output-dir", name]].concat();
    let scripts = ["a", "b"].map(|child| format!("init spawn:{child} await_end finalize"));
    let mut launcher = fake_rank::launcher(&options, &scripts.each_ref().map(String::as_str));
    launcher.env("FAKE_CHILD_a", "init print:child_of_0 finalize");
    let ended =
        finish(launcher.env("FAKE_CHILD_b", "init print:child_of_1 finalize").spawn().expect("it is built"));
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
    let outputs = ["rank.0", "rank.1", "job.2.rank.0", "job.3.rank.0"].map(read);
    fs::remove_dir_all(&folder).expect("my own directory");
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    for (output, text) in outputs.iter().zip(["ended: ", "ended: ", "child_of_0\n", "child_of_1\n"]) {
        assert!(output.contains(text), "{outputs:?}");
    }
}

#[test]
fn a_job_that_its_parent_is_not_connected_with_yet_ends_with_it() {
    for last in ["exit:7", "drop late exit:7"] {
        let ended = run(&format!("init spawn:c {last}"), &[("c", "print:begun sleep")]);
        assert_eq!(ended.status, Some(7), "{}", ended.out);
        let unwanted = "job 2: ends because job 1, which has spawned it, wants it no more\n";
        assert!(ended.err.contains(unwanted), "{}", ended.err);
    }
}

#[test]
fn a_job_that_has_parted_from_another_one_outlives_it() {
    let ended = run(
        "init spawn:c accept connected part exit:7",
        &[("c", "init greet hear late print:alive finalize")],
    );
    assert_eq!(ended.status, Some(7), "{}", ended.out);
    assert!(ended.out.contains("alive\n") && !ended.err.contains("job 2"), "{}{}", ended.out, ended.err);
    let script = "init spawn:c accept connected part late print:alive finalize";
    let ended = run(script, &[("c", "init greet hear exit:7")]);
    assert!(
        ended.out.contains("alive\n") && !ended.err.contains("job 1: ends"),
        "{}{}",
        ended.out,
        ended.err
    );
    assert_eq!(ended.status, Some(7), "its failure is one of the launcher's jobs: {}", ended.err);
}

/// The agent of the first host sees a job of its own fail.
#[test]
fn a_failure_on_one_host_ends_who_is_connected_on_all_and_nobody_else() {
    let parent = "init spawn:c accept connected part late late print:alive finalize";
    let scripts = [parent, "init late late late print:alive finalize"];
    let ended = finish(start_all(&TWO, &scripts, &[("c", "init greet hear exit:7")]));
    assert_eq!(ended.status, Some(7), "{}{}", ended.out, ended.err);
    assert_eq!(ended.out.matches("alive\n").count(), 2, "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("job 2: rank 0 (") && ended.err.contains("status 7"), "{}", ended.err);
    let scripts = ["init spawn:c accept connected sleep", "init sleep"];
    let ended = finish(start_all(&TWO, &scripts, &[("c", "init greet hear exit:7")]));
    assert_eq!(ended.status, Some(7), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("job 1: ends with job 2"), "{}", ended.err);
}

/// What has parted on the first host from a job that fails on the second may take longer than agents have to end.
#[test]
fn a_job_that_has_parted_from_one_on_several_hosts_outlives_it() {
    let scripts = ["join spawn:c accept connected part fence sleep", "join fence exit:7"];
    let parted = "init greet hear outlive late late late late late late print:alive finalize";
    let ended = finish(start_all(&TWO, &scripts, &[("c", parted)]));
    assert_eq!(ended.status, Some(7), "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("alive\n") && !ended.err.contains("job 2"), "{}{}", ended.out, ended.err);
    let scripts = ["join spawn:c accept connected fence sleep", "join fence exit:7"];
    let ended = finish(start_all(&TWO, &scripts, &[("c", "init greet hear sleep")]));
    assert_eq!(ended.status, Some(7), "what is connected ends: {}{}", ended.out, ended.err);
}

/// Two children of one parent, of which one has parted.
#[test]
fn a_failure_ends_who_is_connected_and_nobody_else() {
    let script = "init spawn:c accept connected part spawn:d accept connected exit:7";
    let ended =
        run(script, &[("c", "init greet hear late late print:alive finalize"), ("d", "init greet sleep")]);
    assert!(ended.out.contains("alive\n") && !ended.err.contains("job 2"), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("mpiexec: job 3: ends with job 1"), "{}", ended.err);
}

#[test]
fn a_job_can_be_aborted_from_another_one() {
    let ended = run("init spawn:c accept tell_job sleep", &[("c", "init greet abort_parent:9")]);
    assert_eq!(ended.status, Some(9), "{}", ended.out);
    assert!(ended.err.contains(" of another job called MPI_Abort with code 9\n"), "{}", ended.err);
    assert!(ended.err.contains("mpiexec: job 2: ends with job 1"), "{}", ended.err);
}

#[test]
fn a_name_is_known_to_other_launchers_until_its_own_has_ended() {
    let name = service("known");
    let with = |verb: &str| format!("{verb}:{name}");
    let mut first = start(&[], &format!("init {} sleep", with("publish")), &[]);
    read_to(&mut first, "published");
    let others = ["lookup", "publish", "unpublish"].map(with).join(" ");
    let ended = run(&others, &[]);
    assert!(ended.out.contains("found true\nrefused: "), "{}", ended.out);
    assert!(ended.out.contains("is published already (MPI_ERR_SERVICE)\nrefused: "), "{}", ended.out);
    assert!(ended.out.contains("is not published by this job (MPI_ERR_SERVICE)\n"), "{}", ended.out);
    rustix::process::kill_process(process(&first), Signal::KILL).expect("it runs");
    finish(first);
    let ended = run(&others, &[]);
    assert!(ended.out.contains("(MPI_ERR_NAME)\npublished\nunpublished\n"), "{}", ended.out);
}

#[test]
fn killing_the_launcher_kills_spawned_jobs_too() {
    let mut child = start(&[], "init spawn:c accept processes sleep", &[("c", "init processes greet sleep")]);
    let processes: Vec<String> = (0..2).map(|_| read_to(&mut child, "processes")).collect();
    rustix::process::kill_process(process(&child), Signal::KILL).expect("it runs");
    assert_eq!(finish(child).status, None);
    for pid in processes.iter().flat_map(|pair| pair.split(' ').next()) {
        wait_until_gone(pid);
    }
}

#[test]
fn a_singleton_has_a_broker_that_ends_with_it_and_its_children() {
    let script = "spawn:c accept connected finalize";
    let ended = finish(start_singleton(script, &[("c", "init processes greet hear finalize print:child")]));
    assert!(ended.out.contains("served\n") && ended.out.contains("met a job of 1\n"), "{}", ended.out);
    let line = ended.out.lines().find_map(|line| line.strip_prefix("processes ")).expect("the child's");
    line.split(' ').for_each(wait_until_gone);
    assert!(ended.out.contains("child\n") && ended.err.is_empty(), "{}{}", ended.out, ended.err);
}

#[test]
fn a_singleton_that_dies_takes_its_children_and_its_broker_along() {
    let mut child =
        start_singleton("spawn:c accept connected sleep", &[("c", "init greet hear processes sleep")]);
    let processes = read_to(&mut child, "processes");
    rustix::process::kill_process(process(&child), Signal::KILL).expect("it runs");
    processes.split(' ').for_each(wait_until_gone);
    let ended = finish(child);
    assert!(ended.err.contains("job 2: ends with job 1"), "{}", ended.err);
}

#[test]
fn a_child_that_fails_ends_the_singleton_that_it_is_connected_with() {
    let child = start_singleton("spawn:c accept connected sleep", &[("c", "init greet hear exit:4")]);
    let ended = finish(child);
    assert_eq!(ended.status, None, "it is killed");
    assert!(
        ended.err.contains("mpiexec: job 2: rank 0 (") && ended.err.contains("status 4"),
        "{}",
        ended.err
    );
}

#[test]
fn a_launcher_that_nobody_is_served_by_says_so() {
    let ended = finish(crate::run::command(&["--oxmpi-serve"]).spawn().expect("mpiexec is built"));
    assert_eq!(ended.status, Some(125));
    assert!(ended.err.contains("cannot serve the process that has started me"), "{}", ended.err);
}
