//! A job's segment, as its launcher and as its ranks see it.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::layout::Layout;
use crate::machine::{memory_bytes, processor_time_ns};
use crate::membarrier;
use crate::seat::{self, Claim, Ticket};
use crate::sleepers::{Asleep, Bed, Sleepers, Summary};
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::{Arena, Doorway, Knocks, Phase, Rings, Rows, Segment, StatePage, usable_cpus};

/// The segment of one job.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    segment: &'static Segment,
    header: &'static Header,
    sleepers: Sleepers,
    layout: Layout,
}

/// One rank's place in a job: its own ends of everything.
#[derive(Debug)]
pub struct Member {
    /// This rank.
    pub rank: usize,
    /// The rank's part of the segment.
    pub arena: Arena,
    /// Its places among those of the others.
    pub rows: Rows,
}

#[repr(C)]
#[derive(Debug)]
struct Header {
    magic: AtomicU32,
    ranks: AtomicU32,
    arena_bits: AtomicU32,
    cpus: AtomicU32,
    /// Tells this job from all others.
    id: AtomicU64,
    /// A hash of what the first rank was told that came in the last round of the job, below the number of that round.
    settings: AtomicU64,
}

/// Changes whenever the layout does, so that a launcher and a library of different versions say so.
const MAGIC: u32 = 0x6f78_000d;

/// Windows are allocated when they are used first, so that this is no more than a bound.
const PRIVATE_ARENA_BITS: u32 = 30;

impl Job {
    /// Makes the segment for a job of `ranks` ranks.
    ///
    /// # Errors
    /// The system's, if it has not enough memory for the fixed part (see the module `layout`); `FileTooLarge` if the
    /// limit of file sizes is too small for that and a little arena for each rank.
    pub fn create(ranks: u32) -> io::Result<Self> {
        Self::create_on(ranks, usable_cpus())
    }

    fn create_on(ranks: u32, cpus: usize) -> io::Result<Self> {
        let limit = oxmpi_system::limits::file_bytes();
        let layout = Layout::for_ranks(ranks as usize, memory_bytes(), limit.unwrap_or(u64::MAX))
            .ok_or_else(|| too_large(ranks, limit))?;
        Self::begin(new_segment(&layout)?, layout, cpus)
    }

    /// As [`Job::create`], in memory of this process alone, without a seat that could be claimed: for tests of what is
    /// above, where the system has no such files.
    ///
    /// # Errors
    /// `OutOfMemory`; `InvalidInput` if there cannot be as many ranks.
    pub fn in_private(ranks: u32) -> io::Result<Self> {
        let layout =
            Layout::with_arenas(ranks as usize, PRIVATE_ARENA_BITS).ok_or(io::ErrorKind::InvalidInput)?;
        Self::begin(Box::leak(Box::new(Segment::in_private(&layout)?)), layout, ranks as usize)
    }

    fn begin(segment: &'static Segment, layout: Layout, cpus: usize) -> io::Result<Self> {
        let job = Self::view(segment, layout);
        job.header.ranks.store(layout.ranks as u32, Ordering::Relaxed);
        job.header.arena_bits.store(layout.arena_bits(), Ordering::Relaxed);
        job.header.id.store(seat::identity()?, Ordering::Relaxed);
        job.header.cpus.store(u32::try_from(cpus).unwrap_or(u32::MAX), Ordering::Relaxed);
        job.header.magic.store(MAGIC, Ordering::Relaxed); // ranks are made later, and read the file
        Ok(job)
    }

