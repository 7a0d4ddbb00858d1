//! Messages of unknown length, matched ones, and the modes of sending.

use std::mem::{self, MaybeUninit};

use oxmpi::{Datatype, Dest, ErrorClass, Result, Source, TagPattern};

use crate::job::on_ranks;

#[derive(Clone, Copy, Debug, PartialEq, Datatype)]
#[repr(C)]
struct Padded(bool, u64);

#[test]
fn messages_of_any_length_are_received_in_one_call() {
    on_ranks("matched::messages_of_any_length_are_received_in_one_call", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        for count in [0, 1, 100, 70_000] {
            let mine = vec![Padded(true, rank as u64); count + rank];
            let sent = world.isend(mine, right, 3)?;
            let (received, status) = world.recv_vec::<Padded>(Source::Any, TagPattern::Any)?;
            assert_eq!(received, vec![Padded(true, left as u64); count + left]);
            assert_eq!((status.source(), status.tag()), (Some(left), Some(3)));
            assert_eq!(sent.wait()?.0.len(), count + rank);
            world.barrier()?;
        }
        let (nothing, status) = world.recv_vec::<u8>(Source::Null, 0)?;
        assert!(nothing.is_empty() && status.source().is_none());
        Ok(())
    });
}

#[test]
fn what_is_no_number_of_elements_or_no_value_is_thrown_away() {
    on_ranks("matched::what_is_no_number_of_elements_or_no_value_is_thrown_away", |env| {
        let this = env.this();
        let class = |result: Result<Vec<bool>>| result.err().map(|error| error.class());
        this.send(&[1_u8; 9], 0, 0)?;
        let error = this.recv_vec::<u64>(0, 0).expect_err("9 bytes are no words");
        assert_eq!((error.class(), error.function()), (ErrorClass::Type, Some("MPI_Mrecv")));
        this.send(&[1_u8, 2, 0], 0, 0)?;
        assert_eq!(class(this.recv_vec(0, 0).map(|(vec, _)| vec)), Some(ErrorClass::Type));
        assert!(this.iprobe(Source::Any, TagPattern::Any)?.is_none(), "nothing is left");
        let mut memory = [const { MaybeUninit::<bool>::uninit() }; 8];
        this.send(&[true, false], 0, 0)?;
        assert_eq!(this.recv_uninit(&mut memory, 0, 0)?.0, [true, false]);
        this.send(&[2_u8], 0, 0)?;
        let error = this.recv_uninit(&mut memory, 0, 0).map(drop).expect_err("2 is no bool");
        assert_eq!(error.class(), ErrorClass::Type);
        Ok(())
    });
}

#[test]
fn a_matched_message_is_received_in_every_way_or_dropped() {
    on_ranks("matched::a_matched_message_is_received_in_every_way_or_dropped", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        for count in [3, 50_000] {
            let sent =
                (0..4).map(|tag| world.isend(vec![rank; count], right, tag)).collect::<Result<Vec<_>>>()?;
            let mut messages = (0..4).map(|tag| world.mprobe(left, tag)).collect::<Result<Vec<_>>>()?;
            assert!(messages.iter().zip(0..).all(|(message, tag)| message.status().tag() == Some(tag)));
            drop(messages.pop());
            let mut buf = vec![usize::MAX; count];
            let last = messages.pop().expect("three are left");
            world.scope(|scope| {
                assert_eq!(scope.mrecv(last, &mut buf)?.wait()?, vec![left; count]);
                Ok(())
            })?;
            let status = messages.pop().expect("two are left").recv(&mut buf)?;
            assert_eq!((buf[count - 1], status.count::<usize>()), (left, Some(count)));
            let short = messages.pop().expect("one is left").recv(&mut [0; 2]);
            assert_eq!(short.err().map(|error| error.class()), Some(ErrorClass::Truncate));
            sent.into_iter().try_for_each(|sent| sent.wait().map(drop))?;
        }
        assert!(world.improbe(left, 0)?.is_none());
        world.barrier()
    });
}

