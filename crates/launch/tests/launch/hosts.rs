//! Jobs over several hosts: as agents that `mpiexec` starts on this machine itself, and in namespaces of their own on a
//! network that is made for the test.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

use crate::fake_rank;
use crate::namespaces::Network;
use crate::run::{Ended, Script, command, finish, process, read_lines, shells, wait_until_gone, with_input};

/// Two hosts, both of which are this machine.
const TWO: [&str; 4] = ["-launcher", "fork", "-host", "left:2,right:2"];

fn on_two(script: &str) -> Ended {
    shells(4, &TWO, script)
}

#[test]
fn ranks_know_their_place_in_the_job_and_on_their_host() {
    let ended = on_two("echo $OXMPI_RANK $OXMPI_SIZE $OXMPI_LOCAL_RANK $OXMPI_LOCAL_SIZE $OXMPI_NODES");
    let nodes = "(vector,(0,2,2))";
    let expected = ["0 4 0 2", "1 4 1 2", "2 4 0 2", "3 4 1 2"].map(|place| format!("{place} {nodes}"));
    assert_eq!((ended.status, ended.sorted()), (Some(0), expected.iter().map(String::as_str).collect()));
    assert_eq!(ended.err, "");
}

#[test]
fn programs_directories_and_variables_reach_the_hosts() {
    let show = "echo $OXMPI_RANK $OXMPI_APPNUM $OXMPI_MAXPROCS $A $(pwd)";
    let first = ["-n", "1", "-wdir", "/", "sh", "-c", show];
    let second = [":", "-n", "2", "-env", "A", "b", "-wdir", "/tmp", "sh", "-c", show];
    let arguments = [&["-launcher", "fork", "-hosts", "x,y,z"][..], &first, &second].concat();
    let ended = crate::run::mpiexec(&arguments);
    assert_eq!(ended.sorted(), ["0 0 1 /", "1 1 2 b /tmp", "2 1 2 b /tmp"]);
}

#[test]
fn ranks_of_a_block_run_on_the_hosts_that_it_names() {
    let show = ["sh", "-c", "echo $OXMPI_RANK $OXMPI_HOST $OXMPI_LOCAL_RANK $OXMPI_NODES"];
    let block = |count, host| [&["-n", count, "-host", host][..], &show].concat();
    let blocks = [block("1", "b"), vec![":"], block("3", "a"), vec![":"], block("1", "b")].concat();
    let ended = crate::run::mpiexec(&[&["-launcher", "fork"], &blocks[..]].concat());
    let nodes = "(vector,(0,1,1),(1,1,3),(0,1,1))";
    let expected = ["0 b 0", "1 a 0", "2 a 1", "3 a 2", "4 b 1"].map(|place| format!("{place} {nodes}"));
    assert_eq!(ended.sorted(), expected.each_ref().map(String::as_str), "{}", ended.err);
}

#[test]
fn ssh_is_told_to_ask_nothing_for_in_the_background_nobody_could_answer() {
    let text = "#!/bin/sh\ncase \" $* \" in *' -o BatchMode=yes 127.0.0.2 '*) ;; *) exit 255 ;; esac\n\
                while test $1 != 127.0.0.2; do shift; done; shift; exec sh -c \"$*\"\n";
    let ssh = Script::new("ssh", text);
    let mut job = command(&["-host", "127.0.0.2", "-n", "1", "sh", "-c", "echo $OXMPI_HOST"]);
    let ended = finish(job.env("PATH", ssh.search_path()).spawn().expect("mpiexec is built"));
    assert_eq!((ended.status, &*ended.out), (Some(0), "127.0.0.2\n"), "{}", ended.err);
}

