//! Statuses in the layout of the standard ABI.
//!
//! The private words hold the packed bytes of the message (words 0 and 1) and whether it was cancelled (word 2).
//! MPI-5.0: Point-to-Point Communication, Return Status; Application Binary Interface, Status.

use std::ffi::c_int;
use std::ptr::NonNull;

use oxmpi_base::{BasicType, Error, ErrorClass, Function, Pair, Result, Scalar, Status};
use oxmpi_core::NULL_SOURCE;

use crate::boundary::IntegerOut;
use crate::datatype;
use crate::failure::at_any_time;
use crate::generated::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_UNDEFINED};
use crate::generated::types::{MPI_Count, MPI_Datatype, MPI_Status};
use crate::pointer::{Out, null};

const LOW: usize = 0;
const HIGH: usize = 1;
const CANCELLED: usize = 2;

/// Where a function writes a status, or does not: `MPI_STATUS_IGNORE`, `MPI_STATUSES_IGNORE`.
#[derive(Clone, Copy, Debug)]
pub struct StatusOut(Option<NonNull<MPI_Status>>);

impl StatusOut {
    /// An argument that is a status, or the first of an array of them.
    ///
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for reads and writes of as many statuses as
    /// [`StatusOut::at`] is used for.
    #[inline]
    pub unsafe fn new(pointer: *mut MPI_Status) -> Self {
        Self(NonNull::new(pointer))
    }

    /// The status at `index` of an array.
    #[inline]
    pub fn at(self, index: usize) -> Self {
        // SAFETY: `new` was promised that the array has this item.
        Self(self.0.map(|first| unsafe { first.add(index) }))
    }

    /// Writes what one operation says; the error field is left alone unless the status is empty.
    #[inline]
    pub fn set(self, status: &Status) {
        let Some(pointer) = self.0 else { return };
        let mut fields = in_c(status);
        if *status != Status::EMPTY {
            // SAFETY: `new` was promised that it is valid for reads.
            fields.MPI_ERROR = unsafe { (&raw const (*pointer.as_ptr()).MPI_ERROR).read() };
        }
        // SAFETY: `new` was promised that it is valid for writes.
        unsafe { pointer.as_ptr().write(fields) };
    }

    /// Writes what one of several operations says, with its error.
    #[inline]
    pub fn set_with_error(self, status: &Status, error: ErrorClass) {
        let Some(pointer) = self.0 else { return };
        let fields = MPI_Status { MPI_ERROR: error.code(), ..in_c(status) };
        // SAFETY: `new` was promised that it is valid for writes.
        unsafe { pointer.as_ptr().write(fields) };
    }
}

#[inline]
fn in_c(status: &Status) -> MPI_Status {
    let source = match status.source {
        Status::ANY => MPI_ANY_SOURCE,
        NULL_SOURCE => MPI_PROC_NULL,
        rank => rank,
    };
    let tag = if status.tag == Status::ANY { MPI_ANY_TAG } else { status.tag };
    let mut internal = [0; 5];
    [internal[LOW], internal[HIGH]] = halves(status.bytes);
    internal[CANCELLED] = status.cancelled.into();
    MPI_Status { MPI_SOURCE: source, MPI_TAG: tag, MPI_ERROR: status.error.code(), MPI_internal: internal }
}

fn halves(bytes: u64) -> [c_int; 2] {
    [bytes as c_int, (bytes >> 32) as c_int]
}

fn bytes_of(status: &MPI_Status) -> u64 {
    let half = |index: usize| u64::from(status.MPI_internal[index].cast_unsigned());
    half(LOW) | half(HIGH) << 32
}

/// Reads the argument `status`.
///
/// # Safety
/// A pointer that is not null is valid for reads of an initialised status.
unsafe fn read(status: *const MPI_Status) -> Result<MPI_Status> {
    if status.is_null() {
        return Err(null("status"));
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { status.read() })
}

/// Changes the argument `status`.
///
/// # Safety
/// A pointer that is not null is valid for reads and writes of an initialised status.
unsafe fn change(
    function: Function,
    status: *mut MPI_Status,
    how: impl FnOnce(&mut MPI_Status) -> Result<()>,
) -> c_int {
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        let mut fields = unsafe { read(status) }?;
        how(&mut fields)?;
        // SAFETY: the caller's promise; it is not null.
        unsafe { status.write(fields) };
        Ok(())
    })
}

/// `MPI_Get_count`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn get_count(
    function: Function,
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: IntegerOut,
) -> c_int {
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        let bytes = bytes_of(&unsafe { read(status) }?);
        let size = datatype::find("datatype", datatype)?.size();
        // SAFETY: the caller's promise.
        unsafe { count.write("count", quotient(bytes, size)) }
    })
}

/// `MPI_Get_elements`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn get_elements(
    function: Function,
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: IntegerOut,
) -> c_int {
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        let bytes = bytes_of(&unsafe { read(status) }?);
        let datatype = datatype::find("datatype", datatype)?;
        let elements = match datatype.element() {
            Some(basic) => basic_elements(bytes, basic),
            None => quotient(bytes, datatype.size()),
        };
        // SAFETY: the caller's promise.
        unsafe { count.write("count", elements) }
    })
}

/// `MPI_Get_elements_x`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn get_elements_x(
    function: Function,
    status: *const MPI_Status,
    datatype: MPI_Datatype,
    count: *mut MPI_Count,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { get_elements(function, status, datatype, IntegerOut::Large(count)) }
}

/// How many times `size` goes into `bytes`, if a whole number of times.
fn quotient(bytes: u64, size: u64) -> i64 {
    match (bytes, size) {
        (0, _) => 0,
        (_, 0) => MPI_UNDEFINED.into(),
        _ if bytes % size != 0 => MPI_UNDEFINED.into(),
        _ => i64::try_from(bytes / size).unwrap_or(MPI_UNDEFINED.into()),
    }
}

