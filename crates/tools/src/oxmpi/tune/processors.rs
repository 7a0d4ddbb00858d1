//! The processors that this process may use, and threads on them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use oxmpi_system::thread::{CpuSet, ThreadId};

use crate::Outcome;

/// See the module.
#[derive(Clone, Debug)]
pub struct Processors(Vec<usize>);

/// A word in a cache line, and those that are fetched with it, of its own.
#[derive(Debug, Default)]
#[repr(align(256))]
pub struct Word(AtomicU64);

impl Processors {
    /// # Errors
    /// If the system does not tell.
    pub fn allowed() -> Outcome<Self> {
        let set = CpuSet::of_this_thread()?;
        Ok(Self((0..CpuSet::MAX_CPU).filter(|&cpu| set.contains(cpu)).collect()))
    }

    /// How many there are; at least one.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The two that are the first and the last.
    pub fn ends(&self) -> [usize; 2] {
        [0, self.count() - 1]
    }

    /// Binds this thread to one, as far as the system lets it.
    pub fn bind(&self, index: usize) {
        // It runs somewhere, then.
        let _ = CpuSet::of(&[self.0[index]]).confine(ThreadId::of_this_thread());
    }

    /// Runs the first part on the first processor and the other one on those after it, so many in all at most, until
    /// all end; what the first gives.
    pub fn run_together<T: Send>(
        &self,
        most: usize,
        first: impl FnOnce() -> T + Send,
        other: impl Fn() + Sync,
    ) -> T {
        let other = &other;
        thread::scope(|scope| {
            for index in 1..self.count().min(most) {
                scope.spawn(move || {
                    self.bind(index);
                    other();
                });
            }
            let first = scope.spawn(move || {
                self.bind(0);
                first()
            });
            first.join().expect("no measurement panics")
        })
    }

    /// Runs the first part on one processor and the second on another; what the first gives.
    pub fn run_on<T: Send>(
        &self,
        [first, second]: [usize; 2],
        here: impl FnOnce() -> T + Send,
        there: impl FnOnce() + Send,
    ) -> T {
        thread::scope(|scope| {
            scope.spawn(move || {
                self.bind(second);
                there();
            });
            let here = scope.spawn(move || {
                self.bind(first);
                here()
            });
            here.join().expect("no measurement panics")
        })
    }
}

impl Word {
    /// Stores.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Release); // pairs with the Acquire in `get`
    }

    /// Loads.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// Waits for a value as ranks do at first: without the pause of a processor, which can be longer than a hop.
    pub fn await_value(&self, value: u64) {
        while self.get() != value {}
    }
}

/// Nanoseconds that `what` takes, divided by `times`: the median of some trials, as loops of programs see it.
pub fn usual_ns(trials: usize, times: usize, mut what: impl FnMut()) -> f64 {
    let trial = |_| {
        let begin = Instant::now();
        what();
        begin.elapsed().as_nanos() as f64 / times as f64
    };
    median((0..trials).map(trial).collect())
}

/// The upper one of two that are in the middle.
pub fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
