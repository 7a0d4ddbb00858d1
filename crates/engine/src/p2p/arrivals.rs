//! What happens when something arrives.

use oxmpi_mem::Region;
use oxmpi_shm::ring::Header;

use super::op::judged;
use super::outbox::{Outgoing, Stream};
use super::{Event, OpKey, Outcome, P2p, State, kind, ring_for};
use crate::matching::Message;
use crate::peers::PeerId;
use crate::results::LONG_BYTES;
use crate::slab::Key;

/// Messages of one peer that are dealt with before others have their turn.
const AT_ONCE: usize = 16;

/// What is at the head of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Head {
    /// Nothing that is to be dealt with now.
    Nothing,
    /// A message that is here, whole, and that no receive waits for.
    Unexpected,
    /// Something else.
    Other,
}

impl P2p {
    /// Deals with what has arrived from all peers and sends what there is room for; whether there was anything.
    pub fn poll(&mut self) -> bool {
        let mut any = self.flush_all();
        let is_called = self.is_called() && self.answer_door();
        let mut place = 0;
        while let Some(&peer) = self.peers.readable.get(place) {
            any |= self.poll_from(peer);
            place += 1;
        }
        any |= is_called;
        if self.has_finished() {
            self.follow_rings();
        }
        any
    }

    /// Deals with what has arrived from one peer; whether there was anything.
    #[inline]
    pub fn poll_from(&mut self, peer: PeerId) -> bool {
        self.peers[peer].has_arrival() && self.take_in(peer, None)
    }

    /// As [`P2p::poll_from`], of a caller who waits for one operation: once that is over, what lies behind it and
    /// nobody has asked for stays in the ring. Most often it is asked for next, and is copied once then.
    #[inline]
    pub(super) fn poll_from_for(&mut self, peer: PeerId, awaited: OpKey) -> bool {
        // Who sleeps counts on those who are awake.
        let awaited = Some(awaited).filter(|_| self.sleepers.is_empty());
        self.peers[peer].has_arrival() && self.take_in(peer, awaited)
    }

    fn take_in(&mut self, from: PeerId, awaited: Option<OpKey>) -> bool {
        let mut taken = 0;
        loop {
            let (filled, head) = self.fill_receives(from, AT_ONCE - taken, awaited);
            taken += filled;
            let is_enough = || taken > 0 && awaited.is_some_and(|awaited| self.is_done(awaited));
            if head == Head::Nothing || head == Head::Unexpected && is_enough() {
                break;
            }
            self.take_in_head(from, head);
            taken += 1;
        }
        self.peers[from].wake(); // it may wait for the room
        taken > 0
    }

    /// Puts messages that are here, whole, into receives that wait for them, `most` at most: how many, and what is
    /// behind them. If the last of the receives is the one that is awaited, it does not look there.
    fn fill_receives(&mut self, from: PeerId, most: usize, awaited: Option<OpKey>) -> (usize, Head) {
        let Self { peers, contexts, ops, board, sleepers, .. } = self;
        let (mut filled, mut head) = (0, Head::Nothing);
        let Some(receiver) = &mut peers[from].receiver else { return (filled, head) };
        while filled < most
            && let Some(arrival) = receiver.arrival()
        {
            let header = &arrival.header;
            if header.kind != kind::EAGER {
                head = Head::Other;
                break;
            }
            let here = contexts.at(header.context);
            let Some(receive) = here.take_posted(header) else {
                head = Head::Unexpected;
                break;
            };
            if filled > 0 {
                receiver.look_ahead();
            }
            let op = ops.get_mut(receive).expect("posted receives exist");
            op.fill(header, &arrival.payload);
            receiver.release(&arrival);
            filled += 1;
            op.state = State::Done;
            if !sleepers.is_empty() {
                ring_for(sleepers, board, &[Event::Over(receive), Event::Struck(op.entry)]);
            }
            board.strike(op.entry);
            if op.detached {
                ops.discard(receive);
            }
            if awaited == Some(receive) && here.has_no_posted() {
                break;
            }
        }
        if filled > 0 {
            self.wake_own_threads();
        }
        (filled, head)
    }

