//! Finds the program of a block, once, before any process is made.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::failure::{Failure, Result};
use crate::job::Block;

/// The file to execute for `block`: a name with a `/` is taken as it is, seen from the working directory of the ranks;
/// others are searched in the block's own path, then in `search` (the value of `PATH`).
///
/// # Errors
/// Not found, or found but not executable.
pub fn resolve(block: &Block, search: &OsStr) -> Result<PathBuf> {
    let name = Path::new(&block.program);
    if block.program.is_empty() {
        return Err(Failure::not_found("the name of the program is empty"));
    }
    if block.program.as_bytes().contains(&b'/') {
        let seen = block.dir.as_deref().unwrap_or(Path::new("")).join(name);
        return match Found::at(&seen) {
            Found::Executable => Ok(name.to_owned()),
            Found::Other => Err(not_executable(&seen)),
            Found::Nothing => Err(Failure::not_found(format!("program {} not found", seen.display()))),
        };
    }
    let mut other = None;
    for dir in block.path.iter().flat_map(env::split_paths).chain(env::split_paths(search)) {
        let candidate = dir.join(name);
        match Found::at(&candidate) {
            Found::Executable => {
                return std::path::absolute(candidate)
                    .map_err(|error| Failure::system("resolve PATH", error));
            }
            Found::Other => other = other.or(Some(candidate)),
            Found::Nothing => {}
        }
    }
    let searched = if block.path.is_some() { "the given path and PATH" } else { "PATH" };
    let hint = if name.is_file() { format!("; did you mean ./{}?", name.display()) } else { String::new() };
    let missing = || Failure::not_found(format!("program {} not found in {searched}{hint}", name.display()));
    Err(other.map_or_else(missing, |file| not_executable(&file)))
}

/// Whether the interpreter of the program `name` is there, a relative one as seen from the directory of the ranks. The
/// kernel says of a missing one that the program itself does not exist.
///
/// # Errors
/// Not found, or found but not executable.
pub fn check_interpreter(name: &OsStr, dir: Option<&Path>, interpreter: &Path) -> Result<()> {
    let what = || format!("the interpreter {interpreter:?} of {}", name.display());
    match Found::at(&dir.unwrap_or(Path::new("")).join(interpreter)) {
        Found::Executable => Ok(()),
        Found::Other => Err(Failure::not_executable(format!("{} is not executable", what()))),
        Found::Nothing => Err(Failure::not_found(format!("{} does not exist", what()))),
    }
}

fn not_executable(file: &Path) -> Failure {
    let what = if file.is_dir() { "is a directory" } else { "is not executable" };
    Failure::not_executable(format!("{} {what}", file.display()))
}

enum Found {
    Executable,
    Nothing,
    Other,
}

impl Found {
    fn at(path: &Path) -> Self {
        match path.metadata() {
            Ok(file) if file.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok() => {
                Self::Executable
            }
            Ok(_) => Self::Other,
            Err(_) => Self::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve_name(program: &str, path: Option<&str>, search: &str) -> Result<PathBuf> {
        let block = Block { program: program.into(), path: path.map(Into::into), ..Block::default() };
        resolve(&block, OsStr::new(search))
    }

    #[test]
    fn a_plain_name_is_searched_in_the_blocks_path_first() {
        assert_eq!(resolve_name("sh", Some("/nowhere:/bin"), "/usr/bin"), Ok("/bin/sh".into()));
        assert_eq!(resolve_name("sh", None, "/nowhere:/bin"), Ok("/bin/sh".into()));
    }

    #[test]
    fn a_name_with_a_slash_is_seen_from_the_working_directory() {
        let block = Block { program: "./sh".into(), dir: Some("/bin".into()), ..Block::default() };
        assert_eq!(resolve(&block, OsStr::new("")), Ok("./sh".into()));
    }

    #[test]
    fn what_is_missing_and_what_is_no_program_have_their_own_statuses() {
        let status = |name| resolve_name(name, None, "/bin").expect_err(name).status();
        assert_eq!(status("/no/such/program"), 127);
        assert_eq!(status("no-such-program"), 127);
        assert_eq!(status(""), 127);
        assert_eq!(status("/etc/passwd"), 126);
        assert_eq!(status("/tmp"), 126);
        let error = resolve_name("Cargo.toml", None, "/bin").expect_err("no program");
        assert!(error.to_string().ends_with("not found in PATH; did you mean ./Cargo.toml?"), "{error}");
        let error = resolve_name("nothing", Some("/nowhere"), "/bin").expect_err("no program");
        assert!(error.to_string().ends_with("not found in the given path and PATH"), "{error}");
    }
}
