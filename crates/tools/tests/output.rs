//! What the programs print arrives, or they say why not; they never panic.

use std::fs::File;
use std::process::{Command, Stdio};

const CALLS: [(&str, &[&str]); 7] = [
    (env!("CARGO_BIN_EXE_oxmpi"), &["--help"]),
    (env!("CARGO_BIN_EXE_oxmpi"), &["info", "--functions"]),
    (env!("CARGO_BIN_EXE_oxmpi"), &["plan", "allgather", "-n", "64", "--rank", "all"]),
    (env!("CARGO_BIN_EXE_oxmpi"), &["--manual", "man"]),
    (env!("CARGO_BIN_EXE_mpicc"), &["-help"]),
    (env!("CARGO_BIN_EXE_mpicc"), &["-show"]),
    (env!("CARGO_BIN_EXE_mpicc"), &["-manual=bash"]),
];

fn full() -> File {
    File::options().write(true).open("/dev/full").expect("Linux has it")
}

#[test]
fn a_full_disk_is_a_failure_that_is_told() {
    for (program, arguments) in CALLS {
        let output = Command::new(program).args(arguments).stdout(full()).output().expect("it is built");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{program} {arguments:?}: {said}");
        assert!(said.contains("cannot write standard output: No space"), "{program} {arguments:?}: {said}");
    }
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    for (program, arguments) in CALLS {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = Command::new(program).args(arguments).stdout(writer).output().expect("it is built");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
    }
}

#[test]
fn an_error_that_cannot_be_told_is_a_failure_still() {
    for (program, arguments) in [(CALLS[0].0, "nonsense"), (CALLS[4].0, "-show-nonsense")] {
        let mut command = Command::new(program);
        let status =
            command.arg(arguments).stdout(Stdio::null()).stderr(full()).status().expect("it is built");
        assert_eq!(status.code(), Some(1), "{program}");
    }
}

#[test]
fn a_compiler_whose_name_is_no_text_is_named_in_the_error() {
    use std::os::unix::ffi::OsStrExt;
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpicc"));
    let output = command.arg("a.c").env("OXMPI_CC", std::ffi::OsStr::from_bytes(b"/no/\xff")).output();
    let output = output.expect("it is built");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot run the compiler /no/\u{fffd}"));
}

#[test]
fn plans_of_many_ranks_are_printed_as_they_are_made() {
    // All of them are terabytes; the first ones come at once.
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    command.args(["plan", "alltoall", "-n", "20000", "--rank", "all"]).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it is built");
    let mut begin = [0; 100];
    std::io::Read::read_exact(child.stdout.as_mut().expect("it is piped"), &mut begin).expect("output");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn of_many_ranks_the_first_plans_begin_and_all_are_there_for_who_asks() {
    let said = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
        let output = command.arg("plan").args(arguments).output().expect("it is built");
        String::from_utf8([output.stdout, output.stderr].concat()).expect("text")
    };
    let few = said(&["alltoall", "-n", "16"]);
    assert!(few.contains("\nrank 15: ") && !few.contains("more"), "{few}");
    let many = said(&["alltoall", "-n", "10000"]);
    assert!(many.contains("\nrank 3: ") && !many.contains("\nrank 4: "), "{many}");
    assert!(many.contains("\n9996 more ranks: --rank R prints") && many.lines().count() < 150, "{many}");
    let between = said(&["barrier", "--groups", "10x10"]);
    assert!(between.contains("\nrank 3, 3 of the first group") && between.contains("\n16 more"), "{between}");
    let all = said(&["barrier", "-n", "40", "--rank", "all"]);
    assert!(all.contains("\nrank 39: ") && !all.contains("more"), "{all}");
    assert!(said(&["barrier", "-n", "40", "--rank", "39"]).contains("\nrank 39: "));
    assert!(said(&["barrier", "-n", "40", "--rank", "40"]).contains("--rank 40 is not below"));
    assert!(said(&["barrier", "-n", "40", "--rank", "some"]).contains("not 'some'"));
}

