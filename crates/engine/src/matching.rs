//! Matching: which message goes into which receive.
//!
//! One [`Context`] per communicator and kind of traffic. Receives that wait are kept in the order in which
//! they were posted, messages that nobody waits for in the order in which they arrived, so of two that match
//! the earlier is taken: the non-overtaking rule.
//! Cost: linear in the entries looked at; none in the usual case that the first one matches.
//!
//! MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication.

use std::collections::VecDeque;
use std::fmt;
use std::mem;

use oxmpi_base::Status;
use oxmpi_mem::Taken;
use oxmpi_plan::Peer;
use oxmpi_shm::ring::Header;

use crate::p2p::OpKey;
use crate::peers::PeerId;

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
    posted: VecDeque<Posted>,
    unexpected: VecDeque<Message>,
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
    pub(crate) fn post(&mut self, pattern: Pattern, op: OpKey) {
        self.posted.push_back(Posted { pattern, op });
    }

    /// The receive that a message goes into, which waits no longer.
    #[inline]
    pub(crate) fn take_posted(&mut self, header: &Header) -> Option<OpKey> {
        let place = self.posted.iter().position(|posted| posted.pattern.matches(header))?;
        self.posted.remove(place).map(|posted| posted.op)
    }

    /// Whether no receive waits.
    #[inline]
    pub(crate) fn has_no_posted(&self) -> bool {
        self.posted.is_empty()
    }

    /// Lets a receive no longer wait; false if it did not.
    pub(crate) fn withdraw(&mut self, op: OpKey) -> bool {
        let place = self.posted.iter().position(|posted| posted.op == op);
        place.and_then(|place| self.posted.remove(place)).is_some()
    }

    /// Keeps a message until somebody asks for it.
    pub(crate) fn keep(&mut self, message: Message) {
        self.unexpected.push_back(message);
    }

    /// The earliest kept message that matches.
    pub(crate) fn peek(&self, pattern: &Pattern) -> Option<&Message> {
        self.unexpected.iter().find(|message| pattern.matches(&message.header))
    }

    /// As [`Context::peek`], and it is kept no longer.
    #[inline]
    pub(crate) fn take_unexpected(&mut self, pattern: &Pattern) -> Option<Message> {
        if self.unexpected.is_empty() {
            return None;
        }
        let place = self.unexpected.iter().position(|message| pattern.matches(&message.header))?;
        self.unexpected.remove(place)
    }

    /// Takes out a kept message by the number that its sender gave it.
    pub(crate) fn retract(&mut self, from: PeerId, token: u64) -> Option<Message> {
        let is_meant = |message: &Message| message.from == from && message.header.token == token;
        let place = self.unexpected.iter().position(is_meant)?;
        self.unexpected.remove(place)
    }

    /// No receive will be posted any more: the messages whose senders wait for one, as `waits` says.
    pub(crate) fn refuse(&mut self, waits: impl Fn(&Message) -> bool) -> VecDeque<Message> {
        self.refuses = true;
        let (refused, kept) = self.unexpected.drain(..).partition(waits);
        self.unexpected = kept;
        refused
    }

    /// Whether no receive will be posted any more.
    pub(crate) fn refuses(&self) -> bool {
        self.refuses
    }

    /// The receives and messages that are left when the context ends.
    pub(crate) fn drain(&mut self) -> (Vec<OpKey>, VecDeque<Message>) {
        (self.posted.drain(..).map(|posted| posted.op).collect(), mem::take(&mut self.unexpected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(source: i32, tag: i32, token: u64) -> Message {
        let header = Header { source, tag, token, ..Header::default() };
        Message { from: PeerId::of_rank(0), header, payload: Taken::EMPTY }
    }

    fn pattern(source: Option<i32>, tag: Option<i32>) -> Pattern {
        Pattern { source, tag }
    }

    #[test]
    fn of_two_messages_that_match_the_earlier_is_taken() {
        let mut context = Context::default();
        for (source, tag, token) in [(0, 5, 1), (1, 7, 2), (0, 7, 3), (0, 7, 4)] {
            context.keep(message(source, tag, token));
        }
        let mut take = |source, tag| context.take_unexpected(&pattern(source, tag)).map(|m| m.header.token);
        assert_eq!(take(Some(0), Some(7)), Some(3));
        assert_eq!(take(None, Some(7)), Some(2));
        assert_eq!(take(Some(1), None), None);
        assert_eq!(take(None, None), Some(1));
        assert_eq!(take(None, None), Some(4));
    }

    #[test]
    fn ranks_of_two_groups_are_never_mixed_up() {
        let local: Vec<i32> = (0..9).map(|rank| source(Peer::Local(rank))).collect();
        let remote: Vec<i32> = (0..9).map(|rank| source(Peer::Remote(rank))).collect();
        assert!(local.iter().all(|source| *source != Status::ANY && !remote.contains(source)));
        assert!(!remote.contains(&Status::ANY));
        assert_eq!(Source(local[3]).to_string(), "rank 3");
        assert_eq!(Source(remote[3]).to_string(), "rank 3 of the remote group");
    }

    #[test]
    fn of_two_receives_that_match_the_earlier_is_taken() {
        let mut context = Context::default();
        let ops: Vec<OpKey> = (0..3).map(OpKey::from_word).collect();
        context.post(pattern(Some(1), None), ops[0]);
        context.post(pattern(None, Some(4)), ops[1]);
        context.post(pattern(Some(0), Some(4)), ops[2]);
        assert_eq!(context.take_posted(&message(0, 4, 0).header), Some(ops[1]));
        assert_eq!(context.take_posted(&message(0, 4, 0).header), Some(ops[2]));
        assert_eq!(context.take_posted(&message(0, 4, 0).header), None);
        assert!(context.withdraw(ops[0]) && !context.withdraw(ops[0]));
    }
}
