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

/// How a launcher tells a process its place, by variables that it sets for nobody else.
struct Launcher {
    name: &'static str,
    /// The variable with the number of this process.
    rank: &'static str,
    size: Size,
    /// A variable that is set beside it.
    with: Option<&'static str>,
    /// A variable that is not.
    without: Option<&'static str>,
}

/// The variable with the number of processes that a launcher has started together.
enum Size {
    /// On all nodes.
    Job(&'static str),
    /// On this node; there may be others.
    Node(&'static str),
    /// There is none.
    Untold,
}

use Size::{Job, Node, Untold};

impl Launcher {
    const fn new(name: &'static str, rank: &'static str, size: Size) -> Self {
        Self { name, rank, size, with: None, without: None }
    }

    const fn with(self, variable: &'static str) -> Self {
        Self { with: Some(variable), ..self }
    }

    const fn without(self, variable: &'static str) -> Self {
        Self { without: Some(variable), ..self }
    }
}

/// Those that are widely used; one that also sets the variables of another comes before it.
///
/// Slurm tells its batch scripts and shells how many tasks they may start; only those tasks are told of a step. Flux
/// takes its own variables from such shells, and leaves them those of PALS, which it can imitate.
const LAUNCHERS: [Launcher; 10] = [
    Launcher::new("srun", "SLURM_PROCID", Job("SLURM_STEP_NUM_TASKS")),
    Launcher::new("Flux", "FLUX_TASK_RANK", Job("FLUX_JOB_SIZE")),
    Launcher::new("jsrun", "JSM_NAMESPACE_RANK", Job("JSM_NAMESPACE_SIZE")),
    Launcher::new("Open MPI", "OMPI_COMM_WORLD_RANK", Job("OMPI_COMM_WORLD_SIZE")),
    Launcher::new("the mpiexec of another MPI", "PMI_RANK", Job("PMI_SIZE")),
    Launcher::new("the mpiexec of another MPI", "MPI_LOCALRANKID", Node("MPI_LOCALNRANKS")),
    Launcher::new("the mpiexec of another MPI", "PMI_ID", Untold).with("PMI_PORT"),
    Launcher::new("PALS", "PALS_RANKID", Untold).without("FLUX_URI"),
    Launcher::new("aprun", "ALPS_APP_PE", Untold),
    Launcher::new("a launcher with PMIx", "PMIX_RANK", Untold),
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
///
/// Where launchers start one another several may be seen. One that is known to have started several is named; who is
/// known to be alone is not suspected for what others do not tell.
fn refusal(variable: impl Fn(&str) -> Option<OsString>) -> Option<String> {
    let number = |name| variable(name)?.to_str()?.parse::<u64>().ok();
    let has_started = |launcher: &Launcher| {
        launcher.with.is_none_or(|name| variable(name).is_some())
            && launcher.without.is_none_or(|name| variable(name).is_none())
    };
    let seen: Vec<(&Launcher, u64)> = LAUNCHERS
        .iter()
        .filter(|launcher| has_started(launcher))
        .filter_map(|launcher| Some((launcher, number(launcher.rank)?)))
        .collect();
    let how = "does not tell oxmpi how to join them; use oxmpi's mpiexec, mpiexec.hydra, prterun, or srun \
               --mpi=pmi2 or --mpi=pmix";
    for (Launcher { name, size, .. }, _) in &seen {
        let (variable, place) = match size {
            Job(variable) => (variable, ""),
            Node(variable) => (variable, " on this node"),
            Untold => continue,
        };
        if let Some(count) = number(variable).filter(|&count| count > 1) {
            return Some(format!(
                "{name} has started {count} processes{place} ({variable}={count}), and {how}"
            ));
        }
    }
    let is_one = |size: &Size| matches!(size, Job(variable) if number(variable) == Some(1));
    let is_alone = seen.iter().any(|(launcher, _)| is_one(&launcher.size));
    let mut untold = seen.iter().filter(|(launcher, _)| matches!(launcher.size, Untold));
    let (Launcher { name, rank: variable, .. }, rank) = untold.find(|&&(_, rank)| rank > 0 || !is_alone)?;
    Some(format!(
        "{name} has started this process, perhaps with others ({variable}={rank}), and {how}; one that is \
         alone runs without {variable}"
    ))
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
            ("FLUX_JOB_SIZE", "FLUX_TASK_RANK"),
            ("JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"),
            ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
            ("PMI_SIZE", "PMI_RANK"),
            ("MPI_LOCALNRANKS", "MPI_LOCALRANKID"),
        ] {
            for own in ["0", "3"] {
                let text = refusal_with(&[(size, "4"), (rank, own)]).expect("it is one of four");
                assert!(text.contains("4 processes") && text.contains(&format!("({size}=4)")), "{text}");
            }
            assert_eq!(refusal_with(&[(size, "1"), (rank, "0")]), None, "it is alone");
        }
    }

    #[test]
    fn who_may_be_one_of_several_is_refused_and_told_how_to_be_alone() {
        for (rank, beside) in [
            ("PALS_RANKID", "PALS_APID"),
            ("PMI_ID", "PMI_PORT"),
            ("ALPS_APP_PE", "ALPS_APP_ID"),
            ("PMIX_RANK", "PMIX_NAMESPACE"),
        ] {
            for own in ["0", "3"] {
                let text = refusal_with(&[(rank, own), (beside, "x")]).expect("it may be one of several");
                assert!(text.contains(&format!("perhaps with others ({rank}={own})")), "{text}");
                assert!(text.ends_with(&format!("runs without {rank}")), "{text}");
            }
        }
        assert_eq!(refusal_with(&[("PMI_ID", "0")]), None, "a word that others may use, too");
    }

    #[test]
    fn who_is_known_to_be_alone_is_not_suspected() {
        let (job, step) = (("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1"));
        for other in ["PALS_RANKID", "PMIX_RANK", "ALPS_APP_PE"] {
            assert_eq!(refusal_with(&[job, step, (other, "0")]), None, "{other}");
            assert!(refusal_with(&[job, step, (other, "1")]).is_some(), "{other}");
        }
        let local = [("MPI_LOCALRANKID", "0"), ("MPI_LOCALNRANKS", "1"), ("PMI_ID", "0"), ("PMI_PORT", "x")];
        assert!(refusal_with(&local).is_some(), "there may be others on other nodes");
    }

    #[test]
    fn a_launcher_that_speaks_for_several_interfaces_is_named_first() {
        let task = [("FLUX_TASK_RANK", "0"), ("FLUX_JOB_SIZE", "2"), ("FLUX_URI", "x"), ("PALS_RANKID", "0")];
        assert!(refusal_with(&task).is_some_and(|text| text.starts_with("Flux has started 2 processes")));
        let all = [("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_RANK", "1"), ("PMIX_RANK", "1")];
        assert!(refusal_with(&all).is_some_and(|text| text.starts_with("Open MPI has started 2 processes")));
    }

    #[test]
    fn the_shells_and_the_scripts_of_allocations_are_no_tasks() {
        let slurm = [("SLURM_NTASKS", "4"), ("SLURM_PROCID", "0"), ("SLURM_JOB_ID", "7")];
        let flux = [("FLUX_URI", "local:///run/flux"), ("PALS_RANKID", "0"), ("PALS_APID", "7")];
        let lsf = [("LSB_JOBID", "7"), ("LSB_DJOB_NUMPROC", "4"), ("LSB_DJOB_RANKFILE", "ranks")];
        let pbs = [("PBS_JOBID", "7"), ("PBS_NODEFILE", "nodes"), ("PBS_TASKNUM", "1")];
        for shell in [&slurm[..], &flux, &lsf, &pbs] {
            assert_eq!(refusal_with(shell), None);
        }
    }
}
