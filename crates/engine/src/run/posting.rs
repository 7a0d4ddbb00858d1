//! What a rank posts: in the line itself, copied into a slot, or where it lies.

use std::ops::Range;

use oxmpi_mem::Region;
use oxmpi_plan::{Line as PlanLine, Peer, Plan, Span};
use oxmpi_shm::fault::{Point, reach};
use oxmpi_shm::{INLINE_BYTES, Line, now_ns};

use super::{Means, Run};
use crate::call::lag;
use crate::posted::{Place, Posted};

impl Run {
    #[inline]
    pub(super) fn post(&mut self, line: u8, from: &Span, segment: u64, means: &mut Means<'_>) -> bool {
        let shape = &means.plan.lines[usize::from(line)];
        let (offset, bytes) = from.at(segment);
        if is_inline(shape, means.plan) {
            if let Some(region) = self.part(means.binding, from.buf, offset, bytes) {
                return self.post_inline(line, segment, &region, means);
            }
            if !means.channel.has_credit(self.turn.number, line) {
                return false;
            }
            let payload = means.channel.own_line(self.turn, line).payload();
            means.binding.buffer(from.buf).read(offset, &payload.part(0, bytes as usize));
            return self.post_inline(line, segment, &Region::EMPTY, means);
        }
        if !means.channel.has_credit(self.turn.number, line) || !self.has_room(line, shape, means) {
            return false;
        }
        reach(Point::BeforePost);
        let own = means.channel.own_line(self.turn, line);
        let posted = self.put(own, line, from, segment, means);
        own.post_at(self.sequence(segment), self.note(means), posted.word());
        reach(Point::BeforeRing);
        means.channel.wake_members(&means.p2p.peers);
        true
    }

    /// Whether there is room for what this rank posts on a line in this run.
    #[inline]
    fn has_room(&self, line: u8, shape: &PlanLine, means: &mut Means<'_>) -> bool {
        let bytes = shape.slot_bytes * u64::from(shape.depth);
        self.staged[usize::from(line)].is_some() || means.channel.has_room(self.turn.number, bytes, means.p2p)
    }

    /// Says in a line that there is nothing.
    #[cold]
    pub(super) fn post_nothing(&mut self, line: u8, segment: u64, means: &mut Means<'_>) -> bool {
        if is_inline(&means.plan.lines[usize::from(line)], means.plan) {
            return self.post_inline(line, segment, &Region::EMPTY, means);
        }
        if !means.channel.has_credit(self.turn.number, line) {
            return false;
        }
        // Nobody looks for this; but who is about to look for a segment before it finds where that lies, as before.
        let posted = self.staged[usize::from(line)].unwrap_or(Posted::NOWHERE);
        let own = means.channel.own_line(self.turn, line);
        own.post_at(self.sequence(segment), self.note(means), posted.word());
        means.channel.wake_members(&means.p2p.peers);
        true
    }

    /// Posts bytes that fit into a line, in it.
    #[inline(always)]
    pub(super) fn post_inline(
        &mut self,
        line: u8,
        segment: u64,
        from: &Region,
        means: &mut Means<'_>,
    ) -> bool {
        if !means.channel.has_credit(self.turn.number, line) {
            return false;
        }
        reach(Point::BeforePost);
        means.channel.own_line(self.turn, line).post(self.sequence(segment), self.note(means), from);
        reach(Point::BeforeRing);
        means.channel.wake_members(&means.p2p.peers);
        true
    }

    /// The word beside what is posted.
    #[inline(always)]
    fn note(&self, means: &Means<'_>) -> u64 {
        // Runs are admitted only as long as this fits.
        self.word | lag(self.turn.number - means.channel.completed())
    }

    /// Puts what does not fit into the line where it is to be found.
    #[inline(never)]
    fn put(&mut self, own: &Line, line: u8, from: &Span, segment: u64, means: &mut Means<'_>) -> Posted {
        let shape = means.plan.lines[usize::from(line)];
        let posted = self.stage(line, from, &shape, means);
        let target = match posted.place() {
            Place::Slots(base) => {
                Some(base.saturating_add(segment % u64::from(shape.depth) * shape.slot_bytes))
            }
            Place::Named(name) if posted.is_copied() => {
                Some(name.saturating_add(segment.saturating_mul(from.stride)))
            }
            Place::Address(_) | Place::Named(_) => None,
        };
        match target {
            Some(target) if posted.is_timed() => {
                let begun_ns = now_ns();
                self.copy_out(from, segment, target, posted, means);
                means.channel.has_posted_in(self.turn.number, now_ns().saturating_sub(begun_ns));
            }
            Some(target) => self.copy_out(from, segment, target, posted, means),
            None => {
                let Range { start, end } = means.plan.reach(from);
                own.tell_extent(from.stride, end.saturating_sub(start));
            }
        }
        posted
    }

    /// Copies what is posted in a segment to an offset of the segment of this rank.
    #[inline]
    fn copy_out(&self, from: &Span, segment: u64, target: u64, posted: Posted, means: &mut Means<'_>) {
        let (offset, bytes) = from.at(segment);
        if let Ok(target) = means.channel.region(Peer::Local(means.channel.rank()), target, bytes) {
            match self.part(means.binding, from.buf, offset, bytes) {
                Some(region) if posted.desk().is_some() || means.channel.has_new_memory(self.turn.number) => {
                    target.copy_from(&region);
                }
                Some(region) => means.p2p.writes.copy(&region, &target),
                None => means.binding.buffer(from.buf).read(offset, &target),
            }
        }
    }

    /// Where this rank stages what it posts on a line in this run, or where that lies if it stays there;
    /// [`Posted::NOWHERE`] if there is no memory.
    fn stage(&mut self, line: u8, from: &Span, shape: &PlanLine, means: &mut Means<'_>) -> Posted {
        if let Some(posted) = self.staged[usize::from(line)] {
            return posted;
        }
        let posted = match self.name(line, from, means).or_else(|| self.address(line, from, means)) {
            Some(posted) => {
                (self.lends, self.readers) = (true, 0);
                posted
            }
            None => self.slots(shape, means),
        };
        self.staged[usize::from(line)] = Some(posted);
        posted
    }

    fn slots(&mut self, shape: &PlanLine, means: &mut Means<'_>) -> Posted {
        let bytes = shape.slot_bytes * u64::from(shape.depth);
        // Slots that serve again and again within a run are in the caches of their readers in any case.
        let rests = means.plan.segments <= u64::from(shape.depth);
        if rests
            && let Some(other) = means.channel.other()
            && let Some(desk) = means.p2p.take_post_desk(other, bytes)
        {
            return Posted::on_desk(desk, means.channel.times(self.turn.number));
        }
        let staged = means.channel.stage(self.turn.number, bytes, rests, &mut means.p2p.arena);
        if means.channel.times(self.turn.number) && means.p2p.writes.are_tried(shape.slot_bytes) {
            means.channel.time_no_more(self.turn.number);
        }
        match staged {
            Ok(block) => Posted::in_slots(block.offset, means.channel.times(self.turn.number)),
            Err(error) => {
                self.fail(error);
                Posted::NOWHERE
            }
        }
    }
}

/// Whether what is posted on a line travels in the line itself. The same on all ranks.
#[inline]
pub(super) fn is_inline(line: &PlanLine, plan: &Plan) -> bool {
    line.slot_bytes == 0 || line.slot_bytes <= INLINE_BYTES as u64 && plan.segments == 1
}
