//! Which way long messages from a peer take whose memory can be read: a [`Course`](crate::course::Course) for each
//! length.
//!
//! In a ping-pong the ring may win, because all is in the caches, and lose by a factor of two as soon as the program
//! sends windows of messages. A message takes from the asking to the end, as it is seen where it arrives. Where several
//! come through the ring at the same time they are timed together.

use crate::course::{Courses, Way};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Ways {
    courses: ByLength,
    stream: Stream,
}

/// What comes through the ring.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    begun_ns: u64,
    /// The lengths, as bits, of which it matters how long messages take.
    timed: u16,
    /// Messages that are under way, and that have come since.
    coming: u32,
    come: u32,
    come_bytes: u64,
}

/// From 16 KiB to 64 MiB and more.
pub(crate) type ByLength = Courses<Way, 14, LENGTHS>;
const LENGTHS: usize = 13;
/// So many messages are timed together at most.
const TOGETHER: u32 = 16;

impl Ways {
    /// The way for the next message, of so many bytes.
    pub(super) fn choose(&mut self, bytes: u64) -> Way {
        self.courses.of(bytes).choose()
    }

    /// The faster way for messages of so many bytes, if both were tried, or what it is thought to be.
    pub(super) fn faster(&mut self, bytes: u64) -> Option<Way> {
        self.courses.of(bytes).faster()
    }

    /// Whether it matters how long the next message, of so many bytes, takes this way.
    pub(super) fn times(&self, way: Way, bytes: u64) -> bool {
        self.courses[ByLength::place(bytes)].times(way)
    }

    /// Takes in how long a message took that was read directly.
    pub(super) fn has_read(&mut self, bytes: u64, ns: u64) {
        self.courses.of(bytes).add(Way::Direct, 1, bytes, ns);
    }

    /// The data of a message was asked for, to come through the ring.
    pub(super) fn begins(&mut self, bytes: u64, clock: impl FnOnce() -> u64) {
        if self.stream.coming == 0 {
            self.stream = Stream { begun_ns: clock(), ..Stream::default() };
        }
        self.stream.coming += 1;
        self.stream.timed |= self.timed(bytes);
    }

    /// All of it has come.
    pub(super) fn ends(&mut self, bytes: u64, clock: impl Fn() -> u64) {
        let stream = &mut self.stream;
        let Some(coming) = stream.coming.checked_sub(1) else { return };
        stream.coming = coming;
        stream.come += 1;
        stream.come_bytes += bytes;
        if coming != 0 && stream.come < TOGETHER {
            return;
        }
        let Stream { begun_ns, timed, come, come_bytes, .. } = *stream;
        let now_ns = if timed != 0 || coming != 0 { clock() } else { 0 };
        for length in (0..LENGTHS).filter(|length| timed & 1 << length != 0) {
            self.courses[length].add(Way::Shared, come, come_bytes, now_ns.saturating_sub(begun_ns));
        }
        self.stream = Stream { begun_ns: now_ns, timed: self.timed(bytes), coming, ..Stream::default() };
    }

