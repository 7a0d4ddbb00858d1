//! What a receiver that has not kept a message asks its sender later.
//!
//! Each new message is shown here once, each new receive or probe there once: so each side learns of what concerns it,
//! and neither has to remember for the other. A sender is asked one thing after the other. Until it has answered for a
//! receive, no message of it that is shown meanwhile goes into that: an earlier one may match. So of messages that
//! match, the first one is received, and of receives that match the first one takes it, as if all had been kept. Cost:
//! a message there and back for each receive that finds nothing here, and sender that has shown something from which
//! it may receive; nothing as long as there are no such senders.
//!
//! See [`P2p`](super) for the protocol, and `shown` for the other side.

use std::collections::VecDeque;

use oxmpi_base::Status;
use oxmpi_mem::Region;
use oxmpi_shm::ring::Header;

use super::arrivals::word_of;
use super::keeping::Keeping;
use super::op::status_of;
use super::outbox::Outgoing;
use super::{Event, Op, OpKey, P2p, State, kind};
use crate::matching::{Message, Pattern};
use crate::peers::PeerId;
use crate::slab::Slab;

/// What there is to know of a sender that has messages which were only shown here.
#[derive(Debug, Default)]
pub(crate) struct Stalled {
    /// Their contexts, and the sender's rank in the communicator of each.
    senders: Vec<(u32, i32)>,
    /// The number of the last message that was shown.
    seen: u64,
    /// What it is to be asked, by number.
    questions: VecDeque<Question>,
    /// The first of these has been asked: what had been shown by then, and whether it is to be asked again in any case.
    under_way: Option<UnderWay>,
    /// What was asked for probes.
    probed: Vec<Probed>,
    /// A number that looks random, for probes that are too many.
    lots: u32,
    /// It is being asked to go on.
    goes_on: bool,
}

#[derive(Clone, Copy, Debug)]
struct Question {
    number: u64,
    of: Asking,
}

/// For what something is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asking {
    /// For all messages, to be refused.
    All,
    Probe(u32, Pattern),
    Receive(OpKey),
    /// For messages to be kept, now that there is room.
    Room,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    seen: u64,
    is_void: bool,
}

/// What a probe has asked for.
#[derive(Debug)]
struct Probed {
    context: u32,
    pattern: Pattern,
    answer: Answer,
}

#[derive(Debug)]
enum Answer {
    /// The first message that matches: its sender has it still, and nobody else decides on it.
    Found(Message),
    /// There is none up to this one.
    None(u64),
    NotYet,
}

/// Answers to so many probes are remembered, of each sender.
const MOST_PROBED: usize = 64;

impl Stalled {
    /// Whether there may be messages that match.
    fn may_match(&self, context: u32, pattern: &Pattern) -> bool {
        let is_one =
            |&(of, source): &(u32, i32)| of == context && pattern.source.is_none_or(|one| one == source);
        self.senders.iter().any(is_one)
    }

    fn is_asked(&self, number: u64) -> bool {
        self.questions.binary_search_by_key(&number, |question| question.number).is_ok()
    }

    fn probed(&mut self, context: u32, pattern: &Pattern) -> Option<&mut Probed> {
        self.probed.iter_mut().find(|probed| (probed.context, &probed.pattern) == (context, pattern))
    }

    /// A place for what a probe asks for, if there is one.
    fn begin_to_probe(&mut self, context: u32, pattern: Pattern, keeping: &mut Keeping) -> bool {
        let known = self.probed.iter().position(|one| (one.context, one.pattern) == (context, pattern));
        let place =
            known.or_else(|| if self.probed.len() < MOST_PROBED { None } else { self.place_by_lot() });
        let past = place.map(|place| self.probed.remove(place));
        past.into_iter().for_each(|past| past.forget(keeping));
        let has_place = self.probed.len() < MOST_PROBED;
        if has_place {
            self.probed.push(Probed { context, pattern, answer: Answer::NotYet });
        }
        has_place
    }

