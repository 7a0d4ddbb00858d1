//! Which places of an arena are free: buddies that are joined late.
//!
//! A block of 2^k bytes lies at a multiple of 2^k in its window. One that is given back goes on the list of its size,
//! and is the next of that size that is taken: a push and a pop. Only when none of a size is free, and as many blocks
//! have been given back as lie on all lists, are neighbours joined; so that costs little for each block. What is
//! missing then is split off the smallest that is longer.
//!
//! What was taken is noted by its place, so that what is given back and was not taken from here is left alone.

use std::ops::Range;

use crate::layout::{SMALLEST_BITS as CHUNK_BITS, Windows};

/// The places of one arena, from 0. Sizes are given as logarithms.
#[derive(Debug)]
pub(super) struct Buddies {
    /// Free places, by size.
    free: [Vec<usize>; SIZES],
    /// A bit for each window that is still whole, and in no list.
    untouched: u64,
    /// As far as the arena was used.
    chunks: Vec<Chunk>,
    /// Blocks that were given back, and how many there were when neighbours were joined.
    given: usize,
    given_before: usize,
}

/// A megabyte of the arena, which holds short blocks, or is a part of a long one.
#[derive(Debug, Default)]
struct Chunk {
    /// Chunks of the long block that was taken here; 0 if none begins here.
    long: u32,
    /// Whether there is memory behind it.
    claimed: bool,
    /// Size of the short block that was taken at each place, or [`NONE`].
    short: Option<Box<[u8; PLACES]>>,
}

/// The size of a chunk, and of the smallest long block.
pub(super) const CHUNK: u32 = CHUNK_BITS;
/// The size of the smallest short block.
pub(super) const SMALLEST: u32 = 7;
/// The smallest blocks of a chunk.
const PLACES: usize = 1 << (CHUNK - SMALLEST);
/// No block's size.
const NONE: u8 = u8::MAX;
const SIZES: usize = usize::BITS as usize + 1;

impl Buddies {
    /// All of an arena that has so many windows.
    pub(super) fn new(windows: u32) -> Self {
        let untouched = (1 << windows) - 1;
        Self { free: [const { Vec::new() }; SIZES], untouched, chunks: Vec::new(), given: 0, given_before: 0 }
    }

    /// Takes a short block that was given back.
    #[inline]
    pub(super) fn take_again(&mut self, size: u32) -> Option<usize> {
        if size >= CHUNK {
            return None;
        }
        let place = *self.free[size as usize].last()?;
        *self.short(place)? = size as u8;
        self.free[size as usize].pop()
    }

    /// Removes a place of this size from what is free in windows that were opened.
    pub(super) fn find(&mut self, size: u32) -> Option<usize> {
        if self.free[size as usize].is_empty() && self.given - self.given_before >= self.count() {
            self.join();
        }
        let larger = (size as usize..SIZES).find(|&larger| !self.free[larger].is_empty())?;
        let place = self.free[larger].pop()?;
        (size as usize..larger).rev().for_each(|half| self.free[half].push(place + (1 << half)));
        Some(place)
    }

    /// The same of a short one in a chunk that has memory: of the first one, so many bytes.
    pub(super) fn find_claimed(&mut self, size: u32, of_first: usize) -> Option<usize> {
        for larger in size as usize..CHUNK as usize {
            let has_memory = |&place: &usize| match place >> CHUNK {
                0 => place + (1 << size) <= of_first,
                chunk => self.chunks.get(chunk).is_some_and(|chunk| chunk.claimed),
            };
            let Some(index) = self.free[larger].iter().position(has_memory) else { continue };
            let place = self.free[larger].swap_remove(index);
            (size as usize..larger).rev().for_each(|half| self.free[half].push(place + (1 << half)));
            return Some(place);
        }
        None
    }

    /// Makes a place free.
    pub(super) fn put(&mut self, place: usize, size: u32) {
        self.free[size as usize].push(place);
    }

    /// The smallest window that is still whole and has room for this size.
    pub(super) fn untouched(&self, size: u32) -> Option<u32> {
        let first = (0..u64::BITS).find(|&window| Windows::extent(window).1 >= size)?;
        let large_enough = self.untouched >> first << first;
        (large_enough != 0).then(|| large_enough.trailing_zeros())
    }

    /// Makes all of an untouched window free.
    pub(super) fn open(&mut self, window: u32) {
        self.untouched &= !(1 << window);
        let (place, size) = Windows::extent(window);
        self.put(place, size);
    }

    /// Notes that a short block was taken.
    pub(super) fn note_short(&mut self, place: usize, size: u32) {
        let chunk = self.chunk(place >> CHUNK);
        let notes = chunk.short.get_or_insert_with(|| Box::new([NONE; PLACES]));
        notes[(place >> SMALLEST) % PLACES] = size as u8;
    }

