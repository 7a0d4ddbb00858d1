//! Reduction operations: those of the standard by their handles, and those that the program makes.
//!
//! MPI-5.0: Collective Communication, User-Defined Reduction Operations, Process-Local Reduction.

use std::alloc::{self, Layout};
use std::ffi::{c_int, c_void};
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, ReduceOp, Result};
use oxmpi_datatype::Datatype;
use oxmpi_mem::{Region, Words};
use oxmpi_op::Reducer;

use crate::again::Argument;
use crate::argument::{Callback, InOut, Out};
use crate::buffer::{Names, Operands};
use crate::failure::at_any_time;
use crate::generated::constants::{MPI_NO_OP, MPI_OP_NULL, MPI_REPLACE};
use crate::generated::types::{MPI_Count, MPI_Datatype, MPI_Op, MPI_User_function, MPI_User_function_c};
use crate::handle::{Handle as _, Sharing, Table, bad_handle};
use crate::image::{Image, Scratch};
use crate::object::datatype;
use crate::process;

static OPS: Table<MPI_Op, UserOp> = Table::new(Sharing::ByThreadLevel);

const INPUT: Names = Names { address: "inbuf", count: "count", datatype: "datatype" };
const INOUT: Names = Names { address: "inoutbuf", ..INPUT };

type Small = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_int, *mut MPI_Datatype);
type Large = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut MPI_Count, *mut MPI_Datatype);

/// An operation that the program made.
#[derive(Clone, Copy, Debug)]
struct UserOp {
    function: UserFunction,
    commutative: bool,
}

#[derive(Clone, Copy, Debug)]
enum UserFunction {
    Large(Large),
    Small(Small),
}

/// The operation that `op` names, on elements of `datatype`, whose handle is `handle`.
///
/// # Errors
/// `Op` if the handle names none, or one that is not defined on the datatype.
#[inline]
pub fn reducer(op: MPI_Op, handle: MPI_Datatype, datatype: &Datatype) -> Result<Reducer> {
    match predefined(op) {
        Some(predefined) => of_predefined(predefined, datatype),
        None => Ok(of_user(OPS.find("op", op)?, handle, datatype)),
    }
}

// SAFETY: the number of a predefined operation.
unsafe impl Argument for MPI_Op {
    #[inline]
    fn note(&self, words: &mut Words) {
        if predefined(*self).is_none() {
            words.give_up();
        }
        words.push(self.word() as u64);
    }
}

/// The predefined operation that a handle names, if it names one.
fn predefined(op: MPI_Op) -> Option<ReduceOp> {
    ReduceOp::from_abi(u32::try_from(op.word()).ok()?)
}

#[inline]
fn of_predefined(op: ReduceOp, datatype: &Datatype) -> Result<Reducer> {
    match datatype.basic_type() {
        Some(basic) => Reducer::predefined(op, basic),
        None => of_pairs(op, datatype),
    }
}

/// Of datatypes that have no name in the standard, only pairs of value and index are predefined.
#[cold]
fn of_pairs(op: ReduceOp, datatype: &Datatype) -> Result<Reducer> {
    if let Some(types) = datatype.value_and_index() {
        return Reducer::on_pairs(op, types);
    }
    let name = datatype.name();
    let what = if name.is_empty() {
        "a derived datatype".to_owned()
    } else {
        format!("datatype {}", name.display())
    };
    Err(Error::new(ErrorClass::Op, format!("op is {}, which is not defined on {what}", op.name())))
}

fn of_user(op: UserOp, handle: MPI_Datatype, datatype: &Datatype) -> Reducer {
    let (function, commutative) = (op.function, op.commutative);
    let (size, is_dense, datatype) = (datatype.size(), datatype.is_dense(), datatype.clone());
    let run = move |left: &mut [u8], inout: &mut [u8], count: u64| {
        datatype::lend(handle, &datatype, |handle| {
            let call = |left: *mut u8, inout: *mut u8, count: u64| {
                // SAFETY: both callers below pass the origins of so many elements.
                unsafe { function.call(left, inout, count, datatype.extent(), handle) };
            };
            if is_dense {
                call(left.as_mut_ptr(), inout.as_mut_ptr(), count);
            } else {
                with_images(&datatype, count, (left, inout), call);
            }
        });
    };
    Reducer::user(size, commutative, Arc::new(run))
}

