//! For which instructions the loops of reductions are built: the best that this processor has, or those that the user
//! names.
//!
//! All give the same results, bit by bit, but for which of two NaN is handed on.

use std::sync::atomic::{AtomicU8, Ordering};

use oxmpi_base::{Error, ErrorClass, Result};

/// By preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instructions {
    /// Vectors of 64 bytes.
    Avx512,
    /// Vectors of 32 bytes.
    Avx2,
    /// What every processor of the kind has.
    Common,
}

/// What is in use; as many as there are if that is undecided.
static CHOSEN: AtomicU8 = AtomicU8::new(ALL.len() as u8);

const ALL: [Instructions; 3] = [Instructions::Avx512, Instructions::Avx2, Instructions::Common];

impl Instructions {
    /// What kernels that are made now are built for.
    pub(crate) fn chosen() -> Self {
        ALL.get(usize::from(CHOSEN.load(Ordering::Relaxed))).copied().unwrap_or_else(Self::best)
    }

    #[cold]
    fn best() -> Self {
        let best = ALL.into_iter().find(|instructions| instructions.run_here());
        let best = best.expect("every processor has what is common");
        best.choose();
        best
    }

    fn choose(self) {
        CHOSEN.store(self as u8, Ordering::Relaxed);
    }

    fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Common => "common",
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn run_here(self) -> bool {
        match self {
            // Processors with such vectors and without VBMI2 lower their clock when they use them.
            Self::Avx512 => {
                is_x86_feature_detected!("avx512vbmi2")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            Self::Common => true,
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn run_here(self) -> bool {
        self == Self::Common
    }
}

/// The names of the instructions that reductions can be built for on this processor, the best ones first.
pub fn instructions() -> impl Iterator<Item = &'static str> {
    ALL.into_iter().filter(|instructions| instructions.run_here()).map(Instructions::name)
}

/// Builds the reducers that are made from now on, in the whole process, for the instructions called `name`; with no
/// name, for the best ones.
///
/// # Errors
/// [`ErrorClass::Arg`] if there are none of this name, or this processor does not have them.
pub fn choose_instructions(name: &str) -> Result<()> {
    if name.is_empty() {
        Instructions::best();
        return Ok(());
    }
    let mut run = ALL.into_iter().filter(|instructions| instructions.run_here());
    let Some(named) = run.find(|instructions| instructions.name() == name) else {
        let names = instructions().collect::<Vec<_>>().join(", ");
        let text = format!("there are no instructions \"{name}\" on this processor; there are {names}");
        return Err(Error::new(ErrorClass::Arg, text));
    };
    named.choose();
    Ok(())
}

#[cfg(test)]
mod tests {
    use oxmpi_base::{BasicType, ReduceOp, Scalar};
    use oxmpi_mem::Region;

    use super::*;
    use crate::Reducer;

    /// Lengths in elements: none, less than a vector, some and a rest.
    const COUNTS: [usize; 7] = [0, 1, 3, 17, 64, 131, 200];
    const OFFSETS: [usize; 3] = [0, 1, 40];
    const MOST: usize = 200 * 32 + 64;

    /// The numbers that are far from ordinary, in turn with those that are drawn.
    const SPECIAL: [f64; 8] =
        [f64::INFINITY, -0.0, 0.0, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE / 8.0, f64::MAX, 1.0];

    /// Bytes for elements of such a kind.
    fn draw(kind: Scalar, seed: u64) -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state >> 20
        };
        let mut real = || match next() {
            word if word.is_multiple_of(5) => SPECIAL[next() as usize % SPECIAL.len()],
            word => (word % 2_000_003) as f64 / 1024.0 - 900.0,
        };
        match kind {
            Scalar::F32 | Scalar::ComplexF32 => {
                (0..MOST / 4).flat_map(|_| (real() as f32).to_le_bytes()).collect()
            }
            Scalar::F64 | Scalar::ComplexF64 => (0..MOST / 8).flat_map(|_| real().to_le_bytes()).collect(),
            _ => (0..MOST / 8).flat_map(|_| (next() << 24 ^ next()).to_le_bytes()).collect(),
        }
    }

    /// The same numbers; which NaN is handed on does not matter.
    fn are_same(kind: Scalar, one: &[u8], other: &[u8]) -> bool {
        let words =
            |bytes: &[u8], size: usize| bytes.chunks_exact(size).map(<[u8]>::to_vec).collect::<Vec<_>>();
        let both = |size: usize, is_nan: &dyn Fn(&[u8]) -> bool| {
            let (one, other) = (words(one, size), words(other, size));
            one.iter().zip(&other).all(|(one, other)| one == other || is_nan(one) && is_nan(other))
        };
        match kind {
            Scalar::F32 | Scalar::ComplexF32 => {
                both(4, &|bytes| f32::from_le_bytes(bytes.try_into().expect("4 bytes")).is_nan())
            }
            Scalar::F64 | Scalar::ComplexF64 => {
                both(8, &|bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes")).is_nan())
            }
            _ => one == other,
        }
    }

    fn combine(reducer: &Reducer, left: &[u8], right: &[u8], into: &mut [u8]) {
        let (mut left, mut right) = (left.to_vec(), right.to_vec());
        let [left, right] = [&mut left, &mut right].map(|bytes| {
            // SAFETY: the vector is used through the region alone.
            unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
        });
        // SAFETY: as above, until this returns.
        let into = unsafe { Region::claim(into.as_mut_ptr(), into.len()) };
        reducer.combine(&left, &right, &into);
    }

    /// Element by element vectors are of no use: every processor does that alike.
    fn one_by_one(reducer: &Reducer, left: &[u8], right: &[u8]) -> Vec<u8> {
        let unit = reducer.unit_bytes() as usize;
        let mut result = vec![0; left.len()];
        let pieces = left.chunks_exact(unit).zip(right.chunks_exact(unit)).zip(result.chunks_exact_mut(unit));
        pieces.for_each(|((left, right), into)| combine(reducer, left, right, into));
        result
    }

    fn check(op: ReduceOp, basic: BasicType) {
        let reducer = Reducer::predefined(op, basic).expect("legal");
        let (kind, unit) = (basic.scalar(), reducer.unit_bytes() as usize);
        let (left, right) = (draw(kind, op as u64), draw(kind, 77));
        let expected = one_by_one(&reducer, &left[..200 * unit], &right[..200 * unit]);
        let mut result = vec![0; MOST];
        for count in COUNTS {
            for offset in OFFSETS {
                let bytes = count * unit;
                let into = &mut result[offset..offset + bytes];
                combine(&reducer, &left[..bytes], &right[..bytes], into);
                let by = Instructions::chosen();
                assert!(are_same(kind, into, &expected[..bytes]), "{op:?} on {count} {basic:?} by {by:?}");
            }
        }
    }

    #[test]
    fn all_instructions_give_what_one_element_after_the_other_gives() {
        for name in instructions() {
            choose_instructions(name).expect("they are there");
            for basic in BasicType::ALL {
                ReduceOp::ALL.into_iter().filter(|&op| basic.allows(op)).for_each(|op| check(op, basic));
            }
        }
    }

    #[test]
    fn instructions_that_are_not_there_are_refused() {
        let error = choose_instructions("mmx").expect_err("there are none of this name");
        assert!(error.text().contains("\"mmx\"") && error.text().contains("common"), "{}", error.text());
    }
}
