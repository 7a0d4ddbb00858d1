//! What programs wish of the plan of a persistent collective, and what ranks with different wishes agree on.
//!
//! A wish is a byte, which travels with what every rank tells when a persistent collective is prepared. So nothing is
//! asked for twice, and who wishes nothing pays nothing. The rule is the same for all ranks and needs no order of them:
//!
//! - If a rank names an algorithm, nothing is measured. Of those named, by whatever ranks, the first is taken that
//!   is admissible, in the order of `oxmpi plan`; if none is, the estimate holds.
//! - Else, if a rank wants to measure, it is measured.
//! - Else the estimate holds.
//!
//! MPI-5.0: Collective Communication, Persistent Collective Operations; The Info Object.

use oxmpi_base::order;

/// What a rank wishes. At first nothing: then the estimate holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wish(u8);

/// What all ranks do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Agreement {
    /// As is estimated.
    Estimate,
    /// All admissible algorithms are tried.
    Measure,
    /// One of these algorithms, by number; the preferred ones first.
    Named(Vec<usize>),
}

/// The info key of a wish.
pub const PLAN_KEY: &str = "oxmpi_plan";
const ESTIMATE: &str = "estimate";
const MEASURE: &str = "measure";

impl Wish {
    const MEASURE: Self = Self(1);
    /// The number of the first algorithm.
    const NAMED: usize = 2;

    /// What `text` means, where the algorithms have these `names`; none if it means nothing.
    pub(super) fn parse(text: &str, names: &[&str]) -> Option<Self> {
        match text {
            ESTIMATE => Some(Self::default()),
            MEASURE => Some(Self::MEASURE),
            name => {
                let number = names.iter().position(|known| *known == name)?;
                u8::try_from(Self::NAMED + number).ok().map(Self)
            }
        }
    }

    /// What could be wished, as it is written.
    pub(super) fn known(names: &[&str]) -> String {
        [&[ESTIMATE, MEASURE], names].concat().join(", ")
    }

    /// The number of the algorithm that is named.
    pub(super) fn named(self) -> Option<usize> {
        usize::from(self.0).checked_sub(Self::NAMED)
    }

    /// As a number, for others to read.
    pub(super) fn to_byte(self) -> u8 {
        self.0
    }

    /// The inverse of [`Wish::to_byte`].
    pub(super) fn of_byte(byte: u8) -> Self {
        Self(byte)
    }
}

impl Agreement {
    /// What ranks with these wishes agree on.
    pub(super) fn of(wishes: impl Iterator<Item = Wish>) -> Self {
        let mut wishes: Vec<u8> = wishes.map(Wish::to_byte).collect();
        order::by_key(&mut wishes, |&wish| wish.into());
        wishes.dedup();
        let named: Vec<usize> = wishes.iter().filter_map(|&wish| Wish(wish).named()).collect();
        match (named.is_empty(), wishes.contains(&Wish::MEASURE.0)) {
            (false, _) => Self::Named(named),
            (true, true) => Self::Measure,
            (true, false) => Self::Estimate,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: &[&str] = &["node-flat", "ring"];

    fn wish(text: &str) -> Wish {
        Wish::parse(text, NAMES).expect("it is known")
    }

    #[test]
    fn a_name_beats_a_measurement_and_that_an_estimate() {
        let agreed = |texts: &[&str]| Agreement::of(texts.iter().map(|text| wish(text)));
        assert_eq!(agreed(&["estimate", "estimate"]), Agreement::Estimate);
        assert_eq!(agreed(&["estimate", "measure"]), Agreement::Measure);
        assert_eq!(agreed(&["measure", "ring", "estimate"]), Agreement::Named(vec![1]));
        assert_eq!(agreed(&["ring", "node-flat", "ring"]), Agreement::Named(vec![0, 1]));
    }

    #[test]
    fn what_is_unknown_is_no_wish() {
        assert_eq!(Wish::parse("rign", NAMES), None);
        assert_eq!(Wish::parse("", NAMES), None);
        assert_eq!(Wish::known(NAMES), "estimate, measure, node-flat, ring");
        let many = vec![""; 300];
        let names = [&many[..], &["last"]].concat();
        assert_eq!(Wish::parse("last", &names), None, "it has no number");
    }

    proptest! {
        #[test]
        fn ranks_agree_in_whatever_order_they_are(
            mut bytes in prop::collection::vec(any::<u8>(), 1..9),
            by in any::<prop::sample::Index>(),
        ) {
            let agreed = Agreement::of(bytes.iter().copied().map(Wish::of_byte));
            let by = by.index(bytes.len());
            bytes.rotate_left(by);
            prop_assert_eq!(Agreement::of(bytes.into_iter().map(Wish::of_byte)), agreed);
        }
    }
}
