//! Plans as GOAL text, which public simulators of message passing read (LogGOPSim and those after it).
//!
//! The language knows `send`, `recv` and `calc` (nanoseconds), and what each `requires`. A post is a send to each rank
//! that pulls it, with a tag for its line and segment; messages have tag 0, and are matched in order. What costs a
//! core time is a `calc` by the prices of the machine; what a simulator makes of the rest depends on its own constants.

use std::collections::BTreeMap;
use std::io::{self, Write};

use oxmpi_base::Result;

use super::program::{Kind, Op, Programs};
use crate::prices::Prices;
use crate::{Algorithm, MAX_LINES, Machine, Shape};

/// Who pulls how many bytes of each post, by rank, line and segment.
type Pulls = BTreeMap<(u32, u8, u32), Vec<(u32, f32)>>;

/// Writes the plans of all ranks of one group.
///
/// # Errors
/// The outer one if there are too many actions; the inner one if `out` cannot be written.
pub fn goal(
    shape: &Shape,
    algorithm: &Algorithm,
    machine: &Machine,
    out: &mut dyn Write,
) -> Result<io::Result<()>> {
    let programs = Programs::of(shape, algorithm, shape.ranks, &|_| true)?;
    Ok(write(shape, &programs, &Prices::of(shape, machine), out))
}

fn write(shape: &Shape, programs: &Programs, prices: &Prices<'_>, out: &mut dyn Write) -> io::Result<()> {
    let program = |rank: u32| {
        let index = rank as usize;
        &programs.ops[programs.begins[index]..programs.begins[index + 1]]
    };
    let mut pulls = Pulls::new();
    for rank in 0..shape.ranks {
        for op in program(rank).iter().filter(|op| is_pull(op) && op.peer != rank) {
            pulls.entry((op.peer, op.line, op.number)).or_default().push((rank, op.bytes));
        }
    }
    writeln!(out, "num_ranks {}", shape.ranks)?;
    for rank in 0..shape.ranks {
        writeln!(out, "\nrank {rank} {{")?;
        let mut text = Text { out, labels: 0, last: None, messages: BTreeMap::new() };
        for op in program(rank) {
            text.write(rank, op, prices, &pulls)?;
        }
        writeln!(out, "}}")?;
    }
    Ok(())
}

fn is_pull(op: &Op) -> bool {
    matches!(op.kind, Kind::Pull | Kind::PullReduce)
}

/// The actions of a rank, being written.
struct Text<'a> {
    out: &'a mut dyn Write,
    labels: u64,
    /// The last action that is over when the next begins.
    last: Option<u64>,
    /// The labels of messages.
    messages: BTreeMap<u32, u64>,
}

impl Text<'_> {
    fn write(&mut self, rank: u32, op: &Op, prices: &Prices<'_>, pulls: &Pulls) -> io::Result<()> {
        let bytes = f64::from(op.bytes);
        match op.kind {
            Kind::Await => {
                let awaited = self.messages.get(&op.number).copied();
                self.calc(0.0)?;
                awaited.map_or(Ok(()), |awaited| self.require(self.labels, awaited))
            }
            Kind::Copy => self.calc(prices.copy(bytes).total_ns()),
            Kind::Reduce => self.calc(prices.reduce(bytes).total_ns()),
            Kind::Post => {
                self.calc(prices.post(bytes).total_ns())?;
                for (reader, bytes) in pulls.get(&(rank, op.line, op.number)).into_iter().flatten() {
                    self.message("send", *bytes, "to", *reader, tag(op))?;
                }
                Ok(())
            }
            Kind::Pull | Kind::PullReduce => {
                let is_reduction = op.kind == Kind::PullReduce;
                let price = if is_reduction { prices.pull_reduce(bytes) } else { prices.pull(bytes) };
                let arrived = match op.peer == rank {
                    true => None,
                    false => Some(self.message("recv", op.bytes, "from", op.peer, tag(op))?),
                };
                self.calc(price.total_ns())?;
                arrived.map_or(Ok(()), |arrived| self.require(self.labels, arrived))
            }
            Kind::Receive | Kind::Send => {
                let (verb, word) = if op.kind == Kind::Send { ("send", "to") } else { ("recv", "from") };
                let label = self.message(verb, op.bytes, word, op.peer, 0)?;
                self.messages.insert(op.number, label);
                Ok(())
            }
        }
    }

    /// Begins a message when all before is over; returns its label.
    fn message(&mut self, verb: &str, bytes: f32, word: &str, peer: u32, tag: u64) -> io::Result<u64> {
        self.labels += 1;
        // Simulators divide by sizes.
        writeln!(self.out, "l{}: {verb} {}b {word} {peer} tag {tag}", self.labels, bytes.max(1.0))?;
        self.require_last(self.labels)?;
        Ok(self.labels)
    }

    fn calc(&mut self, ns: f64) -> io::Result<()> {
        self.labels += 1;
        writeln!(self.out, "l{}: calc {}", self.labels, ns.round())?;
        self.require_last(self.labels)?;
        self.last = Some(self.labels);
        Ok(())
    }

    fn require_last(&mut self, label: u64) -> io::Result<()> {
        self.last.map_or(Ok(()), |last| self.require(label, last))
    }

    fn require(&mut self, label: u64, required: u64) -> io::Result<()> {
        writeln!(self.out, "l{label} requires l{required}")
    }
}

fn tag(op: &Op) -> u64 {
    1 + u64::from(op.number) * MAX_LINES as u64 + u64::from(op.line)
}
