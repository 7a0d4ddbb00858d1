//! An operation on one kind of element, ready to run.

use std::ffi::c_char;
use std::fmt;
use std::mem::MaybeUninit;
use std::slice;
use std::sync::Arc;

use oxmpi_base::{BasicType, Error, ErrorClass, ReduceOp, Result, Scalar, TypeClass};
use oxmpi_mem::Region;

use crate::kernel::Kernel;
use crate::pair::Pairs;
use crate::table;

/// The user's function: `inout[i] = in[i] op inout[i]` for the given number of elements. Both begin at multiples of 16,
/// and what it leaves in `in` is forgotten.
pub type UserFunction = dyn Fn(&mut [u8], &mut [u8], u64) + Send + Sync;

/// `into = left op right` on vectors of one kind of element. Clones are cheap.
///
/// Elements are packed, without the gaps that a datatype may have.
#[derive(Clone)]
pub struct Reducer {
    unit_bytes: u64,
    commutative: bool,
    code: u8,
    apply: Apply,
}

#[derive(Clone)]
enum Apply {
    Kernel(Kernel),
    Pairs(Pairs),
    User(Arc<UserFunction>),
}

impl Reducer {
    /// A predefined operation. Some that the standard does not define are taken too, because programs written
    /// for other libraries use them: logical ones on addresses, counts and offsets, and those of C's integers on
    /// `MPI_CHAR`.
    ///
    /// # Errors
    /// [`ErrorClass::Op`] if `op` is not defined on `basic`.
    pub fn predefined(op: ReduceOp, basic: BasicType) -> Result<Self> {
        let legal = if basic.allows(op) { table::kernel(op, basic.scalar()) } else { beyond(op, basic) };
        let Some(kernel) = legal else {
            let text = format!("op {} is not defined on datatype {}", op.name(), basic.name());
            return Err(Error::new(ErrorClass::Op, text));
        };
        let unit_bytes = basic.size() as u64;
        Ok(Self { unit_bytes, commutative: true, code: code(op), apply: Apply::Kernel(kernel) })
    }

    /// A predefined operation on pairs that have no name in the standard. A value is a number that can be
    /// compared, an index an integer of at most 64 bits.
    ///
    /// # Errors
    /// [`ErrorClass::Op`] if `op` is not defined on such pairs.
    pub fn on_pairs(op: ReduceOp, [value, index]: [BasicType; 2]) -> Result<Self> {
        let is_pair = value.allows(ReduceOp::Max) && index.allows(ReduceOp::Max);
        let Some(pairs) = is_pair.then(|| Pairs::new(op, value.scalar(), index.scalar())).flatten() else {
            let (op, value, index) = (op.name(), value.name(), index.name());
            let text = format!("op {op} is not defined on pairs of {value} and {index}");
            return Err(Error::new(ErrorClass::Op, text));
        };
        let unit_bytes = (value.size() + index.size()) as u64;
        Ok(Self { unit_bytes, commutative: true, code: code(op), apply: Apply::Pairs(pairs) })
    }

    /// An operation of the user's, on elements of `unit_bytes` packed bytes each. `function` is given copies of the
    /// elements to combine; if there are many, some at a time.
    pub fn user(unit_bytes: u64, commutative: bool, function: Arc<UserFunction>) -> Self {
        let code = if commutative { USER } else { USER_IN_ORDER };
        Self { unit_bytes, commutative, code, apply: Apply::User(function) }
    }

    /// Packed bytes of one element.
    pub fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// Whether the operands may be exchanged.
    pub fn is_commutative(&self) -> bool {
        self.commutative
    }

    /// Whether it is the user's.
    pub fn is_user(&self) -> bool {
        matches!(self.apply, Apply::User(_))
    }

    /// Which operation this is, in [`CODE_BITS`] bits: of different predefined ones different numbers, of all of the
    /// user's that may be reordered the same, and of all others of his. Never 0.
    #[inline]
    pub fn code(&self) -> u8 {
        self.code
    }

