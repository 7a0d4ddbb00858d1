//! Which share of many cases a run of the tests takes: another one with each commit.

use std::env;
use std::fmt;
use std::process::Command;

/// A share of cases that are cut into several, or all of them.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    number: Option<u32>,
    shares: u32,
}

impl Share {
    /// That which the variable asks for, by its number or as `all`; without it, that of the commit.
    ///
    /// # Panics
    /// If the variable says something else.
    pub fn asked_by(variable: &str, shares: u32) -> Self {
        let number = match env::var(variable).ok().as_deref() {
            Some("all") => None,
            Some(number) => Some(
                number.parse().unwrap_or_else(|_| panic!("{variable} is `all` or the number of a share")),
            ),
            None => Some(commit()),
        };
        Self { number: number.map(|number: u32| number % shares), shares }
    }

    /// The first of `cases` cases that run `run` takes, and how many. Runs begin with different shares, so that what
    /// one share leaves out differs from run to run.
    pub fn of_cases(self, run: u32, cases: u32) -> (u32, u32) {
        match self.number {
            Some(number) => ((number + run) % self.shares * (cases / self.shares), cases / self.shares),
            None => (0, cases),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "share {number} of {}", self.shares),
            None => f.write_str("all shares"),
        }
    }
}

/// A number that changes with the commit; 0 where there is no repository.
fn commit() -> u32 {
    let output = Command::new("git")
        .args(["rev-parse", "--short=7", "HEAD"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let hash = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    u32::from_str_radix(hash.trim().get(..7).unwrap_or_default(), 16).unwrap_or(0)
}
