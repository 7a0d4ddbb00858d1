//! What rsmpi does that none of its own examples shows, a function for each row of `docs/rust-mpi.md`.

use std::mem;

use mpi::Count;
use mpi::collective::SystemOperation;
use mpi::datatype::{Partition, PartitionMut};
use mpi::ffi;
use mpi::raw::{AsRaw, FromRaw};
use mpi::request;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

type Row = (&'static str, fn(&SimpleCommunicator));

const ROWS: [Row; 4] = [
    ("matched probe", a_message_is_matched_before_it_is_received),
    ("blocking collectives", the_collectives_that_no_example_has),
    ("blocking collectives", blocks_have_lengths_of_their_own),
    ("C code on the same communicator", handles_go_out_and_in),
];

fn main() {
    let universe = mpi::initialize().expect("it is called once");
    let world = universe.world();
    if std::env::args().any(|argument| argument == "forget") {
        return forget_a_request(&world);
    }
    for (row, show) in ROWS {
        show(&world);
        if world.rank() == 0 {
            println!("{row}");
        }
    }
}

/// Nonblocking, borrowed: the scope panics at its end, which ends the job.
fn forget_a_request(world: &SimpleCommunicator) {
    let mine = [world.rank()];
    request::scope(|scope| mem::forget(world.this_process().immediate_send(scope, &mine[..])));
}

fn a_message_is_matched_before_it_is_received(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let (mine, left) = (vec![rank; rank as usize + 1], (rank + size - 1) % size);
    request::scope(|scope| {
        let send = world.process_at_rank((rank + 1) % size).immediate_send(scope, &mine[..]);
        let (theirs, _) = world.process_at_rank(left).matched_probe().matched_receive_vec::<i32>();
        assert_eq!(theirs, vec![left; left as usize + 1]);
        send.wait();
    });
}

fn the_collectives_that_no_example_has(world: &SimpleCommunicator) {
    let (rank, size) = (world.rank(), world.size());
    let sum = size * (size - 1) / 2;
    let mut before = [0];
    world.exclusive_scan_into(&[rank][..], &mut before[..], SystemOperation::sum());
    assert!(rank == 0 || before == [rank * (rank - 1) / 2]);
    let mut block = [0; 2];
    let mine = vec![rank; 2 * size as usize];
    world.reduce_scatter_block_into(&mine[..], &mut block[..], SystemOperation::sum());
    assert_eq!(block, [sum; 2]);
}

fn blocks_have_lengths_of_their_own(world: &SimpleCommunicator) {
    let (rank, size, root) = (world.rank(), world.size(), world.process_at_rank(0));
    // Each rank tells one more than its own number.
    let (counts, begins) = blocks(1..=size);
    let all: Vec<i32> = (0..size).flat_map(|rank| vec![rank; rank as usize + 1]).collect();
    let mine = vec![rank; rank as usize + 1];

    let mut found = vec![-1; all.len()];
    let mut into = PartitionMut::new(&mut found[..], &counts[..], &begins[..]);
    world.all_gather_varcount_into(&mine[..], &mut into);
    assert_eq!(found, all);

    let everywhere = vec![rank; mine.len() * size as usize];
    let (sent, sent_from) = blocks((0..size).map(|_| rank + 1));
    let send = Partition::new(&everywhere[..], &sent[..], &sent_from[..]);
    let mut found = vec![-1; all.len()];
    let mut into = PartitionMut::new(&mut found[..], &counts[..], &begins[..]);
    world.all_to_all_varcount_into(&send, &mut into);
    assert_eq!(found, all);

    let mut found = vec![-1; mine.len()];
    if rank == 0 {
        let send = Partition::new(&all[..], &counts[..], &begins[..]);
        root.scatter_varcount_into_root(&send, &mut found[..]);
    } else {
        root.scatter_varcount_into(&mut found[..]);
    }
    assert_eq!(found, mine);
}

/// Blocks of so many elements that follow each other: their lengths, and where they begin.
fn blocks(counts: impl Iterator<Item = Count>) -> (Vec<Count>, Vec<Count>) {
    let counts: Vec<Count> = counts.collect();
    let begins = counts.iter().scan(0, |next, count| Some(mem::replace(next, *next + count)));
    (counts.clone(), begins.collect())
}

fn handles_go_out_and_in(world: &SimpleCommunicator) {
    let mut raw = world.as_raw();
    // SAFETY: the one handle names a communicator, and the other one is there to be written.
    let code = unsafe { ffi::MPI_Comm_dup(world.as_raw(), &mut raw) };
    assert_eq!(code, ffi::MPI_SUCCESS as i32);
    // SAFETY: it has just been made, and nobody else has it.
    let duplicate = unsafe { SimpleCommunicator::from_raw(raw) };
    let mut ranks = 0;
    duplicate.all_reduce_into(&1, &mut ranks, SystemOperation::sum());
    assert_eq!(ranks, world.size());
}
