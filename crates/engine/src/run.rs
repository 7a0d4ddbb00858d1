//! A run: one execution of a plan, resumed as often as it must wait.
//!
//! This is the only thing that executes plans. A blocking call keeps its run on the stack, a nonblocking one
//! leaves it with the engine, a persistent one begins it again and again. Cost per step: a few nanoseconds
//! beside the copy or the reduction; no allocation once a run has been through once.

mod awaits;
mod belongings;
mod bound;
mod lending;
mod missing;
pub(crate) mod moves;
mod posting;
mod pulling;
mod sequence;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::Buffer;
use oxmpi_mem::{Region, Taken};
use oxmpi_plan::{Action, Buf, MAX_LINES, Peer, Span, Step, Take};

use crate::binding::{Binding, Transfer};
use crate::call::{Called, Lifetime};
use crate::channel::{Channel, Quarrel, Turn};
use crate::matching::{Pattern, Source, source};
use crate::p2p::{OpKey, Outcome, P2p, PostDesk};
use crate::posted::Posted;
use crate::program::Program;
use crate::signature::Signature;

pub use self::awaits::Awaits;
use self::belongings::Direct;
pub(crate) use self::bound::Bound;
pub(crate) use self::moves::Move;
use self::sequence::{MOST_SEGMENTS, sequence_of};

/// See the module.
#[derive(Debug)]
pub struct Run {
    turn: Turn,
    lifetime: Lifetime,
    /// The word that says what this rank calls to the others, but for the lag.
    word: u64,
    /// What is expected of the others: the same, or nothing that can be if the types are compared too.
    expected: u64,
    /// The types of this rank's data, if they are to be compared.
    signature: Option<Box<Signature>>,
    /// Whether the others can look up what this rank calls.
    is_noted: bool,
    /// Members on other nodes that were asked what they call.
    asked: Vec<Peer>,
    iterations: u64,
    iteration: u64,
    step: usize,
    scratch: Taken,
    /// Sends and receives under way, with the step that began them and the segment.
    under_way: Vec<(Begun, OpKey)>,
    /// Where what this rank posts on each of its lines lies.
    staged: [Option<Posted>; MAX_LINES],
    /// Desks on which others have posted, which are this rank's when the run is over.
    desks: Vec<PostDesk>,
    /// How what is long goes, once that matters.
    direct: Option<Box<Direct>>,
    /// Others read what this rank has posted where it lies: the run is not over before they have. All at places below
    /// this one have.
    lends: bool,
    readers: usize,
    /// What went wrong first. The run goes on all the same: the other ranks count on it.
    failure: Option<Error>,
    /// Nothing is right any more that this rank could tell, or give its caller: it goes through the steps only because
    /// others count on them, and says in each that there is nothing.
    is_spoilt: bool,
    /// What the run waits for, if it is a peer's post.
    awaits: Option<Awaits>,
    finished: bool,
}

/// Which message of a run: the step that began it, and the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Begun {
    step: u32,
    segment: u32,
}

/// What a run works on, and what it needs of the engine.
#[derive(Debug)]
pub(crate) struct Means<'a> {
    pub plan: &'a Program,
    pub binding: &'a Binding,
    pub p2p: &'a mut P2p,
    pub channel: &'a mut Channel,
}

impl Run {
    /// A run of `plan` that has not begun.
    #[inline]
    pub fn new(plan: &Program, lifetime: Lifetime) -> Self {
        assert!(plan.segments < MOST_SEGMENTS, "segments are large enough");
        Self {
            turn: Turn { number: 0, line: 1 },
            lifetime,
            word: 0,
            expected: 0,
            signature: None,
            is_noted: false,
            asked: Vec::new(),
            iterations: plan.iterations(),
            iteration: 0,
            step: 0,
            scratch: Taken::EMPTY,
            under_way: Vec::new(),
            staged: [None; MAX_LINES],
            desks: Vec::new(),
            direct: None,
            lends: false,
            readers: 0,
            failure: None,
            is_spoilt: false,
            awaits: None,
            finished: true,
        }
    }

    /// Lets the types of the data be compared in the runs to come.
    pub fn sign(&mut self, signature: Box<Signature>) {
        self.signature = Some(signature);
    }

