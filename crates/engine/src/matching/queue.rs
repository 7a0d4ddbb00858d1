//! What waits to be matched, in the order in which it came.
//!
//! The earliest few are looked at one by one, which costs less than any table. As long as one of them matches, the
//! others wait in a line behind them, and come to the front when that is empty. When none does, all behind are put into
//! [`Chains`], and stay there until few are left.

use std::collections::VecDeque;

use super::Pattern;
use super::chains::{Chains, Waiting};

/// See the module.
#[derive(Debug)]
pub(super) struct Queue<T: Waiting<N>, const N: usize> {
    front: VecDeque<T>,
    /// Those that came after all in front, if there are any.
    behind: Option<Box<Behind<T, N>>>,
}

#[derive(Debug)]
enum Behind<T: Waiting<N>, const N: usize> {
    InLine(VecDeque<T>),
    Filed(Chains<T, N>),
}

/// The most that are in front.
const FRONT: usize = 32;
/// So few come out of the chains when the front is empty: not those that would soon be filed again.
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
    pub(super) fn first(&mut self, matches: impl Fn(&T) -> bool, patterns: &[Pattern]) -> Option<&T> {
        loop {
            if let Some(place) = self.front.iter().position(&matches) {
                return self.front.get(place);
            }
            if !self.advance() {
                return self.chains()?.first(patterns);
            }
        }
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
            None => self.take_behind(|chains| chains.take_named(name)),
        }
    }

    /// Takes out all, in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> + use<T, N> {
        let Self { front, behind } = std::mem::take(self);
        let behind: Vec<T> = behind.map_or_else(Vec::new, |behind| match *behind {
            Behind::InLine(line) => line.into(),
            Behind::Filed(chains) => chains.into_ordered().collect(),
        });
        front.into_iter().chain(behind)
    }

    /// Whether all are in front.
    #[cfg(test)]
    pub(super) fn is_short(&self) -> bool {
        self.behind.is_none()
    }

    #[inline(never)]
    fn take_further(&mut self, matches: impl Fn(&T) -> bool, patterns: &[Pattern]) -> Option<T> {
        loop {
            if let Some(place) = self.front.iter().position(&matches) {
                return self.front.remove(place);
            }
            if !self.advance() {
                return self.take_behind(|chains| chains.take(patterns));
            }
        }
    }

    fn take_behind(&mut self, take: impl FnOnce(&mut Chains<T, N>) -> Option<T>) -> Option<T> {
        let chains = self.chains()?;
        let taken = take(chains);
        let left = chains.len();
        if left == 0 || left <= FEW && self.front.is_empty() {
            let few = std::mem::take(self).drain();
            self.front.extend(few);
        }
        taken
    }

    /// Lets those in line come to the front, if that is empty; whether any did.
    fn advance(&mut self) -> bool {
        if !self.front.is_empty() {
            return false;
        }
        let Some(Behind::InLine(line)) = self.behind.as_deref_mut() else { return false };
        self.front.extend(line.drain(..FRONT.min(line.len())));
        if line.is_empty() {
            self.behind = None;
        }
        true
    }

    /// All that are behind, filed.
    fn chains(&mut self) -> Option<&mut Chains<T, N>> {
        let behind = self.behind.as_deref_mut()?;
        if let Behind::InLine(line) = behind {
            *behind = Behind::Filed(std::mem::take(line).into_iter().collect());
        }
        match behind {
            Behind::Filed(chains) => Some(chains),
            Behind::InLine(_) => unreachable!("just filed"),
        }
    }

    #[cold]
    #[inline(never)]
    fn push_behind(&mut self, value: T) {
        let none = || Box::new(Behind::InLine(VecDeque::with_capacity(FRONT)));
        match &mut **self.behind.get_or_insert_with(none) {
            Behind::InLine(line) => line.push_back(value),
            Behind::Filed(chains) => chains.push(value),
        }
    }
}

impl<T: Waiting<N>, const N: usize> Default for Queue<T, N> {
    fn default() -> Self {
        Self { front: VecDeque::new(), behind: None }
    }
}
