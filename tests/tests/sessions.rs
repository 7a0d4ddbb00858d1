//! Sessions, alone and beside the world model. MPI-5.0: Process Initialization, The Sessions Model.

use std::io::{BufRead, BufReader, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;

use oxmpi_tests::{Program, RANKS, has_libfabric, programs};

programs! {
    session_again;
    session_alone;
    session_beyond_world;
    session_buffers;
    session_comms;
    session_early;
    session_families;
    session_forked;
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

/// Ranks meet at the end of the world model, those with an open session too, which is not waited for.
#[test]
fn the_world_model_ends_on_several_hosts_whoever_has_a_session() {
    if !has_libfabric() {
        return;
    }
    let program = Program::compile("session_world");
    let orders = ["IF", "aIFA", "aAbIFB", "aAIF"];
    let job = program.on(4).over("left:2,right:2");
    orders.into_iter().fold(job, |job, order| job.argument(order)).passes();
}

/// A launcher of one process that speaks PMI-1: what it is told, to the end.
#[test]
fn a_launcher_is_told_once_that_a_program_of_sessions_is_done() {
    let program = Program::compile("session_world");
    for order in ["aA", "aAbBcC", "aAIFbB", "aIFA"] {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let mut process = Command::new(program.path());
        process.arg(order).env_remove("LD_LIBRARY_PATH").stdin(OwnedFd::from(theirs));
        process.envs([("PMI_FD", "0"), ("PMI_RANK", "0"), ("PMI_SIZE", "1")]);
        let mut running = process.spawn().expect("it is compiled");
        drop(process); // and with it the end of the socket that the process has
        let mut told = Vec::new();
        for line in BufReader::new(&ours).lines().map_while(Result::ok) {
            let command = line.split([' ', '=']).nth(1).expect("a command").to_owned();
            let answer = match &*command {
                "init" => "response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                "get_maxes" => "maxes kvsname_max=64 keylen_max=64 vallen_max=1024",
                "get_my_kvsname" => "my_kvsname kvsname=k",
                "put" => "put_result rc=0",
                "barrier_in" => "barrier_out rc=0",
                "finalize" => "finalize_ack rc=0",
                other => panic!("nobody should say {other}"),
            };
            (&ours).write_all(format!("cmd={answer}\n").as_bytes()).expect("it listens");
            told.push(command);
        }
        assert!(running.wait().expect("a child").success(), "{order}");
        assert_eq!(told.last().map(String::as_str), Some("finalize"), "{order}: {told:?}");
        assert_eq!(told.iter().filter(|command| *command == "finalize").count(), 1, "{order}: {told:?}");
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
