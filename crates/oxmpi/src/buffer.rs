//! What can be sent, and received into.
//!
//! Calls take buffers by reference: of a slice, an array, a vector, a single value, or a [`View`](crate::View) of a
//! slice. Persistent requests, and others that outlive the call, own theirs.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::datatype::{Datatype, Single};
use crate::kept::Kept;
use crate::loan::{Loan, Owned};

/// Elements in memory: what a call takes a reference to.
///
/// | buffer | its elements |
/// |---|---|
/// | `[T]`, `[T; N]`, `Vec<T>`, `Box<[T]>` | all of it |
/// | `T`, but for arrays | one |
/// | [`View`](crate::View), [`ViewMut`](crate::ViewMut) | part of a slice, in any order |
/// | `[MaybeUninit<T>]` | all of it, to be received into |
///
/// ```
/// use oxmpi::{Buffer, Communicator, SendBuffer};
///
/// /// What arrives of a buffer, of whatever kind.
/// fn arrived<B>(this: &Communicator<'_>, buf: &B) -> oxmpi::Result<Vec<f64>>
/// where
///     B: SendBuffer + Buffer<Element = f64> + ?Sized,
/// {
///     let receive = this.irecv([0.0; 2], 0, 0)?;
///     this.send(buf, 0, 0)?;
///     receive.wait().map(|(elements, _)| elements.to_vec())
/// }
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// assert_eq!(arrived(&env.this(), &[1.5, 2.5])?, [1.5, 2.5]);
/// assert_eq!(arrived(&env.this(), &vec![1.5, 2.5][..])?, [1.5, 2.5]);
/// assert_eq!(arrived(&env.this(), &1.5)?, [1.5, 0.0]);
/// # Ok(())
/// # }
/// ```
///
/// What is not initialised cannot be sent:
///
/// ```compile_fail,E0277
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// env.this().send(&[std::mem::MaybeUninit::<f64>::uninit()][..], 0, 0)
/// # }
/// ```
///
/// nor can what is only borrowed be received into:
///
/// ```compile_fail,E0308
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// env.this().recv(&[0.0; 2], 0, 0).map(drop)
/// # }
/// ```
///
/// nor can what the same call sends:
///
/// ```compile_fail,E0502
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let mut sum = [1.0];
/// env.world().allreduce(&sum, &mut sum, &oxmpi::Op::SUM)
/// # }
/// ```
///
/// The buffers are those of this table: the trait cannot be implemented elsewhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer of elements",
    note = "slices, arrays, vectors and views of a `Datatype` are, and values of one that is `Single`",
    note = "what is a reference itself has to be dereferenced, as in `&*buf` or `&mut *buf`"
)]
pub trait Buffer: sealed::Memory {
    /// The type of an element.
    ///
    /// ```
    /// use oxmpi::{Buffer, Communicator, Op, RecvBuffer, SendBuffer};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// fn sum<B>(world: &Communicator<'_>, buf: &mut B) -> oxmpi::Result<()>
    /// where
    ///     B: SendBuffer + RecvBuffer + Buffer<Element = i32>,
    /// {
    ///     world.allreduce_in_place(buf, &Op::SUM)
    /// }
    ///
    /// let (mut one, mut several) = (1, vec![1; 3]);
    /// sum(&world, &mut one)?;
    /// sum(&world, &mut several)?;
    /// assert_eq!((one, several), (2, vec![2; 3]));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    type Element: Datatype;
    /// What a request gives back of it: the slice of what is one, else the buffer.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let (mut several, mut one) = (vec![0; 3], 0);
    /// this.scope(|scope| {
    ///     let (receive, other) = (scope.recv(&mut several, 0, 1)?, scope.recv(&mut one, 0, 2)?);
    ///     this.send(&[1, 2, 3], 0, 1)?;
    ///     this.send(&4, 0, 2)?;
    ///     let several: &mut [i32] = receive.wait()?; // of a vector the slice
    ///     let one: &mut i32 = other.wait()?;
    ///     assert_eq!((several, one), (&mut [1, 2, 3][..], &mut 4));
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    type View: ?Sized;
}

