//! The moves of AArch64.

mod vector;

use std::arch::aarch64::uint8x16_t;
use std::arch::asm;
use std::mem;

use self::vector::Vector;
use super::Body;
use super::portable::PORTABLE;
use super::value::{Block, Registers, Word};

/// By preference.
pub const BODIES: &[Body] =
    &[Body { name: "neon", runs_here: || true, copy: vector::copy::<Neon> }, PORTABLE];

/// A word of `BYTES` bytes (1, 2, 4, 8 or 16) through a register, from and to the places that the template names.
macro_rules! word {
    ($src:literal, $dst:literal, $($operands:tt)+) => {
        match BYTES {
            1 => word!(reg, "ldrb {t:w}, ", "strb {t:w}, ", $src, $dst, $($operands)+),
            2 => word!(reg, "ldrh {t:w}, ", "strh {t:w}, ", $src, $dst, $($operands)+),
            4 => word!(reg, "ldr {t:w}, ", "str {t:w}, ", $src, $dst, $($operands)+),
            8 => word!(reg, "ldr {t:x}, ", "str {t:x}, ", $src, $dst, $($operands)+),
            16 => word!(vreg, "ldr {t:q}, ", "str {t:q}, ", $src, $dst, $($operands)+),
            _ => unreachable!("no word has so many bytes"),
        }
    };
    ($class:ident, $load:literal, $store:literal, $src:literal, $dst:literal, $($operands:tt)+) => {
        // SAFETY: the caller's promise; the instructions touch these bytes and the register declared.
        unsafe {
            asm!(
                concat!($load, $src), concat!($store, $dst),
                $($operands)+, t = out($class) _, options(nostack, preserves_flags),
            )
        }
    };
}

/// Moves `BYTES` bytes: 1, 2, 4, 8 or 16.
///
/// # Safety
/// As [`copy`](crate::copy::copy).
#[inline(always)]
pub unsafe fn word<const BYTES: usize>(dst: *mut u8, src: *const u8) {
    word!("[{s}]", "[{d}]", s = in(reg) src, d = in(reg) dst)
}

/// As [`word`], `to` bytes behind `dst` and `from` bytes behind `src`.
///
/// # Safety
/// As [`word`], for these places.
#[inline(always)]
pub unsafe fn word_at<const BYTES: usize>(dst: *mut u8, to: isize, src: *const u8, from: isize) {
    word!(
        "[{s}, {from}]", "[{d}, {to}]",
        s = in(reg) src, d = in(reg) dst, from = in(reg) from, to = in(reg) to
    )
}

/// Moves `bytes` bytes as the first and the last `BYTES` of them: 2, 4, 8, 16, 32, 64 or 128. All are loaded before
/// the first is stored.
///
/// # Safety
/// As [`copy`](crate::copy::copy); `bytes` is at least `BYTES` and at most twice as many.
#[inline(always)]
pub unsafe fn ends<const BYTES: usize>(dst: *mut u8, src: *const u8, bytes: usize) {
    let (dst_end, src_end) = (dst.wrapping_add(bytes), src.wrapping_add(bytes));
    // A place is a register and a distance: 0 is where the range begins, 1 where it ends.
    macro_rules! ends {
        ($load:literal, $store:literal, [$($register:tt),+] $($pair:literal at $place:literal),+) => {
            // SAFETY: the caller's promise; the instructions touch these bytes and the registers declared.
            unsafe {
                asm!(
                    $(concat!($load, " ", $pair, ", [{s", $place, "]"),)+
                    $(concat!($store, " ", $pair, ", [{d", $place, "]"),)+
                    s0 = in(reg) src, s1 = in(reg) src_end, d0 = in(reg) dst, d1 = in(reg) dst_end,
                    $(out($register) _,)+
                    options(nostack, preserves_flags),
                );
            }
        };
    }
    match BYTES {
        2 => ends!("ldrh", "strh", ["x9", "x10"] "w9" at "0}", "w10" at "1}, #-2"),
        4 => ends!("ldr", "str", ["x9", "x10"] "w9" at "0}", "w10" at "1}, #-4"),
        8 => ends!("ldr", "str", ["x9", "x10"] "x9" at "0}", "x10" at "1}, #-8"),
        16 => ends!("ldr", "str", ["v0", "v1"] "q0" at "0}", "q1" at "1}, #-16"),
        32 => ends!("ldp", "stp", ["v0", "v1", "v2", "v3"] "q0, q1" at "0}", "q2, q3" at "1}, #-32"),
        64 => ends!(
            "ldp", "stp", ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"]
            "q0, q1" at "0}", "q2, q3" at "0}, #32", "q4, q5" at "1}, #-64", "q6, q7" at "1}, #-32"
        ),
        128 => ends!(
            "ldp", "stp", [
                "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
                "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23"
            ]
            "q0, q1" at "0}", "q2, q3" at "0}, #32", "q4, q5" at "0}, #64", "q6, q7" at "0}, #96",
            "q16, q17" at "1}, #-128", "q18, q19" at "1}, #-96", "q20, q21" at "1}, #-64",
            "q22, q23" at "1}, #-32"
        ),
        _ => unreachable!("no ends have so many bytes"),
    }
}

