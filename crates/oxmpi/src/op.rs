//! Operations of reductions.
//!
//! MPI-5.0: Collective Communication, Predefined Reduction Operations; User-Defined Reduction Operations.

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use oxmpi_base::{BasicType, Error, ErrorClass, Function, ReduceOp, Result};
use oxmpi_mem::{Region, Words};
use oxmpi_op::Reducer;

use crate::buffer::{RecvBuffer, SendBuffer};
use crate::datatype::{Datatype, Integer, Logical, Number, Ordered};
use crate::layout::unpacked;
use crate::pack::{pack, unpack};

/// How a reduction combines two elements of type `T`.
///
/// The predefined operations are there for the types on which the standard defines them, and no others:
///
/// ```compile_fail,E0599
/// let sum = oxmpi::Op::<(f64, f64)>::SUM;
/// ```
///
/// Operands are combined in the order of the ranks; only commutative operations are reordered, and those the
/// same way each time.
///
/// ```
/// use oxmpi::Op;
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let mine = [2, 3][world.rank()];
/// let of = |op| {
///     let mut result = mine;
///     world.allreduce_in_place(&mut result, &op).map(|()| result)
/// };
/// assert_eq!([of(Op::SUM)?, of(Op::PROD)?, of(Op::MAX)?, of(Op::MIN)?], [5, 6, 3, 2]);
/// assert_eq!([of(Op::BAND)?, of(Op::BOR)?, of(Op::BXOR)?], [0b10, 0b11, 0b01]);
///
/// let is_first = world.rank() == 0;
/// let of = |op| {
///     let mut result = is_first;
///     world.allreduce_in_place(&mut result, &op).map(|()| result)
/// };
/// assert_eq!([of(Op::LAND)?, of(Op::LOR)?, of(Op::LXOR)?], [false, true, true]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Op<T> {
    kind: Kind,
    element: PhantomData<fn(T, T) -> T>,
}

#[derive(Clone)]
enum Kind {
    /// On pairs of a value and an index.
    Located(ReduceOp),
    Predefined(ReduceOp),
    User(Reducer),
}

impl<T: Datatype> Op<T> {
    /// An operation that is associative but does not commute.
    ///
    /// A panic in `combine` ends the process: the other ranks count on the result. (In [`Op::reduce_local`], on which
    /// they do not, it goes to the caller.) So does a call of MPI, by `combine` or by the destructor of what it has
    /// captured, which may run when the last operation with it ends.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let first = oxmpi::Op::user(|left: u32, _right| left);
    /// let (mine, mut firsts) = ([env.world().rank() as u32], [u32::MAX]);
    /// env.world().allreduce(&mine, &mut firsts, &first)?;
    /// assert_eq!(firsts, [0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It is called by whatever thread of the rank has the operation move on:
    ///
    /// ```compile_fail,E0277
    /// let calls = std::rc::Rc::new(std::cell::Cell::new(0));
    /// let first = oxmpi::Op::user(move |left: u32, _right| {
    ///     calls.set(calls.get() + 1); // what counts here belongs to one thread
    ///     left
    /// });
    /// ```
    pub fn user(combine: impl Fn(T, T) -> T + Send + Sync + 'static) -> Self {
        Self::new(combine, false)
    }

