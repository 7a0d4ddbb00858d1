//! Elements of a datatype at an address: what the arguments `buf, count, datatype` of a call mean.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_mem::Region;

use crate::Datatype;
use crate::cursor;
use crate::layout::Layout;

/// `count` elements of a datatype in memory that somebody else owns, seen as the bytes they occupy packed.
///
/// Where the elements are one piece of memory this is a [`Region`] and nothing else.
#[derive(Clone, Debug)]
pub struct Buffer(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Dense(Region),
    Scattered(Arc<Scattered>),
    Joined(Arc<Joined>),
}

/// Buffers one after the other.
#[derive(Debug)]
struct Joined {
    blocks: Vec<Buffer>,
    /// The packed byte at which each block ends.
    ends: Vec<u64>,
}

#[derive(Clone, Debug)]
struct Scattered {
    origin: *mut u8,
    /// Packed bytes before those of the buffer: it may begin inside an element.
    skip: u64,
    /// Packed bytes; not 0.
    bytes: u64,
    extent: i64,
    layout: Layout,
}

// SAFETY: `origin` is an address, and a promise about it that `Buffer::new` extends to all threads.
unsafe impl Send for Scattered {}
// SAFETY: as above; there is no interior state.
unsafe impl Sync for Scattered {}

impl Buffer {
    /// The buffer of no bytes.
    pub const EMPTY: Self = Self(Kind::Dense(Region::EMPTY));

    /// `count` elements of `datatype`, the first one with its origin at `origin`.
    ///
    /// # Errors
    /// [`ErrorClass::Type`] if the datatype is not committed; [`ErrorClass::Count`] if the elements do not fit
    /// the address space.
    ///
    /// # Safety
    /// Until the last use of the buffer, of its clones and of the regions made from it:
    /// - the bytes that the typemap places around `origin` are valid for reads, and for writes if the buffer
    ///   is written;
    /// - no Rust reference to any of these bytes is used.
    #[inline(always)] // a few comparisons, whose result would cost more to move
    pub unsafe fn new(origin: *mut u8, count: u64, datatype: &Datatype) -> Result<Self> {
        let Some(flat) = datatype.flat() else { return Err(not_committed(datatype)) };
        let bytes = flat.layout.bytes.checked_mul(count).filter(|bytes| isize::try_from(*bytes).is_ok());
        let Some(bytes) = bytes else { return Err(too_long(count, datatype)) };
        if flat.dense {
            // SAFETY: the elements are exactly these bytes.
            return Ok(Self(Kind::Dense(unsafe { Region::claim(origin, bytes as usize) })));
        }
        // SAFETY: the caller's promise.
        unsafe { Self::scattered(origin, count, bytes, datatype, &flat.layout) }
    }

    /// # Safety
    /// As [`Buffer::new`]; `layout` is that of `datatype`, and `bytes` is what `count` of it have.
    unsafe fn scattered(
        origin: *mut u8,
        count: u64,
        bytes: u64,
        datatype: &Datatype,
        layout: &Layout,
    ) -> Result<Self> {
        if bytes == 0 {
            return Ok(Self::EMPTY);
        }
        let extent = datatype.extent();
        datatype.true_bounds().repeat(count, extent, 0).map_err(|_| too_long(count, datatype))?;
        let follow = if count == 1 { layout.bytes as i64 } else { extent };
        if let Some(displacement) = layout.dense_at(follow) {
            let origin = origin.wrapping_offset(displacement as isize);
            // SAFETY: the elements are exactly these bytes.
            return Ok(Self(Kind::Dense(unsafe { Region::claim(origin, bytes as usize) })));
        }
        let layout = layout.clone();
        Ok(Self(Kind::Scattered(Arc::new(Scattered { origin, skip: 0, bytes, extent, layout }))))
    }

    /// The bytes of `region`, in order.
    pub const fn dense(region: Region) -> Self {
        Self(Kind::Dense(region))
    }

    /// Several buffers, as if one followed the other.
    pub fn joined(blocks: Vec<Self>) -> Self {
        let ends = blocks.iter().scan(0, |end, block| {
            *end += block.bytes();
            Some(*end)
        });
        let ends = ends.collect();
        Self(Kind::Joined(Arc::new(Joined { blocks, ends })))
    }

