//! Exscan by messages over doubling distances, as the scan; beside what it has combined for others, a rank
//! combines the same without its own vector.

use crate::build::Builder;
use crate::collective::scan::doubling::cost;
use crate::peers::distance;
use crate::{Algorithm, Buf, Plan, Shape, Span};

pub(crate) const ALGORITHM: Algorithm =
    Algorithm { name: "doubling", admits: |_| true, cost: Some(cost), plan };

pub(crate) fn plan(shape: &Shape, rank: u32, in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let own = Span::fixed(Buf::Send, 0, shape.bytes);
    let result = Span::fixed(Buf::Recv, 0, shape.bytes);
    let rounds: Vec<_> = distance::rounds(rank, shape.ranks).collect();
    let needs_partial = |round: usize| rounds.get(round + 1).is_some_and(|(above, _)| above.is_some());
    let mut scratch = || builder.scratch(shape.bytes);
    let operand = if rank == 0 { Span::EMPTY } else { scratch() };
    let sum = if rank > 0 && needs_partial(0) { scratch() } else { Span::EMPTY };
    let mut partial = own;
    for (round, &(above, below)) in rounds.iter().enumerate() {
        let sent = above.map(|above| builder.send(above, partial, &[]));
        let Some(below) = below else { continue };
        let arrived = builder.receive(below, operand, &[]);
        let mut awaited = vec![arrived];
        if needs_partial(round) {
            // From the second round on, what is being sent is overwritten.
            awaited.extend(sent.filter(|_| round > 0));
            builder.reduce(operand, partial, sum, &awaited);
            awaited.clear();
            partial = sum;
        }
        if round == 0 {
            // In place, what is being sent is overwritten.
            awaited.extend(sent.filter(|_| in_place));
            builder.copy(operand, result, &awaited);
        } else {
            builder.reduce(operand, result, result, &awaited);
        }
    }
    builder.finish()
}
