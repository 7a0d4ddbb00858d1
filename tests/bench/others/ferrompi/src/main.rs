//! What ferrompi does, a function for each row of `docs/rust-mpi.md`.

use std::mem;

use ferrompi::{
    Communicator, CustomDatatype, Error, Mpi, PersistentRequest, PlainData, ReduceOp, Request, Result,
    Source, StructField, Tag, ThreadLevel, UserOp,
};

type Row = (&'static str, fn(&Mpi, &Communicator) -> Result<()>);

const ROWS: [Row; 17] = [
    ("nonblocking, borrowed", a_forgotten_request_is_waited_for),
    ("wait for any, some", any_of_a_slice_is_waited_for),
    ("matched probe", a_message_is_matched_before_it_is_received),
    ("persistent messages", messages_are_started_again),
    ("an active request's buffers", a_buffer_in_use_is_refused_when_it_runs),
    ("several at once", requests_of_one_type_are_started_together),
    ("blocking collectives", collectives_block),
    ("blocking collectives, of blocks", blocks_have_lengths_of_their_own),
    ("persistent collectives", collectives_are_started_again),
    ("elements", elements_are_seven_types_of_numbers),
    ("elements, structures", a_structure_needs_unsafe_and_a_layout),
    ("strides", a_column_is_sent_of_a_matrix_that_is_one_array),
    ("operations of the user", operations_are_on_slices_and_there_are_sixteen),
    ("groups", a_communicator_is_made_of_a_group),
    ("splits by parts of the machine", ranks_of_a_node_find_each_other),
    ("thread levels", a_level_is_asked_for_and_looked_at),
    ("sessions", a_communicator_comes_from_a_group_alone),
];

fn main() -> Result<()> {
    let mpi = Mpi::init_thread(ThreadLevel::Funneled)?;
    let world = mpi.world();
    for (row, show) in ROWS {
        show(&mpi, &world)?;
        if world.rank() == 0 {
            println!("{row}");
        }
    }
    Ok(())
}

/// Whom this rank sends to, and whom it receives from.
fn neighbors(world: &Communicator) -> (i32, i32) {
    let (rank, size) = (world.rank(), world.size());
    ((rank + 1) % size, (rank + size - 1) % size)
}

fn a_forgotten_request_is_waited_for(_: &Mpi, world: &Communicator) -> Result<()> {
    let (right, left) = neighbors(world);
    let (mine, mut theirs) = ([world.rank(); 1000], [-1; 1000]);
    ferrompi::scope(|scope| {
        mem::forget(world.irecv(scope, &mut theirs, left, 0)?);
        world.send(&mine, right, 0)
    })?;
    assert_eq!(theirs, [left; 1000]);
    Ok(())
}

fn any_of_a_slice_is_waited_for(_: &Mpi, world: &Communicator) -> Result<()> {
    let (right, left) = neighbors(world);
    let (mut first, mut second) = ([-1], [-1]);
    ferrompi::scope(|scope| {
        let mut requests =
            [world.irecv(scope, &mut first, left, 1)?, world.irecv(scope, &mut second, left, 2)?];
        world.send(&[7], right, 2)?;
        let (index, _) = Request::wait_any(&mut requests)?.expect("there are two");
        assert_eq!(index, 1);
        world.send(&[8], right, 1)?;
        Request::wait_all(&mut requests)
    })?;
    assert_eq!((first, second), ([8], [7]));
    Ok(())
}

fn a_message_is_matched_before_it_is_received(_: &Mpi, world: &Communicator) -> Result<()> {
    let (right, left) = neighbors(world);
    world.send(&vec![world.rank(); world.rank() as usize + 1], right, 3)?;
    let (message, status) = world.mprobe::<i32>(Source::Any, Tag::Any)?;
    let mut theirs = vec![-1; status.count.expect("whole numbers")];
    message.mrecv(&mut theirs)?;
    assert_eq!(theirs, vec![left; left as usize + 1]);
    Ok(())
}

fn messages_are_started_again(_: &Mpi, world: &Communicator) -> Result<()> {
    let (right, left) = neighbors(world);
    let mut send = world.send_init(vec![0; 2], right, 0)?;
    let mut recv = world.recv_init(vec![0; 2], left, 0)?;
    for step in 0..3 {
        send.buffer_mut()?.fill(step);
        recv.start()?;
        send.start()?;
        send.wait()?;
        recv.wait()?;
        assert_eq!(recv.buffer()?, [step; 2]);
    }
    assert_eq!(recv.into_buffer()?, [2; 2]);
    Ok(())
}

fn a_buffer_in_use_is_refused_when_it_runs(_: &Mpi, world: &Communicator) -> Result<()> {
    let (right, left) = neighbors(world);
    let mut recv = world.recv_init(vec![0; 2], left, 0)?;
    recv.start()?;
    assert!(matches!(recv.buffer(), Err(Error::InvalidState { .. })));
    world.send(&[1, 2], right, 0)?;
    recv.wait()?;
    assert_eq!(recv.buffer()?, [1, 2]);
    Ok(())
}

fn requests_of_one_type_are_started_together(_: &Mpi, world: &Communicator) -> Result<()> {
    let (right, left) = neighbors(world);
    let mut both = [world.recv_init(vec![0.0], left, 0)?, world.send_init(vec![0.5], right, 0)?];
    PersistentRequest::start_all(&mut both)?;
    PersistentRequest::wait_all(&mut both)?;
    assert_eq!(both[0].buffer()?, [0.5]);
    Ok(())
}

fn collectives_block(_: &Mpi, world: &Communicator) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let (sum, everybody) = (size * (size - 1) / 2, Vec::from_iter(0..size));
    world.barrier()?;
    let mut told = [rank];
    world.broadcast(&mut told, size - 1)?;
    assert_eq!(told, [size - 1]);
    let mut found = [0];
    world.allreduce(&[rank], &mut found, ReduceOp::Sum)?;
    assert_eq!(found, [sum]);
    let mut found = [rank];
    world.allreduce_inplace(&mut found, ReduceOp::Sum)?;
    assert_eq!(found, [sum]);
    world.reduce(&[rank], &mut found, ReduceOp::Max, 0)?;
    assert!(rank > 0 || found == [size - 1]);
    world.scan(&[rank], &mut found, ReduceOp::Sum)?;
    assert_eq!(found, [rank * (rank + 1) / 2]);
    world.exscan(&[rank], &mut found, ReduceOp::Sum)?;
    assert!(rank == 0 || found == [rank * (rank - 1) / 2]);
    world.reduce_scatter_block(&vec![rank; size as usize], &mut found, ReduceOp::Sum)?;
    assert_eq!(found, [sum]);
    let mut all = vec![-1; size as usize];
    world.allgather(&[rank], &mut all)?;
    assert_eq!(all, everybody);
    world.alltoall(&vec![rank; size as usize], &mut all)?;
    assert_eq!(all, everybody);
    world.gather(&[rank], &mut all, 0)?;
    world.scatter(&all, &mut found, 0)?;
    assert_eq!(found, [rank]);
    Ok(())
}

