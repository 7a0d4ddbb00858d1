//! What calls leave behind: what was told peers on other nodes, and has not gone.
//!
//! A message lies in the ring to its peer until the fabric is looked at, so that many that are there together go in one
//! frame. So a call that has completed something gives to the fabric what lies there, before it returns. *Behind* is
//! then what the fabric does not take: the connection is being made, or its queues are full. So is what it has taken,
//! where it sends only as it is looked at, as over sockets; and what waits for the peer to take more. All that goes
//! when somebody looks again: the next call, or who stands in for it.
//!
//! Cost: a look at each carrier that is used; over sockets where something was sent a look at the fabric.

use super::Net;
use crate::p2p::P2p;

impl P2p {
    /// Gives what was told peers on other nodes to the fabric; whether somebody must look again for it to go.
    pub fn send_off(&mut self) -> bool {
        if self.net.is_none() {
            return false;
        }
        self.flush_all();
        self.write_together();
        self.net.iter_mut().for_each(|net| _ = net.send_off());
        if self.needs_looks() {
            // What has left at once is told at once, and so it is what there is room for.
            self.serve_fabric();
        }
        self.needs_looks()
    }

    /// Whether something lies here that the fabric was not given, and that may as well be given together with more:
    /// each frame is a call of the system.
    pub fn may_gather(&self) -> bool {
        self.net.as_ref().is_some_and(|net| !net.fabric.limits().reads_alone && net.is_behind(false))
    }

    /// Whether anything that was told peers on other nodes has not gone.
    pub fn is_behind(&self) -> bool {
        self.net.as_ref().is_some_and(|net| net.is_behind(true)) || self.keeps_told()
    }

    /// The same, but for what goes by itself.
    fn needs_looks(&self) -> bool {
        let is_behind = |net: &Net| net.is_behind(!net.fabric.limits().reads_alone);
        self.net.as_deref().is_some_and(is_behind) || self.keeps_told()
    }
}

impl Net {
    /// Sends what the peers are to have, as far as there is room; whether there was anything.
    pub(super) fn send_off(&mut self) -> bool {
        let mut any = false;
        for place in 0..self.used.len() {
            let carrier = self.used[place];
            any |= self.carriers[carrier].is_behind(None) && self.send_out(carrier);
        }
        any
    }

    fn is_behind(&self, counts_posted: bool) -> bool {
        let looks = counts_posted.then_some(self.looks);
        self.used().any(|carrier| carrier.is_behind(looks)) || self.bonds.is_behind(looks)
    }
}
