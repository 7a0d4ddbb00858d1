//! The choice among algorithms as the length grows: it changes only from step to step of a ladder of lengths, and what
//! was given up once is not taken again, unless what was taken instead does not serve greater lengths.
//!
//! Costs have small jumps, at a segment more or less, and two that are nearly equal would take turns. So they are
//! compared at the steps alone, powers of two and what lies between two of them, from the lowest step upwards. A
//! ladder is the same for all lengths, and is kept: to look up a choice costs less than to price two algorithms.

use std::sync::{Mutex, PoisonError};

use crate::prices::Prices;
use crate::select::{candidates, cheapest};
use crate::{Algorithm, Machine, Shape};

/// The ladders of the shapes that were asked for last, up to some number.
#[derive(Debug, Default)]
pub(crate) struct Ladders {
    known: Mutex<Vec<Ladder>>,
}

/// What is chosen from which step on.
#[derive(Debug)]
struct Ladder {
    /// Any shape that differs from the others of this ladder in its length alone.
    shape: Shape,
    /// The choice at each step as far as they were climbed.
    steps: Vec<&'static Algorithm>,
    /// The step at which a choice was last forced: all that was given up before is open again.
    forced: usize,
}

/// As many as a program has communicators and kinds of calls under way; more are made again.
const KEPT: usize = 64;

/// What takes so many times as long is much worse.
const MUCH: f64 = 1.5;

/// The last step up to which is looked ahead, of 64 MiB.
const LONGEST: usize = 52;

impl Ladders {
    /// The algorithm for `shape` on `machine`, always the same of one object.
    pub(crate) fn choice(&self, shape: &Shape, machine: &Machine) -> &'static Algorithm {
        let step = step_below(shape.bytes);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let class = Shape { bytes: 0, ..*shape };
        let index = known.iter().position(|ladder| ladder.shape == class).unwrap_or_else(|| {
            if known.len() == KEPT {
                known.remove(0);
            }
            known.push(Ladder { shape: class, steps: Vec::new(), forced: 0 });
            known.len() - 1
        });
        let ladder = &mut known[index];
        while ladder.steps.len() <= step {
            ladder.climb(machine);
        }
        let chosen = ladder.steps[step];
        if chosen.admits(shape) { chosen } else { ladder.best(shape, &[], machine) }
    }
}

impl Ladder {
    /// Decides the next step.
    fn climb(&mut self, machine: &Machine) {
        if self.steps.len() == 1 {
            // Where nothing is moved all are as good.
            self.forced = 1;
        }
        let shape = Shape { bytes: length_of(self.steps.len(), self.shape.unit), ..self.shape };
        if self.steps.last().is_some_and(|last| !last.admits(&shape)) {
            self.forced = self.steps.len();
        }
        let chosen = self.best(&shape, given_up(&self.steps[self.forced..]), machine);
        let last = self.steps.last().copied();
        let kept = last.filter(|last| last.admits(&shape) && self.will_be_missed(last, chosen, machine));
        self.steps.push(kept.unwrap_or(chosen));
    }

    /// Whether `last` is not much worse than `chosen` at the next step, and much better at a later one, where it could
    /// not be taken again.
    fn will_be_missed(&self, last: &Algorithm, chosen: &Algorithm, machine: &Machine) -> bool {
        if self.steps.len() <= self.forced || std::ptr::eq(last, chosen) {
            return false;
        }
        let ratio = |step| {
            let shape = Shape { bytes: length_of(step, self.shape.unit), ..self.shape };
            let prices = Prices::of(&shape, machine);
            let priced = |one: &Algorithm| one.admits(&shape).then(|| one.priced(&shape, &prices)).flatten();
            Some(priced(last)?.total_ns() / priced(chosen)?.total_ns())
        };
        let is_better = |step| ratio(step).is_some_and(|ratio| ratio * MUCH < 1.0);
        let next = self.steps.len();
        ratio(next).is_some_and(|ratio| ratio < MUCH) && (next + 1..=LONGEST).any(is_better)
    }

    /// The cheapest of those that admit `shape` and were not `given_up`, if there is one, else of all.
    fn best(&self, shape: &Shape, given_up: &[&'static Algorithm], machine: &Machine) -> &'static Algorithm {
        let prices = Prices::of(shape, machine);
        let best = |is_open: &dyn Fn(&'static Algorithm) -> bool| {
            // The last choice stays it where another one costs the same.
            let last = self.steps.last().copied().filter(|_| shape.bytes > 1);
            let all = last.into_iter().chain(candidates(shape).iter().copied());
            let open = all.filter(|&one| one.admits(shape) && is_open(one));
            cheapest(open.map(|one| (one, one.priced(shape, &prices))))
        };
        best(&|one| !given_up.iter().any(|&other| std::ptr::eq(one, other)))
            .or_else(|| best(&|_| true))
            .expect("every collective has an algorithm of messages that admits every shape")
            .0
    }
}

/// What was chosen before the last choice.
fn given_up<'a>(steps: &'a [&'static Algorithm]) -> &'a [&'static Algorithm] {
    let Some((last, before)) = steps.split_last() else { return &[] };
    let first = before.iter().rposition(|step| !std::ptr::eq(*step, *last)).map_or(0, |index| index + 1);
    &before[..first]
}

/// The highest step that is not above a length.
fn step_below(bytes: u64) -> usize {
    if bytes < 2 {
        return bytes as usize;
    }
    let power = bytes.ilog2();
    (2 * power) as usize + (bytes >> (power - 1) & 1) as usize
}

/// The length of a step: whole elements, if it is long enough for that.
fn length_of(step: usize, unit: u32) -> u64 {
    if step < 2 {
        return step as u64;
    }
    let power = step / 2;
    let bytes = (2 + step as u64 % 2) << (power - 1);
    let unit = u64::from(unit.max(1));
    if bytes < unit { bytes } else { bytes / unit * unit }
}

/// A copy begins anew.
impl Clone for Ladders {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_powers_of_two_and_what_lies_between() {
        let lengths: Vec<u64> = (0..12).map(|step| length_of(step, 1)).collect();
        assert_eq!(lengths, [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]);
        for bytes in 0..1000 {
            let step = step_below(bytes);
            assert!(length_of(step, 1) <= bytes && bytes < length_of(step + 1, 1), "{bytes}");
        }
        assert_eq!(length_of(step_below(u64::MAX), 1), 3 << 62);
        assert_eq!(length_of(9, 5), 20);
    }
}