    /// The place of an answer that another probe may have now: that of the oldest, but what was found is to be there
    /// when the program asks again. Of many probes in turn it is not to be always the same that come when there is a
    /// place.
    fn place_by_lot(&mut self) -> Option<usize> {
        self.lots = self.lots.wrapping_mul(0x915f_77f5).wrapping_add(1);
        if self.lots >> 29 != 0 {
            return None;
        }
        let in_vain = self.probed.iter().position(|one| matches!(one.answer, Answer::None(_)));
        let are_found = || self.probed.iter().all(|one| matches!(one.answer, Answer::Found(_)));
        in_vain.or_else(|| are_found().then_some(0))
    }

    /// Puts a question behind the others.
    fn note(&mut self, question: Question, ops: &Slab<Op>) {
        if self.questions.len() == self.questions.capacity() {
            // Receives that others have matched meanwhile.
            let is_open = |number: u64, op: OpKey| ops.get(op).is_some_and(|op| op.asks(number));
            let first = self.under_way.and_then(|_| self.questions.pop_front());
            self.questions.retain(|question| match question.of {
                Asking::Receive(op) => is_open(question.number, op),
                Asking::All | Asking::Probe(..) | Asking::Room => true,
            });
            first.into_iter().for_each(|first| self.questions.push_front(first));
        }
        self.questions.push_back(question);
    }
}

impl Probed {
    fn forget(self, keeping: &mut Keeping) {
        if let Answer::Found(message) = self.answer {
            keeping.give(message.payload);
        }
    }
}

impl P2p {
    /// Asks senders for a message for a receive that waits, where one may have been shown before.
    #[inline]
    pub(super) fn ask_for(&mut self, receive: OpKey, pattern: &Pattern) {
        if !self.stalled.is_empty() {
            self.ask_all_for(receive, pattern);
        }
    }

    #[cold]
    fn ask_all_for(&mut self, receive: OpKey, pattern: &Pattern) {
        let Some(op) = self.ops.get_mut(receive) else { return };
        self.questions += 1;
        let (context, question) =
            (op.context, Question { number: self.questions, of: Asking::Receive(receive) });
        op.state = State::Posted { asked: question.number };
        for place in 0..self.stalled.len() {
            let peer = self.stalled[place];
            self.ask_if_it_may(peer, context, pattern, question);
        }
    }

    fn ask_if_it_may(&mut self, peer: PeerId, context: u32, pattern: &Pattern, question: Question) {
        let Some(stalled) = &mut self.peers[peer].stalled else { return };
        if stalled.may_match(context, pattern) {
            stalled.note(question, &self.ops);
            self.ask_next(peer);
        }
    }

    /// Asks the next question, if the last one is answered.
    fn ask_next(&mut self, peer: PeerId) {
        while let Some(stalled) = &mut self.peers[peer].stalled
            && stalled.under_way.is_none()
            && let Some(question) = stalled.questions.front()
        {
            let go_on = |count: u64| Header { kind: kind::GO_ON, bytes: count, ..Header::default() };
            let asking = match question.of {
                Asking::All => Some(go_on(u64::MAX)),
                Asking::Probe(context, pattern) => {
                    Some(Header { kind: kind::WANTED, ..pattern.header(context) })
                }
                Asking::Receive(op) => {
                    let waiting = self.ops.get(op).filter(|op| op.asks(question.number));
                    waiting.map(|op| Header { kind: kind::WANTED, ..op.header })
                }
                Asking::Room => Some(go_on((self.keeping.room() / self.stalled.len().max(1)).max(1) as u64)),
            };
            let Some(header) = asking else {
                stalled.questions.pop_front();
                continue;
            };
            let seen = stalled.seen;
            stalled.under_way = Some(UnderWay { seen, is_void: false });
            if matches!(question.of, Asking::All | Asking::Room) {
                self.forget_found(peer);
            }
            self.enqueue(peer, Outgoing::Control(header, seen));
        }
    }

