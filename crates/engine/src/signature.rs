//! The types of the data in a call, to be compared on all ranks where the user asks for it.
//!
//! MPI-5.0: Point-to-Point Communication, Data Type Matching and Data Conversion.

use std::fmt::Write as _;

use oxmpi_base::BasicType;

/// A type signature, as ranks show it each other: a hash, and its beginning as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub(crate) hash: u64,
    pub(crate) text: String,
}

/// Runs of one type that a text names.
const NAMED: usize = 4;

impl Signature {
    /// The signature of these runs of equal types, however they are cut; `None` if there are packed data among them,
    /// whose types nobody knows. Cost: linear in the runs.
    pub fn of(runs: impl IntoIterator<Item = (BasicType, u64)>) -> Option<Self> {
        let mut signature = Self { hash: 0, text: String::new() };
        let (mut count, mut named) = (0, 0);
        let mut of = None;
        for (basic, times) in runs.into_iter().filter(|run| run.1 != 0) {
            if basic == BasicType::Packed {
                return None;
            }
            if of != Some(basic) {
                signature.append(of, count, &mut named);
                (of, count) = (Some(basic), 0);
            }
            count += times;
        }
        signature.append(of, count, &mut named);
        Some(signature)
    }

    fn append(&mut self, of: Option<BasicType>, count: u64, named: &mut usize) {
        let Some(basic) = of else { return };
        let run = (basic as u64) << 48 ^ count;
        self.hash = (self.hash.rotate_left(17) ^ run).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        *named += 1;
        let before = if *named == 1 { "" } else { ", " };
        // Writing to a text cannot fail.
        let _ = match *named {
            0..=NAMED => write!(self.text, "{before}{count} {}", basic.name()),
            number if number == NAMED + 1 => write!(self.text, ", ..."),
            _ => Ok(()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_runs_are_cut_does_not_matter() {
        let (int, double) = (BasicType::Int, BasicType::Double);
        let whole = Signature::of([(int, 3), (double, 1)]);
        assert_eq!(whole, Signature::of([(int, 1), (double, 0), (int, 2), (double, 1)]));
        assert_eq!(whole.map(|signature| signature.text).as_deref(), Some("3 MPI_INT, 1 MPI_DOUBLE"));
        assert_ne!(Signature::of([(int, 3), (double, 1)]), Signature::of([(int, 1), (double, 1), (int, 2)]));
        assert_ne!(Signature::of([(int, 2)]), Signature::of([(BasicType::Float, 2)]));
        assert_eq!(Signature::of([(BasicType::Packed, 8)]), None);
    }
}
