//! Messages that are read out of a peer's memory, where that is possible and wins.
//!
//! Whether it works is tried with the first long message from a peer; where the system forbids it the ring is used, and
//! nobody is told. Whether it wins is found out with those that follow: see the module `ways`. Beside strangers that
//! compute, the longest messages are read directly all the same: every piece of what comes through the ring must wait
//! until both ranks have a processor.
//!
//! Nothing is tried where the sender has told the name of memory that lies in the segment: see `allocations`.

use oxmpi_mem::Region;
use oxmpi_shm::SingleCopy;
use oxmpi_shm::now_ns;
use oxmpi_shm::ring::{Header, RingSize};

use super::ways::Ways;
use super::{OpKey, P2p, offset_of_name};
use crate::course::Way;
use crate::peers::PeerId;

/// When the memory of peers is read directly, instead of copied into shared memory and out of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// Where that is possible, be it slower.
    Always,
    /// Where it wins.
    #[default]
    Auto,
    /// Not at all.
    Never,
}

/// Whether a peer's memory can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Memory {
    /// It was not tried.
    Unknown,
    Closed,
    Open(SingleCopy),
}

/// What is known about reading messages out of a peer's memory.
#[derive(Debug)]
pub(crate) enum Reach {
    Unknown,
    /// It does not work.
    Ring,
    /// It works.
    Direct(Box<Direct>),
}

/// A peer whose memory can be read.
#[derive(Debug)]
pub(crate) struct Direct {
    copy: SingleCopy,
    ways: Ways,
    /// Which is likely to win where nothing was tried: to read a part of the first message, or to copy as much within
    /// this process twice.
    likely: Way,
}

const SAMPLE_BYTES: usize = 128 << 10;

/// What is posted is read from so many bytes on.
const LEAST_POSTED_BYTES: u64 = 16 << 10;

impl P2p {
    /// Reads an announced message out of the sender's memory, if that is possible and wins.
    pub(super) fn fetch(&mut self, receive: OpKey, from: PeerId, header: &Header, address: u64) -> bool {
        if let Some(offset) = offset_of_name(address) {
            return self.copy_named(receive, from, header, offset);
        }
        if address == 0 || !is_long(header.bytes) {
            return false;
        }
        let Some(into) = self.ops.get(receive).and_then(|op| op.buffer.as_dense()) else { return false };
        let wanted = into.part(0, into.len().min(header.bytes as usize));
        self.read_memory(from, address, header.bytes, &wanted)
    }

    /// Copies an announced message, as far as it fits, from where it lies in the segment.
    fn copy_named(&mut self, receive: OpKey, from: PeerId, header: &Header, offset: u64) -> bool {
        let Some(op) = self.ops.get(receive) else { return false };
        let wanted = op.buffer.bytes().min(header.bytes);
        self.named(from, offset, wanted).map(|memory| op.buffer.write(0, &memory)).is_some()
    }

    /// A peer's memory that it has named, if it is seen from here.
    fn named(&self, from: PeerId, offset: u64, bytes: u64) -> Option<Region> {
        let bytes = usize::try_from(bytes).ok().filter(|_| !self.peers.is_elsewhere(from))?;
        self.peers.seat(from).segment().region(offset, bytes).ok()
    }

    /// The data of an announced message is to come through the ring.
    pub(super) fn note_asked(&mut self, from: PeerId, bytes: u64) {
        if let Reach::Direct(direct) = &mut self.peers[from].reach
            && is_long(bytes)
        {
            direct.ways.begins(bytes, now_ns);
        }
    }

    /// All of it has come.
    pub(super) fn note_come(&mut self, from: PeerId, bytes: u64) {
        if let Reach::Direct(direct) = &mut self.peers[from].reach
            && is_long(bytes)
        {
            direct.ways.ends(bytes, now_ns);
        }
    }

    /// Reads all of `into` at an address of a peer's memory, where a message of `bytes` bytes lies, if that is possible
    /// and wins, or is to be tried.
    fn read_memory(&mut self, from: PeerId, address: u64, bytes: u64, into: &Region) -> bool {
        let is_read_anyway = self.is_read_anyway(bytes);
        let Some(Direct { copy, ways, .. }) = self.reach(from, address, bytes) else { return false };
        if ways.choose(bytes) == Way::Shared && !is_read_anyway {
            return false;
        }
        if !ways.times(Way::Direct, bytes) {
            return copy.read(address, into);
        }
        let begun_ns = now_ns();
        let is_read = copy.read(address, into);
        ways.has_read(bytes, now_ns().saturating_sub(begun_ns));
        is_read
    }

