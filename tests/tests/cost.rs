//! What waiting and steady states cost: processor time, memory, system calls.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use oxmpi_tests::{Program, prefix, programs};

programs! {
    steady_allocation;
    wait_idle on 2 3 4;
}

/// All ranks have one processor, however many the machine has.
#[test]
fn loops_of_tests_let_others_have_the_processor() {
    let program = Program::compile("wait_by_tests");
    let one_of_mine = "taskset -pc $(taskset -pc $$ | sed 's/.*: *//; s/[-,].*//') $$ >&2";
    for ranks in [1, 2, 3, 8] {
        program.on(ranks).after(one_of_mine).passes();
    }
}

/// Counts what `strace` sees between the marks of the program. Needs `strace` and as many cores as ranks;
/// says so where either is missing.
#[test]
fn steady_states_need_no_system_call() {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    if Command::new("strace").arg("--version").output().is_err() || cores < 2 {
        eprintln!("no strace, or a single core: not checked");
        return;
    }
    let program = Program::compile("steady_system_calls");
    let traces = prefix().join("tests/traces");
    // Another program may take a core away just then: waiting ranks sleep, which is right. One quiet run is enough,
    // and the tests beside this one last for seconds.
    let quiet = (0..40).any(|_| {
        let is_quiet = calls_between_marks(&program, &traces) == 0;
        if !is_quiet {
            thread::sleep(Duration::from_millis(250));
        }
        is_quiet
    });
    assert!(quiet, "see {}", traces.display());
}

/// Runs the program on two ranks under `strace`, and adds up the calls of both.
fn calls_between_marks(program: &Program, traces: &std::path::Path) -> usize {
    let _ = fs::remove_dir_all(traces);
    fs::create_dir_all(traces).expect("the prefix can be written to");
    let status = Command::new(prefix().join("bin/mpiexec"))
        .env_remove("LD_LIBRARY_PATH")
        .args(["--timeout", "60", "-n", "2", "strace", "-ff", "-o"])
        .arg(traces.join("rank"))
        .arg(program.path())
        .status()
        .expect("mpiexec is installed");
    assert!(status.success(), "{status}");
    let traced: Vec<String> = fs::read_dir(traces)
        .expect("strace wrote there")
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok())
        .collect();
    assert_eq!(traced.iter().filter(|trace| trace.contains("\"begin\"")).count(), 2);
    traced.iter().map(|trace| between_marks(trace)).sum()
}

fn between_marks(trace: &str) -> usize {
    let after = trace.lines().skip_while(|line| !line.contains("\"begin\"")).skip(1);
    after.take_while(|line| !line.contains("\"end\"")).count()
}
