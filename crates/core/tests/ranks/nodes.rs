//! The same on several nodes, whose ranks meet and talk over a fabric: simulated, or what libfabric finds here.
//!
//! MPI-5.0: Process Initialization, Creation, and Management; Collective Communication.

use std::io::{self, Write as _};

use oxmpi_base::ErrorClass;
use oxmpi_core::{Destination, ResourceType, SplitType};
use oxmpi_fabric::Fabric;
use oxmpi_fabric::sim::{Conduct, Sim};
use oxmpi_libfabric::Libfabric;

use super::harness::{Network, Split, on_nodes, run};
use super::{binding, collectives, communicators, matching, overlapping, partitioned, requests, threads};

/// Two nodes of consecutive ranks.
const HALVES: Split = |ranks| (0..ranks).map(|rank| u32::from(rank >= ranks.div_ceil(2))).collect();
/// Ranks dealt out in turn to two nodes.
const IN_TURN: Split = |ranks| (0..ranks).map(|rank| rank % 2).collect();
/// Of eight ranks five, one and two.
const UNEVEN: Split = |ranks| (0..ranks).map(|rank| [0, 0, 0, 0, 0, 1, 2, 2][rank as usize % 8]).collect();

const SMOOTH: Network = |seed| over_sim(Sim::new(seed, Conduct::SMOOTH));
const ROUGH: Network = |seed| over_sim(Sim::new(seed, Conduct::ROUGH));
const TCP: Network = |_| Box::new(|| Box::new(Libfabric::open_named("tcp/lo").expect("looked for before")));

fn over_sim(sim: Sim) -> Box<dyn FnMut() -> Box<dyn Fabric>> {
    Box::new(move || Box::new(sim.open()))
}

/// Runs a test over all networks.
fn on_all(test: impl Fn()) {
    for split in [HALVES, IN_TURN] {
        on_nodes(split, SMOOTH, &test);
        on_nodes(split, ROUGH, &test);
    }
    over_tcp(test);
}

/// Runs a test over what libfabric makes of loopback, if it is there.
fn over_tcp(test: impl Fn()) {
    match Libfabric::open_named("tcp/lo") {
        Ok(_) => on_nodes(HALVES, TCP, test),
        // Not by a macro, whose output the test harness would keep.
        Err(error) => drop(writeln!(io::stderr(), "SKIPPED, FOR WANT OF LIBFABRIC: {error}")),
    }
}

#[test]
fn collectives_give_the_results_in_every_lifetime() {
    on_all(|| collectives::every_lifetime(4, 1, 20, 3000));
    on_nodes(UNEVEN, SMOOTH, || collectives::every_lifetime(8, 2, 20, 3000));
    on_nodes(IN_TURN, ROUGH, || collectives::every_lifetime(3, 3, 20, 70_000));
}

/// Ordered operations, too, and by plans composed of those of nodes.
#[test]
fn operations_of_the_program_are_carried_out_on_overlapping_communicators() {
    for (split, network, has_ranges) in
        [(UNEVEN, SMOOTH, true), (HALVES, ROUGH, true), (IN_TURN, ROUGH, false)]
    {
        on_nodes(split, network, || {
            let algorithms = overlapping::operations_of_the_program(8, 9, 6, 9000);
            let is_composed = |name: &&str| name.starts_with("two-level");
            assert!(!has_ranges || algorithms.iter().any(is_composed), "{algorithms:?}");
        });
    }
}

#[test]
fn communicators_are_made_and_freed() {
    on_all(communicators::communicators_are_made_and_freed_in_any_order);
}

#[test]
fn groups_and_intercommunicators_are_made_by_threads() {
    on_nodes(HALVES, SMOOTH, communicators::threads_make_communicators_of_groups_at_the_same_time);
    on_nodes(IN_TURN, SMOOTH, communicators::intercommunicators_are_made_by_several_threads_used_and_merged);
}

#[test]
fn messages_are_matched() {
    on_all(matching::messages_of_a_rank_are_received_in_the_order_in_which_they_were_sent);
    on_nodes(HALVES, SMOOTH, matching::a_send_that_is_cancelled_is_received_or_not_at_both_ends_alike);
    on_nodes(HALVES, SMOOTH, matching::a_synchronous_send_is_complete_no_sooner_than_its_receive_has_begun);
}

