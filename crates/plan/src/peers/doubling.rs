//! Recursive doubling for any number of ranks: the surplus over a power of two is folded into neighbours.
//!
//! With `p = 2^k + surplus`, each of the first `surplus` pairs `(2i, 2i+1)` is one *place*, for which the odd
//! rank acts; every other rank is a place of its own. Places are in the order of ranks, and after round `k` a
//! place knows of an aligned block of `2^(k+1)` places: so operands can be kept in the order of ranks.

/// What a rank does in recursive doubling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Gives its part to `actor` and gets the result from it.
    Folded {
        /// The next rank.
        actor: u32,
    },
    /// Exchanges with other actors, round by round.
    Actor {
        /// The rank below, which this one acts for as well.
        folded: Option<u32>,
        /// The peer of each round; a lower peer's operand is the left one.
        peers: Vec<u32>,
    },
}

/// The role of `rank` among `ranks`.
pub(crate) fn role(rank: u32, ranks: u32) -> Role {
    let places = 1u32 << ranks.ilog2();
    let surplus = ranks - places;
    if rank < 2 * surplus && rank.is_multiple_of(2) {
        return Role::Folded { actor: rank + 1 };
    }
    let is_pair = rank < 2 * surplus;
    let place = if is_pair { rank / 2 } else { rank - surplus };
    let peers = (0..places.ilog2())
        .map(|round| place ^ (1 << round))
        .map(|peer| if peer < surplus { 2 * peer + 1 } else { peer + surplus })
        .collect();
    Role::Actor { folded: is_pair.then(|| rank - 1), peers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_mutual_and_every_rank_is_known_in_the_end() {
        for ranks in 1..=40u32 {
            for rank in 0..ranks {
                match role(rank, ranks) {
                    Role::Folded { actor } => {
                        let Role::Actor { folded, .. } = role(actor, ranks) else {
                            panic!("{actor} is folded")
                        };
                        assert_eq!(folded, Some(rank));
                    }
                    Role::Actor { peers, .. } => {
                        for (round, peer) in peers.into_iter().enumerate() {
                            let Role::Actor { peers, .. } = role(peer, ranks) else {
                                panic!("{peer} is folded")
                            };
                            assert_eq!(peers[round], rank);
                        }
                    }
                }
            }
        }
    }
}
