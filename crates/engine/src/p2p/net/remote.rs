//! Long messages between nodes: their receiver reads them out of the sender's memory.
//!
//! The announcement says where that is, once it is registered. What is registered is so until the receiver has
//! answered. A piece is as long as the fabric allows; some are under way at a time. Where memory cannot be registered,
//! is not in one piece, or the fabric refuses to read it, the data comes in frames.

use oxmpi_base::Ordered;
use oxmpi_fabric::{Access, Failure, Place};
use oxmpi_mem::Region;
use oxmpi_shm::ring::Header;

use crate::p2p::arrivals::word_of;
use crate::p2p::{OpKey, P2p, State, kind};
use crate::peers::PeerId;
use crate::slab::{Key, Slab};

/// What is read elsewhere, and lent to others.
#[derive(Debug)]
pub(super) struct Remote {
    /// Bytes of a piece.
    piece: usize,
    readings: Slab<Reading>,
    /// What was announced with a place: the sends, and where their data is.
    lent: Ordered<OpKey, Place>,
}

/// A message that is being read.
#[derive(Debug)]
struct Reading {
    receive: OpKey,
    from: PeerId,
    /// Its send, there.
    token: u64,
    place: Place,
    into: Region,
    /// Bytes that have been asked for, and pieces that have not come.
    asked: usize,
    under_way: usize,
    failure: Option<Failure>,
}

/// Messages below this come in frames: the sender need not register them, nor wait until they have been read.
const READ_FROM_BYTES: u64 = 32 << 10;
/// Pieces of a message that are under way.
const PIECES: usize = 4;
/// An announcement with a place: its address, a note, and its key.
pub(in crate::p2p) const LENT_BYTES: usize = 3 * size_of::<u64>();

impl Remote {
    /// Of messages that are read in pieces of so many bytes.
    pub(super) fn new(piece: usize) -> Self {
        Self { piece, readings: Slab::new(), lent: Ordered::new() }
    }

    /// A piece has come, or will not; whose peer is gone then.
    pub(super) fn note_read(&mut self, context: u64, failure: Option<Failure>) -> Option<PeerId> {
        let reading = self.readings.get_mut(Key::from_word(context))?;
        reading.under_way -= 1;
        reading.failure = reading.failure.or(failure);
        (failure == Some(Failure::Gone)).then_some(reading.from)
    }

    /// Whether anything is lent.
    pub(super) fn lends(&self) -> bool {
        !self.lent.is_empty()
    }

    /// Whether a receive is being read, so that its memory is not the caller's whatever happens.
    fn is_reading(&self, receive: OpKey) -> bool {
        self.readings.iter().any(|reading| reading.receive == receive)
    }
}

impl Reading {
    fn is_over(&self) -> bool {
        self.under_way == 0 && (self.failure.is_some() || self.asked == self.into.len())
    }
}

impl P2p {
    /// Where a peer on another node may read the data of a send, if it may.
    pub(in crate::p2p) fn lend_to(&mut self, peer: PeerId, send: OpKey) -> Option<Place> {
        self.peers[peer].carrier()?;
        let memory = self.ops.get(send)?.buffer.as_dense()?;
        let net = self.net.as_mut().filter(|_| memory.len() as u64 >= READ_FROM_BYTES)?;
        if net.remote.piece == 0 || net.writes_long() {
            return None;
        }
        if let Some(&place) = net.remote.lent.get(send) {
            return Some(place);
        }
        let place = net.fabric.register(memory, Access::Read).ok()?;
        net.remote.lent.insert(send, place);
        Some(place)
    }

    /// The receiver of a send has answered, or never will: its data is read no more.
    #[inline]
    pub(in crate::p2p) fn take_back_loan(&mut self, send: OpKey) {
        if let Some(net) = &mut self.net
            && let Some(place) = net.remote.lent.remove(send)
        {
            net.fabric.unregister(place);
        }
    }

    /// Begins to read an announced message, if its sender lends it and it goes into one piece of memory.
    pub(in crate::p2p) fn begin_to_read(
        &mut self,
        receive: OpKey,
        from: PeerId,
        header: &Header,
        announcement: &Region,
    ) -> bool {
        if announcement.len() != LENT_BYTES || self.peers[from].carrier().is_none() {
            return false;
        }
        let into = self.ops.get(receive).and_then(|op| op.buffer.as_dense());
        let net = self.net.as_mut().filter(|net| net.remote.piece != 0);
        let (Some(into), Some(net)) = (into.filter(|into| !into.is_empty()), net) else { return false };
        let place = Place { address: word_of(announcement), key: word_of(&announcement.part(16, 8)) };
        let into = into.part(0, into.len().min(header.bytes as usize));
        net.remote.readings.insert(Reading {
            receive,
            from,
            token: header.token,
            place,
            into,
            asked: 0,
            under_way: 0,
            failure: None,
        });
        true
    }

    /// Whether the memory of a receive is still being written by the fabric.
    pub(in crate::p2p) fn is_being_read(&self, receive: OpKey) -> bool {
        self.net.as_ref().is_some_and(|net| net.remote.is_reading(receive))
    }

    /// Moves on what is read elsewhere; whether anything did.
    pub(super) fn serve_remote(&mut self) -> bool {
        let Some(net) = self.net.as_mut().filter(|net| !net.remote.readings.is_empty()) else { return false };
        let (fabric, remote, mut any) = (&mut net.fabric, &mut net.remote, false);
        let mut over = Vec::new();
        for (key, reading) in remote.readings.entries_mut() {
            let is_lost = self.peers.is_lost(reading.from);
            let carrier = self.peers[reading.from].carrier().filter(|_| !is_lost);
            let target = carrier.map(|carrier| net.carriers[carrier].target);
            while let Some(target) = target
                && reading.failure.is_none()
                && reading.under_way < PIECES
                && reading.asked < reading.into.len()
            {
                let bytes = remote.piece.min(reading.into.len() - reading.asked);
                let place = reading.place.behind(reading.asked as u64);
                let into = reading.into.part(reading.asked, bytes);
                if !fabric.read(target, place, into, key.to_word()).is_accepted() {
                    break;
                }
                reading.asked += bytes;
                reading.under_way += 1;
                any = true;
            }
            // Who is gone is lost soon; what is not asked for by then never is.
            let is_settled = reading.failure != Some(Failure::Gone) && reading.is_over();
            over.extend((is_settled || is_lost && reading.under_way == 0).then_some(key));
        }
        for key in over {
            any = true;
            let reading = self.net.as_mut().and_then(|net| net.remote.readings.remove(key));
            reading.into_iter().for_each(|reading| self.end_reading(&reading));
        }
        any
    }

    fn end_reading(&mut self, &Reading { receive, from, token, failure, .. }: &Reading) {
        debug_assert!(self.ops.get(receive).is_some_and(|op| matches!(op.state, State::Filling { .. })));
        match failure {
            _ if self.peers.is_lost(from) => self.fail(receive, self.peers[from].lost()),
            None => {
                self.finish(receive);
                self.answer(from, kind::FETCHED, token, 0);
            }
            Some(_) => {
                // All of it comes.
                self.ops.get_mut(receive).into_iter().for_each(|op| op.state = State::Filling { arrived: 0 });
                self.answer(from, kind::ACCEPT, token, receive.to_word());
            }
        }
    }
}
