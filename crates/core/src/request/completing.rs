//! Completing requests: one, any, some or all of them; cancelling and freeing them.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Completion; Multiple Completions; Cancel.

use std::sync::Arc;

use oxmpi_base::{Error, Result, Status};
use oxmpi_engine::Absent;

use super::activity::Activity;
use super::completion::{AnyTest, Completion, misuse, no_request};
use super::conclusion::Found;
use super::progress::OneRequest;
use super::{Kind, Request, RequestKey};
use crate::comm::Communicator;
use crate::process::{Process, State};
use crate::wait::Needing;

impl Process {
    /// Waits for an operation and completes it.
    ///
    /// # Errors
    /// `Request` if there is no such request. How the operation itself ended is in the [`Completion`].
    #[inline]
    pub fn wait(&self, key: RequestKey) -> Result<Completion> {
        self.check(key)?;
        let mut completion = self.wait_for(OneRequest::new(key));
        self.conclude_generalized(key, &mut completion);
        Ok(completion)
    }

    /// Completes an operation if it is over.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn test(&self, key: RequestKey) -> Result<Option<Completion>> {
        let mut state = self.enter();
        let is_active = state.requests.all.get(key).ok_or_else(no_request)?.is_active();
        state.engine.poll();
        let mut completion = state.complete(key);
        match completion {
            None => self.end_look(state, 1),
            Some(_) if is_active => self.end_look(state, 0),
            // Says nothing: the loop may wait for others.
            Some(_) => drop(state),
        }
        if let Some(completion) = &mut completion {
            self.conclude_generalized(key, completion);
        }
        Ok(completion)
    }

    /// Waits for all operations; `each` is told how each ended, null requests (`None`) too.
    ///
    /// # Errors
    /// As [`Process::wait`], before anything is completed.
    pub fn wait_all(
        &self,
        keys: &[Option<RequestKey>],
        mut each: impl FnMut(usize, Completion),
    ) -> Result<()> {
        keys.iter().flatten().try_for_each(|&key| self.check(key))?;
        for (index, key) in keys.iter().enumerate() {
            let completion = key.map_or(Completion::EMPTY, |key| {
                let mut completion = self.wait_for(Needing::new(
                    |state: &mut State| state.complete(key),
                    |state: &State, absent: &mut Absent| state.misses_for(key, absent),
                ));
                self.conclude_generalized(key, &mut completion);
                completion
            });
            each(index, completion);
        }
        Ok(())
    }

    /// Completes all operations if all are over, and else none.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn test_all(&self, keys: &[Option<RequestKey>], each: impl FnMut(usize, Completion)) -> Result<bool> {
        keys.iter().flatten().try_for_each(|&key| self.check(key))?;
        let mut state = self.enter();
        state.engine.poll();
        if !keys.iter().flatten().all(|&key| state.is_over(key)) {
            self.end_look(state, keys.len());
            return Ok(false);
        }
        let is_active = |&key: &RequestKey| state.requests.all.get(key).is_some_and(Request::is_active);
        let any_active = keys.iter().flatten().any(is_active);
        let mut found = Found::new(each);
        for (index, key) in keys.iter().enumerate() {
            found.take(index, key.and_then(|key| state.complete(key)).unwrap_or(Completion::EMPTY));
        }
        if any_active {
            self.end_look(state, 0);
        } else {
            drop(state);
        }
        found.conclude(self, keys);
        Ok(true)
    }

    /// Waits for one of the operations and completes it; `None` if none is active.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn wait_any(&self, keys: &[Option<RequestKey>]) -> Result<Option<(usize, Completion)>> {
        keys.iter().flatten().try_for_each(|&key| self.check(key))?;
        let look = |state: &mut State| match state.test_any(keys) {
            AnyTest::Done(index, completion) => Some(Some((index, completion))),
            AnyTest::NotYet => None,
            AnyTest::Undefined => Some(None),
        };
        let mut done = self.wait_for(Needing::new(look, |state: &State, absent: &mut Absent| {
            state.misses_for_all(keys, absent)
        }));
        if let Some((index, completion)) = &mut done {
            self.conclude_at(keys, *index, completion);
        }
        Ok(done)
    }

    /// Completes one of the operations, if one is over.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn test_any(&self, keys: &[Option<RequestKey>]) -> Result<AnyTest> {
        keys.iter().flatten().try_for_each(|&key| self.check(key))?;
        let mut state = self.enter();
        let mut tested = state.test_any(keys);
        match tested {
            AnyTest::Done(..) => self.end_look(state, 0),
            AnyTest::NotYet => self.end_look(state, keys.len()),
            AnyTest::Undefined => drop(state),
        }
        if let AnyTest::Done(index, completion) = &mut tested {
            self.conclude_at(keys, *index, completion);
        }
        Ok(tested)
    }

    /// Waits until at least one of the operations is over and completes those that are: how many, or `None` if
    /// none is active.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn wait_some(
        &self,
        keys: &[Option<RequestKey>],
        each: impl FnMut(usize, Completion),
    ) -> Result<Option<usize>> {
        keys.iter().flatten().try_for_each(|&key| self.check(key))?;
        let mut found = Found::new(each);
        let look = |state: &mut State| match state.test_some(keys, &mut found) {
            Some(0) => None,
            count => Some(count),
        };
        let count = self.wait_for(Needing::new(look, |state: &State, absent: &mut Absent| {
            state.misses_for_all(keys, absent)
        }));
        found.conclude(self, keys);
        Ok(count)
    }

    /// Completes those of the operations that are over: how many, or `None` if none is active.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn test_some(
        &self,
        keys: &[Option<RequestKey>],
        each: impl FnMut(usize, Completion),
    ) -> Result<Option<usize>> {
        keys.iter().flatten().try_for_each(|&key| self.check(key))?;
        let mut found = Found::new(each);
        let mut state = self.enter();
        let count = state.test_some(keys, &mut found);
        match count {
            None => drop(state),
            Some(0) => self.end_look(state, keys.len()),
            Some(_) => self.end_look(state, 0),
        }
        found.conclude(self, keys);
        Ok(count)
    }

    /// What an operation that is over says about itself; it is not completed.
    ///
    /// # Errors
    /// As [`Process::wait`]; of a generalized request, what the program's function says.
    pub fn request_status(&self, key: RequestKey) -> Result<Option<Status>> {
        let status = self.look_at(key)?;
        if status.is_none() {
            self.end_look(self.enter(), 1);
        }
        Ok(status)
    }

    /// The same of several; null requests (`None`) are over.
    ///
    /// # Errors
    /// As [`Process::request_status`].
    pub fn request_statuses(&self, keys: &[Option<RequestKey>]) -> Result<Vec<Option<Status>>> {
        let look_at = |key: &Option<RequestKey>| key.map_or(Ok(Some(Status::EMPTY)), |key| self.look_at(key));
        let statuses = keys.iter().map(look_at).collect::<Result<Vec<_>>>()?;
        if statuses.iter().any(Option::is_none) {
            self.end_look(self.enter(), keys.len());
        }
        Ok(statuses)
    }

    fn look_at(&self, key: RequestKey) -> Result<Option<Status>> {
        self.check(key)?;
        let mut state = self.enter();
        state.engine.poll();
        if let Some(callbacks) = state.to_query(key) {
            drop(state);
            let (status, queried) = callbacks.query();
            return queried.map(|()| Some(status));
        }
        if !state.is_over(key) {
            return Ok(None);
        }
        state.end_duplication(key);
        Ok(Some(state.status(key)))
    }

    /// Marks a message for cancellation: it ends cancelled if it has not been matched yet. Of a send-receive
    /// that is what is received. A generalized request is cancelled by the program.
    ///
    /// # Errors
    /// `Request` for collectives, partitioned and inactive requests, and none; what the program says to a generalized
    /// one.
    pub fn cancel(&self, key: RequestKey) -> Result<()> {
        let mut state = self.enter();
        let kind = state.requests.all.get(key).map(|request| &request.kind);
        let op = match kind.ok_or_else(no_request)? {
            Kind::Flush(_) => return Err(misuse("the flush of a buffer is cancelled")),
            Kind::Generalized(generalized) => {
                let (callbacks, complete) = generalized.cancellation();
                drop(state);
                return callbacks.cancel(complete);
            }
            Kind::Message(op) => Some(*op),
            Kind::SendReceive(messages) => messages.under_way()[1],
            Kind::PersistentMessage { active: Some(Activity::UnderWay(op)), .. } => Some(*op),
            Kind::PersistentMessage { active: None, .. } => {
                return Err(misuse("an inactive request is cancelled"));
            }
            Kind::Collective(_) | Kind::Duplication(_) | Kind::PersistentCollective { .. } => {
                return Err(misuse("a collective operation is cancelled"));
            }
            Kind::Partitioned { .. } => return Err(misuse("a partitioned operation is cancelled")),
            Kind::Complete(_) | Kind::Failed(_) | Kind::PersistentMessage { .. } => None,
        };
        if let Some(op) = op {
            state.engine.p2p.cancel(op);
        }
        Ok(())
    }

    /// Frees a request. A message that is under way goes on; so does the operation of a generalized request, which
    /// ends when it is complete. If it is already, what the program's function said to the end is returned.
    ///
    /// # Errors
    /// `Request` for an active collective or partitioned operation, and none.
    pub fn request_free(&self, key: RequestKey) -> Result<Option<Error>> {
        let to_free = self.enter().free(key)?;
        Ok(to_free.and_then(|callbacks| self.end_generalized(key, &*callbacks).err()))
    }

    /// The communicator of a request, whose error handler is called.
    pub fn request_comm(&self, key: RequestKey) -> Option<Arc<Communicator>> {
        self.enter().requests.all.get(key).map(|request| Arc::clone(&request.comm))
    }

    /// Whether a request is active.
    ///
    /// # Errors
    /// `Request` if there is no such request.
    pub fn is_active(&self, key: RequestKey) -> Result<bool> {
        self.enter().requests.all.get(key).map(Request::is_active).ok_or_else(no_request)
    }

    #[inline]
    fn conclude_at(&self, keys: &[Option<RequestKey>], index: usize, completion: &mut Completion) {
        if let Some(key) = keys[index] {
            self.conclude_generalized(key, completion);
        }
    }

    #[inline]
    fn check(&self, key: RequestKey) -> Result<()> {
        if self.enter().requests.all.get(key).is_none() {
            return Err(no_request());
        }
        Ok(())
    }
}
