use std::sync::OnceLock;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::layout::Layout;

/// An arena of 2^`bits` bytes.
fn arena(bits: u32) -> Arena {
    let layout = Layout::with_arenas(1, bits).expect("a possible size");
    Arena::new(Segment::of_a_test(&layout), layout.arena(0), 1)
}

/// Pages that belong to two chunks, and so may stay when one goes: one for each chunk of 64 MiB.
const EDGES: usize = 65;

/// Bytes of memory that an arena has, as far as it is known.
fn memory(arena: &Arena) -> usize {
    if cfg!(any(miri, portable)) {
        return 0;
    }
    let blocks = rustix::fs::fstat(arena.segment.file()).expect("a file").st_blocks;
    blocks as usize * 512 - (arena.begin - COLOUR)
}

#[test]
fn a_block_given_back_is_given_out_again() {
    let mut arena = arena(22);
    let block = arena.take(1000).expect("room");
    assert_eq!(block.bytes, 1024);
    let other = arena.take(1000).expect("room");
    assert_ne!(block.offset, other.offset);
    arena.give(block);
    assert_eq!(arena.take(600).expect("room"), block);
}

#[test]
fn what_was_never_used_is_told_from_what_was() {
    let mut arena = arena(24);
    let is_new = |arena: &mut Arena| {
        let before = arena.ever_used_bytes();
        let block = arena.take(1 << 16).expect("room");
        (block, arena.ever_used_bytes() != before)
    };
    let (first, second) = (is_new(&mut arena), is_new(&mut arena));
    assert!(first.1 && second.1);
    arena.give(first.0);
    assert_eq!(is_new(&mut arena), (first.0, false));
    arena.give(first.0);
    arena.give(second.0);
    arena.trim();
    assert!(is_new(&mut arena).1, "it has gone back to the system");
}

#[test]
fn a_block_that_was_read_rests_until_as_much_has_been_given_back_after_it() {
    let mut arena = arena(26);
    let round = round_bytes(1) >> 16;
    let mut walked = Vec::new();
    arena.read = READ_PER_RESTING * round_bytes(1);
    for _ in 0..3 * round {
        let block = arena.take(1 << 16).expect("room");
        walked.push(block.offset);
        arena.give_read(block);
    }
    let comes_again = |place: usize| walked[..place].iter().rposition(|&offset| offset == walked[place]);
    assert!((0..=round).all(|place| comes_again(place).is_none()));
    assert!(
        (2 * round..3 * round).all(|place| comes_again(place).is_some_and(|before| place - before >= round))
    );
    for bytes in [1024, 64 << 20] {
        let [short_or_long, again] = [(); 2].map(|()| {
            let block = arena.take(bytes.min(round_bytes(1))).expect("room");
            arena.give_read(block);
            block
        });
        assert_eq!(short_or_long, again);
    }
}

/// Memory that was never used is dearer than what rest saves.
#[test]
fn little_rests_at_first() {
    let mut arena = arena(26);
    for _ in 0..READ_PER_RESTING {
        let block = arena.take(1 << 16).expect("room");
        arena.give_read(block);
    }
    assert_eq!(arena.resting_bytes, 1 << 16);
}

/// Else blocks are tried that do not rest, and lose.
#[test]
fn what_is_read_elsewhere_lets_blocks_rest() {
    let mut arena = arena(26);
    arena.has_lent(READ_PER_RESTING * round_bytes(1));
    let blocks = [(); 8].map(|()| {
        let block = arena.take(1 << 16).expect("room");
        arena.give_read(block);
        block.offset
    });
    assert!((1..8).all(|place| !blocks[..place].contains(&blocks[place])));
}

#[test]
fn what_rests_is_taken_before_memory_runs_out() {
    let mut arena = arena(21);
    arena.read = READ_PER_RESTING * round_bytes(1);
    let blocks: Vec<Block> = std::iter::from_fn(|| arena.take(1 << 16).ok()).collect();
    blocks.into_iter().for_each(|block| arena.give_read(block));
    assert_eq!(std::iter::from_fn(|| arena.take(1 << 16).ok()).count(), 32);
}

/// The file ends where the system has no more.
#[test]
#[cfg_attr(any(miri, portable), ignore = "it is about files")]
fn what_rests_is_taken_where_the_system_refuses_more() {
    let mut arena = arena(23);
    let _used: Vec<Block> = (0..64).map(|_| arena.take(1 << 16).expect("room")).collect();
    let last: Vec<Block> = (0..64).map(|_| arena.take(1 << 14).expect("room")).collect();
    arena.segment = Segment::of_a_test(&Layout::with_arenas(1, 20).expect("a possible size"));
    arena.read = READ_PER_RESTING * arena.most_resting;
    last[57..].iter().for_each(|&block| arena.give_read(block));
    assert_eq!(arena.resting.len(), 7);
    // Those that lie behind are not to be had.
    let again: Vec<Block> = std::iter::from_fn(|| arena.take(1 << 14).ok()).take(7).collect();
    assert_eq!(again.len(), 7);
    assert_eq!((arena.resting.len(), arena.read), (0, 0), "little rests from then on, as at first");
}

