//! What is posted where it lies: neither copied into a slot nor overwritten before all have read it.
//!
//! A plan says which of its posts [stay](oxmpi_plan::Plan::staying) until it is over. Where such data lies in memory
//! that has a name (`p2p/allocations`), the line carries that instead of a slot's offset, in all segments. Other memory
//! has an address, where all readers can read it by asking the system (`channel/readers`), and that wins. The run is
//! over when all members have completed it, as they show on their first lines: then nobody reads any more.
//!
//! A reader to whom the system suddenly says no waits; who has posted sees that when he waits for long, and copies.
//!
//! Cost: a look at a line of each member in the end, in place of a copy.

use std::mem;
use std::ops::Range;

use oxmpi_base::Result;
use oxmpi_mem::Region;
use oxmpi_plan::{Buf, Peer, Span};

use super::{Awaits, Means, Run};
use crate::channel::Channel;
use crate::course::Way;
use crate::p2p::P2p;
use crate::posted::Posted;

/// Whether it is worth while to lend so many bytes that have a name.
///
/// Who waits for its readers could go on as soon as it has copied. Beyond the caches two ranks that copy are faster
/// than one, so what is long is copied by a rank that does nothing else meanwhile; and where ranks take turns at the
/// processors, a wait is some microseconds.
fn pays(bytes: u64, only_posts: bool, is_crowded: bool) -> bool {
    match (only_posts, is_crowded) {
        (false, false) => true,
        (false, true) => bytes >= LEAST_BYTES_BETWEEN_TURNS,
        (true, false) => bytes < BEYOND_CACHES_BYTES,
        (true, true) => (LEAST_BYTES_OF_TURN..BEYOND_CACHES_BYTES).contains(&bytes),
    }
}

const LEAST_BYTES_BETWEEN_TURNS: u64 = 16 << 10;
const LEAST_BYTES_OF_TURN: u64 = 64 << 10;
const BEYOND_CACHES_BYTES: u64 = 4 << 20;

impl Run {
    /// The name of where what is posted on a line lies, in all segments, if it has one and stays as it is until the
    /// end. Not of what is posted while earlier runs are under way: their ends would be waited for, too.
    pub(super) fn name(&self, line: u8, from: &Span, means: &Means<'_>) -> Option<Posted> {
        let Means { plan, binding, p2p, channel } = means;
        if p2p.allocations.is_empty() || from.buf == Buf::Scratch || self.turn.number != channel.completed() {
            return None;
        }
        let Range { start, end } = plan.reach(from);
        let bytes = end.checked_sub(start)?;
        let memory = self.part(binding, from.buf, start, bytes)?;
        let name = p2p.allocations.name(&memory)?;
        if !pays(bytes, plan.only_posts(), p2p.is_crowded()) {
            return None;
        }
        plan.staying(line, binding.within()?)?;
        Some(Posted::named(name))
    }

    /// The address of where what is posted on a line lies, if it is to be read there.
    pub(super) fn address(&mut self, line: u8, from: &Span, means: &mut Means<'_>) -> Option<Posted> {
        let Range { start, end } = means.plan.reach(from);
        let bytes = end.checked_sub(start).filter(|&bytes| bytes >= means.p2p.least_read_bytes())?;
        means.channel.tell_whether_readable(means.p2p);
        if from.buf == Buf::Scratch || self.turn.number != means.channel.completed() {
            return None;
        }
        let memory = self.part(means.binding, from.buf, start, bytes)?;
        means.plan.staying(line, means.binding.within()?)?;
        if !means.channel.has_readers() || self.way(bytes, means) == Way::Shared {
            return None;
        }
        let is_timed = means.channel.times(self.turn.number);
        let posted = Posted::at_address(memory.as_ptr().addr(), is_timed)?;
        means.p2p.arena.has_lent(memory.len());
        self.direct.get_or_insert_default().shown.push((line, memory));
        Some(posted)
    }

    /// The way of all that this rank posts in the run.
    fn way(&mut self, bytes: u64, means: &mut Means<'_>) -> Way {
        let run = self.turn.number;
        let direct = self.direct.get_or_insert_default();
        let (way, _) = *direct.way.get_or_insert_with(|| {
            let way = match direct.leader {
                _ if means.p2p.is_read_anyway(bytes) => Way::Direct,
                Some((_, Way::Direct)) => Way::Direct,
                _ => {
                    let Means { plan, channel, p2p, .. } = means;
                    channel.choose_way(run, &plan.call(), bytes, plan.only_posts(), &mut p2p.post_ways)
                }
            };
            (way, bytes)
        });
        way
    }

    /// Copies what others were to read where it lies, if one of them cannot.
    #[cold]
    pub(super) fn copy_after_all(&mut self, channel: &mut Channel, p2p: &mut P2p) {
        let Some(direct) = &mut self.direct else { return };
        if direct.shown.is_empty() || channel.has_still_readers() {
            return;
        }
        for (line, memory) in mem::take(&mut direct.shown) {
            let posted = match self.copied(&memory, channel, p2p) {
                Ok(posted) => posted,
                Err(error) => {
                    self.fail(error);
                    Posted::NOWHERE
                }
            };
            self.staged[usize::from(line)] = Some(posted);
            channel.own_line(self.turn, line).post_again_at(posted.word());
        }
        channel.wake_members(&p2p.peers);
    }

    fn copied(&self, memory: &Region, channel: &mut Channel, p2p: &mut P2p) -> Result<Posted> {
        let bytes = memory.len() as u64;
        let block = channel.stage(self.turn.number, bytes, false, &mut p2p.arena)?;
        channel.region(Peer::Local(channel.rank()), block.offset, bytes)?.copy_from(memory);
        Ok(Posted::copied(block.offset))
    }

    /// The run is complete here, and not over.
    #[cold]
    pub(super) fn begin_loan(&mut self, channel: &mut Channel) -> Result<bool> {
        channel.begin_loan();
        self.end_loan(channel)
    }

    /// Ends the run if everybody has read what this rank has posted where it lies: who has completed it, has.
    #[inline(never)]
    pub(super) fn end_loan(&mut self, channel: &mut Channel) -> Result<bool> {
        if let Some((place, line)) = channel.reader(self.turn.number, self.readers) {
            self.readers = place;
            self.awaits = Some(Awaits { line, sequence: self.turn.number + 1 });
            return Ok(false);
        }
        self.lends = false;
        self.direct.iter_mut().for_each(|direct| direct.shown.clear());
        channel.end_loan();
        self.outcome()
    }
}
