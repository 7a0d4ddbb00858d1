//! The kinds of memory that a program may pass to MPI, and those that it asked for.
//!
//! A kind is a name with restrictors: `mpi:alloc_mem`. Memory of the system and of MPI is always supported; what a
//! program asks for beyond is told back as far as it is understood, so that it can be sure of it.
//! MPI-5.0: Process Initialization, Creation, and Management, Memory Allocation Kinds.

use std::env;

/// The info key under which a program asks for kinds, and is told which ones there are.
pub const KEY: &str = "mpi_memory_alloc_kinds";

/// The variable in which `mpiexec`, or who spawns a process, passes the kinds that it was told to ask for.
pub const REQUESTED: &str = "OXMPI_MEMORY_ALLOC_KINDS";

/// The kinds, each with its restrictors.
const KINDS: [(&str, &[&str]); 2] =
    [("mpi", &["alloc_mem", "win_allocate", "win_allocate_shared"]), ("system", &[])];

/// The kinds of the world model, separated by commas.
pub fn of_world() -> String {
    supported(&env::var(REQUESTED).unwrap_or_default())
}

/// All kinds without restrictors, and those of `requested` that are understood; separated by commas, as it is.
pub fn supported(requested: &str) -> String {
    let mut kinds: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    for kind in requested.split(',').map(str::trim) {
        if is_supported(kind) && !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.join(",")
}

/// Whether all kinds of a list separated by commas are understood.
pub fn are_supported(kinds: &str) -> bool {
    kinds.split(',').map(str::trim).all(is_supported)
}

fn is_supported(kind: &str) -> bool {
    let (name, restrictors) = match kind.split_once(':') {
        None => (kind, None),
        Some((name, restrictors)) => (name, Some(restrictors)),
    };
    let Some((_, known)) = KINDS.iter().find(|(kind, _)| *kind == name) else { return false };
    restrictors.is_none_or(|restrictors| restrictors.split(':').all(|one| known.contains(&one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_are_understood_are_told_back_once() {
        assert_eq!(supported(""), "mpi,system");
        assert_eq!(supported("system,cuda,mpi:alloc_mem, mpi:alloc_mem"), "mpi,system,mpi:alloc_mem");
        assert_eq!(supported("mpi:win_allocate:alloc_mem"), "mpi,system,mpi:win_allocate:alloc_mem");
    }

    #[test]
    fn a_restrictor_belongs_to_its_kind() {
        assert!(are_supported("mpi,system") && are_supported("mpi:win_allocate_shared"));
        for unknown in ["", "mpi:", "mpi:host", "system:alloc_mem", "system,cuda:device"] {
            assert!(!are_supported(unknown), "{unknown}");
        }
    }
}
