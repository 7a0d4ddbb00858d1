//! Which jobs end together: those that are connected by MPI.
//!
//! A job that fails ends the jobs that are connected with it, directly or through others. A spawned job ends with its
//! parent from the beginning, but the parent with it only when it is told no more by its broker how the job fares:
//! until then it is not connected yet, and may do better without.
//! MPI-5.0: Process Initialization, Creation, and Management, Connectivity.

use crate::crew::Crew;

/// The jobs that end with the one at `failed`, without itself.
pub fn ended_with(crews: &[Crew], failed: usize) -> Vec<usize> {
    reached(crews.len(), failed, |from, to| ends(&crews[from], &crews[to]))
}

/// Whether the failure of a job ends another one at once.
fn ends(failed: &Crew, other: &Crew) -> bool {
    let is_parent = failed.origin.parent() == Some(other.id()) && !failed.origin.is_watched();
    is_parent || other.origin.parent() == Some(failed.id())
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
    fn connections_reach_through_others_and_no_further() {
        let steps = [(0, 2), (2, 1), (1, 2), (4, 0), (3, 4)];
        let from = |first| reached(5, first, |from, to| steps.contains(&(from, to)));
        assert_eq!(from(0), [2, 1]);
        assert_eq!(from(1), [2]);
        assert_eq!(from(3), [4, 0, 2, 1]);
        assert_eq!(reached(1, 0, |_, _| true), [0; 0]);
    }
}
