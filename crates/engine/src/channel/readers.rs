//! Who reads what members of a channel post: whether they can read it where it lies, and whether that is faster.
//!
//! What lies in ordinary memory can be copied into slots and out of them, or be read by its readers, if the system lets
//! them. Each member finds out whether it can read the memory of all when it first moves something long by the
//! channel, and tells that in the payload of its first line. Whoever posts decides for himself, run by run: his
//! readers are told by the word that he posts.
//!
//! Which way wins is found out by a [`Course`] for each collective and length, on the side of the one who posts: so
//! many nanoseconds as it takes him to copy into slots, and the slowest of his readers to take it. That is independent
//! of who waits for whom. Of runs that are timed the word says so, and their readers tell how long it took, beside the
//! number of the run that they show as completed. Who reads what others have posted, too, tells how long that takes at
//! the same pace: in an `alltoall` a rank copies once what its peers read, and reads from each of them.
//!
//! Where ranks read each other's data they go the same way: if one copies what others read directly and the other way
//! round, the first waits while the second does the work of both. So a rank goes the way that the lowest rank below it
//! went of which it has read something, in this run or in the last one of the kind.
//!
//! | word of a first line's payload | what |
//! |---|---|
//! | 0, 1 | its departure, see [`Lines`](crate::lines) |
//! | 2 | 1 if the member can read the memory of all; 0 if it cannot, or has not tried |
//! | 3 | the last run in which it was asked for the time, plus 1 |
//! | 4 | the time, in nanoseconds |
//! | 5 | so much it takes at that pace to take what others have posted who did not ask |

use oxmpi_base::Ordered;
use oxmpi_shm::Line;

use super::Channel;
use crate::call::Call;
use crate::course::{Course, Way};
use crate::p2p::{P2p, WaysByLength};

/// What a member knows of its readers, once it has posted something long.
#[derive(Debug, Default)]
pub(super) struct Readers {
    /// Whether this rank has told what it can.
    has_told: bool,
    /// All have told that they can.
    all_can: bool,
    kinds: Ordered<Kind, Known>,
    trial: Option<Trial>,
}

/// What is known of runs of a kind.
#[derive(Debug, Default)]
struct Known {
    course: Course,
    /// The way of a rank below this one, in the last run.
    led: Option<Way>,
}

/// What a rank takes out of what others have posted in a run, as far as that is long.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Taking {
    /// From everybody.
    pub(crate) bytes: u64,
    /// From those who have asked for the time, and the time.
    pub(crate) timed_bytes: u64,
    pub(crate) timed_ns: u64,
}

impl Taking {
    /// What the rest takes at the same pace.
    fn others_ns(&self) -> u64 {
        let others = self.bytes.saturating_sub(self.timed_bytes) as f64;
        (self.timed_ns as f64 / self.timed_bytes.max(1) as f64 * others) as u64
    }
}

/// What is posted: by which collective, and the logarithm of the length.
type Kind = (u32, u32);

/// A run that is timed.
#[derive(Clone, Copy, Debug)]
struct Trial {
    run: u64,
    kind: Kind,
    way: Way,
    bytes: u64,
    /// The time to copy into slots; who does nothing else copies while his readers do.
    posting_ns: u64,
    only_posts: bool,
}

const CAN_READ: usize = 2;
const TIMED_RUN: usize = 3;
const TIME_NS: usize = 4;
const OTHERS_NS: usize = 5;

/// Who is read waits for that: so much longer it takes than the reading.
const WAIT_NS: u64 = 300;
/// So many members are asked at most whether they can be read: that takes two system calls each.
const MOST_MEMBERS: usize = 256;

impl Channel {
    /// Finds out whether this rank can read the memory of all, and tells it.
    #[inline]
    pub(crate) fn tell_whether_readable(&mut self, p2p: &mut P2p) {
        if !self.readers.as_ref().is_some_and(|readers| readers.has_told) {
            self.try_to_read(p2p);
        }
    }

    #[cold]
    fn try_to_read(&mut self, p2p: &mut P2p) {
        let is_few = self.members.len() + self.remote.len() <= MOST_MEMBERS;
        let can = is_few
            && self.seen().all(|(place, _)| p2p.memory_of(self.address(self.member(place)).peer).is_some());
        if let Some(first) = self.mine.first() {
            first.write_word(CAN_READ, can.into());
        }
        self.readers.get_or_insert_default().has_told = true;
    }

