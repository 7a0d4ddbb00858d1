//! Groups.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Group Management.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Comparison, Group};

use crate::failure::in_process;
use crate::generated::constants::{
    MPI_CONGRUENT, MPI_GROUP_EMPTY, MPI_GROUP_NULL, MPI_IDENT, MPI_PROC_NULL, MPI_SIMILAR, MPI_UNDEFINED,
    MPI_UNEQUAL,
};
use crate::generated::types::MPI_Group;
use crate::object::group::{self, Entry, adopt, find, find_entry};
use crate::pointer::{Array, InOut, Out};

/// A function that makes a group.
///
/// # Safety
/// `newgroup` is null or valid for writes.
unsafe fn make(function: Function, newgroup: *mut MPI_Group, made: impl FnOnce() -> Result<Entry>) -> c_int {
    in_process(function, |_| {
        let Entry { group, origin } = made()?;
        // SAFETY: the caller's promise.
        unsafe { Out::new("newgroup", newgroup) }?.set(adopt(group, origin));
        Ok(())
    })
}

/// What `combine` makes of two groups; it is derived from what the first is that is not empty.
fn combined(
    group1: MPI_Group,
    group2: MPI_Group,
    combine: impl FnOnce(&Group, &Group) -> Group,
) -> Result<Entry> {
    let (first, second) = (find_entry("group1", group1)?, find_entry("group2", group2)?);
    let made = combine(&first.group, &second.group);
    Ok(if group1 == MPI_GROUP_EMPTY { second.derive(made) } else { first.derive(made) })
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

/// The constant that says how two objects are alike.
pub fn comparison(comparison: Comparison) -> c_int {
    match comparison {
        Comparison::Congruent => MPI_CONGRUENT,
        Comparison::Ident => MPI_IDENT,
        Comparison::Similar => MPI_SIMILAR,
        Comparison::Unequal => MPI_UNEQUAL,
    }
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
        let ranks = unsafe { Array::counted("ranks1", ranks1.cast_mut(), ("n", n)) }?;
        let to = find("group2", group2)?;
        // SAFETY: the caller's promise.
        let out = unsafe { Array::counted("ranks2", ranks2, ("n", n)) }?;
        let translated = ranks.iter().map(|rank| match rank {
            MPI_PROC_NULL => Ok(MPI_PROC_NULL),
            rank => Ok(from.translate(rank, &to)?.map_or(MPI_UNDEFINED, u32::cast_signed)),
        });
        let translated = translated.collect::<Result<Vec<_>>>().map_err(|error| error.about("ranks1"))?;
        for (index, rank) in translated.into_iter().enumerate() {
            out.set(index, rank);
        }
        Ok(())
    })
}

/// What a method of the group makes of the ranks that an argument lists.
///
/// # Safety
/// `newgroup` is null or valid for writes.
unsafe fn part<T: Copy>(
    function: Function,
    group: MPI_Group,
    argument: &str,
    listed: impl FnOnce() -> Result<Array<T>>,
    method: impl FnOnce(&Group, &[T]) -> Result<Group>,
    newgroup: *mut MPI_Group,
) -> c_int {
    let made = || {
        let old = find_entry("group", group)?;
        let listed: Vec<_> = listed()?.iter().collect();
        Ok(old.derive(method(&old.group, &listed).map_err(|error| error.about(argument))?))
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, made) }
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
    // SAFETY: the caller's promise.
    let ranks = || unsafe { Array::counted("ranks", ranks.cast_mut(), ("n", n)) };
    // SAFETY: the caller's promise.
    unsafe { part(function, group, "ranks", ranks, Group::include, newgroup) }
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
    // SAFETY: the caller's promise.
    let ranks = || unsafe { Array::counted("ranks", ranks.cast_mut(), ("n", n)) };
    // SAFETY: the caller's promise.
    unsafe { part(function, group, "ranks", ranks, Group::exclude, newgroup) }
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
    // SAFETY: the caller's promise.
    let ranges = || unsafe { Array::counted("ranges", ranges, ("n", n)) };
    // SAFETY: the caller's promise.
    unsafe { part(function, group, "ranges", ranges, Group::include_ranges, newgroup) }
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
    // SAFETY: the caller's promise.
    let ranges = || unsafe { Array::counted("ranges", ranges, ("n", n)) };
    // SAFETY: the caller's promise.
    unsafe { part(function, group, "ranges", ranges, Group::exclude_ranges, newgroup) }
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
    let made = || combined(group1, group2, Group::union);
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, made) }
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
    let made = || combined(group1, group2, Group::intersection);
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, made) }
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
    let made = || combined(group1, group2, Group::difference);
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, made) }
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
        group::remove(group.get());
        group.set(MPI_GROUP_NULL);
        Ok(())
    })
}
