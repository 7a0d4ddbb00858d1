//! The numbers that the lines of a channel show: a run's are the segments of a plan, behind those of the run before.
//!
//! After 2^40 runs, which a loop of short calls makes in two days, they begin anew. No line shows another run than the
//! one for which it is looked at, or an earlier one: who posts waits until all have completed what it held before.

use oxmpi_shm::Line;

/// Plans have fewer segments.
pub(super) const MOST_SEGMENTS: u64 = 1 << 23;

/// Twice as many, so that what shows nothing yet shows nothing that could be waited for.
const NUMBERS_PER_RUN: u64 = 2 * MOST_SEGMENTS;

/// What a line shows once a segment of a run has been posted.
#[inline]
pub(super) fn sequence_of(run: u64, segment: u64) -> u64 {
    run.wrapping_mul(NUMBERS_PER_RUN) + segment + 1
}

/// Whether a line shows this, or a later segment of the same run.
#[inline]
pub(super) fn is_shown(line: &Line, sequence: u64) -> bool {
    is_reached(line.sequence(), sequence)
}

#[inline]
fn is_reached(shown: u64, sequence: u64) -> bool {
    shown.wrapping_sub(sequence) < MOST_SEGMENTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_from_those_before_it_however_many_there_were() {
        let last = MOST_SEGMENTS - 1;
        for run in [1, 7, (1 << 39) - 1, 1 << 39, (1 << 40) - 1, 1 << 40, (1 << 40) + 1, 5 << 41] {
            for segment in [0, 1, last] {
                let sequence = sequence_of(run, segment);
                assert!(is_reached(sequence_of(run, segment), sequence), "{run}");
                assert!(is_reached(sequence_of(run, last), sequence), "{run}");
                assert!(segment == 0 || !is_reached(sequence_of(run, segment - 1), sequence), "{run}");
                for before in [1, 2, 64, 1 << 30].into_iter().filter(|&before| before <= run) {
                    assert!(!is_reached(sequence_of(run - before, last), sequence), "{run} after {before}");
                }
            }
            assert!(!is_reached(0, sequence_of(run, 0)), "nothing was posted yet, in run {run}");
        }
    }
}