    /// A message of a sender that expects it not to be kept.
    pub(super) fn shown_here(&mut self, from: PeerId, header: &Header, payload: &Region) {
        let number = word_of(&payload.part(8, 8));
        let header = &Header { kind: kind::ANNOUNCE, ..*header };
        if let Some(stalled) = &mut self.peers[from].stalled {
            stalled.seen = number;
        }
        match self.contexts.at(header.context).first_posted(header) {
            Some(receive) if self.may_take(from, receive) => {
                self.contexts.at(header.context).take_posted(header);
                self.take_shown(receive, from, header, payload);
            }
            None if self.contexts.at(header.context).refuses() => {
                self.answer(from, kind::REFUSED, header.token, 0);
            }
            _ => self.do_not_keep(from, header, number),
        }
    }

    /// A message goes into a receive that its sender still has among those it has shown. While it is read from another
    /// node nothing is answered: so the sender is told now, or it would offer it again, or take it back.
    fn take_shown(&mut self, receive: OpKey, from: PeerId, header: &Header, payload: &Region) {
        self.matched(receive, from, header, payload);
        if self.is_being_read(receive) {
            self.answer(from, kind::CLAIMED, header.token, 0);
        }
    }

    /// Whether a receive may take a message that is shown. If its sender is being asked for an earlier one, that is
    /// done again.
    fn may_take(&mut self, from: PeerId, receive: OpKey) -> bool {
        let Some(State::Posted { asked }) = self.ops.get(receive).map(|op| op.state) else { return false };
        let Some(stalled) = &mut self.peers[from].stalled else { return true };
        if asked == 0 || !stalled.is_asked(asked) {
            return true;
        }
        let is_first = stalled.questions.front().is_some_and(|first| first.number == asked);
        stalled.under_way = stalled.under_way.map(|way| UnderWay { is_void: way.is_void || is_first, ..way });
        false
    }

    fn do_not_keep(&mut self, from: PeerId, header: &Header, number: u64) {
        if self.peers[from].stalled.is_none() {
            self.stalled.push(from);
            self.hold_up();
        }
        let stalled = self.peers[from].stalled.get_or_insert_default();
        stalled.seen = number;
        let sender = (header.context, header.source);
        if !stalled.senders.contains(&sender) {
            stalled.senders.push(sender);
        }
        // Who waits for a message without a receive is to look again.
        self.kept += 1;
        self.happened(|| [Event::Arrival(header.context)]);
        self.resume(from);
    }

    /// The sender has sent what was asked for.
    pub(super) fn found(&mut self, from: PeerId, header: &Header, payload: &Region) {
        let Some((question, _)) = self.question_answered(from) else { return };
        let is_whole = header.kind == kind::FOUND_WHOLE;
        let kind = if is_whole { kind::EAGER_SYNCHRONOUS } else { kind::ANNOUNCE };
        let header = Header { kind, ..*header };
        match question.of {
            Asking::Receive(op) if self.ops.get(op).is_some_and(|op| op.asks(question.number)) => {
                self.contexts.at(header.context).withdraw(op);
                self.forget_found(from);
                self.take_shown(op, from, &header, payload);
            }
            Asking::Probe(context, pattern) => {
                let kept = self.keeping.take(payload.len());
                kept.copy_from(payload);
                self.note_probed(
                    from,
                    context,
                    &pattern,
                    Answer::Found(Message { from, header, payload: kept }),
                );
                self.kept += 1;
                self.happened(|| [Event::Arrival(context)]);
            }
            _ => {}
        }
        self.ask_next(from);
    }

    /// The sender has nothing to send of what was asked for, or all of it is here; and has so many left of those that
    /// were shown.
    pub(super) fn no_more(&mut self, from: PeerId, left: u64) {
        if left == 0 {
            return self.ask_no_more_of(from);
        }
        match self.question_answered(from) {
            Some((Question { of: Asking::Probe(context, pattern), .. }, seen)) => {
                self.note_probed(from, context, &pattern, Answer::None(seen));
            }
            Some((Question { of: Asking::Room, .. }, _)) => {
                if let Some(stalled) = &mut self.peers[from].stalled {
                    stalled.goes_on = false;
                }
                self.resume(from);
            }
            Some((Question { of: Asking::All, .. }, _)) => self.ask_without(from, Asking::All),
            _ => {}
        }
        self.ask_next(from);
    }

