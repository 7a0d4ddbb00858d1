//! Which way long messages from a peer take whose memory can be read: found out by trying both.
//!
//! What wins differs from machine to machine by factors of five both ways, with how far the cores are from each other,
//! what a system call and a look at a page cost, and with the length; to copy something within this process tells
//! little about it. So of each length the first messages go directly, the next ones through the ring, and the others as
//! the fastest of these did: as it is seen where they arrive, from the asking to the end. After some thousand it is
//! tried again: the machine may have got busy, or quiet.
//!
//! The first of all find no page where it belongs, and the first of each way no line of a cache; so there are several
//! tries, one after the other: in turns each way would find what the other one leaves. Where several come through the
//! ring at the same time they are timed together.

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
    trials: [Trial; LENGTHS],
    stream: Stream,
}

/// What is known of messages of about one length.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    /// How many there were since it began.
    messages: u32,
    direct: Tries,
    ring: Tries,
}

/// Tries of one way.
#[derive(Clone, Copy, Debug, Default)]
struct Tries {
    number: u32,
    /// Nanoseconds for each byte in the fastest.
    best: f64,
}

/// What comes through the ring.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Since when, if it is timed.
    begun_ns: Option<u64>,
    /// Messages that are under way, and that have come since.
    coming: u32,
    come: u32,
    come_bytes: u64,
}

/// Lengths are told apart by their logarithms: from 16 KiB to 64 MiB and more.
const LENGTHS: usize = 13;
const SHORTEST_BITS: u32 = 14;
/// How often each way is tried.
const TRIES: u32 = 6;
/// After so many messages both are tried again.
const MESSAGES_PER_TRIAL: u32 = 4096;
/// So many messages are timed together at most.
const TOGETHER: u32 = 16;

impl Ways {
    /// The way for the next message, of so many bytes.
    pub(super) fn choose(&mut self, bytes: u64) -> Way {
        let trial = &mut self.trials[length(bytes)];
        if trial.messages >= MESSAGES_PER_TRIAL {
            *trial = Trial::default();
        }
        trial.messages += 1;
        match trial.faster() {
            Some(faster) => faster,
            None if trial.direct.number < TRIES => Way::Direct,
            None => Way::Ring,
        }
    }

    /// The faster way for messages of so many bytes, if both were tried.
    pub(super) fn faster(&self, bytes: u64) -> Option<Way> {
        self.trials[length(bytes)].faster()
    }

    /// Whether it matters how long a message of so many bytes takes this way.
    pub(super) fn tries(&self, way: Way, bytes: u64) -> bool {
        let Trial { direct, ring, .. } = &self.trials[length(bytes)];
        let tries = if way == Way::Direct { direct } else { ring };
        tries.number < TRIES
    }

    /// Takes in how long a message took that was read directly.
    pub(super) fn has_read(&mut self, bytes: u64, ns: u64) {
        self.trials[length(bytes)].direct.add(bytes, ns);
    }

    /// The data of a message was asked for, to come through the ring.
    pub(super) fn begins(&mut self, bytes: u64, clock: impl FnOnce() -> u64) {
        if self.stream.coming == 0 {
            self.stream = self.stream_from(bytes, clock);
        }
        self.stream.coming += 1;
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
        let Stream { begun_ns, come, come_bytes, .. } = *stream;
        if let Some(begun_ns) = begun_ns {
            let each = length(come_bytes / u64::from(come));
            self.trials[each].ring.add(come_bytes, clock().saturating_sub(begun_ns));
        }
        self.stream = Stream { coming, ..self.stream_from(bytes, clock) };
    }

    /// What comes from now on, with messages of so many bytes.
    fn stream_from(&self, bytes: u64, clock: impl FnOnce() -> u64) -> Stream {
        Stream { begun_ns: self.tries(Way::Ring, bytes).then(clock), ..Stream::default() }
    }
}

impl Trial {
    fn faster(&self) -> Option<Way> {
        let Self { direct, ring, .. } = self;
        let is_over = direct.number >= TRIES && ring.number >= TRIES;
        is_over.then_some(if direct.best < ring.best { Way::Direct } else { Way::Ring })
    }
}

impl Tries {
    fn add(&mut self, bytes: u64, ns: u64) {
        let pace = ns as f64 / bytes.max(1) as f64;
        self.best = if self.number == 0 { pace } else { self.best.min(pace) };
        self.number = self.number.saturating_add(1);
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
                Way::Direct if ways.tries(way, bytes) => ways.has_read(bytes, (bytes as f64 * pace) as u64),
                Way::Direct => {}
            }
            way
        };
        (0..messages).map(|_| one(ways)).collect()
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

    #[test]
    fn it_is_tried_again_some_time() {
        let mut ways = Ways::default();
        let all = MESSAGES_PER_TRIAL as usize;
        assert_eq!(went(&mut ways, 65536, (0.1, 0.2), all)[all - 1], Way::Ring);
        assert_eq!(went(&mut ways, 65536, (0.3, 0.2), 13)[12], Way::Direct);
    }

    /// A window of messages, each of which waits for those before it, counts as what it is altogether.
    #[test]
    fn messages_that_come_together_are_timed_together() {
        let mut ways = Ways::default();
        for _ in 0..TRIES {
            assert_eq!(ways.choose(65536), Way::Direct);
            ways.has_read(65536, 65536 / 10);
        }
        for window in 0..u64::from(TRIES) {
            let now_ns = window * 1_000_000;
            for _ in 0..5 {
                assert_eq!(ways.choose(65536), Way::Ring);
                ways.begins(65536, || now_ns);
            }
            (1..=5).for_each(|message| ways.ends(65536, || now_ns + message * 65536 / 12));
        }
        assert_eq!(ways.choose(65536), Way::Ring);
    }

    #[test]
    fn what_never_pauses_is_timed_in_parts() {
        let mut ways = Ways::default();
        ways.begins(65536, || 0);
        for message in 1..=u64::from(TRIES * TOGETHER) {
            ways.begins(65536, || unreachable!("it has begun"));
            ways.ends(65536, || message * 10_000);
        }
        assert!(!ways.tries(Way::Ring, 65536));
        ways.ends(65536, || unreachable!("nobody wants to know"));
        ways.ends(65536, || unreachable!("there was none"));
    }
}
