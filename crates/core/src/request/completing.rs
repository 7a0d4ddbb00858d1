//! Completing one request, asking about requests, cancelling and freeing them.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Completion; Non-Destructive Test of status; Cancel.

use std::sync::Arc;

use oxmpi_base::{Error, Result, Status};
use oxmpi_engine::Standing;

use super::array::{RequestArray, Survey};
use super::completion::{Completion, misuse, no_request};
use super::generalized::GeneralizedCallbacks;
use super::progress::OneRequest;
use super::{Kind, RequestKey, What};
use crate::comm::Communicator;
use crate::process::{Process, State};

/// What is seen of a request that is not to be completed.
enum Sight {
    NotYet,
    Over(Status),
    /// The program is to be asked, outside of the gate.
    ToAsk(Arc<dyn GeneralizedCallbacks>),
}

impl Sight {
    fn status(self) -> Result<Option<Status>> {
        match self {
            Self::NotYet => Ok(None),
            Self::Over(status) => Ok(Some(status)),
            Self::ToAsk(callbacks) => {
                let (status, queried) = callbacks.query();
                queried.map(|()| Some(status))
            }
        }
    }
}

impl Process {
    /// Waits for an operation and completes it.
    ///
    /// # Errors
    /// `Request` if there is no such request. How the operation itself ended is in the [`Completion`].
    #[inline]
    pub fn wait(&self, key: RequestKey) -> Result<Completion> {
        let mut state = self.enter();
        if let Some((status, freed)) = state.complete_at_once(key) {
            self.leave_complete(state);
            return Ok(Completion::well(status, freed));
        }
        state.engine.p2p.board.standing(key).ok_or_else(no_request)?;
        let mut completion = Completion::EMPTY;
        self.wait_inside(state, OneRequest::new(key, &mut completion));
        self.conclude_generalized(key, &mut completion);
        Ok(completion)
    }

    /// Completes an operation if it is over.
    ///
    /// # Errors
    /// As [`Process::wait`].
    pub fn test(&self, key: RequestKey) -> Result<Option<Completion>> {
        let mut state = self.enter();
        let standing = state.engine.p2p.board.standing(key).ok_or_else(no_request)?;
        if matches!(standing, Standing::UnderWay(_) | Standing::Unknown) {
            state.engine.poll();
        }
        let is_over = !matches!(state.engine.p2p.board.standing(key), Some(Standing::UnderWay(_)));
        let mut completion = is_over.then(|| state.complete(key)).flatten();
        match completion {
            None => self.end_look(state, 1),
            // Says nothing: the loop may wait for others.
            Some(_) if standing == Standing::Inactive => drop(state),
            Some(_) => self.end_look(state, 0),
        }
        if let Some(completion) = &mut completion {
            self.conclude_generalized(key, completion);
        }
        Ok(completion)
    }

    /// What an operation that is over says about itself; it is not completed.
    ///
    /// # Errors
    /// As [`Process::wait`]; of a generalized request, what the program's function says.
    pub fn request_status(&self, key: RequestKey) -> Result<Option<Status>> {
        self.request_statuses(&[Some(key)]).map(|statuses| statuses[0])
    }

    /// The same of several; null requests (`None`) are over.
    ///
    /// # Errors
    /// As [`Process::request_status`].
    pub fn request_statuses(&self, keys: &(impl RequestArray + ?Sized)) -> Result<Vec<Option<Status>>> {
        let mut state = self.enter();
        if !Survey::of(&state.engine.p2p.board, keys)?.is_all_over() {
            state.engine.poll();
        }
        let look_at =
            |index| keys.at(index).map_or(Sight::Over(Status::EMPTY), |key| state.look_at_request(key));
        let seen: Vec<_> = (0..keys.len()).map(look_at).collect();
        match seen.iter().any(|sight| matches!(sight, Sight::NotYet)) {
            true => self.end_look(state, keys.len()),
            // Says nothing: the loop may wait for others.
            false => self.leave_complete(state),
        }
        seen.into_iter().map(Sight::status).collect()
    }