#[test]
fn a_program_is_sought_from_the_launchers_directory_also_where_ssh_begins_in_another_one() {
    let text = "#!/bin/sh\nwhile test $1 != 127.0.0.2; do shift; done; shift; cd /; exec sh -c \"$*\"\n";
    let (ssh, tool) = (Script::new("ssh", text), Script::new("tool", "#!/bin/sh\npwd -P\n"));
    let (above, name) = (tool.folder().parent(), tool.folder().file_name());
    let (above, name) = (above.expect("it is in one"), name.and_then(OsStr::to_str).expect("letters"));
    let search = ssh.search_path();
    for (options, path) in [(&["-path", name][..], search.clone()), (&[], format!("{name}:{search}"))] {
        let mut job = command(&[&["-host", "127.0.0.2", "-n", "1"], options, &["tool"]].concat());
        let ended = finish(job.current_dir(above).env("PATH", path).spawn().expect("mpiexec is built"));
        let expected = format!("{}\n", above.canonicalize().expect("it is there").display());
        assert_eq!((ended.status, ended.out), (Some(0), expected), "{}", ended.err);
    }
}

/// A job in an allocation of Slurm's on two nodes.
fn in_slurm(options: &[&str]) -> Ended {
    // What is after the host's name is to be started there, as no process of an MPI's, and bound to nothing.
    let text = "#!/bin/sh\nfor wanted in --mpi=none --cpu-bind=none; do\n\
                case \" $* \" in *\" $wanted \"*) ;; *) echo \"no $wanted\" >&2; exit 1 ;; esac\ndone\n\
                while test $1 != --nodelist; do shift; done; shift 2; exec \"$@\"\n";
    let srun = Script::new("srun", text);
    let show = ["sh", "-c", "echo $OXMPI_RANK of $OXMPI_SIZE, $OXMPI_LOCAL_SIZE there"];
    let mut job = command(&[options, &show].concat());
    job.env("PATH", srun.search_path()).env("SLURM_JOB_ID", "7");
    job.env("SLURM_JOB_NODELIST", "127.0.0.[2-3]").env("SLURM_TASKS_PER_NODE", "2,1");
    finish(job.spawn().expect("mpiexec is built"))
}

#[test]
fn an_allocation_of_slurm_is_filled_by_its_own_launcher() {
    let ended = in_slurm(&[]);
    assert_eq!(ended.sorted(), ["0 of 3, 2 there", "1 of 3, 2 there", "2 of 3, 1 there"], "{}", ended.err);
}

#[test]
fn hosts_of_an_allocation_of_slurm_are_reached_by_its_own_launcher_also_where_they_are_named() {
    let ended = in_slurm(&["-host", "127.0.0.2,127.0.0.3", "-n", "2"]);
    assert_eq!(ended.sorted(), ["0 of 2, 1 there", "1 of 2, 1 there"], "{}", ended.err);
}

#[test]
fn an_allocation_of_this_machine_alone_needs_no_launcher_of_slurm() {
    let mut job = command(&["/bin/sh", "-c", "echo $OXMPI_RANK of $OXMPI_SIZE, $OXMPI_LOCAL_SIZE here"]);
    job.env("PATH", "/nowhere").env("SLURM_JOB_ID", "7");
    job.env("SLURM_JOB_NODELIST", "localhost").env("SLURM_TASKS_PER_NODE", "2");
    let ended = finish(job.spawn().expect("mpiexec is built"));
    assert_eq!(ended.sorted(), ["0 of 2, 2 here", "1 of 2, 2 here"], "{}", ended.err);
}

#[test]
fn agents_come_by_the_interface_that_is_named() {
    let come_by = |interface| shells(2, &[&TWO[..], &["-iface", interface]].concat(), "echo $OXMPI_ADDRESS");
    let ended = come_by("lo");
    assert_eq!(ended.sorted(), ["127.0.0.1", "127.0.0.1"], "{}", ended.err);
    let ended = come_by("nosuch0");
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    assert!(ended.err.contains("-iface nosuch0: ") && ended.err.contains("lo 127.0.0.1"), "{}", ended.err);
}

#[test]
fn options_without_effect_are_named_once_for_all_hosts() {
    let ended = shells(4, &[&TWO[..], &["-v", "--map-by", "core"]].concat(), "true");
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(ended.err.matches("--map-by core has no effect here").count(), 1, "{}", ended.err);
    let ended = shells(4, &[&TWO[..], &["--map-by", "core"]].concat(), "true");
    assert_eq!((ended.status, &*ended.err), (Some(0), ""));
}

