//! Random datatypes.

use std::iter;

use oxmpi_base::BasicType;
use oxmpi_datatype::{Darray, Datatype, Distribution, Order, Subarray};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Nested datatypes of every constructor, whose bytes may overlap: good for packing only.
pub fn any_datatype() -> impl Strategy<Value = Datatype> {
    datatypes(|| -3..4i64).prop_filter("small enough to be written out", is_small)
}

/// Nested datatypes of every constructor that name no byte twice, not even in three elements.
pub fn receivable() -> impl Strategy<Value = Datatype> {
    datatypes(|| prop_oneof![-3..0i64, 1..4i64]).prop_filter("no byte twice", |datatype| {
        is_small(datatype) && {
            let mut bytes = super::bytes(datatype, 3);
            bytes.sort_unstable();
            bytes.windows(2).all(|pair| pair[0] != pair[1])
        }
    })
}

fn is_small(datatype: &Datatype) -> bool {
    datatype.size() < 3000 && datatype.true_extent() < 30_000 && datatype.extent().abs() < 30_000
}

fn leaf() -> impl Strategy<Value = Datatype> {
    use BasicType::{
        Byte, CLongDoubleComplex, Double, DoubleInt, Int, Long, LongDouble, Short, ShortInt, Wchar,
    };
    let basics = [Byte, CLongDoubleComplex, Double, DoubleInt, Int, Long, LongDouble, Short, ShortInt, Wchar];
    select(basics.to_vec()).prop_map(Datatype::basic)
}

/// `spread` says how far apart blocks are, in lengths of what is repeated.
fn datatypes<S: Strategy<Value = i64> + 'static>(
    spread: impl Fn() -> S + Copy + 'static,
) -> impl Strategy<Value = Datatype> {
    leaf().prop_recursive(4, 16, 3, move |inner| {
        prop_oneof![
            1 => inner.clone().prop_map(|old| old.dup()),
            2 => (few(), inner.clone())
                .prop_map(|(count, old)| Datatype::contiguous(count, &old).expect("small")),
            2 => (-9..9i64, 0..24i64, inner.clone()).prop_map(|(lower, more, old)| {
                let span = old.true_extent().max(old.extent());
                Datatype::resized(lower, span + more, &old).expect("small")
            }),
            2 => (few(), few(), spread(), inner.clone()).prop_map(|(count, length, spread, old)| {
                Datatype::vector(count, length, spread * length.max(1), &old).expect("small")
            }),
            2 => (few(), few(), (spread(), 0..7i64), inner.clone()).prop_map(|(count, length, far, old)| {
                let (spread, odd) = far;
                let stride = spread * (old.extent() * length.max(1) + odd);
                Datatype::hvector(count, length, stride, &old).expect("small")
            }),
            2 => (vec((few(), spread()), 1..5), any::<bool>(), inner.clone())
                .prop_map(|(blocks, in_bytes, old)| indexed(&blocks, in_bytes, &old)),
            2 => (few(), vec((spread(), 1..40usize), 1..4), any::<bool>(), inner.clone())
                .prop_map(|(length, stretches, in_bytes, old)| {
                    indexed_block(length, &stretches, in_bytes, &old)
                }),
            3 => vec((few(), spread(), inner.clone()), 1..4).prop_map(|blocks| structure(&blocks)),
            2 => (vec((1..4i64, 0..3i64, 0..3i64), 1..4), order(), inner.clone())
                .prop_map(|(dimensions, order, old)| subarray(&dimensions, order, &old)),
            2 => (vec(shared_dimension(), 1..4), 0..60i64, order(), inner)
                .prop_map(|(dimensions, rank, order, old)| darray(&dimensions, rank, order, &old)),
        ]
    })
}

/// Counts and lengths, seldom 0.
fn few() -> impl Strategy<Value = i64> {
    prop_oneof![1 => Just(0), 12 => 1..4i64]
}

fn order() -> impl Strategy<Value = Order> {
    select(vec![Order::C, Order::Fortran])
}

