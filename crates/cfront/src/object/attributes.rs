//! Attributes of objects of all kinds that have some.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Caching.

mod cache;

use oxmpi_base::Result;

use crate::generated::constants::{MPI_COMM_SELF, MPI_COMM_WORLD};
use crate::generated::types::{MPI_Comm, MPI_Datatype, MPI_Win};
use crate::handle::Handle;

pub use self::cache::{Cache, CopyFunction, DeleteFunction};

/// Those of communicators.
pub static OF_COMMS: Cache<MPI_Comm> = Cache::new("comm_keyval");
/// Those of datatypes.
pub static OF_DATATYPES: Cache<MPI_Datatype> = Cache::new("type_keyval");
/// Those of windows.
pub static OF_WINS: Cache<MPI_Win> = Cache::new("win_keyval");

/// A kind of object that has attributes.
pub trait Attributed: Handle + 'static {
    /// The attributes of all objects of this kind.
    fn cache() -> &'static Cache<Self>;
}

impl Attributed for MPI_Comm {
    fn cache() -> &'static Cache<Self> {
        &OF_COMMS
    }
}

impl Attributed for MPI_Datatype {
    fn cache() -> &'static Cache<Self> {
        &OF_DATATYPES
    }
}

impl Attributed for MPI_Win {
    fn cache() -> &'static Cache<Self> {
        &OF_WINS
    }
}

/// Gives `new`, a duplicate of `old`, the attributes that the copy callbacks want it to have.
///
/// # Errors
/// What a copy callback returns; then `new` has no attributes.
pub fn copy_all<H: Attributed>(old: H, new: H) -> Result<()> {
    H::cache().copy_all(old, new, || {})
}

/// As [`copy_all`]; `new` names nothing yet, and `name` lets it before the delete callbacks are called, if they are.
///
/// # Errors
/// As [`copy_all`].
pub fn copy_all_to_nameless<H: Attributed>(old: H, new: H, name: impl FnOnce()) -> Result<()> {
    H::cache().copy_all(old, new, name)
}

/// Deletes all attributes of an object that is about to be freed, the last one set first.
///
/// # Errors
/// What a delete callback returns; its attribute and those set before it stay.
pub fn delete_all<H: Attributed>(object: H) -> Result<()> {
    H::cache().delete_all(object)
}

/// As [`delete_all`], but a callback that refuses does not keep its attribute.
///
/// # Errors
/// What the first delete callback that refused returned.
pub fn delete_all_forcibly<H: Attributed>(object: H) -> Result<()> {
    H::cache().delete_all_forcibly(object)
}

/// Deletes the attributes of the communicators that end with the process: those of `MPI_COMM_SELF` first.
///
/// # Errors
/// What the first delete callback that refused returned; no attribute stays all the same.
pub fn end() -> Result<()> {
    let of_self = OF_COMMS.delete_all_forcibly(MPI_COMM_SELF);
    of_self.and(OF_COMMS.delete_all_forcibly(MPI_COMM_WORLD))
}
