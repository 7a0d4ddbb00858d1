//! The arguments of a call, by which it is known when it is made again.

/// Words that say, together, what a call on a communicator does and with which memory.
///
/// Whoever has kept what was made of a call's arguments may use that again for a call on the same communicator with
/// equal ones: they carry the same promise.
#[derive(Clone, Copy, Debug)]
pub struct Arguments([u64; Arguments::WORDS]);

impl Arguments {
    /// How many words there are.
    pub const WORDS: usize = 8;

    /// The arguments that these words are.
    ///
    /// # Safety
    /// - What the call may do with memory that the words name - the same whenever they, and the communicator, are
    ///   equal - it may do until it is over: as [`Region::claim`](crate::Region::claim) demands.
    /// - This value and its copies are handed on with that communicator alone, and, where something is to be kept, with
    ///   what was made of these arguments.
    #[inline]
    pub const unsafe fn claim(words: [u64; Self::WORDS]) -> Self {
        Self(words)
    }

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
