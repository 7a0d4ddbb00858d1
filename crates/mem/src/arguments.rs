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

    /// Whether they say the same.
    #[inline]
    pub fn are(&self, others: &Self) -> bool {
        // Without a branch for each: they are mostly equal.
        self.0.iter().zip(&others.0).fold(0, |differing, (one, other)| differing | (one ^ other)) == 0
    }

    /// A number by which calls may be kept apart.
    #[inline]
    pub fn hash(&self) -> u64 {
        let [function, first, second, third, fourth, ..] = self.0;
        let word = first ^ second << 20 ^ third << 7 ^ fourth.rotate_left(13) ^ function << 40;
        word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
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
        let mut words = [0; Arguments::WORDS];
        words[0] = function;
        Self { arguments: Arguments(words), number: 1, is_vague: false }
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