fn blocks_have_lengths_of_their_own(_: &Mpi, world: &Communicator) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    // Each rank tells one more than its own number.
    let counts = Vec::from_iter(1..=size);
    let begins: Vec<i32> = (0..size).map(|rank| rank * (rank + 1) / 2).collect();
    let all: Vec<i32> = (0..size).flat_map(|rank| vec![rank; rank as usize + 1]).collect();
    let (mine, mut found) = (vec![rank; rank as usize + 1], vec![-1; all.len()]);
    world.allgatherv(&mine, &mut found, &counts, &begins)?;
    assert_eq!(found, all);
    let sent = vec![rank + 1; size as usize];
    let sent_from = Vec::from_iter((0..size).map(|to| to * (rank + 1)));
    let everywhere = vec![rank; mine.len() * size as usize];
    found.fill(-1);
    world.alltoallv(&everywhere, &sent, &sent_from, &mut found, &counts, &begins)?;
    assert_eq!(found, all);
    found.fill(-1);
    world.gatherv(&mine, &mut found, &counts, &begins, 0)?;
    assert!(rank > 0 || found == all);
    let mut found = vec![-1; mine.len()];
    world.scatterv(&all, &counts, &begins, &mut found, 0)?;
    assert_eq!(found, mine);
    Ok(())
}

