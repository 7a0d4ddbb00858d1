//! The standard's definitions, read naively: every typemap written out, entry by entry.

#![allow(dead_code, reason = "each test program uses its part")]

pub mod memory;
pub mod strategies;

use oxmpi_base::{BasicType, Pair, Scalar};
use oxmpi_datatype::{Constructor, Darray, Datatype, Distribution, Order, Subarray};

/// An entry of a typemap: a basic element or a marker, at a displacement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Basic(BasicType, i64),
    Lower(i64),
    Upper(i64),
}

impl Entry {
    fn moved(self, by: i64) -> Self {
        match self {
            Self::Basic(basic, at) => Self::Basic(basic, at + by),
            Self::Lower(at) => Self::Lower(at + by),
            Self::Upper(at) => Self::Upper(at + by),
        }
    }
}

/// The entries of one element.
pub fn typemap(datatype: &Datatype) -> Vec<Entry> {
    match datatype.constructor() {
        Constructor::Basic(basic)
        | Constructor::F90Complex { basic, .. }
        | Constructor::F90Integer { basic, .. }
        | Constructor::F90Real { basic, .. } => vec![Entry::Basic(*basic, 0)],
        Constructor::Dup { old } => typemap(old),
        Constructor::Contiguous { count, old } => blocks([(*count, 0, old)]),
        Constructor::Resized { lower_bound, extent, old } => {
            between(*lower_bound, lower_bound + extent, data(old))
        }
        Constructor::Hvector { count, blocklength, stride_bytes, old } => {
            blocks((0..*count).map(|block| (*blocklength, block * stride_bytes, old)))
        }
        Constructor::Vector { count, blocklength, stride, old } => {
            blocks((0..*count).map(|block| (*blocklength, block * stride * extent(old), old)))
        }
        Constructor::Indexed { blocklengths, displacements, old } => {
            let displaced = blocklengths.iter().zip(displacements);
            blocks(displaced.map(|(length, displacement)| (*length, displacement * extent(old), old)))
        }
        Constructor::Hindexed { blocklengths, displacements, old } => {
            let displaced = blocklengths.iter().zip(displacements);
            blocks(displaced.map(|(length, displacement)| (*length, *displacement, old)))
        }
        Constructor::IndexedBlock { blocklength, displacements, old } => {
            blocks(displacements.iter().map(|displacement| (*blocklength, displacement * extent(old), old)))
        }
        Constructor::HindexedBlock { blocklength, displacements, old } => {
            blocks(displacements.iter().map(|displacement| (*blocklength, *displacement, old)))
        }
        Constructor::Struct { blocklengths, displacements, types } => {
            let displaced = blocklengths.iter().zip(displacements).zip(types);
            blocks(displaced.map(|((length, displacement), datatype)| (*length, *displacement, datatype)))
        }
        Constructor::ValueIndex { types: [value, index] } => {
            let aligned = |at: &i64| at % extent(index) == 0;
            let place = (extent(value)..).find(aligned).expect("multiples never end");
            blocks([(1, 0, value), (1, place, index)])
        }
        Constructor::Subarray { arguments, old } => subarray(arguments, old),
        Constructor::Darray { arguments, old } => darray(arguments, old),
    }
}

/// The basic elements of `count` elements, one extent apart.
pub fn elements(datatype: &Datatype, count: u64) -> Vec<(BasicType, i64)> {
    let (one, extent) = (data(datatype), extent(datatype));
    let moved = (0..count as i64).flat_map(|index| one.iter().map(move |entry| entry.moved(index * extent)));
    moved
        .map(|entry| match entry {
            Entry::Basic(basic, at) => (basic, at),
            Entry::Lower(_) | Entry::Upper(_) => unreachable!("data has no markers"),
        })
        .collect()
}

/// The displacements of all bytes of `count` elements in packed order.
pub fn bytes(datatype: &Datatype, count: u64) -> Vec<i64> {
    let elements = elements(datatype, count);
    elements.iter().flat_map(|(basic, at)| basic_bytes(*basic).map(move |byte| at + byte)).collect()
}

/// The offsets of the bytes of one basic element; a gap inside a pair has none.
pub fn basic_bytes(basic: BasicType) -> impl Iterator<Item = i64> {
    let (size, gap) = (basic.size() as i64, basic.scalar() == Scalar::Pair(Pair::I16I32));
    (0..size).map(move |byte| if gap && byte >= 2 { byte + 2 } else { byte })
}

