//! What waits in great numbers, found by what it matches, in the order in which it came.
//!
//! Who is filed under a [`Pattern`] is a link of its chain. So the earliest that matches is the first of a chain, of
//! whatever else waits, and leaves all its chains at once, from the middle too. What has a name is found by that.
//! Nobody is filed before somebody asks: most programs use one kind of pattern, and seldom a name.
//! Cost: a look-up in a hash table for what comes, what goes and what is looked for; for each kind of pattern, and for
//! names, once as much as if all had come again.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use oxmpi_base::order;

use super::Pattern;

/// Something that waits to be matched.
pub(crate) trait Waiting<const N: usize> {
    /// What tells apart those that have a name.
    type Name: Copy + Debug + Eq + Hash;

    /// The patterns that lead to it, each of another kind.
    fn patterns(&self) -> [Pattern; N];

    /// The kind of a pattern: where it is among those that lead to something.
    fn kind(pattern: &Pattern) -> usize;

    /// Its name, if it has one.
    fn name(&self) -> Option<Self::Name>;
}

/// See the module.
#[derive(Debug)]
pub(super) struct Chains<T: Waiting<N>, const N: usize> {
    places: Vec<Place<T, N>>,
    free: Vec<u32>,
    by_pattern: HashMap<Pattern, Chain, BuildHasherDefault<Mixer>>,
    /// How many chains there are, by the wildcards of their patterns.
    with_wildcards: [usize; Pattern::WILDCARDS],
    /// The kinds of patterns that were asked for.
    is_filed: [bool; N],
    /// None as long as nobody has asked for one.
    by_name: Option<HashMap<T::Name, u32, BuildHasherDefault<Mixer>>>,
    /// How many have come.
    come: u64,
}

#[derive(Debug)]
struct Place<T, const N: usize> {
    /// How many had come before.
    number: u64,
    /// By pattern.
    links: [Link; N],
    /// None where the place is free.
    value: Option<T>,
}

/// The neighbours in a chain, or [`NOBODY`].
#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    behind: u32,
}

#[derive(Debug)]
struct Chain {
    first: u32,
    last: u32,
}

/// Mixes the few words of a key: multiplies, and folds the product.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mixer(u64);

/// So many tags lie side by side.
const NEIGHBOURS: u64 = 8;
const NOBODY: u32 = u32::MAX;
const ALONE: Link = Link { before: NOBODY, behind: NOBODY };

impl<T: Waiting<N>, const N: usize> Chains<T, N> {
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Puts something behind all the others.
    pub(super) fn push(&mut self, value: T) {
        let place = self.free.pop().unwrap_or(self.places.len() as u32);
        assert!(place != NOBODY, "fewer than 2^32 - 1 wait");
        let (patterns, name) = (value.patterns(), value.name());
        let taken = Place { number: self.come, links: [ALONE; N], value: Some(value) };
        self.come += 1;
        match self.places.get_mut(place as usize) {
            Some(free) => *free = taken,
            None => self.places.push(taken),
        }
        for (kind, pattern) in patterns.into_iter().enumerate() {
            if self.is_filed[kind] {
                self.link(kind, pattern, place);
            }
        }
        if let Some(by_name) = &mut self.by_name {
            by_name.extend(name.map(|name| (name, place)));
        }
    }

    /// The earliest that one of some patterns leads to.
    pub(super) fn first(&mut self, patterns: &[Pattern]) -> Option<&T> {
        let place = self.find(patterns)?;
        self.places[place].value.as_ref()
    }

    /// Takes out the earliest that one of some patterns leads to.
    pub(super) fn take(&mut self, patterns: &[Pattern]) -> Option<T> {
        let place = self.find(patterns)?;
        self.remove(place)
    }

    /// Takes out what has this name.
    pub(super) fn take_named(&mut self, name: T::Name) -> Option<T> {
        let by_name = self.by_name.get_or_insert_with(|| {
            let values =
                self.places.iter().zip(0..).filter_map(|(taken, place)| Some((taken.value.as_ref()?, place)));
            values.filter_map(|(value, place)| Some((value.name()?, place))).collect()
        });
        let place = *by_name.get(&name)?;
        self.remove(place as usize)
    }

    /// All, in the order in which they came.
    pub(super) fn into_ordered(mut self) -> impl Iterator<Item = T> {
        order::by_key(&mut self.places, |place| place.number);
        self.places.into_iter().filter_map(|place| place.value)
    }

