//! Statuses in the layout of the ABI.
//!
//! A status is an array of integers. The private ones hold the packed bytes of the message and whether it was
//! cancelled (`layout`). They are read and written one by one, because the program may have left some of them
//! uninitialised.
//! MPI-5.0: Point-to-Point Communication, Return Status; Application Binary Interface, Status.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::NonNull;

use oxmpi_base::{Error, ErrorClass, Function, Result, Status};
use oxmpi_core::{NULL_SOURCE, Outcome};

use crate::argument::{Both, IntegerOut, Out, Reading, null};
use crate::failure::at_any_time;
use crate::generated::constants::{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_PROC_NULL, MPI_UNDEFINED};
use crate::generated::types::{MPI_Count, MPI_Datatype, MPI_Status};
use crate::layout::{self, ERROR, NO_STATUS, SOURCE, TAG};
use crate::object::datatype;

const WORDS: usize = size_of::<MPI_Status>() / size_of::<c_int>();

/// A status of the program's, as integers.
#[derive(Clone, Copy, Debug)]
struct Words(NonNull<c_int>);

impl Words {
    /// # Safety
    /// Until the last use, the status is valid for reads of the words that are read, and for writes of those that are
    /// written.
    #[inline]
    unsafe fn new(status: NonNull<MPI_Status>) -> Self {
        Self(status.cast())
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
        layout::bytes(|word| self.get(word))
    }

    fn set_bytes(self, bytes: u64) {
        layout::set_bytes(|word| self.get(word), |word, value| self.set(word, value), bytes);
    }

    fn is_cancelled(self) -> bool {
        layout::is_cancelled(|word| self.get(word))
    }

    fn set_cancelled(self, cancelled: bool) {
        layout::set_cancelled(|word| self.get(word), |word, value| self.set(word, value), cancelled);
    }

    /// What [`Words::describe`] writes.
    fn status(self) -> Status {
        let source = match self.get(SOURCE) {
            MPI_ANY_SOURCE => Status::ANY,
            MPI_PROC_NULL => NULL_SOURCE,
            rank => rank,
        };
        let tag = if self.get(TAG) == MPI_ANY_TAG { Status::ANY } else { self.get(TAG) };
        Status { source, tag, bytes: self.bytes(), cancelled: self.is_cancelled(), ..Status::EMPTY }
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
        layout::set_hidden(|word, value| self.set(word, value), status.bytes, status.cancelled);
    }
}

/// A status that a function reads, and in mode [`Both`] changes.
#[derive(Clone, Copy, Debug)]
pub struct StatusArgument<M> {
    status: *mut MPI_Status,
    mode: PhantomData<M>,
}

/// A status that a function reads.
pub type StatusIn = StatusArgument<Reading>;
/// A status that a function changes.
pub type StatusInOut = StatusArgument<Both>;

impl<M> StatusArgument<M> {
    /// # Safety
    /// Until the last use, a pointer that is not null is that of a status that functions have written, or the program
    /// those fields that are asked for; in mode [`Both`] it is valid for writes.
    #[inline]
    pub unsafe fn new(status: *const MPI_Status) -> Self {
        Self { status: status.cast_mut(), mode: PhantomData }
    }

    /// What is written there, and where it is.
    ///
    /// # Errors
    /// `Arg` if it is null.
    #[inline]
    fn words(self) -> Result<Words> {
        let status = NonNull::new(self.status).ok_or_else(|| null("status"))?;
        // SAFETY: `new` was promised so; who has a `StatusIn` sets nothing.
        Ok(unsafe { Words::new(status) })
    }
}

/// Where a function writes a status, or does not: `MPI_STATUS_IGNORE`.
#[derive(Clone, Copy, Debug)]
pub struct StatusOut(Option<Words>);

/// Where a function writes statuses, or does not: `MPI_STATUSES_IGNORE`.
#[derive(Clone, Copy, Debug)]
pub struct Statuses {
    first: Option<NonNull<MPI_Status>>,
    len: i64,
}

impl Statuses {
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for writes of `len` statuses, if that is positive.
    #[inline]
    pub unsafe fn new(first: *mut MPI_Status, len: impl Into<i64>) -> Self {
        Self { first: NonNull::new(first), len: len.into() }
    }

    /// The status at `index`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub fn at(self, index: usize) -> StatusOut {
        StatusOut(self.first.map(|first| {
            assert!((index as i64) < self.len, "the index is inside the array");
            // SAFETY: `new` was promised that the array has this item.
            let status = unsafe { first.add(index) };
            // SAFETY: as above.
            unsafe { Words::new(status) }
        }))
    }
}

impl StatusOut {
    /// # Safety
    /// Until the last use, a pointer that is not null is valid for writes.
    #[inline]
    pub unsafe fn new(status: *mut MPI_Status) -> Self {
        // SAFETY: the same promise.
        Self(NonNull::new(status).map(|status| unsafe { Words::new(status) }))
    }

    /// Writes what one operation says; the error field is left alone unless the status is empty.
    #[inline]
    pub fn set(self, status: &Status) {
        self.describe(status);
        if *status == Status::EMPTY {
            self.set_error(ErrorClass::Success.code());
        }
    }

    /// Writes what one operation says that was active: whatever its status holds, it is no empty one as the standard
    /// defines them, and the error field is left alone.
    #[inline]
    pub fn describe(self, status: &Status) {
        if let Some(words) = self.0 {
            words.describe(status);
        }
    }