    /// Deals with the message at the head of a ring.
    #[inline(never)]
    fn take_in_head(&mut self, from: PeerId, head: Head) {
        let Some(arrival) = self.peers[from].arrival() else { return };
        match head {
            Head::Unexpected => self.keep(from, &arrival.header, &arrival.payload),
            Head::Nothing | Head::Other => self.arrived(from, &arrival.header, &arrival.payload),
        }
        self.peers[from].release(&arrival);
    }

    /// A message has arrived, whole, before which nothing of this peer waits.
    pub(super) fn arrived(&mut self, from: PeerId, header: &Header, payload: &Region) {
        match header.kind {
            kind::EAGER | kind::EAGER_SYNCHRONOUS | kind::ANNOUNCE => {
                match self.contexts.at(header.context).take_posted(header) {
                    Some(receive) => self.matched(receive, from, header, payload),
                    None => self.keep(from, header, payload),
                }
            }
            kind::FIRST => self.first_piece_arrived(from, header, payload),
            kind::NEXT => self.next_piece_arrived(from, payload),
            _ => self.control_arrived(from, header, payload),
        }
    }

    /// A message that is here, whole, goes into a receive.
    pub(super) fn fill(&mut self, receive: OpKey, header: &Header, payload: &Region) {
        self.ops.get_mut(receive).expect("posted receives exist").fill(header, payload);
        self.finish(receive);
    }

    fn control_arrived(&mut self, from: PeerId, header: &Header, payload: &Region) {
        let key = Key::from_word(header.token);
        match header.kind {
            kind::DATA => self.data_arrived(from, key, payload),
            kind::FINISHED => self.note_finished(from, header.token),
            kind::CALLED => self.call_told(from, header, word_of(payload)),
            kind::SIGNED => self.types_told(from, header, word_of(payload)),
            kind::LEFT => _ = self.departed.insert((header.context, from), ()),
            kind::BIND..=kind::RELEASED | kind::CLOSE | kind::CLOSED => {
                self.bond_told(from, header, word_of(payload))
            }
            kind::OFFER..=kind::DECLINED => self.partitioned_arrived(from, header, payload),
            kind::SHOWN => self.shown_here(from, header, payload),
            kind::WANTED | kind::GO_ON => self.asked_by(from, header, word_of(payload)),
            kind::FOUND | kind::FOUND_WHOLE => self.found(from, header, payload),
            kind::NO_MORE => self.no_more(from, word_of(payload)),
            kind::CLAIMED => self.claimed(from, key),
            kind::UNWRITTEN => self.unwritten(from, header, word_of(payload)),
            kind::RETRACT => self.retract_for(from, header, word_of(payload)),
            kind::RETRACTED => {
                let shown = word_of(payload);
                if self.ops.get(key).is_some_and(|op| op.state == State::Retracting { shown }) {
                    self.finish_cancelled(key);
                }
            }
            _ => match self.ops.get_mut(key) {
                Some(op) if op.is_announced() && op.peer == from => {
                    self.answered(from, header, key, payload);
                }
                // It was given up before it answered.
                _ if self.peers.is_lost(from) => {}
                _ => unreachable!("{from:?} answers what it was not asked: {header:?}"),
            },
        }
    }

    /// The receiver has answered an announcement or a synchronous send.
    fn answered(&mut self, from: PeerId, answer: &Header, key: OpKey, payload: &Region) {
        self.take_back_loan(key);
        let op = self.ops.get_mut(key).expect("the caller has seen it");
        let context = op.context;
        if let State::Announced { shown: 1.. } = op.state {
            self.show_no_more(from, context, key);
        }
        match answer.kind {
            kind::ACCEPT => {
                let op = self.ops.get_mut(key).expect("the caller has seen it");
                op.state = State::Streaming { receive: word_of(payload), sent: 0 };
                self.peers[from].reads_itself = false;
                self.stream(from, Stream::Message(key));
            }
            kind::MATCHED => self.finish(key),
            kind::FETCHED => {
                self.peers[from].reads_itself = true;
                self.finish(key);
            }
            kind::OPENED => self.write_into(from, key, answer, word_of(payload)),
            kind::REFUSED => self.refused(key, word_of(payload)),
            other => unreachable!("{from:?} sent a message of kind {other}"),
        }
    }

