//! The sending side of a partitioned message.

use std::ops::Range;
use std::sync::Arc;

use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_shm::ring::Header;
use oxmpi_shm::{Marks, Taken};

use super::{P2p, PartitionedKey, Round, kind, length_of, unequal, with_length};
use crate::names::Names;
use crate::p2p::Address;
use crate::p2p::outbox::Stream;
use crate::p2p::sending::OWN_PIECE_BYTES;
use crate::peers::PeerId;
use crate::slab::Key;

/// See [`partitioned`](super).
#[derive(Debug)]
pub(super) struct PartitionedSend {
    /// None for nobody.
    pub(super) to: Option<Address>,
    source: i32,
    tag: i32,
    pub(super) buffer: Buffer,
    /// Bytes of a partition.
    each: u64,
    pub(super) marks: Arc<Marks>,
    /// What was found to be marked.
    taken: Taken,
    /// What was taken and is not sent yet: packed bytes.
    piece: Option<Range<u64>>,
    /// What the receiver did not want to read itself.
    declined: Vec<Range<u64>>,
    /// Bytes that the receiver is to read itself, and has not yet.
    lent: u64,
    /// Whether it is asked to, in this round.
    lends: bool,
    pub(super) round: Round,
    /// The receive, in its process, once that has begun.
    receive: u64,
    /// Starts of the receive of which nothing was sent yet, and the one that is being sent to.
    begun: u64,
    /// The length of the receive, if it is another one.
    unlike: Option<u64>,
    /// Whether this waits among the streams to the receiver.
    pub(super) is_queued: bool,
    /// In any round.
    was_started: bool,
    /// Of a message of no bytes, whether the receiver was told that all is ready.
    has_told: bool,
}

/// Shorter pieces go through the ring: both ends copy at once there.
const LEAST_LOAN_BYTES: u64 = 256 << 10;
/// The receiver reads no more at a time itself, so that partitions are seen to arrive.
const LOAN_BYTES: u64 = 4 << 20;

impl PartitionedSend {
    pub(super) fn new(to: Option<Address>, source: i32, tag: i32, buffer: Buffer, partitions: u32) -> Self {
        let marks = Marks::new(partitions);
        Self {
            to,
            source,
            tag,
            each: buffer.bytes() / u64::from(partitions.max(1)),
            buffer,
            taken: Taken::new(&marks),
            marks: Arc::new(marks),
            piece: None,
            declined: Vec::new(),
            lent: 0,
            lends: true,
            round: Round::Inactive,
            receive: 0,
            begun: 0,
            unlike: None,
            is_queued: false,
            was_started: false,
            has_told: false,
        }
    }

    /// Whether what is marked may be sent.
    pub(super) fn may_send(&self) -> bool {
        matches!(self.round, Round::Active) && (self.begun > 0 || self.to.is_none())
    }

    /// Whether there may be something to send.
    fn has_more(&self) -> bool {
        self.piece.is_some()
            || !self.declined.is_empty()
            || self.taken.count() != self.marks.marked()
            || self.owes_the_end()
    }

    fn owes_the_end(&self) -> bool {
        self.each == 0 && !self.has_told && self.marks.is_complete()
    }

    /// What to send next: packed bytes.
    fn next_piece(&mut self) -> Option<Range<u64>> {
        if self.piece.is_none() {
            self.piece = self.declined.pop();
        }
        if self.piece.is_none() && self.each == 0 {
            while self.taken.take(&self.marks).is_some() {}
            if self.owes_the_end() {
                self.has_told = true;
                self.piece = Some(0..0);
            }
        } else if self.piece.is_none() {
            let run = self.taken.take(&self.marks)?;
            self.piece = Some(u64::from(run.start) * self.each..u64::from(run.end) * self.each);
        }
        self.piece.clone()
    }

    /// Notes that so many bytes of the next piece have been sent.
    fn note_sent(&mut self, bytes: u64) {
        let Some(piece) = &mut self.piece else { return };
        piece.start += bytes;
        if piece.is_empty() {
            self.piece = None;
        }
    }

    /// Where in memory the receiver may read a piece itself, and how much of it at a time.
    fn loan(&self, piece: &Range<u64>) -> Option<Region> {
        let bytes = (piece.end - piece.start).min(LOAN_BYTES);
        (self.lends && bytes >= LEAST_LOAN_BYTES).then(|| self.buffer.part(piece.start, bytes)).flatten()
    }

