//! Runs: consecutive ranks in a row of ranks, so that what lies side by side is moved at once.

/// A run: of `count` ranks that begin with `first`, and stand at `index` in the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) first: u32,
    pub(crate) index: u32,
    pub(crate) count: u32,
}

/// The runs of a row.
pub(crate) fn of(row: impl IntoIterator<Item = u32>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (index, rank) in (0..).zip(row) {
        match runs.last_mut() {
            Some(run) if run.first + run.count == rank => run.count += 1,
            _ => runs.push(Run { first: rank, index, count: 1 }),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_as_long_as_they_can_be() {
        let run = |first, index, count| Run { first, index, count };
        assert_eq!(of([3, 4, 5, 0, 2]), [run(3, 0, 3), run(0, 3, 1), run(2, 4, 1)]);
        assert_eq!(of([]), []);
    }
}