    /// The same of those that are active, each with its index, of `most` that are over; `None` if none is active.
    ///
    /// # Errors
    /// As [`Process::request_status`].
    pub fn active_statuses(
        &self,
        keys: &(impl RequestArray + ?Sized),
        most: usize,
    ) -> Result<Option<Vec<(usize, Status)>>> {
        let mut state = self.enter();
        let survey = Survey::of(&state.engine.p2p.board, keys)?;
        if !survey.any_active {
            return Ok(None);
        }
        if !survey.is_all_over() {
            state.engine.poll();
        }
        let mut seen = Vec::new();
        for index in 0..keys.len() {
            let Some(key) = keys.at(index) else { continue };
            let standing = state.engine.p2p.board.standing(key);
            if matches!(standing, Some(Standing::Over | Standing::Unknown)) {
                seen.push((index, state.look_at_request(key)));
            }
        }
        seen.retain(|(_, sight)| !matches!(sight, Sight::NotYet));
        match seen.is_empty() {
            true => self.end_look(state, keys.len()),
            false => self.leave_complete(state),
        }
        let statuses = seen.into_iter().map(|(index, sight)| Ok((index, sight.status()?)));
        let over = statuses.filter_map(|seen| seen.map(|(index, status)| Some((index, status?))).transpose());
        over.take(most).collect::<Result<Vec<_>>>().map(Some)
    }

    /// Marks a message for cancellation: it ends cancelled if it has not been matched yet. Of a send-receive
    /// that is what is received. A generalized request is cancelled by the program.
    ///
    /// # Errors
    /// `Request` for collectives, partitioned and inactive requests, and none; what the program says to a generalized
    /// one.
    pub fn cancel(&self, key: RequestKey) -> Result<()> {
        let mut state = self.enter();
        let standing = state.engine.p2p.board.standing(key).ok_or_else(no_request)?;
        if standing == Standing::Inactive && matches!(state.requests.what(key), What::Planned(_)) {
            return Err(inactive_and_cancelled());
        }
        if let What::Collective(_) | What::Collected | What::Prepared(_) = state.requests.what(key) {
            return Err(misuse("a collective operation is cancelled"));
        }
        let Some(request) = state.requests.all.get(key) else {
            if let Some(op) = state.message_of(key) {
                state.engine.p2p.cancel(op);
            }
            return Ok(()); // what was over at once is too far gone
        };
        let op = match &request.kind {
            Kind::Flush(_) => return Err(misuse("the flush of a buffer is cancelled")),
            Kind::Generalized(generalized) => {
                let (callbacks, complete) = generalized.cancellation();
                drop(state);
                return callbacks.cancel(complete);
            }
            Kind::SendReceive(messages) => messages.under_way()[1],
            Kind::PersistentMessage { active: false, .. } => return Err(inactive_and_cancelled()),
            Kind::Duplication(_) | Kind::PersistentCollective { .. } => {
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
        let mut state = self.enter();
        let to_free = state.free(key)?;
        self.leave_complete(state); // no other call completes it
        Ok(to_free.and_then(|callbacks| self.end_generalized(key, &*callbacks).err()))
    }

    /// The communicator of a request, whose error handler is called.
    pub fn request_comm(&self, key: RequestKey) -> Option<Arc<Communicator>> {
        let state = self.enter();
        state.engine.p2p.board.standing(key).and_then(|_| state.comm_of(key))
    }

    /// Whether a request is active.
    ///
    /// # Errors
    /// `Request` if there is no such request.
    pub fn is_active(&self, key: RequestKey) -> Result<bool> {
        let standing = self.enter().engine.p2p.board.standing(key).ok_or_else(no_request)?;
        Ok(standing != Standing::Inactive)
    }
}

impl State {
    fn look_at_request(&mut self, key: RequestKey) -> Sight {
        if let Some(callbacks) = self.to_query(key) {
            return Sight::ToAsk(callbacks);
        }
        if !self.is_over(key) {
            return Sight::NotYet;
        }
        self.end_duplication(key);
        Sight::Over(self.status(key))
    }
}

#[cold]
fn inactive_and_cancelled() -> Error {
    misuse("an inactive request is cancelled")
}
