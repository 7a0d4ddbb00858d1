//! Who carries the messages between this process and one on another node.
//!
//! Each numbers its frames. The other one takes them in their order, whichever comes first, and tells how many it has
//! taken: so both know what is under way, of which there are [`WINDOW`] at most. What has come too early, or finds no
//! room in the ring to this process, waits here; until the next look it may lie where it was received.

use oxmpi_base::Ordered;
use oxmpi_fabric::Target;
use oxmpi_mem::{Pool, Region, Taken};
use oxmpi_shm::Block;
use oxmpi_shm::ring::{Header, Receiver, Sender, Wish};

use super::frame::{Frame, REST, RESTING, UNNUMBERED};
use crate::peers::PeerId;

/// See the module.
#[derive(Debug)]
pub(super) struct Carrier {
    pub peer: PeerId,
    pub target: Target,
    /// Whether it is looked at.
    pub is_listed: bool,
    /// The far end of the ring to the peer: what is read here goes out.
    pub out: Option<Receiver>,
    /// The far end of the ring from the peer, and its memory.
    pub into: Option<(Sender, Block)>,
    /// The number of the next frame to the peer, and how many it has taken.
    next: u64,
    taken_there: u64,
    /// How many of its frames were taken here, and how many it knows of.
    taken_here: u64,
    told: u64,
    /// Of the message in `out` that is next, the bytes that have gone out.
    pub gone_out: usize,
    /// Of the several messages in the frame that is next here, the bytes that have been put into the ring.
    pub gone_in: usize,
    /// Frames that wait here.
    waiting: Ordered<u64, Arrived>,
    /// What the peer knows to be wanted of its messages, and what it wants to have of those to it.
    pub wish: Wish,
    pub asked: Wish,
    /// Frames that the fabric has.
    pub posted: u32,
    /// How often the fabric had told all when the first of them was posted, since there was none.
    posted_at: u64,
    /// It is not reached any more, or not understood: nothing is sent.
    is_gone: bool,
    /// Nothing is taken from it either.
    is_ended: bool,
    /// Somebody is to look whether it is there.
    pub is_asked: bool,
    /// Something has come from it.
    is_heard: bool,
    /// It knows that this process leaves.
    pub knows_of_leaving: bool,
    /// The number of the frame behind the one that has told it that this process goes to rest.
    rest_told: Option<u64>,
    /// It is of another job, and has told that it leaves: nothing that is told it is wanted any more.
    pub has_left: bool,
    /// It rests itself, and has told nothing since; it is to hear that this was taken.
    pub rests: bool,
    owes_an_answer: bool,
}

/// A frame that has come.
#[derive(Debug)]
struct Arrived {
    header: Header,
    payload: Region,
    /// Bytes of the payload that the next frame has.
    rest: usize,
    lies: Lies,
}

/// Where a payload lies.
#[derive(Debug)]
enum Lies {
    /// In memory of its own.
    Apart(Taken),
    /// In the receive with this context.
    InReceive(u64),
}

/// Numbered frames of a pair that can be under way.
pub(super) const WINDOW: u64 = 16;
/// So many, or writes of a process, wait for nobody to look.
const FEW: u64 = 2;

/// Whether so much that the fabric was given must be looked after: the first of it when it had told all `since` times,
/// and now it has `looks` times. For a few frames or writes there is room in a socket, unless it has told of others
/// since and not of them: it has them, though that was not told yet, and to ask costs as much as to send.
pub(super) fn is_held_up(under_way: u64, since: u64, looks: u64) -> bool {
    under_way > FEW || looks > since
}

impl Carrier {
    pub(super) fn new(peer: PeerId, target: Target) -> Self {
        Self {
            peer,
            target,
            is_listed: false,
            out: None,
            into: None,
            next: 0,
            taken_there: 0,
            taken_here: 0,
            told: 0,
            gone_out: 0,
            gone_in: 0,
            waiting: Ordered::new(),
            wish: Wish::Whole,
            asked: Wish::Whole,
            posted: 0,
            posted_at: 0,
            is_gone: false,
            is_ended: false,
            is_asked: false,
            is_heard: false,
            knows_of_leaving: false,
            rest_told: None,
            has_left: false,
            rests: false,
            owes_an_answer: false,
        }
    }

    /// The number of the next frame, if the peer is to have one more now.
    pub(super) fn next_number(&self) -> Option<u64> {
        (self.next < self.taken_there + WINDOW && !self.is_gone).then_some(self.next)
    }

    /// Whether so many frames are under way, as far as it is known here: of two that tell each other something in turn
    /// one mostly is.
    pub(super) fn has_under_way(&self, frames: u64) -> bool {
        self.next >= self.taken_there + frames
    }