    /// Begins the next run of the channel.
    #[inline]
    pub(crate) fn begin(&mut self, channel: &mut Channel, plan: &Program, binding: &Binding, p2p: &mut P2p) {
        if self.word != 0 && self.lifetime == Lifetime::Persistent {
            // On a channel of its own nothing else is called.
            self.turn = channel.begin_again();
        } else {
            let called = plan.call().begun(self.lifetime, binding.reducer.as_ref());
            (self.turn, self.word) = channel.begin(&plan.call(), called);
            self.expected = if self.signature.is_some() { !self.word } else { self.word };
        }
        // All ranks have agreed on what a persistent run is.
        self.is_noted = self.lifetime == Lifetime::Persistent && self.signature.is_none();
        self.iteration = 0;
        self.step = 0;
        self.finished = false;
        self.awaits = None;
        if self.has_belongings(plan) {
            self.prepare(channel, plan, p2p);
        }
        if let Some(before) = binding.images.as_ref().and_then(|images| images.before.as_ref()) {
            before.perform(p2p);
        }
    }

    /// What the run waits for, if it is a peer's post.
    #[inline]
    pub fn awaits(&self) -> Option<Awaits> {
        self.awaits
    }

    /// Does what can be done now; whether the run is complete.
    ///
    /// # Errors
    /// Once, when the run is over: those of the messages and of shared memory. The result is undefined then,
    /// and the channel can be used on.
    #[inline]
    pub(crate) fn advance(&mut self, means: &mut Means<'_>) -> Result<bool> {
        if self.finished {
            return if self.lends { self.end_loan(means.channel) } else { Ok(true) };
        }
        if !means.channel.admits(self.turn.number) {
            return Ok(false);
        }
        self.note_call(means.channel);
        if !self.make_moves(means).unwrap_or_else(|| self.perform_steps(means)) {
            return Ok(false);
        }
        if !self.under_way.is_empty() && !self.completed(None, means) {
            return Ok(false);
        }
        self.finish(means);
        if self.lends {
            return self.begin_loan(means.channel);
        }
        if self.failure.is_some() { self.outcome() } else { Ok(true) }
    }

    /// Does what can be done now of all steps in all rounds; whether that was all.
    fn perform_steps(&mut self, means: &mut Means<'_>) -> bool {
        while self.iteration < self.iterations {
            while let Some(step) = means.plan.steps.get(self.step) {
                if !self.perform(step, means) {
                    return false;
                }
                self.step += 1;
            }
            self.iteration += 1;
            self.step = 0;
        }
        true
    }

    #[cold]
    fn outcome(&mut self) -> Result<bool> {
        self.failure.take().map_or(Ok(true), |error| Err(self.failed(error)))
    }

    /// Does what can be done now of the first round of a plan with several: the other ranks have something to begin
    /// with, and most is left to who moves the run on.
    pub(crate) fn take_first_steps(&mut self, means: &mut Means<'_>) {
        if self.iterations < 2 || !means.channel.admits(self.turn.number) {
            return;
        }
        self.note_call(means.channel);
        while let Some(step) = means.plan.steps.get(self.step) {
            if !self.perform(step, means) {
                return;
            }
            self.step += 1;
        }
        self.iteration = 1;
        self.step = 0;
    }

    /// The run is over with an error; the next one is as any other.
    #[cold]
    fn failed(&mut self, error: Error) -> Error {
        (self.word, self.is_spoilt) = (self.called_word(), false);
        error
    }

    /// The word that tells what this rank calls.
    #[inline]
    fn called_word(&self) -> u64 {
        if self.signature.is_some() { !self.expected } else { self.expected }
    }

    /// Whether it may do anything yet.
    pub(crate) fn is_admitted(&self, channel: &Channel) -> bool {
        channel.admits(self.turn.number)
    }

    /// Lets the others look up what this rank calls; not before nobody can look for the run whose note is overwritten.
    #[inline]
    fn note_call(&mut self, channel: &mut Channel) {
        if !self.is_noted && channel.may_note(self.turn.number) {
            self.note_call_now(channel);
        }
    }

    fn note_call_now(&mut self, channel: &Channel) {
        channel.note_call(self.turn.number, self.called(), self.signature.as_deref());
        self.is_noted = true;
    }