#[test]
fn every_mode_sends() {
    on_ranks("matched::every_mode_sends", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        let buffered = world.buffered(1 << 20)?;
        for count in [1, 20_000] {
            let received =
                (0..6).map(|tag| world.irecv(vec![0; count], left, tag)).collect::<Result<Vec<_>>>()?;
            world.barrier()?; // for those that are ready
            let mine = vec![rank; count];
            world.send(&mine, right, 0)?;
            world.ssend(&mine, right, 1)?;
            world.rsend(&mine, right, 2)?;
            buffered.send(&mine, right, 3)?;
            drop(world.irsend(mine.clone(), right, 4)?);
            let ready = world.rsend_init(mine, right, 5)?;
            drop(ready.start()?.wait()?);
            for received in received {
                assert_eq!(received.wait()?.0, vec![left; count]);
            }
            let mut token = vec![rank; count];
            world.sendrecv_replace(&mut token, right, 6, left, 6)?;
            assert_eq!(token, vec![left; count]);
        }
        buffered.flush();
        let error = buffered.send(&vec![0_u8; 1 << 20], right, 9).expect_err("there is no room");
        assert_eq!((error.class(), error.function()), (ErrorClass::Buffer, Some("MPI_Bsend")));
        assert_eq!(world.buffered(1).map(drop).map_err(|error| error.class()), Err(ErrorClass::Buffer));
        buffered.send(&[1], Dest::Null, 0)?;
        drop(buffered);
        world.buffered(1).map(drop)
    });
}

#[test]
fn a_forgotten_owned_request_keeps_its_buffer_and_a_dropped_one_is_over() {
    on_ranks("matched::a_forgotten_owned_request_keeps_its_buffer_and_a_dropped_one_is_over", |env| {
        let world = env.world();
        let other = world.size() - 1 - world.rank();
        mem::forget(world.irecv(vec![0_u8; 4096], other, 0)?);
        let dropped = world.irecv(vec![0_u8; 4096], other, 1)?;
        world.barrier()?;
        let reused: Vec<Vec<u8>> = (0..100).map(|_| vec![7; 4096]).collect();
        world.send(&[1_u8; 4096], other, 0)?;
        drop(world.isend([2_u8; 4096], other, 1)?);
        drop(dropped);
        let unmatched = world.irecv(vec![0_u8; 4096], other, 2)?;
        drop(unmatched); // it is given up
        drop(world.isendrecv(vec![3_u8; 8], other, 3, vec![0_u8; 8], other, 4)?);
        let mut sent = [0_u8; 8];
        world.recv(&mut sent, other, 3)?;
        assert_eq!(sent, [3; 8]);
        world.barrier()?;
        assert!(reused.iter().flatten().all(|&byte| byte == 7));
        Ok(())
    });
}

#[test]
fn who_fails_while_a_receive_is_under_way_is_told_so() {
    on_ranks("matched::who_fails_while_a_receive_is_under_way_is_told_so", |env| {
        let world = env.world();
        let other = world.size() - 1 - world.rank();
        let exchange = || {
            let receive = world.irecv([0_u8; 4], other, 0)?;
            world.send(&[1_u8; 4], world.size(), 0)?; // there is no such rank
            receive.wait()
        };
        assert_eq!(exchange().expect_err("there is none").class(), ErrorClass::Rank);
        world.barrier()
    });
}

#[test]
fn what_ends_within_an_element_is_received_as_no_number_of_them() {
    on_ranks("matched::what_ends_within_an_element_is_received_as_no_number_of_them", |env| {
        let this = env.this();
        let mut memory = [const { MaybeUninit::<u32>::uninit() }; 4];
        this.send(&[1_u8; 6], 0, 0)?;
        assert_eq!(this.recv_uninit(&mut memory, 0, 0).expect_err("6 bytes").class(), ErrorClass::Type);
        this.send(&[1_u8; 8], 0, 0)?;
        assert_eq!(this.recv_uninit(&mut memory, 0, 0)?.0, [0x0101_0101; 2]);
        Ok(())
    });
}

#[test]
fn owned_requests_are_awaited() {
    on_ranks("matched::owned_requests_are_awaited", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        world.driver().block_on(async {
            let left = world.irecv([0; 3], (rank + size - 1) % size, 0)?;
            drop(world.isend([rank; 3], (rank + 1) % size, 0)?.await?);
            assert_eq!(left.await?.0, [(rank + size - 1) % size; 3]);
            world.irecv(0, Source::Null, 0)?.into_future_that_is_dropped();
            Ok(())
        })
    });
}

trait Dropped: IntoFuture + Sized {
    fn into_future_that_is_dropped(self) {
        drop(self.into_future());
    }
}

impl<F: IntoFuture> Dropped for F {}
