//! Duplicating a communicator without waiting for the others.
//!
//! The exchange of proposals is a nonblocking collective; whoever completes the request makes the communicator
//! of what has arrived, and hands it over.
//!
//! MPI-5.0: Communicator Constructors, MPI_COMM_IDUP.

use std::fmt;
use std::mem;
use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_engine::RunKey;

use super::Communicator;
use super::offer::{Offer, Proposal};
use crate::coll::Exchange;
use crate::process::{Process, State};
use crate::request::{Kind, Request, RequestKey};

/// Takes the new communicator.
type Receiver = Box<dyn FnOnce(Arc<Communicator>) + Send>;

/// A duplicate that is being made.
pub(crate) struct Duplication {
    run: RunKey,
    exchange: Exchange<Proposal>,
    offer: Offer,
    /// None of a duplicate that nobody wants.
    receiver: Option<Receiver>,
}

impl Process {
    /// Begins to make a communicator with the same groups and new contexts; `receiver` takes it when the request
    /// is completed. Collective.
    ///
    /// # Errors
    /// None yet; what goes wrong is in the completion.
    pub fn comm_idup(
        &self,
        comm: &Arc<Communicator>,
        receiver: impl FnOnce(Arc<Communicator>) + Send + 'static,
    ) -> Result<RequestKey> {
        self.begin_duplication(comm, Some(Box::new(receiver)))
    }

    /// As [`Process::comm_idup`], of a process that does not want the duplicate, but that others wait for.
    ///
    /// # Errors
    /// None.
    pub fn comm_idup_for_others(&self, comm: &Arc<Communicator>) -> Result<()> {
        let key = self.begin_duplication(comm, None)?;
        self.enter().unwanted.push(key);
        Ok(())
    }

    fn begin_duplication(&self, comm: &Arc<Communicator>, receiver: Option<Receiver>) -> Result<RequestKey> {
        let offer = self.enter().offer(comm.form(), 0, 0);
        let (exchange, operation) = Exchange::new(self, comm, &offer.proposal)?;
        let mut state = self.enter();
        let run = state.begin(comm, operation);
        let duplication = Duplication { run, exchange, offer, receiver };
        Ok(state.requests.insert(Request::new(Kind::Duplication(Box::new(duplication)), comm)))
    }
}

impl Duplication {
    /// The exchange.
    pub(crate) fn run(&self) -> RunKey {
        self.run
    }

    /// Makes the duplicate of `comm` and hands it over; the exchange is complete, with this result.
    ///
    /// # Errors
    /// Those of the exchange; `NoMem` if shared memory is used up.
    pub(crate) fn finish(self, state: &mut State, comm: &Communicator, result: Result<()>) -> Result<()> {
        let proposals = self.exchange.finish(state);
        if let Err(error) = result {
            state.decline(self.offer);
            return Err(error);
        }
        let remote = comm.is_inter().then_some(proposals.remote.as_slice());
        let made = state.settle(self.offer, &proposals.local, remote)?;
        made.inherit_topology(comm);
        match self.receiver {
            Some(receiver) => receiver(made),
            None => state.leaving.push(made),
        }
        Ok(())
    }
}

impl State {
    /// Frees the duplicates that nobody wants, if they are made by now.
    pub(super) fn end_unwanted(&mut self) {
        let mut unwanted = mem::take(&mut self.unwanted);
        unwanted.retain(|&key| self.complete(key).is_none());
        self.unwanted.append(&mut unwanted);
    }
}

impl fmt::Debug for Duplication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Duplication").field("run", &self.run).finish_non_exhaustive()
    }
}
