//! What is kept for later, and how little of that there is to be; see [`P2p`](super) for the protocol.

use oxmpi_mem::{Pool, Region, Taken};
use oxmpi_shm::ring::{Header, Wish};

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
    /// Who keeps more asks for announcements; who keeps a quarter more than this, for messages to be shown. Who keeps
    /// less than half asks for neither.
    limit: usize,
    /// Who was asked for announcements, or more.
    asked: Vec<PeerId>,
    /// Somebody was asked, or has messages that were only shown here.
    holds_up: bool,
}

/// What is kept before senders are asked for less.
const MANY_BYTES: usize = 64 << 20;
/// What is counted for a message beside the block of its payload: what it takes to know of it.
const ENVELOPE_BYTES: usize = 128;
/// The same, and the block.
const ANNOUNCED_BYTES: usize = ENVELOPE_BYTES + 64;
/// Free memory that does not go back to the system.
const IDLE_BYTES: usize = 16 << 20;

impl Keeping {
    /// Memory for a message that may have to wait; [`P2p::let_go`] is to have it back.
    #[inline]
    pub(super) fn take(&mut self, bytes: usize) -> Taken {
        self.messages += 1;
        self.pool.take(bytes)
    }

    /// The same, if the system has it.
    pub(super) fn try_take(&mut self, bytes: usize) -> Option<Taken> {
        let payload = self.pool.try_take(bytes)?;
        self.messages += 1;
        Some(payload)
    }

    /// Takes it back.
    #[inline]
    pub(super) fn give(&mut self, payload: Taken) {
        self.messages -= 1;
        self.pool.give(payload);
    }

    /// Whether so little is kept that what was held up may come.
    pub(super) fn has_room(&self) -> bool {
        self.bytes() < self.limit / 2
    }

    /// How many announcements there is room for.
    pub(super) fn room(&self) -> usize {
        self.limit.saturating_sub(self.bytes()) / ANNOUNCED_BYTES
    }

    #[inline]
    fn bytes(&self) -> usize {
        self.pool.used_bytes() + self.messages * ENVELOPE_BYTES
    }

    fn wish(&self) -> Wish {
        if self.bytes() > self.limit + self.limit / 4 { Wish::Shown } else { Wish::Announced }
    }
}

impl Default for Keeping {
    fn default() -> Self {
        Self {
            pool: Pool::keeping(IDLE_BYTES),
            messages: 0,
            limit: MANY_BYTES,
            asked: Vec::new(),
            holds_up: false,
        }
    }
}

impl P2p {
    /// Keeps so many bytes of messages that nobody asks for until their senders are asked to announce them, and a
    /// quarter more until they are asked to keep the announcements too.
    pub fn keep_at_most(&mut self, bytes: usize) {
        self.keeping.limit = bytes.min(isize::MAX as usize);
    }

    /// A message that is to wait here, with a copy of its payload; [`P2p::let_go`] is to have that back.
    #[inline]
    pub(super) fn kept_message(&mut self, from: PeerId, header: Header, payload: &Region) -> Message {
        Message { from, header, payload: self.keep_copy(from, payload) }
    }

    /// A copy of what has come, whose sender is asked for less if much is kept.
    #[inline]
    pub(super) fn keep_copy(&mut self, from: PeerId, payload: &Region) -> Taken {
        let kept = self.room_to_keep(from, payload.len());
        kept.copy_from(payload);
        kept
    }

    /// Memory for what comes from one who is asked for less if much is kept.
    #[inline]
    pub(super) fn room_to_keep(&mut self, from: PeerId, bytes: usize) -> Taken {
        let room = self.keeping.take(bytes);
        if self.keeping.bytes() > self.keeping.limit {
            self.ask_for_less(from);
        }
        room
    }

    /// Takes back the payload of a message that waits no longer.
    #[inline]
    pub(super) fn let_go(&mut self, payload: Taken) {
        self.keeping.give(payload);
        if self.keeping.holds_up && self.keeping.has_room() {
            self.ask_for_more();
        }
    }

    /// Somebody is held up until there is room.
    pub(super) fn hold_up(&mut self) {
        self.keeping.holds_up = true;
    }

    /// Asks one who has sent what nobody was waiting for.
    #[cold]
    fn ask_for_less(&mut self, from: PeerId) {
        let wish = self.keeping.wish();
        let Some(receiver) = self.peers[from].receiver.as_ref().filter(|receiver| receiver.wish() < wish)
        else {
            return;
        };
        if receiver.wish() == Wish::Whole {
            self.keeping.asked.push(from);
        }
        receiver.ask_for(wish);
        self.hold_up();
    }

    #[cold]
    fn ask_for_more(&mut self) {
        for peer in std::mem::take(&mut self.keeping.asked) {
            if let Some(receiver) = self.peers.known(peer).and_then(|peer| peer.receiver.as_ref()) {
                receiver.ask_for(Wish::Whole);
            }
        }
        self.resume_all();
        self.keeping.holds_up = self.has_stalled();
    }
}
