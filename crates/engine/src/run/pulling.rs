//! What a rank pulls: out of a peer's line, or from where that says.

use oxmpi_base::{Error, ErrorClass};
use oxmpi_mem::Region;
use oxmpi_op::Reducer;
use oxmpi_plan::{Buf, Peer, Span, Take};
use oxmpi_shm::fault::{Point, reach};
use oxmpi_shm::{Line, SingleCopy, now_ns};

use super::posting::is_inline;
use super::sequence::is_shown;
use super::{Awaits, Means, Run};
use crate::call::{LAG, most_ahead};
use crate::channel::Channel;
use crate::course::Way;
use crate::matching::{Source, source};
use crate::posted::{Place, Posted};
use crate::results::LONG_BYTES;

const DENSE: &str = "the buffers of a reduction are dense";
/// What is combined is read in pieces of so many bytes, which stay in the caches.
const PIECE_BYTES: u64 = 64 << 10;

/// What there is on a line.
pub(super) enum Look {
    /// What a peer calls who does something else, and is not waited for: nothing is to be taken.
    Nothing,
    /// Nothing, yet.
    NotYet,
    /// What was waited for.
    There(&'static Line),
}

impl Run {
    /// Looks whether a peer has posted a segment on a line.
    #[inline(always)]
    pub(super) fn look(&mut self, peer: Peer, line: u8, segment: u64, means: &mut Means<'_>) -> Look {
        let theirs = means.channel.line(peer, self.turn, line);
        let sequence = self.sequence(segment);
        if !is_shown(theirs, sequence) {
            return self.waits_for(theirs, sequence, peer, means);
        }
        let note = theirs.note();
        means.channel.note_completed(peer, self.turn.number.saturating_sub(most_ahead(note)));
        if note | LAG != self.expected | LAG && !self.agrees(peer, note, means.channel, means.p2p) {
            return Look::Nothing;
        }
        Look::There(theirs)
    }

    /// Notes what is waited for, if it is.
    #[inline]
    fn waits_for(&mut self, theirs: &'static Line, sequence: u64, peer: Peer, means: &Means<'_>) -> Look {
        let goes_on = means.channel.is_stranger(self.turn.number, peer);
        self.awaits = (!goes_on).then_some(Awaits { line: theirs, sequence });
        if goes_on { Look::Nothing } else { Look::NotYet }
    }

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
        let theirs = match self.look(peer, line, segment, means) {
            Look::There(theirs) => theirs,
            Look::Nothing => return true,
            Look::NotYet => return false,
        };
        let (_, bytes) = into.at(segment);
        if bytes == 0 {
            return true;
        }
        let shape = &means.plan.lines[usize::from(line)];
        let posted = if is_inline(shape, means.plan) {
            theirs.payload().part(skip as usize, bytes as usize)
        } else {
            let word = theirs.offset();
            let is_long = shape.slot_bytes * means.plan.segments >= means.p2p.least_read_bytes();
            let place = match Posted::of_word(word).map_or(Place::Slots(0), Posted::place) {
                Place::Slots(base) => {
                    if is_long {
                        means.channel.tell_whether_readable(means.p2p);
                        self.sees(Way::Shared, peer, bytes, means.channel);
                    }
                    self.reads_post(word, segment, means);
                    base.saturating_add(segment % u64::from(shape.depth) * shape.slot_bytes)
                }
                Place::Named(name) => name.saturating_add(theirs.stride().saturating_mul(segment)),
                Place::Address(_) => return self.read(peer, theirs, skip, into, take, segment, means),
            };
            match means.channel.region(peer, place.saturating_add(skip), bytes) {
                Ok(posted) if is_long && Posted::of_word(word).is_some_and(Posted::is_timed) => {
                    return self.take_in_time(&posted, into, take, segment, means);
                }
                Ok(posted) => posted,
                Err(error) => {
                    self.fail(unreadable(peer, word, error));
                    return true;
                }
            }
        };
        reach(Point::InCopy);
        self.take(&posted, 0, into, take, segment, means);
        true
    }

