//! `cargo xtask ci`: everything that must pass before a commit, cheapest first.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

use crate::cargo::{cargo, succeed, target_directory};
use crate::{
    Outcome, alone, bench, cg, counts, generate, heat, install, jobs, manuals, standard, symbols, tidy,
    wrappers,
};

/// A step's name and what it does.
type Step = (&'static str, fn() -> Outcome);

const STEPS: [Step; 23] = [
    ("fmt", || cargo_step(&["fmt", "--all", "--check"], &[])),
    ("generate", || generate::run(true)),
    ("tidy", tidy::run),
    ("standard", standard::run),
    ("clippy", || cargo_step(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])),
    ("doc", || cargo_step(&["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])),
    ("test", || cargo_step(&["test", "--workspace", "--exclude", "oxmpi-tests"], &[])),
    ("features", features),
    ("alone", alone::check),
    ("loom", loom),
    ("neon", jobs::check_neon),
    ("portable", portable),
    ("install", || install::run(&installed()?, false)),
    ("wrappers", || wrappers::check_moved(&installed()?, &moved()?, &target_directory()?.join("ci-scratch"))),
    ("manuals", || manuals::check(&moved()?)),
    ("symbols", || symbols::run(&moved()?.join("lib/libmpi_abi.so.1"), &moved()?.join("include/mpi.h"))),
    ("jobs", || jobs::check(&moved()?, &[])),
    ("faults", || jobs::test(&["faults".into()])),
    ("bench", || bench::check(&moved()?)),
    ("counts", || counts::check(&moved()?)),
    ("cg", || cg::check(&moved()?)),
    ("heat", || heat::check(&moved()?)),
    ("python", || jobs::check_python(&moved()?)),
];

/// Runs the steps (those in `only`, if any are named) up to the first that fails, then says what each took.
pub fn run(only: &[OsString]) -> Outcome {
    let names = STEPS.map(|(name, _)| name);
    if let Some(unknown) = only.iter().find(|name| !names.iter().any(|known| name == known)) {
        return Err(
            format!("no step named {}; there are {}", unknown.to_string_lossy(), names.join(" ")).into()
        );
    }
    let mut summary = String::new();
    let mut passed = 0;
    for (name, step) in STEPS {
        if !only.is_empty() && !only.iter().any(|wanted| wanted == name) {
            continue;
        }
        println!("== {name}");
        let begin = Instant::now();
        let outcome = step();
        summary.push_str(&format!("{:>8.1} s  {name}\n", begin.elapsed().as_secs_f64()));
        if let Err(error) = outcome {
            println!("{summary}{passed} passed, 1 failed");
            return Err(format!("step {name}: {error}").into());
        }
        passed += 1;
    }
    println!("{summary}{passed} passed, 0 failed");
    Ok(())
}

/// Elements, arrays and values of other crates, in the documentation's examples.
fn features() -> Outcome {
    let test = |what| {
        cargo_step(&["test", "--package", "oxmpi", what, "--features", "half,ndarray,num-complex,serde"], &[])
    };
    test("--lib")?;
    test("--doc")
}

/// The lock-free structures under every interleaving, apart from the usual outputs.
fn loom() -> Outcome {
    let target = target_directory()?.join("loom");
    let mut command = cargo();
    command.args(["test", "--package", "oxmpi-mem", "--package", "oxmpi-shm"]);
    command.args(["--lib", "--profile", "loom", "loom"]);
    command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target);
    succeed(&mut command)
}

/// Copies byte by byte, and segments in private memory, as where nothing is known about machine and system; apart from
/// the usual outputs.
fn portable() -> Outcome {
    let target = target_directory()?.join("portable");
    let mut command = cargo();
    command.args(["test", "--package", "oxmpi-mem", "--package", "oxmpi-shm", "--package", "oxmpi-engine"]);
    // What goes between nodes is copied by the fabric, in one process, here as elsewhere.
    command.args(["--lib", "--test", "engine", "--", "--skip", "net::"]);
    command.env("RUSTFLAGS", "--cfg portable").env("CARGO_TARGET_DIR", target);
    succeed(&mut command)
}

/// Where the steps install to.
fn installed() -> Outcome<PathBuf> {
    Ok(target_directory()?.join("ci-install"))
}

/// Where they move the installation to, as users do.
fn moved() -> Outcome<PathBuf> {
    Ok(target_directory()?.join("ci-moved"))
}

fn cargo_step(arguments: &[&str], environment: &[(&str, &str)]) -> Outcome {
    succeed(cargo().args(arguments).envs(environment.iter().copied()))
}
