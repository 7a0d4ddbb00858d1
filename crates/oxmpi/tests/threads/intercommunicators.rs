//! Two groups that talk to each other.

use oxmpi::{
    Beside, Communicator, Comparison, ErrorClass, Here, Info, Intercommunicator, Key, Op, ResourceType,
    Result, Source, There, start_all, wait_all,
};

/// The even ranks on one side, the odd ones on the other: which side this is, and what is between them.
pub fn sides<'env>(world: &Communicator<'env>) -> Result<(usize, Intercommunicator<'env>)> {
    let side = world.rank() % 2;
    let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    Ok((side, group.intercommunicator(0, world, 1 - side, 0)?))
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn everybody_hears_the_other_group(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let others: Vec<usize> = (1 - side..world.size()).step_by(2).collect();
    assert_eq!((between.size(), between.remote_size()), (between.group().size(), others.len()));
    assert_eq!(between.remote_group().size(), others.len());
    between.barrier()?;
    let mut all = vec![0; others.len()];
    between.allgather(&world.rank(), &mut all)?;
    assert_eq!(all, others);
    let mut sum = 0;
    between.allreduce(&world.rank(), &mut sum, &Op::SUM)?;
    assert_eq!(sum, others.iter().sum());
    let send: Vec<usize> = others.iter().map(|other| 100 * world.rank() + other).collect();
    let mut recv = vec![0; others.len()];
    between.alltoall(&send, &mut recv)?;
    assert!(recv.into_iter().eq(others.iter().map(|other| 100 * other + world.rank())));
    Ok(())
}

/// Blocks may be longer one way than the other, or there only.
#[oxmpi::test(ranks = [2, 3, 5])]
fn one_group_may_tell_more_than_the_other(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let others: Vec<usize> = (1 - side..world.size()).step_by(2).collect();
    if side == 0 {
        between.allgather(&[world.rank(); 2], &mut [0_usize; 0])?;
        let mut recv = vec![0; others.len()];
        between.alltoall(&vec![world.rank(); 3 * others.len()], &mut recv)?;
        assert_eq!(recv, others);
    } else {
        let mut recv = vec![0; 2 * others.len()];
        between.allgather(&[0_usize; 0], &mut recv)?;
        assert!(recv.into_iter().eq(others.iter().flat_map(|other| [*other; 2])));
        let mut recv = vec![0; 3 * others.len()];
        between.alltoall(&vec![world.rank(); others.len()], &mut recv)?;
        assert!(recv.into_iter().eq(others.iter().flat_map(|other| [*other; 3])));
    }
    Ok(())
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn a_root_is_on_one_side(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    for root_side in 0..2 {
        let is_root = side == root_side && between.rank() == between.size() - 1;
        let there = between.remote_size() - 1;
        let others: Vec<usize> = (1 - side..world.size()).step_by(2).collect();
        let mut value = [0; 2];
        let mut sum = 0;
        let mut all = vec![0; others.len()];
        if is_root {
            between.bcast(Here(&[1, 2]))?;
            between.reduce(Here(&mut sum), &Op::SUM)?;
            between.gather(Here(&mut all))?;
            between.scatter(Here(&others))?;
            assert_eq!((sum, &all), (others.iter().sum(), &others));
        } else if side == root_side {
            between.bcast::<i32>(Beside)?;
            between.reduce(Beside, &Op::<usize>::SUM)?;
            between.gather::<usize>(Beside)?;
            between.scatter::<usize>(Beside)?;
        } else {
            between.bcast(There(there, &mut value))?;
            between.reduce(There(there, &world.rank()), &Op::SUM)?;
            between.gather(There(there, &world.rank()))?;
            between.scatter(There(there, &mut sum))?;
            assert_eq!((value, sum), ([1, 2], world.rank()));
        }
    }
    let error = between.bcast(There(between.remote_size(), &mut 0)).expect_err("no such root");
    assert_eq!(error.class(), ErrorClass::Root);
    Ok(())
}

#[oxmpi::test(ranks = [2, 5])]
fn messages_go_to_the_other_group(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let between = between.duplicate()?;
    if between.rank() == 0 {
        let receive = between.irecv([0], Source::Any, 7)?;
        between.send(&side, 0, 7)?;
        assert_eq!(receive.wait()?.0, [1 - side]);
    }
    let both = between.merge(side == 1)?;
    let mut sides = vec![0; both.size()];
    both.allgather(&side, &mut sides)?;
    assert!(sides.is_sorted(), "{sides:?}");
    Ok(())
}

/// The ranks of the other side.
pub fn others(side: usize, size: usize) -> Vec<usize> {
    (1 - side..size).step_by(2).collect()
}

/// What a rank of the world tells of itself in a turn: as many numbers as its rank in its group says, and one more.
fn told(world: usize, turn: usize) -> Vec<usize> {
    vec![100 * turn + world; world / 2 + 1]
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn blocks_of_any_length_cross_in_every_lifetime(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let (rank, others) = (world.rank(), others(side, world.size()));
    let theirs = |turn| others.iter().flat_map(|&other| told(other, turn)).collect::<Vec<_>>();
    let counts: Vec<usize> = others.iter().map(|other| other / 2 + 1).collect();
    let total = counts.iter().sum();
    let (mut mine, mut all) = (told(rank, 0), vec![0; total]);
    between.allgatherv(&mine, &mut all, &counts)?;
    assert_eq!(all, theirs(0));
    mine = told(rank, 1);
    (mine, all) = between.iallgatherv(mine, all, &counts)?.wait()?.0;
    assert_eq!(all, theirs(1));
    let mut request = between.allgatherv_init(mine, all, &counts)?;
    for turn in 2..5 {
        request.send_buf_mut().copy_from_slice(&told(rank, turn));
        request = request.start()?.wait()?;
        assert_eq!(request.recv_buf(), theirs(turn));
    }
    // Everybody tells each of the others as many numbers as that one's rank says.
    let own = vec![rank / 2 + 1; others.len()];
    let (mut send, mut recv) = (vec![0; total], vec![0; own.iter().sum()]);
    between.scope(|scope| {
        let mut request = scope.alltoallv_init(&mut send, &counts, &mut recv, &own)?;
        for turn in 0..3 {
            request.send_buf_mut().fill(100 * turn + rank);
            request = request.start()?.wait()?;
            let blocks = others.iter().flat_map(|other| vec![100 * turn + other; rank / 2 + 1]);
            assert!(request.recv_buf().iter().copied().eq(blocks));
        }
        Ok(())
    })?;
    send.fill(rank);
    between.scope(|scope| scope.alltoallv(&send, &counts, &mut recv, &own)?.wait().map(drop))?;
    assert!(recv.iter().copied().eq(others.iter().flat_map(|&other| vec![other; rank / 2 + 1])));
    let few = between.allgatherv(&[0], &mut [0; 20], [1; 9]).expect_err("there are not so many");
    assert_eq!(few.class(), ErrorClass::Count);
    Ok(())
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn what_is_combined_crosses_in_every_lifetime(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let (rank, others) = (world.rank(), others(side, world.size()));
    let (here, there) = (between.size(), between.remote_size());
    let sum = |turn: usize| others.iter().map(|other| turn * other).sum::<usize>();
    // As many elements in both groups, of which each rank of this one gets its part.
    let counts: Vec<usize> =
        (0..here).map(|rank| if rank == 0 { 1 + 5 * here * there - here } else { 1 }).collect();
    let (mine, part) = (counts[between.rank()], 5 * there);
    let mut sums = vec![0; mine];
    between.reduce_scatter(&vec![rank; 5 * here * there], &mut sums, &counts, &Op::SUM)?;
    assert_eq!(sums, vec![sum(1); mine]);
    let mut uneven = between.reduce_scatter_init(vec![0; 5 * here * there], sums, &counts, &Op::SUM)?;
    let mut even = between.reduce_scatter_block_init(vec![0; 5 * here * there], vec![0; part], &Op::MAX)?;
    let (mut least, mut barrier) = (between.allreduce_init([0], [0], &Op::MIN)?, between.barrier_init()?);
    for turn in 1..4 {
        uneven.send_buf_mut().fill(turn * rank);
        even.send_buf_mut().fill(turn + rank);
        least.send_buf_mut()[0] = turn + rank;
        (uneven, even, least, barrier) = wait_all(start_all((uneven, even, least, barrier))?)?;
        assert_eq!(uneven.recv_buf(), vec![sum(turn); mine]);
        assert_eq!(even.recv_buf(), vec![turn + others[there - 1]; part]);
        assert_eq!(least.recv_buf(), [turn + others[0]]);
    }
    Ok(())
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn a_root_is_on_one_side_in_every_lifetime(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    let (rank, others) = (world.rank(), others(side, world.size()));
    for root_side in 0..2 {
        let counts: Vec<usize> = others.iter().map(|other| other / 2 + 1).collect();
        let room = || vec![0; counts.iter().sum()];
        let theirs = |turn| others.iter().flat_map(|&other| told(other, turn)).collect::<Vec<_>>();
        let there = between.remote_size() - 1;
        if side == root_side && between.rank() == between.size() - 1 {
            let mut gather = between.gatherv_init(Here(room()), &counts)?;
            let mut scatter = between.scatterv_init(Here(room()), &counts)?;
            let mut sum = between.reduce_init(Here([0]), &Op::SUM)?;
            let mut bcast = between.bcast_init(Here([0, 0]))?;
            for turn in 0..3 {
                scatter.buf_mut().copy_from_slice(&theirs(turn));
                bcast.buf_mut().fill(turn);
                (gather, scatter, sum, bcast) = wait_all(start_all((gather, scatter, sum, bcast))?)?;
                assert_eq!((gather.buf(), sum.buf()), (&theirs(turn)[..], &[turn * counts.len()][..]));
            }
            let (mut all, mut sums) = (room(), [0]);
            between.gatherv(Here(&mut all), &counts)?;
            between.scatterv(Here(&all), &counts)?;
            between.scope(|scope| {
                let _ = scope.reduce(Here(&mut sums), &Op::MAX)?;
                scope.bcast(Here(&all[..1]))?.wait()
            })?;
            assert_eq!((&all, sums), (&theirs(7), *others.last_chunk().expect("there is one")));
            let (all, _) = between.igather(Here(vec![0; others.len()]))?.wait()?;
            assert_eq!(all, others);
        } else if side == root_side {
            let mut gather = between.gatherv_init::<usize, _>(Beside, [])?;
            let mut scatter = between.scatterv_init::<usize, _>(Beside, [])?;
            let mut sum = between.reduce_init(Beside, &Op::<usize>::SUM)?;
            let mut bcast = between.bcast_init::<usize, _>(Beside)?;
            for _ in 0..3 {
                (gather, scatter, sum, bcast) = wait_all(start_all((gather, scatter, sum, bcast))?)?;
            }
            between.gatherv::<usize>(Beside, [])?;
            between.scatterv::<usize>(Beside, [])?;
            between.scope(|scope| {
                let _ = scope.reduce(Beside, &Op::<usize>::MAX)?;
                scope.bcast::<usize>(Beside)?.wait()
            })?;
            between.igather::<usize, _>(Beside)?.wait()?;
        } else {
            let mut gather = between.gatherv_init(There(there, told(rank, 9)), [])?;
            let mut scatter = between.scatterv_init(There(there, told(rank, 9)), [])?;
            let mut sum = between.reduce_init(There(there, [0]), &Op::SUM)?;
            let mut bcast = between.bcast_init(There(there, [9, 9]))?;
            for turn in 0..3 {
                gather.buf_mut().copy_from_slice(&told(rank, turn));
                sum.buf_mut()[0] = turn;
                (gather, scatter, sum, bcast) = wait_all(start_all((gather, scatter, sum, bcast))?)?;
                assert_eq!((scatter.buf(), bcast.buf()), (&told(rank, turn)[..], &[turn; 2][..]));
            }
            let (mut mine, mut first) = (vec![0; rank / 2 + 1], [0]);
            between.gatherv(There(there, &told(rank, 7)), [])?;
            between.scatterv(There(there, &mut mine), [])?;
            between.scope(|scope| {
                let _ = scope.reduce(There(there, &rank), &Op::MAX)?;
                scope.bcast(There(there, &mut first))?.wait()
            })?;
            assert_eq!((mine, first), (told(rank, 7), [700 + (1 - root_side)]));
            between.igather(There(there, rank))?.wait()?;
        }
    }
    Ok(())
}

/// MPI-5.0: Communicator Constructors: attributes are copied with the call, and the group of the duplicate is that of
/// the original.
#[oxmpi::test(ranks = [2, 3, 5])]
fn what_is_kept_with_it_goes_on_to_duplicates(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    between.set_name("between");
    between.set_attribute(side);
    let request = between.iduplicate()?;
    between.set_attribute(7_usize);
    let (duplicate, _) = request.wait()?;
    assert_eq!((duplicate.attribute::<usize>().as_deref(), duplicate.name()), (Some(&side), "".into()));
    assert_eq!(
        (between.remove_attribute::<usize>().as_deref(), between.name()),
        (Some(&7), "between".into())
    );
    assert_eq!(between.compare(&duplicate), Comparison::Congruent);
    let exact = between.duplicate_with_info(&Info::new().with(Key::EXACT_LENGTH, true))?;
    assert_eq!(exact.info().get(Key::EXACT_LENGTH)?, Some(true));
    duplicate.barrier()
}

#[oxmpi::test(ranks = [2, 3, 5, 8])]
fn groups_are_split_by_color_and_made_of_parts(world: Communicator<'_>) -> Result<()> {
    let (side, between) = sides(&world)?;
    // Those with the same rank on both sides; who has nobody opposite gets nothing.
    let pair = between.split(Some(between.rank() as i32), 0)?;
    let has_partner = between.rank() < between.remote_size();
    assert_eq!(pair.as_ref().map(|pair| (pair.size(), pair.remote_size())), has_partner.then_some((1, 1)));
    if let Some(pair) = pair {
        let mut theirs = usize::MAX;
        pair.sendrecv(&world.rank(), 0, 0, &mut theirs, 0, 0)?;
        assert_eq!(theirs, world.rank() + 1 - 2 * side);
    }
    assert!(between.split(None, 0)?.is_none());
    // All but the first of each.
    let later = between.create(&between.group().exclude([0])?)?;
    let expected = (between.rank() > 0 && between.remote_size() > 1)
        .then(|| (between.size() - 1, between.remote_size() - 1));
    assert_eq!(later.map(|later| (later.size(), later.remote_size())), expected);
    let node = between.split_type(Some(ResourceType::SharedMemory), 0)?.expect("all run here");
    assert_eq!((node.size(), node.remote_size()), (between.size(), between.remote_size()));
    assert!(between.split_type(None, 0)?.is_none());
    Ok(())
}

#[oxmpi::test(ranks = [2, 3, 5])]
fn one_is_made_of_groups_alone(world: Communicator<'_>) -> Result<()> {
    let (all, side) = (world.group(), world.rank() % 2);
    let (even, odd) =
        (all.include((0..world.size()).step_by(2))?, all.include((1..world.size()).step_by(2))?);
    let (mine, theirs) = if side == 0 { (even, odd) } else { (odd, even) };
    let leader = mine.size() - 1;
    // Who leads nobody need not know the others.
    let (remote, remote_leader) =
        if mine.rank() == Some(leader) { (&theirs, theirs.size() - 1) } else { (&mine, 99) };
    let between = Intercommunicator::from_groups(&mine, leader, remote, remote_leader, "org.example.pair")?;
    assert_eq!((between.group(), between.remote_group()), (mine.clone(), theirs.clone()));
    let mut sum = 0;
    between.allreduce(&1, &mut sum, &Op::SUM)?;
    assert_eq!(sum, theirs.size());
    let class = |made: Result<Intercommunicator<'_>>| made.expect_err("it cannot be").class();
    let of = |leader| Intercommunicator::from_groups(&mine, leader, &theirs, 0, "org.example.pair");
    assert_eq!(class(of(mine.size())), ErrorClass::Rank);
    let twice = Intercommunicator::from_groups(&mine, 0, &mine, 0, "org.example.twice");
    assert_eq!(class(twice), ErrorClass::Group);
    let foreign = Intercommunicator::from_groups(&theirs, 0, &mine, 0, "org.example.foreign");
    assert_eq!(class(foreign), ErrorClass::Group);
    Ok(())
}