#[test]
fn what_fails_on_one_host_ends_the_job_on_all_and_names_the_host() {
    let ended = on_two("test $OXMPI_RANK = 3 && exit 7; sleep 1000");
    assert_eq!(ended.status, Some(7));
    assert!(ended.err.contains("mpiexec on right: rank 3 (sh, pid "), "{}", ended.err);
    assert!(ended.err.contains("exited with status 7"), "{}", ended.err);
    let ended = fake_rank::run(&TWO, &["init sleep", "init sleep", "init abort:42", "init sleep"]);
    assert_eq!(ended.status, Some(42), "{}", ended.err);
}

#[test]
fn a_host_that_cannot_start_ranks_says_why() {
    let job = command(&[&TWO[..], &["-n", "4", "true"]].concat());
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 8; exec \"$@\"", "sh"]).arg(job.get_program()).args(job.get_args());
    limited.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = finish(limited.spawn().expect("there is a shell"));
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    assert!(ended.err.contains("on left: ") || ended.err.contains("on right: "), "{}", ended.err);
    assert!(ended.err.contains("the limit of file sizes (ulimit -f)"), "{}", ended.err);
}

#[test]
fn a_rank_that_is_missed_dooms_those_of_other_hosts() {
    let ended = fake_rank::run(&TWO, &["init exit:0", "init sleep", "init leave exit:3", "init sleep"]);
    assert_eq!(
        ended.status,
        Some(3),
        "it was released from MPI_Finalize, and failed by itself: {}",
        ended.err
    );
    let ended = fake_rank::run(&TWO, &["init exit:0", "init sleep", "init sleep", "init sleep"]);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
}

/// Their time is more than the launcher has, which would be killed before; for who is missed and does not end they wait
/// a moment.
#[test]
fn hosts_that_both_miss_a_rank_do_not_wait_for_each_other() {
    for scripts in [
        ["init strand:1", "init sleep", "init strand:1", "init sleep"],
        ["init strand:2", "init sleep", "init sleep", "init sleep"],
    ] {
        let mut launcher = fake_rank::launcher(&TWO, &scripts);
        let ended = finish(launcher.env("OXMPI_GRACE", "1000").spawn().expect("mpiexec is built"));
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        assert_eq!(ended.err.matches("waited").count(), 1, "{}", ended.err);
    }
}

/// Of one that has called MPI_Finalize, whether those who miss it are heard of before its end or after.
#[test]
fn the_status_of_a_rank_that_is_missed_is_that_of_one_machine_wherever_it_was() {
    let three = ["-launcher", "fork", "-host", "a,b,c"];
    let scripts = |missed: usize, size: usize, (early, late): (&str, &str)| -> Vec<String> {
        let script = |rank: usize| match rank {
            0 => format!("join tell fence {early} strand:{missed}"),
            rank if rank == missed => format!("join tell finalize fence {late} exit:3"),
            _ => "join tell fence sleep".to_owned(),
        };
        (0..size).map(script).collect()
    };
    for (options, missed, size) in [(&three[..], 1, 3), (&TWO, 2, 4)] {
        for order in [("late", ""), ("", "late")] {
            let scripts = scripts(missed, size, order);
            let scripts: Vec<&str> = scripts.iter().map(String::as_str).collect();
            let mut launcher = fake_rank::launcher(options, &scripts);
            let ended = finish(launcher.env("OXMPI_GRACE", "25").spawn().expect("mpiexec is built"));
            assert_eq!(ended.status, Some(3), "{scripts:?}: {}", ended.err);
            for said in ["exited with status 3 after MPI_Finalize", "waited in MPI for rank"] {
                assert!(ended.err.contains(said), "{scripts:?}: {}", ended.err);
            }
        }
    }
}