    /// Whether nothing was sent yet.
    pub(super) fn is_new(&self) -> bool {
        self.next == 0
    }

    /// How many frames were taken, to be told with the next one.
    pub(super) fn taken(&self) -> u64 {
        self.taken_here
    }

    /// A frame has been posted, after the fabric had told all so often.
    pub(super) fn note_posted(&mut self, number: u64, looks: u64) {
        if self.posted == 0 {
            self.posted_at = looks;
        }
        self.posted += 1;
        self.told = self.taken_here;
        (self.is_asked, self.owes_an_answer) = (false, false);
        if number != UNNUMBERED {
            self.next = number + 1;
        }
    }

    /// Whether the peer is to hear something that needs no number: how many frames were taken, since it may wait for
    /// that, or anything.
    pub(super) fn owes_a_word(&self) -> bool {
        let is_to_be_asked = self.is_asked && self.posted == 0;
        // One of which nothing is taken any more may still wait to rest.
        !self.is_gone && (is_to_be_asked || self.owes_credit()) || self.is_ended && self.owes_an_answer
    }

    /// Whether it is to hear how many frames were taken: it may wait for that.
    fn owes_credit(&self) -> bool {
        self.owes_an_answer || self.taken_here - self.told >= WINDOW / 2
    }

    /// Whether something that the peer is to have is still here; or is [held up](is_held_up) with the fabric, if that
    /// counts, which has told all so often.
    pub(super) fn is_behind(&self, looks: Option<u64>) -> bool {
        let under_way = self.next - self.taken_there;
        let is_on_its_way =
            self.posted != 0 && looks.is_some_and(|looks| is_held_up(under_way, self.posted_at, looks));
        !self.is_gone && !self.has_left && (is_on_its_way || self.has_more() || self.owes_credit())
    }

    /// Whether anything was exchanged with the peer.
    pub(super) fn is_used(&self) -> bool {
        self.is_heard || !self.is_new()
    }

    /// Whether the peer, with which something was exchanged, is to hear that this process leaves: after all else.
    pub(super) fn owes_a_farewell(&self) -> bool {
        !self.knows_of_leaving && !self.is_gone && !self.has_left && self.is_used() && !self.has_more()
    }

    /// Whether the peer, with which something was exchanged, is to hear that this process goes to rest: after all else.
    pub(super) fn owes_rest(&self) -> bool {
        let is_told = self.rest_told == Some(self.next);
        self.is_used() && !is_told && !self.is_gone && !self.has_left && !self.has_more()
    }

    /// The peer was told so, in the frame that was posted last.
    pub(super) fn note_rest_told(&mut self) {
        self.rest_told = Some(self.next);
    }

    /// The peer has told so.
    pub(super) fn note_rest(&mut self) {
        (self.rests, self.owes_an_answer) = (true, true);
    }

    /// Whether this process may rest for the sake of the peer: it has taken all that was sent, or wants none of it.
    pub(super) fn lets_rest(&self) -> bool {
        let has_all = self.rests || self.has_left || self.taken_there == self.next;
        self.is_gone || !self.owes_rest() && !self.owes_an_answer && has_all && self.is_quiet()
    }

    /// The peer was found not to be there any more.
    pub(super) fn note_gone(&mut self, gone: &mut Vec<PeerId>) {
        if !std::mem::replace(&mut self.is_gone, true) {
            gone.push(self.peer);
        }
    }

    /// What comes from the peer is no message: it is as if it were gone.
    pub(super) fn is_not_understood(&mut self, gone: &mut Vec<PeerId>) -> bool {
        self.note_gone(gone);
        false
    }

    /// Whether the peer is to hear what is wanted of its messages now.
    pub(super) fn has_another_wish(&mut self) -> bool {
        self.into.as_mut().is_some_and(|(sender, _)| sender.wish() != self.wish)
    }

    /// Whether there may be anything to send or to take.
    pub(super) fn has_work(&mut self, is_leaving: bool, is_resting: bool) -> bool {
        let owes =
            self.owes_a_word() || is_leaving && self.owes_a_farewell() || is_resting && self.owes_rest();
        let is_to_tell = self.has_another_wish() || owes;
        !self.waiting.is_empty() || self.has_more() || is_to_tell
    }

    /// Whether there is anything in the ring to the peer.
    pub(super) fn has_more(&self) -> bool {
        self.out.as_ref().is_some_and(Receiver::has_arrival)
    }

