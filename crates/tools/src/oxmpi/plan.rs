//! `oxmpi plan`: the steps by which a collective would be carried out.

mod between;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use lexopt::Parser;
use oxmpi_plan::{Algorithm, Collective, Overrides, Plan, Shape, candidates, select, svg, verify};

use crate::{Outcome, options};
use between::Groups;

const HELP: &str = "\
usage: oxmpi plan COLLECTIVE -n RANKS [options]
       oxmpi plan COLLECTIVE --groups RANKSxRANKS [options]

  -n RANKS           ranks of the communicator
  --groups 3x4       ranks of the two groups of an intercommunicator, which are counted through
  --count N          elements of the vector, or of one rank's block (default 1)
  --unit BYTES       bytes of an element (default 8)
  --root R           the root, of a collective that has one (default 0)
  --rank R           the plan of this rank only
  --algorithm NAME   this algorithm instead of the one that would be taken
  --in-place         as with MPI_IN_PLACE
  --ordered          as with an operation that does not commute
  --messages         as if the ranks did not share memory
  --check            also run the plans of all ranks symbolically, and say whether the result is right
  --svg FILE         also draw the plans of all ranks
";

const OPTIONS: [&str; 14] = [
    "-n",
    "--algorithm",
    "--check",
    "--count",
    "--groups",
    "--help",
    "--in-place",
    "--messages",
    "--ordered",
    "--rank",
    "--root",
    "--svg",
    "--unit",
    "-h",
];

/// What the command line asks for.
struct Request {
    collective: String,
    ranks: u32,
    groups: Option<Groups>,
    count: u64,
    unit: u32,
    root: u32,
    rank: Option<u32>,
    algorithm: Option<String>,
    in_place: bool,
    ordered: bool,
    messages: bool,
    check: bool,
    svg: Option<PathBuf>,
}

/// What is said of plans that are right.
const RIGHT: &str = "checked: the result is right under all conditions tried";

/// Prints a plan.
pub fn run(parser: Parser) -> Outcome<String> {
    let Some(request) = Request::parse(parser)? else {
        return Ok(HELP.to_owned());
    };
    if request.check && request.all_ranks() > verify::MAX_RANKS {
        return Err(format!("--check serves up to {} ranks", verify::MAX_RANKS).into());
    }
    if let Some(groups) = request.groups {
        return between::run(&request, groups);
    }
    let shape = request.shape()?;
    let algorithm = request.algorithm(&shape)?;
    let plan = |rank| algorithm.plan(&shape, rank, request.in_place);
    let plans = || -> Vec<Plan> { (0..shape.ranks).map(plan).collect() };
    if let Some(file) = &request.svg {
        draw_to(file, &svg(&plans(), &shape))?;
    }
    let mut out = summary(&shape, algorithm)?;
    if request.check {
        let in_place = vec![request.in_place; shape.ranks as usize];
        let verdict = verify::verify(&shape, &in_place, &plans(), 0);
        writeln!(out, "{}", verdict.map_or_else(|flaw| flaw.to_string(), |()| RIGHT.to_owned()))?;
    }
    for rank in ranks_to_show(request.rank, shape.ranks)? {
        write!(out, "\nrank {rank}: {}", plan(rank))?;
    }
    Ok(out)
}