    fn timed(&self, bytes: u64) -> u16 {
        u16::from(self.times(Way::Shared, bytes)) << ByLength::place(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::course::{MOST_SETTLED, SHARE, TRIES};

    /// How messages go of which those through the ring, and those that are read, take so many nanoseconds a byte.
    fn went(ways: &mut Ways, bytes: u64, paces: (f64, f64), messages: usize) -> Vec<Way> {
        let mut now_ns = 1000;
        let mut one = |ways: &mut Ways| {
            let way = ways.choose(bytes);
            let pace = if way == Way::Shared { paces.0 } else { paces.1 };
            if way == Way::Shared {
                ways.begins(bytes, || now_ns);
            }
            now_ns += (bytes as f64 * pace) as u64;
            match way {
                Way::Shared => ways.ends(bytes, || now_ns),
                Way::Direct if ways.times(way, bytes) => ways.has_read(bytes, (bytes as f64 * pace) as u64),
                Way::Direct => {}
            }
            way
        };
        (0..messages).map(|_| one(ways)).collect()
    }

    fn share_of(way: Way, went: &[Way]) -> f64 {
        went.iter().filter(|one| **one == way).count() as f64 / went.len() as f64
    }

    #[test]
    fn both_ways_are_tried_and_then_the_faster_one_is_taken() {
        for (ring, direct, best) in [(0.12, 0.06, Way::Direct), (0.04, 0.2, Way::Shared)] {
            let mut ways = Ways::default();
            let first = went(&mut ways, 65536, (ring, direct), 2 * TRIES as usize + 4);
            let (tries, others) = first.split_at(2 * TRIES as usize);
            let (read, streamed) = tries.split_at(TRIES as usize);
            assert_eq!((read, streamed), (&[Way::Direct; 6][..], &[Way::Shared; 6][..]));
            assert_eq!(others, [best; 4]);
        }
    }

    /// What is long is not tried as often, and a way that is slower by far not to the end.
    #[test]
    fn what_costs_much_is_tried_less() {
        let until_settled = |bytes, paces, best| {
            let went = went(&mut Ways::default(), bytes, paces, 40);
            40 - went.iter().rev().take_while(|way| **way == best).count()
        };
        assert_eq!(until_settled(65536, (0.04, 0.06), Way::Shared), 6); // 6 more are not told from the others
        assert_eq!(until_settled(65536, (0.06, 0.04), Way::Direct), 12);
        assert_eq!(until_settled(65536, (0.2, 0.04), Way::Direct), 9);
        assert_eq!(until_settled(1 << 20, (0.06, 0.04), Way::Direct), 6);
    }

    #[test]
    fn what_wins_may_differ_with_the_length() {
        let mut ways = Ways::default();
        assert_eq!(went(&mut ways, 20_000, (0.1, 0.2), 13)[12], Way::Shared);
        assert_eq!(went(&mut ways, 40_000, (0.2, 0.1), 100)[99], Way::Direct);
        assert_eq!(went(&mut ways, 1 << 40, (0.2, 0.1), 100)[99], Way::Direct);
        assert_eq!(went(&mut ways, 20_000, (0.1, 0.2), 1), [Way::Shared]);
    }

    /// Else whoever sends a few messages of each length tries all the time.
    #[test]
    fn a_length_that_is_new_goes_for_a_while_as_the_nearest_that_is_known() {
        for (known, paces, way) in [(1 << 18, (0.1, 0.2), Way::Shared), (1 << 23, (0.2, 0.1), Way::Direct)] {
            let mut ways = Ways::default();
            went(&mut ways, 1 << 18, (0.1, 0.2), 13);
            went(&mut ways, 1 << 23, (0.2, 0.1), 100);
            for bytes in [known / 2, known * 2] {
                assert_eq!(went(&mut ways, bytes, paces, 60), [way; 60]);
                let both = went(&mut ways, bytes, paces, 20);
                assert!((0.1..0.9).contains(&share_of(way, &both)), "now both are tried: {both:?}");
                assert_eq!(went(&mut ways, bytes, paces, 20), [way; 20]);
            }
        }
    }

    /// In ten thousand messages the worse way takes no more of the time than it is allowed to.
    #[test]
    fn to_try_costs_little() {
        for worse in [1.05, 1.5, 3.0, 10.0] {
            let mut ways = Ways::default();
            went(&mut ways, 65536, (0.1 * worse, 0.1), 2 * TRIES as usize);
            let tried = share_of(Way::Shared, &went(&mut ways, 65536, (0.1 * worse, 0.1), 10_000));
            assert!(tried > 0.0 && tried * (worse - 1.0) < 1.5 / SHARE, "{worse}: {tried}");
        }
    }

    /// The same in windows, whose messages are asked for, and come through the ring, together.
    #[test]
    fn to_try_windows_costs_little() {
        for (worse, window) in [(1.5, 4), (1.5, 64), (3.0, 16), (3.0, 64), (10.0, 64)] {
            let (mut ways, mut now_ns, bytes) = (Ways::default(), 0, 65536_u64);
            let mut took_ns = |ways: &mut Ways, windows: u64| {
                let begun_ns = now_ns;
                for _ in 0..windows {
                    let mut coming = 0;
                    for _ in 0..window {
                        if ways.choose(bytes) == Way::Shared {
                            ways.begins(bytes, || now_ns);
                            coming += 1;
                            continue;
                        }
                        now_ns += bytes;
                        if ways.times(Way::Direct, bytes) {
                            ways.has_read(bytes, bytes);
                        }
                    }
                    for _ in 0..coming {
                        now_ns += (bytes as f64 * worse) as u64;
                        ways.ends(bytes, || now_ns);
                    }
                }
                now_ns - begun_ns
            };
            took_ns(&mut ways, 16);
            let windows = 20_000 / window;
            let took = took_ns(&mut ways, windows) as f64 / (windows * window * bytes) as f64;
            // A window is tried as a whole, though the first of it have told.
            assert!(took < 1.2, "{worse}, {window}: {took}");
        }
    }

    /// One try that was disturbed, as by making a ring, does not put the next ones off.
    #[test]
    fn one_slow_try_is_not_the_way_s() {
        let mut ways = Ways::default();
        went(&mut ways, 65536, (0.2, 0.2), TRIES as usize);
        went(&mut ways, 65536, (30.0, 0.2), 1);
        went(&mut ways, 65536, (0.2, 0.2), TRIES as usize);
        assert_eq!(went(&mut ways, 65536, (0.1, 0.2), 200).last(), Some(&Way::Shared));
    }

    #[test]
    fn what_becomes_better_is_found_some_time() {
        let mut ways = Ways::default();
        assert_eq!(went(&mut ways, 65536, (0.1, 0.2), 100)[99], Way::Shared);
        let all = 2 * MOST_SETTLED as usize;
        assert_eq!(went(&mut ways, 65536, (0.1, 0.05), all)[all - 1], Way::Direct);
    }

    /// From a ping-pong to windows: the way that was better has become slower than the other one is.
    #[test]
    fn what_becomes_slow_is_left_soon() {
        let mut ways = Ways::default();
        assert_eq!(went(&mut ways, 1 << 19, (0.045, 0.1), 500)[499], Way::Shared);
        let soon = went(&mut ways, 1 << 19, (0.25, 0.1), 100);
        assert!(share_of(Way::Direct, &soon) > 0.6 && soon[99] == Way::Direct, "{soon:?}");
        // And back.
        let back = went(&mut ways, 1 << 19, (0.045, 0.1), 2 * MOST_SETTLED as usize);
        assert_eq!(back.last(), Some(&Way::Shared));
    }

    /// Where both become slow, as beside somebody else, they are tried once, and not all the time.
    #[test]
    fn what_becomes_slow_altogether_is_not_tried_for_ever() {
        let mut ways = Ways::default();
        went(&mut ways, 65536, (0.1, 0.2), 100);
        let busy = went(&mut ways, 65536, (1.0, 2.0), 4096);
        assert!(share_of(Way::Direct, &busy) < 0.05, "{}", share_of(Way::Direct, &busy));
    }

    #[test]
    fn long_and_short_messages_that_come_together_get_their_ways() {
        let mut ways = Ways::default();
        let mut now_ns = 0;
        let lengths = [20_000, 200_000];
        for _ in 0..20 {
            for bytes in lengths {
                match ways.choose(bytes) {
                    Way::Direct => ways.has_read(bytes, bytes),
                    Way::Shared => ways.begins(bytes, || now_ns),
                }
            }
            now_ns += 22_000;
            lengths.iter().for_each(|&bytes| ways.ends(bytes, || now_ns));
        }
        assert_eq!(lengths.map(|bytes| ways.faster(bytes)), [Some(Way::Shared); 2]);
    }

    /// A window of messages, each of which waits for those before it, counts as what it is altogether.
    #[test]
    fn messages_that_come_together_are_timed_together() {
        let mut ways = Ways::default();
        for _ in 0..TRIES {
            assert_eq!(ways.choose(65536), Way::Direct);
            ways.has_read(65536, 65536 / 10);
        }
        for window in 0..2 {
            let now_ns = window * 1_000_000;
            for _ in 0..5 {
                assert_eq!(ways.choose(65536), Way::Shared);
                ways.begins(65536, || now_ns);
            }
            (1..=5).for_each(|message| ways.ends(65536, || now_ns + message * 65536 / 12));
        }
        assert_eq!(ways.choose(65536), Way::Shared);
        assert_eq!(ways.faster(65536), Some(Way::Shared));
    }

    #[test]
    fn what_never_pauses_is_timed_in_parts() {
        let mut ways = Ways::default();
        ways.courses[ByLength::place(65536)].begin_to_try();
        ways.begins(65536, || 0);
        for message in 1..=u64::from(TOGETHER) {
            ways.begins(65536, || unreachable!("it has begun"));
            ways.ends(65536, || message * 10_000);
        }
        assert!(ways.courses[ByLength::place(65536)].knows(Way::Shared));
        ways.ends(65536, || 1_000_000);
        ways.ends(65536, || unreachable!("there was none"));
    }
}
