//! A plan made ready to run.

use std::ops::Deref;

use oxmpi_base::order;
use oxmpi_plan::{Plan, Step};

use crate::call::Call;
use crate::run::{Move, moves};

/// A plan, and what every run of it would otherwise find out anew.
#[derive(Debug)]
pub struct Program {
    plan: Plan,
    iterations: u64,
    /// What its steps come to, if it is short.
    moves: Option<Box<[Move]>>,
    /// Whether these are all that there is, without other memory.
    is_plain: bool,
    call: Call,
    /// The algorithm that has made the plan, where there are several to choose from.
    algorithm: Option<&'static str>,
}

impl Program {
    /// Makes `plan` ready, which all ranks run that make the same `call`.
    pub fn new(plan: Plan, call: Call) -> Self {
        let plan = if plan.segments == 1 { in_order(plan) } else { plan };
        let moves = moves::of_plan(&plan);
        let is_plain = plan.scratch_bytes == 0 && moves.as_deref().is_some_and(moves::are_all);
        Self { iterations: plan.iterations(), moves, is_plain, plan, call, algorithm: None }
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

    /// What the steps come to where the buffers are dense, if the plan is short.
    #[inline]
    pub(crate) fn moves(&self) -> Option<&[Move]> {
        self.moves.as_deref()
    }

    /// Whether all that runs do is to post in lines and to take what is posted there, without memory of their own.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// How often the steps are gone through.
    #[inline]
    pub(crate) fn iterations(&self) -> u64 {
        self.iterations
    }
}

/// A plan of one segment that goes through its steps once, in the order in which they happen.
fn in_order(plan: Plan) -> Plan {
    let order = order::places(plan.steps.iter().map(|step| step.delay.into()).collect());
    let mut places = vec![0; order.len()];
    for (place, &step) in (0..).zip(&order) {
        places[step] = place;
    }
    let steps = order.iter().map(|&step| {
        let Step { action, after, .. } = &plan.steps[step];
        Step { action: *action, delay: 0, after: after.iter().map(|&step| places[step as usize]).collect() }
    });
    Plan { steps: steps.collect(), ..plan }
}

impl Deref for Program {
    type Target = Plan;

    #[inline]
    fn deref(&self) -> &Plan {
        &self.plan
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_plan::{Action, Buf, Peer, Span};

    use super::*;

    #[test]
    fn delayed_steps_of_one_segment_come_last_and_what_they_wait_for_stays_the_same() {
        let span = Span::fixed(Buf::Recv, 0, 8);
        let receive = Action::Receive { from: Peer::Local(1), into: span };
        let send = |rank| Action::Send { to: Peer::Local(rank), from: span };
        let step = |action, delay, after: &[u32]| Step { action, delay, after: after.to_vec() };
        let steps = vec![step(receive, 1, &[]), step(send(2), 1, &[0]), step(send(3), 0, &[])];
        let plan = Plan { steps, segments: 1, lines: Vec::new(), scratch_bytes: 0 };
        let program = Program::new(plan, Call::UNKNOWN);
        assert_eq!(program.steps, [step(send(3), 0, &[]), step(receive, 0, &[]), step(send(2), 0, &[1])]);
        assert_eq!(program.iterations(), 1);
    }
}
