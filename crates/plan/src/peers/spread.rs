//! Spreading: what every rank of one group has goes to every rank of another one.
//!
//! A rank of the taking group gets it from the rank of the giving group with its own number, as far as there
//! are such ranks. Those who have it pass it on in their own group, and are twice as many after each round:
//! with `g` givers and `t` takers that makes `1 + ceil(log2(t/g))` rounds.

use crate::Peer;

/// From whom taker `rank` gets it.
pub(crate) fn parent(rank: u32, givers: u32) -> Peer {
    if rank < givers {
        return Peer::Remote(rank);
    }
    let doublings = (rank / givers).ilog2();
    Peer::Local(rank - (givers << doublings))
}

/// To which of the `takers` taker `rank` passes it on; the first has the most to do with it.
pub(crate) fn children(rank: u32, givers: u32, takers: u32) -> impl Iterator<Item = u32> {
    let known = (0..u32::BITS).map(move |doublings| u64::from(givers) << doublings);
    known
        .skip_while(move |&known| known <= u64::from(rank))
        .map(move |known| u64::from(rank) + known)
        .take_while(move |&child| child < u64::from(takers))
        .map(|child| child as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_name_their_parent_and_every_taker_has_one() {
        for givers in 1..=20 {
            for takers in 1..=70 {
                let mut fed = takers.min(givers);
                for rank in 0..takers {
                    assert_eq!(rank < givers, parent(rank, givers) == Peer::Remote(rank));
                    for child in children(rank, givers, takers) {
                        assert_eq!(parent(child, givers), Peer::Local(rank));
                        fed += 1;
                    }
                }
                assert_eq!(fed, takers, "{givers} givers");
            }
        }
    }
}
