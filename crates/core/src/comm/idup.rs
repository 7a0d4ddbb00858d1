//! Duplicating a communicator without waiting for the others.
//!
//! MPI-5.0: Communicator Constructors, MPI_COMM_IDUP.

use std::sync::Arc;

use oxmpi_base::Result;

use super::Communicator;
use super::duplication::{Duplication, Receiver};
use super::offer::{Form, Offer};
use crate::coll::exchange::describe_exchange;
use crate::process::{Process, State};
use crate::request::{Kind, RequestKey};

impl Process {
    /// Begins to make a communicator with the same groups and new contexts; `receiver` takes it when the request
    /// is completed. Collective.
    ///
    /// # Errors
    /// `NoMem` if there is no memory for another request; what goes wrong later is in the completion.
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
    /// As [`Process::comm_idup`].
    pub fn comm_idup_for_others(&self, comm: &Arc<Communicator>) -> Result<()> {
        let key = self.begin_duplication(comm, None)?;
        self.enter().requests.note_unwanted(key);
        Ok(())
    }

    fn begin_duplication(&self, comm: &Arc<Communicator>, receiver: Option<Receiver>) -> Result<RequestKey> {
        let state = self.enter();
        state.check_memory(state.engine.growth_of_runs())?;
        drop(state);
        let offer = self.propose(comm.form(), 0, 0);
        let (exchange, operation) = describe_exchange(self, comm, &offer.proposal)?;
        let mut state = self.enter();
        let run = state.begin(comm, operation);
        let duplication = Duplication::new(run, exchange, offer, receiver, comm);
        Ok(state.add_request(Kind::Duplication(Box::new(duplication)), comm))
    }

    /// What this process offers to a communicator that is to be made.
    pub(super) fn propose(&self, form: Form, color: i64, key: i32) -> Offer {
        let offer = || {
            let mut state = self.enter();
            state.end_unwanted();
            Offer::new(&mut state.engine, form, color, key)
        };
        let offered = offer();
        if !offered.is_short() || !self.let_others_leave() {
            return offered;
        }
        offered.decline(&mut self.enter().engine);
        offer()
    }
}

impl State {
    /// Frees the duplicates that nobody wants, if they are made by now.
    fn end_unwanted(&mut self) {
        for key in self.requests.take_unwanted() {
            if self.complete(key).is_none() {
                self.requests.note_unwanted(key);
            }
        }
    }
}
