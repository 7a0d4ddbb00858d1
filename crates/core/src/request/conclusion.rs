//! Generalized requests: begun, completed and ended by the program's functions, outside of the gate.
//!
//! MPI-5.0: External Interfaces, Generalized Requests.

use std::sync::Arc;

use oxmpi_base::{Error, Result};
use oxmpi_engine::Event;
use oxmpi_mem::reserve::Growth;

use super::completion::{Completion, misuse, no_request};
use super::generalized::{Generalized, GeneralizedCallbacks};
use super::{Kind, RequestKey};
use crate::process::{Process, State};

impl Process {
    /// A request of an operation that is complete when the program says so, by
    /// [`Process::complete_generalized`].
    ///
    /// # Errors
    /// `NoMem` if there is no memory for another request.
    pub fn start_generalized(&self, callbacks: Arc<dyn GeneralizedCallbacks>) -> Result<RequestKey> {
        let mut state = self.enter();
        state.check_memory(Growth::None)?;
        Ok(state.add_request(Kind::Generalized(Generalized::new(callbacks)), self.myself()))
    }

    /// Notes that the operation of a generalized request is over. If the request was freed, it ends, and what the
    /// program's function said to that is returned.
    ///
    /// # Errors
    /// `Request` if there is no such request, or it is not generalized, or was completed before.
    pub fn complete_generalized(&self, key: RequestKey) -> Result<Option<Error>> {
        let mut state = self.enter();
        state.engine.p2p.board.standing(key).ok_or_else(no_request)?;
        let kind = state.requests.all.get_mut(key).map(|request| &mut request.kind);
        let Some(Kind::Generalized(generalized)) = kind else {
            return Err(misuse("a request that is not generalized is completed by the program"));
        };
        let to_free = generalized.complete()?;
        state.show(key);
        state.engine.p2p.happened(|| [Event::struck(key)]);
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
    pub(super) fn conclude(&self, key: RequestKey) -> Completion {
        let callbacks = self.enter().callbacks(key);
        let Some(callbacks) = callbacks else { return Completion::EMPTY };
        let (status, queried) = callbacks.query();
        // Of two errors the last one counts. The standard has the code of the last function alone returned, which would
        // hide that the first one has failed; other libraries tell that, too, and programs (mpi4py) rely on it.
        let error = self.end_generalized(key, &*callbacks).err().or(queried.err());
        Completion::new(status, error, Some(self.myself()), true)
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
        match &self.requests.all.get(key)?.kind {
            Kind::Generalized(generalized) => Some(generalized.callbacks()),
            _ => None,
        }
    }

    /// The functions to ask about an operation, if that is over and generalized.
    pub(super) fn to_query(&self, key: RequestKey) -> Option<Arc<dyn GeneralizedCallbacks>> {
        match &self.requests.all.get(key)?.kind {
            Kind::Generalized(generalized) => generalized.to_query(),
            _ => None,
        }
    }
}

/// Completions found inside the gate: they are handed on, but for those of generalized requests, which can only be
/// concluded outside.
pub(super) struct Found<F> {
    each: F,
    generalized: Vec<(usize, RequestKey)>,
}

impl<F: FnMut(usize, Completion)> Found<F> {
    pub(super) fn new(each: F) -> Self {
        Self { each, generalized: Vec::new() }
    }

    /// Takes the completion of the request at `index`.
    #[inline]
    pub(super) fn take(&mut self, index: usize, key: RequestKey, completion: Completion) {
        if completion.is_generalized {
            self.generalized.push((index, key));
        } else {
            (self.each)(index, completion);
        }
    }

    /// Takes the null request at `index`.
    pub(super) fn take_null(&mut self, index: usize) {
        (self.each)(index, Completion::EMPTY);
    }

    /// Concludes what has to be concluded outside of the gate, and hands that on too.
    pub(super) fn conclude(mut self, process: &Process) {
        for (index, key) in self.generalized {
            (self.each)(index, process.conclude(key));
        }
    }
}
