//! IEEE binary16: computed in single precision and rounded back, which is exact for one operation.

use oxmpi_mem::copy::Plain;

use crate::number::{Arithmetic, Ordered};

/// A half-precision number, by its bits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub(crate) struct Half(u16);

// SAFETY: a number of the machine's.
unsafe impl Plain for Half {}

/// Added to the exponent of a half to get that of the same single.
const REBIAS: u32 = 127 - 15;
/// Bits that the fraction of a single has more than that of a half.
const SHIFT: u32 = 23 - 10;

const SINGLE_INFINITY: u32 = 0x7f80_0000;
/// The single 2^16: no half is as great.
const TOO_GREAT: u32 = (REBIAS + 31) << 23;
/// The single 2^-14, the least normal half.
const LEAST_NORMAL: u32 = (REBIAS + 1) << 23;

impl Half {
    pub fn to_f32(self) -> f32 {
        let magnitude = u32::from(self.0 & 0x7fff);
        let positive = match magnitude >> 10 {
            0 => magnitude as f32 / (1 << 24) as f32,
            31 => f32::from_bits(SINGLE_INFINITY | magnitude << SHIFT),
            _ => f32::from_bits((magnitude << SHIFT) + (REBIAS << 23)),
        };
        if self.0 >> 15 == 0 { positive } else { -positive }
    }

    /// The nearest half; of two, the even one.
    pub fn from_f32(single: f32) -> Self {
        let sign = (single.to_bits() >> 16) as u16 & 0x8000;
        let magnitude = single.to_bits() & 0x7fff_ffff;
        let bits = match magnitude {
            _ if magnitude > SINGLE_INFINITY => 0x7e00,
            TOO_GREAT.. => 0x7c00,
            LEAST_NORMAL.. => {
                let odd = magnitude >> SHIFT & 1;
                ((magnitude + 0xfff + odd) >> SHIFT) - (REBIAS << 10)
            }
            // The last bit of 0.5 is the last bit of the halves below 2^-14, so the sum is rounded there.
            _ => (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5f32.to_bits(),
        };
        Self(sign | bits as u16)
    }
}

impl Arithmetic for Half {
    fn add(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() + other.to_f32())
    }

    fn subtract(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() - other.to_f32())
    }

    fn multiply(self, other: Self) -> Self {
        Self::from_f32(self.to_f32() * other.to_f32())
    }
}

impl Ordered for Half {
    fn exceeds(self, other: Self) -> bool {
        self.to_f32() > other.to_f32()
    }

    fn equals(self, other: Self) -> bool {
        self.to_f32() == other.to_f32()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_survives_being_a_single() {
        for bits in 0..=u16::MAX {
            let single = Half(bits).to_f32();
            assert!(single.is_nan() || Half::from_f32(single) == Half(bits), "bits {bits:#06x}");
        }
    }

    #[test]
    fn a_single_becomes_the_nearest_half_and_ties_go_to_the_even_one() {
        for bits in 0..0x7bffu16 {
            let (below, above) = (Half(bits), Half(bits + 1));
            let middle = f32::midpoint(below.to_f32(), above.to_f32());
            let even = if bits % 2 == 0 { below } else { above };
            assert_eq!(Half::from_f32(middle), even);
            assert_eq!(Half::from_f32(middle.next_down()), below);
            assert_eq!(Half::from_f32(-middle.next_up()).0, 0x8000 | above.0);
        }
    }

    #[test]
    fn what_is_too_great_becomes_infinite() {
        assert_eq!(Half::from_f32(65519.0), Half(0x7bff));
        assert_eq!(Half::from_f32(65520.0), Half(0x7c00));
        assert_eq!(Half::from_f32(f32::INFINITY), Half(0x7c00));
        assert!(Half::from_f32(f32::NAN).to_f32().is_nan());
    }
}
