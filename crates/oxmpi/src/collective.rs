//! Collectives, each described once for all three lifetimes.
//!
//! A [`Collective`] is what a call says, before it is known when the operation will run. Binding it to a
//! communicator checks the lengths and claims the memory.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::coll::{self, Root, Side};
use oxmpi_core::{self as core, Operation, Process};
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;

use crate::datatype::Datatype;
use crate::loan::Loan;
use crate::message::rank_to_core;
use crate::op::Op;

/// A collective on memory that is lent for `'b`.
pub(crate) struct Collective<'b> {
    kind: Kind,
    /// What this rank contributes; `None` if it lies in `recv`.
    send: Option<Loan<'b>>,
    recv: Loan<'b>,
}

enum Kind {
    Allgather,
    Allreduce(Result<Reducer>),
    Alltoall,
    Barrier,
    Bcast { root: usize },
    Gather { root: usize },
    Reduce { reducer: Result<Reducer>, root: usize },
    Scatter { root: usize },
}

/// What the lifetimes of a collective are called, for reports.
pub(crate) struct Functions {
    pub blocking: Function,
    pub nonblocking: Function,
    pub persistent: Function,
}

impl<'b> Collective<'b> {
    pub fn barrier() -> Self {
        Self { kind: Kind::Barrier, send: None, recv: Loan::NOTHING }
    }

    pub fn bcast(buf: Loan<'b>, root: usize) -> Self {
        Self { kind: Kind::Bcast { root }, send: None, recv: buf }
    }

    pub fn reduce<T: Datatype>(send: Option<Loan<'b>>, recv: Loan<'b>, op: &Op<T>, root: usize) -> Self {
        Self { kind: Kind::Reduce { reducer: op.reducer(), root }, send, recv }
    }

    pub fn allreduce<T: Datatype>(send: Option<Loan<'b>>, recv: Loan<'b>, op: &Op<T>) -> Self {
        Self { kind: Kind::Allreduce(op.reducer()), send, recv }
    }

    pub fn gather(send: Loan<'b>, recv: Loan<'b>, root: usize) -> Self {
        Self { kind: Kind::Gather { root }, send: Some(send), recv }
    }

    pub fn scatter(send: Loan<'b>, recv: Loan<'b>, root: usize) -> Self {
        Self { kind: Kind::Scatter { root }, send: Some(send), recv }
    }

    pub fn allgather(send: Option<Loan<'b>>, recv: Loan<'b>) -> Self {
        Self { kind: Kind::Allgather, send, recv }
    }

    pub fn alltoall(send: Option<Loan<'b>>, recv: Loan<'b>) -> Self {
        Self { kind: Kind::Alltoall, send, recv }
    }

    pub fn functions(&self) -> Functions {
        let [blocking, nonblocking, persistent] = match self.kind {
            Kind::Allgather => [Function::Allgather, Function::Iallgather, Function::AllgatherInit],
            Kind::Allreduce(_) => [Function::Allreduce, Function::Iallreduce, Function::AllreduceInit],
            Kind::Alltoall => [Function::Alltoall, Function::Ialltoall, Function::AlltoallInit],
            Kind::Barrier => [Function::Barrier, Function::Ibarrier, Function::BarrierInit],
            Kind::Bcast { .. } => [Function::Bcast, Function::Ibcast, Function::BcastInit],
            Kind::Gather { .. } => [Function::Gather, Function::Igather, Function::GatherInit],
            Kind::Reduce { .. } => [Function::Reduce, Function::Ireduce, Function::ReduceInit],
            Kind::Scatter { .. } => [Function::Scatter, Function::Iscatter, Function::ScatterInit],
        };
        Functions { blocking, nonblocking, persistent }
    }

