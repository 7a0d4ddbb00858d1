//! A plan made ready to run.

use std::ops::Deref;

use oxmpi_plan::Plan;

use crate::call::Call;

/// A plan, and what every run of it would otherwise find out anew.
#[derive(Debug)]
pub struct Program {
    plan: Plan,
    iterations: u64,
    call: Call,
}

impl Program {
    /// Makes `plan` ready, which all ranks run that make the same `call`.
    pub fn new(plan: Plan, call: Call) -> Self {
        Self { iterations: plan.iterations(), plan, call }
    }

    /// What all ranks call.
    #[inline]
    pub fn call(&self) -> Call {
        self.call
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
