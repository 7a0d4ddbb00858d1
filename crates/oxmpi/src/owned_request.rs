//! Nonblocking operations that keep their buffers: begun without a scope, and as free as values.
//!
//! MPI-5.0: Point-to-Point Communication, Nonblocking Communication; Collective Communication, Nonblocking Collective
//! Operations.

use std::fmt;
use std::thread;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Completion, Process, RequestKey};
use oxmpi_datatype::Buffer as Memory;

use crate::buffer::OwnedBuffer;
use crate::buffers::{Buffers, One, Two};
use crate::collective::{self, Collective};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::door::Door;
use crate::kept::Kept;
use crate::loan::Loan;
use crate::message::{Source, Status, TagPattern};
use crate::thread::{Funneled, ThreadLevel};

/// A nonblocking operation that has been begun, and its buffers `B`, which it gives back when it is complete.
///
/// Where a [`Request`](crate::Request) borrows, and ends with its scope, this owns: it can be returned, and kept in
/// structures. If it is dropped, it is waited for, but a receive that no message has been matched to is given up, as by
/// [`OwnedRequest::cancel`]: whoever should have sent the message may have failed, as who drops the request. If it is
/// forgotten, its buffers stay allocated.
///
/// ```
/// use oxmpi::{Communicator, One, OwnedRequest, Result};
///
/// fn begin<'env>(world: &Communicator<'env>) -> Result<OwnedRequest<'env, One<usize>>> {
///     let (rank, size) = (world.rank(), world.size());
///     drop(world.isend(vec![rank; 3], (rank + 1) % size, 0)?);
///     world.irecv(vec![0; 3], (rank + size - 1) % size, 0)
/// }
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let (left, status) = begin(&world)?.wait()?;
/// assert_eq!((left[2], status.count::<usize>()), (status.source().unwrap_or(0), Some(3)));
/// # Ok(())
/// # }
/// ```
///
/// Its buffers are not there meanwhile:
///
/// ```compile_fail,E0382
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let buf = vec![0; 3];
/// let request = env.this().irecv(buf, 0, 0)?;
/// println!("{}", buf[0]);
/// # drop(request);
/// # Ok(())
/// # }
/// ```
///
/// and it is completed once:
///
/// ```compile_fail,E0382
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let receive = env.this().irecv(0, 0, 0)?;
/// receive.wait()?;
/// receive.wait().map(drop)
/// # }
/// ```
#[must_use = "dropping a request waits for it, or gives it up"]
pub struct OwnedRequest<'env, B: Buffers, L: ThreadLevel = Funneled> {
    door: Door<'env, L>,
    key: RequestKey,
    /// The function that has begun it, if it is a collective.
    collective: Option<Function>,
    /// Whether it is a receive, which alone is cancelled.
    is_receive: bool,
    /// Whether it receives a message, perhaps beside a send: that is given up when it is dropped.
    receives: bool,
    /// Until it is complete.
    buffers: Option<B>,
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Begins to receive the first message that matches, into what the request keeps until then.
    ///
    /// # Errors
    /// `Rank` if `source` is not a rank; `Tag` if the tag is negative.
    ///
    /// ```
    /// use oxmpi::{Shape, Source, ViewVec};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// // Into the second column of a matrix of 3 rows.
    /// let column = ViewVec::new(vec![0; 6], &Shape::indexed([1..2, 3..4, 5..6]))?;
    /// let receive = world.irecv(column, Source::Any, 0)?;
    /// drop(world.isend([1, 2, 3], (rank + 1) % size, 0)?);
    /// assert_eq!(receive.wait()?.0, [0, 1, 0, 2, 0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn irecv<B: OwnedBuffer>(
        &self,
        buf: B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
        let (source, tag) = (source.into(), tag.into().to_core());
        self.owned(Function::Irecv, buf.own().within(One::new), |process, memory| {
            process.irecv(&self.comm, memory, source.to_core()?, tag)
        })
    }

    pub(crate) fn begin_on_one<B: OwnedBuffer, C: Collective<'static>>(
        &self,
        buf: B,
        describe: impl FnOnce(Loan<'static>) -> C,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
        self.owned_collective(buf.own().within(One::new).describe(describe))
    }

    pub(crate) fn begin_on_two<S, R, C>(
        &self,
        send: S,
        recv: R,
        describe: impl FnOnce(Loan<'static>, Loan<'static>) -> C,
    ) -> Result<OwnedRequest<'env, Two<R::Element>, L>>
    where
        S: OwnedBuffer<Element = R::Element>,
        R: OwnedBuffer,
        C: Collective<'static>,
    {
        let both = send.own().and(recv.own()).within(|(send, recv)| Two::new(send, recv));
        self.owned_collective(both.describe(|(send, recv)| describe(send, recv)))
    }

    /// Begins a collective in memory that the request keeps.
    pub(crate) fn owned_collective<B: Buffers, C: Collective<'static>>(
        &self,
        kept: Kept<B, C>,
    ) -> Result<OwnedRequest<'env, B, L>> {
        let function = C::FUNCTIONS.nonblocking;
        let begin = |process: &Process, collective: C| {
            // SAFETY: the request keeps the memory until it is complete; the arguments go no further than the operation
            // does.
            let arguments = unsafe { collective::arguments(function, &collective) };
            // SAFETY: as above.
            let describe = || unsafe { collective.bind(process, &self.comm) };
            process.call_nonblocking(&self.comm, arguments.as_ref(), describe)
        };
        // SAFETY: no scope has lent it.
        unsafe { OwnedRequest::begun(self.door, function, Some(function), kept, begin) }
    }

    /// Begins a message in memory that the request keeps.
    pub(crate) fn owned<B: Buffers>(
        &self,
        function: Function,
        kept: Kept<B, Loan<'static>>,
        begin: impl FnOnce(&'env Process, Memory) -> Result<RequestKey>,
    ) -> Result<OwnedRequest<'env, B, L>> {
        OwnedRequest::message(self.door, function, kept, begin)
    }
}