/// The elements of a basic type in so many bytes; a pair is two.
fn basic_elements(bytes: u64, basic: BasicType) -> i64 {
    let size = basic.size() as u64;
    let Some(value) = value_bytes(basic) else { return quotient(bytes, size) };
    let pairs = i64::try_from(bytes / size).unwrap_or(i64::MAX / 2);
    match bytes % size {
        0 => 2 * pairs,
        rest if rest == value => 2 * pairs + 1,
        _ => MPI_UNDEFINED.into(),
    }
}

/// Packed bytes of the first element of a pair.
fn value_bytes(basic: BasicType) -> Option<u64> {
    match basic.scalar() {
        Scalar::Pair(Pair::I16I32) => Some(2),
        Scalar::Pair(_) => Some(basic.index_offset() as u64),
        _ => None,
    }
}

/// `MPI_Status_set_elements`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn status_set_elements(
    function: Function,
    status: *mut MPI_Status,
    datatype: MPI_Datatype,
    count: MPI_Count,
) -> c_int {
    let how = |fields: &mut MPI_Status| {
        let datatype = datatype::find("datatype", datatype)?;
        let Ok(elements) = u64::try_from(count) else {
            return Err(Error::new(ErrorClass::Count, format!("count is {count}")));
        };
        let bytes = match datatype.element().map(|basic| (basic, value_bytes(basic))) {
            Some((basic, Some(value))) => elements / 2 * basic.size() as u64 + elements % 2 * value,
            Some((basic, None)) => elements * basic.size() as u64,
            None => elements * datatype.size(),
        };
        [fields.MPI_internal[LOW], fields.MPI_internal[HIGH]] = halves(bytes);
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { change(function, status, how) }
}

/// `MPI_Status_set_elements_x`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn status_set_elements_x(
    function: Function,
    status: *mut MPI_Status,
    datatype: MPI_Datatype,
    count: MPI_Count,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { status_set_elements(function, status, datatype, count) }
}

macro_rules! fields {
    ($($getter:ident $setter:ident $field:ident $name:literal;)*) => {$(
        #[doc = concat!("`MPI_S", stringify!($getter), "` without its first letter.")]
        ///
        /// # Safety
        /// As the standard says of its arguments.
        pub unsafe fn $getter(function: Function, status: *const MPI_Status, value: *mut c_int) -> c_int {
            at_any_time(function, || {
                // SAFETY: the caller's promise.
                let fields = unsafe { read(status) }?;
                // SAFETY: the caller's promise.
                unsafe { Out::new($name, value) }?.set(fields.$field);
                Ok(())
            })
        }

        #[doc = concat!("The counterpart of [`", stringify!($getter), "`].")]
        ///
        /// # Safety
        /// As the standard says of its arguments.
        pub unsafe fn $setter(function: Function, status: *mut MPI_Status, value: c_int) -> c_int {
            let how = |fields: &mut MPI_Status| {
                fields.$field = value;
                Ok(())
            };
            // SAFETY: the caller's promise.
            unsafe { change(function, status, how) }
        }
    )*};
}

fields! {
    status_get_error status_set_error MPI_ERROR "error";
    status_get_source status_set_source MPI_SOURCE "source";
    status_get_tag status_set_tag MPI_TAG "tag";
}

/// `MPI_Status_set_cancelled`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn status_set_cancelled(function: Function, status: *mut MPI_Status, flag: c_int) -> c_int {
    let how = |fields: &mut MPI_Status| {
        fields.MPI_internal[CANCELLED] = (flag != 0).into();
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { change(function, status, how) }
}

/// `MPI_Test_cancelled`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn test_cancelled(function: Function, status: *const MPI_Status, flag: *mut c_int) -> c_int {
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        let fields = unsafe { read(status) }?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("flag", flag) }?.set((fields.MPI_internal[CANCELLED] != 0).into());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_survives_the_layout_of_the_abi() {
        let status = Status { source: 3, tag: 7, bytes: 5 << 32 | 0xffff_fff0, ..Status::EMPTY };
        let fields = in_c(&status);
        assert_eq!((fields.MPI_SOURCE, fields.MPI_TAG, bytes_of(&fields)), (3, 7, status.bytes));
        let empty = in_c(&Status::EMPTY);
        assert_eq!((empty.MPI_SOURCE, empty.MPI_TAG, empty.MPI_ERROR), (MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
    }

    #[test]
    fn a_single_completion_leaves_the_error_field_alone() {
        let mut fields = in_c(&Status::EMPTY);
        fields.MPI_ERROR = 77;
        // SAFETY: `fields` lives until the end of the test.
        let out = unsafe { StatusOut::new(&raw mut fields) };
        out.set(&Status { source: 1, tag: 2, ..Status::EMPTY });
        out.set_with_error(&Status { source: 1, tag: 2, ..Status::EMPTY }, ErrorClass::Truncate);
        assert_eq!((fields.MPI_SOURCE, fields.MPI_ERROR), (1, ErrorClass::Truncate.code()));
    }

    #[test]
    fn counts_are_undefined_unless_whole() {
        assert_eq!((quotient(12, 4), quotient(0, 0), quotient(0, 4)), (3, 0, 0));
        assert_eq!((quotient(13, 4), quotient(4, 0)), (MPI_UNDEFINED.into(), MPI_UNDEFINED.into()));
        assert_eq!(basic_elements(12 * 2 + 8, BasicType::DoubleInt), 5);
        assert_eq!(basic_elements(6 + 2, BasicType::ShortInt), 3);
        assert_eq!(basic_elements(6 + 3, BasicType::ShortInt), MPI_UNDEFINED.into());
    }
}
