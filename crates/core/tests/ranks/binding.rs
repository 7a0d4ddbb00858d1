//! Persistent collectives whose ranks wish for algorithms, alike or not.

use std::collections::BTreeMap;
use std::sync::Mutex;

use oxmpi_core::Operation;

use super::collectives::{Case, sum};
use super::harness::{Random, Rank, run};

/// What ranks write for the hint; the last means nothing.
const WISHES: [&str; 8] =
    ["estimate", "measure", "node-flat", "messages", "lines", "ring", "binomial", "none-such"];

/// What a rank writes, if anything: the same on all ranks, or not.
fn written(rank: &Rank, alike: &mut Random) -> Option<&'static str> {
    let all = alike.below(WISHES.len());
    match alike.below(3) {
        0 => Some(WISHES[all]),
        1 => Some(WISHES[rank.below(WISHES.len())]),
        _ => (rank.below(2) == 0).then_some(WISHES[all]),
    }
}

/// The bytes of the memory that the operation is bound to.
fn memory(case: &super::collectives::Bound) -> Vec<u8> {
    case.memory().iter().flat_map(oxmpi_mem::Region::to_vec).collect()
}

pub fn wishes_of_all_kinds(ranks: u32, seed: u64, cases: usize) {
    // By case: what each rank has come to.
    let bound: Mutex<BTreeMap<usize, Vec<Option<&str>>>> = Mutex::default();
    run(ranks, seed, |rank| {
        let (comm, mpi) = (rank.world(), rank.mpi());
        let mut alike = Random::of(seed, 0);
        for number in 0..cases {
            let case = Case::random(&mut alike, ranks, 3000).bind(comm);
            let text = written(rank, &mut alike);
            case.fill(1);
            let before = memory(&case);
            let operation: Operation = case.operation(rank, comm);
            let wish = text.map_or_else(Default::default, |text| mpi.wish(comm, &operation, text));
            let key = mpi.persistent(comm, operation, wish).expect("all prepare the same");
            assert!(memory(&case) == before, "seed {seed}, case {number}: it is the program's");
            for round in 2..4 {
                case.fill(round);
                mpi.start(key).expect("it is inactive");
                let completion = mpi.wait(key).expect("it is there");
                assert!(completion.error.is_none(), "{completion:?}");
                case.check(round);
            }
            let algorithm = mpi.algorithm(key);
            bound.lock().expect("nobody panics").entry(number).or_default().push(algorithm);
            mpi.request_free(key).expect("it is inactive");
        }
        assert_eq!(sum(rank, comm, 1), ranks.cast_signed(), "the communicator works on");
    });
    for (number, algorithms) in bound.into_inner().expect("nobody panicked") {
        assert!(algorithms.iter().all(|one| *one == algorithms[0]), "{seed}, {number}: {algorithms:?}");
    }
}

#[test]
fn ranks_bind_the_same_algorithm_whatever_each_wishes() {
    for (ranks, seed) in [(1, 51), (2, 52), (2, 53), (3, 54), (4, 55), (5, 56)] {
        wishes_of_all_kinds(ranks, seed, 24);
    }
}

#[test]
fn what_is_named_is_bound_and_what_is_measured_is_a_candidate() {
    run(3, 60, |rank| {
        let (comm, mpi) = (rank.world(), rank.mpi());
        let bind = |text: &str| {
            let case = Case { kind: super::collectives::Kind::Allreduce, root: 0, count: 500 }.bind(comm);
            let operation = case.operation(rank, comm);
            let wish = mpi.wish(comm, &operation, text);
            let key = mpi.persistent(comm, operation, wish).expect("all prepare the same");
            let algorithm = mpi.algorithm(key).expect("there are several");
            mpi.request_free(key).expect("it is inactive");
            algorithm
        };
        let names = oxmpi_core::coll::Collective::Allreduce.info().within.iter().map(|known| known.name());
        let names: Vec<&str> = names.collect();
        for name in ["ring", "recursive-doubling", "node-sliced"] {
            assert_eq!(bind(name), name);
        }
        assert!(names.contains(&bind("measure")));
        assert_eq!(bind("none-such"), bind("estimate"));
    });
}

#[test]
fn where_nobody_has_anything_for_another_there_is_nothing_to_choose() {
    run(3, 61, |rank| {
        let (comm, mpi) = (rank.world(), rank.mpi());
        for text in ["messages", "lines", "measure"] {
            let case = Case { kind: super::collectives::Kind::Allgatherv, root: 0, count: 0 }.bind(comm);
            let operation = case.operation(rank, comm);
            let wish = mpi.wish(comm, &operation, text);
            let key = mpi.persistent(comm, operation, wish).expect("all prepare the same");
            assert_eq!(mpi.algorithm(key), None, "{text}");
            mpi.request_free(key).expect("it is inactive");
        }
    });
}
