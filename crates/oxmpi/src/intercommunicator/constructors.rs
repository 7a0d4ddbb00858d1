//! Communicators between two groups that are made: of groups, and of others.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Inter-Communicator Operations; Communicator Constructors.

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Party, RemoteLeader, ResourceType};

use super::Intercommunicator;
use crate::communicator::Communicator;
use crate::group::Group;
use crate::message::rank_to_core;
use crate::thread::ThreadLevel;

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// A communicator between the ranks of this one, and those of another. Collective over both.
    /// See [`Intercommunicator`].
    ///
    /// One rank of each, its `leader`, is also in `bridge`, where the other leader is `remote_leader`; both calls name
    /// the same `tag`. At other ranks `bridge`, `remote_leader` and `tag` say nothing.
    ///
    /// # Errors
    /// `Rank` if there is no such leader; `Comm` if a process is in both, or `bridge` is of another job of the program;
    /// `Tag` if `tag` is negative; `NoMem` if shared memory is used up. What is wrong at a leader is so for all.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(4, |world| {
    /// // Two halves; each is led by its first rank, and the world is what the leaders have in common.
    /// let half = world.rank() / 2;
    /// let mine = world.split(Some(half as i32), 0)?.expect("every rank has a color");
    /// let between = mine.intercommunicator(0, &world, [2, 0][half], 0)?;
    /// assert_eq!((between.size(), between.remote_size()), (2, 2));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn intercommunicator(
        &self,
        leader: usize,
        bridge: &Self,
        remote_leader: usize,
        tag: i32,
    ) -> Result<Intercommunicator<'env, L>> {
        let made = self.door.call(Function::IntercommCreate, |process| {
            let leader = rank_to_core(ErrorClass::Rank, "leader", leader)?;
            let rank = match self.door.is_that_of(bridge.door) {
                true => rank_to_core(ErrorClass::Rank, "remote_leader", remote_leader),
                false => Err(Error::new(ErrorClass::Comm, "bridge is of another job of this program")),
            };
            let remote = rank.map(|rank| RemoteLeader { peer_comm: bridge.comm.clone(), rank, tag });
            process.intercomm_create(&self.comm, leader, remote)
        })?;
        Ok(Intercommunicator::of(self.beside(made)))
    }
}

impl<'env, L: ThreadLevel> Intercommunicator<'env, L> {
    /// A communicator between two groups that comes from no other communicator; this process is a member of `local`.
    /// Collective over both; those who make several at the same time tell them apart by `tag`, as with
    /// [`Communicator::from_group`].
    ///
    /// `local_leader` is a rank of `local`. At that rank alone `remote` and `remote_leader`, one of its ranks, count.
    ///
    /// # Errors
    /// `Rank` if a leader is no rank of its group; `Group` if this process is none of `local`, the groups have
    /// processes in common, or are of different jobs of the program; `NoMem` if shared memory is used up. What is wrong
    /// at a leader is so for all of its group.
    ///
    /// ```
    /// use oxmpi::Intercommunicator;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// let (first, others) = (world.group().include([0])?, world.group().exclude([0])?);
    /// let (mine, theirs) = if world.rank() == 0 { (first, others) } else { (others, first) };
    /// let between = Intercommunicator::from_groups(&mine, 0, &theirs, 0, "org.example.library")?;
    /// assert_eq!((between.size(), between.remote_size()), (mine.size(), theirs.size()));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_groups(
        local: &Group<'env, L>,
        local_leader: usize,
        remote: &Group<'env, L>,
        remote_leader: usize,
        tag: &str,
    ) -> Result<Self> {
        let door = local.door();
        let made = door.call(Function::IntercommCreateFromGroups, |process| {
            let party = |group: &Group<'env, L>, leader, argument| {
                let leader = rank_to_core(ErrorClass::Rank, argument, leader)?;
                Ok(Party { group: group.of(door)?.clone(), leader })
            };
            let local = party(local, local_leader, "local_leader")?;
            let remote = party(remote, remote_leader, "remote_leader");
            process.intercomm_create_from_groups(&local, remote, tag.as_bytes())
        })?;
        Ok(Self(Communicator::new(door, &made)))
    }

    /// A communicator of both groups: that which says `high` comes last. Collective.
    ///
    /// # Errors
    /// `Arg` if the ranks of a group differ in `high`; `NoMem` if shared memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mine = world.split(Some(world.rank() as i32), 0)?.expect("every rank has a color");
    /// let between = mine.intercommunicator(0, &world, 1 - world.rank(), 0)?;
    /// let merged = between.merge(world.rank() == 0)?;
    /// assert_eq!(merged.rank(), 1 - world.rank());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn merge(&self, high: bool) -> Result<Communicator<'env, L>> {
        let made = self
            .0
            .door
            .call(Function::IntercommMerge, |process| process.intercomm_merge(&self.0.comm, high))?;
        Ok(self.0.beside(made))
    }

    /// A communicator between the same groups with contexts of its own. Collective. See [`Intercommunicator`].
    ///
    /// # Errors
    /// `NoMem` if shared memory is used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// # let side = world.rank() % 2;
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
    /// let library = between.duplicate()?;
    /// assert_eq!(library.remote_size(), between.remote_size());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn duplicate(&self) -> Result<Self> {
        self.0.duplicate().map(Self)
    }

    /// As [`Communicator::split`]: between those of each group that name the same `color`; none where one group alone
    /// names it.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (between) "// Rank 1 of the world has rank 0 opposite, and rank 2 nobody.\n",
        "let pair = between.split(Some(world.rank() as i32 / 2), 0)?;\n",
        "assert_eq!(pair.map(|pair| pair.remote_size()), [Some(1), Some(1), None][world.rank()]);"
    )]
    pub fn split(&self, color: Option<i32>, key: i32) -> Result<Option<Self>> {
        Ok(self.0.split(color, key)?.map(Self))
    }

    /// As [`Communicator::split_type`]: between those of each group that are confined to the same part of the machine;
    /// none where one group alone has such.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let node = between.split_type(Some(oxmpi::ResourceType::SharedMemory), 0)?;\n",
        "assert_eq!(node.map(|node| node.remote_size()), Some(1), \"both run here\");"
    )]
    pub fn split_type(&self, kind: Option<ResourceType>, key: i32) -> Result<Option<Self>> {
        Ok(self.0.split_type(kind, key)?.map(Self))
    }

    /// A communicator between those of each group whom its ranks name: `group` is a part of this one's
    /// [group](Intercommunicator::group). None for other ranks, nor where a group names nobody. Collective.
    ///
    /// # Errors
    /// As [`Communicator::create`].
    #[doc = on!(
        (between) "let first = between.group().include([0])?;\n",
        "let pair = between.create(&first)?;\n",
        "assert_eq!(pair.map(|pair| pair.remote_size()), [Some(1), Some(1), None][world.rank()]);"
    )]
    pub fn create(&self, group: &Group<'env, L>) -> Result<Option<Self>> {
        Ok(self.0.create(group)?.map(Self))
    }
}
