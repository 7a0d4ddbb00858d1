//! What a collective is whatever its lifetime: an [`Operation`], made of checked arguments.

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Binding, Call, Called, Lifetime, Program, Signature};
use oxmpi_op::Reducer;
use oxmpi_plan::{Collective, Shape};

use super::case::Case;
use super::image::{self, Buffers, Which};
use super::irregular::{Form, Irregular, Lengths};
use crate::comm::Communicator;
use crate::process::Process;

/// A collective with checked arguments, ready for any lifetime.
#[derive(Debug)]
pub struct Operation {
    /// What the plan is compiled for, unless it is irregular.
    pub(super) case: Case,
    pub(super) irregular: Option<Box<Irregular>>,
    pub(super) binding: Binding,
    /// The types of a block, to be compared on all ranks.
    pub(super) signature: Option<Box<Signature>>,
}

/// A buffer argument that `MPI_IN_PLACE` may stand for.
#[derive(Clone, Debug)]
pub enum Side {
    /// These data.
    Buffer(Buffer),
    /// The data lie where the other buffer says, and stay there.
    InPlace,
}

/// The root of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// This rank, on an intercommunicator: of the remote group.
    Rank(i32),
    /// This process: `MPI_ROOT` of an intercommunicator.
    Here,
    /// Another process of this group: `MPI_PROC_NULL` of an intercommunicator.
    Beside,
}

impl Operation {
    /// An operation that moves data.
    ///
    /// # Errors
    /// As [`check_apart`].
    #[inline(always)]
    pub(super) fn moving(shape: Shape, send: Buffer, recv: Buffer, in_place: bool) -> Result<Self> {
        check_apart(&send, &recv, in_place)?;
        let binding = Binding { send, recv, reducer: None, images: None };
        Ok(Self { case: Case { shape, in_place }, irregular: None, binding, signature: None })
    }

    /// An operation that combines data.
    ///
    /// # Errors
    /// As [`check_apart`].
    #[inline(always)]
    pub(super) fn reducing(
        process: &Process,
        shape: Shape,
        send: Side,
        recv: Buffer,
        reducer: Reducer,
        which: Which,
    ) -> Result<Self> {
        let (send, in_place) = match send {
            Side::Buffer(send) => (send, false),
            Side::InPlace => (recv.clone(), true),
        };
        check_apart(&send, &recv, in_place)?;
        let binding = image::bind(process, which, Buffers { send, recv, in_place }, reducer);
        Ok(Self { case: Case { shape, in_place }, irregular: None, binding, signature: None })
    }

    /// An operation that moves blocks.
    ///
    /// # Errors
    /// As [`check_apart`].
    pub(super) fn irregular(
        function: Function,
        form: &'static Form,
        lengths: Lengths,
        send: Buffer,
        recv: Buffer,
    ) -> Result<Self> {
        check_apart(&send, &recv, lengths.in_place)?;
        Ok(Self::sourced(Irregular::Lengths { function, lengths, form }, send, recv))
    }

    /// An operation that moves data, by a plan that is there.
    ///
    /// # Errors
    /// As [`check_apart`].
    pub(super) fn planned(plan: Program, send: Buffer, recv: Buffer) -> Result<Self> {
        check_apart(&send, &recv, false)?;
        Ok(Self::sourced(Irregular::Made(Arc::new(plan)), send, recv))
    }

    fn sourced(irregular: Irregular, send: Buffer, recv: Buffer) -> Self {
        let binding = Binding { send, recv, reducer: None, images: None };
        Self { case: Case::NONE, irregular: Some(Box::new(irregular)), binding, signature: None }
    }

    /// Lets all ranks compare the types of their data: of the whole vector, or of a block. Where blocks differ in
    /// their lengths, or between two groups, there is no such thing, and nothing is compared.
    pub fn sign(&mut self, signature: Option<Signature>) {
        if self.irregular.is_none() && !self.case.shape.is_between() {
            self.signature = signature.map(Box::new);
        }
    }

    /// What `rank` says of it when it is prepared: the call, and the length, however long.
    pub(super) fn prepared(&self, rank: u32) -> (Called, u64) {
        let (call, bytes) = match &self.irregular {
            Some(irregular) => (irregular.call(), 0),
            // The groups need not see the same lengths.
            None if self.case.shape.is_between() => (self.case.call(rank), 0),
            None => (self.case.call(rank), self.case.shape.bytes),
        };
        (call.begun(Lifetime::Persistent, self.binding.reducer.as_ref()), bytes)
    }

