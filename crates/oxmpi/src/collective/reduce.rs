//! Reduce: everybody's elements combined, for the root.
//!
//! MPI-5.0: Collective Communication, Reduce.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_core::coll::{self, Functions, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Words;

use super::{Collective, between, check_equal, checked_root, lifetimes, note_side, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::op::{Combination, Op};
use crate::part::{Here, Part};
use crate::thread::ThreadLevel;

struct Reduce<'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    combination: Combination,
    root: usize,
}

// SAFETY: all of its fields are noted.
unsafe impl<'b> Collective<'b> for Reduce<'b> {
    const FUNCTIONS: Functions = coll::Collective::Reduce.info().functions;

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    #[inline]
    fn note(&self, words: &mut Words) {
        note_side(self.send.as_ref(), words);
        self.recv.note(words);
        self.combination.note(words);
        words.push(self.root as u64);
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let (send, result) = if self.root == comm.rank() as usize {
            check_equal(self.send.as_ref().unwrap_or(&self.recv), &self.recv)?;
            // SAFETY: the caller's promise.
            let send = unsafe { side(self.send.as_ref()) };
            // SAFETY: the caller's promise.
            (send, unsafe { self.recv.claim() })
        } else {
            let contribution = self.send.as_ref().unwrap_or(&self.recv);
            // SAFETY: the caller's promise.
            (Side::Buffer(unsafe { contribution.claim() }), Buffer::EMPTY)
        };
        coll::reduce(process, comm, send, result, self.combination.reducer()?, checked_root(self.root)?)
    }
}

lifetimes! {
    /// What everybody has in `send`, combined element by element, the root gets in `recv`. The other ranks'
    /// `recv` is left alone.
    ///
    /// # Errors
    /// `Root` if `root` is not a rank; `Op` if `op` is not defined on `T`; `Count` if the root's `recv` has
    /// another length than `send`.
    reduce ireduce reduce_init "reduce"
    (&send = "[rank, 10]", &mut recv = "[0; 2]", op: &Op<R::Element> = "&oxmpi::Op::SUM", root: usize = "0")
    gives "[[1, 20], [0, 0]][rank]" =>
        Reduce { send: Some(send), recv, combination: op.combination(), root }
}

lifetimes! {
    /// What everybody has in `buf`, combined element by element, the root gets there.
    ///
    /// # Errors
    /// As [`Communicator::reduce`](crate::Communicator::reduce).
    reduce_in_place ireduce_in_place reduce_in_place_init "reduce in place"
    (&mut buf = "[rank, 10]", op: &Op<B::Element> = "&oxmpi::Op::SUM", root: usize = "0")
    gives "[[1, 20], [1, 10]][rank]" =>
        Reduce { send: None, recv: buf, combination: op.combination(), root }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::reduce`], into a vector at the root; none elsewhere.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let sum = world.reduce_vec(&[rank, 7], &oxmpi::Op::SUM, 1)?;\n",
        "assert_eq!(sum, [None, Some(vec![1, 14])][rank]);"
    )]
    pub fn reduce_vec<S>(&self, send: &S, op: &Op<S::Element>, root: usize) -> Result<Option<Vec<S::Element>>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = || Some(send.lend().elements());
        self.received_at(root, Reduce::FUNCTIONS.blocking, elements, |recv| self.reduce(send, recv, op, root))
    }
}

/// One between two groups.
struct BetweenGroups<'b> {
    part: Part<'b>,
    combination: Combination,
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for BetweenGroups<'b> {
    const FUNCTIONS: Functions = Reduce::FUNCTIONS;

    fn check(&self) -> Option<Box<Check>> {
        self.part.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        let root = self.part.root()?;
        // SAFETY: the caller's promise.
        let (here, there) = unsafe { self.part.claim_sides() };
        coll::reduce(process, comm, Side::Buffer(there), here, self.combination.reducer()?, root)
    }
}

between! {
    /// What those of the other group have, combined element by element, the root gets. The root says
    /// [`Here`](crate::Here), those of its own group say [`Beside`](crate::Beside), and the others
    /// [`There`](crate::There).
    ///
    /// # Errors
    /// `Root` if the root is no rank of the other group.
    reduce ireduce reduce_init "reduce"
    (part: ToRoot<T> = "[world.rank()]" to "[0_usize]", op: &Op<T> = "&oxmpi::Op::SUM")
    gives "[2]" => BetweenGroups { part, combination: op.combination() }
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::reduce`] where this rank is the root, into a vector of so many `elements`, as each rank
    /// of the other group has. All others call [`reduce`](Intercommunicator::reduce).
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "use oxmpi::Op;\n\n",
        "if side == 0 {\n",
        "    between.reduce(oxmpi::There(0, &[world.rank(), 7]), &Op::SUM)?;\n",
        "} else {\n",
        "    assert_eq!(between.reduce_vec(2, &Op::<usize>::SUM)?, [2, 14]);\n",
        "}"
    )]
    pub fn reduce_vec<T: Datatype>(&self, elements: usize, op: &Op<T>) -> Result<Vec<T>> {
        let receive = |recv: &mut [_]| self.reduce(Here(recv), op);
        self.inner().received(Reduce::FUNCTIONS.blocking, Some(elements), receive)
    }
}
