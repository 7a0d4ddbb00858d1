//! Who is missed: the peer that has left and without which something will never come.

use oxmpi_base::Result;
use oxmpi_engine::machine::now_ns;
use oxmpi_engine::{Absent, Address, Needs, OpKey, PeerId};
use oxmpi_system::thread;

use crate::aside::PROGRESS_THREAD;
use crate::comm::Communicator;
use crate::process::State;

impl State {
    /// The peer without which an operation on `comm` will never be over.
    pub(crate) fn misses(&self, comm: &Communicator, op: OpKey, absent: &mut Absent) -> Option<PeerId> {
        match self.engine.p2p.needs(op) {
            Needs::Answer(peer) => absent.is_gone(peer).then_some(peer),
            Needs::Message(source) => self.misses_source(comm, source, absent),
            Needs::Nothing => None,
            Needs::Receive(peer) => Some(peer),
        }
    }

    /// The same of an operation that another thread of the program may end without that peer, by MPI_Cancel. One of
    /// another job fails what needs it, whoever cancels that.
    pub(crate) fn misses_cancellable(
        &self,
        comm: &Communicator,
        op: OpKey,
        absent: &mut Absent,
    ) -> Option<PeerId> {
        let missed = self.misses(comm, op, absent)?;
        let may_be_cancelled = matches!(self.engine.p2p.needs(op), Needs::Message(_) | Needs::Receive(_))
            && self.engine.p2p.has_threads()
            && self.is_of_world(missed)
            && thread::has_others_than(PROGRESS_THREAD);
        (!may_be_cancelled || self.patience.is_over(self.waits, now_ns())).then_some(missed)
    }

    /// Whether a process is one of the world that this one is of, wherever it is.
    pub(crate) fn is_of_world(&self, peer: PeerId) -> bool {
        self.engine.is_of_job(peer) || self.engine.is_of_part_elsewhere(peer)
    }

    /// The peer without which no message will come from `source`, or from anybody: one that is not lost, while there is
    /// one, so that who gives up one after the other gives up all.
    pub(crate) fn misses_source(
        &self,
        comm: &Communicator,
        source: Option<i32>,
        absent: &mut Absent,
    ) -> Option<PeerId> {
        let peer_of = |address: Address| address.peer;
        if let Some(source) = source {
            let peer = comm.addresses.get(usize::try_from(source).ok()?).map(peer_of)?;
            return absent.is_leaving(peer).then_some(peer);
        }
        let me = self.engine.me();
        let others: Vec<PeerId> = comm.addresses.iter().map(peer_of).filter(|&peer| peer != me).collect();
        // Another thread may still send to this process.
        let is_alone = !self.engine.p2p.has_threads() || others.len() == comm.addresses.len();
        let first = others.first().copied().filter(|_| is_alone)?;
        let missed = others.iter().copied().find(|&peer| !self.engine.is_lost(peer)).unwrap_or(first);
        others.into_iter().all(|peer| absent.is_leaving(peer)).then_some(missed)
    }

    /// Fails if no message can come from `source` any more because it is a process of another job that has left; or,
    /// from anybody, if one is gone from which it might have come, or all have left. What they told before may be under
    /// way still.
    ///
    /// # Errors
    /// `ProcAborted`.
    pub(crate) fn check_source(&self, comm: &Communicator, source: Option<i32>) -> Result<()> {
        if !self.engine.knows_other_jobs() {
            return Ok(());
        }
        let lost = |address: Address| self.engine.lost(address.peer);
        let error = match source {
            Some(source) => u32::try_from(source).ok().and_then(|rank| lost(comm.addresses.at(rank))),
            None => self.engine.lost_source(comm.channel),
        };
        error.map_or(Ok(()), Err)
    }
}