    /// What programs call the operation of a [code](Self::code).
    pub fn name_of(code: u8) -> &'static str {
        match code {
            USER => "an operation of the program",
            USER_IN_ORDER => "an ordered operation of the program",
            _ => ReduceOp::ALL.into_iter().find(|&op| self::code(op) == code).map_or("?", ReduceOp::name),
        }
    }

    /// `into = left op right`, element by element. `into` is `left` or `right`, or overlaps neither; else the
    /// result is unspecified. So is that of what others write to meanwhile, byte by byte; nothing else happens then.
    ///
    /// # Panics
    /// If the lengths differ or are not a multiple of [`Reducer::unit_bytes`].
    #[inline]
    pub fn combine(&self, left: &Region, right: &Region, into: &Region) {
        assert!(
            left.len() == into.len() && right.len() == into.len(),
            "operands and result are equally long"
        );
        debug_assert!(
            may_write(into, left) && may_write(into, right),
            "the result overlaps no operand in part"
        );
        match &self.apply {
            Apply::Kernel(kernel) => {
                // SAFETY: the regions promise their bytes and are equally long (assertion above); `select`
                // chose the kernel for this processor.
                unsafe { kernel(left.as_ptr(), right.as_ptr(), into.as_ptr(), into.len()) }
            }
            Apply::Pairs(pairs) => pairs.combine(left, right, into),
            Apply::User(function) => self.combine_by_user(function.as_ref(), left, right, into),
        }
    }

    /// Combines one piece after the other in memory of this call's own, in which the user's function may do what nobody
    /// may do where others write.
    fn combine_by_user(&self, function: &UserFunction, left: &Region, right: &Region, into: &Region) {
        if into.is_empty() {
            return;
        }
        assert!((into.len() as u64).is_multiple_of(self.unit_bytes), "only whole elements are combined");
        let unit = self.unit_bytes as usize;
        let most = (PIECE_BYTES / unit).max(1) * unit;
        let (mut first, mut second) = (Room::new(most), Room::new(most));
        for begin in (0..into.len()).step_by(most) {
            let bytes = most.min(into.len() - begin);
            let operand = first.fill(&left.part(begin, bytes));
            let result = second.fill(&right.part(begin, bytes));
            function(operand, result, (bytes / unit) as u64);
            into.part(begin, bytes).write(result);
        }
    }
}

/// What [`Reducer::code`] needs.
pub const CODE_BITS: u32 = 5;

const USER: u8 = 0x1e;
const USER_IN_ORDER: u8 = 0x1f;

/// The standard numbers operations in a row of 32, the first of which is none.
fn code(op: ReduceOp) -> u8 {
    op as u8 & ((1 << CODE_BITS) - 1)
}

/// The operations that [`Reducer::predefined`] takes although the standard does not define them.
#[cold]
fn beyond(op: ReduceOp, basic: BasicType) -> Option<Kernel> {
    let kind = match basic.class() {
        Some(TypeClass::MultiLanguage) => basic.scalar(),
        _ if basic == BasicType::Char => CHAR,
        _ => return None,
    };
    if TypeClass::CInteger.allows(op) { table::kernel(op, kind) } else { None }
}

/// What C's `char` is to the processor.
const CHAR: Scalar = if c_char::MIN < 0 { Scalar::I8 } else { Scalar::U8 };

/// What the user's function is given at once, unless one element is longer.
const PIECE_BYTES: usize = if cfg!(miri) { 64 } else { 4 << 10 };

/// Memory for a piece of an operand, as strictly aligned as any of the C types that programs reduce.
struct Room {
    short: [MaybeUninit<u128>; PIECE_BYTES / size_of::<u128>()],
    /// Used instead if it is not empty.
    long: Vec<u128>,
}

impl Room {
    #[inline]
    fn new(bytes: usize) -> Self {
        let long = if bytes > PIECE_BYTES { vec![0; bytes.div_ceil(size_of::<u128>())] } else { Vec::new() };
        Self { short: [MaybeUninit::uninit(); _], long }
    }

    /// A copy of `region`, which is no longer than what this was made for.
    #[inline]
    fn fill(&mut self, region: &Region) -> &mut [u8] {
        let (base, room): (*mut u8, usize) = if self.long.is_empty() {
            (self.short.as_mut_ptr().cast(), size_of_val(&self.short))
        } else {
            (self.long.as_mut_ptr().cast(), size_of_val(&self.long[..]))
        };
        assert!(region.len() <= room, "pieces fit");
        // SAFETY: there is so much room, borrowed until this function returns.
        unsafe { Region::claim(base, region.len()) }.copy_from(region);
        // SAFETY: as above; the bytes were written just now, and are borrowed with `self` from here on.
        unsafe { slice::from_raw_parts_mut(base, region.len()) }
    }
}

impl fmt::Debug for Reducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.apply {
            Apply::Kernel(_) | Apply::Pairs(_) => "predefined",
            Apply::User(_) => "user",
        };
        write!(f, "{kind} operation on {} bytes", self.unit_bytes)
    }
}

/// Whether what is computed of `operand` may be written to `into`.
fn may_write(into: &Region, operand: &Region) -> bool {
    let distance = into.as_ptr().addr().abs_diff(operand.as_ptr().addr());
    distance == 0 || distance >= into.len()
}

#[cfg(test)]
mod tests;
