//! The shared memory of a job, as one process sees it.
//!
//! A `memfd` has no name that could leak, be guessed or be limited by `/dev/shm`. It is sparse: pages are
//! claimed with `fallocate` before anyone touches them, so that a shortage is an error and never a SIGBUS.
//!
//! What exists from the start is mapped from the start; of the arenas, which may become large, a *window* is mapped
//! when something in it is used first. So the address space of a rank follows what it uses (`ulimit -v`, and tools
//! that walk through all of it). Nothing is ever unmapped: a segment that is not needed any more shows an empty file,
//! and later perhaps that of another job ([`Segment::show`]), at the same addresses. Core dumps hold the header and the
//! state pages: the rest would be written once for every rank that dies, holes included.

mod backing;

use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::{process, ptr, slice};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_mem::Region;
use oxmpi_system::memory::GRANULE;
use oxmpi_system::notice::say;

pub(crate) use self::backing::shows_segment;
use self::backing::{Backing, check, empty_file, leave_out_of_dumps};
use crate::layout::{Layout, Window, Windows};
use crate::{Departure, Line};

/// A `memfd`, mapped as far as it is used.
#[derive(Debug)]
pub struct Segment {
    backing: Backing,
    /// What exists from the start.
    fixed: *mut u8,
    fixed_bytes: usize,
    /// Where in it the first lines lie, which peers name as they name blocks.
    first_lines: Range<usize>,
    windows: Windows,
    /// By number of the window; null if it is not mapped.
    mapped: Box<[AtomicPtr<u8>]>,
}

