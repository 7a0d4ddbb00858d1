//! Posts that may be read where they lie: nothing overwrites them until the run is over.
//!
//! What is posted is copied into a slot, since a plan may go on to write where it was. Often none does: then peers may
//! read the buffer itself, if they see it, and the run is over when all have.

use std::ops::Range;

use crate::{Action, Buf, Plan, Span, Step};

/// A step's place in the loop: its number, and how many segments it is behind.
#[derive(Clone, Copy)]
struct Turn {
    step: usize,
    delay: i128,
}

impl Plan {
    /// What this rank posts on a line, if it stays as it is from then on until the end of the run. `within` is where
    /// the send buffer begins in the receive buffer, if the two overlap.
    pub fn staying(&self, line: u8, within: Option<u64>) -> Option<Span> {
        let mut posts = self.steps.iter().enumerate().filter_map(|(number, step)| match step.action {
            Action::Post { line: of, from } if of == line => Some((Turn::of(number, step), from)),
            _ => None,
        });
        let (turn, posted) = posts.next().filter(|(_, posted)| posted.buf != Buf::Scratch)?;
        if posts.next().is_some() {
            return None;
        }
        let place = |span: Span| match within {
            Some(begin) if span.buf == Buf::Send => span.moved(Buf::Recv, begin),
            _ => span,
        };
        let written = |(number, step): (usize, &Step)| Some((Turn::of(number, step), place(step.written()?)));
        let mut writes = self.steps.iter().enumerate().filter_map(written);
        let is_overwritten = |(of, span): (Turn, Span)| self.overwrites((of, span), (turn, place(posted)));
        (!writes.any(is_overwritten)).then_some(posted)
    }

    /// Whether a step may write where something is posted, in some segment, after it was.
    fn overwrites(&self, (writer, written): (Turn, Span), (poster, posted): (Turn, Span)) -> bool {
        if written.buf != posted.buf || !self.share_bytes(&written, &posted) {
            return false;
        }
        if self.segments > 1 && written.stride != posted.stride {
            return true;
        }
        // Segment `s + ahead` of what is written overlaps segment `s` of what is posted: the last one that does.
        let [to, from] = [&written, &posted].map(|span| (i128::from(span.offset), i128::from(span.bytes)));
        let stride = if self.segments > 1 { i128::from(written.stride) } else { 0 };
        let ahead = match stride {
            0 => i128::from(self.segments) - 1,
            _ => (from.0 + from.1 - to.0 - 1).div_euclid(stride).min(i128::from(self.segments) - 1),
        };
        let begin = to.0 + ahead * stride;
        let overlap = begin < from.0 + from.1 && from.0 < begin + to.1;
        overlap && (ahead + writer.delay, writer.step) > (poster.delay, poster.step)
    }

    /// Whether two spans of a buffer have bytes in common, in whatever segments.
    fn share_bytes(&self, one: &Span, other: &Span) -> bool {
        let (one, other) = (self.reach(one), self.reach(other));
        one.start.max(other.start) < one.end.min(other.end)
    }

    /// Whether this rank only posts, and moves nothing itself.
    pub fn only_posts(&self) -> bool {
        let moves = |step: &Step| step.written().is_some_and(|span| span.bytes != 0);
        !self.steps.iter().any(|step| moves(step) || matches!(step.action, Action::Send { .. }))
    }

    /// From where a span begins in the first segment to where it ends in the last.
    pub fn reach(&self, span: &Span) -> Range<u64> {
        let (last, bytes) = span.at(self.segments - 1);
        span.offset..(last + bytes).min(span.end)
    }
}

impl Step {
    /// Where it writes.
    fn written(&self) -> Option<Span> {
        match self.action {
            Action::Copy { into, .. }
            | Action::Excerpt { into, .. }
            | Action::Pull { into, .. }
            | Action::Receive { into, .. }
            | Action::Reduce { into, .. } => Some(into),
            Action::Post { .. } | Action::Send { .. } => None,
        }
    }
}

