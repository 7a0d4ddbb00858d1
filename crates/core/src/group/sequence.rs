//! Distinct numbers in an order: a progression where they are one, otherwise a list.
//!
//! A progression takes constant memory and answers everything in constant time. A list is shared by its clones,
//! and sorted when it is first searched: that search takes O(n log n), each later one O(log n).

use std::iter::once;
use std::sync::{Arc, OnceLock};

use oxmpi_base::order;

use super::progression::Progression;

/// Distinct numbers in an order.
#[derive(Clone, Debug)]
pub enum Sequence {
    /// Numbers that are no progression.
    List(Arc<List>),
    /// Numbers at equal distances.
    Progression(Progression),
}

/// Numbers, and where each of them is.
#[derive(Debug)]
pub struct List {
    numbers: Box<[u32]>,
    /// The indexes into `numbers`, in the order of the numbers; made by the first search.
    sorted: OnceLock<Box<[u32]>>,
}

impl FromIterator<u32> for Sequence {
    /// Makes a list only from the number on that ends the progression.
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut numbers = numbers.into_iter();
        let mut progression = Progression::EMPTY;
        while let Some(number) = numbers.next() {
            match progression.append(number) {
                Some(longer) => progression = longer,
                None => return Self::list(progression.iter().chain(once(number)).chain(numbers).collect()),
            }
        }
        Self::Progression(progression)
    }
}

impl Sequence {
    fn list(numbers: Box<[u32]>) -> Self {
        Self::List(Arc::new(List { numbers, sorted: OnceLock::new() }))
    }

    /// How many numbers there are.
    pub fn len(&self) -> u32 {
        match self {
            Self::List(list) => list.numbers.len() as u32,
            Self::Progression(progression) => progression.len(),
        }
    }

    /// The number at `index`.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn at(&self, index: u32) -> u32 {
        match self {
            Self::List(list) => list.numbers[index as usize],
            Self::Progression(progression) => progression.at(index),
        }
    }

    /// The index of `number`.
    pub fn position(&self, number: u32) -> Option<u32> {
        match self {
            Self::List(list) => list.position(number),
            Self::Progression(progression) => progression.position(number),
        }
    }

    /// Whether `number` is one of them.
    pub fn contains(&self, number: u32) -> bool {
        self.position(number).is_some()
    }

    /// All numbers in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = u32> {
        (0..self.len()).map(|index| self.at(index))
    }

    /// The numbers at `indexes`, all of which are inside.
    pub fn select(&self, indexes: &Self) -> Self {
        match (self, indexes) {
            (Self::Progression(numbers), Self::Progression(indexes)) => {
                Self::Progression(numbers.select(*indexes))
            }
            _ => indexes.iter().map(|index| self.at(index)).collect(),
        }
    }

    /// A number that is there twice, contrary to what a sequence is.
    pub fn repeated(&self) -> Option<u32> {
        match self {
            Self::List(list) => list.repeated(),
            Self::Progression(_) => None,
        }
    }

    /// Whether both have the same numbers, in whatever order.
    pub fn is_permutation_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Progression(one), Self::Progression(two)) => one == two || one.reversed() == *two,
            _ => self.len() == other.len() && self.iter().all(|number| other.contains(number)),
        }
    }
}

impl PartialEq for Sequence {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(one), Self::List(two)) => Arc::ptr_eq(one, two) || one.numbers == two.numbers,
            (Self::Progression(one), Self::Progression(two)) => one == two,
            _ => false,
        }
    }
}

impl Eq for Sequence {}

impl List {
    fn sorted(&self) -> &[u32] {
        self.sorted.get_or_init(|| {
            let places = order::places(self.numbers.iter().map(|&number| number.into()).collect());
            places.into_iter().map(|index| index as u32).collect()
        })
    }

    fn position(&self, number: u32) -> Option<u32> {
        let sorted = self.sorted();
        let place = sorted.binary_search_by_key(&number, |&index| self.numbers[index as usize]);
        place.ok().map(|place| sorted[place])
    }

    fn repeated(&self) -> Option<u32> {
        let number = |index: u32| self.numbers[index as usize];
        let mut neighbours = self.sorted().windows(2).map(|pair| [number(pair[0]), number(pair[1])]);
        neighbours.find(|[one, two]| one == two).map(|[one, _]| one)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_made_only_of_what_is_no_progression() {
        let progressions: [&[u32]; 5] = [&[], &[3], &[9, 2], &[0, 1, 2, 3], &[8, 5, 2]];
        for numbers in progressions {
            let sequence: Sequence = numbers.iter().copied().collect();
            assert!(matches!(sequence, Sequence::Progression(_)), "{numbers:?}");
            assert!(sequence.iter().eq(numbers.iter().copied()), "{numbers:?}");
        }
        let list: Sequence = [0, 1, 3, 2].into_iter().collect();
        assert!(matches!(list, Sequence::List(_)));
        assert!(list.iter().eq([0, 1, 3, 2]));
    }

    #[test]
    fn a_list_knows_where_its_numbers_are_and_which_is_repeated() {
        let list: Sequence = [7, 1, 4, 0].into_iter().collect();
        assert_eq!([7, 1, 4, 0].map(|number| list.position(number)), [Some(0), Some(1), Some(2), Some(3)]);
        assert_eq!([list.position(2), list.position(9)], [None; 2]);
        assert_eq!(list.repeated(), None);
        assert_eq!([5, 2, 9, 2].into_iter().collect::<Sequence>().repeated(), Some(2));
        assert_eq!([2, 2].into_iter().collect::<Sequence>().repeated(), Some(2));
    }
}