/// Its connections end before it does: who waits for it on another host is the first to know.
#[test]
fn a_rank_that_is_missed_before_its_end_is_seen_gives_the_status() {
    let three = ["-launcher", "fork", "-host", "a,b,c"];
    let (left, waits) = ("join tell late", "join tell sleep");
    for (end, status) in [("exit:4", 4), ("abort:42", 42), ("exit:0", 1)] {
        let ends = format!("{left} {end}");
        // The last one waits for the first, which is heard of as late.
        for (options, scripts) in [
            (&TWO[..], &["join tell strand:2", waits, &ends, waits][..]),
            (&three, &["join tell strand:1", &ends, "join tell strand:0"]),
        ] {
            let mut launcher = fake_rank::launcher(options, scripts);
            let ended = finish(launcher.env("OXMPI_GRACE", "25").spawn().expect("mpiexec is built"));
            assert_eq!(ended.status, Some(status), "{scripts:?}: {}", ended.err);
        }
    }
}

#[test]
fn who_is_ended_with_the_job_when_his_time_is_over_gives_no_status() {
    let waits = "join tell fence sleep";
    let scripts = ["join tell fence strand:2", waits, "join tell finalize fence sleep", waits];
    let mut launcher = fake_rank::launcher(&TWO, &scripts);
    let ended = finish(launcher.env("OXMPI_GRACE", "0.1").spawn().expect("mpiexec is built"));
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(!ended.err.contains("SIGTERM"), "{}", ended.err);
}

/// Rank 0 waits in vain only when its host knows from the other that the job is to end.
#[test]
fn a_host_that_has_learned_of_a_missed_rank_leaves_the_report_to_the_first() {
    let scripts = ["init leave strand:2", "init sleep", "init exit:0", "init sleep"];
    let mut launcher = fake_rank::launcher(&TWO, &scripts);
    let ended = finish(launcher.env("OXMPI_GRACE", "1000").spawn().expect("mpiexec is built"));
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("mpiexec on right: rank 2 "), "{}", ended.err);
    assert!(ended.err.contains("exited with status 0 before MPI_Finalize"), "{}", ended.err);
}

#[test]
fn a_failure_after_mpi_leaves_the_others_running_and_gives_the_status() {
    let scripts = ["init finalize late print:done", "init finalize", "init finalize", "init finalize exit:5"];
    let ended = fake_rank::run(&TWO, &scripts);
    assert!(ended.status == Some(5) && ended.out.contains("done"), "{} {}", ended.out, ended.err);
}

#[test]
fn a_program_that_is_not_there_is_not_there_on_a_host() {
    let arguments = [&TWO[..], &["-n", "4", "no-such-program"]].concat();
    let ended = crate::run::mpiexec(&arguments);
    assert_eq!(ended.status, Some(127));
    assert!(ended.err.contains("on left: program no-such-program not found"), "{}", ended.err);
}

#[test]
fn output_is_whole_lines_with_the_ranks_of_the_job() {
    let arguments = [&TWO[..], &["-l"]].concat();
    let ended = shells(4, &arguments, "echo out; echo err >&2");
    let mut errors: Vec<&str> = ended.err.lines().collect();
    errors.sort_unstable();
    assert_eq!((ended.sorted(), errors).0.len(), 4);
    for rank in 0..4 {
        assert!(ended.out.lines().any(|line| line.contains(&rank.to_string())), "{}", ended.out);
    }
}

