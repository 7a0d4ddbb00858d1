//! The moves of x86-64.

mod vector;

use std::arch::asm;
use std::arch::x86_64::{__m128i, __m256i, __m512i};
use std::mem;

use self::vector::Vector;
use super::portable::PORTABLE;
use super::value::{Block, Plain, Registers, Word, load, store};
use super::{Body, Next};

/// By preference. Processors with 64-byte vectors and without VBMI2 lower their clock when they use them.
pub const BODIES: &[Body] = &[
    Body { name: "avx512", runs_here: || is_x86_feature_detected!("avx512vbmi2"), copy: long::<Avx512> },
    Body { name: "avx2", runs_here: || is_x86_feature_detected!("avx2"), copy: long::<Avx2> },
    Body { name: "sse2", runs_here: || true, copy: vector::copy::<Sse2> },
    PORTABLE,
];

/// From here on `rep movsb` is as fast as vectors, and much faster where the target is in another processor's cache:
/// it need not read the lines that it overwrites.
const STRING_FROM_BYTES: usize = 4 << 10;
/// But if the target begins behind the source by less than this modulo a page, it takes a multiple of the time: on a
/// Zen 3, where it is 1 to 31 bytes, forty times as long.
const STRING_NEAR_BYTES: usize = 64;
const PAGE: usize = 4096;

/// Copies by vectors, or by `rep movsb` where that is faster.
unsafe fn long<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize, next: Next) {
    if bytes >= STRING_FROM_BYTES && next == Next::Soon {
        // SAFETY: the caller's promise.
        unsafe { string::<V>(dst, src, bytes, next) };
    } else {
        // SAFETY: as above.
        unsafe { vector::copy::<V>(dst, src, bytes, next) };
    }
}

/// Copies by `rep movsb` if that is fast on this processor, and right and fast between these places.
#[inline(never)] // so that short copies need few registers
unsafe fn string<V: Vector>(dst: *mut u8, src: *const u8, bytes: usize, next: Next) {
    let ahead = dst.addr().wrapping_sub(src.addr());
    let apart = ahead >= bytes && ahead.wrapping_neg() >= bytes;
    let near = (1..STRING_NEAR_BYTES).contains(&(ahead % PAGE));
    if apart && !near && is_x86_feature_detected!("ermsb") {
        // SAFETY: the caller's promise; the compiler keeps the direction upwards.
        unsafe {
            asm!(
                "rep movsb",
                inout("rdi") dst => _, inout("rsi") src => _, inout("rcx") bytes => _,
                options(nostack, preserves_flags),
            );
        }
    } else {
        // SAFETY: the caller's promise.
        unsafe { vector::copy::<V>(dst, src, bytes, next) };
    }
}

/// A move of 16 bytes in the encoding of the compiler's own code: processors mix the two slowly.
#[cfg(target_feature = "avx")]
macro_rules! move16 {
    () => {
        "vmovups"
    };
}
#[cfg(not(target_feature = "avx"))]
macro_rules! move16 {
    () => {
        "movups"
    };
}

