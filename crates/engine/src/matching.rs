//! Matching: which message goes into which receive.
//!
//! One [`Context`] per communicator and kind of traffic. Receives that wait are kept in the order in which
//! they were posted, messages that nobody waits for in the order in which they arrived, so of two that match
//! the earlier is taken: the non-overtaking rule.
//! Cost: none in the usual case that the first one matches; else linear in those looked at where there are few, and
//! the same however many there are ([`Queue`]), for probing and cancelling too.
//!
//! MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication.

mod chains;
mod line;
mod queue;
#[cfg(test)]
mod tests;

use std::fmt;

use oxmpi_base::Status;
use oxmpi_mem::Taken;
use oxmpi_plan::Peer;
use oxmpi_shm::ring::Header;

use crate::p2p::{OpKey, kind};
use crate::peers::PeerId;
pub(crate) use chains::Waiting;
pub(crate) use queue::Queue;

/// What a receive or a probe asks for. `None` is a wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Rank of the sender in the communicator.
    pub source: Option<i32>,
    /// The message's tag.
    pub tag: Option<i32>,
}

/// The source of a collective's message, seen from its receiver.
///
/// Both groups of an intercommunicator count their ranks from 0: those of the remote one are told apart by
/// being counted down, from the first number that is not [`Status::ANY`].
#[inline]
pub(crate) fn source(peer: Peer) -> i32 {
    match peer {
        Peer::Local(rank) => rank.cast_signed(),
        Peer::Remote(rank) => FIRST_REMOTE - rank.cast_signed(),
    }
}

const FIRST_REMOTE: i32 = Status::ANY - 1;

/// A source as reports name it.
pub(crate) struct Source(pub(crate) i32);

/// A message that arrived before anybody asked for it, or that a matched probe has taken.
#[derive(Debug)]
pub struct Message {
    /// The sender.
    pub(crate) from: PeerId,
    pub(crate) header: Header,
    /// What came with it, in the pool.
    pub(crate) payload: Taken,
}

/// The receives and messages of one context.
#[derive(Debug, Default)]
pub(crate) struct Context {
    posted: Queue<Posted, 1>,
    unexpected: Queue<Message, { Pattern::WILDCARDS }>,
    /// No receive will be posted any more.
    refuses: bool,
}

#[derive(Debug)]
struct Posted {
    pattern: Pattern,
    op: OpKey,
}

impl Pattern {
    #[inline]
    pub(crate) fn matches(&self, header: &Header) -> bool {
        self.source.is_none_or(|source| source == header.source)
            && self.tag.is_none_or(|tag| tag == header.tag)
    }

    /// How many ways there are to leave something open.
    pub(crate) const WILDCARDS: usize = 4;

    /// In which of these ways this does.
    pub(crate) fn wildcards(&self) -> usize {
        2 * usize::from(self.source.is_none()) + usize::from(self.tag.is_none())
    }

    /// What a receive that waits shows in reports, and of whom it needs something.
    pub(crate) fn header(&self, context: u32) -> Header {
        let (source, tag) = (self.source.unwrap_or(Status::ANY), self.tag.unwrap_or(Status::ANY));
        Header { context, source, tag, ..Header::default() }
    }

    /// What a receive shows that waits for this.
    pub(crate) fn of(header: &Header) -> Self {
        let named = |value: i32| (value != Status::ANY).then_some(value);
        Self { source: named(header.source), tag: named(header.tag) }
    }

    /// All that match a message.
    pub(crate) fn matching(header: &Header) -> [Self; Self::WILDCARDS] {
        let (source, tag) = (Some(header.source), Some(header.tag));
        [(source, tag), (source, None), (None, tag), (None, None)].map(|(source, tag)| Self { source, tag })
    }
}

impl Waiting<1> for Posted {
    type Name = OpKey;

    fn patterns(&self) -> [Pattern; 1] {
        [self.pattern]
    }

    fn kind(_: &Pattern) -> usize {
        0
    }

    fn name(&self) -> Option<OpKey> {
        Some(self.op)
    }
}

impl Waiting<{ Pattern::WILDCARDS }> for Message {
    /// The sender, and the number that it gave the message.
    type Name = (PeerId, u64);

    fn patterns(&self) -> [Pattern; Pattern::WILDCARDS] {
        Pattern::matching(&self.header)
    }

    fn kind(pattern: &Pattern) -> usize {
        pattern.wildcards()
    }

    fn name(&self) -> Option<(PeerId, u64)> {
        let is_answered = self.header.kind != kind::EAGER; // who waits for no answer gave no number
        is_answered.then_some((self.from, self.header.token))
    }
}

