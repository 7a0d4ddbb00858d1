//! Two jobs that have met, and what becomes of one when a rank of the other is gone.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Establishing Communication.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use oxmpi_base::{BasicType, ErrorClass, ReduceOp, Result};
use oxmpi_core::coll::{self, Side, Wish};
use oxmpi_core::{
    Communicator, Dest, Destination, Outcome, RemoteLeader, RequestKey, SendMode, Source, TagPattern,
};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_op::Reducer;

use crate::collectives::{Case, sum};
use crate::harness::{Death, End, Random, Rank, blank, memory, run_jobs, run_jobs_on, run_until};

/// The communicator between the two jobs, whose first ones meet at a port.
fn meet(rank: &Rank, port: &OnceLock<String>) -> Result<Arc<Communicator>> {
    if rank.job == 0 {
        let name = || port.get_or_init(|| rank.mpi().open_port().expect("a port")).clone();
        let name = if rank.rank() == 0 { name() } else { String::new() };
        rank.mpi().comm_accept(rank.world(), 0, Ok(name))
    } else {
        let name = || loop {
            match port.get() {
                Some(name) => return name.clone(),
                None => thread::yield_now(),
            }
        };
        let name = if rank.rank() == 0 { name() } else { String::new() };
        rank.mpi().comm_connect(rank.world(), 0, Ok(Destination { port: name, timeout: None }))
    }
}

#[test]
fn two_jobs_exchange_messages_and_collectives() {
    for (sizes, seed) in [([1, 1], 1), ([2, 3], 2), ([4, 1], 3), ([5, 6], 4)] {
        let port = OnceLock::new();
        run_jobs(&sizes, seed, |rank| {
            let inter = meet(rank, &port).expect("both are there");
            let theirs = sizes[1 - rank.job].cast_signed();
            assert_eq!(inter.peers().cast_signed(), theirs);
            for round in 0..5 {
                assert_eq!(sum(rank, &inter, round + 1), theirs * (round + 1));
            }
            // Everybody to everybody of the other job, of every protocol.
            let sent: Vec<_> = (0..theirs)
                .flat_map(|to| [0, 100, 100_000].map(|bytes| (to, bytes)))
                .map(|(to, bytes)| {
                    let from = Buffer::dense(memory(&vec![rank.rank() as u8; bytes]));
                    Some(rank.mpi().isend(&inter, from, Dest::Rank(to), 1, SendMode::Standard).expect("good"))
                })
                .collect();
            for from in 0..theirs {
                for bytes in [0, 100, 100_000] {
                    let into = blank(bytes);
                    let source = Source::Rank(from);
                    rank.mpi()
                        .recv(&inter, Buffer::dense(into), source, TagPattern::Any)
                        .and_then(Outcome::into_result)
                        .expect("it fits");
                    assert!(into.to_vec() == vec![from as u8; bytes]);
                }
            }
            rank.mpi().wait_all(&sent, |_, completion| assert!(completion.error.is_none())).expect("there");
            let merged = rank.mpi().intercomm_merge(&inter, rank.job == 0).expect("memory enough");
            assert_eq!(sum(rank, &merged, 1).cast_unsigned(), sizes.iter().sum::<u32>());
            rank.mpi().comm_free(merged).expect("it may be freed");
            rank.mpi().comm_complete(&inter);
            rank.mpi().comm_free(inter).expect("it may be freed");
        });
    }
}

/// What is chosen for a scan of 16 KiB.
fn choice(rank: &Rank, comm: &Arc<Communicator>) -> &'static str {
    let mpi = rank.mpi();
    let reducer = Reducer::predefined(ReduceOp::Sum, BasicType::Int).expect("integers are added");
    let [send, recv] = [(); 2].map(|()| Buffer::dense(blank(16 << 10)));
    let operation = coll::scan(mpi, comm, Side::Buffer(send), recv, reducer).expect("good arguments");
    let key = mpi.persistent(comm, operation, Wish::default()).expect("all prepare the same");
    let algorithm = mpi.algorithm(key).expect("there are several");
    mpi.request_free(key).expect("it is inactive");
    algorithm
}

