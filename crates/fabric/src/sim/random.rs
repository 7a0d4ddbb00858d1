//! Numbers that look random: xorshift64*.

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(super) fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// One from 0 to `limit`, itself not included; 0 if there is none.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.word() >> 33) as usize % limit.max(1)
    }

    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below((most.saturating_sub(least) + 1) as usize) as u64
    }

    /// Whether something happens that happens once in so many times; never in none.
    pub(super) fn is_one_in(&mut self, times: usize) -> bool {
        times != 0 && self.below(times) == 0
    }
}
