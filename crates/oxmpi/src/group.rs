//! Groups: processes in an order, from which communicators are made.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Group Management.

use std::borrow::Cow;
use std::fmt;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core as core;

use crate::communicator::Communicator;
use crate::door::Door;
use crate::message::rank_to_core;
use crate::thread::{Funneled, ThreadLevel};

/// ```
/// use oxmpi::Comparison;
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let (all, backwards) = (world.group(), world.group().include([1, 0])?);
/// assert_eq!(all.compare(&backwards), Comparison::Similar); // the same processes
/// assert_eq!(all.compare(&world.group()), Comparison::Ident);
/// assert_eq!(world.compare(&world.duplicate()?), Comparison::Congruent); // in another context
/// assert_eq!(all.compare(&all.include([0])?), Comparison::Unequal);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub use oxmpi_core::Comparison;

/// Processes in an order, each of which has a rank in it.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(4, |world| {
/// let odd = world.group().include((1..world.size()).step_by(2))?;
/// if let Some(odd) = world.create(&odd)? {
///     assert_eq!(odd.rank(), world.rank() / 2);
/// }
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct Group<'env, L: ThreadLevel = Funneled> {
    door: Door<'env, L>,
    group: core::Group,
}

impl<'env, L: ThreadLevel> Group<'env, L> {
    pub(crate) fn new(door: Door<'env, L>, group: core::Group) -> Self {
        Self { door, group }
    }

