//! Operations that are under way, and how they end.

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_mem::{Region, Taken};
use oxmpi_shm::ring::Header;

use super::Address;
use crate::board::Entry;
use crate::matching::{Pattern, Source};
use crate::names::Names;
use crate::peers::PeerId;

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// When the buffer can be used again. Serves the ready mode too.
    Standard,
    /// When, moreover, a receive has matched.
    Synchronous,
}

/// How an operation ended.
#[derive(Debug)]
pub struct Outcome {
    /// What to tell about it.
    pub status: Status,
    /// What went wrong.
    pub error: Option<Error>,
}

/// All went well.
impl From<Status> for Outcome {
    #[inline]
    fn from(status: Status) -> Self {
        Self { status, error: None }
    }
}

impl Outcome {
    /// The status, unless something went wrong.
    ///
    /// # Errors
    /// What went wrong.
    #[inline]
    pub fn into_result(self) -> Result<Status> {
        self.error.map_or(Ok(self.status), Err)
    }
}

/// An operation under way.
#[derive(Debug)]
pub struct Op {
    /// The other side; of a receive that waits, this process as long as it is not known.
    pub(super) peer: PeerId,
    pub(super) context: u32,
    pub(super) buffer: Buffer,
    pub(super) state: State,
    pub(super) status: Status,
    pub(super) error: Option<Error>,
    /// What the caller wants to see struck out when it is over.
    pub(super) entry: Entry,
    /// Nobody will ask for the outcome.
    pub(super) detached: bool,
    /// A send that is not over before a receive has matched.
    pub(super) is_synchronous: bool,
    /// The copy that a buffered send sends.
    pub(super) copy: Option<Taken>,
    /// What the caller wants to be told about it in reports.
    pub(super) header: Header,
    /// Of one that can be started again: how it begins.
    pub(super) plan: Option<Plan>,
}

/// How a planned operation begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Plan {
    /// What it asks for, and of whom; of this process itself, if of anybody.
    Receive(Pattern, PeerId),
    Send(Mode),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// One that is planned and not under way.
    Inactive,
    /// A send in the outbox.
    Queued,
    /// A send that waits for the receiver's answer; its number, if it was only [shown](super::shown) there, or 0.
    Announced { shown: u64 },
    /// The same, after the receiver was asked to forget it.
    Retracting { shown: u64 },
    /// A send that no receive will ever match: the receiver posts none any more.
    Refused,
    /// A send whose data is on its way: the receiver's operation, and bytes sent.
    Streaming { receive: u64, sent: u64 },
    /// A receive that waits for a message; the number under which senders were [asked](super::asking) for one, or 0.
    Posted { asked: u64 },
    /// A receive whose data is on its way: bytes arrived.
    Filling { arrived: u64 },
    /// Over.
    Done,
}

impl Op {
    pub(super) fn new(state: State, peer: Address, buffer: Buffer, header: Header) -> Self {
        let (Address { peer, context }, status) = (peer, Status::EMPTY);
        let (error, entry, copy, plan) = (None, Entry::NONE, None, None);
        let (detached, is_synchronous) = (false, false);
        Self {
            peer,
            context,
            buffer,
            state,
            status,
            error,
            entry,
            detached,
            is_synchronous,
            copy,
            header,
            plan,
        }
    }

    /// Whether somebody or something may still wait for it.
    pub(super) fn is_under_way(&self) -> bool {
        !matches!(self.state, State::Done | State::Inactive)
    }

    /// Whether it is a receive that waits for a message.
    #[inline]
    pub(super) fn is_posted(&self) -> bool {
        matches!(self.state, State::Posted { .. })
    }

    /// Whether it is one for which senders were asked under this number.
    pub(super) fn asks(&self, number: u64) -> bool {
        self.state == State::Posted { asked: number }
    }

    /// Whether a send is a message of a collective: all of them have notes, and no note is 0.
    pub(super) fn is_of_collective(&self) -> bool {
        self.header.token != 0
    }

    /// A receive takes a message that is here, whole.
    #[inline(always)] // the headers and payloads of most messages are in registers
    pub(super) fn fill(&mut self, header: &Header, payload: &Region) {
        self.header.token = header.token;
        if header.bytes <= self.buffer.bytes() {
            self.buffer.write(0, payload);
            self.status = status_of(header);
        } else {
            self.fill_with_part(*header, *payload);
        }
    }

    /// The same of a message whose data has been put in its place, as far as it fits.
    pub(super) fn note_filled(&mut self, header: &Header) {
        self.header.token = header.token;
        Outcome { status: self.status, error: self.error } = judged(header, self.buffer.bytes());
    }

    /// As [`Op::fill`], of a message that is too long.
    #[cold]
    fn fill_with_part(&mut self, header: Header, payload: Region) {
        Outcome { status: self.status, error: self.error } = delivered(&header, &payload, &self.buffer);
    }

    /// Whether it is a message of this library itself: such are few, and have a note or a tag below 0.
    pub(super) fn is_own(&self) -> bool {
        self.is_of_collective() || self.header.tag < 0
    }

    pub(super) fn is_announced(&self) -> bool {
        matches!(self.state, State::Announced { .. } | State::Retracting { .. })
    }

    pub(super) fn describe(&self, names: &impl Names) -> String {
        let (Header { source, tag, bytes: total, .. }, bytes) = (self.header, self.buffer.bytes());
        let named = |value: i32| (value != Status::ANY).then_some(value);
        let asked = || Pattern { source: named(source), tag: named(tag) }.describe(&names.comm(self.context));
        let receiver = || names.member(Address { peer: self.peer, context: self.context });
        match self.state {
            State::Posted { .. } => format!("receive of up to {bytes} bytes from {}", asked()),
            State::Filling { arrived } => {
                format!("receive from {}: {arrived} of {total} bytes are here", asked())
            }
            State::Streaming { sent, .. } => {
                format!("send to {}, tag {tag}: {sent} of {bytes} bytes are sent", receiver())
            }
            State::Refused => {
                format!("send of {bytes} bytes to {}, tag {tag}: will not be received", receiver())
            }
            _ => format!("send of {bytes} bytes to {}, tag {tag}: not received yet", receiver()),
        }
    }
}

/// Puts a message that is here, whole, where it belongs.
#[inline]
pub(super) fn delivered(header: &Header, payload: &Region, buffer: &Buffer) -> Outcome {
    let capacity = buffer.bytes();
    if header.bytes <= capacity {
        buffer.write(0, payload);
    } else {
        buffer.write(0, &payload.part(0, payload.len().min(capacity as usize)));
    }
    judged(header, capacity)
}

/// How a receive of at most `capacity` bytes ends that gets the message of `header`.
#[inline]
pub(super) fn judged(header: &Header, capacity: u64) -> Outcome {
    let mut outcome = Outcome { status: status_of(header), error: None };
    if header.bytes > capacity {
        outcome.status.bytes = capacity;
        outcome.status.error = ErrorClass::Truncate;
        outcome.error = Some(truncated(header, capacity));
    }
    outcome
}

#[cold]
fn truncated(header: &Header, capacity: u64) -> Error {
    let Header { bytes, source, tag, .. } = header;
    let sender = Source(*source);
    let text =
        format!("a message of {bytes} bytes from {sender} with tag {tag} does not fit into {capacity} bytes");
    Error::new(ErrorClass::Truncate, text)
}

#[inline]
pub(super) fn status_of(header: &Header) -> Status {
    Status { source: header.source, tag: header.tag, bytes: header.bytes, ..Status::EMPTY }
}
