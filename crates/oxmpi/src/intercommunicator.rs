//! Communicators between two groups: what a rank sends goes to the other group.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Inter-Communication; Collective Communication, Applying
//! Collective Operations to Inter-Communicators.

mod caching;
mod constructors;
mod messages;
mod standing;

use oxmpi_base::Result;

use crate::communicator::Communicator;
use crate::group::{Comparison, Group};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::{Funneled, ThreadLevel};

/// Two groups, of one of which this process is a member. Messages go to ranks of the other one, and come from there; so
/// does what collectives tell.
///
/// A root is in one of the groups, and its elements go to the other one, or come from there; so which part a rank has
/// says what its buffer is for: [`Here`](crate::Here), [`Beside`](crate::Beside) or [`There`](crate::There).
///
/// ```
/// use oxmpi::{Beside, Here, There};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(5, |world| {
/// // The even ranks and the odd ones; their leaders are rank 0 of each, 0 and 1 of the world.
/// let is_odd = world.rank() % 2;
/// let group = world.split(Some(is_odd as i32), 0)?.expect("every rank has a color");
/// let between = group.intercommunicator(0, &world, 1 - is_odd, 0)?;
/// assert_eq!((between.size(), between.remote_size()), [(3, 2), (2, 3)][is_odd]);
///
/// let mut seed = 0;
/// match (is_odd, group.rank()) {
///     (0, 0) => between.bcast(Here(&42_usize))?,
///     (0, _) => between.bcast::<usize>(Beside)?,
///     _ => between.bcast(There(0, &mut seed))?,
/// }
/// assert_eq!(seed, 42 * is_odd);
///
/// let both = between.merge(is_odd == 1)?;
/// assert_eq!(both.size(), world.size());
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Intercommunicator<'env, L: ThreadLevel = Funneled>(Communicator<'env, L>);

impl<'env, L: ThreadLevel> Intercommunicator<'env, L> {
    /// That of a communicator with two groups.
    pub(crate) fn of(comm: Communicator<'env, L>) -> Self {
        Self(comm)
    }

    pub(crate) fn inner(&self) -> &Communicator<'env, L> {
        &self.0
    }

    /// This process's rank in its own group. See [`Intercommunicator`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// # let side = world.rank() % 2;
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
    /// assert_eq!(between.rank(), [0, 0, 1][world.rank()]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn rank(&self) -> usize {
        self.0.rank()
    }

    /// Number of ranks of this process's group. See [`Intercommunicator`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// # let side = world.rank() % 2;
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
    /// assert_eq!(between.size(), [2, 1][side]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn size(&self) -> usize {
        self.0.size()
    }

    /// Number of ranks of the other group. See [`Intercommunicator`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// # let side = world.rank() % 2;
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
    /// assert_eq!(between.remote_size(), [1, 2][side]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn remote_size(&self) -> usize {
        self.0.comm.peers() as usize
    }

    /// This process's group. See [`Intercommunicator::remote_group`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// # let side = world.rank() % 2;
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // ranks 0 and 2, and rank 1
    /// assert_eq!(between.group(), group.group());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn group(&self) -> Group<'env, L> {
        self.0.group()
    }

    /// The other group.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// # let side = world.rank() % 2;
    /// # let mine = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = mine.intercommunicator(0, &world, 1 - side, 0)?;
    /// assert_eq!(between.group().size(), mine.size());
    /// assert_eq!(between.group().union(&between.remote_group())?.size(), world.size());
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn remote_group(&self) -> Group<'env, L> {
        Group::new(self.0.door, self.0.comm.remote_group().expect("there are two groups"))
    }

    /// As [`Communicator::compare`]: the same one, or another between the same groups.
    #[doc = on!(
        (pair) "use oxmpi::Comparison;\n\n",
        "assert_eq!(between.compare(&between), Comparison::Ident);\n",
        "assert_eq!(between.compare(&between.duplicate()?), Comparison::Congruent);"
    )]
    pub fn compare(&self, other: &Self) -> Comparison {
        self.0.compare(&other.0)
    }

    /// As [`Communicator::scope`]: calls `body`, which may begin nonblocking operations between the groups, and waits
    /// for all that it has not waited for.
    ///
    /// # Errors
    /// That of `body`; else the first one of the operations waited for at the end.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(3, |world| {
    /// # let side = world.rank() % 2;
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// # let between = group.intercommunicator(0, &world, 1 - side, 0)?;
    /// let (mine, mut theirs, mut sum) = (world.rank(), vec![0; between.remote_size()], 0);
    /// between.scope(|scope| {
    ///     let theirs = scope.allgather(&mine, &mut theirs)?;
    ///     let sum = scope.allreduce(&mine, &mut sum, &oxmpi::Op::SUM)?;
    ///     // ... compute meanwhile ...
    ///     assert_eq!(theirs.wait()?.iter().sum::<usize>(), *sum.wait()?);
    ///     Ok(())
    /// })?;
    /// assert!(theirs.iter().all(|rank| rank % 2 == 1 - side));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'call, T>(
        &'call self,
        body: impl for<'scope> FnOnce(IntercommunicatorScope<'scope, 'call, L>) -> Result<T>,
    ) -> Result<T> {
        self.0.scope(|scope| body(IntercommunicatorScope(scope)))
    }
}

/// A place to begin nonblocking operations between two groups in, made by [`Intercommunicator::scope`].
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// # let side = world.rank();
/// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
/// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // one rank on each side
/// let (mine, mut theirs) = (side, usize::MAX);
/// between.scope(|scope| {
///     let (receive, _send) = (scope.recv(&mut theirs, 0, 0)?, scope.send(&mine, 0, 0)?);
///     // ... compute meanwhile ...
///     assert_eq!(*receive.wait()?, 1 - side);
///     Ok(())
/// })?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct IntercommunicatorScope<'scope, 'env: 'scope, L: ThreadLevel = Funneled>(
    &'scope Scope<'scope, 'env, L>,
);

impl<L: ThreadLevel> Clone for IntercommunicatorScope<'_, '_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: ThreadLevel> Copy for IntercommunicatorScope<'_, '_, L> {}

impl<'scope, 'env, L: ThreadLevel> IntercommunicatorScope<'scope, 'env, L> {
    pub(crate) fn inner(self) -> &'scope Scope<'scope, 'env, L> {
        self.0
    }

    /// Begins a barrier.
    ///
    /// # Errors
    /// As [`Intercommunicator::barrier`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// # let side = world.rank();
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // one rank on each side
    /// between.scope(|scope| {
    ///     let barrier = scope.barrier()?;
    ///     // ... compute meanwhile ...
    ///     barrier.wait() // the other side has come
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn barrier(self) -> Result<Request<'scope, (), L>> {
        self.0.barrier()
    }
}