    /// The operation on `comm`.
    ///
    /// # Errors
    /// `Op` if the operation is not defined on the datatype; `Root` if the root is not a rank of `comm`; `Count` if
    /// the lengths of the loans do not fit each other.
    ///
    /// # Safety
    /// - The operation is complete, or never started again, before `'b` ends.
    /// - `recv` is a loan of a mutable slice or of memory that the request owns (of a shared one at most where
    ///   nothing is received).
    pub unsafe fn bind(self, process: &Process, comm: &Arc<core::Communicator>) -> Result<Operation> {
        self.check_lengths(comm)?;
        let is_root = |root: usize| root == comm.rank() as usize;
        let claim = |loan: Loan<'b>| {
            // SAFETY: the caller's promise; of the loans, operations write only to `recv`.
            unsafe { loan.claim() }
        };
        let side = |loan: Option<Loan<'b>>| loan.map_or(Side::InPlace, |loan| Side::Buffer(claim(loan)));
        let Self { kind, send, recv } = self;
        match kind {
            Kind::Allgather => coll::allgather(process, comm, side(send), claim(recv)),
            Kind::Allreduce(reducer) => coll::allreduce(process, comm, side(send), claim(recv), reducer?),
            Kind::Alltoall => coll::alltoall(process, comm, side(send), claim(recv)),
            Kind::Barrier => coll::barrier(process, comm),
            Kind::Bcast { root } => coll::bcast(process, comm, claim(recv), checked_root(root)?),
            Kind::Gather { root } => {
                let whole = if is_root(root) { claim(recv) } else { Buffer::EMPTY };
                coll::gather(process, comm, side(send), whole, checked_root(root)?)
            }
            Kind::Reduce { reducer, root } => {
                let (send, result) = if is_root(root) {
                    (side(send), claim(recv))
                } else {
                    (Side::Buffer(claim(send.unwrap_or(recv))), Buffer::EMPTY)
                };
                coll::reduce(process, comm, send, result, reducer?, checked_root(root)?)
            }
            Kind::Scatter { root } => {
                let whole = send.filter(|_| is_root(root)).map_or(Buffer::EMPTY, claim);
                coll::scatter(process, comm, whole, Side::Buffer(claim(recv)), checked_root(root)?)
            }
        }
    }

    fn check_lengths(&self, comm: &core::Communicator) -> Result<()> {
        let (ranks, recv) = (comm.size() as usize, self.recv.elements());
        let send = self.send.map_or(recv, |send| send.elements());
        let is_root = |root: usize| root == comm.rank() as usize;
        match self.kind {
            Kind::Allgather if self.send.is_none() => check_blocks(ranks, "buf", recv),
            Kind::Allgather => check_whole(ranks, ("recv", recv), ("send", send)),
            Kind::Alltoall => check_equal(send, recv).and_then(|()| check_blocks(ranks, "send", send)),
            Kind::Allreduce(_) => check_equal(send, recv),
            Kind::Reduce { root, .. } if is_root(root) => check_equal(send, recv),
            Kind::Gather { root } if is_root(root) => check_whole(ranks, ("recv", recv), ("send", send)),
            Kind::Scatter { root } if is_root(root) => check_whole(ranks, ("send", send), ("recv", recv)),
            Kind::Barrier
            | Kind::Bcast { .. }
            | Kind::Gather { .. }
            | Kind::Reduce { .. }
            | Kind::Scatter { .. } => Ok(()),
        }
    }
}

fn checked_root(root: usize) -> Result<Root> {
    rank_to_core(ErrorClass::Root, "root", root).map(Root::Rank)
}

fn check_equal(send: usize, recv: usize) -> Result<()> {
    if send == recv {
        return Ok(());
    }
    Err(Error::new(ErrorClass::Count, format!("send has {send} elements, recv has {recv}")))
}

fn check_blocks(ranks: usize, argument: &str, elements: usize) -> Result<()> {
    if elements.is_multiple_of(ranks) {
        return Ok(());
    }
    let text = format!("{argument} has {elements} elements, which are not {ranks} blocks of equal length");
    Err(Error::new(ErrorClass::Count, text))
}

fn check_whole(ranks: usize, whole: (&str, usize), block: (&str, usize)) -> Result<()> {
    if block.1.checked_mul(ranks) == Some(whole.1) {
        return Ok(());
    }
    let text = format!(
        "{} has {} elements, {} has {} for each of {ranks} ranks",
        whole.0, whole.1, block.0, block.1
    );
    Err(Error::new(ErrorClass::Count, text))
}
