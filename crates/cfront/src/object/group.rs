//! Groups: their handles. The empty group is always `MPI_GROUP_EMPTY`, however it came about.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Group Management.

use std::ffi::c_int;

use oxmpi_base::{Error, Function, Result};
use oxmpi_core::Group;

use crate::failure::{Hears, NoObject};
use crate::generated::constants::MPI_GROUP_EMPTY;
use crate::generated::types::MPI_Group;
use crate::handle::{Sharing, Table};
use crate::process::Origin;

/// A group with what belongs to its handle.
#[derive(Clone)]
pub struct Entry {
    /// The core's object.
    pub group: Group,
    /// What it is derived from.
    pub origin: Origin,
}

static GROUPS: Table<MPI_Group, Entry> = Table::new(Sharing::ByThreadLevel);

impl Entry {
    /// A group made of this one.
    pub fn derive(&self, group: Group) -> Self {
        Self { group, origin: self.origin }
    }
}

/// Makes a handle of a group.
pub fn adopt(group: Group, origin: Origin) -> MPI_Group {
    if group.size() == 0 { MPI_GROUP_EMPTY } else { GROUPS.insert(Entry { group, origin }) }
}

/// The group that a handle names.
///
/// # Errors
/// `Group` if it names none.
pub fn find(argument: &str, handle: MPI_Group) -> Result<Group> {
    Ok(find_entry(argument, handle)?.group)
}

/// The group that a handle names, and what it is derived from. The empty group is derived from nothing; the world
/// stands for that.
///
/// # Errors
/// `Group` if it names none.
pub fn find_entry(argument: &str, handle: MPI_Group) -> Result<Entry> {
    if handle == MPI_GROUP_EMPTY {
        return Ok(Entry { group: Group::empty(), origin: Origin::World });
    }
    GROUPS.find(argument, handle)
}

impl Hears for MPI_Group {
    /// The session that it is derived from hears of it.
    #[cold]
    fn hear(self, function: Function, error: &Error) -> c_int {
        match find_entry("group", self) {
            Ok(Entry { origin: Origin::Session(session), .. }) => session.hear(function, error),
            _ => NoObject.hear(function, error),
        }
    }
}

/// Forgets the groups derived from the world model that the program has not freed.
pub fn end_world() {
    GROUPS.take(|entry| entry.origin == Origin::World);
}

/// Takes a group out of the table.
pub fn remove(handle: MPI_Group) {
    GROUPS.remove(handle);
}
