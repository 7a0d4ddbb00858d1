//! Bcast: the root's elements to everybody.
//!
//! MPI-5.0: Collective Communication, Broadcast.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, checked_root, lifetimes};
use crate::check::Check;
use crate::loan::Loan;

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

lifetimes! {
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
    bcast ibcast bcast_init "broadcast"
    (&mut buf, root: usize) => Bcast { buf, root }
}
