//! Launchers that are not ours.
//!
//! oxmpi understands its own only: under another one every process is a job of one rank, which nobody wants who has
//! typed `mpiexec -n 4`. What other launchers tell their processes stands in the environment.
//! MPI-5.0: Process Initialization, Creation, and Management, Portable MPI Process Startup.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};

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

/// Tells the user, once for all processes that were started with this one, that they are no job together.
pub fn warn_if_foreign() {
    if let Some(warning) = warning(|name| env::var_os(name)) {
        // Whoever reads errors may have gone.
        let _ = writeln!(io::stderr(), "oxmpi: {warning}");
    }
}

/// What to say in a process that our launcher has not started, and whose environment is `variable`.
fn warning(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let number = |name| variable(name)?.to_str()?.parse::<u64>().ok();
    let (rank, speaker, who) = LAUNCHERS.iter().find_map(|launcher| {
        let rank = number(launcher.rank)?;
        match launcher.size {
            Some(name) => {
                let size = number(name).filter(|&size| size > 1)?;
                Some((rank, 0, format!("{} has started {size} processes ({name}={size})", launcher.name)))
            }
            // That there are several is first known to the second.
            None if rank > 0 => Some((
                rank,
                1,
                format!("{} has started several processes ({})", launcher.name, launcher.rank),
            )),
            None => None,
        }
    })?;
    let rest =
        "to oxmpi, which does not support this launcher, each is a job of one rank; use oxmpi's mpiexec";
    (rank == speaker).then(|| format!("{who}; {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning_with(variables: &[(&str, &str)]) -> Option<String> {
        warning(|wanted| variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.into()))
    }

    #[test]
    fn a_process_that_nobody_has_started_is_silent() {
        assert_eq!(warning_with(&[]), None);
        assert_eq!(warning_with(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]), None);
        assert_eq!(warning_with(&[("PMI_RANK", "0"), ("PMI_SIZE", "many")]), None);
        assert_eq!(warning_with(&[("PMI_SIZE", "4")]), None, "a process has a number of its own");
    }

    #[test]
    fn one_process_speaks_for_all_of_its_launch() {
        for (size, rank) in [
            ("SLURM_STEP_NUM_TASKS", "SLURM_PROCID"),
            ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
            ("PMI_SIZE", "PMI_RANK"),
        ] {
            let spoken: Vec<String> =
                (0..4).filter_map(|own| warning_with(&[(size, "4"), (rank, &format!("{own}"))])).collect();
            assert_eq!(spoken.len(), 1, "{spoken:?}");
            assert!(spoken[0].contains(&format!("4 processes ({size}=4)")), "{spoken:?}");
        }
        let spoken: Vec<String> =
            (0..4).filter_map(|own| warning_with(&[("PMIX_RANK", &format!("{own}"))])).collect();
        assert_eq!(spoken.len(), 1, "{spoken:?}");
    }

    #[test]
    fn a_launcher_that_speaks_for_several_interfaces_is_named_once() {
        let both = |rank: &str| {
            warning_with(&[
                ("OMPI_COMM_WORLD_SIZE", "2"),
                ("OMPI_COMM_WORLD_RANK", rank),
                ("PMIX_RANK", rank),
            ])
        };
        assert!(both("0").is_some_and(|text| text.starts_with("Open MPI has started 2 processes")));
        assert_eq!(both("1"), None);
        let step_of_one =
            [("SLURM_STEP_NUM_TASKS", "1"), ("SLURM_PROCID", "0"), ("PMI_SIZE", "3"), ("PMI_RANK", "0")];
        assert!(warning_with(&step_of_one).is_some_and(|text| text.contains("PMI_SIZE=3")));
    }

    #[test]
    fn the_shell_and_the_script_of_a_slurm_job_are_no_tasks() {
        let script = [("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "7")];
        assert_eq!(warning_with(&script), None);
    }
}
