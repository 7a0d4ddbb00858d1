//! Messages: the n-th send from one rank to another is received by the n-th receive.

use super::clock::Moment;
use super::pieces::Pieces;
use super::value::Piece;
use super::{Flaw, FlawKind, Sends};

/// Messages between all pairs of ranks.
pub(super) struct Channels {
    channels: Vec<Channel>,
    ranks: u32,
    sends: Sends,
}

/// Messages from one rank to another, of all runs.
#[derive(Clone, Default)]
struct Channel {
    sends: Vec<Sent>,
    receives: Vec<Awaited>,
}

/// A send that has begun.
#[derive(Clone)]
struct Sent {
    bytes: u64,
    pieces: Pieces,
    moment: Moment,
}

/// A receive that has begun.
#[derive(Clone)]
struct Awaited {
    bytes: u64,
    moment: Moment,
}

/// A send or receive that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    channel: usize,
    index: usize,
    is_send: bool,
}

impl Channels {
    /// No messages between `ranks` ranks.
    pub(super) fn new(ranks: u32, sends: Sends) -> Self {
        let channels = vec![Channel::default(); (ranks * ranks) as usize];
        Self { channels, ranks, sends }
    }

    /// Begins a send.
    pub(super) fn send(&mut self, from: u32, to: u32, bytes: u64, pieces: Pieces, moment: Moment) -> Message {
        let channel = (from * self.ranks + to) as usize;
        let sends = &mut self.channels[channel].sends;
        sends.push(Sent { bytes, pieces, moment });
        Message { channel, index: sends.len() - 1, is_send: true }
    }

    /// Begins a receive of exactly `bytes` bytes.
    pub(super) fn receive(&mut self, from: u32, to: u32, bytes: u64, moment: Moment) -> Message {
        let channel = (from * self.ranks + to) as usize;
        let receives = &mut self.channels[channel].receives;
        receives.push(Awaited { bytes, moment });
        Message { channel, index: receives.len() - 1, is_send: false }
    }

    /// Whether a message is complete.
    pub(super) fn is_complete(&self, message: Message) -> bool {
        let channel = &self.channels[message.channel];
        if message.is_send {
            self.sends == Sends::Buffered || message.index < channel.receives.len()
        } else {
            message.index < channel.sends.len()
        }
    }

    /// What the other side knew when it began its part, if completion tells anything about that.
    pub(super) fn learned(&self, message: Message) -> Option<&Moment> {
        let channel = &self.channels[message.channel];
        match (message.is_send, self.sends) {
            (true, Sends::Buffered) => None,
            (true, Sends::Synchronous) => Some(&channel.receives[message.index].moment),
            (false, _) => Some(&channel.sends[message.index].moment),
        }
    }

    /// What a complete receive has received.
    ///
    /// # Errors
    /// [`FlawKind::Malformed`] if the message is shorter or longer than the receive.
    pub(super) fn received(&self, message: Message) -> Result<&[Piece], Flaw> {
        let channel = &self.channels[message.channel];
        let (sent, awaited) = (&channel.sends[message.index], &channel.receives[message.index]);
        if sent.bytes != awaited.bytes {
            let text = format!("receives {} bytes, and {} were sent", awaited.bytes, sent.bytes);
            return Err(Flaw::new(FlawKind::Malformed, text));
        }
        Ok(&sent.pieces)
    }

    /// Checks that no message is left.
    ///
    /// # Errors
    /// [`FlawKind::Leftover`] if one is.
    pub(super) fn check_empty(&self) -> Result<(), Flaw> {
        for (index, channel) in self.channels.iter().enumerate() {
            let (sent, received) = (channel.sends.len(), channel.receives.len());
            if sent > received {
                let (from, to) = (index as u32 / self.ranks, index as u32 % self.ranks);
                let text = format!("rank {to} never receives {} messages of rank {from}", sent - received);
                return Err(Flaw::new(FlawKind::Leftover, text));
            }
        }
        Ok(())
    }
}
