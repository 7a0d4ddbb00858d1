//! Memory whose bytes stand for contributions.

use super::value::Piece;
use super::{Flaw, FlawKind};

/// A buffer. Bytes that no piece covers are undefined.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    bytes: u64,
    /// In order, disjoint, and merged where one continues another.
    pieces: Vec<Piece>,
}

impl Memory {
    /// `bytes` undefined bytes.
    pub(super) fn undefined(bytes: u64) -> Self {
        Self { bytes, pieces: Vec::new() }
    }

    /// What stands in `begin..begin + bytes`; positions count from `begin`.
    ///
    /// # Errors
    /// [`FlawKind::Undefined`] if a byte is not defined.
    pub(super) fn read(&self, begin: u64, bytes: u64) -> Result<Vec<Piece>, Flaw> {
        let end = begin + bytes;
        let first = self.pieces.partition_point(|piece| piece.end <= begin);
        let mut found = Vec::new();
        let mut next = begin;
        for piece in self.pieces[first..].iter().map_while(|piece| piece.clip(begin, end)) {
            if piece.begin != next {
                break;
            }
            next = piece.end;
            found.push(piece.unshift(begin));
        }
        if next < end {
            let text = format!("byte {next} is read (of bytes {begin}..{end}) and undefined");
            return Err(Flaw::new(FlawKind::Undefined, text));
        }
        Ok(found)
    }

    /// Writes `pieces`, whose positions count from `begin`.
    pub(super) fn write(&mut self, begin: u64, pieces: &[Piece]) {
        let Some(last) = pieces.last() else { return };
        let end = begin + last.end;
        assert!(end <= self.bytes, "bounds are checked before");
        let first = self.pieces.partition_point(|piece| piece.end <= begin);
        let past = self.pieces.partition_point(|piece| piece.begin < end);
        let before = self.pieces[first..past].first().and_then(|piece| piece.clip(0, begin));
        let after = self.pieces[first..past].last().and_then(|piece| piece.clip(end, self.bytes));
        let shifted = pieces.iter().map(|piece| piece.shift(begin));
        let changed = merge(before.into_iter().chain(shifted).chain(after));
        self.pieces.splice(first..past, changed);
    }
}

/// Merges pieces that continue each other.
pub(super) fn merge(pieces: impl Iterator<Item = Piece>) -> Vec<Piece> {
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        match merged.last_mut() {
            Some(last) if last.continues(&piece) => last.end = piece.end,
            _ => merged.push(piece),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::super::value::Value;
    use super::*;

    fn piece(begin: u64, end: u64, rank: u32) -> Piece {
        Piece { begin, end, origin: begin, value: Value::of(rank, 0) }
    }

    #[test]
    fn a_write_replaces_the_middle_of_a_piece() {
        let mut memory = Memory::undefined(30);
        memory.write(0, &[piece(0, 30, 0)]);
        memory.write(10, &[Piece { begin: 0, end: 10, origin: 10, value: Value::of(1, 0) }]);
        let expected = [piece(0, 10, 0), piece(10, 20, 1), piece(20, 30, 0)];
        assert_eq!(memory.read(0, 30).expect("all is defined"), expected);
    }

    #[test]
    fn a_gap_is_undefined() {
        let mut memory = Memory::undefined(30);
        memory.write(0, &[piece(0, 10, 0)]);
        memory.write(20, &[piece(0, 10, 1)]);
        assert_eq!(memory.read(5, 10).expect_err("10 is a gap").kind, FlawKind::Undefined);
        assert!(memory.read(0, 10).is_ok());
        assert!(memory.read(20, 10).is_ok());
    }
}