impl Pattern {
    /// Which messages it asks for, of the communicator that reports call `comm`.
    pub fn describe(&self, comm: &str) -> String {
        let sender = Source(self.source.unwrap_or(Status::ANY));
        match self.tag {
            Some(tag) => format!("{sender} of {comm}, tag {tag}"),
            None => format!("{sender} of {comm}, any tag"),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Status::ANY => write!(f, "any rank"),
            rank @ 0.. => write!(f, "rank {rank}"),
            source => write!(f, "rank {} of the remote group", FIRST_REMOTE - source),
        }
    }
}

impl Message {
    /// The sender.
    pub fn from(&self) -> PeerId {
        self.from
    }

    /// Rank of the sender in the communicator, tag, and bytes.
    pub fn envelope(&self) -> (i32, i32, u64) {
        (self.header.source, self.header.tag, self.header.bytes)
    }
}

impl Context {
    /// Lets a receive wait.
    #[inline(always)]
    pub(crate) fn post(&mut self, pattern: Pattern, op: OpKey) {
        self.posted.push(|| Posted { pattern, op });
    }

    /// The receive that a message goes into, which waits no longer.
    #[inline]
    pub(crate) fn take_posted(&mut self, header: &Header) -> Option<OpKey> {
        let first = self.posted.take_first(|posted| posted.pattern.matches(header));
        if let Some(first) = first {
            return Some(first.op);
        }
        if self.posted.is_empty() { None } else { self.take_posted_further(*header) }
    }

    /// What the only receive that waits asks for, if it is this one.
    #[inline]
    pub(crate) fn pattern_of_only(&self, receive: OpKey) -> Option<Pattern> {
        self.posted.only().filter(|posted| posted.op == receive).map(|posted| posted.pattern)
    }

    /// It waits no longer.
    #[inline]
    pub(crate) fn take_only_posted(&mut self) {
        self.posted.take_first(|_| true);
    }

    #[inline(never)]
    fn take_posted_further(&mut self, header: Header) -> Option<OpKey> {
        let matches = |posted: &Posted| posted.pattern.matches(&header);
        self.posted.take(matches, &Pattern::matching(&header)).map(|posted| posted.op)
    }

    /// The same, and it goes on waiting.
    pub(crate) fn first_posted(&mut self, header: &Header) -> Option<OpKey> {
        let patterns = Pattern::matching(header);
        self.posted.first(|posted| posted.pattern.matches(header), &patterns).map(|posted| posted.op)
    }

    /// Whether no receive waits.
    #[inline]
    pub(crate) fn has_no_posted(&self) -> bool {
        self.posted.is_empty()
    }

    /// Lets a receive no longer wait; false if it did not.
    pub(crate) fn withdraw(&mut self, op: OpKey) -> bool {
        self.posted.take_named(op).is_some()
    }

    /// Keeps a message until somebody asks for it.
    #[inline]
    pub(crate) fn keep(&mut self, message: Message) {
        self.unexpected.push(|| message);
    }

    /// The earliest kept message that matches.
    #[inline]
    pub(crate) fn peek(&mut self, pattern: &Pattern) -> Option<&Message> {
        self.unexpected.first(|message| pattern.matches(&message.header), &[*pattern])
    }

    /// Whether no message is kept.
    #[inline]
    pub(crate) fn has_no_unexpected(&self) -> bool {
        self.unexpected.is_empty()
    }

    /// As [`Context::peek`], and it is kept no longer.
    pub(crate) fn take_unexpected(&mut self, pattern: &Pattern) -> Option<Message> {
        let matches = |message: &Message| pattern.matches(&message.header);
        self.unexpected.take_first(matches).or_else(|| self.unexpected.take(matches, &[*pattern]))
    }

    /// Takes out a kept message by the number that its sender gave it.
    pub(crate) fn retract(&mut self, from: PeerId, token: u64) -> Option<Message> {
        self.unexpected.take_named((from, token))
    }

    /// No receive will be posted any more: the messages whose senders wait for one, as `waits` says.
    pub(crate) fn refuse(&mut self, waits: impl Fn(&Message) -> bool) -> Vec<Message> {
        self.refuses = true;
        self.take_all(waits)
    }

    /// Takes out the kept messages of which something is so.
    pub(crate) fn take_all(&mut self, is_so: impl Fn(&Message) -> bool) -> Vec<Message> {
        let (taken, kept) = self.unexpected.drain().partition(is_so);
        Vec::into_iter(kept).for_each(|message| self.unexpected.push(|| message));
        taken
    }

    /// Whether no receive will be posted any more.
    pub(crate) fn refuses(&self) -> bool {
        self.refuses
    }

    /// Takes out the receives and messages that are left when the context ends.
    pub(crate) fn drain(&mut self) -> (Vec<OpKey>, Vec<Message>) {
        (self.posted.drain().map(|posted| posted.op).collect(), self.unexpected.drain().collect())
    }
}
