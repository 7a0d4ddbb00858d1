//! Sessions, alone and beside the world model. MPI-5.0: Process Initialization, The Sessions Model.

use oxmpi_tests::{Program, RANKS, programs};

programs! {
    session_again;
    session_alone;
    session_beyond_world;
    session_buffers;
    session_comms;
    session_early;
    session_families;
    session_groups;
    session_psets;
    session_threads;
    session_threads_comm on 1 2 4;
}

#[test]
fn the_world_model_and_sessions_begin_and_end_in_any_order() {
    let program = Program::compile("session_world");
    for order in ["aA", "aAaAaA", "abcBCA", "IaAF", "IaFA", "aIAF", "aIFA", "IFaA", "aAIF", "abIBcFCA"] {
        for ranks in RANKS {
            program.on(ranks).argument(order).passes();
        }
    }
}

#[test]
fn the_worlds_communicators_end_with_the_world_model() {
    let program = Program::compile("session_world_ended");
    for ranks in RANKS {
        program.on(ranks).option("--initial-errhandler=mpi_errors_return").passes();
    }
}

#[test]
fn what_is_derived_from_a_session_stays_until_it_is_freed() {
    let program = Program::compile("session_left_over");
    for ranks in RANKS {
        program.on(ranks).option("--initial-errhandler=mpi_errors_return").passes();
    }
}

#[test]
fn wrong_arguments_go_to_the_error_handler_of_the_session() {
    let program = Program::compile("session_errors");
    for ranks in [1, 3] {
        program.on(ranks).option("--initial-errhandler=mpi_errors_return").passes();
    }
}

#[test]
fn a_session_gets_the_thread_level_that_is_left() {
    let program = Program::compile("session_levels");
    for first in ["world", "session"] {
        for level in ["0", "1", "2", "3"] {
            program.on(2).argument(first).argument(level).passes();
        }
    }
}

#[test]
fn a_rank_that_leaves_with_an_open_session_ends_the_job() {
    let program = Program::compile("session_leave");
    for ranks in [1, 3] {
        let ended = program.on(ranks).argument("open").run();
        assert_eq!(ended.status, Some(1), "{}", ended.err);
        assert!(ended.err.contains("exited with status 0 before MPI_Session_finalize"), "{}", ended.err);
        let ended = program.on(ranks).argument("7").run();
        assert_eq!(ended.status, Some(7), "{}", ended.err);
        assert!(ended.out.contains("passed on") || ranks == 1, "the others may finish: {}", ended.err);
        program.on(ranks.max(2)).argument("0").passes();
    }
}

#[test]
fn ranks_without_a_session_are_not_missed() {
    let program = Program::compile("session_some");
    for ranks in RANKS {
        program.on(ranks).passes();
    }
}
