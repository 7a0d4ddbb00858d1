//! Channels that this rank has left, until what they used can be used again.
//!
//! A member leaves a channel by a store, in a word of its own ([`Departure`](oxmpi_shm::Departure)), after it has read
//! its last line there, and when nothing that it has told on the channel waits in an outbox. Nobody is told. Each
//! member that has left looks at the words of the others, when it suits it: when it opens or leaves a channel, a few
//! channels at a time, when it is short of memory, and when it polls for long. So to leave never waits, costs a store
//! and a look at each of the others, and whoever opens and leaves channels in a loop needs constant memory: each time
//! it looks at more than it adds. Whoever leaves thousands and then opens as many again finds the memory of all, in
//! whatever order others have left: the first to be opened is worth a look at them all.
//!
//! When all others have left,
//!
//! - nobody reads this rank's lines or what it posted: that memory goes back to its arena;
//! - nobody sends to its contexts any more. What was sent before lies in rings: it left the outbox before the word was
//!   stored, so who has seen the word, and then takes in all that the member has told, has it. Then the contexts are
//!   closed, with what nobody has received, and their numbers are used again;
//! - links to processes of other jobs that were members are no longer needed for this.
//!
//! What waits there may wait for memory, and that for who leaves: so of an operation's channel, whose context is its
//! own, only messages in that are waited for.
//!
//! The word itself is free as soon as it is stored: numbers grow with every use, so nobody comes too late.
//!
//! A member of another job that is lost counts as one that has left. Members on different nodes see no words of each
//! other: they tell that they leave, by messages behind all others. Else a channel without lines has no words: of
//! several members, it is left for good, and nothing of it is used again.

use std::collections::VecDeque;

use oxmpi_shm::Block;

use crate::engine::{ChannelKey, Engine};
use crate::lines::{Departing, Lines};
use crate::p2p::Address;
use crate::peers::PeerId;

/// All channels that this rank has left.
#[derive(Debug, Default)]
pub(crate) struct Leavings {
    channels: VecDeque<Left>,
    /// How many were opened, but for those that looks at all of these were worth.
    opened: usize,
}

/// What is left of a channel.
#[derive(Debug)]
pub(crate) struct Left {
    /// That of the channel, and that of messages beside it.
    pub context: u32,
    pub beside: Option<u32>,
    /// Other members that have not been seen to leave, and the channel's context there.
    pub staying: Vec<(Address, Stay)>,
    /// This rank's lines.
    pub own: Option<Lines>,
    /// Whether it has shown that it has left.
    pub is_shown: bool,
    /// What it posted last.
    pub blocks: Vec<Block>,
    /// All members, where some are of other jobs.
    pub users: Vec<PeerId>,
}

/// How a member says that it leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stay {
    /// By a word that is seen here.
    Shown(Departing),
    /// By a message.
    Told,
}

/// Channels that are looked at when one is opened or left.
const A_FEW: usize = 2;
/// So many more each one that is opened is worth.
const PER_OPENED: usize = 4;

impl Engine {
    /// Leaves a channel, and with it the context for messages beside it. Their places and memory are used again
    /// when all members have left.
    pub fn leave_channel(&mut self, key: ChannelKey) {
        let Some(channel) = self.channels.remove(key) else { return };
        self.p2p.end_bonds(channel.context());
        self.end_ties(channel.context());
        if let Some(left) = channel.leave() {
            let told = left.staying.iter().filter(|(_, stay)| matches!(stay, Stay::Told));
            told.for_each(|&(at, _)| self.p2p.tell_departure(at));
            self.left.channels.push_front(left);
            self.look_at_left(A_FEW);
        }
    }

    /// Looks at a few of the channels that were left, if there are any.
    #[inline]
    pub(crate) fn look_at_some_left(&mut self) {
        if !self.left.channels.is_empty() {
            self.look_at_left(A_FEW);
        }
    }

    /// The same as another one is opened: at all of them, if enough were opened to be worth it.
    #[inline]
    pub(crate) fn look_at_left_to_open(&mut self) {
        self.left.opened += 1;
        let all = self.left.channels.len();
        if all == 0 {
            return;
        }
        match self.left.opened.checked_sub(all.div_ceil(PER_OPENED)) {
            Some(rest) => {
                self.left.opened = rest;
                self.look_at_left(all);
            }
            None => self.look_at_left(A_FEW),
        }
    }

    /// Looks at all channels that this rank has left; whether anything can be used again.
    #[cold]
    pub(crate) fn look_at_all_left(&mut self) -> bool {
        let before = self.left.channels.len();
        self.look_at_left(before);
        self.left.channels.len() < before
    }

    /// Looks at all of them, where some have members on other nodes: how many words are missing, of members and of this
    /// rank, that they have left.
    pub fn missing_departures(&mut self) -> usize {
        if !self.p2p.has_fabric() {
            return 0;
        }
        self.look_at_all_left();
        let missing = |left: &Left| {
            let has_told = |&&(at, stay): &&(Address, Stay)| {
                matches!(stay, Stay::Told) && self.p2p.has_departed(left.context, at.peer)
            };
            let told = left.staying.iter().filter(has_told).count();
            left.staying.len() - told + usize::from(!left.is_shown)
        };
        self.left.channels.iter().map(missing).sum()
    }

    /// Whether processes of other jobs can see all that this rank has left: they may outlive it.
    pub(crate) fn has_shown_all(&self) -> bool {
        self.left.channels.iter().all(|left| left.is_shown || left.users.is_empty())
    }

    /// Looks at so many of them, in turn.
    fn look_at_left(&mut self, count: usize) {
        for _ in 0..count {
            let Some(mut left) = self.left.channels.pop_front() else { return };
            if self.is_over(&mut left) {
                self.dissolve(left);
            } else {
                self.left.channels.push_back(left);
            }
        }
    }

    /// Whether all members have left, and what they told is here.
    fn is_over(&mut self, left: &mut Left) -> bool {
        if !left.is_shown {
            // Of what ends with a channel that has messages beside it the contexts there are not known.
            let knows_contexts = left.beside.is_none();
            let mut staying = left.staying.iter();
            left.is_shown =
                staying.all(|(at, _)| self.p2p.has_told(at.peer, knows_contexts.then_some(at.context)));
            match left.own {
                Some(own) if left.is_shown => self.stock.show(own.word),
                _ => {}
            }
        }
        while let Some(&(Address { peer, .. }, stay)) = left.staying.last().filter(|_| left.is_shown) {
            let has_told = matches!(stay, Stay::Told) && self.p2p.take_departure(left.context, peer);
            if !has_told && !self.p2p.peers.is_lost(peer) {
                match stay {
                    Stay::Shown(departing) if departing.is_over() => while self.p2p.take_in_from(peer) {},
                    _ => return false,
                }
            }
            left.staying.pop();
        }
        left.is_shown
    }

    fn dissolve(&mut self, left: Left) {
        self.count_uses(&left.users, -1);
        [Some(left.context), left.beside].into_iter().flatten().for_each(|one| self.p2p.close_context(one));
        left.blocks.into_iter().for_each(|block| self.p2p.arena.give(block));
        left.own.into_iter().for_each(|own| self.stock.give(own, &mut self.p2p.arena));
    }
}