    /// Whether something is under way that the receiver has to take.
    pub(super) fn needs_receiver(&self) -> bool {
        self.is_queued || self.lent > 0
    }

    /// Whether all partitions were marked and sent.
    fn is_sent(&self) -> bool {
        self.piece.is_none()
            && self.lent == 0
            && self.declined.is_empty()
            && self.taken.count() == self.marks.partitions()
            && self.marks.is_complete()
            && !self.owes_the_end()
    }

    pub(super) fn describe(&self, names: &impl Names) -> Option<String> {
        let (Round::Active, Some(to)) = (&self.round, self.to) else { return None };
        let (receiver, tag) = (names.member(to), self.tag);
        let (marked, partitions) = (self.marks.marked(), self.marks.partitions());
        let receive = if self.begun == 0 { ", whose receive has not begun" } else { "" };
        Some(format!(
            "partitioned send to {receiver}, tag {tag}{receive}: {marked} of {partitions} are ready"
        ))
    }
}

/// Whoever kept it in mind finds that it is gone.
impl Drop for PartitionedSend {
    fn drop(&mut self) {
        self.marks.retire();
    }
}

impl P2p {
    pub(super) fn start_partitioned_send(&mut self, key: PartitionedKey) {
        let Some(send) = self.partitioned.send(key) else { return };
        send.marks.open(&mut send.taken);
        (send.piece, send.has_told, send.was_started) = (None, false, true);
        (send.lends, send.lent) = (true, 0);
        send.declined.clear();
        let (unlike, bytes) = (send.unlike, send.buffer.bytes());
        self.partitioned.sending.push(key);
        if let Some(received) = unlike {
            self.fail_partitioned(key, unequal(bytes, received));
        }
    }

    /// Sends what is marked of a send, as far as its receive has begun and there is room.
    #[inline]
    pub fn serve_partitioned(&mut self, key: PartitionedKey) {
        let Some(send) = self.partitioned.send(key).filter(|send| send.may_send()) else { return };
        if !send.has_more() {
            return self.end_if_sent(key);
        }
        match send.to {
            None => self.drop_parts(key),
            Some(to) if to.peer == self.peers.me() => self.send_parts_to_self(key),
            Some(to) => {
                if !std::mem::replace(&mut send.is_queued, true) {
                    self.stream(to.peer, Stream::Partitioned(key));
                } else {
                    self.flush(to.peer);
                }
            }
        }
    }

    /// Whether there are active sends.
    #[inline]
    pub(crate) fn has_partitioned_sends(&self) -> bool {
        !self.partitioned.sending.is_empty()
    }

    /// As [`P2p::serve_partitioned`], of all active sends; whether there was anything to do.
    pub(crate) fn serve_all_partitioned(&mut self) -> bool {
        let mut any = false;
        // From behind: one that ends leaves its place to those behind.
        for place in (0..self.partitioned.sending.len()).rev() {
            let Some(&key) = self.partitioned.sending.get(place) else { continue };
            let is_idle = |send: &mut PartitionedSend| !send.may_send() || send.is_queued || !send.has_more();
            if !self.partitioned.send(key).is_none_or(is_idle) {
                self.serve_partitioned(key);
                any = true;
            }
        }
        any
    }

    /// One piece of a partitioned send, the first of the streams to a peer, which it leaves when nothing is left; false
    /// if there was no room.
    pub(in crate::p2p) fn push_part(&mut self, peer: PeerId, key: PartitionedKey) -> bool {
        let piece =
            self.partitioned.send(key).filter(|send| send.may_send()).and_then(|send| send.next_piece());
        let Some(piece) = piece else {
            self.end_stream(peer);
            if let Some(send) = self.partitioned.send(key) {
                send.is_queued = false;
            }
            self.end_if_sent(key);
            return true;
        };
        if let Some(memory) = self.partitioned.send(key).and_then(|send| send.loan(&piece)) {
            let address = self.allocations.address(&memory);
            return self.lend(peer, key, piece.start, address, memory.len() as u64);
        }
        let Some(bytes) = self.next_piece(peer, piece.end - piece.start) else { return false };
        self.write_part(peer, key, piece.start, bytes)
            || self.make_way(peer, bytes as usize).unwrap_or(false)
                && self.write_part(peer, key, piece.start, bytes)
    }

