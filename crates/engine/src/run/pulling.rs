//! What a rank pulls: out of a peer's line, or from where that says.

use oxmpi_base::{Error, ErrorClass};
use oxmpi_mem::copy::Next;
use oxmpi_plan::{Buf, Peer, Span, Take};
use oxmpi_shm::fault::{Point, reach};

use super::posting::{NOWHERE, is_inline};
use super::{Awaits, Means, Run};
use crate::binding::Binding;
use crate::call::LAG;
use crate::matching::{Source, source};
use crate::p2p::offset_of_name;

/// The beginning of so long a result is out of the caches before its end is there.
const BEYOND_CACHES_BYTES: u64 = 32 << 20;

impl Run {
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "the fields of `Action::Pull`, and where it happens")]
    pub(super) fn pull(
        &mut self,
        peer: Peer,
        line: u8,
        skip: u64,
        into: &Span,
        take: Take,
        segment: u64,
        means: &mut Means<'_>,
    ) -> bool {
        let theirs = means.channel.line(peer, self.turn, line);
        let sequence = self.sequence(segment);
        if !theirs.reached(sequence) {
            let goes_on = means.channel.is_stranger(self.turn.number, peer);
            self.awaits = (!goes_on).then_some(Awaits { line: theirs, sequence });
            return goes_on;
        }
        let note = theirs.note();
        means.channel.note_completed(peer, self.turn.number.saturating_sub(note & LAG));
        if note | LAG != self.expected | LAG && !self.agrees(peer, note, means.channel) {
            return true;
        }
        let (offset, bytes) = into.at(segment);
        if bytes == 0 {
            return true;
        }
        let shape = &means.plan.lines[usize::from(line)];
        let posted = if is_inline(shape, means.plan) {
            theirs.payload().part(skip as usize, bytes as usize)
        } else {
            let base = theirs.offset();
            let place = match offset_of_name(base) {
                None => base.saturating_add(segment % u64::from(shape.depth) * shape.slot_bytes),
                Some(name) => name.saturating_add(theirs.stride().saturating_mul(segment)),
            };
            match means.channel.region(peer, place.saturating_add(skip), bytes) {
                Ok(posted) => posted,
                Err(error) => {
                    self.fail(unreadable(peer, base, error));
                    return true;
                }
            }
        };
        reach(Point::InCopy);
        match take {
            Take::Copy => match self.part(means.binding, into.buf, offset, bytes) {
                Some(region) => region.copy_hinted(&posted, when_read(means.binding, into.buf)),
                None => means.binding.buffer(into.buf).write(offset, &posted),
            },
            Take::Left { right } => {
                let [right, into] = [&right, into].map(|span| self.dense(means.binding, span, segment));
                means.binding.reducer().combine(&posted, &right, &into);
            }
            Take::Right { left } => {
                let [left, into] = [&left, into].map(|span| self.dense(means.binding, span, segment));
                means.binding.reducer().combine(&left, &posted, &into);
            }
        }
        true
    }
}

/// When somebody will read what is copied into a buffer.
#[inline]
fn when_read(binding: &Binding, buf: Buf) -> Next {
    if buf == Buf::Recv && binding.recv.bytes() >= BEYOND_CACHES_BYTES { Next::Late } else { Next::Soon }
}

#[cold]
fn unreadable(peer: Peer, offset: u64, error: Error) -> Error {
    let peer = Source(source(peer));
    if offset == NOWHERE.get() {
        let text = format!("{peer} had no shared memory left for its part");
        return Error::new(ErrorClass::NoMem, text);
    }
    if error.class() == ErrorClass::NoMem {
        return error;
    }
    let text = format!("{peer} posted something else than is expected: do the lengths agree?");
    Error::new(ErrorClass::Truncate, text)
}
