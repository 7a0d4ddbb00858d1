//! Bcast: the root's elements to everybody.
//!
//! MPI-5.0: Collective Communication, Broadcast.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, checked_root};
use crate::buffer::{OwnedBuffer, RecvBuffer, SendBuffer};
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::{Loan, Withheld};
use crate::owned_request::OwnedRequest;
use crate::persistent::{One, Persistent};
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

struct Bcast<'b> {
    buf: Loan<'b>,
    root: usize,
}

impl<'b> Collective<'b> for Bcast<'b> {
    const FUNCTIONS: Functions = coll::Collective::Bcast.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.buf.check()
    }

    unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        // SAFETY: the caller's promise.
        let buf = unsafe { self.buf.claim() };
        coll::bcast(process, comm, buf, checked_root(self.root)?)
    }
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// What the root has in `buf`, everybody gets.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let mut parameters = if world.rank() == 0 { [0.5, 1e-6] } else { [0.0; 2] };
    /// world.bcast(&mut parameters, 0)?;
    /// assert_eq!(parameters, [0.5, 1e-6]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn bcast<B>(&self, buf: &mut B, root: usize) -> Result<()>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        self.blocking(Bcast { buf: buf.lend_mut(), root })
    }

    /// A persistent [broadcast](Communicator::bcast).
    ///
    /// # Errors
    /// As [`Communicator::bcast`] and [`Communicator::barrier_init`].
    pub fn bcast_init<B>(&self, buf: B, root: usize) -> Result<Persistent<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.on_one(buf, |buf| Bcast { buf, root })
    }

    /// Begins a [broadcast](Communicator::bcast) on buffers that the request keeps until then.
    ///
    /// # Errors
    /// As [`Communicator::bcast`].
    pub fn ibcast<B>(&self, buf: B, root: usize) -> Result<OwnedRequest<'env, One<B::Element>, L>>
    where
        B: OwnedBuffer,
    {
        self.begin_on_one(buf, |buf| Bcast { buf, root })
    }
}

impl<'scope, 'env: 'scope, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// Begins a [broadcast](Communicator::bcast).
    ///
    /// # Errors
    /// As [`Communicator::bcast`].
    pub fn bcast<B>(
        &'scope self,
        buf: &'scope mut B,
        root: usize,
    ) -> Result<Request<'scope, &'scope mut B::View, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
    {
        let (result, buf) = Withheld::lent(buf);
        self.collective(Bcast { buf, root }, result)
    }
}
