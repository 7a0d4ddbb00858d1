//! A departure: a word by which its owner shows that it has left something, and looks at it no more.
//!
//! The word is used again and again, for one thing after the other, and never for anything else: each use has a number,
//! which those are told who are to look, and numbers only grow. So a look is never too late: a word that is in another
//! use by then says that the one before has ended, and its owner need not know who still wants to see it.
//!
//! What the owner has read before it departs may be overwritten by whoever has seen the departure.

use crate::sync::{AtomicU64, Ordering};

/// See the module. One writer, many readers.
#[repr(transparent)]
#[derive(Debug)]
pub struct Departure(AtomicU64);

#[cfg(not(loom))]
const _: () = assert!(size_of::<Departure>() == size_of::<u64>());

impl Departure {
    /// Makes the word one that was never used. No peer may know of it yet.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Begins another use, by the owner, whose last one had the number `last` (0 if there was none): its number, which
    /// is even and never 0.
    pub fn begin(&self, last: u64) -> u64 {
        let number = (last | 1).wrapping_add(1);
        // Pairs with the Acquire in `is_shown`: who waits for the use before learns here, too, that it has ended.
        self.0.store(number, Ordering::Release);
        number
    }

    /// Shows that the owner has left what the use `number` was for.
    pub fn show(&self, number: u64) {
        self.0.store(number | 1, Ordering::Release); // pairs with the Acquire in `is_shown`
    }

    /// Whether the owner has left what the use `number` was for; if so, what it did before has happened.
    #[inline]
    pub fn is_shown(&self, number: u64) -> bool {
        self.0.load(Ordering::Acquire) > number // pairs with the Release in `show` and `begin`
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_looks_late_sees_more() {
        let word = Departure(AtomicU64::new(0));
        let first = word.begin(0);
        assert!(!word.is_shown(first));
        word.show(first);
        assert!(word.is_shown(first));
        let second = word.begin(first);
        assert!(word.is_shown(first) && !word.is_shown(second));
        word.show(second);
        assert!(word.is_shown(first) && word.is_shown(second));
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use super::*;
    use crate::Line;
    use crate::sync::UnsafeCell;
    use loom::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// What two members of a channel show to each other.
    struct Shared {
        /// What the first has posted, and how many runs the second has completed.
        line: Line,
        completed: Line,
        slot: UnsafeCell<u64>,
        /// By the second.
        departure: Departure,
    }

    fn shared() -> (Arc<Shared>, u64) {
        let departure = Departure(AtomicU64::new(0));
        let number = departure.begin(0);
        let (line, completed) = (Line::new(), Line::new());
        (Arc::new(Shared { line, completed, slot: UnsafeCell::new(0), departure }), number)
    }

    /// Explores `run` in every interleaving; in one of them at least it does what it is about, and says so.
    fn explore(run: impl Fn() -> bool + Send + Sync + 'static) {
        let happens = std::sync::Arc::new(AtomicBool::new(false));
        let seen = std::sync::Arc::clone(&happens);
        loom::model(move || {
            if run() {
                seen.store(true, Ordering::Relaxed);
            }
        });
        assert!(happens.load(Ordering::Relaxed), "the interesting case was never explored");
    }

    impl Shared {
        fn post(&self, sequence: u64) {
            // SAFETY: loom checks that nobody reads meanwhile: that is what the tests are about.
            self.slot.with_mut(|slot| unsafe { *slot = 10 * sequence });
            self.line.post(sequence, 0, &oxmpi_mem::Region::EMPTY);
        }

        fn pull(&self, sequence: u64) -> bool {
            self.line.reached(sequence) && {
                // SAFETY: as in `post`.
                assert_eq!(self.slot.with(|slot| unsafe { *slot }), 10 * sequence);
                true
            }
        }

        /// The slot is used for something else.
        fn reuse(&self) {
            // SAFETY: as in `post`.
            self.slot.with_mut(|slot| unsafe { *slot = 77 });
        }
    }

    #[test]
    fn a_slot_is_written_again_when_its_reader_has_completed_the_run() {
        explore(|| {
            let (shared, _) = shared();
            let reader = shared.clone();
            shared.post(1);
            loom::thread::spawn(move || {
                if reader.pull(1) {
                    reader.completed.post(1, 1, &oxmpi_mem::Region::EMPTY);
                    reader.pull(2);
                }
            });
            let has_credit = shared.completed.reached(1);
            if has_credit {
                shared.post(2);
            }
            has_credit
        });
    }

    #[test]
    fn a_slot_is_used_for_something_else_when_its_reader_has_left() {
        explore(|| {
            let (shared, number) = shared();
            let reader = shared.clone();
            shared.post(1);
            loom::thread::spawn(move || {
                if reader.pull(1) {
                    reader.completed.post(1, 1, &oxmpi_mem::Region::EMPTY);
                    if reader.pull(2) {
                        reader.departure.show(number);
                    }
                }
            });
            if shared.completed.reached(1) {
                shared.post(2); // by the credit, while the reader may be leaving
            }
            let has_left = shared.departure.is_shown(number);
            if has_left {
                shared.reuse();
            }
            has_left
        });
    }

    #[test]
    fn a_departure_is_seen_by_whoever_comes_when_its_word_is_used_again() {
        explore(|| {
            let (shared, number) = shared();
            let reader = shared.clone();
            shared.post(1);
            loom::thread::spawn(move || {
                reader.pull(1);
                reader.departure.show(number);
                let next = reader.departure.begin(number);
                assert!(!reader.departure.is_shown(next));
            });
            let has_left = shared.departure.is_shown(number);
            if has_left {
                shared.reuse();
            }
            has_left
        });
    }
}
