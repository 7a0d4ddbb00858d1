//! Which way long messages from a peer take whose memory can be read: found out by trying both, again and again.
//!
//! What wins differs from machine to machine by factors of five both ways, with how far the cores are from each other,
//! what a system call and a look at a page cost, with the length, and with what the program does: in a ping-pong the
//! ring may win, because all is in the caches, and lose by a factor of two as soon as the program sends windows of
//! messages. To copy something within this process tells little about it. So of each length the first messages go
//! directly, the next ones through the ring, and the others as the fastest of these did: as it is seen where they
//! arrive, from the asking to the end. From then on some of those that go the better way are timed, too, and the other
//! way is tried
//! - as soon as the better one has become much slower than it was: the program does something else, or the machine is
//!   busy;
//! - else the later, the slower it was: so that trying costs a small part of the time.
//!
//! It must be faster by a margin to be taken. The first of all messages find no page where it belongs, and the first of
//! each way no line of a cache; so there are several tries, one after the other, of which the fastest counts: in turns
//! each way would find what the other one leaves. Where several come through the ring at the same time they are timed
//! together.

/// A way that a message takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Read out of the sender's memory.
    Direct,
    Ring,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Ways {
    courses: [Course; LENGTHS],
    stream: Stream,
}

/// How messages of about one length go, and what is known of them.
#[derive(Clone, Copy, Debug)]
struct Course {
    way: Way,
    /// Nanoseconds for each byte, by ways; infinite where that is not known.
    paces: [f64; 2],
    stage: Stage,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The way is tried.
    Trying(Tries),
    /// It is taken.
    Settled {
        /// Messages until the other one is tried.
        left: u32,
        /// How fast the way was when it was taken, and the last times.
        first: f64,
        last: [f64; 3],
    },
}

/// Tries of one way.
#[derive(Clone, Copy, Debug)]
struct Tries {
    number: u32,
    /// Nanoseconds for each byte in the fastest.
    best: f64,
    /// What was lost by trying: so many messages could have gone the other way meanwhile.
    lost: f64,
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

/// Lengths are told apart by their logarithms: from 16 KiB to 64 MiB and more.
const LENGTHS: usize = 13;
const SHORTEST_BITS: u32 = 14;
/// How many messages try a way.
const TRIES: u32 = 6;
/// The other way is tried after so many messages at least, and at most; in between so that one in [`SHARE`] is lost.
const LEAST_SETTLED: u32 = 64;
const MOST_SETTLED: u32 = 4096;
const SHARE: f64 = 50.0;
/// Each so-many-th message that goes the better way is timed. An odd number: windows of messages often are powers of 2.
const TIMED: u32 = 7;
/// Who is so many times as slow as when its way was taken may be better off with the other one.
const MUCH_SLOWER: f64 = 1.5;
/// The other way is taken if it takes such a part of the time.
const MARGIN: f64 = 0.9;
/// So many messages are timed together at most.
const TOGETHER: u32 = 16;

impl Ways {
    /// The way for the next message, of so many bytes.
    pub(super) fn choose(&mut self, bytes: u64) -> Way {
        let course = self.course(bytes);
        if let Stage::Settled { left, .. } = &mut course.stage {
            match left.checked_sub(1) {
                Some(fewer) => *left = fewer,
                None => course.begin_to_try(),
            }
        }
        course.way
    }

    /// The faster way for messages of so many bytes, if both were tried.
    pub(super) fn faster(&self, bytes: u64) -> Option<Way> {
        let [direct, ring] = self.courses[length(bytes)].paces;
        let are_known = direct.is_finite() && ring.is_finite();
        are_known.then_some(if direct < ring { Way::Direct } else { Way::Ring })
    }

    /// Whether it matters how long the next message, of so many bytes, takes this way.
    pub(super) fn times(&self, way: Way, bytes: u64) -> bool {
        let course = &self.courses[length(bytes)];
        let matters = match course.stage {
            Stage::Trying(_) => true,
            Stage::Settled { left, .. } => left % TIMED == 0,
        };
        matters && way == course.way
    }

