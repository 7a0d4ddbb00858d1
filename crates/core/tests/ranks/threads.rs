//! Ranks of several threads, which call at the same time. There are more threads than processors.
//!
//! MPI-5.0: External Interfaces, MPI and Threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use oxmpi_core::{Communicator, Dest, Outcome, RequestKey, SendMode, Source, TagPattern, coll};
use oxmpi_datatype::Buffer;

use crate::harness::{Rank, blank, ints, memory, read_ints, run};

const THREADS: usize = 4;
const ROUNDS: usize = 30;
/// Lengths of every protocol.
const LENGTHS: [usize; 5] = [0, 8, 300, 20_000, 300_000];

/// Runs a thread for each number.
fn on_threads(body: impl Fn(usize) + Sync) {
    thread::scope(|scope| {
        for number in 0..THREADS {
            let body = &body;
            scope.spawn(move || body(number));
        }
    });
}

fn next(rank: &Rank) -> Dest {
    Dest::Rank(((rank.rank() + 1) % rank.size()).cast_signed())
}

fn before(rank: &Rank) -> Source {
    Source::Rank(((rank.rank() + rank.size() - 1) % rank.size()).cast_signed())
}

/// What a thread of a rank sends.
fn contents(rank: u32, number: usize, round: usize) -> Vec<u8> {
    let bytes = LENGTHS[(number + round) % LENGTHS.len()];
    (0..bytes).map(|at| (at * 7 + round * 31 + number * 5 + rank as usize) as u8).collect()
}

/// Each sends to the thread with its number of the next rank, and receives in one of many ways.
fn exchange(rank: &Rank, comm: &Arc<Communicator>, tag: i32, number: usize) {
    let into = blank(LENGTHS[LENGTHS.len() - 1]);
    let buffer = || Buffer::dense(into);
    let (from, tags) = (before(rank), TagPattern::Tag(tag));
    for round in 0..ROUNDS {
        let sent = memory(&contents(rank.rank(), number, round));
        let mode = if round % 3 == 0 { SendMode::Synchronous } else { SendMode::Standard };
        let send = rank.mpi().isend(comm, Buffer::dense(sent), next(rank), tag, mode).expect("good");
        let status = match rank.below(4) {
            0 => rank.mpi().recv(comm, buffer(), from, tags).and_then(Outcome::into_result).expect("it fits"),
            1 => {
                rank.mpi().probe(comm, from, tags).expect("good");
                rank.mpi().recv(comm, buffer(), from, tags).and_then(Outcome::into_result).expect("it fits")
            }
            2 => {
                let (_, message) = rank.mpi().mprobe(comm, Source::Any, tags).expect("good");
                rank.mpi().mrecv(message, buffer()).and_then(Outcome::into_result).expect("it fits")
            }
            _ => {
                let receive = rank.mpi().irecv(comm, buffer(), from, tags).expect("good");
                loop {
                    if let Some(completion) = rank.mpi().test(receive).expect("it is active") {
                        break completion.status;
                    }
                }
            }
        };
        let expected = contents((rank.rank() + rank.size() - 1) % rank.size(), number, round);
        assert_eq!(status.bytes, expected.len() as u64, "thread {number}, round {round}");
        assert!(
            into.to_vec()[..expected.len()] == expected,
            "thread {number}, round {round}: other contents"
        );
        rank.mpi().wait(send).expect("it is active");
    }
}

#[test]
pub fn threads_with_communicators_of_their_own_get_their_messages_in_order() {
    for (ranks, seed) in [(1, 1), (2, 2), (3, 3)] {
        run(ranks, seed, |rank| {
            let comms = [(); THREADS].map(|()| rank.mpi().comm_dup(rank.world()).expect("all take part"));
            on_threads(|number| exchange(rank, &comms[number], 5, number));
            on_threads(|number| exchange(rank, rank.world(), number as i32, number));
        });
    }
}

