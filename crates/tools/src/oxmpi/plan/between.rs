//! Collectives between the two groups of an intercommunicator.
//!
//! Ranks are counted through: those of the second group follow those of the first.

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use oxmpi_plan::{Overview, Plan, svg_between, verify};

use super::{
    Request, algorithm, bytes_of, check_root, collective, draw_to, nodes_of, print_plans, summary, unit_of,
};
use crate::Outcome;

/// How many ranks two groups have; written `3x4`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    first: u32,
    second: u32,
}

impl Groups {
    /// Ranks of both.
    pub fn ranks(self) -> u32 {
        self.first.saturating_add(self.second)
    }
}

impl fmt::Display for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.first, self.second)
    }
}

impl FromStr for Groups {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = text
            .split_once('x')
            .and_then(|(first, second)| Some((first.parse().ok()?, second.parse().ok()?)));
        match both {
            Some((first, second)) if first > 0 && second > 0 => Ok(Self { first, second }),
            _ => Err(format!("'{text}' is not of the form 3x4, two numbers of ranks above 0")),
        }
    }
}

/// Prints the plans of both groups.
pub fn run(request: &Request, groups: Groups, out: &mut dyn Write) -> Outcome {
    let overview = overview(request, groups)?;
    // As the root sees it: a rank beside it sees no lengths.
    let shape = overview.shape(overview.root);
    let algorithm = algorithm(request, &shape)?;
    request.check_rank()?;
    let plan = |rank| overview.plan(algorithm, rank);
    let plans = || -> Vec<Plan> { (0..overview.ranks()).map(plan).collect() };
    if let Some(file) = &request.svg {
        draw_to(file, &svg_between(&plans(), &overview))?;
    }
    let whom = format!("between {} and {} ranks", groups.first, groups.second);
    out.write_all(summary(request, &shape, &whom, algorithm)?.as_bytes())?;
    if request.check {
        let verdict = verify::verify_between(&overview, &plans(), 0);
        writeln!(out, "{}", verdict.map_or_else(|flaw| flaw.to_string(), |()| super::RIGHT.to_owned()))?;
    }
    let title = |rank| {
        let (group, own) =
            if rank < groups.first { ("first", rank) } else { ("second", rank - groups.first) };
        format!("rank {rank}, {own} of the {group} group")
    };
    print_plans(request, title, plan, out)
}

fn overview(request: &Request, groups: Groups) -> Outcome<Overview> {
    if request.ranks != 0 {
        return Err("-n and --groups do not go together".into());
    }
    if request.in_place {
        return Err("--in-place: nothing is in place between groups".into());
    }
    let Groups { first, second } = groups;
    let ranks = groups.ranks();
    check_root(request.root, ranks)?;
    let collective = collective(&request.collective)?;
    let info = collective.info();
    if info.between.is_empty() {
        return Err(format!("--groups: {} is within one group only", info.name).into());
    }
    let root = if info.is_rooted() { request.root } else { 0 };
    let bytes = bytes_of(request, collective, ranks)?;
    let unit = unit_of(request, collective);
    let nodes = nodes_of(request);
    let overview = Overview { collective, root, first, second, bytes: [0; 2], unit, nodes };
    Ok(overview.with_bytes(bytes))
}
