//! A communicator that is being duplicated.
//!
//! The exchange of proposals is a nonblocking collective; whoever completes the request makes the communicator
//! of what has arrived, and hands it over.

use std::fmt;
use std::sync::Arc;

use oxmpi_base::Result;
use oxmpi_engine::{Engine, RunKey};

use super::Communicator;
use super::attachments::Values;
use super::known::Communicators;
use super::offer::{Offer, Proposal};
use crate::record::Exchange;

/// Takes the new communicator.
pub(super) type Receiver = Box<dyn FnOnce(Arc<Communicator>) + Send>;

/// See the module.
pub(crate) struct Duplication {
    run: RunKey,
    exchange: Exchange<Proposal>,
    offer: Offer,
    /// None of a duplicate that nobody wants.
    receiver: Option<Receiver>,
    /// As it was when this began: the communicator may be freed before this ends.
    inheritance: Values,
}

impl Duplication {
    /// One of `comm` whose exchange is this run; `receiver` takes the duplicate.
    pub(super) fn new(
        run: RunKey,
        exchange: Exchange<Proposal>,
        offer: Offer,
        receiver: Option<Receiver>,
        comm: &Communicator,
    ) -> Self {
        let inheritance = if receiver.is_some() { comm.inheritance() } else { Values::new() };
        Self { run, exchange, offer, receiver, inheritance }
    }

    /// The exchange.
    pub(crate) fn run(&self) -> RunKey {
        self.run
    }

    /// Makes the duplicate of `comm` and hands it over; the exchange is complete, with this result.
    ///
    /// # Errors
    /// Those of the exchange; `NoMem` if shared memory is used up.
    pub(crate) fn finish(
        self,
        engine: &mut Engine,
        comms: &mut Communicators,
        comm: &Communicator,
        result: Result<()>,
    ) -> Result<()> {
        let proposals = match self.exchange.finish(&mut engine.p2p.pool, result) {
            Ok(proposals) => proposals,
            Err(error) => {
                self.offer.abandon(engine);
                return Err(error);
            }
        };
        let remote = comm.is_inter().then_some(proposals.remote.as_slice());
        let made = self.offer.settle(engine, comms, &proposals.local, remote)?;
        made.inherit_topology(comm);
        made.inherit_attachments(self.inheritance);
        match self.receiver {
            Some(receiver) => receiver(made),
            None => comms.free(made),
        }
        Ok(())
    }
}

impl fmt::Debug for Duplication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Duplication").field("run", &self.run).finish_non_exhaustive()
    }
}
