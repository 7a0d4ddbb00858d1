use std::sync::atomic::{AtomicU64, fence};
use std::thread;

use super::*;
use crate::Region;

/// Miri, which is slow, runs a body that knows no pages.
const PAGE: usize = if cfg!(miri) { 128 } else { 4096 };
/// Bytes around what is written that must stay.
const GUARD: usize = 64;

fn bodies() -> impl Iterator<Item = &'static Body> {
    machine::BODIES.iter().filter(|body| (body.runs_here)())
}

/// As [`copy`], by a certain body.
unsafe fn copy_by(body: &Body, dst: *mut u8, src: *const u8, bytes: usize, next: Next) {
    if bytes > SHORT_BYTES || body.name == "portable" {
        // SAFETY: the caller's promise.
        unsafe { (body.copy)(dst, src, bytes, next) }
    } else {
        // SAFETY: as above.
        unsafe { copy(dst, src, bytes, next) }
    }
}

/// Where something changes in one of the bodies, and what lies around.
fn sizes() -> impl Iterator<Item = usize> {
    let around = |size: usize| [size - 1, size, size + 1];
    let long = [512, 1024, 4096, 10_000, 32 << 10, 70_000].into_iter().flat_map(around);
    let all = (0..300).chain(long);
    all.filter(|bytes| !cfg!(miri) || [0, 1, 3, 8, 65].contains(bytes))
}

/// Bytes that tell their place.
fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|place| (place * 7 + place / 251) as u8 | 1).collect()
}

/// The first place in `memory` that begins a page.
fn page_in(memory: &mut [u8]) -> usize {
    memory.as_ptr().addr().wrapping_neg() % PAGE
}

#[test]
fn every_body_copies_all_bytes_and_no_other() {
    for body in bodies() {
        for bytes in sizes() {
            let places = [(0, 0), (1, 0), (0, 1), (8, 0), (16, 0), (0, 16), (64, 0), (2048, 0), (4095, 1001)];
            for (to, from) in places.into_iter().filter(|(to, _)| *to < PAGE) {
                let ahead = [Next::Elsewhere, Next::Late].into_iter().filter(|_| !cfg!(miri));
                for next in ahead.chain([Next::Soon]) {
                    let mut source = pattern(bytes + 2 * PAGE);
                    let mut target = vec![0; bytes + 3 * PAGE];
                    let src = page_in(&mut source) + from;
                    let dst = page_in(&mut target) + to + GUARD;
                    let dst_start = target.as_mut_ptr().wrapping_add(dst);
                    // SAFETY: both ranges lie in vectors of this function.
                    unsafe { copy_by(body, dst_start, source.as_ptr().wrapping_add(src), bytes, next) };
                    let case = format!("{} {bytes} bytes, {from} to {to}, {next:?}", body.name);
                    assert!(target[dst..dst + bytes] == source[src..src + bytes], "{case}");
                    let around = target[..dst].iter().chain(&target[dst + bytes..]);
                    assert!(around.copied().all(|byte| byte == 0), "{case}: bytes around it");
                }
            }
        }
    }
}

#[test]
fn ranges_that_overlap_are_copied_as_if_they_did_not() {
    for body in bodies() {
        for bytes in sizes() {
            let distances = [0, 1, 31, 64, 5, 16, 100, 256, 300, 1000, 4090];
            for distance in distances.into_iter().take(if cfg!(miri) { 4 } else { usize::MAX }) {
                for up in [false, true] {
                    let mut memory = pattern(bytes + distance + 2 * GUARD);
                    let (low, high) = (GUARD, GUARD + distance);
                    let (to, from) = if up { (high, low) } else { (low, high) };
                    let mut expected = memory.clone();
                    expected.copy_within(from..from + bytes, to);
                    let base = memory.as_mut_ptr();
                    // SAFETY: both ranges lie in a vector of this function.
                    unsafe {
                        copy_by(body, base.wrapping_add(to), base.wrapping_add(from), bytes, Next::Late)
                    };
                    assert!(memory == expected, "{} {bytes} bytes, {from} to {to}", body.name);
                }
            }
        }
    }
}

