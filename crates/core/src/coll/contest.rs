//! Which of several algorithms is tried next, how often, and which one wins: pure arithmetic, the same on all ranks,
//! because all are told the same times.
//!
//! Each is run once to touch its memory, and a few times to see how long it takes; then for a while, until what it
//! posts in, and the ways of its data, are as they will be for good. Then come rounds, in each of which all run one
//! after the other, in another order each time. What the machine does meanwhile, for milliseconds or for
//! good, strikes neighbours alike; so compared are times of the same round alone: what an algorithm takes of the best
//! one's time, and of that the median over the rounds. Who is slower than the best one in most rounds is tried no
//! longer, and leaves its time to those that are nearly as good; when there is one left it is over.

use oxmpi_base::order;

/// The time that trying may take, in nanoseconds; or that of the first two rounds, if it is longer.
const BUDGET_NS: u64 = 100_000_000;
/// Rounds that are not compared where there are others: the first only touches memory, the second only tells how long
/// a run takes, the third lets all settle.
const FIRST_ROUNDS: usize = 3;
/// How long they settle together. Memory that peers read rests from when 32 MiB were read of it, at some microseconds
/// for 16 KiB; until then a run that posts them takes three times as long.
const SETTLING_NS: u64 = 25_000_000;
const SETTLING: usize = FIRST_ROUNDS - 1;
/// Rounds in all.
const ROUNDS: usize = FIRST_ROUNDS + 15;
/// Runs of the second round.
const LOOKS: u64 = 3;
const MOST_RUNS: u64 = 10_000;
/// Who takes so many times as long as the best one is out after two rounds that are compared.
const HOPELESS: f64 = 1.5;
/// Who is slower in three quarters of so many rounds is out, too.
const ENOUGH: usize = 6;
/// What is estimated to be the best stays unless another one is so much better: less than that is chance.
const MARGIN: f64 = 0.97;

