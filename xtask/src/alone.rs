//! Nothing but cargo is needed: a new crate that depends on `oxmpi`, as that is published, builds where there is no MPI
//! and no compiler of C.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crate::cargo::{cargo, succeed, target_directory, workspace_root};
use crate::{Outcome, packages};

/// Crates that are not ours.
const MOST_FOREIGN: usize = 8;
/// What must not be called.
const FORBIDDEN: [&str; 8] = ["clang", "cmake", "mpicc", "mpiexec", "pkg-config", "python", "python3", "gcc"];

/// In the folder of all this.
const MANIFEST: &str = "crate/Cargo.toml";

const PROGRAM: &str = r#"use oxmpi::Op;

fn main() -> oxmpi::Result<()> {
    let sums = oxmpi::run(3, |world| {
        let mut sum = world.rank();
        world.allreduce_in_place(&mut sum, &Op::SUM)?;
        Ok(sum)
    })?;
    let env = oxmpi::init()?;
    println!("{} of {}, and {sums:?}", env.world().rank(), env.world().size());
    Ok(())
}
"#;

/// Programs that do not compile, behind what the compiler is to say of each: our hint, or where it shows the mistake.
const HINTS: [(&str, &str); 6] = [
    (
        "`&mut [f64]` is not a buffer that can be sent",
        "fn wrong(mut b: &mut [f64], w: &W) { w.bcast(&mut b, 0); }",
    ),
    ("`String` is not a buffer that can be sent", "fn wrong(b: String, w: &W) { w.send(&b, 1, 0); }"),
    (
        "`&mut u8` is not a buffer that can be received into",
        "fn wrong(b: &mut &mut u8, w: &W) { w.recv(b, 1, 0); }",
    ),
    (
        "`&Vec<u8>` is not a buffer that an operation can keep",
        "fn wrong(b: &Vec<u8>, w: &W) { w.isend(b, 1, 0); }",
    ),
    ("`Option<f64>` is not a datatype", WRONG_FIELD),
    ("hint5.rs:3:8", WRONG_FIELD),
];
const WRONG_FIELD: &str = "#[derive(Clone, Copy, oxmpi::Datatype)]\nstruct Wrong {\n    x: Option<f64>,\n}";

/// Builds such a crate in an empty folder, runs it, counts what it has needed, and looks whether hints are given.
pub fn check() -> Outcome {
    let folder = folder()?;
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let (bin, source) = (folder.join("bin"), folder.join("crate/src"));
    fs::create_dir_all(&bin)?;
    fs::create_dir_all(&source)?;
    fs::write(source.join("main.rs"), PROGRAM)?;
    let manifest = folder.join(MANIFEST);
    let package = "[package]\nname = \"alone\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n";
    let mut text = format!("{package}[dependencies]\noxmpi = \"*\"\n\n[patch.crates-io]\n");
    let begin = Instant::now();
    for package in packages::unpack(&folder.join("packages"))? {
        text += &format!("{} = {{ path = {:?} }}\n", package.name, package.folder);
    }
    println!("packed in {:.1} s", begin.elapsed().as_secs_f64());
    fs::write(&manifest, text)?;
    // The same versions as here, so that nothing is fetched.
    fs::copy(workspace_root().join("Cargo.lock"), folder.join("crate/Cargo.lock"))?;
    refuse_compilers(&bin)?;

    let path = format!("{}:{}", bin.display(), std::env::var("PATH")?);
    let target = folder.join("target");
    let cargo = |words: &[&str]| {
        let mut command = cargo();
        command.args(words).arg("--manifest-path").arg(&manifest).arg("--offline");
        command.env("PATH", &path).env("CARGO_TARGET_DIR", &target).env_remove("LD_LIBRARY_PATH");
        command
    };
    let begin = Instant::now();
    succeed(&mut cargo(&["build"]))?;
    let built = begin.elapsed();

    let output = Command::new(target.join("debug/alone")).env("PATH", &path).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    if said != "0 of 1, and [3, 3, 3]\n" {
        return Err(format!("it said: {said}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let tree = cargo(&["tree", "--edges", "normal,build", "--prefix", "none"]).output()?;
    let tree = String::from_utf8(tree.stdout)?;
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let foreign: BTreeSet<&str> =
        names.filter(|name| !name.is_empty() && !name.starts_with("oxmpi") && *name != "alone").collect();
    println!("{} foreign crates: {foreign:?}; built in {:.1} s", foreign.len(), built.as_secs_f64());
    if foreign.len() > MOST_FOREIGN {
        return Err(format!("{} crates that are not ours, at most {MOST_FOREIGN}", foreign.len()).into());
    }
    check_hints(&folder.join("crate/examples"), &cargo)?;
    println!("{} passed, 0 failed", 2 + HINTS.len());
    Ok(())
}

/// Looks whether the compiler gives the hints, of programs in this folder of the crate, which `cargo` builds.
fn check_hints(examples: &Path, cargo: &dyn Fn(&[&str]) -> Command) -> Outcome {
    fs::create_dir_all(examples)?;
    for (index, (hint, wrong)) in HINTS.iter().enumerate() {
        let name = format!("hint{index}");
        let text = format!("{wrong}\ntype W<'a> = oxmpi::Communicator<'a>;\nfn main() {{}}\n");
        fs::write(examples.join(&name).with_extension("rs"), text)?;
        let output = cargo(&["build", "--example", &name]).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || !said.contains(hint) {
            return Err(format!("the compiler should say {hint:?}: {said}").into());
        }
    }
    Ok(())
}

/// Has `subcommand`, as cargo calls it for `cargo oxmpi`, run that crate on two ranks; it is built before if it is not
/// yet.
pub fn check_launched(subcommand: &Path) -> Outcome {
    let folder = folder()?;
    if !folder.join(MANIFEST).exists() {
        check()?;
    }
    let mut command = Command::new(subcommand);
    command
        .args(["oxmpi", "run", "-n", "2", "--quiet", "--offline", "--manifest-path"])
        .arg(folder.join(MANIFEST));
    let output = command.env("CARGO_TARGET_DIR", folder.join("target")).output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<_> = said.lines().collect();
    lines.sort_unstable();
    if lines != ["0 of 2, and [3, 3, 3]", "1 of 2, and [3, 3, 3]"] {
        return Err(format!("cargo oxmpi: {said}{}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(())
}

fn folder() -> Outcome<PathBuf> {
    Ok(target_directory()?.join("ci-alone"))
}

/// Programs that refuse, and a `cc` that only links.
fn refuse_compilers(bin: &Path) -> Outcome {
    let cc =
        fs::read_link("/usr/bin/cc").map_or("/usr/bin/cc".into(), |link| Path::new("/usr/bin").join(link));
    let only_links = format!(
        "#!/bin/sh\nfor word in \"$@\"; do\ncase \"$word\" in -c|-E|*.c|*.cc|*.cpp|*.h) \
         echo \"cc compiles: $word\" >&2; exit 1;; esac\ndone\nexec {} \"$@\"\n",
        cc.display()
    );
    let refuses = "#!/bin/sh\necho \"$0 is called\" >&2\nexit 1\n".to_owned();
    let programs = FORBIDDEN.iter().map(|name| (*name, &refuses)).chain([("cc", &only_links)]);
    for (name, text) in programs {
        let file = bin.join(name);
        fs::write(&file, text)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}