fn collectives_are_started_again(_: &Mpi, world: &Communicator) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let mut sum = world.allreduce_init(vec![rank], vec![0], ReduceOp::Sum)?;
    let mut in_place = world.allreduce_init_inplace(vec![1], ReduceOp::Sum)?;
    let mut told = world.broadcast_init(vec![rank], size - 1)?;
    for _ in 0..3 {
        sum.send_buffer_mut()?.fill(rank);
        in_place.buffer_mut()?.fill(1);
        for request in [&mut sum, &mut in_place, &mut told] {
            request.start()?;
            request.wait()?;
        }
        assert_eq!(sum.buffer()?, [size * (size - 1) / 2]);
        assert_eq!((in_place.buffer()?, told.buffer()?), (&[size][..], &[size - 1][..]));
    }
    Ok(())
}

fn elements_are_seven_types_of_numbers(_: &Mpi, world: &Communicator) -> Result<()> {
    macro_rules! told {
        ($($number:ty)*) => {$({
            let mut told = [world.rank() as $number];
            world.broadcast(&mut told, world.size() - 1)?;
            assert_eq!(told, [(world.size() - 1) as $number]);
        })*};
    }
    told!(f32 f64 i32 i64 u8 u32 u64);
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Particle {
    charge: f64,
    kind: i32,
}

// SAFETY: any bits are two numbers.
unsafe impl PlainData for Particle {}

fn a_structure_needs_unsafe_and_a_layout(_: &Mpi, world: &Communicator) -> Result<()> {
    let (right, left) = neighbors(world);
    let layout = CustomDatatype::create_struct(&[
        StructField::new::<f64>(1, mem::offset_of!(Particle, charge) as i64),
        StructField::new::<i32>(1, mem::offset_of!(Particle, kind) as i64),
    ])?;
    let layout = layout.resized(0, size_of::<Particle>() as i64)?;
    let mut theirs = [Particle { charge: 0.0, kind: -1 }];
    world.send_custom(&[Particle { charge: 0.5, kind: world.rank() }], &layout, right, 0)?;
    world.recv_custom(&mut theirs, &layout, left, 0)?;
    assert_eq!(theirs, [Particle { charge: 0.5, kind: left }]);
    Ok(())
}

fn a_column_is_sent_of_a_matrix_that_is_one_array(_: &Mpi, world: &Communicator) -> Result<()> {
    let (right, left) = neighbors(world);
    let column = CustomDatatype::vector::<i32>(3, 1, 3)?;
    // It ends where its last element does: no type is as large.
    assert!(world.send_custom(&[[0_i32; 9]], &column, right, 0).is_err());
    let column = column.resized(0, size_of::<[i32; 9]>() as i64)?;
    let (mine, mut theirs) = ([world.rank(); 9], [-1; 9]);
    world.send_custom(&[mine], &column, right, 0)?;
    world.recv_custom(std::slice::from_mut(&mut theirs), &column, left, 0)?;
    assert_eq!(theirs, [left, -1, -1, left, -1, -1, left, -1, -1]);
    Ok(())
}

fn operations_are_on_slices_and_there_are_sixteen(_: &Mpi, world: &Communicator) -> Result<()> {
    let longest = || {
        UserOp::new(|left: &[f64], right: &mut [f64]| {
            for (left, right) in left.iter().zip(right) {
                *right = left.max(*right);
            }
        })
    };
    let all = (0..16).map(|_| longest()).collect::<Result<Vec<_>>>()?;
    assert!(matches!(longest(), Err(Error::ResourceExhausted { .. })));
    let mut found = [0.0];
    world.allreduce(&[f64::from(world.rank())], &mut found, &all[15])?;
    assert_eq!(found, [f64::from(world.size() - 1)]);
    Ok(())
}

fn a_communicator_is_made_of_a_group(_: &Mpi, world: &Communicator) -> Result<()> {
    let last = world.group()?.include(&[world.size() - 1])?;
    let alone = world.create(&last)?;
    assert_eq!(alone.map(|alone| alone.size()), (world.rank() == world.size() - 1).then_some(1));
    Ok(())
}

fn ranks_of_a_node_find_each_other(_: &Mpi, world: &Communicator) -> Result<()> {
    assert_eq!(world.split_shared()?.size(), world.size());
    Ok(())
}

fn a_level_is_asked_for_and_looked_at(mpi: &Mpi, _: &Communicator) -> Result<()> {
    assert!(mpi.thread_level() >= ThreadLevel::Funneled);
    Ok(())
}

fn a_communicator_comes_from_a_group_alone(mpi: &Mpi, world: &Communicator) -> Result<()> {
    let made = mpi.create_from_group(&world.group()?, "of-ferrompi")?;
    assert_eq!(made.expect("this rank is in it").size(), world.size());
    Ok(())
}
