//! Which Rust types are elements of messages.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data.

use oxmpi_base::BasicType;

/// A type whose values are elements of messages, as one basic datatype of the standard.
///
/// ```
/// use oxmpi::{BasicType, Datatype, Op};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// #[repr(C)]
/// struct Complex {
///     re: f64,
///     im: f64,
/// }
///
/// // SAFETY: two `f64` without padding are what MPI_C_DOUBLE_COMPLEX is, and any bits are two numbers.
/// unsafe impl Datatype for Complex {
///     const BASIC: BasicType = BasicType::CDoubleComplex;
/// }
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let mut product = [Complex { re: 0.0, im: 1.0 }];
/// env.this().allreduce_in_place(&mut product, &Op::PROD)?;
/// assert_eq!(product, [Complex { re: 0.0, im: 1.0 }]);
/// # Ok(())
/// # }
/// ```
///
/// # Safety
/// A value has the size of `BASIC`, no padding, and is valid whatever its bits: a message from another program
/// may hold any. (`bool` and `char` are therefore none.)
pub unsafe trait Datatype: Copy + Send + Sync + 'static {
    /// What the standard calls such an element.
    const BASIC: BasicType;
}

/// A datatype on which the logical and bitwise operations are defined.
pub trait Integer: Datatype {}

macro_rules! datatypes {
    ($($rust:ty => $basic:ident $(, $integer:ident)?;)*) => {$(
        // SAFETY: the standard's type has the same representation, without padding, and any bits are a value.
        unsafe impl Datatype for $rust {
            const BASIC: BasicType = BasicType::$basic;
        }
        const _: () = assert!(size_of::<$rust>() == BasicType::$basic.size());
        $(impl $integer for $rust {})?
    )*};
}

datatypes! {
    f32 => Float;
    f64 => Double;
    i8 => Int8T, Integer;
    i16 => Int16T, Integer;
    i32 => Int32T, Integer;
    i64 => Int64T, Integer;
    isize => Int64T, Integer;
    u8 => Uint8T, Integer;
    u16 => Uint16T, Integer;
    u32 => Uint32T, Integer;
    u64 => Uint64T, Integer;
    usize => Uint64T, Integer;
}
