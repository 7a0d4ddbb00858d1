//! Appending steps to a plan.

use crate::segment::Segments;
use crate::{Action, Buf, Line, MAX_LINES, Peer, Plan, Span, Step, Take};

/// A plan in the making.
///
/// Steps are appended in the order in which they happen, with the pipeline delay set last. Methods that
/// append a send or a receive return its index, for the `after` of steps that need its completion.
pub(crate) struct Builder {
    plan: Plan,
    delay: u32,
}

impl Builder {
    /// A plan of one segment without steps.
    pub(crate) fn new() -> Self {
        Self::segmented(1)
    }

    /// A plan of `segments` segments without steps.
    pub(crate) fn segmented(segments: u64) -> Self {
        Self { plan: Plan { steps: Vec::new(), segments, lines: Vec::new(), scratch_bytes: 0 }, delay: 0 }
    }

    /// The plan.
    pub(crate) fn finish(self) -> Plan {
        self.plan
    }

    /// The plan, its last line made as long as `slot_bytes`: all ranks of a node have the same lines,
    /// though they may be of several parts.
    pub(crate) fn finish_widened(mut self, slot_bytes: u64) -> Plan {
        if let Some(line) = self.plan.lines.last_mut() {
            line.slot_bytes = line.slot_bytes.max(slot_bytes);
        }
        self.plan
    }

    /// A new line; returns its index.
    pub(crate) fn line(&mut self, slot_bytes: u64, depth: u32) -> u8 {
        let index = self.plan.lines.len();
        assert!(index < MAX_LINES, "algorithms admit only what fits into {MAX_LINES} lines");
        self.plan.lines.push(Line { slot_bytes, depth });
        index as u8
    }

    /// `count` more bytes of scratch memory.
    pub(crate) fn scratch(&mut self, count: u64) -> Span {
        let span = Span::fixed(Buf::Scratch, self.plan.scratch_bytes, count);
        self.plan.scratch_bytes += count;
        span
    }

    /// Steps appended from now on work `segments` behind the front of the pipeline.
    pub(crate) fn delay(&mut self, segments: u32) {
        self.delay = segments;
    }

    /// Begins a send once the steps in `after` are complete.
    pub(crate) fn send(&mut self, to: impl Into<Peer>, from: Span, after: &[u32]) -> u32 {
        self.push(Action::Send { to: to.into(), from }, after)
    }

    /// Begins a receive once the steps in `after` are complete.
    pub(crate) fn receive(&mut self, from: impl Into<Peer>, into: Span, after: &[u32]) -> u32 {
        self.push(Action::Receive { from: from.into(), into }, after)
    }

    /// Copies once the steps in `after` are complete.
    pub(crate) fn copy(&mut self, from: Span, into: Span, after: &[u32]) {
        self.push(Action::Copy { from, into }, after);
    }

    /// `into = left op right` once the steps in `after` are complete.
    pub(crate) fn reduce(&mut self, left: Span, right: Span, into: Span, after: &[u32]) {
        self.push(Action::Reduce { left, right, into }, after);
    }

    /// Posts `from` on `line`.
    pub(crate) fn post(&mut self, line: u8, from: Span) {
        self.push(Action::Post { line, from }, &[]);
    }

    /// Posts `from` on `line` once the steps in `after` are complete.
    pub(crate) fn post_after(&mut self, line: u8, from: Span, after: &[u32]) {
        self.push(Action::Post { line, from }, after);
    }

    /// Copies the bytes behind the first `skip` that `peer` posted on `line`.
    pub(crate) fn pull(&mut self, peer: impl Into<Peer>, line: u8, skip: u64, into: Span) {
        self.push(Action::Pull { peer: peer.into(), line, skip, into, take: Take::Copy }, &[]);
    }

    /// Reduces with the bytes behind the first `skip` that `peer` posted on `line`.
    pub(crate) fn pull_reduce(&mut self, peer: impl Into<Peer>, line: u8, skip: u64, into: Span, take: Take) {
        self.push(Action::Pull { peer: peer.into(), line, skip, into, take }, &[]);
    }