    /// The question that a sender has answered, and what it had shown by then; `None` if it is to be asked again.
    fn question_answered(&mut self, from: PeerId) -> Option<(Question, u64)> {
        let stalled = self.peers[from].stalled.as_mut()?;
        let UnderWay { seen, is_void } = stalled.under_way.take()?;
        if is_void {
            self.ask_next(from);
            return None;
        }
        Some((stalled.questions.pop_front()?, seen))
    }

    fn note_probed(&mut self, from: PeerId, context: u32, pattern: &Pattern, answer: Answer) {
        let stalled = self.peers[from].stalled.as_mut();
        match (stalled.and_then(|stalled| stalled.probed(context, pattern)), answer) {
            (Some(probed), answer) => probed.answer = answer,
            (None, Answer::Found(message)) => self.keeping.give(message.payload),
            (None, _) => {}
        }
    }

    /// Forgets what probes have found of a sender: it may not be the first any more, or not be there.
    fn forget_found(&mut self, from: PeerId) {
        let Some(stalled) = &mut self.peers[from].stalled else { return };
        let is_found = |probed: &mut Probed| matches!(probed.answer, Answer::Found(_));
        let found: Vec<Probed> = stalled.probed.extract_if(.., is_found).collect();
        for probed in found {
            let context = probed.context;
            probed.forget(&mut self.keeping);
            self.happened(|| [Event::Arrival(context)]); // who probes is to ask again
        }
    }

    /// The sender wants a message back that was shown, or this rank has taken one: what it answers now was true before.
    pub(super) fn change_shown(&mut self, from: PeerId) {
        self.forget_found(from);
        if let Some(stalled) = &mut self.peers[from].stalled {
            stalled.under_way = stalled.under_way.map(|way| UnderWay { is_void: true, ..way });
        }
    }

    /// What a sender has told of the first of its messages that matches. If it was not asked yet, or has shown others
    /// since, it is asked now.
    #[cold]
    fn look_further(&mut self, context: u32, pattern: &Pattern) -> Option<PeerId> {
        let mut found = None;
        for place in 0..self.stalled.len() {
            let peer = self.stalled[place];
            let Some(stalled) = &mut self.peers[peer].stalled else { continue };
            let seen = stalled.seen;
            let is_to_ask = match stalled.probed(context, pattern).map(|probed| &probed.answer) {
                Some(Answer::Found(message)) => {
                    // One that was posted meanwhile takes it when the sender has answered.
                    let is_free = self.contexts.at(context).first_posted(&message.header).is_none();
                    found = found.or(is_free.then_some(peer));
                    false
                }
                Some(Answer::None(up_to)) => *up_to < seen,
                Some(Answer::NotYet) => false,
                None => true,
            };
            if is_to_ask
                && stalled.may_match(context, pattern)
                && stalled.begin_to_probe(context, *pattern, &mut self.keeping)
            {
                self.questions += 1;
                let question = Question { number: self.questions, of: Asking::Probe(context, *pattern) };
                self.ask_if_it_may(peer, context, pattern, question);
            }
        }
        found
    }

    /// What a message says about itself that matches and was only shown here, as far as that is known.
    #[inline]
    pub(super) fn probe_further(&mut self, context: u32, pattern: &Pattern) -> Option<Status> {
        if self.stalled.is_empty() {
            return None;
        }
        let peer = self.look_further(context, pattern)?;
        match &self.peers[peer].stalled.as_mut()?.probed(context, pattern)?.answer {
            Answer::Found(message) => Some(status_of(&message.header)),
            Answer::None(_) | Answer::NotYet => None,
        }
    }

