//! What ranks print arrives whole, in the right place, and completely.

use std::fs;
use std::io::Read;
use std::process::{Child, ChildStdout};
use std::thread;
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use crate::run::{command, finish, mpiexec, process, shells};

#[test]
fn lines_written_in_pieces_by_many_ranks_stay_whole() {
    let script = "for i in 1 2 3 4 5 6 7 8; do for c in a b c d e; do printf $c$OXMPI_RANK; done; echo; done";
    let ended = shells(6, &[], script);
    assert_eq!(ended.out.lines().count(), 48);
    for line in ended.out.lines() {
        let rank = line.chars().nth(1).expect("a rank");
        assert_eq!(line, ["a", "b", "c", "d", "e"].map(|c| format!("{c}{rank}")).concat());
    }
}

#[test]
fn tagged_lines_begin_with_their_rank() {
    for option in ["-l", "--tag-output", "-prepend-rank"] {
        let ended = shells(3, &[option], "echo one; printf two");
        assert_eq!(ended.sorted(), ["[0] one", "[0] two", "[1] one", "[1] two", "[2] one", "[2] two"]);
        assert!(ended.out.ends_with('\n'));
    }
}

#[test]
fn a_timestamp_comes_first() {
    let ended = shells(1, &["--timestamp", "-l"], "echo x");
    let (time, rest) = ended.out.split_once("Z[0] ").expect("a time in UTC");
    assert_eq!((time.len(), rest), ("2026-11-21T09:03:04.123".len(), "x\n"));
}

#[test]
fn an_incomplete_last_line_is_printed_as_it_is() {
    let ended = shells(2, &[], "echo begin; printf end$OXMPI_RANK");
    assert_eq!(ended.out, "begin\nbegin\nend0end1");
}

#[test]
fn error_output_stays_error_output() {
    let ended = shells(2, &[], "echo out; echo err >&2");
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("out\nout\n", "err\nerr\n"));
}

#[test]
fn much_output_from_all_ranks_arrives_completely() {
    let ended = shells(4, &[], "yes rank$OXMPI_RANK | head -c 3600000");
    assert_eq!(ended.status, Some(0));
    assert_eq!(ended.out.len(), 4 * 3_600_000);
    assert!(ended.out.lines().all(|line| line.len() == 5 && line.starts_with("rank")));
}

#[test]
fn a_rank_may_close_its_output_and_go_on() {
    let ended = shells(2, &[], "exec >&-; sleep 0.1; test $OXMPI_RANK = 0 && echo alive >&2; exit 0");
    assert_eq!((ended.status, ended.err.as_str()), (Some(0), "alive\n"));
}

#[test]
fn a_reader_that_goes_away_ends_ranks_that_write_on() {
    let mut child = command(&["-n", "2", "yes"]).spawn().expect("mpiexec is built");
    let mut some = [0; 100];
    child.stdout.take().expect("it is piped").read_exact(&mut some).expect("output");
    assert_eq!(finish(child).status, Some(141));
}

#[test]
fn output_that_a_gone_reader_has_missed_gives_141_and_no_word() {
    let script = "test $OXMPI_RANK = 0 || exit 0; read line; echo late";
    let mut child = command(&["-n", "2", "sh", "-c", script])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("mpiexec is built");
    drop(child.stdout.take());
    drop(child.stdin.take());
    let ended = finish(child);
    assert_eq!((ended.status, ended.err.as_str()), (Some(141), ""));
}

/// Opens a device that is always full.
fn full() -> fs::File {
    fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it")
}

#[test]
fn output_that_cannot_be_written_is_reported_and_the_ranks_go_on() {
    let script = "yes | head -c 300000; echo done $OXMPI_RANK >&2";
    let child = command(&["-n", "2", "sh", "-c", script]).stdout(full()).spawn().expect("mpiexec is built");
    let ended = finish(child);
    assert_eq!(ended.status, Some(125));
    let mut lines: Vec<&str> = ended.err.lines().collect();
    lines.sort_unstable();
    let lost = "mpiexec: cannot write standard output: No space left on device (os error 28); \
                what the ranks print there is lost";
    assert_eq!(lines, ["done 0", "done 1", lost]);
}

#[test]
fn a_file_that_may_not_become_longer_is_as_one_on_a_full_disk() {
    let path = std::env::temp_dir().join(format!("oxmpi-limited-{}", std::process::id()));
    let job = command(&["-n", "2", "sh", "-c", "yes | head -c 20000000; echo done $OXMPI_RANK >&2"]);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -f 32768; exec \"$0\" \"$@\""]).arg(job.get_program()).args(job.get_args());
    let file = fs::File::create(&path).expect("a place for temporary files");
    let ended = finish(limited.stdout(file).stderr(std::process::Stdio::piped()).spawn().expect("a shell"));
    fs::remove_file(&path).expect("my own file");
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    let told = ["cannot write standard output: File too large", "done 0", "done 1"];
    assert!(told.iter().all(|text| ended.err.contains(text)), "{}", ended.err);
}

#[test]
fn lost_output_does_not_hide_how_a_rank_has_failed() {
    let child =
        command(&["-n", "2", "sh", "-c", "echo x; exit 3"]).stdout(full()).spawn().expect("mpiexec is built");
    assert_eq!(finish(child).status, Some(3));
}

