//! Launchers that cannot be talked to.
//!
//! Under one of these every process would be a job of one rank, which nobody wants who has typed `srun -n 4`, and
//! which is found out late. What launchers tell their processes stands in the environment: so a process that is one of
//! several says who has started it, and does not begin.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, Portable MPI Process Startup.

use std::env;
use std::ffi::OsString;
use std::io;

/// How a launcher tells a process its place.
struct Launcher {
    name: &'static str,
    /// The variable with the number of processes that it has started together; not all tell.
    size: Option<&'static str>,
    /// The variable with the number of this process.
    rank: &'static str,
}

/// Those that are widely used; one that also sets the variables of another comes before it.
///
/// Slurm tells its batch scripts and shells how many tasks they may start; only those tasks are told of a step.
const LAUNCHERS: [Launcher; 4] = [
    Launcher { name: "srun", size: Some("SLURM_STEP_NUM_TASKS"), rank: "SLURM_PROCID" },
    Launcher { name: "Open MPI", size: Some("OMPI_COMM_WORLD_SIZE"), rank: "OMPI_COMM_WORLD_RANK" },
    Launcher { name: "the mpiexec of another MPI", size: Some("PMI_SIZE"), rank: "PMI_RANK" },
    Launcher { name: "a launcher with PMIx", size: None, rank: "PMIX_RANK" },
];

/// Refuses to be alone where a launcher that cannot be talked to has started several processes.
///
/// # Errors
/// `Unsupported`: that launcher, and what to do.
pub fn refuse() -> io::Result<()> {
    match refusal(|name| env::var_os(name)) {
        Some(text) => Err(io::Error::new(io::ErrorKind::Unsupported, text)),
        None => Ok(()),
    }
}

/// What to say in a process that no launcher has started which is understood, and whose environment is `variable`.
fn refusal(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let number = |name| variable(name)?.to_str()?.parse::<u64>().ok();
    let who = LAUNCHERS.iter().find_map(|launcher| {
        let rank = number(launcher.rank)?;
        match launcher.size {
            Some(name) => {
                let size = number(name).filter(|&size| size > 1)?;
                Some(format!("{} has started {size} processes ({name}={size})", launcher.name))
            }
            // That there are several is first known to the second.
            None if rank > 0 => {
                Some(format!("{} has started several processes ({})", launcher.name, launcher.rank))
            }
            None => None,
        }
    })?;
    let rest = "does not tell oxmpi how to join them; use oxmpi's mpiexec, mpiexec.hydra, prterun, or srun \
                --mpi=pmi2 or --mpi=pmix";
    Some(format!("{who}, and {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal_with(variables: &[(&str, &str)]) -> Option<String> {
        refusal(|wanted| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.into()))
    }

    #[test]
    fn who_is_alone_is_let_alone() {
        assert_eq!(refusal_with(&[]), None);
        assert_eq!(refusal_with(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), None);
        assert_eq!(refusal_with(&[("PMI_RANK", "0"), ("PMI_SIZE", "many")]), None);
        assert_eq!(refusal_with(&[("PMI_SIZE", "4")]), None, "a process has a number of its own");
        let step_of_one = [("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PROCID", "0")];
        assert_eq!(refusal_with(&step_of_one), None);
    }

    #[test]
    fn every_process_of_a_launch_is_refused() {
        for (size, rank) in [
            ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
            ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
            ("PMI_SIZE", "PMI_RANK"),
        ] {
            for own in ["0", "3"] {
                let text = refusal_with(&[(size, "4"), (rank, own)]).expect("it is one of four");
                assert!(text.contains(&format!("4 processes ({size}=4)")), "{text}");
            }
        }
        assert_eq!(refusal_with(&[("PMIX_RANK", "0")]), None, "it may be alone");
        assert!(refusal_with(&[("PMIX_RANK", "1")]).is_some());
    }

    #[test]
    fn a_launcher_that_speaks_for_several_interfaces_is_named_first() {
        let all = [("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "1"), ("PMIX_RANK", "1")];
        assert!(refusal_with(&all).is_some_and(|text| text.starts_with("Open MPI has started 2 processes")));
    }

    #[test]
    fn the_shell_and_the_script_of_a_slurm_job_are_no_tasks() {
        let script = [("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "7")];
        assert_eq!(refusal_with(&script), None);
    }
}
