//! A ring: every rank sends to the next one and receives from the one before.

/// The rank `distance` after `rank`.
pub(crate) fn after(rank: u32, distance: u32, ranks: u32) -> u32 {
    ((u64::from(rank) + u64::from(distance)) % u64::from(ranks)) as u32
}

/// The rank `distance` before `rank`.
pub(crate) fn before(rank: u32, distance: u32, ranks: u32) -> u32 {
    after(rank, ranks - distance % ranks, ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_undoes_after() {
        for ranks in 1..20 {
            for rank in 0..ranks {
                for distance in 0..2 * ranks {
                    assert_eq!(before(after(rank, distance, ranks), distance, ranks), rank);
                }
            }
        }
    }
}
