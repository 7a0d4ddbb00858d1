//! Which rank steps next.

use super::value::mix;

/// A way of interleaving ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// This rank goes as far as it can before anybody else takes a single step.
    Ahead(u32),
    /// This rank steps only when nobody else can.
    Behind(u32),
    /// All in turn, a step each.
    Fair,
    /// A random order with random numbers of steps, fixed by the seed.
    Random(u64),
}

impl Schedule {
    /// Runs `advance(rank)`, which says whether the rank made a step, until no rank can make one.
    ///
    /// # Errors
    /// What `advance` returns.
    pub(super) fn drive<E>(
        self,
        ranks: u32,
        mut advance: impl FnMut(u32) -> Result<bool, E>,
    ) -> Result<(), E> {
        let mut order: Vec<u32> = (0..ranks).collect();
        let mut dice = Dice(match self {
            Self::Random(seed) => seed,
            _ => 0,
        });
        let mut is_moving = true;
        while is_moving {
            is_moving = false;
            if matches!(self, Self::Random(_)) {
                dice.shuffle(&mut order);
            }
            for &rank in order.iter().filter(|&&rank| self != Self::Behind(rank)) {
                let steps = if matches!(self, Self::Random(_)) { 1 + dice.below(8) } else { 1 };
                for _ in 0..steps {
                    is_moving |= advance(rank)?;
                }
                if let Self::Ahead(first) = self {
                    while advance(first)? {
                        is_moving = true;
                    }
                }
            }
            if let (Self::Behind(last), false) = (self, is_moving) {
                is_moving = advance(last)?;
            }
        }
        Ok(())
    }
}

/// Pseudo-random numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0, 0x5eed) % bound
    }

    fn shuffle(&mut self, order: &mut [u32]) {
        for last in (1..order.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            order.swap(last, other);
        }
    }
}
