//! `oxmpi info`: which functions of the standard are built.
//!
//! Counted from the table that the library itself is generated from.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lexopt::Parser;
use oxmpi_base::{Chapter, Function};

use crate::{Outcome, manual, options};

/// Prints the counts, or with `--functions` every name.
pub fn run(mut parser: Parser) -> Outcome<String> {
    use lexopt::prelude::*;
    let mut names = false;
    while let Some(argument) = parser.next()? {
        match argument {
            Long("functions") => names = true,
            Long("version") => return Ok(version()),
            Short('h') | Long("help") => return Ok(manual::INFO.help()),
            other => return Err(options::unexpected(&other, &manual::INFO)),
        }
    }
    let mut chapters: BTreeMap<Chapter, Vec<Function>> = BTreeMap::new();
    for function in Function::all() {
        chapters.entry(function.chapter()).or_default().push(function);
    }
    let mut out = version();
    for (chapter, functions) in &chapters {
        let (built, all) = count(functions);
        if names {
            writeln!(out, "\n{}: {built} of {all} built", chapter.name())?;
            for function in functions {
                let state = if function.built() { "built  " } else { "unbuilt" };
                writeln!(out, "  {state} {}", function.name())?;
            }
        } else {
            writeln!(out, "  {:<26}{built:>4} of {all:>3}", chapter.name())?;
        }
    }
    let (built, all) = count(&Function::all().collect::<Vec<_>>());
    writeln!(out, "{}{built} of {all} functions are built", if names { "\n" } else { "" })?;
    Ok(out)
}

/// The version of oxmpi and of the standard.
pub fn version() -> String {
    format!("oxmpi {}, MPI-5.0 in the standard ABI\n", env!("CARGO_PKG_VERSION"))
}

/// How many of `functions` are built, and how many there are.
fn count(functions: &[Function]) -> (usize, usize) {
    (functions.iter().filter(|function| function.built()).count(), functions.len())
}
