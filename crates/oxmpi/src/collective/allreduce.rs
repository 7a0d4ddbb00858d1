//! Allreduce: everybody's elements combined, for everybody.
//!
//! MPI-5.0: Collective Communication, All-Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_mem::Words;

use super::{Collective, between, check_equal, lifetimes, note_side, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::op::{Combination, Op};
use crate::thread::ThreadLevel;

struct Allreduce<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    combination: Combination,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Allreduce<'b> {
    const FUNCTIONS: Functions = coll::Collective::Allreduce.info().functions;

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
        coll::allreduce(process, comm, send, recv, self.combination.reducer()?)
    }
}

lifetimes! {
    /// What everybody has in `send`, combined element by element, everybody gets in `recv`.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if `recv` has another length than `send`.
    allreduce iallreduce allreduce_init "allreduce"
    (&send = "[rank, 10]", &mut recv = "[0; 2]", op: &Op<R::Element> = "&oxmpi::Op::SUM")
    gives "[1, 20]" => Allreduce { send: Some(send), recv, combination: op.combination() }
}

lifetimes! {
    /// What everybody has in `buf`, combined element by element, everybody gets there.
    ///
    /// # Errors
    /// As [`Communicator::allreduce`](crate::Communicator::allreduce).
    allreduce_in_place iallreduce_in_place allreduce_in_place_init "allreduce in place"
    (&mut buf = "[rank, 10]", op: &Op<B::Element> = "&oxmpi::Op::SUM")
    gives "[1, 20]" => Allreduce { send: None, recv: buf, combination: op.combination() }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::allreduce`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(() "assert_eq!(world.allreduce_vec(&[rank, 7], &oxmpi::Op::SUM)?, [1, 14]);")]
    pub fn allreduce_vec<S>(&self, send: &S, op: &Op<S::Element>) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = Some(send.lend().elements());
        self.received(Allreduce::FUNCTIONS.blocking, elements, |recv| self.allreduce(send, recv, op))
    }
}

between! {
    /// What those of the other group have in `send`, combined element by element, everybody gets in `recv`.
    ///
    /// # Errors
    /// As [`Communicator::allreduce`](crate::Communicator::allreduce).
    allreduce iallreduce allreduce_init "allreduce"
    (&send = "[world.rank(), 10]", &mut recv = "[0; 2]", op: &Op<R::Element> = "&oxmpi::Op::SUM")
    gives "[[1, 10], [2, 20]][side]"
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::allreduce`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "let theirs = between.allreduce_vec(&[world.rank(), 10], &oxmpi::Op::SUM)?;\n",
        "assert_eq!(theirs, [[1, 10], [2, 20]][side]);"
    )]
    pub fn allreduce_vec<S>(&self, send: &S, op: &Op<S::Element>) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = Some(send.lend().elements());
        self.inner().received(Allreduce::FUNCTIONS.blocking, elements, |recv| self.allreduce(send, recv, op))
    }
}