    /// This rank cannot read after all; who has posted is woken, to see that.
    #[cold]
    pub(crate) fn tell_unreadable(&mut self, p2p: &P2p) {
        if let Some(first) = self.mine.first()
            && first.word(CAN_READ) != 0
        {
            first.write_word(CAN_READ, 0);
            self.wake_members(&p2p.peers);
        }
    }

    /// Whether all can read what this rank has, as far as was seen.
    #[inline]
    pub(crate) fn has_readers(&mut self) -> bool {
        self.readers.as_ref().is_some_and(|readers| readers.all_can) || self.has_still_readers()
    }

    /// The same as is seen now.
    #[cold]
    pub(crate) fn has_still_readers(&mut self) -> bool {
        let all_can = self.seen().all(|(_, first)| first.word(CAN_READ) == 1);
        self.readers.get_or_insert_default().all_can = all_can;
        all_can
    }

    /// How so many bytes are to go in a run, as runs before went.
    /// `seen` is what came of runs of all channels, by which those begin of which this one knows nothing.
    pub(crate) fn choose_way(
        &mut self,
        run: u64,
        call: &Call,
        bytes: u64,
        only_posts: bool,
        seen: &mut WaysByLength,
    ) -> Way {
        let result = self.trial().map(|trial| (trial, self.result(&trial)));
        let readers = self.readers.get_or_insert_default();
        if let Some((trial, result)) = result {
            match result {
                Outcome::Took(ns) => {
                    let known = readers.kinds.get_or_default(trial.kind);
                    known.course.add(trial.way, 1, trial.bytes, ns);
                    seen[WaysByLength::place(trial.bytes)] = known.course;
                    readers.trial = None;
                }
                Outcome::Nobody => readers.trial = None,
                Outcome::NotOver => {}
            }
        }
        let kind = kind(call, bytes);
        let Known { course, led } = readers.kinds.get_or_default(kind);
        if let Some(way) = led.take() {
            return way;
        }
        if course.is_new()
            && let Some(guessed) = seen.guess(bytes)
        {
            *course = guessed;
        }
        let way = course.choose();
        if readers.trial.is_none() && course.times(way) {
            readers.trial = Some(Trial { run, kind, way, bytes, posting_ns: 0, only_posts });
        }
        way
    }

    /// The data of a rank below this one went some way in a run in which this rank has posted so many bytes.
    #[cold]
    pub(crate) fn is_led(&mut self, call: &Call, bytes: u64, way: Way) {
        let readers = self.readers.get_or_insert_default();
        readers.kinds.get_or_default(kind(call, bytes)).led = Some(way);
    }

    fn trial(&self) -> Option<Trial> {
        self.readers.as_ref()?.trial
    }

    /// Whether a run is timed.
    pub(crate) fn times(&self, run: u64) -> bool {
        self.trial().is_some_and(|trial| trial.run == run)
    }

    /// Nobody is to learn from how long a run takes: this rank posts in a way that will not last.
    #[cold]
    pub(crate) fn time_no_more(&mut self, run: u64) {
        if let Some(readers) = &mut self.readers {
            readers.trial.take_if(|trial| trial.run == run);
        }
    }

    /// Takes in how long it took this rank to copy what it posts in a run.
    #[cold]
    pub(crate) fn has_posted_in(&mut self, run: u64, ns: u64) {
        if let Some(trial) = self.readers.as_mut().and_then(|readers| readers.trial.as_mut())
            && trial.run == run
        {
            trial.posting_ns += ns;
        }
    }

    /// Tells what it took to take what others have posted in a run that they time, which is about to be completed.
    #[cold]
    pub(crate) fn tell_time(&self, run: u64, taking: &Taking) {
        if let Some(first) = self.mine.first() {
            first.write_word(TIME_NS, taking.timed_ns);
            first.write_word(OTHERS_NS, taking.others_ns());
            first.write_word(TIMED_RUN, run + 1);
        }
    }

