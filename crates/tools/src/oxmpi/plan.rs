//! `oxmpi plan`: the steps by which a collective would be carried out.

mod between;
mod chart;
mod simulate;

use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lexopt::Parser;
use oxmpi_plan::{
    Algorithm, Collective, Machine, Nodes, Overrides, Plan, Root, Shape, candidates, refusal, select, svg,
    verify, why,
};
use oxmpi_shm::usable_cpus;

use crate::{Outcome, manual, options};
use between::Groups;

/// As many ranks as the launcher can start; plans grow with them.
const MAX_RANKS: u32 = 1 << 20;

/// What the command line asks for.
#[derive(Clone)]
struct Request {
    simulates: bool,
    collective: String,
    ranks: u32,
    groups: Option<Groups>,
    count: u64,
    unit: u32,
    root: u32,
    whose: Option<Whose>,
    algorithm: Option<String>,
    algorithms: Option<String>,
    in_place: bool,
    ordered: bool,
    messages: bool,
    check: bool,
    why: bool,
    per_node: Option<u32>,
    map: Option<Vec<u32>>,
    bytes: Option<u64>,
    cores: Option<u32>,
    machine: Option<PathBuf>,
    svg: Option<PathBuf>,
    goal: Option<PathBuf>,
}

/// Whose plans are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    All,
    One(u32),
}

/// Of more ranks than these the first ones' plans are printed, and of these as many lines, if it is not said whose.
const MANY: u32 = 16;
const FIRST: u32 = 4;
const LINES: usize = 20;

/// What is said of plans that are right.
const RIGHT: &str = "checked: the result is right under all conditions tried";

/// Prints a plan, rank by rank: those of many ranks do not fit into memory together.
pub fn run(parser: Parser, out: &mut dyn Write) -> Outcome {
    let Some(request) = Request::parse(parser)? else {
        return Ok(out.write_all(manual::PLAN.help().as_bytes())?);
    };
    request.check_options()?;
    request.check_size()?;
    if request.simulates {
        return simulate::run(&request, out);
    }
    if let Some(groups) = request.groups {
        return between::run(&request, groups, out);
    }
    let shape = request.shape()?;
    let algorithm = algorithm(&request, &shape)?;
    request.check_rank()?;
    let plan = |rank| algorithm.plan(&shape, rank, request.in_place);
    let plans = || -> Vec<Plan> { (0..shape.ranks).map(plan).collect() };
    if let Some(file) = &request.svg {
        draw_to(file, &svg(&plans(), &shape))?;
    }
    out.write_all(summary(&request, &shape, &whom(&shape, &machine(&request)?), algorithm)?.as_bytes())?;
    if request.check {
        let in_place = vec![request.in_place; shape.ranks as usize];
        let verdict = verify::verify(&shape, &in_place, &plans(), 0);
        writeln!(out, "{}", verdict.map_or_else(|flaw| flaw.to_string(), |()| RIGHT.to_owned()))?;
    }
    print_plans(&request, |rank| format!("rank {rank}"), plan, out)
}

