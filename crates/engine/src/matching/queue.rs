//! What waits to be matched, in the order in which it came.
//!
//! The earliest few are looked at one by one, which costs less than any table. As long as one of them matches, all wait
//! in one line. When none does, and there are more, all are put into [`Chains`], and stay there until few are left.

use super::Pattern;
use super::chains::{Chains, Waiting};
use super::line::Line;

/// See the module.
#[derive(Debug)]
pub(crate) struct Queue<T: Waiting<N>, const N: usize> {
    /// Empty where all are filed.
    line: Line<T>,
    filed: Option<Box<Chains<T, N>>>,
}

/// The most that are looked at one by one.
const FEW: usize = 32;
/// So few come out of the chains: not those that would soon be put there again.
const FEWER: usize = FEW / 2;
/// The room of a line that stays when it is empty.
const ROOM: usize = 1024;

impl<T: Waiting<N>, const N: usize> Queue<T, N> {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.line.is_empty() && self.filed.is_none()
    }

    /// Puts behind all others what `make` makes in its place.
    #[inline(always)]
    pub(crate) fn push(&mut self, make: impl FnOnce() -> T) {
        match &mut self.filed {
            None => self.line.push(make),
            Some(chains) => chains.push(make()),
        }
    }

    /// The earliest that matches, which `patterns` lead to as well.
    #[inline]
    pub(crate) fn first(&mut self, matches: impl Fn(&T) -> bool, patterns: &[Pattern]) -> Option<&T> {
        match self.place(matches) {
            Some(place) => self.line.get(place),
            None => self.chains()?.first(patterns),
        }
    }

    /// The only one, if it is in line.
    #[inline]
    pub(crate) fn only(&self) -> Option<&T> {
        if self.line.len() == 1 { self.line.get(0) } else { None }
    }

    /// Takes out the very first, if that matches.
    #[inline(always)] // so that what is taken is never in memory
    pub(crate) fn take_first(&mut self, matches: impl Fn(&T) -> bool) -> Option<T> {
        if !matches(self.line.get(0)?) {
            return None;
        }
        let first = self.line.pop();
        if self.line.room() > ROOM && self.line.is_empty() {
            self.give_room_back();
        }
        first
    }

    /// Takes out the earliest that matches, which `patterns` lead to as well.
    #[inline(never)]
    pub(crate) fn take(&mut self, matches: impl Fn(&T) -> bool, patterns: &[Pattern]) -> Option<T> {
        match self.place(matches) {
            Some(place) => self.line.remove(place),
            None => self.take_filed(|chains| chains.take(patterns)),
        }
    }

    /// Takes out what has this name.
    pub(crate) fn take_named(&mut self, name: T::Name) -> Option<T> {
        match self.place(|value| value.name() == Some(name)) {
            Some(place) => self.line.remove(place),
            None => self.take_filed(|chains| chains.take_named(name)),
        }
    }

    /// Takes out all, in order.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> + use<T, N> {
        let Self { mut line, filed } = std::mem::take(self);
        line.take_all().into_iter().chain(filed.into_iter().flat_map(|chains| chains.into_ordered()))
    }

    /// Whether all are in line.
    #[cfg(test)]
    pub(super) fn is_short(&self) -> bool {
        self.filed.is_none() && self.line.room() <= ROOM
    }

    /// Where in line the earliest is that is wanted, if it is one of the first few.
    #[inline]
    fn place(&self, is_wanted: impl Fn(&T) -> bool) -> Option<usize> {
        self.line.iter().take(FEW).position(is_wanted)
    }

    fn take_filed(&mut self, take: impl FnOnce(&mut Chains<T, N>) -> Option<T>) -> Option<T> {
        let chains = self.chains()?;
        let taken = take(chains);
        let left = chains.len();
        if left <= FEWER {
            let few = self.filed.take().into_iter().flat_map(|chains| chains.into_ordered());
            few.for_each(|value| self.line.push(|| value));
        }
        taken
    }

    /// All, filed, if they are more than a few.
    fn chains(&mut self) -> Option<&mut Chains<T, N>> {
        if self.line.len() > FEW {
            self.filed = Some(Box::new(self.line.take_all().into_iter().collect()));
            self.give_room_back();
        }
        self.filed.as_deref_mut()
    }

    #[cold]
    fn give_room_back(&mut self) {
        self.line.shrink_to(ROOM);
    }
}

impl<T: Waiting<N>, const N: usize> Default for Queue<T, N> {
    fn default() -> Self {
        Self { line: Line::default(), filed: None }
    }
}
