//! Receives of a [bond](super::bound) that are taken back while their memory may be written.
//!
//! To unregister memory does not end a write that has begun: over tcp the key is looked at when a piece begins, and
//! what is left of that goes where it was to go; caches of registrations keep what they have. And what is refused
//! costs some providers the connection. So who takes back a receive that is [open](super::direct) asks its sender to
//! write no more ([`kind::CLOSE`]). The receive is over when the answer comes ([`kind::CLOSED`]), behind all that was
//! written, or the word that the sender leaves; or when it is lost. As long nothing is unregistered. It costs two
//! messages of a run that has failed, and waits for a sender that computes.

use std::mem;

use oxmpi_shm::ring::Header;

use super::bound::BondKey;
use super::slots::Way;
use crate::p2p::op::State;
use crate::p2p::{OpKey, P2p, kind};
use crate::peers::PeerId;

impl P2p {
    /// Keeps a receive that was taken out of its bond until nothing is written into it any more; false if nothing is.
    pub(super) fn close_first(&mut self, key: BondKey, receive: OpKey) -> bool {
        let Self { net: Some(net), ops, peers, .. } = self else { return false };
        let (Some(bond), Some(op)) = (net.bond(key), ops.get_mut(receive)) else { return false };
        if peers.is_leaving(bond.peer) {
            let context = bond.context;
            bond.into.opened = bond.into.taken;
            self.close_unless_open(context);
            return false;
        }
        (op.state, op.peer) = (State::Filling { arrived: 0 }, bond.peer);
        bond.into.closing.push(receive);
        if bond.into.closing.len() == 1 {
            let (peer, context, token) = (bond.peer, bond.context_there, bond.context.into());
            self.tell_bound(peer, Header { kind: kind::CLOSE, context, token, ..Header::default() }, 0);
        }
        true
    }

    /// A member takes back what it has opened.
    pub(super) fn close_told(&mut self, from: PeerId, header: &Header) {
        let Some(net) = &mut self.net else { return };
        match net.bond_with(header.context, from) {
            Some((key, bond)) if bond.out.openings.is_some() => {
                (bond.out.way, bond.out.is_to_close) = (Way::Nowhere, true);
                net.bonds.list(key);
            }
            // All of it was over before the bond was.
            _ => self.tell_closed(from, header.token as u32),
        }
    }

    /// Tells the other end of a bond that nothing more is written, if it has asked and that is so; whether it was told.
    pub(super) fn answer_close(&mut self, key: BondKey) -> bool {
        let Some(net) = &mut self.net else { return false };
        let is_written = !net.bonds.is_writing(key);
        let Some(bond) = net.bond(key).filter(|bond| bond.out.is_to_close) else { return false };
        if is_written {
            bond.out.is_to_close = false;
            let (peer, context) = (bond.peer, bond.context_there);
            self.tell_closed(peer, context);
        } else {
            net.bonds.list(key);
        }
        is_written
    }

    pub(super) fn tell_closed(&mut self, peer: PeerId, context: u32) {
        self.tell_bound(peer, Header { kind: kind::CLOSED, context, ..Header::default() }, 0);
    }

    /// A member writes no more into what was opened for it.
    pub(super) fn closed_told(&mut self, from: PeerId, context: u32) {
        let found = self.net.as_mut().and_then(|net| net.bond_with(context, from));
        let Some((_, bond)) = found.filter(|(_, bond)| !bond.into.closing.is_empty()) else { return };
        bond.into.opened = bond.into.taken;
        let closing = mem::take(&mut bond.into.closing);
        self.close_unless_open(context);
        closing.into_iter().for_each(|receive| self.finish_cancelled(receive));
    }

    /// A member has told that it leaves, behind all that it has written: it may never answer.
    pub(super) fn closed_by_leaving(&mut self, from: PeerId) {
        let closing = self.net.as_ref().map(|net| net.bonds.closing_with(from));
        closing.into_iter().flatten().for_each(|context| self.closed_told(from, context));
    }

    /// Lets nobody write into the buffer of an operation any more, of which a member is lost, or receives were taken
    /// back; later, if others may be writing.
    pub(super) fn close_unless_open(&mut self, context: u32) {
        match &mut self.net {
            Some(net) if net.bonds.is_open(context) => net.bonds.direct.close_later(context),
            _ => self.close_landing(context),
        }
    }

    /// The same of what was to be closed and is not yet, when a message has come.
    pub(super) fn close_late(&mut self, key: BondKey) {
        let Some(net) = &self.net else { return };
        let context = net.bonds.get(key).map(|bond| bond.context);
        if let Some(context) = context.filter(|&context| net.bonds.direct.is_closing(context)) {
            self.close_unless_open(context);
        }
    }
}
