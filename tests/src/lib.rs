//! Multi-process tests: C programs under our own `mpiexec`, against an installation.
//!
//! `cargo xtask test` installs the workspace and says where in `OXMPI_TEST_PREFIX`. A program is a file
//! `tests/c/<area>_<what>.c`; [`programs!`] makes a test of it on several numbers of ranks. A program that
//! hangs is ended by the time limit of `mpiexec`, which prints every rank's call and pending requests.

mod job;
mod prefix;
pub mod reductions;

pub use job::{Ended, Job, Program};
pub use prefix::prefix;

/// The numbers of ranks on which a program runs unless its test says otherwise.
pub const RANKS: [u32; 6] = [1, 2, 3, 4, 7, 8];

/// Makes a test of each named program: compiled, then run on each number of ranks, by default on [`RANKS`].
#[macro_export]
macro_rules! programs {
    ($($program:ident $(on $($ranks:literal)+)?;)+) => {
        $(
            #[test]
            fn $program() {
                #[allow(unused, reason = "the last of the definitions counts")]
                let ranks: &[u32] = &$crate::RANKS;
                $(let ranks: &[u32] = &[$($ranks),+];)?
                let program = $crate::Program::compile(stringify!($program));
                for &ranks in ranks {
                    program.on(ranks).passes();
                }
            }
        )+
    };
}
