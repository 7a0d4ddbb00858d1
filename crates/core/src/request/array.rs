//! Requests that a call is given, and what it sees of them without asking the engine.
//!
//! A front hands over its handles as they are; to look at one is to read its number and one word of the board.

use oxmpi_base::Result;
use oxmpi_engine::{Board, Standing};

use super::RequestKey;
use super::completion::no_request;

/// Requests by index.
pub trait RequestArray {
    /// How many there are, null ones included.
    fn len(&self) -> usize;

    /// The request at an index; `None` if that is null. What is no request has a number that none has.
    fn at(&self, index: usize) -> Option<RequestKey>;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<A: AsRef<[Option<RequestKey>]> + ?Sized> RequestArray for A {
    #[inline]
    fn len(&self) -> usize {
        self.as_ref().len()
    }

    #[inline]
    fn at(&self, index: usize) -> Option<RequestKey> {
        self.as_ref()[index]
    }
}

/// What is seen of several requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Survey {
    pub any_active: bool,
    /// Whether the board says so of one at least that is under way.
    pub any_under_way: bool,
    /// The first active one that is not known to be under way; their number if all are.
    pub first: usize,
    /// Whether there are some that have to be asked.
    pub any_unknown: bool,
    /// What [`Board::changes`] was.
    changes: u64,
}

impl Survey {
    /// Looks at all.
    ///
    /// # Errors
    /// `Request` if there is something else among them.
    #[inline]
    pub(super) fn of(board: &Board, keys: &(impl RequestArray + ?Sized)) -> Result<Self> {
        let (survey, any_stale) = Self::with_stale(board, keys);
        if any_stale { Err(no_request()) } else { Ok(survey) }
    }

    /// As [`Survey::of`], of those that there are.
    pub(super) fn of_those_left(board: &Board, keys: &(impl RequestArray + ?Sized)) -> Self {
        Self::with_stale(board, keys).0
    }

    #[inline]
    fn with_stale(board: &Board, keys: &(impl RequestArray + ?Sized)) -> (Self, bool) {
        let (len, changes) = (keys.len(), board.changes());
        let mut survey =
            Self { any_active: false, any_under_way: false, first: len, any_unknown: false, changes };
        let mut any_stale = false;
        for index in 0..len {
            let Some(key) = keys.at(index) else { continue };
            let Some(standing) = board.standing(key) else {
                any_stale = true;
                continue;
            };
            match standing {
                Standing::Inactive => continue,
                Standing::UnderWay(_) => survey.any_under_way = true,
                Standing::Over => survey.first = survey.first.min(index),
                Standing::Unknown => {
                    survey.any_unknown = true;
                    survey.first = survey.first.min(index);
                }
            }
            survey.any_active = true;
        }
        (survey, any_stale)
    }

    /// Whether another look would show the same.
    #[inline]
    pub(super) fn is_of_now(&self, board: &Board) -> bool {
        self.changes == board.changes() && !self.any_unknown
    }

    /// Whether all are over, as far as the board is told.
    pub(super) fn is_all_over(&self) -> bool {
        !self.any_under_way && !self.any_unknown
    }
}
