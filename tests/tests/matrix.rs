//! The matrix: every collective x lifetime x kind of communicator x width of counts, against a serial oracle; by the
//! algorithms that the library chooses, and by each of them in turn.
//!
//! `tests/c/matrix.c` runs the cases, whose functions `cargo xtask generate` lists in `tests/c/matrix/cells.h`. Each
//! test of the repository runs a share of them that changes with the commit; `OXMPI_MATRIX=all` runs all, and
//! `OXMPI_MATRIX=3` runs share 3.
//! MPI-5.0: Collective Communication.

use std::io::{self, Write as _};
use std::ops::RangeInclusive;

use oxmpi_base::Function;
use oxmpi_plan::Collective;
use oxmpi_tests::{Job, Program, Share};

/// Numbers of ranks on which everything is run.
const RANKS: RangeInclusive<u32> = 1..=9;

/// Into how many shares the cases of each run are cut.
const SHARES: u32 = 8;

/// Cases on each number of ranks by the library's choice of algorithms: a share has every cell, all have 40,000 cases.
const CASES_CHOSEN: u32 = SHARES * 560;

/// Cases on each number of ranks by each algorithm: two shares have every cell.
const CASES_FORCED: u32 = SHARES * 140;

fn share() -> Share {
    Share::asked_by("OXMPI_MATRIX", SHARES)
}

/// The same of those in memory of `MPI_Alloc_mem`, and of those that are read directly.
const CASES_ALLOCATED: u32 = SHARES * 140;

/// Runs this run's share of `cases` cases on `ranks` ranks, with a seed of its own.
fn run(program: &Program, ranks: u32, number: u32, cases: u32, algorithms: &str) {
    let job = program.on(ranks).env("OXMPI_ALGORITHMS", algorithms);
    share_of(job, number, 100 * number + ranks, cases).passes();
}

/// A job that is told which cases to run.
fn share_of(job: Job, number: u32, seed: u32, cases: u32) -> Job {
    let (first, count) = share().of_cases(number, cases);
    let told = [("--seed", seed), ("--case", first), ("--cases", count)];
    told.iter().fold(job.option("--timeout=300"), |job, (name, value)| {
        job.argument(name).argument(&value.to_string())
    })
}

/// Past the capture of the test's output, which is shown for failures only.
fn tell(what: &str) {
    let _ = writeln!(io::stderr(), "matrix: {} {what}", share());
}

/// Choices of `OXMPI_ALGORITHMS` that together name every algorithm of every collective, within a group and between
/// two.
fn choices() -> Vec<String> {
    let within = |collective: &Collective| (collective.name().to_owned(), collective.info().within);
    let between =
        |collective: &Collective| (format!("inter-{}", collective.name()), collective.info().between);
    let all = || Collective::ALL.iter().flat_map(|collective| [within(collective), between(collective)]);
    let most = all().map(|(_, algorithms)| algorithms.len()).max().unwrap_or(0);
    let choice = |turn: usize| {
        let pairs = all().filter(|(_, algorithms)| !algorithms.is_empty());
        let pairs =
            pairs.map(|(name, algorithms)| format!("{name}={}", algorithms[turn % algorithms.len()].name()));
        pairs.collect::<Vec<_>>().join(",")
    };
    (0..most).map(choice).collect()
}

#[test]
fn every_cell_gives_what_a_serial_program_computes() {
    let program = Program::compile("matrix");
    tell("by the library's choice");
    for ranks in RANKS {
        run(&program, ranks, 0, CASES_CHOSEN, "");
    }
}

#[test]
fn every_algorithm_gives_what_a_serial_program_computes() {
    let program = Program::compile("matrix");
    for (turn, choice) in (1..).zip(choices()) {
        tell(&format!("by {choice}"));
        for ranks in RANKS {
            run(&program, ranks, turn, CASES_FORCED, &choice);
        }
    }
}

/// Two jobs and three, of which the first spawns the others, as groups and merged into one.
#[test]
fn every_cell_gives_what_a_serial_program_computes_between_jobs() {
    let program = Program::compile("matrix");
    tell("between jobs");
    for (number, (ranks, jobs, each)) in (50..).zip([(1, 2, 1), (2, 2, 3), (2, 3, 2)]) {
        share_of(program.on(ranks).with_jobs(jobs, each), number, 100 * number + ranks, CASES_FORCED)
            .passes();
    }
}

/// Whatever lies in memory of `MPI_Alloc_mem` is read there.
#[test]
fn collectives_of_allocated_memory_give_what_a_serial_program_computes() {
    let program = Program::compile("matrix");
    for ranks in [2, 3, 4, 6] {
        let job = program.on(ranks).argument("--allocated").argument("1");
        share_of(job, ranks, 1000 + ranks, CASES_ALLOCATED).passes();
    }
}

/// Whatever a plan leaves as it is lies in ordinary memory, and is read there.
#[test]
fn collectives_that_read_the_memory_of_peers_give_what_a_serial_program_computes() {
    let program = Program::compile("matrix");
    for ranks in [2, 3, 4, 6] {
        let job = program.on(ranks).env("OXMPI_SINGLE_COPY", "always");
        share_of(job, ranks, 1100 + ranks, CASES_ALLOCATED).passes();
    }
}

/// A collective that is not built is skipped, and named; it joins as soon as it is.
#[test]
fn every_collective_is_run_or_named() {
    let cells = include_str!("../c/matrix/cells.h");
    let ended = Program::compile("matrix").on(2).argument("--cases").argument("0").run();
    let is_collective = |function: &Function| {
        ["collective-", "neighborhood-"].iter().any(|family| function.chapter().name().starts_with(family))
    };
    for function in Function::all().filter(is_collective) {
        let name = function.name();
        assert!(cells.contains(&format!(" {name}, (")), "{name} has no cell");
        let is_named = ended.out.contains(&format!("not built: {name}\n"));
        assert_eq!(is_named, !function.built(), "{name}: {}{}", ended.out, ended.err);
    }
}
