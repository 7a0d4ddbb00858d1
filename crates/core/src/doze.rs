//! How a thread sleeps beside others of its rank that are awake.
//!
//! Who sleeps at the rank's doorbell gets up whenever anything is told to the rank. Where one thread waits for long and
//! another one exchanges messages all the time, the first would get up for each of them, in vain, and whoever sends
//! them pay for ringing. A thread that notices this dozes: away from the doorbell, as nobody knows that it sleeps, for
//! a millisecond at a time. What arrives the others see, who look so often, and who makes happen what it waits for
//! wakes it; so it dozes only where it waits for what the engine keeps, as it keeps a blocking collective then, and for
//! few things. When the others look seldom it goes back to the doorbell: until then what comes for it may lie for the
//! rest of that millisecond.

use std::sync::Arc;
use std::time::Duration;

use oxmpi_mem::Alarm;

use crate::policy::Silence;
use crate::process::Process;
use crate::wait::Patient;

/// How often a thread that waits has been woken for what others wait for.
#[derive(Debug, Default)]
pub(crate) struct Unrest {
    in_vain: u32,
    /// How many waits of the rank had begun when it lay down last.
    waits: u64,
}

/// Who has got up in vain so often in a row dozes.
const ENOUGH: u32 = 8;
/// For so long; where several do, one of them gets up so often.
const DOZE: Duration = Duration::from_millis(1);
/// Fewer waits of others meanwhile are not enough to leave to them what arrives.
const OFTEN: u64 = 16;

impl Unrest {
    /// Whether to doze rather than sleep.
    #[inline]
    pub(crate) fn is_great(&self) -> bool {
        self.in_vain >= ENOUGH
    }

    /// Notes that the thread lies down at the doorbell, when so many waits of the rank have begun.
    pub(crate) fn lie_down(&mut self, waits: u64) {
        let is_disturbed = waits != self.waits;
        self.in_vain = if is_disturbed { self.in_vain + 1 } else { 0 };
        self.waits = waits;
    }

    /// Notes that it has dozed.
    fn doze(&mut self, waits: u64) {
        if waits - self.waits < OFTEN {
            self.in_vain = 0;
        }
        self.waits = waits;
    }
}

impl Process {
    /// Dozes, unless there is something to do after all; whether what is awaited has come.
    pub(crate) fn doze(&self, awaited: &mut dyn Patient, unrest: &mut Unrest, silence: &mut Silence) -> bool {
        let mut state = self.enter();
        let mut has_come = awaited.post(&mut state);
        if has_come || self.is_to_stay_up(&mut state, awaited, &mut has_come, silence) {
            return has_come;
        }
        let events = awaited.events(&state);
        if events.is_empty() {
            *unrest = Unrest::default();
            return false;
        }
        let alarm = Arc::new(Alarm::default());
        let dozing = state.engine.p2p.sleep_until(events, &alarm);
        unrest.waits = state.waits;
        drop(state);
        alarm.sleep(DOZE * dozing as u32);
        let mut state = self.enter();
        state.engine.p2p.get_up(&alarm);
        unrest.doze(state.waits);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_woken_for_others_again_and_again_dozes_until_they_are_quiet() {
        let mut unrest = Unrest::default();
        (1..=7).for_each(|waits| unrest.lie_down(waits));
        assert!(!unrest.is_great());
        unrest.lie_down(8);
        assert!(unrest.is_great());
        unrest.doze(8 + OFTEN);
        assert!(unrest.is_great());
        unrest.doze(8 + 2 * OFTEN - 1);
        assert!(!unrest.is_great());
    }

    #[test]
    fn who_sleeps_undisturbed_stays_at_the_doorbell() {
        let mut unrest = Unrest::default();
        for waits in 1..100 {
            (0..2).for_each(|_| unrest.lie_down(waits / 4));
        }
        assert!(!unrest.is_great());
    }
}
