//! The hints of a communicator.
//!
//! They are kept and told back. None of the assertions changes what is done: docs/decisions/16-assertions.md says why.
//! A hint with a value that it cannot have is ignored, which the program sees when it asks for the hints.
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Info.

use super::memory_kinds;
use super::pairs::Info;

/// What a program has asserted of a communicator, and which kinds of memory may be used with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hints {
    /// In the order of [`ASSERTIONS`].
    is_asserted: [bool; ASSERTIONS.len()],
    /// The kinds of memory that may be used, as the standard writes them.
    memory_kinds: String,
    /// Those that the program promises to confine itself to.
    asserted_memory_kinds: Option<String>,
}

/// The keys whose values are `true` and `false`, the second at first.
const ASSERTIONS: [&str; 5] = [
    "mpi_assert_allow_overtaking",
    "mpi_assert_exact_length",
    "mpi_assert_no_any_source",
    "mpi_assert_no_any_tag",
    "mpi_assert_strict_persistent_collective_ordering",
];

const ASSERTED_MEMORY_KINDS: &str = "mpi_assert_memory_alloc_kinds";

impl Hints {
    /// No assertions; `memory_kinds` as [`memory_kinds::supported`] has them.
    pub const fn new(memory_kinds: String) -> Self {
        Self { is_asserted: [false; ASSERTIONS.len()], memory_kinds, asserted_memory_kinds: None }
    }

    /// The hints of a communicator that is made from one with these hints: assertions are not inherited.
    pub fn of_child(&self) -> Self {
        Self::new(self.memory_kinds.clone())
    }

    /// Adopts what `info` says; hints that it does not speak of stay as they are.
    pub fn update(&mut self, info: &Info) {
        for (key, is_asserted) in ASSERTIONS.iter().zip(&mut self.is_asserted) {
            match info.get(key).map(str::trim) {
                Some("true") => *is_asserted = true,
                Some("false") => *is_asserted = false,
                _ => {}
            }
        }
        let kinds = info.get(ASSERTED_MEMORY_KINDS).filter(|kinds| memory_kinds::are_supported(kinds));
        if let Some(kinds) = kinds {
            self.asserted_memory_kinds = Some(kinds.to_owned());
        }
    }

    /// All hints with the values that they have.
    pub fn to_info(&self) -> Info {
        let mut info = Info::default();
        for (key, is_asserted) in ASSERTIONS.iter().zip(self.is_asserted) {
            info.set(key, if is_asserted { "true" } else { "false" });
        }
        info.set(memory_kinds::KEY, &self.memory_kinds);
        if let Some(kinds) = &self.asserted_memory_kinds {
            info.set(ASSERTED_MEMORY_KINDS, kinds);
        }
        info
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pairs: &[(&str, &str)]) -> Info {
        let mut info = Info::default();
        for (key, value) in pairs {
            info.set(key, value);
        }
        info
    }

    #[test]
    fn assertions_are_false_until_they_are_made_and_are_not_inherited() {
        let mut hints = Hints::new("mpi,system".to_owned());
        hints.update(&info(&[("mpi_assert_no_any_tag", "true"), ("cb_nodes", "4")]));
        hints.update(&info(&[("mpi_assert_exact_length", "true"), (ASSERTED_MEMORY_KINDS, "system")]));
        let told = hints.to_info();
        assert_eq!(told.get("mpi_assert_no_any_tag"), Some("true"));
        assert_eq!(told.get("mpi_assert_exact_length"), Some("true"));
        assert_eq!(told.get("mpi_assert_no_any_source"), Some("false"));
        assert_eq!(told.get(ASSERTED_MEMORY_KINDS), Some("system"));
        assert_eq!((told.get("mpi_memory_alloc_kinds"), told.get("cb_nodes")), (Some("mpi,system"), None));
        assert_eq!(hints.of_child(), Hints::new("mpi,system".to_owned()));
    }

    #[test]
    fn a_value_that_a_hint_cannot_have_changes_nothing() {
        let mut hints = Hints::new("mpi,system".to_owned());
        hints.update(&info(&[("mpi_assert_no_any_tag", "true")]));
        let before = hints.clone();
        hints.update(&info(&[("mpi_assert_no_any_tag", "yes"), (ASSERTED_MEMORY_KINDS, "cuda")]));
        assert_eq!(hints, before);
    }
}
