//! Arithmetic progressions: many numbers in constant memory.

/// The numbers `first`, `first + stride`, ... of which there are `len`.
///
/// One with fewer than two numbers has the stride 1, and one without numbers begins at 0, so that equal
/// progressions have equal fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progression {
    first: u32,
    stride: i64,
    len: u32,
}

impl Progression {
    /// No numbers.
    pub const EMPTY: Self = Self { first: 0, stride: 1, len: 0 };

    /// The progression with these fields; all its numbers fit `u32`.
    pub fn new(first: u32, stride: i64, len: u32) -> Self {
        match len {
            0 => Self::EMPTY,
            1 => Self { first, stride: 1, len },
            _ => Self { first, stride, len },
        }
    }

    /// How many numbers there are.
    pub fn len(self) -> u32 {
        self.len
    }

    /// The number at `index`.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn at(self, index: u32) -> u32 {
        assert!(index < self.len, "the index is inside the progression");
        let number = i64::from(self.first) + i64::from(index) * self.stride;
        u32::try_from(number).expect("the numbers of a progression fit")
    }

    /// The index of `number`.
    pub fn position(self, number: u32) -> Option<u32> {
        let distance = i64::from(number) - i64::from(self.first);
        let index = u32::try_from(distance / self.stride).ok()?;
        (distance % self.stride == 0 && index < self.len).then_some(index)
    }

    /// All numbers in order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = u32> {
        (0..self.len).map(move |index| self.at(index))
    }

    /// The progression with `number` behind the last one, if that is one.
    pub fn append(self, number: u32) -> Option<Self> {
        let stride = i64::from(number) - i64::from(self.first);
        match self.len {
            0 => Some(Self::new(number, 1, 1)),
            1 => (stride != 0).then_some(Self { stride, len: 2, ..self }),
            len => (stride == i64::from(len) * self.stride).then_some(Self { len: len + 1, ..self }),
        }
    }

    /// The numbers at `indexes`, all of which are inside.
    pub fn select(self, indexes: Self) -> Self {
        match indexes.len {
            0 => Self::EMPTY,
            len => Self::new(self.at(indexes.first), self.stride * indexes.stride, len),
        }
    }

    /// The same numbers, the last one first.
    pub fn reversed(self) -> Self {
        match self.len {
            0 => self,
            len => Self::new(self.at(len - 1), -self.stride, len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progression_finds_its_numbers_and_no_others() {
        let down = Progression::new(9, -3, 4);
        assert_eq!(down.iter().collect::<Vec<_>>(), [9, 6, 3, 0]);
        let found = |number| down.position(number);
        assert_eq!([found(9), found(0), found(3)], [Some(0), Some(3), Some(2)]);
        assert_eq!([found(12), found(8), found(u32::MAX)], [None; 3]);
        assert_eq!(Progression::EMPTY.position(0), None);
    }

    #[test]
    fn equal_numbers_make_equal_progressions() {
        assert_eq!(Progression::new(4, -7, 1), Progression::EMPTY.append(4).expect("one number"));
        assert_eq!(Progression::new(4, 3, 0), Progression::EMPTY);
        assert_eq!(Progression::new(1, 2, 3).reversed(), Progression::new(5, -2, 3));
        assert_eq!(Progression::new(7, 1, 1).reversed(), Progression::new(7, 1, 1));
    }

    #[test]
    fn only_the_next_number_can_be_appended() {
        let even = Progression::new(2, 2, 3);
        assert_eq!(even.append(8), Some(Progression::new(2, 2, 4)));
        assert_eq!([even.append(7), even.append(2)], [None; 2]);
        assert_eq!(Progression::new(2, 1, 1).append(2), None, "a number is not there twice");
    }

    #[test]
    fn a_selection_of_a_progression_is_one() {
        let odd = Progression::new(1, 2, 10);
        assert_eq!(odd.select(Progression::new(8, -4, 3)), Progression::new(17, -8, 3));
        assert_eq!(odd.select(Progression::EMPTY), Progression::EMPTY);
    }
}
