//! The algorithms that a persistent collective can be carried out by.
//!
//! Where a shape decides, they are those of the plan's lists. Blocks that have lengths of their own can be posted and
//! pulled, or sent; and where they turn out to be equal, the regular collective's algorithms do, too.

use std::sync::Arc;

use oxmpi_engine::Program;
use oxmpi_plan::{Algorithm, Collective, Root, candidates};

use super::case::Case;
use super::irregular::Irregular;
use super::operation::Operation;
use crate::comm::Communicator;
use crate::process::State;

/// How blocks that have lengths of their own come to others: posted as streams, or each as a message.
pub(super) const LINES: &str = "lines";
pub(super) const MESSAGES: &str = "messages";
/// Or over levels, as the regular collective's algorithm of that name.
pub(super) const LEVELS: &str = "two-level";

impl Operation {
    /// The names of all algorithms, admissible or not: the same on all ranks, in the same order.
    pub(super) fn algorithm_names(&self, comm: &Communicator) -> Vec<&'static str> {
        let all = match self.irregular.as_deref() {
            None => candidates(&self.case.shape),
            Some(Irregular::Lengths { form, .. }) => {
                let regular = form.regular.map_or(&[][..], |collective| collective.info().within);
                let regular = regular.iter().map(|algorithm| algorithm.name());
                return [LINES, MESSAGES].into_iter().chain(regular).collect();
            }
            // Of blocks that differ, that are combined.
            Some(Irregular::Made(_)) => {
                let info = Collective::ReduceScatterBlock.info();
                if comm.is_inter() { info.between } else { info.within }
            }
        };
        all.iter().map(|algorithm| algorithm.name()).collect()
    }

    /// Whether this rank knows the lengths of its own blocks alone.
    pub(super) fn knows_own_lengths_only(&self) -> bool {
        matches!(self.irregular.as_deref(), Some(Irregular::Lengths { .. }))
    }

    /// Whether this rank knows nothing of what the others do.
    pub(super) fn is_beside_root(&self) -> bool {
        let beside = |root| root == Root::Beside;
        match self.irregular.as_deref() {
            None => beside(self.case.shape.root),
            Some(Irregular::Lengths { lengths, .. }) => beside(lengths.root),
            Some(Irregular::Made(_)) => false,
        }
    }
}

impl State {
    /// This rank's plans by all algorithms that are admissible where no rank has to be asked; that which is estimated
    /// to be the best first.
    pub(super) fn programs(&mut self, comm: &Communicator, operation: &Operation) -> Vec<Arc<Program>> {
        let best = self.share_plan(comm, operation);
        let others = match operation.irregular.as_deref() {
            None => self.programs_of_case(comm, &operation.case),
            Some(Irregular::Made(plan)) => self.plans.uneven_like(comm.channel, comm.rank(), plan),
            Some(Irregular::Lengths { .. }) => Vec::new(),
        };
        best_first(best, others)
    }

    /// The same of a regular collective.
    pub(super) fn programs_of_regular(&mut self, comm: &Communicator, case: &Case) -> Vec<Arc<Program>> {
        let best = self.plans.share(comm, case);
        best_first(best, self.programs_of_case(comm, case))
    }

    fn programs_of_case(&self, comm: &Communicator, case: &Case) -> Vec<Arc<Program>> {
        let Case { shape, in_place } = *case;
        if shape.is_alone() {
            return Vec::new();
        }
        let (rank, call) = (comm.rank(), case.call(comm.rank()));
        let admissible = candidates(&shape).iter().filter(|algorithm| algorithm.admits(&shape));
        let program = |algorithm: &&Algorithm| {
            Arc::new(Program::new(algorithm.plan(&shape, rank, in_place), call).by(algorithm.name()))
        };
        admissible.map(program).collect()
    }
}

/// What is the best by estimate, and then the others.
fn best_first(best: Arc<Program>, others: Vec<Arc<Program>>) -> Vec<Arc<Program>> {
    let name = best.algorithm();
    let others = others.into_iter().filter(|other| other.algorithm() != name);
    std::iter::once(best).chain(others).collect()
}
