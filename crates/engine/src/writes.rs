//! How data is written that another process reads next: through the caches, or past them.
//!
//! What a peer has read lies in its processor's cache, and to write there again takes each line away from that. Where
//! two processors have a cache in common that is soon done; where they have none it may take longer than all else that
//! is done with the bytes. To write past the caches asks nobody; but then the reader has to go to memory. So both are
//! tried, by the rule of [`Course`], for each length. What it takes is the time of a copy, in which nobody is waited
//! for.

use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_mem::copy::Next;
use oxmpi_shm::now_ns;

use crate::course::{Course, Courses, Either};

/// See the module; for one peer, or several.
#[derive(Debug, Default)]
pub(crate) struct Writes(Option<Box<ByLength>>);

/// What bytes are written through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Through {
    Caches,
    Memory,
}

impl Either for Through {
    const FIRST: Self = Self::Caches;
    const SECOND: Self = Self::Memory;
}

/// From here on it is worth knowing.
const FROM_BYTES: u64 = 1 << SHORTEST_BITS;
const SHORTEST_BITS: u32 = 12;
/// From 4 KiB to 1 MiB and more.
type ByLength = Courses<Through, SHORTEST_BITS, 9>;
/// How many bytes come from memory in a nanosecond, instead of from another processor's cache.
const READ_BYTES_PER_NS: u64 = 16;

impl Writes {
    /// Writes all of `into`, of which a peer knows, with the packed bytes of a buffer from `offset`.
    #[inline]
    pub(crate) fn write(&mut self, buffer: &Buffer, offset: u64, into: &Region) {
        let bytes = into.len() as u64;
        match (bytes >= FROM_BYTES).then(|| buffer.part(offset, bytes)).flatten() {
            Some(from) => self.copy(&from, into),
            None => buffer.read(offset, into),
        }
    }

    /// The same, with what is in one piece.
    #[inline]
    pub(crate) fn copy(&mut self, from: &Region, into: &Region) {
        if (into.len() as u64) < FROM_BYTES {
            return into.copy_from(from);
        }
        self.copy_much(from, into);
    }

    #[inline(never)]
    fn copy_much(&mut self, from: &Region, into: &Region) {
        let bytes = from.len() as u64;
        let course = self.course(bytes);
        let through = course.choose();
        if !course.times(through) {
            return copy_through(through, from, into);
        }
        let begun_ns = now_ns();
        copy_through(through, from, into);
        let took_ns = now_ns().saturating_sub(begun_ns);
        self.course(bytes).add(through, 1, bytes, cost_ns(through, bytes, took_ns));
    }

    /// Whether so many bytes are written one way and the other to find out which is the faster: what they take then
    /// says little about later.
    pub(crate) fn are_tried(&mut self, bytes: u64) -> bool {
        bytes >= FROM_BYTES && self.course(bytes).is_trying()
    }

    fn course(&mut self, bytes: u64) -> &mut Course<Through> {
        &mut self.0.get_or_insert_default()[ByLength::place(bytes)]
    }
}

/// What it costs to write so many bytes if the copy takes so long: who reads them past the caches waits for memory.
fn cost_ns(through: Through, bytes: u64, took_ns: u64) -> u64 {
    match through {
        Through::Caches => took_ns,
        Through::Memory => took_ns + bytes / READ_BYTES_PER_NS,
    }
}

fn copy_through(through: Through, from: &Region, into: &Region) {
    into.copy_hinted(from, if through == Through::Memory { Next::Elsewhere } else { Next::Soon });
}

#[cfg(test)]
mod tests {
    use oxmpi_mem::Pool;

    use super::*;

    /// Long enough that both ways are tried, and one taken.
    #[test]
    fn all_bytes_arrive_whichever_way_they_are_written() {
        let (mut writes, mut pool) = (Writes::default(), Pool::default());
        let [from, into] = [70_001; 2].map(|bytes| pool.take(bytes));
        let buffer = Buffer::dense(from.part(0, 70_001));
        for bytes in [1, 4095, 4096, 70_001] {
            for round in 0..40_u8 {
                let sent: Vec<u8> = (0..bytes).map(|at| (at as u8).wrapping_mul(7) ^ round).collect();
                from.write(&sent);
                writes.write(&buffer, 0, &into.part(0, bytes));
                assert_eq!(into.part(0, bytes).to_vec(), sent);
            }
        }
    }

    /// Which way that is does not depend on how long the copies take that are measured here.
    #[test]
    fn past_the_caches_is_worth_it_only_if_readers_lose_less_than_is_won() {
        for (through_caches_ns, past_ns, is_past) in
            [(31_000, 3000, true), (2500, 3000, false), (7500, 3000, false)]
        {
            let mut course = Course::default();
            for _ in 0..40 {
                let through = course.choose();
                let took_ns = if through == Through::Memory { past_ns } else { through_caches_ns };
                course.add(through, 1, 1 << 16, cost_ns(through, 1 << 16, took_ns));
            }
            assert_eq!(course.choose() == Through::Memory, is_past, "{through_caches_ns}, {past_ns}");
        }
    }
}
