//! A writer publishes with a plain store, and looks at the summary with a plain load: how it is interrupted between
//! them is in `membarrier::modelled`.

use super::testing::sleepers;
use super::*;
use crate::membarrier::modelled::{interruptible, no_longer_running};
use crate::sync::AtomicU32;

const LONG: Duration = Duration::from_secs(1);

fn flag() -> &'static AtomicU32 {
    Box::leak(Box::new(AtomicU32::new(0)))
}

fn check(most_preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(most_preemptions);
    builder.check(model);
}

/// Many lie down, and all know.
fn be_known(sleepers: Sleepers) {
    sleepers.summary.set();
    sleepers.summary.note_known(sleepers.summary.call_for_fences());
}

/// Few do.
fn be_calm(sleepers: Sleepers) {
    sleepers.summary.last.store(1, Ordering::Relaxed);
}

/// Publishes for `ranks`, as a process that runs does.
fn publish(sleepers: Sleepers, flag: &AtomicU32, ranks: Range<usize>) {
    interruptible();
    flag.store(1, Ordering::Release);
    interruptible();
    if let Some(asleep) = sleepers.asleep() {
        interruptible();
        asleep.wake_all_of(ranks);
    }
    no_longer_running();
}

fn sleep_until_published(sleepers: Sleepers, rank: usize, flag: &AtomicU32) {
    let is_published = || flag.load(Ordering::Acquire) == 1;
    while !is_published() {
        Bed::new(sleepers, rank).sleep(LONG, Posts::OfAnybody, is_published);
    }
}

#[test]
fn who_publishes_while_another_falls_asleep_is_noticed() {
    check(3, || {
        let (sleepers, flag) = (sleepers(1), flag());
        let writer = loom::thread::spawn(move || publish(sleepers, flag, 0..1));
        sleep_until_published(sleepers, 0, flag);
        writer.join().expect("the writer does not panic");
        assert!(!sleepers.summary.is_set());
    });
}

/// The second makes nobody pass a barrier, or does, depending on how far the first one is.
#[test]
fn who_publishes_while_two_fall_asleep_is_noticed_by_both() {
    check(2, || {
        let (sleepers, flag) = (sleepers(2), flag());
        let writer = loom::thread::spawn(move || publish(sleepers, flag, 0..2));
        let other = loom::thread::spawn(move || sleep_until_published(sleepers, 1, flag));
        sleep_until_published(sleepers, 0, flag);
        [writer, other].into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert!(!sleepers.summary.is_set());
    });
}

#[test]
fn who_publishes_passes_no_fence_where_few_fall_asleep() {
    check(3, || {
        let (sleepers, flag) = (sleepers(1), flag());
        be_calm(sleepers);
        let writer = loom::thread::spawn(move || publish(sleepers, flag, 0..1));
        sleep_until_published(sleepers, 0, flag);
        writer.join().expect("the writer does not panic");
        assert!(!sleepers.summary.is_set());
    });
}

