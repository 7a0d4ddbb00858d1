//! Persistent requests: made once, started and completed any number of times.
//!
//! The type says whether a request is active. An inactive one ([`Persistent`]) gives access to its buffers; an
//! active one ([`Active`]) does not, so what is being sent cannot be changed and what is being received cannot
//! be read. The buffers lie on the heap and belong to the request: if it is forgotten, so are they.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests; Collective Communication,
//! Persistent Collective Operations.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr;
use std::thread;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Completion, RequestKey};

use crate::buffers::{Buffers, Hold, One, Two};
use crate::datatype::Datatype;
use crate::door::Door;
use crate::message::Status;
use crate::thread::{Funneled, ThreadLevel};

/// An inactive persistent request and its buffers `B`: none `()`, [`One`], [`Two`], or those of a partitioned message.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let mut sum = world.allreduce_init(vec![0.0], vec![0.0], &oxmpi::Op::SUM)?;
/// for step in 0..10 {
///     sum.send_buf_mut()[0] = f64::from(step);
///     let active = sum.start()?;
///     // ... compute meanwhile ...
///     sum = active.wait()?;
///     assert_eq!(sum.recv_buf()[0], f64::from(step) * world.size() as f64);
/// }
/// # Ok(())
/// # }
/// ```
///
/// A buffer of an active request cannot be read:
///
/// ```compile_fail,E0599
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// # let world = env.world();
/// let sum = world.allreduce_init(vec![1.0], vec![0.0], &oxmpi::Op::SUM)?;
/// let active = sum.start()?;
/// println!("{}", active.recv_buf()[0]);
/// # Ok(())
/// # }
/// ```
///
/// nor through a reference taken before the start:
///
/// ```compile_fail,E0505
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// # let world = env.world();
/// let sum = world.allreduce_init(vec![1.0], vec![0.0], &oxmpi::Op::SUM)?;
/// let result = sum.recv_buf();
/// let active = sum.start()?;
/// println!("{}", result[0]);
/// # Ok(())
/// # }
/// ```
///
/// nor can a request be started twice:
///
/// ```compile_fail,E0382
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let barrier = env.world().barrier_init()?;
/// let first = barrier.start()?;
/// let second = barrier.start()?;
/// # Ok(())
/// # }
/// ```
///
/// nor can one be completed, or tested, that has not been started:
///
/// ```compile_fail,E0599
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let barrier = env.world().barrier_init()?;
/// barrier.wait().map(drop)
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let barrier = env.world().barrier_init()?;
/// barrier.test().map(drop)
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a request does nothing until it is started"]
pub struct Persistent<'env, B: Buffers, L: ThreadLevel = Funneled>(Box<Handle<'env, B, L>>);

/// An active persistent request. See [`Persistent`].
///
/// Dropping it waits for the operation. A receive that no message has been matched to is given up instead, since its
/// message may never come: the buffer is as it was, and a message that comes after all is for who receives next. (What
/// is received in partitions is waited for.) While a panic unwinds, dropping leaves the buffers to the operation.
///
/// ```
/// use oxmpi::Active;
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let barrier = world.barrier_init()?;
/// let active: Active<'_, ()> = barrier.start()?;
/// while !active.test()? {
///     // ... compute meanwhile ...
/// }
/// let _inactive = active.wait()?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "dropping an active request waits for it"]
pub struct Active<'env, B: Buffers, L: ThreadLevel = Funneled>(Box<Handle<'env, B, L>>);

/// A request with what it uses, in either state. Its place is on the heap: starting and completing move an address.
struct Handle<'env, B: Buffers, L> {
    door: Door<'env, L>,
    key: RequestKey,
    /// The function that has made it, if it is a collective.
    collective: Option<Function>,
    /// Whether it is a receive, which alone is cancelled; not of a message in partitions.
    is_receive: bool,
    buffers: B,
}

impl<'env, B: Buffers, L: ThreadLevel> Persistent<'env, B, L> {
    /// The request `key` of a message, which `function` has made, and which uses `buffers` and nothing else.
    pub(crate) fn message(door: Door<'env, L>, key: RequestKey, function: Function, buffers: B) -> Self {
        let is_receive = matches!(function, Function::RecvInit);
        Self(Box::new(Handle { door, key, collective: None, is_receive, buffers }))
    }

    /// The same of a collective.
    pub(crate) fn collective(door: Door<'env, L>, key: RequestKey, function: Function, buffers: B) -> Self {
        Self(Box::new(Handle { door, key, collective: Some(function), is_receive: false, buffers }))
    }

