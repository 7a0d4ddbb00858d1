//! Moving a range of packed bytes between an element's scattered memory and one piece.
//!
//! With [`Buffer`](crate::Buffer) and [`Elements`](crate::Elements), which make the promises, the only module of
//! this crate that touches memory.
//! It walks a layout from the byte asked for. Elements that are one run, or a few, are moved many at a time
//! (`blocks`): there strided data and arrays of structures spend their time.

mod blocks;

use oxmpi_mem::Region;

use self::blocks::{Blocks, move_block};
use crate::layout::{Layout, Part, Runs, Shape, find_part};

/// Elements with more runs than this are moved one by one.
const COLUMNS: usize = 32;
/// Memory that is gone through once for each run of an element should stay in the first cache: bytes ...
const TILE_BYTES: u64 = 8 << 10;
/// ... and least elements of such a tile.
const TILE_ELEMENTS: u64 = 8;

/// Packs (`PACK`) or unpacks the bytes of one element that begin at packed byte `skip` and are as many as
/// `packed` has. At least one byte is asked for.
///
/// # Safety
/// - All bytes that `layout` places around `origin` are valid for reads, and for writes unless `PACK`;
/// - the range lies inside the element: `skip + packed.len() <= layout.bytes`.
pub(crate) unsafe fn transfer<const PACK: bool>(layout: &Layout, origin: *mut u8, skip: u64, packed: Region) {
    let origin = at(origin, layout.displacement);
    match &layout.shape {
        Shape::Run => {
            // SAFETY: the range lies in the run, which the caller vouches for.
            unsafe { move_block::<PACK>(at(origin, skip as i64), packed.as_ptr(), packed.len()) };
        }
        Shape::Runs(runs) => {
            // SAFETY: the caller's promise.
            unsafe { transfer_runs::<PACK>(runs, origin, skip, packed) };
        }
        Shape::Loop { stride, body, .. } => {
            // SAFETY: the caller's promise, for the elements of the loop that hold the range.
            unsafe { transfer_loop::<PACK>(body, *stride, origin, skip, packed) };
        }
        Shape::Sequence(parts) => {
            // SAFETY: the caller's promise.
            unsafe { transfer_sequence::<PACK>(parts, origin, skip, packed) };
        }
    }
}

/// As [`transfer`], for elements of layout `body` that follow each other `stride` bytes apart.
///
/// # Safety
/// As [`transfer`], for all elements that hold a byte of the range. `body` is not empty.
pub(crate) unsafe fn transfer_loop<const PACK: bool>(
    body: &Layout,
    stride: i64,
    origin: *mut u8,
    skip: u64,
    packed: Region,
) {
    if skip == 0 && packed.len() as u64 == body.bytes {
        // SAFETY: the range is the first element.
        return unsafe { transfer::<PACK>(body, origin, 0, packed) };
    }
    let element = |index: u64| at(origin, (index as i64).wrapping_mul(stride));
    let (mut index, within) = (skip / body.bytes, skip % body.bytes);
    let mut left = packed;
    if within != 0 {
        let head = split_front(&mut left, body.bytes - within);
        // SAFETY: the range begins inside this element.
        unsafe { transfer::<PACK>(body, element(index), within, head) };
        index += 1;
    }
    let whole = left.len() as u64 / body.bytes;
    if whole != 0 {
        let middle = split_front(&mut left, whole * body.bytes);
        // SAFETY: the range covers these elements.
        unsafe { transfer_whole::<PACK>(body, stride, element(index), whole, middle) };
    }
    if !left.is_empty() {
        // SAFETY: the range ends inside this element.
        unsafe { transfer::<PACK>(body, element(index + whole), 0, left) };
    }
}

