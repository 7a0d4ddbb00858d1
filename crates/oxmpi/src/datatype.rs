//! Which Rust types are elements of messages.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data; Datatypes.

use std::marker::PhantomData;
use std::mem::offset_of;

use oxmpi_base::BasicType;

use crate::layout::{Field, Layout};

/// A type whose values are elements of messages.
///
/// Numbers are, `bool` and `char`, [`Complex`](crate::Complex) numbers, and tuples and arrays of such. Structures
/// become elements by `#[derive(Datatype)]`, generic ones too, and enumerations without fields that say which integer
/// they are:
///
/// ```
/// #![forbid(unsafe_code)]
///
/// use oxmpi::Datatype;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Datatype)]
/// #[repr(u8)]
/// enum Kind {
///     Fluid,
///     Wall,
/// }
///
/// #[derive(Clone, Copy, Debug, PartialEq, Datatype)]
/// #[repr(C)]
/// struct Particle<T> {
///     kind: Kind,
///     position: [T; 3],
///     mass: T,
/// }
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let (rank, size) = (world.rank(), world.size());
/// let mine = vec![Particle { kind: Kind::Wall, position: [rank as f64; 3], mass: 1.0 }; 10];
/// let mut left = vec![Particle { kind: Kind::Fluid, position: [0.0; 3], mass: 0.0 }; 10];
/// world.sendrecv(&mine, (rank + 1) % size, 0, &mut left, (rank + size - 1) % size, 0)?;
/// assert_eq!((left[9].kind, left[9].position[2]), (Kind::Wall, ((rank + size - 1) % size) as f64));
/// # Ok(())
/// # }
/// ```
///
/// Fields are sent in the order in which they are declared, wherever the compiler has put them; padding is never read
/// nor written. With `#[repr(C)]` and without padding, elements are sent as fast as numbers ([`Layout::is_dense`]).
///
/// What is received may be no value of the type: a `bool` of 2, sent by a program in C. Nobody sees it: before a buffer
/// can be used again, its elements are looked at if there are such bits at all, and each that is none becomes `true`,
/// [`char::REPLACEMENT_CHARACTER`] or the first variant; the call fails with class `Type`.
///
/// What is a pointer, or owns something, is no element:
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy, oxmpi::Datatype)]
/// struct Named {
///     name: &'static str,
/// }
/// ```
///
/// ```compile_fail,E0204
/// #[derive(Clone, Copy, oxmpi::Datatype)]
/// struct Many {
///     numbers: Vec<f64>,
/// }
/// ```
///
/// nor are enumerations whose variants have fields:
///
/// ```compile_fail
/// #[derive(Clone, Copy, oxmpi::Datatype)]
/// #[repr(u8)]
/// enum Shape {
///     Circle(f64),
///     Point,
/// }
/// ```
///
/// nor what has a field without values, by whatever name:
///
/// ```compile_fail,E0277,edition2021
/// #![allow(dependency_on_unit_never_type_fallback)]
///
/// trait Output {
///     type Type;
/// }
/// impl<R> Output for fn() -> R {
///     type Type = R;
/// }
/// #[derive(Clone, Copy, oxmpi::Datatype)]
/// struct Never(<fn() -> ! as Output>::Type);
/// ```
///
/// nor what an attribute behind the derive makes something else of, with a field of another type, or one more:
///
/// ```compile_fail,E0308
/// #[derive(Clone, Copy, oxmpi::Datatype)]
/// #[oxmpi_attribute::becomes(struct Flag(bool);)]
/// struct Flag(u8);
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, oxmpi::Datatype)]
/// #[oxmpi_attribute::becomes(struct Point { x: f64, y: f64 })]
/// struct Point {
///     x: f64,
/// }
/// ```
///
/// nor what has a field whose type a macro makes another one of each time:
///
/// ```compile_fail,E0308
/// #[derive(oxmpi::Datatype)]
/// struct Flag(oxmpi_attribute::another!(bool u8 bool));
///
/// impl Copy for Flag {}
/// impl Clone for Flag {
///     fn clone(&self) -> Self {
///         *self
///     }
/// }
/// ```
///
/// nor an enumeration that is another integer then, or that has another variant:
///
/// ```compile_fail,E0512
/// #[derive(Clone, Copy, oxmpi::Datatype)]
/// #[oxmpi_attribute::becomes(enum Kind { Fluid, Wall })]
/// #[repr(u32)]
/// enum Kind {
///     Fluid,
///     Wall,
/// }
/// ```
///
/// ```compile_fail,E0004
/// #[derive(Clone, Copy, oxmpi::Datatype)]
/// #[oxmpi_attribute::becomes(#[repr(u8)] enum Kind { Fluid, Wall, Inlet })]
/// #[repr(u8)]
/// enum Kind {
///     Fluid,
///     Wall,
/// }
/// ```
///
/// # Safety
/// `LAYOUT` has the size of the type, and describes bytes of it that always belong to a value, none twice. Whatever
/// values these get that are those of their parts, they are a value of the type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a datatype",
    note = "numbers are, `bool`, `char`, tuples and arrays of such, and what has `#[derive(Datatype)]`",
    note = "what is a pointer, or owns something, cannot be one"
)]
pub unsafe trait Datatype: Copy + Send + Sync + 'static {
    /// What an element consists of.
    ///
    /// ```
    /// use oxmpi::Datatype;
    ///
    /// fn bytes_in_a_message<T: Datatype>(elements: &[T]) -> usize {
    ///     elements.len() * T::LAYOUT.packed_size()
    /// }
    ///
    /// assert_eq!(bytes_in_a_message(&[(1_u8, 1.5_f64); 10]), 90);
    /// ```
    const LAYOUT: Layout;
}