impl Request {
    /// Reads the command line; `None` if it asks for help.
    fn parse(mut parser: Parser) -> Outcome<Option<Self>> {
        use lexopt::prelude::*;
        let mut request = Self {
            simulates: false,
            collective: String::new(),
            ranks: 0,
            groups: None,
            count: 1,
            unit: 8,
            root: 0,
            whose: None,
            algorithm: None,
            algorithms: None,
            in_place: false,
            ordered: false,
            messages: false,
            check: false,
            why: false,
            per_node: None,
            map: None,
            bytes: None,
            cores: None,
            machine: None,
            svg: None,
            goal: None,
        };
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Short('n') => request.ranks = options::number(&mut parser, "-n")?,
                Long("check") => request.check = true,
                Long("count") => request.count = options::number(&mut parser, "--count")?,
                Long("groups") => request.groups = Some(parser.value()?.parse()?),
                Long("unit") => request.unit = options::number(&mut parser, "--unit")?,
                Long("root") => request.root = options::number(&mut parser, "--root")?,
                Long("rank") => request.whose = Some(parser.value()?.parse()?),
                Long("algorithm") => request.algorithm = Some(parser.value()?.string()?),
                Long("algorithms") => request.algorithms = Some(parser.value()?.string()?),
                Long("in-place") => request.in_place = true,
                Long("ordered") => request.ordered = true,
                Long("messages") => request.messages = true,
                Long("why") => request.why = true,
                Long("bytes") => request.bytes = Some(options::number(&mut parser, "--bytes")?),
                Long("cores") => request.cores = Some(options::number(&mut parser, "--cores")?),
                Long("machine") => request.machine = Some(parser.value()?.into()),
                Long("ranks-per-node") => {
                    request.per_node = Some(options::number(&mut parser, "--ranks-per-node")?);
                }
                Long("map") => request.map = Some(map(&parser.value()?.string()?)?),
                Long("svg") => request.svg = Some(parser.value()?.into()),
                Long("goal") => request.goal = Some(parser.value()?.into()),
                Value(word) if word == "simulate" && !request.simulates => request.simulates = true,
                Value(name) if request.collective.is_empty() => request.collective = name.string()?,
                other => return Err(options::unexpected(&other, &manual::PLAN)),
            }
        }
        if request.collective.is_empty() {
            return Err("which collective? see oxmpi plan --help".into());
        }
        Ok(Some(request))
    }

    fn shape(&self) -> Outcome<Shape> {
        let Self { ranks, root, .. } = *self;
        if ranks == 0 {
            return Err("-n must be at least 1, not 0".into());
        }
        check_root(root, ranks)?;
        if self.per_node == Some(0) {
            return Err("--ranks-per-node must be at least 1, not 0".into());
        }
        let collective = collective(&self.collective)?;
        let shape = Shape {
            unit: unit_of(self, collective),
            commutative: !self.ordered,
            nodes: nodes_of(self),
            ..Shape::of(collective, ranks, bytes_of(self, collective, ranks)?)
        };
        Ok(if collective.info().is_rooted() { shape.rooted(Root::Rank(root)) } else { shape })
    }

    /// Refuses what would have no effect beside the rest.
    fn check_options(&self) -> Outcome {
        let (simulates, between, one_by_one) =
            (self.simulates, self.groups.is_some(), self.per_node.is_some());
        let is_table = simulates && !between && self.ranks == 0;
        let unheard = [
            ("--check", self.check && simulates, "with simulate"),
            ("--why", self.why && simulates, "with simulate"),
            ("--rank", self.whose.is_some() && simulates, "with simulate"),
            ("--in-place", self.in_place && simulates, "with simulate"),
            ("--goal", self.goal.is_some() && !simulates, "without simulate"),
            ("--goal", self.goal.is_some() && is_table, "without -n"),
            ("--algorithm", self.algorithm.is_some() && is_table, "without -n"),
            ("--svg", self.svg.is_some() && simulates && self.ranks != 0, "with simulate and -n"),
            ("--map", self.map.is_some() && between, "with --groups"),
            ("--ranks-per-node", one_by_one && between, "with --groups"),
            ("--map", self.map.is_some() && one_by_one, "with --ranks-per-node"),
            ("--map", self.map.is_some() && self.messages, "with --messages"),
            ("--ranks-per-node", one_by_one && self.messages, "with --messages"),
        ];
        match unheard.into_iter().find(|&(_, is_unheard, _)| is_unheard) {
            Some((option, _, place)) => Err(format!("{option} has no effect {place}").into()),
            None => Ok(()),
        }
    }

    /// Refuses more ranks than there can be, and than can be kept in memory where that is needed.
    fn check_size(&self) -> Outcome {
        let ranks = self.all_ranks();
        for (option, is_given) in [("--check", self.check), ("--svg", self.svg.is_some())] {
            if is_given && ranks > verify::MAX_RANKS {
                return Err(format!("{option} serves up to {} ranks", verify::MAX_RANKS).into());
            }
        }
        if ranks <= MAX_RANKS {
            return Ok(());
        }
        let given = self.groups.map_or_else(|| format!("-n {ranks}"), |groups| format!("--groups {groups}"));
        Err(format!("{given}: a job can have 1 to {MAX_RANKS} ranks").into())
    }

    fn check_rank(&self) -> Outcome {
        match (self.whose, self.all_ranks()) {
            (Some(Whose::One(rank)), ranks) if rank >= ranks => {
                Err(format!("--rank {rank} is not below the number of ranks, {ranks}").into())
            }
            _ => Ok(()),
        }
    }

    /// Ranks of one group or of both.
    fn all_ranks(&self) -> u32 {
        self.groups.map_or(self.ranks, Groups::ranks)
    }
}

