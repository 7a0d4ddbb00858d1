//! What the pairs of a value and an index consist of that have a name.
//!
//! MPI-5.0: Collective Communication, Predefined Reduction Operations, MINLOC and MAXLOC.

use crate::BasicType;

/// Value, index, and the pair of both.
const NAMED: [[BasicType; 3]; 9] = [
    [BasicType::Float, BasicType::Int, BasicType::FloatInt],
    [BasicType::Double, BasicType::Int, BasicType::DoubleInt],
    [BasicType::Long, BasicType::Int, BasicType::LongInt],
    [BasicType::Int, BasicType::Int, BasicType::TwoInt],
    [BasicType::Short, BasicType::Int, BasicType::ShortInt],
    [BasicType::LongDouble, BasicType::Int, BasicType::LongDoubleInt],
    [BasicType::Real, BasicType::Real, BasicType::TwoReal],
    [BasicType::DoublePrecision, BasicType::DoublePrecision, BasicType::TwoDoublePrecision],
    [BasicType::Integer, BasicType::Integer, BasicType::TwoInteger],
];

impl BasicType {
    /// The pair of these, if it has a name.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::BasicType;
    ///
    /// assert_eq!(BasicType::pair_of(BasicType::Double, BasicType::Int), Some(BasicType::DoubleInt));
    /// assert_eq!(BasicType::pair_of(BasicType::Int, BasicType::Double), None);
    /// ```
    pub fn pair_of(value: Self, index: Self) -> Option<Self> {
        NAMED.iter().find(|named| named[..2] == [value, index]).map(|[.., pair]| *pair)
    }

    /// The value and the index of a pair that has a name: its type signature. `None` for what is not a pair.
    ///
    /// ```
    /// # use oxmpi_base as oxmpi;
    /// use oxmpi::BasicType;
    ///
    /// assert_eq!(BasicType::TwoInt.parts(), Some([BasicType::Int; 2]));
    /// ```
    pub fn parts(self) -> Option<[Self; 2]> {
        NAMED.iter().find(|[.., pair]| *pair == self).map(|&[value, index, _]| [value, index])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    #[test]
    fn all_pairs_have_parts() {
        for basic in BasicType::ALL {
            assert_eq!(basic.parts().is_some(), matches!(basic.scalar(), Scalar::Pair(_)), "{basic:?}");
            if let Some([value, index]) = basic.parts() {
                assert_eq!(BasicType::pair_of(value, index), Some(basic));
                assert_eq!(basic.size(), value.size() + index.size(), "{basic:?}");
            }
        }
    }
}
