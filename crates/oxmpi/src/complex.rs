//! Complex numbers, and short floating-point numbers of other crates.
//!
//! MPI-5.0: Point-to-Point Communication, Message Data (`MPI_C_FLOAT_COMPLEX`, `MPI_C_DOUBLE_COMPLEX`).

use oxmpi_base::BasicType;

use crate::datatype::{Datatype, Number, Single};
use crate::layout::Layout;

/// A complex number as it lies in C: `MPI_C_FLOAT_COMPLEX` or `MPI_C_DOUBLE_COMPLEX`.
///
/// There is no arithmetic here. With the feature `num-complex`, that crate's numbers are datatypes, too.
///
/// ```
/// use oxmpi::{Complex, Op};
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let mut product = Complex { re: 0.0, im: 1.0 };
/// env.this().allreduce_in_place(&mut product, &Op::PROD)?;
/// assert_eq!(product, Complex { re: 0.0, im: 1.0 });
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

macro_rules! complex {
    ($($rust:ty => $basic:ident;)*) => {$(
        // SAFETY: two numbers without padding are what the standard's type is, and any bits are two numbers.
        unsafe impl Datatype for $rust {
            const LAYOUT: Layout = Layout::basic(BasicType::$basic);
        }
        const _: () = assert!(size_of::<$rust>() == BasicType::$basic.size());
        impl Single for $rust {}
        impl Number for $rust {}
    )*};
}

complex! {
    Complex<f32> => CComplex;
    Complex<f64> => CDoubleComplex;
}

#[cfg(feature = "num-complex")]
complex! {
    num_complex::Complex<f32> => CComplex;
    num_complex::Complex<f64> => CDoubleComplex;
}

#[cfg(feature = "half")]
mod short {
    use super::{BasicType, Datatype, Layout, Number, Single};
    use crate::datatype::Ordered;

    /// ```
    /// use half::{bf16, f16};
    /// use oxmpi::Op;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let mut sum = [f16::ONE, f16::NEG_ONE];
    /// world.allreduce_in_place(&mut sum, &Op::SUM)?;
    /// assert_eq!(sum[0], f16::from_f64(world.size() as f64));
    /// // The standard has no operations on these.
    /// world.allreduce_in_place(&mut [bf16::ONE; 3], &Op::user_commutative(|a: bf16, b| a + b))
    /// # }
    /// ```
    // SAFETY: 16 bits, as the standard's type, and any bits are a number.
    unsafe impl Datatype for half::f16 {
        const LAYOUT: Layout = Layout::basic(BasicType::Real2);
    }
    impl Single for half::f16 {}
    impl Number for half::f16 {}
    impl Ordered for half::f16 {}

    // SAFETY: 16 bits, any of which are a number. The standard has no such type, nor operations on it.
    unsafe impl Datatype for half::bf16 {
        const LAYOUT: Layout = Layout::basic(BasicType::Uint16T);
    }
    impl Single for half::bf16 {}
}
