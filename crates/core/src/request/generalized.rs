//! Generalized requests: operations that the program does itself, and whose end it tells.
//!
//! The program's functions call MPI, so none is called inside the gate. A request that is to be ended is marked
//! (`Stage::Ending`), and whoever has marked it calls the functions outside, and only then removes it: its number
//! is good until the last of them has returned.
//!
//! MPI-5.0: External Interfaces, Generalized Requests.

use std::fmt::Debug;
use std::sync::Arc;

use oxmpi_base::{Error, Result, Status};

use super::{Completion, Kind, Request, RequestKey, misuse, no_request};
use crate::process::{Process, State};

/// What the program does for a generalized request.
pub trait GeneralizedCallbacks: Debug + Send + Sync {
    /// What the operation tells about itself, now that it is complete; the status means nothing if this fails.
    fn query(&self) -> (Status, Result<()>);

    /// Frees what the program keeps for the request. Called once.
    ///
    /// # Errors
    /// What the program says.
    fn free(&self) -> Result<()>;

    /// Cancels the operation; `complete` if it is over.
    ///
    /// # Errors
    /// What the program says.
    fn cancel(&self, complete: bool) -> Result<()>;
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Generalized {
    callbacks: Arc<dyn GeneralizedCallbacks>,
    stage: Stage,
}

/// How far the operation and its request have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Under way, and the request is freed.
    Abandoned,
    /// The program has told that it is over.
    Complete,
    /// The program's functions are being called for the last time.
    Ending,
    /// The program has not told yet that it is over.
    UnderWay,
}

impl Generalized {
    pub(super) fn is_active(&self) -> bool {
        self.stage != Stage::Ending
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Complete | Stage::Ending)
    }

    /// The functions to cancel it with, and whether it is over.
    pub(super) fn cancellation(&self) -> (Arc<dyn GeneralizedCallbacks>, bool) {
        (Arc::clone(&self.callbacks), self.is_over())
    }

    /// Marks the request as one that is ended, if it is complete: the caller has to conclude it.
    pub(super) fn end(&mut self) -> Option<Completion> {
        match self.stage {
            Stage::Abandoned | Stage::UnderWay => None,
            Stage::Complete => {
                self.stage = Stage::Ending;
                Some(Completion { is_generalized: true, ..Completion::EMPTY })
            }
            Stage::Ending => Some(Completion::EMPTY),
        }
    }

    /// Frees the request: what to call if that has to happen now.
    pub(super) fn abandon(&mut self) -> Result<Option<Arc<dyn GeneralizedCallbacks>>> {
        match self.stage {
            Stage::Abandoned | Stage::Ending => Err(misuse("a generalized request is freed twice")),
            Stage::Complete => {
                self.stage = Stage::Ending;
                Ok(Some(Arc::clone(&self.callbacks)))
            }
            Stage::UnderWay => {
                self.stage = Stage::Abandoned;
                Ok(None)
            }
        }
    }

    /// Notes that the operation is over: what to call if the request was freed before.
    fn complete(&mut self) -> Result<Option<Arc<dyn GeneralizedCallbacks>>> {
        match self.stage {
            Stage::Abandoned => {
                self.stage = Stage::Ending;
                Ok(Some(Arc::clone(&self.callbacks)))
            }
            Stage::Complete | Stage::Ending => Err(misuse("a generalized request is completed twice")),
            Stage::UnderWay => {
                self.stage = Stage::Complete;
                Ok(None)
            }
        }
    }
}

impl Process {
    /// A request of an operation that is complete when the program says so, by
    /// [`Process::complete_generalized`].
    pub fn start_generalized(&self, callbacks: Arc<dyn GeneralizedCallbacks>) -> RequestKey {
        let kind = Kind::Generalized(Generalized { callbacks, stage: Stage::UnderWay });
        self.enter().requests.insert(Request::new(kind, self.myself()))
    }

    /// Notes that the operation of a generalized request is over. If the request was freed, it ends, and what the
    /// program's function said to that is returned.
    ///
    /// # Errors
    /// `Request` if there is no such request, or it is not generalized, or was completed before.
    pub fn complete_generalized(&self, key: RequestKey) -> Result<Option<Error>> {
        let mut state = self.enter();
        let request = state.requests.get_mut(key).ok_or_else(no_request)?;
        let Kind::Generalized(generalized) = &mut request.kind else {
            return Err(misuse("a request that is not generalized is completed by the program"));
        };
        let to_free = generalized.complete()?;
        drop(state);
        self.ring_own_bell();
        Ok(to_free.and_then(|callbacks| self.end_generalized(key, &*callbacks).err()))
    }

    /// Replaces the completion of a generalized request by what becomes of it once the program's functions are
    /// called. Not to be called inside the gate.
    #[inline]
    pub(super) fn conclude_generalized(&self, key: RequestKey, completion: &mut Completion) {
        if completion.is_generalized {
            *completion = self.conclude(key);
        }
    }

    #[cold]
    fn conclude(&self, key: RequestKey) -> Completion {
        let callbacks = self.enter().callbacks(key);
        let Some(callbacks) = callbacks else { return Completion::EMPTY };
        let (status, queried) = callbacks.query();
        // Of two errors the last one counts.
        let error = self.end_generalized(key, &*callbacks).err().or(queried.err());
        Completion::new(status, error, self.myself(), true)
    }

    /// Frees what the program keeps for a request, and the request.
    pub(super) fn end_generalized(
        &self,
        key: RequestKey,
        callbacks: &dyn GeneralizedCallbacks,
    ) -> Result<()> {
        let freed = callbacks.free();
        self.enter().remove(key);
        freed
    }
}

impl State {
    fn callbacks(&self, key: RequestKey) -> Option<Arc<dyn GeneralizedCallbacks>> {
        match &self.requests.get(key)?.kind {
            Kind::Generalized(generalized) => Some(Arc::clone(&generalized.callbacks)),
            _ => None,
        }
    }

    /// The functions to ask about an operation, if that is over and generalized.
    pub(super) fn to_query(&self, key: RequestKey) -> Option<Arc<dyn GeneralizedCallbacks>> {
        match &self.requests.get(key)?.kind {
            Kind::Generalized(generalized) if generalized.stage == Stage::Complete => {
                Some(Arc::clone(&generalized.callbacks))
            }
            _ => None,
        }
    }
}

/// Completions found inside the gate: they are handed on, but for those of generalized requests, which can only be
/// concluded outside.
pub(super) struct Found<F> {
    each: F,
    generalized: Vec<usize>,
}

impl<F: FnMut(usize, Completion)> Found<F> {
    pub(super) fn new(each: F) -> Self {
        Self { each, generalized: Vec::new() }
    }

    /// Takes the completion of the request at `index`.
    #[inline]
    pub(super) fn take(&mut self, index: usize, completion: Completion) {
        if completion.is_generalized {
            self.generalized.push(index);
        } else {
            (self.each)(index, completion);
        }
    }

    /// Concludes what has to be concluded outside of the gate, and hands that on too.
    pub(super) fn conclude(mut self, process: &Process, keys: &[Option<RequestKey>]) {
        for index in self.generalized {
            let key = keys[index].expect("a null request is not generalized");
            (self.each)(index, process.conclude(key));
        }
    }
}