/// Of jobs with different processors all ranks choose alike, by the most; and of one of them as before.
#[test]
fn jobs_that_share_different_processors_choose_alike() {
    let choices = |cpus: [usize; 2]| {
        let (port, all) = (OnceLock::new(), Mutex::new([Vec::new(), Vec::new()]));
        run_jobs_on(&[(5, cpus[0]), (6, cpus[1])], 1, |rank| {
            let inter = meet(rank, &port).expect("both are there");
            let merged = rank.mpi().intercomm_merge(&inter, rank.job == 0).expect("memory enough");
            let own = rank.mpi().comm_split(&merged, Some(rank.job as i32), 0).expect("memory enough");
            assert_eq!(choice(rank, &own.expect("of its color")), choice(rank, rank.world()));
            let chosen = choice(rank, &merged);
            all.lock().expect("nobody panics")[rank.job].push(chosen);
        });
        let all = all.into_inner().expect("nobody panicked").concat();
        assert!(all.len() == 11 && all.iter().all(|one| *one == all[0]), "{cpus:?}: {all:?}");
        all[0]
    };
    let [few, many, more] = [[1, 1], [16, 16], [1, 16]].map(choices);
    assert!(few != many && more == many, "{few}, {many}, {more}");
}

/// What both ranks do with the other one until that fails.
fn until_failure(rank: &Rank, seed: u64, inter: &Arc<Communicator>) -> Result<()> {
    // The same on both ranks.
    let mut random = Random::of(seed, 3);
    loop {
        let bytes = [0, 4, 3000, 50_000, 300_000][random.below(5)];
        let (from, into) = (Buffer::dense(blank(bytes)), Buffer::dense(blank(bytes)));
        let mode = if random.below(2) == 0 { SendMode::Synchronous } else { SendMode::Standard };
        let sent = rank.mpi().isend(inter, from, Dest::Rank(0), 9, mode)?;
        let (source, tag) = (Source::Rank(0), TagPattern::Tag(9));
        let received = match random.below(3) {
            0 => rank.mpi().recv(inter, into, source, tag).and_then(Outcome::into_result)?,
            1 => {
                let (_, message) = rank.mpi().mprobe(inter, source, tag)?;
                rank.mpi().mrecv(message, into).and_then(Outcome::into_result)?
            }
            _ => {
                let key = rank.mpi().irecv(inter, into, source, tag)?;
                let completion = rank.mpi().wait(key)?;
                completion.error.map_or(Ok(completion.status), Err)?
            }
        };
        assert_eq!(received.bytes, bytes as u64);
        rank.mpi().wait(sent)?.error.map_or(Ok(()), Err)?;
    }
}

#[test]
fn who_waits_for_a_process_of_another_job_that_is_gone_gets_an_error() {
    for seed in 0..12 {
        let port = OnceLock::new();
        // It meets the others, in a dozen calls at most, and dies then.
        let death = Death { job: 1, rank: 0, calls: 8 + seed as u32 };
        let ends = run_until(&[1, 1], seed, Some(death), |rank| {
            let inter = match meet(rank, &port) {
                Ok(inter) => inter,
                Err(error) => return assert_eq!(error.class(), ErrorClass::Other, "{error:?}"),
            };
            let error = until_failure(rank, seed, &inter).expect_err("the other one dies");
            assert_eq!(error.class(), ErrorClass::ProcAborted, "seed {seed}: {error:?}");
        });
        assert_eq!(ends, [[End::Finalized], [End::Died]], "seed {seed}");
    }
}