    fn find(&mut self, patterns: &[Pattern]) -> Option<usize> {
        for pattern in patterns {
            if !self.is_filed[T::kind(pattern)] {
                self.file(T::kind(pattern));
            }
        }
        let used = patterns.iter().filter(|pattern| self.with_wildcards[pattern.wildcards()] != 0);
        let chains = used.filter_map(|pattern| self.by_pattern.get(pattern));
        chains.map(|chain| chain.first as usize).min_by_key(|&place| self.places[place].number)
    }

    /// Makes the chains of one kind of patterns.
    #[cold]
    fn file(&mut self, kind: usize) {
        self.is_filed[kind] = true;
        let patterns = self.places.iter().zip(0..).filter_map(|(taken, place)| {
            taken.value.as_ref().map(|value| (taken.number, place, value.patterns()[kind]))
        });
        let mut patterns: Vec<(u64, u32, Pattern)> = patterns.collect();
        order::by_key(&mut patterns, |&(number, ..)| number);
        self.by_pattern.reserve(patterns.len());
        patterns.into_iter().for_each(|(_, place, pattern)| self.link(kind, pattern, place));
    }

    fn remove(&mut self, place: usize) -> Option<T> {
        let Place { links, value, .. } = &mut self.places[place];
        let (links, value) = (*links, value.take()?);
        for ((kind, pattern), link) in value.patterns().into_iter().enumerate().zip(links) {
            if self.is_filed[kind] {
                self.unlink(kind, pattern, link);
            }
        }
        if let (Some(by_name), Some(name)) = (&mut self.by_name, value.name()) {
            by_name.remove(&name);
        }
        self.free.push(place as u32);
        Some(value)
    }

    /// Puts a place at the end of a chain.
    fn link(&mut self, kind: usize, pattern: Pattern, place: u32) {
        match self.by_pattern.entry(pattern) {
            Entry::Vacant(entry) => {
                entry.insert(Chain { first: place, last: place });
                self.with_wildcards[pattern.wildcards()] += 1;
            }
            Entry::Occupied(mut entry) => {
                let chain = entry.get_mut();
                self.places[place as usize].links[kind].before = chain.last;
                self.places[chain.last as usize].links[kind].behind = place;
                chain.last = place;
            }
        }
    }

    fn unlink(&mut self, kind: usize, pattern: Pattern, Link { before, behind }: Link) {
        if let Some(neighbour) = self.places.get_mut(before as usize) {
            neighbour.links[kind].behind = behind;
        }
        if let Some(neighbour) = self.places.get_mut(behind as usize) {
            neighbour.links[kind].before = before;
        }
        if before == NOBODY && behind == NOBODY {
            self.by_pattern.remove(&pattern);
            self.with_wildcards[pattern.wildcards()] -= 1;
        } else if (before == NOBODY || behind == NOBODY)
            && let Some(chain) = self.by_pattern.get_mut(&pattern)
        {
            chain.first = if before == NOBODY { behind } else { chain.first };
            chain.last = if behind == NOBODY { before } else { chain.last };
        }
    }
}

impl<T: Waiting<N>, const N: usize> FromIterator<T> for Chains<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let place = |(number, value)| Place { number, links: [ALONE; N], value: Some(value) };
        let places: Vec<Place<T, N>> = (0..).zip(values).map(place).collect();
        Self {
            come: places.len() as u64,
            places,
            free: Vec::new(),
            by_pattern: HashMap::default(),
            with_wildcards: [0; Pattern::WILDCARDS],
            is_filed: [false; N],
            by_name: None,
        }
    }
}

impl Hash for Pattern {
    /// As one word: wildcards look like numbers that are seldom asked for. Tags that follow each other are found side
    /// by side, so that they share the cache lines of the table.
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let half = |wanted: Option<i32>| u64::from(wanted.unwrap_or(i32::MIN).cast_unsigned());
        let (source, tag) = (half(self.source), half(self.tag));
        hasher.write_u64(source << 32 | (tag / NEIGHBOURS));
        hasher.write_u8((tag % NEIGHBOURS) as u8);
    }
}

impl Hasher for Mixer {
    #[inline]
    fn write_u64(&mut self, word: u64) {
        // Odd numbers without a pattern: digits of pi.
        let product =
            u128::from(self.0 ^ word ^ 0x243f_6a88_85a3_08d3) * u128::from(0x1319_8a2e_0370_7345_u64);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    /// One of [`NEIGHBOURS`]: the table takes a place by the lower bits, and compares the upper ones first.
    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.0 = self.0.wrapping_add(u64::from(byte)) ^ u64::from(byte) << (u64::BITS - NEIGHBOURS.ilog2());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