/// A buffer that can be sent.
///
/// ```
/// use oxmpi::{Communicator, SendBuffer};
///
/// /// Whatever is a buffer can be handed on.
/// fn to_next<B: SendBuffer + ?Sized>(comm: &Communicator<'_>, buf: &B) -> oxmpi::Result<()> {
///     comm.send(buf, (comm.rank() + 1) % comm.size(), 0)
/// }
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// to_next(&world, &[1.5; 3])?;
/// let mut received = [0.0; 3];
/// world.recv(&mut received, oxmpi::Source::Any, 0)?;
/// assert_eq!(received, [1.5; 3]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
///
/// Who is generic does not get at memory beside its references:
///
/// ```compile_fail,E0624
/// fn memory(buf: &impl oxmpi::SendBuffer) {
///     let _ = unsafe { buf.lend().claim() };
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer that can be sent",
    note = "slices, arrays, vectors and views of a `Datatype` are, and values of one that is `Single`",
    note = "what is a reference itself has to be dereferenced, as in `&*buf` or `&mut *buf`"
)]
pub trait SendBuffer: Buffer + sealed::Readable {}

/// A buffer that can be received into.
///
/// ```
/// use oxmpi::{Communicator, RecvBuffer, Source, TagPattern};
///
/// fn from_anybody<B: RecvBuffer + ?Sized>(comm: &Communicator<'_>, buf: &mut B) -> oxmpi::Result<Option<usize>> {
///     Ok(comm.recv(buf, Source::Any, TagPattern::Any)?.source())
/// }
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// world.send(&world.rank(), 1 - world.rank(), 0)?;
/// let mut received = usize::MAX;
/// assert_eq!(from_anybody(&world, &mut received)?, Some(received));
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer that can be received into",
    note = "slices, arrays, vectors and views of a `Datatype` are, and values of one that is `Single`",
    note = "what is a reference itself has to be dereferenced, as in `&*buf` or `&mut *buf`"
)]
pub trait RecvBuffer: Buffer + sealed::Writable {}

/// What a persistent request of a scope gives access to while it is inactive, of the buffer that it has borrowed: the
/// slice of what is one, a single value, or a [`ViewMut`](crate::ViewMut).
///
/// ```
/// use oxmpi::{Op, ViewMut, Shape};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let (mut slice, mut matrix) = ([1; 2], [1; 6]);
/// let mut column = ViewMut::new(&mut matrix, &Shape::strided(3, 1, 2))?;
/// world.scope(|scope| {
///     let mut whole = scope.allreduce_in_place_init(&mut slice, &Op::SUM)?;
///     whole.buf_mut()[0] = 5; // of a slice a slice
///     assert_eq!(whole.start()?.wait()?.buf(), [10, 2]);
///     let mut part = scope.allreduce_in_place_init(&mut column, &Op::SUM)?;
///     part.buf_mut().copy_from_slice(&[1, 2, 3]); // of a view a view
///     assert_eq!(part.start()?.wait()?.buf().to_vec(), [2, 4, 6]);
///     Ok(())
/// })?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait Access: SendBuffer + RecvBuffer + Buffer<View = Self> {
    /// It, to be read.
    ///
    /// ```
    /// use oxmpi::{Access, OneLent, Persistent};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// /// What there is to read, whatever the scope has borrowed.
    /// fn see<'a, 'b, V: Access + ?Sized>(request: &'a Persistent<'b, OneLent<'b, V>>) -> V::Ref<'a>
    /// where
    ///     'b: 'a,
    /// {
    ///     request.buf()
    /// }
    ///
    /// let mut buf = [7; 3];
    /// world.scope(|scope| {
    ///     let request = scope.bcast_init(&mut buf, 0)?;
    ///     assert_eq!(see(&request), [7; 3]);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    type Ref<'a>
    where
        Self: 'a;

    /// It, to be changed. The request's own is never given away: it could be exchanged for another.
    ///
    /// ```
    /// use oxmpi::{Access, OneLent, Persistent};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// /// What there is to change, whatever the scope has borrowed.
    /// fn change<'a, 'b, V: Access + ?Sized>(request: &'a mut Persistent<'b, OneLent<'b, V>>) -> V::Mut<'a>
    /// where
    ///     'b: 'a,
    /// {
    ///     request.buf_mut()
    /// }
    ///
    /// let mut buf = [7; 3];
    /// world.scope(|scope| {
    ///     change(&mut scope.bcast_init(&mut buf, 0)?).fill(5);
    ///     Ok(())
    /// })?;
    /// assert_eq!(buf, [5; 3]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    type Mut<'a>
    where
        Self: 'a;

    /// What is there, to be read.
    ///
    /// # Safety
    /// For `'a` it is there, and nobody changes it.
    #[doc(hidden)]
    unsafe fn see<'a>(at: NonNull<Self>) -> Self::Ref<'a>
    where
        Self: 'a;

    /// What is there, to be changed.
    ///
    /// # Safety
    /// For `'a` it is there, and nobody else uses it.
    #[doc(hidden)]
    unsafe fn see_mut<'a>(at: NonNull<Self>) -> Self::Mut<'a>
    where
        Self: 'a;
}

