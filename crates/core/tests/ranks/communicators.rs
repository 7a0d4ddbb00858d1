//! Communicators that are made and freed in random order, and what is told apart by them.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching.

use std::sync::{Arc, Mutex};
use std::thread;

use oxmpi_core::{Communicator, Dest, Outcome, RemoteLeader, SendMode, Source, TagPattern};
use oxmpi_datatype::Buffer;

use crate::collectives::sum;
use crate::harness::{Random, Rank, blank, ints, read_ints, run};

/// Sends around the ring of a communicator, by both it and `other`, and receives in the opposite order.
fn check(rank: &Rank, comm: &Arc<Communicator>, other: &Arc<Communicator>) {
    let size = comm.size().cast_signed();
    let me = comm.rank().cast_signed();
    assert_eq!(sum(rank, comm, me + 1), size * (size + 1) / 2);
    let (to, from) = ((me + 1) % size, (me + size - 1) % size);
    let world = |of: i32| comm.group().translate(of, &other.group()).expect("a rank").map(u32::cast_signed);
    let (Some(far_to), Some(far_from)) = (world(to), world(from)) else { return };
    let send = |over: &Arc<Communicator>, dest: i32, value: i32| {
        let sent = rank.mpi().isend(over, ints([value]), Dest::Rank(dest), 5, SendMode::Standard);
        Some(sent.expect("good arguments"))
    };
    let sent = [send(other, far_to, 1000 + me), send(comm, to, 2000 + me)];
    let receive = |over: &Arc<Communicator>, source: i32| {
        let into = blank(4);
        rank.mpi()
            .recv(over, Buffer::dense(into), Source::Rank(source), TagPattern::Any)
            .and_then(Outcome::into_result)
            .expect("one number");
        read_ints(&into)[0]
    };
    assert_eq!(receive(comm, from), 2000 + from, "a message of another communicator");
    assert_eq!(receive(other, far_from), 1000 + from, "a message of another communicator");
    rank.mpi().wait_all(&sent, |_, completion| assert!(completion.error.is_none())).expect("there");
}

fn duplicates(rank: &Rank, comm: &Arc<Communicator>, count: usize) -> Vec<Arc<Communicator>> {
    let made: Vec<Arc<Mutex<Option<Arc<Communicator>>>>> = (0..count).map(|_| Arc::default()).collect();
    let keys: Vec<_> = (made.iter())
        .map(|place| {
            let place = Arc::clone(place);
            let receiver = move |comm| *place.lock().expect("one writer") = Some(comm);
            Some(rank.mpi().comm_idup(comm, receiver).expect("never fails yet"))
        })
        .collect();
    let barrier = oxmpi_core::coll::barrier(rank.mpi(), comm).expect("good arguments");
    rank.mpi().blocking(comm, &barrier).expect("nobody fails");
    rank.mpi().wait_all(&keys, |_, completion| assert!(completion.error.is_none())).expect("there");
    made.iter().map(|place| place.lock().expect("one writer").take().expect("handed over")).collect()
}

