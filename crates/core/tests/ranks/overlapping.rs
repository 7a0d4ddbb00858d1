//! Operations of the program, ordered and not, on communicators that have members in common, in every lifetime.
//!
//! What is combined are maps `x -> ax + b` of numbers modulo 2^32, which do not commute, or such pairs added up.
//!
//! MPI-5.0: Collective Communication, User-Defined Reduction Operations.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use oxmpi_core::coll::{self, Root, Side, Wish};
use oxmpi_core::{Communicator, Operation, RequestKey};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_op::Reducer;

use super::harness::{Random, Rank, blank, memory, run};

/// A reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Allreduce,
    Exscan,
    Reduce,
    ReduceScatterBlock,
    Scan,
}

const KINDS: [Kind; 5] = [Kind::Allreduce, Kind::Exscan, Kind::Reduce, Kind::ReduceScatterBlock, Kind::Scan];

/// Of a map, or anything else.
type Pair = [u32; 2];
const UNIT: usize = size_of::<Pair>();

/// One of them, as all members of a communicator call it.
#[derive(Clone, Copy, Debug)]
struct Case {
    kind: Kind,
    is_ordered: bool,
    root: u32,
    /// Elements of the result.
    count: usize,
}

/// A case on a rank: its memory.
struct Bound {
    case: Case,
    comm: Arc<Communicator>,
    /// The members' ranks in the job.
    members: Vec<u32>,
    send: Region,
    recv: Region,
}

impl Case {
    fn random(random: &mut Random, size: u32, longest: usize) -> Self {
        let kind = KINDS[random.below(KINDS.len())];
        let count = [1, 7, 100, longest][random.below(4)];
        Self { kind, is_ordered: random.below(3) > 0, root: random.below(size as usize) as u32, count }
    }

    fn bind(self, comm: &Arc<Communicator>, members: &[u32]) -> Bound {
        let sent = if self.kind == Kind::ReduceScatterBlock { members.len() } else { 1 };
        let is_among = self.kind != Kind::Reduce || comm.rank() == self.root;
        Bound {
            case: self,
            comm: Arc::clone(comm),
            members: members.to_vec(),
            send: blank(self.count * sent * UNIT),
            recv: blank(if is_among { self.count * UNIT } else { 0 }),
        }
    }

    fn combine(&self, [a, b]: Pair, [c, d]: Pair) -> Pair {
        if self.is_ordered {
            [a.wrapping_mul(c), a.wrapping_mul(d).wrapping_add(b)]
        } else {
            [a.wrapping_add(c), b.wrapping_add(d)]
        }
    }

    fn reducer(self) -> Reducer {
        let combine = move |left: &mut [u8], right: &mut [u8], _: u64| {
            let (units, []) = right.as_chunks_mut::<UNIT>() else { panic!("a cut element") };
            for (left, right) in left.chunks_exact(UNIT).zip(units) {
                *right = bytes(self.combine(pair(left), pair(right)));
            }
        };
        Reducer::user(UNIT as u64, !self.is_ordered, Arc::new(combine))
    }
}

fn pair(bytes: &[u8]) -> Pair {
    let half = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
    [half(0), half(4)]
}

fn bytes([first, second]: Pair) -> [u8; UNIT] {
    (u64::from(second) << 32 | u64::from(first)).to_le_bytes()
}

/// What a rank of the job contributes as element `at` in a round.
fn element(rank: u32, at: usize, round: u32) -> Pair {
    let at = at as u32;
    [(rank * 77 + at * 5 + round) * 2 + 3, rank * 10_007 + at * 13 + round * 101]
}

impl Bound {
    fn fill(&self, rank: u32, round: u32) {
        let values = (0..self.send.len() / UNIT).flat_map(|at| bytes(element(rank, at, round)));
        self.send.copy_from(&memory(&values.collect::<Vec<u8>>()));
        self.recv.copy_from(&blank(self.recv.len()));
    }

    fn operation(&self, rank: &Rank) -> Operation {
        let (mpi, comm, reducer) = (rank.mpi(), &self.comm, self.case.reducer());
        let (send, recv) = (Side::Buffer(Buffer::dense(self.send)), Buffer::dense(self.recv));
        let made = match self.case.kind {
            Kind::Allreduce => coll::allreduce(mpi, comm, send, recv, reducer),
            Kind::Exscan => coll::exscan(mpi, comm, send, recv, reducer),
            Kind::Reduce => {
                coll::reduce(mpi, comm, send, recv, reducer, Root::Rank(self.case.root.cast_signed()))
            }
            Kind::ReduceScatterBlock => coll::reduce_scatter_block(mpi, comm, send, recv, reducer),
            Kind::Scan => coll::scan(mpi, comm, send, recv, reducer),
        };
        made.unwrap_or_else(|error| panic!("{:?}: {error:?}", self.case))
    }

