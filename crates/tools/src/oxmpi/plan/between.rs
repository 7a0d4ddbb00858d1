//! Collectives between the two groups of an intercommunicator.
//!
//! Ranks are counted through: those of the second group follow those of the first.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::str::FromStr;

use oxmpi_plan::inter::{Algorithm, Overview, candidates, select};
use oxmpi_plan::{Plan, svg_between, verify};

use super::{Request, bytes_of, check_root, collective, draw_to, ranks_to_show, unit_of};
use crate::{Outcome, options};

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
    let algorithm = algorithm(request, &overview)?;
    let ranks = ranks_to_show(request.rank, overview.ranks())?;
    let plan = |rank| algorithm.plan(&overview.shape(rank));
    let plans = || -> Vec<Plan> { (0..overview.ranks()).map(plan).collect() };
    if let Some(file) = &request.svg {
        draw_to(file, &svg_between(&plans(), &overview))?;
    }
    out.write_all(summary(&overview, algorithm)?.as_bytes())?;
    if request.check {
        let verdict = verify::verify_between(&overview, &plans(), 0);
        writeln!(out, "{}", verdict.map_or_else(|flaw| flaw.to_string(), |()| super::RIGHT.to_owned()))?;
    }
    for rank in ranks {
        let (group, own) =
            if rank < groups.first { ("first", rank) } else { ("second", rank - groups.first) };
        write!(out, "\nrank {rank}, {own} of the {group} group: {}", plan(rank))?;
    }
    Ok(())
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
    let collective = collective(&request.collective, request.root)?;
    let bytes = bytes_of(request, collective, ranks)?;
    let unit = unit_of(request, collective);
    Ok(Overview { collective, first, second, bytes: [bytes; 2], unit, node: !request.messages })
}

/// The algorithm that was named, or else the one that a job would take.
fn algorithm(request: &Request, overview: &Overview) -> Outcome<&'static Algorithm> {
    let shape = overview.shape(overview.collective.root().unwrap_or(0));
    let Some(name) = &request.algorithm else {
        return Ok(select(&shape));
    };
    let all = candidates(shape.collective);
    match all.iter().find(|algorithm| algorithm.name() == name) {
        Some(algorithm) if algorithm.admits(&shape) => Ok(algorithm),
        Some(_) => Err(format!("{name} does not serve this case ({overview:?})").into()),
        None => {
            let names: Vec<_> = all.iter().map(|algorithm| algorithm.name()).collect();
            Err(options::unknown("algorithm", name, &names))
        }
    }
}

/// What is planned, and which other algorithms would serve.
fn summary(overview: &Overview, chosen: &Algorithm) -> Outcome<String> {
    let Overview { collective, first, second, bytes, .. } = overview;
    let (name, bytes) = (collective.name(), bytes[0]);
    let mut out =
        format!("{name} of {bytes} bytes between {first} and {second} ranks by {}\n", chosen.name());
    let shape = overview.shape(collective.root().unwrap_or(0));
    for algorithm in candidates(shape.collective).iter().filter(|algorithm| algorithm.admits(&shape)) {
        let mark = if algorithm.name() == chosen.name() { '*' } else { ' ' };
        writeln!(out, " {mark} {}", algorithm.name())?;
    }
    Ok(out)
}
