//! `oxmpi tune`: measures what the elementary actions cost on this machine, for the model that chooses algorithms.
//!
//! What memory costs is measured between threads on processors of their own, what messages cost between two ranks that
//! `mpiexec` starts. What this machine cannot show - readers of a line where there are two processors, a fabric -
//! stays as it was.

mod copies;
mod gathered;
mod lines;
mod messages;
mod processors;
mod roots;
mod timed;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use lexopt::Parser;
use oxmpi_plan::Machine;

use crate::{Outcome, manual, options};
use processors::Processors;

/// A constant of the machine, by its name in the file.
type Constant = (&'static str, f64);

/// What the command line asks for.
#[derive(Debug, Default)]
struct Request {
    file: Option<PathBuf>,
    /// Whether this is one of the ranks that are started.
    is_rank: bool,
}

/// Measures, and writes the constants to the file or to `out`.
pub fn run(parser: Parser, out: &mut dyn Write) -> Outcome {
    let Some(request) = Request::parse(parser)? else {
        return Ok(out.write_all(manual::TUNE.help().as_bytes())?);
    };
    if request.is_rank {
        return messages::run_rank(out);
    }
    let text = to_text(&measure()?)?;
    match &request.file {
        Some(file) => fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()).into()),
        None => Ok(out.write_all(text.as_bytes())?),
    }
}

impl Request {
    /// Reads the command line; `None` if it asks for help.
    fn parse(mut parser: Parser) -> Outcome<Option<Self>> {
        use lexopt::prelude::*;
        let mut request = Self::default();
        while let Some(argument) = parser.next()? {
            match argument {
                Short('h') | Long("help") => return Ok(None),
                Short('o') | Long("output") => request.file = Some(parser.value()?.into()),
                Long(messages::AS_RANK) => request.is_rank = true,
                other => return Err(options::unexpected(&other, &manual::TUNE)),
            }
        }
        Ok(Some(request))
    }
}

fn measure() -> Outcome<Vec<Constant>> {
    let processors = Processors::allowed()?;
    tell(&format!("measures {} processors, which should have nothing else to do", processors.count()));
    let mut constants = lines::measure(&processors);
    constants.extend(copies::measure(&processors));
    for (name, value) in messages::measure(&processors, &constants)? {
        constants.retain(|(known, _)| *known != name);
        constants.push((name, value));
    }
    Ok(constants)
}

/// As the library reads it; what is not measured is as usual.
fn to_text(constants: &[Constant]) -> Outcome<String> {
    let line = |&(name, value): &Constant| {
        let is_whole = value >= 1000.0 || value.fract() == 0.0;
        if is_whole { format!("{name} = {value:.0}\n") } else { format!("{name} = {value:.4}\n") }
    };
    let lines: String = constants.iter().map(line).collect();
    let machine = Machine::parse(&lines).map_err(|error| error.text().to_owned())?;
    Ok(machine.to_text())
}

fn tell(text: &str) {
    // Who reads it may have gone.
    let _ = writeln!(io::stderr(), "oxmpi tune: {text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_a_machine_and_the_rest_is_as_usual() {
        let text = to_text(&[("hop_far_ns", 123.456_78), ("cores", 8.0), ("cache_bytes", 33_554_432.0)]);
        let machine = Machine::parse(&text.expect("all are constants")).expect("it was written");
        let usual = Machine::default();
        let expected = Machine { hop_far_ns: 123.4568, cores: 8, cache_bytes: 32 << 20, ..usual };
        assert_eq!(machine, expected);
        assert!(to_text(&[("hop", 1.0)]).is_err());
    }
}