    /// The same operation, as a part of something else that the ranks call.
    pub(super) fn called(self, process: &Process, comm: &Communicator, call: Call) -> Self {
        let made = Irregular::Made(Arc::new(process.enter().plans.compile(comm, &self.case, call)));
        Self { irregular: Some(Box::new(made)), ..self }
    }
}

impl Communicator {
    /// The root of a collective within one group.
    ///
    /// # Errors
    /// `Root` if it is not a rank of the communicator.
    #[inline]
    pub(super) fn root(&self, root: Root) -> Result<u32> {
        match root {
            Root::Rank(rank) if (0..self.size().cast_signed()).contains(&rank) => Ok(rank.cast_unsigned()),
            root => Err(self.no_such_root(root)),
        }
    }

    #[cold]
    fn no_such_root(&self, root: Root) -> Error {
        let size = self.size();
        let root = match root {
            Root::Rank(rank) => rank.to_string(),
            Root::Here => "MPI_ROOT".to_owned(),
            Root::Beside => "MPI_PROC_NULL".to_owned(),
        };
        let text = format!("root {root} is not a rank of the communicator, whose size is {size}");
        Error::new(ErrorClass::Root, text)
    }
}

/// The shape of a collective that moves `bytes` bytes.
#[inline]
pub(super) fn shape_of_moving(comm: &Communicator, collective: Collective, bytes: u64) -> Shape {
    Shape { nodes: comm.nodes, ..Shape::of(collective, comm.size(), bytes) }
}

/// The shape of a collective that combines `bytes` bytes of elements.
///
/// # Errors
/// `Type` if a single element is too long.
#[inline]
pub(super) fn shape_of_reducing(
    comm: &Communicator,
    collective: Collective,
    bytes: u64,
    reducer: &Reducer,
) -> Result<Shape> {
    let unit = unit_of(reducer)?;
    let commutative = reducer.is_commutative();
    Ok(Shape { unit, commutative, nodes: comm.nodes, ..Shape::of(collective, comm.size(), bytes) })
}

/// Bytes of an element.
///
/// # Errors
/// `Type` if it is too long.
#[inline]
pub(super) fn unit_of(reducer: &Reducer) -> Result<u32> {
    u32::try_from(reducer.unit_bytes().max(1)).map_err(|_| too_long(reducer))
}

#[cold]
fn too_long(reducer: &Reducer) -> Error {
    Error::new(
        ErrorClass::Type,
        format!("elements of {} bytes are too long to combine", reducer.unit_bytes()),
    )
}

/// What a rank sends to itself must be what it receives from itself; `sent` and `received` are the bytes.
///
/// # Errors
/// `Truncate` if more is sent than received, `Count` if less.
#[inline]
pub(super) fn check_own(comm: &Communicator, sent: u64, received: u64) -> Result<()> {
    if sent == received { Ok(()) } else { Err(unequal(comm, sent, received)) }
}

#[cold]
pub(super) fn unequal(comm: &Communicator, sent: u64, received: u64) -> Error {
    let class = if sent > received { ErrorClass::Truncate } else { ErrorClass::Count };
    let rank = comm.rank();
    let text = format!("rank {rank} sends {sent} bytes to itself, but receives {received} bytes from itself");
    Error::new(class, text)
}

/// Only in place may data be received where data are sent from.
///
/// # Errors
/// `Buffer` if it is seen that they are.
#[inline]
pub(super) fn check_apart(send: &Buffer, recv: &Buffer, in_place: bool) -> Result<()> {
    if !in_place && send.overlaps(recv) { Err(overlapping()) } else { Ok(()) }
}

#[cold]
fn overlapping() -> Error {
    let text = "sendbuf and recvbuf overlap: to receive where data are sent from is what MPI_IN_PLACE is for";
    Error::new(ErrorClass::Buffer, text)
}

/// The block of `rank` in a buffer of `ranks` equal blocks.
pub(super) fn block(whole: &Buffer, rank: u32, ranks: u32) -> Buffer {
    let bytes = whole.bytes() / u64::from(ranks);
    whole.slice(u64::from(rank) * bytes, bytes)
}

/// This rank's own block, which in place is the one among `blocks`.
pub(super) fn own_block(comm: &Communicator, side: Side, blocks: &[Buffer]) -> (bool, Buffer) {
    match side {
        Side::Buffer(buffer) => (false, buffer),
        Side::InPlace => (true, blocks.get(comm.rank() as usize).cloned().unwrap_or(Buffer::EMPTY)),
    }
}
