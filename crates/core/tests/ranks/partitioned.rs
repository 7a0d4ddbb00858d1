//! Partitioned messages whose partitions are marked, and looked for, by several threads.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication, Partition Communication with Threads/Tasks.

use std::sync::Barrier;
use std::thread;

use oxmpi_core::{Dest, RequestKey, Source, TagPattern};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;

use crate::harness::{Rank, blank, int_memory, read_ints, run};

const THREADS: usize = 3;
const ROUNDS: usize = 6;
const TAG: i32 = 4;

/// A send to the next rank and a receive from the one before, of so many integers.
struct Pair<'a> {
    rank: &'a Rank,
    count: usize,
    /// Of the send and of the receive.
    partitions: [usize; 2],
    out: Region,
    into: Region,
    send: RequestKey,
    receive: RequestKey,
}

/// What a rank sends, which nobody else does.
fn value(from: u32, round: usize, at: usize) -> i32 {
    from.cast_signed() * 1_000_000 + (round * 10_000 + at % 9973) as i32
}

impl<'a> Pair<'a> {
    fn new(rank: &'a Rank, count: usize, partitions: [usize; 2]) -> Self {
        let (mpi, world) = (rank.mpi(), rank.world());
        let (me, size) = (rank.rank().cast_signed(), rank.size().cast_signed());
        let (out, into) = (blank(4 * count), blank(4 * count));
        let (to, from) = (Dest::Rank((me + 1) % size), Source::Rank((me + size - 1) % size));
        let [sends, receives] = partitions.map(|partitions| partitions as i32);
        let send = mpi.psend_init(world, Buffer::dense(out), sends, to, TAG).expect("good");
        let receive = mpi.precv_init(world, Buffer::dense(into), receives, from, TagPattern::Tag(TAG));
        Self { rank, count, partitions, out, into, send, receive: receive.expect("good") }
    }

    /// Fills and marks the partitions of a thread.
    fn produce(&self, thread: usize, round: usize) {
        let each = self.count / self.partitions[0];
        for partition in (thread..self.partitions[0]).step_by(THREADS) {
            let first = partition * each;
            let values = (first..first + each).map(|at| value(self.rank.rank(), round, at));
            self.out.part(4 * first, 4 * each).copy_from(&int_memory(values));
            self.rank.mpi().pready(self.send, partition as i32).expect("it is not ready");
        }
    }

    /// Waits for the partitions of a thread, and reads them.
    fn consume(&self, thread: usize, round: usize) {
        let each = self.count / self.partitions[1];
        let from = (self.rank.rank() + self.rank.size() - 1) % self.rank.size();
        for partition in (thread..self.partitions[1]).step_by(THREADS) {
            while !self.rank.mpi().parrived(self.receive, partition as i32).expect("there is one") {
                thread::yield_now();
            }
            let first = partition * each;
            let found = read_ints(&self.into.part(4 * first, 4 * each));
            assert!(found.into_iter().zip(first..).all(|(found, at)| found == value(from, round, at)));
        }
    }
}

#[test]
pub fn threads_mark_partitions_and_look_for_them_while_one_waits() {
    for (ranks, seed, count, partitions) in
        [(1, 1, 24, [4, 6]), (2, 2, 800, [100, 8]), (2, 3, 240_000, [3, 240]), (3, 4, 90, [90, 1])]
    {
        run(ranks, seed, |rank| {
            let (pair, together) = (Pair::new(rank, count, partitions), Barrier::new(THREADS));
            thread::scope(|scope| {
                for number in 0..THREADS {
                    let (pair, together) = (&pair, &together);
                    scope.spawn(move || {
                        for round in 0..ROUNDS {
                            if number == 0 {
                                let keys = [Some(pair.receive), Some(pair.send)];
                                rank.mpi().start_all(&keys).expect("they are inactive");
                            }
                            together.wait();
                            pair.produce(number, round);
                            // In every third round one waits while the others still mark and look.
                            if number == 0 && round % 3 == 0 {
                                rank.mpi().wait(pair.send).expect("it is active");
                            }
                            pair.consume(number, round);
                            together.wait();
                            if number == 0 {
                                let keys = [Some(pair.send), Some(pair.receive)];
                                rank.mpi().wait_all(&keys, |_, _| ()).expect("they are there");
                            }
                            together.wait();
                        }
                    });
                }
            });
            for key in [pair.send, pair.receive] {
                rank.mpi().request_free(key).expect("it is inactive");
            }
        });
    }
}