    /// Lets the receiver read so many bytes at `offset` of the message itself, if there is room to tell it.
    fn lend(&mut self, peer: PeerId, key: PartitionedKey, offset: u64, address: u64, bytes: u64) -> bool {
        let Some(send) = self.partitioned.send(key) else { return true };
        let header = with_length(
            Header { kind: kind::LEND, bytes: offset, token: send.receive, ..Header::default() },
            bytes,
        );
        if !self.tell_at_once(peer, header, address) {
            return false;
        }
        if let Some(send) = self.partitioned.send(key) {
            send.note_sent(bytes);
            send.lent += bytes;
        }
        true
    }

    /// The receiver has read what was lent, or wants it to be sent.
    pub(super) fn loan_answered(&mut self, from: PeerId, header: &Header) {
        let key = Key::from_word(header.token);
        let Some(send) = self.partitioned.send(key).filter(|send| send.to.is_some_and(|to| to.peer == from))
        else {
            return;
        };
        let (offset, bytes) = (header.bytes, length_of(header).min(send.lent));
        send.lent -= bytes;
        if header.kind == kind::DECLINED && offset <= send.buffer.bytes() - bytes {
            send.lends = false;
            send.declined.push(offset..offset + bytes);
        }
        self.serve_partitioned(key);
    }

    /// Sends so many bytes at `offset` of the message, if there is room.
    fn write_part(&mut self, peer: PeerId, key: PartitionedKey, offset: u64, bytes: u64) -> bool {
        let (Some(send), Some(room)) = (self.partitioned.send(key), self.peers[peer].room(bytes as usize))
        else {
            return false;
        };
        send.buffer.read(offset, &room.payload);
        room.send(Header { kind: kind::PART, bytes: offset, token: send.receive, ..Header::default() });
        send.note_sent(bytes);
        self.peers[peer].told();
        true
    }

    fn drop_parts(&mut self, key: PartitionedKey) {
        if let Some(send) = self.partitioned.send(key) {
            while let Some(piece) = send.next_piece() {
                send.note_sent(piece.end - piece.start);
            }
        }
        self.end_if_sent(key);
    }

    fn send_parts_to_self(&mut self, key: PartitionedKey) {
        let me = self.peers.me();
        while let Some(send) = self.partitioned.send(key)
            && let Some(piece) = send.next_piece()
        {
            let bytes = (piece.end - piece.start).min(OWN_PIECE_BYTES as u64);
            let (buffer, receive) = (send.buffer.clone(), send.receive);
            send.note_sent(bytes);
            let packed = self.pool.take(bytes as usize);
            buffer.read(piece.start, &packed);
            let header = Header { kind: kind::PART, bytes: piece.start, token: receive, ..Header::default() };
            self.part_arrived(me, &header, &packed);
            self.pool.give(packed);
        }
        self.end_if_sent(key);
    }

    fn end_if_sent(&mut self, key: PartitionedKey) {
        let Some(send) = self.partitioned.send(key) else { return };
        if send.may_send() && send.is_sent() {
            send.begun = send.begun.saturating_sub(1);
            self.end_partitioned(key, None);
        }
    }

    /// A receive has begun into which a send belongs.
    pub(super) fn receive_has_begun(&mut self, from: PeerId, header: &Header, receive: u64) {
        let key = Key::from_word(header.token);
        let is_of_peer = |send: &&mut PartitionedSend| send.to.is_some_and(|to| to.peer == from);
        // One that was freed has withdrawn its offer.
        let Some(send) = self.partitioned.send(key).filter(is_of_peer) else { return };
        send.receive = receive;
        send.begun += 1;
        let bytes = send.buffer.bytes();
        if header.bytes != bytes {
            send.unlike = Some(header.bytes);
            return self.fail_partitioned(key, unequal(bytes, header.bytes));
        }
        self.serve_partitioned(key);
    }

    pub(super) fn forget_partitioned_send(&mut self, key: PartitionedKey, send: &PartitionedSend) {
        self.partitioned.sending.retain(|&sending| sending != key);
        if let (Some(to), false) = (send.to, send.was_started) {
            let (source, tag, token) = (send.source, send.tag, key.to_word());
            let header = Header { kind: kind::WITHDRAW, context: to.context, source, tag, bytes: 0, token };
            self.tell_partitioned(to.peer, header, 0);
        }
    }
}