/// Of slices and single values requests give references.
macro_rules! references {
    ($([$($generics:tt)*] $view:ty;)*) => {$(
        impl<$($generics)*> Access for $view {
            type Ref<'a> = &'a Self;
            type Mut<'a> = &'a mut Self;

            unsafe fn see<'a>(at: NonNull<Self>) -> &'a Self {
                // SAFETY: the caller's promise.
                unsafe { at.as_ref() }
            }

            unsafe fn see_mut<'a>(mut at: NonNull<Self>) -> &'a mut Self {
                // SAFETY: the caller's promise.
                unsafe { at.as_mut() }
            }
        }
    )*};
}

references! {
    [T: Datatype] [T];
    [T: Single] T;
}

/// A buffer that an operation keeps: `Vec<T>`, `Box<[T]>`, `[T; N]`, a single value, or a
/// [`ViewVec`](crate::ViewVec).
///
/// ```
/// use oxmpi::{Communicator, One, OwnedBuffer, OwnedRequest};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn to_next<'env, B: OwnedBuffer>(
///     world: &Communicator<'env>,
///     buf: B,
/// ) -> oxmpi::Result<OwnedRequest<'env, One<B::Element>>> {
///     world.isend(buf, (world.rank() + 1) % world.size(), 0)
/// }
///
/// let sends = [to_next(&world, 1.5)?, to_next(&world, [2.5; 3])?, to_next(&world, vec![3.5; 2])?];
/// let peer = 1 - world.rank();
/// for expected in [vec![1.5], vec![2.5; 3], vec![3.5; 2]] {
///     assert_eq!(world.recv_vec::<f64>(peer, 0)?.0, expected);
/// }
/// sends.into_iter().try_for_each(|send| send.wait().map(drop))?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer that an operation can keep",
    note = "vectors, boxed slices and arrays of a `Datatype` are, `ViewVec`, and what is `Single`",
    note = "what is only borrowed is lent in a scope: `Communicator::scope`"
)]
pub trait OwnedBuffer: sealed::Own<Elements = Self::Element> {
    /// The type of an element.
    ///
    /// ```
    /// use oxmpi::{Buffer, OwnedBuffer};
    ///
    /// fn element_bytes<B: OwnedBuffer>(_: &B) -> usize {
    ///     size_of::<B::Element>()
    /// }
    ///
    /// assert_eq!((element_bytes(&vec![0_u16; 9]), element_bytes(&[0.0; 9]), element_bytes(&'x')), (2, 8, 4));
    /// ```
    type Element: Datatype;
}

pub(crate) mod sealed {
    use std::ptr::NonNull;

    use super::{Buffer, Loan, Owned};
    use crate::datatype::Datatype;
    use crate::kept::Kept;

    /// What is a buffer.
    pub trait Memory {}

    /// What can be read.
    pub trait Readable: Buffer {
        /// Lends it to be read.
        fn lend(&self) -> Loan<'_>;

        /// What is given back.
        fn view(&self) -> &Self::View;
    }

    /// What can be written.
    pub trait Writable: Buffer {
        /// What is given back.
        fn view_mut(&mut self) -> &mut Self::View;

        /// Lends what is there, to be written, and read if it can be sent.
        ///
        /// # Safety
        /// For `'b` what `at` points to is there and is not exchanged for anything else; from the first to the last use
        /// by who claims the loan nobody else uses its elements.
        unsafe fn lend_at<'b>(at: NonNull<Self::View>) -> Loan<'b>;

