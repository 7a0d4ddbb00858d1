//! The crates as they are published: what `cargo package` makes of each, unpacked again.
//!
//! Whether what is unpacked compiles, each with the others in its versions, [`crate::alone`] finds out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Outcome;
use crate::cargo::{cargo, succeed, workspace_root};

/// What each has to bring.
const FILES: [&str; 3] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT"];

/// A crate that is published.
pub struct Package {
    pub name: String,
    /// Where it is unpacked.
    pub folder: PathBuf,
}

/// Packs all that is published, and unpacks it in `folder`.
pub fn unpack(folder: &Path) -> Outcome<Vec<Package>> {
    let all = published()?;
    let mut command = cargo();
    // What is being worked on is packed as it is. They are compiled elsewhere.
    command.args(["package", "--quiet", "--offline", "--allow-dirty", "--no-verify"]);
    command.args(all.iter().flat_map(|(name, _)| ["--package", name]));
    succeed(command.env("CARGO_TARGET_DIR", folder))?;
    all.into_iter().map(|(name, version)| unpacked(folder, name, &version)).collect()
}

/// Names and versions.
fn published() -> Outcome<Vec<(String, String)>> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version", "1"]).output()?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata names no packages")?;
    let published = packages.iter().filter(|package| package["publish"].is_null());
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let named = published.map(|package| Some((text(&package["name"])?, text(&package["version"])?)));
    let named: Vec<_> = named.collect::<Option<_>>().ok_or("a package has no name")?;
    let crates = fs::read_dir(workspace_root().join("crates"))?.count();
    if named.len() != crates {
        return Err(format!("{} packages are published, of {crates} crates", named.len()).into());
    }
    Ok(named)
}

fn unpacked(folder: &Path, name: String, version: &str) -> Outcome<Package> {
    let (packages, name_and_version) = (folder.join("package"), format!("{name}-{version}"));
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(packages.join(format!("{name_and_version}.crate"))).arg("-C").arg(&packages);
    succeed(&mut tar)?;
    let folder = packages.join(name_and_version);
    match FILES.iter().find(|file| !folder.join(file).exists()) {
        Some(missing) => Err(format!("the package {name} has no {missing}").into()),
        None => Ok(Package { name, folder }),
    }
}
