//! Who has a rank's seat: the rank, not what it starts; and after it, perhaps, a successor.
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::fs;
use std::process::Command;

use oxmpi_tests::{Ended, Job, Program, has_libfabric, prefix};

/// A job of shells that run `script`, in which `$0` is the program.
fn shells(program: &Program, ranks: u32, script: &str) -> Ended {
    of_shells(program.on(ranks), script)
}

fn of_shells(job: Job, script: &str) -> Ended {
    job.by(&["sh", "-c", script]).run()
}

#[test]
fn what_a_rank_starts_is_a_job_of_its_own_and_says_so() {
    let program = Program::compile("seat_child");
    for ranks in [1, 2, 3] {
        start_jobs_of_their_own(ranks, &program.on(ranks).run());
    }
}

#[test]
fn what_a_rank_starts_on_several_hosts_names_the_rank_of_the_job() {
    if has_libfabric() {
        start_jobs_of_their_own(3, &Program::compile("seat_child").on(3).over("left:1,right:2").run());
    }
}

/// Checks that each rank has started two.
fn start_jobs_of_their_own(ranks: u32, ended: &Ended) {
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.out.contains(&format!("passed on {ranks}\n")), "{}", ended.out);
    for rank in 0..ranks {
        let said = ended.err.matches(&format!("oxmpi: started by rank {rank} of a job")).count();
        assert_eq!(said, 2, "one line for each of two children: {}", ended.err);
    }
}

#[test]
fn the_crash_of_a_rank_is_noticed_though_its_child_has_finalized() {
    let ended = Program::compile("seat_crash").on(3).run();
    assert_eq!(ended.status, Some(134), "{}", ended.err);
    assert!(ended.err.contains("rank 2 ") && ended.err.contains("SIGABRT"), "{}", ended.err);
    assert!(!ended.err.contains("after MPI_Finalize"), "{}", ended.err);
}

#[test]
fn a_rank_whose_descriptors_were_closed_on_the_way_finds_its_job() {
    let (closing, program) = (Program::compile("seat_closed"), Program::compile("collective_mixed"));
    program.on(3).by(&[closing.path().to_str().expect("a path of letters")]).passes();
}

#[test]
fn what_a_program_has_opened_by_the_numbers_of_descriptors_that_were_closed_stays_its_own() {
    let (closing, program) = (Program::compile("seat_closed"), Program::compile("seat_reused"));
    program.on(3).by(&[closing.path().to_str().expect("a path of letters")]).passes();
}

/// It goes on with what memory it has, and ends where it needs more.
#[test]
fn who_closes_the_descriptor_of_the_jobs_memory_is_told_and_no_file_is_written() {
    let program = Program::compile("seat_lost");
    let path = program.path().with_extension("file");
    fs::write(&path, "the program's own").expect("a folder of ours");
    let ended = program.on(2).argument(path.to_str().expect("a path of letters")).run();
    assert_eq!(ended.status, Some(134), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("cannot go on: the program has closed descriptor"), "{}", ended.err);
    assert_eq!(fs::read(&path).expect("it is there"), b"the program's own");
}

/// What the library opens has none of the numbers by which programs print, and read.
#[test]
fn who_has_closed_its_standard_streams_writes_into_nothing_of_the_librarys() {
    let program = Program::compile("seat_silent");
    [program.on(2), program.alone()].into_iter().for_each(Job::passes);
}

/// As in containers: each rank is process 1 of its own, and cannot see the launcher.
#[test]
fn ranks_in_process_namespaces_are_told_apart_and_so_are_their_children() {
    let unshare = ["unshare", "--pid", "--fork", "--mount-proc"];
    let may = Command::new(unshare[0]).args(&unshare[1..]).arg("true").output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("namespaces are not allowed here: not checked");
        return;
    }
    Program::compile("collective_mixed").on(3).by(&unshare).passes();
    let ended = Program::compile("seat_child").on(2).by(&unshare).run();
    assert!(ended.out.contains("passed on 2\n"), "{}{}", ended.out, ended.err);
    assert_eq!(ended.err.matches("oxmpi: started by rank").count(), 4, "{}", ended.err);
}

#[test]
fn programs_after_each_other_are_rounds_of_one_job() {
    let program = Program::compile("collective_mixed");
    for ranks in [1, 2, 3, 4] {
        are_rounds(ranks, &shells(&program, ranks, "$0 && $0 && echo $OXMPI_RANK && $0"));
    }
}

#[test]
fn programs_after_each_other_on_several_hosts_are_rounds_of_one_job() {
    if !has_libfabric() {
        return;
    }
    let (program, script) = (Program::compile("collective_mixed"), "$0 && $0 && $0");
    are_rounds(3, &of_shells(program.on(3).over("left:1,right:2"), script));
}

/// Checks that three programs have passed on all ranks.
fn are_rounds(ranks: u32, ended: &Ended) {
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let passed = ended.out.matches(&format!("passed on {ranks}\n")).count();
    assert_eq!(passed, 3, "{}{}", ended.out, ended.err);
    assert_eq!(ended.err, "");
}

#[test]
fn what_ranks_have_not_freed_does_not_keep_the_next_program_from_beginning() {
    let program = Program::compile("seat_unfreed");
    for ranks in [2, 3] {
        let ended = shells(&program, ranks, "$0 && $0 && $0 && $0 && $0 && $0 && $0 && $0");
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        assert_eq!(ended.out.matches(&format!("passed on {ranks}\n")).count(), 8, "{}", ended.out);
    }
}

#[test]
fn a_next_program_on_some_ranks_alone_is_an_error() {
    let program = Program::compile("init_hello");
    let ended = shells(&program, 3, "$0 && if test $OXMPI_RANK != 1; then $0; fi");
    assert_eq!(ended.status, Some(1), "{}{}", ended.out, ended.err);
    assert!(ended.err.contains("rank 1 "), "{}", ended.err);
}

#[test]
fn a_program_after_one_that_died_in_mpi_is_an_error() {
    let program = Program::compile("init_leave");
    let ended = shells(&program, 2, "$0 5; $0 5");
    assert_ne!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("has ended without MPI_Finalize"), "{}", ended.err);
}

#[test]
fn jobs_inside_a_rank_have_seats_of_their_own() {
    let program = Program::compile("init_hello");
    let mpiexec = prefix().join("bin/mpiexec");
    let ended = shells(&program, 2, &format!("{} -n 3 $0", mpiexec.display()));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(ended.out.matches("passed on 3\n").count(), 2, "{}", ended.out);
    let alone = Command::new(program.path()).env("OXMPI_JOB_FD", "77").env("OXMPI_LOCAL_RANK", "0").output();
    let alone = alone.expect("the program was compiled");
    let text = String::from_utf8_lossy(&alone.stderr);
    assert!(!alone.status.success() && text.contains("descriptor 77"), "{text}");
}