    /// Writes the error field alone.
    #[inline]
    pub fn set_error(self, code: c_int) {
        if let Some(words) = self.0 {
            words.set(ERROR, code);
        }
    }

    /// Writes what one operation says that may have failed: of a message that is too long it tells whose that was.
    ///
    /// # Errors
    /// What went wrong.
    #[inline]
    pub fn set_outcome(self, outcome: Outcome) -> Result<()> {
        self.set(&outcome.status);
        outcome.into_result().map(drop)
    }
}

/// What `fill`, a function of the program's, writes into a status that it is given, and what it returns.
pub fn filled(fill: impl FnOnce(*mut MPI_Status) -> c_int) -> (Status, c_int) {
    let (any, tag, success) = (MPI_ANY_SOURCE, MPI_ANY_TAG, ErrorClass::Success.code());
    let mut status = MPI_Status { MPI_SOURCE: any, MPI_TAG: tag, MPI_ERROR: success, ..NO_STATUS };
    let code = fill(&raw mut status);
    // SAFETY: the status lives until the end of the function, and is initialised.
    let words = unsafe { Words::new(NonNull::from(&mut status)) };
    (words.status(), code)
}

/// `MPI_Get_count`.
pub fn get_count(function: Function, status: StatusIn, datatype: MPI_Datatype, count: IntegerOut) -> c_int {
    at_any_time(function, || {
        let bytes = status.words()?.bytes();
        let size = datatype::find("datatype", datatype)?.size();
        count.named("count")?.set(quotient(bytes, size));
        Ok(())
    })
}

/// `MPI_Get_elements`.
pub fn get_elements(
    function: Function,
    status: StatusIn,
    datatype: MPI_Datatype,
    count: IntegerOut,
) -> c_int {
    at_any_time(function, || {
        let bytes = status.words()?.bytes();
        let elements = datatype::find("datatype", datatype)?.elements_in(bytes);
        let elements = elements.and_then(|elements| i64::try_from(elements).ok());
        count.named("count")?.set(elements.unwrap_or(MPI_UNDEFINED.into()));
        Ok(())
    })
}

/// `MPI_Get_elements_x`.
pub fn get_elements_x(
    function: Function,
    status: StatusIn,
    datatype: MPI_Datatype,
    count: Out<MPI_Count>,
) -> c_int {
    get_elements(function, status, datatype, IntegerOut::Large(count))
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
pub fn status_set_elements(
    function: Function,
    status: StatusInOut,
    datatype: MPI_Datatype,
    count: MPI_Count,
) -> c_int {
    at_any_time(function, || {
        let words = status.words()?;
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
pub fn status_set_elements_x(
    function: Function,
    status: StatusInOut,
    datatype: MPI_Datatype,
    count: MPI_Count,
) -> c_int {
    status_set_elements(function, status, datatype, count)
}

macro_rules! fields {
    ($(
        $getter:ident $c_getter:literal $setter:ident $c_setter:literal $word:ident $argument:literal;
    )*) => {$(
        #[doc = concat!("`", $c_getter, "`.")]
        pub fn $getter(function: Function, status: StatusIn, value: Out<c_int>) -> c_int {
            at_any_time(function, || {
                let words = status.words()?;
                value.named($argument)?.set(words.get($word));
                Ok(())
            })
        }

        #[doc = concat!("`", $c_setter, "`.")]
        pub fn $setter(function: Function, status: StatusInOut, value: c_int) -> c_int {
            at_any_time(function, || {
                status.words()?.set($word, value);
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
pub fn status_set_cancelled(function: Function, status: StatusInOut, flag: c_int) -> c_int {
    at_any_time(function, || {
        status.words()?.set_cancelled(flag != 0);
        Ok(())
    })
}

/// `MPI_Test_cancelled`.
pub fn test_cancelled(function: Function, status: StatusIn, flag: Out<c_int>) -> c_int {
    at_any_time(function, || {
        let words = status.words()?;
        flag.named("flag")?.set(words.is_cancelled().into());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNSET: MPI_Status = MPI_Status { MPI_SOURCE: 77, MPI_TAG: 77, MPI_ERROR: 77, ..NO_STATUS };

    fn written(how: impl Fn(StatusOut)) -> (MPI_Status, u64) {
        let mut statuses = [UNSET; 2];
        // SAFETY: the array lives until the end of the function.
        how(unsafe { Statuses::new(statuses.as_mut_ptr(), 2) }.at(1));
        assert_eq!(statuses[0].MPI_SOURCE, 77, "its neighbour is left alone");
        // SAFETY: as above.
        let words = unsafe { Words::new(NonNull::from(&mut statuses[1])) };
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
        assert_eq!(written(|out| out.describe(&Status::EMPTY)).0.MPI_ERROR, 77);
        let (fields, _) = written(|out| out.set_error(0x4001));
        assert_eq!((fields.MPI_ERROR, fields.MPI_SOURCE), (0x4001, 77));
    }

    #[test]
    fn counts_are_undefined_unless_whole() {
        assert_eq!((quotient(12, 4), quotient(0, 0), quotient(0, 4)), (3, 0, 0));
        assert_eq!((quotient(13, 4), quotient(4, 0)), (MPI_UNDEFINED.into(), MPI_UNDEFINED.into()));
    }
}