    /// Packed bytes of all elements.
    #[inline]
    pub fn bytes(&self) -> u64 {
        match &self.0 {
            Kind::Dense(region) => region.len() as u64,
            Kind::Scattered(scattered) => scattered.bytes,
            Kind::Joined(joined) => joined.ends.last().copied().unwrap_or(0),
        }
    }

    /// The memory, if all of it is one piece in packed order.
    #[inline]
    pub fn as_dense(&self) -> Option<Region> {
        match &self.0 {
            Kind::Dense(region) => Some(*region),
            Kind::Scattered(_) | Kind::Joined(_) => None,
        }
    }

    /// The same memory, if it is one piece, as it has been promised [anew](Region::renewed).
    #[inline]
    pub fn renew(&mut self) {
        if let Kind::Dense(region) = &mut self.0 {
            *region = region.renewed();
        }
    }

    /// The memory of `bytes` packed bytes from packed byte `offset`, if it is one piece.
    ///
    /// # Panics
    /// If they do not lie inside the buffer.
    #[inline]
    pub fn part(&self, offset: u64, bytes: u64) -> Option<Region> {
        match &self.0 {
            Kind::Dense(region) => Some(region.part(offset as usize, bytes as usize)),
            _ => self.part_of_pieces(offset, bytes),
        }
    }

    /// The same of a buffer that is not dense.
    fn part_of_pieces(&self, offset: u64, bytes: u64) -> Option<Region> {
        match &self.0 {
            Kind::Dense(_) => None,
            Kind::Scattered(scattered) => scattered.part(offset, bytes),
            Kind::Joined(joined) => joined.part(offset, bytes),
        }
    }

    /// The `bytes` packed bytes from packed byte `offset`, as a buffer of their own.
    ///
    /// # Panics
    /// If they do not lie inside the buffer.
    pub fn slice(&self, offset: u64, bytes: u64) -> Self {
        if let Some(region) = self.part(offset, bytes) {
            return Self::dense(region);
        }
        match &self.0 {
            Kind::Dense(_) => unreachable!("a dense buffer has every part"),
            Kind::Scattered(whole) => {
                let slice = Scattered { skip: whole.skip + offset, bytes, ..Scattered::clone(whole) };
                Self(Kind::Scattered(Arc::new(slice)))
            }
            Kind::Joined(joined) => Self::joined(
                joined.pieces(offset, bytes).map(|(block, at, len)| block.slice(at, len)).collect(),
            ),
        }
    }

    /// Whether it is certain that the two share memory, as far as one look at each block tells: of elements with
    /// gaps only the first bytes are compared, of joined buffers the blocks with the same index.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Dense(one), Kind::Dense(other)) => one.overlaps(other),
            _ => self.overlaps_in_blocks(other),
        }
    }

    fn overlaps_in_blocks(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Kind::Joined(one), Kind::Joined(other)) => {
                one.blocks.iter().zip(&other.blocks).any(|(one, other)| one.overlaps(other))
            }
            (Kind::Joined(joined), _) => joined.blocks.iter().any(|block| block.overlaps(other)),
            (_, Kind::Joined(joined)) => joined.blocks.iter().any(|block| block.overlaps(self)),
            _ => match (self.first_byte(), other.first_byte()) {
                (Some(one), Some(other)) => one.overlaps(&other),
                _ => false,
            },
        }
    }

    fn first_byte(&self) -> Option<Region> {
        if self.bytes() == 0 { None } else { self.part(0, 1) }
    }

    /// Packs: copies the packed bytes from `offset` into all of `into`.
    ///
    /// # Panics
    /// If they do not lie inside the buffer.
    #[inline(always)] // a copy of a few bytes takes less than a call
    pub fn read(&self, offset: u64, into: &Region) {
        match &self.0 {
            Kind::Dense(region) => into.copy_from(&region.part(offset as usize, into.len())),
            _ => self.read_pieces(offset, into),
        }
    }

    #[inline(never)]
    fn read_pieces(&self, offset: u64, into: &Region) {
        match &self.0 {
            Kind::Dense(_) => unreachable!("one piece is copied at once"),
            Kind::Scattered(scattered) => scattered.transfer::<true>(offset, *into),
            Kind::Joined(joined) => joined.each(offset, into, |block, at, into| block.read(at, into)),
        }
    }

    /// Unpacks: copies all of `from` over the packed bytes from `offset`.
    ///
    /// # Panics
    /// If they do not lie inside the buffer.
    #[inline(always)] // as `read`
    pub fn write(&self, offset: u64, from: &Region) {
        match &self.0 {
            Kind::Dense(region) => region.part(offset as usize, from.len()).copy_from(from),
            _ => self.write_pieces(offset, from),
        }
    }

    #[inline(never)]
    fn write_pieces(&self, offset: u64, from: &Region) {
        match &self.0 {
            Kind::Dense(_) => unreachable!("one piece is copied at once"),
            Kind::Scattered(scattered) => scattered.transfer::<false>(offset, *from),
            Kind::Joined(joined) => joined.each(offset, from, |block, at, from| block.write(at, from)),
        }
    }
}