#[test]
pub fn communicators_are_made_and_freed_in_any_order() {
    for (ranks, seed) in [(1, 1), (2, 2), (3, 3), (5, 4), (8, 5), (12, 6)] {
        run(ranks, seed, |rank| {
            // The same on all ranks.
            let mut random = Random::of(seed, 77);
            let mut all: Vec<Arc<Communicator>> = Vec::new();
            for _ in 0..25 {
                match random.below(6) {
                    0 => all.push(rank.mpi().comm_dup(rank.world()).expect("memory enough")),
                    1 => all.extend(duplicates(rank, rank.world(), 1 + random.below(3))),
                    2 => {
                        // Everybody's part is the same size, but for the last.
                        let part = 1 + random.below(ranks as usize) as i32;
                        let me = rank.rank().cast_signed();
                        let made = rank.mpi().comm_split(rank.world(), Some(me % part), -me);
                        let made = made.expect("memory enough").expect("it names a color");
                        check(rank, &made, rank.world());
                        rank.mpi().comm_free(made).expect("it may be freed");
                    }
                    3 => {
                        let first = random.below(ranks as usize) as i32;
                        let group = rank.world().group().include_ranges(&[[ranks as i32 - 1, first, -1]]);
                        let group = group.expect("ranks");
                        let made = rank.mpi().comm_create_group(rank.world(), &group, 3).expect("memory");
                        assert_eq!(made.is_some(), group.rank().is_some());
                        if let Some(made) = made {
                            check(rank, &made, rank.world());
                            rank.mpi().comm_free(made).expect("it may be freed");
                        }
                    }
                    4 if !all.is_empty() => {
                        let comm = all.swap_remove(random.below(all.len()));
                        rank.mpi().comm_free(comm).expect("it may be freed");
                    }
                    _ => {
                        if let Some(comm) = all.get(random.below(all.len().max(1))) {
                            check(rank, comm, rank.world());
                        }
                    }
                }
            }
        });
    }
}

/// MPI_COMM_CREATE_GROUP: calls of several threads are told apart by their tags.
#[test]
pub fn threads_make_communicators_of_groups_at_the_same_time() {
    const THREADS: i32 = 4;
    for (ranks, seed) in [(2, 1), (3, 2), (4, 3), (6, 4)] {
        run(ranks, seed, |rank| {
            thread::scope(|scope| {
                for thread in 0..THREADS {
                    scope.spawn(move || {
                        for round in 0..5 {
                            let last = ranks as i32 - 1;
                            let range = if thread % 2 == 0 { [0, last, 1] } else { [last, last / 2, -1] };
                            let group = rank.world().group().include_ranges(&[range]).expect("ranks");
                            let tag = 10 * round + thread;
                            let made = rank.mpi().comm_create_group(rank.world(), &group, tag);
                            let Some(made) = made.expect("memory enough") else { continue };
                            let size = group.size().cast_signed();
                            assert_eq!(sum(rank, &made, thread), size * thread);
                            rank.mpi().comm_free(made).expect("it may be freed");
                        }
                    });
                }
            });
        });
    }
}

#[test]
pub fn intercommunicators_are_made_by_several_threads_used_and_merged() {
    for (ranks, seed) in [(2, 1), (3, 2), (5, 3), (8, 4)] {
        run(ranks, seed, |rank| {
            let me = rank.rank().cast_signed();
            let half = (ranks / 2).cast_signed();
            let is_low = me < half;
            let comms = [0, 1].map(|_| {
                rank.mpi()
                    .comm_split(rank.world(), Some(is_low.into()), me)
                    .expect("memory")
                    .expect("a color")
            });
            thread::scope(|scope| {
                for (tag, local) in (0..).zip(comms) {
                    scope.spawn(move || {
                        let other = if is_low { half } else { 0 };
                        let remote = RemoteLeader { peer_comm: Arc::clone(rank.world()), rank: other, tag };
                        let inter = rank.mpi().intercomm_create(&local, 0, Ok(remote)).expect("made");
                        assert_eq!(inter.peers() + inter.size(), ranks);
                        // Each group gets the sum of the other.
                        let theirs: i32 = if is_low { (half..ranks as i32).sum() } else { (0..half).sum() };
                        assert_eq!(sum(rank, &inter, me), theirs);
                        let merged = rank.mpi().intercomm_merge(&inter, is_low).expect("made");
                        let mine = if is_low { ranks as i32 - half + me } else { me - half };
                        assert_eq!(merged.rank().cast_signed(), mine);
                        assert_eq!(sum(rank, &merged, 1), ranks as i32);
                        for comm in [merged, inter, local] {
                            rank.mpi().comm_free(comm).expect("it may be freed");
                        }
                    });
                }
            });
        });
    }
}