    fn check(&self, round: u32) {
        let me = self.comm.rank() as usize;
        let (members, first) = match self.case.kind {
            Kind::Exscan => (&self.members[..me], 0),
            Kind::Scan => (&self.members[..=me], 0),
            Kind::ReduceScatterBlock => (&self.members[..], me * self.case.count),
            Kind::Allreduce | Kind::Reduce => (&self.members[..], 0),
        };
        let found = self.recv.to_vec();
        if members.is_empty() {
            return; // the standard leaves open what an exscan's first rank finds
        }
        for (at, found) in (first..).zip(found.chunks_exact(UNIT)) {
            let contributed = members.iter().map(|&rank| element(rank, at, round));
            let all = contributed.reduce(|left, right| self.case.combine(left, right));
            assert_eq!(Some(pair(found)), all, "rank {me} of {:?}, {:?}, {at}", self.members, self.case);
        }
    }
}

/// The color of a rank, if it has one.
type Color<'a> = &'a dyn Fn(u32) -> Option<i32>;

/// Communicators of all, of the first, of the last, and of those of one parity in the opposite order, as far as this
/// rank is a member; and which ranks of the job they have.
fn communicators(rank: &Rank) -> Vec<(Arc<Communicator>, Vec<u32>)> {
    let (world, me, size) = (rank.world(), rank.rank(), rank.size());
    let part = (size * 3).div_ceil(4);
    let chosen: [(Color<'_>, i32); 3] = [
        (&|rank| (rank < part).then_some(0), 1),
        (&|rank| (rank >= size - part).then_some(0), 1),
        (&|rank| Some((rank % 2).cast_signed()), -1),
    ];
    let mut all = vec![(Arc::clone(world), (0..size).collect())];
    for (color, sign) in chosen {
        let made = rank.mpi().comm_split(world, color(me), sign * me.cast_signed()).expect("memory enough");
        let mut members: Vec<_> = (0..size).filter(|&other| color(other) == color(me)).collect();
        if sign < 0 {
            members.reverse();
        }
        all.extend(made.map(|made| (made, members)));
    }
    all
}

/// Completes what was begun, in an order of this rank's own.
fn complete(rank: &Rank, mut keys: Vec<RequestKey>) {
    while !keys.is_empty() {
        let key = keys.swap_remove(rank.below(keys.len()));
        let completion = rank.mpi().wait(key).expect("it is there");
        assert!(completion.error.is_none(), "{completion:?}");
    }
}

/// In the end, the algorithms that persistent operations have come to.
pub fn operations_of_the_program(
    ranks: u32,
    seed: u64,
    cases: usize,
    longest: usize,
) -> BTreeSet<&'static str> {
    let algorithms: Mutex<BTreeSet<&str>> = Mutex::default();
    run(ranks, seed, |rank| {
        let (mpi, me) = (rank.mpi(), rank.rank());
        let all = communicators(rank);
        // The same on all members.
        let bind = |number: usize| -> Vec<Bound> {
            let case = |(comm, members): &(Arc<Communicator>, Vec<u32>)| {
                let place = 100 * number as u64 + u64::from(comm.size());
                Case::random(&mut Random::of(seed, place), comm.size(), longest).bind(comm, members)
            };
            all.iter().map(case).collect()
        };
        for number in 0..cases {
            let bound = bind(number);
            bound.iter().for_each(|bound| bound.fill(me, 0));
            for bound in &bound {
                mpi.blocking(&bound.comm, &bound.operation(rank)).expect("nobody fails");
                bound.check(0);
            }
            // On each communicator in the order of the others, but of communicators in any.
            bound.iter().for_each(|bound| bound.fill(me, 1));
            let first = rank.below(bound.len());
            let begun = bound.iter().cycle().skip(first).take(bound.len()).map(|bound| {
                rank.mpi().nonblocking(&bound.comm, &bound.operation(rank)).expect("never fails yet")
            });
            complete(rank, begun.collect());
            bound.iter().for_each(|bound| bound.check(1));
        }
        let bound: Vec<Bound> = (0..cases.min(4)).flat_map(bind).collect();
        let prepare = |bound: &Bound| {
            let operation = bound.operation(rank);
            mpi.persistent(&bound.comm, operation, Wish::default()).expect("all prepare the same")
        };
        let keys: Vec<_> = bound.iter().map(prepare).collect();
        algorithms.lock().expect("nobody panics").extend(keys.iter().filter_map(|&key| mpi.algorithm(key)));
        for round in 2..5 {
            bound.iter().for_each(|bound| bound.fill(me, round));
            let first = rank.below(keys.len());
            let in_turn = keys.iter().cycle().skip(first).take(keys.len());
            in_turn.for_each(|&key| rank.mpi().start(key).expect("it is inactive"));
            complete(rank, keys.clone());
            bound.iter().for_each(|bound| bound.check(round));
        }
        for key in keys {
            mpi.request_free(key).expect("it is inactive");
        }
    });
    algorithms.into_inner().expect("nobody panicked")
}

#[test]
fn operations_of_the_program_are_carried_out_on_overlapping_communicators() {
    for (ranks, seed) in [(2, 70), (3, 71), (5, 72), (8, 73)] {
        operations_of_the_program(ranks, seed, 6, 9000);
    }
}
