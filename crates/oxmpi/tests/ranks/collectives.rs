//! Every collective, in every lifetime, with the same results.

use oxmpi::{Communicator, Datatype, ErrorClass, Op, Persistent, Result, Two};

use crate::job::on_ranks;

/// The numbers of elements per rank.
const COUNTS: [usize; 5] = [0, 1, 7, 300, 20_000];

/// What rank `rank` contributes.
fn piece(rank: usize, count: usize) -> Vec<i64> {
    (0..count).map(|index| (rank * 1000 + index) as i64).collect()
}

fn pieces(ranks: usize, count: usize) -> Vec<i64> {
    (0..ranks).flat_map(|rank| piece(rank, count)).collect()
}

fn sums(ranks: usize, count: usize) -> Vec<i64> {
    (0..count).map(|index| (0..ranks).map(|rank| (rank * 1000 + index) as i64).sum()).collect()
}

/// The sums of the ranks before `rank`; rank 0 keeps what it has.
fn before(rank: usize, kept: Vec<i64>, count: usize) -> Vec<i64> {
    if rank == 0 { kept } else { sums(rank, count) }
}

/// Runs one collective with separate buffers in all lifetimes and compares what is received; the persistent one
/// several times.
fn in_all_lifetimes<'env>(
    expected: &[i64],
    send: &[i64],
    blocking: impl Fn(&[i64], &mut [i64]) -> Result<()>,
    nonblocking: impl Fn(&[i64], &mut [i64]) -> Result<()>,
    persistent: impl Fn(Vec<i64>, Vec<i64>) -> Result<Persistent<'env, Two<i64>>>,
) -> Result<()> {
    let fresh = || vec![-1; expected.len()];
    let mut recv = fresh();
    blocking(send, &mut recv)?;
    assert_eq!(recv, expected, "blocking");
    recv = fresh();
    nonblocking(send, &mut recv)?;
    assert_eq!(recv, expected, "nonblocking");
    let mut request = persistent(send.to_vec(), fresh())?;
    for start in 0..3 {
        request.recv_buf_mut().fill(-1);
        request = request.start()?.wait()?;
        assert_eq!(request.recv_buf(), expected, "persistent, start {start}");
    }
    Ok(())
}

fn every_collective(world: &Communicator<'_>, count: usize) -> Result<()> {
    let (rank, ranks, sum) = (world.rank(), world.size(), &Op::SUM);
    let (mine, all) = (piece(rank, count), pieces(ranks, count));
    in_all_lifetimes(
        &sums(ranks, count),
        &mine,
        |send, recv| world.allreduce(send, recv, sum),
        |send, recv| world.scope(|scope| scope.allreduce(send, recv, sum).map(drop)),
        |send, recv| world.allreduce_init(send, recv, sum),
    )?;
    in_all_lifetimes(
        &all,
        &mine,
        |send, recv| world.allgather(send, recv),
        |send, recv| world.scope(|scope| scope.allgather(send, recv).map(drop)),
        |send, recv| world.allgather_init(send, recv),
    )?;
    let transposed: Vec<i64> =
        (0..ranks).flat_map(|other| piece(other, ranks * count)[rank * count..][..count].to_vec()).collect();
    in_all_lifetimes(
        &transposed,
        &piece(rank, ranks * count),
        |send, recv| world.alltoall(send, recv),
        |send, recv| world.scope(|scope| scope.alltoall(send, recv).map(drop)),
        |send, recv| world.alltoall_init(send, recv),
    )?;
    every_scan_and_reduce_scatter(world, count)?;
    for root in [0, ranks - 1] {
        let at_root = |data: Vec<i64>| if rank == root { data } else { vec![-1; 3] };
        in_all_lifetimes(
            &at_root(sums(ranks, count)),
            &mine,
            |send, recv| world.reduce(send, recv, sum, root),
            |send, recv| world.scope(|scope| scope.reduce(send, recv, sum, root).map(drop)),
            |send, recv| world.reduce_init(send, recv, sum, root),
        )?;
        in_all_lifetimes(
            &at_root(all.clone()),
            &mine,
            |send, recv| world.gather(send, recv, root),
            |send, recv| world.scope(|scope| scope.gather(send, recv, root).map(drop)),
            |send, recv| world.gather_init(send, recv, root),
        )?;
        in_all_lifetimes(
            &mine,
            &at_root(all.clone()),
            |send, recv| world.scatter(send, recv, root),
            |send, recv| world.scope(|scope| scope.scatter(send, recv, root).map(drop)),
            |send, recv| world.scatter_init(send, recv, root),
        )?;
    }
    Ok(())
}

