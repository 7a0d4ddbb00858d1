//! Which of two ways data of a kind goes, such as read out of a peer's memory, or copied into shared memory and out of
//! it: found out by trying both, again and again.
//!
//! What wins differs from machine to machine by factors of five both ways, with how far the cores are from each other,
//! what a system call and a look at a page cost, with the length, and with what the program does. To copy something
//! within this process tells little about it. So the first transfers go directly, the next ones through shared memory,
//! and the others as the fastest of these did. From then on some of those that go the better way are timed, too, and
//! the other way is tried
//! - as soon as the better one has become much slower than it was: the program does something else, or the machine is
//!   busy;
//! - else the later, the slower it was: so that trying costs a small part of the time.
//!
//! It must be faster by a margin to be taken. The first of all transfers find no page where it belongs, and the first
//! of each way no line of a cache; so there are several tries, one after the other, of which the fastest counts: in
//! turns each way would find what the other one leaves. Of what is long there are fewer, and a way that is found to be
//! slower by far is not tried to the end.
//!
//! What is found out about one length is not forgotten when another one comes: of [`Courses`], one about which nothing
//! is known goes for a while as the nearest that is known. Most programs that move something long move a few of each
//! length, and would be trying all the time.

use std::ops::{Index, IndexMut};

use oxmpi_base::order;

/// One of two ways.
pub(crate) trait Either: Copy + Eq {
    /// That which is tried first.
    const FIRST: Self;
    /// That which is tried then.
    const SECOND: Self;
}

/// A way that data takes from one process to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Read out of the memory of who has it.
    Direct,
    /// Copied into shared memory, and out of it.
    Shared,
}

/// Courses by the logarithm of the length: from two to the power of `FROM` bytes to more than `N` times as often
/// doubled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Courses<W, const FROM: u32, const N: usize>([Course<W>; N]);

/// How transfers of one kind go, and what is known of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course<W = Way> {
    way: W,
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
        /// Transfers until the other one is tried.
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
    bytes: u64,
    /// Nanoseconds for each byte in the fastest.
    best: f64,
    /// What was lost by trying, in transfers that could have gone the other way meanwhile.
    lost: f64,
    /// What each transfer of the worst of the tries lost, and how many these were: some may have been timed together.
    worst: f64,
    worst_number: u32,
}

/// How many transfers try a way; fewer if so many bytes went it, or so many transfers could have gone the other way in
/// the time that was lost.
pub(crate) const TRIES: u32 = 6;
const LEAST_TRIES: u32 = 3;
const MOST_TRIED_BYTES: u64 = 1 << 20;
const MOST_LOST: f64 = 6.0;
/// The other way is tried after so many at least, and at most; in between so that one in [`SHARE`] is lost.
const LEAST_SETTLED: u32 = 64;
pub(crate) const MOST_SETTLED: u32 = 4096;
pub(crate) const SHARE: f64 = 50.0;
/// Each so-many-th that goes the better way is timed. An odd number: windows of messages often are powers of 2.
const TIMED: u32 = 7;
/// Who is so many times as slow as when its way was taken may be better off with the other one.
const MUCH_SLOWER: f64 = 1.5;
/// The other way is taken if it takes such a part of the time.
const MARGIN: f64 = 0.9;

impl<W: Either> Course<W> {
    /// The way for the next transfer.
    pub(crate) fn choose(&mut self) -> W {
        if let Stage::Settled { left, .. } = &mut self.stage {
            match left.checked_sub(1) {
                Some(fewer) => *left = fewer,
                None => self.begin_to_try(),
            }
        }
        self.way
    }

    /// The faster way, if both were tried, or what it is thought to be.
    pub(crate) fn faster(&self) -> Option<W> {
        let [first, second] = self.paces;
        match self.stage {
            Stage::Settled { .. } => Some(self.way),
            Stage::Trying(_) if first.is_infinite() || second.is_infinite() => None,
            Stage::Trying(_) => Some(if first < second { W::FIRST } else { W::SECOND }),
        }
    }

    /// Whether nothing is known of it, and nothing was tried.
    pub(crate) fn is_new(&self) -> bool {
        self.paces.iter().all(|pace| pace.is_infinite())
            && matches!(self.stage, Stage::Trying(Tries { number: 0, .. }))
    }

    /// The same for something else, until both ways are tried; how fast that is, is not known.
    fn guessed(&self) -> Option<Self> {
        let way = self.faster()?;
        let mut paces = [f64::INFINITY; 2];
        paces[place(way)] = self.paces[place(way)];
        let stage = Stage::Settled { left: LEAST_SETTLED, first: f64::INFINITY, last: [f64::INFINITY; 3] };
        Some(Self { way, paces, stage })
    }

    /// Whether it is not known yet, or not any more, which way is the faster one.
    pub(crate) fn is_trying(&self) -> bool {
        matches!(self.stage, Stage::Trying(_))
    }

    /// Whether it matters how long the next transfer takes this way.
    pub(crate) fn times(&self, way: W) -> bool {
        let matters = match self.stage {
            Stage::Trying(_) => true,
            Stage::Settled { left, .. } => left % TIMED == 0,
        };
        matters && way == self.way
    }

