//! Patterns, over random lengths of blocks and random neighbourhoods: by messages and by lines.

use proptest::prelude::*;

use crate::pattern::{
    Block, Neighborhood, Pattern, allgatherv, allgatherv_over_levels, alltoallv, gatherv,
    neighbor_allgatherv, neighbor_alltoallv, scatterv,
};
use crate::peers::groups::counted_through;
use crate::verify::contract::{Alias, Contract, Expected, Part, Synchronizes};
use crate::verify::{Conditions, Flaw, Schedule, Sends, verify_contract};
use crate::{Buf, Nodes, Plan};

/// Verifies both plans of patterns against what each rank has and should get, with both kinds of sends.
fn verify(parts: Vec<Part>, patterns: &[Pattern], seed: u64) -> Result<(), Flaw> {
    let first_group = parts.len() as u32;
    verify_between(parts, first_group, patterns, seed)
}

/// The same of two groups, of which the first has `first_group` ranks.
fn verify_between(parts: Vec<Part>, first_group: u32, patterns: &[Pattern], seed: u64) -> Result<(), Flaw> {
    let (commutative, synchronizes, has_equal_results) = (false, Synchronizes::Nobody, false);
    let contract = Contract {
        parts,
        first_group,
        unit: 1,
        nodes: Nodes::One,
        commutative,
        synchronizes,
        has_equal_results,
    };
    let by_messages: Vec<Plan> = patterns.iter().map(Pattern::by_messages).collect();
    for sends in [Sends::Buffered, Sends::Synchronous] {
        verify_contract(&contract, &by_messages, Conditions { sends, schedule: Schedule::Random(seed) })?;
    }
    if let Some(by_lines) = by_lines(patterns, first_group) {
        for schedule in [Schedule::Fair, Schedule::Ahead(0), Schedule::Random(seed)] {
            verify_contract(&contract, &by_lines, Conditions { sends: Sends::Buffered, schedule })?;
        }
    }
    Ok(())
}

/// The plans by lines, if streams are short enough.
pub(super) fn by_lines(patterns: &[Pattern], first_group: u32) -> Option<Vec<Plan>> {
    let longest = patterns.iter().map(Pattern::posted_bytes).max()?;
    let plan =
        |(rank, pattern): (u32, &Pattern)| pattern.by_lines(&places(patterns, first_group, rank), longest);
    Pattern::fits_lines(longest).then(|| (0..).zip(patterns).map(plan).collect())
}

