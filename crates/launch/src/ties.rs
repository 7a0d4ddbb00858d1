//! Which jobs end together: those that are connected by MPI.
//!
//! A job that fails ends the jobs that are connected with it, directly or through others. Which those are, the ranks
//! show on their state pages from the first communicator with another job to the end of the last one; what a rank has
//! shown last is still to be seen when it has died. A job that is not connected yet with who has spawned it is a matter
//! of its birth: its end is told, and it ends when nobody wants to hear of it.
//! MPI-5.0: Process Initialization, Creation, and Management, Connectivity.

use std::collections::BTreeSet;

use oxmpi_shm::Phase;

use crate::crew::Crew;

/// The jobs that end with the one at `failed`, without itself.
pub fn ended_with(crews: &[Crew], failed: usize) -> Vec<usize> {
    let shown: Vec<Shown> = crews.iter().map(Shown::by).collect();
    reached(crews.len(), failed, |from, to| are_tied(&shown[from], &shown[to]))
}

/// What the ranks of a job show.
#[derive(Debug, Default)]
struct Shown {
    id: u64,
    parent: Option<u64>,
    jobs: BTreeSet<u64>,
    /// There are jobs besides: ranks show a few only.
    has_more: bool,
}

impl Shown {
    fn by(crew: &Crew) -> Self {
        let mut shown = Self { id: crew.id(), parent: crew.origin.parent(), ..Self::default() };
        for page in (0..crew.ranks.len()).map(|rank| crew.segment.state(rank)) {
            if page.phase() != Phase::Finalized {
                let ties = page.ties();
                shown.jobs.extend(ties.jobs);
                shown.has_more |= ties.more != 0;
            }
        }
        shown
    }
}

/// Whether two jobs are connected: one rank that shows it is enough. Where on both sides not all is shown, relatives
/// are believed to be.
fn are_tied(one: &Shown, other: &Shown) -> bool {
    let are_related = one.parent == Some(other.id) || other.parent == Some(one.id);
    one.jobs.contains(&other.id)
        || other.jobs.contains(&one.id)
        || are_related && one.has_more && other.has_more
}

/// What is reached from `first` in any number of steps, in the order in which it is.
fn reached(count: usize, first: usize, is_step: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut found = vec![first];
    let mut next = 0;
    while let Some(&from) = found.get(next) {
        let new: Vec<usize> = (0..count).filter(|to| !found.contains(to) && is_step(from, *to)).collect();
        found.extend(new);
        next += 1;
    }
    found.split_off(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_side_that_shows_a_connection_is_enough_and_relatives_need_not_be_connected() {
        let parent = Shown { id: 1, ..Shown::default() };
        let child = Shown { id: 2, parent: Some(1), ..Shown::default() };
        assert!(!are_tied(&parent, &child));
        let tied = Shown { id: 1, jobs: [7, 2].into(), ..Shown::default() };
        assert!(are_tied(&tied, &child) && are_tied(&child, &tied));
        let [busy_parent, busy_child, busy] = [(1, None), (2, Some(1)), (3, None)]
            .map(|(id, parent)| Shown { id, parent, jobs: BTreeSet::new(), has_more: true });
        assert!(are_tied(&busy_parent, &busy_child) && !are_tied(&busy_child, &busy));
        assert!(!are_tied(&busy_parent, &child));
    }

    #[test]
    fn connections_reach_through_others_and_no_further() {
        let steps = [(0, 2), (2, 1), (1, 2), (4, 0), (3, 4)];
        let from = |first| reached(5, first, |from, to| steps.contains(&(from, to)));
        assert_eq!(from(0), [2, 1]);
        assert_eq!(from(1), [2]);
        assert_eq!(from(3), [4, 0, 2, 1]);
        assert_eq!(reached(1, 0, |_, _| true), [0; 0]);
    }
}
