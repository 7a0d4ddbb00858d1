//! Memory whose bytes stand for contributions.

use super::pieces::Pieces;
use super::value::Piece;
use super::{Flaw, FlawKind};

/// A buffer. Bytes that no piece covers are undefined.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    bytes: u64,
    /// In order, disjoint, and merged where one continues another.
    pieces: Vec<Piece>,
    /// Empty; kept for what it has room for.
    changed: Vec<Piece>,
}

impl Memory {
    /// `bytes` undefined bytes.
    pub(super) fn undefined(bytes: u64) -> Self {
        Self { bytes, ..Self::default() }
    }

    /// What stands in `begin..begin + bytes`; positions count from `begin`.
    ///
    /// # Errors
    /// [`FlawKind::Undefined`] if a byte is not defined.
    pub(super) fn read(&self, begin: u64, bytes: u64) -> Result<Pieces, Flaw> {
        let end = begin + bytes;
        let first = self.pieces.partition_point(|piece| piece.end <= begin);
        let mut found = Pieces::NONE;
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
        // Neighbours that only touch may be continued.
        let first = self.pieces.partition_point(|piece| piece.end < begin);
        let past = self.pieces.partition_point(|piece| piece.begin <= end);
        let before = self.pieces[first..past].first().and_then(|piece| piece.clip(0, begin));
        let after = self.pieces[first..past].last().and_then(|piece| piece.clip(end, self.bytes));
        let shifted = pieces.iter().map(|piece| piece.shift(begin));
        merge(before.into_iter().chain(shifted).chain(after), &mut self.changed);
        self.pieces.splice(first..past, self.changed.drain(..));
    }
}

/// Appends pieces, those that continue each other as one.
pub(super) fn merge(pieces: impl Iterator<Item = Piece>, merged: &mut Vec<Piece>) {
    for piece in pieces {
        match merged.last_mut() {
            Some(last) if last.continues(&piece) => last.end = piece.end,
            _ => merged.push(piece),
        }
    }
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
        assert_eq!(*memory.read(0, 30).expect("all is defined"), expected);
    }

    #[test]
    fn what_is_written_in_parts_is_one_piece_in_any_order() {
        let mut memory = Memory::undefined(30);
        for begin in [10, 20, 0] {
            memory.write(begin, &[Piece { origin: begin, ..piece(0, 10, 0) }]);
        }
        assert_eq!(memory.pieces, [piece(0, 30, 0)]);
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