/// Elements, processes, distribution and its argument.
type SharedDimension = (i64, i64, Distribution, Option<i64>);

fn shared_dimension() -> impl Strategy<Value = SharedDimension> {
    let distribution = select(vec![Distribution::Block, Distribution::Cyclic, Distribution::None]);
    (1..6i64, 1..4i64, distribution, proptest::option::of(1..4i64))
}

/// Places for blocks: behind the last one, or before the first one, at some distance.
fn places(lengths: impl Iterator<Item = (i64, i64)>) -> Vec<i64> {
    let (mut low, mut high) = (0, 0);
    let place = |(length, spread): (i64, i64)| match spread {
        0 => low,
        1.. => {
            let at = high + (spread - 1);
            high = at + length;
            at
        }
        _ => {
            low -= length + (-spread - 1);
            low
        }
    };
    lengths.map(place).collect()
}

fn indexed(blocks: &[(i64, i64)], in_bytes: bool, old: &Datatype) -> Datatype {
    let lengths = blocks.iter().map(|(length, _)| *length).collect();
    let extent = if in_bytes { old.extent().max(old.true_extent()) } else { 1 };
    let displacements = places(blocks.iter().map(|(length, spread)| (length * extent, *spread)));
    let made = if in_bytes { Datatype::hindexed } else { Datatype::indexed };
    made(lengths, displacements, old).expect("small")
}

/// Stretches of blocks: how far apart, and how many.
fn indexed_block(length: i64, stretches: &[(i64, usize)], in_bytes: bool, old: &Datatype) -> Datatype {
    let extent = if in_bytes { old.extent().max(old.true_extent()) } else { 1 };
    let spreads = stretches.iter().flat_map(|(spread, blocks)| iter::repeat_n(*spread, *blocks));
    let displacements = places(spreads.map(|spread| (length * extent, spread)));
    let made = if in_bytes { Datatype::hindexed_block } else { Datatype::indexed_block };
    made(length, displacements, old).expect("small")
}

fn structure(blocks: &[(i64, i64, Datatype)]) -> Datatype {
    let lengths = blocks.iter().map(|(length, ..)| *length).collect();
    let spans = blocks.iter().map(|(length, spread, old)| {
        let far = old.true_lower_bound().abs() + old.true_extent();
        (length * old.extent().abs() + 2 * far, *spread)
    });
    let types = blocks.iter().map(|(.., old)| old.clone()).collect();
    Datatype::structure(lengths, places(spans), types).expect("small")
}

/// Dimensions: length, elements before, and elements behind the part.
fn subarray(dimensions: &[(i64, i64, i64)], order: Order, old: &Datatype) -> Datatype {
    let arguments = Subarray {
        sizes: dimensions.iter().map(|(length, before, behind)| length + before + behind).collect(),
        subsizes: dimensions.iter().map(|(length, ..)| *length).collect(),
        starts: dimensions.iter().map(|(_, before, _)| *before).collect(),
        order,
    };
    Datatype::subarray(arguments, old).expect("small")
}

/// The dimensions are made fit for each other.
fn darray(dimensions: &[SharedDimension], rank: i64, order: Order, old: &Datatype) -> Datatype {
    let processes = |dimension: &SharedDimension| match dimension.2 {
        Distribution::None => 1,
        Distribution::Block | Distribution::Cyclic => dimension.1,
    };
    let psizes: Vec<i64> = dimensions.iter().map(processes).collect();
    let size = psizes.iter().product();
    let enough = |(dimension, psize): (&SharedDimension, &i64)| {
        dimension.3.filter(|block| dimension.2 != Distribution::Block || block * psize >= dimension.0)
    };
    let arguments = Darray {
        size,
        rank: rank % size,
        gsizes: dimensions.iter().map(|(gsize, ..)| *gsize).collect(),
        distributions: dimensions.iter().map(|(_, _, distribution, _)| *distribution).collect(),
        dargs: dimensions.iter().zip(&psizes).map(enough).collect(),
        psizes,
        order,
    };
    Datatype::darray(arguments, old).expect("small")
}
