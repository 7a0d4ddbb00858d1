//! Scan: the elements of the ranks up to each, combined, for it.
//!
//! MPI-5.0: Collective Communication, Scan.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_mem::Words;

use super::{Collective, check_equal, lifetimes, note_side, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::Loan;
use crate::op::{Combination, Op};
use crate::thread::ThreadLevel;

struct Scan<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    combination: Combination,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Scan<'b> {
    const FUNCTIONS: Functions = coll::Collective::Scan.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    #[inline]
    fn note(&self, words: &mut Words) {
        note_side(self.send.as_ref(), words);
        self.recv.note(words);
        self.combination.note(words);
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        check_equal(self.send.as_ref().unwrap_or(&self.recv), &self.recv)?;
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send.as_ref()) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        coll::scan(process, comm, send, recv, self.combination.reducer()?)
    }
}

lifetimes! {
    /// What the ranks up to this one have in `send`, combined element by element in the order of the ranks, this
    /// one gets in `recv`.
    ///
    /// # Errors
    /// As [`Communicator::allreduce`](crate::Communicator::allreduce).
    scan iscan scan_init "scan"
    (&send = "[rank + 1]", &mut recv = "[0]", op: &Op<R::Element> = "&oxmpi::Op::SUM")
    gives "[[1], [3]][rank]" => Scan { send: Some(send), recv, combination: op.combination() }
}

lifetimes! {
    /// What the ranks up to this one have in `buf`, combined element by element, this one gets there.
    /// See [`Communicator::scan`](crate::Communicator::scan).
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`.
    scan_in_place iscan_in_place scan_in_place_init "scan in place"
    (&mut buf = "[rank + 1]", op: &Op<B::Element> = "&oxmpi::Op::SUM")
    gives "[[1], [3]][rank]" => Scan { send: None, recv: buf, combination: op.combination() }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::scan`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let sums = world.scan_vec(&[rank + 1, 7], &oxmpi::Op::SUM)?;\n",
        "assert_eq!(sums, [[1, 7], [3, 14]][rank]);"
    )]
    pub fn scan_vec<S>(&self, send: &S, op: &Op<S::Element>) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = Some(send.lend().elements());
        self.received(Scan::FUNCTIONS.blocking, elements, |recv| self.scan(send, recv, op))
    }
}
