//! `oxmpi plan simulate`: what the algorithms take, found out by walking the plans of all ranks.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use oxmpi_plan::simulate::{Simulation, goal, simulate, simulate_loop};
use oxmpi_plan::{Algorithm, Machine, Overrides, Shape, candidates, select};

use super::{Request, algorithm, chart, draw_to, machine, overrides, whom};
use crate::Outcome;

/// How long a simulation may take.
const LONGEST: Duration = Duration::from_secs(600);

/// The same of one of many.
const LONGEST_CELL: Duration = Duration::from_secs(20);

/// Plans of so many actions are walked in a loop, too.
const FEW_ACTIONS: u64 = 100_000;

/// As many stops of a critical path are printed from its beginning, and from its end.
const STOPS: usize = 12;

/// Prints what the chosen algorithm takes among so many ranks, or what all take from 2 ranks on.
pub fn run(request: &Request, out: &mut dyn Write) -> Outcome {
    if request.groups.is_some() {
        return Err("simulate serves one group, not --groups".into());
    }
    if request.ranks == 0 {
        return table(request, out);
    }
    let shape = request.shape()?;
    let machine = machine(request)?;
    let chosen = algorithm(request, &shape)?;
    if let Some(file) = &request.goal {
        let failed = |error| format!("cannot write {}: {error}", file.display());
        let mut text = BufWriter::new(File::create(file).map_err(failed)?);
        goal(&shape, chosen, &machine, &mut text)
            .map_err(|error| error.text().to_owned())?
            .and_then(|()| text.flush())
            .map_err(failed)?;
    }
    let begin = Instant::now();
    let simulation =
        simulate(&shape, chosen, &machine, &within(LONGEST)).map_err(|error| error.text().to_owned())?;
    let (name, bytes, whom) = (shape.collective.name(), shape.bytes, whom(&shape, &machine));
    writeln!(out, "{name} of {bytes} bytes {whom} by {}", chosen.name())?;
    writeln!(out, "   simulated {}", simulation.cost)?;
    if let Some(cost) = chosen.cost(&shape, &machine) {
        writeln!(out, "   predicted {cost}")?;
    }
    if simulation.actions <= FEW_ACTIONS {
        let by_calls = Machine { run_ns: machine.run_ns + machine.call_ns, ..machine.clone() };
        for (machine, what) in [(&machine, "in a loop"), (&by_calls, " by calls")] {
            if let Ok(pace_ns) = simulate_loop(&shape, chosen, machine, &within(LONGEST_CELL)) {
                writeln!(out, "   {what} {:>12.2} us", pace_ns / 1000.0)?;
            }
        }
    }
    let Simulation { actions, walked_ranks, .. } = simulation;
    let took = begin.elapsed().as_secs_f64();
    writeln!(out, "{actions} actions of {walked_ranks} ranks were walked in {took:.1} s")?;
    write_path(&simulation, out)
}

/// Prints the critical path, from its beginning.
fn write_path(simulation: &Simulation, out: &mut dyn Write) -> Outcome {
    let path = &simulation.path;
    writeln!(out, "\ncritical path, {} ranks:", path.len())?;
    for (index, stop) in path.iter().rev().enumerate() {
        let is_shown = index < STOPS || index + STOPS >= path.len();
        if is_shown {
            writeln!(out, "{:>14.2} us  rank {}", stop.at_ns / 1000.0, stop.rank)?;
        } else if index == STOPS {
            writeln!(out, "{:>17}", "...")?;
        }
    }
    Ok(())
}

/// Whether a time that begins now is not over.
fn within(time: Duration) -> impl Fn(f64) -> bool {
    let begin = Instant::now();
    move |_| begin.elapsed() < time
}

/// A number of ranks, and what each algorithm takes there, if it serves and can be walked.
pub struct Row {
    pub ranks: u32,
    /// Microseconds, in the order of [`candidates`].
    pub times_us: Vec<Option<f64>>,
    /// Which of them is chosen.
    pub chosen: usize,
}

/// Prints, and draws, what all algorithms take among 2 to 2^20 ranks.
fn table(request: &Request, out: &mut dyn Write) -> Outcome {
    let overrides = overrides(request)?;
    let shape_of = |ranks| Request { ranks, ..request.clone() }.shape();
    let all = candidates(&shape_of(2)?);
    write!(out, "|{:>8} |", "ranks")?;
    all.iter().try_for_each(|algorithm| write!(out, "{:>19} |", algorithm.name()))?;
    writeln!(out, "\n|--------:|{}", "-------------------:|".repeat(all.len()))?;
    let mut rows = Vec::new();
    for ranks in (1..=20).map(|power| 1 << power) {
        let row = row(&shape_of(ranks)?, all, &overrides);
        write!(out, "|{ranks:>8} |")?;
        for (index, time_us) in row.times_us.iter().enumerate() {
            let mark = if index == row.chosen { "**" } else { "" };
            let text = time_us.map_or("-".to_owned(), |us| format!("{us:.2}"));
            write!(out, "{:>19} |", format!("{mark}{text}{mark}"))?;
        }
        writeln!(out)?;
        out.flush()?;
        rows.push(row);
    }
    if let Some(file) = &request.svg {
        let shape = shape_of(2)?;
        let title = match shape.collective.info().moves_data() {
            true => format!("{} of {} bytes", shape.collective.name(), shape.bytes),
            false => shape.collective.name().to_owned(),
        };
        let names: Vec<_> = all.iter().map(|algorithm| algorithm.name()).collect();
        draw_to(file, &chart::chart(&title, &names, &rows))?;
    }
    Ok(())
}

fn row(shape: &Shape, all: &[&'static Algorithm], overrides: &Overrides) -> Row {
    let (chosen, machine) = (select(shape, overrides), overrides.machine());
    let time_us = |algorithm: &&'static Algorithm| {
        let simulation = algorithm
            .admits(shape)
            .then(|| simulate(shape, algorithm, machine, &within(LONGEST_CELL)).ok())
            .flatten();
        simulation.map(|simulation| simulation.cost.total_ns() / 1000.0)
    };
    Row {
        ranks: shape.ranks,
        times_us: all.iter().map(time_us).collect(),
        chosen: all.iter().position(|algorithm| std::ptr::eq(*algorithm, chosen)).expect("it is one of them"),
    }
}