impl FromStr for Whose {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = || text.parse().map(Self::One).ok();
        let whose = if text == "all" { Some(Self::All) } else { one() };
        whose.ok_or_else(|| format!("--rank should be a number or `all`, not '{text}'"))
    }
}

/// Prints the plans that are asked for; of many ranks, if none is named, how the first ones begin.
fn print_plans(
    request: &Request,
    title: impl Fn(u32) -> String,
    plan: impl Fn(u32) -> Plan,
    out: &mut dyn Write,
) -> Outcome {
    let all = request.all_ranks();
    let ranks = match request.whose {
        None if request.why => return Ok(()),
        None if all > MANY => {
            for rank in 0..FIRST {
                write!(out, "\n{}: {}", title(rank), beginning(&plan(rank).to_string()))?;
            }
            let rest = "--rank R prints the plan of rank R, --rank all those of all";
            return Ok(writeln!(out, "\n{} more ranks: {rest}", all - FIRST)?);
        }
        None | Some(Whose::All) => 0..all,
        Some(Whose::One(rank)) => rank..rank + 1,
    };
    for rank in ranks {
        write!(out, "\n{}: {}", title(rank), plan(rank))?;
    }
    Ok(())
}

/// The first lines of a text, and how many there are more.
fn beginning(text: &str) -> String {
    let (count, end) = (text.lines().count(), text.match_indices('\n').nth(LINES - 1));
    match end {
        Some((end, _)) if count > LINES => format!("{}\n... {} more\n", &text[..end], count - LINES),
        _ => text.to_owned(),
    }
}

fn check_root(root: u32, ranks: u32) -> Outcome {
    if root >= ranks {
        return Err(format!("--root {root} is not below the number of ranks, {ranks}").into());
    }
    Ok(())
}

/// Bytes of the vector or block.
fn bytes_of(request: &Request, collective: Collective, ranks: u32) -> Outcome<u64> {
    let Request { count, unit, .. } = *request;
    if unit == 0 {
        return Err("--unit must be at least 1, not 0".into());
    }
    if let Some(bytes) = request.bytes.filter(|bytes| bytes % u64::from(unit) != 0) {
        return Err(format!("--bytes {bytes} are not whole elements of --unit {unit} bytes").into());
    }
    let count = request.bytes.map_or(count, |bytes| bytes / u64::from(unit));
    let bytes = count
        .checked_mul(unit.into())
        .and_then(|bytes| bytes.checked_mul(ranks.into()).map(|_| bytes))
        .ok_or_else(|| format!("--count {count} x --unit {unit} bytes on {ranks} ranks is too much"))?;
    Ok(if collective.info().moves_data() { bytes } else { 0 })
}

/// Bytes of an element, where elements matter.
fn unit_of(request: &Request, collective: Collective) -> u32 {
    if collective.info().is_reduction() { request.unit } else { 1 }
}

/// Who shares memory.
fn nodes_of(request: &Request) -> Nodes {
    if let Some(map) = &request.map {
        return Nodes::of(&map.iter().copied().cycle().take(request.ranks as usize).collect::<Vec<_>>());
    }
    match request.per_node {
        _ if request.messages => Nodes::APART,
        Some(per_node) if per_node < request.ranks => Nodes::Regular { per_node },
        _ => Nodes::One,
    }
}

/// The node of each rank, with commas between: `0,1` or, as often as it says, `0x4,1x8`.
fn map(text: &str) -> Outcome<Vec<u32>> {
    let mut labels = Vec::new();
    for part in text.split(',') {
        let (node, times) = part.split_once('x').unwrap_or((part, "1"));
        let times = times.parse().ok().filter(|times| (1..=MAX_RANKS).contains(times));
        let (Ok(node), Some(times)) = (node.parse::<u32>(), times) else {
            return Err(
                format!("--map: '{part}' should be the number of a node, or with times, like 0x4").into()
            );
        };
        labels.extend(std::iter::repeat_n(node, times as usize));
    }
    Ok(labels)
}

