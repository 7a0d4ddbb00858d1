//! Requests: completing any, some or all of them, and starting them again.
//!
//! MPI-5.0: Point-to-Point Communication, Multiple Completions; Persistent Communication Requests.

use oxmpi_base::ErrorClass;
use oxmpi_core::coll::Wish;
use oxmpi_core::{AnyTest, Completion, Dest, RequestKey, SendMode, Source, TagPattern};
use oxmpi_datatype::Buffer;

use crate::harness::{Rank, blank, int_memory, read_ints, run};

/// Completes active requests in one of all ways, and tells of each once.
fn complete(rank: &Rank, keys: &[Option<RequestKey>], mut each: impl FnMut(usize, Completion)) {
    let mut left = keys.to_vec();
    let mut done = vec![0; keys.len()];
    while left.iter().any(Option::is_some) {
        let now = left.clone();
        let mut note = |index: usize, completion: Completion| {
            assert!(completion.error.is_none(), "{completion:?}");
            if left[index].take().is_some() {
                done[index] += 1;
                each(index, completion);
            }
        };
        match rank.below(7) {
            0 => rank.mpi().wait_all(&now, note).expect("all are there"),
            1 => drop(rank.mpi().test_all(&now, note).expect("all are there")),
            2 => {
                let (index, completion) = rank.mpi().wait_any(&now).expect("there").expect("one is active");
                note(index, completion);
            }
            3 => match rank.mpi().test_any(&now).expect("all are there") {
                AnyTest::Done(index, completion) => note(index, completion),
                AnyTest::NotYet => {}
                AnyTest::Undefined => panic!("one is active"),
            },
            4 => assert!(rank.mpi().wait_some(&now, note).expect("all are there") > Some(0)),
            5 => assert!(rank.mpi().test_some(&now, note).expect("all are there").is_some()),
            _ => {
                let active: Vec<_> = (0..now.len()).filter(|&index| now[index].is_some()).collect();
                let index = active[rank.below(active.len())];
                let key = now[index].expect("just seen");
                let completion = rank.mpi().wait(key).expect("it is there");
                note(index, completion);
            }
        }
    }
    assert!(done.iter().all(|&times| times == 1), "{done:?}");
}

#[test]
pub fn persistent_messages_carry_what_is_there_at_each_start() {
    const LENGTHS: [usize; 4] = [1, 100, 5000, 60_000];
    for (ranks, seed) in [(1, 1), (2, 2), (3, 3), (4, 4), (6, 5)] {
        run(ranks, seed, |rank| {
            let comm = rank.world();
            let (me, size) = (rank.rank().cast_signed(), ranks.cast_signed());
            let pairs: Vec<(i32, usize)> =
                (0..size).flat_map(|peer| LENGTHS.map(|length| (peer, length))).collect();
            let value = |from: i32, to: i32, place: usize, round: i32| {
                from * 1_000_000 + to * 10_000 + place as i32 * 100 + round
            };
            let sends: Vec<_> = pairs.iter().map(|&(_, length)| blank(4 * length)).collect();
            let receives: Vec<_> = pairs.iter().map(|&(_, length)| blank(4 * length)).collect();
            let mut keys = Vec::new();
            for (place, &(peer, length)) in pairs.iter().enumerate() {
                let mode = if place % 3 == 1 { SendMode::Synchronous } else { SendMode::Standard };
                let (from, into) = (Buffer::dense(sends[place]), Buffer::dense(receives[place]));
                let tag = length as i32;
                let send = rank.mpi().send_init(comm, from, Dest::Rank(peer), tag, mode);
                let recv = rank.mpi().recv_init(comm, into, Source::Rank(peer), TagPattern::Tag(tag));
                keys.extend([Some(send.expect("good")), Some(recv.expect("good"))]);
            }
            for round in 0..6 {
                for (place, &(peer, length)) in pairs.iter().enumerate() {
                    let now = value(me, peer, place % LENGTHS.len(), round);
                    sends[place].copy_from(&int_memory((0..length as i32).map(|at| now + at)));
                }
                rank.mpi().start_all(&keys).expect("all are inactive");
                complete(rank, &keys, |_, completion| assert!(!completion.freed));
                for (place, &(peer, length)) in pairs.iter().enumerate() {
                    let first = value(peer, me, place % LENGTHS.len(), round);
                    let expected: Vec<i32> = (0..length as i32).map(|at| first + at).collect();
                    assert!(read_ints(&receives[place]) == expected, "round {round} from {peer}");
                }
            }
            for key in keys.into_iter().flatten() {
                rank.mpi().request_free(key).expect("it is inactive");
            }
        });
    }
}

#[test]
pub fn requests_of_all_kinds_are_each_completed_once() {
    for (ranks, seed) in [(2, 11), (3, 12), (5, 13), (16, 14)] {
        run(ranks, seed, |rank| {
            let comm = rank.world();
            let (me, size) = (rank.rank().cast_signed(), ranks.cast_signed());
            for round in 0..8 {
                let bytes = [1, 500, 40_000][round % 3];
                let into: Vec<_> = (0..size).map(|_| blank(bytes)).collect();
                let mut keys = Vec::new();
                for peer in (0..size).filter(|&peer| peer != me) {
                    let from = Buffer::dense(crate::harness::memory(&vec![me as u8; bytes]));
                    let (to, tag) = (Dest::Rank(peer), round as i32);
                    let recv = Buffer::dense(into[peer as usize]);
                    let (source, pattern) = (Source::Rank(peer), TagPattern::Tag(tag));
                    let key = rank.mpi().isendrecv(comm, &from, to, tag, recv, source, pattern);
                    keys.push(Some(key.expect("good arguments")));
                }
                let barrier = oxmpi_core::coll::barrier(rank.mpi(), comm).expect("good arguments");
                keys.push(Some(rank.mpi().nonblocking(comm, &barrier).expect("never fails")));
                keys.push(None);
                let all = keys.iter().flatten().count();
                let mut freed = 0;
                let keys: Vec<_> = keys.into_iter().filter(Option::is_some).collect();
                complete(rank, &keys, |_, completion| freed += usize::from(completion.freed));
                assert_eq!(freed, all);
                for peer in (0..size).filter(|&peer| peer != me) {
                    assert!(into[peer as usize].to_vec() == vec![peer as u8; bytes], "round {round}");
                }
            }
        });
    }
}

#[test]
fn a_collective_is_neither_cancelled_nor_freed_however_soon_it_is_over() {
    for ranks in 1..=3 {
        run(ranks, 7, |rank| {
            let (mpi, comm) = (rank.mpi(), rank.world());
            let refused = |key| {
                let cancelled = mpi.cancel(key).map_err(|error| error.class());
                let freed = mpi.request_free(key).map(drop).map_err(|error| error.class());
                assert_eq!([cancelled, freed], [Err(ErrorClass::Request); 2]);
            };
            let barrier = || oxmpi_core::coll::barrier(mpi, comm).expect("good arguments");
            let again = mpi.persistent(comm, barrier(), Wish::default()).expect("all prepare the same");
            for _ in 0..20 {
                let once = mpi.nonblocking(comm, &barrier()).expect("there is memory");
                refused(once);
                assert!(mpi.wait(once).expect("it is there").freed);
                assert!(mpi.wait(once).is_err(), "it is no more");
                mpi.start(again).expect("it is inactive");
                refused(again);
                assert!(mpi.start(again).is_err(), "it is active");
                assert!(!mpi.wait(again).expect("it is there").freed);
            }
            mpi.request_free(again).expect("it is inactive");
        });
    }
}