#[test]
fn input_goes_to_its_reader_on_whichever_host() {
    for reader in ["0", "2"] {
        let options =
            [&TWO[..], &["-n", "4", "-s", reader, "sh", "-c", "echo $OXMPI_RANK $(wc -c)"]].concat();
        let ended = with_input(&options, &"x".repeat(300_000));
        let count = |rank: &str| if rank == reader { 300_000 } else { 0 };
        let expected = ["0", "1", "2", "3"].map(|rank| format!("{rank} {}", count(rank)));
        assert_eq!(ended.sorted(), expected.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn signals_reach_the_ranks_of_all_hosts() {
    let script = "trap 'echo $OXMPI_RANK; exit 0' USR1; echo ready; while :; do sleep 0.01; done";
    let mut child = start(&TWO, script);
    assert_eq!(read_lines(&mut child, 4), ["ready"; 4]);
    rustix::process::kill_process(process(&child), Signal::USR1).expect("it runs");
    let ended = finish(child);
    assert_eq!((ended.status, ended.sorted()), (Some(0), vec!["0", "1", "2", "3"]));
}

#[test]
fn the_user_can_ask_and_end() {
    let mut child = fake_rank::start(&TWO, &["init print:ready sleep"; 4]);
    let mut ready = 0;
    while ready < 4 {
        ready += read_lines(&mut child, 1).iter().filter(|line| *line == "ready").count();
    }
    rustix::process::kill_process(process(&child), Signal::INT).expect("it runs");
    let ended = finish(child);
    assert_eq!(ended.status, Some(130));
    assert!(ended.err.contains("stopped by SIGINT"), "{}", ended.err);
    let arguments = [&TWO[..], &["--timeout", "0.5"]].concat();
    let ended = fake_rank::run(&arguments, &["init call:MPI_Barrier sleep"; 4]);
    assert_eq!(ended.status, Some(124));
    assert!(ended.err.contains("in MPI_Barrier"), "{}", ended.err);
}

/// Ranks of one host answer at once, those of the other not at all.
#[test]
fn the_time_limit_shows_the_ranks_of_hosts_that_answer_late() {
    let arguments = [&TWO[..], &["--timeout", "0.5"]].concat();
    let (prompt, silent) = ("init call:MPI_Barrier sleep", "init call:MPI_Wait lifeline");
    let ended = fake_rank::run(&arguments, &[prompt, prompt, silent, silent]);
    assert_eq!(ended.status, Some(124));
    for text in ["on left: time limit of", "in MPI_Barrier", "on right: time limit of", "in MPI_Wait"] {
        assert!(ended.err.contains(text), "{text}: {}", ended.err);
    }
}

/// Prints the shell's own process, its agent, and that of a child in the background, then waits.
const FAMILY: &str = "sleep 1000 & echo $$ $PPID $!; wait";

fn start(options: &[&str], script: &str) -> Child {
    let arguments = [options, &["-n", "4", "sh", "-c", script]].concat();
    command(&arguments).spawn().expect("mpiexec is built")
}

/// The processes that a launcher's ranks have printed, agents among them.
fn families(child: &mut Child) -> Vec<Vec<String>> {
    let lines = read_lines(child, 4);
    lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn signal(pid: &str, signal: Signal) {
    let pid = Pid::from_raw(pid.parse().expect("a number")).expect("a process");
    rustix::process::kill_process(pid, signal).expect("it runs");
}

fn kill(pid: &str) {
    signal(pid, Signal::KILL);
}

#[test]
fn an_agent_or_a_launcher_that_gets_no_processor_for_a_while_is_not_lost() {
    let script = "echo $PPID; sleep 7; echo done";
    let (mut child, mut other) = (start(&TWO, script), start(&TWO, script));
    let agent = read_lines(&mut child, 4).swap_remove(0);
    read_lines(&mut other, 4); // all are there: who is not would not be let in meanwhile
    let launcher = other.id().to_string();
    for stopped in [&agent, &launcher] {
        signal(stopped, Signal::STOP);
    }
    // Longer than who says nothing is waited for where his system says nothing either.
    thread::sleep(Duration::from_secs(6));
    for stopped in [&agent, &launcher] {
        signal(stopped, Signal::CONT);
    }
    for child in [child, other] {
        let ended = finish(child);
        assert_eq!((ended.status, ended.out.matches("done").count()), (Some(0), 4), "{}", ended.err);
    }
}

#[test]
fn nothing_is_left_when_the_launcher_or_an_agent_is_killed() {
    let mut child = start(&TWO, FAMILY);
    let all = families(&mut child);
    kill(&child.id().to_string());
    assert_eq!(finish(child).status, None);
    all.iter().flatten().for_each(|pid| wait_until_gone(pid));

    let mut child = start(&TWO, FAMILY);
    let all = families(&mut child);
    kill(&all[0][1]);
    let ended = finish(child);
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("mpiexec: lost host "), "{}", ended.err);
    all.iter().flatten().for_each(|pid| wait_until_gone(pid));
}

#[test]
fn an_agent_that_cannot_be_started_is_named() {
    let ended = shells(2, &["-launcher", "false", "-host", "127.0.0.1,127.0.0.2"], "sleep 1000");
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("the agent ended with status 1 before it was there"), "{}", ended.err);
}

/// A launcher of agents whose second host lets them in when a file is there.
fn gate() -> Script {
    let wait = "while ! test -e ${0%/*}/open; do sleep 0.01; done";
    Script::new("gate", &format!("#!/bin/sh\ntest $1 = 127.0.0.3 && {wait}\nshift; exec \"$@\"\n"))
}

#[test]
fn the_time_limit_holds_before_all_agents_have_come() {
    let gate = gate();
    let options = ["-launcher", gate.path(), "-host", "127.0.0.2,127.0.0.3", "--timeout", "1"];
    let ended = shells(2, &options, "sleep 1000");
    assert_eq!(ended.status, Some(124), "{}", ended.err);
    let text = "mpiexec: time limit of 1 s reached; no agent has come yet from 127.0.0.3\n";
    assert_eq!(ended.err, text);
}

#[test]
fn what_is_for_ranks_does_not_end_agents_that_wait_for_theirs() {
    let gate = gate();
    let options = ["-launcher", gate.path(), "-host", "127.0.0.2,127.0.0.3", "--hang-after", "0.5"];
    let mut child =
        command(&[&options[..], &["-n", "2", "echo", "here"]].concat()).spawn().expect("it is built");
    // Without the other one, which nobody sees from here, the signals would say less.
    thread::sleep(Duration::from_secs(1));
    let send = |signal| rustix::process::kill_process(process(&child), signal).expect("it runs");
    let stat = format!("/proc/{}/stat", child.id());
    [Signal::USR1, Signal::QUIT, Signal::TSTP].into_iter().for_each(send);
    while !fs::read_to_string(&stat).expect("it runs").contains(") T ") {
        thread::sleep(Duration::from_millis(5));
    }
    send(Signal::CONT);
    let mut told = String::new();
    let mut errors = BufReader::new(child.stderr.as_mut().expect("it is piped"));
    (0..2).for_each(|_| assert_ne!(errors.read_line(&mut told).expect("text"), 0, "{told}"));
    assert_eq!(told, "mpiexec: no agent has come yet from 127.0.0.3\n".repeat(2));
    fs::write(gate.folder().join("open"), "").expect("my own directory");
    let ended = finish(child);
    assert_eq!((ended.status, ended.sorted()), (Some(0), vec!["here"; 2]), "{}", ended.err);
}

/// So many hosts that the launcher starts two relays, which start agents on three and two of them.
const FIVE: [&str; 6] = ["-launcher", "fork", "-branch-count", "2", "-host", "a,b,c,d,e"];

#[test]
fn relays_start_agents_on_many_hosts() {
    let arguments = [&FIVE[..], &["-n", "5", "-s", "4", "sh", "-c", "echo $OXMPI_RANK $(wc -c)"]].concat();
    let ended = with_input(&arguments, &"x".repeat(100_000));
    let expected = ["0 0", "1 0", "2 0", "3 0", "4 100000"];
    assert_eq!((ended.status, ended.sorted()), (Some(0), expected.to_vec()), "{}", ended.err);
    let ended = fake_rank::run(&FIVE, &["join tell finalize"; 5]);
    let told = (0..5).map(|node| format!("record of node {node}")).collect::<Vec<_>>().join(", ");
    assert_eq!((ended.status, records(&ended)), (Some(0), vec![&*told; 5]), "{}", ended.err);
    let ended =
        fake_rank::run(&FIVE, &["init sleep", "init sleep", "init sleep", "init sleep", "init abort:42"]);
    assert_eq!(ended.status, Some(42), "{}", ended.err);
}

#[test]
fn a_relay_that_is_killed_is_a_host_that_is_lost() {
    let arguments = [&FIVE[..], &["-n", "5", "sh", "-c", FAMILY]].concat();
    let mut child = command(&arguments).spawn().expect("mpiexec is built");
    let lines = read_lines(&mut child, 5);
    let all: Vec<&str> = lines.iter().flat_map(|line| line.split(' ')).collect();
    let relay = parent(all[1]);
    assert_ne!(relay, child.id().to_string());
    kill(&relay);
    let ended = finish(child);
    assert_eq!(ended.status, Some(1));
    assert!(ended.err.contains("lost host "), "{}", ended.err);
    all.into_iter().for_each(wait_until_gone);
}

#[test]
fn an_agent_that_a_relay_cannot_start_is_named() {
    let reach = Script::new("reach", "#!/bin/sh\ntest $1 = 127.0.0.3 && exit 9\nshift; exec \"$@\"\n");
    let hosts = "127.0.0.2,127.0.0.3,127.0.0.4,127.0.0.5";
    let options = ["-launcher", reach.path(), "-branch-count", "1", "-host", hosts];
    let ended = shells(4, &options, "sleep 1000");
    assert_eq!(ended.status, Some(1));
    let text = "host 127.0.0.3: the agent ended with status 9 before it was there";
    assert!(ended.err.contains(text), "{}", ended.err);
}

/// Runs its arguments on a terminal, and answers a question there when it is seen.
const TERMINAL: &str = "
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
text = b''
while not text.endswith(b'name? '): text += os.read(terminal, 1)
os.write(terminal, b'Ada\\n')
try:
    while more := os.read(terminal, 4096): text += more
except OSError: pass  # that is its end
print(text.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))";

/// Runs its arguments on a terminal that nobody reads.
const UNREAD: &str = "
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))";

