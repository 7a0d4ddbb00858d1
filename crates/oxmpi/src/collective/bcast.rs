//! Bcast: the root's elements to everybody.
//!
//! MPI-5.0: Collective Communication, Broadcast.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_mem::Words;

use super::{Collective, between, checked_root, lifetimes};
use crate::check::Check;
use crate::datatype::Datatype;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::part::{Part, There};
use crate::thread::ThreadLevel;

struct Bcast<'b> {
    buf: Loan<'b>,
    root: usize,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Bcast<'b> {
    const FUNCTIONS: Functions = coll::Collective::Bcast.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.buf.check()
    }

    #[inline]
    fn note(&self, words: &mut Words) {
        self.buf.note(words);
        words.push(self.root as u64);
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
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
    bcast ibcast bcast_init "broadcast"
    (&mut buf = "[[7, 8], [0, 0]][rank]", root: usize = "0")
    gives "[7, 8]" => Bcast { buf, root }
}

/// One between two groups.
struct BetweenGroups<'b>(Part<'b>);

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for BetweenGroups<'b> {
    const FUNCTIONS: Functions = Bcast::FUNCTIONS;

    fn check(&self) -> Option<Box<Check>> {
        self.0.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = self.0.root()?;
        // SAFETY: the caller's promise.
        coll::bcast(process, comm, unsafe { self.0.claim() }, root)
    }
}

between! {
    /// What the root has, everybody of the other group gets. The root says [`Here`](crate::Here), those of its own
    /// group say [`Beside`](crate::Beside), and the others [`There`](crate::There).
    ///
    /// # Errors
    /// `Root` if the root is no rank of the other group.
    bcast ibcast bcast_init "broadcast"
    (part: FromRoot<T> = "[7, 8]" to "[0; 2]")
    gives "[7, 8]" => BetweenGroups(part)
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::bcast`] from a `root` in the other group, into a vector of so many `elements`. The ranks
    /// of that group call [`bcast`](Intercommunicator::bcast).
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "if side == 1 {\n",
        "    between.bcast(oxmpi::Here(&[7, 8]))?;\n",
        "} else {\n",
        "    assert_eq!(between.bcast_vec::<i32>(0, 2)?, [7, 8]);\n",
        "}"
    )]
    pub fn bcast_vec<T: Datatype>(&self, root: usize, elements: usize) -> Result<Vec<T>> {
        let receive = |recv: &mut [_]| self.bcast(There(root, recv));
        self.inner().received(Bcast::FUNCTIONS.blocking, Some(elements), receive)
    }
}
