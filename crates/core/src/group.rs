//! Groups: ordered sets of processes.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Group Management.

use std::collections::HashMap;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result};

/// An ordered set of processes, each by its rank in the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    members: Arc<[u32]>,
    /// This process's rank in the job, whether it is a member or not.
    me: u32,
}

/// How two groups or communicators are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same object.
    Ident,
    /// The same members in the same order, but another context (communicators only).
    Congruent,
    /// The same members in another order.
    Similar,
    /// Different members.
    Unequal,
}

impl Group {
    /// The group of `members`, each by its rank in the job; `me` is this process's.
    pub(crate) fn new(members: impl IntoIterator<Item = u32>, me: u32) -> Self {
        Self { members: members.into_iter().collect(), me }
    }

    /// The group of nobody.
    pub fn empty() -> Self {
        Self { members: Arc::default(), me: u32::MAX }
    }

    /// Number of members.
    pub fn size(&self) -> u32 {
        self.members.len() as u32
    }

    /// This process's rank, if it is a member.
    pub fn rank(&self) -> Option<u32> {
        self.rank_of(self.me)
    }

    /// The members' ranks in the job.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    fn rank_of(&self, member: u32) -> Option<u32> {
        self.members.iter().position(|&other| other == member).map(|rank| rank as u32)
    }

    /// The ranks in `other` of members given by their ranks here; `None` where they are not members there.
    ///
    /// # Errors
    /// `Rank` if a rank is not one of this group.
    pub fn translate(&self, ranks: &[i32], other: &Self) -> Result<Vec<Option<u32>>> {
        let places: HashMap<u32, u32> =
            other.members.iter().zip(0..).map(|(&member, rank)| (member, rank)).collect();
        ranks.iter().map(|&rank| Ok(places.get(&self.member(rank)?).copied())).collect()
    }

    /// How the two are alike.
    pub fn compare(&self, other: &Self) -> Comparison {
        if self.members == other.members {
            return Comparison::Ident;
        }
        let sorted = |group: &Self| {
            let mut members = group.members.to_vec();
            members.sort_unstable();
            members
        };
        if sorted(self) == sorted(other) { Comparison::Similar } else { Comparison::Unequal }
    }

    /// The members with the given ranks, in that order.
    ///
    /// # Errors
    /// `Rank` if a rank is not one of this group, or is given twice.
    pub fn include(&self, ranks: &[i32]) -> Result<Self> {
        let mut seen = vec![false; self.members.len()];
        let members = ranks.iter().map(|&rank| {
            let member = self.member(rank)?;
            if std::mem::replace(&mut seen[rank as usize], true) {
                return Err(Error::new(ErrorClass::Rank, format!("rank {rank} is given twice")));
            }
            Ok(member)
        });
        Ok(self.with(members.collect::<Result<Vec<_>>>()?))
    }

    /// The members but those with the given ranks.
    ///
    /// # Errors
    /// As [`Group::include`].
    pub fn exclude(&self, ranks: &[i32]) -> Result<Self> {
        let without = self.include(ranks)?;
        Ok(self.difference(&without))
    }

    /// The members of this group, then those of `other` that are not.
    pub fn union(&self, other: &Self) -> Self {
        let more = other.difference(self);
        self.with(self.members.iter().chain(more.members.iter()).copied())
    }

    /// The members that are members of `other`.
    pub fn intersection(&self, other: &Self) -> Self {
        self.with(self.members.iter().copied().filter(|&member| other.rank_of(member).is_some()))
    }

    /// The members that are not members of `other`.
    pub fn difference(&self, other: &Self) -> Self {
        self.with(self.members.iter().copied().filter(|&member| other.rank_of(member).is_none()))
    }

    fn with(&self, members: impl IntoIterator<Item = u32>) -> Self {
        Self::new(members, self.me)
    }

    fn member(&self, rank: i32) -> Result<u32> {
        let member = usize::try_from(rank).ok().and_then(|rank| self.members.get(rank));
        member.copied().ok_or_else(|| {
            let size = self.size();
            Error::new(ErrorClass::Rank, format!("rank {rank} is not in the group, whose size is {size}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[u32]) -> Group {
        Group::new(members.iter().copied(), 3)
    }

    #[test]
    fn set_operations_keep_the_order_of_the_first_group() {
        let (one, two) = (group(&[4, 3, 1]), group(&[1, 2, 4]));
        assert_eq!(one.union(&two), group(&[4, 3, 1, 2]));
        assert_eq!(one.intersection(&two), group(&[4, 1]));
        assert_eq!(one.difference(&two), group(&[3]));
        assert_eq!((one.rank(), two.rank()), (Some(1), None));
    }

    #[test]
    fn groups_compare_by_members_and_order() {
        assert_eq!(group(&[1, 2]).compare(&group(&[1, 2])), Comparison::Ident);
        assert_eq!(group(&[1, 2]).compare(&group(&[2, 1])), Comparison::Similar);
        assert_eq!(group(&[1, 2]).compare(&group(&[1])), Comparison::Unequal);
    }

    #[test]
    fn a_rank_outside_or_given_twice_is_an_error() {
        let group = group(&[5, 6, 7]);
        assert_eq!(group.include(&[2, 0]).expect("members"), super::tests::group(&[7, 5]));
        assert_eq!(group.exclude(&[1]).expect("a member"), super::tests::group(&[5, 7]));
        for ranks in [[0, 3], [0, -1], [1, 1]] {
            assert_eq!(group.include(&ranks).expect_err("bad ranks").class(), ErrorClass::Rank);
        }
        assert_eq!(group.translate(&[0, 2], &super::tests::group(&[7])).expect("members"), [None, Some(0)]);
    }
}
