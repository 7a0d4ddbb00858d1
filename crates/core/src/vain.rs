//! Waits that are in vain unless a thread of the program that has never called MPI cancels what is waited for: a
//! watchdog does that, but not the threads of a library that computes.

use std::cell::Cell;

/// So long such a wait may last.
const PATIENCE_NS: u64 = 30_000_000_000;

/// How long one has lasted.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    /// Whether several threads have called MPI, as far as this was looked at: then there is no end to it.
    pub has_had_several: bool,
    /// Which wait it is, and since when it is in vain.
    begun: Cell<Option<(u64, u64)>>,
}

impl Patience {
    /// Whether this wait, which is in vain now, has been for long.
    pub(crate) fn is_over(&self, wait: u64, now_ns: u64) -> bool {
        if self.has_had_several {
            return false;
        }
        let begun = self.begun.get().filter(|(of, _)| *of == wait);
        let (_, since) = begun.unwrap_or((wait, now_ns));
        self.begun.set(Some((wait, since)));
        now_ns - since > PATIENCE_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_over_with_one_wait_that_is_long_in_vain_where_one_thread_calls() {
        let mut patience = Patience::default();
        assert!(!patience.is_over(1, 5));
        assert!(!patience.is_over(2, 5 + PATIENCE_NS));
        assert!(!patience.is_over(2, 5 + 2 * PATIENCE_NS));
        assert!(patience.is_over(2, 6 + 2 * PATIENCE_NS));
        patience.has_had_several = true;
        assert!(!patience.is_over(2, 7 + 2 * PATIENCE_NS));
    }
}
