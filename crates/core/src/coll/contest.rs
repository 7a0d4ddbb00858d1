//! Which of several algorithms is tried next, how often, and which one wins: pure arithmetic, the same on all ranks,
//! because all are told the same times.
//!
//! Each is run once to touch its memory, and a few times to see how long it takes. Then come some rounds, in each of
//! which all run as often as their share of the time that is left allows: so what the machine does meanwhile strikes
//! all alike. Who is far behind the best is tried no longer. The median of its rounds is what an algorithm takes.

/// The time that trying may take, in nanoseconds; or that of the first two rounds, if it is longer.
const BUDGET_NS: u64 = 50_000_000;
/// Rounds: the first only touches memory, the second only tells how long a run takes.
const ROUNDS: usize = 9;
/// Rounds that are not taken into account where there are others.
const FIRST_ROUNDS: usize = 2;
/// Runs of the second round.
const LOOKS: u64 = 3;
const MOST_RUNS: u64 = 10_000;
/// Who takes so many times as long as the best one is out.
const HOPELESS: f64 = 1.5;
/// What is estimated to be the best stays unless another one is so much better: less than that is chance.
const MARGIN: f64 = 0.97;

/// See the module.
#[derive(Debug)]
pub(super) struct Contest {
    candidates: Vec<Candidate>,
    round: usize,
    /// Whose turn it is.
    next: usize,
    elapsed_ns: u64,
}

#[derive(Clone, Debug, Default)]
struct Candidate {
    /// Nanoseconds of a run, by round.
    rounds_ns: Vec<f64>,
    is_out: bool,
}

/// Some runs of one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Batch {
    pub candidate: usize,
    pub runs: u64,
}

impl Contest {
    /// Of so many; the first is estimated to be the best.
    pub(super) fn new(candidates: usize) -> Self {
        Self { candidates: vec![Candidate::default(); candidates], round: 0, next: 0, elapsed_ns: 0 }
    }

    /// What is to be run next; nothing if it is decided.
    pub(super) fn next(&self) -> Option<Batch> {
        let alive = self.candidates.iter().filter(|candidate| !candidate.is_out).count() as u64;
        let is_late = self.elapsed_ns >= BUDGET_NS && self.round >= FIRST_ROUNDS;
        if self.round == ROUNDS || is_late || alive < 2 {
            return None;
        }
        let rounds = (ROUNDS - self.round.max(FIRST_ROUNDS)) as u64;
        let share_ns = BUDGET_NS.saturating_sub(self.elapsed_ns) / (alive * rounds);
        let before_ns = self.candidates[self.next].expected_ns();
        let runs = before_ns.map_or(1, |before| (share_ns as f64 / before.max(1.0)) as u64);
        let most = [1, LOOKS].get(self.round).copied().unwrap_or(MOST_RUNS);
        Some(Batch { candidate: self.next, runs: runs.clamp(1, most) })
    }

    /// Takes in how long a batch has taken where it took longest, when so much time had passed in all; nothing is
    /// known of one that has failed.
    pub(super) fn record(&mut self, batch: Batch, batch_ns: Option<u64>, elapsed_ns: u64) {
        let candidate = &mut self.candidates[batch.candidate];
        match batch_ns {
            Some(batch_ns) => candidate.rounds_ns.push(batch_ns as f64 / batch.runs as f64),
            None => {
                candidate.rounds_ns.clear();
                candidate.is_out = true;
            }
        }
        self.elapsed_ns = elapsed_ns;
        let is_in = |candidate: &Candidate| !candidate.is_out;
        let following = self.candidates.iter().skip(batch.candidate + 1).position(is_in);
        self.next = match following {
            Some(distance) => batch.candidate + 1 + distance,
            None => {
                self.round += 1;
                self.strike_out_the_hopeless();
                self.candidates.iter().position(is_in).unwrap_or(0)
            }
        };
    }

    /// The best one, and nanoseconds of a run of each, as far as they are known.
    pub(super) fn decide(&self) -> (usize, Vec<Option<f64>>) {
        let times: Vec<_> = self.candidates.iter().map(Candidate::median_ns).collect();
        let known = times.iter().enumerate().filter_map(|(index, time)| Some((index, (*time)?)));
        let best = known.min_by(|one, other| one.1.total_cmp(&other.1));
        let winner = match (best, times.first()) {
            (Some((_, best)), Some(&Some(estimated))) if best >= estimated * MARGIN => 0,
            (Some((index, _)), _) => index,
            (None, _) => 0,
        };
        (winner, times)
    }