    #[inline]
    fn finish(&mut self, means: &mut Means<'_>) {
        self.finished = true;
        if !self.is_noted && means.channel.may_still_note(self.turn.number) {
            self.note_call_now(means.channel);
        }
        if let Some(after) = means.binding.images.as_ref().and_then(|images| images.after.as_ref())
            && !self.is_spoilt
        {
            after.perform(means.p2p);
        }
        if self.has_belongings(means.plan) {
            self.put_away(means);
        }
        means.channel.complete(self.turn.number, means.p2p);
    }

    /// One step, for the segment it works on in this iteration; false if it must wait.
    #[inline]
    fn perform(&mut self, step: &Step, means: &mut Means<'_>) -> bool {
        let Some(segment) = self.iteration.checked_sub(u64::from(step.delay)) else { return true };
        if segment >= means.plan.segments {
            return true;
        }
        if !step.after.is_empty() && !self.completed(Some((&step.after, segment)), means) {
            return false;
        }
        if self.is_spoilt {
            return self.go_through(step, segment, means);
        }
        match step.action {
            Action::Post { line, from } => return self.post(line, &from, segment, means),
            Action::Pull { peer, line, skip, into, take } => {
                return self.pull(peer, line, skip, &into, take, segment, means);
            }
            Action::Excerpt { peer, line, begin, into } => {
                let shape = &means.plan.lines[usize::from(line)];
                if let Some((skip, into)) = shape.excerpt(begin, &into, segment) {
                    return self.pull(peer, line, skip, &into, Take::Copy, segment, means);
                }
            }
            Action::Copy { from, into } => self.copy(&from, &into, segment, means),
            Action::Reduce { left, right, into } => {
                let [left, right, into] =
                    [left, right, into].map(|span| self.dense(means.binding, &span, segment));
                means.binding.reducer().combine(&left, &right, &into);
            }
            Action::Send { to, from } => {
                let buffer = self.sub_buffer(means.binding, &from, segment);
                self.send(to, &buffer, segment, means);
            }
            Action::Receive { from, into } => self.receive(from, &into, segment, means),
        }
        true
    }

