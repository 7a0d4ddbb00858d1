//! A line: who comes first goes first, mostly.
//!
//! As the standard library's queue, but that to come and to go takes no call: what most receives and messages are is in
//! registers then.

/// See the module.
#[derive(Debug)]
pub(super) struct Line<T> {
    /// A power of two of them, or none.
    places: Vec<Option<T>>,
    /// The place of the first one.
    first: usize,
    len: usize,
}

/// The places that there are at least.
const FEWEST: usize = 4;

impl<T> Line<T> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many there is room for.
    #[inline]
    pub(super) fn room(&self) -> usize {
        self.places.len()
    }

    /// Puts behind all others what `make` makes in its place.
    #[inline(always)]
    pub(super) fn push(&mut self, make: impl FnOnce() -> T) {
        if self.len == self.places.len() {
            self.resize(self.len + 1);
        }
        let place = self.place(self.len);
        self.places[place] = Some(make());
        self.len += 1;
    }

    /// The one so many behind the first.
    #[inline(always)]
    pub(super) fn get(&self, index: usize) -> Option<&T> {
        // Where there is none the place is empty, but behind the last place there is the first again.
        if index < self.len { self.places[self.place(index)].as_ref() } else { None }
    }

    /// Takes the first one out.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<T> {
        let first = self.places.get_mut(self.first)?.take()?;
        self.first = self.place(1);
        self.len -= 1;
        Some(first)
    }

    /// Takes one out. Those before it move up.
    pub(super) fn remove(&mut self, index: usize) -> Option<T> {
        self.get(index)?;
        for index in (1..=index).rev() {
            let (before, behind) = (self.place(index - 1), self.place(index));
            self.places.swap(before, behind);
        }
        self.pop()
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).filter_map(|index| self.get(index))
    }

    /// Takes out all.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        std::iter::from_fn(|| self.pop()).collect()
    }

    /// Gives back what room there is for more than so many.
    pub(super) fn shrink_to(&mut self, room: usize) {
        self.resize(self.len.max(room));
    }

    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        (self.first + index) & self.places.len().wrapping_sub(1)
    }

    /// Makes places for so many.
    #[cold]
    fn resize(&mut self, room: usize) {
        let room = room.next_power_of_two().max(FEWEST);
        let mut places: Vec<Option<T>> = Vec::with_capacity(room);
        places.extend(std::iter::from_fn(|| self.pop()).map(Some));
        self.len = places.len();
        places.resize_with(room, || None);
        (self.places, self.first) = (places, 0);
    }
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { places: Vec::new(), first: 0, len: 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn it_does_what_the_queue_of_the_standard_library_does() {
        let (mut line, mut queue, mut random) = (Line::default(), VecDeque::new(), 7_u64);
        for number in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let draw = (random >> 33) as usize;
            match draw % 9 {
                0..=3 => {
                    line.push(|| number);
                    queue.push_back(number);
                }
                4..=6 => assert_eq!(line.pop(), queue.pop_front()),
                7 => assert_eq!(line.remove(draw % 50), queue.remove(draw % 50)),
                _ if draw.is_multiple_of(100) => {
                    assert_eq!(line.take_all(), Vec::from(std::mem::take(&mut queue)));
                    line.shrink_to(draw % 40);
                }
                _ => assert_eq!(line.get(draw % 20), queue.get(draw % 20)),
            }
            assert_eq!((line.len(), line.is_empty()), (queue.len(), queue.is_empty()));
        }
        assert!(line.iter().eq(&queue));
    }
}