    /// Starts the operation.
    ///
    /// # Errors
    /// `Buffer` if there is no room for a message in the [buffered](crate::Buffered) mode; the request is freed then.
    /// What else goes wrong is told by [`Active::wait`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let barrier = env.world().barrier_init()?;
    /// let active = barrier.start()?;
    /// // ... compute meanwhile ...
    /// let barrier = active.wait()?;
    /// barrier.start()?.wait().map(drop)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn start(mut self) -> Result<Active<'env, B, L>> {
        let (door, key) = (self.0.door, self.0.key);
        self.0.buffers.begin();
        door.call(Function::Start, |process| process.start(key))?;
        Ok(Active(self.0))
    }

    /// What the last message received says about itself.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let receive = this.recv_init([0; 4], 0, 0)?.start()?;
    /// this.send(&[1, 2], 0, 0)?;
    /// assert_eq!(receive.wait()?.status().count::<i32>(), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    pub fn status(&self) -> Status {
        let (door, key) = (self.0.door, self.0.key);
        door.run(Function::RequestGetStatus, |process| process.last_status(key)).into()
    }

    /// The algorithm that a collective is carried out by, as `oxmpi plan` calls it, if there are several. All ranks
    /// have the same. See [`Communicator::planned`](crate::Communicator::planned).
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let sum = world.planned(oxmpi::Plan::Measure).allreduce_init([0; 500], [0; 500], &oxmpi::Op::SUM)?;
    /// println!("of 500 elements: by {}", sum.algorithm().expect("there are several"));
    /// assert_eq!(world.send_init([1], 1, 0)?.algorithm(), None, "it is no collective");
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn algorithm(&self) -> Option<&'static str> {
        let (door, key) = (self.0.door, self.0.key);
        door.run(Function::RequestGetStatus, |process| process.algorithm(key))
    }

    /// Frees the request, and gives its buffers back, as an [`OwnedRequest`](crate::OwnedRequest) does at its end:
    /// the vector of a message, those of a collective in the order of its arguments. What a scope has lent comes back
    /// when that ends.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut sum = world.allreduce_init(vec![1; 1000], vec![0; 1000], &oxmpi::Op::SUM)?;
    /// for _ in 0..3 {
    ///     sum = sum.start()?.wait()?;
    /// }
    /// let (mine, all) = sum.into_buffers();
    /// assert_eq!((mine, all), (vec![1; 1000], vec![2; 1000]));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_buffers(self) -> B::Given {
        let mut handle = ManuallyDrop::new(*self.0);
        handle.free();
        // SAFETY: nobody uses the handle any more, and nothing of it is dropped.
        unsafe { ptr::read(&raw const handle.buffers) }.give()
    }

    pub(crate) fn key(&self) -> RequestKey {
        self.0.key
    }

    /// Whether it is a receive, which alone is cancelled.
    pub(crate) fn is_receive(&self) -> bool {
        self.0.is_receive
    }

    pub(crate) fn buffers(&self) -> &B {
        &self.0.buffers
    }

    pub(crate) fn buffers_mut(&mut self) -> &mut B {
        &mut self.0.buffers
    }
}

impl<'env, B: Buffers, L: ThreadLevel> Active<'env, B, L> {
    /// Waits until the operation is complete. See [`Persistent`].
    ///
    /// # Errors
    /// That of the operation, such as `Truncate`; the request is freed then.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let sum = world.allreduce_init([1.5], [0.0], &oxmpi::Op::SUM)?;
    /// let active = sum.start()?;
    /// // ... compute meanwhile ...
    /// let sum = active.wait()?;
    /// assert_eq!(sum.recv_buf(), [3.0]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(mut self) -> Result<Persistent<'env, B, L>> {
        let outcome = self.0.wait();
        self.0.looked_at(outcome)?;
        Ok(Persistent(self.0))
    }

    /// Whether [`Active::wait`] would return at once.
    ///
    /// # Errors
    /// None yet.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let receive = this.recv_init([0], 0, 0)?.start()?;
    /// assert!(!receive.test()?);
    /// this.send(&[1], 0, 0)?;
    /// while !receive.test()? {}
    /// assert_eq!(receive.wait()?.buf(), [1]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn test(&self) -> Result<bool> {
        let (door, key) = (self.0.door, self.0.key);
        Ok(door.call(Function::RequestGetStatus, |process| process.request_status(key))?.is_some())
    }

    /// The inactive request, of whose operation this is the completion.
    pub(crate) fn finish(mut self, completion: Completion) -> Result<Persistent<'env, B, L>> {
        let outcome = self.0.door.outcome(completion, self.0.collective);
        self.0.looked_at(outcome)?;
        Ok(Persistent(self.0))
    }

    /// Ends a receive that no message has matched yet.
    pub(crate) fn cancel(&self) {
        self.0.cancel();
    }

    /// Lets the operation have all that the program still keeps from it.
    pub(crate) fn release(&self) {
        self.0.release();
    }

    /// The operation, and what it uses.
    pub(crate) fn operation(&self) -> (Door<'env, L>, RequestKey, &B) {
        (self.0.door, self.0.key, &self.0.buffers)
    }
}