#[test]
fn a_time_limit_holds_though_nobody_reads_the_launchers_terminal() {
    for hosts in [&[][..], &TWO] {
        let job = command(&[hosts, &["--timeout", "1", "-n", "2", "yes"]].concat());
        let mut terminal = Command::new("python3");
        terminal.args(["-c", UNREAD]).arg(job.get_program()).args(job.get_args());
        let ended = finish(terminal.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("python3"));
        assert_eq!(ended.status, Some(124), "{}", ended.err);
    }
}

#[test]
fn ranks_that_meet_need_a_descriptor_more_of_their_launcher() {
    let job = command(&["-launcher", "fork", "-host", "a,b", "-n", "110", "true"]);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\""]).arg(job.get_program()).args(job.get_args());
    let ended = finish(limited.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell"));
    assert!(ended.err.contains("55 ranks need 299 open files"), "{}", ended.err);
}

#[test]
fn a_question_is_seen_on_the_launchers_terminal() {
    for hosts in [&TWO[..], &FIVE] {
        let ask = "test $OXMPI_RANK = 0 || exit 0; printf 'name? '; read name; echo hello $name";
        let job = command(&[hosts, &["-n", "4", "sh", "-c", ask]].concat());
        let mut terminal = Command::new("python3");
        terminal.args(["-c", TERMINAL]).arg(job.get_program()).args(job.get_args());
        let ended = finish(terminal.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("python3"));
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert!(ended.out.contains("hello Ada"), "{}", ended.out);
    }
}

