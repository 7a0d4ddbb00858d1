//! Sets of requests: to complete the next that is over costs the same however many there are.
//!
//! A set lists what the engine's board strikes out, in that order. MPI knows no such thing: to wait for any of several
//! requests, its functions look at each of them.
//!
//! MPI-5.0: Point-to-Point Communication, Multiple Completions.

use oxmpi_base::Result;
use oxmpi_engine::{Absent, Event, PeerId, SetKey};

use super::RequestKey;
use super::completion::{Completion, misuse};
use crate::process::{Process, State};
use crate::wait::Needing;

impl Process {
    /// A set of no requests.
    pub fn open_set(&self) -> SetKey {
        self.enter().engine.p2p.board.open_set()
    }

    /// Puts a request into a set. It leaves it when it is completed, by whatever call.
    ///
    /// # Errors
    /// `Request` if there is no such request, or it is in a set, or stands for the flush of a buffer.
    pub fn put_in_set(&self, set: SetKey, key: RequestKey) -> Result<()> {
        if self.enter().engine.p2p.board.put_in(set, key) {
            return Ok(());
        }
        Err(misuse("a request is put into a set that is in one, or that no set can hold"))
    }

    /// How many requests are in a set.
    pub fn len_of_set(&self, set: SetKey) -> usize {
        self.enter().engine.p2p.board.len_of(set)
    }

    /// Waits for the next operation of a set that is over and completes it: which, or `None` if the set is empty.
    pub fn wait_in_set(&self, set: SetKey) -> Option<(RequestKey, Completion)> {
        let next = Needing::new(
            |state: &mut State| match state.complete_next_of(set) {
                None if state.engine.p2p.board.len_of(set) > 0 => None,
                done => Some(done),
            },
            |state: &State, absent: &mut Absent| state.misses_for_set(set, absent),
        );
        let done = self.wait_for(next.until(|_: &State| vec![Event::Next(set)]));
        done.map(|(key, completion)| (key, self.concluded(key, completion)))
    }

    /// Completes the next operation of a set that is over: which, or `None` if none is.
    pub fn test_in_set(&self, set: SetKey) -> Option<(RequestKey, Completion)> {
        let mut state = self.enter();
        let done = state.complete_next_of(set);
        self.end_look(state, done.is_none().into());
        done.map(|(key, completion)| (key, self.concluded(key, completion)))
    }

    /// Ends a set. The requests in it go on.
    pub fn close_set(&self, set: SetKey) {
        self.enter().engine.p2p.board.close_set(set);
    }
}

impl State {
    fn complete_next_of(&mut self, set: SetKey) -> Option<(RequestKey, Completion)> {
        let mut next = self.engine.p2p.board.take_over(set);
        if next.is_none() {
            self.engine.poll();
            next = self.engine.p2p.board.take_over(set);
        }
        let key = next?;
        Some((key, self.complete(key).expect("what is over can be completed")))
    }

    /// The rank of the job without which nothing of a set will ever be complete.
    fn misses_for_set(&self, set: SetKey, absent: &mut Absent) -> Option<PeerId> {
        let mut members = self.engine.p2p.board.members(set);
        let first = self.misses_for(members.next()?, absent)?;
        members.all(|key| self.misses_for(key, absent).is_some()).then_some(first)
    }
}
