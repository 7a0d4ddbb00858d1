//! Instructions of short calls (`tests/counts`), which repeat where times do not: they are recorded, and a change that
//! needs more, or fewer, shows.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::cargo::{succeed, target_directory, workspace_root};
use crate::install;

const RECORD: &str = "tests/counts/recorded.txt";
/// How far a count may be from its record: credits and rounds of the other rank fall now here, now there.
const TOLERANCE: f64 = 0.05;
/// How often a rank is counted of which something has taken too many: on a busy machine the other one keeps it waiting.
const ATTEMPTS: u32 = 5;

/// What is called, in which lifetime, and on which rank -> instructions of a call.
type Counts = BTreeMap<String, u32>;

/// `cargo xtask counts`: compares an installation of this workspace with the record, or makes the record.
pub fn run(record: bool) -> Outcome {
    let prefix = target_directory()?.join("counts");
    install::run(&prefix, false)?;
    if !record {
        return check(&prefix);
    }
    let mut text = format!("# Instructions of a call, by `cargo xtask counts --record`.\n{}\n", compiler()?);
    for (name, count) in count(&prefix)? {
        writeln!(text, "{name}: {count}")?;
    }
    fs::write(workspace_root().join(RECORD), text)?;
    Ok(())
}

/// Counts with an installation, and complains of what is not as recorded.
pub fn check(prefix: &Path) -> Outcome {
    let text = fs::read_to_string(workspace_root().join(RECORD))?;
    let record = parse(&text)?;
    let mut counts = count(prefix)?;
    if !record.keys().eq(counts.keys()) {
        return Err("other calls than those recorded: cargo xtask counts --record".into());
    }
    for _ in 1..ATTEMPTS {
        if !counts.iter().any(|(name, count)| f64::from(*count) > f64::from(record[name]) * (1.0 + TOLERANCE))
        {
            break;
        }
        for (name, count) in count(prefix)? {
            counts.entry(name).and_modify(|least| *least = count.min(*least));
        }
    }
    let far = |&(name, count): &(&String, &u32)| {
        let recorded = f64::from(record[name]);
        (f64::from(*count) - recorded).abs() > recorded * TOLERANCE
    };
    let changes =
        counts.iter().filter(far).map(|(name, count)| format!("{name}: {count}, was {}", record[name]));
    let changes = changes.collect::<Vec<_>>().join("\n  ");
    if changes.is_empty() {
        println!("{} passed, 0 failed", counts.len());
        return Ok(());
    }
    let compiler = compiler()?;
    if !text.lines().any(|line| line == compiler) {
        println!("not checked, for the record is not by {compiler}:\n  {changes}");
        return Ok(());
    }
    Err(format!("instructions of a call:\n  {changes}\nif so it shall be: cargo xtask counts --record")
        .into())
}

/// Who compiles, as a comment.
fn compiler() -> Outcome<String> {
    let rustc = Command::new("rustc").arg("--version").output()?;
    Ok(format!("# {}", String::from_utf8(rustc.stdout)?.trim()))
}

fn parse(text: &str) -> Outcome<Counts> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let entry = |line: &str| {
        let (name, count) = line.rsplit_once(": ").ok_or(format!("{RECORD}: {line}"))?;
        Ok((name.to_owned(), count.parse()?))
    };
    lines.map(entry).collect()
}

/// Each rank counted in its turn, the other one as fast as it can.
fn count(prefix: &Path) -> Outcome<Counts> {
    let program = prefix.join("bin/counts");
    let mut compile = Command::new(prefix.join("bin/mpicc"));
    compile.args(["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]);
    succeed(compile.arg(&program).arg(workspace_root().join("tests/counts/calls.c")))?;
    let folder = prefix.join("counts");
    let mut counts = Counts::new();
    for rank in 0..2 {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let mut out = std::ffi::OsString::from("--callgrind-out-file=");
        out.push(folder.join("dump"));
        let mut job = Command::new(prefix.join("bin/mpiexec"));
        // Cargo's search path for libraries would hide the installed one.
        job.env_remove("LD_LIBRARY_PATH").args(["--timeout", "120"]);
        for part in 0..2 {
            job.args(if part == 0 { ["-n", "1"].as_slice() } else { &[":", "-n", "1"] });
            if part == rank {
                job.args(["valgrind", "-q", "--tool=callgrind", "--collect-atstart=no"]).arg(&out);
            }
            job.arg(&program);
        }
        succeed(&mut job)?;
        counts
            .extend(dumps(&folder)?.into_iter().map(|(name, count)| (format!("{name}, rank {rank}"), count)));
    }
    Ok(counts)
}

/// What the dumps in a folder say of each call: of its batches the lower quartile, for in most of them the other rank
/// has done in time what was waited for.
fn dumps(folder: &Path) -> Outcome<Counts> {
    let mut batches: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Outcome<Vec<PathBuf>>>()?;
    for file in files {
        let text = String::from_utf8_lossy(&fs::read(&file)?).into_owned();
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        // The last dump is that of the program's end.
        let Some(label) = value("desc: Trigger: Client Request: ") else { continue };
        let (name, calls) = label.rsplit_once('/').ok_or("a batch does not say how many calls it has")?;
        let sum = value("summary: ").ok_or("a dump without a sum")?;
        batches.entry(name.replace('/', ", ")).or_default().push(sum.parse::<u32>()? / calls.parse::<u32>()?);
    }
    let quartile = |mut counts: Vec<u32>| {
        counts.sort_unstable();
        counts[counts.len() / 4]
    };
    Ok(batches.into_iter().map(|(name, counts)| (name, quartile(counts))).collect())
}