/// A datatype one value of which is a buffer by itself, as in `world.send(&value, 1, 0)`: any but arrays, which are
/// buffers of their elements.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// use oxmpi::{Datatype, Single};
///
/// #[derive(Clone, Copy, Datatype, Debug, PartialEq)]
/// struct Point {
///     at: (f64, f64),
///     label: char,
/// }
///
/// fn echo<T: Single>(comm: &oxmpi::Communicator<'_>, mut value: T) -> oxmpi::Result<T> {
///     comm.send(&value, comm.rank(), 0)?;
///     comm.recv(&mut value, comm.rank(), 0)?;
///     Ok(value)
/// }
///
/// let env = oxmpi::init()?;
/// let point = Point { at: (0.5, 2.0), label: 'p' };
/// assert_eq!(echo(&env.this(), point)?, point);
/// # Ok(())
/// # }
/// ```
pub trait Single: Datatype {}

/// Numbers: what can be added and multiplied.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// use oxmpi::{Communicator, Number, Op, Single};
///
/// fn total<T: Number + Single>(comm: &Communicator<'_>, mut value: T) -> oxmpi::Result<T> {
///     comm.allreduce_in_place(&mut value, &Op::SUM)?;
///     Ok(value)
/// }
///
/// let env = oxmpi::init()?;
/// assert_eq!(total(&env.this(), 1.5)?, 1.5);
/// # Ok(())
/// # }
/// ```
pub trait Number: Datatype {}

/// Numbers of which one is the greatest. See [`Op::MAX`](crate::Op::MAX).
///
/// ```
/// use oxmpi::{Communicator, Op, Ordered, Single};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// /// How far the values of the ranks lie apart.
/// fn range<T: Ordered + Single>(world: &Communicator<'_>, value: T) -> oxmpi::Result<(T, T)> {
///     let (mut least, mut most) = (value, value);
///     world.allreduce_in_place(&mut least, &Op::MIN)?;
///     world.allreduce_in_place(&mut most, &Op::MAX)?;
///     Ok((least, most))
/// }
///
/// assert_eq!(range(&world, [2.5, 0.5][world.rank()])?, (0.5, 2.5));
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait Ordered: Number {}