    /// Number of processes. See [`Group::include`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// assert_eq!(world.group().size(), 2);
    /// assert_eq!(world.group().include([1])?.size(), 1);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn size(&self) -> usize {
        self.group.size() as usize
    }

    /// This process's rank, if it is one of them. See [`Group::include`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let second = world.group().include([1])?;
    /// assert_eq!(second.rank(), [None, Some(0)][world.rank()]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rank(&self) -> Option<usize> {
        self.group.rank().map(|rank| rank as usize)
    }

    /// The processes with these ranks, in their order.
    ///
    /// # Errors
    /// `Rank` if one is no rank, or is there twice.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world().group();
    /// let backwards = world.include((0..world.size()).rev())?;
    /// assert_eq!(backwards.rank(), world.rank().map(|rank| world.size() - 1 - rank));
    /// # Ok(())
    /// # }
    /// ```
    pub fn include(&self, ranks: impl IntoIterator<Item = usize>) -> Result<Self> {
        self.made(Function::GroupIncl, |group| group.include(&to_core(ranks)?))
    }

    /// The processes but for those with these ranks.
    ///
    /// # Errors
    /// As [`Group::include`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this().group();
    /// assert_eq!(this.exclude([0])?.size(), 0);
    /// assert!(this.exclude([1]).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn exclude(&self, ranks: impl IntoIterator<Item = usize>) -> Result<Self> {
        self.made(Function::GroupExcl, |group| group.exclude(&to_core(ranks)?))
    }

    /// The processes of this group, then those of the other one that are not.
    ///
    /// # Errors
    /// `Group` if the other one is of another job of this program ([`run`](crate::run)): no process knows both's.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let (this, world) = (env.this().group(), env.world().group());
    /// assert_eq!(this.union(&world)?.size(), world.size());
    /// assert_eq!(this.intersection(&world).size(), 1);
    /// assert_eq!(world.difference(&this).size(), world.size() - 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn union(&self, other: &Self) -> Result<Self> {
        self.made(Function::GroupUnion, |group| Ok(group.union(other.of(self.door)?)))
    }

    /// The processes of this group that are of the other one, too. See [`Group::union`]; one of another job has none.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let (first, last) = (world.group().include([0, 1])?, world.group().include([2, 1])?);
    /// assert_eq!(first.intersection(&last), world.group().include([1])?);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        Self { group: self.group.intersection(&self.known(other)), ..*self }
    }

    /// The processes of this group that are not of the other one. See [`Group::intersection`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let (first, last) = (world.group().include([0, 1])?, world.group().include([2, 1])?);
    /// assert_eq!(first.difference(&last), world.group().include([0])?);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        Self { group: self.group.difference(&self.known(other)), ..*self }
    }

    /// The rank in another group of the process with this `rank`, if it is one of those.
    ///
    /// # Errors
    /// `Rank` if it is no rank of this one.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let (this, world) = (env.this().group(), env.world().group());
    /// assert_eq!(this.translate(0, &world)?, world.rank());
    /// assert_eq!(this.translate(0, &world.difference(&this))?, None);
    /// # Ok(())
    /// # }
    /// ```
    pub fn translate(&self, rank: usize, other: &Self) -> Result<Option<usize>> {
        let found = rank_to_core(ErrorClass::Rank, "rank", rank)
            .and_then(|rank| self.group.translate(rank, &self.known(other)));
        let found = self.door.placed(Function::GroupTranslateRanks, found)?;
        Ok(found.map(|rank| rank as usize))
    }

    /// How two groups are alike.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// use oxmpi::Comparison;
    ///
    /// let env = oxmpi::init()?;
    /// let world = env.world().group();
    /// let backwards = world.include((0..world.size()).rev())?;
    /// let expected = if world.size() == 1 { Comparison::Ident } else { Comparison::Similar };
    /// assert_eq!(world.compare(&backwards), expected);
    /// assert_eq!(world == backwards, world.size() == 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn compare(&self, other: &Self) -> Comparison {
        if self.door.is_that_of(other.door) { self.group.compare(&other.group) } else { Comparison::Unequal }
    }

    /// Those of the other group that are known here: nobody, if it is of another job of this program, whose processes
    /// have the same numbers.
    fn known<'a>(&self, other: &'a Self) -> Cow<'a, core::Group> {
        if self.door.is_that_of(other.door) {
            Cow::Borrowed(&other.group)
        } else {
            Cow::Owned(core::Group::empty())
        }
    }

    pub(crate) fn core(&self) -> &core::Group {
        &self.group
    }

    /// The group, for what `door` leads to.
    ///
    /// # Errors
    /// `Group` if it is of another job of this program.
    pub(crate) fn of(&self, door: Door<'env, L>) -> Result<&core::Group> {
        let is_known = self.door.is_that_of(door);
        let text = "group is of another job of this program";
        is_known.then_some(&self.group).ok_or_else(|| Error::new(ErrorClass::Group, text))
    }

    pub(crate) fn door(&self) -> Door<'env, L> {
        self.door
    }

    fn made(
        &self,
        function: Function,
        make: impl FnOnce(&core::Group) -> Result<core::Group>,
    ) -> Result<Self> {
        Ok(Self { group: self.door.placed(function, make(&self.group))?, ..*self })
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// The processes of the communicator, in the order of their ranks. See [`Group::include`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let alone = world.split(Some(world.rank() as i32), 0)?.expect("every rank has a color");
    /// assert_eq!((world.group().size(), alone.group().size()), (2, 1));
    /// assert_eq!(alone.group().translate(0, &world.group())?, Some(world.rank()));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn group(&self) -> Group<'env, L> {
        Group::new(self.door, self.comm.group())
    }
}

fn to_core(ranks: impl IntoIterator<Item = usize>) -> Result<Vec<i32>> {
    ranks.into_iter().map(|rank| rank_to_core(ErrorClass::Rank, "rank", rank)).collect()
}

impl<L: ThreadLevel> Clone for Group<'_, L> {
    fn clone(&self) -> Self {
        Self { door: self.door, group: self.group.clone() }
    }
}

impl<L: ThreadLevel> PartialEq for Group<'_, L> {
    /// Whether they are the same processes in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.compare(other) == Comparison::Ident
    }
}

impl<L: ThreadLevel> fmt::Debug for Group<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "group of {} processes", self.size())
    }
}
