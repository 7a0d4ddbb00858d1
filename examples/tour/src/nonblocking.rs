//! What is begun, and waited for later.

use oxmpi::{Communicator, Op, Result};

/// A message is on its way while the rank computes.
pub fn overlap(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mine, mut left) = (vec![rank; 1_000], vec![0; 1_000]);
    world.scope(|scope| {
        let receive = scope.recv(&mut left, (rank + size - 1) % size, 0)?;
        let send = scope.send(&mine, (rank + 1) % size, 0)?;
        let own: usize = send.wait()?.iter().sum(); // what is only sent can be read meanwhile
        let (left, status) = receive.wait_status()?;
        assert_eq!((own, left[999]), (1_000 * rank, status.source().unwrap_or(0)));
        Ok(())
    })
}

/// Of many requests the next that is over.
pub fn many_requests(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut received = vec![usize::MAX; size];
    world.scope(|scope| {
        let mut set = scope.request_set();
        for (source, buf) in received.iter_mut().enumerate() {
            set.insert(scope.recv(buf, source, 0)?);
        }
        for dest in 0..size {
            let _ = scope.send(&rank, dest, 0)?;
        }
        while let Some((index, done)) = set.wait_any() {
            assert_eq!(*done?.0, index);
        }
        Ok(())
    })
}

/// Collectives are under way side by side.
pub fn collectives_at_once(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mut seed, mut sum, mut up_to, mut all) = (7 * usize::from(rank == 0), 0, 0, vec![0; size]);
    world.scope(|scope| {
        let _ = scope.bcast(&mut seed, 0)?;
        let _ = scope.allreduce(&rank, &mut sum, &Op::SUM)?;
        let _ = scope.scan(&1, &mut up_to, &Op::SUM)?;
        let gathered = scope.allgather(&rank, &mut all)?;
        scope.barrier()?.wait()?;
        while !gathered.test()? {}
        assert!(gathered.wait()?.iter().copied().eq(0..size));
        Ok(())
    })?;
    assert_eq!((seed, sum, up_to), (7, size * (size - 1) / 2, rank + 1));
    Ok(())
}

/// A request that owns its buffers can be kept.
pub fn owned_buffers(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut requests = Vec::new();
    for round in 0..4 {
        requests.push(world.iallreduce(vec![rank + round], vec![0], &Op::SUM)?);
    }
    for (round, request) in requests.into_iter().enumerate() {
        let ((_, sum), _) = request.wait()?;
        assert_eq!(sum, [size * (size - 1) / 2 + round * size]);
    }
    Ok(())
}

/// Requests are futures.
pub fn futures(world: &Communicator<'_>) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (mine, mut left) = (rank, usize::MAX);
    world.scope(|scope| {
        world.driver().block_on(async {
            let receive = scope.recv(&mut left, (rank + size - 1) % size, 0)?;
            let _ = scope.send(&mine, (rank + 1) % size, 0)?.await?;
            assert_eq!(*receive.await?.0, (rank + size - 1) % size);
            Ok(())
        })
    })
}
