//! What a rank posts: in the line itself, copied into a slot, or where it lies.

use std::num::NonZeroU64;

use oxmpi_mem::Region;
use oxmpi_plan::{Line as PlanLine, Peer, Plan, Span};
use oxmpi_shm::INLINE_BYTES;
use oxmpi_shm::fault::{Point, reach};

use super::{Means, Run};
use crate::call::LAG;
use crate::p2p::offset_of_name;

/// The offset of what a rank could not stage for want of shared memory. No segment is as long.
pub(super) const NOWHERE: NonZeroU64 = NonZeroU64::new(u64::MAX >> 1).expect("it is not 0");

impl Run {
    #[inline]
    pub(super) fn post(&mut self, line: u8, from: &Span, segment: u64, means: &mut Means<'_>) -> bool {
        if !means.channel.has_credit(self.turn.number) {
            return false;
        }
        reach(Point::BeforePost);
        let own = means.channel.own_line(self.turn, line);
        let sequence = self.sequence(segment);
        // Runs are admitted only as long as this fits.
        let note = self.word | (self.turn.number - means.channel.completed()) & LAG;
        let (offset, bytes) = from.at(segment);
        let shape = means.plan.lines[usize::from(line)];
        if is_inline(&shape, means.plan) {
            match self.part(means.binding, from.buf, offset, bytes) {
                Some(region) => own.post(sequence, note, &region),
                None => {
                    means.binding.buffer(from.buf).read(offset, &own.payload().part(0, bytes as usize));
                    own.post(sequence, note, &Region::EMPTY);
                }
            }
        } else {
            let base = self.stage(line, from, &shape, means);
            if offset_of_name(base.get()).is_some() {
                own.tell_stride(from.stride);
            } else {
                let slot = base.get().saturating_add(segment % u64::from(shape.depth) * shape.slot_bytes);
                if let Ok(slot) = means.channel.region(Peer::Local(means.channel.rank()), slot, bytes) {
                    match self.part(means.binding, from.buf, offset, bytes) {
                        Some(region) => slot.copy_from(&region),
                        None => means.binding.buffer(from.buf).read(offset, &slot),
                    }
                }
            }
            own.post_at(sequence, note, base.get());
        }
        reach(Point::BeforeRing);
        means.channel.wake_members(&means.p2p.peers);
        true
    }

    /// Where this rank stages what it posts on a line in this run, or the name of where it lies if it stays there;
    /// [`NOWHERE`] if there is no memory.
    fn stage(&mut self, line: u8, from: &Span, shape: &PlanLine, means: &mut Means<'_>) -> NonZeroU64 {
        if let Some(base) = self.staged[usize::from(line)] {
            return base;
        }
        if let Some(name) = self.name(line, from, means) {
            self.staged[usize::from(line)] = Some(name);
            (self.lends, self.readers) = (true, 0);
            return name;
        }
        let bytes = shape.slot_bytes * u64::from(shape.depth);
        let base = match means.channel.stage(self.turn.number, bytes, &mut means.p2p.arena) {
            Ok(block) => NonZeroU64::new(block.offset).expect("no arena begins a segment"),
            Err(error) => {
                self.fail(error);
                NOWHERE
            }
        };
        self.staged[usize::from(line)] = Some(base);
        base
    }
}

/// Whether what is posted on a line travels in the line itself. The same on all ranks.
#[inline]
pub(super) fn is_inline(line: &PlanLine, plan: &Plan) -> bool {
    line.slot_bytes == 0 || line.slot_bytes <= INLINE_BYTES as u64 && plan.segments == 1
}
