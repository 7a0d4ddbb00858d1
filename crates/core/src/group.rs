//! Groups: ordered sets of processes.
//!
//! The world, and every subgroup whose members are at equal distances, takes constant memory; other groups
//! hold a list, which their clones share. No operation takes more than O(n log n) for n members, and none
//! makes a list that the new group does not keep, but for ranks that the program gives as one.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Group Management.

mod progression;
mod ranges;
mod sequence;

use oxmpi_base::{Error, ErrorClass, Result};

use sequence::Sequence;

/// An ordered set of processes, each by its rank in the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    members: Sequence,
    /// This process's rank in the job, whether it is a member or not; unknown to [`Group::empty`], where
    /// nobody asks for it.
    me: Option<u32>,
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

impl Comparison {
    /// How two pairs are alike whose parts are alike like this.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unequal, _) | (_, Self::Unequal) => Self::Unequal,
            (Self::Similar, _) | (_, Self::Similar) => Self::Similar,
            (Self::Congruent, _) | (_, Self::Congruent) => Self::Congruent,
            (Self::Ident, Self::Ident) => Self::Ident,
        }
    }
}

impl Group {
    /// The group of `members`, each by its rank in the job; `me` is this process's.
    pub(crate) fn new(members: impl IntoIterator<Item = u32>, me: u32) -> Self {
        Self { members: members.into_iter().collect(), me: Some(me) }
    }

    /// The group of nobody.
    pub fn empty() -> Self {
        Self { members: Sequence::from_iter([]), me: None }
    }

    /// Number of members.
    pub fn size(&self) -> u32 {
        self.members.len()
    }

    /// This process's rank, if it is a member.
    pub fn rank(&self) -> Option<u32> {
        // A list is not sorted for this one look.
        let me = self.me?;
        match &self.members {
            Sequence::List(_) => self.members().position(|member| member == me).map(|rank| rank as u32),
            Sequence::Progression(members) => members.position(me),
        }
    }

    /// The rank in the job of the member with this `rank`.
    ///
    /// # Panics
    /// If `rank` is not one of this group.
    pub fn member(&self, rank: u32) -> u32 {
        self.members.at(rank)
    }

    /// The members' ranks in the job.
    pub fn members(&self) -> impl ExactSizeIterator<Item = u32> {
        self.members.iter()
    }

    /// The rank in `other` of the member with this `rank` here; `None` if it is not a member there.
    ///
    /// # Errors
    /// `Rank` if `rank` is not one of this group.
    pub fn translate(&self, rank: i32, other: &Self) -> Result<Option<u32>> {
        let rank = checked_rank(rank.into(), self.size())?;
        Ok(other.members.position(self.member(rank)))
    }

    /// How the two are alike.
    pub fn compare(&self, other: &Self) -> Comparison {
        if self.members == other.members {
            Comparison::Ident
        } else if self.members.is_permutation_of(&other.members) {
            Comparison::Similar
        } else {
            Comparison::Unequal
        }
    }

    /// The members with the given ranks, in that order.
    ///
    /// # Errors
    /// `Rank` if a rank is not one of this group, or is given twice.
    pub fn include(&self, ranks: &[i32]) -> Result<Self> {
        Ok(self.with(self.members.select(&self.ranks(ranks)?)))
    }

    /// The members with the ranks that triplets `(first, last, stride)` name, in that order.
    ///
    /// # Errors
    /// As [`Group::include`]; `Arg` if a stride is 0 or leads away from the last rank.
    pub fn include_ranges(&self, ranges: &[[i32; 3]]) -> Result<Self> {
        Ok(self.with(self.members.select(&ranges::ranks_of(ranges, self.size())?)))
    }

    /// The members but those with the given ranks.
    ///
    /// # Errors
    /// As [`Group::include`].
    pub fn exclude(&self, ranks: &[i32]) -> Result<Self> {
        Ok(self.without(&self.ranks(ranks)?))
    }

    /// The members but those with the ranks that triplets `(first, last, stride)` name.
    ///
    /// # Errors
    /// As [`Group::include_ranges`].
    pub fn exclude_ranges(&self, ranges: &[[i32; 3]]) -> Result<Self> {
        Ok(self.without(&ranges::ranks_of(ranges, self.size())?))
    }

    /// The members of this group, then those of `other` that are not.
    pub fn union(&self, other: &Self) -> Self {
        let more = other.members().filter(|&member| !self.members.contains(member));
        self.or(other, self.members().chain(more).collect())
    }

    /// The members that are members of `other`.
    pub fn intersection(&self, other: &Self) -> Self {
        self.or(other, self.members().filter(|&member| other.members.contains(member)).collect())
    }

    /// The members that are not members of `other`.
    pub fn difference(&self, other: &Self) -> Self {
        self.or(other, self.members().filter(|&member| !other.members.contains(member)).collect())
    }

    fn with(&self, members: Sequence) -> Self {
        Self { members, me: self.me }
    }

    /// A group made of these two; one of them may be the empty group.
    fn or(&self, other: &Self, members: Sequence) -> Self {
        Self { members, me: self.me.or(other.me) }
    }

    fn without(&self, ranks: &Sequence) -> Self {
        let others = (0..self.size()).filter(|&rank| !ranks.contains(rank));
        self.with(others.map(|rank| self.member(rank)).collect())
    }

    /// The ranks of members, each of them given once.
    fn ranks(&self, ranks: &[i32]) -> Result<Sequence> {
        let size = self.size();
        distinct(ranks.iter().map(|&rank| checked_rank(rank.into(), size)).collect::<Result<_>>()?)
    }
}

/// A rank that the program gives, of a group of `size`.
fn checked_rank(rank: i64, size: u32) -> Result<u32> {
    u32::try_from(rank).ok().filter(|&rank| rank < size).ok_or_else(|| {
        Error::new(ErrorClass::Rank, format!("rank {rank} is not in the group, whose size is {size}"))
    })
}

fn distinct(ranks: Sequence) -> Result<Sequence> {
    match ranks.repeated() {
        Some(rank) => Err(given_twice(&format!("rank {rank}"))),
        None => Ok(ranks),
    }
}

fn given_twice(what: &str) -> Error {
    Error::new(ErrorClass::Rank, format!("{what} is given twice"))
}

#[cfg(test)]
mod tests;
