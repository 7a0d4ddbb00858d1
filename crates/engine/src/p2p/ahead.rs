//! Data that goes to another node before it is asked for.
//!
//! Over a network a question and its answer take as long as some ten thousand bytes. So where the fabric sends so much
//! at once, a message that is too long for a ring, and not longer than [`MOST_BYTES`], is announced, and its data
//! follows in one frame (`AHEAD`) past the rings. The receiver copies it to where it belongs, or keeps it as it keeps
//! short messages, and answers `FETCHED` when it is there: only then is the send over, so whoever wants to cancel it
//! may ask. Few of them wait for that answer at a time, so that no receiver keeps more than that of a peer; the others
//! are announced as anything else, as are those to who keeps too much.
//!
//! Announcement and data may pass each other: both carry a number, which no other message of the sender's has.

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
    /// Those, by receiver, which may not be over.
    under_way: Ordered<PeerId, Vec<OpKey>>,
}

/// What has come, or is to come.
#[derive(Debug)]
enum Coming {
    /// The data is here, and waits.
    Data(Taken),
    /// The data goes into this receive; the send's number there.
    Receive(OpKey, u64),
    /// Nobody will receive it.
    Unwanted,
}

/// The longest of these messages.
pub(super) const MOST_BYTES: usize = 64 << 10;
/// How many of them may wait for the answer of one peer.
const MOST_UNDER_WAY: usize = 4;
/// An announcement that brings no address, but is followed by data: a note, and the number.
const BYTES: usize = LENT_BYTES + size_of::<u64>();

/// The number of the data that follows an announcement, if any does.
fn number_of(announcement: &Region) -> Option<u64> {
    (announcement.len() == BYTES).then(|| word_of(&announcement.part(16, 8)))
}

/// Whether its receiver may have matched it and wait for its data, though it is to be cancelled.
fn is_waiting(op: &Op) -> bool {
    matches!(op.state, State::Announced { .. } | State::Retracting { .. })
}

impl P2p {
    /// Whether the data of an announced message is to follow the announcement.
    pub(super) fn goes_ahead(&mut self, to: PeerId, key: OpKey) -> bool {
        let Self { ops, ahead, peers, net, .. } = self;
        let is_long = |op: &Op| {
            let bytes = op.header.bytes as usize;
            bytes > RingSize::LARGEST_PAYLOAD && bytes <= MOST_BYTES
        };
        if !ops.get(key).is_some_and(is_long) || peers[to].carrier().is_none() {
            return false;
        }
        let waits = |key: &OpKey| ops.get(*key).is_some_and(is_waiting);
        let under_way = ahead.under_way.get_or_default(to);
        under_way.retain(waits);
        under_way.len() < MOST_UNDER_WAY && net.as_ref().is_some_and(|net| net.sends_much())
    }

    /// Announces a message whose data follows; false if there is no room.
    pub(super) fn push_ahead(&mut self, to: PeerId, key: OpKey) -> bool {
        let (Some(op), Some(room)) = (self.ops.get_mut(key), self.peers[to].room(BYTES)) else {
            return false;
        };
        let number = self.ahead.sent;
        for (at, word) in [(0, 0), (8, op.header.token), (16, number), (24, 0)] {
            room.payload.part(at, 8).write(&u64::to_ne_bytes(word));
        }
        room.send(Header { kind: kind::ANNOUNCE, token: key.to_word(), ..op.header });
        op.state = State::Announced { shown: 0 };
        self.ahead.sent += 1;
        self.ahead.under_way.get_or_default(to).push(key);
        self.change_outbox(to, |outbox| outbox.streams.push_back(Stream::Ahead(key, number)));
        true
    }

    /// Sends the data of an announced message, or none if that is over: its receiver waits for a word until it can
    /// forget the number. False if there is no room.
    pub(super) fn push_data_ahead(&mut self, to: PeerId, key: OpKey, number: u64) -> bool {
        let data = self.ops.get(key).filter(|op| is_waiting(op)).map(|op| &op.buffer);
        if let (Some(carrier), Some(net)) = (self.peers[to].carrier(), &mut self.net)
            && !net.send_ahead(carrier, number, data)
        {
            return false;
        }
        self.end_stream(to);
        true
    }

    /// An announced message goes into a receive, if its data follows or has come.
    pub(super) fn take_ahead(
        &mut self,
        receive: OpKey,
        from: PeerId,
        header: &Header,
        announcement: &Region,
    ) -> bool {
        let Some(number) = number_of(announcement) else { return false };
        match self.ahead.coming.remove((from, number)) {
            Some(Coming::Data(data)) => {
                self.put_ahead(from, receive, header.token, &data);
                self.let_go(data);
            }
            _ => drop(self.ahead.coming.insert((from, number), Coming::Receive(receive, header.token))),
        }
        true
    }

    /// The data of an announced message has come.
    pub(super) fn ahead_arrived(&mut self, from: PeerId, number: u64, data: &Region) {
        match self.ahead.coming.remove((from, number)) {
            Some(Coming::Receive(receive, token)) => self.put_ahead(from, receive, token, data),
            Some(_) => {}
            None => {
                let kept = self.keep_copy(from, data);
                self.ahead.coming.insert((from, number), Coming::Data(kept));
            }
        }
    }

    fn put_ahead(&mut self, from: PeerId, receive: OpKey, token: u64, data: &Region) {
        self.write_piece(from, receive, data);
        self.answer(from, kind::FETCHED, token, 0);
    }

    /// A message that was kept is not to be received: nor is what follows it.
    pub(super) fn give_up_ahead(&mut self, message: &Message) {
        if message.header.kind != kind::ANNOUNCE {
            return;
        }
        let Some(number) = number_of(&message.payload) else { return };
        match self.ahead.coming.remove((message.from, number)) {
            Some(Coming::Data(data)) => self.let_go(data),
            _ => drop(self.ahead.coming.insert((message.from, number), Coming::Unwanted)),
        }
    }

    /// Nothing more comes from a peer, and its receives have failed. What has come, whole, stays.
    pub(super) fn lose_ahead(&mut self, lost: PeerId) {
        self.ahead.coming.retain(|(from, _), coming| from != lost || matches!(coming, Coming::Data(_)));
    }
}
