//! What can be sent, and received into.
//!
//! Calls take buffers by reference: of a slice, an array, a vector, a single value, or a [`View`](crate::View) of a
//! slice. Persistent requests, and others that outlive the call, own theirs.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data.

use std::mem::MaybeUninit;

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
pub trait SendBuffer: Buffer + sealed::Readable {}

/// A buffer that can be received into.
pub trait RecvBuffer: Buffer + sealed::Writable {}

/// A buffer that is a slice, and can be sent and received into: what persistent requests of a scope borrow.
pub trait SliceBuffer: SendBuffer + RecvBuffer + Buffer<View = [Self::Item]> {
    /// The type of an element.
    type Item: Datatype;

    /// It, as a slice.
    #[doc(hidden)]
    fn as_slice_mut(&mut self) -> &mut [Self::Item] {
        self.view_mut()
    }
}

impl<T: Datatype, B: SendBuffer + RecvBuffer + Buffer<Element = T, View = [T]> + ?Sized> SliceBuffer for B {
    type Item = T;
}

/// A buffer that an operation keeps: `Vec<T>`, `Box<[T]>`, `[T; N]`, a single value, or a
/// [`ViewVec`](crate::ViewVec).
pub trait OwnedBuffer: sealed::Own<Elements = Self::Element> {
    /// The type of an element.
    type Element: Datatype;
}

pub(crate) mod sealed {
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

        /// Lends that to be written, and read if it can be sent.
        fn lend_view(view: &mut Self::View) -> Loan<'_>;

        /// Lends it.
        #[inline]
        fn lend_mut(&mut self) -> Loan<'_> {
            Self::lend_view(self.view_mut())
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
            fn lend_view(view: &mut [T]) -> Loan<'_> {
                Loan::of_mut(view)
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
    fn lend_view(view: &mut T) -> Loan<'_> {
        Loan::of_mut(std::slice::from_mut(view))
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
    fn lend_view(view: &mut Self) -> Loan<'_> {
        Loan::of_uninit(view)
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
