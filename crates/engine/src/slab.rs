//! Objects by number: a place and a generation, so that a number kept too long finds nothing.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::mem;

use oxmpi_base::Ordinal;
use oxmpi_mem::reserve::Growth;

/// The number of an object of type `T` in its [`Slab`].
pub struct Key<T> {
    index: u32,
    generation: u32,
    of: PhantomData<fn() -> T>,
}

/// Objects of one type, each with its number.
#[derive(Debug)]
pub struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Key<T> {
    /// The number as one word, to travel in a message.
    pub const fn to_word(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// The inverse of [`Key::to_word`].
    pub const fn from_word(word: u64) -> Self {
        Self::of(word as u32, (word >> 32) as u32)
    }

    pub(crate) const fn of(index: u32, generation: u32) -> Self {
        Self { index, generation, of: PhantomData }
    }

    /// Its place, for what is kept beside the slab; places are used again.
    #[inline]
    pub const fn place(self) -> usize {
        self.index as usize
    }

    pub(crate) const fn generation(self) -> u32 {
        self.generation
    }
}

impl<T> Slab<T> {
    /// No objects.
    pub const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    /// Puts an object in.
    #[inline(always)] // so that it is made in its place
    pub fn insert(&mut self, value: T) -> Key<T> {
        let key = self.reserve();
        mem::forget(self.places[key.index as usize].value.replace(value)); // there was none
        key
    }

    /// A number for an object that is not there yet.
    #[inline(always)] // as `insert`
    pub fn reserve(&mut self) -> Key<T> {
        let index = self.free.pop().unwrap_or_else(|| self.add_place());
        Key { index, generation: self.places[index as usize].generation, of: PhantomData }
    }

    #[cold]
    fn add_place(&mut self) -> u32 {
        self.places.push(Place { generation: 0, value: None });
        u32::try_from(self.places.len() - 1).expect("fewer than 2^32 objects")
    }

    /// Puts the object in for which a number was reserved.
    ///
    /// # Panics
    /// If the number is not reserved.
    pub fn fill(&mut self, key: Key<T>, value: T) {
        let place = &mut self.places[key.index as usize];
        assert!(place.generation == key.generation && place.value.is_none(), "the number is reserved");
        place.value = Some(value);
    }

    /// Whether a number is reserved; of those that are not given out, too, with the number that they will have.
    #[inline]
    pub fn is_reserved(&self, key: Key<T>) -> bool {
        let place = self.places.get(key.index as usize);
        place.is_some_and(|place| place.generation == key.generation && place.value.is_none())
    }

    /// Takes a reserved number back, unless the object was put in; whether it was taken back.
    #[inline]
    pub fn give_up(&mut self, key: Key<T>) -> bool {
        let place = &mut self.places[key.index as usize];
        let is_reserved = place.generation == key.generation && place.value.is_none();
        if is_reserved {
            place.generation = place.generation.wrapping_add(1);
            self.free.push(key.index);
        }
        is_reserved
    }

    /// Takes an object out; its number is not given out again.
    pub fn remove(&mut self, key: Key<T>) -> Option<T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation != key.generation {
            return None;
        }
        let value = place.value.take()?;
        place.generation = place.generation.wrapping_add(1);
        self.free.push(key.index);
        Some(value)
    }

    /// As [`Slab::remove`], of an object that nobody wants any more.
    #[inline]
    pub fn discard(&mut self, key: Key<T>) {
        if let Some(place) = self.places.get_mut(key.index as usize)
            && place.generation == key.generation
            && place.value.is_some()
        {
            place.value = None;
            place.generation = place.generation.wrapping_add(1);
            self.free.push(key.index);
        }
    }

    /// The object, if it is still there.
    #[inline]
    pub fn get(&self, key: Key<T>) -> Option<&T> {
        let place = self.places.get(key.index as usize)?;
        if place.generation == key.generation { place.value.as_ref() } else { None }
    }

    /// The object, to be changed.
    #[inline]
    pub fn get_mut(&mut self, key: Key<T>) -> Option<&mut T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation == key.generation { place.value.as_mut() } else { None }
    }

    /// All objects, by place.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().filter_map(|place| place.value.as_ref())
    }

    /// The same, to be changed.
    pub fn entries_mut(&mut self) -> impl Iterator<Item = (Key<T>, &mut T)> {
        self.places.iter_mut().zip(0..).filter_map(|(place, index)| {
            let key = Key { index, generation: place.generation, of: PhantomData };
            place.value.as_mut().map(|value| (key, value))
        })
    }

    /// All objects with their numbers, by place.
    pub fn entries(&self) -> impl Iterator<Item = (Key<T>, &T)> {
        self.places.iter().zip(0..).filter_map(|(place, index)| {
            let key = Key { index, generation: place.generation, of: PhantomData };
            place.value.as_ref().map(|value| (key, value))
        })
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// What the next one takes.
    #[inline]
    pub fn growth(&self) -> Growth {
        match self.free.is_empty() {
            false => Growth::None,
            true => {
                let (used, room) = (self.places.len(), self.places.capacity());
                Growth::of_table(used < room, room * size_of::<Place<T>>())
            }
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Key<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Key<T> {}

impl<T> PartialEq for Key<T> {
    fn eq(&self, other: &Self) -> bool {
        self.to_word() == other.to_word()
    }
}

impl<T> Eq for Key<T> {}

impl<T> Hash for Key<T> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.to_word());
    }
}

impl<T> PartialOrd for Key<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Key<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.to_word().cmp(&other.to_word())
    }
}

impl<T> Ordinal for Key<T> {
    fn ordinal(self) -> u128 {
        self.to_word().into()
    }
}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_something_removed_finds_nothing() {
        let mut slab = Slab::new();
        let first = slab.insert("first");
        assert_eq!(slab.remove(first), Some("first"));
        let second = slab.insert("second");
        assert_eq!((slab.get(first), slab.get(second)), (None, Some(&"second")));
        assert_eq!((slab.remove(first), slab.len()), (None, 1));
        assert_eq!(Key::from_word(second.to_word()), second);
        assert_eq!(slab.entries().collect::<Vec<_>>(), [(second, &"second")]);
    }
}
