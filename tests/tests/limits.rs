//! Jobs in narrow places: limits of address space, of file sizes and of patience; dumps, and tools that look at all
//! memory. And how much of everything there may be.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

use oxmpi_tests::{Program, has_libfabric, is_over_hosts, prefix, programs};

programs! {
    limits_comms on 1 3;
    limits_tags;
}

/// On a machine that others use these may take long: gigabytes are copied, and ranks take turns many times.
#[test]
fn messages_of_eight_gibibytes_and_a_hundred_thousand_requests_are_not_too_many() {
    for program in ["limits_bytes", "limits_outstanding"] {
        Program::compile(program).on(2).option("--timeout=300").passes();
    }
}

#[test]
fn who_runs_out_of_memory_hears_of_it_and_goes_on() {
    let program = Program::compile("limits_memory");
    program.on(2).passes();
    for what in ["others", "collectives", "comms", "own comms", "to itself"] {
        program.on(2).argument(what).passes();
    }
}

#[test]
fn ranks_map_no_more_than_they_use() {
    let program = Program::compile("collective_mixed");
    program.on(4).after("ulimit -v 500000").passes();
}

#[test]
fn a_limit_of_file_sizes_makes_arenas_smaller_and_ends_in_a_clear_error() {
    let program = Program::compile("collective_mixed");
    program.on(4).after("ulimit -f 40000").passes(); // in blocks of 512 bytes
    let ended = program.on(4).after("ulimit -f 4000").run();
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    assert!(ended.err.contains("the limit of file sizes (ulimit -f)"), "{}", ended.err);
}

/// The limit of which a user has heard is raised as far as it may be.
#[test]
fn more_ranks_than_there_can_be_descriptors_for_are_refused_before_the_first_is_started() {
    let program = Program::compile("init_hello");
    program.on(4).after("ulimit -Sn 20").passes();
    // Each of three hosts has a third of the ranks.
    let limit = if is_over_hosts() { 150 } else { 400 };
    let ended = program.on(100).after(&format!("ulimit -n {limit}")).run();
    assert_eq!(ended.status, Some(125), "{}", ended.err);
    assert!(ended.err.contains("(ulimit -Hn)") && ended.out.is_empty(), "{}", ended.err);
}

/// Three hundred ranks on whatever there is: most of the time all but a few sleep.
#[test]
fn many_ranks_come_talk_and_go() {
    Program::compile("many_ranks").on(300).passes();
}

#[test]
fn a_shortage_of_shared_memory_is_an_error_that_leaves_all_else_usable() {
    let program = Program::compile("collective_exhausted");
    // Who is alone on a host shares none.
    for ranks in if is_over_hosts() { vec![6] } else { vec![2, 3, 4] } {
        program.on(ranks).after("ulimit -f 40000").passes();
    }
    if !is_over_hosts() && has_libfabric() {
        program.on(4).over("left:2,right:2").after("ulimit -f 40000").passes();
    }
}

#[test]
fn hosts_talk_for_the_first_time_without_shared_memory() {
    if has_libfabric() {
        let program = Program::compile("limits_ringless");
        program.on(6).over("left:2,middle:2,right:2").after("ulimit -f 40000").passes();
    }
}

#[test]
fn nobody_waits_for_ever_where_barriers_are_forbidden() {
    let program = Program::compile("limits_sandbox");
    for ranks in [1, 2, 7] {
        program.on(ranks).passes();
    }
    program.on(7).argument("early").passes();
}

/// As in many containers: 64 KiB of /dev/shm, no network but a loopback that is down, processes of its own.
#[test]
fn a_container_with_little_in_it_is_enough() {
    let program = Program::compile("collective_mixed");
    let spaces = ["--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--mount-proc"];
    let prepare = "mount -t tmpfs -o size=64k none /dev/shm && hostname no-such-host";
    let within = |script: &str| {
        let mut shell = Command::new("unshare");
        shell.env_remove("LD_LIBRARY_PATH").args(spaces).args(["sh", "-c", script]).output()
    };
    if !within(prepare).is_ok_and(|output| output.status.success()) {
        eprintln!("namespaces are not allowed here: not checked");
        return;
    }
    let (mpiexec, program) = (prefix().join("bin/mpiexec"), program.path());
    let job = format!("{prepare} && {} --timeout 60 -n 4 {}", mpiexec.display(), program.display());
    let output = within(&job).expect("it just worked");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "passed on 4\n", "{output:?}");
}

/// Holds where dumps are files in the folder of the process that crashed; says so where they are not.
#[test]
fn the_dump_of_a_rank_leaves_out_what_ranks_share() {
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").expect("/proc");
    if pattern.starts_with(['|', '/']) {
        eprintln!("dumps go to {pattern}: not checked");
        return;
    }
    let program = Program::compile("limits_crash");
    let folder = prefix().join("tests/dumps");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the prefix can be written to");
    let ended = program.on(4).after(&format!("ulimit -c unlimited && cd {}", folder.display())).run();
    assert_eq!(ended.status, Some(134), "{}", ended.err);
    let dumps: Vec<_> =
        fs::read_dir(&folder).expect("it was made").map(|entry| entry.expect("an entry")).collect();
    if dumps.is_empty() {
        eprintln!("the system writes no dumps: not checked");
    }
    for dump in dumps {
        let bytes = 512 * dump.metadata().expect("a file").blocks();
        assert!(bytes < 32 << 20, "the dump {:?} takes {bytes} bytes", dump.path());
    }
}

/// Needs `valgrind`; says so where it is missing.
#[test]
fn valgrind_finds_nothing_in_a_clean_program() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("no valgrind: not checked");
        return;
    }
    for program in ["init_hello", "collective_mixed", "op_structs"] {
        let program = Program::compile(program);
        let on_two = has_libfabric().then(|| program.on(2).over("left:1,right:1"));
        for job in [program.on(2)].into_iter().chain(on_two) {
            let ignore = concat!("--suppressions=", env!("CARGO_MANIFEST_DIR"), "/hosts/libfabric.supp");
            job.by(&["valgrind", "-q", "--leak-check=full", "--error-exitcode=9", ignore]).passes();
        }
    }
}