impl Turn {
    fn of(step: usize, of: &Step) -> Self {
        Self { step, delay: of.delay.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Line;

    fn span(buf: Buf, offset: u64, bytes: u64, stride: u64) -> Span {
        Span { buf, offset, bytes, stride, end: offset + 3 * stride + bytes }
    }

    fn plan(segments: u64, steps: [(Action, u32); 2]) -> Plan {
        let steps = steps.map(|(action, delay)| Step { action, delay, after: Vec::new() });
        let lines = vec![Line { slot_bytes: 40, depth: 1 }];
        Plan { steps: steps.into(), segments, lines, scratch_bytes: 0 }
    }

    /// Whether what is posted is overwritten when the steps are carried out as the executor does.
    fn is_overwritten(plan: &Plan) -> bool {
        let mut posted = Vec::new();
        for iteration in 0..plan.iterations() {
            for step in &plan.steps {
                let segment = iteration.checked_sub(step.delay.into()).filter(|&at| at < plan.segments);
                match (step.action, segment) {
                    (Action::Post { from, .. }, Some(segment)) => posted.push(from.at(segment)),
                    (Action::Copy { into, .. }, Some(segment)) => {
                        let (begin, bytes) = into.at(segment);
                        let overlaps =
                            |&(at, len): &(u64, u64)| begin.max(at) < (begin + bytes).min(at + len);
                        if posted.iter().any(overlaps) {
                            return true;
                        }
                    }
                    _ => {}
                }
            }
        }
        false
    }

    #[test]
    fn what_stays_is_not_overwritten_and_the_other_way_round_where_strides_are_equal() {
        let spans = [(0, 4, 4), (4, 4, 8), (2, 6, 8), (3, 1, 8), (9, 3, 4), (0, 4, 0), (30, 4, 0)];
        let spans = spans.map(|(offset, bytes, stride)| span(Buf::Recv, offset, bytes, stride));
        let mut stays = 0;
        for case in 0..7 * 7 * 4 * 3 * 3 * 2 {
            let (posted, written) = (spans[case % 7], spans[case / 7 % 7]);
            let (segments, delays) =
                (1 + case / 49 % 4, [case / 196 % 3, case / 588 % 3].map(|delay| delay as u32));
            let post = Action::Post { line: 0, from: posted };
            let copy = Action::Copy { from: span(Buf::Send, 0, written.bytes, 0), into: written };
            let mut steps = [(post, delays[0]), (copy, delays[1])];
            steps.rotate_left(case / 1764);
            let plan = plan(segments as u64, steps);
            let is_kept = plan.staying(0, None).is_some();
            assert!(!is_kept || !is_overwritten(&plan), "{plan:?}");
            assert!(posted.stride != written.stride || is_kept != is_overwritten(&plan), "{plan:?}");
            stays += u32::from(is_kept);
        }
        assert!(stays > 1000, "{stays}");
    }

    #[test]
    fn a_send_buffer_in_place_may_be_overwritten() {
        let post = Action::Post { line: 0, from: Span::fixed(Buf::Send, 0, 8) };
        let copy =
            Action::Copy { from: Span::fixed(Buf::Scratch, 0, 8), into: Span::fixed(Buf::Recv, 16, 8) };
        let plan = plan(1, [(post, 0), (copy, 0)]);
        assert!(plan.staying(0, None).is_some());
        assert!(plan.staying(0, Some(24)).is_some() && plan.staying(0, Some(8)).is_some());
        assert_eq!(plan.staying(0, Some(20)), None);
    }

    #[test]
    fn scratch_and_lines_with_two_posts_do_not_stay() {
        let post = |buf| Action::Post { line: 0, from: Span::fixed(buf, 0, 8) };
        let twice = plan(1, [(post(Buf::Send), 0), (post(Buf::Recv), 0)]);
        assert_eq!(twice.staying(0, None), None);
        let copy = Action::Copy { from: Span::fixed(Buf::Send, 0, 8), into: Span::fixed(Buf::Scratch, 0, 8) };
        assert_eq!(plan(1, [(copy, 0), (post(Buf::Scratch), 0)]).staying(0, None), None);
    }
}
