//! What the standard says of buffers in collectives between two groups.

use super::contract::{Contract, Expected, Part, Synchronizes};
use crate::inter::{Overview, Root};
use crate::{Buf, Collective};

impl Contract {
    /// The contract of a collective between two groups. Its plans keep the order of ranks for all operations.
    pub(super) fn between(overview: &Overview) -> Self {
        let collective = overview.collective;
        Self {
            parts: (0..overview.ranks()).map(|rank| part(overview, rank)).collect(),
            first_group: overview.first,
            unit: u64::from(overview.unit.max(1)),
            commutative: false,
            synchronizes: match collective {
                Collective::Barrier => Synchronizes::Groups,
                _ => Synchronizes::Nobody,
            },
            has_equal_results: collective == Collective::Allreduce,
        }
    }
}

impl Part {
    /// The part of a rank that sends `send_bytes` bytes and receives what `result` says.
    pub(super) fn receiving(send_bytes: u64, result: Vec<Expected>) -> Self {
        let recv_bytes = result.iter().map(|expected| expected.bytes).sum();
        Self { send_bytes, recv_bytes, input: Buf::Send, alias: None, result }
    }

    /// The part of a rank that has nothing to do.
    fn nothing() -> Self {
        Self::receiving(0, Vec::new())
    }
}

fn part(overview: &Overview, rank: u32) -> Part {
    let (sent, received) = (overview.sent(rank), overview.received(rank));
    let others = overview.others(rank);
    let peers = others.len() as u64;
    let own = u64::from(overview.groups(rank).rank);
    let set = others.clone().fold(0_u128, |set, other| set | 1 << other);
    let whole = |ranks| vec![Expected { begin: 0, bytes: received, origin: 0, ranks }];
    let from_all = |origin| -> Vec<_> {
        let block = |(index, from): (u64, u32)| Expected {
            begin: index * received,
            bytes: received,
            origin,
            ranks: 1_u128 << from,
        };
        (0..).zip(others.clone()).map(block).collect()
    };
    match overview.collective {
        Collective::Allgather => Part::receiving(sent, from_all(0)),
        Collective::Allreduce => Part::receiving(sent, whole(set)),
        Collective::Alltoall => Part::receiving(sent * peers, from_all(own * received)),
        Collective::Barrier => Part::nothing(),
        Collective::Bcast { root } => match overview.root(rank, root) {
            Root::Here => Part { input: Buf::Recv, ..Part::receiving(0, whole(1 << root)) },
            Root::Beside => Part::nothing(),
            Root::Remote(_) => Part::receiving(0, whole(1 << root)),
        },
        Collective::Gather { root } => match overview.root(rank, root) {
            Root::Here => Part::receiving(0, from_all(0)),
            Root::Beside => Part::nothing(),
            Root::Remote(_) => Part::receiving(sent, Vec::new()),
        },
        Collective::Reduce { root } => match overview.root(rank, root) {
            Root::Here => Part::receiving(0, whole(set)),
            Root::Beside => Part::nothing(),
            Root::Remote(_) => Part::receiving(sent, Vec::new()),
        },
        Collective::Scatter { root } => match overview.root(rank, root) {
            Root::Here => Part::receiving(sent * peers, Vec::new()),
            Root::Beside => Part::nothing(),
            Root::Remote(_) => {
                let block = Expected { begin: 0, bytes: received, origin: own * received, ranks: 1 << root };
                Part::receiving(0, vec![block])
            }
        },
    }
}
