//! Which send belongs to which receive.
//!
//! Of one envelope, the sends that were offered and the receives that were made are two queues, in the order of the
//! calls that made them; those at the same place belong together. A pair leaves its queues when it is bound, and who is
//! freed before that was never there: so it does not matter when an offer arrives.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication, Semantics of Communications in Partitioned Mode.

use std::collections::{BTreeMap, VecDeque};

use super::PartitionedKey;

/// What must be the same of a send and its receive: the context at the receiver, the sender's rank, the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Envelope {
    pub context: u32,
    pub source: i32,
    pub tag: i32,
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
pub(super) struct Meetings(BTreeMap<Envelope, Meeting>);

#[derive(Debug, Default)]
struct Meeting {
    offers: VecDeque<Offer>,
    receives: VecDeque<PartitionedKey>,
}

impl Meetings {
    /// Another send.
    pub(super) fn offer(&mut self, envelope: Envelope, offer: Offer) {
        self.0.entry(envelope).or_default().offers.push_back(offer);
    }

    /// Another receive.
    pub(super) fn await_offer(&mut self, envelope: Envelope, receive: PartitionedKey) {
        self.0.entry(envelope).or_default().receives.push_back(receive);
    }

    /// A receive that has lost its send, before those of which `is_later` is true.
    pub(super) fn await_again(
        &mut self,
        envelope: Envelope,
        receive: PartitionedKey,
        is_later: impl Fn(PartitionedKey) -> bool,
    ) {
        let receives = &mut self.0.entry(envelope).or_default().receives;
        let place = receives.iter().position(|&other| is_later(other)).unwrap_or(receives.len());
        receives.insert(place, receive);
    }

    /// Binds a pair whose receive has begun, if there is one.
    pub(super) fn bind(
        &mut self,
        envelope: Envelope,
        has_begun: impl Fn(PartitionedKey) -> bool,
    ) -> Option<(PartitionedKey, Offer)> {
        let meeting = self.0.get_mut(&envelope)?;
        let pairs = meeting.receives.len().min(meeting.offers.len());
        let place = (0..pairs).find(|&place| has_begun(meeting.receives[place]))?;
        let pair = meeting.receives.remove(place).zip(meeting.offers.remove(place));
        self.forget_if_empty(envelope);
        pair
    }

    /// Takes a send out; whether it was there.
    pub(super) fn withdraw_offer(&mut self, envelope: Envelope, send: u64) -> bool {
        self.withdraw(envelope, |meeting| {
            let place = meeting.offers.iter().position(|offer| offer.send == send);
            place.and_then(|place| meeting.offers.remove(place)).is_some()
        })
    }

    /// Takes a receive out; whether it was there.
    pub(super) fn withdraw_receive(&mut self, envelope: Envelope, receive: PartitionedKey) -> bool {
        self.withdraw(envelope, |meeting| {
            let place = meeting.receives.iter().position(|&other| other == receive);
            place.and_then(|place| meeting.receives.remove(place)).is_some()
        })
    }

    fn withdraw(&mut self, envelope: Envelope, withdraw: impl FnOnce(&mut Meeting) -> bool) -> bool {
        let was_there = self.0.get_mut(&envelope).is_some_and(withdraw);
        self.forget_if_empty(envelope);
        was_there
    }

    /// Nobody meets in a context any more.
    pub(super) fn close(&mut self, context: u32) {
        self.0.retain(|envelope, _| envelope.context != context);
    }

    fn forget_if_empty(&mut self, envelope: Envelope) {
        let is_empty = |meeting: &Meeting| meeting.offers.is_empty() && meeting.receives.is_empty();
        if self.0.get(&envelope).is_some_and(is_empty) {
            self.0.remove(&envelope);
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
    fn who_is_freed_before_it_is_bound_was_never_there() {
        let mut meetings = Meetings::default();
        meetings.await_offer(ENVELOPE, receive(0));
        meetings.offer(ENVELOPE, offer(10));
        assert!(meetings.withdraw_receive(ENVELOPE, receive(0)));
        meetings.await_offer(ENVELOPE, receive(1));
        meetings.offer(ENVELOPE, offer(11));
        assert!(meetings.withdraw_offer(ENVELOPE, 10) && !meetings.withdraw_offer(ENVELOPE, 10));
        assert_eq!(meetings.bind(ENVELOPE, |_| true), Some((receive(1), offer(11))));
    }

    #[test]
    fn a_receive_that_loses_its_send_has_its_place_again() {
        let mut meetings = Meetings::default();
        (0..3).for_each(|number| meetings.await_offer(ENVELOPE, receive(number)));
        meetings.offer(ENVELOPE, offer(10));
        assert_eq!(meetings.bind(ENVELOPE, |_| true), Some((receive(0), offer(10))));
        meetings.await_again(ENVELOPE, receive(0), |other| other > receive(0));
        meetings.offer(ENVELOPE, offer(11));
        assert_eq!(meetings.bind(ENVELOPE, |_| true), Some((receive(0), offer(11))));
    }

    #[test]
    fn a_context_takes_those_along_that_wait_in_it() {
        let mut meetings = Meetings::default();
        meetings.offer(ENVELOPE, offer(10));
        meetings.close(ENVELOPE.context);
        assert!(meetings.0.is_empty());
    }
}