/// A word of `BYTES` bytes (1, 2, 4, 8 or 16) through a register, from and to the places that the template names.
macro_rules! word {
    ($src:literal, $dst:literal, $($operands:tt)+) => {
        match BYTES {
            1 => word!(reg, "movzx {t:e}, byte ptr ", "{t:l}", "mov ", $src, $dst, $($operands)+),
            2 => word!(reg, "movzx {t:e}, word ptr ", "{t:x}", "mov ", $src, $dst, $($operands)+),
            4 => word!(reg, "mov {t:e}, ", "{t:e}", "mov ", $src, $dst, $($operands)+),
            8 => word!(reg, "mov {t:r}, ", "{t:r}", "mov ", $src, $dst, $($operands)+),
            16 => {
                word!(xmm_reg, concat!(move16!(), " {t}, "), "{t}", concat!(move16!(), " "), $src, $dst,
                      $($operands)+)
            }
            _ => unreachable!("no word has so many bytes"),
        }
    };
    (
        $class:ident, $load:expr, $register:literal, $store:expr, $src:literal, $dst:literal, $($operands:tt)+
    ) => {
        // SAFETY: the caller's promise; the instructions touch these bytes and the register declared.
        unsafe {
            asm!(
                concat!($load, $src), concat!($store, $dst, ", ", $register),
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

/// As [`word`], `to` bytes behind `dst` and `from` bytes behind `src`. Loops are faster if the processor adds.
///
/// # Safety
/// As [`word`], for these places.
#[inline(always)]
pub unsafe fn word_at<const BYTES: usize>(dst: *mut u8, to: isize, src: *const u8, from: isize) {
    word!(
        "[{s} + {from}]", "[{d} + {to}]",
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
    macro_rules! ends {
        ($move:expr, $($register:tt at $place:literal),+) => {
            // SAFETY: the caller's promise; the instructions touch these bytes and the registers declared.
            unsafe {
                asm!(
                    $(concat!($move, " ", $register, ", [{s}", $place, "]"),)+
                    $(concat!($move, " [{d}", $place, "], ", $register),)+
                    s = in(reg) src, d = in(reg) dst, n = in(reg) bytes, $(out($register) _,)+
                    options(nostack, preserves_flags),
                );
            }
        };
    }
    match BYTES {
        2 => ends!("mov", "ax" at "", "cx" at " + {n} - 2"),
        4 => ends!("mov", "eax" at "", "ecx" at " + {n} - 4"),
        8 => ends!("mov", "rax" at "", "rcx" at " + {n} - 8"),
        16 => ends!(move16!(), "xmm0" at "", "xmm1" at " + {n} - 16"),
        32 => ends!(
            move16!(), "xmm0" at "", "xmm1" at " + 16", "xmm2" at " + {n} - 32", "xmm3" at " + {n} - 16"
        ),
        64 => ends!(
            move16!(),
            "xmm0" at "", "xmm1" at " + 16", "xmm2" at " + 32", "xmm3" at " + 48",
            "xmm4" at " + {n} - 64", "xmm5" at " + {n} - 48", "xmm6" at " + {n} - 32", "xmm7" at " + {n} - 16"
        ),
        128 => ends!(
            move16!(),
            "xmm0" at "", "xmm1" at " + 16", "xmm2" at " + 32", "xmm3" at " + 48",
            "xmm4" at " + 64", "xmm5" at " + 80", "xmm6" at " + 96", "xmm7" at " + 112",
            "xmm8" at " + {n} - 128", "xmm9" at " + {n} - 112", "xmm10" at " + {n} - 96",
            "xmm11" at " + {n} - 80", "xmm12" at " + {n} - 64", "xmm13" at " + {n} - 48",
            "xmm14" at " + {n} - 32", "xmm15" at " + {n} - 16"
        ),
        _ => unreachable!("no ends have so many bytes"),
    }
}

macro_rules! four {
    ($load:expr, $store:expr, $dst:ident, $src:ident, $($register:tt at $place:literal),+) => {
        // SAFETY: the caller's promise; the instructions touch these bytes and the registers declared.
        unsafe {
            asm!(
                $(concat!($load, " ", $register, ", [{s}", $place, "]"),)+
                $(concat!($store, " [{d}", $place, "], ", $register),)+
                s = in(reg) $src, d = in(reg) $dst, $(out($register) _,)+
                options(nostack, preserves_flags),
            );
        }
    };
}

/// A [`Vector`]: how it is loaded and stored, how it is stored past the caches, and the registers of four.
macro_rules! vector {
    (
        $(#[$doc:meta])* $name:ident, $bytes:literal, $move:expr, $stream:expr, $finish:literal,
        $first:tt, $($register:tt at $place:literal),+
    ) => {
        $(#[$doc])*
        pub struct $name;

        impl Vector for $name {
            const BYTES: usize = $bytes;

            #[inline(always)]
            unsafe fn one(dst: *mut u8, src: *const u8) {
                // SAFETY: the caller's promise; the instructions touch these bytes and the register declared.
                unsafe {
                    asm!(
                        concat!($move, " ", $first, ", [{s}]"),
                        concat!($move, " [{d}], ", $first),
                        s = in(reg) src, d = in(reg) dst, out($first) _,
                        options(nostack, preserves_flags),
                    );
                }
            }

            #[inline(always)]
            unsafe fn four(dst: *mut u8, src: *const u8) {
                four!($move, $move, dst, src, $first at "", $($register at $place),+);
            }

            #[inline(always)]
            unsafe fn stream_four(dst: *mut u8, src: *const u8) {
                four!($move, $stream, dst, src, $first at "", $($register at $place),+);
            }

            #[inline(always)]
            fn finish() {
                // SAFETY: no memory is touched, and all vector registers are declared.
                unsafe { asm!($finish, clobber_abi("sysv64"), options(nomem, nostack, preserves_flags)) };
            }

            #[inline(always)]
            fn fence() {
                // SAFETY: a fence touches nothing.
                unsafe { asm!("sfence", options(nostack, preserves_flags)) };
            }
        }
    };
}

#[cfg(target_feature = "avx")]
macro_rules! stream16 {
    () => {
        "vmovntps"
    };
}
#[cfg(not(target_feature = "avx"))]
macro_rules! stream16 {
    () => {
        "movntps"
    };
}

vector!(
    /// What every processor has.
    Sse2, 16, move16!(), stream16!(), "", "xmm0", "xmm1" at " + 16", "xmm2" at " + 32", "xmm3" at " + 48"
);
vector!(
    /// Whoever leaves something in the upper halves of these registers makes the compiler's own code slow.
    Avx2, 32, "vmovups", "vmovntps", "vzeroupper",
    "ymm0", "ymm1" at " + 32", "ymm2" at " + 64", "ymm3" at " + 96"
);
vector!(
    /// The registers from 16 on, which that does not hold for.
    Avx512, 64, "vmovups", "vmovntps", "",
    "zmm16", "zmm17" at " + 64", "zmm18" at " + 128", "zmm19" at " + 192"
);

macro_rules! words {
    ($($word:ty, $register:ty: $load:literal, $store:literal;)*) => {$(
        impl Word for $word {
            #[inline(always)]
            unsafe fn load(src: *const u8, at: usize) -> Self {
                let word: $register;
                // SAFETY: the caller's promise; the instruction reads these bytes alone.
                unsafe {
                    asm!(
                        concat!($load, " [{s} + {at}]"), s = in(reg) src, at = in(reg) at, t = out(reg) word,
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
                        concat!("mov [{d} + {at}], ", $store), d = in(reg) dst, at = in(reg) at,
                        t = in(reg) <$register>::from(word), options(nostack, preserves_flags),
                    );
                }
            }
        }
    )*};
}

words! {
    u8, u32: "movzx {t:e}, byte ptr", "{t:l}";
    u16, u32: "movzx {t:e}, word ptr", "{t:x}";
    u32, u32: "mov {t:e},", "{t:e}";
    u64, u64: "mov {t:r},", "{t:r}";
}

/// [`Registers::load_value`] and [`Registers::store_value`] by instructions that move one number.
macro_rules! values {
    ($single:literal, $double:literal, $(#[$feature:meta])*) => {
        $(#[$feature])*
        #[inline]
        unsafe fn load_value<T: Plain>(src: *const u8, at: usize) -> T {
            macro_rules! load_real {
                ($move:literal, $real:ty) => {{
                    let real: $real;
                    // SAFETY: the caller's promise; the instruction reads these bytes alone.
                    unsafe {
                        asm!(
                            concat!($move, " {t}, [{s} + {at}]"), s = in(reg) src, at = in(reg) at,
                            t = out(xmm_reg) real, options(nostack, preserves_flags, readonly),
                        );
                    }
                    // SAFETY: equally many bytes, and any are a `T`.
                    unsafe { mem::transmute_copy::<$real, T>(&real) }
                }};
            }
            if const { T::IS_REAL && size_of::<T>() == 4 } {
                load_real!($single, f32)
            } else if const { T::IS_REAL && size_of::<T>() == 8 } {
                load_real!($double, f64)
            } else {
                // SAFETY: the caller's promise.
                unsafe { load(src, at) }
            }
        }

        $(#[$feature])*
        #[inline]
        unsafe fn store_value<T: Plain>(dst: *mut u8, at: usize, value: T) {
            macro_rules! store_real {
                ($move:literal, $real:ty) => {{
                    // SAFETY: equally many bytes, all of which have a value.
                    let real = unsafe { mem::transmute_copy::<T, $real>(&value) };
                    // SAFETY: the caller's promise; the instruction writes these bytes alone.
                    unsafe {
                        asm!(
                            concat!($move, " [{d} + {at}], {t}"), d = in(reg) dst, at = in(reg) at,
                            t = in(xmm_reg) real, options(nostack, preserves_flags),
                        );
                    }
                }};
            }
            if const { T::IS_REAL && size_of::<T>() == 4 } {
                store_real!($single, f32);
            } else if const { T::IS_REAL && size_of::<T>() == 8 } {
                store_real!($double, f64);
            } else {
                // SAFETY: the caller's promise.
                unsafe { store(dst, at, value) };
            }
        }
    };
}

/// The vectors that every processor has.
#[derive(Debug)]
pub struct Common;

impl Registers for Common {
    values!("movss", "movsd",);

    #[inline(always)]
    unsafe fn load(src: *const u8, at: usize) -> Block {
        let (a, b, c, d): (__m128i, __m128i, __m128i, __m128i);
        // SAFETY: the caller's promise; the instructions read these bytes alone.
        unsafe {
            asm!(
                "movups {a}, [{s} + {at}]", "movups {b}, [{s} + {at} + 16]",
                "movups {c}, [{s} + {at} + 32]", "movups {d}, [{s} + {at} + 48]",
                s = in(reg) src, at = in(reg) at,
                a = out(xmm_reg) a, b = out(xmm_reg) b, c = out(xmm_reg) c, d = out(xmm_reg) d,
                options(nostack, preserves_flags, readonly),
            );
        }
        // SAFETY: both are plain bytes.
        unsafe { mem::transmute::<[__m128i; 4], Block>([a, b, c, d]) }
    }

    #[inline(always)]
    unsafe fn store(dst: *mut u8, at: usize, block: Block) {
        // SAFETY: both are plain bytes.
        let [a, b, c, d] = unsafe { mem::transmute::<Block, [__m128i; 4]>(block) };
        // SAFETY: the caller's promise; the instructions write these bytes alone.
        unsafe {
            asm!(
                "movups [{s} + {at}], {a}", "movups [{s} + {at} + 16], {b}",
                "movups [{s} + {at} + 32], {c}", "movups [{s} + {at} + 48], {d}",
                s = in(reg) dst, at = in(reg) at,
                a = in(xmm_reg) a, b = in(xmm_reg) b, c = in(xmm_reg) c, d = in(xmm_reg) d,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// The vectors of processors with AVX.
#[derive(Debug)]
pub struct Wide;

impl Registers for Wide {
    values!("vmovss", "vmovsd", #[target_feature(enable = "avx")]);

    #[target_feature(enable = "avx")]
    #[inline]
    unsafe fn load(src: *const u8, at: usize) -> Block {
        let (a, b): (__m256i, __m256i);
        // SAFETY: the caller's promise; the instructions read these bytes alone.
        unsafe {
            asm!(
                "vmovups {a}, [{s} + {at}]", "vmovups {b}, [{s} + {at} + 32]",
                s = in(reg) src, at = in(reg) at, a = out(ymm_reg) a, b = out(ymm_reg) b,
                options(nostack, preserves_flags, readonly),
            );
        }
        // SAFETY: both are plain bytes.
        unsafe { mem::transmute::<[__m256i; 2], Block>([a, b]) }
    }

    #[target_feature(enable = "avx")]
    #[inline]
    unsafe fn store(dst: *mut u8, at: usize, block: Block) {
        // SAFETY: both are plain bytes.
        let [a, b] = unsafe { mem::transmute::<Block, [__m256i; 2]>(block) };
        // SAFETY: the caller's promise; the instructions write these bytes alone.
        unsafe {
            asm!(
                "vmovups [{d} + {at}], {a}", "vmovups [{d} + {at} + 32], {b}",
                d = in(reg) dst, at = in(reg) at, a = in(ymm_reg) a, b = in(ymm_reg) b,
                options(nostack, preserves_flags),
            );
        }
    }
}

/// The vectors of processors with AVX-512.
#[derive(Debug)]
pub struct Widest;

impl Registers for Widest {
    values!("vmovss", "vmovsd", #[target_feature(enable = "avx512f")]);

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load(src: *const u8, at: usize) -> Block {
        let block: __m512i;
        // SAFETY: the caller's promise; the instruction reads these bytes alone.
        unsafe {
            asm!(
                "vmovups {b}, [{s} + {at}]", s = in(reg) src, at = in(reg) at, b = out(zmm_reg) block,
                options(nostack, preserves_flags, readonly),
            );
        }
        // SAFETY: both are plain bytes.
        unsafe { mem::transmute::<__m512i, Block>(block) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn store(dst: *mut u8, at: usize, block: Block) {
        // SAFETY: both are plain bytes.
        let block = unsafe { mem::transmute::<Block, __m512i>(block) };
        // SAFETY: the caller's promise; the instruction writes these bytes alone.
        unsafe {
            asm!(
                "vmovups [{d} + {at}], {b}", d = in(reg) dst, at = in(reg) at, b = in(zmm_reg) block,
                options(nostack, preserves_flags),
            );
        }
    }
}
