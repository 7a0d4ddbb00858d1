//! Appending steps to a plan.

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

    fn push(&mut self, action: Action, after: &[u32]) -> u32 {
        let index = u32::try_from(self.plan.steps.len()).expect("a plan has a few steps per rank");
        self.plan.steps.push(Step { action, delay: self.delay, after: after.to_vec() });
        index
    }
}