    /// An operation that is associative and commutes.
    ///
    /// As [`Op::user`] otherwise; more algorithms are open to it.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let gcd = oxmpi::Op::user_commutative(|mut a: u32, mut b| {
    ///     while b > 0 {
    ///         (a, b) = (b, a % b);
    ///     }
    ///     a
    /// });
    /// let mut common = [12, 18][world.rank()];
    /// world.allreduce_in_place(&mut common, &gcd)?;
    /// assert_eq!(common, 6);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn user_commutative(combine: impl Fn(T, T) -> T + Send + Sync + 'static) -> Self {
        Self::new(combine, true)
    }

    /// Combines two buffers of this rank: `result[i] = operand[i] op result[i]`, as other ranks' would be
    /// (`MPI_Reduce_local`).
    ///
    /// # Errors
    /// `Op` if the operation is not defined on `T`; `Count` if the buffers differ in length.
    ///
    /// # Panics
    /// If an operation of the program's own does; `result` is as it was then.
    ///
    /// ```
    /// use oxmpi::Op;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let (mine, mut sum) = ([1.5, 2.5], [1.0, 1.0]);
    /// Op::SUM.reduce_local(&mine, &mut sum)?;
    /// assert_eq!(sum, [2.5, 3.5]);
    /// let mut first = 7;
    /// Op::user(|left: i32, _right| left).reduce_local(&3, &mut first)?;
    /// assert_eq!(first, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reduce_local<S, R>(&self, operand: &S, result: &mut R) -> Result<()>
    where
        S: SendBuffer<Element = T> + ?Sized,
        R: SendBuffer<Element = T> + RecvBuffer + ?Sized,
    {
        let lengths = [operand.lend().elements(), result.lend().elements()];
        let combined = self.combination().reducer().and_then(|reducer| {
            if lengths[0] != lengths[1] {
                let text = format!("operand has {} elements, result has {}", lengths[0], lengths[1]);
                return Err(Error::new(ErrorClass::Count, text));
            }
            let (mut left, mut right) = (Vec::new(), Vec::new());
            pack(operand, &mut left);
            pack(&*result, &mut right);
            let [left, into] = [&mut left, &mut right].map(|packed| {
                // SAFETY: the vectors are not used before the regions have been used for the last time.
                unsafe { Region::claim(packed.as_mut_ptr(), packed.len()) }
            });
            reducer.combine(&left, &into, &into);
            unpack(&mut &right[..], result)
        });
        combined.map_err(|error| error.in_call(Function::ReduceLocal, None))
    }

    fn new(combine: impl Fn(T, T) -> T + Send + Sync + 'static, commutative: bool) -> Self {
        let function = move |left: &mut [u8], right: &mut [u8], _: u64| combine_all(&combine, left, right);
        let reducer = Reducer::user(T::LAYOUT.packed_size() as u64, commutative, Arc::new(function));
        Self { kind: Kind::User(reducer), element: PhantomData }
    }

    const fn predefined(op: ReduceOp) -> Self {
        Self { kind: Kind::Predefined(op), element: PhantomData }
    }

    /// What it is on elements of type `T`.
    #[inline]
    pub(crate) fn combination(&self) -> Combination {
        let (basic, pair) = const { (T::LAYOUT.basic_type(), T::LAYOUT.pair()) };
        Combination { kind: self.kind.clone(), basic, pair, element: type_name::<T>() }
    }
}

/// An operation on one type of elements, before it is known whether it is defined.
pub(crate) struct Combination {
    kind: Kind,
    /// What the elements are, if they are basic.
    basic: Option<BasicType>,
    /// What the elements consist of, if they may be a value and an index.
    pair: Option<[BasicType; 2]>,
    element: &'static str,
}

impl Combination {
    /// Notes which operation it is on what elements, unless the program has made it.
    #[inline]
    pub fn note(&self, words: &mut Words) {
        match (&self.kind, self.basic, self.pair) {
            (Kind::Predefined(op), Some(basic), _) => words.push(*op as u64 | (basic as u64) << 16),
            (Kind::Located(op), _, Some([value, index])) => {
                words.push(*op as u64 | (value as u64) << 16 | (index as u64) << 32 | 1 << 48);
            }
            _ => words.give_up(),
        }
    }

    /// The operation, ready to run.
    ///
    /// # Errors
    /// `Op` if it is not defined.
    pub fn reducer(&self) -> Result<Reducer> {
        match &self.kind {
            Kind::Located(op) => match self.pair {
                Some(pair) => Reducer::on_pairs(*op, pair),
                None => Err(undefined(*op, self.element)),
            },
            Kind::Predefined(op) => match self.basic {
                Some(basic) => Reducer::predefined(*op, basic),
                None => Err(undefined(*op, self.element)),
            },
            Kind::User(reducer) => Ok(reducer.clone()),
        }
    }
}

impl<T: Number> Op<T> {
    /// `MPI_PROD`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [2, 3][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::PROD)?;
    /// assert_eq!(result, 6);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const PROD: Self = Self::predefined(ReduceOp::Prod);
    /// `MPI_SUM`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [2, 3][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::SUM)?;
    /// assert_eq!(result, 5);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const SUM: Self = Self::predefined(ReduceOp::Sum);
}

impl<T: Ordered> Op<T> {
    /// `MPI_MAX`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [2, 3][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::MAX)?;
    /// assert_eq!(result, 3);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const MAX: Self = Self::predefined(ReduceOp::Max);
    /// `MPI_MIN`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [2, 3][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::MIN)?;
    /// assert_eq!(result, 2);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const MIN: Self = Self::predefined(ReduceOp::Min);
}