// SAFETY: the mappings are shared memory; access to their bytes goes through atomics and regions.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Makes an anonymous segment that has `layout`; what exists from the start is reserved.
    ///
    /// # Errors
    /// Those of `memfd_create`, `ftruncate`, `fallocate` and `mmap`.
    pub(crate) fn create(layout: &Layout) -> io::Result<Self> {
        let segment = Self::map(empty_file(layout)?, layout)?;
        segment.reserve(0, layout.fixed_bytes())?;
        Ok(segment)
    }

    /// Maps the segment behind `file`, which has `layout`.
    ///
    /// # Errors
    /// Those of [`check`] and `mmap`.
    pub(crate) fn map(file: OwnedFd, layout: &Layout) -> io::Result<Self> {
        check(&file, layout)?;
        let segment = Self::over(Backing::File(file), layout)?;
        leave_fixed_out_of_dumps(segment.fixed, layout);
        Ok(segment)
    }

    /// As [`Segment::create`], in memory of this process alone: for tests where there are no such files.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub(crate) fn in_private(layout: &Layout) -> io::Result<Self> {
        Self::over(Backing::Private, layout)
    }

    /// One for tests that need no file, which is never undone.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn of_a_test(layout: &Layout) -> &'static Self {
        let make = if cfg!(any(miri, portable)) { Self::in_private } else { Self::create };
        Box::leak(Box::new(make(layout).expect("memory")))
    }

    fn over(backing: Backing, layout: &Layout) -> io::Result<Self> {
        let fixed = backing.map(0, layout.fixed_bytes())?;
        let windows = layout.windows();
        let mapped = no_addresses(windows.count());
        let first_lines = layout.first_lines(0)..layout.first_lines(layout.ranks);
        Ok(Self { backing, fixed, fixed_bytes: layout.fixed_bytes(), first_lines, windows, mapped })
    }

    /// Shows an empty file from now on, so that all of it is zeroes: see [`Segment::show`].
    ///
    /// # Errors
    /// Those of [`Segment::show`]; `FileTooLarge` if this process may not make such a file (`ulimit -f`).
    pub(crate) fn show_nothing(&self, layout: &Layout) -> io::Result<()> {
        if let Backing::Private = self.backing {
            self.show_again(layout);
            return Ok(());
        }
        let limit = oxmpi_system::limits::file_bytes();
        if limit.is_some_and(|limit| limit < layout.total_bytes() as u64) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.show(empty_file(layout)?, layout)
    }

    /// Shows another file from now on, which has the same layout: at the same addresses, so that no view dangles.
    /// The file that it has shown before is closed, and what nobody else has of its memory goes back to the system.
    ///
    /// # Errors
    /// Those of [`check`], `mmap` and `dup3`. Then nothing has changed.
    ///
    /// # Panics
    /// If the segment is in private memory.
    pub(crate) fn show(&self, file: OwnedFd, layout: &Layout) -> io::Result<()> {
        check(&file, layout)?;
        let other = Backing::File(file);
        self.try_to_map(&other)?;
        let (from, to) = (other.file().as_raw_fd(), self.file().as_raw_fd());
        // SAFETY: the number is ours, and names an open file before and after, as whoever has borrowed it expects.
        if unsafe { libc::dup3(from, to, libc::O_CLOEXEC) } < 0 {
            return Err(io::Error::last_os_error());
        }
        self.show_again(layout);
        Ok(())
    }

    /// Whether all of another file can be mapped that is mapped of this one: there is no way back where that is gone.
    ///
    /// Where the program locks all its memory, the system may refuse as much as the longest piece, though no more is
    /// locked in the end; of pieces that were mapped before it did so, more is, which shows when they are mapped over.
    /// Address space the pieces have: where there is no more of it, a page shows what can be known.
    fn try_to_map(&self, other: &Backing) -> io::Result<()> {
        let pieces = self.pieces().map(|(_, offset, bytes)| (offset, bytes));
        let longest = pieces.max_by_key(|&(_, bytes)| bytes).expect("one is there from the start");
        let try_one = |(offset, bytes)| -> io::Result<()> {
            let probe = other.map(offset, bytes)?;
            // SAFETY: the mapping was made above, and nobody has heard of it.
            unsafe { other.unmap(probe, bytes) };
            Ok(())
        };
        match try_one(longest) {
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => try_one((0, GRANULE)),
            tried => tried,
        }
    }

    /// What is mapped: where, and which range of the file.
    fn pieces(&self) -> impl Iterator<Item = (*mut u8, usize, usize)> {
        let windows = self.windows.all().filter_map(|window| {
            let base = self.mapped[window.index].load(Ordering::Acquire); // as in `window`
            let (offset, bytes) = window.pages();
            (!base.is_null()).then(|| (base.wrapping_sub(Window::WITHIN), offset, bytes))
        });
        [(self.fixed, 0, self.fixed_bytes)].into_iter().chain(windows)
    }

    /// Maps anew, at the same addresses, what is mapped.
    fn show_again(&self, layout: &Layout) {
        for (base, offset, bytes) in self.pieces() {
            self.map_over(base, offset, bytes);
            match offset {
                0 => leave_fixed_out_of_dumps(base, layout),
                _ => leave_out_of_dumps(base, bytes),
            }
        }
    }

    /// Maps a range in the place of what was mapped at `base`.
    fn map_over(&self, base: *mut u8, offset: usize, bytes: usize) {
        // SAFETY: the range is a mapping of this segment's; that its bytes change meanwhile is nothing new to who looks
        // at them.
        if let Err(error) = unsafe { self.backing.map_over(base, offset, bytes) } {
            // The mapping may be gone, and another may come in its place any time: no view of it may be used.
            say(format_args!("{bytes} bytes of another job's memory cannot be mapped over: {error}"));
            process::abort();
        }
    }

    /// Makes sure that the pages of a range exist, so that touching them cannot fail.
    ///
    /// # Errors
    /// Those of `fallocate`: not enough memory.
    pub(crate) fn reserve(&self, offset: usize, bytes: usize) -> io::Result<()> {
        self.backing.allocate(offset, bytes)
    }

    /// Makes a range all zeroes and gives its pages back.
    ///
    /// # Errors
    /// Those of `fallocate`.
    pub(crate) fn clear(&self, offset: usize, bytes: usize) -> io::Result<()> {
        if let Backing::Private = self.backing {
            self.write_zeroes(offset, bytes)?;
        }
        self.backing.discard(offset, bytes)
    }

    /// Makes a range all zeroes, as far as it is mapped.
    fn write_zeroes(&self, offset: usize, bytes: usize) -> io::Result<()> {
        let fixed = (self.fixed, 0, self.fixed_bytes);
        let windows = self.windows.all().map(|window| {
            let base = self.mapped[window.index].load(Ordering::Acquire); // as in `window`
            (base, window.begin, window.bytes)
        });
        for (base, begin, len) in windows.chain([fixed]).filter(|(base, ..)| !base.is_null()) {
            let (from, to) = (offset.max(begin), (offset + bytes).min(begin + len));
            if from < to {
                // SAFETY: as in `region_elsewhere`.
                let part = unsafe { Region::claim(base.wrapping_add(from - begin), to - from) };
                self.backing.write_zeroes(&part)?;
            }
        }
        Ok(())
    }

    /// How arenas are cut.
    pub(crate) fn windows(&self) -> &Windows {
        &self.windows
    }

    /// The descriptor behind the segment.
    ///
    /// # Panics
    /// If it is in private memory.
    pub fn file(&self) -> BorrowedFd<'_> {
        self.backing.file()
    }

    /// Whether there is one.
    pub(crate) fn has_file(&self) -> bool {
        self.backing.has_file()
    }

    /// A range of the segment, perhaps named by a peer: in an arena, or among the first lines. What else there is has
    /// types of its own, and nobody sees it as bytes.
    ///
    /// # Errors
    /// `Intern` if no block can lie there; `NoMem` if there is no address space for it.
    #[inline]
    pub fn region(&self, offset: u64, bytes: usize) -> Result<Region> {
        // What is short lies in the first window of an arena.
        if let Ok(offset) = usize::try_from(offset)
            && let Some((index, place, left)) = self.windows.find_first(offset)
            && bytes <= left
        {
            let base = self.mapped[index].load(Ordering::Acquire); // as in `window`
            if !base.is_null() {
                // SAFETY: as in `region_elsewhere`.
                return Ok(unsafe { Region::claim(base.wrapping_add(place), bytes) });
            }
        }
        self.region_elsewhere(offset, bytes)
    }

    /// As [`Segment::region`], for any.
    #[inline(never)]
    fn region_elsewhere(&self, offset: u64, bytes: usize) -> Result<Region> {
        let Ok(offset) = usize::try_from(offset) else { return Err(outside(offset, bytes)) };
        let (base, begin, len) = match self.windows.find(offset) {
            None => {
                let Range { start, end } = self.first_lines;
                (self.fixed.wrapping_add(start), start, end - start)
            }
            Some(window) => (self.window(&window)?, window.begin, window.bytes),
        };
        let Some(within) = offset.checked_sub(begin).filter(|&within| within <= len && bytes <= len - within)
        else {
            return Err(outside(offset as u64, bytes));
        };
        // SAFETY: the range lies inside a mapping that is never undone; Rust references into the segment are
        // made only to types of this crate whose bytes are atomics or cells.
        Ok(unsafe { Region::claim(base.wrapping_add(within), bytes) })
    }

    /// Where a window begins in this process's memory.
    fn window(&self, window: &Window) -> Result<*mut u8> {
        // Pairs with the Release in `map_window`: the mapping is there for whoever sees its address.
        let base = self.mapped[window.index].load(Ordering::Acquire);
        if base.is_null() { self.map_window(window) } else { Ok(base) }
    }

    #[cold]
    fn map_window(&self, window: &Window) -> Result<*mut u8> {
        let (offset, bytes) = window.pages();
        let pages = self.backing.map(offset, bytes).map_err(|error| {
            let text = format!("{bytes} bytes of shared memory cannot be mapped: {error}; see ulimit -v");
            Error::new(ErrorClass::NoMem, text)
        })?;
        if let Backing::File(_) = self.backing {
            leave_out_of_dumps(pages, bytes);
        }
        let base = pages.wrapping_add(Window::WITHIN);
        let place = &self.mapped[window.index];
        // Pairs with the Acquire in `window`.
        match place.compare_exchange(ptr::null_mut(), base, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Ok(base),
            Err(first) => {
                // Another thread was faster.
                // SAFETY: the mapping was made above, and nobody has heard of it.
                unsafe { self.backing.unmap(pages, bytes) };
                Ok(first)
            }
        }
    }

    /// `count` lines at `offset`.
    ///
    /// # Errors
    /// As [`Segment::region`]; `Intern` if they are misaligned.
    pub fn lines(&'static self, offset: u64, count: usize) -> Result<&'static [Line]> {
        // SAFETY: a line is atomics and cells.
        unsafe { self.array(offset, count) }
    }

    /// The same, but only those that lie in one piece of the segment with the first one.
    ///
    /// # Errors
    /// As [`Segment::lines`], of the first one.
    pub fn lines_up_to(&'static self, offset: u64, count: usize) -> Result<&'static [Line]> {
        let place = usize::try_from(offset).unwrap_or(usize::MAX);
        let window = self.windows.find(place);
        let end = window.map_or(self.first_lines.end, |window| window.begin + window.bytes);
        let there = end.saturating_sub(place) / size_of::<Line>();
        self.lines(offset, count.min(there.max(1)))
    }

    /// `count` departures at `offset`, perhaps named by a peer.
    ///
    /// # Errors
    /// As [`Segment::lines`].
    pub fn departures(&'static self, offset: u64, count: usize) -> Result<&'static [Departure]> {
        // SAFETY: a departure is an atomic.
        unsafe { self.array(offset, count) }
    }

    /// `count` shared structures of this crate at `offset`, perhaps named by a peer.
    ///
    /// # Errors
    /// As [`Segment::lines`].
    ///
    /// # Safety
    /// `T` is valid for any bytes, and consists of atomics and cells.
    pub(crate) unsafe fn array<T>(&'static self, offset: u64, count: usize) -> Result<&'static [T]> {
        let bytes = count.saturating_mul(size_of::<T>());
        let first = self.region(offset, bytes)?.as_ptr().cast::<T>();
        if !first.is_aligned() {
            return Err(outside(offset, bytes));
        }
        // SAFETY: in bounds, aligned, never unmapped; the rest is the caller's promise.
        Ok(unsafe { slice::from_raw_parts(first, count) })
    }

    /// A shared structure of this crate at `offset`.
    ///
    /// # Safety
    /// `T` is valid for any bytes (zeroes in particular), consists of atomics and cells, and every process that
    /// maps the segment uses these bytes as a `T` or not at all.
    ///
    /// # Panics
    /// If the structure does not lie in what exists from the start, or is misaligned.
    pub(crate) unsafe fn view<T>(&'static self, offset: usize) -> &'static T {
        assert!(offset + size_of::<T>() <= self.fixed_bytes, "layouts lie inside their segment");
        let pointer = self.fixed.wrapping_add(offset).cast::<T>();
        assert!(pointer.is_aligned(), "layouts respect alignment");
        // SAFETY: in bounds, aligned, never unmapped; the rest is the caller's promise.
        unsafe { &*pointer }
    }

    /// `count` shared structures of this crate at `offset`.
    ///
    /// # Safety
    /// As [`Segment::view`], of each.
    ///
    /// # Panics
    /// As [`Segment::view`].
    pub(crate) unsafe fn view_all<T>(&'static self, offset: usize, count: usize) -> &'static [T] {
        assert!(offset + count * size_of::<T>() <= self.fixed_bytes, "layouts lie inside their segment");
        let pointer = self.fixed.wrapping_add(offset).cast::<T>();
        assert!(pointer.is_aligned(), "layouts respect alignment");
        // SAFETY: in bounds, aligned, never unmapped; the rest is the caller's promise.
        unsafe { slice::from_raw_parts(pointer, count) }
    }
}

/// Null so many times, in memory that is not touched before somebody writes: there are many windows, and few are used.
fn no_addresses(count: usize) -> Box<[AtomicPtr<u8>]> {
    let pointers = Box::into_raw(vec![ptr::null_mut::<u8>(); count].into_boxed_slice());
    // SAFETY: nobody else has the box, and atomic pointers have the size, the alignment and the values of pointers.
    unsafe { Box::from_raw(pointers as *mut [AtomicPtr<u8>]) }
}

/// But for what is worth looking at.
fn leave_fixed_out_of_dumps(base: *mut u8, layout: &Layout) {
    let dumped = layout.dumped_bytes();
    leave_out_of_dumps(base.wrapping_add(dumped), layout.fixed_bytes() - dumped);
}

#[cold]
fn outside(offset: u64, bytes: usize) -> Error {
    let text = format!("{bytes} bytes at offset {offset} do not lie in one block of the shared memory");
    Error::new(ErrorClass::Intern, text)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::fs;

    use super::*;
    use crate::FIRST_LINES;

    fn segment() -> (&'static Segment, Layout) {
        let layout = Layout::with_arenas(2, 24).expect("a possible size");
        (Segment::of_a_test(&layout), layout)
    }

    #[test]
    #[cfg_attr(any(miri, portable), ignore = "it is about files")]
    fn two_mappings_show_the_same_bytes() {
        let (segment, layout) = segment();
        let file = segment.file().try_clone_to_owned().expect("a descriptor");
        let other = Segment::map(file, &layout).expect("the same segment");
        for offset in
            [layout.first_lines(1), layout.arena(0), layout.arena(0) + (5 << 20), layout.arena(1) + (1 << 20)]
        {
            segment.reserve(offset, 64).expect("memory");
            segment.region(offset as u64, 64).expect("inside").write(b"hello");
            assert_eq!(other.region(offset as u64, 5).expect("inside").to_vec(), b"hello");
        }
    }

    #[test]
    fn what_lies_in_no_window_or_in_two_is_refused() {
        let (segment, layout) = segment();
        let (fixed, first, end) = (layout.fixed_bytes(), layout.arena(0), layout.arena(3));
        let beyond =
            [(fixed - 8, 9), (first + (1 << 20) - 8, 9), (end - 8, 9), (fixed, 1), (end, 1), (0, usize::MAX)];
        let typed = [layout.state(1), layout.doorbell(0), layout.doorway(1), layout.rings(1)];
        for (offset, bytes) in beyond.into_iter().chain(typed.map(|offset| (offset, 1))) {
            let error = segment.region(offset as u64, bytes).expect_err("no block lies there");
            assert_eq!(error.class(), ErrorClass::Intern, "{bytes} bytes at {offset}");
        }
        segment.region(u64::MAX, 1).expect_err("no block lies there");
        segment.lines(layout.first_lines(1) as u64, FIRST_LINES).expect("they are there from the start");
        segment.lines(layout.first_lines(2) as u64 - 128, 2).expect_err("one is no line");
        segment.lines(layout.arena(0) as u64 + 1, 1).expect_err("misaligned");
        let last = first + (1 << 20) - 128;
        let seen = [(last - 128, 16), (last, 16), (last - 128, 1)]
            .map(|(offset, most)| segment.lines_up_to(offset as u64, most).expect("inside").len());
        assert_eq!(seen, [2, 1, 1], "what there is in one window");
        for outside in [end as u64, u64::MAX, last as u64 + 1] {
            segment.lines_up_to(outside, 1).expect_err("none is there");
        }
        segment.lines(0, usize::MAX).expect_err("too many");
    }

    #[test]
    fn what_is_cleared_is_zeroes_and_nothing_else_is() {
        let (segment, layout) = segment();
        // The end of a window, two more, and the beginning of one that nobody has used.
        let (first, begin, end) = (layout.arena(0), (1 << 20) - 5000, (9 << 20) + 77);
        for place in [begin - 1, begin, 2 << 20, (8 << 20) - 1, end - 1, end] {
            segment.reserve(first + place, 1).expect("memory");
            segment.region((first + place) as u64, 1).expect("inside").write(&[7]);
        }
        segment.clear(first + begin, end - begin).expect("a file");
        for (place, byte) in [(begin - 1, 7), (begin, 0), (2 << 20, 0), (8 << 20, 0), (end - 1, 0), (end, 7)]
        {
            let found = segment.region((first + place) as u64, 1).expect("inside").to_vec();
            assert_eq!(found, [byte], "at {place}");
        }
    }

    /// The mappings of this process that show the file with number `inode`: their bytes, and whether dumps hold them.
    fn mappings(inode: u64) -> Vec<(usize, bool)> {
        let maps = fs::read_to_string("/proc/self/smaps").expect("/proc");
        let mut found = Vec::new();
        let mut bytes = None;
        for line in maps.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            if let Some((begin, end)) = words[0].split_once('-')
                && let (Ok(begin), Ok(end)) =
                    (usize::from_str_radix(begin, 16), usize::from_str_radix(end, 16))
            {
                bytes = (words[4].parse() == Ok(inode)).then_some(end - begin);
            } else if words[0] == "VmFlags:"
                && let Some(bytes) = bytes
            {
                found.push((bytes, !words.contains(&"dd")));
            }
        }
        found
    }

    #[test]
    #[cfg_attr(any(miri, portable), ignore = "it is about files")]
    fn only_what_is_used_is_mapped_and_dumps_hold_the_state_pages_alone() {
        let (segment, layout) = segment();
        let inode = oxmpi_system::file::metadata(segment.file()).expect("a file").inode;
        let total = |mappings: &[(usize, bool)]| mappings.iter().map(|(bytes, _)| bytes).sum::<usize>();
        assert_eq!(total(&mappings(inode)), layout.fixed_bytes());
        segment.region(layout.arena(1) as u64, 1).expect("inside");
        let mappings = mappings(inode);
        assert_eq!(total(&mappings), layout.fixed_bytes() + (1 << 20) + GRANULE);
        let dumped = mappings.iter().filter(|(_, dumped)| *dumped).map(|(bytes, _)| bytes);
        assert_eq!(dumped.sum::<usize>(), layout.dumped_bytes());
    }
}