    /// What is left of a step in a run that is spoilt: memory that was to be filled before may never have been written.
    #[cold]
    fn go_through(&mut self, step: &Step, segment: u64, means: &mut Means<'_>) -> bool {
        let look = |run: &mut Self, peer: Peer, line: u8, means: &mut Means<'_>| {
            !matches!(run.look(peer, line, segment, means), pulling::Look::NotYet)
        };
        match step.action {
            Action::Post { line, .. } => return self.post_nothing(line, segment, means),
            Action::Pull { peer, line, .. } => return look(self, peer, line, means),
            Action::Excerpt { peer, line, begin, into } => {
                let shape = &means.plan.lines[usize::from(line)];
                return shape.excerpt(begin, &into, segment).is_none() || look(self, peer, line, means);
            }
            Action::Copy { .. } | Action::Reduce { .. } => {}
            Action::Send { to, .. } => self.send(to, &Buffer::dense(Region::EMPTY), segment, means),
            Action::Receive { from, into } => self.receive(from, &into, segment, means),
        }
        true
    }

    fn copy(&mut self, from: &Span, into: &Span, segment: u64, means: &mut Means<'_>) {
        let ((source, bytes), (target, _)) = (from.at(segment), into.at(segment));
        match (
            self.part(means.binding, from.buf, source, bytes),
            self.part(means.binding, into.buf, target, bytes),
        ) {
            (Some(source), Some(target)) => self.copy_into(into.buf, &source, &target, means),
            (None, Some(target)) => means.binding.buffer(from.buf).read(source, &target),
            (Some(source), None) => means.binding.buffer(into.buf).write(target, &source),
            (None, None) => {
                let (from, into) = (means.binding.buffer(from.buf), means.binding.buffer(into.buf));
                let (from, into) = (from.slice(source, bytes), into.slice(target, bytes));
                Transfer { from, into }.perform(means.p2p);
            }
        }
    }

    fn send(&mut self, to: Peer, buffer: &Buffer, segment: u64, means: &mut Means<'_>) {
        let (address, source) = (means.channel.address(to), means.channel.source_for(to));
        let (tag, note) = (self.tag(), self.word);
        let key = match means.channel.bond(self.step) {
            None => means.p2p.send_noted(address, source, tag, note, buffer),
            Some(bond) => means.p2p.send_bound(bond, address, source, tag, note, buffer),
        };
        if let Some(key) = key {
            self.under_way.push((self.begun(segment), key));
        }
    }

    fn receive(&mut self, from: Peer, into: &Span, segment: u64, means: &mut Means<'_>) {
        let buffer = self.sub_buffer(means.binding, into, segment);
        let pattern = Pattern { source: Some(source(from)), tag: Some(self.tag()) };
        let context = means.channel.context();
        let key = match means.channel.bond(self.step) {
            None => means.p2p.receive_noted(context, pattern, buffer),
            Some(bond) => means.p2p.receive_bound(bond, context, pattern, buffer),
        };
        match means.p2p.take_noted(key) {
            Some((outcome, note)) => self.conclude(self.begun(segment), outcome, note, means),
            None => self.under_way.push((self.begun(segment), key)),
        }
    }

    /// What the present step begins for `segment`.
    fn begun(&self, segment: u64) -> Begun {
        // There are fewer than `MOST_SEGMENTS`.
        Begun { step: self.step as u32, segment: segment as u32 }
    }

    /// Whether the sends and receives that certain steps have begun for a segment (all, if `None`) are over.
    #[inline]
    fn completed(&mut self, meant: Option<(&[u32], u64)>, means: &mut Means<'_>) -> bool {
        let mut place = 0;
        let mut all = true;
        let is_meant = |begun: Begun| {
            meant.is_none_or(|(steps, segment)| {
                u64::from(begun.segment) == segment && steps.contains(&begun.step)
            })
        };
        while let Some(&(begun, key)) = self.under_way.get(place) {
            if !is_meant(begun) {
                place += 1;
            } else if let Some((outcome, note)) = means.p2p.take_noted(key) {
                self.under_way.swap_remove(place);
                self.conclude(begun, outcome, note, means);
            } else {
                all = false;
                place += 1;
            }
        }
        all
    }

    /// Looks at what a message has brought, or why there is none.
    fn conclude(&mut self, begun: Begun, outcome: Outcome, note: u64, means: &mut Means<'_>) {
        let has_come = !outcome.status.cancelled
            && outcome.error.as_ref().is_none_or(|error| error.class() == ErrorClass::Truncate);
        if let Action::Receive { from, into } = means.plan.steps[begun.step as usize].action
            && has_come
        {
            if note != self.expected && !self.agrees(from, note, means.channel, means.p2p) {
                return;
            }
            let (_, bytes) = into.at(begun.segment.into());
            if outcome.status.bytes < bytes {
                self.fail(too_short(from, outcome.status.bytes, bytes));
            }
        }
        outcome.error.into_iter().for_each(|error| self.fail(error));
    }

    /// Whether a peer does the same as this rank now, and what it has told can be used, by the note that came with it.
    #[cold]
    fn agrees(&mut self, peer: Peer, note: u64, channel: &mut Channel, p2p: &mut P2p) -> bool {
        if channel.is_stranger(self.turn.number, peer) {
            return false; // that is known
        }
        let mut theirs = Called::of_word(note);
        if let Some(why) = Called::failure(note) {
            // If it has failed because it does something else, that is the better answer.
            let unlike = channel.called_by(peer, self.turn.number, p2p);
            let Some(unlike) = unlike.filter(|unlike| self.called().conflict(*unlike).is_some()) else {
                let (run, called) = (self.turn.number, self.called());
                let heard = called.differs_from(note);
                let (error, unlike) = channel.failed_for(run, called, peer, (why, heard), p2p);
                self.spoil(error, unlike);
                return false;
            };
            theirs = unlike;
        }
        match channel.quarrel(self.turn.number, self.called(), peer, theirs, p2p) {
            Quarrel::None => true,
            Quarrel::Alike(error) | Quarrel::Before(error) => {
                self.failure.get_or_insert(error);
                true
            }
            Quarrel::Now(error) => {
                self.spoil(error, Some(theirs));
                channel.note_stranger(self.turn.number, peer);
                // It may hear from this rank in no other way.
                p2p.tell_call(channel.address(peer), self.turn.number, self.called(), false);
                false
            }
        }
    }

    /// Looks whether a peer that the run waits for does something else, and so will never do its part: then it is
    /// waited for no longer.
    #[cold]
    pub(crate) fn suspect(&mut self, plan: &Program, channel: &mut Channel, p2p: &mut P2p) {
        self.copy_after_all(channel, p2p);
        if self.finished {
            if self.lends {
                // Who is lost reads no more, as `Channel::reader` knows, nor does who has left; all others do, whoever
                // else is.
                let reader = channel.member(self.readers);
                if channel.is_left_by(reader) {
                    channel.note_stranger(self.turn.number, reader);
                }
                self.calls_something_else(reader, channel, p2p);
                self.awaits = None;
            }
            return;
        }
        if !channel.admits(self.turn.number) {
            return;
        }
        if let Some(lost) = channel.lost() {
            // The others wait for it too, or have given up: nobody is waited for.
            self.fail(p2p.peers[lost].lost());
        }
        if let Some(Step { action: Action::Excerpt { peer, .. } | Action::Pull { peer, .. }, .. }) =
            plan.steps.get(self.step)
            && self.awaits.is_some_and(|awaits| !awaits.has_come())
            && (self.is_stranger(*peer, channel, p2p) || self.lacks_post(*peer, channel, p2p))
        {
            self.awaits = None;
            // It may not be the only one: none of them is waited for in turn.
            for step in &plan.steps {
                if let Action::Excerpt { peer, .. } | Action::Pull { peer, .. } = step.action {
                    self.is_stranger(peer, channel, p2p);
                }
            }
        }
        if let Some(Step { action: Action::Post { .. }, .. }) = plan.steps.get(self.step) {
            channel.forgive_those_who_left();
        }
        self.awaits = self.awaits.filter(|awaits| awaits.sequence != Awaits::ANOTHER_PLACE);
        // All ranks have agreed on what a persistent run is.
        let asks = p2p.asks_for_calls() && channel.is_spread() && self.lifetime != Lifetime::Persistent;
        for place in 0..self.under_way.len() {
            let (begun, key) = self.under_way[place];
            match plan.steps[begun.step as usize].action {
                Action::Receive { from: peer, .. } | Action::Send { to: peer, .. } if !p2p.is_done(key) => {
                    if self.is_stranger(peer, channel, p2p)
                        || self.lacks_message(begun, key, plan, channel, p2p)
                    {
                        p2p.cancel(key);
                    } else if asks && !self.asked.contains(&peer) {
                        self.asked.push(peer);
                        p2p.tell_call(channel.address(peer), self.turn.number, self.called(), true);
                    }
                }
                _ => {}
            }
        }
    }

    /// What this rank calls.
    #[inline]
    fn called(&self) -> Called {
        Called::of_word(if self.is_spoilt { self.called_word() } else { self.word })
    }

    /// Whether a peer will not do its part in this run: because it is seen to do something else, or because somebody is
    /// lost whom it waits for.
    fn is_stranger(&mut self, peer: Peer, channel: &mut Channel, p2p: &mut P2p) -> bool {
        if channel.lost().is_some() && !channel.is_stranger(self.turn.number, peer) {
            channel.note_stranger(self.turn.number, peer);
        }
        self.calls_something_else(peer, channel, p2p)
    }

    /// Whether a peer has done all that it does in this run, and a message to or from it was no part of that: there the
    /// block has no bytes, or the call has failed. Then the run has failed.
    fn lacks_message(
        &mut self,
        begun: Begun,
        key: OpKey,
        plan: &Program,
        channel: &mut Channel,
        p2p: &mut P2p,
    ) -> bool {
        let (peer, is_done, expected) = match plan.steps[begun.step as usize].action {
            Action::Receive { from, into } => {
                let is_done = channel.is_done_by(from, self.turn.number)
                    || channel.was_never_offered(from, begun.step as usize, p2p);
                (from, is_done, Some(into.at(begun.segment.into()).1))
            }
            // Of who has completed a run the answer to a message may be on its way.
            Action::Send { to, .. } => {
                let is_left = channel.is_left_by(to)
                    || channel.has_refused(to, begun.step as usize, p2p) && !p2p.is_being_written(key);
                (to, is_left, None)
            }
            _ => return false,
        };
        if !is_done {
            return false;
        }
        if self.calls_something_else(peer, channel, p2p) {
            return true; // it may have begun after that was looked at last
        }
        // What it has told was in its rings before.
        while p2p.take_in_from(channel.address(peer).peer) {}
        let lacks = !p2p.is_done(key);
        if lacks {
            self.fail(expected.map_or_else(|| not_taken(peer), |bytes| too_short(peer, 0, bytes)));
        }
        lacks
    }

    /// The same of what a peer posts.
    fn lacks_post(&mut self, peer: Peer, channel: &mut Channel, p2p: &mut P2p) -> bool {
        let is_done = channel.is_done_by(peer, self.turn.number);
        let is_missing = |awaits: Awaits| awaits.sequence != Awaits::ANOTHER_PLACE && !awaits.has_come();
        let lacks = is_done && self.awaits.is_some_and(is_missing);
        // It may have begun after what it calls was looked at last.
        if lacks && !self.calls_something_else(peer, channel, p2p) {
            let text = format!("{} has posted nothing, where data is expected", Source(source(peer)));
            self.fail(Error::new(ErrorClass::Truncate, text));
            channel.note_stranger(self.turn.number, peer);
        }
        lacks
    }

    /// Whether a peer is seen to do something else in this run.
    fn calls_something_else(&mut self, peer: Peer, channel: &mut Channel, p2p: &mut P2p) -> bool {
        channel.is_stranger(self.turn.number, peer)
            || channel.called_by(peer, self.turn.number, p2p).is_some_and(|theirs| {
                self.called().conflict(theirs).is_some() && !self.agrees(peer, theirs.word(0), channel, p2p)
            })
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.spoil(error, None);
    }

    /// The same, perhaps because somebody calls something unlike.
    #[cold]
    fn spoil(&mut self, error: Error, unlike: Option<Called>) {
        // Others count on this rank, and may not see themselves what is wrong: they are to hear of it.
        if !self.is_spoilt {
            let both = unlike.map(|unlike| [self.called(), unlike]);
            (self.word, self.is_spoilt) = (Called::failed(error.class(), both), true);
        }
        self.failure.get_or_insert(error);
    }

    /// What a message carries or fills.
    fn sub_buffer(&self, binding: &Binding, span: &Span, segment: u64) -> Buffer {
        let (offset, bytes) = span.at(segment);
        match self.part(binding, span.buf, offset, bytes) {
            Some(region) => Buffer::dense(region),
            None => binding.buffer(span.buf).slice(offset, bytes),
        }
    }

    #[inline]
    fn dense(&self, binding: &Binding, span: &Span, segment: u64) -> Region {
        let (offset, bytes) = span.at(segment);
        self.part(binding, span.buf, offset, bytes).expect("the buffers of a reduction are dense")
    }

    /// The bytes of a buffer, where they are one piece of memory.
    #[inline]
    fn part(&self, binding: &Binding, buf: Buf, offset: u64, bytes: u64) -> Option<Region> {
        if bytes == 0 {
            return Some(Region::EMPTY);
        }
        match buf {
            Buf::Send => binding.send.part(offset, bytes),
            Buf::Recv => binding.recv.part(offset, bytes),
            Buf::Scratch => Some(self.scratch.part(offset as usize, bytes as usize)),
        }
    }

    #[inline]
    fn sequence(&self, segment: u64) -> u64 {
        sequence_of(self.turn.number, segment)
    }

    fn tag(&self) -> i32 {
        Channel::tag_of(self.turn.number)
    }
}

#[cold]
fn too_short(peer: Peer, sent: u64, expected: u64) -> Error {
    let peer = Source(source(peer));
    let text = format!("{peer} sends {sent} bytes, where {expected} are expected");
    Error::new(ErrorClass::Truncate, text)
}

#[cold]
fn not_taken(peer: Peer) -> Error {
    let text = format!("{} has not received what is sent to it, and has left", Source(source(peer)));
    Error::new(ErrorClass::Truncate, text)
}
