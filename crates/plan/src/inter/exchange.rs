//! Everybody's block to everybody of both groups: what setting something up together needs.
//!
//! Each group gathers its own blocks by dissemination, in `ceil(log2 p)` rounds of doubling length, and then
//! gives them all to the other one. With `n` ranks in the larger group that makes at most `2 + log2 n` rounds
//! altogether. Meant for short blocks.

use super::Groups;
use crate::build::Builder;
use crate::peers::{dissemination, ring, spread};
use crate::{Buf, Peer, Plan, Span};

/// `bytes` bytes of each rank to all ranks of both groups. [`Buf::Recv`] holds the blocks of the local group
/// by rank, then those of the remote group by rank.
pub fn exchange(groups: &Groups, bytes: u64) -> Plan {
    let &Groups { rank, local, remote } = groups;
    let mut builder = Builder::new();
    if bytes == 0 {
        return builder.finish();
    }
    let block = |rank: u32| Span::fixed(Buf::Recv, u64::from(rank) * bytes, bytes);
    builder.copy(Span::fixed(Buf::Send, 0, bytes), block(rank), &[]);
    let gathered = gather(&mut builder, groups, bytes);
    let ours = Span::fixed(Buf::Recv, 0, u64::from(local) * bytes);
    let theirs = Span::fixed(Buf::Recv, ours.bytes, u64::from(remote) * bytes);
    if rank < remote {
        builder.send(Peer::Remote(rank), ours, &gathered);
    }
    let arrived = builder.receive(spread::parent(rank, remote), theirs, &[]);
    for child in spread::children(rank, remote, local) {
        builder.send(child, theirs, &[arrived]);
    }
    builder.finish()
}

/// Appends an allgather of the local blocks, of which the own one is there. Returns the receives of the last
/// round.
///
/// After each round a rank has the blocks of twice as many ranks that end with its own, around the ring.
fn gather(builder: &mut Builder, groups: &Groups, bytes: u64) -> Vec<u32> {
    let &Groups { rank, local, .. } = groups;
    let mut arrived = Vec::new();
    let mut known = 1;
    for distance in dissemination::distances(2, local).flatten() {
        let (to, from) = (ring::after(rank, distance, local), ring::before(rank, distance, local));
        let count = known.min(local - known);
        for span in blocks_until(rank, count, local, bytes) {
            builder.send(to, span, &arrived);
        }
        arrived =
            blocks_until(from, count, local, bytes).map(|span| builder.receive(from, span, &[])).collect();
        known += count;
    }
    arrived
}

/// The `count` blocks around the ring of `ranks` that end with that of `last`: one span, or two.
fn blocks_until(last: u32, count: u32, ranks: u32, bytes: u64) -> impl Iterator<Item = Span> {
    let first = ring::before(last, count - 1, ranks);
    let pieces = if first <= last { [(first, last + 1), (0, 0)] } else { [(first, ranks), (0, last + 1)] };
    pieces.into_iter().filter(|(begin, end)| begin < end).map(move |(begin, end)| {
        Span::fixed(Buf::Recv, u64::from(begin) * bytes, u64::from(end - begin) * bytes)
    })
}
