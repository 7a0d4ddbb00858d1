//! What a thread sleeps on until another thread of its process wakes it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use oxmpi_system::thread::{Among, sleep_while, wake};

/// It rings once, for one thread.
#[derive(Debug, Default)]
pub struct Alarm(AtomicU32);

impl Alarm {
    /// Sleeps until it rings, `timeout` passes or a signal comes; not at all if it has rung.
    pub fn sleep(&self, timeout: Duration) {
        sleep_while(&self.0, 0, Among::Process, Some(timeout));
    }

    /// Wakes the thread. What it is to see is told by other means: a gate, mostly.
    pub fn ring(&self) {
        if self.0.swap(1, Ordering::Relaxed) == 0 {
            wake(&self.0, 1, Among::Process); // nobody sleeps, or one does
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    #[cfg_attr(miri, ignore = "it is about the system")]
    fn who_sleeps_is_woken_long_before_the_timeout() {
        let (alarm, begin) = (Alarm::default(), Instant::now());
        thread::scope(|scope| {
            scope.spawn(|| alarm.sleep(LONG));
            thread::yield_now();
            alarm.ring();
        });
        assert!(begin.elapsed() < LONG / 2);
    }

    #[test]
    #[cfg_attr(miri, ignore = "it is about the system")]
    fn an_alarm_that_has_rung_lets_nobody_sleep() {
        let (alarm, begin) = (Alarm::default(), Instant::now());
        alarm.ring();
        alarm.sleep(LONG);
        assert!(begin.elapsed() < LONG / 2);
    }
}
