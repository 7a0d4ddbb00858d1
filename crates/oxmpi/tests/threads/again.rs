//! Collectives that are called again: with the same arguments they mean the same, and with others something else.

use oxmpi::{Communicator, ErrorClass, Op, Result};

/// As often a call is made: it is known from the third time on.
const TIMES: usize = 4;

#[oxmpi::test(ranks = [1, 2, 3])]
fn other_arguments_in_the_same_memory_are_another_call(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mut left, mut right) = ([[0_u64; 2]; 2], [[0_u64; 2]; 2]);
    for turn in 0..TIMES {
        for root in 0..size {
            left = [[10 * turn as u64, rank as u64]; 2];
            world.bcast(&mut left, root)?;
            assert_eq!(left, [[10 * turn as u64, root as u64]; 2]);
        }
        // The same bytes, as another type; less of them; the other way round; by another operation.
        left[0][1] = rank as u64;
        world.bcast(left.as_flattened_mut(), size - 1)?;
        assert_eq!(left[0][1], size as u64 - 1);
        left = [[rank as u64 + 1; 2]; 2];
        right = [[0; 2]; 2];
        world.allreduce(left.as_flattened(), right.as_flattened_mut(), &Op::SUM)?;
        let sum = (size * (size + 1) / 2) as u64;
        assert_eq!(right, [[sum; 2]; 2]);
        world.allreduce(&left[0], &mut right[1], &Op::PROD)?;
        assert_eq!(right, [[sum; 2], [(1..=size as u64).product(); 2]]);
        world.allreduce(&left[0], &mut right[1], &Op::MAX)?;
        assert_eq!(right[1], [size as u64; 2]);
        world.allreduce(right.as_flattened(), left.as_flattened_mut(), &Op::SUM)?;
        assert_eq!(left, [[sum * size as u64; 2], [(size * size) as u64; 2]]);
        world.allreduce_in_place(&mut left[1], &Op::user(|left, _right| left))?;
        assert_eq!(left[1], [(size * size) as u64; 2]);
        world.allreduce_in_place(
            &mut left[1],
            &Op::user_commutative(|left: u64, right| left.max(right) + 1),
        )?;
        assert_eq!(left[1], [(size * size + size - 1) as u64; 2]);
        world.allreduce_in_place(left.as_flattened_mut(), &Op::MIN)?;
        world.barrier()?;
    }
    assert_eq!(right[1], [size as u64; 2]);
    Ok(())
}

#[oxmpi::test(ranks = [1, 2])]
fn what_is_known_is_begun_in_every_lifetime(world: Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mut mine, mut all, mut flags) = ([0], vec![0; size], [false; 2]);
    for turn in 0..TIMES {
        mine = [100 * turn + rank];
        all.fill(0);
        world.scope(|scope| scope.allgather(&mine, &mut all)?.wait().map(drop))?;
        assert!(all.iter().copied().eq((0..size).map(|rank| 100 * turn + rank)));
        mine[0] += 1;
        (mine, all) = {
            let (back, gathered) = world.iallgather(mine.to_vec(), all)?.wait()?.0;
            ([back[0]], gathered)
        };
        assert!(all.iter().copied().eq((0..size).map(|rank| 100 * turn + rank + 1)));
        world.allgather(&mine, &mut all)?;
        flags[rank % 2] = turn % 2 == 0;
        world.bcast(&mut flags, 0)?;
        assert_eq!(flags[0], turn % 2 == 0);
    }
    assert_eq!(mine[0], all[rank]);
    Ok(())
}

#[oxmpi::test(ranks = 2)]
fn what_is_wrong_is_found_after_what_was_right(world: Communicator<'_>) -> Result<()> {
    let (mine, mut theirs) = ([[1_u16, 2]], [[0_u16; 2]]);
    for _ in 0..TIMES {
        world.alltoall(mine.as_flattened(), theirs.as_flattened_mut())?;
        assert_eq!(theirs, [[world.rank() as u16 + 1; 2]]);
        let error = world.alltoall(&mine, &mut theirs).expect_err("one element is not two blocks");
        assert_eq!(error.class(), ErrorClass::Count);
        let error = world.bcast(&mut theirs, 2).expect_err("there is no such root");
        assert_eq!(error.class(), ErrorClass::Root);
    }
    Ok(())
}