impl<'env, B: Buffers, L: ThreadLevel> OwnedRequest<'env, B, L> {
    /// That of a message in memory that it keeps, which `begin` begins with the memory.
    ///
    /// # Errors
    /// Those of `begin`.
    pub(crate) fn message(
        door: Door<'env, L>,
        function: Function,
        kept: Kept<B, Loan<'static>>,
        begin: impl FnOnce(&'env Process, Memory) -> Result<RequestKey>,
    ) -> Result<Self> {
        let begin = |process, loan: Loan<'static>| {
            // SAFETY: the request keeps the memory until it is complete, and owns it.
            begin(process, unsafe { loan.claim() })
        };
        // SAFETY: no scope has lent it.
        unsafe { Self::begun(door, function, None, kept, begin) }
    }

    /// That of an operation which `begin` begins with what is described of the loans; `collective` says by which
    /// function if it is a collective.
    ///
    /// # Errors
    /// Those of `begin`.
    ///
    /// # Safety
    /// No scope has lent the memory: it is the request's own.
    pub(crate) unsafe fn begun<C>(
        door: Door<'env, L>,
        function: Function,
        collective: Option<Function>,
        kept: Kept<B, C>,
        begin: impl FnOnce(&'env Process, C) -> Result<RequestKey>,
    ) -> Result<Self> {
        // SAFETY: the request keeps the buffers until it is complete.
        let (buffers, described) = unsafe { kept.apart() };
        let key = door.call(function, |process| begin(process, described))?;
        let is_receive = matches!(function, Function::Imrecv | Function::Irecv);
        let is_both = matches!(function, Function::Isendrecv | Function::IsendrecvReplace);
        let (receives, buffers) = (is_receive || is_both, Some(buffers));
        Ok(Self { door, key, collective, is_receive, receives, buffers })
    }

    /// Waits until the operation is complete: gives its buffers back, and what a received message says about itself.
    /// See [`OwnedRequest`].
    ///
    /// # Errors
    /// That of the operation, such as `Truncate`; the buffers are dropped then.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let receive = world.irecv([0; 9], oxmpi::Source::Any, 0)?;
    /// world.send(&[1, 2, 3], peer, 0)?;
    /// let (buf, status) = receive.wait()?;
    /// assert_eq!((status.source(), status.count::<i32>()), (Some(peer), Some(3)));
    /// assert_eq!(buf[..3], [1, 2, 3]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(mut self) -> Result<(B::Given, Status)> {
        let mut status = Status::EMPTY;
        let outcome = self.door.wait(self.key, self.collective, status.as_mut());
        let buffers = self.buffers.take().expect("a request is completed once");
        outcome?;
        self.give(buffers, status)
    }

