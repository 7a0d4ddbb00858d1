//! `cargo xtask miri`: undefined behaviour in what runs in one process, as Miri sees it.
//!
//! It interprets, some thousand times slower than a processor: these are tests that come to where `unsafe` stands, in
//! minutes on a processor of one's own. Segments are memory of the heap then, and bytes are moved as atomics, one by
//! one (`--cfg portable`). What is left out is in [`RUNS`], with the reason.

use std::process::Command;

use crate::Outcome;
use crate::cargo::{succeed, workspace_root};

/// Its rules: those of tree borrows (decision 53). The clock is asked; addresses may be numbers, as in C; segments, and
/// what ranks have that are threads, are never given back. Each byte of a copy is seen through two references: to
/// forget those that are gone often is several times as fast.
const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-permissive-provenance \
    -Zmiri-ignore-leaks -Zmiri-provenance-gc=1000";

/// The tests of a crate, or of one of its files.
struct Run {
    package: &'static str,
    target: &'static [&'static str],
    /// Parts of the names of tests; all if there are none.
    only: &'static [&'static str],
    /// Parts of the names of tests that are left out.
    but: &'static [&'static str],
    /// What it is interpreted by, beside [`FLAGS`].
    flags: &'static str,
}

/// Left out are crates without `unsafe` (but what drives the others), those of processes, and what asks the system for
/// files, which are marked where they are.
const RUNS: [Run; 7] = [
    Run { package: "oxmpi-base", target: &["--lib"], only: &[], but: &[], flags: "" },
    Run { package: "oxmpi-mem", target: &["--lib"], only: &[], but: &[], flags: "" },
    // Ten thousand levels.
    Run { package: "oxmpi-datatype", target: &["--lib"], only: &[], but: &["deeply"], flags: "" },
    // Assembly, and vectors of the machine; arithmetic, whose last bits it makes up; all operations on all types.
    Run {
        package: "oxmpi-op",
        target: &["--lib"],
        only: &[],
        but: &["against_the_runtime", "every_legal", "extended", "half", "instructions", "recovery"],
        flags: "",
    },
    // What asks the system; an arena of 64 MiB, in each of many cases.
    Run {
        package: "oxmpi-shm",
        target: &["--lib"],
        only: &[],
        but: &["aside", "cgroup", "cpus", "machine", "single_copy", "blocks_never_overlap"],
        flags: AT_ONCE,
    },
    Run { package: "oxmpi-engine", target: &["--test", "engine"], only: ENGINE, but: &[], flags: ONE_THREAD },
    // The safe API, whole: a rank that is a thread.
    Run { package: "oxmpi", target: &["--test", "threads"], only: SAFE, but: &[], flags: "" },
];

/// Memory that was moved by bytes is made a ring's words: a store across several that are kept for late readers, at
/// which Miri itself fails ("partially overlapping store buffer"). What comes late there, loom shows.
const AT_ONCE: &str = "-Zmiri-disable-weak-memory-emulation";

/// All ranks are of one thread, which races with nobody. To look for races takes ten times as long as all else, since
/// each byte of a segment is an atomic of its own; what is gone is looked for in as many.
const ONE_THREAD: &str = "-Zmiri-disable-data-race-detector -Zmiri-provenance-gc=20000";

/// What is borrowed, dropped or forgotten while it is received into, and looked at afterwards; futures that are over.
const SAFE: &[&str] =
    &["borrowed::what_a_view", "borrowed::what_a_forgotten", "borrowed::what_was_received", "futures::"];

/// Messages of every protocol; a channel's lines; partitions.
const ENGINE: &[&str] = &[
    "a_rank_sends_to_itself_in_every_mode",
    "receiving_at_once_takes_only",
    "what_nobody_asks_for_stays_in_the_ring",
    "what_is_sent_to_nobody_is_over",
];

/// Runs them all, up to the first that fails.
pub fn run() -> Outcome {
    for Run { package, target, only, but, flags } in &RUNS {
        let mut command = Command::new("rustup");
        command.current_dir(workspace_root()).args(["run", "nightly", "cargo", "miri", "test"]);
        command.args(["--package", package]).args(*target).arg("--").args(*only);
        command.args(but.iter().flat_map(|name| ["--skip", name]));
        command
            .env("MIRIFLAGS", format!("{FLAGS} {flags}"))
            .env("RUSTFLAGS", "--cfg portable")
            .env("PROPTEST_CASES", "2");
        succeed(&mut command)?;
    }
    Ok(())
}
