//! The language of plans: one rank's part of a collective, as data.
//!
//! A plan is a list of [`Step`]s over buffers that are named by role. It holds no address, no callback and no
//! handle, so it can be printed, compared, cached, priced and verified, and every lifetime runs the same one.
//!
//! **Segments.** A plan is run as one loop. In iteration `i` each step, in order, handles segment
//! `i - step.delay` and is skipped where that is not in `0..plan.segments`. Most plans have one segment; a
//! pipeline has many, and delays overlap the work on neighbouring segments. So the length of a plan does not
//! grow with the message.
//!
//! **Order.** Steps happen in order. [`Action::Send`] and [`Action::Receive`] are only *begun* in order: what
//! depends on their completion says so in [`Step::after`], which means those of the segment that the step works
//! on; a plan is over when all its steps are complete. Every other step is complete before the next one begins.
//!
//! **Messages.** Between two ranks, the `n`-th message that is sent is the `n`-th that is received, in the order in
//! which the loop begins them: with several segments, both ranks meet those between them in the same order. Of a
//! segment that is empty, the messages are too.
//!
//! **Lines.** Inside a node a rank *posts* a span on one of its lines, and peers *pull* it: at once if it is
//! posted already, else the puller waits. Line `l` keeps the last `lines[l].depth` segments; posting segment
//! `s` overwrites segment `s - depth`, so the plan must make sure, by what it has pulled before, that every
//! peer has finished with that one. From one run of a plan to the next the executor sees to it.
//!
//! MPI-5.0: Collective Communication, Nonblocking Collective Operations (on schedules).

use std::fmt;

/// One rank's part of a collective.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// What to do, in order.
    pub steps: Vec<Step>,
    /// Segments that the steps are repeated for; at least 1.
    pub segments: u64,
    /// The lines that this rank posts on, at most [`MAX_LINES`]. All ranks of a node that post or pull
    /// have the same lines.
    pub lines: Vec<Line>,
    /// Bytes of [`Buf::Scratch`].
    pub scratch_bytes: u64,
}

/// The most lines that a plan has.
pub const MAX_LINES: usize = 4;

/// One of the lines that each rank owns for a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// The most bytes that any rank posts on it in one segment.
    pub slot_bytes: u64,
    /// Segments that can be posted and not yet overwritten; at least 1.
    pub depth: u32,
}

/// One action, and when it may happen.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// What happens.
    pub action: Action,
    /// How many segments behind the front of the pipeline this step works.
    pub delay: u32,
    /// Indices of earlier [`Action::Send`] and [`Action::Receive`] steps, with no more delay, whose messages of the
    /// segment that this step works on must be complete before.
    pub after: Vec<u32>,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Sends `from` to `to`. Begun only; messages between two ranks keep their order.
    Send {
        /// The receiver.
        to: Peer,
        /// The data.
        from: Span,
    },
    /// Receives exactly `into.bytes` bytes. Begun only.
    Receive {
        /// The sender.
        from: Peer,
        /// Where the data goes.
        into: Span,
    },
    /// Copies; the spans are equally long.
    Copy {
        /// The source.
        from: Span,
        /// The target.
        into: Span,
    },
    /// `into = left op right`, element by element. `into` may be `left` or `right`.
    Reduce {
        /// The left operand: it comes from lower ranks than `right`.
        left: Span,
        /// The right operand.
        right: Span,
        /// Where the result goes.
        into: Span,
    },
    /// Makes `from` readable by all ranks of the node, of both groups, on this rank's line `line`; `from` may be empty.
    Post {
        /// Index into [`Plan::lines`].
        line: u8,
        /// What to post.
        from: Span,
    },
    /// Waits until `peer` (which may be this rank) has posted the segment on its line `line`, skips `skip`
    /// bytes of what was posted and takes `into.bytes`. With an empty `into` it only waits.
    Pull {
        /// Who posted.
        peer: Peer,
        /// Index into [`Plan::lines`].
        line: u8,
        /// Bytes of the posted span to skip.
        skip: u64,
        /// Where the bytes, or the result, go.
        into: Span,
        /// What is done with them.
        take: Take,
    },
    /// Takes bytes of what `peer` posts on its line `line` in all segments, seen as one stream whose segments fill
    /// their slots: `into.bytes` of them from `begin`. In each segment it pulls those that were posted there, if any.
    Excerpt {
        /// Who posted.
        peer: Peer,
        /// Index into [`Plan::lines`].
        line: u8,
        /// The first byte of the stream to take.
        begin: u64,
        /// Where the bytes go. It does not move from segment to segment.
        into: Span,
    },
}