    /// Whether [`OwnedRequest::wait`] would return at once.
    ///
    /// # Errors
    /// None yet.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let receive = this.irecv(0, 0, 0)?;
    /// assert!(!receive.test()?);
    /// this.send(&5, 0, 0)?;
    /// while !receive.test()? {}
    /// assert_eq!(receive.wait()?.0, [5]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn test(&self) -> Result<bool> {
        let status = self.door.call(Function::RequestGetStatus, |process| process.request_status(self.key));
        Ok(status?.is_some())
    }

    /// What the operation gives back, of which this is the completion.
    pub(crate) fn finish(mut self, completion: Completion) -> Result<(B::Given, Status)> {
        let buffers = self.buffers.take().expect("a request is completed once");
        let status = self.door.outcome(completion, self.collective)?;
        self.give(buffers, status.into())
    }

    /// The buffers of an operation that is over, once what it has written has been looked at.
    fn give(&self, mut buffers: B, status: Status) -> Result<(B::Given, Status)> {
        self.door.placed(Function::Wait, buffers.check())?;
        Ok((buffers.give(), status))
    }

    pub(crate) fn door(&self) -> Door<'env, L> {
        self.door
    }

    pub(crate) fn key(&self) -> RequestKey {
        self.key
    }
}

impl<T: Datatype, L: ThreadLevel> OwnedRequest<'_, One<T>, L> {
    /// Gives a receive up, unless a message has been matched to it: the buffer, as it was, and no status. What has been
    /// matched is waited for, and received as by [`OwnedRequest::wait`].
    ///
    /// # Errors
    /// That of the message; `Request` if the operation is more than a receive, or none, which is waited for. The buffer
    /// is dropped then.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let receive = world.irecv([-1; 2], oxmpi::Source::Any, 7)?;
    /// // ... it is not wanted any more ...
    /// let (buf, status) = receive.cancel()?;
    /// assert!(status.is_none(), "nobody has sent anything");
    /// assert_eq!(buf, [-1; 2]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(self) -> Result<(<One<T> as Buffers>::Given, Option<Status>)> {
        self.door.cancel(self.key, self.is_receive)?;
        let (given, status) = self.wait()?;
        Ok((given, status.unless_cancelled()))
    }
}

impl<B: Buffers, L: ThreadLevel> Drop for OwnedRequest<'_, B, L> {
    fn drop(&mut self) {
        let Some(mut buffers) = self.buffers.take() else { return };
        if thread::panicking() {
            return buffers.leak();
        }
        if self.receives {
            self.door.cancel(self.key, true).expect("a receive that is under way, or over, can be cancelled");
        }
        // Who drops the request does not want to know how it ends.
        let _ = self.door.wait_for_end(self.key, self.collective);
    }
}

impl<B: Buffers, L: ThreadLevel> fmt::Debug for OwnedRequest<'_, B, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedRequest").field("key", &self.key).finish_non_exhaustive()
    }
}
