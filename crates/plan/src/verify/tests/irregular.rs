//! The vector collectives, over random lengths of blocks.

use proptest::prelude::*;

use crate::irregular::{allgatherv, alltoallv, gatherv, scatterv};
use crate::verify::contract::{Alias, Contract, Expected, Part, Synchronizes};
use crate::verify::{Conditions, Flaw, Schedule, Sends, verify_contract};
use crate::{Buf, Plan};

/// Verifies plans against what each rank has and should get, with both kinds of sends.
fn verify(parts: Vec<Part>, plans: &[Plan], seed: u64) -> Result<(), Flaw> {
    let (commutative, synchronizes, has_equal_results) = (false, Synchronizes::Nobody, false);
    let first_group = parts.len() as u32;
    let contract = Contract { parts, first_group, unit: 1, commutative, synchronizes, has_equal_results };
    for sends in [Sends::Buffered, Sends::Synchronous] {
        verify_contract(&contract, plans, Conditions { sends, schedule: Schedule::Random(seed) })?;
    }
    Ok(())
}

/// Where each block begins, if they lie one after the other.
fn begins(bytes: &[u64]) -> Vec<u64> {
    let ends = bytes.iter().scan(0, |end, bytes| {
        *end += bytes;
        Some(*end)
    });
    ends.zip(bytes).map(|(end, bytes)| end - bytes).collect()
}

/// All ranks' blocks in order; block `r` comes from place `origin(r)` of rank `r`'s vector.
fn from_all(bytes: &[u64], origin: impl Fn(usize) -> u64) -> Vec<Expected> {
    let block =
        |(rank, begin)| Expected { begin, bytes: bytes[rank], origin: origin(rank), ranks: 1 << rank };
    begins(bytes).into_iter().enumerate().map(block).collect()
}

fn part(send_bytes: u64, recv_bytes: u64, alias: Option<Alias>, result: Vec<Expected>) -> Part {
    Part { send_bytes, recv_bytes, input: Buf::Send, alias, result }
}

fn send_in_recv(offset: u64) -> Alias {
    Alias { buf: Buf::Send, of: Buf::Recv, offset }
}

/// Lengths of blocks, some of them 0, and a root.
fn lengths() -> impl Strategy<Value = (Vec<u64>, usize)> {
    let length = prop_oneof![Just(0u64), 1..9u64, Just(100_000)];
    prop::collection::vec(length, 1..9).prop_flat_map(|bytes| {
        let ranks = bytes.len();
        (Just(bytes), 0..ranks)
    })
}

proptest! {
    #[test]
    fn gatherv_gathers((bytes, root) in lengths(), in_place: bool, seed: u64) {
        let total = bytes.iter().sum();
        let parts = (0..bytes.len()).map(|rank| match rank == root {
            true => {
                let alias = in_place.then(|| send_in_recv(begins(&bytes)[rank]));
                part(bytes[rank], total, alias, from_all(&bytes, |_| 0))
            }
            false => part(bytes[rank], 0, None, Vec::new()),
        });
        let plans: Vec<_> = (0..bytes.len())
            .map(|rank| {
                let known = if rank == root { &bytes[..] } else { &bytes[rank..=rank] };
                gatherv(known, rank as u32, root as u32, in_place)
            })
            .collect();
        prop_assert_eq!(verify(parts.collect(), &plans, seed), Ok(()));
    }

    #[test]
    fn scatterv_scatters((bytes, root) in lengths(), in_place: bool, seed: u64) {
        let total = bytes.iter().sum();
        let origins = begins(&bytes);
        let parts = (0..bytes.len()).map(|rank| {
            let expected = Expected { begin: 0, bytes: bytes[rank], origin: origins[rank], ranks: 1 << root };
            let alias = Alias { buf: Buf::Recv, of: Buf::Send, offset: origins[rank] };
            let send_bytes = if rank == root { total } else { 0 };
            part(send_bytes, bytes[rank], (in_place && rank == root).then_some(alias), vec![expected])
        });
        let plans: Vec<_> = (0..bytes.len())
            .map(|rank| {
                let known = if rank == root { &bytes[..] } else { &bytes[rank..=rank] };
                scatterv(known, rank as u32, root as u32, in_place)
            })
            .collect();
        prop_assert_eq!(verify(parts.collect(), &plans, seed), Ok(()));
    }

    #[test]
    fn allgatherv_gathers_everywhere((bytes, _) in lengths(), in_place: bool, seed: u64) {
        let total = bytes.iter().sum();
        let parts = (0..bytes.len()).map(|rank| {
            let alias = in_place.then(|| send_in_recv(begins(&bytes)[rank]));
            part(bytes[rank], total, alias, from_all(&bytes, |_| 0))
        });
        let plans: Vec<_> =
            (0..bytes.len()).map(|rank| allgatherv(&bytes, rank as u32, in_place)).collect();
        prop_assert_eq!(verify(parts.collect(), &plans, seed), Ok(()));
    }

    #[test]
    fn alltoallv_exchanges((bytes, shift) in lengths(), in_place: bool, seed: u64) {
        // What `from` has for `to`: in place, both have as much for each other.
        let ranks = bytes.len();
        let length = |from: usize, to: usize| match in_place {
            true => bytes[(from + to) % ranks],
            false => bytes[(from * (shift + 1) + 2 * to) % ranks],
        };
        let sent = |rank: usize| (0..ranks).map(|to| length(rank, to)).collect::<Vec<_>>();
        let received = |rank: usize| (0..ranks).map(|from| length(from, rank)).collect::<Vec<_>>();
        let parts = (0..ranks).map(|rank| {
            let (sent_bytes, received_bytes) = (sent(rank).iter().sum(), received(rank).iter().sum());
            let result = from_all(&received(rank), |from| begins(&sent(from))[rank]);
            part(sent_bytes, received_bytes, in_place.then(|| send_in_recv(0)), result)
        });
        let plans: Vec<_> =
            (0..ranks).map(|rank| alltoallv(&sent(rank), &received(rank), rank as u32, in_place)).collect();
        prop_assert_eq!(verify(parts.collect(), &plans, seed), Ok(()));
    }
}
