//! Why a shape gets its algorithm: what speaks for each candidate, and what against it.

use std::fmt;

use crate::{Algorithm, Cost, Nodes, Overrides, Shape, candidates, select};

/// A choice with its reasons; prints them, a line for each candidate.
#[derive(Clone, Debug)]
pub struct Why {
    shape: Shape,
    chosen: &'static Algorithm,
    is_named: bool,
    /// The cheapest first.
    admissible: Vec<(&'static Algorithm, Option<Cost>)>,
    refused: Vec<(&'static Algorithm, Refusal)>,
}

/// What keeps an algorithm from serving a shape; prints what it says of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It serves the same up to so many bytes.
    Long(u64),
    /// It serves the same up to so many ranks.
    Many(u32),
    /// It serves operations that commute.
    Ordered,
    /// It serves ranks that share memory.
    Spread,
    /// It serves ranks of several nodes.
    Together,
    /// More than one of these.
    Several,
}

/// The reasons for what [`select()`] chooses.
pub fn why(shape: &Shape, overrides: &Overrides) -> Why {
    let chosen = select(shape, overrides);
    let mut admissible = Vec::new();
    let mut refused = Vec::new();
    for &algorithm in candidates(shape) {
        if algorithm.admits(shape) {
            admissible.push((algorithm, algorithm.cost(shape, overrides.machine())));
        } else {
            refused.push((algorithm, refusal(algorithm, shape)));
        }
    }
    let ns = |cost: Option<Cost>| cost.map_or(f64::INFINITY, |cost| cost.total_ns());
    admissible.sort_by(|one, other| ns(one.1).total_cmp(&ns(other.1)));
    let is_named = overrides.get(shape).is_some_and(|named| std::ptr::eq(named, chosen));
    Why { shape: *shape, chosen, is_named, admissible, refused }
}

/// Why `algorithm` does not admit `shape`: found by asking for shapes that differ in one thing.
pub fn refusal(algorithm: &Algorithm, shape: &Shape) -> Refusal {
    let admits = |shape: Shape| algorithm.admits(&shape);
    if admits(Shape { commutative: true, ..*shape }) {
        return Refusal::Ordered;
    }
    if shape.nodes != Nodes::One && admits(Shape { nodes: Nodes::One, ..*shape }) {
        return Refusal::Spread;
    }
    if shape.nodes == Nodes::One && admits(Shape { nodes: Nodes::Regular { per_node: 2 }, ..*shape }) {
        return Refusal::Together;
    }
    let unit = u64::from(shape.unit.max(1));
    if admits(Shape { bytes: unit, ..*shape }) {
        let most = last(shape.bytes / unit, |units| admits(Shape { bytes: units * unit, ..*shape }));
        return Refusal::Long(most * unit);
    }
    if shape.root.rank() < 2 && admits(Shape { ranks: 2, ..*shape }) {
        let most = last(shape.ranks.into(), |ranks| admits(Shape { ranks: ranks as u32, ..*shape }));
        return Refusal::Many(most as u32);
    }
    Refusal::Several
}

/// The last number up to `refused` for which something holds, which holds up to there and not for `refused`.
fn last(refused: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (1, refused);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

impl Why {
    /// What is chosen.
    pub fn chosen(&self) -> &'static Algorithm {
        self.chosen
    }

    fn verdict(&self) -> String {
        let name = self.chosen.name();
        if self.is_named {
            return format!("{name} is preferred by the user");
        }
        let of_chosen = self.admissible.iter().find(|(one, _)| std::ptr::eq(*one, self.chosen));
        let of_others = self.admissible.iter().find(|(one, _)| !std::ptr::eq(*one, self.chosen));
        let Some((other, other_cost)) = of_others else {
            return format!("{name} is the only one that serves");
        };
        let (Some((_, Some(own))), Some(others)) = (of_chosen, other_cost) else {
            return format!("{name} is the first that serves");
        };
        let ratio = others.total_ns() / own.total_ns();
        if ratio >= 1.0 {
            format!("{name} takes the least: {} takes {ratio:.2} times as long", other.name())
        } else {
            let bytes = self.shape.bytes;
            format!(
                "{name} takes the least at the next step below {bytes} bytes, and is kept up to the one above"
            )
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (algorithm, cost) in &self.admissible {
            let mark = if std::ptr::eq(*algorithm, self.chosen) { '*' } else { ' ' };
            write!(f, " {mark} {:<24}", algorithm.name())?;
            cost.map_or(Ok(()), |cost| write!(f, "{cost}"))?;
            writeln!(f)?;
        }
        for (algorithm, refusal) in &self.refused {
            writeln!(f, "   {:<24}{:>12}: {refusal}", algorithm.name(), "no")?;
        }
        writeln!(f, "{}", self.verdict())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Long(bytes) => write!(f, "serves up to {bytes} bytes"),
            Self::Many(ranks) => write!(f, "serves up to {ranks} ranks"),
            Self::Ordered => f.write_str("needs a commutative operation"),
            Self::Spread => f.write_str("needs ranks that share memory"),
            Self::Together => f.write_str("needs several nodes"),
            Self::Several => f.write_str("does not serve ranks, lengths and operations like these"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Collective;

    fn text(shape: &Shape, overrides: &str) -> String {
        why(shape, &Overrides::parse(overrides).expect("known")).to_string()
    }

    #[test]
    fn reasons_name_what_a_candidate_needs() {
        let shape = Shape { unit: 8, ..Shape::of(Collective::Allreduce, 8, 8192) };
        let usual = text(&shape, "");
        assert!(usual.contains("* node-sliced") && usual.contains("hops") && usual.contains("times as long"));
        assert!(text(&shape, "allreduce=ring").contains("ring is preferred by the user"));
        let ordered = Shape { commutative: false, ..shape };
        assert!(text(&ordered, "allreduce=ring").contains("needs a commutative operation"));
        let long = Shape { bytes: 1 << 20, ..shape };
        assert!(text(&long, "").contains("serves up to 524288 bytes"));
        let apart = Shape { nodes: Nodes::APART, ..shape };
        assert!(text(&apart, "").contains("needs ranks that share memory"));
        let wide = Shape { unit: 1, ..Shape::of(Collective::Alltoall, 8, 8) };
        assert!(text(&wide, "").contains("serves up to 5 ranks"));
    }
}
