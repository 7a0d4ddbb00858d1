//! A process without a launcher is a job of one rank: what can be told of its calls without any peer.

use std::sync::Arc;

use oxmpi_base::{ErrorClass, Function, Result};
use oxmpi_core::coll::{self, Root, Side};
use oxmpi_core::{
    AttachedBuffer, BUFFERED_OVERHEAD_BYTES, BufferOwner, Communicator, Dest, Operation, Outcome, Phase,
    Process, SendMode, Source, TagPattern,
};
use oxmpi_datatype::Buffer;
use oxmpi_mem::{Callers, Pool, Region};

fn process() -> Process {
    Process::init(Phase::Running, Callers::ANY).expect("a job of one rank")
}

fn memory(bytes: &[u8]) -> Region {
    let region = Pool::default().take(bytes.len());
    region.write(bytes);
    *region
}

fn buffer(bytes: usize) -> Buffer {
    Buffer::dense(memory(&vec![7; bytes]))
}

/// Collective Communication: the amount of data sent must be equal to the amount of data received, pairwise.
#[test]
fn blocks_to_and_from_oneself_that_differ_are_errors_that_name_both_lengths() {
    type Collective = fn(&Process, &Arc<Communicator>, Buffer, Buffer) -> Result<Operation>;
    let collectives: [Collective; 8] = [
        |process, comm, send, recv| coll::allgather(process, comm, Side::Buffer(send), recv),
        |process, comm, send, recv| coll::alltoall(process, comm, Side::Buffer(send), recv),
        |process, comm, send, recv| coll::gather(process, comm, Side::Buffer(send), recv, Root::Rank(0)),
        |process, comm, send, recv| coll::scatter(process, comm, send, Side::Buffer(recv), Root::Rank(0)),
        |process, comm, send, recv| coll::allgatherv(process, comm, Side::Buffer(send), vec![recv]),
        |process, comm, send, recv| {
            coll::alltoallv(process, comm, Function::AlltoallvInit, Some(vec![send]), vec![recv])
        },
        |process, comm, send, recv| {
            coll::gatherv(process, comm, Side::Buffer(send), vec![recv], Root::Rank(0))
        },
        |process, comm, send, recv| {
            coll::scatterv(process, comm, vec![send], Side::Buffer(recv), Root::Rank(0))
        },
    ];
    let process = process();
    let comm = process.world();
    for collective in collectives {
        for (sent, received, class) in [(40, 20, ErrorClass::Truncate), (20, 40, ErrorClass::Count)] {
            let error = collective(&process, comm, buffer(sent), buffer(received)).expect_err("they differ");
            assert_eq!(error.class(), class);
            assert!(error.text().contains("20") && error.text().contains("40"), "{error:?}");
        }
        let recv = memory(&[0; 40]);
        let operation = collective(&process, comm, buffer(40), Buffer::dense(recv)).expect("they agree");
        process.blocking(comm, &operation).expect("no error");
        assert_eq!(recv.to_vec(), [7; 40]);
    }
}

/// Cancel: after it, waiting for the operation behaves as if it were local.
#[test]
fn a_started_persistent_send_is_cancelled_and_can_be_started_again() {
    let process = process();
    let comm = process.world();
    let send =
        process.send_init(comm, buffer(8), Dest::Rank(0), 3, SendMode::Synchronous).expect("good arguments");
    for cancelled in [true, false] {
        process.start(send).expect("it is inactive");
        if cancelled {
            process.cancel(send).expect("it is active");
        } else {
            let into = memory(&[0; 8]);
            let status = process
                .recv(comm, Buffer::dense(into), Source::Rank(0), TagPattern::Tag(3))
                .and_then(Outcome::into_result)
                .expect("it was sent");
            assert_eq!((status.bytes, into.to_vec()), (8, vec![7; 8]));
        }
        let completion = process.wait(send).expect("the request is there");
        assert_eq!((completion.status.cancelled, completion.freed), (cancelled, false));
    }
    process.request_free(send).expect("it is inactive");
}

/// MPI and Threads: a blocked call does not keep other threads from communicating, with each other too.
#[test]
fn a_thread_that_waits_for_a_message_gets_it_from_another_thread_of_its_rank() {
    let process = process();
    let comm = process.world();
    let into = memory(&[0; 8]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            process
                .recv(comm, Buffer::dense(into), Source::Rank(0), TagPattern::Tag(1))
                .and_then(Outcome::into_result)
        });
        std::thread::yield_now();
        process.send(comm, &buffer(8), Dest::Rank(0), 1, SendMode::Standard).expect("good arguments");
    });
    assert_eq!(into.to_vec(), [7; 8]);
}

/// Buffer Allocation and Usage: a buffered send is refused where there is no room for its message.
#[test]
fn a_buffer_holds_messages_to_the_last_byte_until_they_are_received() {
    let process = process();
    let comm = process.world();
    let send = |bytes| process.bsend(comm, None, &buffer(bytes), Dest::Rank(0), 1);
    let class = |result: Result<()>| result.map_err(|error| error.class());
    assert_eq!(class(send(0)), Err(ErrorClass::Buffer), "none is attached");
    let room = AttachedBuffer { address: 0x1000, bytes: Some(100 + 2 * BUFFERED_OVERHEAD_BYTES) };
    process.attach_buffer(BufferOwner::Process, room).expect("none is attached");
    send(60).expect("there is room for more");
    assert_eq!(class(send(41)), Err(ErrorClass::Buffer), "one byte too few");
    send(40).expect("there is just enough room");
    assert_eq!(class(send(0)), Err(ErrorClass::Buffer), "not a byte is left");
    for bytes in [60, 40] {
        let into = Buffer::dense(memory(&[0; 60]));
        let status = process
            .recv(comm, into, Source::Rank(0), TagPattern::Any)
            .and_then(Outcome::into_result)
            .expect("it was sent");
        assert_eq!(status.bytes, bytes);
    }
    assert_eq!(process.detach_buffer(BufferOwner::Process).expect("it is attached"), room);
}

#[test]
fn a_buffer_without_a_limit_takes_any_number_of_messages() {
    let process = process();
    let comm = process.world();
    let owner = comm.buffer_owner();
    process.attach_buffer(owner, AttachedBuffer { address: 2, bytes: None }).expect("none is attached");
    for _ in 0..1000 {
        process.bsend(comm, None, &buffer(8), Dest::Rank(0), 1).expect("there is no limit");
        let into = Buffer::dense(memory(&[0; 8]));
        process
            .recv(comm, into, Source::Rank(0), TagPattern::Tag(1))
            .and_then(Outcome::into_result)
            .expect("it was sent");
    }
    process.flush_buffer(owner);
    process.drop_buffer(owner);
    assert_eq!(process.detach_buffer(owner).expect_err("its owner has ended").class(), ErrorClass::Buffer);
}