/// What combines a part of what there is, for each.
fn every_scan_and_reduce_scatter(world: &Communicator<'_>, count: usize) -> Result<()> {
    let (rank, ranks, sum) = (world.rank(), world.size(), &Op::SUM);
    let mine = piece(rank, count);
    in_all_lifetimes(
        &sums(rank + 1, count),
        &mine,
        |send, recv| world.scan(send, recv, sum),
        |send, recv| world.scope(|scope| scope.scan(send, recv, sum).map(drop)),
        |send, recv| world.scan_init(send, recv, sum),
    )?;
    in_all_lifetimes(
        &before(rank, vec![-1; 3], count),
        &mine,
        |send, recv| world.exscan(send, recv, sum),
        |send, recv| world.scope(|scope| scope.exscan(send, recv, sum).map(drop)),
        |send, recv| world.exscan_init(send, recv, sum),
    )?;
    let combined = sums(ranks, ranks * count);
    in_all_lifetimes(
        &combined[rank * count..][..count],
        &piece(rank, ranks * count),
        |send, recv| world.reduce_scatter_block(send, recv, sum),
        |send, recv| world.scope(|scope| scope.reduce_scatter_block(send, recv, sum).map(drop)),
        |send, recv| world.reduce_scatter_block_init(send, recv, sum),
    )?;
    let counts: Vec<usize> = (0..ranks).map(|other| count * other).collect();
    let (begin, total) = (counts[..rank].iter().sum(), counts.iter().sum());
    in_all_lifetimes(
        &sums(ranks, total)[begin..][..counts[rank]],
        &piece(rank, total),
        |send, recv| world.reduce_scatter(send, recv, &counts, sum),
        |send, recv| world.scope(|scope| scope.reduce_scatter(send, recv, &counts, sum).map(drop)),
        |send, recv| world.reduce_scatter_init(send, recv, &counts, sum),
    )
}

/// Broadcasts, barriers, and what works in place: one buffer.
fn every_collective_on_one_buffer(world: &Communicator<'_>, count: usize) -> Result<()> {
    let (rank, ranks, sum) = (world.rank(), world.size(), &Op::SUM);
    let root = ranks - 1;
    let mut buf = if rank == root { piece(root, count) } else { vec![-1; count] };
    world.bcast(&mut buf, root)?;
    assert_eq!(buf, piece(root, count));
    buf = piece(rank, count);
    world.scope(|scope| scope.allreduce_in_place(&mut buf, sum).map(drop))?;
    assert_eq!(buf, sums(ranks, count));
    buf = piece(rank, count);
    world.reduce_in_place(&mut buf, sum, root)?;
    assert_eq!(buf, if rank == root { sums(ranks, count) } else { piece(rank, count) });
    scans_in_place(world, count)?;
    reduce_scatters_in_place(world, count)?;
    buf = pieces(ranks, count);
    buf[..rank * count].fill(-1);
    buf[(rank + 1) * count..].fill(-1);
    world.allgather_in_place(&mut buf)?;
    assert_eq!(buf, pieces(ranks, count));
    buf = piece(rank, ranks * count);
    world.alltoall_in_place(&mut buf)?;
    assert_eq!(buf[..count], piece(0, ranks * count)[rank * count..][..count]);
    gather_and_scatter_in_place(world, count, root)?;
    let mut request = world.bcast_init(vec![0; count], 0)?;
    let mut barrier = world.barrier_init()?;
    for start in 0..4 {
        if rank == 0 {
            request.buf_mut().fill(start);
        }
        request = request.start()?.wait()?;
        assert_eq!(request.buf(), vec![start; count]);
        barrier = barrier.start()?.wait()?;
    }
    Ok(())
}

fn gather_and_scatter_in_place(world: &Communicator<'_>, count: usize, root: usize) -> Result<()> {
    let (rank, ranks) = (world.rank(), world.size());
    let is_root = rank == root;
    let own = |from: usize| if from == rank { piece(rank, count) } else { vec![-1; count] };
    let begin = || if is_root { (0..ranks).flat_map(own).collect() } else { piece(rank, count) };
    let gathered = if is_root { pieces(ranks, count) } else { piece(rank, count) };
    let mut buf: Vec<i64> = begin();
    world.gather_in_place(&mut buf, root)?;
    assert_eq!(buf, gathered, "blocking");
    buf = begin();
    world.scope(|scope| scope.gather_in_place(&mut buf, root).map(drop))?;
    assert_eq!(buf, gathered, "nonblocking");
    assert_eq!(world.igather_in_place(begin(), root)?.wait()?.0, gathered, "nonblocking, owned");
    assert_eq!(world.gather_in_place_init(begin(), root)?.start()?.wait()?.buf(), gathered, "persistent");
    let empty = || if is_root { gathered.clone() } else { vec![-1; count] };
    let mut part = empty();
    world.scatter_in_place(&mut part, root)?;
    assert_eq!(part, gathered, "blocking");
    part = empty();
    world.scope(|scope| scope.scatter_in_place(&mut part, root).map(drop))?;
    assert_eq!(part, gathered, "nonblocking");
    assert_eq!(world.iscatter_in_place(empty(), root)?.wait()?.0, gathered, "nonblocking, owned");
    assert_eq!(world.scatter_in_place_init(empty(), root)?.start()?.wait()?.buf(), gathered, "persistent");
    Ok(())
}

