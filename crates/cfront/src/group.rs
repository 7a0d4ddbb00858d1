//! Groups.
//!
//! The empty group is always `MPI_GROUP_EMPTY`, however it came about.
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Group Management.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_core::Group;

use crate::comm::comparison;
use crate::failure::in_process;
use crate::generated::constants::{MPI_GROUP_EMPTY, MPI_GROUP_NULL, MPI_PROC_NULL, MPI_UNDEFINED};
use crate::generated::types::MPI_Group;
use crate::handle::{Sharing, Table};
use crate::pointer::{Array, InOut, Out};

static GROUPS: Table<MPI_Group, Group> = Table::new(Sharing::ByThreadLevel);

/// Makes a handle of a group.
pub fn adopt(group: Group) -> MPI_Group {
    if group.size() == 0 { MPI_GROUP_EMPTY } else { GROUPS.insert(group) }
}

/// The group that a handle names.
///
/// # Errors
/// `Group` if it names none.
pub fn find(argument: &str, handle: MPI_Group) -> Result<Group> {
    if handle == MPI_GROUP_EMPTY {
        return Ok(Group::empty());
    }
    GROUPS.find(argument, handle)
}

/// Forgets the groups that the program has not freed.
pub fn end() {
    GROUPS.clear();
}

/// A function that makes a group.
///
/// # Safety
/// `newgroup` is null or valid for writes.
unsafe fn make(function: Function, newgroup: *mut MPI_Group, group: impl FnOnce() -> Result<Group>) -> c_int {
    in_process(function, |_| {
        let group = group()?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("newgroup", newgroup) }?.set(adopt(group));
        Ok(())
    })
}

/// `MPI_Group_size`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_size(function: Function, group: MPI_Group, size: *mut c_int) -> c_int {
    in_process(function, |_| {
        let group = find("group", group)?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("size", size) }?.set(group.size().cast_signed());
        Ok(())
    })
}

/// `MPI_Group_rank`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_rank(function: Function, group: MPI_Group, rank: *mut c_int) -> c_int {
    in_process(function, |_| {
        let group = find("group", group)?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("rank", rank) }?.set(group.rank().map_or(MPI_UNDEFINED, u32::cast_signed));
        Ok(())
    })
}

/// `MPI_Group_compare`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_compare(
    function: Function,
    group1: MPI_Group,
    group2: MPI_Group,
    result: *mut c_int,
) -> c_int {
    in_process(function, |_| {
        let (first, second) = (find("group1", group1)?, find("group2", group2)?);
        // SAFETY: the caller's promise.
        unsafe { Out::new("result", result) }?.set(comparison(first.compare(&second)));
        Ok(())
    })
}

/// `MPI_Group_translate_ranks`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_translate_ranks(
    function: Function,
    group1: MPI_Group,
    n: c_int,
    ranks1: *const c_int,
    group2: MPI_Group,
    ranks2: *mut c_int,
) -> c_int {
    in_process(function, |_| {
        let from = find("group1", group1)?;
        // SAFETY: the caller's promise.
        let ranks = unsafe { Array::new("ranks1", ranks1.cast_mut(), n) }?;
        let to = find("group2", group2)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Array::new("ranks2", ranks2, n) }?;
        let translated = ranks.iter().map(|rank| match rank {
            MPI_PROC_NULL => Ok(MPI_PROC_NULL),
            rank => Ok(from.translate(rank, &to)?.map_or(MPI_UNDEFINED, u32::cast_signed)),
        });
        for (index, rank) in translated.collect::<Result<Vec<_>>>()?.into_iter().enumerate() {
            out.set(index, rank);
        }
        Ok(())
    })
}

/// `MPI_Group_incl`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_incl(
    function: Function,
    group: MPI_Group,
    n: c_int,
    ranks: *const c_int,
    newgroup: *mut MPI_Group,
) -> c_int {
    let group = || {
        let group = find("group", group)?;
        // SAFETY: the caller's promise.
        let ranks = unsafe { Array::new("ranks", ranks.cast_mut(), n) }?;
        group.include(&ranks.iter().collect::<Vec<_>>())
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, group) }
}

/// `MPI_Group_excl`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_excl(
    function: Function,
    group: MPI_Group,
    n: c_int,
    ranks: *const c_int,
    newgroup: *mut MPI_Group,
) -> c_int {
    let group = || {
        let group = find("group", group)?;
        // SAFETY: the caller's promise.
        let ranks = unsafe { Array::new("ranks", ranks.cast_mut(), n) }?;
        group.exclude(&ranks.iter().collect::<Vec<_>>())
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, group) }
}

/// `MPI_Group_range_incl`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_range_incl(
    function: Function,
    group: MPI_Group,
    n: c_int,
    ranges: *mut [c_int; 3],
    newgroup: *mut MPI_Group,
) -> c_int {
    let group = || {
        let group = find("group", group)?;
        // SAFETY: the caller's promise.
        let ranges = unsafe { Array::new("ranges", ranges, n) }?;
        group.include_ranges(&ranges.iter().collect::<Vec<_>>())
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, group) }
}

/// `MPI_Group_range_excl`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_range_excl(
    function: Function,
    group: MPI_Group,
    n: c_int,
    ranges: *mut [c_int; 3],
    newgroup: *mut MPI_Group,
) -> c_int {
    let group = || {
        let group = find("group", group)?;
        // SAFETY: the caller's promise.
        let ranges = unsafe { Array::new("ranges", ranges, n) }?;
        group.exclude_ranges(&ranges.iter().collect::<Vec<_>>())
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, group) }
}

/// `MPI_Group_union`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_union(
    function: Function,
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> c_int {
    let group = || Ok(find("group1", group1)?.union(&find("group2", group2)?));
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, group) }
}

/// `MPI_Group_intersection`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_intersection(
    function: Function,
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> c_int {
    let group = || Ok(find("group1", group1)?.intersection(&find("group2", group2)?));
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, group) }
}

/// `MPI_Group_difference`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_difference(
    function: Function,
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: *mut MPI_Group,
) -> c_int {
    let group = || Ok(find("group1", group1)?.difference(&find("group2", group2)?));
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, group) }
}

/// `MPI_Group_free`.
///
/// # Safety
/// As the standard says of its arguments.
pub unsafe fn group_free(function: Function, group: *mut MPI_Group) -> c_int {
    in_process(function, |_| {
        // SAFETY: the caller's promise.
        let group = unsafe { InOut::new("group", group) }?;
        find("group", group.get())?;
        GROUPS.remove(group.get());
        group.set(MPI_GROUP_NULL);
        Ok(())
    })
}
