//! What wishes come to: told to whoever has asked for it in the environment, and to the program.

use std::sync::Arc;

use oxmpi_engine::Program;
use oxmpi_system::notice::say;

use super::operation::Operation;
use super::preparing::Reason;
use super::wish::Wish;
use crate::comm::Communicator;
use crate::process::Process;

impl Process {
    /// What a program wishes that writes `text` for the plan of `operation`. What means nothing is ignored, and so is
    /// what would change the result's last bits where those must not change; with `OXMPI_CHECK` that is said.
    pub fn wish(&self, comm: &Communicator, operation: &Operation, text: &str) -> Wish {
        let names = operation.algorithm_names(comm);
        let wish = Wish::parse(text, &names);
        let is_fixed = self.is_reproducible && operation.binding.reducer.is_some();
        let why = match wish {
            None => format!("known are {}", Wish::known(&names)),
            Some(wish) if is_fixed && wish != Wish::default() => {
                "reductions are to be reproducible".to_owned()
            }
            Some(wish) => return wish,
        };
        if self.compares_types() {
            let (rank, called) = (comm.rank(), operation.prepared(comm.rank()).0.describe());
            say(format_args!("rank {rank}: {called}: the hint oxmpi_plan is '{text}', and ignored: {why}"));
        }
        Wish::default()
    }

    /// Says on standard error which plan was chosen, and why; rank 0 of a group does.
    #[cold]
    pub(super) fn show_plan(
        &self,
        comm: &Communicator,
        operation: &Operation,
        plan: &Arc<Program>,
        reason: &Reason,
    ) {
        if comm.rank() != 0 {
            return;
        }
        let name = |program: &Program| program.algorithm().unwrap_or("nothing to do with other ranks");
        let reason = match reason {
            Reason::Estimated => "estimated".to_owned(),
            Reason::Named => "named".to_owned(),
            Reason::Measured(all) if all.is_empty() => "estimated: it is not to be measured".to_owned(),
            Reason::Measured(all) => {
                let time = |(program, time): &(Arc<Program>, Option<f64>)| match time {
                    Some(time) => format!("{} {:.2} us", name(program), time / 1000.0),
                    None => format!("{} unknown", name(program)),
                };
                format!("measured: {}", all.iter().map(time).collect::<Vec<_>>().join(", "))
            }
        };
        let (called, title) = (operation.prepared(comm.rank()).0.describe(), comm.title());
        let name = name(plan);
        say(format_args!("{called} on {title}, {} ranks: {name} ({reason})", comm.size()));
    }
}