    /// What has come of a trial.
    fn result(&self, trial: &Trial) -> Outcome {
        let is_over = |place: usize, first: &Line| {
            first.reached(trial.run + 1) || self.completed_by.get(place) == Some(&u64::MAX)
        };
        if !self.seen().all(|(place, first)| is_over(place, first)) {
            return Outcome::NotOver;
        }
        let (mut slowest_ns, mut others_ns, mut readers) = (0, 0_u64, 0);
        for (_, first) in self.seen().filter(|(_, first)| first.word(TIMED_RUN) == trial.run + 1) {
            slowest_ns = first.word(TIME_NS).max(slowest_ns);
            others_ns = others_ns.saturating_add(first.word(OTHERS_NS));
            readers += 1;
        }
        if readers == 0 {
            return Outcome::Nobody;
        }
        // What a few reads are multiplied to is not taken from the slowest.
        let taking_ns = slowest_ns.saturating_add(others_ns / readers);
        Outcome::Took(match (trial.way, trial.only_posts) {
            (Way::Direct, _) => taking_ns.saturating_add(WAIT_NS),
            (Way::Shared, false) => taking_ns.saturating_add(trial.posting_ns),
            (Way::Shared, true) => taking_ns.max(trial.posting_ns),
        })
    }

    /// The members on this node, by place, with their first lines.
    fn seen(&self) -> impl Iterator<Item = (usize, &'static Line)> + '_ {
        let places = 0..self.members.len() + self.remote.len();
        places.filter_map(|place| Some((place, self.shown.get(place)?.first()?)))
    }
}

fn kind(call: &Call, bytes: u64) -> Kind {
    (call.kind().into(), bytes.max(1).ilog2())
}

/// What has come of a trial.
enum Outcome {
    /// It is not over.
    NotOver,
    /// Nobody took anything.
    Nobody,
    /// It took so many nanoseconds.
    Took(u64),
}

#[cfg(test)]
mod tests {
    use oxmpi_base::Function;

    use super::*;
    use crate::Engine;
    use crate::call::Lifetime;

    /// Else to copy once seems to take as long as all the reading, where each reads from each.
    #[test]
    fn who_reads_from_others_too_tells_how_long_that_takes() {
        let mut engines = Engine::of_new_job(3).expect("there is memory");
        let keys: Vec<_> = engines.iter_mut().map(|engine| engine.open_first_channel(None)).collect();
        let call = Call::new(Function::AlltoallInit);
        let mut runs = Vec::new();
        for (engine, &key) in engines.iter_mut().zip(&keys) {
            let channel = engine.channels.get_mut(key).expect("it was opened");
            let (turn, _) = channel.begin(&call, call.begun(Lifetime::Blocking, None));
            runs.push(turn.number);
        }
        let first = engines[0].channels.get_mut(keys[0]).expect("it was opened");
        first.choose_way(runs[0], &call, 3 << 16, false, &mut WaysByLength::default());
        let trial = first.trial().expect("the first runs are timed");
        for (rank, timed_ns) in [(1, 100), (2, 140)] {
            let engine = &mut engines[rank];
            let channel = engine.channels.get_mut(keys[rank]).expect("it was opened");
            channel.tell_time(runs[rank], &Taking { bytes: 2 << 16, timed_bytes: 1 << 16, timed_ns });
            channel.complete(runs[rank], &engine.p2p);
        }
        let engine = &mut engines[0];
        let first = engine.channels.get_mut(keys[0]).expect("it was opened");
        first.complete(runs[0], &engine.p2p);
        let Outcome::Took(ns) = first.result(&trial) else { panic!("all have told") };
        assert_eq!(ns, 140 + (100 + 140) / 2 + WAIT_NS);
    }

    /// Else what is copied into slots seems to be slow as long as these are new, and is read directly for thousands of
    /// runs.
    #[test]
    fn runs_that_post_in_memory_that_was_never_used_are_not_timed() {
        let mut engine = Engine::of_new_job(1).expect("there is memory").remove(0);
        let key = engine.open_first_channel(None);
        let p2p = &mut engine.p2p;
        let channel = engine.channels.get_mut(key).expect("it was opened");
        let call = Call::new(Function::BcastInit);
        let mut seen = WaysByLength::default();
        let mut is_timed = || {
            let (turn, _) = channel.begin(&call, call.begun(Lifetime::Blocking, None));
            channel.choose_way(turn.number, &call, 1 << 16, true, &mut seen);
            channel.stage(turn.number, 1 << 16, true, &mut p2p.arena).expect("there is memory");
            let is_timed = channel.times(turn.number);
            channel.complete(turn.number, p2p);
            channel.take_back(&mut p2p.arena);
            is_timed
        };
        assert!(!is_timed(), "the block is new");
        assert!(is_timed() && is_timed(), "it comes again");
    }
}
