//! Maps in the order of their keys, whose code is there once.
//!
//! The compiler makes the code of a `BTreeMap` anew for each two types, some 7,000 lines of its intermediate language,
//! and again in each crate that does something with it. Here a tree knows keys as numbers, and at which place of a
//! vector the value is; only that vector is of the two types. Many small maps, none of which is asked for each
//! message, so take a fifth less of the time in which the engine is compiled.
//!
//! Cost: that of a `BTreeMap`, a call, and a look at one place more. To go through a map in order makes a list of its
//! places.

use std::collections::BTreeMap;

/// A key of an [`Ordered`] map: it is a number, which no other one is.
pub trait Ordinal: Copy {
    /// The number; keys are in the order of theirs.
    fn ordinal(self) -> u128;
}

/// Values by key, in the order of the keys.
#[derive(Clone, Debug)]
pub struct Ordered<K, V> {
    tree: Tree,
    places: Vec<Option<(K, V)>>,
}

/// Places by key.
#[derive(Clone, Debug, Default)]
struct Tree {
    places: BTreeMap<u128, u32>,
    free: Vec<u32>,
}

/// What there is to do with keys alone; no function of it is made twice.
impl Tree {
    #[inline(never)]
    fn find(&self, key: u128) -> Option<usize> {
        self.places.get(&key).map(|&place| place as usize)
    }

    /// Where the value of a key is, or is to be; `beyond` is the first place that there is not yet.
    #[inline(never)]
    fn insert(&mut self, key: u128, beyond: usize) -> usize {
        let beyond = u32::try_from(beyond).expect("fewer than 2^32 values");
        let free = &mut self.free;
        *self.places.entry(key).or_insert_with(|| free.pop().unwrap_or(beyond)) as usize
    }

    #[inline(never)]
    fn remove(&mut self, key: u128) -> Option<usize> {
        let place = self.places.remove(&key)?;
        self.free.push(place);
        Some(place as usize)
    }

    #[inline(never)]
    fn last_up_to(&self, key: u128) -> Option<usize> {
        self.places.range(..=key).next_back().map(|(_, &place)| place as usize)
    }

    /// All places, in the order of the keys.
    #[inline(never)]
    fn in_order(&self) -> Box<[u32]> {
        self.places.values().copied().collect()
    }

    #[inline(never)]
    fn end(&self, is_last: bool) -> Option<usize> {
        let ends = if is_last { self.places.last_key_value() } else { self.places.first_key_value() };
        ends.map(|(_, &place)| place as usize)
    }
}

impl<K: Ordinal, V> Ordered<K, V> {
    /// An empty one.
    pub const fn new() -> Self {
        Self { tree: Tree { places: BTreeMap::new(), free: Vec::new() }, places: Vec::new() }
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len() - self.tree.free.len()
    }

    /// Whether there is a value.
    pub fn contains_key(&self, key: K) -> bool {
        !self.is_empty() && self.tree.find(key.ordinal()).is_some()
    }

    /// The value.
    pub fn get(&self, key: K) -> Option<&V> {
        self.places[self.tree.find(key.ordinal())?].as_ref().map(|(_, value)| value)
    }

