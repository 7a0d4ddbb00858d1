//! Generalized requests: operations that the program does itself, and whose end it tells.
//!
//! The program's functions call MPI, so none is called inside the gate. A request that is to be ended is marked
//! (`Stage::Ending`), and whoever has marked it calls the functions outside, and only then removes it: its number
//! is good until the last of them has returned.
//!
//! MPI-5.0: External Interfaces, Generalized Requests.

use std::fmt::Debug;
use std::sync::Arc;

use oxmpi_base::{Result, Status};
use oxmpi_engine::Standing;

use super::completion::{Completion, misuse};

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
    /// One that is under way.
    pub(super) fn new(callbacks: Arc<dyn GeneralizedCallbacks>) -> Self {
        Self { callbacks, stage: Stage::UnderWay }
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Complete | Stage::Ending)
    }

    /// Whether the program has freed the request before the operation was over.
    pub(super) fn is_abandoned(&self) -> bool {
        self.stage == Stage::Abandoned
    }

    pub(super) fn standing(&self) -> Standing {
        match self.stage {
            Stage::Abandoned | Stage::UnderWay => Standing::UnderWay(1),
            Stage::Complete => Standing::Over,
            Stage::Ending => Standing::Inactive,
        }
    }

    /// The functions to cancel it with, and whether it is over.
    pub(super) fn cancellation(&self) -> (Arc<dyn GeneralizedCallbacks>, bool) {
        (self.callbacks(), self.is_over())
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
                Ok(Some(self.callbacks()))
            }
            Stage::UnderWay => {
                self.stage = Stage::Abandoned;
                Ok(None)
            }
        }
    }

    /// Notes that the operation is over: what to call if the request was freed before.
    pub(super) fn complete(&mut self) -> Result<Option<Arc<dyn GeneralizedCallbacks>>> {
        match self.stage {
            Stage::Abandoned => {
                self.stage = Stage::Ending;
                Ok(Some(self.callbacks()))
            }
            Stage::Complete | Stage::Ending => Err(misuse("a generalized request is completed twice")),
            Stage::UnderWay => {
                self.stage = Stage::Complete;
                Ok(None)
            }
        }
    }

    /// What the program does for it.
    pub(super) fn callbacks(&self) -> Arc<dyn GeneralizedCallbacks> {
        Arc::clone(&self.callbacks)
    }

    /// The functions to ask about the operation, if that is over and the request is not ended.
    pub(super) fn to_query(&self) -> Option<Arc<dyn GeneralizedCallbacks>> {
        (self.stage == Stage::Complete).then(|| self.callbacks())
    }
}
