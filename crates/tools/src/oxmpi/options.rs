//! Complaints about a command line that name what was wrong and what was perhaps meant.

use std::fmt::Display;
use std::str::FromStr;

use lexopt::{Arg, Parser};
use oxmpi_manual::Manual;

use crate::Outcome;

/// An error for an argument that is none of those in `manual`.
pub fn unexpected(argument: &Arg<'_>, manual: &Manual<'_>) -> Box<dyn std::error::Error> {
    let names = manual.option_names();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    match argument {
        Arg::Short(letter) => unknown("option", &format!("-{letter}"), &known),
        Arg::Long(name) => unknown("option", &format!("--{name}"), &known),
        Arg::Value(value) => format!("do not know what to do with '{}'", value.to_string_lossy()).into(),
    }
}

/// An error for a `word` of some kind that is none of `known`.
pub fn unknown(kind: &str, word: &str, known: &[&str]) -> Box<dyn std::error::Error> {
    let nearest = known.iter().min_by_key(|candidate| distance(word, candidate));
    match nearest {
        Some(nearest) if distance(word, nearest) <= word.len() / 2 => {
            format!("unknown {kind} '{word}'; did you mean '{nearest}'?").into()
        }
        _ => format!("unknown {kind} '{word}'; known are {}", known.join(", ")).into(),
    }
}

/// The value of `option` as a number.
pub fn number<T: FromStr<Err: Display>>(parser: &mut Parser, option: &str) -> Outcome<T> {
    let value = parser.value()?;
    let text = value.to_string_lossy();
    text.parse().map_err(|error| format!("{option} needs a number, not '{text}': {error}").into())
}

/// How many letters to insert, remove or replace to get from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[row.len() - 1]
}

#[cfg(test)]
mod tests {
    use super::distance;

    #[test]
    fn distance_counts_single_letters() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("ring", "ring"), 0);
        assert_eq!(distance("rign", "ring"), 2);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