/// What is wrong is said in a line, however long a map is.
#[test]
fn what_does_not_serve_is_said_in_the_words_of_the_command_line() {
    let said = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
        let output = command.args(["plan", "allreduce"]).args(arguments).output().expect("it is built");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        String::from_utf8(output.stderr).expect("text")
    };
    let map = "0x3,1x5,0x2,".repeat(1000);
    let error = said(&["-n", "10000", "--map", &map[..map.len() - 1], "--algorithm", "node-flat"]);
    assert!(
        error.contains("--algorithm node-flat is not for this: it needs ranks that share memory"),
        "{error}"
    );
    let error = said(&["-n", "8", "--ordered", "--algorithm", "ring"]);
    assert!(error.contains("--algorithm ring is not for this: it needs a commutative operation"), "{error}");
    let error = said(&["-n", "10000", "--map", &map]);
    assert!(error.contains("--map: '' should be the number of a node") && error.len() < 200, "{error}");
}

#[test]
fn what_would_have_no_effect_is_refused() {
    let file = std::env::temp_dir().join(format!("oxmpi-unheard-{}", std::process::id()));
    for (line, unheard) in [
        ("bcast -n 4 --goal FILE", "--goal has no effect without simulate"),
        ("simulate allreduce --goal FILE", "--goal has no effect without -n"),
        ("simulate allreduce --algorithm ring", "--algorithm has no effect without -n"),
        ("simulate allreduce -n 4 --svg FILE", "--svg has no effect with simulate and -n"),
        ("simulate allreduce -n 4 --check", "--check has no effect with simulate"),
        ("simulate allreduce -n 4 --why", "--why has no effect with simulate"),
        ("simulate allreduce -n 4 --rank 0", "--rank has no effect with simulate"),
        ("simulate allreduce -n 4 --in-place", "--in-place has no effect with simulate"),
        ("bcast --groups 2x2 --map 0,1", "--map has no effect with --groups"),
        ("bcast --groups 2x2 --ranks-per-node 2", "--ranks-per-node has no effect with --groups"),
        ("bcast -n 4 --map 0,1 --ranks-per-node 2", "--map has no effect with --ranks-per-node"),
        ("bcast -n 4 --map 0,1 --messages", "--map has no effect with --messages"),
        ("bcast -n 4 --ranks-per-node 2 --messages", "--ranks-per-node has no effect with --messages"),
        ("simulate bcast --groups 2x2", "simulate serves one group"),
        ("simulate bcast --groups 2x2 --svg FILE", "simulate serves one group"),
    ] {
        let line = line.replace("FILE", file.to_str().expect("text"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
        let output = command.arg("plan").args(line.split(' ')).output().expect("it is built");
        let said = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.code() == Some(1) && said.contains(unheard), "{line}: {said}");
        assert!(output.stdout.is_empty() && !file.exists(), "{line}");
    }
}

#[test]
fn algorithms_and_nodes_are_as_they_are_given() {
    let said = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
        let output =
            command.args(["plan", "bcast", "-n", "9", "--cores", "0", "--why"]).args(arguments).output();
        let output = output.expect("it is built");
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).expect("text"))
    };
    let file = std::env::temp_dir().join(format!("oxmpi-preferred-{}", std::process::id()));
    std::fs::write(&file, "# ours\nbcast ranks 5.. bytes ..64 = binomial\n").expect("there is room");
    let named = format!("@{}", file.display());
    let (code, text) = said(&["--algorithms", &named]);
    assert!(code == Some(0) && text.contains("binomial is preferred by the user"), "{text}");
    let (code, text) = said(&["--algorithms", &named, "--bytes", "72"]);
    assert!(code == Some(0) && text.contains("node-flat takes the least"), "{text}");
    std::fs::remove_file(&file).expect("it is there");
    let (code, text) = said(&["--algorithms", &named]);
    assert!(code == Some(1) && text.contains("cannot read"), "{text}");
    // Four nodes: with the ninth rank it begins anew.
    let (code, text) = said(&["--map", "0x3,1,2x2,7x2"]);
    assert!(code == Some(0) && text.contains("needs ranks that share memory"), "{text}");
    for wrong in ["", "0,", "0x0", "x3", "-1", "0x99999999"] {
        let (code, text) = said(&["--map", wrong]);
        assert!(code == Some(1) && text.contains("should be the number of a node"), "{wrong}: {text}");
    }
}
