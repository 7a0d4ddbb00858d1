//! Exscan: the elements of the ranks before each, combined, for it.
//!
//! MPI-5.0: Collective Communication, Exclusive Scan.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Words;

use super::{Collective, check_equal, lifetimes, note_side, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::loan::Loan;
use crate::op::{Combination, Op};
use crate::thread::ThreadLevel;

struct Exscan<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    combination: Combination,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Exscan<'b> {
    const FUNCTIONS: Functions = coll::Collective::Exscan.info().functions;

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
        let result = if comm.rank() == 0 && self.send.is_some() {
            Buffer::EMPTY
        } else {
            check_equal(self.send.as_ref().unwrap_or(&self.recv), &self.recv)?;
            // SAFETY: the caller's promise.
            unsafe { self.recv.claim() }
        };
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send.as_ref()) };
        coll::exscan(process, comm, send, result, self.combination.reducer()?)
    }
}

lifetimes! {
    /// What the ranks before this one have in `send`, combined element by element in the order of the ranks, this
    /// one gets in `recv`. Rank 0 gets nothing, and its `recv` is left alone.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `recv` has another length than `send`, but for rank 0.
    exscan iexscan exscan_init "exscan"
    (&send = "[rank + 1]", &mut recv = "[9]", op: &Op<R::Element> = "&oxmpi::Op::SUM")
    gives "[[9], [1]][rank]" => Exscan { send: Some(send), recv, combination: op.combination() }
}

lifetimes! {
    /// What the ranks before this one have in `buf`, combined element by element, this one gets there. That of rank
    /// 0 is left alone.
    /// See [`Communicator::exscan`](crate::Communicator::exscan).
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`.
    exscan_in_place iexscan_in_place exscan_in_place_init "exscan in place"
    (&mut buf = "[rank + 1]", op: &Op<B::Element> = "&oxmpi::Op::SUM")
    gives "[1]" => Exscan { send: None, recv: buf, combination: op.combination() }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::exscan`], into a vector; none at rank 0.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let before = world.exscan_vec(&[rank + 1, 7], &oxmpi::Op::SUM)?;\n",
        "assert_eq!(before, [None, Some(vec![1, 7])][rank]);"
    )]
    pub fn exscan_vec<S>(&self, send: &S, op: &Op<S::Element>) -> Result<Option<Vec<S::Element>>>
    where
        S: SendBuffer + ?Sized,
    {
        // Rank 0 gets nothing, so there is nothing that might be no value.
        let elements = if self.rank() == 0 { 0 } else { send.lend().elements() };
        let received =
            self.received(Exscan::FUNCTIONS.blocking, Some(elements), |recv| self.exscan(send, recv, op))?;
        Ok((self.rank() > 0).then_some(received))
    }
}