#[test]
fn an_exhausted_arena_says_so_and_is_whole_again_in_the_end() {
    let mut arena = arena(22);
    for bytes in [4 << 20, 1 << 30, 1 << 62, (1 << 63) + 1, usize::MAX] {
        assert_eq!(arena.take(bytes).expect_err("no room").class(), ErrorClass::NoMem, "{bytes}");
    }
    let blocks: Vec<Block> = std::iter::from_fn(|| arena.take(1 << 16).ok()).collect();
    assert_eq!(blocks.len(), 64);
    blocks.into_iter().for_each(|block| arena.give(block));
    assert_eq!(arena.take(2 << 20).expect("joined").bytes, 2 << 20);
}

#[test]
#[cfg_attr(any(miri, portable), ignore = "it is about files")]
fn a_block_may_be_as_long_as_half_of_an_arena_and_has_no_more_memory_than_was_asked_for() {
    let mut arena = arena(38);
    let block = arena.take((1 << 20) + 1).expect("room");
    assert_eq!((block.bytes, memory(&arena)), (2 << 20, (2 << 20) + PAGE));
    let block = arena.take((4 << 20) + 1).expect("room");
    assert_eq!((block.bytes, memory(&arena)), (5 << 20, (7 << 20) + 2 * PAGE));
    let place = arena.find_in_another_window(37).expect("address space");
    arena.buddies.put(place, 37);
}

#[test]
#[cfg_attr(any(miri, portable), ignore = "it is about files")]
fn what_was_used_lately_is_kept_and_the_rest_goes_back() {
    let mut arena = arena(30);
    let turn = |arena: &mut Arena, bytes: usize, turns: usize| {
        for _ in 0..turns {
            let block = arena.take(bytes).expect("room");
            arena.give(block);
        }
    };
    turn(&mut arena, 200 << 20, 1);
    let all = memory(&arena);
    assert_eq!(all, (200 << 20) + PAGE);
    turn(&mut arena, 1000, PERIOD - 300);
    assert_eq!(memory(&arena), all, "it is not long ago");
    for _ in 0..10 {
        turn(&mut arena, 200 << 20, 1);
        turn(&mut arena, 1000, PERIOD - 300);
    }
    assert_eq!(memory(&arena), all, "nor is this");
    turn(&mut arena, 1000, 3 * PERIOD);
    assert_eq!(arena.claimed, KEPT);
    assert!(memory(&arena) <= KEPT + EDGES * PAGE);
    arena.trim();
    assert_eq!(arena.claimed, 0);
    assert!(memory(&arena) <= EDGES * PAGE);
    assert_eq!(arena.peak_bytes(), 200 << 20);
}

#[test]
#[cfg_attr(any(miri, portable), ignore = "it is about files")]
fn what_is_lent_does_not_count_as_used_and_goes_back_at_once() {
    let mut arena = arena(30);
    let used = arena.take(1000).expect("room");
    let blocks = [100 << 20, 100_000, 3 << 20, LONG - 1, LONG, LONG + 1].map(|bytes| {
        let block = arena.lend(bytes).expect("room");
        assert_eq!(Arena::block_bytes(bytes), Some(block.bytes));
        block
    });
    assert_eq!((arena.used, arena.peak_bytes()), (used.bytes, used.bytes));
    assert_eq!(arena.lent, blocks.iter().map(|block| block.bytes).sum::<usize>());
    for block in blocks {
        arena.take_home(block);
        arena.take_home(block);
    }
    assert_eq!((arena.used, arena.lent), (used.bytes, 0));
    assert!(memory(&arena) <= 2 * used.bytes + KEPT + EDGES * PAGE, "{}", memory(&arena));
}

#[test]
fn what_was_not_taken_here_is_left_alone() {
    let mut arena = arena(24);
    let blocks = [200, 5000, 1 << 20, 3 << 20].map(|bytes| arena.take(bytes).expect("room"));
    for Block { offset, bytes } in blocks {
        for offset in [offset + 1, offset + 128, offset + (1 << 20), offset + (1 << 40), 0, 64, u64::MAX] {
            arena.give(Block { offset, bytes });
        }
        for bytes in [0, 1, bytes - 1, bytes / 2, bytes * 2, usize::MAX] {
            arena.give(Block { offset, bytes });
        }
    }
    assert_eq!(arena.used, blocks.iter().map(|block| block.bytes).sum::<usize>());
    for block in blocks {
        arena.give(block);
        arena.give(block);
    }
    assert_eq!(arena.used, 0);
    let mut again = blocks.map(|block| arena.take(block.bytes).expect("room").offset);
    again.sort_unstable();
    assert!(again.windows(2).all(|pair| pair[0] < pair[1]), "none twice: {again:?}");
}

