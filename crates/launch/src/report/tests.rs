use std::time::Duration;

use proptest::prelude::*;

use super::*;

fn state(phase: Phase, call: Option<Function>) -> RankState {
    let call = call.map_or(0, Function::index);
    RankState { rank: 0, pid: 100, program: "./a.out".to_owned(), phase, call, exit: None, pending: None }
}

/// The states of ranks that are counted from 0.
fn numbered(states: &[RankState]) -> Vec<RankState> {
    (0..).zip(states).map(|(rank, state)| RankState { rank, ..state.clone() }).collect()
}

fn failure(launcher: &str, cause: Cause, states: &[RankState]) -> String {
    super::failure(launcher, cause, &numbered(states))
}

fn inquiry(launcher: &str, states: &[RankState]) -> String {
    super::inquiry(launcher, &numbered(states))
}

#[test]
fn a_failure_names_the_rank_its_call_and_where_the_others_were() {
    let mut states = vec![state(Phase::Running, Some(Function::Recv)); 5];
    states[3] = state(Phase::Running, None);
    states[4] = state(Phase::Running, Some(Function::Allreduce));
    let cause = Cause::Ended { rank: 4, exit: Exit::Signal(libc::SIGSEGV), phase: Phase::Running };
    assert_eq!(
        failure("mpiexec", cause, &states),
        "mpiexec: rank 4 (./a.out, pid 100) was killed by SIGSEGV (signal 11) in MPI_Allreduce\n\
         mpiexec:   ranks 0-2 in MPI_Recv\n\
         mpiexec:   rank 3 between MPI calls\n"
    );
}

#[test]
fn an_exit_without_finalize_says_so() {
    let states = [state(Phase::Running, None), state(Phase::Outside, None), state(Phase::Running, None)];
    let cause = Cause::Ended { rank: 0, exit: Exit::Status(3), phase: Phase::Running };
    let text = failure("mpirun", cause, &states);
    assert!(
        text.starts_with("mpirun: rank 0 (./a.out, pid 100) exited with status 3 before MPI_Finalize\n"),
        "{text}"
    );
    assert!(text.contains("  rank 1 outside MPI\n"), "{text}");
}

#[test]
fn who_waited_in_vain_is_named_with_whom_it_waited_for() {
    let mut states = vec![state(Phase::Stranded(2), Some(Function::Recv)); 3];
    states[1] = state(Phase::Running, Some(Function::Allreduce));
    states[2] = RankState { exit: Some(Exit::Status(0)), ..state(Phase::Finalized, None) };
    assert_eq!(
        failure("mpiexec", Cause::Stranded { rank: 0, missed: 2 }, &states),
        "mpiexec: rank 0 (./a.out, pid 100) waited in MPI_Recv for rank 2, which had called MPI_Finalize\n\
         mpiexec:   rank 1 in MPI_Allreduce\n\
         mpiexec:   rank 2 had left\n"
    );
    states[2] = RankState { exit: Some(Exit::Status(0)), ..state(Phase::Running, None) };
    let text = failure("mpiexec", Cause::Stranded { rank: 0, missed: 2 }, &states);
    assert!(text.contains("for rank 2, which had ended\n"), "{text}");
}

#[test]
fn a_fatal_error_is_told_from_an_abort() {
    let states = [state(Phase::Failed(6), Some(Function::Send)), state(Phase::Running, None)];
    assert_eq!(
        failure("mpiexec", Cause::Failed { rank: 0, code: 6 }, &states),
        "mpiexec: rank 0 (./a.out, pid 100) could not go on after an error in MPI_Send (code 6)\n\
         mpiexec:   rank 1 between MPI calls\n"
    );
    let states = [state(Phase::Running, None), state(Phase::Failed(6), None)];
    let text = failure("mpiexec", Cause::TimeLimit(Duration::from_secs(1)), &states);
    assert!(text.contains("rank 1 met an error\n"), "{text}");
}

#[test]
fn ranks_that_are_not_in_mpi_are_not_worth_a_line() {
    let mut states = vec![state(Phase::Outside, None); 3];
    states[2].exit = Some(Exit::Status(0));
    let cause = Cause::Ended { rank: 1, exit: Exit::Status(1), phase: Phase::Outside };
    assert_eq!(failure("mpiexec", cause, &states).lines().count(), 1);
}

#[test]
fn ranks_are_named_by_ranges() {
    assert_eq!(name_ranks(&[3]), "rank 3");
    assert_eq!(name_ranks(&[0, 1, 2, 5, 7, 8]), "ranks 0-2, 5, 7-8");
    let even: Vec<u32> = (0..100).map(|rank| 2 * rank).collect();
    assert_eq!(name_ranks(&even), "ranks 0, 2, 4, 6, 8, 10, 12, 14, ... (100 ranks)");
}

#[test]
fn pending_requests_follow_the_places() {
    let mut states = vec![state(Phase::Running, Some(Function::Wait)); 2];
    states[1].pending = Some("receive from rank 0, tag 5\n".to_owned());
    assert_eq!(
        ending_inquiry("mpiexec", Cause::TimeLimit(Duration::from_secs(3)), &numbered(&states)),
        "mpiexec: time limit of 3 s reached\n\
         mpiexec:   ranks 0-1 in MPI_Wait\n\
         mpiexec:   rank 1: receive from rank 0, tag 5\n"
    );
}

#[test]
fn of_more_ranks_than_there_are_lines_a_request_of_each_is_shown() {
    let mut states = vec![state(Phase::Running, Some(Function::Wait)); 1000];
    for state in &mut states {
        state.pending = Some("a send\na receive\n".to_owned());
    }
    let text = inquiry("mpiexec", &states);
    assert!(text.contains("mpiexec:   rank 0: a send\nmpiexec:   rank 1: a send\n"), "{text}");
    assert!(text.ends_with(" lines more\n"), "{text}");
}

proptest! {
    #[test]
    fn no_block_is_longer_than_promised(
        calls in proptest::collection::vec(0_u16..700, 1..200),
        lines in 0_usize..60,
    ) {
        let pending = (lines > 0).then(|| "a request\n".repeat(lines));
        let states: Vec<RankState> = calls
            .iter()
            .map(|&call| RankState { call, pending: pending.clone(), ..state(Phase::Running, None) })
            .collect();
        let cause = Cause::Aborted { rank: 0, code: 1 };
        prop_assert!(failure("mpiexec", cause, &states).lines().count() <= FAILURE_LINES);
        prop_assert!(inquiry("mpiexec", &states).lines().count() <= SCREEN_LINES);
    }
}
