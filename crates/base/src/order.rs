//! Sorting whose code is there once.
//!
//! The compiler makes the code of a sort anew for each type, some 2,000 lines of its intermediate language, and again
//! in each crate. Here numbers are sorted, and what they are the keys of is moved to where they say.
//!
//! Cost: that of sorting the numbers, an allocation, and a move or two of each item. It is for what is not asked for
//! each message.

/// Sorts by a number; of equal ones the earlier stays so.
///
/// ```
/// let mut words = ["three", "one", "four", "two"];
/// oxmpi_base::order::by_key(&mut words, |word| word.len() as u64);
/// assert_eq!(words, ["one", "two", "four", "three"]);
/// ```
pub fn by_key<T>(items: &mut [T], key: impl FnMut(&T) -> u64) {
    let mut places = places(items.iter().map(key).collect());
    for place in 0..places.len() {
        // Where it lies that belongs here: what lay there before it has been exchanged since.
        let mut from = places[place];
        while from < place {
            from = places[from];
        }
        places[place] = from;
        items.swap(place, from);
    }
}

/// The places of these keys in ascending order; of equal ones the earlier comes first.
#[inline(never)]
pub fn places(keys: Vec<u64>) -> Vec<usize> {
    let mut sorted: Vec<(u64, usize)> = keys.into_iter().zip(0..).collect();
    sorted.sort_unstable();
    sorted.into_iter().map(|(_, place)| place).collect()
}

/// Sorts numbers; NaN comes last, or first if it is negative.
#[inline(never)]
pub fn numbers(numbers: &mut [f64]) {
    numbers.sort_unstable_by(f64::total_cmp);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_sorted_as_the_standard_library_does() {
        let mut state = 1_u64;
        for len in 0..200 {
            let mut draw = || {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                (state >> 33) % (len / 2 + 1)
            };
            let mut items: Vec<(u64, u64)> = (0..len).map(|place| (draw(), place)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            by_key(&mut items, |item| item.0);
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn numbers_are_in_order_whatever_their_signs() {
        let mut all = [2.0, -1.0, f64::INFINITY, 0.5, f64::NEG_INFINITY];
        numbers(&mut all);
        assert_eq!(all, [f64::NEG_INFINITY, -1.0, 0.5, 2.0, f64::INFINITY]);
    }
}
