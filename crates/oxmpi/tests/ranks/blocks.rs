//! Collectives with blocks of lengths of their own, in every lifetime and in place.

use oxmpi::{
    Blocks, Buffer, Communicator, Datatype, ErrorClass, Persistent, RecvBuffer, Result, Shape, Two, ViewMut,
};

use crate::job::on_ranks;

/// Padding inside.
#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
#[repr(C)]
struct Item(u8, u32);

const NONE: Item = Item(9, 9);

/// What `from` has for `to`.
fn block(from: usize, to: usize, count: usize) -> Vec<Item> {
    (0..count).map(|index| Item(from as u8, (to * 1000 + index) as u32)).collect()
}

/// Blocks with a gap of an element behind each, in reversed order.
fn gaps(counts: &[usize]) -> Blocks {
    let total: usize = counts.iter().map(|count| count + 1).sum();
    let places = counts.iter().scan(total, |end, count| {
        *end -= count + 1;
        Some(*end)
    });
    Blocks::new(counts.to_vec(), places).expect("one each")
}

/// A buffer with these blocks.
fn laid(blocks: &Blocks, content: impl Fn(usize, usize) -> Vec<Item>) -> Vec<Item> {
    let mut laid = vec![NONE; blocks.counts().iter().map(|count| count + 1).sum()];
    for (rank, (&at, &count)) in blocks.displacements().iter().zip(blocks.counts()).enumerate() {
        laid[at..at + count].copy_from_slice(&content(rank, count));
    }
    laid
}

/// Runs one collective in all lifetimes, and compares what is received.
fn in_all_lifetimes<'env>(
    expected: &[Item],
    send: &[Item],
    blocking: impl Fn(&[Item], &mut [Item]) -> Result<()>,
    nonblocking: impl Fn(&[Item], &mut [Item]) -> Result<()>,
    owned: impl Fn(Vec<Item>, Vec<Item>) -> Result<Vec<Item>>,
    persistent: impl Fn(Vec<Item>, Vec<Item>) -> Result<Persistent<'env, Two<Item>>>,
) -> Result<()> {
    let fresh = || vec![NONE; expected.len()];
    let mut recv = fresh();
    blocking(send, &mut recv)?;
    assert_eq!(recv, expected, "blocking");
    recv = fresh();
    nonblocking(send, &mut recv)?;
    assert_eq!(recv, expected, "nonblocking");
    assert_eq!(owned(send.to_vec(), fresh())?, expected, "nonblocking, owned");
    let mut request = persistent(send.to_vec(), fresh())?;
    for start in 0..3 {
        request.recv_buf_mut().fill(NONE);
        request = request.start()?.wait()?;
        assert_eq!(request.recv_buf(), expected, "persistent, start {start}");
    }
    Ok(())
}

#[test]
fn blocks_of_any_length_arrive_in_every_lifetime() {
    on_ranks("blocks::blocks_of_any_length_arrive_in_every_lifetime", |env| {
        let world = env.world();
        for unit in [0, 1, 5, 4_000] {
            let counts: Vec<usize> = (0..world.size()).map(|rank| (rank * 2 + 1) % 5 * unit).collect();
            all_and_alltoall(&world, &counts)?;
            (0..world.size()).try_for_each(|root| to_and_from_root(&world, &counts, root))?;
        }
        Ok(())
    });
}

fn all_and_alltoall(world: &Communicator<'_>, counts: &[usize]) -> Result<()> {
    let rank = world.rank();
    let (blocks, mine) = (&gaps(counts), block(rank, 7, counts[rank]));
    let expected = laid(blocks, |from, count| block(from, 7, count));
    in_all_lifetimes(
        &expected,
        &mine,
        |send, recv| world.allgatherv(send, recv, blocks),
        |send, recv| world.scope(|scope| scope.allgatherv(send, recv, blocks).map(drop)),
        |send, recv| Ok(world.iallgatherv(send, recv, blocks)?.wait()?.0.1),
        |send, recv| world.allgatherv_init(send, recv, blocks),
    )?;
    let mut in_place =
        laid(blocks, |from, count| if from == rank { mine.clone() } else { vec![NONE; count] });
    world.allgatherv_in_place(&mut in_place, blocks)?;
    assert_eq!(in_place, expected);
    // Everybody gets as much from each as its own count says.
    let received = &Blocks::consecutive(vec![counts[rank]; world.size()]);
    let sent = laid(blocks, |to, count| block(rank, to, count));
    let expected: Vec<Item> = (0..world.size()).flat_map(|from| block(from, rank, counts[rank])).collect();
    in_all_lifetimes(
        &expected,
        &sent,
        |send, recv| world.alltoallv(send, blocks, recv, received),
        |send, recv| world.scope(|scope| scope.alltoallv(send, blocks, recv, received).map(drop)),
        |send, recv| Ok(world.ialltoallv(send, blocks, recv, received)?.wait()?.0.1),
        |send, recv| world.alltoallv_init(send, blocks, recv, received),
    )?;
    let same = vec![counts[0]; world.size()];
    let content = |from: usize, to: usize| block(from, to, counts[0]);
    let mut in_place: Vec<Item> = (0..world.size()).flat_map(|to| content(rank, to)).collect();
    world.alltoallv_in_place(&mut in_place, &same)?;
    assert!(in_place.into_iter().eq((0..world.size()).flat_map(|from| content(from, rank))));
    Ok(())
}

