//! Requests as futures.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Completion.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use oxmpi_base::{Function, Result};
use oxmpi_core::{Completion, RequestKey};

use crate::buffers::Buffers;
use crate::door::Door;
use crate::message::Status;
use crate::owned_request::OwnedRequest;
use crate::persistent::{Active, Persistent};
use crate::request::Request;
use crate::thread::{Funneled, ThreadLevel};

/// The future of a [`Request`], which is as good as that: `request.await` gives what [`Request::wait_status`] does.
///
/// It is polled again when its operation is over, and not before. If it is dropped, its operation is left to the
/// scope.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let mut sum = [0];
/// world.scope(|scope| {
///     let future = scope.allreduce(&[1], &mut sum, &oxmpi::Op::SUM)?.into_future();
///     let (sum, _) = world.driver().block_on(future)?;
///     assert_eq!(sum, &[2]);
///     Ok(())
/// })?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[must_use = "the buffer can be used before the end of the scope only when the request has been waited for"]
pub struct RequestFuture<'scope, R, L: ThreadLevel = Funneled> {
    watch: Watch<'scope, L>,
    /// Until it is complete.
    request: Option<Request<'scope, R, L>>,
}

/// The future of an [`Active`] persistent request: `active.await` gives what [`Active::wait`] does.
///
/// It is polled again when its operation is over, and not before. To drop it is to drop the request, which waits, or
/// gives a receive up.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let future = world.allreduce_init([1], [0], &oxmpi::Op::SUM)?.start()?.into_future();
/// let sum = world.driver().block_on(future)?; // inactive again
/// assert_eq!(sum.recv_buf(), [2]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping an active request waits for it"]
pub struct ActiveFuture<'env, B: Buffers, L: ThreadLevel = Funneled> {
    watch: Watch<'env, L>,
    /// Until it is complete.
    active: Option<Active<'env, B, L>>,
}

/// The future of an [`OwnedRequest`], which is as good as that: `request.await` gives what [`OwnedRequest::wait`] does.
///
/// It is polled again when its operation is over, and not before. To drop it is to drop the request, which waits.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let future = world.iallreduce([1], [0], &oxmpi::Op::SUM)?.into_future();
/// let ((_, sum), _) = world.driver().block_on(future)?;
/// assert_eq!(sum, [2]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping a request waits for it"]
pub struct OwnedFuture<'env, B: Buffers, L: ThreadLevel = Funneled> {
    watch: Watch<'env, L>,
    /// Until it is complete.
    request: Option<OwnedRequest<'env, B, L>>,
}

/// Looks at a request, and has a task woken for it.
struct Watch<'a, L> {
    door: Door<'a, L>,
    /// Until it is complete. A persistent one has this number again when it is started once more.
    key: Option<RequestKey>,
    /// Whether a waker has been left.
    is_watched: bool,
}

impl<'scope, R, L: ThreadLevel> IntoFuture for Request<'scope, R, L> {
    type Output = Result<(R, Status)>;
    type IntoFuture = RequestFuture<'scope, R, L>;

    fn into_future(self) -> RequestFuture<'scope, R, L> {
        RequestFuture { watch: Watch::new(self.door(), self.key()), request: Some(self) }
    }
}

impl<'env, B: Buffers, L: ThreadLevel> IntoFuture for Active<'env, B, L> {
    type Output = Result<Persistent<'env, B, L>>;
    type IntoFuture = ActiveFuture<'env, B, L>;

    fn into_future(self) -> ActiveFuture<'env, B, L> {
        self.release();
        let (door, key, _) = self.operation();
        ActiveFuture { watch: Watch::new(door, key), active: Some(self) }
    }
}

impl<'env, B: Buffers, L: ThreadLevel> IntoFuture for OwnedRequest<'env, B, L> {
    type Output = Result<(B::Given, Status)>;
    type IntoFuture = OwnedFuture<'env, B, L>;

    fn into_future(self) -> OwnedFuture<'env, B, L> {
        OwnedFuture { watch: Watch::new(self.door(), self.key()), request: Some(self) }
    }
}

impl<R, L: ThreadLevel> Future for RequestFuture<'_, R, L> {
    type Output = Result<(R, Status)>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let completion = ready!(self.watch.poll(context));
        let request = self.request.take().expect("it is there until it is complete");
        Poll::Ready(request.finish(completion))
    }
}

