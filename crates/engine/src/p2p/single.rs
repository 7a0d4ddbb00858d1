//! Whether to read a peer's memory directly, found out by trying.
//!
//! The first long message from a peer decides: a part of it is read directly and timed against copying as
//! much within this process twice, which is what the ring costs. Where the system forbids the reading, the
//! ring is used and nobody is told. Beside strangers that compute the ring costs more than its copies: then the
//! longest messages are read directly all the same.

use std::time::Instant;

use oxmpi_mem::Region;
use oxmpi_shm::SingleCopy;
use oxmpi_shm::ring::Header;

use super::{OpKey, P2p};
use crate::peers::PeerId;

/// What is known about reading a peer's memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reach {
    Unknown,
    /// It does not work.
    Ring,
    /// It works.
    Direct {
        copy: SingleCopy,
        is_faster: bool,
    },
}

/// Messages below this go through the ring: both ends copy at once there.
pub(super) const DIRECT_FROM_BYTES: u64 = 256 << 10;
const SAMPLE_BYTES: usize = 128 << 10;

impl P2p {
    /// Reads an announced message out of the sender's memory, if that is possible and wins.
    pub(super) fn fetch(&mut self, receive: OpKey, from: PeerId, header: &Header, address: u64) -> bool {
        if header.bytes < DIRECT_FROM_BYTES || address == 0 {
            return false;
        }
        let Some(into) = self.ops.get(receive).and_then(|op| op.buffer.as_dense()) else { return false };
        let wanted = into.part(0, into.len().min(header.bytes as usize));
        self.read_memory(from, address, header.bytes, &wanted)
    }

    /// Reads all of `into` at an address of a peer's memory, of what `bytes` bytes are there, if that is possible and
    /// wins.
    pub(super) fn read_memory(&mut self, from: PeerId, address: u64, bytes: u64, into: &Region) -> bool {
        if matches!(self.peers[from].reach, Reach::Unknown) {
            self.peers[from].reach = self.probe_reach(from, address);
        }
        match self.peers[from].reach {
            Reach::Direct { copy, is_faster } => {
                (is_faster || bytes >= self.direct_from_bytes) && copy.read(address, into)
            }
            Reach::Ring | Reach::Unknown => false,
        }
    }

    fn probe_reach(&mut self, from: PeerId, address: u64) -> Reach {
        let Some(copy) = self.peers.seat(from).memory() else { return Reach::Ring };
        let (first, second) = (self.pool.take(SAMPLE_BYTES), self.pool.take(SAMPLE_BYTES));
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
            (Some(direct), Some(staged)) => Reach::Direct { copy, is_faster: direct < staged },
            _ => Reach::Ring,
        }
    }
}

/// Nanoseconds of the better of two tries, the first of which warms up; `None` if it fails.
fn time(mut attempt: impl FnMut() -> bool) -> Option<u128> {
    let mut best = u128::MAX;
    for _ in 0..2 {
        let begin = Instant::now();
        if !attempt() {
            return None;
        }
        best = best.min(begin.elapsed().as_nanos());
    }
    Some(best)
}
