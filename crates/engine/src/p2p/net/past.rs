//! What goes past the rings: messages that fill a frame.
//!
//! A ring is a copy more at either end, and worth that for what is short: that goes with others, and costs who sends it
//! little. A message of which no two go in a frame is copied into one, if the fabric takes that at once and nothing
//! that was told before waits in the ring. So up to 64 KiB go unasked where the fabric sends so much.
//!
//! Where a frame arrives its messages go into the receives that wait for them, without the ring, if that is empty.
//! What finds none goes into the ring, or is kept as what the ring had is, if it is longer than a ring takes.

use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_shm::ring::{Header, RingSize};

use super::frame::{EACH_BYTES, PREFIX_BYTES};
use super::{Net, SEVERAL_BYTES};
use crate::p2p::{P2p, kind};
use crate::peers::PeerId;

/// Messages up to this go by the ring: there may be room for two in a frame.
pub(super) const SHORT_BYTES: usize = SEVERAL_BYTES / 2 - EACH_BYTES;

impl Net {
    /// Whether messages of so many bytes go past the rings.
    pub(in crate::p2p) fn takes_past_ring(&self, bytes: u64) -> bool {
        (SHORT_BYTES as u64 + 1..=(self.frame_bytes - PREFIX_BYTES) as u64).contains(&bytes)
    }

    /// Sends a message behind all that is in the ring, if there is room.
    pub(in crate::p2p) fn send_past_ring(&mut self, carrier: usize, header: Header, data: &Buffer) -> bool {
        self.send_out(carrier);
        if self.carriers[carrier].has_more() || !self.greet(carrier) {
            return false;
        }
        let Some(number) = self.carriers[carrier].next_number() else { return false };
        self.post_filled(carrier, number, header, [data.bytes() as usize, 0], |into| data.read(0, into))
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