/// What a [`Action::Pull`] does with the posted bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Take {
    /// `into = posted`.
    Copy,
    /// `into = posted op right`.
    Left {
        /// The right operand; may be `into`.
        right: Span,
    },
    /// `into = left op posted`.
    Right {
        /// The left operand; may be `into`.
        left: Span,
    },
}

/// A rank a step talks to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Peer {
    /// A rank of the communicator's (local) group.
    Local(u32),
    /// A rank of an intercommunicator's remote group.
    Remote(u32),
}

/// A buffer by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Buf {
    /// The user's send buffer. In place, the part of the receive buffer that stands for it.
    Send,
    /// The user's receive buffer (the only buffer, of a broadcast).
    Recv,
    /// Memory of the run itself. Its contents do not survive the run.
    Scratch,
}

/// A range of bytes of a buffer, moving from segment to segment.
///
/// In segment `s` it begins at `offset + s * stride` and is `bytes` long, but never reaches beyond `end`.
/// Bytes count what the datatype's elements occupy packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The buffer.
    pub buf: Buf,
    /// Where segment 0 begins.
    pub offset: u64,
    /// Length in one segment.
    pub bytes: u64,
    /// From the beginning of one segment to that of the next.
    pub stride: u64,
    /// What no segment reaches beyond.
    pub end: u64,
}

impl Span {
    /// No bytes.
    pub const EMPTY: Self = Self { buf: Buf::Scratch, offset: 0, bytes: 0, stride: 0, end: 0 };

    /// The same `bytes` bytes from `offset` in every segment.
    pub const fn fixed(buf: Buf, offset: u64, bytes: u64) -> Self {
        Self { buf, offset, bytes, stride: 0, end: offset + bytes }
    }

    /// The `bytes` bytes from `begin` of each segment.
    pub(crate) const fn part(self, begin: u64, bytes: u64) -> Self {
        Self { offset: self.offset + begin, bytes, ..self }
    }

    /// The same range of a buffer that begins at `offset` in `buf`.
    pub(crate) const fn moved(self, buf: Buf, offset: u64) -> Self {
        Self { buf, offset: self.offset + offset, end: self.end + offset, ..self }
    }

    /// The range of bytes in segment `segment`: beginning and length.
    #[inline]
    pub const fn at(&self, segment: u64) -> (u64, u64) {
        let begin = self.offset + segment * self.stride;
        let left = self.end.saturating_sub(begin);
        (begin, if self.bytes < left { self.bytes } else { left })
    }
}

impl Line {
    /// What an [`Action::Excerpt`] from `begin` takes in `segment`: bytes of the posted span to skip, and the span
    /// that they go to. `None` where nothing of it was posted.
    #[inline]
    pub fn excerpt(&self, begin: u64, into: &Span, segment: u64) -> Option<(u64, Span)> {
        let posted = segment * self.slot_bytes;
        let first = begin.max(posted);
        let end = (begin + into.bytes).min(posted + self.slot_bytes);
        let part = || Span::fixed(into.buf, into.offset + first - begin, end - first);
        (first < end).then(|| (first - posted, part()))
    }
}

impl Plan {
    /// Whether this rank posts or pulls.
    pub fn uses_lines(&self) -> bool {
        let is_message = |step: &Step| matches!(step.action, Action::Send { .. } | Action::Receive { .. });
        let is_local = |step: &Step| matches!(step.action, Action::Copy { .. } | Action::Reduce { .. });
        !self.steps.iter().all(|step| is_message(step) || is_local(step))
    }

    /// Iterations of the loop: segments, and those that the most delayed step needs to catch up.
    pub fn iterations(&self) -> u64 {
        self.segments + u64::from(self.steps.iter().map(|step| step.delay).max().unwrap_or(0))
    }

    /// The delay of the first step that does something like that.
    #[cfg(test)]
    pub(crate) fn delay_of(&self, is_it: impl Fn(&Action) -> bool) -> u32 {
        self.steps.iter().find(|step| is_it(&step.action)).expect("there is one").delay
    }
}

/// A rank without a group is one of the local group.
impl From<u32> for Peer {
    fn from(rank: u32) -> Self {
        Self::Local(rank)
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(rank) => write!(f, "{rank}"),
            Self::Remote(rank) => write!(f, "remote {rank}"),
        }
    }
}