/// Letters are no messages of a communicator, and whoever waits for one from a process that is gone must hear of it.
#[test]
fn a_leader_whose_counterpart_of_another_job_is_gone_fails_with_its_group() {
    for seed in 0..6 {
        let port = OnceLock::new();
        let death = Death { job: 1, rank: 0, calls: 1000 };
        let ends = run_until(&[2, 1], seed, Some(death), |rank| {
            let inter = meet(rank, &port).expect("both are there");
            assert_eq!(sum(rank, &inter, 1), if rank.job == 0 { 1 } else { 2 });
            if rank.job == 1 {
                rank.die();
            }
            let remote = RemoteLeader { peer_comm: Arc::clone(&inter), rank: 0, tag: 4 };
            let made = rank.mpi().intercomm_create(rank.world(), 0, Ok(remote));
            let error = made.expect_err("the counterpart never comes");
            assert_eq!(error.class(), ErrorClass::ProcAborted, "{error:?}");
        });
        assert_eq!(ends, [vec![End::Finalized, End::Finalized], vec![End::Died]], "seed {seed}");
    }
}

/// The communicators of two jobs: between them, and of both.
struct Comms {
    inter: Arc<Communicator>,
    merged: Arc<Communicator>,
}

impl Comms {
    /// The first job comes first in both.
    fn of(rank: &Rank, port: &OnceLock<String>) -> Self {
        let inter = meet(rank, port).expect("both are there");
        let merged = rank.mpi().intercomm_merge(&inter, rank.job == 1).expect("memory enough");
        Self { inter, merged }
    }
}

/// Something that a rank calls.
type Call = fn(&Rank, &Comms) -> Result<()>;

/// Calls on an intercommunicator whose remote group is a process that is gone.
const CALLS: [Call; 14] = [
    |rank, Comms { inter, .. }| {
        rank.mpi()
            .recv(inter, Buffer::EMPTY, Source::Rank(0), TagPattern::Any)
            .and_then(Outcome::into_result)
            .map(drop)
    },
    |rank, Comms { inter, .. }| {
        rank.mpi()
            .recv(inter, Buffer::EMPTY, Source::Any, TagPattern::Any)
            .and_then(Outcome::into_result)
            .map(drop)
    },
    |rank, Comms { inter, .. }| rank.mpi().probe(inter, Source::Rank(0), TagPattern::Any).map(drop),
    |rank, Comms { inter, .. }| rank.mpi().probe(inter, Source::Any, TagPattern::Tag(1)).map(drop),
    |rank, Comms { inter, .. }| rank.mpi().mprobe(inter, Source::Rank(0), TagPattern::Any).map(drop),
    |rank, Comms { inter, .. }| loop {
        assert_eq!(rank.mpi().iprobe(inter, Source::Any, TagPattern::Any)?, None);
    },
    |rank, Comms { inter, .. }| loop {
        assert!(rank.mpi().improbe(inter, Source::Rank(0), TagPattern::Any)?.is_none());
    },
    |rank, Comms { inter, .. }| {
        let key = rank.mpi().irecv(inter, Buffer::EMPTY, Source::Rank(0), TagPattern::Any)?;
        rank.mpi().wait(key)?.error.map_or(Ok(()), Err)
    },
    |rank, Comms { inter, .. }| {
        let key = rank.mpi().irecv(inter, Buffer::EMPTY, Source::Any, TagPattern::Any)?;
        let completion = loop {
            if let Some(completion) = rank.mpi().test(key)? {
                break completion;
            }
        };
        completion.error.map_or(Ok(()), Err)
    },
    |rank, Comms { inter, .. }| {
        rank.mpi().send(inter, &Buffer::EMPTY, Dest::Rank(0), 1, SendMode::Synchronous)
    },
    |rank, Comms { inter, .. }| {
        rank.mpi().send(inter, &Buffer::dense(blank(300_000)), Dest::Rank(0), 1, SendMode::Standard)
    },
    |rank, Comms { inter, .. }| {
        let barrier = coll::barrier(rank.mpi(), inter)?;
        rank.mpi().blocking(inter, &barrier)
    },
    |rank, Comms { inter, .. }| rank.mpi().comm_dup(inter).map(drop),
    |rank, Comms { inter, .. }| rank.mpi().intercomm_merge(inter, true).map(drop),
];

