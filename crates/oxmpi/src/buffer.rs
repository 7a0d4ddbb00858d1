//! What can be sent, and received into.
//!
//! Calls take buffers by reference: of a slice, an array, a vector, a single value, or a [`View`](crate::View) of a
//! slice. Persistent requests, and others that outlive the call, own theirs.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::datatype::{Datatype, Single};
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
/// The buffers are those of this table: the trait cannot be implemented elsewhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer of elements",
    note = "buffers are slices, arrays, vectors, views and single values of types that are a `Datatype`",
    note = "what is a reference itself has to be dereferenced, as in `&*buf` or `&mut *buf`"
)]
pub trait Buffer: sealed::Memory {
    /// The type of an element.
    type Element: Datatype;
    /// What a request gives back of it: the slice of what is one, else the buffer.
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
pub trait RecvBuffer: Buffer + sealed::Writable {}

/// What a persistent request of a scope gives access to while it is inactive, of the buffer that it has borrowed: the
/// slice of what is one, a single value, or a [`ViewMut`](crate::ViewMut).
pub trait Access: SendBuffer + RecvBuffer + Buffer<View = Self> {
    /// It, to be read.
    type Ref<'a>
    where
        Self: 'a;

    /// It, to be changed. The request's own is never given away: it could be exchanged for another.
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
pub trait OwnedBuffer: sealed::Own<Elements = Self::Element> {
    /// The type of an element.
    type Element: Datatype;
}

pub(crate) mod sealed {
    use std::ptr::NonNull;

    use super::{Buffer, Loan, Owned};
    use crate::datatype::Datatype;

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
        fn own(self) -> (Owned<Self::Elements>, Loan<'static>);
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

impl<T: Single> Buffer for T {
    type Element = T;
    type View = T;
}

impl<T: Single> SendBuffer for T {}
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

            fn own($self_) -> (Owned<T>, Loan<'static>) {
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

impl<T: Single> OwnedBuffer for T {
    type Element = T;
}

impl<T: Single> sealed::Own for T {
    type Elements = T;

    fn own(self) -> (Owned<T>, Loan<'static>) {
        Owned::lent(vec![self])
    }
}
