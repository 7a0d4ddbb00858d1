//! The oldest Rust that the workspace promises to compile with: `rust-version` in `Cargo.toml`.

use std::process::{Command, Stdio};

use crate::Outcome;
use crate::cargo::{succeed, target_directory, workspace_root};

/// What rests on all that is published.
const PACKAGES: [&str; 4] = ["oxmpi", "oxmpi-launch", "oxmpi-library", "oxmpi-tools"];
const OLDEST: &str = env!("CARGO_PKG_RUST_VERSION");

/// Checks the published crates, with all their features, by that toolchain: installed if it can be. Where there is
/// none, nothing is checked, and that is said.
pub fn check() -> Outcome {
    let install = ["timeout", "120", "rustup", "toolchain", "install", OLDEST, "--profile", "minimal"];
    if !done(&["rustup", "run", OLDEST, "rustc", "--version"]) && !done(&install) {
        println!("== NOT CHECKED: there is no Rust {OLDEST} here, and rustup cannot install it");
        return Ok(());
    }
    let check = ["run", OLDEST, "cargo", "check", "--locked", "--all-features"];
    let mut command = Command::new("rustup");
    command.current_dir(workspace_root()).args(check);
    command.args(PACKAGES.iter().flat_map(|name| ["--package", name]));
    command.env("CARGO_TARGET_DIR", target_directory()?.join("oldest"));
    succeed(&mut command)
}

/// Whether a command can be run, and succeeds.
fn done(words: &[&str]) -> bool {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