    /// Copies bytes from `begin` of the stream that `peer` posts on `line` in all segments.
    pub(crate) fn excerpt(&mut self, peer: impl Into<Peer>, line: u8, begin: u64, into: Span) {
        self.push(Action::Excerpt { peer: peer.into(), line, begin, into }, &[]);
    }

    /// Waits for `peer` to post on `line`.
    pub(crate) fn wait(&mut self, peer: impl Into<Peer>, line: u8) {
        self.pull(peer, line, 0, Span::EMPTY);
    }

    /// `into` = all ranks' contributions in order: begins with this rank's `own` and goes down, then up.
    ///
    /// `posted_by(peer)` is the line on which a peer has posted its contribution, and what to skip there.
    /// Right also where `own` and `into` are the same bytes, for any associative operation.
    pub(crate) fn pull_outward(
        &mut self,
        rank: u32,
        ranks: u32,
        own: Span,
        into: Span,
        posted_by: impl Fn(u32) -> (u8, u64),
    ) {
        let mut sum = own;
        for peer in (0..rank).rev() {
            let (line, skip) = posted_by(peer);
            self.pull_reduce(peer, line, skip, into, Take::Left { right: sum });
            sum = into;
        }
        for peer in rank + 1..ranks {
            let (line, skip) = posted_by(peer);
            self.pull_reduce(peer, line, skip, into, Take::Right { left: sum });
            sum = into;
        }
    }

    /// Appends the plan of a part: of some of the ranks, who sit where `seat` says, its lines beside those that are
    /// there. It begins when the messages of the steps in `after` are complete.
    ///
    /// Returns the steps whose messages nobody in the part has waited for, those in `after` included if it is empty:
    /// what is appended next may have to.
    ///
    /// # Panics
    /// If the part has not as many segments, or works less far behind than a step in `after`.
    pub(crate) fn splice(&mut self, part: Plan, seat: &Seat<'_>, after: &[u32]) -> Vec<u32> {
        let (first_step, first_line) = (self.plan.steps.len() as u32, self.plan.lines.len() as u8);
        let scratch = self.scratch(part.scratch_bytes);
        for Line { slot_bytes, depth } in part.lines {
            self.line(slot_bytes, depth);
        }
        if part.steps.is_empty() {
            return after.to_vec();
        }
        assert!(
            part.segments == self.plan.segments,
            "{} segments set into {}",
            part.segments,
            self.plan.segments
        );
        let moved = Moved { seat, scratch, first_line };
        // What works furthest ahead is the first to meet each segment.
        let ahead = part.steps.iter().map(|step| step.delay).min().unwrap_or(0);
        let begin = part.steps.iter().position(|step| step.delay == ahead);
        let has_begun = |&step: &u32| self.plan.steps[step as usize].delay <= self.delay + ahead;
        assert!(after.iter().all(has_begun), "a part cannot wait for what is further behind");
        let mut open = Vec::new();
        for (index, mut step) in part.steps.into_iter().enumerate() {
            open.retain(|message| !step.after.contains(message));
            if matches!(step.action, Action::Send { .. } | Action::Receive { .. }) {
                open.push(index as u32);
            }
            step.after.iter_mut().for_each(|earlier| *earlier += first_step);
            if Some(index) == begin {
                step.after.extend_from_slice(after);
            }
            step.delay += self.delay;
            step.action = moved.action(step.action);
            self.plan.steps.push(step);
        }
        open.into_iter().map(|message| message + first_step).collect()
    }

    /// Those of `steps` that receive.
    pub(crate) fn receives(&self, steps: &[u32]) -> Vec<u32> {
        let receives = |&step: &u32| matches!(self.plan.steps[step as usize].action, Action::Receive { .. });
        steps.iter().copied().filter(receives).collect()
    }

