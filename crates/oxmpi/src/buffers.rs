//! What operations use that outlive their call: buffers that a request owns, or that its scope has borrowed.
//!
//! The buffers lie on the heap and belong to the request: if it is forgotten, so are they. What is borrowed is held by
//! its address, and its scope sees to what becomes of it.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests; Nonblocking Communication.

use std::marker::PhantomData;

use oxmpi_base::Result;

use crate::buffer::{Access, Buffer};
use crate::datatype::Datatype;
use crate::loan::{Lent, Owned};

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
    pub(crate) memory: M,
    element: PhantomData<fn() -> T>,
}

/// A buffer to send from and one to receive into.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let mut sum = world.allreduce_init([0; 2], [0; 2], &oxmpi::Op::SUM)?;
/// for step in 1..4 {
///     sum.send_buf_mut().fill(step);
///     sum = sum.start()?.wait()?;
///     assert_eq!((sum.send_buf(), sum.recv_buf()), (&[step; 2][..], &[2 * step; 2][..]));
/// }
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Two<T: Datatype, S: Hold<T> = Owned<T>, R: Hold<T> = Owned<T>> {
    pub(crate) send: S,
    pub(crate) recv: R,
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
///     Ok(sum.start()?.wait()?.recv_buf()[0])
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
/// assert_eq!(sum.recv_buf(), [2]);
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