/// See the module.
#[derive(Debug)]
pub(super) struct Contest {
    candidates: Vec<Candidate>,
    round: usize,
    /// Who has yet to run in this round, the next one last.
    queue: Vec<usize>,
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
        let mut contest = Self {
            candidates: vec![Candidate::default(); candidates],
            round: 0,
            queue: Vec::new(),
            elapsed_ns: 0,
        };
        contest.queue = contest.order();
        contest
    }

    /// What is to be run next; nothing if it is decided.
    pub(super) fn next(&self) -> Option<Batch> {
        let alive = self.alive().count() as u64;
        if self.round == ROUNDS || alive < 2 {
            return None;
        }
        let candidate = *self.queue.last()?;
        let rounds = (ROUNDS - self.round.max(FIRST_ROUNDS)) as u64;
        let rest_ns = BUDGET_NS.saturating_sub(self.elapsed_ns);
        let share_ns = match self.round {
            // Beside a run of each.
            SETTLING => SETTLING_NS.min(rest_ns.saturating_sub(self.least_round_ns() as u64)) / alive,
            _ => rest_ns / (alive * rounds),
        };
        let before_ns = self.candidates[candidate].expected_ns();
        let runs = before_ns.map_or(1, |before| (share_ns as f64 / before.max(1.0)) as u64);
        let most = [1, LOOKS].get(self.round).copied().unwrap_or(MOST_RUNS);
        Some(Batch { candidate, runs: runs.clamp(1, most) })
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
        self.queue.pop();
        if self.queue.is_empty() {
            self.round += 1;
            self.strike_out();
            self.queue = self.order();
            let after_another_ns = elapsed_ns as f64 + self.least_round_ns();
            if self.round >= SETTLING && after_another_ns > BUDGET_NS as f64 {
                self.round = ROUNDS;
            }
        }
    }

    /// The best one, and nanoseconds of a run of each, as far as they are known.
    pub(super) fn decide(&self) -> (usize, Vec<Option<f64>>) {
        let times = self.candidates.iter().map(Candidate::median_ns).collect();
        let best = self.best().unwrap_or(0);
        let is_chance = self.candidates.first().is_some_and(|estimated| {
            !estimated.is_out && quantile(self.ratios(best, 0), 2).is_some_and(|ratio| ratio >= MARGIN)
        });
        (if is_chance { 0 } else { best }, times)
    }

    /// What a round takes in which each runs once.
    fn least_round_ns(&self) -> f64 {
        self.alive().filter_map(|index| self.candidates[index].expected_ns()).sum()
    }

    fn alive(&self) -> impl Iterator<Item = usize> {
        let alive = self.candidates.iter().enumerate().filter(|(_, candidate)| !candidate.is_out);
        alive.map(|(index, _)| index)
    }

    /// Who runs in this round, the first one last: each after others than before.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<_> = self.alive().collect();
        let turns = self.round / 2 % order.len().max(1);
        order.rotate_left(turns);
        if self.round.is_multiple_of(2) {
            order.reverse();
        }
        order
    }

    /// Who takes least of those that are in.
    fn best(&self) -> Option<usize> {
        // All that are in have run in the same rounds.
        let rounds = self.alive().map(|index| self.candidates[index].rounds().len()).min()?;
        let least = |round: usize| {
            self.alive().map(|index| self.candidates[index].rounds()[round]).fold(f64::INFINITY, f64::min)
        };
        let leasts: Vec<_> = (0..rounds).map(least).collect();
        let times_best = |index: &usize| {
            let times = self.candidates[*index].rounds().iter();
            quantile(times.zip(&leasts).map(|(time, least)| time / least), 2).unwrap_or(f64::INFINITY)
        };
        self.alive().min_by(|one, other| times_best(one).total_cmp(&times_best(other)))
    }

    /// What one takes of another one's time, by the rounds that both have run in.
    fn ratios(&self, one: usize, other: usize) -> impl Iterator<Item = f64> + Clone {
        let [one, other] = [one, other].map(|index| self.candidates[index].rounds().iter());
        one.zip(other).map(|(one, other)| one / other)
    }

    /// Strikes out who is slower than the best one, beyond doubt.
    fn strike_out(&mut self) {
        let (Some(best), Some(rounds)) = (self.best(), self.round.checked_sub(FIRST_ROUNDS)) else { return };
        if rounds < 2 {
            return; // one round may have been disturbed
        }
        let is_out = |&index: &usize| {
            let ratios = self.ratios(index, best);
            let is_hopeless = ratios.clone().all(|ratio| ratio > HOPELESS);
            let limit = if index == 0 { 1.0 / MARGIN } else { 1.0 };
            is_hopeless || rounds >= ENOUGH && quantile(ratios, 4).is_some_and(|ratio| ratio > limit)
        };
        for index in self.alive().filter(is_out).collect::<Vec<_>>() {
            self.candidates[index].is_out = true;
        }
    }
}

impl Candidate {
    /// The rounds that count.
    fn rounds(&self) -> &[f64] {
        // Where there was no time for more, the last one counts.
        let first = self.rounds_ns.len().saturating_sub(1).clamp(1, FIRST_ROUNDS);
        self.rounds_ns.get(first..).unwrap_or_default()
    }

    /// What a run should take, as far as any has told.
    fn expected_ns(&self) -> Option<f64> {
        self.median_ns().or(self.rounds_ns.last().copied())
    }

    fn median_ns(&self) -> Option<f64> {
        quantile(self.rounds().iter().copied(), 2)
    }
}

