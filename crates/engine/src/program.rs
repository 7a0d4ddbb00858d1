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
    /// The algorithm that has made the plan, where there are several to choose from.
    algorithm: Option<&'static str>,
}

impl Program {
    /// Makes `plan` ready, which all ranks run that make the same `call`.
    pub fn new(plan: Plan, call: Call) -> Self {
        Self { iterations: plan.iterations(), plan, call, algorithm: None }
    }

    /// The same, made by an algorithm of this name.
    #[must_use]
    pub fn by(self, algorithm: &'static str) -> Self {
        Self { algorithm: Some(algorithm), ..self }
    }

    /// The name of the algorithm that has made the plan, if it could have been another one.
    pub fn algorithm(&self) -> Option<&'static str> {
        self.algorithm
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
