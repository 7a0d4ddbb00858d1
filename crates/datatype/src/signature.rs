//! What a typemap says about types: its basic types in packed order, without displacements.
//!
//! Kept as a tree beside the layout, and as small: repetitions are counted, not written out. It tells how many
//! basic elements some received bytes are, and drives conversion to `external32`.
//! MPI-5.0: Datatypes, General Datatypes.

use std::sync::Arc;

use oxmpi_base::{BasicType, Pair, Scalar};

use crate::external32;

/// The basic types of one element, in packed order.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    /// Packed bytes.
    pub bytes: u64,
    /// Basic elements; a pair is two.
    pub elements: u64,
    /// Bytes in the representation `external32`.
    pub external32_bytes: u64,
    /// Repetitions and sequences inside each other.
    pub depth: u32,
    shape: Shape,
}

#[derive(Clone, Debug)]
enum Shape {
    /// All elements have one type.
    Run(BasicType),
    /// Several times the same. The body is not empty.
    Repeat(Arc<Signature>),
    /// Parts one after the other. None of them is empty.
    Sequence(Arc<[Part]>),
}

#[derive(Debug)]
struct Part {
    /// Packed bytes of the parts before.
    start: u64,
    /// Elements of the parts before.
    start_element: u64,
    signature: Signature,
}

impl Signature {
    /// One element of `basic`.
    pub fn basic(basic: BasicType) -> Self {
        Self {
            bytes: basic.size() as u64,
            elements: if value_bytes(basic).is_some() { 2 } else { 1 },
            external32_bytes: external32::size(basic),
            depth: 0,
            shape: Shape::Run(basic),
        }
    }

    /// `count` times `self`. The caller has checked that the bytes are less than 2^63.
    pub fn repeat(&self, count: u64) -> Self {
        let (depth, shape) = match &self.shape {
            Shape::Sequence(_) if count > 1 && self.bytes != 0 => {
                (self.depth + 1, Shape::Repeat(Arc::new(self.clone())))
            }
            shape => (self.depth, shape.clone()),
        };
        let times = |each: u64| each * count;
        Self {
            bytes: times(self.bytes),
            elements: times(self.elements),
            external32_bytes: times(self.external32_bytes),
            depth,
            shape,
        }
    }

    /// `pieces` one after the other. The caller has checked that the bytes are less than 2^63.
    pub fn sequence(pieces: impl IntoIterator<Item = Self>) -> Self {
        let mut merged = Vec::<Self>::new();
        for piece in pieces.into_iter().filter(|piece| piece.bytes != 0) {
            match merged.last_mut() {
                Some(last) if last.element().is_some() && last.element() == piece.element() => {
                    last.bytes += piece.bytes;
                    last.elements += piece.elements;
                    last.external32_bytes += piece.external32_bytes;
                }
                _ => merged.push(piece),
            }
        }
        if merged.len() == 1 {
            return merged.remove(0);
        }
        let depth = 1 + merged.iter().map(|piece| piece.depth).max().unwrap_or(0);
        let (mut bytes, mut elements, mut external32_bytes) = (0, 0, 0);
        let parts = merged.into_iter().map(|signature| {
            let part = Part { start: bytes, start_element: elements, signature };
            bytes += part.signature.bytes;
            elements += part.signature.elements;
            external32_bytes += part.signature.external32_bytes;
            part
        });
        let parts = parts.collect();
        Self { bytes, elements, external32_bytes, depth, shape: Shape::Sequence(parts) }
    }

    /// The type of all elements, if there is only one.
    pub fn element(&self) -> Option<BasicType> {
        match self.shape {
            Shape::Run(basic) => Some(basic),
            Shape::Repeat(_) | Shape::Sequence(_) => None,
        }
    }

