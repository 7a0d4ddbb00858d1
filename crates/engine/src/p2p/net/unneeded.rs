//! Rings to and from peers on other nodes that nobody needs any more.
//!
//! When no channel has a peer as a member any more its rings end, as those between jobs on one node do: as soon as all
//! is through them. Both ends of each lie in this process, so nobody is told; what is told later goes by new ones. Else
//! a job that meets others, one after the other, would keep two rings for each process that it has ever met.

use oxmpi_shm::ring::{Receiver, Wish};

use super::carrier::Carrier;
use crate::p2p::P2p;
use crate::peers::{Peer, PeerId};

impl P2p {
    /// If no channel has a peer as a member, and it is on another node, its rings are to end.
    pub(crate) fn note_if_unneeded(&mut self, id: PeerId) {
        let peer = &self.peers[id];
        if let (Some(carrier), Some(net)) = (peer.carrier(), &mut self.net)
            && !peer.is_member()
            && !net.unneeded.contains(&carrier)
        {
            net.unneeded.push(carrier);
        }
    }

    /// Ends the rings that are to end, as far as nothing is in them.
    pub(crate) fn end_unneeded_rings(&mut self) {
        let unneeded = self.net.as_mut().map(|net| std::mem::take(&mut net.unneeded));
        for carrier in unneeded.into_iter().flatten() {
            self.end_rings_if_through(carrier);
        }
    }

    fn end_rings_if_through(&mut self, carrier: usize) {
        let Some(net) = &mut self.net else { return };
        let (one, peers) = (&net.carriers[carrier], &self.peers);
        let peer = &peers[one.peer];
        if peer.is_member() {
            return; // of a channel that was opened since
        }
        let is_awaited = peers.jobs.is_held(peer.seat.whereabouts().job());
        if !is_awaited && peer.has_nothing_in_rings() && one.is_through() {
            self.end_rings_over_fabric(carrier);
        } else {
            net.unneeded.push(carrier);
        }
    }

    /// Ends the rings to and from a carrier's peer, whatever is in them.
    pub(super) fn end_rings_over_fabric(&mut self, carrier: usize) {
        let Self { net: Some(net), peers, arena, .. } = self else { return };
        let Carrier { peer: id, out, into, .. } = &mut net.carriers[carrier];
        out.take().into_iter().for_each(Receiver::close); // its sender may be waiting for that
        let peer = &mut peers[*id];
        (peer.sender, peer.receiver) = (None, None);
        let blocks = peer.block.take().into_iter().chain(into.take().map(|(_, block)| block));
        blocks.for_each(|block| arena.give(block));
        peers.unlist(*id);
    }
}

impl Peer {
    /// Whether a channel has it as a member.
    fn is_member(&self) -> bool {
        self.foreign.as_ref().is_some_and(|foreign| foreign.uses != 0)
    }

    /// Whether nothing waits to go to it by a ring, or has come by one, and it may send all that it wants to.
    fn has_nothing_in_rings(&self) -> bool {
        let is_free = self.receiver.as_ref().is_none_or(|receiver| receiver.wish() == Wish::Whole);
        is_free && self.outbox.is_empty() && self.stalled.is_none() && !self.has_arrival()
    }
}
