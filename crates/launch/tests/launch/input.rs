//! Who reads the launcher's standard input.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::run::{MPIEXEC, command, finish, with_input};

#[test]
fn rank_0_reads_it_and_the_others_read_end_of_file() {
    let ended = with_input(&["-n", "3", "-l", "cat"], "a\nb\n");
    assert_eq!((ended.status, ended.out.as_str()), (Some(0), "[0] a\n[0] b\n"));
}

#[test]
fn another_rank_or_all_or_none_can_be_asked_for() {
    let sorted = |who| with_input(&["-n", "2", "-l", "--stdin", who, "cat"], "a\n").sorted().join("|");
    assert_eq!(sorted("1"), "[1] a");
    assert_eq!(sorted("all"), "[0] a|[1] a");
    assert_eq!(sorted("none"), "");
}

#[test]
fn much_input_reaches_all_ranks_completely() {
    let ended = with_input(&["-n", "3", "-s", "all", "wc", "-c"], &"0123456789".repeat(100_000));
    assert_eq!(ended.out, "1000000\n1000000\n1000000\n");
}

#[test]
fn a_rank_that_does_not_read_does_not_keep_the_others_from_reading() {
    let script = "test $OXMPI_RANK = 0 || wc -c";
    let ended = with_input(&["-n", "2", "-s", "all", "sh", "-c", script], &"0123456789".repeat(100_000));
    assert_eq!(ended.out, "1000000\n");
}

#[test]
fn what_rank_0_leaves_is_there_for_the_next_command() {
    let script = format!("{MPIEXEC} -n 2 sh -c 'if read line; then echo got $line; fi'; cat");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = command.spawn().expect("a shell");
    shell.stdin.take().expect("it is piped").write_all(b"one\ntwo\n").expect("it reads");
    assert_eq!(finish(shell).out, "got one\ntwo\n");
}

#[test]
fn a_single_rank_can_ask_a_question_without_ending_its_line() {
    let mut child = command(&["sh", "-c", "printf 'name? '; read name; echo hello $name"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("mpiexec is built");
    let mut question = [0; 6];
    child.stdout.as_mut().expect("it is piped").read_exact(&mut question).expect("a question");
    assert_eq!(&question, b"name? ");
    child.stdin.take().expect("it is piped").write_all(b"Ada\n").expect("it reads");
    assert_eq!(finish(child).out, "hello Ada\n");
}
