//! Messages of a few pieces that are sent without being asked for.
//!
//! A message that is longer than a payload is announced, since nobody knows where its data belongs. But to ask for it
//! takes the receiver, and to send it then the sender: a line each way where both have a processor, a turn of each
//! where ranks take turns. So what is not long goes at once, if all its pieces have room in a wide ring, one behind the
//! other and nothing between them. The first has the header of the whole message.
//!
//! Where a receive waits, the pieces go there as they come. Else they are put together, and the message is there when
//! the last one has come: a receive that was posted meanwhile gets it then. So what is matched is whole, or on its way
//! into a receive.
//!
//! What the receiver has in view is announced all the same, and what goes to who has read the last long message
//! itself: they need no copy.

use oxmpi_mem::{Region, Taken};
use oxmpi_shm::ring::{Header, RingSize};

use super::sending::DESKED_BYTES;
use super::{Op, OpKey, P2p, kind};
use crate::matching::Message;
use crate::peers::{Peer, PeerId};

/// A message that comes in pieces.
#[derive(Debug)]
pub(crate) enum Coming {
    /// Into a receive.
    Received(OpKey),
    /// For none; so many bytes are here.
    Kept { header: Header, payload: Taken, arrived: usize },
}

impl P2p {
    /// Sends a message in pieces, if it is to go so and there is room; whether it has.
    pub(super) fn send_unasked(&mut self, to: PeerId, key: OpKey) -> bool {
        let Some(bytes) = self.ops.get(key).and_then(|op| self.bytes_unasked(op)) else { return false };
        if !self.peers[to].has_room_unasked(bytes) {
            return false;
        }
        self.widen(to, bytes as u64);
        self.make_desks_for_pieces(to);
        // If the ring is a new one, it is as wide, and empty.
        let (peer, op) = (&mut self.peers[to], self.ops.get(key).expect("just seen"));
        for sent in (0..bytes).step_by(RingSize::LARGEST_PAYLOAD) {
            let piece = (bytes - sent).min(RingSize::LARGEST_PAYLOAD);
            let header = match sent {
                0 => Header { kind: kind::FIRST, ..op.header },
                _ => Header { kind: kind::NEXT, ..Header::default() },
            };
            let is_sent = peer.send_piece(header, piece, &op.buffer, sent as u64);
            assert!(is_sent, "there is room for all of it");
        }
        peer.announced = peer.announced.saturating_add(bytes as u64);
        self.finish(key);
        true
    }

    /// The length of a send, if it may go so: it is neither short nor long, its sender does not wait for the match, and
    /// the receiver does not have it in view.
    fn bytes_unasked(&self, op: &Op) -> Option<usize> {
        let bytes = op.buffer.bytes();
        let is_in_view =
            || op.buffer.as_dense().is_some_and(|region| self.allocations.name(&region).is_some());
        let lengths = RingSize::LARGEST_PAYLOAD as u64 + 1..=DESKED_BYTES;
        (lengths.contains(&bytes) && !op.is_synchronous && !is_in_view()).then_some(bytes as usize)
    }

    /// The first piece of a message has come.
    pub(super) fn first_piece_arrived(&mut self, from: PeerId, header: &Header, piece: &Region) {
        let coming = match self.contexts.at(header.context).take_posted(header) {
            Some(receive) => {
                self.begin_to_fill(receive, from, *header);
                Coming::Received(receive)
            }
            None => {
                let payload = self.room_to_keep(from, header.bytes.min(DESKED_BYTES) as usize);
                Coming::Kept { header: Header { kind: kind::EAGER, ..*header }, payload, arrived: 0 }
            }
        };
        self.peers[from].coming = Some(coming);
        self.next_piece_arrived(from, piece);
    }

    /// The next piece has come.
    pub(super) fn next_piece_arrived(&mut self, from: PeerId, piece: &Region) {
        let is_whole = match &mut self.peers[from].coming {
            Some(Coming::Kept { payload, arrived, .. }) => {
                let bytes = piece.len().min(payload.len() - *arrived);
                payload.part(*arrived, bytes).copy_from(&piece.part(0, bytes));
                *arrived += bytes;
                *arrived == payload.len()
            }
            &mut Some(Coming::Received(receive)) => self.write_piece(from, receive, piece),
            None => false,
        };
        if is_whole && let Some(Coming::Kept { header, payload, .. }) = self.peers[from].coming.take() {
            match self.contexts.at(header.context).take_posted(&header) {
                Some(receive) => {
                    self.fill(receive, &header, &payload);
                    self.let_go(payload);
                }
                None => self.file(Message { from, header, payload }),
            }
        }
    }

