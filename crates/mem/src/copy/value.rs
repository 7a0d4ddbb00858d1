//! Values in registers, for what is computed of memory that others may change.
//!
//! They are moved as the bytes of a copy are: by instructions that the compiler does not look into. So what is
//! computed is computed of what was loaded, once, and each byte of it is one that was there at some time.
//! Cost: that of an ordinary load or store, but that the compiler cannot make it a part of another instruction.

use std::mem::MaybeUninit;

pub use super::machine::{Common, Wide, Widest};

/// A type of values that can be loaded whatever is there, and stored.
///
/// # Safety
/// Any bytes are a value, and all bytes of a value have one: there is no padding.
pub unsafe trait Plain: Copy {
    /// Whether it is computed with in vector registers, to which the way from general ones is long.
    const IS_REAL: bool = false;
}

macro_rules! plain {
    ($($number:ty)*, $is_real:literal) => {$(
        // SAFETY: a number of the machine's.
        unsafe impl Plain for $number {
            const IS_REAL: bool = $is_real;
        }
    )*};
}

plain!(i8 i16 i32 i64 i128 u8 u16 u32 u64 u128, false);
plain!(f32 f64, true);

// SAFETY: elements follow each other without gaps.
unsafe impl<T: Plain, const COUNT: usize> Plain for [T; COUNT] {}

/// As many bytes as one instruction moves for each of a few vector registers.
pub type Block = [u8; 64];

/// The registers that blocks, and single numbers where that is better, are loaded into.
pub trait Registers {
    /// As [`load`].
    ///
    /// # Safety
    /// As [`load`]; the processor has the registers.
    #[inline(always)]
    unsafe fn load_value<T: Plain>(src: *const u8, at: usize) -> T {
        // SAFETY: the caller's promise.
        unsafe { load(src, at) }
    }

    /// As [`store`].
    ///
    /// # Safety
    /// As [`store`]; the processor has the registers.
    #[inline(always)]
    unsafe fn store_value<T: Plain>(dst: *mut u8, at: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { store(dst, at, value) };
    }

    /// Loads a block, `at` bytes behind `src`.
    ///
    /// # Safety
    /// The place is valid for reads, and no Rust reference to it is used meanwhile. Anybody may read and write it
    /// meanwhile. The processor has the registers.
    unsafe fn load(src: *const u8, at: usize) -> Block;

    /// Stores a block, `at` bytes behind `dst`.
    ///
    /// # Safety
    /// As [`Registers::load`], for a place that is valid for writes.
    unsafe fn store(dst: *mut u8, at: usize, block: Block);
}

/// What a general register holds.
pub(super) trait Word: Plain {
    /// See [`load`].
    unsafe fn load(src: *const u8, at: usize) -> Self;

    /// See [`store`].
    unsafe fn store(dst: *mut u8, at: usize, word: Self);
}

/// Does something for the words that make up a value: their type, and where each begins. What a value of this size has
/// none of is not compiled.
macro_rules! for_each_word {
    ($value:ty, $each:ident) => {
        if const { size_of::<$value>() >= 8 } {
            let mut place = 0;
            while size_of::<$value>() - place >= 8 {
                $each!(u64, place);
                place += 8;
            }
        }
        if const { size_of::<$value>() & 4 != 0 } {
            $each!(u32, size_of::<$value>() & !7);
        }
        if const { size_of::<$value>() & 2 != 0 } {
            $each!(u16, size_of::<$value>() & !3);
        }
        if const { size_of::<$value>() & 1 != 0 } {
            $each!(u8, size_of::<$value>() & !1);
        }
    };
}

/// Loads a value, `at` bytes behind `src`, through general registers.
///
/// # Safety
/// The place is valid for reads, and no Rust reference to it is used meanwhile. Anybody may read and write it
/// meanwhile.
#[inline(always)]
pub unsafe fn load<T: Plain>(src: *const u8, at: usize) -> T {
    let mut value = MaybeUninit::<T>::uninit();
    let base = value.as_mut_ptr().cast::<u8>();
    macro_rules! load_word {
        ($word:ty, $place:expr) => {{
            // SAFETY: the caller's promise; the word is a part of the value.
            let word = unsafe { <$word>::load(src, at + $place) };
            // SAFETY: a part of `value`.
            unsafe { base.wrapping_add($place).cast::<$word>().write_unaligned(word) }
        }};
    }
    for_each_word!(T, load_word);
    // SAFETY: all its bytes were written, and any are a `T`.
    unsafe { value.assume_init() }
}

/// Stores a value, `at` bytes behind `dst`, through general registers.
///
/// # Safety
/// As [`load`], for a place that is valid for writes.
#[inline(always)]
pub unsafe fn store<T: Plain>(dst: *mut u8, at: usize, value: T) {
    let base = (&raw const value).cast::<u8>();
    macro_rules! store_word {
        ($word:ty, $place:expr) => {{
            // SAFETY: a part of `value`, all of whose bytes have a value.
            let word = unsafe { base.wrapping_add($place).cast::<$word>().read_unaligned() };
            // SAFETY: the caller's promise; the word is a part of the value.
            unsafe { <$word>::store(dst, at + $place, word) }
        }};
    }
    for_each_word!(T, store_word);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes from `AT` on, moved from one place to the other.
    fn moved<T: Plain>(move_value: impl Fn(*mut u8, *const u8)) {
        let source: [u8; AROUND] = std::array::from_fn(|place| place as u8 | 0x80);
        let mut target = [0; AROUND];
        move_value(target.as_mut_ptr(), source.as_ptr());
        let (inside, case) = (AT..AT + size_of::<T>(), std::any::type_name::<T>());
        for (place, byte) in target.into_iter().enumerate() {
            assert_eq!(byte, if inside.contains(&place) { source[place] } else { 0 }, "{case}: byte {place}");
        }
    }

    const AT: usize = 3;
    const AROUND: usize = 100;

    fn check<R: Registers, T: Plain>() {
        moved::<T>(|dst, src| {
            // SAFETY: both arrays are longer; the callers know the processor.
            let value = unsafe { R::load_value::<T>(src, AT) };
            // SAFETY: as above.
            unsafe { R::store_value(dst, AT, value) };
        });
    }

    fn check_block<R: Registers>() {
        moved::<Block>(|dst, src| {
            // SAFETY: both arrays are longer; the callers know the processor.
            let block = unsafe { R::load(src, AT) };
            // SAFETY: as above.
            unsafe { R::store(dst, AT, block) };
        });
    }

    fn check_all<R: Registers>() {
        check::<R, f32>();
        check::<R, f64>();
        check::<R, i8>();
        check::<R, u128>();
        check::<R, [u8; 0]>();
        check::<R, [u8; 3]>();
        check::<R, [u8; 6]>();
        check::<R, [u16; 6]>();
        check::<R, [u8; 31]>();
        check_block::<R>();
    }

    #[test]
    fn values_of_every_size_are_moved_and_nothing_else() {
        check_all::<Common>();
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx") {
            check_all::<Wide>();
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            check_all::<Widest>();
        }
    }
}
