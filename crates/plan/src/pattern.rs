//! Patterns: which blocks one rank has for whom, and gets from whom.
//!
//! The collectives that combine nothing and whose blocks have lengths of their own - the v and w forms, and all
//! those of neighbourhoods - differ in nothing else. What one rank knows of a pattern the others need not know, so
//! there are two plans:
//!
//! - [`Pattern::by_messages`] needs nothing but the pattern: each block is one message, straight to whom it is for,
//!   all at the same time.
//! - [`Pattern::by_lines`] is for ranks that know where the blocks of the others lie, or have told each other
//!   ([`Pattern::placing`]), as those can that prepare a persistent collective. Each rank posts what it has for
//!   others as one stream on one line, and each pulls its blocks out of the streams of those that have some for it.
//!
//! Of several blocks between the same two ranks the `k`-th that is sent is the `k`-th that is received. Ranks agree on
//! the length of each block; those of no bytes do not travel. The buffers are bound to the blocks one after the
//! other, in the order of the lengths that a pattern is made from.
//!
//! MPI-5.0: Collective Communication, the vector variants; Virtual Topologies, Neighborhood Collective Communication.

mod between;
mod levels;
mod neighbors;
mod within;

pub use levels::allgatherv_over_levels;
pub use neighbors::{Neighborhood, neighbor_allgatherv, neighbor_alltoallv};
pub use within::{allgatherv, alltoallv, gatherv, scatterv};

use crate::build::Builder;
use crate::segment::{SLOT_BUDGET_BYTES, Segments};
use crate::{Buf, Peer, Plan, Span};

/// Collectives between two groups: blocks are counted by the ranks of the other group.
pub mod inter {
    pub use super::between::{allgatherv, alltoallv, gatherv, scatterv};
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    pub(crate) sends: Vec<Block>,
    pub(crate) receives: Vec<Block>,
    /// What this rank has for itself, and where it gets it.
    own: Vec<[Span; 2]>,
    /// Blocks are received where others lie that are still to be sent.
    in_place: bool,
}

/// A block for another rank, or from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) peer: Peer,
    pub(crate) span: Span,
}

/// Where a rank has a block for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first byte, in the stream of what the rank posts.
    pub begin: u64,
    /// Its length.
    pub bytes: u64,
}

impl Pattern {
    /// Sends each block as a message.
    pub fn by_messages(&self) -> Plan {
        let mut builder = Builder::new();
        let stream = self.stream();
        let copied = (self.in_place && stream.bytes > 0).then(|| builder.scratch(stream.bytes));
        if let Some(copy) = copied {
            builder.copy(stream, copy, &[]);
        }
        for block in self.receives.iter().filter(|block| block.span.bytes > 0) {
            builder.receive(block.peer, block.span, &[]);
        }
        for &Block { peer, span } in self.sends.iter().filter(|block| block.span.bytes > 0) {
            let copy =
                |copy: Span| Span::fixed(copy.buf, copy.offset + span.offset - stream.offset, span.bytes);
            builder.send(peer, copied.map_or(span, copy), &[]);
        }
        self.copy_own(&mut builder, 1);
        builder.finish()
    }

    /// The pattern by which ranks tell each other where their blocks lie: for each block, empty ones included, a
    /// record of `bytes` bytes, one after the other in the order of [`Pattern::places`]; they arrive in the order of
    /// the blocks that this rank receives.
    pub fn placing(&self, bytes: u64) -> Self {
        let records = |blocks: &[Block], buf| {
            let record = |(index, block): (u64, &Block)| Block {
                peer: block.peer,
                span: Span::fixed(buf, index * bytes, bytes),
            };
            (0..).zip(blocks).map(record).collect()
        };
        let (sends, receives) = (records(&self.sends, Buf::Send), records(&self.receives, Buf::Recv));
        Self { sends, receives, ..Self::default() }
    }

    /// Where this rank has the blocks for others.
    pub fn places(&self) -> impl ExactSizeIterator<Item = Place> {
        let first = self.stream().offset;
        self.sends.iter().map(move |block| {
            let bytes = block.span.bytes;
            Place { begin: if bytes == 0 { 0 } else { block.span.offset - first }, bytes }
        })
    }

    /// The blocks that this rank receives: from whom, and how many bytes.
    pub fn received(&self) -> impl ExactSizeIterator<Item = (Peer, u64)> {
        self.receives.iter().map(|block| (block.peer, block.span.bytes))
    }

