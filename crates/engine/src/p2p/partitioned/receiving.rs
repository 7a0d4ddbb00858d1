//! The receiving side of a partitioned message.

use std::sync::Arc;

use oxmpi_base::Status;
use oxmpi_datatype::Buffer;
use oxmpi_mem::Region;
use oxmpi_shm::Arrivals;
use oxmpi_shm::ring::Header;

use super::meeting::{Envelope, Offer};
use super::{P2p, Partitioned, PartitionedKey, Round, Side, kind, length_of, unequal, with_length};
use crate::matching::Pattern;
use crate::names::Names;
use crate::peers::PeerId;
use crate::slab::Key;

/// See [`partitioned`](super).
#[derive(Debug)]
pub(super) struct PartitionedReceive {
    /// None for nobody.
    pub(super) from: Option<(PeerId, Envelope)>,
    pub(super) status: Status,
    buffer: Buffer,
    pub(super) arrivals: Arc<Arrivals>,
    pub(super) round: Round,
    /// Bytes that have not arrived; of a message of none, 1 until it has come.
    missing: u64,
    /// The send, once the two are bound.
    send: Option<Offer>,
}

impl PartitionedReceive {
    pub(super) fn new(
        from: Option<(PeerId, Envelope)>,
        status: Status,
        buffer: Buffer,
        partitions: u32,
    ) -> Self {
        let bytes = if from.is_some() { buffer.bytes() } else { 0 };
        let arrivals = Arc::new(Arrivals::new(partitions, buffer.bytes() / u64::from(partitions.max(1))));
        let status = Status { bytes, ..status };
        Self { from, status, buffer, arrivals, round: Round::Inactive, missing: 0, send: None }
    }

    /// Whether so many bytes at `offset` may come from this peer now, which have not come before.
    fn expects(&self, from: PeerId, offset: u64, bytes: u64) -> bool {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.buffer.bytes());
        let is_active = matches!(self.round, Round::Active);
        fits && is_active
            && self.from.is_some_and(|(peer, _)| peer == from)
            && self.arrivals.expects(offset, bytes)
    }

    pub(super) fn describe(&self, names: &impl Names) -> Option<String> {
        let (Round::Active, Some((_, envelope))) = (&self.round, self.from) else { return None };
        let pattern = Pattern { source: Some(envelope.source), tag: Some(envelope.tag) };
        let from = pattern.describe(&names.comm(envelope.context));
        let (missing, bytes) = (self.missing, self.buffer.bytes());
        Some(match self.send {
            None => format!("partitioned receive from {from}: there is no such send yet"),
            Some(_) => {
                format!("partitioned receive from {from}: {missing} of {bytes} bytes are not here yet")
            }
        })
    }
}

/// Whoever kept it in mind finds that it is gone.
impl Drop for PartitionedReceive {
    fn drop(&mut self) {
        self.arrivals.retire();
    }
}

impl P2p {
    pub(super) fn start_partitioned_receive(&mut self, key: PartitionedKey) {
        let Some(receive) = self.partitioned.receive(key) else { return };
        if receive.from.is_some() {
            receive.missing = receive.buffer.bytes().max(1);
            receive.arrivals.open();
        }
        match (receive.from, receive.send) {
            (None, _) => self.end_partitioned(key, None),
            (Some((_, envelope)), None) => self.bind_partitioned(envelope),
            (Some(_), Some(_)) => self.tell_begun(key),
        }
    }

    /// Binds the receives of an envelope that have begun and have a send.
    fn bind_partitioned(&mut self, envelope: Envelope) {
        loop {
            let all = &self.partitioned.all;
            let has_begun = |key| match all.get(key) {
                Some(Partitioned { side: Side::Receive(receive), .. }) => {
                    matches!(receive.round, Round::Active)
                }
                _ => false,
            };
            let Some((key, offer)) = self.partitioned.meetings.bind(envelope, has_begun) else { return };
            if let Some(receive) = self.partitioned.receive(key) {
                receive.send = Some(offer);
            }
            self.tell_begun(key);
        }
    }

    /// Tells the sender that a receive has begun. If they do not agree, both find that out.
    fn tell_begun(&mut self, key: PartitionedKey) {
        let Some(receive) = self.partitioned.receive(key) else { return };
        let (Some((peer, _)), Some(offer)) = (receive.from, receive.send) else { return };
        let bytes = receive.buffer.bytes();
        if offer.bytes != bytes {
            self.fail_partitioned(key, unequal(offer.bytes, bytes));
        }
        let header = Header { kind: kind::BEGUN, bytes, token: offer.send, ..Header::default() };
        self.tell_partitioned(peer, header, key.to_word());
    }

    /// A part of a message has come. A peer that says nonsense writes nothing.
    pub(super) fn part_arrived(&mut self, from: PeerId, header: &Header, payload: &Region) {
        let key = Key::from_word(header.token);
        let (offset, bytes) = (header.bytes, payload.len() as u64);
        let Some(receive) =
            self.partitioned.receive(key).filter(|receive| receive.expects(from, offset, bytes))
        else {
            return;
        };
        receive.buffer.write(offset, payload);
        self.note_part(key, offset, bytes);
    }

    fn note_part(&mut self, key: PartitionedKey, offset: u64, bytes: u64) {
        let Some(receive) = self.partitioned.receive(key) else { return };
        receive.arrivals.note(offset, bytes);
        receive.missing = receive.missing.saturating_sub(bytes.max(1));
        if receive.missing == 0 {
            self.end_partitioned(key, None);
        }
    }

    /// The sender lets this process read a part of the message itself.
    pub(super) fn part_lent(&mut self, from: PeerId, header: &Header, address: u64) {
        let key = Key::from_word(header.token);
        let (offset, bytes) = (header.bytes, length_of(header));
        let Some(receive) =
            self.partitioned.receive(key).filter(|receive| receive.expects(from, offset, bytes))
        else {
            return;
        };
        let (into, send) = (receive.buffer.part(offset, bytes), receive.send);
        let is_read = into.is_some_and(|into| self.read_part(from, address, &into));
        let (kind, token) =
            (if is_read { kind::TAKEN } else { kind::DECLINED }, send.map_or(0, |offer| offer.send));
        self.tell_partitioned(
            from,
            with_length(Header { kind, bytes: offset, token, ..Header::default() }, bytes),
            0,
        );
        if is_read {
            self.note_part(key, offset, bytes);
        }
    }

    /// There is another send.
    pub(super) fn offered(&mut self, _: PeerId, header: &Header) {
        let offer = Offer { send: header.token, bytes: header.bytes };
        self.partitioned.meetings.offer(envelope_of(header), offer);
        self.bind_partitioned(envelope_of(header));
    }

    /// A send was freed that had never begun.
    pub(super) fn withdrawn(&mut self, header: &Header) {
        self.partitioned.meetings.withdraw_offer(envelope_of(header), header.token);
    }

    pub(super) fn forget_partitioned_receive(&mut self, key: PartitionedKey, receive: &PartitionedReceive) {
        if let (Some((_, envelope)), None) = (receive.from, receive.send) {
            self.partitioned.meetings.withdraw_receive(envelope, key);
        }
    }
}

fn envelope_of(header: &Header) -> Envelope {
    Envelope { context: header.context, source: header.source, tag: header.tag }
}