/// Moves `count` whole elements, the first with its origin at `origin`, which fill `packed`.
///
/// # Safety
/// As [`transfer_loop`].
unsafe fn transfer_whole<const PACK: bool>(
    body: &Layout,
    stride: i64,
    origin: *mut u8,
    count: u64,
    packed: Region,
) {
    let packed_stride = body.bytes as i64;
    let mut blocks =
        Blocks { memory: at(origin, body.displacement), stride, packed: packed.as_ptr(), packed_stride };
    match &body.shape {
        Shape::Run if stride == packed_stride => {
            // SAFETY: the range covers these elements, which together are one run.
            unsafe { move_block::<PACK>(blocks.memory, blocks.packed, packed.len()) };
        }
        Shape::Run => {
            // SAFETY: the range covers these elements, and each is one run.
            unsafe { blocks.transfer::<PACK>(body.bytes, count) };
        }
        Shape::Runs(runs) if runs.runs.len() <= COLUMNS => {
            let tile = (TILE_BYTES / stride.unsigned_abs().max(body.bytes)).max(TILE_ELEMENTS);
            let mut left = count;
            while left != 0 {
                let elements = left.min(tile);
                // SAFETY: the range covers these elements.
                unsafe { transfer_columns::<PACK>(runs, &blocks, elements) };
                blocks = blocks.after(elements);
                left -= elements;
            }
        }
        _ => {
            let mut packed = packed;
            for index in 0..count {
                let element = at(origin, (index as i64).wrapping_mul(stride));
                let packed = split_front(&mut packed, body.bytes);
                // SAFETY: the range covers this element.
                unsafe { transfer::<PACK>(body, element, 0, packed) };
            }
        }
    }
}

/// Moves `count` elements that consist of `runs`: the first run of all, then the second of all, and so on.
///
/// # Safety
/// As [`transfer_loop`].
unsafe fn transfer_columns<const PACK: bool>(runs: &Runs, elements: &Blocks, count: u64) {
    for (index, run) in runs.runs.iter().enumerate() {
        let column = elements.shifted(run.displacement, run.start);
        // SAFETY: the caller's promise, for one run of each element.
        unsafe { column.transfer::<PACK>(runs.end(index) - run.start, count) };
    }
}

/// # Safety
/// As [`transfer`].
unsafe fn transfer_runs<const PACK: bool>(runs: &Runs, origin: *mut u8, skip: u64, packed: Region) {
    let mut index = runs.find(skip);
    let mut within = skip - runs.runs[index].start;
    let mut left = packed;
    if within == 0
        && let Some(block_bytes) = runs.block_bytes
    {
        let whole = left.len() as u64 / block_bytes;
        let middle = split_front(&mut left, whole * block_bytes);
        let displaced = &runs.runs[index..index + whole as usize];
        // SAFETY: the range covers these runs.
        unsafe { blocks::gather::<PACK>(displaced, block_bytes, origin, middle.as_ptr()) };
        index += whole as usize;
    }
    while !left.is_empty() {
        let run = runs.runs[index];
        let packed = split_front(&mut left, runs.end(index) - run.start - within);
        let memory = at(origin, run.displacement.wrapping_add(within as i64));
        // SAFETY: the caller's promise: the range goes through this run.
        unsafe { move_block::<PACK>(memory, packed.as_ptr(), packed.len()) };
        (index, within) = (index + 1, 0);
    }
}

/// # Safety
/// As [`transfer`].
unsafe fn transfer_sequence<const PACK: bool>(parts: &[Part], origin: *mut u8, skip: u64, packed: Region) {
    let first = find_part(parts, skip);
    let mut within = skip - parts[first].start;
    let mut left = packed;
    for part in &parts[first..] {
        let packed = split_front(&mut left, part.layout.bytes - within);
        // SAFETY: the caller's promise: the range goes through this part.
        unsafe { transfer::<PACK>(&part.layout, origin, within, packed) };
        if left.is_empty() {
            break;
        }
        within = 0;
    }
}

/// Takes up to `bytes` bytes off the front of `left`.
#[inline]
fn split_front(left: &mut Region, bytes: u64) -> Region {
    let bytes = usize::try_from(bytes).map_or(left.len(), |bytes| bytes.min(left.len()));
    let front = left.part(0, bytes);
    *left = left.part(bytes, left.len() - bytes);
    front
}

#[inline]
fn at(origin: *mut u8, displacement: i64) -> *mut u8 {
    origin.wrapping_offset(displacement as isize)
}