#[test]
fn every_call_that_needs_a_process_of_another_job_that_is_gone_fails() {
    for first in 0..CALLS.len() {
        let port = OnceLock::new();
        let death = Death { job: 1, rank: 0, calls: 100 };
        let ends = run_until(&[1, 1], first as u64, Some(death), |rank| {
            let comms = Comms::of(rank, &port);
            if rank.job == 1 {
                rank.die();
            }
            // One is the first to notice it; the others know it.
            for place in (first..CALLS.len()).chain(0..first) {
                let error = CALLS[place](rank, &comms).expect_err("the other one is gone");
                assert_eq!(error.class(), ErrorClass::ProcAborted, "call {place}: {error:?}");
            }
        });
        assert_eq!(ends, [[End::Finalized], [End::Died]], "call {first}");
    }
}

/// Calls that need rank 1 of the other job, which is in `MPI_Finalize`, on communicators of both.
const CALLS_OF_ONE: [Call; 4] = [
    |rank, Comms { inter, .. }| {
        rank.mpi()
            .recv(inter, Buffer::EMPTY, Source::Rank(1), TagPattern::Any)
            .and_then(Outcome::into_result)
            .map(drop)
    },
    |rank, Comms { inter, .. }| rank.mpi().probe(inter, Source::Rank(1), TagPattern::Any).map(drop),
    |rank, Comms { inter, .. }| {
        let key = rank.mpi().irecv(inter, Buffer::EMPTY, Source::Rank(1), TagPattern::Any)?;
        rank.mpi().wait(key)?.error.map_or(Ok(()), Err)
    },
    |rank, Comms { merged, .. }| {
        let group = merged.group().include(&[0, 2])?;
        rank.mpi().comm_create_group(merged, &group, 1).map(drop)
    },
];

/// Its other rank waits for us; so it will be in `MPI_Finalize` as long as we wait.
#[test]
fn who_waits_for_a_process_of_another_job_that_finalizes_gets_an_error() {
    for (seed, call) in (0..).zip(CALLS_OF_ONE) {
        let port = OnceLock::new();
        run_jobs(&[1, 2], seed, |rank| {
            let comms = Comms::of(rank, &port);
            match (rank.job, rank.rank()) {
                (0, _) => {
                    let error = call(rank, &comms).expect_err("it tells nothing more");
                    assert_eq!(error.class(), ErrorClass::ProcAborted, "{error:?}");
                    let sent =
                        rank.mpi().send(&comms.inter, &Buffer::EMPTY, Dest::Rank(0), 2, SendMode::Standard);
                    sent.expect("that one is there");
                }
                (_, 0) => {
                    let received = rank
                        .mpi()
                        .recv(&comms.inter, Buffer::EMPTY, Source::Any, TagPattern::Any)
                        .and_then(Outcome::into_result);
                    received.expect("it fits");
                }
                _ => {}
            }
        });
    }
}

/// What all ranks of both jobs do, as long as nothing fails.
fn work_together(rank: &Rank, seed: u64, port: &OnceLock<String>) -> Result<()> {
    let Comms { inter, merged } = Comms::of(rank, port);
    // The same on all ranks.
    let mut random = Random::of(seed, 9);
    loop {
        match random.below(5) {
            0 => {
                let bound = Case::random(&mut random, merged.size(), 3000).bind(&merged);
                bound.fill(0);
                rank.mpi().blocking(&merged, &bound.operation(rank, &merged))?;
                bound.check(0);
            }
            1 => {
                let barrier = coll::barrier(rank.mpi(), &inter)?;
                let key = rank.mpi().nonblocking(&inter, &barrier)?;
                rank.mpi().wait(key)?.error.map_or(Ok(()), Err)?;
            }
            2 => {
                let comm = rank.mpi().comm_dup(&inter)?;
                rank.mpi().comm_free(comm)?;
            }
            3 => {
                let last = merged.size().cast_signed() - 1;
                let group = merged.group().include_ranges(&[[last, 0, -1]])?;
                if let Some(comm) = rank.mpi().comm_create_group(&merged, &group, 1)? {
                    rank.mpi().comm_free(comm)?;
                }
            }
            _ => {
                let (from, into) = (Buffer::dense(blank(9000)), Buffer::dense(blank(9000)));
                let (me, size) = (merged.rank().cast_signed(), merged.size().cast_signed());
                let (to, source) = (Dest::Rank((me + 1) % size), Source::Rank((me + size - 1) % size));
                rank.mpi()
                    .sendrecv(&merged, &from, to, 1, into, source, TagPattern::Any)
                    .and_then(Outcome::into_result)?;
            }
        }
    }
}

