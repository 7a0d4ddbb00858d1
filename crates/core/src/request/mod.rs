//! Requests: operations that are under way, and persistent ones.
//!
//! A persistent request is *inactive* until it is started and after it has been completed; any other is active
//! until it is completed, which ends it.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Completion; Persistent Communication Requests.

mod generalized;
mod persistent;
mod progress;
mod sendrecv;

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_engine::{Absent, ChannelKey, Engine, Key, OpKey, Outcome, Received, RunKey};

use crate::comm::{Communicator, Duplication};
use crate::process::{Process, State};
use crate::wait::Needing;

pub use self::generalized::GeneralizedCallbacks;
use self::generalized::{Found, Generalized};
pub(crate) use self::persistent::PersistentMessage;
use self::progress::OneRequest;
use self::sendrecv::SendReceive;

/// The number of a request.
pub type RequestKey = Key<Request>;

/// See the module.
#[derive(Debug)]
pub struct Request {
    kind: Kind,
    comm: Arc<Communicator>,
}

/// What a request stands for, and how far it has come.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Something that was over at once.
    Complete(Status),
    /// As `Complete`, and it went wrong.
    Failed(Box<Outcome>),
    /// A message under way.
    Message(OpKey),
    /// A nonblocking collective.
    Collective(RunKey),
    /// A communicator that is duplicated.
    Duplication(Box<Duplication>),
    /// Until these buffered messages have been sent.
    Flush(Vec<OpKey>),
    /// Something that the program does.
    Generalized(Generalized),
    /// A persistent collective: whether it is active, its run, and the channel of its own.
    PersistentCollective { active: bool, run: RunKey, channel: ChannelKey },
    /// A persistent send or receive, and its message while it is active.
    PersistentMessage { message: Box<PersistentMessage>, active: Option<Activity> },
    /// A message to somebody, and one from somebody.
    SendReceive(Box<SendReceive>),
}

/// A message that a request stands for.
#[derive(Debug)]
pub(crate) enum Activity {
    Over(Outcome),
    UnderWay(OpKey),
}

/// How an operation ended.
#[derive(Debug)]
pub struct Completion {
    /// What to tell about it.
    pub status: Status,
    /// What went wrong.
    pub error: Option<Error>,
    /// The communicator, if something went wrong: its error handler hears of it.
    pub comm: Option<Arc<Communicator>>,
    /// Whether the request is no more: it was not persistent.
    pub freed: bool,
    /// Whether the request is generalized and still to be concluded; the rest means nothing then.
    pub(crate) is_generalized: bool,
}

/// What [`Process::test_any`] found.
#[derive(Debug)]
pub enum AnyTest {
    /// This request was completed.
    Done(usize, Completion),
    /// None of the active ones is complete.
    NotYet,
    /// None is active.
    Undefined,
}

impl Request {
    pub(crate) fn new(kind: Kind, comm: &Arc<Communicator>) -> Self {
        Self { kind, comm: Arc::clone(comm) }
    }

    fn is_active(&self) -> bool {
        match &self.kind {
            Kind::PersistentCollective { active, .. } => *active,
            Kind::PersistentMessage { active, .. } => active.is_some(),
            Kind::Generalized(generalized) => generalized.is_active(),
            _ => true,
        }
    }

    /// The channel of a persistent collective, and the communicator.
    pub(crate) fn channel(&self) -> Option<(ChannelKey, Arc<Communicator>)> {
        match self.kind {
            Kind::PersistentCollective { channel, .. } => Some((channel, Arc::clone(&self.comm))),
            _ => None,
        }
    }

    /// Whether this is a persistent collective of a communicator, and under way.
    pub(crate) fn is_collective_on(&self, comm: &Arc<Communicator>, engine: &Engine) -> bool {
        match self.kind {
            Kind::PersistentCollective { run, .. } => Arc::ptr_eq(&self.comm, comm) && !engine.is_idle(run),
            _ => false,
        }
    }
}

impl Kind {
    pub(crate) fn message(activity: Activity) -> Self {
        match activity {
            Activity::Over(outcome) if outcome.error.is_none() => Self::Complete(outcome.status),
            Activity::Over(outcome) => Self::Failed(Box::new(outcome)),
            Activity::UnderWay(op) => Self::Message(op),
        }
    }
}

impl From<Received> for Activity {
    #[inline]
    fn from(received: Received) -> Self {
        match received {
            Received::Done(outcome) => Self::Over(outcome),
            Received::Pending(op) => Self::UnderWay(op),
        }
    }
}

impl Completion {
    /// Of a null or inactive request.
    pub const EMPTY: Self =
        Self { status: Status::EMPTY, error: None, comm: None, freed: false, is_generalized: false };

    fn of(outcome: Outcome, comm: &Arc<Communicator>, freed: bool) -> Self {
        Self::new(outcome.status, outcome.error, comm, freed)
    }

    fn new(status: Status, error: Option<Error>, comm: &Arc<Communicator>, freed: bool) -> Self {
        let comm = error.is_some().then(|| Arc::clone(comm));
        Self { status, error, comm, freed, is_generalized: false }
    }
}

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
        let is_active = state.requests.get(key).ok_or_else(no_request)?.is_active();
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
        let is_active = |&key: &RequestKey| state.requests.get(key).is_some_and(Request::is_active);
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
    /// `Request` for collectives, inactive requests, and none; what the program says to a generalized one.
    pub fn cancel(&self, key: RequestKey) -> Result<()> {
        let mut state = self.enter();
        let kind = state.requests.get(key).map(|request| &request.kind);
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
    /// `Request` for an active collective, and none.
    pub fn request_free(&self, key: RequestKey) -> Result<Option<Error>> {
        let to_free = self.enter().free(key)?;
        Ok(to_free.and_then(|callbacks| self.end_generalized(key, &*callbacks).err()))
    }

    /// The communicator of a request, whose error handler is called.
    pub fn request_comm(&self, key: RequestKey) -> Option<Arc<Communicator>> {
        self.enter().requests.get(key).map(|request| Arc::clone(&request.comm))
    }

    /// Whether a request is active.
    ///
    /// # Errors
    /// `Request` if there is no such request.
    pub fn is_active(&self, key: RequestKey) -> Result<bool> {
        self.enter().requests.get(key).map(Request::is_active).ok_or_else(no_request)
    }

    #[inline]
    fn conclude_at(&self, keys: &[Option<RequestKey>], index: usize, completion: &mut Completion) {
        if let Some(key) = keys[index] {
            self.conclude_generalized(key, completion);
        }
    }

    #[inline]
    fn check(&self, key: RequestKey) -> Result<()> {
        if self.enter().requests.get(key).is_none() {
            return Err(no_request());
        }
        Ok(())
    }
}

#[cold]
fn no_request() -> Error {
    Error::new(ErrorClass::Request, "the request handle names no request: it was completed or freed before")
}

#[cold]
fn misuse(what: &str) -> Error {
    Error::new(ErrorClass::Request, what)
}
