//! Reduce-scatter: everybody's elements combined, a block of any length of them for each.
//!
//! MPI-5.0: Collective Communication, Reduce-Scatter.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::coll::{self, Functions};
use oxmpi_core::{self as core, Operation, Process};

use super::{Collective, between, lifetimes, side};
use crate::buffer::SendBuffer;
use crate::check::Check;
use crate::communicator::Communicator;
use crate::intercommunicator::Intercommunicator;
use crate::loan::Loan;
use crate::op::{Combination, Op};
use crate::thread::ThreadLevel;

struct ReduceScatter<'a, 'b> {
    /// `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
    counts: &'a [usize],
    combination: Combination,
}

// SAFETY: nothing is noted.
unsafe impl<'b> Collective<'b> for ReduceScatter<'_, 'b> {
    const FUNCTIONS: Functions = Functions {
        blocking: Function::ReduceScatter,
        nonblocking: Function::IreduceScatter,
        persistent: Function::ReduceScatterInit,
    };

    fn check(&self) -> Option<Box<Check>> {
        self.recv.check()
    }

    unsafe fn bind(&self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        self.check_counts(comm)?;
        let element_bytes = self.recv.element_bytes();
        // SAFETY: the caller's promise.
        let send = unsafe { side(self.send.as_ref()) };
        // SAFETY: the caller's promise.
        let recv = unsafe { self.recv.claim() };
        let lengths = self.counts.iter().map(|&count| (count * element_bytes) as u64);
        coll::reduce_scatter(process, comm, send, recv, self.combination.reducer()?, lengths)
    }
}

lifetimes! {
    /// What everybody has in `send`, combined element by element, is cut into blocks of `counts[i]` elements for
    /// rank `i`, which gets its own in `recv`. All ranks give the same counts.
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if there is not one count for each rank, or `send` or `recv` has
    /// another length than they say.
    reduce_scatter ireduce_scatter reduce_scatter_init "reduce-scatter"
    (
        &send = "[rank, 10, 20]",
        &mut recv = "vec![0; rank + 1]",
        counts: &[usize] = "&[1, 2]",
        op: &Op<R::Element> = "&oxmpi::Op::SUM"
    )
    gives "[vec![1], vec![20, 40]][rank]" =>
        ReduceScatter { send: Some(send), recv, counts, combination: op.combination() }
}

lifetimes! {
    /// What everybody has in `buf`, combined element by element, is cut into blocks of `counts[i]` elements for
    /// rank `i`, which gets its own at the beginning of `buf`. What is behind that is undefined then.
    ///
    /// # Errors
    /// As [`Communicator::reduce_scatter`](crate::Communicator::reduce_scatter).
    reduce_scatter_in_place ireduce_scatter_in_place reduce_scatter_in_place_init "reduce-scatter in place"
    (&mut buf = "[rank, 10, 20]", counts: &[usize] = "&[1, 2]", op: &Op<B::Element> = "&oxmpi::Op::SUM")
    gives "[vec![1], vec![20, 40]][rank]" at "[..rank + 1]" =>
        ReduceScatter { send: None, recv: buf, counts, combination: op.combination() }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// As [`Communicator::reduce_scatter`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        () "let mine = world.reduce_scatter_vec(&[rank, 10, 20], &[1, 2], &oxmpi::Op::SUM)?;\n",
        "assert_eq!(mine, [vec![1], vec![20, 40]][rank]);"
    )]
    pub fn reduce_scatter_vec<S>(
        &self,
        send: &S,
        counts: &[usize],
        op: &Op<S::Element>,
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = Some(counts.get(self.rank()).copied().unwrap_or(0));
        let receive = |recv: &mut [_]| self.reduce_scatter(send, recv, counts, op);
        self.received(ReduceScatter::FUNCTIONS.blocking, elements, receive)
    }
}

impl ReduceScatter<'_, '_> {
    fn check_counts(&self, comm: &core::Communicator) -> Result<()> {
        let ranks = comm.size() as usize;
        if self.counts.len() != ranks {
            let text = format!("counts has {} elements, for {ranks} ranks", self.counts.len());
            return Err(Error::new(ErrorClass::Count, text));
        }
        let total = self.counts.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
        match &self.send {
            Some(send) => {
                check_length("send", send, total)?;
                check_length("recv", &self.recv, Some(self.counts[comm.rank() as usize]))
            }
            None => check_length("buf", &self.recv, total),
        }
    }
}

fn check_length(argument: &str, loan: &Loan<'_>, told: Option<usize>) -> Result<()> {
    let found = loan.elements();
    if told == Some(found) {
        return Ok(());
    }
    let told = told.map_or_else(|| "more than there can be".to_owned(), |told| told.to_string());
    Err(Error::new(ErrorClass::Count, format!("{argument} has {found} elements, the counts say {told}")))
}

between! {
    /// What those of the other group have in `send`, combined element by element, is cut into blocks of `counts[i]`
    /// elements for rank `i` of this group, which gets its own in `recv`.
    /// See [`Communicator::reduce_scatter`](crate::Communicator::reduce_scatter).
    ///
    /// # Errors
    /// `Op` if `op` is not defined on `T`; `Count` if there is not one count for each rank of this group, or `send` or
    /// `recv` has another length than they say. Their sum is the same in both groups.
    reduce_scatter ireduce_scatter reduce_scatter_init "reduce-scatter"
    (
        &send = "[world.rank(), 10]",
        &mut recv = "vec![0; 1 + side]",
        counts: &[usize] = "[&[1, 1][..], &[2]][side]",
        op: &Op<R::Element> = "&oxmpi::Op::SUM"
    )
    gives "[vec![1], vec![2, 20], vec![10]][world.rank()]"
}

impl<L: ThreadLevel> Intercommunicator<'_, L> {
    /// As [`Intercommunicator::reduce_scatter`], into a vector.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for it.
    #[doc = on!(
        (between) "let counts = [&[1, 1][..], &[2]][side]; // those of this side\n",
        "let mine = between.reduce_scatter_vec(&[world.rank(), 10], counts, &oxmpi::Op::SUM)?;\n",
        "assert_eq!(mine, [vec![1], vec![2, 20], vec![10]][world.rank()]);"
    )]
    pub fn reduce_scatter_vec<S>(
        &self,
        send: &S,
        counts: &[usize],
        op: &Op<S::Element>,
    ) -> Result<Vec<S::Element>>
    where
        S: SendBuffer + ?Sized,
    {
        let elements = Some(counts.get(self.rank()).copied().unwrap_or(0));
        let receive = |recv: &mut [_]| self.reduce_scatter(send, recv, counts, op);
        self.inner().received(ReduceScatter::FUNCTIONS.blocking, elements, receive)
    }
}