    /// Takes what was pulled, and notes the time.
    #[cold]
    #[inline(never)]
    fn take_in_time(
        &mut self,
        posted: &Region,
        into: &Span,
        take: Take,
        segment: u64,
        means: &mut Means<'_>,
    ) -> bool {
        let begun_ns = now_ns();
        self.take(posted, 0, into, take, segment, means);
        self.note_time(begun_ns, posted.len() as u64);
        true
    }

    /// Takes a piece of what was pulled: that behind the first `done` bytes.
    #[inline(always)] // of what is short it is most of the work
    fn take(
        &mut self,
        piece: &Region,
        done: u64,
        into: &Span,
        take: Take,
        segment: u64,
        means: &mut Means<'_>,
    ) {
        let bytes = piece.len() as u64;
        let part = |span: &Span| self.part(means.binding, span.buf, span.at(segment).0 + done, bytes);
        let (left, right) = match take {
            Take::Copy => {
                return match part(into) {
                    Some(region) => self.copy_into(into.buf, piece, &region, means),
                    None => means.binding.buffer(into.buf).write(into.at(segment).0 + done, piece),
                };
            }
            Take::Left { right } => (*piece, part(&right).expect(DENSE)),
            Take::Right { left } => (part(&left).expect(DENSE), *piece),
        };
        means.binding.reducer().combine(&left, &right, &part(into).expect(DENSE));
    }

    /// Copies a piece into a buffer.
    #[inline]
    pub(super) fn copy_into(&mut self, buf: Buf, from: &Region, into: &Region, means: &mut Means<'_>) {
        if buf == Buf::Recv && means.binding.recv.bytes() >= LONG_BYTES {
            self.copy_into_result(from, into, means);
        } else {
            into.copy_from(from);
        }
    }

    #[cold]
    #[inline(never)]
    fn copy_into_result(&mut self, from: &Region, into: &Region, means: &mut Means<'_>) {
        let direct = self.direct.get_or_insert_default();
        let length = means.binding.recv.bytes();
        direct.result.get_or_insert_with(|| means.p2p.results.begin(length)).copy(from, into);
    }

    /// What lies in slots is read: by the other member of two, perhaps on a desk, which has all it will have when the
    /// last segment is there.
    #[inline]
    fn reads_post(&mut self, word: u64, segment: u64, means: &mut Means<'_>) {
        let Some(other) = means.channel.other() else { return };
        means.p2p.has_read_post(other);
        if let Some(desk) = Posted::of_word(word).and_then(Posted::desk)
            && segment + 1 == means.plan.segments
            && !self.desks.contains(&desk)
        {
            self.desks.push(desk);
        }
    }

    /// The run is over: what was read on a desk was read.
    #[inline]
    pub(super) fn keep_desks(&mut self, means: &mut Means<'_>) {
        if let Some(other) = means.channel.other() {
            self.desks.drain(..).for_each(|desk| means.p2p.put_post_desk(other, desk));
        }
    }

