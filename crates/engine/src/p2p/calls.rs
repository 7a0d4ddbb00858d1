//! What ranks on other nodes say that they call, so that ranks that do different things notice.
//!
//! Who shares memory looks that up ([`Calls`](oxmpi_shm::Calls)). Of those elsewhere a rank knows what comes with their
//! messages, and these need not come: who calls something else may send it nothing. So a run that has waited for long
//! tells each of those elsewhere that it waits for what it is, once (`CALLED`), and asks what they call in the run of
//! this number. Who has called something else answers, which may be when it calls it; who calls the same says nothing.
//! And who finds by a message that ranks differ tells the sender unasked; if the message says only that they differed
//! before, it asks for that, and both know when they read from each other again.
//!
//! It costs nothing as long as nobody waits for long.
//!
//! Where types are compared, each run tells those elsewhere with whom it exchanges anything what it calls, and with
//! what types (`SIGNED`), as it begins, before it sends them anything.

use oxmpi_base::Ordered;
use oxmpi_shm::CALLS;
use oxmpi_shm::ring::Header;

use super::outbox::Outgoing;
use super::{Address, P2p, kind};
use crate::call::Called;
use crate::peers::PeerId;
use crate::signature::{Signature, Signed};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct TheirCalls {
    /// What was told of the last runs, by the context of a channel and who has told: notes, as others show them.
    told: Ordered<(u32, PeerId), [u64; CALLS]>,
    /// With what types, where somebody has told that, too.
    signed: Ordered<(u32, PeerId), Signed>,
    /// Those who have asked, and have not been answered.
    asking: Vec<Asking>,
    /// Whether runs that wait are to ask.
    are_asked: bool,
}

/// Somebody has asked what this rank calls in a run, and calls this itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asking {
    pub context: u32,
    pub from: PeerId,
    pub run: u64,
    pub called: Called,
}

impl P2p {
    /// Lets runs that wait for members elsewhere ask what these call, or no more.
    pub(crate) fn ask_for_calls(&mut self, asks: bool) {
        self.calls.are_asked = asks;
    }

    /// Whether they are to.
    pub(crate) fn asks_for_calls(&self) -> bool {
        self.calls.are_asked
    }

    /// Tells a member of a channel on another node what this rank calls in a run; `asks` for the same.
    pub(crate) fn tell_call(&mut self, to: Address, run: u64, called: Called, asks: bool) {
        if self.peers.is_elsewhere(to.peer) && !self.peers.is_lost(to.peer) {
            let header = Header {
                kind: kind::CALLED,
                context: to.context,
                tag: i32::from(asks),
                token: called.to_word(),
                ..Header::default()
            };
            self.enqueue(to.peer, Outgoing::Control(header, run));
        }
    }

    /// Tells a member of a channel on another node what this rank calls in a run, and with data of what types.
    pub(crate) fn tell_types(&mut self, to: Address, run: u64, called: Called, signature: &Signature) {
        if !self.peers.is_elsewhere(to.peer) || self.peers.is_lost(to.peer) {
            return;
        }
        let of_types = |place: usize, bytes: u64| Header {
            kind: kind::SIGNED,
            context: to.context,
            tag: place as i32,
            token: signature.hash,
            bytes,
            ..Header::default()
        };
        self.tell_call(to, run, called, false);
        self.enqueue_ahead(to.peer, Outgoing::Control(of_types(0, 0), run));
        for (place, &types) in signature.begin.iter().enumerate() {
            self.enqueue_ahead(to.peer, Outgoing::Control(of_types(place + 1, types), run));
        }
    }

    /// A member of a channel has told a part of that.
    pub(super) fn types_told(&mut self, from: PeerId, header: &Header, run: u64) {
        let signed = self.calls.signed.get_or_insert_with((header.context, from), Signed::default);
        if header.tag == 0 {
            signed.note(run, Signature { hash: header.token, begin: Vec::new() });
        } else if let Some(signature) = signed.at_mut(run).filter(|told| told.hash == header.token) {
            signature.push(header.bytes);
        }
    }

    /// With what types a member of the channel with this context has told that it calls a run, if it has.
    pub(crate) fn told_types(&self, context: u32, member: PeerId, run: u64) -> Option<&Signature> {
        self.calls.signed.get((context, member))?.at(run)
    }

    /// A member of a channel has told so.
    pub(super) fn call_told(&mut self, from: PeerId, header: &Header, run: u64) {
        let (context, called) = (header.context, Called::of_word(header.token));
        let told = self.calls.told.get_or_insert_with((context, from), || [0; CALLS]);
        told[run as usize % CALLS] = called.noted(run);
        if header.tag != 0 {
            self.calls.asking.push(Asking { context, from, run, called });
        }
    }

    /// What a member of the channel with this context has told that it calls in a run, if it has.
    pub(crate) fn told_call(&self, context: u32, member: PeerId, run: u64) -> Option<Called> {
        Called::of_note(self.calls.told.get((context, member))?[run as usize % CALLS], run)
    }

    /// Those who have asked, to be [kept](P2p::keep_asking) unless they are answered.
    #[inline]
    pub(crate) fn take_asking(&mut self) -> Vec<Asking> {
        std::mem::take(&mut self.calls.asking)
    }

    /// See [`P2p::take_asking`].
    pub(crate) fn keep_asking(&mut self, asking: Asking) {
        self.calls.asking.push(asking);
    }

    /// Forgets what was told in a context.
    pub(super) fn forget_calls(&mut self, context: u32) {
        self.calls.told.retain(|(of, _), _| of != context);
        self.calls.signed.retain(|(of, _), _| of != context);
        self.calls.asking.retain(|asking| asking.context != context);
    }
}
