//! Completing any, some or all of several requests.
//!
//! All are looked at once, on the board. A call that waits then asks about those alone that have been struck out, and
//! looks at all again only when another one has been.
//!
//! MPI-5.0: Point-to-Point Communication, Multiple Completions.

use std::cell::Cell;

use oxmpi_base::Result;
use oxmpi_engine::{Absent, Event, PeerId, Standing};

use super::RequestKey;
use super::array::{RequestArray, Survey};
use super::completion::{AnyTest, Completion};
use super::conclusion::Found;
use crate::process::{Process, State};
use crate::wait::Needing;

/// Threads sleep for the end of any of no more requests but at the doorbell: whoever ends one looks at all.
const FEW: usize = 64;

impl Process {
    /// Waits for all operations; `each` is told how each ended, null requests (`None`) too.
    ///
    /// # Errors
    /// As [`Process::wait`], before anything is completed.
    pub fn wait_all(
        &self,
        keys: &(impl RequestArray + ?Sized),
        mut each: impl FnMut(usize, Completion),
    ) -> Result<()> {
        let mut state = self.enter();
        Survey::of(&state.engine.p2p.board, keys)?;
        let next = Cell::new(0);
        loop {
            let look = |state: &mut State| state.complete_from(keys, &next, &mut each);
            let next_one = Needing::new(look, |state: &State, absent: &mut Absent| {
                state.misses_for(keys.at(next.get())?, absent)
            });
            let end = |state: &State| keys.at(next.get()).and_then(|key| state.end_of(key));
            let generalized =
                self.wait_inside(state, next_one.until(|state: &State| end(state).into_iter().collect()));
            let Some((index, key)) = generalized else { return Ok(()) };
            each(index, self.conclude(key));
            state = self.enter();
        }
    }

    /// Completes all operations if all are over, and else none.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn test_all(
        &self,
        keys: &(impl RequestArray + ?Sized),
        each: impl FnMut(usize, Completion),
    ) -> Result<bool> {
        let mut state = self.enter();
        let mut survey = Survey::of(&state.engine.p2p.board, keys)?;
        if !survey.is_all_over() {
            state.engine.poll();
            survey = Survey::of(&state.engine.p2p.board, keys)?;
        }
        let mut is_over = |index| keys.at(index).is_none_or(|key| state.is_over(key));
        if survey.any_under_way || survey.any_unknown && !(0..keys.len()).all(&mut is_over) {
            self.end_look(state, keys.len());
            return Ok(false);
        }
        let mut found = Found::new(each);
        for index in 0..keys.len() {
            match keys.at(index) {
                None => found.take_null(index),
                Some(key) => found.take(index, key, state.complete(key).unwrap_or(Completion::EMPTY)),
            }
        }
        if survey.any_active {
            self.end_look(state, 0);
        } else {
            drop(state);
        }
        found.conclude(self);
        Ok(true)
    }

    /// Waits for one of the operations and completes it; `None` if none is active.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn wait_any(&self, keys: &(impl RequestArray + ?Sized)) -> Result<Option<(usize, Completion)>> {
        let state = self.enter();
        let mut survey = Survey::of(&state.engine.p2p.board, keys)?;
        let look = |state: &mut State| state.look_for_any(keys, &mut survey);
        let any = Needing::new(look, |state: &State, absent: &mut Absent| state.misses_for_all(keys, absent));
        let done = self.wait_inside(state, any.until(|state: &State| state.ends_of(keys)));
        Ok(done.map(|(index, key, completion)| (index, self.concluded(key, completion))))
    }

    /// Completes one of the operations, if one is over.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn test_any(&self, keys: &(impl RequestArray + ?Sized)) -> Result<AnyTest> {
        let mut state = self.enter();
        let mut survey = Survey::of(&state.engine.p2p.board, keys)?;
        Ok(match state.look_for_any(keys, &mut survey) {
            None => {
                self.end_look(state, keys.len());
                AnyTest::NotYet
            }
            Some(None) => AnyTest::Undefined,
            Some(Some((index, key, completion))) => {
                self.end_look(state, 0);
                AnyTest::Done(index, self.concluded(key, completion))
            }
        })
    }

    /// Waits until one of the operations is over, and completes none: which; `None` if none is active.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn await_any(&self, keys: &(impl RequestArray + ?Sized)) -> Result<Option<usize>> {
        let state = self.enter();
        if !Survey::of(&state.engine.p2p.board, keys)?.any_active {
            return Ok(None);
        }
        let look = |state: &mut State| state.first_over(keys);
        let any = Needing::new(look, |state: &State, absent: &mut Absent| state.misses_for_all(keys, absent));
        Ok(Some(self.wait_inside(state, any.until(|state: &State| state.ends_of(keys)))))
    }

    /// Waits until at least one of the operations is over and completes those that are: how many, or `None` if
    /// none is active.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn wait_some(
        &self,
        keys: &(impl RequestArray + ?Sized),
        each: impl FnMut(usize, Completion),
    ) -> Result<Option<usize>> {
        let mut found = Found::new(each);
        let state = self.enter();
        let mut survey = Survey::of(&state.engine.p2p.board, keys)?;
        let look = |state: &mut State| match state.complete_some(keys, &mut survey, &mut found) {
            Some(0) => None,
            count => Some(count),
        };
        let some =
            Needing::new(look, |state: &State, absent: &mut Absent| state.misses_for_all(keys, absent));
        let count = self.wait_inside(state, some.until(|state: &State| state.ends_of(keys)));
        found.conclude(self);
        Ok(count)
    }

    /// Completes those of the operations that are over: how many, or `None` if none is active.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn test_some(
        &self,
        keys: &(impl RequestArray + ?Sized),
        each: impl FnMut(usize, Completion),
    ) -> Result<Option<usize>> {
        let mut found = Found::new(each);
        let mut state = self.enter();
        let mut survey = Survey::of(&state.engine.p2p.board, keys)?;
        let count = state.complete_some(keys, &mut survey, &mut found);
        match count {
            None => drop(state),
            Some(0) => self.end_look(state, keys.len()),
            Some(_) => self.end_look(state, 0),
        }
        found.conclude(self);
        Ok(count)
    }

    /// What becomes of a completion outside of the gate.
    #[inline]
    pub(super) fn concluded(&self, key: RequestKey, mut completion: Completion) -> Completion {
        self.conclude_generalized(key, &mut completion);
        completion
    }
}

