//! What goes out: frames of what is in the rings to peers on other nodes.

use oxmpi_fabric::{Order, Posted};
use oxmpi_mem::{Region, Taken};
use oxmpi_shm::ring::{Arrival, Header, Receiver, Wish};

use super::carrier::Carrier;
use super::frame::{
    CREDIT, EACH_BYTES, Frame, HELLO, LEAVING, PREFIX_BYTES, REST, RESTING, SEVERAL, UNNUMBERED, VERSION,
    WISH, put_message,
};
use super::{Net, Sending};
use crate::p2p::{OpKey, kind};

/// Where a frame lies: its prefix, which is not written yet, and its payload or the beginning of that; what is left of
/// the payload, and the send whose memory that is.
pub(super) struct Lying {
    pub frame: Taken,
    pub behind: Region,
    pub of: Option<OpKey>,
}

/// Messages at the head of a ring that go in one frame, and their bytes there.
#[derive(Clone, Copy)]
struct Several {
    count: usize,
    bytes: usize,
}

impl Net {
    /// Sends a frame, if there is room; so many bytes of its payload are left to the next one.
    fn post(&mut self, carrier: usize, number: u64, header: Header, payload: &Region, rest: usize) -> bool {
        self.post_filled(carrier, number, header, [payload.len(), rest], |into| into.copy_from(payload))
    }

    pub(super) fn post_filled(
        &mut self,
        carrier: usize,
        number: u64,
        header: Header,
        [bytes, rest]: [usize; 2],
        fill: impl FnOnce(&Region),
    ) -> bool {
        let frame = self.pool.take(PREFIX_BYTES + bytes);
        fill(&frame.part(PREFIX_BYTES, bytes));
        let lying = Lying { frame, behind: Region::EMPTY, of: None };
        self.post_lying(carrier, number, header, bytes + rest, lying)
    }

    /// The same of a frame with a payload of so many bytes, which is there but for its prefix.
    pub(super) fn post_lying(
        &mut self,
        carrier: usize,
        number: u64,
        header: Header,
        payload_bytes: usize,
        Lying { frame, behind, of }: Lying,
    ) -> bool {
        self.use_carrier(carrier);
        let Self { me, fabric, carriers, pool, sends, looks, .. } = self;
        let one = &mut carriers[carrier];
        let (from, taken, payload_bytes) = (*me, one.taken(), payload_bytes as u32);
        let prefix = Frame { from, payload_bytes, number, taken, header }.write();
        frame.part(0, PREFIX_BYTES).write(&prefix);
        let (target, message) = (one.target, *frame);
        let key = sends.insert(Sending { carrier, frame, is_word: header.kind == CREDIT, of });
        // What has no number, or is written elsewhere than into frames, was told before, too.
        let order = if comes_after_all(header.kind) { Order::After } else { Order::Any };
        match fabric.send_both(target, [message, behind], order, key.to_word()) {
            Posted::Yes => one.note_posted(number, *looks),
            Posted::NotNow => {
                sends.remove(key).into_iter().for_each(|sending| pool.give(sending.frame));
                return false;
            }
        }
        true
    }

    /// Sends what there is to tell a peer, as far as there is room; whether there was anything.
    pub(super) fn send_out(&mut self, carrier: usize) -> bool {
        let mut any = false;
        while let Some(number) = self.carriers[carrier].next_number() {
            let one = &mut self.carriers[carrier];
            let wish = one.into.as_mut().map_or(Wish::Whole, |(sender, _)| sender.wish());
            let arrival = one.out.as_ref().and_then(Receiver::arrival);
            let is_farewell = self.is_leaving && one.owes_a_farewell();
            let is_rest = self.is_resting && one.owes_rest();
            let tells = arrival.is_some() || wish != Wish::Whole || is_farewell || is_rest;
            let posted = match arrival {
                _ if one.is_new() && tells => self.greet(carrier),
                // Between the parts of a payload nothing comes.
                _ if one.gone_out == 0 && wish != one.wish => {
                    let told = Header { kind: WISH, token: wish as u64, ..Header::default() };
                    let is_told = self.post(carrier, number, told, &Region::EMPTY, 0);
                    if is_told {
                        self.carriers[carrier].wish = wish;
                    }
                    is_told
                }
                Some(arrival) => self.post_arrival(carrier, number, &arrival),
                None if is_farewell => {
                    let told = Header { kind: LEAVING, ..Header::default() };
                    let is_told = self.post(carrier, number, told, &Region::EMPTY, 0);
                    self.carriers[carrier].knows_of_leaving = is_told;
                    is_told
                }
                None if is_rest => {
                    let told = Header { kind: RESTING, ..Header::default() };
                    let is_told = self.post(carrier, number, told, &Region::EMPTY, 0);
                    if is_told {
                        self.carriers[carrier].note_rest_told();
                    }
                    is_told
                }
                None => break,
            };
            if !posted {
                return any;
            }
            any = true;
        }
        if self.carriers[carrier].owes_a_word() {
            let credit = Header { kind: CREDIT, ..Header::default() };
            self.post(carrier, UNNUMBERED, credit, &Region::EMPTY, 0); // nothing moves by that
        }
        any
    }

