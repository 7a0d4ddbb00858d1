//! What waits for room in the rings.

use std::collections::VecDeque;

use oxmpi_fabric::Place;
use oxmpi_shm::ring::{CELL_BYTES, DESK_BYTES, Header, RingSize, Sender, Wish};

use super::net::{LENT_BYTES, Past};
use super::sending::DESKED_BYTES;
use super::shown::{Question, Shown};
use super::{Op, OpKey, P2p, PartitionedKey, State, kind};
use crate::peers::{Peer, PeerId};
use crate::slab::Slab;

/// An answer brings a word, an announcement an address and a note.
const CONTROL_BYTES: usize = size_of::<u64>();
const ANNOUNCED_BYTES: usize = 2 * size_of::<u64>();

/// With so much left of a message longer pieces go, as each costs something at either end; shorter ones at last, since
/// nothing is written while the last one is read.
const MUCH_LEFT_BYTES: u64 = 128 << 10;

/// What waits to be sent to one peer. Messages of collectives go first, then other messages and answers, both in order;
/// data fills what is left.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    ordered: VecDeque<Outgoing>,
    /// How many of them are messages of collectives, at the front.
    ahead: usize,
    pub(super) streams: VecDeque<Stream>,
    /// What was shown there and not kept, if anything was.
    pub(super) shown: Option<Box<Shown>>,
    /// What was asked about that, and is to be answered before all else.
    pub(super) question: Option<Question>,
    /// Whether there is any of all this.
    is_busy: bool,
}

/// Something that takes one place in a ring.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outgoing {
    /// A send: the message, or its announcement.
    Message(OpKey),
    /// What was only shown: to be kept, or as an answer.
    Again(OpKey, Again),
    /// An answer, and a word that goes with it.
    Control(Header, u64),
}

/// Why a message is sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// A receive or a probe wants it.
    Found,
    /// There is room.
    Kept,
}

/// Data that goes in pieces, as there is room.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    /// That of an accepted send.
    Message(OpKey),
    /// That of a send whose receive is [open](super::net).
    Opened(OpKey),
    /// What is ready of a partitioned one.
    Partitioned(PartitionedKey),
}

impl Outbox {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.is_busy
    }

    /// Whether nothing waits for room; what was shown may wait to be asked for.
    pub(super) fn has_sent(&self) -> bool {
        self.ordered.is_empty() && self.streams.is_empty() && self.question.is_none()
    }

    /// Whether no message waits, or none in a context, by the operations under way; data may.
    pub(super) fn has_told(&self, context: Option<u32>, ops: &Slab<Op>) -> bool {
        self.ordered.iter().all(|outgoing| match (outgoing, context) {
            (Outgoing::Message(key), Some(context)) => {
                ops.get(*key).is_some_and(|op| op.header.context != context)
            }
            _ => false,
        })
    }

    fn pop_ordered(&mut self) {
        self.ordered.pop_front();
        self.ahead = self.ahead.saturating_sub(1);
    }
}

impl P2p {
    /// Sends when there is room, after what waits already: perhaps at once.
    pub(super) fn enqueue(&mut self, peer: PeerId, outgoing: Outgoing) {
        self.change_outbox(peer, |outbox| outbox.ordered.push_back(outgoing));
        self.flush(peer);
    }

    /// Sends a message when there is room: after what waits already, if it is not that of a collective.
    pub(super) fn enqueue_message(&mut self, peer: PeerId, key: OpKey) {
        match self.ops.get(key).is_some_and(Op::is_of_collective) {
            true => self.enqueue_ahead(peer, Outgoing::Message(key)),
            false => self.enqueue(peer, Outgoing::Message(key)),
        }
    }

    /// Sends when there is room, after what collectives send that waits already.
    pub(super) fn enqueue_ahead(&mut self, peer: PeerId, outgoing: Outgoing) {
        self.change_outbox(peer, |outbox| {
            outbox.ordered.insert(outbox.ahead, outgoing);
            outbox.ahead += 1;
        });
        self.flush(peer);
    }