fn scans_in_place(world: &Communicator<'_>, count: usize) -> Result<()> {
    let (rank, sum) = (world.rank(), &Op::SUM);
    let mut buf = piece(rank, count);
    world.scan_in_place(&mut buf, sum)?;
    assert_eq!(buf, sums(rank + 1, count));
    buf = piece(rank, count);
    world.scope(|scope| scope.scan_in_place(&mut buf, sum).map(drop))?;
    assert_eq!(buf, sums(rank + 1, count));
    assert_eq!(
        world.scan_in_place_init(piece(rank, count), sum)?.start()?.wait()?.buf(),
        sums(rank + 1, count)
    );
    let expected = before(rank, piece(rank, count), count);
    buf = piece(rank, count);
    world.exscan_in_place(&mut buf, sum)?;
    assert_eq!(buf, expected);
    buf = piece(rank, count);
    world.scope(|scope| scope.exscan_in_place(&mut buf, sum).map(drop))?;
    assert_eq!(buf, expected);
    assert_eq!(world.exscan_in_place_init(piece(rank, count), sum)?.start()?.wait()?.buf(), expected);
    Ok(())
}

fn reduce_scatters_in_place(world: &Communicator<'_>, count: usize) -> Result<()> {
    let (rank, ranks, sum) = (world.rank(), world.size(), &Op::SUM);
    let combined = sums(ranks, ranks * count);
    let mut buf = piece(rank, ranks * count);
    world.reduce_scatter_block_in_place(&mut buf, sum)?;
    assert_eq!(buf[..count], combined[rank * count..][..count]);
    buf = piece(rank, ranks * count);
    world.scope(|scope| scope.reduce_scatter_block_in_place(&mut buf, sum).map(drop))?;
    assert_eq!(buf[..count], combined[rank * count..][..count]);
    let all_for_the_last: Vec<_> = (1..=ranks).map(|other| if other == ranks { count } else { 0 }).collect();
    let own = all_for_the_last[rank];
    let request = world.reduce_scatter_in_place_init(piece(rank, count), &all_for_the_last, sum)?;
    assert_eq!(request.start()?.wait()?.buf()[..own], sums(ranks, count)[..own]);
    Ok(())
}

#[test]
fn counts_that_fit_no_buffer_are_refused() {
    on_ranks("collectives::counts_that_fit_no_buffer_are_refused", |env| {
        let world = env.world();
        let (ranks, sum) = (world.size(), &Op::SUM);
        let refused = |recv: usize, counts: &[usize]| {
            let result = world.reduce_scatter(&vec![1; ranks], &mut vec![0; recv], counts, sum);
            assert_eq!(result.expect_err("the counts are wrong").class(), ErrorClass::Count);
        };
        refused(1, &vec![1; ranks + 1]);
        refused(1, &vec![2; ranks]);
        refused(2, &vec![1; ranks]);
        refused(1, &vec![usize::MAX; ranks]);
        Ok(())
    });
}

#[test]
fn every_collective_gives_the_same_in_every_lifetime() {
    on_ranks("collectives::every_collective_gives_the_same_in_every_lifetime", |env| {
        let world = env.world();
        COUNTS.into_iter().try_for_each(|count| every_collective(&world, count))
    });
}

#[test]
fn one_buffer_is_enough_in_place() {
    on_ranks("collectives::one_buffer_is_enough_in_place", |env| {
        let world = env.world();
        COUNTS.into_iter().try_for_each(|count| every_collective_on_one_buffer(&world, count))
    });
}