/// One relies on fences, which another takes back: who passes none sees that the first one sleeps.
#[test]
fn who_relies_on_fences_is_noticed_when_they_are_taken_back() {
    check(2, || {
        let (sleepers, flag) = (sleepers(3), flag());
        sleepers.bits[0].store(0b100, Ordering::Relaxed);
        be_known(sleepers);
        let writer = loom::thread::spawn(move || publish(sleepers, flag, 0..1));
        let calm = loom::thread::spawn(move || {
            sleepers.summary.set();
            sleepers.summary.retreat();
        });
        sleep_until_published(sleepers, 0, flag);
        [writer, calm].into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}

/// Somebody sleeps already, and all know.
#[test]
fn a_fence_is_enough_where_fences_are_known() {
    check(3, || {
        let (sleepers, flag) = (sleepers(2), flag());
        sleepers.bits[0].store(0b10, Ordering::Relaxed);
        be_known(sleepers);
        let writer = loom::thread::spawn(move || {
            flag.store(1, Ordering::Release);
            if let Some(asleep) = sleepers.asleep() {
                asleep.wake(0);
            }
        });
        sleep_until_published(sleepers, 0, flag);
        writer.join().expect("the writer does not panic");
    });
}

/// Who gets up clears the summary, but not that of who lies down meanwhile.
#[test]
fn who_gets_up_while_another_falls_asleep_does_not_hide_him() {
    check(3, || {
        let (sleepers, flag) = (sleepers(2), flag());
        sleepers.bells[1].lie_down();
        sleepers.bits[0].store(0b10, Ordering::Relaxed);
        be_known(sleepers);
        let riser = loom::thread::spawn(move || sleepers.part(1));
        let writer = loom::thread::spawn(move || publish(sleepers, flag, 0..1));
        sleep_until_published(sleepers, 0, flag);
        [writer, riser].into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert!(!sleepers.summary.is_set());
    });
}

/// The bit is that of both.
#[test]
fn a_thread_that_gets_up_does_not_hide_another_of_its_rank() {
    check(3, || {
        let (sleepers, flag) = (sleepers(1), flag());
        sleepers.bells[0].lie_down();
        sleepers.bits[0].store(1, Ordering::Relaxed);
        be_known(sleepers);
        let riser = loom::thread::spawn(move || sleepers.part(0));
        let writer = loom::thread::spawn(move || publish(sleepers, flag, 0..1));
        sleep_until_published(sleepers, 0, flag);
        [writer, riser].into_iter().for_each(|thread| thread.join().expect("no panic"));
        assert!(!sleepers.summary.is_set());
    });
}

#[test]
fn when_all_have_got_up_the_summary_is_clear() {
    check(3, || {
        let sleepers = sleepers(2);
        no_longer_running();
        let other = loom::thread::spawn(move || Bed::new(sleepers, 1).sleep(LONG, Posts::OfAnybody, || true));
        Bed::new(sleepers, 0).sleep(LONG, Posts::OfAnybody, || true);
        other.join().expect("no panic");
        assert!(!sleepers.summary.is_set());
    });
}

/// Two post; the sleeper waits for one after the other, and says so. Somebody else sleeps already.
#[test]
fn who_sleeps_for_the_post_of_one_after_another_is_noticed_by_both() {
    check(2, || {
        let (sleepers, posts) = (sleepers(2), [flag(), flag()]);
        sleepers.bits[0].store(0b10, Ordering::Relaxed);
        be_known(sleepers);
        let writers = [0, 1].map(|writer| {
            loom::thread::spawn(move || {
                posts[writer].store(1, Ordering::Release);
                if let Some(asleep) = sleepers.asleep() {
                    asleep.wake_for_post(0, writer);
                }
            })
        });
        for (writer, post) in posts.into_iter().enumerate() {
            let is_there = || post.load(Ordering::Acquire) == 1;
            while !is_there() {
                Bed::new(sleepers, 0).sleep(LONG, Posts::Of(writer), is_there);
            }
        }
        writers.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
}

/// A process begins to publish that passes no barriers, and says so before.
#[test]
fn who_passes_no_barriers_is_noticed_by_all_who_rely_on_them() {
    for calm in [false, true] {
        check(3, move || {
            let (sleepers, flag) = (sleepers(1), flag());
            if calm {
                be_calm(sleepers);
            }
            let writer = loom::thread::spawn(move || {
                no_longer_running(); // nobody waits for it
                sleepers.summary.note_blind();
                flag.store(1, Ordering::Release);
                if let Some(asleep) = sleepers.asleep() {
                    asleep.wake(0);
                }
            });
            let state = sleepers.bells[0].lie_down();
            let relies = sleepers.announce(0);
            let is_seen = flag.load(Ordering::Acquire) == 1;
            writer.join().expect("the writer does not panic");
            assert!(is_seen || !relies || sleepers.bells[0].lie_down() != state, "it is not woken");
        });
    }
}