impl Buffer {
    /// Copies the packed bytes from `offset` into all of `into`.
    pub(crate) fn read_bytes(&self, offset: u64, into: &mut [u8]) {
        // SAFETY: `into` is an exclusive reference, which is not used before the region's last use.
        let into = unsafe { Region::claim(into.as_mut_ptr(), into.len()) };
        self.read(offset, &into);
    }

    /// Copies all of `from` over the packed bytes from `offset`.
    pub(crate) fn write_bytes(&self, offset: u64, from: &mut [u8]) {
        // SAFETY: as in `read_bytes`.
        let from = unsafe { Region::claim(from.as_mut_ptr(), from.len()) };
        self.write(offset, &from);
    }
}

impl Scattered {
    fn assert_inside(&self, offset: u64, bytes: u64) {
        assert!(offset <= self.bytes && bytes <= self.bytes - offset, "the range lies inside its buffer");
    }

    fn transfer<const PACK: bool>(&self, offset: u64, packed: Region) {
        self.assert_inside(offset, packed.len() as u64);
        if packed.is_empty() {
            return;
        }
        // SAFETY: `Buffer::new` promised the elements, and the range lies in them (assertion above).
        unsafe {
            cursor::transfer_loop::<PACK>(&self.layout, self.extent, self.origin, self.skip + offset, packed)
        };
    }

    fn part(&self, offset: u64, bytes: u64) -> Option<Region> {
        self.assert_inside(offset, bytes);
        if bytes == 0 {
            return Some(Region::EMPTY);
        }
        let offset = self.skip + offset;
        let (element, within) = (offset / self.layout.bytes, offset % self.layout.bytes);
        let (displacement, run_bytes) = self.layout.run_at(within);
        let displacement = (element as i64).wrapping_mul(self.extent).wrapping_add(displacement);
        let start = self.origin.wrapping_offset(displacement as isize);
        // SAFETY: `Buffer::new` promised the run that these bytes lie in.
        (bytes <= run_bytes).then(|| unsafe { Region::claim(start, bytes as usize) })
    }
}

impl Joined {
    /// Where a range of bytes lies: the blocks it touches, and where in each it begins and how long it is.
    ///
    /// # Panics
    /// If it does not lie inside the buffer.
    fn pieces(&self, offset: u64, bytes: u64) -> impl Iterator<Item = (&Buffer, u64, u64)> {
        let total = self.ends.last().copied().unwrap_or(0);
        assert!(offset <= total && bytes <= total - offset, "the range lies inside its buffer");
        let first = self.ends.partition_point(|&end| end <= offset);
        let end = offset + bytes;
        self.blocks[first..].iter().zip(&self.ends[first..]).map_while(move |(block, &block_end)| {
            let begin = block_end - block.bytes();
            let (from, to) = (begin.max(offset), block_end.min(end));
            (from < end).then(|| (block, from - begin, to - from))
        })
    }

    fn part(&self, offset: u64, bytes: u64) -> Option<Region> {
        let Some((block, at, len)) = self.pieces(offset, bytes).next() else { return Some(Region::EMPTY) };
        if len == bytes { block.part(at, len) } else { None }
    }