#[test]
fn an_operation_that_does_not_commute_sees_the_ranks_in_order() {
    on_ranks("collectives::an_operation_that_does_not_commute_sees_the_ranks_in_order", |env| {
        let world = env.world();
        // Each value is a list of digits and its length: composing two appends the second.
        let append = Op::user(|left: u64, right: u64| {
            let digits = right >> 60;
            ((left >> 60) + digits) << 60
                | (left << (4 * digits) & ((1 << 60) - 1))
                | (right & ((1 << 60) - 1))
        });
        let mine = vec![1 << 60 | (world.rank() as u64 + 1); 40];
        let digits = (1..=world.size() as u64).fold(0, |digits, digit| digits << 4 | digit);
        let mut all = vec![0; 40];
        world.allreduce(&mine, &mut all, &append)?;
        assert_eq!(all, vec![(world.size() as u64) << 60 | digits; 40]);
        Ok(())
    });
}

#[test]
fn persistent_collectives_are_started_in_another_order_on_every_rank() {
    on_ranks("collectives::persistent_collectives_are_started_in_another_order_on_every_rank", |env| {
        let world = env.world();
        let make = |factor: i64| world.allreduce_in_place_init(vec![factor; 3], &Op::SUM);
        let mut requests = (1..=5).map(make).collect::<Result<Vec<_>>>()?;
        requests.rotate_left(world.rank() % 5);
        let mut requests = oxmpi::wait_all(oxmpi::start_all(requests)?)?;
        requests.rotate_right(world.rank() % 5);
        for (request, factor) in requests.iter().zip(1..) {
            assert_eq!(request.buf(), [factor * world.size() as i64; 3]);
        }
        Ok(())
    });
}

/// An empty slice of bytes lies at address 1, one of words of 16 bits at 2: in C these are constants with meanings.
fn empty_slices<T: Datatype>(world: &Communicator<'_>) -> Result<()> {
    let (none, root): (&[T], _) = (&[], world.size() - 1);
    assert_eq!(none.as_ptr().addr(), align_of::<T>());
    world.allgather(none, &mut [])?;
    world.alltoall(none, &mut [])?;
    world.bcast(&mut [] as &mut [T], root)?;
    world.gather(none, &mut [], root)?;
    world.scatter(none, &mut [], root)?;
    world.scope(|scope| scope.allgather(none, &mut []).map(drop))?;
    drop(world.alltoall_init(Vec::<T>::new(), Vec::new())?.start()?.wait()?);
    let rank = world.rank();
    let status = world.sendrecv(none, rank, 3, &mut [] as &mut [T], rank, 3)?;
    assert_eq!(status.count::<T>(), Some(0));
    Ok(())
}

#[test]
fn empty_slices_are_buffers_without_elements_wherever_they_lie() {
    on_ranks("collectives::empty_slices_are_buffers_without_elements_wherever_they_lie", |env| {
        let world = env.world();
        empty_slices::<u8>(&world)?;
        empty_slices::<u16>(&world)?;
        world.allreduce(&[], &mut [] as &mut [u8], &Op::SUM)
    });
}

#[test]
fn bad_arguments_have_their_class() {
    on_ranks("collectives::bad_arguments_have_their_class", |env| {
        let world = env.world();
        let class = |result: Result<()>| result.err().map(|error| error.class());
        assert_eq!(class(world.bcast(&mut [0u8], world.size())), Some(ErrorClass::Root));
        assert_eq!(class(world.allreduce(&[1, 2], &mut [0], &Op::SUM)), Some(ErrorClass::Count));
        assert_eq!(class(world.allgather(&[1, 2], &mut [0])), Some(ErrorClass::Count));
        let error = world.allreduce(&[1.5], &mut [0.0], &Op::<f64>::MAX).and(world.bcast(&mut [0u8], 77));
        let error = error.expect_err("there is no rank 77");
        assert_eq!((error.function(), error.rank()), (Some("MPI_Bcast"), Some(world.rank())));
        let shown = error.to_string();
        assert!(shown.starts_with(&format!("rank {}: MPI_Bcast: root 77 ", world.rank())), "{shown}");
        assert!(shown.ends_with("(MPI_ERR_ROOT)") && format!("{error:?}") == shown, "{shown}");
        let half = world.split(Some(-2), 0);
        assert_eq!(class(half.map(drop)), Some(ErrorClass::Arg));
        world.barrier()
    });
}

#[test]
fn communicators_of_a_split_do_not_hear_each_other() {
    on_ranks("collectives::communicators_of_a_split_do_not_hear_each_other", |env| {
        let world = env.world();
        let color = world.rank() % 3;
        let part = world.split((color < 2).then_some(color as i32), -(world.rank() as i32))?;
        let Some(part) = part else { return Ok(()) };
        let mut ranks = vec![0; part.size()];
        part.allgather(&[world.rank()], &mut ranks)?;
        let members: Vec<usize> = (0..world.size()).filter(|rank| rank % 3 == color).rev().collect();
        assert_eq!(ranks, members, "in the order of the keys");
        part.duplicate()?.barrier()
    });
}
