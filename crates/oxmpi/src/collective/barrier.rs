//! Barrier: nobody leaves before all have come.
//!
//! MPI-5.0: Collective Communication, Barrier Synchronization.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_mem::Words;

use super::Collective;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::kept::Kept;
use crate::loan::Withheld;
use crate::owned_request::OwnedRequest;
use crate::persistent::Persistent;
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Barrier;

// SAFETY: it says nothing but what it is.
unsafe impl Collective<'_> for Barrier {
    const FUNCTIONS: Functions = coll::Collective::Barrier.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        None
    }

    #[inline]
    fn note(&self, _: &mut Words) {}

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        coll::barrier(process, comm)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Returns when all ranks have called it.
    ///
    /// # Errors
    /// `Other` if another rank calls something else.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// env.world().barrier()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn barrier(&self) -> Result<()> {
        self.blocking(Barrier)
    }

    /// A persistent barrier. Collective, like all that follow.
    ///
    /// # Errors
    /// `Other` if another rank makes another request; the text names both calls. `NoMem` if shared memory is
    /// used up.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut barrier = world.barrier_init()?;
    /// for _ in 0..3 {
    ///     let active = barrier.start()?;
    ///     // ... compute meanwhile ...
    ///     barrier = active.wait()?;
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn barrier_init(&self) -> Result<Persistent<'env, (), L>> {
        self.persistent_collective(Kept::lending_nothing(()).describe(|()| Barrier))
    }

    /// Begins a barrier, without a scope.
    ///
    /// # Errors
    /// As [`Communicator::barrier`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let barrier = env.world().ibarrier()?;
    /// while !barrier.test()? {
    ///     // ... compute meanwhile ...
    /// }
    /// barrier.wait().map(drop)
    /// # }
    /// ```
    pub fn ibarrier(&self) -> Result<OwnedRequest<'env, (), L>> {
        self.owned_collective(Kept::lending_nothing(()).describe(|()| Barrier))
    }
}

impl<'env, L: ThreadLevel> Intercommunicator<'env, L> {
    /// Returns when all ranks of the other group have called it. See [`Communicator::barrier`].
    ///
    /// # Errors
    /// `Other` if another rank calls something else.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// # let side = world.rank();
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // one rank on each side
    /// between.barrier()?; // the other side has come
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn barrier(&self) -> Result<()> {
        self.inner().barrier()
    }

    /// A persistent barrier.
    ///
    /// # Errors
    /// As [`Communicator::barrier_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// # let side = world.rank();
    /// # let group = world.split(Some(side as i32), 0)?.expect("every rank has a color");
    /// let between = group.intercommunicator(0, &world, 1 - side, 0)?; // one rank on each side
    /// let mut barrier = between.barrier_init()?;
    /// for _ in 0..3 {
    ///     barrier = barrier.start()?.wait()?;
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn barrier_init(&self) -> Result<Persistent<'env, (), L>> {
        self.inner().barrier_init()
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
    /// let barrier = between.ibarrier()?;
    /// // ... compute meanwhile ...
    /// barrier.wait().map(drop)?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn ibarrier(&self) -> Result<OwnedRequest<'env, (), L>> {
        self.inner().ibarrier()
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a barrier.
    ///
    /// # Errors
    /// As [`Communicator::barrier`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// world.scope(|scope| {
    ///     let barrier = scope.barrier()?;
    ///     // ... compute meanwhile ...
    ///     barrier.wait()
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn barrier(&'scope self) -> Result<Request<'scope, (), L>> {
        self.collective(Barrier, Withheld::new(()))
    }
}
