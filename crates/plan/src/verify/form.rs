//! What can be seen without running plans: they must be well formed.

use super::contract::Contract;
use super::{Flaw, FlawKind};
use crate::segment::SLOT_BUDGET_BYTES;
use crate::{Action, Buf, Line, MAX_LINES, Plan, Span, Step, Take};

/// Checks the plans of all ranks.
pub(super) fn check(contract: &Contract, plans: &[Plan]) -> Result<(), Flaw> {
    for (rank, (plan, lines)) in plans.iter().zip(lines(contract, plans)).enumerate() {
        let place = |index: usize| format!("rank {rank}, step {index} ({})", plan.steps[index]);
        if plan.lines != *lines && (!plan.lines.is_empty() || plan.uses_lines()) {
            return Err(malformed("lines differ from those of other ranks of the node")
                .at(format_args!("rank {rank}")));
        }
        if plan.segments == 0 || plan.lines.iter().any(|line| line.depth == 0) {
            return Err(malformed("no segments, or a line without slots").at(format_args!("rank {rank}")));
        }
        if plan.lines.len() > MAX_LINES {
            return Err(malformed("too many lines").at(format_args!("rank {rank}")));
        }
        for (index, step) in plan.steps.iter().enumerate() {
            check_step(plan, index, step).map_err(|flaw| flaw.at(place(index)))?;
        }
        check_slots(contract, plan).map_err(|flaw| flaw.at(format_args!("rank {rank}")))?;
    }
    Ok(())
}

/// For each rank, the lines of those of its node that have any.
pub(super) fn lines<'a>(contract: &Contract, plans: &'a [Plan]) -> Vec<&'a [Line]> {
    let mut of_nodes: Vec<&[Line]> = Vec::new();
    let ranks = || (0..).zip(plans).map(|(rank, plan)| (contract.node(rank), &plan.lines[..]));
    for (node, lines) in ranks() {
        of_nodes.resize(of_nodes.len().max(node + 1), &[]);
        if of_nodes[node].is_empty() {
            of_nodes[node] = lines;
        }
    }
    ranks().map(|(node, _)| of_nodes[node]).collect()
}

fn check_step(plan: &Plan, index: usize, step: &Step) -> Result<(), Flaw> {
    let is_message = |step: &Step| matches!(step.action, Action::Send { .. } | Action::Receive { .. });
    for &earlier in &step.after {
        if earlier as usize >= index || !is_message(&plan.steps[earlier as usize]) {
            return Err(malformed(format!("waits for step {earlier}, which is no earlier message")));
        }
        if plan.steps[earlier as usize].delay > step.delay {
            return Err(malformed(format!("waits for step {earlier}, which works further behind")));
        }
    }
    if let Some(into) = target(&step.action)
        && into.buf == Buf::Send
        && into.bytes > 0
    {
        return Err(malformed("writes to the send buffer"));
    }
    match step.action {
        Action::Copy { from, into } if from.bytes != into.bytes => Err(malformed("unequal lengths")),
        Action::Reduce { left, right, into } if left.bytes != into.bytes || right.bytes != into.bytes => {
            Err(malformed("unequal lengths"))
        }
        Action::Pull { into, take: Take::Left { right: own } | Take::Right { left: own }, .. }
            if own.bytes != into.bytes =>
        {
            Err(malformed("unequal lengths"))
        }
        Action::Excerpt { line, .. } | Action::Pull { line, .. } if usize::from(line) >= plan.lines.len() => {
            Err(malformed("no such line"))
        }
        Action::Excerpt { into, .. } if into.stride != 0 => Err(malformed("an excerpt that moves")),
        Action::Post { line, .. } => check_post(plan, index, line),
        _ => Ok(()),
    }
}

/// A line carries one post for each segment.
fn check_post(plan: &Plan, index: usize, line: u8) -> Result<(), Flaw> {
    if usize::from(line) >= plan.lines.len() {
        return Err(malformed("no such line"));
    }
    let same = |step: &Step| matches!(step.action, Action::Post { line: other, .. } if other == line);
    if plan.steps[..index].iter().any(same) {
        return Err(malformed("the line carries another step's posts already"));
    }
    Ok(())
}

/// Slots keep within their budget: where all get what is combined, on the way to it and on the way from it.
fn check_slots(contract: &Contract, plan: &Plan) -> Result<(), Flaw> {
    let filled = plan.steps.iter().map(|step| match step.action {
        Action::Post { line, from } => {
            from.bytes * u64::from(plan.lines[usize::from(line)].depth).min(plan.segments)
        }
        _ => 0,
    });
    let (filled, ways) = (filled.sum::<u64>(), if contract.has_equal_results { 2 } else { 1 });
    if filled > ways * SLOT_BUDGET_BYTES {
        return Err(malformed(format!("fills {filled} bytes of slots")));
    }
    Ok(())
}

/// Where a step writes.
fn target(action: &Action) -> Option<Span> {
    match *action {
        Action::Receive { into, .. }
        | Action::Copy { into, .. }
        | Action::Excerpt { into, .. }
        | Action::Reduce { into, .. }
        | Action::Pull { into, .. } => Some(into),
        Action::Send { .. } | Action::Post { .. } => None,
    }
}

fn malformed(text: impl Into<String>) -> Flaw {
    Flaw::new(FlawKind::Malformed, text)
}
