//! Statuses in the layout of the standard ABI.
//!
//! A status is eight integers. The private ones hold the packed bytes of the message and whether it was cancelled.
//! They are read and written one by one, because the program may have left some of them uninitialised.
//! MPI-5.0: Point-to-Point Communication, Return Status; Application Binary Interface, Status.

use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr::NonNull;

use oxmpi_base::{Error, ErrorClass, Function, Result, Status};
use oxmpi_core::NULL_SOURCE;

use crate::boundary::IntegerOut;
use crate::failure::at_any_time;
use crate::generated::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_UNDEFINED};
use crate::generated::types::{MPI_Count, MPI_Datatype, MPI_Status};
use crate::object::datatype;
use crate::pointer::{Out, null};

const SOURCE: usize = 0;
const TAG: usize = 1;
const ERROR: usize = 2;
const BYTES_LOW: usize = 3;
const BYTES_HIGH: usize = 4;
const CANCELLED: usize = 5;
const WORDS: usize = size_of::<MPI_Status>() / size_of::<c_int>();

const _: () = assert!(offset_of!(MPI_Status, MPI_SOURCE) == SOURCE * size_of::<c_int>());
const _: () = assert!(offset_of!(MPI_Status, MPI_TAG) == TAG * size_of::<c_int>());
const _: () = assert!(offset_of!(MPI_Status, MPI_ERROR) == ERROR * size_of::<c_int>());
const _: () = assert!(offset_of!(MPI_Status, MPI_internal) == BYTES_LOW * size_of::<c_int>());

/// A status of the program's, as integers.
#[derive(Clone, Copy, Debug)]
struct Words(NonNull<c_int>);

impl Words {
    /// The argument `status`.
    ///
    /// # Errors
    /// `Arg` if it is null.
    ///
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for reads of the words that are read, and for writes
    /// if words are written.
    #[inline]
    unsafe fn new(status: *const MPI_Status) -> Result<Self> {
        NonNull::new(status.cast_mut().cast()).map(Self).ok_or_else(|| null("status"))
    }

    #[inline]
    fn get(self, word: usize) -> c_int {
        debug_assert!(word < WORDS, "a word of one status");
        // SAFETY: `new` was promised that it is valid for reads.
        unsafe { self.0.as_ptr().wrapping_add(word).read() }
    }

    #[inline]
    fn set(self, word: usize, value: c_int) {
        debug_assert!(word < WORDS, "a word of one status");
        // SAFETY: `new` was promised that it is valid for writes.
        unsafe { self.0.as_ptr().wrapping_add(word).write(value) };
    }

    fn bytes(self) -> u64 {
        let half = |word| u64::from(self.get(word).cast_unsigned());
        half(BYTES_LOW) | half(BYTES_HIGH) << 32
    }

    #[inline]
    fn set_bytes(self, bytes: u64) {
        self.set(BYTES_LOW, bytes as c_int);
        self.set(BYTES_HIGH, (bytes >> 32) as c_int);
    }

    /// What [`Words::describe`] writes.
    fn status(self) -> Status {
        let source = match self.get(SOURCE) {
            MPI_ANY_SOURCE => Status::ANY,
            MPI_PROC_NULL => NULL_SOURCE,
            rank => rank,
        };
        let tag = if self.get(TAG) == MPI_ANY_TAG { Status::ANY } else { self.get(TAG) };
        Status { source, tag, bytes: self.bytes(), cancelled: self.get(CANCELLED) != 0, ..Status::EMPTY }
    }

    /// Writes everything but the error.
    #[inline]
    fn describe(self, status: &Status) {
        let source = match status.source {
            Status::ANY => MPI_ANY_SOURCE,
            NULL_SOURCE => MPI_PROC_NULL,
            rank => rank,
        };
        self.set(SOURCE, source);
        self.set(TAG, if status.tag == Status::ANY { MPI_ANY_TAG } else { status.tag });
        self.set_bytes(status.bytes);
        self.set(CANCELLED, status.cancelled.into());
    }
}