impl<'env, B: Buffers, L: ThreadLevel> Future for ActiveFuture<'env, B, L> {
    type Output = Result<Persistent<'env, B, L>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let completion = ready!(self.watch.poll(context));
        let active = self.active.take().expect("it is there until it is complete");
        Poll::Ready(active.finish(completion))
    }
}

impl<B: Buffers, L: ThreadLevel> Future for OwnedFuture<'_, B, L> {
    type Output = Result<(B::Given, Status)>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let completion = ready!(self.watch.poll(context));
        let request = self.request.take().expect("it is there until it is complete");
        Poll::Ready(request.finish(completion))
    }
}

impl<'scope, R, L: ThreadLevel> RequestFuture<'scope, R, L> {
    /// The request again, to be cancelled for instance; none if it is complete.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut answer = [-1];
    /// world.scope(|scope| {
    ///     let future = scope.recv(&mut answer, oxmpi::Source::Any, 7)?.into_future();
    ///     let request = future.into_request().expect("nobody has sent one");
    ///     assert!(request.cancel()?.1.is_none());
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "until the request has been waited for its buffer is lent"]
    pub fn into_request(self) -> Option<Request<'scope, R, L>> {
        self.request
    }
}

impl<'env, B: Buffers, L: ThreadLevel> ActiveFuture<'env, B, L> {
    /// The request again; none if it is complete.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let future = world.allreduce_init([1], [0], &oxmpi::Op::SUM)?.start()?.into_future();
    /// let active = future.into_request().expect("it was not polled");
    /// assert_eq!(active.wait()?.recv_buf(), [2]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "dropping an active request waits for it"]
    pub fn into_request(self) -> Option<Active<'env, B, L>> {
        self.active
    }
}

impl<'env, B: Buffers, L: ThreadLevel> OwnedFuture<'env, B, L> {
    /// The request again, to be cancelled for instance; none if it is complete.
    ///
    /// What a `select!` drops because something else came first is given up if no message has been matched to it. A
    /// future that is only borrowed there can go on, or be given up afterwards, when it tells whether it has received
    /// something:
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let receive = world.irecv([0], oxmpi::Source::Any, 7)?.into_future();
    /// // ... select! { done = &mut receive => ..., () = no_longer_wanted => ... } ...
    /// if let Some(request) = receive.into_request() {
    ///     assert!(request.cancel()?.1.is_none(), "nobody has sent one");
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "dropping a request waits for it"]
    pub fn into_request(self) -> Option<OwnedRequest<'env, B, L>> {
        self.request
    }
}

/// What they give is kept elsewhere.
impl<R, L: ThreadLevel> Unpin for RequestFuture<'_, R, L> {}
impl<B: Buffers, L: ThreadLevel> Unpin for ActiveFuture<'_, B, L> {}

impl<B: Buffers, L: ThreadLevel> Unpin for OwnedFuture<'_, B, L> {}

impl<'a, L> Watch<'a, L> {
    fn new(door: Door<'a, L>, key: RequestKey) -> Self {
        Self { door, key: Some(key), is_watched: false }
    }

    /// # Panics
    /// If it has been completed: who polls a future again that is over does what no future allows.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Completion> {
        let key = self.key.expect("a future that is over is not polled");
        let done = self.door.run(Function::Test, |process| process.complete_or_wake(key, context.waker()));
        self.is_watched = done.is_none();
        if done.is_some() {
            self.key = None;
        }
        done.map_or(Poll::Pending, Poll::Ready)
    }
}

impl<L> Drop for Watch<'_, L> {
    fn drop(&mut self) {
        if self.is_watched
            && let Some(key) = self.key
        {
            self.door.run(Function::Test, |process| process.forget_waker(key));
        }
    }
}

impl<R, L: ThreadLevel> fmt::Debug for RequestFuture<'_, R, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestFuture").field(&self.request).finish()
    }
}

impl<B: Buffers, L: ThreadLevel> fmt::Debug for ActiveFuture<'_, B, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveFuture").field("key", &self.watch.key).finish_non_exhaustive()
    }
}

impl<B: Buffers, L: ThreadLevel> fmt::Debug for OwnedFuture<'_, B, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedFuture").field(&self.request).finish()
    }
}
