//! What a run of the tests takes of all maps of nodes.
//!
//! A share that changes with the commit and is printed; `OXMPI_MAPS=3` asks for share 3, `OXMPI_MAPS=all` for all of
//! them, under all conditions, and `OXMPI_MAPS=all:3` for share 3 of that.

use std::env;
use std::fmt;
use std::process::Command;

use crate::Nodes;
use crate::verify::value::mix;

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    /// `None` for all.
    share: Option<u64>,
    /// Of each map: all lengths, roots and kinds of operations, under all conditions; or some.
    pub(crate) is_thorough: bool,
}

impl Asked {
    pub(crate) fn read() -> Self {
        let commit = || {
            let output = Command::new("git").args(["rev-parse", "--short=7", "HEAD"]).output().ok()?;
            u64::from_str_radix(str::from_utf8(&output.stdout).ok()?.trim().get(..7)?, 16).ok()
        };
        let number = |text: &str| -> u64 {
            text.parse().expect("OXMPI_MAPS is `all`, the number of a share, or one after `all:`")
        };
        let asked = env::var("OXMPI_MAPS").ok();
        let (share, is_thorough) = match asked.as_deref() {
            None => (Some(commit().unwrap_or(0)), false),
            Some("all") => (None, true),
            Some(text) => match text.strip_prefix("all:") {
                Some(share) => (Some(number(share)), true),
                None => (Some(number(text)), false),
            },
        };
        Self { share: share.map(|share| share % SHARES), is_thorough }
    }

    /// Whether what has this number, which is as good as by chance, is taken.
    pub(crate) fn includes(&self, number: u64) -> bool {
        self.share.is_none_or(|share| number % SHARES == share)
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.share {
            Some(share) => write!(f, "share {share} of {SHARES}")?,
            None => f.write_str("all shares")?,
        }
        f.write_str(if self.is_thorough { ", under all conditions" } else { "" })
    }
}

/// A map of `ranks` ranks: of ranges of all lengths, of ranks dealt out in turn, or by chance.
pub(crate) fn irregular(ranks: u32, number: u64) -> Nodes {
    let chance = |rank: u32, below: u64| (mix(u64::from(rank) + 1, number + 7) % below) as u32;
    let nodes = 2 + chance(ranks, u64::from(ranks.div_ceil(2)));
    let mut node = 0;
    let label = |rank: u32| match number % 4 {
        0 => {
            node += u32::from(chance(rank, u64::from(ranks / nodes + 1)) == 0);
            node
        }
        1 => rank % nodes,
        2 => chance(rank, nodes.into()),
        _ => chance(rank, 3) * chance(rank + ranks, nodes.into()),
    };
    Nodes::of(&(0..ranks).map(label).collect::<Vec<_>>())
}

/// All maps of `ranks` ranks.
pub(crate) fn partitions(ranks: u32) -> Vec<Nodes> {
    let mut found = Vec::new();
    let mut labels = Vec::new();
    append_partitions(ranks, 0, &mut labels, &mut found);
    found
}

/// Appends all maps that begin with `labels`, in which there are so many nodes.
fn append_partitions(ranks: u32, nodes: u32, labels: &mut Vec<u32>, found: &mut Vec<Nodes>) {
    if labels.len() == ranks as usize {
        found.push(Nodes::of(labels));
        return;
    }
    for node in 0..=nodes {
        labels.push(node);
        append_partitions(ranks, nodes.max(node + 1), labels, found);
        labels.pop();
    }
}

/// Into how many shares the maps are cut.
const SHARES: u64 = 24;

/// Maps without a rule, for each number of ranks.
pub(crate) const IRREGULAR: u64 = 20;