    /// Lengths that this rank has for itself and expects of itself, and that differ: no plan can be made then.
    pub fn disagreement(&self) -> Option<[u64; 2]> {
        let lengths = self.own.iter().map(|own| own.map(|span| span.bytes));
        lengths.into_iter().find(|[sent, received]| sent != received)
    }

    /// Bytes of the stream that this rank posts.
    pub fn posted_bytes(&self) -> u64 {
        self.stream().bytes
    }

    /// Whether streams of at most `longest` bytes can be posted.
    pub fn fits_lines(longest: u64) -> bool {
        longest <= SLOT_BUDGET_BYTES
    }

    /// Posts and pulls. `places` says where each block that this rank receives lies with its sender, `longest` how
    /// long the longest stream of all ranks is.
    ///
    /// Slots hold the whole stream, so nobody waits for readers; longer streams are posted in segments, each of which
    /// is pulled while the next is posted. In place, all is posted before anything is pulled.
    ///
    /// # Panics
    /// If `places` is not as long as the blocks are many, or streams do not fit lines.
    pub fn by_lines(&self, places: &[u64], longest: u64) -> Plan {
        assert!(places.len() == self.receives.len() && Self::fits_lines(longest), "{longest} bytes to post");
        if self.sends.is_empty() && self.receives.is_empty() || longest == 0 {
            return self.by_messages(); // of which there are none
        }
        let segments = Segments::cut(longest, 1, SEGMENT_BYTES);
        let mut builder = Builder::segmented(segments.count);
        let depth = u32::try_from(segments.count).expect("streams are short");
        let line = builder.line(segments.bytes, depth);
        let stream = self.stream();
        if stream.bytes > 0 {
            builder.post(line, segments.part(stream.buf, stream.offset, stream.bytes));
        }
        self.copy_own(&mut builder, segments.count);
        builder.delay(match depth {
            1 => 0,
            _ if self.in_place => depth,
            _ => 1,
        });
        for (block, &begin) in self.receives.iter().zip(places).filter(|(block, _)| block.span.bytes > 0) {
            if depth == 1 {
                builder.pull(block.peer, line, begin, block.span);
            } else {
                builder.excerpt(block.peer, line, begin, block.span);
            }
        }
        builder.finish()
    }

    /// The range that holds all that this rank has for others.
    fn stream(&self) -> Span {
        let spans = || self.sends.iter().map(|block| block.span).filter(|span| span.bytes > 0);
        let begin = spans().map(|span| span.offset).min().unwrap_or(0);
        let end = spans().map(|span| span.end).max().unwrap_or(0);
        Span::fixed(Buf::Send, begin, end - begin)
    }

    /// Copies what this rank has for itself, a part in each of `segments`.
    fn copy_own(&self, builder: &mut Builder, segments: u64) {
        for &[from, into] in &self.own {
            let bytes = from.bytes.div_ceil(segments);
            let part = |span| Span { bytes, stride: bytes, ..span };
            builder.copy(part(from), part(into), &[]);
        }
    }

    /// A block for `peer`.
    fn send(&mut self, peer: impl Into<Peer>, span: Span) {
        self.sends.push(Block { peer: peer.into(), span });
    }

    /// A block from `peer`.
    fn receive(&mut self, peer: impl Into<Peer>, span: Span) {
        self.receives.push(Block { peer: peer.into(), span });
    }

    /// A block of this rank for itself.
    fn keep(&mut self, from: Span, into: Span) {
        if from.bytes > 0 || into.bytes > 0 {
            self.own.push([from, into]);
        }
    }
}

/// Blocks of these lengths, one after the other in `buf`.
fn in_a_row(buf: Buf, bytes: &[u64]) -> impl ExactSizeIterator<Item = Span> + Clone {
    let mut end = 0;
    bytes.iter().map(move |&bytes| {
        end += bytes;
        Span::fixed(buf, end - bytes, bytes)
    })
}

/// The one block of a rank that has one.
fn only(buf: Buf, bytes: &[u64]) -> Span {
    let [own] = *bytes else { panic!("{} lengths, and there is one block", bytes.len()) };
    Span::fixed(buf, 0, own)
}

/// How much of a stream is posted at a time.
const SEGMENT_BYTES: u64 = 128 << 10;
