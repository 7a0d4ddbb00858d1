//! Collectives in their three lifetimes, many outstanding at a time.
//!
//! MPI-5.0: Collective Communication.

use std::sync::Arc;

use oxmpi_base::{BasicType, Function, ReduceOp};
use oxmpi_core::coll::{self, Root, Side, Wish};
use oxmpi_core::{Communicator, Operation, RequestKey};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_op::Reducer;

use crate::harness::{Random, Rank, blank, int_memory, ints, read_ints, run};

/// A collective on integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Allgather,
    Allgatherv,
    Allreduce,
    Alltoall,
    Alltoallv,
    Barrier,
    Bcast,
    Exscan,
    Gather,
    Reduce,
    ReduceScatterBlock,
    Scan,
    Scatter,
}

const KINDS: [Kind; 13] = [
    Kind::Allgather,
    Kind::Allgatherv,
    Kind::Allreduce,
    Kind::Alltoall,
    Kind::Alltoallv,
    Kind::Barrier,
    Kind::Bcast,
    Kind::Exscan,
    Kind::Gather,
    Kind::Reduce,
    Kind::ReduceScatterBlock,
    Kind::Scan,
    Kind::Scatter,
];

/// One of them, as all ranks of a communicator call it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub kind: Kind,
    pub root: u32,
    /// Elements of a block.
    pub count: usize,
}

/// A case on a rank: its memory.
pub struct Bound {
    case: Case,
    rank: u32,
    size: u32,
    send: Region,
    recv: Region,
}

impl Case {
    pub fn random(random: &mut Random, size: u32, longest: usize) -> Self {
        let kind = KINDS[random.below(KINDS.len())];
        let count = [0, 1, 2, 7, longest][random.below(5)];
        Self { kind, root: random.below(size as usize) as u32, count }
    }

    /// Elements of all blocks that a rank sends, and receives.
    fn counts(&self, rank: u32, size: u32) -> (usize, usize) {
        let (one, all) = (self.count, self.count * size as usize);
        let at_root = |count| if rank == self.root { count } else { 0 };
        match self.kind {
            Kind::Allgather => (one, all),
            // The block of rank i is i % 3 times as long.
            Kind::Allgatherv => {
                (one * (rank as usize % 3), (0..size as usize).map(|of| one * (of % 3)).sum())
            }
            Kind::Allreduce | Kind::Exscan | Kind::Scan => (one, one),
            Kind::Alltoall => (all, all),
            // From i to j go (i + j) % 3 times as many.
            Kind::Alltoallv => {
                let sum = (0..size as usize).map(|of| one * ((of + rank as usize) % 3)).sum();
                (sum, sum)
            }
            Kind::Barrier => (0, 0),
            Kind::Bcast => (0, one),
            Kind::Gather => (one, at_root(all)),
            Kind::Reduce => (one, at_root(one)),
            Kind::ReduceScatterBlock => (all, one),
            Kind::Scatter => (at_root(all), one),
        }
    }

    pub fn bind(self, comm: &Communicator) -> Bound {
        let (rank, size) = (comm.rank(), comm.size());
        let (sent, received) = self.counts(rank, size);
        Bound { case: self, rank, size, send: blank(4 * sent), recv: blank(4 * received) }
    }
}

/// What a rank sends as element `at` in a round.
fn element(rank: u32, at: usize, round: i32) -> i32 {
    rank.cast_signed() * 10_007 + at as i32 * 13 + round * 101
}

impl Bound {
    /// The memory that is sent, and that is received into.
    pub fn memory(&self) -> [Region; 2] {
        [self.send, self.recv]
    }

    /// Fills the memory for a round.
    pub fn fill(&self, round: i32) {
        let fill = |region: &Region, rank| {
            let values = (0..region.len() / 4).map(|at| element(rank, at, round));
            region.copy_from(&int_memory(values));
        };
        fill(&self.send, self.rank);
        self.recv.copy_from(&blank(self.recv.len()));
        if self.case.kind == Kind::Bcast && self.rank == self.case.root {
            fill(&self.recv, self.rank);
        }
    }

