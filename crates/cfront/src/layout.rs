//! What an ABI decides, as far as it is more than a name and a number: the seam behind which another one can be.
//!
//! Everything above calls C's types, constants and functions by their names, which all ABIs share. What their bits
//! are is decided here and in `generated`: how wide a handle is and how it names an object, where the fields of a
//! status lie, and the values of the constants. Another ABI is another such pair of modules, chosen by the setting
//! `oxmpi_abi` when the crate is compiled, so that none of it costs a program of the standard ABI anything; and then
//! another library, since a program is compiled for one ABI. `layout/narrow.rs` is one that exists for tests only.
//!
//! Not behind the seam are the numbers of error classes and of predefined datatypes and operations, which come from
//! `spec/` by way of `base`, and the exports, which `abi` has for the standard's.
//!
//! In the standard ABI a handle is as wide as an address:
//!
//! ```text
//! 63   60 59                       28 27                      0
//! +------+---------------------------+------------------------+
//! | kind | generation                | index                  |
//! +------+---------------------------+------------------------+
//! ```
//!
//! MPI-5.0: Application Binary Interface, Handle Types; Status.

use std::ffi::c_int;
use std::mem::offset_of;

pub use crate::generated::status::MPI_Status;

/// What a handle is.
pub type Word = usize;

/// A handle as the number it is.
#[inline]
pub const fn number(word: Word) -> usize {
    word
}

/// The handle that is this number.
#[inline]
pub const fn word(number: usize) -> Word {
    number
}

const INDEX_BITS: u32 = 28;
const KIND_SHIFT: u32 = 60;

/// The handle of the object of this kind that has this key, whose upper half is a generation and whose lower half
/// an index.
///
/// # Panics
/// If there are more than 2^28 objects of the kind.
#[inline]
pub fn encode(kind: u8, key: u64) -> usize {
    let (generation, index) = (key >> 32, key & u64::from(u32::MAX));
    assert!(index >> INDEX_BITS == 0, "fewer than 2^28 objects of a kind exist at a time");
    ((kind as u64) << KIND_SHIFT | generation << INDEX_BITS | index) as usize
}

/// The key of the object that a handle names; `None` if it is predefined, or no handle of this kind.
#[inline]
pub fn decode(kind: u8, number: usize) -> Option<u64> {
    let word = number as u64;
    if word >> KIND_SHIFT != kind.into() {
        return None;
    }
    let index = word & ((1 << INDEX_BITS) - 1);
    let generation = word >> INDEX_BITS & u64::from(u32::MAX);
    Some(generation << 32 | index)
}

/// The kind of object that a handle claims to name.
pub const fn kind_of(number: usize) -> usize {
    number >> KIND_SHIFT
}

/// The integers of a status that hold what C names.
pub const SOURCE: usize = 0;
/// As above.
pub const TAG: usize = 1;
/// As above.
pub const ERROR: usize = 2;
const BYTES_LOW: usize = 3;
const BYTES_HIGH: usize = 4;
const CANCELLED: usize = 5;

const _: () = assert!(offset_of!(MPI_Status, MPI_SOURCE) == SOURCE * size_of::<c_int>());
const _: () = assert!(offset_of!(MPI_Status, MPI_TAG) == TAG * size_of::<c_int>());
const _: () = assert!(offset_of!(MPI_Status, MPI_ERROR) == ERROR * size_of::<c_int>());
const _: () = assert!(offset_of!(MPI_Status, MPI_internal) == BYTES_LOW * size_of::<c_int>());

/// A status whose fields are all 0.
pub const NO_STATUS: MPI_Status =
    MPI_Status { MPI_SOURCE: 0, MPI_TAG: 0, MPI_ERROR: 0, MPI_internal: [0; 5] };

/// The packed bytes of the message, of a status whose integers `get` reads.
#[inline]
pub fn bytes(get: impl Fn(usize) -> c_int) -> u64 {
    let half = |word| u64::from(get(word).cast_unsigned());
    half(BYTES_LOW) | half(BYTES_HIGH) << 32
}

/// Whether the operation was cancelled.
#[inline]
pub fn is_cancelled(get: impl Fn(usize) -> c_int) -> bool {
    get(CANCELLED) != 0
}

/// Writes the packed bytes of the message, and nothing else.
#[inline]
pub fn set_bytes(_get: impl Fn(usize) -> c_int, set: impl Fn(usize, c_int), bytes: u64) {
    set(BYTES_LOW, bytes as c_int);
    set(BYTES_HIGH, (bytes >> 32) as c_int);
}

/// Writes whether the operation was cancelled, and nothing else.
#[inline]
pub fn set_cancelled(_get: impl Fn(usize) -> c_int, set: impl Fn(usize, c_int), cancelled: bool) {
    set(CANCELLED, cancelled.into());
}

/// Writes both.
#[inline]
pub fn set_hidden(set: impl Fn(usize, c_int), bytes: u64, cancelled: bool) {
    set_bytes(|_| 0, &set, bytes);
    set_cancelled(|_| 0, &set, cancelled);
}
