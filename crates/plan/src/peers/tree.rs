//! k-nomial trees: the parent of a rank is the rank with its lowest nonzero digit, to base `k`, cleared.
//!
//! The subtree of a rank is a range of ranks that begins with it, and the subtrees of its children follow
//! each other in order: so a reduction up the tree keeps operands in the order of ranks. The depth is
//! `log_k p`, and no rank has more than `(k - 1) log_k p` children. With `k = 2` these are binomial trees.

/// The parent of `rank`; rank 0 has none.
pub(crate) fn parent(rank: u32, arity: u32) -> Option<u32> {
    if rank == 0 {
        return None;
    }
    let mut place = 1;
    while (rank / place).is_multiple_of(arity) {
        place *= arity;
    }
    Some(rank - rank / place % arity * place)
}

/// The children of `rank` in a tree of `ranks`, in ascending order; the last has the largest subtree.
pub(crate) fn children(rank: u32, arity: u32, ranks: u32) -> Vec<u32> {
    let mut children = Vec::new();
    let mut place = 1u64;
    while place < u64::from(ranks) && (u64::from(rank) / place).is_multiple_of(u64::from(arity)) {
        let candidates = (1..u64::from(arity)).map(|digit| u64::from(rank) + digit * place);
        children.extend(candidates.filter(|&child| child < u64::from(ranks)).map(|child| child as u32));
        place *= u64::from(arity);
    }
    children
}

/// One past the last rank of the subtree of `rank`.
pub(crate) fn subtree_end(rank: u32, arity: u32, ranks: u32) -> u32 {
    let mut place = 1u64;
    while place < u64::from(ranks) && (u64::from(rank) / place).is_multiple_of(u64::from(arity)) {
        place *= u64::from(arity);
    }
    (u64::from(rank) + place).min(ranks.into()) as u32
}

/// The number of levels below rank 0.
pub(crate) fn depth(arity: u32, ranks: u32) -> u32 {
    let mut depth = 0;
    let mut reached = 1u64;
    while reached < u64::from(ranks) {
        reached *= u64::from(arity);
        depth += 1;
    }
    depth
}

/// The number of children of rank 0, which has the most.
pub(crate) fn most_children(arity: u32, ranks: u32) -> u32 {
    let mut children = 0;
    let mut reached = 1u64;
    while reached < u64::from(ranks) {
        children += u64::from(arity - 1).min((u64::from(ranks) - 1) / reached);
        reached *= u64::from(arity);
    }
    children as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_name_their_parent_and_every_rank_has_one() {
        for arity in 2..=8 {
            for ranks in 1..=70 {
                let mut seen = 0;
                for rank in 0..ranks {
                    for child in children(rank, arity, ranks) {
                        assert_eq!(parent(child, arity), Some(rank), "base {arity}");
                        seen += 1;
                    }
                }
                assert_eq!(seen, ranks - 1, "base {arity}, {ranks} ranks");
                assert_eq!(children(0, arity, ranks).len() as u32, most_children(arity, ranks));
            }
        }
    }

    #[test]
    fn subtrees_of_children_follow_each_other() {
        for arity in 2..=8 {
            for ranks in 1..=70 {
                for rank in 0..ranks {
                    let mut next = rank + 1;
                    for child in children(rank, arity, ranks) {
                        assert_eq!(child, next);
                        next = subtree_end(child, arity, ranks);
                    }
                    assert_eq!(subtree_end(rank, arity, ranks), next, "base {arity}, {ranks} ranks");
                }
                assert_eq!(subtree_end(0, arity, ranks), ranks);
            }
        }
    }
}
