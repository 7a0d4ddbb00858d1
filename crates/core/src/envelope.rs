//! What says where a message goes, and which message is received.
//!
//! MPI-5.0: Point-to-Point Communication, Message Envelope.

use std::fmt;

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Address, Mode, OpKey, P2p, Pattern, PeerId};

use crate::comm::Communicator;

/// Whom a message goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dest {
    /// Nobody: `MPI_PROC_NULL`.
    Null,
    /// A rank of the communicator.
    Rank(i32),
}

/// Whom a message may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Anybody: `MPI_ANY_SOURCE`.
    Any,
    /// Nobody: `MPI_PROC_NULL`.
    Null,
    /// A rank of the communicator.
    Rank(i32),
}

/// Which tag a message may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagPattern {
    /// Any: `MPI_ANY_TAG`.
    Any,
    /// This one.
    Tag(i32),
}

/// The communication modes, but for the buffered one: see [`Process::bsend`](crate::Process::bsend).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are the standard's names")]
pub enum SendMode {
    Ready,
    Standard,
    Synchronous,
}

impl SendMode {
    /// What it is to the engine, which makes nothing of the promise that a receive is ready.
    #[inline]
    pub(crate) fn in_engine(self) -> Mode {
        match self {
            Self::Ready | Self::Standard => Mode::Standard,
            Self::Synchronous => Mode::Synchronous,
        }
    }
}

/// Whom a message is for, or from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Route {
    Receive { source: Source, tag: TagPattern, bytes: u64 },
    Send { dest: Dest, tag: i32, bytes: u64 },
}

/// `source` of the status of a receive from [`Source::Null`].
pub const NULL_SOURCE: i32 = i32::MIN;

/// The status of a receive from nobody.
pub(crate) const FROM_NOBODY: Status = Status { source: NULL_SOURCE, ..Status::EMPTY };

impl Communicator {
    /// Where a message goes, if anywhere.
    #[inline]
    pub(crate) fn destination(&self, dest: Dest) -> Result<Option<Address>> {
        match dest {
            Dest::Null => Ok(None),
            Dest::Rank(rank) => match usize::try_from(rank).ok().and_then(|rank| self.addresses.get(rank)) {
                Some(address) => Ok(Some(address)),
                None => Err(self.no_such_rank("dest", rank)),
            },
        }
    }

    /// What a message must say to be received, if any may.
    #[inline]
    pub(crate) fn pattern(&self, source: Source, tag: TagPattern) -> Result<Option<Pattern>> {
        let tag = match tag {
            TagPattern::Any => None,
            TagPattern::Tag(tag) => Some(checked_tag("tag", tag)?),
        };
        match source {
            Source::Any => Ok(Some(Pattern { source: None, tag })),
            Source::Null => Ok(None),
            Source::Rank(rank) if (0..self.peers().cast_signed()).contains(&rank) => {
                Ok(Some(Pattern { source: Some(rank), tag }))
            }
            Source::Rank(rank) => Err(self.no_such_rank("source", rank)),
        }
    }

    /// The peer whose messages a pattern asks for, if it names one.
    #[inline]
    pub(crate) fn sender(&self, pattern: &Pattern) -> Option<PeerId> {
        pattern.source.map(|source| self.addresses.at(source.cast_unsigned()).peer)
    }

    /// As [`Communicator::pattern`], of the receive of a send-receive.
    pub(crate) fn recv_pattern(&self, source: Source, tag: TagPattern) -> Result<Option<Pattern>> {
        if let TagPattern::Tag(tag) = tag {
            checked_tag("recvtag", tag)?;
        }
        self.pattern(source, tag)
    }

    #[cold]
    fn no_such_rank(&self, argument: &str, rank: i32) -> Error {
        let size = self.peers();
        let whole = if self.is_inter() { "remote group" } else { "communicator" };
        let text = format!("{argument} is {rank}, which is not in the {whole}, whose size is {size}");
        Error::new(ErrorClass::Rank, text)
    }
}

/// Begins to send from `comm`; `None` if the send is complete already.
#[inline]
pub(crate) fn begin_send(
    p2p: &mut P2p,
    comm: &Communicator,
    buffer: &Buffer,
    to: Address,
    tag: i32,
    mode: SendMode,
) -> Option<OpKey> {
    p2p.send(to, comm.rank().cast_signed(), tag, buffer, mode.in_engine())
}

/// A tag that a message may carry.
#[inline]
pub(crate) fn checked_tag(argument: &str, tag: i32) -> Result<i32> {
    if tag < 0 {
        return Err(Error::new(ErrorClass::Tag, format!("{argument} is {tag}, which is negative")));
    }
    Ok(tag)
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receive { source, tag, bytes } => {
                write!(f, " of up to {bytes} bytes from ")?;
                match source {
                    Source::Any => f.write_str("MPI_ANY_SOURCE")?,
                    Source::Null => f.write_str("MPI_PROC_NULL")?,
                    Source::Rank(rank) => write!(f, "rank {rank}")?,
                }
                match tag {
                    TagPattern::Any => f.write_str(", MPI_ANY_TAG"),
                    TagPattern::Tag(tag) => write!(f, ", tag {tag}"),
                }
            }
            Self::Send { dest, tag, bytes } => {
                write!(f, " of {bytes} bytes to ")?;
                match dest {
                    Dest::Null => f.write_str("MPI_PROC_NULL")?,
                    Dest::Rank(rank) => write!(f, "rank {rank}")?,
                }
                write!(f, ", tag {tag}")
            }
        }
    }
}
