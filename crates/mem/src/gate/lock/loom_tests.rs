//! The favourite passes by plain stores and loads: how it is interrupted between them is in `system::modelled`.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

use super::super::system::{fence_instead, interruptible, no_longer_running};
use super::*;

/// A lock, and what it guards.
struct Guarded {
    lock: Lock,
    count: UnsafeCell<u32>,
}

fn guarded(patience: u32) -> Arc<Guarded> {
    let lock = Lock::new();
    lock.patience.store(patience, Ordering::Relaxed);
    Arc::new(Guarded { lock, count: UnsafeCell::new(0) })
}

fn check(most_preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(most_preemptions);
    builder.check(model);
}

impl Guarded {
    fn count_one_more(&self) -> Way {
        let way = self.lock.enter().expect("it is not inside");
        // SAFETY: only one thread at a time is inside: loom looks for others.
        self.count.with_mut(|count| unsafe { *count += 1 });
        self.lock.leave(way);
        way
    }
}

#[test]
fn one_thread_at_a_time_has_the_word() {
    check(3, || {
        let guarded = guarded(u32::MAX);
        let others = [(); 2].map(|()| Arc::clone(&guarded));
        let others = others.map(|guarded| thread::spawn(move || guarded.count_one_more()));
        guarded.count_one_more();
        let _ = others.map(|other| other.join().expect("no panic"));
        // SAFETY: the others have ended.
        assert_eq!(guarded.count.with(|count| unsafe { *count }), 3);
        assert!(!guarded.lock.is_awaited());
    });
}

#[test]
fn the_favourite_and_who_ends_the_favour_are_not_inside_together() {
    check(3, || {
        let guarded = guarded(2);
        assert_eq!([(); 2].map(|()| guarded.count_one_more()), [Way::WORD; 2]);
        let other = Arc::clone(&guarded);
        let other = thread::spawn(move || other.count_one_more());
        for _ in 0..2 {
            interruptible();
            guarded.count_one_more();
        }
        no_longer_running();
        other.join().expect("no panic");
        // SAFETY: the other has ended.
        assert_eq!(guarded.count.with(|count| unsafe { *count }), 5);
    });
}

/// The first is late to see that it is the favourite no longer. Which threads a barrier interrupts where is too much to
/// explore: here it is a fence on both sides.
#[test]
fn who_was_the_favourite_does_not_hide_that_another_one_passes() {
    check(2, || {
        fence_instead();
        let guarded = guarded(1);
        guarded.count_one_more();
        let second = Arc::clone(&guarded);
        let second = thread::spawn(move || [(); 2].map(|()| second.count_one_more()));
        let third = Arc::clone(&guarded);
        let third = thread::spawn(move || third.count_one_more());
        guarded.count_one_more();
        second.join().expect("no panic");
        third.join().expect("no panic");
        // SAFETY: the others have ended.
        assert_eq!(guarded.count.with(|count| unsafe { *count }), 5);
    });
}
