//! What `#[oxmpi::test]` becomes.

use std::fmt::Debug;

use crate::communicator::Communicator;
use crate::run::run_all;
use crate::thread::ThreadLevel;

/// What a test may return.
pub trait Verdict {
    /// What went wrong, if anything did.
    fn wrong(self) -> Option<String>;
}

impl Verdict for () {
    fn wrong(self) -> Option<String> {
        None
    }
}

impl<E: Debug> Verdict for Result<(), E> {
    fn wrong(self) -> Option<String> {
        self.err().map(|error| format!("{error:?}"))
    }
}

/// Runs a test on jobs of these numbers of ranks.
///
/// # Panics
/// If the test fails.
pub fn on_ranks<L: ThreadLevel, R: Verdict + 'static>(
    sizes: &[usize],
    test: impl Fn(Communicator<'_, L>) -> R + Send + Sync + Copy + 'static,
) {
    for &ranks in sizes {
        let ends =
            run_all(ranks, move |world| test(world).wrong()).expect("the machine has room for the ranks");
        // Who was missed says more than who has missed him.
        let wrong =
            ends.iter().enumerate().find_map(|(rank, end)| Some((rank, end.as_ref().ok()?.as_ref()?)));
        if let Some((rank, wrong)) = wrong {
            panic!("rank {rank} of {ranks}: {wrong}");
        }
        if let Some(stuck) = ends.into_iter().find_map(Result::err) {
            panic!("{stuck} (of {ranks} ranks)");
        }
    }
}