    /// Takes out a message that waits for room.
    #[cold]
    pub(super) fn take_out(&mut self, peer: PeerId, key: OpKey) {
        self.change_outbox(peer, |outbox| {
            let is_it = |outgoing: &Outgoing| matches!(outgoing, Outgoing::Message(of) if *of == key);
            if let Some(place) = outbox.ordered.iter().position(is_it) {
                outbox.ordered.remove(place);
                outbox.ahead -= usize::from(place < outbox.ahead);
            }
        });
    }

    /// Sends data, as there is room.
    pub(super) fn stream(&mut self, peer: PeerId, stream: Stream) {
        self.change_outbox(peer, |outbox| outbox.streams.push_back(stream));
        self.flush(peer);
    }

    /// Sends what there is room for, to all peers; whether anything was sent.
    pub(super) fn flush_all(&mut self) -> bool {
        let mut sent = false;
        // From behind: an outbox that is empty then leaves its place to the last one.
        for place in (0..self.busy_outboxes.len()).rev() {
            let busy = self.busy_outboxes.get(place).copied();
            sent |= busy.is_some_and(|peer| self.flush(peer));
        }
        sent
    }

    /// Sends what there is room for, once all memory was taken back that nobody needs; a message fails for which there
    /// is none even then, if its sender asks for its outcome.
    #[cold]
    pub(crate) fn flush_or_fail(&mut self) {
        self.fails_without_memory = true;
        self.flush_all();
        self.fails_without_memory = false;
    }

    /// Sends what there is room for, to one peer; whether anything was sent.
    pub(super) fn flush(&mut self, peer: PeerId) -> bool {
        let mut sent = false;
        if let Some(question) = self.peers[peer].outbox.question {
            if !self.answer_question(peer, question) {
                return sent;
            }
            sent = true;
        }
        while let Some(&outgoing) = self.peers[peer].outbox.ordered.front() {
            if !self.push_or_make_way(peer, outgoing) {
                return sent;
            }
            sent = true;
            self.change_outbox(peer, Outbox::pop_ordered);
        }
        while let Some(&stream) = self.peers[peer].outbox.streams.front() {
            let pushed = match stream {
                Stream::Message(key) => self.push_data(peer, key),
                Stream::Opened(key) => self.push_into_opened(peer, key),
                Stream::Partitioned(key) => self.push_part(peer, key),
            };
            if !pushed {
                return sent;
            }
            sent = true;
        }
        sent
    }

    /// Whether something waits for room to a peer on another node that no operation here waits for: an answer, or a
    /// message whose send is over for the program.
    pub(super) fn keeps_told(&self) -> bool {
        let is_told = |outgoing: &Outgoing| match outgoing {
            Outgoing::Message(key) => self.ops.get(*key).is_some_and(|op| op.detached),
            Outgoing::Again(..) | Outgoing::Control(..) => true,
        };
        let busy = self.busy_outboxes.iter().map(|&peer| &self.peers[peer]);
        busy.filter(|peer| peer.carrier().is_some()).any(|peer| peer.outbox.ordered.iter().any(is_told))
    }

    /// Sends something now, if there is room.
    pub(super) fn push_or_make_way(&mut self, peer: PeerId, outgoing: Outgoing) -> bool {
        self.push(peer, outgoing) || self.push_by_another_ring(peer, outgoing)
    }

    fn push(&mut self, peer: PeerId, outgoing: Outgoing) -> bool {
        let pushed = match outgoing {
            Outgoing::Again(key, why) => self.push_again(peer, key, why),
            Outgoing::Control(header, word) => self.push_control(peer, header, word),
            Outgoing::Message(key) => self.push_message(peer, key),
        };
        if pushed {
            self.peers[peer].told();
        }
        pushed
    }