    /// Notes that a long block of so many chunks was taken.
    pub(super) fn note_long(&mut self, place: usize, chunks: usize) {
        self.chunk(place >> CHUNK).long = u32::try_from(chunks).expect("arenas have fewer");
    }

    /// Takes a short block back; false if none of this size was taken there.
    #[inline]
    pub(super) fn give_short(&mut self, place: usize, size: u32) -> bool {
        let Some(note) = self.short(place) else { return false };
        if u32::from(*note) != size || !place.is_multiple_of(1 << SMALLEST) {
            return false;
        }
        *note = NONE;
        self.free[size as usize].push(place);
        self.given += 1;
        true
    }

    /// Whether the next block of this size that is given back takes an allocation, which [`Buddies::grow`] does before.
    #[inline]
    pub(super) fn is_full(&self, size: u32) -> bool {
        let free = &self.free[size as usize];
        free.len() == free.capacity()
    }

    pub(super) fn grow(&mut self, size: u32) {
        self.free[size as usize].reserve(1);
    }

    /// How many blocks were given back; a long one counts for each of its chunks.
    #[inline]
    pub(super) fn given(&self) -> usize {
        self.given
    }

    /// Takes a long block back; false if none of so many chunks was taken there.
    pub(super) fn give_long(&mut self, place: usize, chunks: usize, size: u32) -> bool {
        let chunk = self.chunks.get_mut(place >> CHUNK).filter(|_| place.is_multiple_of(1 << CHUNK));
        let Some(chunk) = chunk.filter(|chunk| chunks != 0 && chunk.long as usize == chunks) else {
            return false;
        };
        chunk.long = 0;
        self.put(place, size);
        self.given += chunks;
        true
    }

    /// Joins all neighbours that are free; what is left is taken from the beginning.
    pub(super) fn join(&mut self) {
        self.given_before = self.given;
        for size in SMALLEST as usize..SIZES - 1 {
            let [free, larger] = &mut self.free[size..size + 2] else { unreachable!("two of them") };
            free.sort_unstable_by(|one, other| other.cmp(one));
            let mut kept = 0;
            let mut next = 0;
            while let Some(&place) = free.get(next) {
                let low = place & !(1 << size);
                if free.get(next + 1) == Some(&low) && (size < CHUNK as usize || low != 0) {
                    larger.push(low);
                    next += 2;
                } else {
                    free[kept] = place;
                    (kept, next) = (kept + 1, next + 1);
                }
            }
            free.truncate(kept);
        }
    }

    /// How many blocks are free.
    pub(super) fn count(&self) -> usize {
        self.free.iter().map(Vec::len).sum()
    }

    /// A range of so many chunks from `place` that has no memory yet, the first one.
    pub(super) fn unclaimed(&mut self, place: usize, chunks: usize) -> Option<Range<usize>> {
        let first = place >> CHUNK;
        self.chunk(first + chunks - 1);
        run_of(&self.chunks, first..first + chunks, false)
    }

    /// The chunks of free blocks that have memory, in ranges, those of the longest blocks first.
    pub(super) fn idle(&self) -> Vec<Range<usize>> {
        let mut idle = Vec::new();
        for size in (CHUNK as usize..SIZES).rev() {
            for &place in &self.free[size] {
                let end = (place + (1 << size)) >> CHUNK;
                let mut rest = place >> CHUNK..end.min(self.chunks.len());
                while let Some(run) = run_of(&self.chunks, rest.clone(), true) {
                    rest.start = run.end;
                    idle.push(run);
                }
            }
        }
        idle
    }

    /// Notes whether chunks have memory.
    pub(super) fn claim(&mut self, chunks: Range<usize>, claimed: bool) {
        for chunk in &mut self.chunks[chunks] {
            chunk.claimed = claimed;
            chunk.short = None; // of a chunk of which nothing is taken
        }
    }

    /// Notes that the first chunk has memory, as far as anybody knows here.
    pub(super) fn claim_first(&mut self) {
        self.chunk(0).claimed = true;
    }

    /// The note of what was taken at a place, if anything ever was.
    #[inline]
    fn short(&mut self, place: usize) -> Option<&mut u8> {
        let notes = self.chunks.get_mut(place >> CHUNK)?.short.as_mut()?;
        Some(&mut notes[(place >> SMALLEST) % PLACES])
    }

    fn chunk(&mut self, index: usize) -> &mut Chunk {
        if self.chunks.len() <= index {
            self.chunks.resize_with(index + 1, Chunk::default);
        }
        &mut self.chunks[index]
    }
}

/// The first of the chunks that are claimed or not, and those behind that are like it.
fn run_of(all: &[Chunk], chunks: Range<usize>, claimed: bool) -> Option<Range<usize>> {
    let is_like = |&index: &usize| all.get(index).is_some_and(|chunk| chunk.claimed) == claimed;
    let begin = chunks.clone().find(is_like)?;
    let end = (begin..chunks.end).find(|index| !is_like(index)).unwrap_or(chunks.end);
    Some(begin..end)
}
