//! `cargo xtask ci`: everything that must pass before a commit.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Instant;

use crate::cargo::{AS_TESTED, cargo, succeed, target_directory};
use crate::{
    Outcome, alone, api, bench, cg, counts, examples, generate, guide, install, jobs, manuals, oldest,
    soundness, standard, symbols, tidy, wrappers,
};

/// A step's name and what it does.
type Step = (&'static str, fn() -> Outcome);

/// What is built as usual, for tests.
const FIRST: [Step; 9] = [
    ("fmt", || cargo_step(&["fmt", "--all", "--check"], &[])),
    ("generate", || generate::run(true)),
    ("tidy", tidy::run),
    ("standard", standard::run),
    ("soundness", soundness::run),
    ("guide", guide::run),
    ("clippy", || cargo_step(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])),
    ("api", || api::run(false)),
    ("test", test),
];

/// What is built apart from that, or waits for it. It runs beside it: neither keeps two processors busy all the time,
/// where the last crate is compiled or linked.
const BESIDE: [Step; 7] = [
    ("install", || install::run(&installed()?, false)),
    ("loom", loom),
    ("portable", portable),
    ("neon", jobs::check_neon),
    ("alone", alone::check),
    ("oldest", oldest::check),
    ("features", features),
];

/// What says that the installation is whole, and moves it, as users do.
const MOVED: [Step; 3] = [
    ("wrappers", || wrappers::check_moved(&installed()?, &moved()?, &target_directory()?.join("ci-scratch"))),
    ("manuals", || manuals::check(&moved()?)),
    ("symbols", || symbols::run(&moved()?.join("lib/libmpi_abi.so.1"), &moved()?.join("include/mpi.h"))),
];

/// Jobs, many of which wait or sleep for a good part of the time.
const JOBS: [Step; 1] = [("jobs", || jobs::check_most(&moved()?))];

/// What else is done with what is installed, beside them.
const BESIDE_JOBS: [Step; 7] = [
    ("python", || jobs::check_python(&moved()?)),
    ("waiting", || jobs::check_waiting(&moved()?)),
    ("bench", || bench::check(&moved()?)),
    ("counts", || counts::check(&moved()?)),
    ("cg", || cg::check(&moved()?)),
    ("examples", || examples::check(&moved()?)),
    ("faults", || jobs::test(&["faults".into()])),
];

/// One after the other: steps, and those beside them.
const PHASES: [(&[Step], &[Step]); 3] = [(&FIRST, &BESIDE), (&MOVED, &[]), (&JOBS, &BESIDE_JOBS)];

/// Runs the steps (those in `only`, if any are named) up to the first that fails, and says what each takes. Those
/// that run beside others end, whatever becomes of these.
pub fn run(only: &[OsString]) -> Outcome {
    let all = PHASES.iter().flat_map(|(steps, beside)| steps.iter().chain(*beside));
    let names: Vec<_> = all.map(|(name, _)| *name).collect();
    if let Some(unknown) = only.iter().find(|name| !names.iter().any(|known| name == known)) {
        return Err(
            format!("no step named {}; there are {}", unknown.to_string_lossy(), names.join(" ")).into()
        );
    }
    let wanted = |steps: &[Step]| -> Vec<Step> {
        steps
            .iter()
            .copied()
            .filter(|(name, _)| only.is_empty() || only.iter().any(|it| it == name))
            .collect()
    };
    let begin = Instant::now();
    for (steps, beside) in PHASES {
        let (steps, beside) = (wanted(steps), wanted(beside));
        if steps.is_empty() {
            in_order(&beside)?;
        } else {
            let beside = Beside::start(&beside)?;
            let outcome = in_order(&steps);
            outcome.and(beside.end())?;
        }
    }
    println!("passed in {:.1} s", begin.elapsed().as_secs_f64());
    Ok(())
}

fn in_order(steps: &[Step]) -> Outcome {
    for (name, step) in steps {
        println!("== {name}");
        let begin = Instant::now();
        step().map_err(|error| format!("step {name}: {error}"))?;
        println!("== {name} passed in {:.1} s", begin.elapsed().as_secs_f64());
    }
    Ok(())
}

/// Steps in a process of their own, whose output comes when it has ended.
struct Beside(Option<(Child, PathBuf)>);

impl Beside {
    fn start(steps: &[Step]) -> Outcome<Self> {
        if steps.is_empty() {
            return Ok(Self(None));
        }
        let path = target_directory()?.join("ci-beside.txt");
        fs::create_dir_all(target_directory()?)?;
        let output = File::create(&path)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("ci").args(steps.iter().map(|(name, _)| name));
        Ok(Self(Some((command.stdout(output.try_clone()?).stderr(output).spawn()?, path))))
    }

    fn end(self) -> Outcome {
        let Some((mut process, path)) = self.0 else { return Ok(()) };
        let status = process.wait()?;
        print!("{}", fs::read_to_string(path)?);
        if status.success() { Ok(()) } else { Err("a step beside the first ones".into()) }
    }
}

/// All tests, but for the examples of `oxmpi`, which [`features`] has with all others.
fn test() -> Outcome {
    let workspace = ["test", "--workspace", "--exclude", "oxmpi-tests"];
    cargo_step(&[&workspace[..], &["--lib", "--bins", "--tests"]].concat(), &[])?;
    cargo_step(&[&workspace[..], &["--exclude", "oxmpi", "--doc"]].concat(), &[])
}

/// Elements, arrays and values of other crates, and all examples of the documentation.
fn features() -> Outcome {
    const FEATURES: &str = "oxmpi/c,oxmpi/half,oxmpi/ndarray,oxmpi/num-complex,oxmpi/serde";
    let test = |what| {
        let mut command = cargo();
        command.args(["test", "--package", "oxmpi"]).args(AS_TESTED).args([what, "--features", FEATURES]);
        succeed(&mut command)
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
    let test = |what: &[&str]| {
        let mut command = cargo();
        command.arg("test").args(what);
        command.env("RUSTFLAGS", "--cfg portable").env("CARGO_TARGET_DIR", &target);
        succeed(&mut command)
    };
    test(&["--package", "oxmpi-mem", "--package", "oxmpi-shm", "--lib"])?;
    // What goes between nodes is copied by the fabric, in one process, here as elsewhere.
    test(&["--package", "oxmpi-engine", "--test", "engine", "--", "--skip", "net::"])
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
