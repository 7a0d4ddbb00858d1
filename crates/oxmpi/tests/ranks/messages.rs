//! Messages: wildcards, order, length, and requests of all lifetimes that meet.

use oxmpi::{Dest, ErrorClass, Op, Source, Status, TagPattern};

use crate::job::on_ranks;

#[test]
fn a_ring_of_persistent_requests_goes_round() {
    on_ranks("messages::a_ring_of_persistent_requests_goes_round", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let left = (rank + size - 1) % size;
        for count in [0, 1, 100, 50_000] {
            let mut send = world.send_init(vec![0; count], (rank + 1) % size, 3)?;
            let mut recv = world.recv_init(vec![0; count], left, 3)?;
            for step in 0..5 {
                send.buf_mut().fill(rank + step);
                (recv, send) = oxmpi::wait_all(oxmpi::start_all((recv, send))?)?;
                assert_eq!(recv.buf(), vec![left + step; count]);
                assert_eq!(
                    (recv.status().source(), recv.status().count::<usize>()),
                    (Some(left), Some(count))
                );
            }
        }
        Ok(())
    });
}

#[test]
fn a_persistent_request_keeps_what_its_last_message_said() {
    on_ranks("messages::a_persistent_request_keeps_what_its_last_message_said", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let left = (rank + size - 1) % size;
        let said = |status: Status| (status.source(), status.tag(), status.count::<u16>());
        let nothing = (None, None, Some(0));
        let mut recv = world.recv_init([0_u16; 4], Source::Any, TagPattern::Any)?;
        assert_eq!(said(recv.status()), nothing, "it was never started");
        for (step, count) in (0..6).zip([4, 0, 1, 3, 2, 4]) {
            let mut send = world.send_init(vec![7_u16; count], (rank + 1) % size, step)?;
            let active = recv.start()?;
            if step % 2 == 0 {
                send = send.start()?.wait()?;
                recv = active.wait()?;
            } else {
                (recv, send) = oxmpi::wait_all((active, send.start()?))?;
            }
            assert_eq!(said(recv.status()), (Some(left), Some(step), Some(count)));
            assert_eq!(said(send.status()), nothing, "it was a send");
            world.barrier()?;
        }
        let mut nobody = world.recv_init([0_u16; 4], Source::Null, 0)?;
        nobody = nobody.start()?.wait()?;
        assert_eq!((nobody.status().source(), nobody.status().count::<u16>()), (None, Some(0)));
        let sum = world.allreduce_init([1_u16], [0], &Op::SUM)?.start()?.wait()?;
        assert_eq!(said(sum.status()), nothing, "it was a collective");
        Ok(())
    });
}

#[test]
fn a_wildcard_receives_from_everybody_and_each_sender_in_order() {
    on_ranks("messages::a_wildcard_receives_from_everybody_and_each_sender_in_order", |env| {
        let world = env.world();
        let others = world.size() - 1;
        if world.rank() > 0 {
            return (0..10).try_for_each(|number| world.send(&[number], 0, number));
        }
        let mut next = vec![0; world.size()];
        for _ in 0..10 * others {
            let mut number = [-1];
            let status = world.recv(&mut number, Source::Any, TagPattern::Any)?;
            let source = status.source().expect("somebody has sent");
            assert_eq!((number[0], status.tag()), (next[source], Some(next[source])));
            next[source] += 1;
        }
        assert!(next[1..].iter().all(|&count| count == 10));
        Ok(())
    });
}

#[test]
fn requests_of_all_lifetimes_match_each_other() {
    on_ranks("messages::requests_of_all_lifetimes_match_each_other", |env| {
        let world = env.world();
        let (rank, size) = (world.rank(), world.size());
        let (right, left) = ((rank + 1) % size, (rank + size - 1) % size);
        let mut buf = [usize::MAX];
        // A nonblocking send meets a persistent receive, and a persistent synchronous one a probe.
        let recv = world.recv_init(vec![usize::MAX], left, 0)?.start()?;
        world.scope(|scope| scope.send(&[7usize], right, 0).map(drop))?;
        assert_eq!(recv.wait()?.buf(), [7]);
        let send = world.ssend_init(vec![rank], right, 1)?.start()?;
        let expected = world.probe(left, 1)?.count::<usize>();
        assert_eq!(expected, Some(1));
        world.recv(&mut buf, left, 1)?;
        assert_eq!(send.wait()?.buf(), [rank]);
        assert_eq!(buf, [left]);
        Ok(())
    });
}

#[test]
fn nobody_is_a_partner_too() {
    on_ranks("messages::nobody_is_a_partner_too", |env| {
        let world = env.world();
        let mut buf = [5];
        world.send(&[1], Dest::Null, 0)?;
        let status: Status = world.recv(&mut buf, Source::Null, 0)?;
        assert_eq!((buf, status.source(), status.bytes()), ([5], None, 0));
        Ok(())
    });
}

#[test]
fn bad_arguments_and_long_messages_have_their_class() {
    on_ranks("messages::bad_arguments_and_long_messages_have_their_class", |env| {
        let this = env.this();
        let error = this.send(&[1], usize::MAX, 0).expect_err("there is one rank");
        assert_eq!((error.class(), error.function()), (ErrorClass::Rank, Some("MPI_Send")));
        assert_eq!(this.send(&[1], 1, 0).err().map(|error| error.class()), Some(ErrorClass::Rank));
        assert_eq!(this.send(&[1], 0, -5).err().map(|error| error.class()), Some(ErrorClass::Tag));
        let mut short = [0; 2];
        let sent = [1, 2, 3];
        let error = this.scope(|scope| {
            let _ = scope.send(&sent, 0, 0)?;
            scope.recv(&mut short, 0, 0)?.wait().map(drop)
        });
        assert_eq!(error.err().map(|error| error.class()), Some(ErrorClass::Truncate));
        assert_eq!(short, [1, 2], "the beginning of the message");
        Ok(())
    });
}
