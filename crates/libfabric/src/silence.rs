//! For how long a peer takes nothing, and whether that says that it has died, or that there is no memory here.
//!
//! The former only where the network is the system's TCP. There a provider takes what it is given, for a program that
//! computes, too, until something is under way; where nothing is, a connection is not there, and some providers make
//! it again for ever. Other networks refuse also what a peer that computes has no room for, though nothing is under way
//! any more: `verbs` under `ofi_rxm` takes as many messages as the other side has buffers, which its adapter fills and
//! its program alone gives back. What their reliable endpoints cannot deliver they say by completions.

use std::time::{Duration, Instant};

use crate::lifeline::Lifeline;

/// Who takes nothing, and has since it was first tried.
#[derive(Debug)]
pub(crate) struct Silence {
    last: Instant,
    /// How long it was tried.
    tried: Duration,
    /// How long it has been, now, that there was no memory here with each attempt.
    lacked: Duration,
    lifeline: Lifeline,
}

/// Who takes nothing for so long may have died. Most who compute have called MPI again by then.
const DOUBT: Duration = Duration::from_millis(250);
/// Whose system does not even answer for so long is reported: the other side's may be asked five times meanwhile.
pub(crate) const UNANSWERED: Duration = Duration::from_secs(16);
/// A connection that was there and is refused for so long will not come again: some providers do not say so. Nor will
/// memory that is asked for again and again, by who waits.
const GIVE_UP: Duration = Duration::from_secs(3);
/// No more time counts between two attempts: who computes between them lets no connection be made either.
const CLOSE: Duration = Duration::from_millis(100);

impl Silence {
    /// It begins.
    pub(crate) fn new(now: Instant) -> Self {
        let (tried, lacked) = (Duration::ZERO, Duration::ZERO);
        Self { last: now, tried, lacked, lifeline: Lifeline::default() }
    }

    /// Whether silence says anything of a peer, to which so much is under way.
    pub(crate) fn says_anything(is_over_tcp: bool, under_way: usize) -> bool {
        is_over_tcp && under_way == 0
    }

    /// It lasts, perhaps for want of memory here.
    pub(crate) fn note_refused(&mut self, now: Instant, is_lack: bool) {
        let passed = now.saturating_duration_since(self.last).min(CLOSE);
        self.tried += passed;
        self.lacked = if is_lack { self.lacked + passed } else { Duration::ZERO };
        self.last = now;
    }

    /// Whether want of memory is why, and lasts.
    pub(crate) fn is_lack(&self) -> bool {
        self.lacked > GIVE_UP
    }

    /// Whether a peer is gone that was reached before, however its system answers.
    fn is_given_up(&self, was_reached: bool) -> bool {
        was_reached && self.tried > GIVE_UP
    }

    /// Whether the peer at an address is gone.
    pub(crate) fn is_end(&mut self, was_reached: bool, address: &[u8]) -> bool {
        self.is_given_up(was_reached) || self.tried > DOUBT && self.lifeline.is_cut(address)
    }

    /// Whether not even its system has answered for long.
    pub(crate) fn is_unanswered(&self) -> bool {
        self.tried > UNANSWERED && self.lifeline.is_unanswered()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a peer is given up to which attempts were made at these times, in milliseconds.
    fn is_given_up(was_reached: bool, attempts: impl IntoIterator<Item = u64>) -> bool {
        let begin = Instant::now();
        let mut silence = Silence::new(begin);
        for time in attempts {
            silence.note_refused(begin + Duration::from_millis(time), false);
        }
        silence.is_given_up(was_reached)
    }

    #[test]
    fn silence_says_something_over_tcp_where_nothing_is_under_way() {
        assert!(Silence::says_anything(true, 0));
        assert!(!Silence::says_anything(true, 1));
        assert!(!Silence::says_anything(false, 0), "its buffers may be full, though nothing is under way");
    }

    #[test]
    fn who_was_reached_and_is_tried_for_seconds_is_given_up() {
        assert!(is_given_up(true, 0..3002));
        assert!(!is_given_up(true, 0..3000));
        assert!(!is_given_up(false, 0..10_000), "it may not have begun");
    }

    #[test]
    fn the_time_in_which_this_process_computes_does_not_count() {
        assert!(!is_given_up(true, [0, 3_600_000]));
        assert!(!is_given_up(true, (0..30).map(|time| time * 1000)));
        assert!(is_given_up(true, (0..=31).map(|time| time * 1000)), "at last, however seldom it tries");
    }

    #[test]
    fn memory_is_lacking_when_each_attempt_has_found_none_for_seconds() {
        let is_lack = |attempts: &[(u64, bool)]| {
            let begin = Instant::now();
            let mut silence = Silence::new(begin);
            for &(time, is_lack) in attempts {
                silence.note_refused(begin + Duration::from_millis(time), is_lack);
            }
            silence.is_lack()
        };
        let all: Vec<_> = (0..=3001).map(|time| (time, true)).collect();
        assert!(is_lack(&all));
        assert!(!is_lack(&all[..3001]));
        assert!(!is_lack(&[&all[..], &[(3002, false)]].concat()), "once there was some");
        assert!(!is_lack(&[(0, true), (3_600_000, true)]), "the program has computed");
    }
}
