//! Groups.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Group Management; MPI Environmental Management, Error
//! Handling.

use std::ffi::c_int;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Comparison, Group};

use crate::argument::{ArrayIn, ArrayOut, InOut, Out};
use crate::failure::{in_process, on_found};
use crate::generated::constants::{
    MPI_CONGRUENT, MPI_GROUP_EMPTY, MPI_GROUP_NULL, MPI_IDENT, MPI_PROC_NULL, MPI_SIMILAR, MPI_UNDEFINED,
    MPI_UNEQUAL,
};
use crate::generated::types::MPI_Group;
use crate::object::group::{self, Entry, adopt, find, find_entry};

/// A function that makes a group of others, of which `who` is one.
fn make(
    function: Function,
    who: MPI_Group,
    newgroup: Out<MPI_Group>,
    made: impl FnOnce() -> Result<Entry>,
) -> c_int {
    on_found(function, who, made, |Entry { group, origin }| {
        newgroup.named("newgroup")?.set(adopt(group.clone(), *origin));
        Ok(())
    })
}

/// That one of two groups that is derived from something.
fn derived(group1: MPI_Group, group2: MPI_Group) -> MPI_Group {
    if group1 == MPI_GROUP_EMPTY { group2 } else { group1 }
}

/// What `combine` makes of two groups; it is derived from what the first is that is not empty.
fn combined(
    group1: MPI_Group,
    group2: MPI_Group,
    combine: impl FnOnce(&Group, &Group) -> Group,
) -> Result<Entry> {
    let (first, second) = (find_entry("group1", group1)?, find_entry("group2", group2)?);
    let made = combine(&first.group, &second.group);
    Ok(if derived(group1, group2) == group1 { first.derive(made) } else { second.derive(made) })
}

/// `MPI_Group_size`.
pub fn group_size(function: Function, group: MPI_Group, size: Out<c_int>) -> c_int {
    on_found(
        function,
        group,
        || find("group", group),
        |group| {
            size.named("size")?.set(group.size().cast_signed());
            Ok(())
        },
    )
}

/// `MPI_Group_rank`.
pub fn group_rank(function: Function, group: MPI_Group, rank: Out<c_int>) -> c_int {
    on_found(
        function,
        group,
        || find("group", group),
        |group| {
            rank.named("rank")?.set(group.rank().map_or(MPI_UNDEFINED, u32::cast_signed));
            Ok(())
        },
    )
}

/// `MPI_Group_compare`.
pub fn group_compare(function: Function, group1: MPI_Group, group2: MPI_Group, result: Out<c_int>) -> c_int {
    let both = || Ok((find("group1", group1)?, find("group2", group2)?));
    on_found(function, derived(group1, group2), both, |(first, second)| {
        result.named("result")?.set(comparison(first.compare(second)));
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
pub fn group_translate_ranks(
    function: Function,
    group1: MPI_Group,
    _n: c_int,
    ranks1: ArrayIn<c_int>,
    group2: MPI_Group,
    ranks2: ArrayOut<c_int>,
) -> c_int {
    on_found(
        function,
        derived(group1, group2),
        || find("group1", group1),
        |from| {
            let ranks = ranks1.counted("ranks1", "n")?;
            let to = find("group2", group2)?;
            let out = ranks2.counted("ranks2", "n")?;
            let translated = ranks.iter().map(|rank| match rank {
                MPI_PROC_NULL => Ok(MPI_PROC_NULL),
                rank => Ok(from.translate(rank, &to)?.map_or(MPI_UNDEFINED, u32::cast_signed)),
            });
            let translated = translated.collect::<Result<Vec<_>>>().map_err(|error| error.about("ranks1"))?;
            for (index, rank) in translated.into_iter().enumerate() {
                out.set(index, rank);
            }
            Ok(())
        },
    )
}

/// What a method of the group makes of the ranks that an argument lists.
fn part<T: Copy>(
    function: Function,
    group: MPI_Group,
    argument: &str,
    listed: ArrayIn<T>,
    method: impl FnOnce(&Group, &[T]) -> Result<Group>,
    newgroup: Out<MPI_Group>,
) -> c_int {
    let made = || {
        let old = find_entry("group", group)?;
        let listed: Vec<_> = listed.counted(argument, "n")?.iter().collect();
        Ok(old.derive(method(&old.group, &listed).map_err(|error| error.about(argument))?))
    };
    make(function, group, newgroup, made)
}

/// `MPI_Group_incl`.
pub fn group_incl(
    function: Function,
    group: MPI_Group,
    _n: c_int,
    ranks: ArrayIn<c_int>,
    newgroup: Out<MPI_Group>,
) -> c_int {
    part(function, group, "ranks", ranks, Group::include, newgroup)
}

/// `MPI_Group_excl`.
pub fn group_excl(
    function: Function,
    group: MPI_Group,
    _n: c_int,
    ranks: ArrayIn<c_int>,
    newgroup: Out<MPI_Group>,
) -> c_int {
    part(function, group, "ranks", ranks, Group::exclude, newgroup)
}

/// `MPI_Group_range_incl`.
pub fn group_range_incl(
    function: Function,
    group: MPI_Group,
    _n: c_int,
    ranges: ArrayIn<[c_int; 3]>,
    newgroup: Out<MPI_Group>,
) -> c_int {
    part(function, group, "ranges", ranges, Group::include_ranges, newgroup)
}

/// `MPI_Group_range_excl`.
pub fn group_range_excl(
    function: Function,
    group: MPI_Group,
    _n: c_int,
    ranges: ArrayIn<[c_int; 3]>,
    newgroup: Out<MPI_Group>,
) -> c_int {
    part(function, group, "ranges", ranges, Group::exclude_ranges, newgroup)
}

/// `MPI_Group_union`.
pub fn group_union(
    function: Function,
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: Out<MPI_Group>,
) -> c_int {
    let made = || combined(group1, group2, Group::union);
    make(function, derived(group1, group2), newgroup, made)
}

/// `MPI_Group_intersection`.
pub fn group_intersection(
    function: Function,
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: Out<MPI_Group>,
) -> c_int {
    let made = || combined(group1, group2, Group::intersection);
    make(function, derived(group1, group2), newgroup, made)
}

/// `MPI_Group_difference`.
pub fn group_difference(
    function: Function,
    group1: MPI_Group,
    group2: MPI_Group,
    newgroup: Out<MPI_Group>,
) -> c_int {
    let made = || combined(group1, group2, Group::difference);
    make(function, derived(group1, group2), newgroup, made)
}

/// `MPI_Group_free`.
pub fn group_free(function: Function, group: InOut<MPI_Group>) -> c_int {
    in_process(function, |_| {
        let group = group.named("group")?;
        find("group", group.get())?;
        group::remove(group.get());
        group.set(MPI_GROUP_NULL);
        Ok(())
    })
}