    /// Sends the frame that comes before all others, if it is not gone yet and there is room; whether it is gone.
    pub(super) fn greet(&mut self, carrier: usize) -> bool {
        let hello = Header { kind: HELLO, token: VERSION, ..Header::default() };
        !self.carriers[carrier].is_new() || self.post(carrier, 0, hello, &Region::EMPTY, 0)
    }

    /// Sends what is next in the ring to a peer, as many messages as a frame holds; of a long one what is left of it.
    fn post_arrival(&mut self, carrier: usize, number: u64, arrival: &Arrival) -> bool {
        if self.carriers[carrier].gone_out == 0 {
            let several = self.carriers[carrier].together(self.frame_bytes - PREFIX_BYTES);
            if several.count > 1 {
                let header = Header { kind: SEVERAL, token: several.count as u64, ..Header::default() };
                return self.post_several(carrier, number, header, several);
            }
        }
        let begin = self.carriers[carrier].gone_out;
        let bytes = (arrival.payload.len() - begin).min(self.part_bytes());
        let rest = arrival.payload.len() - begin - bytes;
        let header = if begin == 0 { arrival.header } else { Header { kind: REST, ..Header::default() } };
        if !self.post(carrier, number, header, &arrival.payload.part(begin, bytes), rest) {
            return false;
        }
        let one = &mut self.carriers[carrier];
        one.gone_out = if rest == 0 { 0 } else { begin + bytes };
        if let Some(out) = one.out.as_mut().filter(|_| rest == 0) {
            out.release(arrival);
        }
        true
    }

    /// Sends several messages of the ring to a peer in one frame, if there is room.
    fn post_several(
        &mut self,
        carrier: usize,
        number: u64,
        header: Header,
        Several { count, bytes }: Several,
    ) -> bool {
        let Some(mut out) = self.carriers[carrier].out.take() else { return false };
        let is_posted = self.post_filled(carrier, number, header, [bytes, 0], |into| {
            let mut begin = 0;
            for message in out.arrivals().take(count) {
                put_message(&into.part(begin, in_frame(&message)), &message.header, &message.payload);
                begin += in_frame(&message);
            }
        });
        for _ in 0..if is_posted { count } else { 0 } {
            let message = out.arrival().expect("it was counted");
            out.release(&message);
        }
        self.carriers[carrier].out = Some(out);
        is_posted
    }
}

impl Carrier {
    /// The messages at the head of the ring to the peer that go in one frame, which has room for so much.
    fn together(&self, most_bytes: usize) -> Several {
        let mut several = Several { count: 0, bytes: 0 };
        for message in self.out.iter().flat_map(Receiver::arrivals) {
            let bytes = several.bytes + in_frame(&message);
            if bytes > most_bytes || comes_after_all(message.header.kind) {
                break;
            }
            several = Several { count: several.count + 1, bytes };
        }
        several
    }
}

/// Whether what is of a kind, and has a frame of its own, says something of all that was posted before.
fn comes_after_all(kind: u32) -> bool {
    matches!(kind, kind::CLOSED | LEAVING | RESTING)
}

/// What a message takes in a frame with others.
fn in_frame(message: &Arrival) -> usize {
    EACH_BYTES + message.payload.len()
}
