//! Handles of communicators that are being made. They name nothing until the communicator is there, unless the
//! program's callbacks end it before.
//!
//! The program has the handle of a nonblocking duplicate at once, and the attributes are copied at once. If the
//! duplicate cannot be made after all, its attributes must go again; but that is found out inside the gate, where
//! the program's callbacks cannot be called. So such handles are noted, and cleared before the error is told.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, MPI_COMM_IDUP.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxmpi_core::Communicator;
use oxmpi_core::info::{Hints, Info, memory_kinds};

use super::{COMMUNICATORS, Entry};
use crate::generated::constants::MPI_COMM_NULL;
use crate::generated::types::{MPI_Comm, MPI_Errhandler};
use crate::object::errhandler::ErrhandlerCell;
use crate::object::{attributes, session};
use crate::process::Origin;

/// A handle of a communicator that is being made.
pub struct Reserved {
    place: Place,
    errhandler: Arc<ErrhandlerCell>,
    origin: Origin,
    hints: Hints,
}

/// A handle that is given up when it is dropped, if it names nothing by then.
struct Place(MPI_Comm);

/// Handles that the program has although they name nothing.
struct Nameless {
    /// Those of duplicates under way, with their error handlers.
    announced: Vec<(MPI_Comm, Arc<ErrhandlerCell>)>,
    /// Those of duplicates that could not be made, and may have attributes.
    failed: Vec<MPI_Comm>,
}

static NAMELESS: Mutex<Nameless> = Mutex::new(Nameless { announced: Vec::new(), failed: Vec::new() });

impl Reserved {
    /// Of a communicator that inherits error handler and origin of `parent`, and takes hints from `info`.
    pub fn child(parent: &Entry, info: &Info) -> Self {
        Self::new(parent.errhandler.inherited(), parent.origin, parent.core.hints().of_child(), info)
    }

    /// Of a communicator without a parent, with an error handler that is one.
    pub fn orphan(errhandler: MPI_Errhandler, origin: Origin, info: &Info) -> Self {
        Self::new(ErrhandlerCell::new(errhandler), origin, Hints::new(memory_kinds_of(origin)), info)
    }

    fn new(errhandler: ErrhandlerCell, origin: Origin, mut hints: Hints, info: &Info) -> Self {
        hints.update(info);
        Self { place: Place(COMMUNICATORS.reserve()), errhandler: Arc::new(errhandler), origin, hints }
    }

    /// The handle, which the program gets before the communicator is made: see [`announced_errhandler`].
    pub fn announce(&self) -> MPI_Comm {
        nameless().announced.push((self.place.0, Arc::clone(&self.errhandler)));
        self.place.0
    }

    /// Lets the handle name another communicator, until it is removed: none is made.
    pub fn stand_for(&self, core: &Arc<Communicator>) {
        let errhandler = Arc::clone(&self.errhandler);
        let entry = Entry { core: Arc::clone(core), errhandler, origin: self.origin };
        COMMUNICATORS.fill(self.place.0, Arc::new(entry));
    }

    /// Lets the handle name the communicator, now that it is made.
    pub fn name(self, core: Arc<Communicator>) -> MPI_Comm {
        let Self { place, errhandler, origin, hints } = self;
        core.set_hints(hints);
        COMMUNICATORS.fill(place.0, Arc::new(Entry { core, errhandler, origin }));
        place.0
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let is_nameless = COMMUNICATORS.give_up(self.0);
        let mut nameless = nameless();
        let announced = nameless.announced.iter().position(|(comm, _)| *comm == self.0);
        if let Some(place) = announced {
            nameless.announced.swap_remove(place);
            nameless.failed.extend(is_nameless.then_some(self.0));
        }
    }
}

/// Makes a handle of a new communicator, which inherits error handler and origin of `parent`.
pub fn adopt(core: Arc<Communicator>, parent: &Entry) -> MPI_Comm {
    Reserved::child(parent, &Info::default()).name(core)
}

/// As [`adopt`]; `MPI_COMM_NULL` if there is none.
pub fn adopt_any(core: Option<Arc<Communicator>>, parent: &Entry) -> MPI_Comm {
    core.map_or(MPI_COMM_NULL, |core| adopt(core, parent))
}

/// The error handler of a communicator that `MPI_Comm_idup` is still making.
///
/// Programs set it at once, although the standard has them wait; other implementations let them.
pub fn announced_errhandler(comm: MPI_Comm) -> Option<Arc<ErrhandlerCell>> {
    let nameless = nameless();
    let found = nameless.announced.iter().find(|(announced, _)| *announced == comm);
    found.map(|(_, errhandler)| Arc::clone(errhandler))
}

/// Deletes the attributes of duplicates that could not be made. Not to be called inside the gate.
pub fn clear_failed() {
    let failed = mem::take(&mut nameless().failed);
    for comm in failed {
        // What kept the duplicate from being made is the error to tell.
        let _ = attributes::delete_all_forcibly(comm);
    }
}

fn nameless() -> MutexGuard<'static, Nameless> {
    NAMELESS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn memory_kinds_of(origin: Origin) -> String {
    match origin {
        Origin::Session(session) => {
            session::find("session", session).map(|session| session.memory_kinds.clone())
        }
        Origin::Rust | Origin::World => Ok(memory_kinds::of_world()),
    }
    .unwrap_or_else(|_| memory_kinds::of_world())
}

#[cfg(test)]
mod tests {
    use std::ffi::{c_int, c_void};
    use std::ptr;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::generated::constants::{MPI_ERRORS_RETURN, MPI_SUCCESS};
    use crate::object::attributes::Attributed;

    static DELETED: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn delete(_: MPI_Comm, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
        DELETED.fetch_add(1, Ordering::Relaxed);
        MPI_SUCCESS
    }

    #[test]
    fn a_duplicate_that_cannot_be_made_keeps_neither_attributes_nor_its_error_handler() {
        let keyval = MPI_Comm::cache().create_keyval(None, Some(delete), ptr::null_mut());
        let reserved = Reserved::orphan(MPI_ERRORS_RETURN, Origin::World, &Info::default());
        let comm = reserved.announce();
        MPI_Comm::cache().set(comm, keyval, ptr::null_mut()).expect("the keyval exists");
        assert!(announced_errhandler(comm).is_some());
        drop(reserved);
        assert_eq!(DELETED.load(Ordering::Relaxed), 0, "nothing is called where it is dropped");
        clear_failed();
        assert_eq!(DELETED.load(Ordering::Relaxed), 1);
        assert_eq!(MPI_Comm::cache().get(comm, keyval).expect("the keyval exists"), None);
        assert!(announced_errhandler(comm).is_none());
    }
}
