//! Pieces in a row, most often one.

use std::ops::Deref;
use std::slice;

use super::value::Piece;

/// See the module: a vector that needs no memory of its own for a single piece.
#[derive(Clone, Debug)]
pub(super) enum Pieces {
    One(Piece),
    /// Any other number of them.
    Many(Vec<Piece>),
}

impl Pieces {
    pub(super) const NONE: Self = Self::Many(Vec::new());

    pub(super) fn push(&mut self, piece: Piece) {
        match self {
            Self::One(first) => *self = Self::Many(vec![*first, piece]),
            Self::Many(pieces) if pieces.is_empty() => *self = Self::One(piece),
            Self::Many(pieces) => pieces.push(piece),
        }
    }
}

impl Deref for Pieces {
    type Target = [Piece];

    fn deref(&self) -> &[Piece] {
        match self {
            Self::One(piece) => slice::from_ref(piece),
            Self::Many(pieces) => pieces,
        }
    }
}

impl FromIterator<Piece> for Pieces {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Self {
        pieces.into_iter().fold(Self::NONE, |mut all, piece| {
            all.push(piece);
            all
        })
    }
}

impl PartialEq for Pieces {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