    fn strike_out_the_hopeless(&mut self) {
        if self.round < FIRST_ROUNDS + 2 {
            return; // one round may have been disturbed
        }
        let medians = self.candidates.iter().filter_map(Candidate::median_ns);
        let limit = medians.fold(f64::INFINITY, f64::min) * HOPELESS;
        for candidate in &mut self.candidates {
            candidate.is_out |= candidate.rounds().iter().all(|&time| time > limit);
        }
    }
}

impl Candidate {
    /// The rounds that count.
    fn rounds(&self) -> &[f64] {
        match self.rounds_ns.len() {
            0 | 1 => &[],
            2 => &self.rounds_ns[1..],
            _ => &self.rounds_ns[FIRST_ROUNDS..],
        }
    }

    /// What a run should take, as far as any has told.
    fn expected_ns(&self) -> Option<f64> {
        self.median_ns().or(self.rounds_ns.last().copied())
    }

    fn median_ns(&self) -> Option<f64> {
        let mut rounds = self.rounds().to_vec();
        rounds.sort_by(f64::total_cmp);
        rounds.get(rounds.len().checked_sub(1)? / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Carries a contest out where batches take as long as `batch_ns` says; the winner, and the time it took.
    fn hold_by_batch(candidates: usize, mut batch_ns: impl FnMut(Batch) -> Option<f64>) -> (usize, f64) {
        let mut contest = Contest::new(candidates);
        let mut elapsed = 0.0;
        while let Some(batch) = contest.next() {
            let time = batch_ns(batch);
            elapsed += time.unwrap_or(1000.0) + 2000.0;
            contest.record(batch, time.map(|time| time as u64), elapsed as u64);
        }
        (contest.decide().0, elapsed)
    }

    /// The same where a run takes as long as `run_ns` says.
    fn hold(candidates: usize, mut run_ns: impl FnMut(usize) -> Option<f64>) -> (usize, f64) {
        hold_by_batch(candidates, |batch| run_ns(batch.candidate).map(|run| run * batch.runs as f64))
    }

    #[test]
    fn the_fastest_wins_and_the_estimate_holds_where_none_is_clearly_better() {
        assert_eq!(hold(3, |which| Some([900.0, 700.0, 5000.0][which])).0, 1);
        assert_eq!(hold(2, |which| Some([1000.0, 985.0][which])).0, 0);
        assert_eq!(hold(1, |_| Some(10.0)), (0, 0.0), "there is nothing to try");
        assert_eq!(hold(0, |_| Some(10.0)), (0, 0.0));
    }

    #[test]
    fn who_fails_is_out_even_if_it_was_the_estimate() {
        assert_eq!(hold(3, |which| [None, Some(300.0), Some(200.0)][which]).0, 2);
        assert_eq!(hold(2, |_| None).0, 0);
    }

    #[test]
    fn one_disturbed_batch_decides_nothing() {
        for disturbed in 1..15 {
            let mut batches = 0;
            let winner = hold_by_batch(2, |batch| {
                batches += 1;
                let disturbance = if batches == disturbed { 10e6 } else { 0.0 };
                Some([2000.0, 1000.0][batch.candidate] * batch.runs as f64 + disturbance)
            });
            assert_eq!(winner.0, 1, "batch {disturbed}");
        }
    }

    #[test]
    fn long_runs_are_tried_twice_and_no_more() {
        let (winner, elapsed) = hold(3, |which| Some([90e6, 60e6, 80e6][which]));
        assert_eq!(winner, 1);
        assert!(elapsed < 2.1 * 230e6, "{elapsed}");
    }

    proptest! {
        #[test]
        fn the_time_is_bounded_and_the_best_is_found(
            times in prop::collection::vec(100.0..1e6, 1..8),
            noise in prop::collection::vec(1.0..1.01, 32),
        ) {
            let mut turn = 0;
            let (winner, elapsed) = hold(times.len(), |which| {
                turn += 1;
                Some(times[which] * noise[turn % noise.len()])
            });
            let best = times.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!(times[winner] <= best * 1.06, "{times:?}: {winner}");
            let most = BUDGET_NS as f64 + times.iter().sum::<f64>() * 6.0;
            prop_assert!(elapsed <= most, "{elapsed} of {times:?}");
        }
    }
}