    /// No more pieces will come from one who is lost.
    pub(super) fn forget_coming(&mut self, lost: PeerId) {
        if let Some(Coming::Kept { payload, .. }) = self.peers[lost].coming.take() {
            self.let_go(payload);
        }
    }
}

impl Peer {
    /// Whether so much may go there unasked, and has room.
    fn has_room_unasked(&mut self, bytes: usize) -> bool {
        let Self { sender: Some(sender), outbox, reads_itself, .. } = self else { return false };
        let takes_whole = sender.eager_below() > RingSize::LARGEST_PAYLOAD as u64;
        let is_wide = sender.size().bulk_bytes >= RingSize::WIDE.bulk_bytes;
        !*reads_itself && outbox.is_empty() && takes_whole && is_wide && sender.has_room_for_pieces(bytes)
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_datatype::Buffer;
    use oxmpi_mem::Pool;
    use oxmpi_shm::Job;

    use super::*;
    use crate::engine::Engine;
    use crate::matching::Pattern;
    use crate::p2p::Received;

    const PIECE: usize = RingSize::LARGEST_PAYLOAD;
    const BYTES: usize = 2 * PIECE + 1;

    /// A rank, and who sends to it.
    struct Rank {
        engine: Engine,
        from: PeerId,
        context: u32,
        pool: Pool,
        _other: Engine,
    }

    impl Rank {
        fn new() -> Self {
            let tickets = Job::within_private(2).expect("memory for a job");
            let [mut engine, other] = <[_; 2]>::try_from(tickets).expect("two").map(Engine::new);
            let from = engine.peer(other.whereabouts()).expect("it is reached");
            let context = engine.p2p.open_context();
            Self { engine, from, context, pool: Pool::default(), _other: other }
        }

        /// Some of the pieces of a message come.
        fn arrive(&mut self, pieces: std::ops::Range<usize>) {
            let all = (0..BYTES).map(|at| at as u8).collect::<Vec<_>>();
            for (number, data) in all.chunks(PIECE).enumerate().filter(|(number, _)| pieces.contains(number))
            {
                let piece = self.pool.take(data.len());
                piece.write(data);
                let header = Header { kind: kind::FIRST, context: self.context, ..Header::default() };
                match number {
                    0 => {
                        let header = Header { bytes: BYTES as u64, ..header };
                        self.engine.p2p.first_piece_arrived(self.from, &header, &piece);
                    }
                    _ => self.engine.p2p.next_piece_arrived(self.from, &piece),
                }
            }
        }

        /// What a receive gets that is posted now, if it has come when `behind` pieces more have.
        fn receive(&mut self, behind: std::ops::Range<usize>) -> Option<Vec<u8>> {
            let into = self.pool.take(BYTES);
            let any = Pattern { source: None, tag: None };
            let received =
                self.engine.p2p.receive(self.context, any, None, Buffer::dense(into.part(0, BYTES)));
            self.arrive(behind);
            let outcome = match received {
                Received::Done(outcome) => Some(outcome),
                Received::Pending(key) => self.engine.p2p.take_outcome(key),
            };
            assert!(outcome.as_ref().is_none_or(|outcome| outcome.status.bytes == BYTES as u64));
            outcome.map(|_| into.to_vec()[..BYTES].to_vec())
        }
    }

    #[test]
    fn a_receive_gets_the_message_whenever_it_is_posted() {
        let whole: Vec<u8> = (0..BYTES).map(|at| at as u8).collect();
        for before in 0..=3 {
            let mut rank = Rank::new();
            rank.arrive(0..before);
            assert_eq!(rank.receive(before..3).as_ref(), Some(&whole), "after {before} pieces");
            assert_eq!(rank.engine.p2p.keeping.pool.used_bytes(), 0);
            assert!(rank.engine.p2p.peers[rank.from].coming.is_none());
        }
    }

    #[test]
    fn a_message_of_which_a_piece_is_missing_is_not_there() {
        let mut rank = Rank::new();
        rank.arrive(0..2);
        assert!(rank.engine.p2p.probe(rank.context, &Pattern { source: None, tag: None }).is_none());
        assert_eq!(rank.receive(0..0), None);
    }

    #[test]
    fn what_is_missing_of_who_is_lost_is_not_waited_for() {
        let mut rank = Rank::new();
        rank.arrive(0..2);
        assert_ne!(rank.engine.p2p.keeping.pool.used_bytes(), 0);
        rank.engine.p2p.lose(rank.from, |_, _| false);
        assert_eq!(rank.engine.p2p.keeping.pool.used_bytes(), 0);
    }
}