    /// Takes in how long a message took that was read directly.
    pub(super) fn has_read(&mut self, bytes: u64, ns: u64) {
        self.course(bytes).add(Way::Direct, 1, bytes, ns);
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
            self.courses[length].add(Way::Ring, come, come_bytes, now_ns.saturating_sub(begun_ns));
        }
        self.stream = Stream { begun_ns: now_ns, timed: self.timed(bytes), coming, ..Stream::default() };
    }

    fn timed(&self, bytes: u64) -> u16 {
        u16::from(self.times(Way::Ring, bytes)) << length(bytes)
    }

    fn course(&mut self, bytes: u64) -> &mut Course {
        &mut self.courses[length(bytes)]
    }
}

impl Course {
    fn begin_to_try(&mut self) {
        self.way = self.way.other();
        self.stage = Stage::Trying(Tries::NONE);
    }

    /// Takes in how long some messages took together.
    fn add(&mut self, way: Way, messages: u32, bytes: u64, ns: u64) {
        if way != self.way {
            return; // they had begun before it was left
        }
        let pace = ns as f64 / bytes.max(1) as f64;
        let other = self.paces[way.other() as usize];
        match &mut self.stage {
            Stage::Trying(tries) => {
                tries.number += messages;
                tries.best = tries.best.min(pace);
                tries.lost += f64::from(messages) * (pace / other - 1.0).max(0.0);
                if tries.number >= TRIES {
                    let Tries { best, lost, .. } = *tries;
                    self.conclude(best, lost);
                }
            }
            Stage::Settled { left, first, last } => {
                last.rotate_left(1);
                last[2] = pace;
                let mut sorted = *last;
                sorted.sort_by(f64::total_cmp);
                // Whose processor was taken away once was not slow.
                self.paces[way as usize] = sorted[1];
                if sorted[1] > MUCH_SLOWER * *first {
                    *left = 0;
                }
            }
        }
    }

    /// The way was tried, and was so fast.
    fn conclude(&mut self, best: f64, lost: f64) {
        self.paces[self.way as usize] = best;
        let other = self.paces[self.way.other() as usize];
        if other.is_infinite() {
            return self.begin_to_try();
        }
        if best >= MARGIN * other {
            self.way = self.way.other();
        }
        let left = (SHARE * lost).clamp(LEAST_SETTLED.into(), MOST_SETTLED.into()) as u32;
        let pace = self.paces[self.way as usize];
        self.stage = Stage::Settled { left, first: pace, last: [pace; 3] };
    }
}

impl Default for Course {
    fn default() -> Self {
        Self { way: Way::Direct, paces: [f64::INFINITY; 2], stage: Stage::Trying(Tries::NONE) }
    }
}

impl Tries {
    const NONE: Self = Self { number: 0, best: f64::INFINITY, lost: 0.0 };
}

impl Way {
    fn other(self) -> Self {
        match self {
            Self::Direct => Self::Ring,
            Self::Ring => Self::Direct,
        }
    }
}