/// Where the blocks that a rank receives lie with those that send them.
fn places(patterns: &[Pattern], first_group: u32, rank: u32) -> Vec<u64> {
    let at = |rank, peer| {
        counted_through(first_group, patterns.len() as u32, rank, peer).expect("patterns name ranks")
    };
    let mut taken = vec![0; patterns.len()];
    let place = |block: &Block| {
        let sender = at(rank, block.peer);
        let of_sender = &patterns[sender as usize];
        let mut for_this = of_sender
            .sends
            .iter()
            .zip(of_sender.places())
            .filter(|(block, _)| at(sender, block.peer) == rank);
        let (_, place) = for_this.nth(taken[sender as usize]).expect("what is received is sent");
        taken[sender as usize] += 1;
        assert_eq!(place.bytes, block.span.bytes);
        place.begin
    };
    patterns[rank as usize].receives.iter().map(place).collect()
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
    let length = prop_oneof![Just(0u64), 1..9u64, Just(100_000), Just(400_001)];
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
        let patterns: Vec<_> = (0..bytes.len())
            .map(|rank| {
                let known = if rank == root { &bytes[..] } else { &bytes[rank..=rank] };
                gatherv(known, rank as u32, root as u32, in_place)
            })
            .collect();
        prop_assert_eq!(verify(parts.collect(), &patterns, seed), Ok(()));
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
        let patterns: Vec<_> = (0..bytes.len())
            .map(|rank| {
                let known = if rank == root { &bytes[..] } else { &bytes[rank..=rank] };
                scatterv(known, rank as u32, root as u32, in_place)
            })
            .collect();
        prop_assert_eq!(verify(parts.collect(), &patterns, seed), Ok(()));
    }

    #[test]
    fn allgatherv_gathers_everywhere((bytes, _) in lengths(), in_place: bool, seed: u64) {
        let total = bytes.iter().sum();
        let parts = (0..bytes.len()).map(|rank| {
            let alias = in_place.then(|| send_in_recv(begins(&bytes)[rank]));
            part(bytes[rank], total, alias, from_all(&bytes, |_| 0))
        });
        let patterns: Vec<_> =
            (0..bytes.len()).map(|rank| allgatherv(&bytes, rank as u32, in_place)).collect();
        prop_assert_eq!(verify(parts.collect(), &patterns, seed), Ok(()));
    }

    #[test]
    fn allgatherv_over_levels_gathers_everywhere(
        (bytes, _) in lengths(),
        labels in prop::collection::vec(0..3u32, 8),
        in_place: bool,
        seed: u64,
    ) {
        let total = bytes.iter().sum();
        let nodes = Nodes::of(&labels[..bytes.len()]);
        let plan = |rank| allgatherv_over_levels(&bytes, nodes, rank, in_place);
        let plans: Option<Vec<_>> = (0..bytes.len() as u32).map(plan).collect();
        let parts = (0..bytes.len()).map(|rank| {
            let alias = in_place.then(|| send_in_recv(begins(&bytes)[rank]));
            part(bytes[rank], total, alias, from_all(&bytes, |_| 0))
        });
        let contract = Contract {
            parts: parts.collect(),
            first_group: bytes.len() as u32,
            unit: 1,
            nodes,
            commutative: false,
            synchronizes: Synchronizes::Nobody,
            has_equal_results: false,
        };
        for sends in [Sends::Buffered, Sends::Synchronous] {
            for schedule in [Schedule::Fair, Schedule::Ahead(0), Schedule::Random(seed)] {
                let conditions = Conditions { sends, schedule };
                let verdict = plans.as_ref().map(|plans| verify_contract(&contract, plans, conditions));
                prop_assert_eq!(verdict.unwrap_or(Ok(())), Ok(()));
            }
        }
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
        let patterns: Vec<_> =
            (0..ranks).map(|rank| alltoallv(&sent(rank), &received(rank), rank as u32, in_place)).collect();
        prop_assert_eq!(verify(parts.collect(), &patterns, seed), Ok(()));
    }

    #[test]
    fn neighbours_exchange_along_every_edge((edges, bytes) in graphs(), seed: u64) {
        // What leads from one rank to another, in the order of both.
        let from = |rank: usize| edges.iter().filter(move |edge| edge.0 == rank);
        let to = |rank: usize| edges.iter().filter(move |edge| edge.1 == rank);
        let length = |edge: &(usize, usize, usize)| bytes[edge.2 % bytes.len()];
        let ranks = bytes.len();
        let mut parts = Vec::new();
        let mut patterns = Vec::new();
        for rank in 0..ranks {
            let sent: Vec<u64> = from(rank).map(length).collect();
            let received: Vec<u64> = to(rank).map(length).collect();
            let origin = |edge: &(usize, usize, usize)| {
                from(edge.0).take_while(|other| *other != edge).map(length).sum::<u64>()
            };
            let blocks = begins(&received).into_iter().zip(to(rank)).map(|(begin, edge)| Expected {
                begin,
                bytes: length(edge),
                origin: origin(edge),
                ranks: 1 << edge.0,
            });
            parts.push(part(sent.iter().sum(), received.iter().sum(), None, blocks.collect()));
            let sources: Vec<_> = to(rank).map(|edge| Some(edge.0 as u32)).collect();
            let destinations: Vec<_> = from(rank).map(|edge| Some(edge.1 as u32)).collect();
            let (sources, destinations) = (&sources[..], &destinations[..]);
            let graph = Neighborhood { rank: rank as u32, sources, destinations, is_grid: false };
            patterns.push(neighbor_alltoallv(&graph, &sent, &received));
        }
        prop_assert_eq!(verify(parts, &patterns, seed), Ok(()));
        let ends_of = |rank: u32| from(rank as usize).map(|edge| Some(edge.1 as u32)).collect::<Vec<_>>();
        let alike: Vec<_> = (0..ranks as u32)
            .map(|rank| {
                let sources: Vec<_> = to(rank as usize).map(|edge| Some(edge.0 as u32)).collect();
                (rank, sources, ends_of(rank))
            })
            .collect();
        let graph = |index: usize| {
            let (rank, sources, destinations) = &alike[index];
            Neighborhood { rank: *rank, sources, destinations, is_grid: false }
        };
        let pattern = |index: usize| {
            let graph = graph(index);
            let (sent, received) = (vec![7; graph.destinations.len()], vec![7; graph.sources.len()]);
            neighbor_alltoallv(&graph, &sent, &received)
        };
        let patterns: Vec<_> = (0..ranks).map(pattern).collect();
        for rank in 0..ranks {
            let told = graph(rank).places(ends_of, 7);
            prop_assert_eq!(told, places(&patterns, ranks as u32, rank as u32));
        }
    }

    #[test]
    fn neighbours_in_a_ring_get_what_goes_their_way(
        ranks in 1..6u32,
        is_periodic: bool,
        bytes in prop::collection::vec(0..50u64, 2),
        seed: u64,
    ) {
        let neighbours = |rank: u32| {
            let inside = |to: Option<u32>| to.filter(|&to| to < ranks);
            let before = if is_periodic { Some((rank + ranks - 1) % ranks) } else { rank.checked_sub(1) };
            [before, if is_periodic { Some((rank + 1) % ranks) } else { inside(Some(rank + 1)) }]
        };
        // Block 0 goes down and block 1 up, so that from below comes a block 1.
        let received = [bytes[1], bytes[0]];
        let (mut all, mut gathered) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        for rank in 0..ranks {
            let ends = neighbours(rank);
            let grid = Neighborhood { rank, sources: &ends, destinations: &ends, is_grid: true };
            let places = [(0, received[0], bytes[0]), (received[0], received[1], 0)];
            let blocks = places.into_iter().zip(ends).filter_map(|((begin, bytes, origin), from)| {
                from.map(|from| Expected { begin, bytes, origin, ranks: 1 << from })
            });
            all.0.push(part(bytes.iter().sum(), received.iter().sum(), None, blocks.collect()));
            all.1.push(neighbor_alltoallv(&grid, &bytes, &received));
            let blocks = [0, bytes[0]].into_iter().zip(ends).filter_map(|(begin, from)| {
                from.map(|from| Expected { begin, bytes: bytes[0], origin: 0, ranks: 1 << from })
            });
            gathered.0.push(part(bytes[0], 2 * bytes[0], None, blocks.collect()));
            gathered.1.push(neighbor_allgatherv(&grid, bytes[0], &[bytes[0]; 2]));
        }
        prop_assert_eq!(verify(all.0, &all.1, seed), Ok(()));
        prop_assert_eq!(verify(gathered.0, &gathered.1, seed), Ok(()));

        let grid = |ends| move |rank| Neighborhood { rank, sources: ends, destinations: ends, is_grid: true };
        let all_ends: Vec<_> = (0..ranks).map(neighbours).collect();
        let alike: Vec<_> = (0..ranks)
            .map(|rank| neighbor_alltoallv(&grid(&all_ends[rank as usize])(rank), &[7; 2], &[7; 2]))
            .collect();
        for rank in 0..ranks {
            let told = grid(&all_ends[rank as usize])(rank).places(|rank| neighbours(rank).to_vec(), 7);
            prop_assert_eq!(told, places(&alike, ranks, rank));
        }
    }
}

/// Edges between few ranks, some from a rank to itself and some more than once; lengths, as many as ranks. An edge has
/// its index.
fn graphs() -> impl Strategy<Value = (Vec<(usize, usize, usize)>, Vec<u64>)> {
    let length = prop_oneof![Just(0u64), 1..9u64, Just(150_000)];
    prop::collection::vec(length, 1..6).prop_flat_map(|bytes| {
        let ranks = bytes.len();
        let edges = prop::collection::vec((0..ranks, 0..ranks), 0..3 * ranks);
        let edges =
            edges.prop_map(|edges| (0..).zip(edges).map(|(index, (from, to))| (from, to, index)).collect());
        (edges, Just(bytes))
    })
}