#[test]
fn lost_error_output_can_only_be_told_by_the_status() {
    let child = command(&["sh", "-c", "echo x >&2"]).stderr(full()).spawn().expect("mpiexec is built");
    assert_eq!(finish(child).status, Some(125));
}

#[test]
fn a_rank_file_that_cannot_be_written_is_named() {
    let dir = std::env::temp_dir().join(format!("oxmpi-full-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("a place for temporary files");
    std::os::unix::fs::symlink("/dev/full", dir.join("rank.1")).expect("my own directory");
    let name = dir.to_str().expect("a path of letters");
    let ended = shells(2, &["--output-dir", name], "echo out");
    fs::remove_dir_all(&dir).expect("my own directory");
    assert_eq!(ended.status, Some(125));
    assert!(
        ended.err.starts_with(&format!("mpiexec: cannot write {name}/rank.1: No space")),
        "{}",
        ended.err
    );
    assert_eq!(ended.err.lines().count(), 1);
}

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    for option in ["--help", "--version"] {
        let ended = finish(command(&[option]).stdout(full()).spawn().expect("mpiexec is built"));
        assert_eq!(ended.status, Some(125), "{option}");
        assert!(ended.err.contains("cannot write standard output"), "{}", ended.err);
    }
}

/// A launcher whose ranks have ended, and the end of the pipe with their output: open, and not read.
fn unread(options: &[&str]) -> (Child, ChildStdout) {
    let script = "yes | head -c 100000; echo done >&2";
    let mut child = command(&[options, &["sh", "-c", script]].concat()).spawn().expect("mpiexec is built");
    let out = child.stdout.take().expect("it is piped");
    child.stderr.as_mut().expect("it is piped").read_exact(&mut [0; 5]).expect("the rank's last word");
    let pid = child.id();
    // There are none any more when it has ended, either.
    let children = || fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    while !children().is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    (child, out)
}

#[test]
fn a_flush_that_the_user_cuts_short_is_no_success() {
    let (child, _out) = unread(&[]);
    kill_process(process(&child), Signal::TERM).expect("it runs");
    assert_eq!(finish(child).status, Some(143));
}

#[test]
fn a_launcher_whose_output_nobody_reads_can_be_stopped() {
    let (child, _out) = unread(&[]);
    kill_process(process(&child), Signal::TSTP).expect("it runs");
    let stat = || fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it runs");
    let is_stopped = (0..10_000).any(|_| {
        thread::sleep(Duration::from_millis(1));
        stat().contains(" T ")
    });
    for signal in [Signal::TERM, Signal::CONT] {
        kill_process(process(&child), signal).expect("it runs");
    }
    assert!(is_stopped);
    assert_eq!(finish(child).status, Some(143));
}

#[test]
fn the_time_limit_holds_for_who_reads_the_output() {
    let hosts = ["--timeout", "2", "-launcher", "fork", "-host", "left,right"];
    for options in [&hosts[..2], &hosts] {
        let (child, _out) = unread(options);
        let ended = finish(child);
        assert_eq!(ended.status, Some(124), "{}", ended.err);
        let lost = "mpiexec: time limit of 2 s reached; what nobody has read by now of the output is lost\n";
        assert!(ended.err.ends_with(lost), "{}", ended.err);
    }
}

#[test]
fn a_slow_reader_loses_nothing() {
    let mut child =
        command(&["-n", "2", "sh", "-c", "yes | head -c 1000000"]).spawn().expect("mpiexec is built");
    thread::sleep(Duration::from_millis(100));
    let mut text = String::new();
    child.stdout.take().expect("it is piped").read_to_string(&mut text).expect("text");
    assert_eq!((finish(child).status, text.len()), (Some(0), 2_000_000));
}

#[test]
fn output_and_error_in_one_pipe_keep_their_lines_whole() {
    let long = "x".repeat(9000);
    let script = format!("for i in 1 2 3 4 5; do echo {long}; echo y >&2; done");
    let launcher = crate::run::MPIEXEC;
    let joined = format!("exec 2>&1; {launcher} -n 3 sh -c '{script}'");
    let output = std::process::Command::new("sh").args(["-c", &joined]).output().expect("a shell");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text.lines().count(), 30);
    assert!(text.lines().all(|line| line == long || line == "y"));
}

#[test]
fn each_rank_has_its_file_when_a_directory_is_given() {
    let dir = std::env::temp_dir().join(format!("oxmpi-output-{}", std::process::id()));
    let name = dir.to_str().expect("a path of letters");
    let ended = shells(11, &["--output-dir", name], "echo out $OXMPI_RANK; echo err >&2");
    let text = |rank: &str| fs::read_to_string(dir.join(format!("rank.{rank}"))).expect("a file per rank");
    let sorted = |rank| {
        let mut lines: Vec<String> = text(rank).lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(0), "", ""));
    assert_eq!(sorted("00"), ["err", "out 0"]);
    assert_eq!(sorted("10"), ["err", "out 10"]);
    fs::remove_dir_all(dir).expect("my own directory");
}

#[test]
fn a_directory_that_cannot_be_written_is_the_launchers_own_failure() {
    let ended = mpiexec(&["--output-dir", "/proc/no/such", "true"]);
    assert_eq!(ended.status, Some(125));
    assert!(ended.err.contains("/proc/no/such"), "{}", ended.err);
}
