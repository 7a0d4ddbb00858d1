//! Which message goes to which receive: random programs on several processes against a reference model.
//!
//! `tests/c/pt2pt_model.c` draws the cases and judges them. Each test of the repository runs a share of them that
//! changes with the commit; `OXMPI_MODEL=all` runs all 10,000, and `OXMPI_MODEL=3` runs share 3.
//! MPI-5.0: Point-to-Point Communication, Semantics of Point-to-Point Communication.

use std::io::{self, Write as _};
use std::ops::RangeInclusive;

use oxmpi_tests::{Job, Program, Share};

/// Numbers of ranks, each with as many cases.
const RANKS: RangeInclusive<u32> = 1..=5;

/// Into how many shares the cases of each run are cut.
const SHARES: u32 = 8;

/// Cases on each number of ranks; on all together there are 9,600.
const CASES: u32 = SHARES * 240;

/// Those between jobs.
const CASES_BETWEEN_JOBS: u32 = SHARES * 25;

/// Lets a job run this run's share of `cases` cases.
fn passes(job: Job, run: u32, cases: u32) {
    let share = Share::asked_by("OXMPI_MODEL", SHARES);
    let (first, count) = share.of_cases(run, cases);
    // Past the capture of the test's output, which is shown for failures only.
    let _ = writeln!(io::stderr(), "model: {share}, run {run}");
    let told = [("--seed", run), ("--case", first), ("--cases", count)];
    let job = told.iter().fold(job.option("--timeout=300"), |job, (name, value)| {
        job.argument(name).argument(&value.to_string())
    });
    job.passes();
}

#[test]
fn every_message_goes_where_the_model_permits() {
    let program = Program::compile("pt2pt_model");
    for ranks in RANKS {
        passes(program.on(ranks), ranks, CASES);
    }
}

/// The same where next to nothing is kept that nobody asks for.
#[test]
fn every_message_goes_where_the_model_permits_though_it_is_only_shown() {
    let program = Program::compile("pt2pt_model");
    for (run, (ranks, bytes)) in (40..).zip([(2, "0"), (3, "2000"), (5, "20000")]) {
        passes(program.on(ranks).env("OXMPI_KEEP_BYTES", bytes), run, CASES / 4);
    }
}

#[test]
fn every_message_goes_where_the_model_permits_between_jobs() {
    let program = Program::compile("pt2pt_model");
    for (run, (ranks, jobs, each)) in (20..).zip([(1, 2, 1), (2, 2, 2)]) {
        passes(program.on(ranks).with_jobs(jobs, each), run, CASES_BETWEEN_JOBS);
    }
}
