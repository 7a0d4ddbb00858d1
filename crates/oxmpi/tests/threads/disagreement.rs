//! Blocks that are longer, or shorter, than who reads them says: an error there, in every lifetime, on a communicator,
//! among neighbours and between groups. Nobody waits for ever, and who succeeds has what was sent.

use oxmpi::{Communicator, ErrorClass, Intercommunicator, Result, Shape};

const NONE: u32 = u32::MAX;

/// What a rank tells, and hears.
struct Told {
    send: Vec<u32>,
    sent: Vec<usize>,
    recv: Vec<u32>,
    received: Vec<usize>,
}

/// Who tells a block to whom: those that `rank` tells one, and those that it hears of.
type Company = fn(rank: usize) -> (Vec<usize>, Vec<usize>);

/// What a communicator knows of its ranks.
#[derive(Clone, Copy)]
enum Place {
    Anywhere,
    /// A circle of three.
    Ring,
}

/// A collective in a lifetime, which gives what has been received.
type Form = fn(&Communicator<'_>, Told) -> Result<Vec<u32>>;
type FormBetween = fn(&Intercommunicator<'_>, Told) -> Result<Vec<u32>>;

/// A collective in each lifetime, whose arguments are `send`, some, `recv`, and some more.
macro_rules! in_each_lifetime {
    ($call:ident, $nonblocking:ident, $init:ident,
     |$told:ident| send $(, $sent:expr)*; recv $(, $received:expr)*) => {
        [
            |comm, mut $told| {
                comm.$call(&$told.send, $($sent,)* &mut $told.recv, $($received),*)?;
                Ok($told.recv)
            },
            |comm, mut $told| {
                comm.scope(|scope| {
                    scope.$call(&$told.send, $($sent,)* &mut $told.recv, $($received),*)?.wait().map(drop)
                })?;
                Ok($told.recv)
            },
            |comm, $told| {
                let request = comm.$nonblocking($told.send, $($sent,)* $told.recv, $($received),*)?;
                Ok(request.wait()?.0.1)
            },
            |comm, $told| {
                let request = comm.$init($told.send, $($sent,)* $told.recv, $($received),*)?;
                Ok(request.start()?.wait()?.recv_buf().to_vec())
            },
        ]
    };
}

/// Two lengths of which the second is the wrong one: for messages that are short, long, and of both kinds.
const LENGTHS: [[usize; 2]; 5] = [[2, 3], [3, 2], [5_000, 5_001], [1, 90_000], [90_000, 0]];

impl Told {
    /// Of so many elements each, but for those that the last of `size` ranks tells rank 0, of which there are `wrong`.
    fn new(rank: usize, size: usize, company: Company, [count, wrong]: [usize; 2]) -> Self {
        let (to, from) = company(rank);
        let length = |to: &usize| if rank == size - 1 && *to == 0 { wrong } else { count };
        let sent: Vec<usize> = to.iter().map(length).collect();
        let send = to.iter().zip(&sent).flat_map(|(to, count)| vec![block(rank, *to); *count]).collect();
        Self { send, sent, recv: vec![NONE; from.len() * count], received: vec![count; from.len()] }
    }
}

/// What `from` tells `to`.
fn block(from: usize, to: usize) -> u32 {
    (10 * from + to) as u32
}

/// The blocks as ranges of the buffer.
fn shapes(counts: &[usize]) -> Vec<Shape> {
    let ends = counts.iter().scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    ends.zip(counts).map(|(end, count)| Shape::range(end - count..end)).collect()
}

/// Judges what has come of a call on `rank`, which must fail if it `reads` the wrong block.
fn judge(rank: usize, from: &[usize], to: usize, count: usize, reads: bool, result: Result<Vec<u32>>) {
    match result {
        Ok(recv) => {
            assert!(!reads, "rank {rank} has not heard of it");
            let expected: Vec<u32> = from.iter().flat_map(|&from| vec![block(from, to); count]).collect();
            assert_eq!(recv, expected, "rank {rank}");
        }
        Err(error) => {
            let classes = [ErrorClass::Count, ErrorClass::Truncate, ErrorClass::Other];
            assert!(classes.contains(&error.class()), "{error}");
        }
    }
}

/// Lets ranks disagree in each form of a collective.
fn disagree(world: &Communicator<'_>, place: Place, forms: [Form; 4], company: Company) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (_, from) = company(rank);
    // All hear the same where one block goes to everybody.
    let is_shared = company(1).0 == [0];
    let reads = from.contains(&(size - 1)) && (rank == 0 || is_shared);
    for (form, lengths) in forms.into_iter().flat_map(|form| LENGTHS.map(|lengths| (form, lengths))) {
        let told = Told::new(rank, size, company, lengths);
        let result = match place {
            Place::Anywhere => form(&world.duplicate()?, told),
            Place::Ring => form(&world.cartesian(&[size], &[true])?.expect("every rank has a place"), told),
        };
        judge(rank, &from, if is_shared { 0 } else { rank }, lengths[0], reads, result);
        world.barrier()?;
    }
    Ok(())
}

#[oxmpi::test(ranks = 3)]
fn a_block_to_each_rank(world: Communicator<'_>) -> Result<()> {
    let each: Company = |_| (vec![0, 1, 2], vec![0, 1, 2]);
    let v: [Form; 4] = in_each_lifetime!(
        alltoallv, ialltoallv, alltoallv_init, |told| send, &told.sent; recv, &told.received
    );
    disagree(&world, Place::Anywhere, v, each)?;
    let w: [Form; 4] = in_each_lifetime!(
        alltoallw, ialltoallw, alltoallw_init, |told| send, &shapes(&told.sent); recv, &shapes(&told.received)
    );
    disagree(&world, Place::Anywhere, w, each)
}

#[oxmpi::test(ranks = 3)]
fn a_block_to_each_neighbour(world: Communicator<'_>) -> Result<()> {
    let around: Company = |rank| (vec![(rank + 2) % 3, (rank + 1) % 3], vec![(rank + 2) % 3, (rank + 1) % 3]);
    let v: [Form; 4] = in_each_lifetime!(
        neighbor_alltoallv, ineighbor_alltoallv, neighbor_alltoallv_init,
        |told| send, &told.sent; recv, &told.received
    );
    disagree(&world, Place::Ring, v, around)?;
    let w: [Form; 4] = in_each_lifetime!(
        neighbor_alltoallw, ineighbor_alltoallw, neighbor_alltoallw_init,
        |told| send, &shapes(&told.sent); recv, &shapes(&told.received)
    );
    disagree(&world, Place::Ring, w, around)
}

#[oxmpi::test(ranks = 3)]
fn a_block_to_all(world: Communicator<'_>) -> Result<()> {
    let all: [Form; 4] =
        in_each_lifetime!(allgatherv, iallgatherv, allgatherv_init, |told| send; recv, &told.received);
    disagree(&world, Place::Anywhere, all, |_| (vec![0], vec![0, 1, 2]))?;
    let neighbors: [Form; 4] = in_each_lifetime!(
        neighbor_allgatherv, ineighbor_allgatherv, neighbor_allgatherv_init, |told| send; recv, &told.received
    );
    disagree(&world, Place::Ring, neighbors, |rank| (vec![0], vec![(rank + 2) % 3, (rank + 1) % 3]))
}

#[oxmpi::test(ranks = 3)]
fn a_block_to_or_from_a_root(world: Communicator<'_>) -> Result<()> {
    let gather: [Form; 4] =
        in_each_lifetime!(gatherv, igatherv, gatherv_init, |told| send; recv, &told.received, 0);
    let to_root: Company = |rank| (vec![0], if rank == 0 { vec![0, 1, 2] } else { Vec::new() });
    disagree(&world, Place::Anywhere, gather, to_root)?;
    let scatter: [Form; 4] =
        in_each_lifetime!(scatterv, iscatterv, scatterv_init, |told| send, &told.sent; recv, 2);
    let from_root: Company = |rank| (if rank == 2 { vec![0, 1, 2] } else { Vec::new() }, vec![2]);
    disagree(&world, Place::Anywhere, scatter, from_root)
}

#[oxmpi::test(ranks = 4)]
fn blocks_between_groups(world: Communicator<'_>) -> Result<()> {
    let v: [FormBetween; 4] = in_each_lifetime!(
        alltoallv, ialltoallv, alltoallv_init, |told| send, &told.sent; recv, &told.received
    );
    let all: [FormBetween; 4] =
        in_each_lifetime!(allgatherv, iallgatherv, allgatherv_init, |told| send; recv, &told.received);
    // The even ranks on one side, the odd ones on the other.
    let others: Company = |rank| (vec![1 - rank % 2, 3 - rank % 2], vec![1 - rank % 2, 3 - rank % 2]);
    let to_all: Company = |rank| (vec![0], vec![1 - rank % 2, 3 - rank % 2]);
    let rank = world.rank();
    for ((forms, company), lengths) in
        [(v, others), (all, to_all)].into_iter().flat_map(|of| LENGTHS.map(|lengths| (of, lengths)))
    {
        let is_shared = company(1).0 == [0];
        let reads = rank == 0 || is_shared && rank == 2;
        for form in forms {
            let side = world.split(Some(rank as i32 % 2), 0)?.expect("every rank has a color");
            let between = side.intercommunicator(0, &world, 1 - rank % 2, 0)?;
            let result = form(&between, Told::new(rank, 4, company, lengths));
            judge(rank, &company(rank).1, if is_shared { 0 } else { rank }, lengths[0], reads, result);
            world.barrier()?;
        }
    }
    Ok(())
}
