//! What there is of one endpoint.

use std::collections::{BTreeMap, VecDeque};
use std::mem;

use oxmpi_mem::Region;

use super::Taking;
use super::random::Random;
use crate::{Access, Completion, Failure, Of, Place};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Endpoint {
    pub is_dead: bool,
    /// It has no memory for what it posts.
    pub is_starved: bool,
    pub taking: Taking,
    /// What it has posted and not read the completion of, but for receives.
    pub under_way: usize,
    /// Receives that wait for messages.
    pub receives: VecDeque<(Region, u64)>,
    /// Messages that have arrived and wait for receives.
    pub arrived: VecDeque<Arrived>,
    /// What is over, and not read yet.
    completions: VecDeque<Completion>,
    memory: BTreeMap<u64, (Region, Access)>,
    /// By peer.
    pub pairs: BTreeMap<usize, Pair>,
}

/// What an endpoint has posted to a peer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    /// Nothing arrives before this that is posted from now on: so it was asked for.
    pub floor: u64,
    /// When the last of all arrives.
    pub last: u64,
}

/// A message.
#[derive(Debug)]
pub(super) struct Arrived {
    pub from: usize,
    pub bytes: Vec<u8>,
    /// Of the send, if its completion was not told when it departed.
    pub context: Option<u64>,
}

impl Endpoint {
    pub(super) fn register(&mut self, key: u64, memory: Region, access: Access) {
        self.memory.insert(key, (memory, access));
    }

    /// Pieces of its memory that others may use.
    pub(super) fn registered(&self) -> usize {
        self.memory.len()
    }

    pub(super) fn unregister(&mut self, key: u64) {
        self.memory.remove(&key);
    }

    /// So many bytes of its memory, if they may be used so.
    pub(super) fn memory(&self, place: Place, bytes: usize, access: Access) -> Option<Region> {
        let &(memory, granted) = self.memory.get(&place.key).filter(|_| !self.is_dead)?;
        let offset = usize::try_from(place.address).ok()?;
        let is_inside = offset.checked_add(bytes).is_some_and(|end| end <= memory.len());
        (granted == access && is_inside).then(|| memory.part(offset, bytes))
    }

    /// Something is over.
    pub(super) fn complete(&mut self, of: Of, failure: Option<Failure>) {
        if !self.is_dead {
            self.completions.push_back(Completion { of, failure });
        }
    }

    /// The next completion, or any if there is no order.
    pub(super) fn next_completion(&mut self, random: Option<&mut Random>) -> Option<Completion> {
        let place = random.map_or(0, |random| random.below(self.completions.len()));
        let next = self.completions.remove(place)?;
        if matches!(next.of, Of::Read(_) | Of::Sent(_) | Of::Written(_)) {
            self.under_way -= 1;
        }
        Some(next)
    }

    /// Nothing is to be done for it any more; what waited here for receives.
    pub(super) fn die(&mut self) -> VecDeque<Arrived> {
        mem::replace(self, Self { is_dead: true, ..Self::default() }).arrived
    }
}
