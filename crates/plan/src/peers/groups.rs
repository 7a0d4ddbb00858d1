//! Two groups whose ranks are counted through: those of the second one follow those of the first.

use crate::Peer;

/// Whom `rank` means by `peer`, with `first` ranks in the first group and `ranks` in both; `None` if there is
/// nobody. With one group, it is the first.
pub(crate) fn counted_through(first: u32, ranks: u32, rank: u32, peer: Peer) -> Option<u32> {
    let both = [0..first, first..ranks];
    let own = usize::from(rank >= first);
    match peer {
        Peer::Local(index) => both[own].clone().nth(index as usize),
        Peer::Remote(index) => both[1 - own].clone().nth(index as usize),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_counts_from_zero_and_nobody_is_behind_the_last() {
        let of = |rank, peer| counted_through(3, 5, rank, peer);
        assert_eq!(of(0, Peer::Local(2)), Some(2));
        assert_eq!(of(0, Peer::Remote(0)), Some(3));
        assert_eq!(of(4, Peer::Local(1)), Some(4));
        assert_eq!(of(4, Peer::Remote(2)), Some(2));
        assert_eq!(of(4, Peer::Local(2)), None);
        assert_eq!(of(4, Peer::Remote(3)), None);
        assert_eq!(counted_through(3, 3, 0, Peer::Remote(0)), None);
    }
}
