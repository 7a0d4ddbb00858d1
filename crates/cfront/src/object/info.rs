//! Info objects: their handles.
//!
//! MPI-5.0: The Info Object.

mod environment;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_core::info::Info;

pub use self::environment::environment;
use crate::generated::constants::{MPI_INFO_ENV, MPI_INFO_NULL};
use crate::generated::types::MPI_Info;
use crate::handle::{Sharing, Table, bad_handle};

static INFOS: Table<MPI_Info, Arc<Mutex<Info>>> = Table::new(Sharing::Always);

/// A new handle that names `info`.
pub fn insert(info: Info) -> MPI_Info {
    INFOS.insert(Arc::new(Mutex::new(info)))
}

/// A copy of what `handle` names; of `MPI_INFO_NULL` no hints.
///
/// # Errors
/// `Info` if it names nothing else.
pub fn hints(argument: &str, handle: MPI_Info) -> Result<Info> {
    if handle == MPI_INFO_NULL { Ok(Info::default()) } else { read(argument, handle) }
}

/// Writes a value into the info that the program has passed, unless that is `MPI_INFO_NULL`.
pub fn tell(handle: MPI_Info, key: &str, value: &str) {
    if let Some(info) = INFOS.get(handle) {
        info.lock().unwrap_or_else(PoisonError::into_inner).set(key, value);
    }
}

/// What `handle` names, to change it.
///
/// # Errors
/// `Info` if it names nothing, or what cannot be changed.
pub fn writable(handle: MPI_Info) -> Result<Arc<Mutex<Info>>> {
    if handle == MPI_INFO_ENV {
        return Err(Error::new(ErrorClass::Info, "info is MPI_INFO_ENV, which cannot be changed"));
    }
    INFOS.find("info", handle)
}

/// A copy of what `handle` names.
///
/// # Errors
/// `Info` if it names nothing.
pub fn read(argument: &str, handle: MPI_Info) -> Result<Info> {
    if handle == MPI_INFO_ENV {
        return Ok(environment().clone());
    }
    let info = INFOS.get(handle).ok_or_else(|| bad_handle(argument, handle))?;
    Ok(lock(&info).clone())
}

/// What an info object holds.
pub fn lock(info: &Mutex<Info>) -> MutexGuard<'_, Info> {
    info.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes an info object out of the table.
pub fn remove(handle: MPI_Info) {
    INFOS.remove(handle);
}