    /// The same once there is more room, if there may be. A message for which there is no memory is announced instead;
    /// if there is none for that either it waits, and fails [in the end](P2p::flush_or_fail), if somebody is to hear of
    /// that: what was sent from a buffer of the program's waits on.
    #[cold]
    fn push_by_another_ring(&mut self, peer: PeerId, outgoing: Outgoing) -> bool {
        let bytes = match outgoing {
            Outgoing::Again(..) => CELL_BYTES,
            Outgoing::Control(..) => CONTROL_BYTES,
            Outgoing::Message(key) => self.ops.get(key).map_or(0, ring_bytes),
        };
        match (self.make_way(peer, bytes), outgoing) {
            (Ok(is_new), _) => is_new && self.push(peer, outgoing),
            (Err(_), _) if self.peers[peer].carrier().is_some() => self.push_without_ring(peer, outgoing),
            (Err(_), Outgoing::Message(key)) if self.announce_instead(key) => {
                self.push_or_make_way(peer, outgoing)
            }
            (Err(error), Outgoing::Message(key)) if self.fails_without_memory && self.is_asked_for(key) => {
                self.fail(key, error);
                true
            }
            (Err(_), _) => false,
        }
    }

    /// Whether somebody asks for the outcome of a send.
    fn is_asked_for(&self, key: OpKey) -> bool {
        self.ops.get(key).is_some_and(|op| !op.detached)
    }

    /// Leaves the data of a message here until it is asked for, though it is not long; false if it has little.
    fn announce_instead(&mut self, key: OpKey) -> bool {
        let sent_at_once = self.ops.get_mut(key).filter(|op| ring_bytes(op) > CELL_BYTES);
        sent_at_once.map(|op| op.header.kind = kind::ANNOUNCE).is_some()
    }

    /// Sends an answer or alike now, if there is room.
    pub(super) fn tell_at_once(&mut self, peer: PeerId, header: Header, word: u64) -> bool {
        self.push_or_make_way(peer, Outgoing::Control(header, word))
    }

    fn push_control(&mut self, peer: PeerId, header: Header, word: u64) -> bool {
        let Some(room) = self.peers[peer].room(CONTROL_BYTES) else { return false };
        room.payload.write(&word.to_ne_bytes());
        room.send(header);
        true
    }

    fn push_message(&mut self, id: PeerId, key: OpKey) -> bool {
        // One that was cancelled is passed over.
        let Some(op) = self.ops.get_mut(key).filter(|op| op.state == State::Queued) else { return true };
        let peer = &mut self.peers[id];
        // A short message of a collective is none too many: few can be under way.
        let is_free = op.is_of_collective() && op.header.bytes <= CELL_BYTES as u64;
        let wish = peer.sender.as_mut().filter(|_| !is_free).map_or(Wish::Whole, Sender::wish);
        // What comes after a message that was not kept must not be found before it.
        let is_shown = !op.is_own() && (wish == Wish::Shown || peer.outbox.shown.is_some());
        if is_shown {
            return self.push_envelope(id, key, true);
        }
        if wish != Wish::Whole && op.header.kind != kind::ANNOUNCE {
            op.header.kind = announced_kind(op);
        }
        let (mut header, note) = (op.header, op.header.token);
        if header.kind == kind::ANNOUNCE {
            return self.push_envelope(id, key, false);
        }
        // Nobody answers an eager message.
        header.token = if header.kind == kind::EAGER { note } else { key.to_word() };
        if let Some(carrier) = peer.carrier().filter(|_| peer.sender.is_some())
            && let Some(net) = &mut self.net
        {
            let (bytes, is_of_collective) = (header.bytes, op.is_of_collective());
            let is_lent = header.kind == kind::EAGER && net.lends_frame(carrier, bytes, is_of_collective);
            if is_lent {
                net.learn_what_has_left(carrier, &mut self.peers);
            }
            let past = match net.goes_past_ring_now(carrier, bytes, is_of_collective) {
                true => {
                    let send = Some(key).filter(|_| is_lent);
                    net.send_past_ring((id, carrier), header, &op.buffer, send)
                }
                false => net.send_by_ring(carrier, &mut self.peers[id], header, &op.buffer),
            };
            match past {
                Past::Copied => {}
                Past::Lent => {
                    op.state = State::Streaming { receive: 0, sent: header.bytes };
                    return true;
                }
                Past::NotNow => return false,
            }
        } else {
            let Some(room) = peer.room(header.bytes as usize) else { return false };
            op.buffer.read(0, &room.payload);
            room.send(header);
        }
        if header.kind == kind::EAGER {
            self.finish(key);
        } else {
            op.state = State::Announced { shown: 0 };
        }
        true
    }