/// Lower and upper bound: those of the markers, or around the data, padded to the strictest alignment.
pub fn bounds(datatype: &Datatype) -> (i64, i64) {
    let entries = typemap(datatype);
    let lower =
        entries.iter().filter_map(|entry| if let Entry::Lower(at) = entry { Some(*at) } else { None });
    let upper =
        entries.iter().filter_map(|entry| if let Entry::Upper(at) = entry { Some(*at) } else { None });
    if let (Some(lower), Some(upper)) = (lower.min(), upper.max()) {
        return (lower, upper);
    }
    let (lower, upper) = true_bounds(datatype);
    let align = entries.iter().map(|entry| match entry {
        Entry::Basic(basic, _) => basic.align() as i64,
        Entry::Lower(_) | Entry::Upper(_) => 1,
    });
    let align = align.max().unwrap_or(1);
    (lower, upper + (lower - upper).rem_euclid(align))
}

/// From the first to behind the last byte.
pub fn true_bounds(datatype: &Datatype) -> (i64, i64) {
    let bytes = bytes_of(&data(datatype));
    let lower = bytes.iter().copied().min().unwrap_or(0);
    (lower, bytes.iter().copied().max().map_or(0, |last| last + 1))
}

pub fn extent(datatype: &Datatype) -> i64 {
    let (lower, upper) = bounds(datatype);
    upper - lower
}

fn bytes_of(data: &[Entry]) -> Vec<i64> {
    let bytes = data.iter().flat_map(|entry| match *entry {
        Entry::Basic(basic, at) => basic_bytes(basic).map(|byte| at + byte).collect(),
        Entry::Lower(_) | Entry::Upper(_) => Vec::new(),
    });
    bytes.collect()
}

fn data(datatype: &Datatype) -> Vec<Entry> {
    typemap(datatype).into_iter().filter(|entry| matches!(entry, Entry::Basic(..))).collect()
}

fn between(lower: i64, upper: i64, data: Vec<Entry>) -> Vec<Entry> {
    [Entry::Lower(lower)].into_iter().chain(data).chain([Entry::Upper(upper)]).collect()
}

/// Blocks: a number of elements, the displacement of the first, and their datatype.
fn blocks<'a>(blocks: impl IntoIterator<Item = (i64, i64, &'a Datatype)>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (elements, displacement, old) in blocks {
        let (old, extent) = (typemap(old), extent(old));
        for index in 0..elements {
            entries.extend(old.iter().map(|entry| entry.moved(displacement + index * extent)));
        }
    }
    entries
}

fn subarray(arguments: &Subarray, old: &Datatype) -> Vec<Entry> {
    let Subarray { sizes, subsizes, starts, order } = arguments;
    let inside =
        |index: &[i64]| (0..index.len()).all(|d| (starts[d]..starts[d] + subsizes[d]).contains(&index[d]));
    selected(sizes, *order, inside, old)
}

fn darray(arguments: &Darray, old: &Datatype) -> Vec<Entry> {
    let Darray { size, rank, gsizes, distributions, dargs, psizes, order } = arguments;
    let (mut rest, mut slice, mut coordinates) = (*rank, *size, Vec::new());
    for psize in psizes {
        slice /= psize;
        coordinates.push(rest / slice);
        rest %= slice;
    }
    let owner = |d: usize, index: i64| match (distributions[d], dargs[d]) {
        (Distribution::None, _) => 0,
        (Distribution::Block, None) => index / ((gsizes[d] + psizes[d] - 1) / psizes[d]),
        (Distribution::Block, Some(block)) => index / block,
        (Distribution::Cyclic, block) => index / block.unwrap_or(1) % psizes[d],
    };
    let owned = |index: &[i64]| (0..index.len()).all(|d| owner(d, index[d]) == coordinates[d]);
    selected(gsizes, *order, owned, old)
}

/// The elements of an array that `wanted` says yes to.
fn selected(sizes: &[i64], order: Order, wanted: impl Fn(&[i64]) -> bool, old: &Datatype) -> Vec<Entry> {
    let (all, old_data, extent): (i64, _, _) = (sizes.iter().product(), data(old), extent(old));
    let index_of = |mut linear: i64| {
        let mut index = vec![0; sizes.len()];
        for step in 0..sizes.len() {
            let d = if order == Order::C { sizes.len() - 1 - step } else { step };
            index[d] = linear % sizes[d];
            linear /= sizes[d];
        }
        index
    };
    let wanted = (0..all).filter(|linear| wanted(&index_of(*linear)));
    let entries = wanted.flat_map(|linear| old_data.iter().map(move |entry| entry.moved(linear * extent)));
    between(0, all * extent, entries.collect())
}
