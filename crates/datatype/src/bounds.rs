//! The interval of memory a typemap spans.

use oxmpi_base::{Error, ErrorClass, Result};

/// From the first byte to behind the last one, in bytes from the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub lower: i64,
    pub upper: i64,
}

impl Bounds {
    /// The smallest interval around `self` moved by each of the `count` multiples, from 0, of `stride`.
    ///
    /// # Errors
    /// [`ErrorClass::Count`] if a bound does not fit `i64`.
    pub fn repeat(self, count: u64, stride: i64) -> Result<Self> {
        let reach = i128::from(count.saturating_sub(1)) * i128::from(stride);
        let lower = i64::try_from(i128::from(self.lower) + reach.min(0));
        let upper = i64::try_from(i128::from(self.upper) + reach.max(0));
        match (lower, upper) {
            (Ok(lower), Ok(upper)) if upper.checked_sub(lower).is_some() => Ok(Self { lower, upper }),
            _ => Err(Error::new(
                ErrorClass::Count,
                format!("{count} elements {stride} bytes apart reach further than 64 bits can say"),
            )),
        }
    }

    /// Distance from the lower to the upper bound.
    pub fn extent(self) -> i64 {
        self.upper - self.lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_stride_moves_the_lower_bound() {
        let bounds = Bounds { lower: 0, upper: 8 }.repeat(3, -16).expect("small numbers");
        assert_eq!(bounds, Bounds { lower: -32, upper: 8 });
    }

    #[test]
    fn a_reach_beyond_64_bits_is_refused() {
        let error = Bounds { lower: 0, upper: 8 }.repeat(1 << 40, 1 << 40).expect_err("2^80 bytes");
        assert_eq!(error.class(), ErrorClass::Count);
    }
}
