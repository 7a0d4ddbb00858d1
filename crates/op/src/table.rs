//! Which kernel computes an operation on a kind of element.

use oxmpi_base::{Pair as PairKind, ReduceOp, Scalar};

use crate::complex::{Complex, ComplexHalf};
use crate::half::Half;
use crate::kernel::{Kernel, select};
use crate::number::{Arithmetic, Bits, Ordered, Truth};
use crate::operation::{Band, Bor, Bxor, Land, Lor, Lxor, Max, Min, Prod, ProdRecovering, Sum};
use crate::pair::{Maxloc, Minloc, Pair};
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

/// The kernel of `op` on pairs whose parts are these to the processor; `None` if there is none.
pub(crate) fn pair_kernel(op: ReduceOp, value: Scalar, index: Scalar) -> Option<Kernel> {
    match value {
        Scalar::I8 => indexed::<i8>(op, index),
        Scalar::I16 => indexed::<i16>(op, index),
        Scalar::I32 => indexed::<i32>(op, index),
        Scalar::I64 => indexed::<i64>(op, index),
        Scalar::I128 => indexed::<i128>(op, index),
        Scalar::U8 => indexed::<u8>(op, index),
        Scalar::U16 => indexed::<u16>(op, index),
        Scalar::U32 => indexed::<u32>(op, index),
        Scalar::U64 => indexed::<u64>(op, index),
        Scalar::F16 => indexed::<Half>(op, index),
        Scalar::F32 => indexed::<f32>(op, index),
        Scalar::F64 => indexed::<f64>(op, index),
        Scalar::F128 => indexed::<Quad>(op, index),
        Scalar::LongDouble => indexed::<LongDouble>(op, index),
        _ => None,
    }
}

fn indexed<V: Ordered>(op: ReduceOp, index: Scalar) -> Option<Kernel> {
    match index {
        Scalar::I8 => location::<V, i8>(op),
        Scalar::I16 => location::<V, i16>(op),
        Scalar::I32 => location::<V, i32>(op),
        Scalar::I64 => location::<V, i64>(op),
        Scalar::U8 => location::<V, u8>(op),
        Scalar::U16 => location::<V, u16>(op),
        Scalar::U32 => location::<V, u32>(op),
        Scalar::U64 => location::<V, u64>(op),
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
