//! Communicators that are duplicated while the program computes.
//!
//! The request makes the duplicate when it is completed. So what it keeps is nothing at first; it gives the duplicate
//! then, as others give their buffers back.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Constructors.

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use oxmpi_base::{Function, Result};
use oxmpi_core as core;

use crate::buffers::{Buffers, sealed};
use crate::communicator::Communicator;
use crate::door::Door;
use crate::intercommunicator::Intercommunicator;
use crate::kept::Kept;
use crate::owned_request::OwnedRequest;
use crate::thread::{Funneled, ThreadLevel};
use crate::topology::{Cartesian, Graph};

/// What the request of [`Communicator::iduplicate`] has in place of buffers: when it is complete it gives a `C`. If the
/// request is dropped, so is that.
///
/// ```
/// use oxmpi::{Communicator, Duplicate, OwnedRequest};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// struct Library<'env> {
///     /// Until it is needed.
///     comm: OwnedRequest<'env, Duplicate<'env, Communicator<'env>>>,
/// }
///
/// let library = Library { comm: world.iduplicate()? };
/// let (comm, _) = library.comm.wait()?;
/// comm.barrier()?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct Duplicate<'env, C, L: ThreadLevel = Funneled> {
    door: Door<'env, L>,
    /// Set when the request is completed; `None` if somebody else has it.
    made: Option<Arc<OnceLock<Arc<core::Communicator>>>>,
    kind: PhantomData<fn() -> C>,
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Begins to make a communicator of the same ranks with a context of its own, which the request gives when it is
    /// complete. Collective; attributes are those that there are now.
    ///
    /// # Errors
    /// `NoMem` if there is no memory for another request; if shared memory is used up, [`OwnedRequest::wait`] says so.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let request = world.iduplicate()?;
    /// // ... compute meanwhile ...
    /// let (library, _) = request.wait()?;
    /// assert_eq!(library.compare(&world), oxmpi::Comparison::Congruent);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn iduplicate(&self) -> Result<OwnedRequest<'env, Duplicate<'env, Self, L>, L>> {
        self.begin_duplicate()
    }

    fn begin_duplicate<C: kind::Kind<'env, L>>(
        &self,
    ) -> Result<OwnedRequest<'env, Duplicate<'env, C, L>, L>> {
        let made = Arc::new(OnceLock::new());
        let duplicate = Duplicate { door: self.door, made: Some(Arc::clone(&made)), kind: PhantomData };
        let function = Function::CommIdup;
        let begin = |process: &core::Process, ()| {
            process.comm_idup(&self.comm, move |comm| made.set(comm).expect("a request is completed once"))
        };
        let kept = Kept::lending_nothing(duplicate);
        // SAFETY: no memory is lent.
        unsafe { OwnedRequest::begun(self.door, function, Some(function), kept, begin) }
    }
}

impl<'env, L: ThreadLevel> Intercommunicator<'env, L> {
    /// As [`Communicator::iduplicate`]: a communicator between the same groups.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (pair) "let request = between.iduplicate()?;\n",
        "// ... compute meanwhile ...\n",
        "let (library, _) = request.wait()?;\n",
        "assert_eq!((library.size(), library.remote_size()), (1, 1));"
    )]
    pub fn iduplicate(&self) -> Result<OwnedRequest<'env, Duplicate<'env, Self, L>, L>> {
        self.inner().begin_duplicate()
    }
}

impl<'env, L: ThreadLevel> Cartesian<'env, L> {
    /// As [`Communicator::iduplicate`]: with the same grid.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        (line) "let request = line.iduplicate()?;\n",
        "// ... compute meanwhile ...\n",
        "assert_eq!(request.wait()?.0.dims(), [2]);"
    )]
    pub fn iduplicate(&self) -> Result<OwnedRequest<'env, Duplicate<'env, Self, L>, L>> {
        self.begin_duplicate()
    }
}

impl<'env, L: ThreadLevel> Graph<'env, L> {
    /// As [`Communicator::iduplicate`]: with the same edges.
    ///
    /// # Errors
    /// As there.
    #[doc = on!(
        () "let pair = world.dist_graph_adjacent([1 - rank], [1 - rank])?;\n",
        "let request = pair.iduplicate()?;\n",
        "// ... compute meanwhile ...\n",
        "assert_eq!(request.wait()?.0.sources(), [1 - rank]);"
    )]
    pub fn iduplicate(&self) -> Result<OwnedRequest<'env, Duplicate<'env, Self, L>, L>> {
        self.begin_duplicate()
    }
}

impl<'env, L: ThreadLevel, C> Duplicate<'env, C, L> {
    /// The duplicate, if it has been made, and nobody has it.
    fn take(&mut self) -> Option<Communicator<'env, L>> {
        let made = self.made.take()?;
        made.get().map(|comm| Communicator::new(self.door, comm))
    }
}

impl<C, L: ThreadLevel> Drop for Duplicate<'_, C, L> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<'env, C: kind::Kind<'env, L>, L: ThreadLevel> Buffers for Duplicate<'env, C, L> {
    type Given = C;
}

impl<'env, C: kind::Kind<'env, L>, L: ThreadLevel> sealed::Own for Duplicate<'env, C, L> {
    type Back = C;

    fn give(mut self) -> C {
        C::of(self.take().expect("a request that is complete has made it"))
    }

    fn leak(&mut self) {
        self.made = None;
    }
}

mod kind {
    use crate::communicator::Communicator;

    /// What is a communicator, or has one.
    pub trait Kind<'env, L: crate::thread::ThreadLevel> {
        /// That of a duplicate of its own.
        fn of(comm: Communicator<'env, L>) -> Self;
    }
}

impl<'env, L: ThreadLevel> kind::Kind<'env, L> for Communicator<'env, L> {
    fn of(comm: Self) -> Self {
        comm
    }
}

impl<'env, L: ThreadLevel> kind::Kind<'env, L> for Intercommunicator<'env, L> {
    fn of(comm: Communicator<'env, L>) -> Self {
        Self::of(comm)
    }
}

impl<'env, L: ThreadLevel> kind::Kind<'env, L> for Cartesian<'env, L> {
    fn of(comm: Communicator<'env, L>) -> Self {
        Self::of(comm)
    }
}

impl<'env, L: ThreadLevel> kind::Kind<'env, L> for Graph<'env, L> {
    fn of(comm: Communicator<'env, L>) -> Self {
        Self::of(comm)
    }
}

impl<C, L: ThreadLevel> fmt::Debug for Duplicate<'_, C, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_made = self.made.as_ref().is_some_and(|made| made.get().is_some());
        f.debug_struct("Duplicate").field("is_made", &is_made).finish_non_exhaustive()
    }
}