#[test]
fn every_body_can_be_chosen_and_others_are_refused() {
    for body in bodies() {
        choose_copy(body.name).expect("it runs here");
        let (mut source, mut target) = (pattern(1000), vec![0; 1000]);
        // SAFETY: the vectors are used only through the regions until these are not used any more.
        let from = unsafe { Region::claim(source.as_mut_ptr(), 1000) };
        // SAFETY: as above.
        let into = unsafe { Region::claim(target.as_mut_ptr(), 1000) };
        into.copy_from(&from);
        assert!(source == target, "{}", body.name);
    }
    for name in ["fast", "AVX2", " ", if cfg!(target_arch = "x86_64") { "neon" } else { "sse2" }] {
        let error = choose_copy(name).expect_err("there is none");
        assert_eq!(error.class(), ErrorClass::Arg);
        assert!(
            error.text().contains(&format!("\"{name}\"")) && error.text().contains("portable"),
            "{error:?}"
        );
    }
    choose_copy("").expect("the best one");
}

/// One thread writes again and again what another one copies meanwhile, and keeps if the sequence number has stayed:
/// what is kept is whole.
#[test]
fn no_torn_copy_is_accepted() {
    const BYTES: usize = if cfg!(miri) { 300 } else { 3000 };
    for body in bodies() {
        let sequence = AtomicU64::new(0);
        let mut memory = vec![0; BYTES];
        // SAFETY: until both threads are over, the vector is used only through the region.
        let shared = unsafe { Region::claim(memory.as_mut_ptr(), BYTES) };
        let rounds = if cfg!(miri) { 3 } else { 20_000 };
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=rounds {
                    let fresh = vec![round as u8; BYTES];
                    sequence.store(2 * round - 1, Ordering::Relaxed);
                    fence(Ordering::Release); // pairs with the fence of the reader
                    // SAFETY: both ranges have so many bytes.
                    unsafe { copy_by(body, shared.as_ptr(), fresh.as_ptr(), BYTES, Next::Soon) };
                    sequence.store(2 * round, Ordering::Release); // pairs with the first load of the reader
                }
            });
            let mut kept = vec![0; BYTES];
            loop {
                let before = sequence.load(Ordering::Acquire); // pairs with the writer's second store
                // SAFETY: both ranges have so many bytes.
                unsafe { copy_by(body, kept.as_mut_ptr(), shared.as_ptr(), BYTES, Next::Soon) };
                fence(Ordering::Acquire); // pairs with the fence of the writer
                if before.is_multiple_of(2) && sequence.load(Ordering::Relaxed) == before {
                    let round = (before / 2) as u8;
                    assert!(kept.iter().all(|&byte| byte == round), "{} round {round}", body.name);
                    if before == 2 * rounds {
                        break;
                    }
                }
                thread::yield_now();
            }
        });
    }
}

/// What is written past the caches is there for whoever sees what is published afterwards.
#[test]
fn who_sees_the_flag_sees_the_copy() {
    const BYTES: usize = if cfg!(miri) { 500 } else { 10_000 };
    for body in bodies() {
        let (posted, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut memory = vec![0; BYTES];
        // SAFETY: until both threads are over, the vector is used only through the region.
        let shared = unsafe { Region::claim(memory.as_mut_ptr(), BYTES) };
        let rounds = if cfg!(miri) { 3 } else { 2000 };
        let wait = |flag: &AtomicU64, round| {
            while flag.load(Ordering::Acquire) < round {
                thread::yield_now(); // pairs with the stores of the other thread
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=rounds {
                    wait(&taken, round - 1);
                    let fresh = vec![round as u8; BYTES];
                    // SAFETY: both ranges have so many bytes.
                    unsafe { copy_by(body, shared.as_ptr(), fresh.as_ptr(), BYTES, Next::Late) };
                    posted.store(round, Ordering::Release);
                }
            });
            for round in 1..=rounds {
                wait(&posted, round);
                assert!(shared.to_vec().iter().all(|&byte| byte == round as u8), "{} {round}", body.name);
                taken.store(round, Ordering::Release);
            }
        });
    }
}
