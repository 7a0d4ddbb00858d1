//! What is kept for later, and how little of that there is to be; see [`P2p`](super) for the protocol.

use oxmpi_mem::{Pool, Region, Taken};
use oxmpi_shm::ring::Header;

use super::P2p;
use crate::matching::Message;
use crate::peers::PeerId;

/// The messages that wait for their receives, and the copies of buffered sends.
#[derive(Debug)]
pub(super) struct Keeping {
    /// Where both lie.
    pub(super) pool: Pool,
    /// How many of the former there are.
    messages: usize,
    /// Who was asked to announce all that he sends.
    asked: Vec<PeerId>,
}

/// Who keeps more, for messages and copies, asks for announcements.
const MANY_BYTES: usize = 64 << 20;
/// Who keeps less asks for them no longer.
const FEW_BYTES: usize = MANY_BYTES / 2;
/// What is counted for a message beside the block of its payload: what it takes to know of it.
const ENVELOPE_BYTES: usize = 128;
/// Free memory that does not go back to the system.
const IDLE_BYTES: usize = 16 << 20;

impl Keeping {
    /// Memory for a message that may have to wait; [`P2p::let_go`] is to have it back.
    #[inline]
    pub(super) fn take(&mut self, bytes: usize) -> Taken {
        self.messages += 1;
        self.pool.take(bytes)
    }

    #[inline]
    fn bytes(&self) -> usize {
        self.pool.used_bytes() + self.messages * ENVELOPE_BYTES
    }
}

impl Default for Keeping {
    fn default() -> Self {
        Self { pool: Pool::keeping(IDLE_BYTES), messages: 0, asked: Vec::new() }
    }
}

impl P2p {
    /// A message that is to wait here, with a copy of its payload; [`P2p::let_go`] is to have that back.
    #[inline]
    pub(super) fn kept_message(&mut self, from: PeerId, header: Header, payload: &Region) -> Message {
        let kept = self.keeping.take(payload.len());
        kept.copy_from(payload);
        if self.keeping.bytes() > MANY_BYTES {
            self.ask_to_announce(from);
        }
        Message { from, header, payload: kept }
    }

    /// Takes back the payload of a message that waits no longer.
    #[inline]
    pub(super) fn let_go(&mut self, payload: Taken) {
        self.keeping.messages -= 1;
        self.keeping.pool.give(payload);
        if !self.keeping.asked.is_empty() && self.keeping.bytes() < FEW_BYTES {
            self.ask_no_more();
        }
    }

    /// Asks one who has sent what nobody was waiting for.
    #[cold]
    fn ask_to_announce(&mut self, from: PeerId) {
        let receiver = self.peers[from].receiver.as_ref();
        if receiver.is_some_and(|receiver| receiver.ask_to_announce(true)) {
            self.keeping.asked.push(from);
        }
    }

    #[cold]
    fn ask_no_more(&mut self) {
        for peer in std::mem::take(&mut self.keeping.asked) {
            if let Some(receiver) = self.peers.known(peer).and_then(|peer| peer.receiver.as_ref()) {
                receiver.ask_to_announce(false);
            }
        }
    }
}
