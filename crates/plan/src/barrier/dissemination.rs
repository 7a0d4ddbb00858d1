//! Barrier by dissemination: `ceil(log2 p)` rounds of one empty message sent and one received.

use crate::build::Builder;
use crate::machine::{message_ns, rounds};
use crate::peers::dissemination;
use crate::{Algorithm, Plan, Shape, Span};

pub(crate) const ALGORITHM: Algorithm = Algorithm { name: "dissemination", admits: |_| true, cost_ns, plan };

fn cost_ns(shape: &Shape) -> f64 {
    rounds(shape.ranks) * message_ns(0)
}

fn plan(shape: &Shape, rank: u32, _in_place: bool) -> Plan {
    let mut builder = Builder::new();
    let mut heard = None;
    for (to, from) in dissemination::rounds(rank, shape.ranks) {
        builder.send(to, Span::EMPTY, heard.as_slice());
        heard = Some(builder.receive(from, Span::EMPTY, &[]));
    }
    builder.finish()
}