/// Where a function writes a status, or does not: `MPI_STATUS_IGNORE`, `MPI_STATUSES_IGNORE`.
#[derive(Clone, Copy, Debug)]
pub struct StatusOut(Option<Words>);

impl StatusOut {
    /// An argument that is a status, or the first of an array of them.
    ///
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for writes of as many statuses as
    /// [`StatusOut::at`] is used for.
    #[inline]
    pub unsafe fn new(pointer: *mut MPI_Status) -> Self {
        Self(NonNull::new(pointer.cast()).map(Words))
    }

    /// The status at `index` of an array.
    #[inline]
    pub fn at(self, index: usize) -> Self {
        // SAFETY: `new` was promised that the array has this item.
        Self(self.0.map(|Words(first)| Words(unsafe { first.add(index * WORDS) })))
    }

    /// Writes what one operation says; the error field is left alone unless the status is empty.
    #[inline]
    pub fn set(self, status: &Status) {
        let Some(words) = self.0 else { return };
        words.describe(status);
        if *status == Status::EMPTY {
            words.set(ERROR, ErrorClass::Success.code());
        }
    }

    /// Writes what one of several operations says, with the code of its error.
    #[inline]
    pub fn set_with_error(self, status: &Status, code: c_int) {
        let Some(words) = self.0 else { return };
        words.describe(status);
        words.set(ERROR, code);
    }
}

/// What `fill`, a function of the program's, writes into a status that it is given, and what it returns.
pub fn filled(fill: impl FnOnce(*mut MPI_Status) -> c_int) -> (Status, c_int) {
    let mut status = MPI_Status {
        MPI_SOURCE: MPI_ANY_SOURCE,
        MPI_TAG: MPI_ANY_TAG,
        MPI_ERROR: ErrorClass::Success.code(),
        MPI_internal: [0; 5],
    };
    let code = fill(&raw mut status);
    // SAFETY: the status lives until the end of the function, and is initialised.
    let words = unsafe { Words::new(&raw const status) }.expect("not null");
    (words.status(), code)
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
        let bytes = unsafe { Words::new(status) }?.bytes();
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
        let bytes = unsafe { Words::new(status) }?.bytes();
        let elements = datatype::find("datatype", datatype)?.elements_in(bytes);
        let elements = elements.and_then(|elements| i64::try_from(elements).ok());
        // SAFETY: the caller's promise.
        unsafe { count.write("count", elements.unwrap_or(MPI_UNDEFINED.into())) }
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
        _ if !bytes.is_multiple_of(size) => MPI_UNDEFINED.into(),
        _ => i64::try_from(bytes / size).unwrap_or(MPI_UNDEFINED.into()),
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
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        let words = unsafe { Words::new(status) }?;
        let datatype = datatype::find("datatype", datatype)?;
        let Ok(elements) = u64::try_from(count) else {
            return Err(Error::new(ErrorClass::Count, format!("count is {count}")));
        };
        let Some(bytes) = datatype.bytes_of_elements(elements) else {
            let text = format!("count is {count}: so many elements are no whole number of bytes below 2^64");
            return Err(Error::new(ErrorClass::Count, text));
        };
        words.set_bytes(bytes);
        Ok(())
    })
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
    ($(
        $getter:ident $c_getter:literal $setter:ident $c_setter:literal $word:ident $argument:literal;
    )*) => {$(
        #[doc = concat!("`", $c_getter, "`.")]
        ///
        /// # Safety
        /// As the standard says of its arguments.
        pub unsafe fn $getter(function: Function, status: *const MPI_Status, value: *mut c_int) -> c_int {
            at_any_time(function, || {
                // SAFETY: the caller's promise.
                let words = unsafe { Words::new(status) }?;
                // SAFETY: the caller's promise.
                unsafe { Out::new($argument, value) }?.set(words.get($word));
                Ok(())
            })
        }

        #[doc = concat!("`", $c_setter, "`.")]
        ///
        /// # Safety
        /// As the standard says of its arguments.
        pub unsafe fn $setter(function: Function, status: *mut MPI_Status, value: c_int) -> c_int {
            at_any_time(function, || {
                // SAFETY: the caller's promise.
                unsafe { Words::new(status) }?.set($word, value);
                Ok(())
            })
        }
    )*};
}

