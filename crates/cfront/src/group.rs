//! Groups.
//!
//! The empty group is always `MPI_GROUP_EMPTY`, however it came about.
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Group Management.

use std::ffi::c_int;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::Group;

use crate::comm::comparison;
use crate::failure::in_process;
use crate::generated::constants::{MPI_GROUP_EMPTY, MPI_GROUP_NULL, MPI_PROC_NULL, MPI_UNDEFINED};
use crate::generated::types::MPI_Group;
use crate::handle::{Sharing, Table};
use crate::pointer::{Array, InOut, Out};
use crate::process;

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
        return process::current()?.myself().group().include(&[]);
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
        let real: Vec<c_int> = ranks.iter().filter(|&rank| rank != MPI_PROC_NULL).collect();
        let mut translated = from.translate(&real, &to)?.into_iter();
        for index in 0..ranks.len() {
            if ranks.get(index) == MPI_PROC_NULL {
                out.set(index, MPI_PROC_NULL);
            } else {
                out.set(index, translated.next().flatten().map_or(MPI_UNDEFINED, u32::cast_signed));
            }
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
        group.include(&ranks_of(&ranges, group.size())?)
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
        group.exclude(&ranks_of(&ranges, group.size())?)
    };
    // SAFETY: the caller's promise.
    unsafe { make(function, newgroup, group) }
}

/// The ranks in triplets `(first, last, stride)`, of a group of `size`.
fn ranks_of(ranges: &Array<[c_int; 3]>, size: u32) -> Result<Vec<c_int>> {
    let mut ranks = Vec::new();
    for [first, last, stride] in ranges.iter() {
        if stride == 0 {
            return Err(Error::new(ErrorClass::Arg, "the stride of a range is 0"));
        }
        for rank in [first, last] {
            if u32::try_from(rank).map_or(true, |rank| rank >= size) {
                let text = format!("rank {rank} is not in the group, whose size is {size}");
                return Err(Error::new(ErrorClass::Rank, text));
            }
        }
        let distance = last - first;
        if distance == 0 || (distance < 0) == (stride < 0) {
            ranks.extend((0..=distance / stride).map(|step| first + step * stride));
        }
    }
    Ok(ranks)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ranks(mut ranges: Vec<[c_int; 3]>) -> Result<Vec<c_int>> {
        let count = c_int::try_from(ranges.len()).expect("few");
        // SAFETY: the vector lives until the end of the function, and is used in no other way.
        let ranges = unsafe { Array::new("ranges", ranges.as_mut_ptr(), count) }?;
        ranks_of(&ranges, 10)
    }

    #[test]
    fn ranges_run_up_and_down_and_end_where_the_stride_says() {
        assert_eq!(ranks(vec![[0, 9, 4], [7, 5, -1]]).expect("legal"), [0, 4, 8, 7, 6, 5]);
        assert_eq!(ranks(vec![[3, 3, -9]]).expect("legal"), [3]);
        assert_eq!(ranks(vec![[5, 3, 1], [5, 3, 4]]).expect("legal, of no ranks"), []);
    }

    #[test]
    fn a_range_outside_the_group_or_without_a_stride_is_refused() {
        for (range, class) in
            [([0, 10, 1], ErrorClass::Rank), ([-1, 3, 1], ErrorClass::Rank), ([0, 3, 0], ErrorClass::Arg)]
        {
            assert_eq!(ranks(vec![range]).expect_err("illegal").class(), class);
        }
    }
}
