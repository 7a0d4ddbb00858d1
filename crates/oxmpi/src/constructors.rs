//! New communicators of ranks that have one.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Constructors.

use std::ffi::OsString;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core::{self as core, ResourceType, SplitType};

use crate::communicator::Communicator;
use crate::group::{Comparison, Group};
use crate::thread::ThreadLevel;

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// A communicator of the same ranks with a context of its own. Collective.
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let library = env.world().duplicate()?;
    /// assert_eq!(library.size(), env.world().size());
    /// # Ok(())
    /// # }
    /// ```
    pub fn duplicate(&self) -> Result<Self> {
        let made = self.door.call(Function::CommDup, |process| process.comm_dup(&self.comm))?;
        Ok(self.beside(made))
    }

    /// Communicators of the ranks that name the same `color`, in the order of their keys, and of their ranks
    /// where keys are equal; none for ranks without a color. Collective.
    ///
    /// # Errors
    /// `Arg` if `color` is negative; `NoMem` if shared memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let half = world.split(Some((world.rank() % 2) as i32), 0)?.expect("every rank has a color");
    /// assert_eq!(half.rank(), world.rank() / 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn split(&self, color: Option<i32>, key: i32) -> Result<Option<Self>> {
        let made =
            self.door.call(Function::CommSplit, |process| process.comm_split(&self.comm, color, key))?;
        Ok(made.map(|comm| self.beside(comm)))
    }

    /// Communicators of the ranks that share memory, those of a node, in the order of their keys. Collective.
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let node = env.world().split_shared(0)?;
    /// assert_eq!(node.size(), env.world().size(), "all of them run here");
    /// # Ok(())
    /// # }
    /// ```
    pub fn split_shared(&self, key: i32) -> Result<Self> {
        let (made, _) = self.split_as(SplitType::By(ResourceType::SharedMemory), key)?;
        Ok(made.expect("every rank runs on a node"))
    }

    /// Communicators of the ranks that are confined to the same part of the machine, as the launcher has bound them, in
    /// the order of their keys; none for ranks that are confined to no part of this kind, or name none. All ranks name
    /// the same kind, or none. Collective. (`MPI_COMM_TYPE_HW_GUIDED`)
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    ///
    /// ```
    /// use oxmpi::ResourceType;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let node = world.split_type(Some(ResourceType::SharedMemory), 0)?.expect("every rank is on a machine");
    /// assert_eq!(node.size(), 2, "both run here");
    /// // Those who share a core, if they are bound to cores.
    /// let core = world.split_type(Some(ResourceType::Core), 0)?;
    /// assert_eq!(core.is_some(), ResourceType::Core.confines_this_thread());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn split_type(&self, kind: Option<ResourceType>, key: i32) -> Result<Option<Self>> {
        Ok(self.split_as(kind.map_or(SplitType::Undefined, SplitType::By), key)?.0)
    }

    /// As [`Communicator::split_type`] by the largest parts of the machine that divide the communicator, and their
    /// kind; none if none do. Ranks that are to become members of nothing call that, and name no kind. Collective.
    /// (`MPI_COMM_TYPE_HW_UNGUIDED`)
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// // From the machine down, until the ranks are told apart.
    /// let (mut levels, mut part) = (vec![], world.duplicate()?);
    /// while let Some((smaller, kind)) = part.split_unguided(0)? {
    ///     levels.push(kind.name());
    ///     part = smaller;
    /// }
    /// println!("{} ranks share the smallest of {levels:?}", part.size());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn split_unguided(&self, key: i32) -> Result<Option<(Self, ResourceType)>> {
        let (part, kind) = self.split_as(SplitType::Down, key)?;
        Ok(part.zip(kind))
    }

    fn split_as(&self, by: SplitType, key: i32) -> Result<(Option<Self>, Option<ResourceType>)> {
        let (made, kind) = self
            .door
            .call(Function::CommSplitType, |process| process.comm_split_type(&self.comm, by, key))?;
        Ok((made.map(|comm| self.beside(comm)), kind))
    }

    /// A communicator of the processes of `group`, in its order; none for other ranks. Collective: all ranks call it,
    /// and those of one group name the same. See [`Group`].
    ///
    /// # Errors
    /// `Group` if a process of `group` is none of the communicator's; `NoMem` if shared memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let ends = world.group().include([0, 2])?;
    /// let between_them = world.create(&ends)?;
    /// assert_eq!(between_them.map(|comm| comm.rank()), [Some(0), None, Some(1)][world.rank()]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(&self, group: &Group<'env, L>) -> Result<Option<Self>> {
        let made = self
            .door
            .call(Function::CommCreate, |process| process.comm_create(&self.comm, group.of(self.door)?))?;
        Ok(made.map(|comm| self.beside(comm)))
    }

    /// As [`Communicator::create`], collective over the processes of `group` alone; threads that call it at the same
    /// time differ in `tag`.
    ///
    /// # Errors
    /// As [`Communicator::create`]; `Tag` if `tag` is negative.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let first = world.group().exclude([2])?;
    /// if first.rank().is_some() {
    ///     let first = world.create_group(&first, 0)?.expect("this rank is of the group");
    ///     assert_eq!(first.size(), 2);
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn create_group(&self, group: &Group<'env, L>, tag: i32) -> Result<Option<Self>> {
        let made = self.door.call(Function::CommCreateGroup, |process| {
            process.comm_create_group(&self.comm, group.of(self.door)?, tag)
        })?;
        Ok(made.map(|comm| self.beside(comm)))
    }

    /// A communicator of the processes of `group`, in its order, that comes from no other communicator. Collective over
    /// them; those who make several at the same time tell them apart by `tag`, which by convention begins with the
    /// reversed name of the library's domain. See [`Session`](crate::Session).
    ///
    /// # Errors
    /// `Group` if this process is none of them; `NoMem` if shared memory is used up.
    ///
    /// ```
    /// use oxmpi::Communicator;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let library = Communicator::from_group(&world.group(), "org.example.library")?;
    /// assert_eq!((library.rank(), library.size()), (world.rank(), 2));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_group(group: &Group<'env, L>, tag: &str) -> Result<Self> {
        let made = group.door().call(Function::CommCreateFromGroup, |process| {
            process.comm_create_from_group(group.core(), tag.as_bytes())
        })?;
        Ok(Self::new(group.door(), &made))
    }

    /// How two communicators are alike: the same one, or others of the same processes.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// use oxmpi::Comparison;
    ///
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// assert_eq!(world.compare(&env.world()), Comparison::Ident);
    /// assert_eq!(world.compare(&world.duplicate()?), Comparison::Congruent);
    /// # Ok(())
    /// # }
    /// ```
    pub fn compare(&self, other: &Self) -> Comparison {
        if self.door.is_that_of(other.door) { self.comm.compare(&other.comm) } else { Comparison::Unequal }
    }

    /// What it is called, in reports too. See [`Communicator::set_name`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// assert_eq!(env.world().name(), "MPI_COMM_WORLD");
    /// assert_eq!(env.world().duplicate()?.name(), "");
    /// # Ok(())
    /// # }
    /// ```
    pub fn name(&self) -> OsString {
        self.comm.name()
    }

    /// Changes what it is called, by this rank.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let library = env.world().duplicate()?;
    /// library.set_name("library");
    /// assert_eq!(library.name(), "library");
    /// assert_eq!(env.world().name(), "MPI_COMM_WORLD");
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_name(&self, name: &str) {
        self.comm.set_name(name);
    }

    /// Another communicator of the same environment.
    pub(crate) fn beside(&self, comm: Arc<core::Communicator>) -> Self {
        Self { door: self.door, comm, wish: None, is_view: false }
    }
}