    /// Takes it.
    #[inline]
    pub(super) fn take_further(&mut self, context: u32, pattern: &Pattern) -> Option<Message> {
        if self.stalled.is_empty() {
            return None;
        }
        let peer = self.look_further(context, pattern)?;
        let probed = &mut self.peers[peer].stalled.as_mut()?.probed;
        let place = probed.iter().position(|one| (one.context, &one.pattern) == (context, pattern))?;
        let Answer::Found(message) = probed.swap_remove(place).answer else { return None };
        self.change_shown(peer);
        self.answer(peer, kind::CLAIMED, message.header.token, 0);
        Some(message)
    }

    /// Asks a sender to go on, if there is room for what it has shown.
    fn resume(&mut self, from: PeerId) {
        let has_room = self.keeping.has_room();
        let Some(stalled) = self.peers[from].stalled.as_mut().filter(|stalled| has_room && !stalled.goes_on)
        else {
            return;
        };
        stalled.goes_on = true;
        self.ask_without(from, Asking::Room);
    }

    /// Asks for what no pattern says.
    fn ask_without(&mut self, from: PeerId, of: Asking) {
        self.questions += 1;
        if let Some(stalled) = &mut self.peers[from].stalled {
            stalled.questions.push_back(Question { number: self.questions, of });
        }
        self.ask_next(from);
    }

    /// Asks for all that was only shown: it is to be refused.
    pub(super) fn ask_for_all(&mut self) {
        for place in 0..self.stalled.len() {
            self.ask_without(self.stalled[place], Asking::All);
        }
    }

    /// Whether any sender has messages that were only shown here.
    pub(super) fn has_stalled(&self) -> bool {
        !self.stalled.is_empty()
    }

    /// Asks all, now that there is room.
    #[cold]
    pub(super) fn resume_all(&mut self) {
        for place in 0..self.stalled.len() {
            self.resume(self.stalled[place]);
        }
    }

    /// Nothing that was shown by a sender is left there, or it will never answer.
    pub(super) fn ask_no_more_of(&mut self, from: PeerId) {
        if self.peers.known(from).is_some_and(|peer| peer.stalled.is_some()) {
            self.forget_found(from);
            self.peers[from].stalled = None;
            self.stalled.retain(|&peer| peer != from);
            self.close_ended_contexts();
        }
    }

    /// Peers are forgotten of whose job nothing is left.
    pub(crate) fn ask_nobody_unknown(&mut self) {
        self.stalled.retain(|&peer| self.peers.known(peer).is_some());
        self.close_ended_contexts();
    }

    /// Whether any sender may have messages that were only shown in a context.
    pub(super) fn may_be_shown_in(&self, context: u32) -> bool {
        let any = Pattern { source: None, tag: None };
        let mut stalled = self.stalled.iter().filter_map(|&peer| self.peers[peer].stalled.as_ref());
        stalled.any(|stalled| stalled.may_match(context, &any))
    }

    fn close_ended_contexts(&mut self) {
        let ended = std::mem::take(&mut self.ended_contexts);
        ended.into_iter().for_each(|context| self.close_context(context)); // or it stays among them
    }

    /// A sender that has still to answer a question with this number, and is there.
    pub(super) fn asked(&self, number: u64) -> Option<PeerId> {
        let is_asked =
            |&peer: &PeerId| self.peers[peer].stalled.as_ref().is_some_and(|one| one.is_asked(number));
        self.stalled.iter().copied().filter(is_asked).find(|&peer| !self.has_left(peer))
    }

    /// Whether a sender that is there has still to answer what a probe has asked.
    pub fn is_probing(&self, context: u32, pattern: &Pattern) -> bool {
        self.stalled.iter().any(|&peer| {
            let mut probed = self.peers[peer].stalled.iter().flat_map(|stalled| &stalled.probed);
            let is_open = |one: &Probed| {
                (one.context, &one.pattern) == (context, pattern) && matches!(one.answer, Answer::NotYet)
            };
            probed.any(is_open) && !self.has_left(peer)
        })
    }
}