#[derive(Clone, Debug)]
enum Turn {
    /// So far from a block that was taken, and so long.
    Forge(usize, u64, usize),
    Give(usize),
    Take(usize),
    Trim,
}

fn turn() -> impl Strategy<Value = Turn> {
    let bytes = || (0..23_u32, 0..=100_usize).prop_map(|(size, more)| (1 << size) + (more << size) / 100);
    let shift =
        prop_oneof![Just(0), 0..10_000_000_u64, (0..80_000_u64).prop_map(|units| units * 128), any::<u64>(),];
    let forged = (any::<usize>(), shift, bytes());
    prop_oneof![
        5 => forged.prop_map(|(index, shift, bytes)| Turn::Forge(index, shift, bytes)),
        20 => any::<usize>().prop_map(Turn::Give),
        22 => bytes().prop_map(Turn::Take),
        1 => Just(Turn::Trim),
    ]
}

/// Writes to the beginning and the end of a block, and returns what was there.
fn mark(arena: &Arena, block: Block, mark: u64) -> [u64; 2] {
    let region = arena.segment.region(block.offset, block.bytes).expect("it lies in one window");
    [0, block.bytes - 8].map(|place| {
        let mut before = [0; 8];
        region.part(place, 8).read(&mut before);
        region.part(place, 8).write(&mark.to_ne_bytes());
        u64::from_ne_bytes(before)
    })
}

/// Whether an arena would take a forged block for this one.
fn passes_for(forged: Block, block: Block) -> bool {
    let is_alike = forged.bytes / LONG == block.bytes / LONG;
    forged.offset == block.offset
        && if block.bytes < LONG { forged.bytes.trailing_zeros() == size(block.bytes) } else { is_alike }
}

/// The beginnings and lengths of blocks, by their beginnings.
fn ranges(live: &[(Block, u64)]) -> Vec<(u64, u64)> {
    let mut ranges: Vec<_> = live.iter().map(|(block, _)| (block.offset, block.bytes as u64)).collect();
    ranges.sort_unstable();
    ranges
}

proptest! {
    // Byte by byte, and under tools that look at each, a case takes a second.
    #![proptest_config(ProptestConfig::with_cases(if cfg!(any(miri, portable)) { 8 } else { 256 }))]
    #[test]
    fn blocks_never_overlap_and_are_joined_in_the_end(turns in vec(turn(), 1..300)) {
        static SEGMENT: OnceLock<Arena> = OnceLock::new();
        let Arena { segment, begin, .. } = *SEGMENT.get_or_init(|| arena(26));
        segment.clear(begin, 1 << 26).expect("a file");
        let mut arena = Arena::new(segment, begin, 1);
        let mut live: Vec<(Block, u64)> = Vec::new();
        for (number, turn) in (1..).zip(turns) {
            match turn {
                Turn::Take(bytes) => {
                    let Ok(block) = arena.take(bytes) else { continue };
                    prop_assert!(block.bytes >= bytes && block.offset.is_multiple_of(128));
                    prop_assert!(block.bytes < PAGE || block.offset as usize % PAGE == COLOUR);
                    mark(&arena, block, number);
                    live.push((block, number));
                }
                Turn::Give(index) if !live.is_empty() => {
                    let (block, number) = live.swap_remove(index % live.len());
                    prop_assert_eq!(mark(&arena, block, 0), [number; 2], "{:?}", block);
                    arena.give(block);
                }
                Turn::Forge(index, shift, bytes) if !live.is_empty() => {
                    let offset = live[index % live.len()].0.offset.wrapping_add(shift);
                    let forged = Block { offset, bytes };
                    if !live.iter().any(|(block, _)| passes_for(forged, *block)) {
                        arena.give(forged);
                    }
                }
                Turn::Forge(..) | Turn::Give(_) => {}
                Turn::Trim => arena.trim(),
            }
            let ranges = ranges(&live);
            prop_assert!(ranges.windows(2).all(|pair| pair[0].0 + pair[0].1 <= pair[1].0));
            prop_assert_eq!(arena.used as u64, ranges.iter().map(|(_, bytes)| bytes).sum::<u64>());
            prop_assert!(memory(&arena) <= arena.claimed + EDGES * PAGE);
        }
        for (block, number) in live {
            prop_assert_eq!(mark(&arena, block, 0), [number; 2], "{:?}", block);
            arena.give(block);
        }
        arena.trim();
        prop_assert!(arena.buddies.count() <= 7, "each window is whole");
        prop_assert!(arena.claimed == 0 && memory(&arena) <= EDGES * PAGE);
    }
}
