//! Partitioned messages: sent in parts, as these become ready, into a receive that has begun.
//!
//! | message | from | says |
//! |---|---|---|
//! | `OFFER` | sender, when the send is made | there is a send with this envelope, of so many bytes |
//! | `WITHDRAW` | sender, when a send is freed that never began | it will never begin |
//! | `BEGUN` | receiver, at each start | so many bytes may be written; which receive it is |
//! | `PART` | sender | bytes, and where in the message they belong |
//! | `LEND` | sender, of much that lies in one piece | where the receiver may read it itself |
//! | `TAKEN`, `DECLINED` | receiver | it has, or wants it to be sent |
//!
//! A send has the receive of its place: of the sends and receives that were made with one envelope the first belong
//! together, and so on. They are bound when the receive is first started ([`meeting`]). Nothing of a
//! round is sent before its `BEGUN` has come, so that what arrives is always written where it belongs, and nothing is
//! kept. Ready partitions that are neighbours go together, in pieces that suit the ring; the receiver's partitions are
//! only a matter of counting bytes.
//!
//! Threads mark partitions, and ask for them, outside of all this ([`Marks`], [`Arrivals`]).
//!
//! MPI-5.0: Partitioned Point-to-Point Communication.

mod meeting;
mod receiving;
mod sending;

use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Status};
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_mem::reserve::Growth;
use oxmpi_shm::ring::Header;
use oxmpi_shm::{Arrivals, Marks};

use super::op::Outcome;
use super::{Address, Event, P2p, kind};
use crate::absent::Absent;
use crate::board::Entry;
use crate::names::Names;
use crate::peers::PeerId;
use crate::slab::{Key, Slab};
use meeting::{Envelope, Meetings};
use receiving::PartitionedReceive;
use sending::PartitionedSend;

/// The number of a partitioned operation.
pub type PartitionedKey = Key<Partitioned>;

/// A partitioned operation, active or not.
#[derive(Debug)]
pub struct Partitioned {
    side: Side,
    /// What the caller wants to see struck out when a round is over.
    entry: Entry,
}

#[derive(Debug)]
enum Side {
    Receive(PartitionedReceive),
    Send(PartitionedSend),
}

/// All partitioned operations of a rank.
#[derive(Debug, Default)]
pub(super) struct PartitionedOps {
    all: Slab<Partitioned>,
    meetings: Meetings,
    /// The sends that are active.
    sending: Vec<PartitionedKey>,
}

/// How far a round has come.
#[derive(Debug)]
enum Round {
    Active,
    Inactive,
    /// And how it ended.
    Over(Option<Error>),
}

impl PartitionedOps {
    fn send(&mut self, key: PartitionedKey) -> Option<&mut PartitionedSend> {
        match self.all.get_mut(key) {
            Some(Partitioned { side: Side::Send(send), .. }) => Some(send),
            _ => None,
        }
    }

    fn receive(&mut self, key: PartitionedKey) -> Option<&mut PartitionedReceive> {
        match self.all.get_mut(key) {
            Some(Partitioned { side: Side::Receive(receive), .. }) => Some(receive),
            _ => None,
        }
    }
}

impl Partitioned {
    fn new(side: Side) -> Self {
        Self { side, entry: Entry::NONE }
    }
}

impl Side {
    fn round(&mut self) -> &mut Round {
        match self {
            Self::Receive(receive) => &mut receive.round,
            Self::Send(send) => &mut send.round,
        }
    }

    fn peer(&self) -> Option<PeerId> {
        match self {
            Self::Receive(receive) => receive.from.as_ref().map(|(peer, _)| *peer),
            Self::Send(send) => send.to.map(|to| to.peer),
        }
    }
}

impl P2p {
    /// A partitioned send of the bytes of `buffer`, as so many partitions of the same length, inactive; to nobody if
    /// `to` is none. `source` is this rank's rank in the communicator.
    pub fn partitioned_send(
        &mut self,
        to: Option<Address>,
        source: i32,
        tag: i32,
        buffer: Buffer,
        partitions: u32,
    ) -> (PartitionedKey, Arc<Marks>) {
        let send = PartitionedSend::new(to, source, tag, buffer, partitions);
        let (marks, total) = (Arc::clone(&send.marks), send.buffer.bytes());
        let key = self.partitioned.all.insert(Partitioned::new(Side::Send(send)));
        if let Some(to) = to {
            let token = key.to_word();
            let header = Header { kind: kind::OFFER, context: to.context, source, tag, bytes: total, token };
            self.tell_partitioned(to.peer, header, 0);
        }
        (key, marks)
    }