    /// The basic elements in the first `bytes` bytes of any number of repetitions, if they are whole ones.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return Some(0);
        }
        let whole = bytes.checked_div(self.bytes)?;
        let rest = bytes % self.bytes;
        whole.checked_mul(self.elements)?.checked_add(self.elements_in_part(rest)?)
    }

    /// The packed bytes of the first `elements` basic elements of any number of repetitions.
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        if elements == 0 {
            return Some(0);
        }
        let whole = elements.checked_div(self.elements)?;
        let rest = elements % self.elements;
        whole.checked_mul(self.bytes)?.checked_add(self.bytes_of_part(rest))
    }

    /// The runs of one element, in order.
    pub fn runs(&self) -> SignatureRuns<'_> {
        let pending = if self.bytes == 0 { Vec::new() } else { vec![(self, 1)] };
        SignatureRuns { pending }
    }

    fn elements_in_part(&self, bytes: u64) -> Option<u64> {
        match &self.shape {
            _ if bytes == 0 => Some(0),
            Shape::Run(basic) => {
                let size = basic.size() as u64;
                match (value_bytes(*basic), bytes % size) {
                    (None, 0) => Some(bytes / size),
                    (Some(_), 0) => Some(bytes / size * 2),
                    (Some(value), rest) if rest == value => Some(bytes / size * 2 + 1),
                    _ => None,
                }
            }
            Shape::Repeat(body) => body.elements_in(bytes),
            Shape::Sequence(parts) => {
                let part = &parts[parts.partition_point(|part| part.start < bytes) - 1];
                Some(part.start_element + part.signature.elements_in_part(bytes - part.start)?)
            }
        }
    }

    fn bytes_of_part(&self, elements: u64) -> u64 {
        match &self.shape {
            _ if elements == 0 => 0,
            Shape::Run(basic) => match value_bytes(*basic) {
                None => elements * basic.size() as u64,
                Some(value) => elements / 2 * basic.size() as u64 + elements % 2 * value,
            },
            Shape::Repeat(body) => {
                elements / body.elements * body.bytes + body.bytes_of_part(elements % body.elements)
            }
            Shape::Sequence(parts) => {
                let part = &parts[parts.partition_point(|part| part.start_element < elements) - 1];
                part.start + part.signature.bytes_of_part(elements - part.start_element)
            }
        }
    }
}

/// The runs of equal basic types of one element, and how long they are; a pair is one.
#[derive(Debug)]
pub struct SignatureRuns<'a> {
    /// What is still to come, the next one last, and how many times.
    pending: Vec<(&'a Signature, u64)>,
}

impl Iterator for SignatureRuns<'_> {
    type Item = (BasicType, u64);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (signature, times) = self.pending.pop()?;
            if times > 1 {
                self.pending.push((signature, times - 1));
            }
            match &signature.shape {
                Shape::Run(basic) => return Some((*basic, signature.bytes / basic.size() as u64)),
                Shape::Repeat(body) => self.pending.push((body, signature.bytes / body.bytes)),
                Shape::Sequence(parts) => {
                    self.pending.extend(parts.iter().rev().map(|part| (&part.signature, 1)));
                }
            }
        }
    }
}

/// Bytes of the value of a pair; `None` for what is not a pair.
pub(crate) fn value_bytes(basic: BasicType) -> Option<u64> {
    match basic.scalar() {
        // The only value that is shorter than its distance to the index.
        Scalar::Pair(Pair::I16I32) => Some(2),
        Scalar::Pair(_) => Some(basic.index_offset() as u64),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed() -> Signature {
        let [double, int, pair] =
            [BasicType::Double, BasicType::Int, BasicType::DoubleInt].map(Signature::basic);
        Signature::sequence([double.repeat(2), int.repeat(3), pair]).repeat(4)
    }

    #[test]
    fn elements_of_a_part_are_counted_where_they_are_whole() {
        let mixed = mixed();
        assert_eq!((mixed.bytes, mixed.elements), (160, 28));
        let boundaries = [8, 16, 20, 24, 28, 36, 40];
        for bytes in 0..=400 {
            let (round, rest) = (bytes / 40, bytes % 40);
            let expected = match rest {
                0 => Some(0),
                _ => boundaries.iter().position(|at| *at == rest).map(|index| index as u64 + 1),
            };
            assert_eq!(
                mixed.elements_in(bytes),
                expected.map(|elements| round * 7 + elements),
                "{bytes} bytes"
            );
        }
    }

    #[test]
    fn bytes_of_elements_is_the_inverse() {
        let mixed = mixed();
        for elements in 0..100 {
            let bytes = mixed.bytes_of(elements).expect("few");
            assert_eq!(mixed.elements_in(bytes), Some(elements));
        }
        assert_eq!(mixed.bytes_of(u64::MAX), None);
        assert_eq!(mixed.repeat(0).elements_in(8), None);
    }

    #[test]
    fn runs_of_one_type_are_merged() {
        let int = Signature::basic(BasicType::Int);
        let ints = Signature::sequence([int.repeat(3), int.repeat(0), int.clone()]).repeat(2);
        assert_eq!(ints.runs().collect::<Vec<_>>(), [(BasicType::Int, 8)]);
        assert_eq!(mixed().runs().take(4).map(|run| run.1).collect::<Vec<_>>(), [2, 3, 1, 2]);
    }
}