#[test]
pub fn what_any_thread_may_receive_is_received_once() {
    for (ranks, seed) in [(1, 1), (2, 2), (3, 3)] {
        run(ranks, seed, |rank| {
            let received = [(); THREADS * ROUNDS].map(|()| AtomicU32::new(0));
            on_threads(|number| {
                let into = blank(4);
                for round in 0..ROUNDS {
                    let what = ints([(number * ROUNDS + round) as i32]);
                    let send = rank.mpi().isend(rank.world(), what, next(rank), 0, SendMode::Standard);
                    let buffer = Buffer::dense(into);
                    rank.mpi()
                        .recv(rank.world(), buffer, Source::Any, TagPattern::Any)
                        .and_then(Outcome::into_result)
                        .expect("it fits");
                    received[read_ints(&into)[0] as usize].fetch_add(1, Ordering::Relaxed);
                    rank.mpi().wait(send.expect("good")).expect("it is active");
                }
            });
            assert!(received.iter().all(|times| times.load(Ordering::Relaxed) == 1));
        });
    }
}

/// One thread after the other, all of which wait but one.
#[test]
fn a_message_goes_around_the_threads_of_a_rank() {
    run(2, 1, |rank| {
        let myself = Dest::Rank(rank.rank().cast_signed());
        on_threads(|number| {
            let into = blank(4);
            let receive = |tag: usize| {
                let (from, tag) = (Source::Rank(rank.rank().cast_signed()), TagPattern::Tag(tag as i32));
                rank.mpi()
                    .recv(rank.world(), Buffer::dense(into), from, tag)
                    .and_then(Outcome::into_result)
                    .expect("it fits");
                read_ints(&into)[0]
            };
            for round in 0..ROUNDS as i32 {
                let what = if number > 0 { receive(number) } else { round };
                let mode = if round % 2 == 0 { SendMode::Synchronous } else { SendMode::Standard };
                let tag = number as i32 + 1;
                rank.mpi().send(rank.world(), &ints([what + 1]), myself, tag, mode).expect("good");
                if number == 0 {
                    assert_eq!(receive(THREADS), round + THREADS as i32);
                }
            }
        });
    });
}

#[test]
fn a_thread_completes_what_others_have_begun() {
    for (ranks, seed) in [(1, 1), (2, 2)] {
        run(ranks, seed, |rank| {
            for round in 0..ROUNDS as i32 {
                let into = [(); THREADS].map(|()| blank(4));
                let begun: Vec<[RequestKey; 2]> = thread::scope(|scope| {
                    let begin = |number: usize| {
                        let (tag, what) = (number as i32, ints([round + number as i32]));
                        let buffer = Buffer::dense(into[number]);
                        let receive =
                            rank.mpi().irecv(rank.world(), buffer, before(rank), TagPattern::Tag(tag));
                        let send = rank.mpi().isend(rank.world(), what, next(rank), tag, SendMode::Standard);
                        [receive.expect("good"), send.expect("good")]
                    };
                    let threads: Vec<_> =
                        (0..THREADS).map(|number| scope.spawn(move || begin(number))).collect();
                    threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
                });
                let keys: Vec<_> = begun.into_iter().flatten().map(Some).collect();
                rank.mpi().wait_all(&keys, |_, _| ()).expect("all are active");
                let found: Vec<i32> = into.iter().map(|into| read_ints(into)[0]).collect();
                assert_eq!(found, (round..round + THREADS as i32).collect::<Vec<_>>());
            }
        });
    }
}