    pub fn operation(&self, rank: &Rank, comm: &Arc<Communicator>) -> Operation {
        let sum = || Reducer::predefined(ReduceOp::Sum, BasicType::Int).expect("integers are added");
        let (process, count) = (rank.mpi(), self.case.count);
        let (send, recv) = (Buffer::dense(self.send), Buffer::dense(self.recv));
        let root = Root::Rank(self.case.root.cast_signed());
        let blocks = |of: &Region, factor: &dyn Fn(usize) -> usize| -> Vec<Buffer> {
            let mut at = 0;
            let block = |peer| {
                let bytes = 4 * count * factor(peer);
                at += bytes;
                Buffer::dense(of.part(at - bytes, bytes))
            };
            (0..self.size as usize).map(block).collect()
        };
        let made = match self.case.kind {
            Kind::Allgather => coll::allgather(process, comm, Side::Buffer(send), recv),
            Kind::Allgatherv => {
                coll::allgatherv(process, comm, Side::Buffer(send), blocks(&self.recv, &|peer| peer % 3))
            }
            Kind::Allreduce => coll::allreduce(process, comm, Side::Buffer(send), recv, sum()),
            Kind::Alltoall => coll::alltoall(process, comm, Side::Buffer(send), recv),
            Kind::Alltoallv => {
                let factor = |peer| (peer + self.rank as usize) % 3;
                let (send, recv) = (blocks(&self.send, &factor), blocks(&self.recv, &factor));
                coll::alltoallv(process, comm, Function::AlltoallvInit, Some(send), recv)
            }
            Kind::Barrier => coll::barrier(process, comm),
            Kind::Bcast => coll::bcast(process, comm, recv, root),
            Kind::Exscan => coll::exscan(process, comm, Side::Buffer(send), recv, sum()),
            Kind::Gather => coll::gather(process, comm, Side::Buffer(send), recv, root),
            Kind::Reduce => coll::reduce(process, comm, Side::Buffer(send), recv, sum(), root),
            Kind::ReduceScatterBlock => {
                coll::reduce_scatter_block(process, comm, Side::Buffer(send), recv, sum())
            }
            Kind::Scan => coll::scan(process, comm, Side::Buffer(send), recv, sum()),
            Kind::Scatter => coll::scatter(process, comm, send, Side::Buffer(recv), root),
        };
        made.unwrap_or_else(|error| panic!("{:?}: {error:?}", self.case))
    }

    /// What this rank has received in a round, if all is right.
    fn expected(&self, round: i32) -> Vec<i32> {
        let Self { rank, size, case: Case { kind, root, count }, .. } = *self;
        let block =
            |of: u32, from: usize, count: usize| (from..from + count).map(move |at| element(of, at, round));
        let sum = |ranks: std::ops::Range<u32>, from: usize| -> Vec<i32> {
            let one = |at| ranks.clone().map(|of| element(of, from + at, round)).sum();
            (0..count).map(one).collect()
        };
        let mine = rank as usize * count;
        match kind {
            Kind::Allgather => (0..size).flat_map(|of| block(of, 0, count)).collect(),
            Kind::Allgatherv => (0..size).flat_map(|of| block(of, 0, count * (of as usize % 3))).collect(),
            Kind::Allreduce => sum(0..size, 0),
            Kind::Alltoall => (0..size).flat_map(|of| block(of, mine, count)).collect(),
            Kind::Alltoallv => {
                let bytes = |of: u32, to: u32| count * ((of + to) as usize % 3);
                let from = |of: u32| (0..rank).map(|to| bytes(of, to)).sum();
                (0..size).flat_map(|of| block(of, from(of), bytes(of, rank))).collect()
            }
            Kind::Barrier => Vec::new(),
            Kind::Bcast => block(root, 0, count).collect(),
            Kind::Exscan if rank == 0 => read_ints(&blank(4 * count)),
            Kind::Exscan => sum(0..rank, 0),
            Kind::Gather if rank == root => (0..size).flat_map(|of| block(of, 0, count)).collect(),
            Kind::Reduce if rank == root => sum(0..size, 0),
            Kind::Gather | Kind::Reduce => Vec::new(),
            Kind::ReduceScatterBlock => sum(0..size, mine),
            Kind::Scan => sum(0..rank + 1, 0),
            Kind::Scatter => block(root, mine, count).collect(),
        }
    }

