//! A message that a request stands for, and whether it is over.

use oxmpi_engine::{OpKey, Outcome, P2p, Received};

/// A message that a request stands for.
#[derive(Debug)]
pub(crate) enum Activity {
    Over(Outcome),
    UnderWay(OpKey),
}

impl From<Received> for Activity {
    #[inline]
    fn from(received: Received) -> Self {
        match received {
            Received::Done(outcome) => Self::Over(outcome),
            Received::Pending(op) => Self::UnderWay(op),
        }
    }
}

impl Activity {
    pub(super) fn advance(&mut self, p2p: &mut P2p) -> bool {
        if let Self::UnderWay(op) = self
            && let Some(outcome) = p2p.take_outcome(*op)
        {
            *self = Self::Over(outcome);
        }
        matches!(self, Self::Over(_))
    }

    pub(super) fn is_over(&self, p2p: &P2p) -> bool {
        match self {
            Self::Over(_) => true,
            Self::UnderWay(op) => p2p.is_done(*op),
        }
    }
}
