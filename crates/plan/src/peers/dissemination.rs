//! Dissemination: in round `i` a rank tells those `j k^i` above it, `0 < j < k`, and hears from those as far below it.
//!
//! After `ceil(log_k p)` rounds everybody has heard of everybody, for any number of ranks `p` and any radix `k`.

/// How far those are whom a rank tells in each round.
pub(crate) fn distances(radix: u32, ranks: u32) -> impl Iterator<Item = Vec<u32>> {
    let weights = std::iter::successors(Some(1u32), move |weight| weight.checked_mul(radix));
    weights.take_while(move |&weight| weight < ranks).map(move |weight| {
        let multiples = (1..radix).map_while(move |digit| weight.checked_mul(digit));
        multiples.take_while(|&distance| distance < ranks).collect()
    })
}

/// The radix with which rounds and messages cost the least together between nodes, where `sharing` ranks of each send
/// at a time, through one port.
pub(crate) fn radix(ranks: u32, sharing: u32) -> u32 {
    let message = u64::from(sharing.max(MESSAGE));
    let effort = |round: Vec<u32>| ROUND + round.len() as u64 * message;
    (2..=HIGHEST)
        .min_by_key(|&radix| distances(radix, ranks).map(effort).sum::<u64>())
        .expect("there are some")
}

/// What a message costs a rank's core, where it occupies the port of a node for 1. That fabrics differ in this does
/// little harm: neighbouring radices cost nearly the same.
const MESSAGE: u32 = 5;

/// What a round costs beside that.
const ROUND: u64 = 35;

/// With more, a rank would still be sending when the first message arrives.
const HIGHEST: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::ring;

    #[test]
    fn everybody_hears_of_everybody_in_as_few_rounds_as_a_radix_allows() {
        for radix in 2..=9 {
            for ranks in 1..=64 {
                let mut heard: Vec<u64> = (0..ranks).map(|rank| 1 << rank).collect();
                let (mut rounds, mut reach) = (0, 1);
                for round in distances(radix, ranks) {
                    assert!(round.len() < radix as usize);
                    let before = heard.clone();
                    for rank in 0..ranks {
                        for &distance in &round {
                            heard[rank as usize] |= before[ring::before(rank, distance, ranks) as usize];
                        }
                    }
                    assert!(reach < ranks, "round {rounds} is one too many");
                    (rounds, reach) = (rounds + 1, reach * radix);
                }
                assert!(reach >= ranks, "{rounds} rounds");
                assert!(heard.iter().all(|&set| set == u64::MAX >> (64 - ranks)), "{ranks} ranks");
            }
        }
        assert_eq!(distances(2, u32::MAX).count(), 32);
        assert_eq!(distances(7, u32::MAX).count(), 12);
    }

    #[test]
    fn few_ranks_tell_all_at_once_and_many_take_several_rounds() {
        let radices = [2, 3, 8, 9, 16, 64, 1000].map(|ranks| radix(ranks, 1));
        assert_eq!(radices, [2, 3, 8, 3, 4, 8, 6]);
        assert_eq!([8, 16, 64].map(|sharing| radix(64, sharing)), [4, 4, 2]);
    }
}
