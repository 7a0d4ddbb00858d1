//! Memory that stands in for a program's buffers while algorithms are tried: those are the program's.
//!
//! It is as long as they are packed, lies alike in its pages, and is full of zeroes, which every predefined operation
//! combines to zeroes again.

use oxmpi_datatype::Buffer;
use oxmpi_engine::Binding;
use oxmpi_mem::reserve::{Growth, has_room};
use oxmpi_mem::{Pool, Region, Taken};

use super::operation::Operation;

/// The stand-ins of an operation's buffers, which go back to the pool they came from.
#[derive(Debug)]
pub(super) struct StandIn {
    taken: Vec<Taken>,
    send: Buffer,
    recv: Buffer,
}

/// So many bytes are tried at most: more take longer to touch than is allowed to try.
const MOST_BYTES: u64 = 64 << 20;
const PAGE: usize = 4096;

impl StandIn {
    /// For the buffers of `operation`, if they are not too long and there is memory, also for runs that need so much of
    /// their own, one after the other.
    pub(super) fn take(
        pool: &mut Pool,
        operation: &Operation,
        scratch_bytes: impl IntoIterator<Item = u64>,
    ) -> Option<Self> {
        let Binding { send, recv, .. } = &operation.binding;
        if send.bytes().saturating_add(recv.bytes()) > MOST_BYTES || !has_room(Growth::Within) {
            return None;
        }
        let mut all = Self { taken: Vec::new(), send: Buffer::EMPTY, recv: Buffer::EMPTY };
        let is_there = all.fill(pool, send, recv).and_then(|()| make_room(pool, scratch_bytes));
        if is_there.is_none() {
            all.give_back(pool);
            return None;
        }
        Some(all)
    }

    fn fill(&mut self, pool: &mut Pool, send: &Buffer, recv: &Buffer) -> Option<()> {
        let into = self.like(pool, recv)?;
        let from = match offset_in(recv, send) {
            Some(offset) => into.part(offset, send.bytes() as usize),
            None => self.like(pool, send)?,
        };
        (self.send, self.recv) = (Buffer::dense(from), Buffer::dense(into));
        Some(())
    }

    /// The binding of a run on them.
    pub(super) fn bind(&self, operation: &Operation) -> Binding {
        let (send, recv) = (self.send.clone(), self.recv.clone());
        Binding { send, recv, reducer: operation.binding.reducer.clone(), images: None }
    }

    pub(super) fn give_back(self, pool: &mut Pool) {
        self.taken.into_iter().for_each(|taken| pool.give(taken));
    }

    /// Memory like that of a buffer.
    fn like(&mut self, pool: &mut Pool, buffer: &Buffer) -> Option<Region> {
        let bytes = buffer.bytes() as usize;
        if bytes == 0 {
            return Some(Region::EMPTY);
        }
        let begin = buffer.part(0, 1).map_or(0, |first| first.as_ptr().addr() % PAGE);
        // What the pool gives of a page and more begins with one.
        let taken = pool.try_take((begin + bytes).max(PAGE))?;
        let region = taken.part(begin, bytes);
        for offset in (0..bytes).step_by(PAGE) {
            let rest = PAGE.min(bytes - offset);
            region.part(offset, rest).write(&[0; PAGE][..rest]);
        }
        self.taken.push(taken);
        Some(region)
    }
}

/// Lets the pool have what runs take of it, which ask for memory that there must be.
fn make_room(pool: &mut Pool, scratch_bytes: impl IntoIterator<Item = u64>) -> Option<()> {
    for bytes in scratch_bytes {
        let taken = pool.try_take(usize::try_from(bytes).ok()?)?;
        pool.give(taken);
    }
    Some(())
}

/// Where `part` lies in `whole`, if it does.
fn offset_in(whole: &Buffer, part: &Buffer) -> Option<usize> {
    let [whole, part] = [whole.as_dense()?, part.as_dense()?];
    let offset = part.as_ptr().addr().checked_sub(whole.as_ptr().addr())?;
    let is_inside = !part.is_empty() && offset.checked_add(part.len())? <= whole.len();
    is_inside.then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operation(send: Buffer, recv: Buffer) -> Operation {
        let shape = oxmpi_plan::Shape::of(oxmpi_plan::Collective::Allgather, 2, 1);
        Operation::moving(shape, send, recv, true).expect("in place nothing is refused")
    }

    #[test]
    fn what_stands_in_lies_alike_and_is_apart() {
        let mut pool = Pool::default();
        let memory = pool.take(5 * PAGE);
        let (recv, send) = (memory.part(100, 3 * PAGE), memory.part(100 + PAGE, 77));
        memory.write(&[7; 5 * PAGE]);
        let operation = operation(Buffer::dense(send), Buffer::dense(recv));
        let stand_in = StandIn::take(&mut pool, &operation, [0, 5000]).expect("there is memory");
        let binding = stand_in.bind(&operation);
        let [from, into] = [&binding.send, &binding.recv].map(|buffer| buffer.as_dense().expect("one piece"));
        assert_eq!((into.len(), into.as_ptr().addr() % PAGE), (3 * PAGE, 100));
        assert_eq!(from.as_ptr().addr() - into.as_ptr().addr(), PAGE, "in place it is a part");
        assert!(into.to_vec().iter().all(|&byte| byte == 0));
        into.write(&[1; 3 * PAGE]);
        assert!(memory.to_vec().iter().all(|&byte| byte == 7));
        let used = pool.used_bytes();
        stand_in.give_back(&mut pool);
        assert!(pool.used_bytes() < used);
    }

    #[test]
    fn where_a_run_would_find_no_memory_nothing_is_tried() {
        let mut pool = Pool::default();
        let memory = pool.take(100);
        let operation = operation(Buffer::EMPTY, Buffer::dense(*memory));
        let used = pool.used_bytes();
        for too_much in [1 << 62, u64::MAX] {
            assert!(StandIn::take(&mut pool, &operation, [100, too_much]).is_none());
            assert_eq!(pool.used_bytes(), used, "what was taken has gone back");
        }
        pool.give(memory);
    }

    #[test]
    fn what_is_too_long_is_not_tried() {
        let mut pool = Pool::default();
        let memory = pool.take(MOST_BYTES as usize + 1);
        let operation = operation(Buffer::EMPTY, Buffer::dense(*memory));
        assert!(StandIn::take(&mut pool, &operation, []).is_none());
        pool.give(memory);
    }
}