    pub(super) fn keep(&mut self, from: PeerId, header: &Header, payload: &Region) {
        let message = self.kept_message(from, *header, payload);
        if header.kind != kind::EAGER && self.contexts.at(header.context).refuses() {
            return self.refuse(message);
        }
        self.file(message);
    }

    /// A message that is here waits for its receive.
    pub(super) fn file(&mut self, message: Message) {
        let context = message.header.context;
        self.kept += 1;
        self.happened(|| [Event::Arrival(context)]);
        self.note_announcement(&message);
        self.contexts.at(context).keep(message);
    }

    /// A message goes into a receive.
    pub(super) fn matched(&mut self, receive: OpKey, from: PeerId, header: &Header, payload: &Region) {
        if header.kind == kind::ANNOUNCE {
            return self.announced(receive, from, header, payload);
        }
        self.fill(receive, header, payload);
        if header.kind == kind::EAGER_SYNCHRONOUS {
            self.answer(from, kind::MATCHED, header.token, 0);
        }
    }

    /// A message goes into a receive, and its data is to be asked for.
    fn announced(&mut self, receive: OpKey, from: PeerId, header: &Header, payload: &Region) {
        self.begin_to_fill(receive, from, Header { token: word_of(&payload.part(8, 8)), ..*header });
        self.accept(receive, from, header, payload);
    }

    /// A receive waits for the data of the message that it has got.
    pub(super) fn begin_to_fill(&mut self, receive: OpKey, from: PeerId, header: Header) {
        let op = self.ops.get_mut(receive).expect("posted receives exist");
        op.peer = from;
        op.header = header;
        Outcome { status: op.status, error: op.error } = judged(&header, op.buffer.bytes());
        op.state = State::Filling { arrived: 0 };
    }

    /// Gets the data of an announced message on its way.
    fn accept(&mut self, receive: OpKey, from: PeerId, header: &Header, announcement: &Region) {
        if self.begin_to_read(receive, from, header, announcement) || self.open_for(receive, from, header) {
            return;
        }
        if self.fetch(receive, from, header, word_of(announcement)) {
            self.finish(receive);
            self.answer(from, kind::FETCHED, header.token, 0);
        } else {
            self.note_asked(from, header.bytes);
            self.answer(from, kind::ACCEPT, header.token, receive.to_word());
        }
    }

    fn data_arrived(&mut self, from: PeerId, receive: OpKey, payload: &Region) {
        let bytes = self.ops.get(receive).map_or(0, |op| op.header.bytes);
        if self.write_piece(from, receive, payload) {
            self.note_come(from, bytes);
        }
    }

    /// The next piece of a message goes into its receive; whether it was the last one.
    pub(super) fn write_piece(&mut self, from: PeerId, receive: OpKey, payload: &Region) -> bool {
        let Some(op) = self.ops.get_mut(receive).filter(|op| op.peer == from) else { return false };
        let State::Filling { arrived } = op.state else { return false };
        let wanted = op.buffer.bytes().saturating_sub(arrived).min(payload.len() as u64);
        let (offset, piece) = (arrived.min(op.buffer.bytes()), payload.part(0, wanted as usize));
        let is_long = op.header.bytes >= LONG_BYTES;
        match is_long.then(|| op.buffer.part(offset, wanted)).flatten() {
            Some(into) => self.results.of_message(receive, op.header.bytes).copy(&piece, &into),
            None => op.buffer.write(offset, &piece),
        }
        let arrived = arrived + payload.len() as u64;
        op.state = State::Filling { arrived };
        let is_last = arrived >= op.header.bytes;
        if is_last {
            if is_long && let Some(result) = op.buffer.part(0, op.buffer.bytes()) {
                self.results.end_message(receive, &result, &mut self.pool);
            }
            self.finish(receive);
        }
        is_last
    }

    pub(super) fn answer(&mut self, to: PeerId, kind: u32, token: u64, word: u64) {
        if to == self.peers.me() {
            return self.finish(Key::from_word(token));
        }
        self.enqueue(to, Outgoing::Control(Header { kind, token, ..Header::default() }, word));
    }
}

pub(super) fn word_of(payload: &Region) -> u64 {
    let mut word = [0; 8];
    payload.read(&mut word);
    u64::from_ne_bytes(word)
}
