//! What the engine asks of a network: messages between endpoints, and memory of others read and written.
//!
//! The interface is that of libfabric's reliable datagrams (`FI_EP_RDM` with `FI_MSG` and `FI_RMA`), as far as the
//! engine needs it; [decision 30](../../../docs/decisions/30-fabric.md) says what each part stands for there. A
//! process has one endpoint. What is *posted* is under way until its *completion* is read, and its memory belongs to
//! the fabric as long.
//!
//! | promised | not promised |
//! |---|---|
//! | each operation that was accepted completes, once, with its context | when, and in which order |
//! | a message arrives once and whole, in the receive that was posted first | that those to one peer arrive in the order in which they were posted, unless it is [asked for](Order) |
//! | nothing blocks: what cannot be accepted now is [`Posted::NotNow`] | that a post after it is refused too |
//! | what needs a peer that has died completes, with [`Failure::Gone`] if it is a read; be it one that was never met | that a message or a write fails, which may be over when it has departed; that anybody hears of a death who posts nothing to it |
//! | a message for which no receive is posted waits, and holds up its sender alone | memory for it |
//!
//! Progress is made when completions are read, by any endpoint for itself.
//!
//! | provider | what |
//! |---|---|
//! | `sim` (feature) | all endpoints in one process, delay, order and refusals fixed by a seed |
//! | the crate `oxmpi-libfabric` | what networks there are |
#![forbid(unsafe_code)]

#[cfg(feature = "sim")]
pub mod conformance;
#[cfg(feature = "sim")]
pub mod sim;

use std::fmt::Debug;

use oxmpi_base::{Error, Result};
use oxmpi_mem::Region;

/// An endpoint, and what there is to post to it. `context` is the caller's, told back with the completion.
pub trait Fabric: Debug + Send {
    /// What it can do, which never changes.
    fn limits(&self) -> Limits;

    /// What messages cost, the same for all endpoints of a fabric; nothing where nobody has measured it.
    fn prices(&self) -> Option<Prices> {
        None
    }

    /// Where others [reach](Fabric::reach) this endpoint. What the bytes mean is the provider's.
    fn address(&self) -> Vec<u8>;

    /// A number for the endpoint with an address; the same for the same.
    ///
    /// # Errors
    /// `Other` if it is no address of this fabric.
    fn reach(&mut self, address: &[u8]) -> Result<Target>;

    /// How the host of an endpoint is called, for people; nothing where that is not known.
    fn host(&self, _of: Target) -> Option<String> {
        None
    }

    /// Why an endpoint is [gone](Failure::Gone) for this one, if it is not its own fault: it may be there.
    fn obstacle(&self, _to: Target) -> Option<Error> {
        None
    }

    /// Sends a message, for the receive that the peer has posted first.
    ///
    /// # Panics
    /// If it has more than [`Limits::message_bytes`].
    fn send(&mut self, to: Target, message: Region, order: Order, context: u64) -> Posted {
        self.send_both(to, [message, Region::EMPTY], order, context)
    }

    /// The same of a message whose bytes lie in two pieces of memory, of which either may be empty. Where neither is,
    /// only a fabric is asked that does not [read alone](Limits::reads_alone): others may take no more than one.
    ///
    /// # Panics
    /// If they have more than [`Limits::message_bytes`] together.
    fn send_both(&mut self, to: Target, pieces: [Region; 2], order: Order, context: u64) -> Posted;

    /// Receives a message of anybody.
    fn receive(&mut self, into: Region, context: u64) -> Posted;

    /// Lets others read or write a piece of memory, until [`Fabric::unregister`].
    ///
    /// # Errors
    /// `NoMem` if no more memory can be registered. What needs it is to go another way.
    fn register(&mut self, memory: Region, access: Access) -> Result<Place>;

    /// Lets nobody read or write it any more. What is on its way fails, but a write that has begun may go on, over tcp
    /// say: it is over when something comes that the same peer has posted behind it, [`Order::After`] all before.
    fn unregister(&mut self, place: Place);

    /// Writes into a peer's memory. Who has `data` tells it to the peer when all bytes are there, which costs that a
    /// completion.
    ///
    /// # Panics
    /// If it has more than [`Limits::remote_bytes`], or data where [none is told](Limits::tells_writes).
    fn write(
        &mut self,
        to: Target,
        from: Region,
        place: Place,
        data: Option<u32>,
        order: Order,
        context: u64,
    ) -> Posted;

    /// Reads a peer's memory.
    ///
    /// # Panics
    /// If it has more than [`Limits::remote_bytes`].
    fn read(&mut self, from: Target, place: Place, into: Region, context: u64) -> Posted;

    /// Moves on what is under way, and adds at most `most` completions to a list.
    fn completions(&mut self, most: usize, list: &mut Vec<Completion>);
}

/// A number for a peer's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target(pub u32);

/// What an endpoint can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of a message: what goes at once, and is not announced by the provider to be read.
    pub message_bytes: usize,
    /// Of what is read or written at a time.
    pub remote_bytes: usize,
    /// Whether it reads memory of others while their processors do something else. Where it does not, as over sockets,
    /// who is read from has more to do than who writes.
    pub reads_alone: bool,
    /// Whether a write may come with data.
    pub tells_writes: bool,
    /// Sends, reads and writes that can be under way.
    pub under_way: usize,
    /// Receives that can be posted.
    pub receives: usize,
}

/// What a message costs, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// From node to node, of the shortest one.
    pub latency_ns: f64,
    /// Of a core's time, at either end.
    pub overhead_ns: f64,
    /// How long it occupies the port of its node.
    pub gap_ns: f64,
    /// How long each of its bytes does.
    pub byte_ns: f64,
}

/// In which order things to the same peer happen there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// This, and what is posted after it, after all that was posted before.
    After,
    /// Any.
    Any,
}

/// Whether something is under way now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "what was not accepted is to be posted again"]
pub enum Posted {
    /// It is not, for want of room: later, perhaps.
    NotNow,
    /// It is.
    Yes,
}

/// What others may do with a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it.
    Read,
    /// Write it.
    Write,
}

/// Memory of an endpoint, as it is told to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which registration.
    pub key: u64,
    /// Where in it; what the first byte of it is called is the provider's.
    pub address: u64,
}

/// Something that was posted is over, or a peer has written with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What.
    pub of: Of,
    /// Why it has failed, if it has.
    pub failure: Option<Failure>,
}

/// What a completion is of; mostly a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A read: the bytes are there.
    Read(u64),
    /// A receive, of so many bytes.
    Received(u64, usize),
    /// A send: its memory is the caller's again. The message may be on its way.
    Sent(u64),
    /// A peer's write that came with data: all its bytes are there.
    Told(u32),
    /// A write: its memory is the caller's again. The bytes may be on their way; what is posted after it, and to come
    /// [`Order::After`] it, comes when they are there.
    Written(u64),
}

/// Why something has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The peer has died, or closed its endpoint.
    Gone,
    /// There is no such memory, or it is not to be used in this way.
    Refused,
    /// The message was longer than the receive; the rest is lost.
    Truncated,
}

impl Posted {
    /// Whether it is under way.
    pub fn is_accepted(self) -> bool {
        self == Self::Yes
    }
}

impl Place {
    /// What lies so many bytes behind.
    #[must_use]
    pub fn behind(self, bytes: u64) -> Self {
        Self { address: self.address.wrapping_add(bytes), ..self }
    }
}
