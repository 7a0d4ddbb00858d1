//! Futures that are polled though they are over. No executor does that; who does has nothing of what is not its own.

use std::future::{Future, IntoFuture};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use oxmpi::{Communicator, Result};

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// What a future gives whose operation others have ended.
fn end<F: Future + Unpin>(future: &mut F) -> F::Output {
    match poll(future) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it is over"),
    }
}

fn panics<F: Future + Unpin>(future: &mut F) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(poll(future)))).is_err()
}

/// It has the same number as before: who is asked for it by an old future would give its end, or its waker, to that.
#[oxmpi::test(ranks = 1)]
fn an_old_future_does_not_end_what_its_request_does_now(world: Communicator<'_>) -> Result<()> {
    let receive = world.recv_init(0, 0, 0)?.start()?;
    world.send(&1, 0, 0)?;
    let mut old = receive.into_future();
    let receive = end(&mut old)?;
    assert_eq!(receive.buf(), [1]);
    let receive = receive.start()?;
    assert!(panics(&mut old), "while nothing has come");
    world.send(&2, 0, 0)?;
    assert!(panics(&mut old), "nor when it has");
    drop(old);
    assert_eq!(receive.wait()?.buf(), [2]);
    Ok(())
}

#[oxmpi::test(ranks = 1)]
fn a_future_whose_request_is_gone_asks_for_none(world: Communicator<'_>) -> Result<()> {
    world.send(&1, 0, 0)?;
    let mut owned = world.irecv(0, 0, 0)?.into_future();
    assert_eq!(end(&mut owned)?.0, [1]);
    assert!(panics(&mut owned));
    let mut buf = 0;
    world.scope(|scope| {
        world.send(&2, 0, 0)?;
        let mut borrowed = scope.recv(&mut buf, 0, 0)?.into_future();
        assert_eq!(end(&mut borrowed)?.0, &2);
        assert!(panics(&mut borrowed));
        Ok(())
    })
}
