//! An ABI for tests, unlike the standard's wherever another one may be: handles are integers of 32 bits, a status
//! has five, and constants have other values. The package `oxmpi-second-abi` is `cfront` with this one.
//!
//! A handle has no room for a whole generation:
//!
//! ```text
//! 31   28 27        20 19                0
//! +------+------------+------------------+
//! | kind | generation | index            |
//! +------+------------+------------------+
//! ```
//!
//! so the whole is looked up by kind and index, and must end in these bits.

use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// What a handle is.
pub type Word = u32;

/// A handle as the number it is.
pub const fn number(word: Word) -> usize {
    word as usize
}

/// The handle that is this number.
pub const fn word(number: usize) -> Word {
    number as Word
}

const INDEX_BITS: u32 = 20;
const KIND_SHIFT: u32 = 28;

/// By kind and index: the key that was encoded last.
static KEYS: [Mutex<Vec<u64>>; 16] = [const { Mutex::new(Vec::new()) }; 16];

/// See the standard's.
///
/// # Panics
/// If there are more than 2^20 objects of the kind.
pub fn encode(kind: u8, key: u64) -> usize {
    let (generation, index) = ((key >> 32) as u8, (key & u64::from(u32::MAX)) as usize);
    assert!(index >> INDEX_BITS == 0, "fewer than 2^20 objects of a kind exist at a time");
    let mut keys = KEYS[usize::from(kind)].lock().unwrap_or_else(PoisonError::into_inner);
    if keys.len() <= index {
        keys.resize(index + 1, 0);
    }
    keys[index] = key;
    usize::from(kind) << KIND_SHIFT | usize::from(generation) << INDEX_BITS | index
}

/// See the standard's.
pub fn decode(kind: u8, number: usize) -> Option<u64> {
    if kind_of(number) != usize::from(kind) {
        return None;
    }
    let index = number & ((1 << INDEX_BITS) - 1);
    let key = *KEYS[usize::from(kind)].lock().unwrap_or_else(PoisonError::into_inner).get(index)?;
    let generation = number >> INDEX_BITS & usize::from(u8::MAX);
    (usize::from((key >> 32) as u8) == generation).then_some(key)
}

/// See the standard's.
pub const fn kind_of(number: usize) -> usize {
    number >> KIND_SHIFT
}

/// The status of this ABI.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[allow(non_camel_case_types, non_snake_case, missing_docs, reason = "C's names")]
pub struct MPI_Status {
    pub bytes_low: c_int,
    pub bytes_high_and_cancelled: c_int,
    pub MPI_SOURCE: c_int,
    pub MPI_TAG: c_int,
    pub MPI_ERROR: c_int,
}

const BYTES_LOW: usize = 0;
const BYTES_HIGH_AND_CANCELLED: usize = 1;
/// The integers of a status that hold what C names.
pub const SOURCE: usize = 2;
/// As above.
pub const TAG: usize = 3;
/// As above.
pub const ERROR: usize = 4;

/// A status whose fields are all 0.
pub const NO_STATUS: MPI_Status =
    MPI_Status { bytes_low: 0, bytes_high_and_cancelled: 0, MPI_SOURCE: 0, MPI_TAG: 0, MPI_ERROR: 0 };

/// See the standard's.
pub fn bytes(get: impl Fn(usize) -> c_int) -> u64 {
    let half = |word| u64::from(get(word).cast_unsigned());
    half(BYTES_LOW) | half(BYTES_HIGH_AND_CANCELLED) >> 1 << 32
}

/// See the standard's.
pub fn is_cancelled(get: impl Fn(usize) -> c_int) -> bool {
    get(BYTES_HIGH_AND_CANCELLED) & 1 != 0
}

/// See the standard's.
pub fn set_bytes(get: impl Fn(usize) -> c_int, set: impl Fn(usize, c_int), bytes: u64) {
    let cancelled = is_cancelled(get);
    set_hidden(set, bytes, cancelled);
}

/// See the standard's.
pub fn set_cancelled(get: impl Fn(usize) -> c_int, set: impl Fn(usize, c_int), cancelled: bool) {
    let bytes = bytes(get);
    set_hidden(set, bytes, cancelled);
}

