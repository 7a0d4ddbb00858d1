//! The buffers of one rank.

use super::contract::Part;
use super::memory::{Memory, merge};
use super::pieces::Pieces;
use super::value::{Piece, Value};
use super::{Flaw, FlawKind};
use crate::Buf;

/// Send, receive and scratch memory, some of which may be the same memory.
pub(super) struct Buffers<'a> {
    part: &'a Part,
    rank: u32,
    scratch_bytes: u64,
    memories: [Memory; 3],
}

impl<'a> Buffers<'a> {
    /// The buffers of `rank`, with what the user has in them before the first run.
    pub(super) fn new(part: &'a Part, rank: u32, scratch_bytes: u64) -> Self {
        let mut buffers = Self { part, rank, scratch_bytes, memories: Default::default() };
        buffers.fill(0);
        buffers
    }

    /// Bytes of a buffer.
    pub(super) fn bytes(&self, buf: Buf) -> u64 {
        match buf {
            Buf::Send => self.part.send_bytes,
            Buf::Recv => self.part.recv_bytes,
            Buf::Scratch => self.scratch_bytes,
        }
    }

    /// Where byte `begin` of `buf` really lies.
    pub(super) fn resolve(&self, buf: Buf, begin: u64) -> (Buf, u64) {
        match self.part.alias {
            Some(alias) if alias.buf == buf => (alias.of, alias.offset + begin),
            _ => (buf, begin),
        }
    }

    /// Where the send buffer begins in the receive buffer, if the two overlap; nothing if they do so otherwise.
    pub(super) fn within(&self) -> Option<Option<u64>> {
        match self.part.alias {
            None => Some(None),
            Some(alias) => (alias.buf == Buf::Send && alias.of == Buf::Recv).then_some(Some(alias.offset)),
        }
    }

    /// See [`Memory::read`].
    pub(super) fn read(&self, buf: Buf, begin: u64, bytes: u64) -> Result<Pieces, Flaw> {
        let (buf, begin) = self.resolve(buf, begin);
        self.memories[buf as usize].read(begin, bytes)
    }

    /// See [`Memory::write`].
    pub(super) fn write(&mut self, buf: Buf, begin: u64, pieces: &[Piece]) {
        let (buf, begin) = self.resolve(buf, begin);
        self.memories[buf as usize].write(begin, pieces);
    }

    /// Puts what the user has there before `run`; all else becomes undefined.
    pub(super) fn fill(&mut self, run: u32) {
        self.memories = [Buf::Send, Buf::Recv, Buf::Scratch].map(|buf| Memory::undefined(self.bytes(buf)));
        let input = self.part.input;
        self.write(input, 0, &self.input(input, run));
    }

    /// Checks what the standard promises after `run`; returns what it promises.
    ///
    /// # Errors
    /// [`FlawKind::Wrong`] or [`FlawKind::Undefined`] if it does not hold.
    pub(super) fn check(&self, run: u32) -> Result<Vec<Piece>, Flaw> {
        let is_overwritten = self.part.alias.is_some_and(|alias| alias.buf == Buf::Send);
        if !is_overwritten && self.read(Buf::Send, 0, self.part.send_bytes)? != self.input(Buf::Send, run) {
            return Err(Flaw::new(FlawKind::Wrong, "the send buffer was modified"));
        }
        let mut result = Vec::new();
        for expected in &self.part.result {
            let found = self.read(Buf::Recv, expected.begin, expected.bytes)?;
            let found: Pieces = found.iter().map(|piece| piece.shift(expected.begin)).collect();
            found.iter().try_for_each(|piece| expected.check(piece, run))?;
            merge(found.iter().copied(), &mut result);
        }
        Ok(result)
    }

    /// What this rank contributes, if it stands in `buf`.
    fn input(&self, buf: Buf, run: u32) -> Pieces {
        let bytes = self.bytes(buf);
        let whole = Piece { begin: 0, end: bytes, origin: 0, value: Value::of(self.rank, run) };
        if bytes == 0 { Pieces::NONE } else { Pieces::One(whole) }
    }
}
