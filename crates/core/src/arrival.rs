//! Arriving: whoever begins the world model gives the other ranks time to do so too.
//!
//! Ranks are started one after the other, and on a busy machine the last one may come some slices of time after the
//! first. Whoever wants something of a rank that has not come must wait for it; here it does so asleep and once, not
//! in its first calls. They meet twice: at the end of the first meeting those who slept are rung for, which on a busy
//! machine does not mean that they run; at the end of the second they have.
//!
//! That is no promise. A rank that comes late, or never, is waited for only for a moment.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use oxmpi_engine::Engine;
use oxmpi_engine::machine::Posts;

/// For how long others are waited for. Ranks that are started together come within some milliseconds; those that
/// have other things to do first are not to be hindered much.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

const MEETINGS: u32 = 2;

/// Shows that this rank has come, and sleeps until all others of the job have, but not longer than for `patience`.
pub(crate) fn arrive(engine: &Engine, patience: Duration) {
    let begin = Instant::now();
    let bed = engine.bed();
    for meeting in 1..=MEETINGS {
        engine.state().arrive(meeting);
        // Of two ranks that come at the same time, one at least sees both.
        fence(Ordering::SeqCst);
        if are_all_there(engine, meeting) {
            engine.wake_all();
            continue;
        }
        while !are_all_there(engine, meeting) {
            let left = patience.saturating_sub(begin.elapsed());
            if left.is_zero() {
                break;
            }
            bed.sleep(left, Posts::OfNobody, || are_all_there(engine, meeting));
        }
    }
}

/// Whether all ranks that are alive have come to a meeting.
fn are_all_there(engine: &Engine, meeting: u32) -> bool {
    // The last ones first: ranks are started in order, and who has not come ends the search.
    let mut pages = (0..engine.size()).rev().map(|rank| engine.state_of(rank));
    pages.all(|page| page.has_arrived(meeting) || page.is_gone())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// The engines of a job of two ranks of which nobody has come.
    fn two() -> [Engine; 2] {
        let both = Engine::of_new_job(2).expect("shared memory");
        both.try_into().expect("two")
    }

    #[test]
    fn the_first_sleeps_until_the_last_has_come() {
        let [first, last] = two();
        let begin = Instant::now();
        thread::scope(|scope| {
            let sleeper = scope.spawn(move || arrive(&first, LONG));
            while !last.bed().someone_sleeps() {
                thread::yield_now();
            }
            assert!(!sleeper.is_finished());
            arrive(&last, LONG);
        });
        assert!(begin.elapsed() < LONG / 2);
    }

    #[test]
    fn nobody_goes_on_before_those_who_slept_are_awake() {
        let [first, last] = two();
        first.state().arrive(1);
        let begin = Instant::now();
        thread::scope(|scope| {
            let sleeper = scope.spawn(move || arrive(&last, LONG));
            while !first.bed().someone_sleeps() {
                thread::yield_now();
            }
            assert!(!sleeper.is_finished(), "the first is rung for, and has not been seen since");
            arrive(&first, LONG);
        });
        assert!(begin.elapsed() < LONG / 2);
    }

    #[test]
    fn who_has_gone_or_does_not_come_is_not_waited_for() {
        let [first, last] = two();
        arrive(&first, Duration::from_millis(1));
        last.state().set_gone();
        let begin = Instant::now();
        arrive(&first, LONG);
        assert!(begin.elapsed() < LONG / 2);
    }
}
