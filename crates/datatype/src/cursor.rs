//! Moving a range of packed bytes between an element's scattered memory and one piece.
//!
//! The only module of this crate that touches memory. It walks a layout from the byte asked for; loops over
//! equal runs, where strided data spends its time, are done in one go with the block size a constant.

use std::ptr;

use oxmpi_mem::Region;

use crate::layout::{Layout, Part, Shape};

/// Packs (`PACK`) or unpacks the bytes of one element that begin at packed byte `skip` and are as many as
/// `packed` has. At least one byte is asked for.
///
/// # Safety
/// - All bytes that `layout` places around `origin` are valid for reads, and for writes unless `PACK`;
/// - the range lies inside the element: `skip + packed.len() <= layout.bytes`.
pub(crate) unsafe fn transfer<const PACK: bool>(layout: &Layout, origin: *mut u8, skip: u64, packed: Region) {
    match &layout.shape {
        Shape::Run { displacement } => {
            let memory = at(at(origin, *displacement), skip as i64);
            // SAFETY: the range lies in the run, which the caller vouches for.
            unsafe { move_block::<PACK>(memory, packed.as_ptr(), packed.len()) };
        }
        Shape::Loop { stride, body, .. } => {
            // SAFETY: the caller's promise, for the elements of the loop that hold the range.
            unsafe { transfer_loop::<PACK>(body, *stride, origin, skip, packed) };
        }
        Shape::Sequence { parts } => {
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
    let middle = split_front(&mut left, whole * body.bytes);
    if let Shape::Run { displacement } = body.shape {
        // SAFETY: the range covers these elements, and each is one run.
        unsafe { move_blocks::<PACK>(at(element(index), displacement), stride, body.bytes, middle) };
    } else {
        let mut middle = middle;
        for index in index..index + whole {
            let packed = split_front(&mut middle, body.bytes);
            // SAFETY: the range covers this element.
            unsafe { transfer::<PACK>(body, element(index), 0, packed) };
        }
    }
    if !left.is_empty() {
        // SAFETY: the range ends inside this element.
        unsafe { transfer::<PACK>(body, element(index + whole), 0, left) };
    }
}

/// # Safety
/// As [`transfer`].
unsafe fn transfer_sequence<const PACK: bool>(parts: &[Part], origin: *mut u8, skip: u64, packed: Region) {
    let first = parts.partition_point(|part| part.start <= skip) - 1;
    let mut within = skip - parts[first].start;
    let mut left = packed;
    for part in &parts[first..] {
        let packed = split_front(&mut left, part.layout.bytes - within);
        // SAFETY: the caller's promise: the range goes through this part.
        unsafe { transfer::<PACK>(&part.layout, at(origin, part.displacement), within, packed) };
        if left.is_empty() {
            break;
        }
        within = 0;
    }
}

/// Moves the blocks, `stride` bytes apart from `memory`, that `packed` has room for.
///
/// # Safety
/// As [`transfer`], for those blocks.
unsafe fn move_blocks<const PACK: bool>(memory: *mut u8, stride: i64, block_bytes: u64, packed: Region) {
    let blocks = packed.len() as u64 / block_bytes;
    let packed = packed.as_ptr();
    match block_bytes {
        // SAFETY: the caller's promise; here and below the word is as long as a block.
        4 => unsafe { move_words::<PACK, u32>(memory, stride, packed, blocks) },
        // SAFETY: as above.
        8 => unsafe { move_words::<PACK, u64>(memory, stride, packed, blocks) },
        // SAFETY: as above.
        12 => unsafe { move_words::<PACK, [u32; 3]>(memory, stride, packed, blocks) },
        // SAFETY: as above.
        16 => unsafe { move_words::<PACK, u128>(memory, stride, packed, blocks) },
        // SAFETY: as above.
        24 => unsafe { move_words::<PACK, [u64; 3]>(memory, stride, packed, blocks) },
        // SAFETY: as above.
        32 => unsafe { move_words::<PACK, [u64; 4]>(memory, stride, packed, blocks) },
        _ => {
            let (mut memory, mut packed) = (memory, packed);
            for _ in 0..blocks {
                // SAFETY: the caller's promise.
                unsafe { move_block::<PACK>(memory, packed, block_bytes as usize) };
                (memory, packed) = (at(memory, stride), at(packed, block_bytes as i64));
            }
        }
    }
}

/// # Safety
/// As [`move_blocks`], for blocks of the size of `Word`.
#[inline]
unsafe fn move_words<const PACK: bool, Word>(memory: *mut u8, stride: i64, packed: *mut u8, blocks: u64) {
    let (mut memory, mut packed) = (memory, packed);
    for _ in 0..blocks {
        let (from, into) = if PACK { (memory, packed) } else { (packed, memory) };
        // SAFETY: the caller's promise.
        let word = unsafe { from.cast::<Word>().read_unaligned() };
        // SAFETY: as above.
        unsafe { into.cast::<Word>().write_unaligned(word) };
        (memory, packed) = (at(memory, stride), packed.wrapping_add(size_of::<Word>()));
    }
}

/// # Safety
/// As [`transfer`], for one run of `bytes` bytes.
#[inline]
unsafe fn move_block<const PACK: bool>(memory: *mut u8, packed: *mut u8, bytes: usize) {
    let (from, into) = if PACK { (memory, packed) } else { (packed, memory) };
    // SAFETY: the caller's promise.
    unsafe { ptr::copy(from, into, bytes) };
}

/// Takes up to `bytes` bytes off the front of `left`.
#[inline]
fn split_front(left: &mut Region, bytes: u64) -> Region {
    let bytes = usize::try_from(bytes).map_or(left.len(), |bytes| bytes.min(left.len()));
    let front = left.part(0, bytes);
    *left = left.part(bytes, left.len() - bytes);
    front
}

fn at(origin: *mut u8, displacement: i64) -> *mut u8 {
    origin.wrapping_offset(displacement as isize)
}
