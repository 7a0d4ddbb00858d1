//! Where ranks find `libmpi_abi.so.1` if nobody else says: beside the launcher.
//!
//! A program that was linked without `mpicc` may not know where the library lies. The loader searches
//! `LD_LIBRARY_PATH`, then the program's run path, then the system's folders. Our folder goes to the end of the
//! variable, behind what the user names and before the system. It holds nothing but the library, so that it hides no
//! other; and it is left out where the program's run path leads to a library of this name, which it would hide.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::environment::Variable;

const LIBRARY: &str = "libmpi_abi.so.1";
const SEARCH_PATH: &str = "LD_LIBRARY_PATH";

/// The folder with nothing but the library in the installation that the launcher belongs to; `None` if it belongs to
/// none.
pub fn folder() -> Option<PathBuf> {
    let folder = env::current_exe().ok()?.parent()?.parent()?.join("lib/oxmpi");
    folder.join(LIBRARY).exists().then_some(folder)
}

/// Lets `program` find the library in `folder`, unless its own run path leads to one.
pub fn offer(folder: &Path, program: &Path, run_path: Option<&OsStr>, environment: &mut Vec<Variable>) {
    if run_path.is_some_and(|run_path| has_library(program, run_path)) {
        return;
    }
    match environment.iter_mut().find(|(name, _)| name == SEARCH_PATH) {
        None => environment.push((SEARCH_PATH.into(), folder.into())),
        Some((_, path)) if path.is_empty() => *path = folder.into(),
        Some((_, path)) => {
            if !env::split_paths(path).any(|known| known == folder) {
                path.push(":");
                path.push(folder);
            }
        }
    }
}

/// Whether the run path of `program` leads to a library of the name. A folder whose name only the loader can complete
/// counts as one.
fn has_library(program: &Path, run_path: &OsStr) -> bool {
    let program = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let origin = program.parent().unwrap_or(Path::new("")).to_string_lossy();
    let run_path = run_path.to_string_lossy().replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin);
    run_path.split(':').any(|folder| folder.contains('$') || Path::new(folder).join(LIBRARY).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for a test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            let folder = env::temp_dir().join(format!("oxmpi-launch-{}-{test}", std::process::id()));
            fs::create_dir_all(&folder).expect("the folder of temporary files can be written to");
            Self(folder)
        }

        fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, bytes).expect("the folder is ours");
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn offered(program: &Path, run_path: Option<&str>, before: Option<&str>) -> Option<String> {
        let mut environment: Vec<Variable> =
            before.map(|path| (SEARCH_PATH.into(), path.into())).into_iter().collect();
        offer(Path::new("/ours"), program, run_path.map(OsStr::new), &mut environment);
        environment.pop().map(|(_, path)| path.into_string().expect("it was text"))
    }

    #[test]
    fn the_library_is_offered_after_what_the_user_names() {
        let script = Path::new("/no/such/program");
        assert_eq!(offered(script, None, None).as_deref(), Some("/ours"));
        assert_eq!(offered(script, None, Some("")).as_deref(), Some("/ours"));
        assert_eq!(offered(script, None, Some("/a:/b")).as_deref(), Some("/a:/b:/ours"));
        assert_eq!(offered(script, None, Some("/a:/ours")).as_deref(), Some("/a:/ours"));
        assert_eq!(offered(script, None, Some("/a:")).as_deref(), Some("/a::/ours"));
    }

    #[test]
    fn a_library_in_the_run_path_is_not_hidden() {
        let scratch = Scratch::new("run-path");
        let folder = scratch.0.display();
        let program = scratch.file("program", b"");
        let with = |run_path: &str| offered(&program, Some(run_path), None);
        let named = [format!("/no/such:{folder}"), "$ORIGIN".to_owned(), "${ORIGIN}/.".to_owned()];
        for run_path in &named {
            assert_eq!(with(run_path).as_deref(), Some("/ours"), "{run_path} has no library");
        }
        scratch.file(LIBRARY, b"");
        for run_path in &named {
            assert_eq!(with(run_path), None, "{run_path}");
        }
        assert_eq!(with("/opt/$LIB"), None, "only the loader knows what it means");
        assert_eq!(with("").as_deref(), Some("/ours"));
    }
}
