//! What a rank posts beyond its lines: blocks of its shared memory, each of which comes back when all members have
//! completed the run in which it was posted.
//!
//! Credit alone lets a rank that only posts get as many runs ahead of its readers as have lines. Of what is short that
//! is as it should be: ranks that take turns at a processor share the cost of a turn. Of what is long, all that was
//! posted and not read yet would be more than the caches hold, and each byte go to memory and back: a bcast of 1 MiB
//! among 8 ranks of two processors took two to three times as long. So a rank that has posted much waits until some of
//! it was read.

use std::collections::VecDeque;
use std::ops::Range;

use oxmpi_base::Result;
use oxmpi_shm::{Arena, Block};

use super::Channel;
use crate::p2p::P2p;

/// The blocks whose readers may not be through.
#[derive(Debug, Default)]
pub(super) struct Staging {
    blocks: VecDeque<Staged>,
    bytes: u64,
    /// The last run for which one was taken that was never used, plus 1.
    with_new_memory: u64,
}

/// A block that this rank has posted in.
#[derive(Clone, Copy, Debug)]
struct Staged {
    run: u64,
    block: Block,
    /// Whether it is to [rest](Arena::give_read).
    rests: bool,
}

/// Blocks that may await their credit before it is looked up.
const BLOCKS_UNDER_WAY: usize = 3;
/// What is posted and not read yet may be so much: what a core has of the last cache, on many processors.
const MOST_AHEAD_BYTES: u64 = 4 << 20;
/// So much in any case.
const ALWAYS_AHEAD_BYTES: u64 = 512 << 10;

impl Staging {
    /// The blocks, none of which anybody reads any more.
    pub(super) fn into_blocks(self) -> impl Iterator<Item = Block> {
        self.blocks.into_iter().map(|staged| staged.block)
    }

    fn push(&mut self, staged: Staged) {
        self.bytes += staged.block.bytes as u64;
        self.blocks.push_back(staged);
    }

    /// The first block, if it was posted in a run below this one.
    fn pop(&mut self, run: u64) -> Option<Staged> {
        let staged = *self.blocks.front().filter(|staged| staged.run < run)?;
        self.blocks.pop_front();
        self.bytes -= staged.block.bytes as u64;
        Some(staged)
    }

    /// How much was posted in some runs. A block may lie behind that of a later run, which waits for them.
    fn bytes_of(&self, runs: Range<u64>) -> u64 {
        let staged = self.blocks.iter().filter(|staged| runs.contains(&staged.run));
        staged.map(|staged| staged.block.bytes as u64).sum()
    }
}

impl Channel {
    /// Shared memory for what this rank posts in a run. It comes back when all ranks have completed the run.
    ///
    /// # Errors
    /// `NoMem`, as [`Arena::take`].
    pub(crate) fn stage(&mut self, run: u64, bytes: u64, rests: bool, arena: &mut Arena) -> Result<Block> {
        if self.staging.blocks.len() >= BLOCKS_UNDER_WAY {
            self.take_back(arena);
        }
        let used_before = arena.ever_used_bytes();
        let block = arena.take(bytes as usize)?;
        if arena.ever_used_bytes() != used_before {
            self.staging.with_new_memory = run + 1;
            self.time_no_more(run);
        }
        self.staging.push(Staged { run, block, rests });
        Ok(block)
    }

    /// Whether this rank may post so many bytes more in a run now, or is to wait for readers of what it has posted in
    /// runs before.
    #[inline]
    pub(crate) fn has_room(&mut self, run: u64, bytes: u64, p2p: &mut P2p) -> bool {
        self.staging.bytes + bytes <= ALWAYS_AHEAD_BYTES || self.has_room_for_much(run, bytes, p2p)
    }

    #[inline(never)]
    fn has_room_for_much(&mut self, run: u64, bytes: u64, p2p: &mut P2p) -> bool {
        let most = most_ahead_bytes(p2p);
        let fits = |channel: &Self| match channel.staging.bytes_of(channel.completed_by_all..run) {
            0 => true,
            before => before + bytes <= most,
        };
        fits(self) || {
            self.take_back(&mut p2p.arena);
            fits(self)
        }
    }

