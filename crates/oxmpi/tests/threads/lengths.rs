//! One rank that calls a collective with another length than all others: whoever's result depends on it, be it by what
//! others have combined, hears of it, and whoever succeeds has what all the others' lengths make.

use oxmpi::{Communicator, Error, ErrorClass, Op, Result};

/// What is there before, and is no part of any result.
const STALE: u64 = 1 << 40;

/// A collective of `count` elements, or blocks of so many, with root 0: what a rank has received.
type Form = fn(&Communicator<'_>, usize) -> Result<Vec<u64>>;
/// What a rank receives of `size` ranks in each element, or block, if no length differs.
type Expected = fn(rank: usize, size: usize, count: usize) -> Vec<u64>;
/// Whether what `rank` receives depends on `odd`.
type Depends = fn(rank: usize, odd: usize) -> bool;

/// What a rank contributes to each element.
fn mine(world: &Communicator<'_>, count: usize) -> Vec<u64> {
    vec![1 << world.rank(); count]
}

fn stale(count: usize) -> Vec<u64> {
    vec![STALE; count]
}

fn sum_below(ranks: usize) -> u64 {
    (1 << ranks) - 1
}

fn of_all(_rank: usize, size: usize, count: usize) -> Vec<u64> {
    vec![sum_below(size); count]
}

fn at_root(rank: usize, size: usize, count: usize) -> Vec<u64> {
    vec![if rank == 0 { sum_below(size) } else { STALE }; count]
}

fn blocks(_rank: usize, size: usize, count: usize) -> Vec<u64> {
    (0..size).flat_map(|rank| vec![1 << rank; count]).collect()
}

fn blocks_at_root(rank: usize, size: usize, count: usize) -> Vec<u64> {
    if rank == 0 { blocks(rank, size, count) } else { Vec::new() }
}

fn of_root(_rank: usize, _size: usize, count: usize) -> Vec<u64> {
    vec![1; count]
}

const ON_ALL: Depends = |_, _| true;
const AT_ROOT: Depends = |rank, _| rank == 0;
const FROM_ROOT: Depends = |rank, odd| odd == 0 || rank == odd;

const FORMS: [(&str, Form, Expected, Depends); 21] = [
    (
        "allreduce",
        |comm, count| {
            let mut recv = stale(count);
            comm.allreduce(&mine(comm, count), &mut recv, &Op::SUM)?;
            Ok(recv)
        },
        of_all,
        ON_ALL,
    ),
    (
        "allreduce in place",
        |comm, count| {
            let mut recv = mine(comm, count);
            comm.allreduce_in_place(&mut recv, &Op::SUM)?;
            Ok(recv)
        },
        of_all,
        ON_ALL,
    ),
    (
        "iallreduce",
        |comm, count| Ok(comm.iallreduce(mine(comm, count), stale(count), &Op::SUM)?.wait()?.0.1),
        of_all,
        ON_ALL,
    ),
    (
        "allreduce_init",
        |comm, count| {
            let request = comm.allreduce_init(mine(comm, count), stale(count), &Op::SUM)?;
            Ok(request.start()?.wait()?.recv_buf().to_vec())
        },
        of_all,
        ON_ALL,
    ),
    (
        "reduce",
        |comm, count| {
            let mut recv = stale(count);
            comm.reduce(&mine(comm, count), &mut recv, &Op::SUM, 0)?;
            Ok(recv)
        },
        at_root,
        AT_ROOT,
    ),
    (
        "ireduce",
        |comm, count| Ok(comm.ireduce(mine(comm, count), stale(count), &Op::SUM, 0)?.wait()?.0.1),
        at_root,
        AT_ROOT,
    ),
    (
        "scan",
        |comm, count| {
            let mut recv = stale(count);
            comm.scan(&mine(comm, count), &mut recv, &Op::SUM)?;
            Ok(recv)
        },
        |rank, _, count| vec![sum_below(rank + 1); count],
        |rank, odd| rank >= odd && rank > 0,
    ),
    (
        "iscan",
        |comm, count| Ok(comm.iscan(mine(comm, count), stale(count), &Op::SUM)?.wait()?.0.1),
        |rank, _, count| vec![sum_below(rank + 1); count],
        |rank, odd| rank >= odd && rank > 0,
    ),
    (
        "exscan",
        |comm, count| {
            let mut recv = stale(count);
            comm.exscan(&mine(comm, count), &mut recv, &Op::SUM)?;
            Ok(recv)
        },
        |rank, _, count| vec![if rank == 0 { STALE } else { sum_below(rank) }; count],
        |rank, odd| rank >= odd && rank > 0,
    ),
    (
        "reduce_scatter_block",
        |comm, count| {
            let mut recv = stale(count);
            comm.reduce_scatter_block(&mine(comm, count * comm.size()), &mut recv, &Op::SUM)?;
            Ok(recv)
        },
        of_all,
        ON_ALL,
    ),
    (
        "ireduce_scatter_block",
        |comm, count| {
            Ok(comm
                .ireduce_scatter_block(mine(comm, count * comm.size()), stale(count), &Op::SUM)?
                .wait()?
                .0
                .1)
        },
        of_all,
        ON_ALL,
    ),
    (
        "allgather",
        |comm, count| {
            let mut recv = stale(count * comm.size());
            comm.allgather(&mine(comm, count), &mut recv)?;
            Ok(recv)
        },
        blocks,
        ON_ALL,
    ),
    (
        "iallgather",
        |comm, count| Ok(comm.iallgather(mine(comm, count), stale(count * comm.size()))?.wait()?.0.1),
        blocks,
        ON_ALL,
    ),
    (
        "alltoall",
        |comm, count| {
            let mut recv = stale(count * comm.size());
            comm.alltoall(&mine(comm, count * comm.size()), &mut recv)?;
            Ok(recv)
        },
        blocks,
        ON_ALL,
    ),
    (
        "ialltoall",
        |comm, count| {
            Ok(comm.ialltoall(mine(comm, count * comm.size()), stale(count * comm.size()))?.wait()?.0.1)
        },
        blocks,
        ON_ALL,
    ),
    (
        "gather",
        |comm, count| {
            let mut recv = stale(if comm.rank() == 0 { count * comm.size() } else { 0 });
            comm.gather(&mine(comm, count), &mut recv, 0)?;
            Ok(recv)
        },
        blocks_at_root,
        AT_ROOT,
    ),
    (
        "igather",
        |comm, count| {
            let recv = stale(if comm.rank() == 0 { count * comm.size() } else { 0 });
            Ok(comm.igather(mine(comm, count), recv, 0)?.wait()?.0.1)
        },
        blocks_at_root,
        AT_ROOT,
    ),
    (
        "scatter",
        |comm, count| {
            let mut recv = stale(count);
            comm.scatter(&mine(comm, count * comm.size()), &mut recv, 0)?;
            Ok(recv)
        },
        of_root,
        FROM_ROOT,
    ),
    (
        "iscatter",
        |comm, count| Ok(comm.iscatter(mine(comm, count * comm.size()), stale(count), 0)?.wait()?.0.1),
        of_root,
        FROM_ROOT,
    ),
    (
        "bcast",
        |comm, count| {
            let mut buffer = mine(comm, count);
            comm.bcast(&mut buffer, 0)?;
            Ok(buffer)
        },
        of_root,
        FROM_ROOT,
    ),
    ("ibcast", |comm, count| Ok(comm.ibcast(mine(comm, count), 0)?.wait()?.0), of_root, FROM_ROOT),
];

/// What all others call with, and what one does: short and long, by one and the same algorithm, and by others.
const LENGTHS: [[usize; 2]; 6] = [[2, 3], [3, 2], [2000, 2001], [2000, 9], [9, 90_000], [90_000, 9]];

/// Ranks call each form in turn, with each of them being the odd one.
fn disagree(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    for (name, form, expected, depends) in FORMS {
        for odd in 0..size {
            for [count, other] in LENGTHS {
                let count = if rank == odd { other } else { count };
                let result = form(&world.duplicate()?, count);
                let what = format!("{name}, rank {rank} of {size}, rank {odd} has {other}");
                let fails = depends(rank, odd) && !(rank == odd && hears_nothing(name, rank));
                match result {
                    Ok(recv) => {
                        assert!(!fails, "{what}: has not heard of it");
                        assert_eq!(recv, expected(rank, size, count), "{what}");
                    }
                    Err(error) => assert!(is_told(&error), "{what}: {error}"),
                }
                world.barrier()?;
            }
        }
    }
    Ok(())
}

/// Whether a rank tells others, and reads nothing that could tell it.
fn hears_nothing(name: &str, rank: usize) -> bool {
    rank == 0 && ["scatter", "iscatter", "bcast", "ibcast"].contains(&name)
}

fn is_told(error: &Error) -> bool {
    [ErrorClass::Count, ErrorClass::Truncate, ErrorClass::Other].contains(&error.class())
}

#[oxmpi::test(ranks = 2)]
fn two_ranks(world: Communicator<'_>) -> Result<()> {
    disagree(&world)
}

#[oxmpi::test(ranks = 5)]
fn five_ranks(world: Communicator<'_>) -> Result<()> {
    disagree(&world)
}

#[oxmpi::test(ranks = 8)]
fn eight_ranks(world: Communicator<'_>) -> Result<()> {
    disagree(&world)
}