fn to_and_from_root(world: &Communicator<'_>, counts: &[usize], root: usize) -> Result<()> {
    let (rank, is_root) = (world.rank(), world.rank() == root);
    let (all, none) = (gaps(counts), Blocks::default());
    let blocks = if is_root { &all } else { &none };
    let mine = block(rank, 7, counts[rank]);
    let whole = laid(blocks, |from, count| block(from, 7, count));
    in_all_lifetimes(
        &whole,
        &mine,
        |send, recv| world.gatherv(send, recv, blocks, root),
        |send, recv| world.scope(|scope| scope.gatherv(send, recv, blocks, root).map(drop)),
        |send, recv| Ok(world.igatherv(send, recv, blocks, root)?.wait()?.0.1),
        |send, recv| world.gatherv_init(send, recv, blocks, root),
    )?;
    in_all_lifetimes(
        &mine,
        &whole,
        |send, recv| world.scatterv(send, blocks, recv, root),
        |send, recv| world.scope(|scope| scope.scatterv(send, blocks, recv, root).map(drop)),
        |send, recv| Ok(world.iscatterv(send, blocks, recv, root)?.wait()?.0.1),
        |send, recv| world.scatterv_init(send, blocks, recv, root),
    )?;
    let own = |from: usize, count| if from == rank { mine.clone() } else { vec![NONE; count] };
    let mut in_place = if is_root { laid(blocks, own) } else { mine.clone() };
    world.gatherv_in_place(&mut in_place, blocks, root)?;
    assert_eq!(in_place, if is_root { whole } else { mine.clone() });
    if !is_root {
        in_place.fill(NONE);
    }
    let before = in_place.clone();
    world.scatterv_in_place(&mut in_place, blocks, root)?;
    assert_eq!(in_place, if is_root { before } else { mine });
    Ok(())
}

#[test]
fn blocks_of_views_are_parts_of_them() {
    on_ranks("blocks::blocks_of_views_are_parts_of_them", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let mut memory = vec![usize::MAX; 2 * size];
        world.allgatherv(
            &rank,
            &mut ViewMut::new(&mut memory, &Shape::strided(size, 1, 2))?,
            vec![1; size],
        )?;
        assert!(memory.chunks(2).enumerate().all(|(rank, pair)| pair == [rank, usize::MAX]));
        Ok(())
    });
}

#[test]
fn blocks_that_cannot_be_are_refused() {
    on_ranks("blocks::blocks_that_cannot_be_are_refused", |env| {
        let this = env.this();
        let class = |result: Result<()>| result.err().map(|error| error.class());
        let mut buf = [0; 4];
        assert_eq!(class(this.allgatherv(&[1; 3], &mut buf, [3, 1])), Some(ErrorClass::Count), "two blocks");
        assert_eq!(class(this.allgatherv(&[1; 5], &mut buf, [5])), Some(ErrorClass::Count), "too long");
        let far = Blocks::new([2], [usize::MAX]).expect("one each");
        assert_eq!(class(this.allgatherv(&[1; 2], &mut buf, &far)), Some(ErrorClass::Count), "outside");
        assert_eq!(
            class(this.allgatherv(&[1; 2], &mut buf, [3])),
            Some(ErrorClass::Count),
            "longer than what is sent"
        );
        assert_eq!(class(this.allgatherv(&[1; 3], &mut buf, [2])), Some(ErrorClass::Truncate), "shorter");
        assert_eq!(class(this.gatherv(&[1; 2], &mut buf, [2], 1)), Some(ErrorClass::Root));
        assert!(Blocks::new([1, 2], [0]).is_err());
        let world = env.world();
        let (size, mut twice) = (world.size(), [0; 2]);
        let same = Blocks::new(vec![1; size], vec![0; size])?;
        if size > 1 {
            let refused = overlapping(&world, &mut twice, &same);
            assert_eq!(class(refused), Some(ErrorClass::Buffer));
        }
        Ok(())
    });
}

fn overlapping<B>(world: &Communicator<'_>, buf: &mut B, blocks: &Blocks) -> Result<()>
where
    B: RecvBuffer + Buffer<Element = i32> + ?Sized,
{
    world.allgatherv(&[1], buf, blocks)
}
