//! Who moves the operations on that futures stand for, and wakes those that are waited for.
//!
//! MPI-5.0: Point-to-Point Communication, Nonblocking Communication, Progress.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::vec;

use oxmpi_base::Function;

use crate::communicator::Communicator;
use crate::door::Door;
use crate::environment::Environment;
use crate::thread::{Funneled, ThreadLevel};

/// What makes progress where futures are awaited: all operations of the process, on whatever communicator.
///
/// This crate has no thread of its own. A [`Request`](crate::Request) or [`Active`](crate::Active) request that is
/// awaited is moved on, like any other, by whatever call the program makes; but its task is woken by a driver alone,
/// when that finds that the operation is over. So there must be one:
///
/// | executor | driver |
/// |---|---|
/// | none, one thread | [`Driver::block_on`] runs a future, and sleeps when there is nothing to do |
/// | one of your own, one thread | it calls [`Driver::progress`] when no task is ready |
/// | one that does not let you, such as tokio's | a future of the thread with the requests calls [`Driver::progress`] again and again, and yields in between (the guide has a program) |
/// | several threads ([`Multiple`](crate::Multiple)) | a thread in [`Driver::block_on`], with a future that ends when the others have, wakes the tasks of all |
///
/// What it costs depends on what is over, not on what is outstanding: a future is polled once at first, and once when
/// its operation is over.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let (rank, size) = (world.rank(), world.size());
/// let (mine, mut left) = ([rank], [usize::MAX]);
/// world.scope(|scope| {
///     env.driver().block_on(async {
///         let receive = scope.recv(&mut left, (rank + size - 1) % size, 0)?;
///         let _ = scope.send(&mine, (rank + 1) % size, 0)?.await?;
///         let (left, _) = receive.await?;
///         assert_eq!(left[0], (rank + size - 1) % size);
///         Ok(())
///     })
/// })
/// # }
/// ```
#[derive(Debug)]
pub struct Driver<'env, L: ThreadLevel = Funneled>(Door<'env, L>);

impl<L: ThreadLevel> Environment<L> {
    /// What wakes those who await requests. See [`Driver`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let barrier = env.world().ibarrier()?;
    /// env.driver().block_on(async { barrier.await }).map(drop)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn driver(&self) -> Driver<'_, L> {
        Driver(self.door())
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// As [`Environment::driver`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let sum = world.iallreduce(1, 0, &oxmpi::Op::SUM)?;
    /// let ((_, sum), _) = world.driver().block_on(async { sum.await })?;
    /// assert_eq!(sum, [2]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn driver(&self) -> Driver<'env, L> {
        Driver(self.door)
    }
}

impl<L: ThreadLevel> Clone for Driver<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: ThreadLevel> Copy for Driver<'_, L> {}

impl<L: ThreadLevel> Driver<'_, L> {
    /// Runs a future to its end. Whenever it is not ready this moves everything on that can be, and wakes all tasks of
    /// the process whose operations are over. In between it looks and sleeps as a call that waits: whatever else wakes
    /// the future, another thread or a timer, wakes this thread too. See [`Driver`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let exchange = async {
    ///     let (receive, send) = (world.irecv(0, peer, 0)?, world.isend(7, peer, 0)?);
    ///     send.await?;
    ///     oxmpi::Result::Ok(receive.await?.0[0])
    /// };
    /// assert_eq!(world.driver().block_on(exchange)?, 7);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn block_on<F: Future>(self, future: F) -> F::Output {
        let mut future = pin!(future);
        let signal = self.0.run(Function::Wait, |process| process.signal());
        let waker = Waker::from(signal.clone());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
                return output;
            }
            loop {
                let due = self.0.run(Function::Wait, |process| process.wait_for_wakers(&signal));
                if wake(due) == 0 {
                    break; // the signal was given
                }
            }
        }
    }

    /// Moves everything on that can be, and wakes the tasks whose operations are over: how many. Does not wait, but a
    /// thread that finds nothing again and again offers its processor to ranks that need it. See [`Driver`].
    ///
    /// ```
    /// use std::future::Future;
    /// use std::pin::pin;
    /// use std::task::{Context, Poll, Waker};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut barrier = pin!(world.ibarrier()?.into_future());
    /// let mut context = Context::from_waker(Waker::noop());
    /// let done = loop {
    ///     if let Poll::Ready(done) = barrier.as_mut().poll(&mut context) {
    ///         break done;
    ///     }
    ///     world.driver().progress(); // and whatever else an executor does
    /// };
    /// done.map(drop)?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn progress(self) -> usize {
        wake(self.0.run(Function::Testany, |process| process.due_wakers()))
    }
}

/// Wakes all; how many. Not inside of a call: nobody knows what a waker does.
fn wake(due: Vec<Waker>) -> usize {
    let count = due.len();
    Due(due.into_iter()).wake();
    count
}

/// Wakers that are due.
struct Due(vec::IntoIter<Waker>);

impl Due {
    fn wake(&mut self) {
        self.0.by_ref().for_each(Waker::wake);
    }
}

impl Drop for Due {
    /// If one has panicked, nobody else would wake the others.
    fn drop(&mut self) {
        self.wake();
    }
}