/// The value below which one part of so many lies: the median of 2, the lower quartile of 4.
fn quantile(values: impl Iterator<Item = f64>, parts: usize) -> Option<f64> {
    let mut values: Vec<_> = values.collect();
    order::numbers(&mut values);
    values.get(values.len().checked_sub(1)? / parts).copied()
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

    /// As those are that post in memory which has to be read for a while before it rests.
    #[test]
    fn who_needs_some_time_to_become_fast_is_found() {
        for slow_runs in [10, 300, 1000] {
            let mut runs = [0; 3];
            let winner = hold_by_batch(3, |Batch { candidate, runs: more }| {
                let slow = slow_runs.min(runs[candidate] + more).saturating_sub(runs[candidate]);
                runs[candidate] += more;
                let [slow_ns, fast_ns] = [[4000, 4000], [6000, 1500], [9000, 2500]][candidate];
                Some((slow * slow_ns + (more - slow) * fast_ns) as f64)
            });
            assert_eq!(winner.0, 1, "after {slow_runs} runs");
        }
    }

    #[test]
    fn who_fails_is_out_even_if_it_was_the_estimate() {
        assert_eq!(hold(3, |which| [None, Some(300.0), Some(200.0)][which]).0, 2);
        assert_eq!(hold(2, |_| None).0, 1, "of the other one nothing is known");
    }

    #[test]
    fn one_disturbed_batch_decides_nothing() {
        for candidates in 2..=5 {
            for disturbed in 1..=ROUNDS * candidates {
                let mut batches = 0;
                let winner = hold_by_batch(candidates, |batch| {
                    batches += 1;
                    let disturbance = if batches == disturbed { 10e6 } else { 0.0 };
                    // The last one is the best, and each one before takes a fifth longer.
                    let run = 1000.0 + 200.0 * (candidates - 1 - batch.candidate) as f64;
                    Some(run * batch.runs as f64 + disturbance)
                });
                assert_eq!(winner.0, candidates - 1, "batch {disturbed} of {candidates}");
            }
        }
    }

    /// What comes and goes, and lasts longer than a turn.
    #[test]
    fn what_the_machine_does_meanwhile_strikes_all_alike() {
        for length in 6..60 {
            let mut batches = 0;
            let winner = hold_by_batch(4, |batch| {
                batches += 1;
                let slow = if batches / length % 2 == 0 { 1.0 } else { 4.0 };
                Some([1000.0, 960.0, 850.0, 920.0][batch.candidate] * slow * batch.runs as f64)
            });
            assert_eq!(winner.0, 2, "{length} batches");
        }
    }

    #[test]
    fn each_runs_first_and_after_any_other() {
        let mut contest = Contest::new(3);
        let mut turns = Vec::new();
        while let Some(batch) = contest.next() {
            turns.push(batch.candidate);
            contest.record(batch, Some(1000 * batch.runs), 0);
        }
        assert_eq!(turns.len(), ROUNDS * 3);
        for (one, other) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            assert!(turns.windows(2).any(|pair| pair == [one, other]), "{one} before {other}");
            assert!(turns.chunks(3).any(|round| round[0] == one), "{one} is first");
        }
    }

    #[test]
    fn what_is_clear_takes_less_time() {
        let (winner, elapsed) = hold(3, |which| Some([1300.0, 1000.0, 5000.0][which]));
        assert_eq!(winner, 1);
        assert!(elapsed < 0.6 * BUDGET_NS as f64, "{elapsed}");
    }

    #[test]
    fn long_runs_are_tried_twice_and_no_more() {
        let (winner, elapsed) = hold(3, |which| Some([90e6, 60e6, 80e6][which]));
        assert_eq!(winner, 1);
        assert!(elapsed < 2.1 * 230e6, "{elapsed}");
        let (winner, elapsed) = hold(3, |which| Some([19e6, 14e6, 16e6][which]));
        assert_eq!(winner, 1);
        assert!(elapsed < BUDGET_NS as f64, "a third round would have ended after {elapsed}");
    }

    proptest! {
        #[test]
        fn the_time_is_bounded_and_the_best_is_found(
            times in prop::collection::vec(prop_oneof![100.0..1e6, 100.0..1e8], 1..8),
            noise in prop::collection::vec(1.0..1.01, 32),
        ) {
            let mut turn = 0;
            let (winner, elapsed) = hold(times.len(), |which| {
                turn += 1;
                Some(times[which] * noise[turn % noise.len()])
            });
            let best = times.iter().copied().fold(f64::INFINITY, f64::min);
            prop_assert!(times[winner] <= best * 1.06, "{times:?}: {winner}");
            let most = 1.1 * (BUDGET_NS as f64).max(2.0 * times.iter().sum::<f64>());
            prop_assert!(elapsed <= most, "{elapsed} of {times:?}");
        }
    }
}