impl State {
    /// Completes the requests from `next` on, up to one that is not over. Stops behind one that is to be concluded
    /// outside of the gate: which; or at the end, with none.
    #[inline(always)]
    fn complete_from(
        &mut self,
        keys: &(impl RequestArray + ?Sized),
        next: &Cell<usize>,
        each: &mut impl FnMut(usize, Completion),
    ) -> Option<Option<(usize, RequestKey)>> {
        while next.get() < keys.len() {
            let index = next.get();
            let Some(key) = keys.at(index) else {
                next.set(index + 1);
                each(index, Completion::EMPTY);
                continue;
            };
            if let Some((status, freed)) = self.complete_at_once(key) {
                next.set(index + 1);
                each(index, Completion::well(status, freed));
                continue;
            }
            let completion = self.complete(key)?;
            next.set(index + 1);
            if completion.is_generalized {
                return Some(Some((index, key)));
            }
            each(index, completion);
        }
        Some(None)
    }

    /// Completes the first request that is over: which; `Some(None)` if none is active.
    #[expect(clippy::option_option, reason = "the outer one says whether there is an answer")]
    fn look_for_any(
        &mut self,
        keys: &(impl RequestArray + ?Sized),
        survey: &mut Survey,
    ) -> Option<Option<(usize, RequestKey, Completion)>> {
        if !survey.any_active {
            return Some(None);
        }
        let mut found = None;
        self.ask_those_changed(keys, survey, |index, key, completion| {
            found = Some((index, key, completion));
            false
        });
        match found {
            Some(_) => Some(found),
            None if survey.any_active => None,
            None => Some(None),
        }
    }

    /// The first active request that is over; if there is none at first, what has happened meanwhile is looked at.
    fn first_over(&mut self, keys: &(impl RequestArray + ?Sized)) -> Option<usize> {
        self.over_now(keys).or_else(|| {
            self.engine.poll();
            self.over_now(keys)
        })
    }

    fn over_now(&mut self, keys: &(impl RequestArray + ?Sized)) -> Option<usize> {
        (0..keys.len()).find(|&index| {
            keys.at(index).is_some_and(|key| {
                let standing = self.engine.p2p.board.standing(key);
                matches!(standing, Some(Standing::Over | Standing::Unknown)) && self.is_over(key)
            })
        })
    }

    /// Completes all requests that are over: how many; `None` if none is active.
    fn complete_some(
        &mut self,
        keys: &(impl RequestArray + ?Sized),
        survey: &mut Survey,
        found: &mut Found<impl FnMut(usize, Completion)>,
    ) -> Option<usize> {
        let mut count = 0;
        self.ask_those_changed(keys, survey, |index, key, completion| {
            found.take(index, key, completion);
            count += 1;
            true
        });
        survey.any_active.then_some(count)
    }

    /// Completes those requests that are over, as long as `each` asks for more; if there is none at first, what has
    /// happened meanwhile is looked at, and all are again if one of them may have changed.
    fn ask_those_changed(
        &mut self,
        keys: &(impl RequestArray + ?Sized),
        survey: &mut Survey,
        mut each: impl FnMut(usize, RequestKey, Completion) -> bool,
    ) {
        for is_first in [true, false] {
            let (mut any, mut more) = (false, true);
            let mut index = survey.first;
            while more && index < keys.len() {
                if let Some(key) = keys.at(index)
                    && matches!(self.engine.p2p.board.standing(key), Some(Standing::Over | Standing::Unknown))
                    && let Some(completion) = self.complete(key)
                {
                    any = true;
                    more = each(index, key, completion);
                }
                index += 1;
            }
            if any || !is_first {
                return;
            }
            self.engine.poll();
            if survey.is_of_now(&self.engine.p2p.board) {
                survey.first = keys.len();
                return;
            }
            // Another thread may have completed some, against the rules: they are passed over.
            *survey = Survey::of_those_left(&self.engine.p2p.board, keys);
        }
    }

    /// What happens when one of several requests is over, if these are few and the board is told of each.
    fn ends_of(&self, keys: &(impl RequestArray + ?Sized)) -> Vec<Event> {
        let board = &self.engine.p2p.board;
        let active = (0..keys.len()).filter_map(|index| keys.at(index));
        let mut active = active.filter(|&key| board.standing(key) != Some(Standing::Inactive));
        let ends: Option<Vec<_>> = active.by_ref().take(FEW).map(|key| self.end_of(key)).collect();
        ends.filter(|_| active.next().is_none()).unwrap_or_default()
    }

    /// The rank of the job without which none of several requests will ever be complete.
    fn misses_for_all(&self, keys: &(impl RequestArray + ?Sized), absent: &mut Absent) -> Option<PeerId> {
        let board = &self.engine.p2p.board;
        let is_active =
            |key: &RequestKey| board.standing(*key).is_some_and(|standing| standing != Standing::Inactive);
        let mut active = (0..keys.len()).filter_map(|index| keys.at(index)).filter(is_active);
        let first = self.misses_for(active.next()?, absent)?;
        active.all(|key| self.misses_for(key, absent).is_some()).then_some(first)
    }
}