        /// Lends it.
        #[inline]
        fn lend_mut(&mut self) -> Loan<'_> {
            // SAFETY: it is borrowed for as long as the loan lasts.
            unsafe { Self::lend_at(self.view_mut().into()) }
        }
    }

    /// What can be kept.
    pub trait Own {
        /// See [`OwnedBuffer`](super::OwnedBuffer).
        type Elements: Datatype;

        /// The memory, and what of it an operation may use for as long as it is not freed.
        fn own(self) -> Kept<Owned<Self::Elements>, Loan<'static>>;
    }
}

macro_rules! slices {
    ($([$($generics:tt)*] $slice:ty;)*) => {$(
        impl<T: Datatype $($generics)*> sealed::Memory for $slice {}

        impl<T: Datatype $($generics)*> Buffer for $slice {
            type Element = T;
            type View = [T];
        }

        impl<T: Datatype $($generics)*> SendBuffer for $slice {}
        impl<T: Datatype $($generics)*> RecvBuffer for $slice {}

        impl<T: Datatype $($generics)*> sealed::Readable for $slice {
            #[inline]
            fn lend(&self) -> Loan<'_> {
                Loan::of(self.view())
            }

            #[inline]
            fn view(&self) -> &[T] {
                self
            }
        }

        impl<T: Datatype $($generics)*> sealed::Writable for $slice {
            #[inline]
            fn view_mut(&mut self) -> &mut [T] {
                self
            }

            #[inline]
            unsafe fn lend_at<'b>(at: NonNull<[T]>) -> Loan<'b> {
                // SAFETY: the caller's promise.
                unsafe { Loan::at(at) }
            }
        }
    )*};
}

slices! {
    [] [T];
    [] Box<[T]>;
    [] Vec<T>;
    [, const N: usize] [T; N];
}

impl<T: Single> sealed::Memory for T {}

#[diagnostic::do_not_recommend]
impl<T: Single> Buffer for T {
    type Element = T;
    type View = T;
}

#[diagnostic::do_not_recommend]
impl<T: Single> SendBuffer for T {}
#[diagnostic::do_not_recommend]
impl<T: Single> RecvBuffer for T {}

impl<T: Single> sealed::Readable for T {
    #[inline]
    fn lend(&self) -> Loan<'_> {
        Loan::of(std::slice::from_ref(self))
    }

    #[inline]
    fn view(&self) -> &T {
        self
    }
}

impl<T: Single> sealed::Writable for T {
    #[inline]
    fn view_mut(&mut self) -> &mut T {
        self
    }

    #[inline]
    unsafe fn lend_at<'b>(at: NonNull<T>) -> Loan<'b> {
        // SAFETY: the caller's promise, of a slice of one element.
        unsafe { Loan::at(NonNull::slice_from_raw_parts(at, 1)) }
    }
}

impl<T: Datatype> sealed::Memory for [MaybeUninit<T>] {}

impl<T: Datatype> Buffer for [MaybeUninit<T>] {
    type Element = T;
    type View = Self;
}

impl<T: Datatype> RecvBuffer for [MaybeUninit<T>] {}

impl<T: Datatype> sealed::Writable for [MaybeUninit<T>] {
    #[inline]
    fn view_mut(&mut self) -> &mut Self {
        self
    }

    #[inline]
    unsafe fn lend_at<'b>(at: NonNull<Self>) -> Loan<'b> {
        // SAFETY: the caller's promise.
        unsafe { Loan::at_uninit(at) }
    }
}

macro_rules! owned {
    ($([$($generics:tt)*] $buffer:ty: $self_:ident => $vec:expr;)*) => {$(
        impl<T: Datatype $($generics)*> OwnedBuffer for $buffer {
            type Element = T;
        }

        impl<T: Datatype $($generics)*> sealed::Own for $buffer {
            type Elements = T;

            fn own($self_) -> Kept<Owned<T>, Loan<'static>> {
                Owned::lent($vec)
            }
        }
    )*};
}

owned! {
    [] Box<[T]>: self => self.into_vec();
    [] Vec<T>: self => self;
    [, const N: usize] [T; N]: self => self.to_vec();
}

#[diagnostic::do_not_recommend]
impl<T: Single> OwnedBuffer for T {
    type Element = T;
}

impl<T: Single> sealed::Own for T {
    type Elements = T;

    fn own(self) -> Kept<Owned<T>, Loan<'static>> {
        Owned::lent(vec![self])
    }
}
