//! Which send belongs to which receive.
//!
//! Of one envelope, the sends that were offered and the receives that were made are two queues, in the order of the
//! calls that made them; those at the same place belong together. A pair leaves its queues when it is bound. Who is
//! freed before that keeps its place until the other one is there, since the order of the calls that make them is all
//! that the standard goes by: so it does not matter when offers arrive, and when anybody is freed.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication, Semantics of Communications in Partitioned Mode.

use std::collections::VecDeque;

use super::PartitionedKey;
use oxmpi_base::{Ordered, Ordinal};

/// What must be the same of a send and its receive: the context at the receiver, the sender's rank, the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Envelope {
    pub context: u32,
    pub source: i32,
    pub tag: i32,
}

impl Ordinal for Envelope {
    fn ordinal(self) -> u128 {
        let Self { context, source, tag } = self;
        let words = [context, source.cast_unsigned(), tag.cast_unsigned()];
        words.into_iter().fold(0, |all, word| all << 32 | u128::from(word))
    }
}

/// A send that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    /// Its number, in the sender's process.
    pub send: u64,
    /// Its length.
    pub bytes: u64,
}

/// Those that are not bound, of all envelopes.
#[derive(Debug, Default)]
pub(super) struct Meetings(Ordered<Envelope, Meeting>);

#[derive(Debug, Default)]
struct Meeting {
    /// None for those that were freed.
    offers: VecDeque<Option<Offer>>,
    receives: VecDeque<Option<PartitionedKey>>,
}

impl Meetings {
    /// Another send.
    pub(super) fn offer(&mut self, envelope: Envelope, offer: Offer) {
        self.0.get_or_default(envelope).offers.push_back(Some(offer));
        self.clear(envelope);
    }

    /// Another receive.
    pub(super) fn await_offer(&mut self, envelope: Envelope, receive: PartitionedKey) {
        self.0.get_or_default(envelope).receives.push_back(Some(receive));
        self.clear(envelope);
    }

    /// Binds a pair whose receive has begun, if there is one.
    pub(super) fn bind(
        &mut self,
        envelope: Envelope,
        has_begun: impl Fn(PartitionedKey) -> bool,
    ) -> Option<(PartitionedKey, Offer)> {
        let meeting = self.0.get_mut(envelope)?;
        let pairs = meeting.receives.len().min(meeting.offers.len());
        let place = (0..pairs).find(|&place| meeting.receives[place].is_some_and(&has_begun))?;
        let pair = meeting.receives.remove(place).flatten().zip(meeting.offers.remove(place).flatten());
        self.clear(envelope);
        pair
    }

    /// A send is freed, and nobody is bound to it any more.
    pub(super) fn withdraw_offer(&mut self, envelope: Envelope, send: u64) {
        let Some(meeting) = self.0.get_mut(envelope) else { return };
        let is_it = |offer: &&mut Option<Offer>| offer.is_some_and(|offer| offer.send == send);
        meeting.offers.iter_mut().find(is_it).into_iter().for_each(|offer| *offer = None);
        self.clear(envelope);
    }

    /// A receive is freed, and nobody is bound to it any more.
    pub(super) fn withdraw_receive(&mut self, envelope: Envelope, receive: PartitionedKey) {
        let Some(meeting) = self.0.get_mut(envelope) else { return };
        let is_it = |key: &&mut Option<PartitionedKey>| **key == Some(receive);
        meeting.receives.iter_mut().find(is_it).into_iter().for_each(|key| *key = None);
        self.clear(envelope);
    }

    /// Nobody meets in a context any more.
    pub(super) fn close(&mut self, context: u32) {
        self.0.retain(|envelope, _| envelope.context != context);
    }

    /// Forgets the pairs of which one was freed, and an envelope with nobody.
    fn clear(&mut self, envelope: Envelope) {
        let Some(Meeting { offers, receives }) = self.0.get_mut(envelope) else { return };
        let mut place = 0;
        while place < offers.len().min(receives.len()) {
            if offers[place].is_some() && receives[place].is_some() {
                place += 1;
            } else {
                offers.remove(place);
                receives.remove(place);
            }
        }
        if offers.is_empty() && receives.is_empty() {
            self.0.remove(envelope);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENVELOPE: Envelope = Envelope { context: 1, source: 2, tag: 3 };

    fn offer(send: u64) -> Offer {
        Offer { send, bytes: 8 }
    }

    fn receive(number: u64) -> PartitionedKey {
        PartitionedKey::from_word(number)
    }

    #[test]
    fn those_at_the_same_place_are_bound_in_whatever_order_they_begin() {
        let mut meetings = Meetings::default();
        (0..3).for_each(|number| meetings.await_offer(ENVELOPE, receive(number)));
        let second_has_begun = |key| key == receive(1);
        meetings.offer(ENVELOPE, offer(10));
        assert_eq!(meetings.bind(ENVELOPE, second_has_begun), None, "its send is not there yet");
        meetings.offer(ENVELOPE, offer(11));
        assert_eq!(meetings.bind(ENVELOPE, second_has_begun), Some((receive(1), offer(11))));
        meetings.offer(ENVELOPE, offer(12));
        assert_eq!(meetings.bind(ENVELOPE, |_| true), Some((receive(0), offer(10))));
        assert_eq!(meetings.bind(ENVELOPE, |_| true), Some((receive(2), offer(12))));
        assert!(meetings.0.is_empty(), "what is bound is forgotten here");
    }

    #[test]
    fn who_is_freed_before_it_is_bound_keeps_its_place() {
        let mut meetings = Meetings::default();
        (0..3).for_each(|number| meetings.await_offer(ENVELOPE, receive(number)));
        meetings.withdraw_receive(ENVELOPE, receive(0));
        meetings.offer(ENVELOPE, offer(10));
        assert_eq!(meetings.bind(ENVELOPE, |_| true), None, "its receive was freed");
        (11..13).for_each(|send| meetings.offer(ENVELOPE, offer(send)));
        meetings.withdraw_offer(ENVELOPE, 11);
        assert_eq!(meetings.bind(ENVELOPE, |_| true), Some((receive(2), offer(12))));
        meetings.withdraw_receive(ENVELOPE, receive(1));
        assert!(meetings.0.is_empty(), "who was to meet who was freed is forgotten");
    }

    #[test]
    fn sends_that_are_freed_before_their_receives_are_made_count() {
        let mut meetings = Meetings::default();
        (10..12).for_each(|send| meetings.offer(ENVELOPE, offer(send)));
        meetings.withdraw_offer(ENVELOPE, 10);
        (0..2).for_each(|number| meetings.await_offer(ENVELOPE, receive(number)));
        assert_eq!(meetings.bind(ENVELOPE, |_| true), Some((receive(1), offer(11))));
        assert!(meetings.0.is_empty());
    }

    #[test]
    fn a_context_takes_those_along_that_wait_in_it() {
        let mut meetings = Meetings::default();
        meetings.offer(ENVELOPE, offer(10));
        meetings.close(ENVELOPE.context);
        assert!(meetings.0.is_empty());
    }
}
