//! The error handlers of communicators that the program has freed, for as long as operations on them are pending.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Destructors.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use oxmpi_core::Communicator;

use crate::object::errhandler::ErrhandlerCell;

/// Few: what is over goes when the next communicator is freed.
static FREED: Mutex<Vec<(Weak<Communicator>, Arc<ErrhandlerCell>)>> = Mutex::new(Vec::new());

/// Keeps the error handler of a communicator that is freed, if anything is pending on it.
pub fn keep_errhandler(comm: Weak<Communicator>, errhandler: Arc<ErrhandlerCell>) {
    let mut freed = freed();
    freed.push((comm, errhandler));
    freed.retain(|(comm, _)| comm.strong_count() > 0);
}

/// The error handler of a freed communicator.
pub fn errhandler(comm: &Arc<Communicator>) -> Option<Arc<ErrhandlerCell>> {
    let freed = freed();
    let found = freed.iter().find(|(freed, _)| freed.as_ptr() == Arc::as_ptr(comm));
    found.map(|(_, errhandler)| Arc::clone(errhandler))
}

fn freed() -> MutexGuard<'static, Vec<(Weak<Communicator>, Arc<ErrhandlerCell>)>> {
    FREED.lock().unwrap_or_else(PoisonError::into_inner)
}