/// They are woken for messages of another thread until they doze beside it.
#[test]
fn threads_that_wait_for_long_beside_one_that_exchanges_messages_get_theirs() {
    const EXCHANGES: usize = 500;
    for (ranks, seed) in [(2, 1), (3, 2)] {
        run(ranks, seed, |rank| {
            let comms = [(); THREADS].map(|()| rank.mpi().comm_dup(rank.world()).expect("all take part"));
            let (tag, any) = (TagPattern::Tag(0), TagPattern::Any);
            let send = |comm, what| rank.mpi().send(comm, &ints([what]), next(rank), 0, SendMode::Standard);
            on_threads(|number| {
                let (comm, into) = (&comms[number], blank(4));
                let buffer = || Buffer::dense(into);
                match number {
                    0 => {
                        let other = blank(4);
                        for what in 0..EXCHANGES as i32 {
                            send(comm, what).expect("good");
                            rank.mpi()
                                .recv(comm, Buffer::dense(other), before(rank), tag)
                                .and_then(Outcome::into_result)
                                .expect("it fits");
                            assert_eq!(read_ints(&other), [what]);
                        }
                        (1..THREADS).for_each(|other| send(&comms[other], other as i32).expect("good"));
                        return;
                    }
                    1 => drop(
                        rank.mpi()
                            .recv(comm, buffer(), before(rank), tag)
                            .and_then(Outcome::into_result)
                            .expect("it fits"),
                    ),
                    2 => {
                        rank.mpi().probe(comm, Source::Any, any).expect("good");
                        rank.mpi()
                            .recv(comm, buffer(), before(rank), tag)
                            .and_then(Outcome::into_result)
                            .expect("it fits");
                    }
                    _ => {
                        let request = rank.mpi().irecv(comm, buffer(), Source::Any, any).expect("good");
                        rank.mpi().wait(request).expect("it is active");
                    }
                }
                assert_eq!(read_ints(&into), [number as i32]);
            });
        });
    }
}

/// As before, of what takes more than one message: any of several, or a collective.
#[test]
fn threads_that_wait_for_several_things_beside_one_that_exchanges_messages_get_theirs() {
    const EXCHANGES: i32 = 500;
    for (ranks, seed) in [(2, 1), (3, 2)] {
        run(ranks, seed, |rank| {
            let mpi = rank.mpi();
            let comms = [(); THREADS].map(|()| mpi.comm_dup(rank.world()).expect("all take part"));
            let tag = TagPattern::Tag;
            let send = |comm, what, with| mpi.send(comm, &ints([what]), next(rank), with, SendMode::Standard);
            let receive = |comm, with| {
                let into = blank(4);
                mpi.recv(comm, Buffer::dense(into), before(rank), tag(with))
                    .and_then(Outcome::into_result)
                    .expect("it fits");
                read_ints(&into)[0]
            };
            on_threads(|number| {
                let comm = &comms[number];
                let several = || {
                    let begin = |with| mpi.irecv(comm, Buffer::dense(blank(4)), before(rank), tag(with));
                    (0..3).map(|with| Some(begin(with).expect("good"))).collect::<Vec<_>>()
                };
                match number {
                    0 => {
                        for what in 0..EXCHANGES {
                            send(comm, what, 0).expect("good");
                            assert_eq!(receive(comm, 0), what);
                        }
                        for with in [2, 0, 1] {
                            (1..3).for_each(|other| send(&comms[other], 0, with).expect("good"));
                        }
                        // Rank 1 comes last.
                        if rank.rank() == 0 {
                            send(&comms[3], 0, 1).expect("good");
                        }
                    }
                    1 => {
                        let mut left = several();
                        while left.iter().any(Option::is_some) {
                            let (index, _) =
                                mpi.wait_any(&left).expect("all are there").expect("one is active");
                            left[index] = None;
                        }
                    }
                    2 => {
                        let (mut left, mut done) = (several(), Vec::new());
                        while done.len() < left.len() {
                            mpi.wait_some(&left, |index, _| done.push(index)).expect("all are there");
                            done.iter().for_each(|&index| left[index] = None);
                        }
                    }
                    _ => {
                        if rank.rank() == 1 {
                            receive(comm, 1);
                        }
                        let barrier = coll::barrier(mpi, comm).expect("good");
                        mpi.blocking(comm, &barrier).expect("all take part");
                    }
                }
            });
        });
    }
}
