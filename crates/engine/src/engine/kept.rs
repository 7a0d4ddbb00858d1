//! A run that the engine keeps.

use std::sync::Arc;

use oxmpi_base::{Error, Result};

use crate::binding::Binding;
use crate::board::Entry;
use crate::channel::Channel;
use crate::engine::ChannelKey;
use crate::p2p::P2p;
use crate::program::Program;
use crate::run::{Bound, Means, Run};
use crate::signature::Signature;

/// A run that the engine moves on whenever it is polled.
#[derive(Debug)]
pub struct KeptRun {
    pub(super) run: Run,
    pub(super) plan: Arc<Program>,
    pub(super) binding: Binding,
    /// The same in its places, where it is begun again and again, and can be bound to them.
    bound: Option<Box<Bound>>,
    pub(super) channel: ChannelKey,
    pub(super) place: Place,
    pub(super) failure: Option<Error>,
    /// What the caller wants to see struck out when a run is complete.
    pub(super) entry: Entry,
}

/// Where a kept run is to be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In `Engine::active`.
    Active(usize),
    /// In `Engine::held`.
    Held,
    /// Nowhere: it has not begun, or is complete.
    Idle,
}

impl KeptRun {
    #[inline]
    pub(super) fn new(channel: ChannelKey, run: Run, plan: Arc<Program>, binding: Binding) -> Self {
        let (place, failure, entry) = (Place::Idle, None, Entry::NONE);
        Self { run, plan, binding, bound: None, channel, place, failure, entry }
    }

    /// The same, bound to its places if it can be: all runs of the channel are of this operation.
    pub(super) fn bound(self, channel: &Channel) -> Self {
        Self { bound: Bound::of(&self.plan, &self.binding, channel), ..self }
    }

    /// Lets the types of the data be compared: who is bound to places looks at lines alone.
    pub(super) fn sign(&mut self, signature: Box<Signature>) {
        self.run.sign(signature);
        self.bound = None;
    }

    pub(super) fn calls_back(&self) -> bool {
        self.binding.calls_back()
    }

    #[inline]
    pub(super) fn begin(&mut self, channel: &mut Channel, p2p: &mut P2p) {
        self.failure = None;
        if self.bound.is_some() && self.run.has_begun() {
            self.run.begin_bound(channel);
        } else {
            self.run.begin(channel, &self.plan, &self.binding, p2p);
        }
    }

    #[inline]
    pub(super) fn advance(&mut self, p2p: &mut P2p, channel: &mut Channel) -> Result<bool> {
        if let Some(bound) = &self.bound
            && let Some(is_complete) = self.run.make_bound_moves(bound, &self.binding, channel, p2p)
        {
            return Ok(is_complete);
        }
        let result = self.run.advance(&mut Means { plan: &self.plan, binding: &self.binding, p2p, channel });
        p2p.write_together();
        result
    }
}
