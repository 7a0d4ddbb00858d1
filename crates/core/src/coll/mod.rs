//! Collectives: each is described once, and the lifetimes know nothing of which it is.
//!
//! A description checks the arguments and says what the collective's [`Shape`] is and which buffers its roles
//! are bound to: an [`Operation`]. `lifetime` turns any operation into a blocking, nonblocking or persistent
//! call.
//!
//! MPI-5.0: Collective Communication.

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod cache;
mod exchange;
mod gather;
mod image;
mod lifetime;
mod reduce;
mod scatter;

pub use allgather::allgather;
pub use allreduce::allreduce;
pub use alltoall::alltoall;
pub use barrier::barrier;
pub use bcast::bcast;
pub use gather::gather;
pub use reduce::reduce;
pub use scatter::scatter;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_datatype::{Buffer, Datatype};
use oxmpi_engine::Binding;
use oxmpi_op::Reducer;
use oxmpi_plan::{Collective, Shape};

use crate::comm::Communicator;

pub(crate) use cache::PlanCache;
pub(crate) use exchange::{Record, exchange};

/// A collective with checked arguments, ready for any lifetime.
#[derive(Debug)]
pub struct Operation {
    shape: Shape,
    in_place: bool,
    binding: Binding,
}

/// A buffer argument that `MPI_IN_PLACE` may stand for.
#[derive(Clone, Debug)]
pub enum Side {
    /// These data.
    Buffer(Buffer),
    /// The data lie where the other buffer says, and stay there.
    InPlace,
}

/// The elements that a reduction combines.
#[derive(Clone, Debug)]
pub struct Elements {
    /// How many.
    pub count: u64,
    /// Of which datatype.
    pub datatype: Datatype,
}

impl Operation {
    /// An operation that moves data.
    fn moving(comm: &Communicator, collective: Collective, bytes: u64) -> Self {
        let shape = Shape { collective, ranks: comm.size(), bytes, unit: 1, commutative: true, node: true };
        let binding = Binding::new(Buffer::EMPTY, Buffer::EMPTY);
        Self { shape, in_place: false, binding }
    }

    /// An operation that combines data.
    fn reducing(
        comm: &Communicator,
        collective: Collective,
        elements: &Elements,
        reducer: Reducer,
    ) -> Result<Self> {
        let bytes = elements.count.checked_mul(elements.datatype.size()).ok_or_else(|| {
            let (count, name) = (elements.count, elements.datatype.name());
            Error::new(ErrorClass::Count, format!("count is {count}: so many {name} fit no memory"))
        })?;
        let mut operation = Self::moving(comm, collective, bytes);
        operation.shape.unit = u32::try_from(reducer.unit_bytes().max(1)).map_err(|_| {
            Error::new(
                ErrorClass::Type,
                format!("elements of {} bytes are too long to combine", reducer.unit_bytes()),
            )
        })?;
        operation.shape.commutative = reducer.is_commutative();
        operation.binding.reducer = Some(reducer);
        Ok(operation)
    }

    fn bind(mut self, send: Buffer, recv: Buffer) -> Self {
        self.binding.send = send;
        self.binding.recv = recv;
        self
    }

    fn in_place(mut self, in_place: bool) -> Self {
        self.in_place = in_place;
        self
    }
}

/// The block of `rank` in a buffer of `ranks` equal blocks.
fn block(whole: &Buffer, rank: u32, ranks: u32) -> Buffer {
    let bytes = whole.bytes() / u64::from(ranks);
    whole.slice(u64::from(rank) * bytes, bytes)
}