    /// Announces a message, or only shows it.
    fn push_envelope(&mut self, peer: PeerId, key: OpKey, is_shown: bool) -> bool {
        let loan = self.lend_to(peer, key);
        self.peers[peer].forget_beginning(key);
        let Some(op) = self.ops.get_mut(key) else { return true };
        let (kind, word) = match is_shown {
            true => (kind::SHOWN, self.shown + 1),
            false => (kind::ANNOUNCE, op.header.token),
        };
        let address = self.allocations.told_address(op);
        if !self.peers[peer].send_envelope(op, key, kind, [address, word], loan) {
            return false;
        }
        op.state = State::Announced { shown: if is_shown { word } else { 0 } };
        if is_shown {
            let header = op.header;
            self.note_shown(peer, key, &header);
        } else {
            self.write_beginning(peer, key);
        }
        true
    }

    /// Sends again what was only shown.
    fn push_again(&mut self, id: PeerId, key: OpKey, why: Again) -> bool {
        let loan = self.lend_to(id, key);
        let Some(op) = self.ops.get(key) else { return true };
        let (peer, kept_kind) = (&mut self.peers[id], announced_kind(op));
        if kept_kind == kind::ANNOUNCE {
            let kind = if why == Again::Found { kind::FOUND } else { kept_kind };
            let address = self.allocations.told_address(op);
            return peer.send_envelope(op, key, kind, [address, 0], loan);
        }
        let Some(room) = peer.room(op.header.bytes as usize) else { return false };
        op.buffer.read(0, &room.payload);
        let kind = if why == Again::Found { kind::FOUND_WHOLE } else { kept_kind };
        room.send(Header { kind, token: key.to_word(), ..op.header });
        true
    }

    /// One piece of a send; false if there was no room.
    fn push_data(&mut self, peer: PeerId, key: OpKey) -> bool {
        let Some(op) = self.ops.get(key) else {
            self.end_stream(peer);
            return true;
        };
        let State::Streaming { sent, .. } = op.state else {
            unreachable!("only accepted sends are streamed");
        };
        let all = op.buffer.bytes();
        let Some(mut piece) = self.next_piece(peer, all - sent) else {
            return self.push_data_without_ring(peer, key);
        };
        if sent == 0 {
            // The receiver waits for it, and it may be written already.
            piece = piece.min(DESK_BYTES as u64);
            if all <= DESKED_BYTES {
                self.make_desks_for_pieces(peer);
            }
        }
        self.write_data(peer, key, piece)
            || self.make_way(peer, piece as usize).unwrap_or(false) && self.write_data(peer, key, piece)
    }

    /// So many bytes of a send that is streamed; false if there was no room.
    fn write_data(&mut self, peer: PeerId, key: OpKey, piece: u64) -> bool {
        let Some(op) = self.ops.get_mut(key) else { return false };
        let State::Streaming { receive, sent } = op.state else { return false };
        let header = Header { kind: kind::DATA, bytes: piece, token: receive, ..Header::default() };
        let to = &mut self.peers[peer];
        let takes = to.sender.as_ref().is_some_and(|sender| sender.takes(piece as usize));
        let is_sent = sent == 0 && to.send_beginning(header, key)
            || takes && to.send_piece(header, piece as usize, &op.buffer, sent);
        if !is_sent {
            return false;
        }
        op.state = State::Streaming { receive, sent: sent + piece };
        if sent + piece == op.buffer.bytes() {
            self.end_data(peer, key);
        }
        true
    }

