//! Exscan over two levels of chains, as the scan: what goes on along a chain is combined apart from the result, which
//! lacks the own vector.

use crate::Algorithm;
use crate::collective::scan::two_level_chain::{Chains, admits, cost};

pub(crate) const ALGORITHM: Algorithm = Algorithm {
    name: "two-level-chain",
    admits,
    cost: Some(cost),
    plan: |shape, rank, in_place| Chains::new(shape, rank, in_place, true).plan(),
};
