//! Which kernel computes an operation on a kind of element.

use oxmpi_base::{Pair as PairKind, ReduceOp, Scalar};

use crate::complex::{Complex, ComplexHalf};
use crate::half::Half;
use crate::kernel::{Kernel, select};
use crate::number::{Arithmetic, Bits, Ordered, Truth};
use crate::operation::{Band, Bor, Bxor, Land, Lor, Lxor, Max, Min, Prod, ProdRecovering, Sum};
use crate::pair::{Maxloc, Minloc, Pair, Part};
use crate::quad::Quad;
use crate::recovery::{Recovering, recovers_infinities};

/// C's `long double`.
#[cfg(target_arch = "x86_64")]
type LongDouble = crate::extended::Extended;
#[cfg(not(target_arch = "x86_64"))]
type LongDouble = Quad;

/// The kernel of `op` on elements that are `kind` to the processor; `None` if there is none.
pub(crate) fn kernel(op: ReduceOp, kind: Scalar) -> Option<Kernel> {
    match kind {
        Scalar::I8 => integer::<i8, u8, 64>(op),
        Scalar::I16 => integer::<i16, u16, 32>(op),
        Scalar::I32 => integer::<i32, u32, 16>(op),
        Scalar::I64 => integer::<i64, u64, 8>(op),
        Scalar::I128 => integer::<i128, u128, 1>(op),
        Scalar::U8 => integer::<u8, u8, 64>(op),
        Scalar::U16 => integer::<u16, u16, 32>(op),
        Scalar::U32 => integer::<u32, u32, 16>(op),
        Scalar::U64 => integer::<u64, u64, 8>(op),
        Scalar::F16 => real::<Half, 1>(op),
        Scalar::F32 => real::<f32, 16>(op),
        Scalar::F64 => real::<f64, 8>(op),
        Scalar::F128 => real::<Quad, 1>(op),
        Scalar::LongDouble => real::<LongDouble, 1>(op),
        Scalar::ComplexF16 => complex::<ComplexHalf, 1>(op),
        Scalar::ComplexF32 => complex::<Complex<f32>, 8>(op),
        Scalar::ComplexF64 => complex::<Complex<f64>, 4>(op),
        Scalar::ComplexF128 => complex::<Complex<Quad>, 1>(op),
        Scalar::ComplexLongDouble => complex::<Complex<LongDouble>, 1>(op),
        Scalar::Bool | Scalar::Logical8 => logical::<u8, 64>(op),
        Scalar::Logical16 => logical::<u16, 32>(op),
        Scalar::Logical32 => logical::<u32, 16>(op),
        Scalar::Logical64 => logical::<u64, 8>(op),
        Scalar::Logical128 => logical::<u128, 1>(op),
        Scalar::Pair(pair) => match pair {
            PairKind::F32F32 => location::<f32, f32>(op),
            PairKind::F32I32 => location::<f32, i32>(op),
            PairKind::F64F64 => location::<f64, f64>(op),
            PairKind::F64I32 => location::<f64, i32>(op),
            PairKind::I16I32 => location::<i16, i32>(op),
            PairKind::I32I32 => location::<i32, i32>(op),
            PairKind::I64I32 => location::<i64, i32>(op),
            PairKind::LongDoubleI32 => location::<LongDouble, i32>(op),
        },
    }
}

/// `T` is ordered; all else that is done with integers is the same with a sign and without. `U` is as long, without.
fn integer<T: Ordered, U: Arithmetic + Bits + Truth, const LANES: usize>(op: ReduceOp) -> Option<Kernel> {
    match op {
        ReduceOp::Band => Some(select::<U, Band, LANES>()),
        ReduceOp::Bor => Some(select::<U, Bor, LANES>()),
        ReduceOp::Bxor => Some(select::<U, Bxor, LANES>()),
        ReduceOp::Max | ReduceOp::Min => extreme::<T, LANES>(op),
        _ => arithmetic::<U, LANES>(op).or_else(|| logical::<U, LANES>(op)),
    }
}

fn real<T: Arithmetic + Ordered, const LANES: usize>(op: ReduceOp) -> Option<Kernel> {
    extreme::<T, LANES>(op).or_else(|| arithmetic::<T, LANES>(op))
}

fn extreme<T: Ordered, const LANES: usize>(op: ReduceOp) -> Option<Kernel> {
    match op {
        ReduceOp::Max => Some(select::<T, Max, LANES>()),
        ReduceOp::Min => Some(select::<T, Min, LANES>()),
        _ => None,
    }
}

fn arithmetic<T: Arithmetic, const LANES: usize>(op: ReduceOp) -> Option<Kernel> {
    match op {
        ReduceOp::Prod => Some(select::<T, Prod, LANES>()),
        ReduceOp::Sum => Some(select::<T, Sum, LANES>()),
        _ => None,
    }
}

/// A product that may have to recover infinities is no faster by vectors.
fn complex<T: Recovering, const LANES: usize>(op: ReduceOp) -> Option<Kernel> {
    match op {
        ReduceOp::Prod if recovers_infinities() => Some(select::<T, ProdRecovering, 1>()),
        _ => arithmetic::<T, LANES>(op),
    }
}

fn logical<T: Truth, const LANES: usize>(op: ReduceOp) -> Option<Kernel> {
    match op {
        ReduceOp::Land => Some(select::<T, Land, LANES>()),
        ReduceOp::Lor => Some(select::<T, Lor, LANES>()),
        ReduceOp::Lxor => Some(select::<T, Lxor, LANES>()),
        _ => None,
    }
}

/// What a value of pairs is, if it can be compared.
pub(crate) fn value(kind: Scalar) -> Option<Part> {
    match kind {
        Scalar::I128 => Some(Part::of::<i128>()),
        Scalar::F16 => Some(Part::of::<Half>()),
        Scalar::F32 => Some(Part::of::<f32>()),
        Scalar::F64 => Some(Part::of::<f64>()),
        Scalar::F128 => Some(Part::of::<Quad>()),
        Scalar::LongDouble => Some(Part::of::<LongDouble>()),
        _ => index(kind),
    }
}

/// What an index of pairs is, if it is one.
pub(crate) fn index(kind: Scalar) -> Option<Part> {
    match kind {
        Scalar::I8 => Some(Part::of::<i8>()),
        Scalar::I16 => Some(Part::of::<i16>()),
        Scalar::I32 => Some(Part::of::<i32>()),
        Scalar::I64 => Some(Part::of::<i64>()),
        Scalar::U8 => Some(Part::of::<u8>()),
        Scalar::U16 => Some(Part::of::<u16>()),
        Scalar::U32 => Some(Part::of::<u32>()),
        Scalar::U64 => Some(Part::of::<u64>()),
        _ => None,
    }
}

fn location<V: Ordered, I: Ordered>(op: ReduceOp) -> Option<Kernel> {
    match op {
        ReduceOp::Maxloc => Some(select::<Pair<V, I>, Maxloc, 1>()),
        ReduceOp::Minloc => Some(select::<Pair<V, I>, Minloc, 1>()),
        _ => None,
    }
}
