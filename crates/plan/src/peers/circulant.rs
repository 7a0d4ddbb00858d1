//! Circulant graphs with skips by halving, and who passes on which block in which round: so that a root's `n` blocks
//! reach `p` places in `n - 1 + ceil(log2 p)` rounds, in each of which everybody sends and receives at most one.
//!
//! With `q = ceil(log2 p)`, in round `i` a place sends to the one [`skips`]`[i mod q]` above it. In `q` rounds the root
//! sends `q` new blocks, one after the other, and any other place receives one of these, its *base*, and of the `q`
//! before them all but its base, which it has. Träff: Optimal Broadcast Schedules in Logarithmic Time with
//! Applications to Broadcast, All-Broadcast, Reduction and All-Reduction (2024).

use crate::peers::ring;

/// `p` halved, rounding up, until that is 1: in ascending order, `p` itself at the end.
pub(crate) fn skips(places: u32) -> Vec<u32> {
    let halves = std::iter::successors(Some(places), |skip| (*skip > 1).then(|| skip.div_ceil(2)));
    let mut skips: Vec<u32> = halves.collect();
    skips.reverse();
    skips
}

/// What a place does in each of as many rounds as there are skips below `p`; then it begins again with the next blocks.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// The block that it receives, counted from the first one that the root sends in these rounds, and from where.
    /// The root receives none.
    pub(crate) receives: Vec<Option<(i64, u32)>>,
    /// The same of what it sends, and to whom. Nobody sends to the root.
    pub(crate) sends: Vec<Option<(i64, u32)>>,
}

impl Schedule {
    /// That of a place; the root has place 0.
    pub(crate) fn new(place: u32, places: u32) -> Self {
        let skips = skips(places);
        let rounds = 0..skips.len() - 1;
        let received = received(place, &skips);
        let receive = |round: usize| Some((received[round], ring::before(place, skips[round], places)));
        let send = |round: usize| {
            let to = ring::after(place, skips[round], places);
            (to > 0).then(|| (self::received(to, &skips)[round], to))
        };
        Self {
            receives: rounds.clone().map(|round| if place > 0 { receive(round) } else { None }).collect(),
            sends: rounds.map(send).collect(),
        }
    }
}

/// Of a block of a [`Schedule`] of so many rounds: which of its turn it is, and how many turns after that it is sent.
pub(crate) fn block_of(number: i64, rounds: u32) -> (u32, u32) {
    (number.rem_euclid(rounds.into()) as u32, u32::from(number < 0))
}

/// The block that a place other than the root receives in each round.
fn received(place: u32, skips: &[u32]) -> Vec<i64> {
    let rounds = skips.len() - 1;
    let base = base(place, skips);
    let from = u64::from(place) + u64::from(skips[rounds]);
    let open = (u64::MAX >> (63 - rounds)) & !(1 << base);
    let mut search = Search { skips, from, open, found: Vec::with_capacity(rounds) };
    search.descend(0, u64::MAX, rounds);
    let block = |index| if index == rounds { base as i64 } else { index as i64 - rounds as i64 };
    search.found.into_iter().map(block).collect()
}

/// The least skip of which a place is the sum, where the greatest ones that fit are taken first; of the root, `p`.
fn base(place: u32, skips: &[u32]) -> usize {
    let mut rest = place;
    for (index, &skip) in skips.iter().enumerate().rev() {
        if skip == rest {
            return index;
        }
        rest -= if skip < rest { skip } else { 0 };
    }
    skips.len() - 1
}

/// Finds for each round `k` a base that the place may be sent from `skips[k]` below: the last skip of the greatest sum
/// up to there, and below what was found before, of skips that are none of those bases. The place is seen from the
/// root before it, from which the skip `p` leads to the root.
struct Search<'a> {
    skips: &'a [u32],
    from: u64,
    /// A bit for each skip that no round has yet.
    open: u64,
    found: Vec<usize>,
}

impl Search<'_> {
    /// The highest sum that may be sent from in a round.
    fn limit(&self, round: usize) -> u64 {
        self.from - u64::from(self.skips[round])
    }

    fn is_over(&self) -> bool {
        self.found.len() == self.skips.len() - 1
    }

    /// Goes on from a sum with skips up to the `highest`, to sums below one that was found before.
    fn descend(&mut self, sum: u64, mut below: u64, highest: usize) {
        for index in (0..=highest).rev() {
            if self.is_over() {
                return;
            }
            let longer = sum + u64::from(self.skips[index]);
            let is_open = self.open >> index & 1 == 1;
            if !is_open || longer > self.limit(self.found.len()) || longer >= below {
                continue;
            }
            if longer <= self.limit(self.found.len() + 1) {
                self.descend(longer, below, index);
            }
            // What is left of this sum serves a later round than the next.
            if self.is_over() || sum > self.limit(self.found.len() + 1) {
                return;
            }
            below = longer;
            self.found.push(index);
            self.open &= !(1 << index);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// What is received comes from who has it: in an earlier one of these rounds, or as his base in those before.
    fn check(place: u32, places: u32, skips: &[u32]) {
        let rounds = skips.len() - 1;
        let [mine, base] = [received(place, skips), vec![base(place, skips) as i64]];
        let blocks: BTreeSet<i64> = mine.iter().copied().collect();
        let old = (-(rounds as i64)..0).filter(|block| block + rounds as i64 != base[0]);
        assert_eq!(blocks, old.chain(base.iter().copied()).collect(), "{place} of {places}");
        for (round, &block) in mine.iter().enumerate() {
            let from = ring::before(place, skips[round], places);
            let has = if from == 0 {
                block == round as i64
            } else {
                let base = super::base(from, skips) as i64 - rounds as i64;
                block == base || received(from, skips)[..round].contains(&block)
            };
            assert!(has, "{place} of {places} in round {round}: {block} from {from}");
        }
    }

    #[test]
    fn everybody_is_sent_what_the_sender_has_and_each_block_once() {
        for places in 2..=300 {
            let skips = skips(places);
            (1..places).for_each(|place| check(place, places, &skips));
        }
        for places in [1000, 1025, 65_535, 1_000_003, 1 << 20, u32::MAX] {
            let skips = skips(places);
            (1..200u64).for_each(|part| check((u64::from(places - 1) * part / 199) as u32, places, &skips));
        }
    }

    #[test]
    fn there_are_as_few_rounds_as_can_be() {
        for places in 1..=64u32 {
            assert_eq!(skips(places).len() - 1, places.next_power_of_two().ilog2() as usize);
        }
        assert_eq!(skips(17), [1, 2, 3, 5, 9, 17]);
    }

    #[test]
    fn who_sends_and_who_receives_agree() {
        for places in 2..=64 {
            let all: Vec<_> = (0..places).map(|place| Schedule::new(place, places)).collect();
            for (place, schedule) in (0..).zip(&all) {
                for (round, sent) in schedule.sends.iter().enumerate() {
                    if let &Some((block, to)) = sent {
                        assert_eq!(all[to as usize].receives[round], Some((block, place)));
                    }
                }
            }
        }
    }
}