/// Integers, on which the bitwise operations are defined. See [`Op::BAND`](crate::Op::BAND).
///
/// ```
/// use oxmpi::{Communicator, Integer, Op, Single};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// /// The flags that all ranks have set.
/// fn common<T: Integer + Single>(world: &Communicator<'_>, mut flags: T) -> oxmpi::Result<T> {
///     world.allreduce_in_place(&mut flags, &Op::BAND)?;
///     Ok(flags)
/// }
///
/// assert_eq!(common(&world, [0b110_u8, 0b011][world.rank()])?, 0b010);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait Integer: Ordered {}

/// What is true or false: `bool`, and integers other than 0. See [`Op::LAND`](crate::Op::LAND).
///
/// ```
/// use oxmpi::{Communicator, Logical, Op, Single};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn everywhere<T: Logical + Single>(world: &Communicator<'_>, mut holds: T) -> oxmpi::Result<T> {
///     world.allreduce_in_place(&mut holds, &Op::LAND)?;
///     Ok(holds)
/// }
///
/// assert!(!everywhere(&world, world.rank() == 0)?);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait Logical: Datatype {}

macro_rules! basic {
    ($($rust:ty => $basic:ident: $($property:ident)+;)*) => {$(
        // SAFETY: the standard's type has the same representation, without padding, and any bits are a value.
        unsafe impl Datatype for $rust {
            const LAYOUT: Layout = Layout::basic(BasicType::$basic);
        }
        const _: () = assert!(size_of::<$rust>() == BasicType::$basic.size());
        impl Single for $rust {}
        $(impl $property for $rust {})+
    )*};
}

basic! {
    f32 => Float: Number Ordered;
    f64 => Double: Number Ordered;
    i8 => Int8T: Number Ordered Integer Logical;
    i16 => Int16T: Number Ordered Integer Logical;
    i32 => Int32T: Number Ordered Integer Logical;
    i64 => Int64T: Number Ordered Integer Logical;
    isize => Int64T: Number Ordered Integer Logical;
    u8 => Uint8T: Number Ordered Integer Logical;
    u16 => Uint16T: Number Ordered Integer Logical;
    u32 => Uint32T: Number Ordered Integer Logical;
    u64 => Uint64T: Number Ordered Integer Logical;
    usize => Uint64T: Number Ordered Integer Logical;
}

// SAFETY: one byte, of which 0 and 1 are values.
unsafe impl Datatype for bool {
    const LAYOUT: Layout = Layout::BOOL;
}
impl Single for bool {}
impl Logical for bool {}

// SAFETY: 32 bits, of which those are values that the layout takes for such.
unsafe impl Datatype for char {
    const LAYOUT: Layout = Layout::CHAR;
}
impl Single for char {}

// SAFETY: the elements follow each other, without anything in between.
unsafe impl<T: Datatype, const N: usize> Datatype for [T; N] {
    const LAYOUT: Layout = Layout::array(const { &T::LAYOUT }, N);
}

// SAFETY: there is nothing.
unsafe impl<T: Datatype> Datatype for PhantomData<T> {
    const LAYOUT: Layout = Layout::structure(0, &[]);
}
impl<T: Datatype> Single for PhantomData<T> {}

// SAFETY: there is nothing.
unsafe impl Datatype for () {
    const LAYOUT: Layout = Layout::structure(0, &[]);
}
impl Single for () {}

macro_rules! tuples {
    ($(($($part:ident $index:tt),+);)*) => {$(
        // SAFETY: each part is described by its own type, where it lies.
        unsafe impl<$($part: Datatype),+> Datatype for ($($part,)+) {
            const LAYOUT: Layout = Layout::structure(
                size_of::<Self>(),
                const { &[$(Field::new::<$part>(offset_of!(Self, $index))),+] },
            );
        }
        impl<$($part: Datatype),+> Single for ($($part,)+) {}
    )*};
}

tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}