/// On pairs of a value and an index: the value, and of equal ones the least index.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let mine = (-(world.rank() as f64), world.rank());
/// let mut least = (0.0, 0);
/// world.allreduce(&mine, &mut least, &oxmpi::Op::MINLOC)?;
/// assert_eq!(least.1, world.size() - 1);
/// # Ok(())
/// # }
/// ```
impl<V: Ordered, I: Integer> Op<(V, I)> {
    /// `MPI_MAXLOC`.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut found = ([4.5, 7.0][world.rank()], world.rank());
    /// world.allreduce_in_place(&mut found, &oxmpi::Op::MAXLOC)?;
    /// assert_eq!(found, (7.0, 1));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const MAXLOC: Self = Self { kind: Kind::Located(ReduceOp::Maxloc), element: PhantomData };
    /// `MPI_MINLOC`.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut found = ([4.5, 7.0][world.rank()], world.rank());
    /// world.allreduce_in_place(&mut found, &oxmpi::Op::MINLOC)?;
    /// assert_eq!(found, (4.5, 0));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const MINLOC: Self = Self { kind: Kind::Located(ReduceOp::Minloc), element: PhantomData };
}

impl<T: Integer> Op<T> {
    /// `MPI_BAND`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [0b0110, 0b0011][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::BAND)?;
    /// assert_eq!(result, 0b0010);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const BAND: Self = Self::predefined(ReduceOp::Band);
    /// `MPI_BOR`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [0b0110, 0b0011][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::BOR)?;
    /// assert_eq!(result, 0b0111);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const BOR: Self = Self::predefined(ReduceOp::Bor);
    /// `MPI_BXOR`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [0b0110, 0b0011][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::BXOR)?;
    /// assert_eq!(result, 0b0101);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const BXOR: Self = Self::predefined(ReduceOp::Bxor);
}

impl<T: Logical> Op<T> {
    /// `MPI_LAND`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [true, false][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::LAND)?;
    /// assert!(!result);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const LAND: Self = Self::predefined(ReduceOp::Land);
    /// `MPI_LOR`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [true, false][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::LOR)?;
    /// assert!(result);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const LOR: Self = Self::predefined(ReduceOp::Lor);
    /// `MPI_LXOR`. See [`Op`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut result = [true, true][world.rank()];
    /// world.allreduce_in_place(&mut result, &oxmpi::Op::LXOR)?;
    /// assert!(!result);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const LXOR: Self = Self::predefined(ReduceOp::Lxor);
}

impl<T> fmt::Debug for Op<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Located(op) | Kind::Predefined(op) => f.write_str(op.name()),
            Kind::User(reducer) => reducer.fmt(f),
        }
    }
}

#[cold]
fn undefined(op: ReduceOp, element: &str) -> Error {
    Error::new(ErrorClass::Op, format!("op {} is not defined on {element}", op.name()))
}

/// `right[i] = combine(left[i], right[i])` for all elements of the two, which are packed.
fn combine_all<T: Datatype>(combine: &impl Fn(T, T) -> T, left: &mut [u8], right: &mut [u8]) {
    let element = T::LAYOUT.packed_size().max(1);
    assert!(left.len() >= right.len(), "operands are equally long");
    for (left, right) in left.chunks_exact_mut(element).zip(right.chunks_exact_mut(element)) {
        let combined = combine(load(left), load(right));
        store(combined, right);
    }
}

/// The element that is packed here. What other ranks have sent may be no value of the type; then this one becomes one.
fn load<T: Datatype>(packed: &mut [u8]) -> T {
    if !T::LAYOUT.needs_no_check() {
        let _ = T::LAYOUT.repair(packed);
    }
    assert!(packed.len() == T::LAYOUT.packed_size(), "a packed element");
    if T::LAYOUT.is_dense() {
        // SAFETY: these are the bytes of an element, and they are a value.
        return unsafe { packed.as_ptr().cast::<T>().read_unaligned() };
    }
    // SAFETY: as above, without the padding.
    let element = unsafe { unpacked(&T::LAYOUT, packed) };
    // SAFETY: as above; padding need not be initialised.
    unsafe { element.assume_init() }
}

/// Packs an element.
fn store<T: Datatype>(element: T, packed: &mut [u8]) {
    let base = (&raw const element).cast::<u8>();
    T::LAYOUT.pieces(&mut |memory, at, bytes| {
        let into = packed[at..at + bytes].as_mut_ptr();
        // SAFETY: the piece lies in the element, and there is so much room.
        unsafe { into.copy_from_nonoverlapping(base.wrapping_add(memory), bytes) };
    });
}
