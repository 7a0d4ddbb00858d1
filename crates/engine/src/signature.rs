//! The types of the data in a call, to be compared on all ranks where the user asks for it.
//!
//! MPI-5.0: Point-to-Point Communication, Data Type Matching and Data Conversion.

use oxmpi_base::BasicType;
use oxmpi_shm::CALLS;

/// A type signature, as ranks show it each other: a hash, and its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    pub(crate) hash: u64,
    /// The first runs of one type, each in a word; one more than are named.
    pub(crate) begin: Vec<u64>,
}

/// The signatures of the last runs of a channel, by their numbers.
#[derive(Debug)]
pub(crate) struct Signed([Option<(u64, Signature)>; CALLS]);

impl Default for Signed {
    fn default() -> Self {
        Self([const { None }; CALLS])
    }
}

/// Runs of one type that a text names.
const NAMED: usize = 4;
/// Where the type stands in the word of a run, above the count.
const TYPE_AT: u32 = 48;

impl Signature {
    /// The signature of these runs of equal types, however they are cut; `None` if there are packed data among them,
    /// whose types nobody knows. A pair is its value and its index. Cost: linear in the runs, and in pairs of two
    /// types.
    pub fn of(runs: impl IntoIterator<Item = (BasicType, u64)>) -> Option<Self> {
        let mut signature = Self::default();
        let (mut of, mut count) = (None, 0);
        let mut add = |basic: BasicType, times: u64| {
            if of != Some(basic) {
                signature.append(of, count);
                (of, count) = (Some(basic), 0);
            }
            count += times;
        };
        for (basic, times) in runs.into_iter().filter(|run| run.1 != 0) {
            match basic.parts() {
                None if basic == BasicType::Packed => return None,
                None => add(basic, times),
                Some([value, index]) if value == index => add(value, 2 * times),
                Some([value, index]) => (0..times).for_each(|_| {
                    add(value, 1);
                    add(index, 1);
                }),
            }
        }
        signature.append(of, count);
        Some(signature)
    }

    fn append(&mut self, of: Option<BasicType>, count: u64) {
        let Some(basic) = of else { return };
        let run = (basic as u64) << TYPE_AT ^ count;
        self.hash = (self.hash.rotate_left(17) ^ run).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.push(run);
    }

    /// Adds the word of a run, as far as there is room.
    pub(crate) fn push(&mut self, run: u64) {
        if self.begin.len() <= NAMED {
            self.begin.push(run);
        }
    }

    /// For people: the first runs.
    pub(crate) fn text(&self) -> String {
        let name = |&run: &u64| {
            let basic = BasicType::ALL.get((run >> TYPE_AT) as usize);
            let name = basic.map_or("data of another type", |basic| basic.name());
            format!("{} {name}", run & ((1 << TYPE_AT) - 1))
        };
        let mut names: Vec<String> = self.begin.iter().take(NAMED).map(name).collect();
        if self.begin.len() > NAMED {
            names.push("...".to_owned());
        }
        names.join(", ")
    }
}

impl Signed {
    pub(crate) fn note(&mut self, run: u64, signature: Signature) {
        self.0[run as usize % CALLS] = Some((run, signature));
    }

    pub(crate) fn at(&self, run: u64) -> Option<&Signature> {
        self.0[run as usize % CALLS].as_ref().filter(|signed| signed.0 == run).map(|signed| &signed.1)
    }

    pub(crate) fn at_mut(&mut self, run: u64) -> Option<&mut Signature> {
        self.0[run as usize % CALLS].as_mut().filter(|signed| signed.0 == run).map(|signed| &mut signed.1)
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
        assert_eq!(whole.map(|signature| signature.text()).as_deref(), Some("3 MPI_INT, 1 MPI_DOUBLE"));
        assert_ne!(Signature::of([(int, 3), (double, 1)]), Signature::of([(int, 1), (double, 1), (int, 2)]));
        assert_ne!(Signature::of([(int, 2)]), Signature::of([(BasicType::Float, 2)]));
        assert_eq!(Signature::of([(BasicType::Packed, 8)]), None);
    }

    #[test]
    fn a_pair_is_its_parts() {
        let (int, double) = (BasicType::Int, BasicType::Double);
        assert_eq!(Signature::of([(BasicType::TwoInt, 2)]), Signature::of([(int, 4)]));
        let pairs = Signature::of([(BasicType::DoubleInt, 2)]);
        assert_eq!(pairs, Signature::of([(double, 1), (int, 1), (double, 1), (int, 1)]));
        assert_ne!(pairs, Signature::of([(double, 2), (int, 2)]));
    }

    #[test]
    fn many_runs_are_cut() {
        let runs = (1..=9).flat_map(|count| [(BasicType::Int, count), (BasicType::Double, count)]);
        let text = Signature::of(runs).expect("nothing is packed").text();
        assert_eq!(text, "1 MPI_INT, 1 MPI_DOUBLE, 2 MPI_INT, 2 MPI_DOUBLE, ...");
        assert!(BasicType::ALL.iter().enumerate().all(|(place, basic)| *basic as usize == place));
    }

    #[test]
    fn a_signature_is_that_of_its_run_alone() {
        let mut signed = Signed::default();
        let signature = Signature::of([(BasicType::Int, 3)]).expect("nothing is packed");
        signed.note(20, signature.clone());
        assert_eq!(signed.at(20), Some(&signature));
        assert_eq!((signed.at(4), signed.at(36), signed.at(21)), (None, None, None));
    }
}