    /// One for tests that need no file.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_a_test(ranks: u32) -> Self {
        let make = if cfg!(any(miri, portable)) { Self::in_private } else { Self::create };
        make(ranks).expect("memory")
    }

    /// Makes a job whose ranks are all in this process, and claims their seats.
    ///
    /// # Errors
    /// As [`Job::create`] and [`Job::claim`].
    pub fn within(ranks: u32) -> io::Result<Vec<Ticket>> {
        if cfg!(miri) {
            return Self::within_private(ranks); // it knows no such files
        }
        Self::within_on(ranks, usable_cpus())
    }

    /// The same of ranks that are told to share so many processors.
    ///
    /// # Errors
    /// As [`Job::within`].
    pub fn within_on(ranks: u32, cpus: usize) -> io::Result<Vec<Ticket>> {
        let job = Self::create_on(ranks, cpus)?;
        let claim = |rank| match job.claim(rank)? {
            Claim::Taken(ticket) => Ok(ticket),
            claim => unreachable!("nobody knows the job, but its seat {rank} is not free: {claim:?}"),
        };
        (0..ranks as usize).map(claim).collect()
    }

    /// The same, of a segment that has no file: for tests.
    ///
    /// # Errors
    /// As [`Job::in_private`].
    pub fn within_private(ranks: u32) -> io::Result<Vec<Ticket>> {
        let job = Self::in_private(ranks)?;
        Ok((0..ranks as usize).map(|rank| Ticket::of_nobody_else(job, rank)).collect())
    }

    /// Shows zeroes from now on, and gives the memory back: for tests that make many jobs, when the ranks of this one
    /// have been dropped.
    ///
    /// # Errors
    /// As [`Job::create`].
    pub fn show_nothing(&self) -> io::Result<()> {
        self.segment.show_nothing(&self.layout)
    }

    /// Maps the segment of this process's own job, which the launcher made. It stays mapped; that of another job may be
    /// given up again: see [`Guest`](crate::Guest).
    ///
    /// # Errors
    /// The system's; `InvalidData` if `file` is no segment of this version.
    pub fn attach(file: OwnedFd) -> io::Result<Self> {
        let layout = Self::layout(&file)?;
        Ok(Self::view(Box::leak(Box::new(Segment::map(file, &layout)?)), layout))
    }

    /// The layout of the segment that `file` says it is: only its beginning says how long it is.
    pub(crate) fn layout(file: &OwnedFd) -> io::Result<Layout> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let mut words = [0; offset_of!(Header, id)];
        if oxmpi_system::file::read_at(file.as_fd(), &mut words, Layout::HEADER as u64)? < words.len() {
            return Err(wrong("the descriptor is not that of a job's segment"));
        }
        let word = |at: usize| u32::from_ne_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        if word(offset_of!(Header, magic)) != MAGIC {
            return Err(wrong("the launcher and the library are of different versions of oxmpi"));
        }
        let (ranks, arena_bits) = (word(offset_of!(Header, ranks)), word(offset_of!(Header, arena_bits)));
        Layout::with_arenas(ranks as usize, arena_bits).ok_or_else(|| wrong("the job's segment is damaged"))
    }

    pub(crate) fn segment_layout(&self) -> Layout {
        self.layout
    }

    /// Claims the seat of `rank` for this process.
    ///
    /// # Errors
    /// The system's.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn claim(&self, rank: usize) -> io::Result<Claim> {
        let page = self.state(rank);
        let Some(ticket) = Ticket::reserve(*self, rank)? else { return Ok(Claim::Here) };
        page.seat.claim(ticket, || page.phase() == Phase::Finalized)
    }

    /// The living process that has claimed the seat of `rank`; 0 if it cannot be seen from here.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn owner(&self, rank: usize) -> Option<u32> {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        match self.segment.has_file() {
            true => seat::owner(self.file(), rank).unwrap_or(None),
            false => Some(std::process::id()),
        }
    }

    /// Time that the ranks together have had processors, in nanoseconds; `None` if some cannot be seen from here. Costs
    /// three system calls a rank.
    pub fn processor_time_ns(&self) -> Option<u64> {
        let owners = (0..self.size()).filter_map(|rank| self.owner(rank));
        owners.map(processor_time_ns).sum()
    }

    /// How many processes have had the seat of `rank` before the last.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn round(&self, rank: usize) -> u32 {
        self.state(rank).seat.round()
    }

    /// Whether this rank was told what the first one was that has come in this round of the job, as far as a `hash` can
    /// tell. If not, the first one's state page shows what that is, as this one's must already.
    pub fn is_told_the_same(&self, round: u32, hash: u32) -> bool {
        let mine = u64::from(round.wrapping_add(1)) << u32::BITS | u64::from(hash);
        let is_first = |word: u64| word >> u32::BITS != mine >> u32::BITS;
        // Release and Acquire pair with each other: what the first has shown is seen by all.
        let first = &self.header.settings;
        let taken =
            first.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| is_first(word).then_some(mine));
        taken.is_ok() || taken == Err(mine)
    }

    /// Makes a rank's ties, doorbell, doorway, rings, lines and arena what they were at first; for the first rank the
    /// rows of all, too.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn clear(&self, rank: usize) -> io::Result<()> {
        let Self { segment, layout, .. } = self;
        self.state(rank).clear_ties();
        self.sleepers.bells[rank].clear();
        self.forget_sleeper(rank);
        self.doorway(rank).clear();
        self.knocks(rank).clear();
        self.rings(rank).clear();
        let (begin, end) = (layout.first_lines(rank), layout.first_lines(rank + 1));
        segment.clear(begin, end - begin)?;
        segment.reserve(begin, end - begin)?;
        if rank == 0 {
            segment.clear(layout.rows(), layout.arena_bytes())?;
        }
        segment.clear(layout.arena(rank), layout.arena_bytes())
    }

    pub(crate) fn view(segment: &'static Segment, layout: Layout) -> Self {
        // SAFETY: a header consists of atomics, and every version of oxmpi has one here.
        let header = unsafe { segment.view::<Header>(Layout::HEADER) };
        // SAFETY: an atomic, which the layout puts here.
        let summary = unsafe { segment.view::<Summary>(layout.sleepers()) };
        let (bits, words) = layout.sleepers_bits();
        // SAFETY: atomics, which the layout puts here.
        let bits = unsafe { segment.view_all(bits, words) };
        // SAFETY: a line of atomics for each rank, which the layout puts here.
        let bells = unsafe { segment.view_all(layout.doorbell(0), layout.ranks) };
        Self { segment, header, sleepers: Sleepers { summary, bits, bells }, layout }
    }

    /// A number that no other job has; positive as a signed number.
    pub fn id(&self) -> u64 {
        self.header.id.load(Ordering::Relaxed)
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.layout.ranks
    }

    /// Processors that all ranks together may use: those of whoever made the segment, before any rank was
    /// bound to a part of them.
    pub fn cpus(&self) -> usize {
        self.header.cpus.load(Ordering::Relaxed) as usize
    }

    /// The shared memory itself.
    pub fn segment(&self) -> &'static Segment {
        self.segment
    }

    /// The descriptor that ranks inherit.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.segment.file()
    }

    /// The state page of `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn state(&self, rank: usize) -> &'static StatePage {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        // SAFETY: a page of atomics, which the layout puts here.
        unsafe { self.segment.view(self.layout.state(rank)) }
    }

    /// The doorway of `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn doorway(&self, rank: usize) -> &'static Doorway {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        // SAFETY: atomics, which the layout puts here.
        unsafe { self.segment.view(self.layout.doorway(rank)) }
    }

    /// The knocks at the doorway of `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn knocks(&self, rank: usize) -> Knocks {
        let doorway = self.doorway(rank);
        Knocks::view(self.segment, self.layout.knocks(rank), self.size(), doorway)
    }

    /// Where the rings lie that `rank` has made.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn rings(&self, rank: usize) -> Rings {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        Rings::view(self.segment, self.layout.rings(rank), self.size(), self.layout.arena(rank))
    }

    /// Offset of the [`FIRST_LINES`](crate::FIRST_LINES) lines of `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn first_lines(&self, rank: usize) -> u64 {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        self.layout.first_lines(rank) as u64
    }

    /// Where the threads of `rank` sleep.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn bed(&self, rank: usize) -> Bed {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        Bed::new(self.sleepers, rank)
    }

    /// Whether [`park`](crate::ring::park) can do anything: where a process passes no barriers nobody relies on them.
    pub fn has_barriers(&self) -> bool {
        self.sleepers.summary.has_barriers()
    }

    /// Notes that this process passes no barriers when it publishes something for ranks of the job.
    pub(crate) fn note_blind(&self) {
        self.sleepers.summary.note_blind();
    }

    /// Whether any rank could be asleep; if so, wake those for whom something was published, be it by another job's
    /// process.
    #[inline]
    pub fn someone_sleeps(&self) -> bool {
        self.sleepers.summary.is_set()
    }

    /// The ranks to wake, when something was published for some, if any could be asleep.
    #[inline]
    pub fn asleep(&self) -> Option<Asleep> {
        if self.someone_sleeps() { self.look_for_sleepers() } else { None }
    }

    #[cold]
    fn look_for_sleepers(&self) -> Option<Asleep> {
        self.sleepers.asleep()
    }

    /// Wakes `rank`, if it sleeps: something was published for it.
    ///
    /// # Panics
    /// If there is no such rank.
    #[inline]
    pub fn wake(&self, rank: usize) {
        if let Some(asleep) = self.asleep() {
            asleep.wake(rank);
        }
    }

    /// Wakes every rank that sleeps. To be called by any process: it passes a fence.
    pub fn wake_all(&self) {
        Asleep::behind_fence(self.sleepers).wake_all_of(0..self.size());
    }

    /// Wakes every rank that sleeps and may wait for what one that has ended, or is leaving, will not do: not those
    /// that are leaving, too.
    pub fn wake_those_left(&self) {
        let is_left = |rank| self.state(rank).phase() != Phase::Leaving;
        Asleep::behind_fence(self.sleepers).wake_those_of(0..self.size(), is_left);
    }

    /// Notes that the process of `rank` has ended, asleep perhaps: for the launcher, who knows.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn forget_sleeper(&self, rank: usize) {
        self.sleepers.forget(rank);
    }

    /// The ends of everything that are those of the rank whose seat was claimed.
    pub fn join(ticket: Ticket) -> Member {
        let (job, rank) = ticket.use_up();
        if !membarrier::register() {
            job.note_blind();
        }
        let arena = Arena::new(job.segment, job.layout.arena(rank), job.layout.ranks);
        let rows = Rows::new(job.segment, &job.layout, rank);
        Member { rank, arena, rows }
    }
}

