//! Data that goes to another node before it is asked for.
//!
//! Over a network a question and its answer take as long as some ten thousand bytes. So where the fabric sends so much
//! at once, a message that is too long for a ring, and not longer than [`MOST_BYTES`], is announced, and its data
//! follows in one frame (`AHEAD`) past the rings. The receiver copies it to where it belongs, or keeps it as it keeps
//! short messages, and answers `FETCHED` when it is there. A send in the standard mode is over when its data is in the
//! frame, as that of a short message is; a synchronous one when it is answered. Few of them may wait for that answer at
//! a time, so that no receiver keeps more than that of a peer; the others are announced as anything else, as are those
//! to who keeps too much.
//!
//! Of a longer one that its receiver can read, so much follows while it asks for the rest.
//!
//! Announcement and data may pass each other: both carry a number, which no other message of the sender's has.

use oxmpi_fabric::Place;
use oxmpi_mem::{Region, Taken};
use oxmpi_shm::ring::{Header, RingSize};

use super::arrivals::word_of;
use super::net::LENT_BYTES;
use super::outbox::Stream;
use super::{Op, OpKey, P2p, State, kind};
use crate::matching::Message;
use crate::ordered::Ordered;
use crate::peers::PeerId;

/// The messages of which either announcement or data has come, by sender and number.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    coming: Ordered<(PeerId, u64), Coming>,
    /// How many were sent.
    sent: u64,
    /// Those, by receiver, that may not be answered.
    under_way: Ordered<PeerId, Vec<Unanswered>>,
}

/// A message whose data its receiver may not have taken in.
#[derive(Debug)]
struct Unanswered {
    number: u64,
    send: OpKey,
    /// The send is over: its data is in a frame.
    is_over: bool,
}

/// What has come, or is to come.
#[derive(Debug)]
enum Coming {
    /// The data is here, and waits.
    Data(Taken),
    /// The data goes into this receive.
    Receive(OpKey, Announced),
    /// Nobody will receive it.
    Unwanted,
}

/// The longest of these messages, and what comes of those that are longer.
pub(super) const MOST_BYTES: usize = 64 << 10;
/// How many of them may wait for the answer of one peer.
const MOST_UNDER_WAY: usize = 4;
/// An announcement that is followed by data: as one with a place, and the number.
const BYTES: usize = LENT_BYTES + size_of::<u64>();

/// What is answered when the data of an announced message is there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Announced {
    /// The send, there, and the number of its data.
    token: u64,
    pub(super) number: u64,
    /// Whether it waits for the answer.
    is_awaited: bool,
}

impl Announced {
    /// What an announcement says, if data follows.
    pub(super) fn of(header: &Header, announcement: &Region) -> Option<Self> {
        let number = number_of(announcement)?;
        let is_awaited = header.bytes <= MOST_BYTES as u64 && word_of(announcement) != 0;
        Some(Self { token: header.token, number, is_awaited })
    }
}

/// The number of the data that follows an announcement, if any does.
pub(super) fn number_of(announcement: &Region) -> Option<u64> {
    (announcement.len() == BYTES).then(|| word_of(&announcement.part(LENT_BYTES, 8)))
}

/// What an answer says of which announcement it is: 0 of one that no data follows.
pub(super) fn word_of_answer(number: Option<u64>) -> u64 {
    number.map_or(0, |number| number + 1)
}

/// Whether its receiver may have matched it and wait for its data, though it is to be cancelled.
fn is_waiting(op: &Op) -> bool {
    matches!(op.state, State::Announced { .. } | State::Retracting { .. })
}

impl P2p {
    /// Whether the data of an announced message is to follow the announcement.
    pub(super) fn goes_ahead(&mut self, to: PeerId, key: OpKey) -> bool {
        let bytes = self.ops.get(key).map_or(0, |op| op.header.bytes);
        if bytes <= RingSize::LARGEST_PAYLOAD as u64 || self.peers[to].carrier().is_none() {
            return false;
        }
        let Self { ops, ahead, net, .. } = self;
        let waits = |one: &Unanswered| one.is_over || ops.get(one.send).is_some_and(is_waiting);
        let under_way = ahead.under_way.get_or_default(to);
        under_way.retain(waits);
        let may = under_way.len() < MOST_UNDER_WAY && net.as_ref().is_some_and(|net| net.sends_much());
        may && (bytes <= MOST_BYTES as u64 || self.lend_to(to, key).is_some())
    }

    /// Announces a message whose data follows; false if there is no room.
    pub(super) fn push_ahead(&mut self, to: PeerId, key: OpKey) -> bool {
        let bytes = self.ops.get(key).map_or(0, |op| op.header.bytes);
        let loan = if bytes > MOST_BYTES as u64 { self.lend_to(to, key) } else { None };
        let (Some(op), Some(room)) = (self.ops.get_mut(key), self.peers[to].room(BYTES)) else {
            return false;
        };
        // One that is not to be read says there instead whether it waits for the answer.
        let whole = Place { key: 0, address: u64::from(op.is_synchronous) };
        let (number, Place { key: memory, address }) = (self.ahead.sent, loan.unwrap_or(whole));
        for (at, word) in [(0, address), (8, op.header.token), (16, memory), (LENT_BYTES, number)] {
            room.payload.part(at, 8).write(&u64::to_ne_bytes(word));
        }
        room.send(Header { kind: kind::ANNOUNCE, token: key.to_word(), ..op.header });
        op.state = State::Announced { shown: 0 };
        self.ahead.sent += 1;
        let unanswered = Unanswered { number, send: key, is_over: false };
        self.ahead.under_way.get_or_default(to).push(unanswered);
        self.change_outbox(to, |outbox| outbox.streams.push_back(Stream::Ahead(key, number)));
        true
    }