    /// The first run before this one of which somebody may not have read what this rank has posted.
    pub(super) fn first_unread(&self, run: u64) -> Option<u64> {
        let unread = self.completed_by_all..run;
        self.staging.blocks.iter().map(|staged| staged.run).filter(|run| unread.contains(run)).min()
    }

    /// Takes back what was staged in runs that all ranks have completed.
    pub(crate) fn take_back(&mut self, arena: &mut Arena) {
        if self.staging.blocks.is_empty() {
            return;
        }
        self.look_up_credit();
        while let Some(Staged { block, rests, .. }) = self.staging.pop(self.completed_by_all) {
            if rests {
                arena.give_read(block)
            } else {
                arena.give(block)
            };
        }
    }

    /// Whether this rank posts in memory that was never used before, in a run: that takes several times as long.
    #[inline]
    pub(crate) fn has_new_memory(&self, run: u64) -> bool {
        self.staging.with_new_memory == run + 1
    }
}

/// How much what is posted and not read yet may be: ranks that take turns share the caches.
fn most_ahead_bytes(p2p: &P2p) -> u64 {
    let (ranks, cpus) = (p2p.peers.job().size(), p2p.cpus());
    (MOST_AHEAD_BYTES * cpus.min(ranks) as u64 / ranks as u64).max(ALWAYS_AHEAD_BYTES)
}

#[cfg(test)]
mod tests {
    use oxmpi_base::Function;

    use super::*;
    use crate::Engine;
    use crate::call::{Call, Lifetime};
    use crate::engine::ChannelKey;

    const BYTES: u64 = 1 << 20;

    fn begin(channel: &mut Channel) -> u64 {
        let call = Call::new(Function::BcastInit);
        channel.begin(&call, call.begun(Lifetime::Blocking, None)).0.number
    }

    /// Else as many of a megabyte are under way as a channel has lines for.
    #[test]
    fn who_has_posted_much_waits_until_it_was_read() {
        let mut engines = Engine::of_new_job(2).expect("there is memory");
        let keys: Vec<ChannelKey> =
            engines.iter_mut().map(|engine| engine.open_first_channel(None)).collect();
        let complete = |engine: &mut Engine, key, runs: u64| {
            let channel = engine.channels.get_mut(key).expect("it was opened");
            for _ in 0..runs {
                let run = begin(channel);
                channel.complete(run, &engine.p2p);
            }
        };
        let post = |engine: &mut Engine, key, bytes: u64| {
            let channel = engine.channels.get_mut(key).expect("it was opened");
            let run = begin(channel);
            let has_room = channel.has_room(run, bytes, &mut engine.p2p);
            if has_room {
                channel.stage(run, bytes, false, &mut engine.p2p.arena).expect("there is memory");
            }
            channel.complete(run, &engine.p2p);
            has_room
        };
        let most = most_ahead_bytes(&engines[0].p2p);
        let runs = (0..64).take_while(|_| post(&mut engines[0], keys[0], BYTES)).count() as u64;
        assert_eq!(runs, (most / BYTES).max(1));
        complete(&mut engines[1], keys[1], 1);
        assert!(post(&mut engines[0], keys[0], BYTES), "one was read");
        assert!(!post(&mut engines[0], keys[0], BYTES));
        complete(&mut engines[1], keys[1], runs + 2);
        assert!(post(&mut engines[0], keys[0], most + 1), "nothing else is under way");
        assert!(!post(&mut engines[0], keys[0], most + 1));
    }

    /// Runs need not post in their order, but are counted as completed in it.
    #[test]
    fn nobody_waits_for_a_later_run() {
        let mut engine = Engine::of_new_job(2).expect("there is memory").remove(0);
        let key = engine.open_first_channel(None);
        let Engine { channels, p2p, .. } = &mut engine;
        let channel = channels.get_mut(key).expect("it was opened");
        let [first, second] = [begin(channel), begin(channel)];
        let bytes = most_ahead_bytes(p2p);
        for run in [second, first] {
            assert!(channel.has_room(run, bytes, p2p));
            channel.stage(run, bytes, false, &mut p2p.arena).expect("there is memory");
        }
    }
}
