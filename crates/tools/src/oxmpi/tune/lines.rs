//! What it costs that a cache line goes from one processor to another, or to several.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use super::Constant;
use super::processors::{Processors, Word, usual_ns};

const TRIPS: u64 = 2000;
const TRIALS: usize = 7;
/// Lines that are pulled one after the other.
const LINES: usize = 64;
/// So many pairs of processors are looked at, and so many readers.
const MOST_PAIRS: usize = 64;
const MOST_READERS: usize = 8;
/// Who is so much farther is not near.
const FAR: f64 = 1.5;

/// Constants of hops and of readers.
pub fn measure(processors: &Processors) -> Vec<Constant> {
    let mut constants = vec![("cores", processors.count() as f64)];
    if processors.count() < 2 {
        return constants;
    }
    let step = processors.count().div_ceil(MOST_PAIRS);
    let partners = (1..processors.count()).step_by(step);
    let hops: Vec<f64> = partners.map(|other| hop_ns(processors, [0, other])).collect();
    let (near_cores, near, far) = split(&hops, step);
    constants.extend([("near_cores", near_cores as f64), ("hop_near_ns", near), ("hop_far_ns", far)]);
    constants.extend(reader_ns(processors).map(|reader| ("reader_ns", reader)));
    constants
}

/// How many processors are near each other, where `hops` are those of the first to some others, every `step`th; and
/// nanoseconds to a near one and to a far one.
fn split(hops: &[f64], step: usize) -> (usize, f64, f64) {
    let near = hops.iter().copied().fold(f64::INFINITY, f64::min);
    let is_near = |hop: &&f64| **hop <= near * FAR;
    let mut far: Vec<f64> = hops.iter().copied().filter(|hop| *hop > near * FAR).collect();
    if far.is_empty() {
        far = hops.to_vec(); // all are alike
    }
    far.sort_by(f64::total_cmp);
    let is_alike = hops.iter().all(|hop| is_near(&hop));
    let neighbors = if is_alike { 0 } else { hops.iter().take_while(is_near).count() * step };
    (1 + neighbors, near, far[far.len() / 2])
}

/// From a store until a waiting thread on the other processor has seen it.
fn hop_ns(processors: &Processors, pair: [usize; 2]) -> f64 {
    let (ping, pong) = (Word::default(), Word::default());
    let rounds = TRIPS * TRIALS as u64;
    let answer = || {
        (1..=rounds).for_each(|trip| {
            ping.await_value(trip);
            pong.set(trip);
        })
    };
    let mut trip = 0;
    let ask = || {
        usual_ns(TRIALS, 2 * TRIPS as usize, || {
            for _ in 0..TRIPS {
                trip += 1;
                ping.set(trip);
                pong.await_value(trip);
            }
        })
    };
    processors.run_on(pair, ask, answer)
}

/// Reading a line that another processor has written.
fn pull_ns(processors: &Processors) -> f64 {
    const ROUNDS: u64 = 100;
    let lines: Vec<Word> = (0..LINES).map(|_| Word::default()).collect();
    let (turn, done) = (Word::default(), Word::default());
    let writer = || {
        for round in 1..=ROUNDS {
            lines.iter().for_each(|line| line.set(round));
            turn.set(round);
            done.await_value(round);
        }
    };
    let reader = || {
        let mut pull = f64::INFINITY;
        for round in 1..=ROUNDS {
            turn.await_value(round);
            pull = pull.min(usual_ns(1, LINES, || assert!(lines.iter().all(|line| line.get() == round))));
            done.set(round);
        }
        pull
    };
    processors.run_on(processors.ends(), reader, writer)
}

/// How much longer it takes for each further reader until all have read a line and said so, beyond reading what they
/// say. None where there are too few processors to tell.
fn reader_ns(processors: &Processors) -> Option<f64> {
    let readers = (processors.count() - 1).min(MOST_READERS);
    if readers < 2 {
        return None;
    }
    let [one, many] = [1, readers].map(|readers| round_ns(processors, readers));
    Some(((many - one) / (readers - 1) as f64 - pull_ns(processors)).max(0.0))
}

/// A store that so many others wait for and answer.
fn round_ns(processors: &Processors, readers: usize) -> f64 {
    let (line, is_over) = (Word::default(), AtomicBool::new(false));
    let answers: Vec<Word> = (0..readers).map(|_| Word::default()).collect();
    thread::scope(|scope| {
        for (index, answer) in answers.iter().enumerate() {
            let (line, is_over) = (&line, &is_over);
            scope.spawn(move || {
                processors.bind(1 + index);
                let mut seen = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let now = line.get();
                    if now != seen {
                        seen = now;
                        answer.set(now);
                    }
                }
            });
        }
        let writer = scope.spawn(|| {
            processors.bind(0);
            let mut best = f64::INFINITY;
            let mut round = 0;
            for _ in 0..TRIALS {
                let begin = Instant::now();
                for _ in 0..TRIPS {
                    round += 1;
                    line.set(round);
                    answers.iter().for_each(|answer| answer.await_value(round));
                }
                best = best.min(begin.elapsed().as_nanos() as f64 / TRIPS as f64);
            }
            is_over.store(true, Ordering::Relaxed);
            best
        });
        writer.join().expect("no measurement panics")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_are_told_apart_where_they_differ() {
        assert_eq!(split(&[100.0, 110.0, 105.0], 1), (1, 100.0, 105.0), "all are alike");
        assert_eq!(split(&[50.0, 55.0, 200.0, 220.0, 210.0], 1), (3, 50.0, 210.0));
        assert_eq!(split(&[50.0, 200.0, 60.0], 2), (3, 50.0, 200.0), "of every second one");
        assert_eq!(split(&[80.0], 1), (1, 80.0, 80.0));
    }
}
