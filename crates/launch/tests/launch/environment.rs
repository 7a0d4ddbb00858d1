//! What ranks find in their environment, and where they find themselves.

use crate::run::{command, finish, heeding, mpiexec, shells};

#[test]
fn every_rank_is_told_its_place() {
    let names = ["OXMPI_RANK", "OXMPI_SIZE", "OXMPI_LOCAL_RANK", "OXMPI_LOCAL_SIZE", "PMI_RANK", "PMI_SIZE"];
    let script = format!("echo {}", names.map(|name| format!("${name}")).join(" "));
    assert_eq!(shells(2, &[], &script).sorted(), ["0 2 0 2 0 2", "1 2 1 2 1 2"]);
    assert_eq!(shells(2, &[], "echo $MPI_LOCALRANKID $MPI_LOCALNRANKS").sorted(), ["0 2", "1 2"]);
}

#[test]
fn blocks_share_one_world_and_keep_their_own_settings() {
    let show = "echo $OXMPI_RANK $OXMPI_SIZE $A $B $(pwd)";
    let ended = mpiexec(&[
        "-genv", "A", "all", "-n", "1", "-wdir", "/", "-env", "B", "first", "sh", "-c", show, //
        ":", "-n", "2", "-wdir", "/usr", "-x", "B=second", "sh", "-c", show,
    ]);
    assert_eq!(ended.sorted(), ["0 3 all first /", "1 3 all second /usr", "2 3 all second /usr"]);
}

#[test]
fn variables_are_inherited_as_the_options_say() {
    let show = |options: &[&str]| {
        let arguments = [options, &["/bin/sh", "-c", "echo $A-$B"]].concat();
        let child = command(&arguments).env("A", "1").env("B", "2").spawn().expect("mpiexec is built");
        finish(child).out
    };
    assert_eq!(show(&[]), "1-2\n");
    assert_eq!(show(&["-genvnone"]), "-\n");
    assert_eq!(show(&["-envnone", "-x", "A"]), "1-\n");
    assert_eq!(show(&["-genvlist", "B,C"]), "-2\n");
    assert_eq!(show(&["-genvnone", "-envall"]), "1-2\n");
    assert_eq!(show(&["-envlist=A", "-env", "B", "3"]), "1-3\n");
}

#[test]
fn hints_for_the_library_are_passed_on() {
    let options = ["-initial-errhandler", "mpi_errors_return", "-memory-alloc-kinds", "system"];
    let ended = shells(1, &options, "echo $OXMPI_INITIAL_ERRHANDLER $OXMPI_MEMORY_ALLOC_KINDS");
    assert_eq!(ended.out, "mpi_errors_return system\n");
}

#[test]
fn a_rank_can_be_a_launcher_itself() {
    let inner = format!("{} -n 2 sh -c 'echo $OXMPI_RANK of $OXMPI_SIZE'", crate::run::MPIEXEC);
    let ended = shells(2, &[], &inner);
    assert_eq!((ended.status, ended.sorted()), (Some(0), vec!["0 of 2", "0 of 2", "1 of 2", "1 of 2"]));
}

#[test]
fn signals_and_streams_are_as_a_shell_would_leave_them() {
    let ended = mpiexec(&["-n", "1", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]);
    let by_shell = heeding("sh").args(["-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"]).output();
    assert_eq!(ended.out.as_bytes(), by_shell.expect("a shell").stdout);
}

#[test]
fn ranks_have_their_share_of_the_cpus_unless_told_otherwise() {
    let show = |options: &[&str]| {
        let arguments = [options, &["-n", "2", "grep", "Cpus_allowed_list", "/proc/self/status"]].concat();
        let ended = mpiexec(&arguments);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let mut lines: Vec<String> = ended.out.lines().map(str::to_owned).collect();
        lines.dedup();
        lines.len()
    };
    assert_eq!(show(&["--bind-to", "none"]), 1);
    assert_eq!(show(&["--bind-to", "hwthread:overload-allowed"]), show(&[]));
    let cpus = std::thread::available_parallelism().expect("some").get();
    assert_eq!(show(&[]), cpus.min(2));
}

#[test]
fn bindings_are_reported_for_every_rank() {
    let ended = mpiexec(&["-n", "3", "--report-bindings", "--bind-to", "core", "true"]);
    assert_eq!(
        ended.err.lines().filter(|line| line.contains("is bound to CPU ")).count(),
        3,
        "{}",
        ended.err
    );
}

/// The launcher under test lies in a build folder; `tests/tests/linking.rs` tests an installed one.
#[test]
fn a_launcher_without_a_library_beside_it_shows_none() {
    let mut launcher = command(&["sh", "-c", "echo [$LD_LIBRARY_PATH]"]);
    launcher.env_remove("LD_LIBRARY_PATH");
    assert_eq!(finish(launcher.spawn().expect("mpiexec is built")).out, "[]\n");
}
