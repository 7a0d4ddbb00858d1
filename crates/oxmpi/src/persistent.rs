//! Persistent requests: made once, started and completed any number of times.
//!
//! The type says whether a request is active. An inactive one ([`Persistent`]) gives access to its buffers; an
//! active one ([`Active`]) does not, so what is being sent cannot be changed and what is being received cannot
//! be read. The buffers lie on the heap and belong to the request: if it is forgotten, so are they.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests; Collective Communication,
//! Persistent Collective Operations.

use std::fmt;
use std::marker::PhantomData;
use std::thread;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Completion, RequestKey};

use crate::buffer::{Access, Buffer};
use crate::datatype::Datatype;
use crate::door::Door;
use crate::loan::{Lent, Owned};
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
///     sum.send_mut()[0] = f64::from(step);
///     let active = sum.start()?;
///     // ... compute meanwhile ...
///     sum = active.wait()?;
///     assert_eq!(sum.recv()[0], f64::from(step) * world.size() as f64);
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
/// println!("{}", active.recv()[0]);
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
/// let result = sum.recv();
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
#[derive(Debug)]
#[must_use = "a request does nothing until it is started"]
pub struct Persistent<'env, B: Buffers, L: ThreadLevel = Funneled>(Box<Handle<'env, B, L>>);

/// An active persistent request. See [`Persistent`].
///
/// Dropping it waits for the operation; while a panic unwinds, it leaves the buffers to the operation instead.
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

/// One buffer: that of a message or a broadcast, or of a reduction in place; owned, or borrowed in a scope
/// ([`Lent`]).
///
/// ```
/// use oxmpi::{One, Persistent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// /// What is sent again and again.
/// struct Status<'env> {
///     message: Persistent<'env, One<f64>>,
/// }
///
/// let peer = 1 - world.rank();
/// let mut status = Status { message: world.send_init([0.0; 3], peer, 0)? };
/// status.message.buf_mut()[0] = 1.5;
/// status.message = status.message.start()?.wait()?;
/// assert_eq!(world.recv_vec::<f64>(peer, 0)?.0, [1.5, 0.0, 0.0]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct One<T: Datatype, M: Hold<T> = Owned<T>> {
    memory: M,
    element: PhantomData<fn() -> T>,
}

/// A buffer to send from and one to receive into.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let mut sum = world.allreduce_init([0; 2], [0; 2], &oxmpi::Op::SUM)?;
/// for step in 1..4 {
///     sum.send_mut().fill(step);
///     sum = sum.start()?.wait()?;
///     assert_eq!((sum.send(), sum.recv()), (&[step; 2][..], &[2 * step; 2][..]));
/// }
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Two<T: Datatype, S: Hold<T> = Owned<T>, R: Hold<T> = Owned<T>> {
    send: S,
    recv: R,
    element: PhantomData<fn() -> T>,
}

/// One buffer that a scope has borrowed, which gives access to `V`: `[T]`, `T` or `ViewMut<T>`.
/// See [`Scope::recv_init`](crate::Scope::recv_init).
///
/// ```
/// use oxmpi::{OneLent, Persistent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn doubled<'b>(mut sum: Persistent<'b, OneLent<'b, [i32]>>) -> oxmpi::Result<()> {
///     sum.buf_mut().fill(5);
///     assert_eq!(sum.start()?.wait()?.buf(), [10; 2]);
///     Ok(())
/// }
///
/// let mut field = [0; 2];
/// world.scope(|scope| doubled(scope.allreduce_in_place_init(&mut field, &oxmpi::Op::SUM)?))?;
/// assert_eq!(field, [10; 2]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub type OneLent<'b, V> = One<<V as Buffer>::Element, Lent<'b, V>>;

/// Two buffers that a scope has borrowed. See [`Scope`](crate::Scope).
///
/// ```
/// use oxmpi::{Persistent, TwoLent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn summed<'b>(sum: Persistent<'b, TwoLent<'b, [i32]>>) -> oxmpi::Result<i32> {
///     Ok(sum.start()?.wait()?.recv()[0])
/// }
///
/// let (mut mine, mut sums) = ([5], [0]);
/// let sum = world.scope(|scope| summed(scope.allreduce_init(&mut mine, &mut sums, &oxmpi::Op::SUM)?))?;
/// assert_eq!((sum, sums), (10, [10]));
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub type TwoLent<'b, V, W = V> = Two<<V as Buffer>::Element, Lent<'b, V>, Lent<'b, W>>;

