//! What waits to be matched, in the order in which it came.
//!
//! The earliest few are looked at one by one, which costs less than any table as long as there are no more. The others
//! are behind them in [`Chains`], until few are left.

use std::collections::VecDeque;

use super::Pattern;
use super::chains::{Chains, Waiting};

/// See the module.
#[derive(Debug)]
pub(super) struct Queue<T: Waiting<N>, const N: usize> {
    front: VecDeque<T>,
    /// Those that came after all in front, if there are any.
    behind: Option<Box<Chains<T, N>>>,
}

/// The most that are in front.
pub(super) const FRONT: usize = 32;
/// So few come to the front when that is empty: not those which would be soon behind it again.
const FEW: usize = FRONT / 2;

impl<T: Waiting<N>, const N: usize> Queue<T, N> {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.front.is_empty() && self.behind.is_none()
    }

    /// Puts something behind all the others.
    #[inline]
    pub(super) fn push(&mut self, value: T) {
        if self.front.len() < FRONT && self.behind.is_none() {
            self.front.push_back(value);
        } else {
            self.push_behind(value);
        }
    }

    /// The earliest that matches, which `patterns` lead to as well.
    #[inline]
    pub(super) fn first<const M: usize>(
        &mut self,
        matches: impl Fn(&T) -> bool,
        patterns: impl FnOnce() -> [Pattern; M],
    ) -> Option<&T> {
        let in_front = self.front.iter().find(|value| matches(value));
        in_front.or_else(|| self.behind.as_mut()?.first(&patterns()))
    }

    /// Takes it out.
    #[inline]
    pub(super) fn take<const M: usize>(
        &mut self,
        matches: impl Fn(&T) -> bool,
        patterns: impl FnOnce() -> [Pattern; M],
    ) -> Option<T> {
        match self.front.front() {
            Some(first) if matches(first) => self.front.pop_front(),
            None if self.behind.is_none() => None,
            _ => self.take_further(matches, &patterns()),
        }
    }

    /// Takes out what has this name.
    pub(super) fn take_named(&mut self, name: T::Name) -> Option<T> {
        let in_front = self.front.iter().position(|value| value.name() == Some(name));
        match in_front {
            Some(place) => self.front.remove(place),
            None => self.take_behind(|behind| behind.take_named(name)),
        }
    }

    /// Takes out all, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + use<T, N> {
        let Self { front, behind } = std::mem::take(self);
        front.into_iter().chain(behind.into_iter().flat_map(|behind| behind.into_ordered()))
    }

    /// Whether all are in front.
    #[cfg(test)]
    pub(super) fn is_short(&self) -> bool {
        self.behind.is_none()
    }

    #[inline(never)]
    fn take_further(&mut self, matches: impl Fn(&T) -> bool, patterns: &[Pattern]) -> Option<T> {
        match self.front.iter().position(matches) {
            Some(place) => self.front.remove(place),
            None => self.take_behind(|behind| behind.take(patterns)),
        }
    }

    fn take_behind(&mut self, take: impl FnOnce(&mut Chains<T, N>) -> Option<T>) -> Option<T> {
        let behind = self.behind.as_mut()?;
        let taken = take(behind);
        let left = behind.len();
        if left == 0 || left <= FEW && self.front.is_empty() {
            let few = self.behind.take();
            self.front.extend(few.into_iter().flat_map(|few| few.into_ordered()));
        }
        taken
    }

    #[cold]
    #[inline(never)]
    fn push_behind(&mut self, value: T) {
        self.behind.get_or_insert_default().push(value);
    }
}

impl<T: Waiting<N>, const N: usize> Default for Queue<T, N> {
    fn default() -> Self {
        Self { front: VecDeque::new(), behind: None }
    }
}