/// Passes to `call` where so many elements lie as in the program's memory, of which `left` and `inout` are the packed
/// bytes; those of `inout` are what it leaves. It gets all `count` of them, or some at a time where there is no memory
/// for more.
fn with_images(
    datatype: &Datatype,
    count: u64,
    (left, inout): (&mut [u8], &mut [u8]),
    call: impl Fn(*mut u8, *mut u8, u64),
) {
    // SAFETY: the bytes are borrowed until this function returns, and used through the regions alone.
    let [left, inout] = [left, inout].map(|bytes| unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) });
    let unit = datatype.size() as usize;
    let (mut done, mut most) = (0, count);
    while done < count {
        let elements = most.min(count - done);
        let of = |all: &Region| all.part(done as usize * unit, elements as usize * unit);
        let unpacked = |all: &Region| -> Result<Image> {
            let image = Image::new(elements, datatype)?;
            image.buffer().write(0, &of(all));
            Ok(image)
        };
        match unpacked(&left).and_then(|left| Ok((left, unpacked(&inout)?))) {
            Ok((left, result)) => {
                call(left.origin(), result.origin(), elements);
                result.buffer().read(0, &of(&inout));
                done += elements;
            }
            Err(_) if elements > 1 => most = elements / 2,
            Err(_) => no_memory(datatype),
        }
    }
}

/// Ends the program as any shortage of memory does that nobody can be told of: the reduction is under way.
#[cold]
fn no_memory(datatype: &Datatype) -> ! {
    let bytes = usize::try_from(datatype.true_extent()).unwrap_or(0);
    alloc::handle_alloc_error(Layout::array::<u8>(bytes).expect("an element fits the address space"))
}

impl UserFunction {
    /// Calls the program's function, several times if its counts are too small for all elements.
    ///
    /// # Safety
    /// At both origins lie `count` elements, `extent` bytes apart, of the datatype that `handle` names; those at
    /// `inout` may be written.
    unsafe fn call(self, left: *mut u8, inout: *mut u8, count: u64, extent: i64, mut handle: MPI_Datatype) {
        match self {
            Self::Large(function) => {
                let mut len = MPI_Count::try_from(count).expect("elements fit into memory");
                // SAFETY: the program made an operation of this function, and promised that it takes these.
                unsafe { function(left.cast(), inout.cast(), &raw mut len, &raw mut handle) };
            }
            Self::Small(function) => {
                let (mut left, mut inout, mut count) = (left, inout, count);
                while count != 0 {
                    let mut len = c_int::try_from(count).unwrap_or(c_int::MAX);
                    let (elements, bytes) = (len.unsigned_abs(), len as isize * extent as isize);
                    // SAFETY: as above.
                    unsafe { function(left.cast(), inout.cast(), &raw mut len, &raw mut handle) };
                    (left, inout) = (left.wrapping_offset(bytes), inout.wrapping_offset(bytes));
                    count -= u64::from(elements);
                }
            }
        }
    }
}

/// `MPI_Op_create`.
pub fn op_create(
    function: Function,
    user_fn: Callback<MPI_User_function>,
    commute: c_int,
    op: Out<MPI_Op>,
) -> c_int {
    create(function, user_fn.get().map(UserFunction::Small), commute, op)
}

/// `MPI_Op_create_c`.
pub fn op_create_c(
    function: Function,
    user_fn: Callback<MPI_User_function_c>,
    commute: c_int,
    op: Out<MPI_Op>,
) -> c_int {
    create(function, user_fn.get().map(UserFunction::Large), commute, op)
}

fn create(function: Function, user_fn: Option<UserFunction>, commute: c_int, op: Out<MPI_Op>) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let no_function = || Error::new(ErrorClass::Arg, "user_fn is a null pointer");
        let user_op = UserOp { function: user_fn.ok_or_else(no_function)?, commutative: commute != 0 };
        op.named("op")?.set(OPS.insert(user_op));
        Ok(())
    })
}

/// `MPI_Op_free`: reductions under way keep the operation.
pub fn op_free(function: Function, op: InOut<MPI_Op>) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let op = op.named("op")?;
        if let Some(predefined) = predefined(op.get()) {
            let text = format!("op is {}, which is predefined and cannot be freed", predefined.name());
            return Err(Error::new(ErrorClass::Op, text));
        }
        OPS.remove(op.get()).ok_or_else(|| bad_handle("op", op.get()))?;
        op.set(MPI_OP_NULL);
        Ok(())
    })
}

/// `MPI_Op_commutative`.
pub fn op_commutative(function: Function, op: MPI_Op, commute: Out<c_int>) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let commutative = match predefined(op) {
            Some(_) => op != MPI_REPLACE && op != MPI_NO_OP,
            None => OPS.find("op", op)?.commutative,
        };
        commute.named("commute")?.set(commutative.into());
        Ok(())
    })
}