    /// A partitioned receive into `buffer`, as so many partitions of the same length, inactive.
    ///
    /// `from` is the sender and its rank in the communicator of this context; none if nobody is. `status` is what to
    /// tell when it is complete, but for the number of bytes.
    pub fn partitioned_receive(
        &mut self,
        context: u32,
        from: Option<(PeerId, i32)>,
        tag: i32,
        status: Status,
        buffer: Buffer,
        partitions: u32,
    ) -> (PartitionedKey, Arc<Arrivals>) {
        let from = from.map(|(peer, source)| (peer, Envelope { context, source, tag }));
        let receive = PartitionedReceive::new(from, status, buffer, partitions);
        let arrivals = Arc::clone(&receive.arrivals);
        let key = self.partitioned.all.insert(Partitioned::new(Side::Receive(receive)));
        if let Some((_, envelope)) = from {
            self.partitioned.meetings.await_offer(envelope, key);
        }
        (key, arrivals)
    }

    /// What the next partitioned operation takes.
    pub fn growth_of_partitioned(&self) -> Growth {
        self.partitioned.all.growth()
    }

    /// Strikes this out on the board whenever a round that was started is over.
    pub fn tell_of_partitioned<T>(&mut self, key: PartitionedKey, entry: Key<T>) {
        if let Some(partitioned) = self.partitioned.all.get_mut(key) {
            partitioned.entry = Entry::of(entry);
        }
    }

    /// Begins another round of an inactive operation.
    pub fn start_partitioned(&mut self, key: PartitionedKey) {
        let Some(Partitioned { side, .. }) = self.partitioned.all.get_mut(key) else { return };
        *side.round() = Round::Active;
        let lost = side.peer().filter(|&peer| self.peers.is_lost(peer));
        match side {
            Side::Receive(_) => self.start_partitioned_receive(key),
            Side::Send(_) => self.start_partitioned_send(key),
        }
        if let Some(lost) = lost {
            self.fail_partitioned(key, self.peers[lost].lost());
        }
    }

    /// How a round ended, if it is over; the operation is inactive then.
    pub fn take_partitioned(&mut self, key: PartitionedKey) -> Option<Outcome> {
        let Partitioned { side, .. } = self.partitioned.all.get_mut(key)?;
        let round = side.round();
        if !matches!(round, Round::Over(_)) {
            return None;
        }
        let Round::Over(error) = std::mem::replace(round, Round::Inactive) else { return None };
        match side {
            Side::Receive(receive) => receive.arrivals.close(),
            Side::Send(send) => send.marks.close(),
        }
        Some(Outcome { status: self.status_of_partitioned(key), error })
    }

    /// Whether a round is over.
    pub fn is_over_partitioned(&self, key: PartitionedKey) -> bool {
        let round = self.partitioned.all.get(key).map(|Partitioned { side, .. }| match side {
            Side::Receive(receive) => &receive.round,
            Side::Send(send) => &send.round,
        });
        !matches!(round, Some(Round::Active))
    }

    /// What an operation tells when it is complete.
    pub fn status_of_partitioned(&self, key: PartitionedKey) -> Status {
        match self.partitioned.all.get(key) {
            Some(Partitioned { side: Side::Receive(receive), .. }) => receive.status,
            _ => Status::EMPTY,
        }
    }

    /// Forgets an operation that is not active.
    pub fn forget_partitioned(&mut self, key: PartitionedKey) {
        match self.partitioned.all.remove(key) {
            Some(Partitioned { side: Side::Receive(receive), .. }) => {
                self.forget_partitioned_receive(key, &receive)
            }
            Some(Partitioned { side: Side::Send(send), .. }) => self.forget_partitioned_send(key, &send),
            None => {}
        }
    }

