//! The interval of memory a typemap spans.

use oxmpi_base::{Error, ErrorClass, Result};

/// From the first byte to behind the last one, in bytes from the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub lower: i64,
    pub upper: i64,
}

impl Bounds {
    /// Of what has no bytes.
    pub const EMPTY: Self = Self { lower: 0, upper: 0 };

    /// The smallest interval around `self` moved by `displacement` plus each of the `count` multiples, from 0, of
    /// `stride`.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if a bound does not fit `i64`.
    pub fn repeat(self, count: u64, stride: i64, displacement: i64) -> Result<Self> {
        let reach = i128::from(count.saturating_sub(1)) * i128::from(stride);
        let moved = |bound: i64, reach: i128| i128::from(bound) + i128::from(displacement) + reach;
        Self::narrow(moved(self.lower, reach.min(0)), moved(self.upper, reach.max(0))).ok_or_else(|| {
            let text = format!(
                "{count} elements {stride} bytes apart, {displacement} bytes from the origin, reach further \
                 than 64 bits can say"
            );
            Error::new(ErrorClass::Count, text)
        })
    }

    /// The smallest interval around both.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if it is longer than `i64` can say.
    pub fn join(self, other: Self) -> Result<Self> {
        let (lower, upper) = (self.lower.min(other.lower), self.upper.max(other.upper));
        Self::narrow(lower.into(), upper.into()).ok_or_else(|| {
            let text = format!("from byte {lower} to byte {upper} is further than 64 bits can say");
            Error::new(ErrorClass::Count, text)
        })
    }

    /// `self` with the upper bound raised until the extent is a multiple of `align`.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if the bound does not fit `i64`.
    pub fn padded(self, align: u32) -> Result<Self> {
        let extent = self.extent() as u64; // not negative: bytes lie between the bounds
        let padded = i128::from(extent.next_multiple_of(align.into()));
        Self::narrow(self.lower.into(), i128::from(self.lower) + padded).ok_or_else(|| {
            let text = format!("{extent} bytes, padded to a multiple of {align}, are more than 2^63");
            Error::new(ErrorClass::Count, text)
        })
    }

    /// Distance from the lower to the upper bound.
    pub fn extent(self) -> i64 {
        self.upper - self.lower
    }

    fn narrow(lower: i128, upper: i128) -> Option<Self> {
        let (lower, upper) = (i64::try_from(lower).ok()?, i64::try_from(upper).ok()?);
        upper.checked_sub(lower).map(|_| Self { lower, upper })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_stride_moves_the_lower_bound() {
        let bounds = Bounds { lower: 0, upper: 8 }.repeat(3, -16, 2).expect("small numbers");
        assert_eq!(bounds, Bounds { lower: -30, upper: 10 });
    }

    #[test]
    fn only_the_result_must_fit_64_bits() {
        let far = Bounds { lower: -(1 << 62) - 8, upper: -(1 << 62) };
        let bounds = far.repeat(2, -(1 << 62), 1 << 62).expect("the displacement leads back");
        assert_eq!(bounds, Bounds { lower: -(1 << 62) - 8, upper: 0 });
    }

    #[test]
    fn what_does_not_fit_64_bits_is_refused() {
        let word = Bounds { lower: 0, upper: 8 };
        let far = word.repeat(1, 0, 1 << 62).expect("fits");
        let near = word.repeat(1, 0, -(1 << 62)).expect("fits");
        let end = Bounds { lower: 0, upper: i64::MAX };
        for refused in [
            word.repeat(1 << 40, 1 << 40, 0),
            word.repeat(1, 0, i64::MAX),
            near.join(far.repeat(1, 0, 8).expect("fits")),
            end.padded(8),
        ] {
            assert_eq!(refused.expect_err("beyond 64 bits").class(), ErrorClass::Count);
        }
    }

    #[test]
    fn padding_rounds_the_extent_and_not_the_bound() {
        let padded = Bounds { lower: 3, upper: 13 }.padded(4).expect("small numbers");
        assert_eq!(padded, Bounds { lower: 3, upper: 15 });
    }
}
