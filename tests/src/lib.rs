//! Multi-process tests: C programs under our own `mpiexec`, against an installation.
//!
//! `cargo xtask test` installs the workspace and says where in `OXMPI_TEST_PREFIX`. A program is a file
//! `tests/c/<area>_<what>.c`; [`programs!`] makes a test of it on several numbers of ranks. A program that
//! hangs is ended by the time limit of `mpiexec`, which prints every rank's call and pending requests.

pub mod bad_input;
mod job;
mod mark;
mod prefix;
pub mod reductions;
mod share;

pub use job::{Ended, Job, Program, Running, has_libfabric};
pub use mark::Mark;
pub use prefix::{is_over_hosts, launcher, prefix};
pub use share::Share;

/// The numbers of ranks on which a program runs unless its test says otherwise.
pub const RANKS: [u32; 6] = [1, 2, 3, 4, 7, 8];

/// [`RANKS`]; where jobs run on three hosts also 6, two on each.
pub fn ranks() -> Vec<u32> {
    let mut ranks = RANKS.to_vec();
    if is_over_hosts() {
        ranks.push(6);
    }
    ranks
}

/// Makes a test of each named program: compiled, then run on each number of ranks, by default on
/// [`ranks`].
#[macro_export]
macro_rules! programs {
    ($($program:ident $(on $($ranks:literal)+)?;)+) => {
        $(
            #[test]
            fn $program() {
                $crate::Program::compile(stringify!($program)).passes_on(&[$($($ranks),+)?]);
            }
        )+
    };
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// The names of the files in `folder` that end in `.ending`, without the ending, and what they hold.
    fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let paths =
            fs::read_dir(folder).expect("it is committed").map(|entry| entry.expect("readable").path());
        let wanted = paths.filter(|path| path.extension().is_some_and(|found| found == ending));
        wanted
            .map(|path| {
                let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
                (name, fs::read_to_string(path).expect("readable"))
            })
            .collect()
    }

    #[test]
    fn every_program_is_run_by_a_test() {
        let tests: String = files("tests", "rs").into_iter().map(|(_, text)| text).collect();
        for (program, _) in files("c", "c") {
            assert!(tests.contains(&program), "no test runs tests/c/{program}.c");
        }
    }
}