/// One that was given up, or a new one; what exists from the start is reserved, and zeroes.
fn new_segment(layout: &Layout) -> io::Result<&'static Segment> {
    match crate::guest::take_vacant(layout) {
        None => Ok(Box::leak(Box::new(Segment::create(layout)?))),
        Some(segment) => {
            let reserved = segment.reserve(0, layout.fixed_bytes());
            reserved.inspect_err(|_| crate::guest::note_vacant(*layout, segment))?;
            Ok(segment)
        }
    }
}

#[cold]
fn too_large(ranks: u32, limit: Option<u64>) -> io::Error {
    let text = match limit {
        Some(limit) => {
            format!(
                "{ranks} ranks need more than {} KiB of it, the limit of file sizes (ulimit -f)",
                limit >> 10
            )
        }
        None => format!("{ranks} ranks are more than it can hold"),
    };
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ring::{Header as MessageHeader, Receiver, RingSize, Sender};
    use crate::{Announcement, Guest, Posts, Ties};

    fn ticket(job: Job, rank: usize) -> Ticket {
        let claim = job.claim(rank).expect("locks");
        let Claim::Taken(ticket) = claim else { panic!("the seat is not free: {claim:?}") };
        ticket
    }

    #[test]
    #[cfg_attr(any(miri, portable), ignore = "it is about files")]
    fn what_one_member_sends_the_other_receives() {
        let job = Job::create(3).expect("a segment");
        let other =
            Job::attach(job.file().try_clone_to_owned().expect("a descriptor")).expect("the same segment");
        let (mut first, third) = (Job::join(ticket(job, 0)), Job::join(ticket(other, 2)));
        let (table, size) = (job.rings(first.rank), RingSize::SMALL);
        let block = first.arena.take(size.bytes()).expect("memory");
        let mut sender = Sender::make(job.segment(), block, size).expect("room for it");
        table.show(third.rank, table.place(block, size, 0));
        job.knocks(third.rank).knock(first.rank);
        assert!(other.doorway(2).is_waiting());
        other.doorway(2).look();
        let mut knocked = Vec::new();
        other.knocks(2).take(|rank| knocked.push(rank));
        assert_eq!(knocked, [0]);
        other.knocks(2).take(|rank| panic!("rank {rank} has knocked once"));
        let table = other.rings(0);
        let (offset, size) = table.at(table.first(2).expect("just shown"));
        let mut receiver = Receiver::at(other.segment(), offset, size).expect("a ring");
        let room = sender.room(5).expect("an empty ring");
        room.payload.write(b"hello");
        room.send(MessageHeader { tag: 7, ..MessageHeader::default() });
        let arrival = receiver.arrival().expect("a message");
        assert_eq!((arrival.header.tag, arrival.payload.to_vec()), (7, b"hello".to_vec()));
        receiver.release(&arrival);
        assert!(receiver.arrival().is_none() && other.rings(0).first(1).is_none());
    }

    #[test]
    fn the_first_of_a_round_says_what_all_others_are_compared_with() {
        let job = Job::of_a_test(1);
        let told = |round, hash| job.is_told_the_same(round, hash);
        assert!(told(0, 0) && told(0, 0) && !told(0, 7));
        assert!(told(1, 7) && !told(1, 0) && told(1, 7));
    }

    #[test]
    fn a_state_page_answers_what_it_was_asked() {
        let job = Job::of_a_test(2);
        let state = job.state(1);
        assert_eq!((state.phase(), state.call(), state.report()), (Phase::Outside, 0, None));
        state.set_phase(Phase::Aborted(-3));
        state.ask();
        assert!(state.is_asked());
        state.answer("waits for rank 0");
        assert_eq!(state.report().as_deref(), Some("waits for rank 0"));
        assert_eq!(state.phase(), Phase::Aborted(-3));
    }

    #[test]
    fn ties_are_shown_until_they_end_and_counted_where_they_are_many() {
        let job = Job::of_a_test(2);
        let state = job.state(1);
        (1..=10).for_each(|job| state.tie(job));
        assert_eq!(state.ties(), Ties { jobs: (1..=8).collect(), more: 2 });
        [3, 10].into_iter().for_each(|job| state.untie(job));
        state.tie(11);
        assert_eq!(state.ties(), Ties { jobs: vec![1, 2, 11, 4, 5, 6, 7, 8], more: 1 });
        job.clear(1).expect("memory");
        assert_eq!(state.ties(), Ties::default());
    }

    /// Whoever sleeps is counted in its own segment, and looked for there by whoever has announced or sent something.
    #[test]
    #[cfg_attr(any(miri, portable), ignore = "it is about files")]
    fn a_rank_that_sleeps_is_woken_from_another_job() {
        let (job, other) = (Job::create(1).expect("a segment"), Job::create(2).expect("another"));
        // As who joins does; but no process attaches a job again in which it has a seat.
        membarrier::register();
        let (bed, doorway) = (job.bed(0), job.doorway(0));
        let announcement = Announcement { job: other.id(), rank: 1, offset: 0, size: RingSize::FULL };
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                while doorway.take(|_| true).is_none() {
                    bed.sleep(Duration::from_secs(60), Posts::OfAnybody, || doorway.is_waiting());
                }
            });
            while !job.someone_sleeps() {
                std::thread::yield_now();
            }
            assert!(!other.someone_sleeps());
            let file = job.file().try_clone_to_owned().expect("a descriptor");
            let seen = Guest::attach(file).expect("a segment").job();
            assert!(seen.doorway(0).announce(&announcement));
            while !sleeper.is_finished() {
                seen.wake(0);
            }
        });
    }

    #[test]
    #[cfg_attr(any(miri, portable), ignore = "it is about files")]
    fn a_seat_is_claimed_once_and_its_owner_is_known() {
        let job = Job::create(2).expect("a segment");
        assert_eq!(job.owner(1), None);
        let first = ticket(job, 1);
        assert_eq!((first.rank(), first.round()), (1, 0));
        assert_eq!(job.owner(1), Some(std::process::id()));
        assert!(matches!(job.claim(1), Ok(Claim::Here)));
        assert_eq!((job.owner(0), job.round(1)), (None, 0));
    }

    /// Not even where the lock was lost, and another mapping of the segment shows it.
    #[test]
    #[cfg_attr(miri, ignore = "it is about files")]
    fn nobody_joins_as_a_rank_of_which_this_process_has_the_ends() {
        let job = Job::create(2).expect("a segment");
        let member = Job::join(ticket(job, 1));
        let descriptor = || job.file().try_clone_to_owned().expect("a descriptor");
        let other = Job::attach(descriptor()).expect("the same segment");
        drop(descriptor());
        job.state(1).set_phase(Phase::Finalized);
        assert_eq!(job.owner(1), None);
        for job in [job, other] {
            assert!(matches!(job.claim(1), Ok(Claim::Here)));
        }
        drop(member);
        assert!(matches!(job.claim(1), Ok(Claim::Here)), "what it knew of the arena is lost");
    }

    #[test]
    #[cfg_attr(any(miri, portable), ignore = "it is about files")]
    fn a_seat_has_a_successor_when_its_owner_has_finalized_and_gone() {
        let job = Job::create(1).expect("a segment");
        let claim_and_go = || {
            let claim = job.claim(0).expect("locks");
            // To close any descriptor of the file ends the lock, as the end of the process does.
            drop(job.file().try_clone_to_owned().expect("a descriptor"));
            match claim {
                Claim::Taken(ticket) => Some(ticket.round()),
                Claim::Deserted => None,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(claim_and_go(), Some(0));
        job.state(0).set_phase(Phase::Running);
        assert_eq!(claim_and_go(), None);
        job.state(0).set_phase(Phase::Finalized);
        assert_eq!((claim_and_go(), claim_and_go()), (Some(1), Some(2)));
        assert_eq!(job.round(0), 2);
    }

    #[test]
    #[cfg_attr(any(miri, portable), ignore = "it is about files")]
    fn a_foreign_descriptor_is_refused() {
        let file = oxmpi_system::file::in_memory(c"test").expect("a file");
        oxmpi_system::file::set_bytes(file.as_fd(), 1 << 20).expect("room");
        assert_eq!(Job::attach(file).expect_err("no segment").kind(), io::ErrorKind::InvalidData);
    }
}
