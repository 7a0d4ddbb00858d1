//! What a sender has shown to a receiver that keeps no more, and how that comes back for it.
//!
//! The operations wait anyway until they are received; here they are filed by what they match. A receiver asks one
//! question at a time, and says up to which message it has seen all that was shown: what was shown later it may be
//! taking just now. See [`P2p`](super) for the protocol, and `asking` for the other side.

use oxmpi_base::Ordered;
use oxmpi_shm::ring::Header;

use super::outbox::{Again, Outgoing};
use super::{OpKey, P2p, State, kind};
use crate::matching::{Pattern, Queue, Waiting};
use crate::peers::PeerId;

/// What was shown to one peer, in the order in which it was sent.
#[derive(Debug, Default)]
pub(super) struct Shown {
    by_context: Ordered<u32, Queue<Sent, { Pattern::WILDCARDS }>>,
    count: u64,
}

/// A message that was shown.
#[derive(Clone, Copy, Debug)]
struct Sent {
    op: OpKey,
    /// Grows from each that is shown to the next.
    number: u64,
    source: i32,
    tag: i32,
}

/// What a receiver has asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    wanted: Wanted,
    /// The last message of which it has decided whether to take it.
    seen: u64,
}

#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// The first message that matches.
    First(u32, Pattern),
    /// The first of all, so many, to be kept there.
    Next(u64),
}

impl Waiting<{ Pattern::WILDCARDS }> for Sent {
    type Name = OpKey;

    fn patterns(&self) -> [Pattern; Pattern::WILDCARDS] {
        Pattern::matching(&Header { source: self.source, tag: self.tag, ..Header::default() })
    }

    fn kind(pattern: &Pattern) -> usize {
        pattern.wildcards()
    }

    fn name(&self) -> Option<OpKey> {
        Some(self.op)
    }
}

impl Shown {
    fn push(&mut self, context: u32, sent: Sent) {
        self.by_context.get_or_default(context).push(|| sent);
        self.count += 1;
    }

    fn first(&mut self, context: u32, pattern: &Pattern) -> Option<Sent> {
        let matches = |sent: &Sent| pattern.matches(&sent.header());
        self.by_context.get_mut(context)?.first(matches, &[*pattern]).copied()
    }

    /// The first of any context that was seen: between these there is no order.
    fn next(&mut self, seen: u64) -> Option<(u32, Sent)> {
        let any = Pattern { source: None, tag: None };
        let firsts = self.by_context.values_mut().filter_map(|(context, queue)| {
            let first = queue.first(|_| true, &[any])?;
            (first.number <= seen).then_some((context, *first))
        });
        firsts.min_by_key(|(_, sent)| sent.number)
    }

    fn remove(&mut self, context: u32, op: OpKey) {
        let Some(queue) = self.by_context.get_mut(context) else { return };
        self.count -= u64::from(queue.take_named(op).is_some());
        if queue.is_empty() {
            self.by_context.remove(context);
        }
    }
}

impl Sent {
    fn header(&self) -> Header {
        Header { source: self.source, tag: self.tag, ..Header::default() }
    }
}

impl P2p {
    /// Notes that a message was shown, under the next number.
    pub(super) fn note_shown(&mut self, peer: PeerId, op: OpKey, header: &Header) {
        self.shown += 1;
        let Header { context, source, tag, .. } = *header;
        let sent = Sent { op, number: self.shown, source, tag };
        self.change_outbox(peer, |outbox| outbox.shown.get_or_insert_default().push(context, sent));
    }

    /// A message is the receiver's matter from now on, or nobody's.
    pub(super) fn show_no_more(&mut self, peer: PeerId, context: u32, op: OpKey) {
        if self.peers[peer].outbox.shown.is_some() {
            self.change_outbox(peer, |outbox| {
                outbox.shown.as_mut().into_iter().for_each(|shown| shown.remove(context, op));
                outbox.shown.take_if(|shown| shown.count == 0);
            });
        }
    }

    /// The receiver has asked something.
    pub(super) fn asked_by(&mut self, from: PeerId, header: &Header, seen: u64) {
        let wanted = match header.kind {
            kind::WANTED => Wanted::First(header.context, Pattern::of(header)),
            _ => Wanted::Next(header.bytes),
        };
        self.change_outbox(from, |outbox| outbox.question = Some(Question { wanted, seen }));
        self.flush(from);
    }

    /// The receiver has taken a message for a matched probe, and decides on it from now on.
    pub(super) fn claimed(&mut self, from: PeerId, op: OpKey) {
        let Some(claimed) = self.ops.get_mut(op) else { return };
        let context = claimed.context;
        claimed.state = State::Announced { shown: 0 };
        self.show_no_more(from, context, op);
    }

    /// Answers what a peer has asked, as far as there is room; whether that is done.
    pub(super) fn answer_question(&mut self, peer: PeerId, Question { wanted, seen }: Question) -> bool {
        let answer = match wanted {
            Wanted::First(context, pattern) => {
                let shown = self.peers[peer].outbox.shown.as_mut();
                shown.and_then(|shown| shown.first(context, &pattern)).filter(|sent| sent.number <= seen)
            }
            Wanted::Next(count) => {
                if !self.send_next(peer, count, seen) {
                    return false;
                }
                // If there is no room to say so now, that alone is left to do.
                self.peers[peer].outbox.question = Some(Question { wanted: Wanted::Next(0), seen });
                None
            }
        };
        let outgoing = answer.map_or_else(
            || {
                let left = self.peers[peer].outbox.shown.as_ref().map_or(0, |shown| shown.count);
                Outgoing::Control(Header { kind: kind::NO_MORE, ..Header::default() }, left)
            },
            |sent| Outgoing::Again(sent.op, Again::Found),
        );
        let is_answered = self.push_or_make_way(peer, outgoing);
        if is_answered {
            self.change_outbox(peer, |outbox| outbox.question = None);
        }
        is_answered
    }

    /// Announces so many messages again, to be kept; false if there is no room for all of them.
    fn send_next(&mut self, peer: PeerId, mut count: u64, seen: u64) -> bool {
        while count > 0
            && let Some((context, sent)) =
                self.peers[peer].outbox.shown.as_mut().and_then(|shown| shown.next(seen))
        {
            if !self.push_or_make_way(peer, Outgoing::Again(sent.op, Again::Kept)) {
                let wanted = Wanted::Next(count);
                self.peers[peer].outbox.question = Some(Question { wanted, seen });
                return false;
            }
            if let Some(op) = self.ops.get_mut(sent.op) {
                op.state = State::Announced { shown: 0 };
            }
            self.show_no_more(peer, context, sent.op);
            count -= 1;
        }
        true
    }
}
