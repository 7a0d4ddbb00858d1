//! In which order things to a peer are given to a provider that keeps none.
//!
//! What is to come [after](Order::After) all before it waits until all that is told; and what is posted later waits
//! behind it.

use std::collections::VecDeque;

use oxmpi_fabric::{Order, Posted, Target};

/// What waits, of each peer's.
#[derive(Debug)]
pub(crate) struct Ordering<T> {
    /// The provider keeps the order by itself: nothing waits.
    is_kept: bool,
    peers: Vec<Pair<T>>,
    /// Those with something that waits.
    waiting: Vec<Target>,
}

#[derive(Debug)]
struct Pair<T> {
    under_way: usize,
    held: VecDeque<(Order, T)>,
}

/// Things of a pair that wait at most.
const HELD: usize = 64;

impl<T> Ordering<T> {
    pub(crate) fn new(is_kept: bool) -> Self {
        Self { is_kept, peers: Vec::new(), waiting: Vec::new() }
    }

    /// One peer more.
    pub(crate) fn add(&mut self) {
        self.peers.push(Pair { under_way: 0, held: VecDeque::new() });
    }

    /// Posts something, or lets it wait for its turn.
    pub(crate) fn post(
        &mut self,
        to: Target,
        order: Order,
        what: T,
        post: impl FnOnce(T) -> Posted,
    ) -> Posted {
        if self.is_kept {
            return post(what);
        }
        let pair = &mut self.peers[to.0 as usize];
        let is_due = order == Order::Any || pair.under_way == 0;
        if pair.held.is_empty() && is_due {
            let posted = post(what);
            pair.under_way += usize::from(posted.is_accepted());
            return posted;
        }
        if pair.held.len() == HELD {
            return Posted::NotNow;
        }
        if pair.held.is_empty() {
            self.waiting.push(to);
        }
        pair.held.push_back((order, what));
        Posted::Yes
    }

    /// Something is over.
    pub(crate) fn note_over(&mut self, to: Target) {
        if !self.is_kept {
            self.peers[to.0 as usize].under_way -= 1;
        }
    }

    /// Whether anything waits.
    pub(crate) fn holds_any(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Posts what waits and is due, as long as it is accepted.
    pub(crate) fn post_held(&mut self, mut post: impl FnMut(&T) -> Posted) {
        let Self { peers, waiting, .. } = self;
        waiting.retain(|to| {
            let pair = &mut peers[to.0 as usize];
            while let Some((order, what)) = pair.held.front()
                && (*order == Order::Any || pair.under_way == 0)
                && post(what).is_accepted()
            {
                pair.under_way += 1;
                pair.held.pop_front();
            }
            !pair.held.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TO: Target = Target(0);

    #[test]
    fn what_comes_after_all_waits_until_all_is_over_and_holds_up_what_is_behind_it() {
        let mut ordering = Ordering::new(false);
        ordering.add();
        let mut posted = Vec::new();
        for (number, order) in (0..).zip([Order::Any, Order::Any, Order::After, Order::Any]) {
            let accepted = ordering.post(TO, order, number, |number| {
                posted.push(number);
                Posted::Yes
            });
            assert!(accepted.is_accepted());
        }
        assert_eq!(posted, [0, 1]);
        ordering.note_over(TO);
        ordering.post_held(|_| unreachable!("one is under way"));
        ordering.note_over(TO);
        ordering.post_held(|&number| {
            posted.push(number);
            Posted::Yes
        });
        assert_eq!(posted, [0, 1, 2, 3], "what is behind a fence may pass it only once that is posted");
    }

    #[test]
    fn what_is_refused_waits_on_and_what_has_no_room_is_refused() {
        let mut ordering = Ordering::new(false);
        ordering.add();
        assert!(ordering.post(TO, Order::Any, 0, |_| Posted::Yes).is_accepted());
        for number in 1..=HELD {
            assert!(ordering.post(TO, Order::After, number, |_| unreachable!("it waits")).is_accepted());
        }
        assert_eq!(ordering.post(TO, Order::Any, 0, |_| Posted::Yes), Posted::NotNow);
        ordering.note_over(TO);
        ordering.post_held(|_| Posted::NotNow);
        let mut first = None;
        ordering.post_held(|&number| {
            first = Some(number);
            Posted::Yes
        });
        assert_eq!(first, Some(1), "and no second one beside it");
    }
}