impl<T: Datatype, M: Hold<T>, L: ThreadLevel> Persistent<'_, One<T, M>, L> {
    /// The buffer. See [`Persistent`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut max = world.allreduce_in_place_init([world.rank(), 7], &oxmpi::Op::MAX)?;
    /// assert_eq!(max.buf(), [world.rank(), 7]);
    /// max = max.start()?.wait()?;
    /// assert_eq!(max.buf(), [1, 7]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn buf(&self) -> M::Ref<'_> {
        self.0.buffers.memory.elements()
    }

    /// The buffer, to fill it. See [`Persistent`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut sum = world.allreduce_in_place_init([0; 3], &oxmpi::Op::SUM)?;
    /// sum.buf_mut().copy_from_slice(&[1, 2, 3]);
    /// assert_eq!(sum.start()?.wait()?.buf(), [2, 4, 6]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn buf_mut(&mut self) -> M::Mut<'_> {
        self.0.buffers.memory.elements_mut()
    }
}

impl<T: Datatype, S: Hold<T>, R: Hold<T>, L: ThreadLevel> Persistent<'_, Two<T, S, R>, L> {
    /// What is sent. See [`Two`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let sum = world.allreduce_init([1, 2], [0; 2], &oxmpi::Op::SUM)?.start()?.wait()?;
    /// assert_eq!(sum.send_buf(), [1, 2], "what is sent stays as it is");
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_buf(&self) -> S::Ref<'_> {
        self.0.buffers.send.elements()
    }

    /// What is sent, to fill it. See [`Two`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut sum = world.allreduce_init([0; 2], [0; 2], &oxmpi::Op::SUM)?;
    /// sum.send_buf_mut()[world.rank()] = 5;
    /// assert_eq!(sum.start()?.wait()?.recv_buf(), [5, 5]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_buf_mut(&mut self) -> S::Mut<'_> {
        self.0.buffers.send.elements_mut()
    }

    /// What has been received. See [`Two`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let ranks = world.allgather_init(world.rank(), [9; 2])?.start()?.wait()?;
    /// assert_eq!(ranks.recv_buf(), [0, 1]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_buf(&self) -> R::Ref<'_> {
        self.0.buffers.recv.elements()
    }

    /// What has been received, to change it. See [`Two`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut ranks = world.allgather_init(world.rank(), [9; 2])?.start()?.wait()?;
    /// ranks.recv_buf_mut().reverse(); // until it is started again
    /// assert_eq!(ranks.recv_buf(), [1, 0]);
    /// assert_eq!(ranks.start()?.wait()?.recv_buf(), [0, 1]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_buf_mut(&mut self) -> R::Mut<'_> {
        self.0.buffers.recv.elements_mut()
    }
}

impl<B: Buffers, L> Handle<'_, B, L> {
    fn release(&self) {
        self.buffers.release(&mut |partition| {
            let marked = self.door.quietly(Function::Pready, |process| process.pready(self.key, partition));
            marked.expect("a partition that is not ready can be made so");
        });
    }

    fn wait(&mut self) -> Result<()> {
        self.release();
        self.door.wait_for_end(self.key, self.collective)
    }

    fn cancel(&self) {
        let cancelled = self.door.cancel(self.key, self.is_receive);
        cancelled.expect("a receive that is active can be cancelled");
    }

    fn free(&mut self) {
        let key = self.key;
        let freed = self.door.call(Function::RequestFree, |process| process.request_free(key));
        freed.expect("an inactive request can be freed");
    }

    /// How an operation has ended, once what it has written has been looked at: that is done however it has ended,
    /// since a scope gives back what it has lent.
    #[inline(always)] // there is nothing to do for numbers
    fn looked_at<R>(&mut self, outcome: Result<R>) -> Result<R> {
        let looked = self.door.placed(Function::Wait, self.buffers.check());
        outcome.and_then(|value| looked.map(|()| value))
    }
}

impl<B: Buffers, L> Drop for Handle<'_, B, L> {
    fn drop(&mut self) {
        let key = self.key;
        let is_active = self.door.call(Function::RequestGetStatus, |process| process.is_active(key));
        let is_active = is_active.expect("a request exists until it is dropped");
        if is_active && thread::panicking() {
            return self.buffers.leak();
        }
        if is_active {
            if self.is_receive {
                self.cancel();
            }
            // Who drops the request does not want to know how it ends.
            let outcome = self.wait();
            drop(self.looked_at(outcome));
        }
        self.free();
    }
}

impl<B: Buffers, L> fmt::Debug for Handle<'_, B, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("key", &self.key).finish_non_exhaustive()
    }
}