    /// The same of what comes otherwise in parts, which nobody times: as messages have been seen to go, or are likely
    /// to.
    pub(super) fn read_part(&mut self, from: PeerId, address: u64, into: &Region) -> bool {
        let bytes = into.len() as u64;
        if let Some(offset) = offset_of_name(address) {
            return self.named(from, offset, bytes).map(|memory| into.copy_from(&memory)).is_some();
        }
        let is_read_anyway = self.is_read_anyway(bytes);
        let Some(Direct { copy, ways, likely }) = self.reach(from, address, bytes) else { return false };
        let is_read = is_read_anyway || ways.faster(bytes).unwrap_or(*likely) == Way::Direct;
        is_read && copy.read(address, into)
    }

    /// Whether so many bytes are read directly, be it slower.
    pub(crate) fn is_read_anyway(&self, bytes: u64) -> bool {
        self.reading == Reading::Always || bytes >= self.direct_from_bytes
    }

    /// What is posted may be read directly if there are so many bytes.
    #[inline]
    pub(crate) fn least_read_bytes(&self) -> u64 {
        match self.reading {
            Reading::Always => 1,
            // To wait for readers is to wait for turns, which is worth it beside strangers alone.
            Reading::Auto if self.is_crowded() => self.direct_from_bytes,
            Reading::Auto => LEAST_POSTED_BYTES,
            Reading::Never => u64::MAX,
        }
    }

    /// Whether ranks take turns at the processors.
    #[inline]
    pub(crate) fn is_crowded(&self) -> bool {
        self.peers.job().size() > self.cpus()
    }

    /// Processors that the ranks of the job may use.
    #[inline]
    pub(crate) fn cpus(&self) -> usize {
        self.peers.job().cpus().min(self.most_cpus)
    }

    /// A peer's memory, if it can be read: that is tried once.
    pub fn memory_of(&mut self, from: PeerId) -> Option<SingleCopy> {
        let is_forbidden = self.reading == Reading::Never;
        let peer = &mut self.peers[from];
        if let Memory::Unknown = peer.memory {
            let found = if is_forbidden { None } else { peer.seat.memory() };
            peer.memory = found.map_or(Memory::Closed, Memory::Open);
        }
        match peer.memory {
            Memory::Open(copy) => Some(copy),
            Memory::Closed | Memory::Unknown => None,
        }
    }

    /// A peer's memory could not be read after all.
    #[cold]
    pub fn close_memory_of(&mut self, from: PeerId) {
        self.peers[from].memory = Memory::Closed;
    }

    /// A peer whose memory can be read; tries whether it can, where `bytes` bytes lie at an address.
    fn reach(&mut self, from: PeerId, address: u64, bytes: u64) -> Option<&mut Direct> {
        if matches!(self.peers[from].reach, Reach::Unknown) {
            self.peers[from].reach = self.probe_reach(from, address, bytes);
        }
        match &mut self.peers[from].reach {
            Reach::Direct(direct) => Some(direct),
            Reach::Ring | Reach::Unknown => None,
        }
    }

    fn probe_reach(&mut self, from: PeerId, address: u64, bytes: u64) -> Reach {
        let Some(copy) = self.memory_of(from) else { return Reach::Ring };
        let sample_bytes = SAMPLE_BYTES.min(bytes as usize);
        let (first, second) = (self.pool.take(sample_bytes), self.pool.take(sample_bytes));
        let twice = |target: &Region, source: &Region| {
            target.copy_from(source);
            source.copy_from(target);
            true
        };
        let staged = time(|| twice(&first, &second));
        let direct = time(|| copy.read(address, &first));
        self.pool.give(first);
        self.pool.give(second);
        match (direct, staged) {
            (Some(direct), Some(staged)) => {
                let likely = if direct < staged { Way::Direct } else { Way::Shared };
                Reach::Direct(Box::new(Direct { copy, ways: Ways::default(), likely }))
            }
            _ => Reach::Ring,
        }
    }
}

/// Whether a message is too long to go by the ring at once.
fn is_long(bytes: u64) -> bool {
    bytes > RingSize::LARGEST_PAYLOAD as u64
}

/// Nanoseconds of the better of two tries, the first of which warms up; `None` if it fails.
fn time(mut attempt: impl FnMut() -> bool) -> Option<u64> {
    let mut best = u64::MAX;
    for _ in 0..2 {
        let begun_ns = now_ns();
        if !attempt() {
            return None;
        }
        best = best.min(now_ns().saturating_sub(begun_ns));
    }
    Some(best)
}