    /// All data of the send that is streamed to a peer has left.
    pub(super) fn end_data(&mut self, peer: PeerId, key: OpKey) {
        self.finish(key);
        self.end_stream(peer);
    }

    /// The first of the streams to a peer is over.
    pub(super) fn end_stream(&mut self, peer: PeerId) {
        self.change_outbox(peer, |outbox| outbox.streams.pop_front());
    }

    /// The length of the next piece of what is left of a message. Where there is no memory for a larger ring, that by
    /// which it was asked for will do.
    pub(super) fn next_piece(&mut self, peer: PeerId, left: u64) -> Option<u64> {
        // To another node as much as goes in a frame.
        let net = self.net.as_ref().filter(|_| self.peers[peer].carrier().is_some());
        let within = if left < MUCH_LEFT_BYTES { RingSize::LARGEST_PAYLOAD } else { RingSize::LARGEST_PIECE };
        let most = net.map_or(within, |net| net.part_bytes());
        let wanted = left.min(most as u64);
        let is_enough = |sender: &Sender| sender.takes(wanted as usize);
        self.widen(peer, left);
        if !self.peers[peer].sender.as_ref().is_some_and(is_enough) {
            self.make_way(peer, wanted as usize).ok();
        }
        let sender = self.peers[peer].sender.as_ref()?;
        Some(wanted.min(sender.largest_piece() as u64))
    }

    /// Forgets what waits to be sent to a peer.
    pub(super) fn empty_outbox(&mut self, peer: PeerId) {
        self.change_outbox(peer, |outbox| *outbox = Outbox::default());
    }

    pub(super) fn change_outbox<R>(&mut self, peer: PeerId, change: impl FnOnce(&mut Outbox) -> R) -> R {
        let outbox = &mut self.peers[peer].outbox;
        let was_busy = outbox.is_busy;
        let result = change(outbox);
        let is_busy = !outbox.has_sent() || outbox.shown.is_some();
        outbox.is_busy = is_busy;
        match (was_busy, is_busy) {
            (false, true) => self.busy_outboxes.push(peer),
            (true, false) => {
                if let Some(place) = self.busy_outboxes.iter().position(|&busy| busy == peer) {
                    self.busy_outboxes.swap_remove(place);
                }
            }
            _ => {}
        }
        result
    }
}

impl Peer {
    /// Sends the envelope of a message, where its data lies and a word; or where it is lent to another node.
    fn send_envelope(
        &mut self,
        op: &Op,
        key: OpKey,
        kind: u32,
        [address, word]: [u64; 2],
        loan: Option<Place>,
    ) -> bool {
        let address = loan.map_or(address, |place| place.address);
        let bytes = if loan.is_some() { LENT_BYTES } else { ANNOUNCED_BYTES };
        let Some(room) = self.room(bytes) else { return false };
        room.payload.write(&address.to_ne_bytes());
        room.payload.part(8, 8).write(&word.to_ne_bytes());
        if let Some(Place { key, .. }) = loan {
            room.payload.part(16, 8).write(&key.to_ne_bytes());
        }
        room.send(Header { kind, token: key.to_word(), ..op.header });
        self.announced = self.announced.saturating_add(op.header.bytes);
        true
    }
}

/// As what a message comes that its receiver keeps, and whose sender waits until it is received: what is short takes no
/// more memory than its announcement.
pub(super) fn announced_kind(op: &Op) -> u32 {
    if op.header.bytes <= CELL_BYTES as u64 { kind::EAGER_SYNCHRONOUS } else { kind::ANNOUNCE }
}

/// What a message takes of a ring.
fn ring_bytes(op: &Op) -> usize {
    if op.header.kind == kind::ANNOUNCE { ANNOUNCED_BYTES } else { op.header.bytes as usize }
}