    /// What is pulled lies in the memory of a peer, which is asked of the system.
    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "as `pull`")]
    fn read(
        &mut self,
        peer: Peer,
        theirs: &'static Line,
        skip: u64,
        into: &Span,
        take: Take,
        segment: u64,
        means: &mut Means<'_>,
    ) -> bool {
        let posted = Posted::of_word(theirs.offset_now());
        let Some((posted, Place::Address(address))) = posted.map(|posted| (posted, posted.place())) else {
            return false; // it has just been copied after all
        };
        let (offset, bytes) = into.at(segment);
        let begin = theirs.stride().saturating_mul(segment).saturating_add(skip);
        if begin.saturating_add(bytes) > theirs.extent() {
            self.fail(beyond(peer));
            return true;
        }
        let from = means.channel.address(peer).peer;
        let Some(memory) = means.p2p.memory_of(from) else { return self.cannot_read(peer, theirs, means) };
        self.sees(Way::Direct, peer, bytes, means.channel);
        reach(Point::InCopy);
        let begun_ns = if posted.is_timed() { now_ns() } else { 0 };
        let address = address.saturating_add(begin);
        let target =
            if take == Take::Copy { self.part(means.binding, into.buf, offset, bytes) } else { None };
        let done = match target {
            Some(target) if memory.read(address, &target) => bytes,
            Some(_) => 0,
            None => self.read_in_pieces(&memory, address, into, take, segment, means),
        };
        if done != bytes {
            means.p2p.close_memory_of(from);
            if done != 0 && take != Take::Copy {
                self.fail(cut_short(peer)); // a part is combined already
                return true;
            }
            return self.cannot_read(peer, theirs, means);
        }
        if posted.is_timed() {
            self.note_time(begun_ns, bytes);
        }
        true
    }

    /// So much of what a peer has posted goes some way.
    fn sees(&mut self, way: Way, peer: Peer, bytes: u64, channel: &Channel) {
        let direct = self.direct.get_or_insert_default();
        direct.taking.bytes += bytes;
        if let Peer::Local(rank) = peer
            && rank < channel.rank()
        {
            let leader = &mut direct.leader;
            // Slots may be no choice: what is overwritten is copied in any case.
            if leader.is_none_or(|(lowest, seen)| rank < lowest || rank == lowest && seen == Way::Shared) {
                *leader = Some((rank, way));
            }
        }
    }

    /// The same where it does not go as it is into memory in one piece; how many bytes were taken.
    fn read_in_pieces(
        &mut self,
        memory: &SingleCopy,
        address: u64,
        into: &Span,
        take: Take,
        segment: u64,
        means: &mut Means<'_>,
    ) -> u64 {
        let (_, bytes) = into.at(segment);
        let unit = means.binding.reducer.as_ref().map_or(1, Reducer::unit_bytes);
        let most = ((PIECE_BYTES / unit).max(1) * unit).min(bytes);
        let scratch = means.p2p.pool.take(most as usize);
        let mut done = 0;
        while done < bytes {
            let piece = scratch.part(0, most.min(bytes - done) as usize);
            if !memory.read(address.saturating_add(done), &piece) {
                break;
            }
            self.take(&piece, done, into, take, segment, means);
            done += piece.len() as u64;
        }
        means.p2p.pool.give(scratch);
        done
    }

    /// The system refuses. Who has posted will see that this rank cannot read, and copy what it has; that is looked for
    /// when the run is [suspected](Self::suspect) to wait for nothing.
    #[cold]
    fn cannot_read(&mut self, peer: Peer, theirs: &'static Line, means: &mut Means<'_>) -> bool {
        if means.channel.is_stranger(self.turn.number, peer) {
            return true;
        }
        means.channel.tell_unreadable(means.p2p);
        self.awaits = Some(Awaits { line: theirs, sequence: Awaits::ANOTHER_PLACE });
        false
    }

    /// So much was taken since then of what is timed.
    #[cold]
    fn note_time(&mut self, begun_ns: u64, bytes: u64) {
        let taking = &mut self.direct.get_or_insert_default().taking;
        taking.timed_ns += now_ns().saturating_sub(begun_ns);
        taking.timed_bytes += bytes;
    }
}

#[cold]
fn unreadable(peer: Peer, word: u64, error: Error) -> Error {
    if word == Posted::NOWHERE.word() {
        let text = format!("{} had no shared memory left for its part", Source(source(peer)));
        return Error::new(ErrorClass::NoMem, text);
    }
    if error.class() == ErrorClass::NoMem {
        return error;
    }
    beyond(peer)
}

#[cold]
fn beyond(peer: Peer) -> Error {
    let peer = Source(source(peer));
    let text = format!("{peer} posted something else than is expected: do the lengths agree?");
    Error::new(ErrorClass::Truncate, text)
}

#[cold]
fn cut_short(peer: Peer) -> Error {
    let peer = Source(source(peer));
    Error::new(ErrorClass::Other, format!("the memory of {peer} could not be read to the end"))
}
