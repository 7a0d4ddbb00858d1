//! Persistent collectives whose algorithms are wished for.

use oxmpi::{Buffers, Communicator, Op, Persistent, Plan, Result};

use crate::job::on_ranks;

/// Fails unless all ranks have bound the same algorithm; which.
fn common<B: Buffers>(world: &Communicator<'_>, request: &Persistent<'_, B>) -> Result<Option<&'static str>> {
    let algorithm = request.algorithm();
    let mut mine = [0_u8; 32];
    let name = algorithm.unwrap_or_default().as_bytes();
    mine[..name.len()].copy_from_slice(name);
    let mut all = vec![0; mine.len() * world.size()];
    world.allgather(&mine, &mut all)?;
    assert!(all.chunks(mine.len()).all(|other| other == mine), "{:?}", String::from_utf8_lossy(&all));
    Ok(algorithm)
}

/// Allreduces, several times with other data, by an algorithm that is wished for; which it was.
fn allreduce(world: &Communicator<'_>, plan: Plan<'_>, count: usize) -> Result<Option<&'static str>> {
    let mut sum = world.planned(plan).allreduce_init(vec![7; count], vec![-7; count], &Op::SUM)?;
    assert!(sum.send_buf().iter().all(|&one| one == 7) && sum.recv_buf().iter().all(|&one| one == -7));
    let algorithm = common(world, &sum)?;
    for round in 0..3 {
        sum.send_buf_mut().fill(round + world.rank() as i64);
        sum = sum.start()?.wait()?;
        let (ranks, ranks_sum) = (world.size() as i64, (0..world.size() as i64).sum::<i64>());
        assert!(sum.recv_buf().iter().all(|&sum| sum == round * ranks + ranks_sum));
    }
    Ok(algorithm)
}

#[test]
fn ranks_bind_one_algorithm_whether_it_is_named_measured_or_estimated() {
    on_ranks("planned::ranks_bind_one_algorithm_whether_it_is_named_measured_or_estimated", |env| {
        let world = env.world();
        let is_alone = world.size() == 1;
        for count in [1, 3000] {
            let estimated = allreduce(&world, Plan::Estimate, count)?;
            assert_eq!(estimated.is_none(), is_alone, "alone there is nothing to choose");
            assert_eq!(allreduce(&world, Plan::Algorithm("rign"), count)?, estimated);
            let named = allreduce(&world, Plan::Algorithm("ring"), count)?;
            assert_eq!(named, (!is_alone).then_some("ring"));
            assert_eq!(allreduce(&world, Plan::Measure, count)?.is_none(), is_alone);
            let mixed = [Plan::Algorithm("ring"), Plan::Measure, Plan::Estimate][world.rank() % 3];
            assert_eq!(allreduce(&world, mixed, count)?, named, "a name beats the rest");
        }
        Ok(())
    });
}

#[test]
fn a_view_of_a_communicator_frees_nothing() {
    on_ranks("planned::a_view_of_a_communicator_frees_nothing", |env| {
        let library = env.world().duplicate()?;
        for _ in 0..3 {
            let planned = library.planned(Plan::Measure);
            let mut shared = planned.bcast_init(vec![library.rank(); 9], 0)?;
            planned.duplicate()?.barrier()?;
            drop(planned);
            shared = shared.start()?.wait()?;
            assert_eq!(shared.buf(), [0; 9]);
        }
        library.barrier()
    });
}

#[test]
fn operations_of_the_program_are_not_tried() {
    on_ranks("planned::operations_of_the_program_are_not_tried", |env| {
        let world = env.world();
        let called = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let seen = std::sync::Arc::clone(&called);
        let add = Op::user(move |left: i32, right: i32| {
            seen.store(true, std::sync::atomic::Ordering::Relaxed);
            left + right
        });
        let sum = world.planned(Plan::Measure).allreduce_init(vec![1; 50], vec![0; 50], &add)?;
        assert!(!called.load(std::sync::atomic::Ordering::Relaxed), "nothing is started");
        let sum = sum.start()?.wait()?;
        assert_eq!(sum.recv_buf(), [world.size() as i32; 50]);
        Ok(())
    });
}