    /// Whether nothing is known yet of a way.
    #[cfg(test)]
    pub(crate) fn knows(&self, way: W) -> bool {
        self.paces[place(way)].is_finite()
    }

    pub(crate) fn begin_to_try(&mut self) {
        self.way = other(self.way);
        self.stage = Stage::Trying(Tries::NONE);
    }

    /// Takes in how long some transfers took together.
    pub(crate) fn add(&mut self, way: W, transfers: u32, bytes: u64, ns: u64) {
        if way != self.way {
            return; // they had begun before it was left
        }
        let pace = ns as f64 / bytes.max(1) as f64;
        let of_other = self.paces[place(other(way))];
        match &mut self.stage {
            Stage::Trying(tries) => {
                tries.number += transfers;
                tries.bytes += bytes;
                tries.best = tries.best.min(pace);
                let lost = (pace / of_other - 1.0).max(0.0);
                tries.lost += f64::from(transfers) * lost;
                if lost > tries.worst {
                    (tries.worst, tries.worst_number) = (lost, transfers);
                }
                if tries.are_enough() {
                    let (best, lost) = (tries.best, tries.usually_lost());
                    self.conclude(best, lost);
                }
            }
            Stage::Settled { left, first, last } => {
                last.rotate_left(1);
                last[2] = pace;
                let mut sorted = *last;
                order::numbers(&mut sorted);
                // Whose processor was taken away once was not slow.
                if sorted[1].is_finite() {
                    self.paces[place(way)] = sorted[1];
                }
                if sorted[1] > MUCH_SLOWER * *first {
                    *left = 0;
                }
            }
        }
    }

    /// The way was tried, and was so fast.
    fn conclude(&mut self, best: f64, lost: f64) {
        self.paces[place(self.way)] = best;
        let of_other = self.paces[place(other(self.way))];
        if of_other.is_infinite() {
            return self.begin_to_try();
        }
        if best >= MARGIN * of_other {
            self.way = other(self.way);
        }
        let left = (SHARE * lost).clamp(LEAST_SETTLED.into(), MOST_SETTLED.into()) as u32;
        let pace = self.paces[place(self.way)];
        self.stage = Stage::Settled { left, first: pace, last: [pace; 3] };
    }
}

impl<W: Either, const FROM: u32, const N: usize> Courses<W, FROM, N> {
    /// Which of them is that of so many bytes.
    pub(crate) fn place(bytes: u64) -> usize {
        (bytes.max(1).ilog2().saturating_sub(FROM) as usize).min(N - 1)
    }

    /// That of so many bytes, which may be guessed.
    pub(crate) fn of(&mut self, bytes: u64) -> &mut Course<W> {
        let place = Self::place(bytes);
        if self.0[place].is_new()
            && let Some(guessed) = self.guess(bytes)
        {
            self.0[place] = guessed;
        }
        &mut self.0[place]
    }

    /// What is to be thought of so many bytes: that it goes as the nearest of which something is known.
    #[cold]
    pub(crate) fn guess(&self, bytes: u64) -> Option<Course<W>> {
        let place = Self::place(bytes);
        let found = self.0.iter().enumerate().filter_map(|(at, course)| Some((at, course.guessed()?)));
        found.min_by_key(|(at, _)| at.abs_diff(place)).map(|(_, guessed)| guessed)
    }
}

impl<W, const FROM: u32, const N: usize> Index<usize> for Courses<W, FROM, N> {
    type Output = Course<W>;

    fn index(&self, place: usize) -> &Course<W> {
        &self.0[place]
    }
}

impl<W, const FROM: u32, const N: usize> IndexMut<usize> for Courses<W, FROM, N> {
    fn index_mut(&mut self, place: usize) -> &mut Course<W> {
        &mut self.0[place]
    }
}

impl<W: Either, const FROM: u32, const N: usize> Default for Courses<W, FROM, N> {
    fn default() -> Self {
        Self([Course::default(); N])
    }
}

impl<W: Either> Default for Course<W> {
    fn default() -> Self {
        Self { way: W::FIRST, paces: [f64::INFINITY; 2], stage: Stage::Trying(Tries::NONE) }
    }
}

impl Tries {
    const NONE: Self =
        Self { number: 0, bytes: 0, best: f64::INFINITY, lost: 0.0, worst: 0.0, worst_number: 0 };

    fn are_enough(&self) -> bool {
        let is_long = self.bytes >= MOST_TRIED_BYTES;
        self.number >= TRIES || self.number >= LEAST_TRIES && (is_long || self.lost >= MOST_LOST)
    }

    /// What is lost by as many tries of which none is disturbed: one may have made a ring, or found no pages. Where all
    /// were timed together there is no other to tell.
    fn usually_lost(&self) -> f64 {
        match self.number - self.worst_number {
            0 => self.lost,
            others => {
                let lost_by_others = self.lost - f64::from(self.worst_number) * self.worst;
                lost_by_others * f64::from(self.number) / f64::from(others)
            }
        }
    }
}

impl Either for Way {
    const FIRST: Self = Self::Direct;
    const SECOND: Self = Self::Shared;
}

fn other<W: Either>(way: W) -> W {
    if way == W::FIRST { W::SECOND } else { W::FIRST }
}

/// Of a way in lists by ways.
fn place<W: Either>(way: W) -> usize {
    usize::from(way != W::FIRST)
}
