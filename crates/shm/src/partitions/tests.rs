use std::sync::Mutex;
use std::thread;

use proptest::prelude::*;

use super::*;

fn opened(partitions: u32) -> (Marks, Taken) {
    let marks = Marks::new(partitions);
    let mut taken = Taken::new(&marks);
    marks.open(&mut taken);
    (marks, taken)
}

fn all(taken: &mut Taken, marks: &Marks) -> Vec<u32> {
    let mut all = Vec::new();
    while let Some(run) = taken.take(marks) {
        all.extend(run);
    }
    all.sort_unstable();
    all
}

#[test]
fn neighbours_are_taken_together() {
    let (marks, mut taken) = opened(200);
    marks.mark(60, 70);
    marks.mark(71, 128);
    marks.mark(199, 199);
    assert_eq!(taken.take(&marks), Some(60..129));
    assert_eq!(taken.take(&marks), Some(199..200));
    assert_eq!(taken.take(&marks), None);
    marks.mark(0, 59);
    marks.mark(129, 198);
    assert_eq!(all(&mut taken, &marks).len(), 130);
    assert!(marks.is_complete());
}

#[test]
fn a_partition_that_is_marked_twice_is_named_and_counted_once() {
    let (marks, _) = opened(130);
    assert_eq!(marks.mark(127, 128).twice, None);
    assert_eq!(marks.mark(0, 129).twice, Some(127));
    assert_eq!(marks.marked(), 130);
    assert!(marks.is_complete());
}

#[test]
fn few_partitions_are_due_at_once_and_many_in_groups() {
    let (few, _) = opened(64);
    assert!((0..64).all(|partition| few.mark(partition, partition).is_due));
    let (many, _) = opened(6400);
    assert_eq!((0..6400).filter(|&partition| many.mark(partition, partition).is_due).count(), 64);
    let (odd, _) = opened(65);
    assert!((0..65).filter(|&partition| odd.mark(partition, partition).is_due).count() == 33);
}

#[test]
fn threads_that_mark_leave_nothing_behind() {
    const THREADS: u32 = 4;
    const PARTITIONS: u32 = if cfg!(miri) { 200 } else { 1000 };
    for _ in 0..if cfg!(miri) { 2 } else { 50 } {
        let (marks, taken) = opened(PARTITIONS);
        let sent = Mutex::new((taken, Vec::new()));
        let serve = || {
            let mut sent = sent.lock().expect("nobody panics");
            let (taken, all) = &mut *sent;
            while let Some(run) = taken.take(&marks) {
                all.extend(run);
            }
        };
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (marks, serve) = (&marks, &serve);
                scope.spawn(move || {
                    for partition in (thread..PARTITIONS).step_by(THREADS as usize) {
                        if marks.mark(partition, partition).is_due {
                            marks.serve(serve);
                        }
                    }
                });
            }
        });
        let (taken, mut all) = sent.into_inner().expect("nobody panics");
        all.sort_unstable();
        assert!(taken.count() == PARTITIONS && all.iter().copied().eq(0..PARTITIONS));
    }
}

#[test]
fn a_partition_of_no_bytes_arrives_with_the_message() {
    let arrivals = Arrivals::new(3, 0);
    assert!(arrivals.has_arrived(0), "an inactive receive waits for nothing");
    arrivals.open();
    assert!(!arrivals.has_arrived(0));
    arrivals.note(0, 0);
    assert!((0..3).all(|partition| arrivals.has_arrived(partition)));
}

proptest! {
    #[test]
    fn what_is_marked_is_taken_once(ranges in prop::collection::vec((0u32..300, 0u32..80), 0..40)) {
        let (marks, mut taken) = opened(300);
        let (mut marked, mut seen) = (vec![false; 300], vec![false; 300]);
        for (first, length) in ranges {
            let last = (first + length).min(299);
            let twice = (first..=last).find(|&partition| marked[partition as usize]);
            prop_assert_eq!(marks.mark(first, last).twice, twice);
            (first..=last).for_each(|partition| marked[partition as usize] = true);
            if first % 3 == 0 {
                for partition in all(&mut taken, &marks) {
                    prop_assert!(!std::mem::replace(&mut seen[partition as usize], true));
                }
            }
        }
        for partition in all(&mut taken, &marks) {
            prop_assert!(!std::mem::replace(&mut seen[partition as usize], true));
        }
        prop_assert_eq!(seen, marked);
    }

    #[test]
    fn a_partition_has_arrived_with_its_last_byte(
        bytes in 1u64..50,
        cuts in prop::collection::vec(0u64..400, 0..20),
    ) {
        let arrivals = Arrivals::new(8, bytes);
        arrivals.open();
        let total = 8 * bytes;
        let mut cuts: Vec<u64> = cuts.into_iter().map(|cut| cut % total).chain([0, total]).collect();
        cuts.sort_unstable();
        let mut here = vec![false; total as usize];
        // Every second piece, then the others.
        for odd in [0, 1] {
            for piece in cuts.windows(2).skip(odd).step_by(2) {
                arrivals.note(piece[0], piece[1] - piece[0]);
                here[piece[0] as usize..piece[1] as usize].fill(true);
                for partition in 0..8u32 {
                    let its = &here[(u64::from(partition) * bytes) as usize..][..bytes as usize];
                    prop_assert_eq!(arrivals.has_arrived(partition), its.iter().all(|&is_here| is_here));
                }
            }
        }
    }
}
