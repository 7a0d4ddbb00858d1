//! A job's segment, as its launcher and as its ranks see it.

use std::io;
use std::mem::offset_of;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::slice;

use rustix::process::Resource;

use crate::doorbell::register_for_barriers;
use crate::layout::Layout;
use crate::lifeline;
use crate::ring::{Cell, Credit, Receiver, Sender};
use crate::sync::{AtomicU32, Ordering};
use crate::{Arena, Doorbell, Segment, Sleepers, StatePage, Waker, usable_cpus};

/// The segment of one job.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    segment: &'static Segment,
    header: &'static Header,
    layout: Layout,
}

/// One rank's place in a job: its own ends of everything.
#[derive(Debug)]
pub struct Member {
    /// This rank.
    pub rank: usize,
    /// Rings to each rank, by rank; to itself too, which nobody uses.
    pub senders: Vec<Sender>,
    /// Rings from each rank, by rank.
    pub receivers: Vec<Receiver>,
    /// The rank's part of the segment.
    pub arena: Arena,
}

#[repr(C)]
#[derive(Debug)]
struct Header {
    magic: AtomicU32,
    ranks: AtomicU32,
    arena_bits: AtomicU32,
    cpus: AtomicU32,
    sleepers: Sleepers,
}

/// Changes whenever the layout does, so that a launcher and a library of different versions say so.
const MAGIC: u32 = 0x6f78_0003;

impl Job {
    /// Makes the segment for a job of `ranks` ranks.
    ///
    /// # Errors
    /// The system's, if it has not enough memory for the fixed part (see the module `layout`); `FileTooLarge` if the
    /// limit of file sizes is too small for that and a little arena for each rank.
    pub fn create(ranks: u32) -> io::Result<Self> {
        let limit = rustix::process::getrlimit(Resource::Fsize).current;
        let layout = Layout::for_ranks(ranks as usize, limit.unwrap_or(u64::MAX))
            .ok_or_else(|| too_large(ranks, limit))?;
        let job = Self::view(Box::leak(Box::new(Segment::create(&layout)?)), layout);
        job.header.ranks.store(ranks, Ordering::Relaxed);
        job.header.arena_bits.store(layout.arena_bits(), Ordering::Relaxed);
        let cpus = u32::try_from(usable_cpus()).unwrap_or(u32::MAX);
        job.header.cpus.store(cpus, Ordering::Relaxed);
        job.header.magic.store(MAGIC, Ordering::Relaxed); // ranks are made later, and read the file
        Ok(job)
    }

