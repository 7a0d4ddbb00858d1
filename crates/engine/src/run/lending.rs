//! What is posted where it lies: neither copied into a slot nor overwritten before all have read it.
//!
//! A plan says which of its posts [stay](oxmpi_plan::Plan::staying) until it is over. Where such data lies in memory
//! that has a name (`p2p/allocations`), the line carries that instead of a slot's offset, in all segments. The run is
//! over when all members have completed it, as they show on their first lines: then nobody reads any more.
//!
//! Cost: a look at a line of each member in the end, in place of a copy.

use std::num::NonZeroU64;
use std::ops::Range;

use oxmpi_base::Result;
use oxmpi_plan::{Buf, Span};

use super::{Awaits, Means, Run};
use crate::channel::Channel;

/// Whether it is worth while to lend so many bytes.
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
    pub(super) fn name(&self, line: u8, from: &Span, means: &Means<'_>) -> Option<NonZeroU64> {
        let Means { plan, binding, p2p, channel } = means;
        if p2p.allocations.is_empty() || from.buf == Buf::Scratch || self.turn.number != channel.completed() {
            return None;
        }
        let Range { start, end } = plan.reach(from);
        let bytes = end.checked_sub(start)?;
        let memory = self.part(binding, from.buf, start, bytes)?;
        let name = p2p.allocations.name(&memory)?;
        if !pays(bytes, plan.only_posts(), p2p.allocations.is_crowded()) {
            return None;
        }
        plan.staying(line, binding.within()?)?;
        NonZeroU64::new(name)
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
        channel.end_loan();
        self.outcome()
    }
}