#[test]
fn requests_of_all_kinds_are_completed() {
    on_all(requests::requests_of_all_kinds_are_each_completed_once);
    on_all(requests::persistent_messages_carry_what_is_there_at_each_start);
    on_nodes(HALVES, SMOOTH, partitioned::threads_mark_partitions_and_look_for_them_while_one_waits);
}

#[test]
fn threads_get_their_messages() {
    on_nodes(HALVES, SMOOTH, threads::threads_with_communicators_of_their_own_get_their_messages_in_order);
    on_nodes(HALVES, SMOOTH, threads::what_any_thread_may_receive_is_received_once);
}

#[test]
fn ranks_bind_the_same_algorithm() {
    on_nodes(IN_TURN, SMOOTH, || binding::wishes_of_all_kinds(4, 5, 10));
}

/// MPI-5.0: Finalizing MPI; The Sessions Model: a session may outlive the world model, and nobody waits for its end.
#[test]
fn the_world_model_ends_where_sessions_are_open() {
    for split in [HALVES, IN_TURN] {
        on_nodes(split, ROUGH, || {
            run(3, 1, |rank| {
                if rank.rank() == 1 {
                    rank.mpi().open_session();
                }
            });
        });
    }
}

/// MPI-5.0: Communicator Constructors, MPI_COMM_SPLIT_TYPE.
#[test]
fn who_shares_memory_is_told_apart() {
    on_nodes(UNEVEN, SMOOTH, || {
        run(8, 1, |rank| {
            let split = |by| rank.mpi().comm_split_type(rank.world(), by, 0).expect("there is memory");
            let (node, kind) = split(SplitType::By(ResourceType::SharedMemory));
            let node = node.expect("every rank has a node");
            let (size, place) =
                [(5, 0), (5, 1), (5, 2), (5, 3), (5, 4), (1, 0), (2, 0), (2, 1)][rank.rank() as usize];
            assert_eq!((node.size(), node.rank(), kind), (size, place, Some(ResourceType::SharedMemory)));
            assert_eq!(collectives::sum(rank, &node, 1), size.cast_signed());
            let (largest, kind) = split(SplitType::Down);
            assert_eq!(
                (largest.map(|comm| comm.size()), kind),
                (Some(size), Some(ResourceType::SharedMemory))
            );
            let (all, kind) = split(SplitType::ByWorld);
            assert_eq!((all.map(|comm| (comm.size(), comm.rank())), kind), (Some((8, rank.rank())), None));
        });
    });
}

/// Under the launchers of others, and with ranks that are threads. MPI-5.0: Process Manager Interface; Establishing
/// Communication; Error Codes and Classes.
#[test]
fn who_can_have_nothing_to_do_with_other_jobs_is_told_why() {
    on_nodes(IN_TURN, SMOOTH, || {
        run(3, 1, |rank| {
            let (mpi, world) = (rank.mpi(), rank.world());
            let port = mpi.open_port().expect("nobody else is needed for that");
            let there = Destination { port: port.clone(), timeout: None };
            let mut refused = vec![
                (ErrorClass::Spawn, mpi.comm_spawn(world, 0, Ok(Vec::new())).err()),
                (ErrorClass::Port, mpi.comm_accept(world, 0, Ok(port)).err()),
                (ErrorClass::Port, mpi.comm_connect(world, 0, Ok(there)).err()),
            ];
            // Rank 1 is alone on its node.
            if rank.rank() != 1 {
                refused.push((ErrorClass::Service, mpi.publish_name("ours", "port").err()));
                refused.push((ErrorClass::Service, mpi.unpublish_name("ours").err()));
            }
            for (class, error) in refused {
                let error = error.expect("nothing comes of it");
                assert_eq!(error.class(), class, "{error}");
                assert!(error.text().contains("several ranks of a node (2 here)"), "{error}");
            }
            let error = mpi.lookup_name("nobody has published this").expect_err("it is not there");
            assert_eq!(error.class(), ErrorClass::Name, "{error}");
        });
    });
}
