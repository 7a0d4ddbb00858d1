//! A rank of the own job ends before its time: whoever needs it ends too, and nobody waits for ever.
//!
//! That nobody does is what the watchdog sees.
//! MPI-5.0: Process Initialization, Creation, and Management, Finalizing MPI.

use std::sync::Arc;

use oxmpi_core::{Communicator, Dest, Outcome, SendMode, Source, TagPattern};
use oxmpi_datatype::Buffer;

use crate::collectives::{Case, sum};
use crate::harness::{Death, End, Random, Rank, blank, run_until};

/// Calls of all kinds, in the same order on all ranks.
fn live(rank: &Rank, seed: u64, rounds: usize) {
    let comm = rank.world();
    let mut random = Random::of(seed, 5);
    let mut kept: Vec<Arc<Communicator>> = Vec::new();
    for _ in 0..rounds {
        match random.below(6) {
            0 => {
                let bound = Case::random(&mut random, comm.size(), 3000).bind(comm);
                bound.fill(0);
                rank.mpi().blocking(comm, &bound.operation(rank, comm)).expect("who fails is not here");
                bound.check(0);
            }
            1 => {
                let bound = Case::random(&mut random, comm.size(), 3000).bind(comm);
                bound.fill(0);
                let key = rank.mpi().nonblocking(comm, &bound.operation(rank, comm)).expect("not yet");
                let completion = rank.mpi().wait(key).expect("it is there");
                assert!(completion.error.is_none(), "{completion:?}");
                bound.check(0);
            }
            2 => ring(rank, [0, 1000, 200_000][random.below(3)]),
            3 => kept.push(rank.mpi().comm_dup(comm).expect("memory enough")),
            4 => {
                let group = rank.world().group();
                let made = rank.mpi().comm_create_group(comm, &group, 1).expect("memory enough");
                kept.extend(made);
            }
            _ => {
                if let Some(comm) = kept.pop() {
                    assert_eq!(sum(rank, &comm, 1).cast_unsigned(), comm.size());
                    rank.mpi().comm_free(comm).expect("it may be freed");
                }
            }
        }
    }
}

fn ring(rank: &Rank, bytes: usize) {
    let (me, size) = (rank.rank().cast_signed(), rank.size().cast_signed());
    let (from, into) = (Buffer::dense(blank(bytes)), Buffer::dense(blank(bytes)));
    let (to, source) = (Dest::Rank((me + 1) % size), Source::Rank((me + size - 1) % size));
    let sent = rank.mpi().isend(rank.world(), from, to, 1, SendMode::Synchronous).expect("good arguments");
    rank.mpi()
        .recv(rank.world(), into, source, TagPattern::Tag(1))
        .and_then(Outcome::into_result)
        .expect("it fits");
    let completion = rank.mpi().wait(sent).expect("it is there");
    assert!(completion.error.is_none(), "{completion:?}");
}

#[test]
fn nobody_waits_for_ever_when_a_rank_dies() {
    for seed in 0..24 {
        let ranks = 2 + seed as u32 % 5;
        let death = Death { job: 0, rank: seed as u32 % ranks, calls: seed as u32 * 7 % 90 };
        let ends = run_until(&[ranks], seed, Some(death), |rank| live(rank, seed, 60));
        for (rank, end) in ends[0].iter().enumerate() {
            match end {
                End::Died => assert_eq!(rank, death.rank as usize),
                End::Exited(status) => assert_eq!(*status, 1, "seed {seed}"),
                End::Finalized => {}
            }
        }
        assert!(ends[0].contains(&End::Died), "seed {seed}: it lives too long");
        assert!(ends[0].iter().any(|end| matches!(end, End::Exited(_))), "seed {seed}: {ends:?}");
    }
}