    /// Whether nothing is in the rings' far ends, or left of what goes through them; nor is the peer to be told later
    /// that more is wanted of its messages again.
    pub(super) fn is_through(&self) -> bool {
        let is_whole = self.gone_out == 0 && self.gone_in == 0;
        is_whole && self.waiting.is_empty() && !self.has_more() && self.wish == Wish::Whole
    }

    /// Whether the peer has all that was to be told it.
    pub(super) fn is_quiet(&self) -> bool {
        self.is_gone || self.posted == 0 && !self.has_more()
    }

    /// Any frame tells that the peer is there, and how many it has taken.
    pub(super) fn heard(&mut self, frame: &Frame) {
        self.is_heard = true;
        self.taken_there = self.taken_there.max(frame.taken.min(self.next));
    }

    /// Takes in a frame, in the receive with this context; it waits there until it is its turn. One that has come
    /// before, or cannot have come, is dropped: then the answer is false.
    pub(super) fn arrived(&mut self, frame: &Frame, payload: &Region, context: u64) -> bool {
        self.heard(frame);
        if self.is_ended && frame.number != UNNUMBERED {
            self.taken_here = self.taken_here.max(frame.number.saturating_add(1));
            self.owes_an_answer |= frame.header.kind == RESTING;
        }
        let is_due = frame.number.checked_sub(self.taken_here).is_some_and(|ahead| ahead < WINDOW);
        let is_wanted = is_due && !self.is_ended && !self.waiting.contains_key(frame.number);
        if is_wanted {
            let rest = frame.payload_bytes as usize - payload.len();
            let lies = Lies::InReceive(context);
            self.waiting
                .insert(frame.number, Arrived { header: frame.header, payload: *payload, rest, lies });
        }
        is_wanted
    }

    /// What is next, if it is here, and its payload, which is in one frame or two.
    pub(super) fn next_here(&mut self) -> Option<(Header, [Region; 2])> {
        let Arrived { header, payload, rest, .. } = self.waiting.get(self.taken_here)?;
        let rest = match *rest {
            0 => Region::EMPTY,
            bytes => {
                let is_rest = |next: &&Arrived| next.header.kind == REST && next.payload.len() == bytes;
                self.waiting.get(self.taken_here + 1).filter(is_rest)?.payload
            }
        };
        self.rests = false;
        Some((*header, [*payload, rest]))
    }

    /// That has been taken. Receives in which it lay are idle.
    pub(super) fn note_taken(&mut self, pool: &mut Pool, idle: &mut Vec<u64>) {
        let first = self.waiting.remove(self.taken_here);
        let has_rest = first.as_ref().is_some_and(|frame| frame.rest != 0);
        let second = if has_rest { self.waiting.remove(self.taken_here + 1) } else { None };
        self.taken_here += 1 + u64::from(has_rest);
        first.into_iter().chain(second).for_each(|frame| frame.lies.give(pool, idle));
    }

    /// Nothing that waits here lies in receives any more, of which there are few.
    pub(super) fn clear_receives(&mut self, pool: &mut Pool, idle: &mut Vec<u64>) {
        for (_, frame) in self.waiting.values_mut() {
            if let Lies::InReceive(context) = frame.lies {
                let apart = pool.take(frame.payload.len());
                apart.copy_from(&frame.payload);
                idle.push(context);
                (frame.payload, frame.lies) = (*apart, Lies::Apart(apart));
            }
        }
    }

    /// Forgets what waits here, and takes nothing any more.
    pub(super) fn end(&mut self, pool: &mut Pool, idle: &mut Vec<u64>) {
        (self.is_gone, self.is_ended) = (true, true);
        std::mem::take(&mut self.waiting).into_values().for_each(|frame| frame.lies.give(pool, idle));
    }
}

impl Lies {
    fn give(self, pool: &mut Pool, idle: &mut Vec<u64>) {
        match self {
            Self::Apart(memory) => pool.give(memory),
            Self::InReceive(context) => idle.push(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Whereabouts;

    #[test]
    fn no_number_of_a_peer_goes_beyond_what_is_counted() {
        let (mut carrier, mut pool) = (Carrier::new(PeerId::of_rank(1), Target(0)), Pool::default());
        for is_ended in [false, true] {
            if is_ended {
                carrier.end(&mut pool, &mut Vec::new());
            }
            for number in [UNNUMBERED - 1, WINDOW, UNNUMBERED] {
                let (from, header, taken) = (Whereabouts::new(7, 8), Header::default(), u64::MAX);
                let frame = Frame { from, payload_bytes: 0, number, taken, header };
                assert!(!carrier.arrived(&frame, &Region::EMPTY, 0), "{number}");
            }
        }
    }
}