/// What every processor has.
pub struct Neon;

macro_rules! four {
    ($store:literal, $dst:ident, $src:ident) => {
        // SAFETY: the caller's promise; the instructions touch these bytes and the registers declared.
        unsafe {
            asm!(
                "ldp q0, q1, [{s}]", "ldp q2, q3, [{s}, #32]",
                concat!($store, " q0, q1, [{d}]"), concat!($store, " q2, q3, [{d}, #32]"),
                s = in(reg) $src, d = in(reg) $dst, out("v0") _, out("v1") _, out("v2") _, out("v3") _,
                options(nostack, preserves_flags),
            );
        }
    };
}

impl Vector for Neon {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn one(dst: *mut u8, src: *const u8) {
        // SAFETY: the caller's promise.
        unsafe { word::<16>(dst, src) };
    }

    #[inline(always)]
    unsafe fn four(dst: *mut u8, src: *const u8) {
        four!("stp", dst, src);
    }

    #[inline(always)]
    unsafe fn stream_four(dst: *mut u8, src: *const u8) {
        four!("stnp", dst, src);
    }

    #[inline(always)]
    fn finish() {}

    /// Here, a store past the caches is a hint: a releasing store comes behind it as behind any other.
    #[inline(always)]
    fn fence() {}
}

macro_rules! words {
    ($($word:ty, $register:ty: $load:literal, $store:literal;)*) => {$(
        impl Word for $word {
            #[inline(always)]
            unsafe fn load(src: *const u8, at: usize) -> Self {
                let word: $register;
                // SAFETY: the caller's promise; the instruction reads these bytes alone.
                unsafe {
                    asm!(
                        concat!($load, ", [{s}, {at}]"), s = in(reg) src, at = in(reg) at, t = out(reg) word,
                        options(nostack, preserves_flags, readonly),
                    );
                }
                word as Self
            }

            #[inline(always)]
            unsafe fn store(dst: *mut u8, at: usize, word: Self) {
                // SAFETY: the caller's promise; the instruction writes these bytes alone.
                unsafe {
                    asm!(
                        concat!($store, ", [{d}, {at}]"), d = in(reg) dst, at = in(reg) at,
                        t = in(reg) <$register>::from(word), options(nostack, preserves_flags),
                    );
                }
            }
        }
    )*};
}

words! {
    u8, u32: "ldrb {t:w}", "strb {t:w}";
    u16, u32: "ldrh {t:w}", "strh {t:w}";
    u32, u32: "ldr {t:w}", "str {t:w}";
    u64, u64: "ldr {t:x}", "str {t:x}";
}

/// The vectors that every processor has.
#[derive(Debug)]
pub struct Common;

/// There are no wider ones.
pub type Wide = Common;
/// As [`Wide`].
pub type Widest = Common;

impl Registers for Common {
    #[inline(always)]
    unsafe fn load(src: *const u8, at: usize) -> Block {
        let (a, b, c, d): (uint8x16_t, uint8x16_t, uint8x16_t, uint8x16_t);
        // SAFETY: the caller's promise; the instructions read these bytes alone.
        unsafe {
            asm!(
                "ldp {a:q}, {b:q}, [{s}]", "ldp {c:q}, {d:q}, [{s}, #32]", s = in(reg) src.wrapping_add(at),
                a = out(vreg) a, b = out(vreg) b, c = out(vreg) c, d = out(vreg) d,
                options(nostack, preserves_flags, readonly),
            );
        }
        // SAFETY: both are plain bytes.
        unsafe { mem::transmute::<[uint8x16_t; 4], Block>([a, b, c, d]) }
    }

    #[inline(always)]
    unsafe fn store(dst: *mut u8, at: usize, block: Block) {
        // SAFETY: both are plain bytes.
        let [a, b, c, d] = unsafe { mem::transmute::<Block, [uint8x16_t; 4]>(block) };
        // SAFETY: the caller's promise; the instructions write these bytes alone.
        unsafe {
            asm!(
                "stp {a:q}, {b:q}, [{s}]", "stp {c:q}, {d:q}, [{s}, #32]", s = in(reg) dst.wrapping_add(at),
                a = in(vreg) a, b = in(vreg) b, c = in(vreg) c, d = in(vreg) d,
                options(nostack, preserves_flags),
            );
        }
    }
}