fields! {
    status_get_error "MPI_Status_get_error" status_set_error "MPI_Status_set_error" ERROR "error";
    status_get_source "MPI_Status_get_source" status_set_source "MPI_Status_set_source" SOURCE "source";
    status_get_tag "MPI_Status_get_tag" status_set_tag "MPI_Status_set_tag" TAG "tag";
}

/// `MPI_Status_set_cancelled`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn status_set_cancelled(function: Function, status: *mut MPI_Status, flag: c_int) -> c_int {
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        unsafe { Words::new(status) }?.set(CANCELLED, (flag != 0).into());
        Ok(())
    })
}

/// `MPI_Test_cancelled`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn test_cancelled(function: Function, status: *const MPI_Status, flag: *mut c_int) -> c_int {
    at_any_time(function, || {
        // SAFETY: the caller's promise.
        let words = unsafe { Words::new(status) }?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("flag", flag) }?.set((words.get(CANCELLED) != 0).into());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSET: MPI_Status =
        MPI_Status { MPI_SOURCE: 77, MPI_TAG: 77, MPI_ERROR: 77, MPI_internal: [77; 5] };

    fn written(how: impl Fn(StatusOut)) -> (MPI_Status, u64) {
        let mut statuses = [UNSET; 2];
        // SAFETY: the array lives until the end of the function.
        how(unsafe { StatusOut::new(statuses.as_mut_ptr()) }.at(1));
        assert_eq!(statuses[0].MPI_SOURCE, 77, "its neighbour is left alone");
        // SAFETY: as above.
        let words = unsafe { Words::new(&raw const statuses[1]) }.expect("not null");
        (statuses[1], words.bytes())
    }

    fn write(out: *mut MPI_Status, status: &Status) -> c_int {
        // SAFETY: `filled` gives a pointer that is valid for writes.
        unsafe { StatusOut::new(out) }.set(status);
        17
    }

    #[test]
    fn a_status_survives_the_layout_of_the_abi() {
        let status = Status { source: 3, tag: 7, bytes: 5 << 32 | 0xffff_fff0, ..Status::EMPTY };
        let (fields, bytes) = written(|out| out.set(&status));
        assert_eq!((fields.MPI_SOURCE, fields.MPI_TAG, bytes), (3, 7, status.bytes));
        assert_eq!(filled(|out| write(out, &status)), (status, 17));
        let (empty, bytes) = written(|out| out.set(&Status::EMPTY));
        assert_eq!((empty.MPI_SOURCE, empty.MPI_TAG, empty.MPI_ERROR), (MPI_ANY_SOURCE, MPI_ANY_TAG, 0));
        assert_eq!(bytes, 0);
    }

    #[test]
    fn a_single_completion_leaves_the_error_field_alone() {
        let status = Status { source: 1, tag: 2, ..Status::EMPTY };
        assert_eq!(written(|out| out.set(&status)).0.MPI_ERROR, 77);
        let (fields, _) = written(|out| out.set_with_error(&status, 0x4001));
        assert_eq!(fields.MPI_ERROR, 0x4001);
    }

    #[test]
    fn counts_are_undefined_unless_whole() {
        assert_eq!((quotient(12, 4), quotient(0, 0), quotient(0, 4)), (3, 0, 0));
        assert_eq!((quotient(13, 4), quotient(4, 0)), (MPI_UNDEFINED.into(), MPI_UNDEFINED.into()));
    }
}
