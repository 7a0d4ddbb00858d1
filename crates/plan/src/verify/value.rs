//! What a byte stands for.

use super::pieces::Pieces;
use super::{Flaw, FlawKind};

/// Contributions combined into one value.
///
/// A rank contributes once at most. Where order matters only ranges of ranks can be part of the right result,
/// so a set of ranks says all about the order as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// In which run they were contributed.
    pub(super) run: u32,
    /// Bit `r` for rank `r`.
    pub(super) ranks: u128,
    /// A fingerprint of the expression, brackets included.
    pub(super) expression: u64,
}

/// A range of bytes with equal values, from consecutive places of the contributed vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The first byte.
    pub(super) begin: u64,
    /// One past the last byte.
    pub(super) end: u64,
    /// The place of the first byte in the contributed vector.
    pub(super) origin: u64,
    /// What each byte stands for.
    pub(super) value: Value,
}

impl Value {
    /// What `rank` contributes in `run`.
    pub(super) fn of(rank: u32, run: u32) -> Self {
        Self { run, ranks: 1 << rank, expression: mix(u64::from(rank) + 1, 0) }
    }

    /// `self op right`.
    fn combine(self, right: Self, commutative: bool) -> Result<Self, Flaw> {
        let wrong = |what: &str| {
            let text = format!("{what}: ranks {} op ranks {}", list(self.ranks), list(right.ranks));
            Err(Flaw::new(FlawKind::Wrong, text))
        };
        if self.run != right.run {
            return wrong("operands of two runs");
        }
        if self.ranks & right.ranks != 0 {
            return wrong("a contribution counted twice");
        }
        let is_ordered = 128 - self.ranks.leading_zeros() == right.ranks.trailing_zeros();
        if !commutative && !is_ordered {
            return wrong("operands not in the order of ranks");
        }
        let (first, second) = if commutative && self.expression > right.expression {
            (right.expression, self.expression)
        } else {
            (self.expression, right.expression)
        };
        let expression = mix(first, second);
        Ok(Self { run: self.run, ranks: self.ranks | right.ranks, expression })
    }
}

impl Piece {
    /// The part in `begin..end`, if any.
    pub(super) fn clip(&self, begin: u64, end: u64) -> Option<Self> {
        let (first, last) = (self.begin.max(begin), self.end.min(end));
        let origin = self.origin + (first.max(self.begin) - self.begin);
        (first < last).then_some(Self { begin: first, end: last, origin, value: self.value })
    }

    /// The same piece `offset` bytes further on.
    pub(super) fn shift(&self, offset: u64) -> Self {
        Self { begin: self.begin + offset, end: self.end + offset, ..*self }
    }

    /// The same piece `offset` bytes nearer to the beginning.
    pub(super) fn unshift(&self, offset: u64) -> Self {
        Self { begin: self.begin - offset, end: self.end - offset, ..*self }
    }

    /// Whether `next` continues this piece.
    pub(super) fn continues(&self, next: &Self) -> bool {
        self.end == next.begin
            && self.value == next.value
            && self.origin + (self.end - self.begin) == next.origin
    }
}

/// `left op right`, byte by byte; both cover the same bytes without gaps.
///
/// # Errors
/// [`FlawKind::Wrong`] if contributions must not be combined so; [`FlawKind::Malformed`] if `unit` is cut.
pub(super) fn combine(left: &[Piece], right: &[Piece], unit: u64, commutative: bool) -> Result<Pieces, Flaw> {
    let mut result = Pieces::NONE;
    let mut rest = right.iter().copied();
    let mut right = rest.next();
    for piece in left {
        let mut begin = piece.begin;
        while begin < piece.end {
            let operand = right.expect("both operands are equally long");
            let end = piece.end.min(operand.end);
            let clipped = piece.clip(begin, end).expect("begin is before the end of both");
            let other = operand.clip(begin, end).expect("begin is before the end of both");
            if clipped.origin != other.origin {
                let text = format!("byte {} is combined with byte {}", clipped.origin, other.origin);
                return Err(Flaw::new(FlawKind::Wrong, text));
            }
            if clipped.origin % unit != 0 || (end - begin) % unit != 0 {
                let text = format!("bytes {}..+{} cut an element", clipped.origin, end - begin);
                return Err(Flaw::new(FlawKind::Malformed, text));
            }
            let value = piece.value.combine(operand.value, commutative)?;
            result.push(Piece { value, ..clipped });
            begin = end;
            if end == operand.end {
                right = rest.next();
            }
        }
    }
    Ok(result)
}

/// The ranks of a set, for messages.
pub(super) fn list(ranks: u128) -> String {
    let members: Vec<_> =
        (0..128).filter(|rank| ranks >> rank & 1 == 1).map(|rank| rank.to_string()).collect();
    format!("{{{}}}", members.join(" "))
}

/// A fingerprint of an ordered pair.
pub(crate) fn mix(first: u64, second: u64) -> u64 {
    let mut state = first.rotate_left(25) ^ second.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordered_operation_takes_neighbouring_ranges_only() {
        let [zero, one, two] = [0, 1, 2].map(|rank| Value::of(rank, 0));
        let low = zero.combine(one, false).expect("0 and 1 are neighbours");
        assert!(low.combine(two, false).is_ok());
        assert!(one.combine(zero, false).is_err());
        assert!(zero.combine(two, false).is_err());
        assert!(low.combine(zero, true).is_err());
    }

    #[test]
    fn brackets_tell_expressions_apart_and_commuting_does_not() {
        let [zero, one, two] = [0, 1, 2].map(|rank| Value::of(rank, 0));
        let op = |left: Value, right| left.combine(right, true).expect("disjoint contributions");
        assert_eq!(op(zero, one), op(one, zero));
        assert_ne!(op(op(zero, one), two), op(zero, op(one, two)));
    }
}
