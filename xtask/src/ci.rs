//! `cargo xtask ci`: everything that must pass before a commit, cheapest first.

use std::time::Instant;

use crate::cargo::{cargo, succeed, target_directory};
use crate::{Outcome, generate, install, symbols, tidy};

/// A step's name and what it does.
type Step = (&'static str, fn() -> Outcome);

const STEPS: [Step; 9] = [
    ("fmt", || cargo_step(&["fmt", "--all", "--check"], &[])),
    ("generate", || generate::run(true)),
    ("tidy", tidy::run),
    ("clippy", || cargo_step(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])),
    ("doc", || cargo_step(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])),
    ("test", || cargo_step(&["test", "--workspace"], &[])),
    ("loom", loom),
    ("install", || install::run(&target_directory()?.join("ci-install"), false)),
    ("symbols", check_installed),
];

/// Runs the steps in order up to the first that fails, then says what each took.
pub fn run() -> Outcome {
    let mut summary = String::new();
    for (name, step) in STEPS {
        println!("== {name}");
        let begin = Instant::now();
        let outcome = step();
        summary.push_str(&format!("{:>8.1} s  {name}\n", begin.elapsed().as_secs_f64()));
        if let Err(error) = outcome {
            print!("{summary}");
            return Err(format!("step {name}: {error}").into());
        }
    }
    print!("{summary}");
    Ok(())
}

/// The lock-free structures under every interleaving; optimised, and apart from the usual outputs.
fn loom() -> Outcome {
    let target = target_directory()?.join("loom");
    let mut command = cargo();
    command.args(["test", "--package", "oxmpi-shm", "--release", "loom"]);
    command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target);
    succeed(&mut command)
}

fn check_installed() -> Outcome {
    let prefix = target_directory()?.join("ci-install");
    symbols::run(&prefix.join("lib/libmpi_abi.so.1"), &prefix.join("include/mpi.h"))
}

fn cargo_step(arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    succeed(cargo().args(arguments).envs(environment.iter().copied()))
}