/// In the first job it is agents that hold what nobody reads when their ranks have ended, in the second it is relays.
/// Nothing of either may be missed for so long as it takes to miss a host.
#[test]
fn a_reader_that_takes_a_rest_loses_neither_hosts_nor_output() {
    let jobs = [(&TWO[..], "4", 250_000), (&FIVE[..], "5", 150_000)].map(|(options, ranks, bytes)| {
        let script = format!("yes | head -c {bytes}");
        let arguments = [options, &["-n", ranks, "sh", "-c", &script]].concat();
        (command(&arguments).spawn().expect("mpiexec is built"), bytes)
    });
    thread::sleep(Duration::from_secs(6));
    for ((child, bytes), ranks) in jobs.into_iter().zip([4, 5]) {
        let ended = finish(child);
        assert_eq!((ended.status, ended.out.len()), (Some(0), ranks * bytes), "{}", ended.err);
    }
}

/// What ranks have printed of records, among what their test program prints.
fn records(ended: &Ended) -> Vec<&str> {
    ended.out.lines().filter(|line| line.starts_with("record")).collect()
}

#[test]
fn records_are_told_to_all_hosts_and_a_fence_waits_for_all() {
    let ended = fake_rank::run(&TWO, &["join tell finalize"; 4]);
    assert_eq!((ended.status, records(&ended)), (Some(0), vec!["record of node 0, record of node 1"; 4]));
    let ended = fake_rank::run(&TWO, &["join tell", "join tell", "exit:0", "exit:0"]);
    assert_eq!(ended.status, Some(1), "{}", ended.err);
    assert!(ended.err.contains("ranks 2-3 ended on right; those on left wait for them"), "{}", ended.err);
}

