//! What the standard says of buffers: their sizes, what stands in them before, and what must stand in them
//! after a collective.

use super::memory::{Memory, merge};
use super::value::{Piece, Value, list};
use super::{Flaw, FlawKind};
use crate::{Buf, Collective, Plan, Shape};

/// The buffers of one rank, and which of them are the same memory.
pub(super) struct Buffers {
    /// Send, receive and scratch memory.
    memories: [Memory; 3],
    send_bytes: u64,
    recv_bytes: u64,
    scratch_bytes: u64,
    /// A buffer, and where it lies in another one.
    alias: Option<(Buf, Buf, u64)>,
}

impl Buffers {
    /// Buffers of `rank`, undefined.
    pub(super) fn new(shape: &Shape, rank: u32, in_place: bool, plan: &Plan) -> Self {
        let (block, total) = (shape.bytes, shape.total_bytes());
        let at_root = |bytes| if rank == shape.root() { bytes } else { 0 };
        let (send_bytes, recv_bytes) = match shape.collective {
            Collective::Allgather => (block, total),
            Collective::Allreduce => (block, block),
            Collective::Alltoall => (total, total),
            Collective::Barrier => (0, 0),
            Collective::Bcast { .. } => (0, block),
            Collective::Gather { .. } => (block, at_root(total)),
            Collective::Reduce { .. } => (block, at_root(block)),
            Collective::Scatter { .. } => (at_root(total), block),
        };
        let alias = in_place.then(|| alias(shape, rank)).flatten();
        let scratch_bytes = plan.scratch_bytes;
        let memories = [send_bytes, recv_bytes, scratch_bytes].map(Memory::undefined);
        Self { memories, send_bytes, recv_bytes, scratch_bytes, alias }
    }

    /// Bytes of a buffer.
    pub(super) fn bytes(&self, buf: Buf) -> u64 {
        match buf {
            Buf::Send => self.send_bytes,
            Buf::Recv => self.recv_bytes,
            Buf::Scratch => self.scratch_bytes,
        }
    }

    /// Where byte `begin` of `buf` really lies.
    pub(super) fn resolve(&self, buf: Buf, begin: u64) -> (Buf, u64) {
        match self.alias {
            Some((from, to, offset)) if from == buf => (to, offset + begin),
            _ => (buf, begin),
        }
    }

    /// See [`Memory::read`].
    pub(super) fn read(&self, buf: Buf, begin: u64, bytes: u64) -> Result<Vec<Piece>, Flaw> {
        let (buf, begin) = self.resolve(buf, begin);
        self.memories[buf as usize].read(begin, bytes)
    }

    /// See [`Memory::write`].
    pub(super) fn write(&mut self, buf: Buf, begin: u64, pieces: &[Piece]) {
        let (buf, begin) = self.resolve(buf, begin);
        self.memories[buf as usize].write(begin, pieces);
    }

    /// Puts what the user has there before `run`; all else becomes undefined.
    pub(super) fn fill(&mut self, shape: &Shape, rank: u32, run: u32) {
        self.memories = [self.send_bytes, self.recv_bytes, self.scratch_bytes].map(Memory::undefined);
        let (buf, bytes) = match shape.collective {
            Collective::Bcast { root } if rank == root => (Buf::Recv, self.recv_bytes),
            _ => (Buf::Send, self.send_bytes),
        };
        if bytes > 0 {
            self.write(buf, 0, &[Piece { begin: 0, end: bytes, origin: 0, value: Value::of(rank, run) }]);
        }
    }

    /// Checks what the standard promises after `run`; returns the result.
    pub(super) fn check(&self, shape: &Shape, rank: u32, run: u32) -> Result<Vec<Piece>, Flaw> {
        let is_sent_intact = self.alias.is_none_or(|(from, ..)| from == Buf::Recv);
        if is_sent_intact && self.send_bytes > 0 {
            let sent = self.read(Buf::Send, 0, self.send_bytes)?;
            let whole = Piece { begin: 0, end: self.send_bytes, origin: 0, value: Value::of(rank, run) };
            if sent != [whole] {
                return Err(Flaw::new(FlawKind::Wrong, "the send buffer was modified"));
            }
        }
        for expected in result(shape, rank, run) {
            let found = self.read(Buf::Recv, expected.begin, expected.end - expected.begin)?;
            for piece in found.iter().map(|piece| piece.shift(expected.begin)) {
                check_piece(&piece, &expected)?;
            }
        }
        Ok(merge(self.read(Buf::Recv, 0, self.recv_bytes)?.into_iter()))
    }
}

/// In place: the buffer that is part of another one, that one, and where it begins there.
fn alias(shape: &Shape, rank: u32) -> Option<(Buf, Buf, u64)> {
    let own = shape.block(Buf::Recv, rank).offset;
    match shape.collective {
        Collective::Allgather => Some((Buf::Send, Buf::Recv, own)),
        Collective::Allreduce | Collective::Alltoall => Some((Buf::Send, Buf::Recv, 0)),
        Collective::Gather { root } if rank == root => Some((Buf::Send, Buf::Recv, own)),
        Collective::Reduce { root } if rank == root => Some((Buf::Send, Buf::Recv, 0)),
        Collective::Scatter { root } if rank == root => Some((Buf::Recv, Buf::Send, own)),
        _ => None,
    }
}

/// What must stand in the receive buffer of `rank`; fingerprints are not meant.
fn result(shape: &Shape, rank: u32, run: u32) -> Vec<Piece> {
    let piece = |begin, origin, ranks| {
        let value = Value { run, ranks, expression: 0 };
        Piece { begin, end: begin + shape.bytes, origin, value }
    };
    let all = u128::MAX >> (128 - shape.ranks);
    let own = shape.block(Buf::Send, rank).offset;
    let from_all = |origin| {
        (0..shape.ranks)
            .map(move |peer| piece(shape.block(Buf::Recv, peer).offset, origin, 1 << peer))
            .collect()
    };
    match shape.collective {
        _ if shape.bytes == 0 => Vec::new(),
        Collective::Allgather => from_all(0),
        Collective::Allreduce => vec![piece(0, 0, all)],
        Collective::Alltoall => from_all(own),
        Collective::Barrier => Vec::new(),
        Collective::Bcast { root } => vec![piece(0, 0, 1 << root)],
        Collective::Gather { root } if rank == root => from_all(0),
        Collective::Reduce { root } if rank == root => vec![piece(0, 0, all)],
        Collective::Gather { .. } | Collective::Reduce { .. } => Vec::new(),
        Collective::Scatter { root } => vec![piece(0, own, 1 << root)],
    }
}

fn check_piece(found: &Piece, expected: &Piece) -> Result<(), Flaw> {
    let origin = expected.origin + (found.begin - expected.begin);
    if found.origin == origin
        && found.value.run == expected.value.run
        && found.value.ranks == expected.value.ranks
    {
        return Ok(());
    }
    let text = format!(
        "the result's bytes {}..{} are bytes {}.. of ranks {} of run {}, and should be bytes {origin}.. of \
         ranks {} of run {}",
        found.begin,
        found.end,
        found.origin,
        list(found.value.ranks),
        found.value.run,
        list(expected.value.ranks),
        expected.value.run
    );
    Err(Flaw::new(FlawKind::Wrong, text))
}