    /// Sends the data of an announced message, or none if that is over: its receiver waits for a word until it can
    /// forget the number. False if there is no room.
    pub(super) fn push_data_ahead(&mut self, to: PeerId, key: OpKey, number: u64) -> bool {
        let under_way = self.ahead.under_way.get_or_default(to).iter_mut();
        let unanswered = under_way.into_iter().find(|one| one.number == number);
        let op = self.ops.get(key).filter(|op| unanswered.is_some() && is_waiting(op));
        let data = op.map(|op| op.buffer.slice(0, op.buffer.bytes().min(MOST_BYTES as u64)));
        let is_beginning = op.is_some_and(|op| op.header.bytes > MOST_BYTES as u64);
        let is_over = op.is_some_and(|op| {
            !is_beginning && matches!(op.state, State::Announced { .. }) && !op.is_synchronous
        });
        if let (Some(carrier), Some(net)) = (self.peers[to].carrier(), &mut self.net)
            && !net.send_ahead(carrier, number, data.as_ref(), is_beginning)
        {
            return false;
        }
        unanswered.into_iter().for_each(|one| one.is_over = is_over);
        self.end_stream(to);
        if is_over {
            self.finish(key);
        }
        true
    }

    /// A send is cancelled: what is announced of it is not to be followed by data.
    pub(super) fn retract_ahead(&mut self, key: OpKey) {
        let Some(op) = self.ops.get(key) else { return };
        if let Some(under_way) = self.ahead.under_way.get_mut(op.peer) {
            under_way.retain(|one| one.send != key || one.is_over);
        }
    }

    /// Whether a send was over before this answer to it, which has this word; it is answered now.
    pub(super) fn is_over_before(&mut self, from: PeerId, word: u64) -> bool {
        let Some(number) = word.checked_sub(1) else { return false };
        let under_way = self.ahead.under_way.get_or_default(from);
        let place = under_way.iter().position(|one| one.number == number);
        place.is_none_or(|place| under_way.swap_remove(place).is_over)
    }

    /// An announced message goes into a receive, and its data follows, or has come.
    pub(super) fn take_ahead(&mut self, receive: OpKey, from: PeerId, announced: Announced) {
        match self.ahead.coming.remove((from, announced.number)) {
            Some(Coming::Data(data)) => {
                self.put_ahead(from, receive, announced, &data);
                self.let_go(data);
            }
            _ => _ = self.ahead.coming.insert((from, announced.number), Coming::Receive(receive, announced)),
        }
    }

    /// The data of an announced message has come.
    pub(super) fn ahead_arrived(&mut self, from: PeerId, number: u64, data: &Region) {
        match self.ahead.coming.remove((from, number)) {
            Some(Coming::Receive(receive, announced)) => self.put_ahead(from, receive, announced, data),
            Some(_) => {}
            None => {
                let kept = self.keep_copy(from, data);
                self.ahead.coming.insert((from, number), Coming::Data(kept));
            }
        }
    }

    fn put_ahead(&mut self, from: PeerId, receive: OpKey, announced: Announced, data: &Region) {
        let Announced { token, number, is_awaited } = announced;
        self.write_piece(from, receive, data);
        // What is longer is answered when it has been read.
        if !self.is_being_read(receive) {
            self.answer(from, kind::FETCHED, token, word_of_answer(Some(number)));
        }
        // Its receiver, perhaps, computes for long now. Else the answer goes with what is told next.
        if let (Some(carrier), Some(net), true) = (self.peers[from].carrier(), &mut self.net, is_awaited) {
            net.send_out(carrier);
        }
    }

    /// A message that was kept is not to be received: nor is what follows it. The word with which that is answered.
    pub(super) fn give_up_ahead(&mut self, message: &Message) -> u64 {
        let announcement = Some(&message.payload).filter(|_| message.header.kind == kind::ANNOUNCE);
        let number = announcement.and_then(|announcement| number_of(announcement));
        number.into_iter().for_each(|number| self.do_without_ahead(message.from, number));
        word_of_answer(number)
    }

    /// The data with this number goes nowhere.
    pub(super) fn do_without_ahead(&mut self, from: PeerId, number: u64) {
        match self.ahead.coming.remove((from, number)) {
            Some(Coming::Data(data)) => self.let_go(data),
            _ => _ = self.ahead.coming.insert((from, number), Coming::Unwanted),
        }
    }

    /// Nothing more comes from a peer, and its receives have failed. What has come, whole, stays.
    pub(super) fn lose_ahead(&mut self, lost: PeerId) {
        self.ahead.under_way.remove(lost);
        self.ahead.coming.retain(|(from, _), coming| from != lost || matches!(coming, Coming::Data(_)));
    }
}