/// `MPI_Reduce_local` and its large-count form; the program's functions are called with its own buffers.
pub fn reduce_local(function: Function, operands: Operands, op: MPI_Op) -> c_int {
    at_any_time(function, || {
        process::current()?;
        let operands = operands.typed(&INPUT, &INOUT)?;
        let (input, inout) = (operands.input()?, operands.result()?);
        if input.overlaps(&inout) {
            return Err(Error::new(ErrorClass::Buffer, "inbuf and inoutbuf overlap"));
        }
        let Some(predefined) = predefined(op) else {
            let UserOp { function, .. } = OPS.find("op", op)?;
            if input.bytes() != 0 {
                let (left, inout, count) = operands.elements();
                let (extent, handle) = (operands.datatype().extent(), operands.handle());
                // SAFETY: these are the elements of the buffers, which are not empty.
                unsafe { function.call(left.cast(), inout.cast(), count, extent, handle) };
            }
            return Ok(());
        };
        let reducer = of_predefined(predefined, operands.datatype())?;
        if let (Some(input), Some(inout)) = (input.as_dense(), inout.as_dense()) {
            reducer.combine(&input, &inout, &inout);
            return Ok(());
        }
        let (input, result) = (Scratch::packed(&input), Scratch::packed(&inout));
        reducer.combine(input.region(), result.region(), result.region());
        inout.write(0, result.region());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::constants::{MPI_BAND, MPI_DOUBLE_INT, MPI_SUM};
    use oxmpi_base::BasicType;

    /// An element of `MPI_DOUBLE_INT`.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct DoubleInt {
        value: f64,
        index: c_int,
    }

    unsafe extern "C" fn combine(
        left: *mut c_void,
        inout: *mut c_void,
        len: *mut c_int,
        datatype: *mut MPI_Datatype,
    ) {
        // SAFETY: the operation passes its arguments by address.
        assert_eq!(unsafe { datatype.read() }, MPI_DOUBLE_INT);
        // SAFETY: as above.
        for index in 0..unsafe { len.read() } as usize {
            let (left, inout) = (left.cast::<DoubleInt>(), inout.cast::<DoubleInt>());
            // SAFETY: the operation passes as many elements as it says.
            let (left, inout) = (unsafe { left.wrapping_add(index).read() }, inout.wrapping_add(index));
            // SAFETY: as above.
            let right = unsafe { inout.read() };
            let result = DoubleInt { value: left.value - right.value, index: left.index + 10 * right.index };
            // SAFETY: as above.
            unsafe { inout.write(result) };
        }
    }

    #[test]
    fn a_user_function_sees_elements_with_the_gaps_of_their_datatype() {
        let datatype = Datatype::basic(BasicType::DoubleInt);
        let user = UserOp { function: UserFunction::Small(combine), commutative: false };
        let reducer = of_user(user, MPI_DOUBLE_INT, &datatype);
        let packed = |elements: &mut [DoubleInt; 2]| {
            // SAFETY: the elements outlive the buffer, and are not used while it is.
            let buffer = unsafe { oxmpi_datatype::Buffer::new(elements.as_mut_ptr().cast(), 2, &datatype) };
            Scratch::packed(&buffer.expect("predefined datatypes are committed"))
        };
        let pair = |value: f64, index: c_int| DoubleInt { value, index };
        let left = packed(&mut [pair(5.0, 1), pair(7.0, 2)]);
        let inout = packed(&mut [pair(1.0, 3), pair(2.0, 4)]);
        reducer.combine(left.region(), inout.region(), inout.region());
        let expected = packed(&mut [pair(4.0, 31), pair(5.0, 42)]);
        assert_eq!(inout.region().to_vec(), expected.region().to_vec());
        assert!(!reducer.is_commutative());
    }

    #[test]
    fn elements_for_which_there_is_no_memory_at_once_are_combined_one_by_one() {
        let datatype =
            Datatype::resized(0, 1 << 62, &Datatype::basic(BasicType::Byte)).expect("legal bounds");
        datatype.commit();
        let (mut left, mut inout) = ([1, 2, 3, 4, 5], [10, 20, 30, 40, 50]);
        with_images(&datatype, 5, (&mut left, &mut inout), |left, inout, count| {
            assert_eq!(count, 1, "two do not fit the address space");
            // SAFETY: an element is a byte, and there is one of each operand.
            let [left, right] = [left, inout].map(|operand| unsafe { operand.read() });
            // SAFETY: as above.
            unsafe { inout.write(left + right) };
        });
        assert_eq!(inout, [11, 22, 33, 44, 55]);
    }

    #[test]
    fn an_operation_that_is_not_defined_on_a_datatype_is_refused_by_both_names() {
        let double = Datatype::basic(BasicType::Double);
        let error = reducer(MPI_BAND, MPI_DOUBLE_INT, &double).expect_err("bits");
        assert_eq!(error.class(), ErrorClass::Op);
        assert!(error.text().contains("MPI_BAND") && error.text().contains("MPI_DOUBLE"), "{error}");
        let derived = Datatype::contiguous(2, &double).expect("a legal count");
        let error = reducer(MPI_SUM, MPI_DOUBLE_INT, &derived).expect_err("sums are of predefined datatypes");
        assert!(error.text().contains("a derived datatype"), "{error}");
    }
}
