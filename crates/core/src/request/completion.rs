//! How operations end, and what is wrong with requests that name none.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Status};
use oxmpi_engine::Outcome;

use crate::comm::Communicator;

/// How an operation ended.
#[derive(Debug)]
pub struct Completion {
    /// What to tell about it.
    pub status: Status,
    /// What went wrong.
    pub error: Option<Error>,
    /// The communicator, if something went wrong: its error handler hears of it.
    pub comm: Option<Arc<Communicator>>,
    /// Whether it was active: else the request is null or inactive, and there is nothing to tell but that.
    pub was_active: bool,
    /// Whether the request is no more: it was not persistent.
    pub freed: bool,
    /// Whether the request is generalized and still to be concluded; the rest means nothing then.
    pub(crate) is_generalized: bool,
}

/// What [`Process::test_any`](crate::Process::test_any) found.
#[derive(Debug)]
pub enum AnyTest {
    /// This request was completed.
    Done(usize, Completion),
    /// None of the active ones is complete.
    NotYet,
    /// None is active.
    Undefined,
}

impl Completion {
    /// Of a null or inactive request.
    pub const EMPTY: Self = Self {
        status: Status::EMPTY,
        error: None,
        comm: None,
        was_active: false,
        freed: false,
        is_generalized: false,
    };

    /// Of an operation that has not failed.
    #[inline]
    pub(super) const fn well(status: Status, freed: bool) -> Self {
        Self { status, was_active: true, freed, ..Self::EMPTY }
    }

    #[inline]
    pub(super) fn of(outcome: Outcome, comm: Option<&Arc<Communicator>>, freed: bool) -> Self {
        Self::new(outcome.status, outcome.error, comm, freed)
    }

    #[inline]
    pub(super) fn new(
        status: Status,
        error: Option<Error>,
        comm: Option<&Arc<Communicator>>,
        freed: bool,
    ) -> Self {
        let comm = error.as_ref().and(comm).cloned();
        Self { status, error, comm, was_active: true, freed, is_generalized: false }
    }
}

#[cold]
pub(super) fn no_request() -> Error {
    Error::new(ErrorClass::Request, "the request handle names no request: it was completed or freed before")
}

#[cold]
pub(super) fn misuse(what: &str) -> Error {
    Error::new(ErrorClass::Request, what)
}

#[cold]
pub(super) fn still_active() -> Error {
    misuse("an active request is started")
}

#[cold]
pub(super) fn not_persistent() -> Error {
    misuse("a request that is not persistent is started")
}