#[test]
fn nobody_waits_for_ever_when_a_rank_of_one_of_two_jobs_dies() {
    // They meet first: whoever accepts waits for somebody to connect, and be it for ever.
    for seed in 0..24 {
        let (port, random) = (OnceLock::new(), &mut Random::of(seed, 2));
        let sizes = [0, 1].map(|_| 1 + random.below(4) as u32);
        let (job, calls) = (random.below(2), 5 + random.below(60) as u32);
        let rank = random.below(sizes[job] as usize) as u32;
        run_until(&sizes, seed, Some(Death { job, rank, calls }), |rank| {
            // What an error is called depends on who hears first of what.
            let error = work_together(rank, seed, &port).expect_err("one of them dies");
            assert!(!error.text().is_empty());
        });
    }
}

/// So much that it is read where it lies.
const LONG: usize = 1 << 20;

fn long_bcast(rank: &Rank, comm: &Arc<Communicator>, region: &Region) -> RequestKey {
    let operation = coll::bcast(rank.mpi(), comm, Buffer::dense(*region), coll::Root::Rank(0));
    rank.mpi().nonblocking(comm, &operation.expect("it is one")).expect("there is room")
}

#[test]
fn a_root_whose_data_a_dead_rank_was_to_read_goes_on() {
    let port = OnceLock::new();
    let ends = run_until(&[1, 1], 1, Some(Death { job: 1, rank: 0, calls: 1000 }), |rank| {
        let Comms { merged, .. } = Comms::of(rank, &port);
        let region = blank(LONG);
        for _ in 0..2 {
            let key = long_bcast(rank, &merged, &region);
            rank.mpi().wait(key).expect("both take part");
        }
        if rank.job == 1 {
            rank.die();
        }
        let operation = coll::bcast(rank.mpi(), &merged, Buffer::dense(region), coll::Root::Rank(0));
        // It may have heard of the death before, or not.
        let _ = rank.mpi().blocking(&merged, &operation.expect("it is one"));
    });
    assert_eq!(ends, [vec![End::Finalized], vec![End::Died]]);
}

#[test]
fn a_rank_that_lives_gets_what_was_posted_though_another_is_dead() {
    let (port, is_over) = (OnceLock::new(), AtomicBool::new(false));
    let ends = run_until(&[2, 1], 1, Some(Death { job: 1, rank: 0, calls: 1000 }), |rank| {
        let Comms { merged, .. } = Comms::of(rank, &port);
        let region = blank(LONG);
        for _ in 0..2 {
            let key = long_bcast(rank, &merged, &region);
            rank.mpi().wait(key).expect("all take part");
        }
        if rank.job == 1 {
            rank.die();
        }
        let is_root = rank.rank() == 0;
        region.write(&vec![if is_root { 7 } else { 1 }; LONG]);
        // It comes late: who has posted does not go on before.
        for _ in 0..if is_root { 0 } else { 100_000 } {
            if is_over.load(Ordering::Acquire) {
                break;
            }
            thread::yield_now();
        }
        let key = long_bcast(rank, &merged, &region);
        let completion = rank.mpi().wait(key).expect("it is there");
        if is_root {
            region.write(&vec![9; LONG]);
            is_over.store(true, Ordering::Release);
        } else if completion.error.is_none() {
            assert_eq!(region.to_vec(), vec![7; LONG]);
        }
    });
    assert_eq!(ends, [vec![End::Finalized, End::Finalized], vec![End::Died]]);
}
