//! Exscan along a chain of lines: each rank posts, for the next one, what it has pulled from the rank before it
//! combined with its own vector.
//!
//! A rank reads what was posted for it twice: combined and posted first, because others wait for that, and then
//! as its result, which in place overwrites its own vector.

use crate::build::Builder;
use crate::collective::scan::node_chain::{admits, cost, stream};
use crate::{Algorithm, Buf, Plan, Shape, Take};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "node-chain", admits, cost: Some(cost), plan };

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let stream = stream(shape);
    let mut builder = Builder::segmented(stream.segments.count);
    let lines = stream.declare(&mut builder, 1);
    let (own, result) = (stream.segments.span(Buf::Send, 0), stream.segments.span(Buf::Recv, 0));
    if rank == 0 {
        stream.await_credit(&mut builder, lines, std::iter::once(1));
        builder.post(lines.data, own);
    } else if rank < shape.ranks - 1 {
        let sum = stream.segments.operand(&mut builder); // who posts it needs it no more
        stream.pass_on(&mut builder, lines, std::iter::once(rank + 1), |builder| {
            builder.pull_reduce(rank - 1, lines.data, 0, sum, Take::Left { right: own });
            builder.post(lines.data, sum);
            builder.pull(rank - 1, lines.data, 0, result);
        });
    } else {
        stream.read(&mut builder, lines, |builder| builder.pull(rank - 1, lines.data, 0, result));
    }
    builder.finish()
}