/// The buffers of a persistent request, or of an [`OwnedRequest`](crate::OwnedRequest).
///
/// ```
/// use oxmpi::{Buffers, Persistent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// /// Whatever it is that is repeated, and of whatever buffers.
/// fn three_times<'env, B: Buffers>(mut request: Persistent<'env, B>) -> oxmpi::Result<Persistent<'env, B>> {
///     for _ in 0..3 {
///         request = request.start()?.wait()?;
///     }
///     Ok(request)
/// }
///
/// three_times(world.barrier_init()?).map(drop)?;
/// let sum = three_times(world.allreduce_init([1], [0], &oxmpi::Op::SUM)?)?;
/// assert_eq!(sum.recv(), [2]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait Buffers: sealed::Own<Back = Self::Given> {
    /// What an owned request gives back of them.
    ///
    /// ```
    /// use oxmpi::{Buffers, OwnedRequest};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// fn finish<B: Buffers>(request: OwnedRequest<'_, B>) -> oxmpi::Result<B::Given> {
    ///     Ok(request.wait()?.0)
    /// }
    ///
    /// let sum = world.iallreduce([1], [0], &oxmpi::Op::SUM)?;
    /// assert_eq!(finish(sum)?, (vec![1], vec![2]));
    /// finish(world.ibarrier()?)?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    type Given;
}

/// Memory that a request has: its own, or what it has borrowed. See [`Access`].
///
/// ```
/// use oxmpi::{Hold, One, Persistent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// /// Whether its buffer is owned or borrowed.
/// fn again<'a, M: Hold<i32>>(request: Persistent<'a, One<i32, M>>) -> oxmpi::Result<Persistent<'a, One<i32, M>>> {
///     request.start()?.wait()
/// }
///
/// let mut buf = [1];
/// again(world.allreduce_in_place_init([1], &oxmpi::Op::SUM)?).map(drop)?;
/// world.scope(|scope| again(scope.allreduce_in_place_init(&mut buf, &oxmpi::Op::SUM)?).map(drop))?;
/// assert_eq!(buf, [2]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait Hold<T: Datatype>: sealed::Held<T> {}

impl<T: Datatype> Hold<T> for Owned<T> {}
impl<T: Datatype, V: Access<Element = T> + ?Sized> Hold<T> for Lent<'_, V> {}

impl Buffers for () {
    type Given = ();
}

impl<T: Datatype, M: Hold<T>> Buffers for One<T, M> {
    type Given = M::Given;
}

/// What was sent, and what has been received.
impl<T: Datatype, S: Hold<T>, R: Hold<T>> Buffers for Two<T, S, R> {
    type Given = (S::Given, R::Given);
}

impl<T: Datatype, M: Hold<T>> One<T, M> {
    pub(crate) fn new(memory: M) -> Self {
        Self { memory, element: PhantomData }
    }
}

impl<T: Datatype, S: Hold<T>, R: Hold<T>> Two<T, S, R> {
    pub(crate) fn new(send: S, recv: R) -> Self {
        Self { send, recv, element: PhantomData }
    }
}

/// A request with what it uses, in either state. Its place is on the heap: starting and completing move an address.
struct Handle<'env, B: Buffers, L> {
    door: Door<'env, L>,
    key: RequestKey,
    /// The function that has made it, if it is a collective.
    collective: Option<Function>,
    status: Status,
    buffers: B,
}

impl<'env, B: Buffers, L: ThreadLevel> Persistent<'env, B, L> {
    /// The request `key`, whose operation uses `buffers` and nothing else; `collective` says which function has
    /// made it if it is a collective.
    pub(crate) fn new(
        door: Door<'env, L>,
        key: RequestKey,
        collective: Option<Function>,
        buffers: B,
    ) -> Self {
        Self(Box::new(Handle { door, key, collective, status: Status::EMPTY, buffers }))
    }

    /// Starts the operation.
    ///
    /// # Errors
    /// None yet; what goes wrong is told by [`Active::wait`].
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
        self.0.status
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

    pub(crate) fn key(&self) -> RequestKey {
        self.0.key
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
    /// assert_eq!(sum.recv(), [3.0]);
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
        self.0.status = self.0.looked_at(outcome)?.into();
        Ok(Persistent(self.0))
    }

    /// Ends a message, if it has not been matched yet.
    pub(crate) fn cancel(&self) {
        let (door, key) = (self.0.door, self.0.key);
        let cancelled = door.call(Function::Cancel, |process| process.cancel(key));
        cancelled.expect("a message that is active can be cancelled");
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
    /// assert_eq!(sum.send(), [1, 2], "what is sent stays as it is");
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send(&self) -> S::Ref<'_> {
        self.0.buffers.send.elements()
    }