/// See the standard's.
pub fn set_hidden(set: impl Fn(usize, c_int), bytes: u64, cancelled: bool) {
    set(BYTES_LOW, bytes as c_int);
    set(BYTES_HIGH_AND_CANCELLED, ((bytes >> 32) as c_int) << 1 | c_int::from(cancelled));
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use oxmpi_base::Function;

    use super::*;
    use crate::argument::{InOut, IntegerOut, Out};
    use crate::buffer::Message;
    use crate::generated::constants::*;
    use crate::generated::types::{MPI_Comm, MPI_Datatype, MPI_Request};
    use crate::status::{StatusIn, StatusOut};
    use crate::{comm, datatype, env, pt2pt, request};

    const MARK: Function = Function::Send;

    fn out<T>(place: &mut T) -> Out<T> {
        // SAFETY: the tests use it before the place ends.
        unsafe { Out::new(place) }
    }

    fn inout<T: Copy>(place: &mut T) -> InOut<T> {
        // SAFETY: the tests use it before the place ends.
        unsafe { InOut::new(place) }
    }

    fn message(address: *mut c_int, count: i64, datatype: MPI_Datatype) -> Message {
        // SAFETY: the tests pass as many integers, and complete the operation before they end.
        unsafe { Message::new(address.cast(), count, datatype) }
    }

    fn count_of(status: &MPI_Status, datatype: MPI_Datatype) -> c_int {
        let mut count = 0;
        // SAFETY: it is initialised.
        let status = unsafe { StatusIn::new(status) };
        assert_eq!(request::get_count(MARK, status, datatype, IntegerOut::Int(out(&mut count))), MPI_SUCCESS);
        count
    }

    /// Sends two integers to itself, once with a derived datatype.
    fn send_to_itself(comm: MPI_Comm) {
        let mut pair = MPI_DATATYPE_NULL;
        assert_eq!(datatype::type_contiguous(MARK, 2, MPI_INT, out(&mut pair)), MPI_SUCCESS);
        assert_eq!(datatype::type_commit(MARK, inout(&mut pair)), MPI_SUCCESS);
        assert_eq!(kind_of(number(pair.0)), 2);

        let (mut from, mut to) = ([5, 6], [0; 2]);
        let (mut request, mut status) = (MPI_REQUEST_NULL, NO_STATUS);
        let recv = message(to.as_mut_ptr(), 1, pair);
        let code = pt2pt::irecv(MARK, recv, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, out(&mut request));
        assert_eq!((code, size_of_val(&request)), (MPI_SUCCESS, 4));
        assert_ne!(request, MPI_REQUEST_NULL);
        assert_eq!(pt2pt::send(MARK, message(from.as_mut_ptr(), 2, MPI_INT), 0, 7, comm), MPI_SUCCESS);
        // SAFETY: it lives until the end of the function.
        let written = unsafe { StatusOut::new(&raw mut status) };
        assert_eq!(request::wait(MARK, inout(&mut request), written), MPI_SUCCESS);
        assert_eq!((to, request), ([5, 6], MPI_REQUEST_NULL));
        assert_eq!((status.MPI_SOURCE, status.MPI_TAG, status.bytes_low), (0, 7, 8));
        assert_eq!((count_of(&status, MPI_INT), count_of(&status, pair)), (2, 1));

        assert_eq!(datatype::type_free(MARK, inout(&mut pair)), MPI_SUCCESS);
        assert_eq!(pair, MPI_DATATYPE_NULL);
    }

    #[test]
    fn bodies_speak_the_abi_that_they_were_compiled_with() {
        let mut provided = 0;
        let (argc, argv) = (ptr::null_mut(), ptr::null_mut());
        let code = env::init_thread(MARK, argc, argv, MPI_THREAD_MULTIPLE, out(&mut provided));
        assert_eq!((code, provided), (MPI_SUCCESS, MPI_THREAD_MULTIPLE));
        let (mut size, mut rank, mut duplicate) = (0, -1, MPI_COMM_NULL);
        assert_eq!(comm::comm_size(MARK, MPI_COMM_WORLD, out(&mut size)), MPI_SUCCESS);
        assert_eq!(comm::comm_rank(MARK, MPI_COMM_WORLD, out(&mut rank)), MPI_SUCCESS);
        assert_eq!((size, rank), (1, 0));

        assert_eq!(comm::comm_dup(MARK, MPI_COMM_WORLD, out(&mut duplicate)), MPI_SUCCESS);
        assert_eq!(kind_of(number(duplicate.0)), 1);
        send_to_itself(duplicate);
        let stale = duplicate;
        assert_eq!(comm::comm_free(MARK, inout(&mut duplicate)), MPI_SUCCESS);
        assert_eq!(duplicate, MPI_COMM_NULL);
        assert!(crate::object::comm::find("comm", stale).is_err(), "it was freed");

        let mut status = NO_STATUS;
        // SAFETY: it lives until the end of the function.
        let written = unsafe { StatusOut::new(&raw mut status) };
        let nobody = message(ptr::null_mut(), 0, MPI_INT);
        let code = pt2pt::recv(MARK, nobody, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, written);
        assert_eq!((code, status.MPI_SOURCE, status.MPI_TAG), (MPI_SUCCESS, -1, -1));
        assert_eq!(env::finalize(MARK), MPI_SUCCESS);
    }

    #[test]
    fn a_narrow_status_keeps_bytes_beside_the_mark_of_cancellation() {
        let words = [const { std::cell::Cell::new(0) }; 5];
        let (get, set) = (|word: usize| words[word].get(), |word: usize, value| words[word].set(value));
        set_hidden(set, 5 << 32 | 0xffff_fff0, true);
        assert_eq!((bytes(get), is_cancelled(get)), (5 << 32 | 0xffff_fff0, true));
        set_bytes(get, set, 12);
        assert_eq!((bytes(get), is_cancelled(get)), (12, true));
        set_cancelled(get, set, false);
        assert_eq!((bytes(get), is_cancelled(get)), (12, false));
    }

    #[test]
    fn narrow_requests_and_communicators_are_told_apart() {
        let key = 3 << 32 | 9;
        let comm = encode(15, key);
        assert_eq!((decode(15, comm), decode(14, comm)), (Some(key), None));
        assert_eq!(size_of::<MPI_Request>(), 4);
        encode(15, 4 << 32 | 9);
        assert_eq!(decode(15, comm), None, "another generation has this index now");
    }
}