impl Request {
    /// Reads the command line; `None` if it asks for help.
    fn parse(mut parser: Parser) -> Outcome<Option<Self>> {
        use lexopt::prelude::*;
        let mut request = Self {
            collective: String::new(),
            ranks: 0,
            groups: None,
            count: 1,
            unit: 8,
            root: 0,
            rank: None,
            algorithm: None,
            in_place: false,
            ordered: false,
            messages: false,
            check: false,
            svg: None,
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
                Long("rank") => request.rank = Some(options::number(&mut parser, "--rank")?),
                Long("algorithm") => request.algorithm = Some(parser.value()?.string()?),
                Long("in-place") => request.in_place = true,
                Long("ordered") => request.ordered = true,
                Long("messages") => request.messages = true,
                Long("svg") => request.svg = Some(parser.value()?.into()),
                Value(name) if request.collective.is_empty() => request.collective = name.string()?,
                other => return Err(options::unexpected(&other, &OPTIONS)),
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
        let collective = collective(&self.collective, root)?;
        Ok(Shape {
            collective,
            ranks,
            bytes: bytes_of(self, collective, ranks)?,
            unit: unit_of(self, collective),
            commutative: !self.ordered,
            node: !self.messages,
        })
    }

    /// The algorithm that was named, or else the one that a job would take.
    fn algorithm(&self, shape: &Shape) -> Outcome<&'static Algorithm> {
        let Some(name) = &self.algorithm else {
            return Ok(select(shape, &Overrides::default()));
        };
        let all = candidates(shape.collective);
        let Some(algorithm) = all.iter().find(|algorithm| algorithm.name() == name) else {
            let names: Vec<_> = all.iter().map(|algorithm| algorithm.name()).collect();
            return Err(options::unknown("algorithm", name, &names));
        };
        if algorithm.admits(shape) {
            return Ok(algorithm);
        }
        Err(format!("{name} does not serve this case ({shape:?})").into())
    }

    /// Ranks of one group or of both.
    fn all_ranks(&self) -> u32 {
        self.groups.map_or(self.ranks, Groups::ranks)
    }
}

/// The rank that was asked for, or all.
fn ranks_to_show(rank: Option<u32>, ranks: u32) -> Outcome<Vec<u32>> {
    match rank {
        Some(rank) if rank >= ranks => {
            Err(format!("--rank {rank} is not below the number of ranks, {ranks}").into())
        }
        Some(rank) => Ok(vec![rank]),
        None => Ok((0..ranks).collect()),
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
    let bytes = count
        .checked_mul(unit.into())
        .and_then(|bytes| bytes.checked_mul(ranks.into()).map(|_| bytes))
        .ok_or_else(|| format!("--count {count} x --unit {unit} bytes on {ranks} ranks is too much"))?;
    Ok(if collective == Collective::Barrier { 0 } else { bytes })
}

/// Bytes of an element, where elements matter.
fn unit_of(request: &Request, collective: Collective) -> u32 {
    let reduces = matches!(collective, Collective::Allreduce | Collective::Reduce { .. });
    if reduces { request.unit } else { 1 }
}

/// Writes a picture.
fn draw_to(file: &Path, picture: &str) -> Outcome {
    fs::write(file, picture).map_err(|error| format!("cannot write {}: {error}", file.display()).into())
}

/// The collective called `name`.
fn collective(name: &str, root: u32) -> Outcome<Collective> {
    let all = [
        Collective::Allgather,
        Collective::Allreduce,
        Collective::Alltoall,
        Collective::Barrier,
        Collective::Bcast { root },
        Collective::Gather { root },
        Collective::Reduce { root },
        Collective::Scatter { root },
    ];
    match all.iter().find(|collective| collective.name() == name) {
        Some(collective) => Ok(*collective),
        None => Err(options::unknown("collective", name, &all.map(|collective| collective.name()))),
    }
}

/// What is planned, and what the other admissible algorithms are expected to take.
fn summary(shape: &Shape, chosen: &Algorithm) -> Outcome<String> {
    let mut out = format!(
        "{} of {} bytes among {} ranks by {}\n",
        shape.collective.name(),
        shape.bytes,
        shape.ranks,
        chosen.name()
    );
    for algorithm in candidates(shape.collective).iter().filter(|algorithm| algorithm.admits(shape)) {
        let mark = if algorithm.name() == chosen.name() { '*' } else { ' ' };
        let microseconds = algorithm.cost_ns(shape) / 1000.0;
        writeln!(out, " {mark} {:<24}{microseconds:>12.2} us predicted", algorithm.name())?;
    }
    Ok(out)
}