    /// Those of `steps` that send from where `span` is.
    pub(crate) fn sends(&self, steps: &[u32], span: Span) -> Vec<u32> {
        let is_from = |from: Span| (from.buf, from.offset) == (span.buf, span.offset);
        let sends = |&step: &u32| match self.plan.steps[step as usize].action {
            Action::Send { from, .. } => is_from(from),
            _ => false,
        };
        steps.iter().copied().filter(sends).collect()
    }

    fn push(&mut self, action: Action, after: &[u32]) -> u32 {
        let index = u32::try_from(self.plan.steps.len()).expect("a plan has a few steps per rank");
        self.plan.steps.push(Step { action, delay: self.delay, after: after.to_vec() });
        index
    }
}

/// Where a part of a plan is set: who its ranks are, and where its buffers are.
pub(crate) struct Seat<'a> {
    /// The rank that is the part's `r`-th.
    pub(crate) rank_of: &'a dyn Fn(u32) -> u32,
    /// The buffer that the part sends from, from where it begins.
    pub(crate) send: Origin,
    /// The one that it receives into.
    pub(crate) recv: Origin,
}

/// Where the buffer of a part begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    buf: Buf,
    offset: u64,
}

impl Seat<'_> {
    /// The part is of all ranks.
    pub(crate) const SAME: Self = Self { rank_of: &|rank| rank, send: Origin::SEND, recv: Origin::RECV };
}

/// How the steps of a part are seen from the whole.
struct Moved<'a> {
    seat: &'a Seat<'a>,
    scratch: Span,
    first_line: u8,
}

impl Origin {
    /// The beginning of the user's send buffer.
    pub(crate) const SEND: Self = Self { buf: Buf::Send, offset: 0 };
    /// The beginning of the user's receive buffer.
    pub(crate) const RECV: Self = Self { buf: Buf::Recv, offset: 0 };

    /// The segments of the vector that begins here.
    pub(crate) fn vector(self, segments: Segments) -> Span {
        segments.span(self.buf, self.offset)
    }

    /// The next `bytes` bytes.
    pub(crate) fn bytes(self, bytes: u64) -> Span {
        Span::fixed(self.buf, self.offset, bytes)
    }

    /// Where `span` begins.
    pub(crate) fn of(span: Span) -> Self {
        Self { buf: span.buf, offset: span.offset }
    }
}

impl Moved<'_> {
    fn span(&self, span: Span) -> Span {
        let Origin { buf, offset } = match span.buf {
            Buf::Send => self.seat.send,
            Buf::Recv => self.seat.recv,
            Buf::Scratch => Origin::of(self.scratch),
        };
        if span == Span::EMPTY { span } else { span.moved(buf, offset) }
    }

    fn peer(&self, peer: Peer) -> Peer {
        match peer {
            Peer::Local(rank) => Peer::Local((self.seat.rank_of)(rank)),
            Peer::Remote(_) => panic!("parts are of one group"),
        }
    }

    fn action(&self, action: Action) -> Action {
        match action {
            Action::Send { to, from } => Action::Send { to: self.peer(to), from: self.span(from) },
            Action::Receive { from, into } => {
                Action::Receive { from: self.peer(from), into: self.span(into) }
            }
            Action::Copy { from, into } => Action::Copy { from: self.span(from), into: self.span(into) },
            Action::Reduce { left, right, into } => {
                let [left, right, into] = [left, right, into].map(|span| self.span(span));
                Action::Reduce { left, right, into }
            }
            Action::Post { line, from } => {
                Action::Post { line: self.first_line + line, from: self.span(from) }
            }
            Action::Pull { peer, line, skip, into, take } => {
                let take = match take {
                    Take::Copy => take,
                    Take::Left { right } => Take::Left { right: self.span(right) },
                    Take::Right { left } => Take::Right { left: self.span(left) },
                };
                let (peer, line) = (self.peer(peer), self.first_line + line);
                Action::Pull { peer, line, skip, into: self.span(into), take }
            }
            Action::Excerpt { peer, line, begin, into } => {
                let (peer, line) = (self.peer(peer), self.first_line + line);
                Action::Excerpt { peer, line, begin, into: self.span(into) }
            }
        }
    }
}
