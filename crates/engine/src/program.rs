//! A plan made ready to run.

use std::ops::Deref;

use oxmpi_plan::Plan;

/// A plan, and what every run of it would otherwise find out anew.
#[derive(Debug)]
pub struct Program {
    plan: Plan,
    iterations: u64,
}

impl Program {
    /// Makes `plan` ready.
    pub fn new(plan: Plan) -> Self {
        Self { iterations: plan.iterations(), plan }
    }

    /// How often the steps are gone through.
    #[inline]
    pub(crate) fn iterations(&self) -> u64 {
        self.iterations
    }
}

impl Deref for Program {
    type Target = Plan;

    #[inline]
    fn deref(&self) -> &Plan {
        &self.plan
    }
}
