//! What goes past the rings: messages that are not short.
//!
//! A ring is a copy more at either end, and worth that for what is short: that goes with others, and costs who sends it
//! little. A longer message goes in a frame of its own, if the fabric takes that at once and nothing that was told
//! before waits in the ring. So up to 64 KiB go unasked where the fabric sends so much. In a burst, of which some
//! frames are under way, those that a ring takes go by it as short ones do, several in a frame.
//!
//! Over sockets a frame of some length is sent from where the message lies, and the send is over when the fabric has
//! read that: at once, but where the socket is full. What is posted while it is full is copied, so that nobody waits
//! for who does not look.
//!
//! Where a frame arrives its messages go into the receives that wait for them, without the ring, if that is empty.
//! What finds none goes into the ring, or is kept as what the ring had is, if it is longer than a ring takes.

use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_shm::ring::{Header, RingSize};

use super::frame::{EACH_BYTES, PREFIX_BYTES};
use super::outgoing::Lying;
use super::{Net, SEVERAL_BYTES};
use crate::p2p::{OpKey, P2p, kind};
use crate::peers::{Peer, PeerId, Peers};

/// Messages up to this always go by the ring.
pub(super) const SHORT_BYTES: usize = SEVERAL_BYTES / 2 - EACH_BYTES;
/// Messages up to this go unasked.
const UNASKED_BYTES: usize = 64 << 10;
/// What is shorter is copied sooner than it is learned that it was sent.
const OWN_MEMORY_BYTES: u64 = 8 << 10;

/// Messages are of a burst when so many frames are under way: those of a collective, which looks at the fabric before
/// it is over, and others, which may wait in the ring until the next call.
const FEW_OF_COLLECTIVES: u64 = 2;
const FEW: u64 = 4;

/// How a message was sent past the ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::p2p) enum Past {
    /// It was copied.
    Copied,
    /// It is read where it lies, and the send is over when it was.
    Lent,
    /// Not at all, for want of room.
    NotNow,
}

impl Net {
    /// Whether messages of so many bytes go past the rings, if they do not go in a burst.
    pub(in crate::p2p) fn takes_past_ring(&self, bytes: u64) -> bool {
        let most = UNASKED_BYTES.min(self.frame_bytes - PREFIX_BYTES);
        (SHORT_BYTES as u64 + 1..=most as u64).contains(&bytes)
    }

    /// Whether a message to a carrier's peer goes past the ring now.
    pub(in crate::p2p) fn goes_past_ring_now(
        &self,
        carrier: usize,
        bytes: u64,
        is_of_collective: bool,
    ) -> bool {
        let few = if is_of_collective { FEW_OF_COLLECTIVES } else { FEW };
        let goes_together = 2 * (bytes + EACH_BYTES as u64) <= (self.frame_bytes - PREFIX_BYTES) as u64;
        let fits = bytes <= RingSize::LARGEST_PAYLOAD as u64 && goes_together;
        self.takes_past_ring(bytes) && !(fits && self.carriers[carrier].has_under_way(few))
    }

    /// Sends a message behind all that is in the ring, if there is room: that of a send, if its memory may be lent.
    pub(in crate::p2p) fn send_past_ring(
        &mut self,
        (peer, carrier): (PeerId, usize),
        header: Header,
        data: &Buffer,
        send: Option<OpKey>,
    ) -> Past {
        self.send_out(carrier);
        if self.carriers[carrier].has_more() || !self.greet(carrier) {
            return Past::NotNow;
        }
        let Some(number) = self.carriers[carrier].next_number() else { return Past::NotNow };
        let bytes = data.bytes() as usize;
        if let Some(send) = send.filter(|_| self.carriers[carrier].posted == 0)
            && let Some(behind) = data.as_dense()
        {
            let frame = self.pool.take(PREFIX_BYTES);
            if !self.post_lying(carrier, number, header, bytes, Lying { frame, behind, of: Some(send) }) {
                return Past::NotNow;
            }
            self.bonds.direct.begin_whole(send, peer);
            return Past::Lent;
        }
        match self.post_filled(carrier, number, header, [bytes, 0], |into| data.read(0, into)) {
            true => Past::Copied,
            false => Past::NotNow,
        }
    }

    /// Puts a message into the ring to a carrier's peer, if there is room. What is there makes some by leaving.
    pub(in crate::p2p) fn send_by_ring(
        &mut self,
        carrier: usize,
        peer: &mut Peer,
        header: Header,
        data: &Buffer,
    ) -> Past {
        let bytes = header.bytes as usize;
        if peer.room(bytes).is_none() {
            self.send_out(carrier);
        }
        let Some(room) = peer.room(bytes) else { return Past::NotNow };
        data.read(0, &room.payload);
        room.send(header);
        Past::Copied
    }

    /// Whether a message of so many bytes is sent from where it lies, once what was posted before has left: over other
    /// networks than sockets that memory would have to be registered. Of a burst of a collective, whose messages go
    /// both ways, the copy was faster.
    pub(in crate::p2p) fn lends_frame(&self, carrier: usize, bytes: u64, is_of_collective: bool) -> bool {
        let is_of_burst = is_of_collective && self.carriers[carrier].has_under_way(FEW_OF_COLLECTIVES);
        bytes >= OWN_MEMORY_BYTES && !is_of_burst && !self.fabric.limits().reads_alone
    }

    /// Learns what has left to a peer, if anything was on its way: over sockets most has at once.
    pub(in crate::p2p) fn learn_what_has_left(&mut self, carrier: usize, peers: &mut Peers) {
        let posted = self.carriers[carrier].posted as usize;
        if posted != 0 {
            self.read_completions(posted, peers);
        }
    }
}

impl P2p {
    /// Whether a message of so many bytes goes past the ring to a peer.
    pub(in crate::p2p) fn goes_past_ring(&mut self, to: PeerId, bytes: u64) -> bool {
        let peer = &mut self.peers[to];
        peer.carrier().is_some() && self.net.as_ref().is_some_and(|net| net.takes_past_ring(bytes))
    }

    /// Takes in a message that has come, if it need not go by the ring; whether it has.
    pub(super) fn take_past_ring(&mut self, from: PeerId, header: &Header, payload: &Region) -> bool {
        if !matches!(header.kind, kind::EAGER | kind::EAGER_SYNCHRONOUS) {
            return false;
        }
        let is_long = payload.len() > RingSize::LARGEST_PAYLOAD;
        if is_long {
            while self.poll_from(from) {} // what was told before
        }
        if self.peers[from].has_arrival() {
            return false;
        }
        match self.contexts.at(header.context).take_posted(header) {
            Some(receive) => self.matched(receive, from, header, payload),
            None if is_long => self.keep(from, header, payload),
            None => return false,
        }
        true
    }
}