    /// Maps the segment that the launcher made.
    ///
    /// # Errors
    /// The system's; `InvalidData` if `file` is no segment of this version.
    pub fn attach(file: OwnedFd) -> io::Result<Self> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        // Only its beginning says how long it is.
        let mut words = [0; 3 * size_of::<u32>()];
        if rustix::io::pread(&file, &mut words, Layout::HEADER as u64)? < words.len() {
            return Err(wrong("the inherited descriptor is not a job's segment"));
        }
        let word = |at: usize| u32::from_ne_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        if word(offset_of!(Header, magic)) != MAGIC {
            return Err(wrong("the launcher and the library are of different versions of oxmpi"));
        }
        let (ranks, arena_bits) = (word(offset_of!(Header, ranks)), word(offset_of!(Header, arena_bits)));
        let layout = Layout::with_arenas(ranks as usize, arena_bits)
            .ok_or_else(|| wrong("the job's segment is damaged"))?;
        Ok(Self::view(Box::leak(Box::new(Segment::map(file, &layout)?)), layout))
    }

    /// The job that the launcher has put this process into, and its rank there; `None` without a launcher.
    ///
    /// # Errors
    /// `InvalidData` if the environment is damaged; those of [`Job::attach`].
    pub fn inherited() -> io::Result<Option<(Self, usize)>> {
        let Some(fd) = number_from_environment("OXMPI_JOB_FD")? else { return Ok(None) };
        let Some(rank) = number_from_environment("OXMPI_RANK")? else { return Ok(None) };
        let file = inherited_file(fd)?;
        let job = Self::attach(file)?;
        if rank >= job.size() {
            let text = format!("OXMPI_RANK is {rank}, but the job has {} ranks", job.size());
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if let Some(lifeline) = number_from_environment("OXMPI_LIFELINE_FD")? {
            lifeline::arm(lifeline);
        }
        Ok(Some((job, rank)))
    }

    fn view(segment: &'static Segment, layout: Layout) -> Self {
        // SAFETY: a header consists of atomics, and every version of oxmpi has one here.
        let header = unsafe { segment.view::<Header>(Layout::HEADER) };
        Self { segment, header, layout }
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

    /// The doorbell of `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn doorbell(&self, rank: usize) -> &'static Doorbell {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        // SAFETY: a line of atomics, which the layout puts here.
        unsafe { self.segment.view(self.layout.doorbell(rank)) }
    }

    /// Offset of the [`FIRST_LINES`](crate::FIRST_LINES) lines of `rank`.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn first_lines(&self, rank: usize) -> u64 {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        self.layout.first_lines(rank) as u64
    }

    /// The means to know whether anybody must be woken.
    pub fn waker(&self) -> Waker {
        Waker::new(&self.header.sleepers)
    }

    /// Wakes every rank that sleeps.
    pub fn wake_all(&self) {
        (0..self.size()).for_each(|rank| self.doorbell(rank).ring());
    }

    /// Takes the place of `rank`. Each place may be taken once in a job.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn join(&self, rank: usize) -> Member {
        assert!(rank < self.size(), "rank {rank} of {}", self.size());
        register_for_barriers();
        let arena = Arena::new(self.segment, self.layout.arena(rank));
        let senders = (0..self.size()).map(|dst| self.sender(rank, dst)).collect();
        let receivers = (0..self.size()).map(|src| self.receiver(src, rank)).collect();
        Member { rank, senders, receivers, arena }
    }

    fn sender(&self, src: usize, dst: usize) -> Sender {
        let (cells, credit, bulk) = self.ring(src, dst);
        Sender::new(cells, credit, bulk)
    }

    fn receiver(&self, src: usize, dst: usize) -> Receiver {
        let (cells, credit, bulk) = self.ring(src, dst);
        Receiver::new(cells, credit, bulk)
    }

    fn ring(&self, src: usize, dst: usize) -> (&'static [Cell], &'static Credit, oxmpi_mem::Region) {
        let (begin, size) = (self.layout.ring(src, dst), self.layout.ring);
        // SAFETY: a line of atomics, which the layout puts at the beginning of a ring.
        let credit = unsafe { self.segment.view::<Credit>(begin) };
        let first = begin + size_of::<Credit>();
        // SAFETY: cells are atomics and cells; the layout puts `size.cells` of them here.
        let cell = unsafe { self.segment.view::<Cell>(first) };
        // SAFETY: the array lies inside the ring, and so inside the segment.
        let cells = unsafe { slice::from_raw_parts(cell, size.cells) };
        let bulk = begin + size.bulk();
        let bulk = self.segment.region(bulk as u64, size.bulk_bytes).expect("the layout lies in the segment");
        (cells, credit, bulk)
    }
}

fn number_from_environment(name: &str) -> io::Result<Option<usize>> {
    let Some(text) = std::env::var_os(name) else { return Ok(None) };
    match text.to_str().and_then(|text| text.parse().ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, format!("{name} is {text:?}, not a number"))),
    }
}

/// A descriptor of our own for the one that the launcher let us inherit. That one stays open: a program that
/// this one starts may be meant to take the rank's place.
fn inherited_file(fd: usize) -> io::Result<OwnedFd> {
    let fd =
        i32::try_from(fd).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "no such descriptor"))?;
    // SAFETY: the descriptor is only borrowed for the call; if it is not open the call says so.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    borrowed.try_clone_to_owned()
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
    use super::*;
    use crate::Phase;
    use crate::ring::Header as MessageHeader;

    #[test]
    fn what_one_member_sends_the_other_receives() {
        let job = Job::create(3).expect("a segment");
        let other =
            Job::attach(job.file().try_clone_to_owned().expect("a descriptor")).expect("the same segment");
        let (mut first, mut third) = (job.join(0), other.join(2));
        let room = first.senders[2].room(5).expect("an empty ring");
        room.payload.write(b"hello");
        room.send(MessageHeader { tag: 7, ..MessageHeader::default() });
        let arrival = third.receivers[0].arrival().expect("a message");
        assert_eq!((arrival.header.tag, arrival.payload.to_vec()), (7, b"hello".to_vec()));
        third.receivers[0].release(&arrival);
        assert!(third.receivers[0].arrival().is_none() && third.receivers[1].arrival().is_none());
    }

    #[test]
    fn a_state_page_answers_what_it_was_asked() {
        let job = Job::create(2).expect("a segment");
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
    fn a_foreign_descriptor_is_refused() {
        let file = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).expect("a file");
        rustix::fs::ftruncate(&file, 1 << 20).expect("room");
        assert_eq!(Job::attach(file).expect_err("no segment").kind(), io::ErrorKind::InvalidData);
    }
}