    fn each(&self, offset: u64, packed: &Region, transfer: impl Fn(&Buffer, u64, &Region)) {
        let mut done = 0;
        for (block, at, len) in self.pieces(offset, packed.len() as u64) {
            transfer(block, at, &packed.part(done, len as usize));
            done += len as usize;
        }
    }
}

#[cold]
pub(crate) fn not_committed(datatype: &Datatype) -> Error {
    let name = datatype.name();
    let space = if name.is_empty() { "" } else { " " };
    Error::new(ErrorClass::Type, format!("datatype{space}{} is not committed", name.display()))
}

#[cold]
pub(crate) fn too_long(count: u64, datatype: &Datatype) -> Error {
    let (name, bytes) = (datatype.name(), datatype.size());
    Error::new(
        ErrorClass::Count,
        format!("count is {count}: so many {} of {bytes} bytes fit no memory", name.display()),
    )
}

#[cfg(test)]
mod tests {
    use oxmpi_base::BasicType;

    use super::*;

    fn claim(bytes: &mut [u8]) -> Region {
        // SAFETY: the tests use `bytes` only through the region until they read it back.
        unsafe { Region::claim(bytes.as_mut_ptr(), bytes.len()) }
    }

    #[test]
    fn buffers_overlap_where_a_byte_is_part_of_both() {
        let mut memory = [0; 24];
        let whole = claim(&mut memory);
        let dense = |at, len| Buffer::dense(whole.part(at, len));
        for (at, len, overlaps) in [(0, 4, false), (0, 5, true), (6, 1, true), (8, 4, false), (6, 0, false)] {
            assert_eq!(dense(4, 4).overlaps(&dense(at, len)), overlaps, "{len} bytes at {at}");
            assert_eq!(dense(at, len).overlaps(&dense(4, 4)), overlaps, "{len} bytes at {at}");
        }
        assert!(!Buffer::EMPTY.overlaps(&Buffer::EMPTY));
    }

    #[test]
    fn elements_with_gaps_overlap_where_they_begin_alike_and_blocks_one_by_one() {
        let mut memory = [0; 24];
        let whole = claim(&mut memory);
        let column = Datatype::vector(3, 1, 2, &Datatype::basic(BasicType::Byte)).expect("a small type");
        column.commit();
        let columns = [0, 1].map(|at| {
            // SAFETY: the elements lie in `memory`, which is used no more.
            let column = unsafe { Buffer::new(whole.part(at, 8).as_ptr(), 1, &column) };
            column.expect("it is committed")
        });
        assert!(columns[0].overlaps(&columns[0]) && columns[0].overlaps(&Buffer::dense(whole)));
        assert!(!columns[0].overlaps(&columns[1]), "the one lies in the gaps of the other");
        let halves = [0, 12].map(|at| Buffer::dense(whole.part(at, 12)));
        let joined = Buffer::joined(halves.to_vec());
        assert!(joined.overlaps(&joined) && joined.overlaps(&halves[1]) && halves[0].overlaps(&joined));
        assert!(!joined.overlaps(&Buffer::joined(Vec::new())));
    }

    #[test]
    fn joined_buffers_are_one_stream_of_bytes() {
        let mut memory: Vec<u8> = (0..20).collect();
        let whole = claim(&mut memory);
        let blocks = [(15, 3), (7, 0), (2, 4), (9, 1)].map(|(at, len)| Buffer::dense(whole.part(at, len)));
        let joined = Buffer::joined(blocks.to_vec());
        let expected = [15, 16, 17, 2, 3, 4, 5, 9];
        assert_eq!(joined.bytes(), 8);
        for from in 0..=8 {
            for to in from..=8 {
                let mut seen = [0xff; 8];
                let len = to - from;
                joined.slice(from as u64, len as u64).read(0, &claim(&mut seen).part(0, len));
                assert_eq!(seen[..len], expected[from..to]);
                let part = joined.part(from as u64, len as u64);
                assert!(part.is_none_or(|part| part.to_vec() == expected[from..to]));
            }
        }
        joined.write(2, &claim(&mut [70, 71, 72]));
        assert_eq!((memory[17], memory[2], memory[3], memory[4]), (70, 71, 72, 4));
    }
}