/// The machine that predictions are for: with the cores of this one, if the ranks are here and nobody says how many.
fn machine(request: &Request) -> Outcome<Machine> {
    let machine = match &request.machine {
        None => Machine::default(),
        Some(file) => {
            let text = fs::read_to_string(file)
                .map_err(|error| format!("cannot read {}: {error}", file.display()))?;
            Machine::parse(&text).map_err(|error| format!("{}: {}", file.display(), error.text()))?
        }
    };
    let has_nodes = request.messages || request.map.is_some() || request.per_node.is_some();
    let cores = match request.cores {
        Some(cores) => cores,
        None if machine.cores > 0 || has_nodes || request.ranks == 0 => machine.cores,
        None => usable_cpus() as u32,
    };
    Ok(Machine { cores, ..machine })
}

/// The ranks of a group, and the cores that they share.
fn whom(shape: &Shape, machine: &Machine) -> String {
    let (ranks, cores) = (shape.ranks, machine.cores);
    let shares = (1..shape.nodes.largest(ranks)).contains(&cores);
    let cores =
        if shares { format!(" on {cores} core{}", if cores > 1 { "s" } else { "" }) } else { String::new() };
    format!("among {ranks} ranks{cores}")
}

/// The algorithms that are preferred, as in a job with that setting, and the machine.
fn overrides(request: &Request) -> Outcome<Overrides> {
    let text = match request.algorithms.as_deref().map(|text| text.strip_prefix('@').ok_or(text)) {
        Some(Ok(file)) => fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"))?,
        Some(Err(text)) => text.to_owned(),
        None => String::new(),
    };
    let overrides = Overrides::parse(&text).map_err(|error| error.text().to_owned())?;
    Ok(overrides.on(machine(request)?))
}

/// Writes a picture.
fn draw_to(file: &Path, picture: &str) -> Outcome {
    fs::write(file, picture).map_err(|error| format!("cannot write {}: {error}", file.display()).into())
}

/// The collective called `name`.
fn collective(name: &str) -> Outcome<Collective> {
    Collective::named(name).ok_or_else(|| options::unknown("collective", name, Collective::NAMES))
}

/// The algorithm that was named, or else the one that a job would take.
fn algorithm(request: &Request, shape: &Shape) -> Outcome<&'static Algorithm> {
    let Some(name) = &request.algorithm else {
        return Ok(select(shape, &overrides(request)?));
    };
    let all = candidates(shape);
    match all.iter().find(|algorithm| algorithm.name() == name) {
        Some(algorithm) if algorithm.admits(shape) => Ok(algorithm),
        Some(algorithm) => {
            Err(format!("--algorithm {name} is not for this: it {}", refusal(algorithm, shape)).into())
        }
        None => {
            let names: Vec<_> = all.iter().map(|algorithm| algorithm.name()).collect();
            Err(options::unknown("algorithm", name, &names))
        }
    }
}

/// What is planned among `whom`, and what the other admissible algorithms are expected to take.
fn summary(request: &Request, shape: &Shape, whom: &str, chosen: &Algorithm) -> Outcome<String> {
    let (name, bytes) = (shape.collective.name(), shape.bytes);
    let mut out = format!("{name} of {bytes} bytes {whom} by {}\n", chosen.name());
    let machine = machine(request)?;
    if request.why {
        let named = request.algorithm.as_ref().map(|algorithm| {
            let before = if shape.is_between() { "inter-" } else { "" };
            format!("{before}{name}={algorithm}")
        });
        let overrides = match named {
            Some(named) => Overrides::parse(&named).map_err(|error| error.text().to_owned())?.on(machine),
            None => overrides(request)?,
        };
        write!(out, "{}", why(shape, &overrides))?;
        return Ok(out);
    }
    for algorithm in candidates(shape).iter().filter(|algorithm| algorithm.admits(shape)) {
        let mark = if algorithm.name() == chosen.name() { '*' } else { ' ' };
        match algorithm.cost(shape, &machine) {
            Some(cost) => {
                let us = cost.total_ns() / 1000.0;
                writeln!(out, " {mark} {:<24}{us:>12.2} us predicted", algorithm.name())?;
            }
            None => writeln!(out, " {mark} {}", algorithm.name())?,
        }
    }
    Ok(out)
}
