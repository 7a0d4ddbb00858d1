//! The arguments of a call, by which it is known when it is made again.
//!
//! Only what means the same for ever counts: addresses, numbers, and names of what is predefined. Arrays may hold other
//! values the next time, and what the program makes may be something else.

/// Words that say, together, what a call on a communicator does and with which memory.
///
/// Whoever has kept what was made of a call's arguments may use that again for a call on the same communicator with
/// equal ones: they carry the same promise.
#[derive(Clone, Copy, Debug)]
pub struct Arguments([u64; Arguments::WORDS]);

impl Arguments {
    /// How many words there are.
    pub const WORDS: usize = 8;

    /// Those of a call that names no memory, by its function alone: they promise nothing.
    pub const fn of_function(function: u64) -> Self {
        let mut words = [0; Self::WORDS];
        words[0] = function;
        Self(words)
    }

    /// Whether they say the same.
    #[inline]
    pub fn are(&self, others: &Self) -> bool {
        // Without a branch for each: they are mostly equal.
        self.0.iter().zip(&others.0).fold(0, |differing, (one, other)| differing | (one ^ other)) == 0
    }

    /// A number by which calls may be kept apart: its upper bits differ for calls that differ in a small number alone,
    /// as in a root that takes turns.
    #[inline]
    pub fn hash(&self) -> u64 {
        let turned = self.0.iter().zip(Self::TURNS).map(|(word, bits)| word.rotate_left(bits));
        turned.fold(0, |all, word| all ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// By so many bits each word is turned: numbers lie beside those of other words, and away from the upper bits.
    const TURNS: [u32; Self::WORDS] = [40, 0, 20, 7, 13, 26, 5, 10];
}

/// Arguments that are being noted, one after the other.
#[derive(Debug)]
pub struct Words {
    arguments: Arguments,
    number: usize,
    /// Whether they may mean something else the next time. Apart, so that the number is known when this is compiled.
    is_vague: bool,
}

impl Words {
    /// Those of a call of this function.
    #[inline]
    pub const fn new(function: u64) -> Self {
        Self { arguments: Arguments::of_function(function), number: 1, is_vague: false }
    }

    /// Notes a number, or where something is.
    #[inline]
    pub fn push(&mut self, word: u64) {
        if let Some(place) = self.arguments.0.get_mut(self.number) {
            *place = word;
        }
        self.number += 1;
    }

    /// Notes that the call may mean something else the next time.
    #[inline]
    pub fn give_up(&mut self) {
        self.is_vague = true;
    }

    /// The arguments, if they say all.
    ///
    /// # Safety
    /// - What the call may do with memory that the words name - the same whenever they, and the communicator, are
    ///   equal - it may do until it is over: as [`Region::claim`](crate::Region::claim) demands.
    /// - Addresses among the words are exposed (`expose_provenance`).
    /// - This value and its copies are handed on with that communicator alone, and, where something is to be kept, with
    ///   what was made of these arguments.
    #[inline]
    pub const unsafe fn claim(&self) -> Option<&Arguments> {
        if !self.is_vague && self.number <= Arguments::WORDS { Some(&self.arguments) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Calls of rooted collectives, the last argument of which is the root: else each overwrites what was kept of the
    /// one before.
    #[test]
    fn roots_that_take_turns_are_kept_apart() {
        let call = |before: &[u64], root: u64| {
            let mut words = Words::new(7);
            before.iter().chain([&root]).for_each(|&word| words.push(word));
            // SAFETY: nobody makes use of what the words name.
            unsafe { words.claim() }.expect("all is said").hash() >> 60
        };
        for address in [0x7fff_1234_5670, 0x7f32_0000_1010, 0x55aa_bcde_f7c0] {
            for (int, double, sum) in [(0x205, 0x20e, 0x21), (0x209, 0x232, 0x29)] {
                let bcast: &[u64] = &[address, 1, int];
                let reduce: &[u64] = &[address, address + 64, 128, double, sum];
                let gather: &[u64] = &[address, 1024, int, address + 4096, 1024, int];
                for before in [bcast, reduce, gather] {
                    let places: BTreeSet<u64> = (0..8).map(|root| call(before, root)).collect();
                    assert_eq!(places.len(), 8, "{before:x?}");
                }
            }
        }
    }
}
