//! Doubling distances along a row: in round `k` a rank turns to those `2^k` above and below it, as far as there
//! are such ranks.

/// In each round, the rank above and the rank below, until there is neither.
pub(crate) fn rounds(rank: u32, ranks: u32) -> impl Iterator<Item = (Option<u32>, Option<u32>)> {
    let distances = (0..u32::BITS).map(|round| 1u32 << round);
    distances
        .map(move |distance| {
            let above = rank.checked_add(distance).filter(|&above| above < ranks);
            (above, rank.checked_sub(distance))
        })
        .take_while(|round| *round != (None, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_one_finds_above_finds_one_below_in_the_same_round() {
        for ranks in 1..=40 {
            for rank in 0..ranks {
                for (round, (above, below)) in rounds(rank, ranks).enumerate() {
                    let of = |peer| rounds(peer, ranks).nth(round).expect("it has this round too");
                    assert!(above.is_none_or(|above| of(above).1 == Some(rank)));
                    assert!(below.is_none_or(|below| of(below).0 == Some(rank)));
                }
            }
        }
    }

    #[test]
    fn ranges_that_end_with_a_rank_double_until_they_begin_with_the_first() {
        for ranks in 1..=40 {
            let mut lengths = vec![1; ranks as usize];
            for round in 0..u32::BITS {
                let before = lengths.clone();
                for rank in 0..ranks {
                    if let Some((_, Some(below))) = rounds(rank, ranks).nth(round as usize) {
                        lengths[rank as usize] += before[below as usize];
                    }
                }
            }
            assert!(lengths.into_iter().eq(1..=ranks), "{ranks} ranks");
        }
    }
}
