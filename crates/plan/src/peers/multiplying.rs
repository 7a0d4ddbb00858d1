//! Recursive multiplying for any number of ranks: in each round groups of a few places exchange what they have.
//!
//! The number of places is the largest one, not above that of the ranks, without a prime factor above 7; it is written
//! as a product of radices. The few ranks beyond it are folded: with `surplus` of them, each of the first `surplus`
//! pairs `(2i, 2i+1)` is one place, for which the odd rank acts. Places are in the order of ranks, and after the rounds
//! with radices `r`, `s`, ... a place knows of an aligned block of `r s ...` places: so operands can be kept in order.

/// What a rank does.
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
        /// The actors of its group in each round, itself among them, in order.
        groups: Vec<Vec<u32>>,
    },
}

/// The radices of the rounds of `ranks` ranks, in their order; their product is the number of places.
pub(crate) fn radices(ranks: u32) -> Vec<u32> {
    let factors = |mut places: u32| {
        let mut factors = Vec::new();
        for radix in [4, 7, 5, 3, 2] {
            while places.is_multiple_of(radix) {
                factors.push(radix);
                places /= radix;
            }
        }
        (places == 1).then_some(factors)
    };
    (1..=ranks).rev().find_map(factors).unwrap_or_default()
}

/// The role of `rank` among `ranks`.
pub(crate) fn role(rank: u32, ranks: u32) -> Role {
    let radices = radices(ranks);
    let surplus = ranks - radices.iter().product::<u32>();
    if rank < 2 * surplus && rank.is_multiple_of(2) {
        return Role::Folded { actor: rank + 1 };
    }
    let is_pair = rank < 2 * surplus;
    let place = if is_pair { rank / 2 } else { rank - surplus };
    let actor = |place: u32| if place < surplus { 2 * place + 1 } else { place + surplus };
    let mut weight = 1;
    let mut groups = Vec::new();
    for radix in radices {
        let first = place - place / weight % radix * weight;
        groups.push((0..radix).map(|digit| actor(first + digit * weight)).collect());
        weight *= radix;
    }
    Role::Actor { folded: is_pair.then(|| rank - 1), groups }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_ranks_are_folded() {
        for ranks in 1..=1000u32 {
            let places: u32 = radices(ranks).iter().product();
            assert!(places <= ranks && ranks - places <= ranks / 6, "{places} places of {ranks}");
        }
        assert_eq!(radices(64), [4, 4, 4]);
        assert_eq!(radices(13), [4, 3]);
    }

    #[test]
    fn groups_are_the_same_to_all_and_grow_to_all_ranks() {
        for ranks in 1..=60u32 {
            let mut known: Vec<u64> = (0..ranks).map(|rank| 1 << rank).collect();
            for rank in 0..ranks {
                if let Role::Folded { actor } = role(rank, ranks) {
                    known[actor as usize] |= known[rank as usize];
                }
            }
            for round in 0..radices(ranks).len() {
                let before = known.clone();
                for rank in 0..ranks {
                    let Role::Actor { groups, .. } = role(rank, ranks) else { continue };
                    assert!(groups[round].contains(&rank) && groups[round].is_sorted());
                    for &peer in &groups[round] {
                        let Role::Actor { groups: theirs, .. } = role(peer, ranks) else { panic!("{peer}") };
                        assert_eq!(theirs[round], groups[round]);
                        known[rank as usize] |= before[peer as usize];
                    }
                }
            }
            for rank in 0..ranks {
                let is_actor = matches!(role(rank, ranks), Role::Actor { .. });
                assert!(!is_actor || known[rank as usize] == (1 << ranks) - 1, "{ranks} ranks");
            }
        }
    }
}
