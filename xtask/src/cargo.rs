//! Calling cargo, and where it puts things.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;

/// The folder that holds the workspace's `Cargo.toml`.
pub fn workspace_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace's root")
}

/// `cargo` in the workspace's root.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(workspace_root());
    command
}

/// Named beside a package that is built or tested, so that it has the libraries which the tests of all have built:
/// these ask for more of some crates than programs do, and this package asks for the same. Without it, all that rests
/// on these crates would be built once more.
pub const AS_TESTED: [&str; 2] = ["--package", "oxmpi-tests"];

/// The folder of build outputs, wherever the user's configuration puts it.
pub fn target_directory() -> Outcome<PathBuf> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let folder = metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
    Ok(folder.into())
}

/// Runs `command` to its end.
///
/// # Errors
/// If it cannot be started or fails.
pub fn succeed(command: &mut Command) -> Outcome {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().map_err(|error| format!("cannot start {program}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{program} failed: {status}").into()) }
}