    /// The peer that has left without doing what an active operation waits for.
    pub fn misses_partitioned(&self, key: PartitionedKey, absent: &mut Absent) -> Option<PeerId> {
        let Partitioned { side, .. } = self.partitioned.all.get(key)?;
        let peer = side.peer()?;
        let is_missed = match side {
            Side::Receive(receive) => matches!(receive.round, Round::Active) && absent.is_leaving(peer),
            // What is not marked is for threads of this process to mark.
            Side::Send(send) if send.may_send() => send.needs_receiver() && absent.is_gone(peer),
            Side::Send(send) => matches!(send.round, Round::Active) && absent.is_leaving(peer),
        };
        is_missed.then_some(peer)
    }

    /// Lets the active operations fail that need a peer which is lost.
    pub(crate) fn lose_partitioned(&mut self, lost: PeerId) {
        let failing =
            self.partitioned.all.entries().filter(|(_, Partitioned { side, .. })| side.peer() == Some(lost));
        for key in failing.map(|(key, _)| key).collect::<Vec<_>>() {
            self.fail_partitioned(key, self.peers[lost].lost());
        }
    }

    /// Forgets who waits to meet in a context.
    pub(super) fn close_partitioned(&mut self, context: u32) {
        self.partitioned.meetings.close(context);
    }

    /// One line per active operation, for reports.
    pub(super) fn describe_partitioned(&self, names: &impl Names) -> Vec<String> {
        let sides = self.partitioned.all.iter().map(|Partitioned { side, .. }| side);
        sides
            .filter_map(|side| match side {
                Side::Receive(receive) => receive.describe(names),
                Side::Send(send) => send.describe(names),
            })
            .collect()
    }

    /// Something about partitioned messages has come.
    pub(super) fn partitioned_arrived(&mut self, from: PeerId, header: &Header, payload: &Region) {
        match header.kind {
            kind::BEGUN => self.receive_has_begun(from, header, super::arrivals::word_of(payload)),
            kind::LEND => self.part_lent(from, header, super::arrivals::word_of(payload)),
            kind::OFFER => self.offered(from, header),
            kind::PART => self.part_arrived(from, header, payload),
            kind::DECLINED | kind::TAKEN => self.loan_answered(from, header),
            _ => self.withdrawn(header),
        }
    }

    /// Tells a peer, which may be this process, something and a word that goes with it.
    fn tell_partitioned(&mut self, to: PeerId, header: Header, word: u64) {
        if to != self.peers.me() {
            return self.enqueue(to, super::outbox::Outgoing::Control(header, word));
        }
        match header.kind {
            kind::BEGUN => self.receive_has_begun(to, &header, word),
            kind::OFFER => self.offered(to, &header),
            _ => self.withdrawn(&header),
        }
    }

    /// Ends an active round with an error.
    fn fail_partitioned(&mut self, key: PartitionedKey, error: Error) {
        self.end_partitioned(key, Some(error));
    }

    fn end_partitioned(&mut self, key: PartitionedKey, error: Option<Error>) {
        let Some(Partitioned { side, entry }) = self.partitioned.all.get_mut(key) else { return };
        let (round, entry) = (side.round(), *entry);
        if matches!(round, Round::Active) {
            *round = Round::Over(error);
            self.partitioned.sending.retain(|&sending| sending != key);
            self.wake_own_threads();
            self.happened(|| [Event::Struck(entry)]);
            self.board.strike(entry);
        }
    }
}

/// A length, where a header has room for it.
fn with_length(header: Header, bytes: u64) -> Header {
    let (low, high) = (bytes as u32, (bytes >> 32) as u32);
    Header { source: low.cast_signed(), tag: high.cast_signed(), ..header }
}

fn length_of(header: &Header) -> u64 {
    u64::from(header.tag.cast_unsigned()) << 32 | u64::from(header.source.cast_unsigned())
}

/// A send and its receive differ in size.
#[cold]
fn unequal(sent: u64, received: u64) -> Error {
    let text = format!(
        "the send has partitions of {sent} bytes together and its receive of {received}: they must be equal"
    );
    Error::new(ErrorClass::Truncate, text)
}