#[test]
fn three_hosts_of_a_network_run_a_job() {
    let Some(network) = Network::of(3) else { return };
    let child = fake_rank::launcher(&network.options("2"), &["join tell finalize"; 6]);
    let ended = finish(network.run(child));
    let told = "record of node 0, record of node 1, record of node 2";
    assert_eq!((ended.status, records(&ended)), (Some(0), vec![told; 6]), "{}", ended.err);
    // A host may have other networks, which reach nobody.
    let show = [&network.options("1")[..], &["sh", "-c", "echo $OXMPI_ADDRESS"]].concat();
    let ended = finish(network.run(command(&show)));
    let addresses = [0, 1, 2].map(|host| network.address(host));
    assert_eq!(ended.sorted(), addresses.each_ref().map(String::as_str), "{}", ended.err);
}

#[test]
fn names_and_ports_are_found_on_all_hosts_of_a_network() {
    let Some(network) = Network::of(2) else { return };
    let name = format!("hosts-{}", std::process::id());
    let here = format!("join publish:{name} tell fence unpublish:{name} fence finalize");
    let there =
        format!("join tell lookup:{name} publish:{name} fence fence lookup:{name} publish:{name} finalize");
    let ended = finish(network.run(fake_rank::launcher(&network.options("1"), &[&here, &there])));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let said = |text: &str| ended.out.lines().filter(|line| line.starts_with(text)).count();
    assert_eq!((said("published"), said("found true"), said("unpublished")), (2, 1, 1), "{}", ended.out);
    let refused = format!("refused: {name:?} is published already");
    let nothing = format!("nothing: nobody has published {name:?} on a host of this job's mpiexec");
    assert_eq!((said(&refused), said(&nothing)), (1, 1), "{}", ended.out);
    // What was left ended with its job.
    let looks = format!("join tell lookup:{name} finalize");
    let ended = finish(network.run(fake_rank::launcher(&network.options("1"), &[&looks, &looks])));
    assert_eq!((ended.status, ended.out.matches(&nothing).count()), (Some(0), 2), "{}", ended.out);
}

/// Ranks that have met those of all hosts, from each of which the launcher has heard then, and wait.
const MET: &str = "join tell pid sleep";

/// The processes of `ranks` ranks that print their numbers, among other things, and their agents.
fn numbered(child: &mut Child, ranks: usize) -> Vec<String> {
    let mut all = Vec::new();
    while all.len() < 2 * ranks {
        let line = read_lines(child, 1).remove(0);
        if line.parse::<u32>().is_ok() {
            all.extend([parent(&line), line]);
        }
    }
    all
}

fn parent(pid: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1));
    parent.expect("it has one").to_owned()
}

#[test]
fn a_host_that_vanishes_ends_the_job_everywhere() {
    // The other launcher lets a relay start the agents.
    let (Some(near), Some(far)) = (Network::of(2), Network::of(2)) else { return };
    let jobs = [(&near, &[][..]), (&far, &["-branch-count", "1"])].map(|(network, relays)| {
        let options = [&network.options("2")[..], relays].concat();
        let mut child = network.run(fake_rank::launcher(&options, &[MET; 4]));
        let all = numbered(&mut child, 4);
        network.cut(1);
        (network, child, all, Instant::now())
    });
    for (network, child, all, begin) in jobs {
        let ended = finish(child);
        assert_eq!(ended.status, Some(1));
        let lost = format!("lost host {}: nothing was heard from it", network.address(1));
        assert!(ended.err.contains(&lost), "after {:?}: {}", begin.elapsed(), ended.err);
        all.iter().for_each(|pid| wait_until_gone(pid));
    }
}
