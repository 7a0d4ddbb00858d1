//! Dissemination: in round `k` a rank tells the one `2^k` above it and hears from the one `2^k` below it.
//!
//! After `ceil(log2 p)` rounds everybody has heard of everybody, for any number of ranks.

/// Whom to tell, and from whom to hear, in each round.
pub(crate) fn rounds(rank: u32, ranks: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..u32::BITS).map(|round| 1u32 << round).take_while(move |&distance| distance < ranks).map(
        move |distance| {
            let to = (u64::from(rank) + u64::from(distance)) % u64::from(ranks);
            let from = (u64::from(rank) + u64::from(ranks) - u64::from(distance)) % u64::from(ranks);
            (to as u32, from as u32)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_hears_of_everybody() {
        for ranks in 1..=40 {
            let mut heard: Vec<u64> = (0..ranks).map(|rank| 1 << rank).collect();
            for round in 0..rounds(0, ranks).count() {
                let before = heard.clone();
                for rank in 0..ranks {
                    let (_, from) = rounds(rank, ranks).nth(round).expect("all ranks have the same rounds");
                    heard[rank as usize] |= before[from as usize];
                }
            }
            assert!(heard.iter().all(|&set| set == (1 << ranks) - 1), "{ranks} ranks");
        }
    }

    #[test]
    fn whom_one_tells_hears_it_in_the_same_round() {
        for ranks in 2..=40 {
            for rank in 0..ranks {
                for (round, (to, _)) in rounds(rank, ranks).enumerate() {
                    assert_eq!(rounds(to, ranks).nth(round).map(|(_, from)| from), Some(rank));
                }
            }
        }
    }
}