    pub fn check(&self, round: i32) {
        assert_eq!(read_ints(&self.recv), self.expected(round), "rank {} {:?}", self.rank, self.case);
    }
}

/// The sum over all ranks of a communicator, which tells whether it works.
pub fn sum(rank: &Rank, comm: &Arc<Communicator>, value: i32) -> i32 {
    let recv = blank(4);
    let reducer = Reducer::predefined(ReduceOp::Sum, BasicType::Int).expect("integers are added");
    let operation =
        coll::allreduce(rank.mpi(), comm, Side::Buffer(ints([value])), Buffer::dense(recv), reducer);
    rank.mpi().blocking(comm, &operation.expect("good arguments")).expect("nobody fails");
    read_ints(&recv)[0]
}

/// Completes all requests, in one of all ways.
fn complete(rank: &Rank, mut keys: Vec<Option<RequestKey>>) {
    let fine = |completion: &oxmpi_core::Completion| assert!(completion.error.is_none(), "{completion:?}");
    match rank.below(3) {
        0 => rank.mpi().wait_all(&keys, |_, completion| fine(&completion)).expect("all are there"),
        1 => {
            while let Some((index, completion)) = rank.mpi().wait_any(&keys).expect("all are there") {
                fine(&completion);
                keys[index] = None;
            }
        }
        _ => {
            while keys.iter().any(Option::is_some) {
                let place = rank.below(keys.len());
                if let Some(key) = keys[place]
                    && let Some(completion) = rank.mpi().test(key).expect("it is there")
                {
                    fine(&completion);
                    keys[place] = None;
                }
            }
        }
    }
}

pub fn every_lifetime(ranks: u32, seed: u64, cases: usize, longest: usize) {
    run(ranks, seed, |rank| {
        let comm = rank.world();
        // The same on all ranks.
        let mut random = Random::of(seed, 0);
        let mut bind = || Case::random(&mut random, ranks, longest).bind(comm);
        for _ in 0..cases {
            let bound = bind();
            bound.fill(0);
            rank.mpi().blocking(comm, &bound.operation(rank, comm)).expect("nobody fails");
            bound.check(0);
        }
        // More than a channel has lines for.
        let nonblocking: Vec<Bound> = (0..cases + 20).map(|_| bind()).collect();
        let begin = |bound: &Bound| {
            bound.fill(1);
            let operation = bound.operation(rank, comm);
            Some(rank.mpi().nonblocking(comm, &operation).expect("never fails yet"))
        };
        complete(rank, nonblocking.iter().map(begin).collect());
        nonblocking.iter().for_each(|bound| bound.check(1));
        let persistent: Vec<Bound> = (0..cases.min(6)).map(|_| bind()).collect();
        let prepare = |bound: &Bound| {
            let operation = bound.operation(rank, comm);
            Some(rank.mpi().persistent(comm, operation, Wish::default()).expect("all prepare the same"))
        };
        let keys: Vec<_> = persistent.iter().map(prepare).collect();
        for round in 2..5 {
            persistent.iter().for_each(|bound| bound.fill(round));
            rank.mpi().start_all(&keys).expect("all are inactive");
            complete(rank, keys.clone());
            persistent.iter().for_each(|bound| bound.check(round));
        }
        for key in keys.into_iter().flatten() {
            rank.mpi().request_free(key).expect("it is inactive");
        }
    });
}

#[test]
fn a_few_ranks_get_the_results_in_every_lifetime() {
    for (ranks, seed) in [(1, 1), (2, 2), (2, 3), (3, 4), (4, 5), (5, 6), (7, 7), (8, 8)] {
        every_lifetime(ranks, seed, 20, 20_000);
    }
}

#[test]
fn sixty_four_ranks_get_the_results_in_every_lifetime() {
    for seed in 20..22 {
        every_lifetime(64, seed, 6, 300);
    }
}
