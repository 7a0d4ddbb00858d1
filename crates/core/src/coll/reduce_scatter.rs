//! MPI-5.0: Collective Communication, Reduce-Scatter.

use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_op::Reducer;
use oxmpi_plan::{Collective, Shape, Uneven};

use super::case::Case;
use super::image::Which;
use super::inter;
use super::irregular::Irregular;
use super::operation::{Operation, Side, shape_of_reducing, unit_of};
use crate::comm::Communicator;
use crate::process::Process;

/// What everybody has in `send`, combined in the order of the ranks, is cut into blocks of equal length, of which
/// each rank gets its own in `recv`. In place, `recv` is as long as what would be sent, and its beginning is the
/// result.
///
/// # Errors
/// `Type` if a single element is too long to combine.
#[inline(always)] // as in allreduce
pub fn reduce_scatter_block(
    process: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    if comm.is_inter() {
        return between(process, comm, send, recv, reducer);
    }
    let bytes = match send {
        Side::Buffer(_) => recv.bytes(),
        Side::InPlace => recv.bytes() / u64::from(comm.size()),
    };
    let shape = shape_of_reducing(comm, Collective::ReduceScatterBlock, bytes, &reducer)?;
    Operation::reducing(process, shape, send, recv, reducer, Which::BOTH)
}

fn between(
    process: &Process,
    comm: &Communicator,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
) -> Result<Operation> {
    let send = inter::not_in_place(send)?;
    let shape = inter::shape(comm, Collective::ReduceScatterBlock, inter::block(comm, &send));
    let shape = Shape { received: recv.bytes(), ..shape };
    inter::reducing(process, shape, send, recv, reducer)
}

/// As [`reduce_scatter_block`], with blocks of `lengths` bytes, one for each rank of this group.
///
/// # Errors
/// `Type` if a single element is too long to combine.
pub fn reduce_scatter(
    process: &Process,
    comm: &Arc<Communicator>,
    send: Side,
    recv: Buffer,
    reducer: Reducer,
    lengths: impl Iterator<Item = u64> + Clone,
) -> Result<Operation> {
    let first = lengths.clone().next();
    let is_equal = lengths.clone().all(|bytes| Some(bytes) == first);
    if is_equal && !comm.is_inter() {
        return reduce_scatter_block(process, comm, send, recv, reducer);
    }
    let send = if comm.is_inter() { Side::Buffer(inter::not_in_place(send)?) } else { send };
    let in_place = matches!(send, Side::InPlace);
    let (unit, commutative) = (unit_of(&reducer)?, reducer.is_commutative());
    let is_same = |known: &Uneven| {
        (known.unit, known.commutative) == (unit, commutative)
            && known.lengths.iter().copied().eq(lengths.clone())
    };
    let uneven = || Uneven {
        lengths: lengths.clone().collect(),
        remote_ranks: if comm.is_inter() { comm.peers() } else { 0 },
        unit,
        commutative,
        nodes: comm.nodes,
    };
    let plan = process.enter().plans.uneven(comm, in_place, is_same, uneven);
    let made = Irregular::Made(plan);
    let operation = Operation::reducing(process, Case::NONE.shape, send, recv, reducer, Which::BOTH)?;
    Ok(Operation { irregular: Some(Box::new(made)), ..operation })
}
