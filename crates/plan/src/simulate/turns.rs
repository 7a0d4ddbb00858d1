//! Cores that the ranks of a node share: who has one, who could go on, and what it takes until one has changed hands.
//!
//! A rank keeps its core as long as it has something to do, so it does all that it can at once. Then the next one in
//! the ring of its core has it that can go on; those in between look in vain.

/// The cores of the nodes that are walked.
pub(super) struct Turns {
    cores: Vec<Core>,
    /// Cores of a node.
    on_node: u32,
    /// The most ranks of a node.
    ranks: u32,
}

#[derive(Default)]
struct Core {
    /// Who has it now.
    holder: Option<u32>,
    /// Who had it last.
    last: Option<Claim>,
    /// Those who could go on.
    queue: Vec<Claim>,
}

/// A rank, and where it takes its turns.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub(super) rank: u32,
    core: usize,
    turn: u32,
    /// How many take turns there.
    ring: u32,
}

/// Who gets a core from whom, which takes so many steps around its ring.
#[derive(Clone, Copy)]
pub(super) struct Handover {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) steps: u32,
}

/// What came of asking for a core.
pub(super) enum Turn {
    /// It is another one's for the time being.
    Later,
    /// It is here, now or since before.
    Now(Option<Handover>),
}

impl Turns {
    /// Of nodes with so many cores and ranks each.
    pub(super) fn new(nodes: usize, cores: u32, ranks: u32) -> Self {
        let all = (0..nodes * cores as usize).map(|_| Core::default());
        Self { cores: all.collect(), on_node: cores, ranks }
    }

    /// Of the rank at `place` of `node`: neighbours are on different cores.
    pub(super) fn claim(&self, rank: u32, node: usize, place: u32) -> Claim {
        let core = place % self.on_node;
        let ring = self.ranks.saturating_sub(core).div_ceil(self.on_node);
        let core = node * self.on_node as usize + core as usize;
        Claim { rank, core, turn: place / self.on_node, ring }
    }

    /// Asks for the core of `claim`.
    pub(super) fn take(&mut self, claim: Claim) -> Turn {
        let core = &mut self.cores[claim.core];
        match core.holder {
            Some(holder) if holder == claim.rank => Turn::Now(None),
            Some(_) => {
                core.queue.push(claim);
                Turn::Later
            }
            None => {
                core.holder = Some(claim.rank);
                Turn::Now(core.last.and_then(|last| last.handover_to(claim)))
            }
        }
    }

    /// Leaves the core of `claim` to the next one who could go on.
    pub(super) fn leave(&mut self, claim: Claim) -> Option<Handover> {
        let core = &self.cores[claim.core];
        assert_eq!(core.holder, Some(claim.rank), "who leaves a core has it");
        let next = (0..core.queue.len()).min_by_key(|&index| claim.steps_to(core.queue[index]));
        let core = &mut self.cores[claim.core];
        core.last = Some(claim);
        let next = next.map(|index| core.queue.swap_remove(index));
        core.holder = next.map(|next| next.rank);
        claim.handover_to(next?)
    }
}

impl Claim {
    fn handover_to(self, next: Self) -> Option<Handover> {
        let steps = self.steps_to(next);
        (self.rank != next.rank).then_some(Handover { from: self.rank, to: next.rank, steps })
    }

    /// Steps around the ring to another one of the same core.
    fn steps_to(self, next: Self) -> u32 {
        (next.turn + self.ring - self.turn) % self.ring
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_there_is_not_passed_over() {
        // Of five ranks 0, 2 and 4 take turns on one core, and 1 and 3 on the other.
        let mut turns = Turns::new(1, 2, 5);
        let claims = [0, 1, 2, 3, 4].map(|place| turns.claim(place, 0, place));
        let mut steps = |from: usize, to: usize| {
            let [from, to] = [claims[from], claims[to]];
            assert!(matches!(turns.take(from), Turn::Now(_)));
            assert!(matches!(turns.take(to), Turn::Later));
            let steps = turns.leave(from).map(|handover| handover.steps);
            assert!(turns.leave(to).is_none(), "nobody else waits");
            steps
        };
        assert_eq!([steps(0, 2), steps(0, 4), steps(4, 0)], [Some(1), Some(2), Some(1)]);
        assert_eq!([steps(1, 3), steps(3, 1)], [Some(1), Some(1)]);
    }
}