    /// The value, to be changed.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.places[self.tree.find(key.ordinal())?].as_mut().map(|(_, value)| value)
    }

    /// Puts a value in; the one that was there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.place(key).replace((key, value)).map(|(_, before)| before)
    }

    /// The value, which is made if there is none.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        &mut self.place(key).get_or_insert_with(|| (key, make())).1
    }

    fn place(&mut self, key: K) -> &mut Option<(K, V)> {
        let place = self.tree.insert(key.ordinal(), self.places.len());
        if place == self.places.len() {
            self.places.push(None);
        }
        &mut self.places[place]
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: K) -> Option<V> {
        let place = self.tree.remove(key.ordinal())?;
        self.places[place].take().map(|(_, value)| value)
    }

    /// Takes those out which are not to stay.
    pub fn retain(&mut self, mut stays: impl FnMut(K, &mut V) -> bool) {
        for place in &mut self.places {
            if let Some((key, _)) = place.take_if(|(key, value)| !stays(*key, value)) {
                self.tree.remove(key.ordinal());
            }
        }
    }

    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<(K, &V)> {
        if self.is_empty() { None } else { self.at(self.tree.end(false)?) }
    }

    /// The last one.
    pub fn last(&self) -> Option<(K, &V)> {
        self.at(self.tree.end(true)?)
    }

    /// The last one whose key is not greater.
    pub fn last_up_to(&self, key: K) -> Option<(K, &V)> {
        self.at(self.tree.last_up_to(key.ordinal())?)
    }

    /// All, in order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.tree.in_order().into_iter().filter_map(|place| self.at(place as usize))
    }

    /// All, to be changed, in whatever order.
    pub fn values_mut(&mut self) -> impl Iterator<Item = (K, &mut V)> {
        self.places.iter_mut().flatten().map(|(key, value)| (*key, value))
    }

    /// All values, in whatever order.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.places.into_iter().flatten().map(|(_, value)| value)
    }

    fn at(&self, place: usize) -> Option<(K, &V)> {
        self.places[place].as_ref().map(|(key, value)| (*key, value))
    }
}

impl<K: Ordinal, V: Default> Ordered<K, V> {
    /// The value, which is made if there is none.
    pub fn get_or_default(&mut self, key: K) -> &mut V {
        self.get_or_insert_with(key, V::default)
    }
}

impl<K: Ordinal, V> Default for Ordered<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl Ordinal for u32 {
    fn ordinal(self) -> u128 {
        self.into()
    }
}

impl Ordinal for u64 {
    fn ordinal(self) -> u128 {
        self.into()
    }
}

impl Ordinal for usize {
    fn ordinal(self) -> u128 {
        self as u128
    }
}

/// By the first, then by the second, which has no more than 64 bits.
impl<A: Ordinal, B: Ordinal> Ordinal for (A, B) {
    fn ordinal(self) -> u128 {
        self.0.ordinal() << 64 | self.1.ordinal()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn places_are_used_again() {
        let mut map = Ordered::new();
        (0..10_u32).for_each(|key| _ = map.insert(key, key));
        (0..10).for_each(|key| assert_eq!(map.remove(key), Some(key)));
        (10..20).for_each(|key| _ = map.insert(key, key));
        assert_eq!((map.len(), map.places.len()), (10, 10));
    }

    proptest! {
        #[test]
        fn it_is_what_a_btreemap_is(steps in proptest::collection::vec((0..5, 0..20_u32, 0..2_u64), 0..60)) {
            let (mut ours, mut other) = (Ordered::new(), BTreeMap::new());
            for (step, low, high) in steps {
                let key = (high, low);
                match step {
                    0 | 1 => prop_assert_eq!(ours.insert(key, step), other.insert(key, step)),
                    2 => prop_assert_eq!(ours.remove(key), other.remove(&key)),
                    3 => *ours.get_or_default(key) += *other.entry(key).or_insert(0) + 1,
                    _ => {
                        ours.retain(|_, value| *value != 1);
                        other.retain(|_, value| *value != 1);
                    }
                }
                if step == 3 {
                    other.insert(key, *ours.get(key).expect("put in"));
                }
                prop_assert_eq!(ours.len(), other.len());
                prop_assert_eq!(ours.get(key), other.get(&key));
                let last = other.range(..=key).next_back().map(|(&key, value)| (key, value));
                prop_assert_eq!(ours.last_up_to(key), last);
                prop_assert_eq!(ours.first(), other.first_key_value().map(|(&key, value)| (key, value)));
                prop_assert_eq!(ours.last(), other.last_key_value().map(|(&key, value)| (key, value)));
                prop_assert!(ours.iter().eq(other.iter().map(|(&key, value)| (key, value))));
            }
        }
    }
}