fn length(bytes: u64) -> usize {
    let bits = u64::BITS - 1 - bytes.max(1).leading_zeros();
    (bits.saturating_sub(SHORTEST_BITS) as usize).min(LENGTHS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How messages go of which those through the ring, and those that are read, take so many nanoseconds a byte.
    fn went(ways: &mut Ways, bytes: u64, paces: (f64, f64), messages: usize) -> Vec<Way> {
        let mut now_ns = 1000;
        let mut one = |ways: &mut Ways| {
            let way = ways.choose(bytes);
            let pace = if way == Way::Ring { paces.0 } else { paces.1 };
            if way == Way::Ring {
                ways.begins(bytes, || now_ns);
            }
            now_ns += (bytes as f64 * pace) as u64;
            match way {
                Way::Ring => ways.ends(bytes, || now_ns),
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
        for (ring, direct, best) in [(0.12, 0.06, Way::Direct), (0.04, 0.2, Way::Ring)] {
            let mut ways = Ways::default();
            let first = went(&mut ways, 65536, (ring, direct), 2 * TRIES as usize + 4);
            let (tries, others) = first.split_at(2 * TRIES as usize);
            let (read, streamed) = tries.split_at(TRIES as usize);
            assert_eq!((read, streamed), (&[Way::Direct; 6][..], &[Way::Ring; 6][..]));
            assert_eq!(others, [best; 4]);
        }
    }

    #[test]
    fn what_wins_may_differ_with_the_length() {
        let mut ways = Ways::default();
        assert_eq!(went(&mut ways, 20_000, (0.1, 0.2), 13)[12], Way::Ring);
        assert_eq!(went(&mut ways, 40_000, (0.2, 0.1), 13)[12], Way::Direct);
        assert_eq!(went(&mut ways, 1 << 40, (0.2, 0.1), 13)[12], Way::Direct);
        assert_eq!(went(&mut ways, 20_000, (0.1, 0.2), 1), [Way::Ring]);
    }

    /// In ten thousand messages the worse way takes no more of the time than it is allowed to.
    #[test]
    fn to_try_costs_little() {
        for worse in [1.05, 1.5, 3.0, 10.0] {
            let mut ways = Ways::default();
            went(&mut ways, 65536, (0.1 * worse, 0.1), 2 * TRIES as usize);
            let tried = share_of(Way::Ring, &went(&mut ways, 65536, (0.1 * worse, 0.1), 10_000));
            assert!(tried > 0.0 && tried * (worse - 1.0) < 1.5 / SHARE, "{worse}: {tried}");
        }
    }

    #[test]
    fn what_becomes_better_is_found_some_time() {
        let mut ways = Ways::default();
        assert_eq!(went(&mut ways, 65536, (0.1, 0.2), 100)[99], Way::Ring);
        let all = 2 * MOST_SETTLED as usize;
        assert_eq!(went(&mut ways, 65536, (0.1, 0.05), all)[all - 1], Way::Direct);
    }

    /// From a ping-pong to windows: the way that was better has become slower than the other one is.
    #[test]
    fn what_becomes_slow_is_left_soon() {
        let mut ways = Ways::default();
        assert_eq!(went(&mut ways, 1 << 19, (0.045, 0.1), 500)[499], Way::Ring);
        let soon = went(&mut ways, 1 << 19, (0.25, 0.1), 100);
        assert!(share_of(Way::Direct, &soon) > 0.6 && soon[99] == Way::Direct, "{soon:?}");
        // And back.
        let back = went(&mut ways, 1 << 19, (0.045, 0.1), 2 * MOST_SETTLED as usize);
        assert_eq!(back.last(), Some(&Way::Ring));
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
                    Way::Ring => ways.begins(bytes, || now_ns),
                }
            }
            now_ns += 22_000;
            lengths.iter().for_each(|&bytes| ways.ends(bytes, || now_ns));
        }
        assert_eq!(lengths.map(|bytes| ways.faster(bytes)), [Some(Way::Ring); 2]);
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
                assert_eq!(ways.choose(65536), Way::Ring);
                ways.begins(65536, || now_ns);
            }
            (1..=5).for_each(|message| ways.ends(65536, || now_ns + message * 65536 / 12));
        }
        assert_eq!(ways.choose(65536), Way::Ring);
        assert_eq!(ways.faster(65536), Some(Way::Ring));
    }

    #[test]
    fn what_never_pauses_is_timed_in_parts() {
        let mut ways = Ways::default();
        ways.courses[length(65536)].begin_to_try();
        ways.begins(65536, || 0);
        for message in 1..=u64::from(TOGETHER) {
            ways.begins(65536, || unreachable!("it has begun"));
            ways.ends(65536, || message * 10_000);
        }
        assert!(ways.courses[length(65536)].paces[Way::Ring as usize].is_finite());
        ways.ends(65536, || 1_000_000);
        ways.ends(65536, || unreachable!("there was none"));
    }
}
