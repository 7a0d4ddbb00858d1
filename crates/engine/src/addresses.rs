//! Where the messages to the members of a group go.
//!
//! Mostly the members are peers one behind the other, and have all the same context: then that is all that is kept.

use std::sync::Arc;

use crate::p2p::Address;
use crate::peers::PeerId;

/// See the module. To clone it is cheap.
#[derive(Clone, Debug)]
pub struct Addresses(Kept);

#[derive(Clone, Debug)]
enum Kept {
    /// By rank.
    List(Arc<[Address]>),
    /// Peers from `first` on, each with this context.
    Range { first: PeerId, count: u32, context: u32 },
}

impl Addresses {
    /// Those of nobody.
    pub const NONE: Self = Self(Kept::Range { first: PeerId::of_rank(0), count: 0, context: 0 });

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kept::List(all) => all.len(),
            Kept::Range { count, .. } => *count as usize,
        }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// That of a rank, if there is one.
    #[inline]
    pub fn get(&self, rank: usize) -> Option<Address> {
        match &self.0 {
            Kept::List(all) => all.get(rank).copied(),
            Kept::Range { first, count, context } => (rank < *count as usize)
                .then(|| Address { peer: first.behind(rank as u32), context: *context }),
        }
    }

    /// That of a rank.
    ///
    /// # Panics
    /// If there is no such rank.
    #[inline]
    pub fn at(&self, rank: u32) -> Address {
        self.get(rank as usize).expect("ranks are those of the group")
    }

    /// All, by rank.
    pub fn iter(&self) -> impl Iterator<Item = Address> + '_ {
        (0..self.len()).map_while(|rank| self.get(rank))
    }

    /// The rank with an address.
    pub fn rank_of(&self, address: Address) -> Option<u32> {
        (0..).zip(self.iter()).find_map(|(rank, at)| (at == address).then_some(rank))
    }
}

impl FromIterator<Address> for Addresses {
    fn from_iter<I: IntoIterator<Item = Address>>(all: I) -> Self {
        let all: Vec<Address> = all.into_iter().collect();
        let Some(&Address { peer: first, context }) = all.first() else { return Self::NONE };
        let is_range = (0..).zip(&all).all(|(rank, at)| *at == Address { peer: first.behind(rank), context });
        Self(match is_range {
            true => Kept::Range { first, count: all.len() as u32, context },
            false => Kept::List(all.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(rank: u32, context: u32) -> Address {
        Address { peer: PeerId::of_rank(rank), context }
    }

    #[test]
    fn they_are_the_same_however_they_are_kept() {
        let range: Vec<_> = (3..8).map(|rank| address(rank, 7)).collect();
        let [mut order, mut contexts] = [range.clone(), range.clone()];
        order.swap(1, 2);
        contexts[4].context = 8;
        for (all, is_range) in [(range, true), (order, false), (contexts, false), (Vec::new(), true)] {
            let kept: Addresses = all.iter().copied().collect();
            assert_eq!(matches!(kept.0, Kept::Range { .. }), is_range);
            assert_eq!(kept.iter().collect::<Vec<_>>(), all);
            assert_eq!((kept.len(), kept.is_empty()), (all.len(), all.is_empty()));
            assert!((0..all.len() + 2).all(|rank| kept.get(rank) == all.get(rank).copied()));
            assert!(all.iter().zip(0..).all(|(&at, rank)| kept.rank_of(at) == Some(rank)));
            assert_eq!(kept.rank_of(address(9, 7)), None);
        }
    }
}