    /// What is sent, to fill it. See [`Two`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut sum = world.allreduce_init([0; 2], [0; 2], &oxmpi::Op::SUM)?;
    /// sum.send_mut()[world.rank()] = 5;
    /// assert_eq!(sum.start()?.wait()?.recv(), [5, 5]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_mut(&mut self) -> S::Mut<'_> {
        self.0.buffers.send.elements_mut()
    }

    /// What has been received. See [`Two`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let ranks = world.allgather_init(world.rank(), [9; 2])?.start()?.wait()?;
    /// assert_eq!(ranks.recv(), [0, 1]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv(&self) -> R::Ref<'_> {
        self.0.buffers.recv.elements()
    }

    /// What has been received, to change it. See [`Two`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut ranks = world.allgather_init(world.rank(), [9; 2])?.start()?.wait()?;
    /// ranks.recv_mut().reverse(); // until it is started again
    /// assert_eq!(ranks.recv(), [1, 0]);
    /// assert_eq!(ranks.start()?.wait()?.recv(), [0, 1]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_mut(&mut self) -> R::Mut<'_> {
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
        self.door.wait(self.key, self.collective, self.status.as_mut())
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
            // Who drops the request does not want to know how it ends.
            let outcome = self.wait();
            drop(self.looked_at(outcome));
        }
        let freed = self.door.call(Function::RequestFree, |process| process.request_free(key));
        freed.expect("an inactive request can be freed");
    }
}

impl<B: Buffers, L> fmt::Debug for Handle<'_, B, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("key", &self.key).finish_non_exhaustive()
    }
}

pub(crate) mod sealed {
    use oxmpi_base::Result;

    /// What a request owns for its operation.
    pub trait Own {
        /// See [`Buffers`](super::Buffers).
        type Back;

        /// The memory, when no operation uses it any more.
        #[doc(hidden)]
        fn give(self) -> Self::Back;

        /// Leaves the memory to the operation, for ever.
        #[doc(hidden)]
        fn leak(&mut self);

        /// Looks at what an operation that is over has written.
        ///
        /// # Errors
        /// `Type` if it is no value.
        #[doc(hidden)]
        fn check(&mut self) -> Result<()> {
            Ok(())
        }

        /// The request is about to be started.
        #[doc(hidden)]
        fn begin(&mut self) {}

        /// The request is about to be waited for: `mark` is called for each partition that is not ready.
        #[doc(hidden)]
        fn release(&self, _mark: &mut dyn FnMut(i32)) {}
    }

    /// What is held for an operation: none of it is used while that is active.
    pub trait Held<T> {
        /// What is given back.
        type Given;

        /// The elements.
        type Ref<'a>
        where
            Self: 'a;

        /// The elements, to be changed.
        type Mut<'a>
        where
            Self: 'a;

        /// The elements.
        #[doc(hidden)]
        fn elements(&self) -> Self::Ref<'_>;

        /// The elements, to be changed.
        #[doc(hidden)]
        fn elements_mut(&mut self) -> Self::Mut<'_>;

        /// The memory, when no operation uses it any more.
        #[doc(hidden)]
        fn give(self) -> Self::Given;

        /// Leaves the memory to the operation, for ever.
        #[doc(hidden)]
        fn leak(&mut self);

        /// Looks at what an operation that is over has written.
        ///
        /// # Errors
        /// `Type` if it is no value.
        #[doc(hidden)]
        fn check(&mut self) -> Result<()>;
    }
}

impl sealed::Own for () {
    type Back = ();

    fn give(self) {}

    fn leak(&mut self) {}
}

impl<T: Datatype, M: Hold<T>> sealed::Own for One<T, M> {
    type Back = M::Given;

    fn give(self) -> M::Given {
        self.memory.give()
    }

    fn leak(&mut self) {
        self.memory.leak();
    }

    fn check(&mut self) -> Result<()> {
        self.memory.check()
    }
}

impl<T: Datatype, S: Hold<T>, R: Hold<T>> sealed::Own for Two<T, S, R> {
    type Back = (S::Given, R::Given);

    fn give(self) -> (S::Given, R::Given) {
        (self.send.give(), self.recv.give())
    }

    fn leak(&mut self) {
        self.send.leak();
        self.recv.leak();
    }

    fn check(&mut self) -> Result<()> {
        self.recv.check()
    }
}

impl<T: Datatype> sealed::Held<T> for Owned<T> {
    type Given = Vec<T>;
    type Ref<'a> = &'a [T];
    type Mut<'a> = &'a mut [T];

    fn elements(&self) -> &[T] {
        self.as_slice()
    }

    fn elements_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }

    fn give(self) -> Vec<T> {
        self.into_vec()
    }

    fn leak(&mut self) {
        Owned::leak(self);
    }

    fn check(&mut self) -> Result<()> {
        Owned::check(self)
    }
}

/// Its scope sees to what becomes of the memory.
impl<T: Datatype, V: Access<Element = T> + ?Sized> sealed::Held<T> for Lent<'_, V> {
    type Given = ();
    type Ref<'a>
        = V::Ref<'a>
    where
        Self: 'a;
    type Mut<'a>
        = V::Mut<'a>
    where
        Self: 'a;

    fn elements(&self) -> V::Ref<'_> {
        self.see()
    }

    fn elements_mut(&mut self) -> V::Mut<'_> {
        self.see_mut()
    }

    fn give(self) {}

    fn leak(&mut self) {}

    fn check(&mut self) -> Result<()> {
        self.lend().check().map_or(Ok(()), |check| check.run())
    }
}
