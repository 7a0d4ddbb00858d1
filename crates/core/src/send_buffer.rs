//! Buffered sends, and the buffers that a program attaches for them.
//!
//! The messages themselves are kept in memory of the library. Of an attached buffer only an account is kept: which
//! messages would still fill a part of it, because the receiver has not taken them over, and how many bytes. A send
//! that the account has no room for is refused, as it would be if the buffer itself were used.
//!
//! A message goes by the buffer of its communicator; if that has none, by that of the session that the
//! communicator comes from; if that has none either, by that of the process.
//!
//! MPI-5.0: Point-to-Point Communication, Buffer Allocation and Usage.

use oxmpi_base::{Error, ErrorClass, Ordered, Ordinal, Result};
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Address, OpKey, P2p};

use crate::comm::Communicator;

/// Bytes of a buffer that a message takes beyond its own. It could do without; but a program whose buffer is too
/// small elsewhere should hear of it here too. Other libraries take as much or a little more, and fronts promise to
/// take no more than their `MPI_BSEND_OVERHEAD`.
pub const BUFFERED_OVERHEAD_BYTES: u64 = 96;

/// Messages that an account may hold before it looks whether they have been sent.
const PATIENCE: usize = 32;

/// What a buffer is attached to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferOwner {
    /// A communicator, by a number of its own: see [`Communicator::buffer_owner`].
    Comm(u32),
    /// The process.
    Process,
    /// The session that the front has given this number.
    Session(u64),
}

impl Ordinal for BufferOwner {
    fn ordinal(self) -> u128 {
        match self {
            Self::Comm(number) => number.into(),
            Self::Process => 1 << 64,
            Self::Session(number) => 2 << 64 | u128::from(number),
        }
    }
}

/// A buffer of the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachedBuffer {
    /// Where it is; nothing is read or written there.
    pub address: usize,
    /// Its size; `None` if there is no limit, as automatic buffering demands.
    pub bytes: Option<u64>,
}

/// All attached buffers of a process.
#[derive(Debug, Default)]
pub(crate) struct SendBuffers(Ordered<BufferOwner, Account>);

/// A buffer, and what would still be in it.
#[derive(Debug)]
struct Account {
    buffer: AttachedBuffer,
    /// With the bytes that each takes up; some may have been sent since somebody looked.
    messages: Vec<(OpKey, u64)>,
    /// The sum of these bytes.
    used_bytes: u64,
    /// With so many messages, it is time to forget those that have been sent.
    patience: usize,
}

/// Which way a buffered message goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferedRoute {
    pub(crate) to: Address,
    pub(crate) tag: i32,
    /// The session that the communicator comes from.
    pub(crate) session: Option<u64>,
}

impl Communicator {
    /// What a buffer of this communicator is attached to.
    pub fn buffer_owner(&self) -> BufferOwner {
        BufferOwner::Comm(self.context)
    }
}

impl SendBuffers {
    /// Attaches a buffer.
    ///
    /// # Errors
    /// `Buffer` if the owner has one already.
    pub(crate) fn attach(&mut self, owner: BufferOwner, buffer: AttachedBuffer) -> Result<()> {
        if self.0.contains_key(owner) {
            return Err(Error::new(ErrorClass::Buffer, "a buffer is attached already"));
        }
        self.0.insert(owner, Account { buffer, messages: Vec::new(), used_bytes: 0, patience: PATIENCE });
        Ok(())
    }

    /// Takes a buffer back, if all messages in it have been sent.
    ///
    /// # Errors
    /// `Buffer` if there is none.
    pub(crate) fn detach(&mut self, p2p: &P2p, owner: BufferOwner) -> Result<Option<AttachedBuffer>> {
        let none = || Error::new(ErrorClass::Buffer, "no buffer is attached");
        let account = self.0.get_mut(owner).ok_or_else(none)?;
        account.settle(p2p);
        let free = account.messages.is_empty().then_some(account.buffer);
        if free.is_some() {
            self.0.remove(owner);
        }
        Ok(free)
    }

    /// Sends a message by the buffer that it belongs to.
    pub(crate) fn send(
        &mut self,
        p2p: &mut P2p,
        comm: &Communicator,
        route: BufferedRoute,
        buffer: &Buffer,
    ) -> Result<()> {
        let bytes = buffer.bytes();
        let account = self.of(comm, route.session).ok_or_else(|| no_buffer(bytes))?;
        let needed_bytes = bytes.saturating_add(BUFFERED_OVERHEAD_BYTES);
        account.make_room(p2p, needed_bytes)?;
        let sent = p2p.send_copy(route.to, comm.rank().cast_signed(), route.tag, buffer);
        if let Some(message) = sent {
            account.keep(p2p, message, needed_bytes);
        }
        Ok(())
    }

    fn of(&mut self, comm: &Communicator, session: Option<u64>) -> Option<&mut Account> {
        let owners =
            [Some(comm.buffer_owner()), session.map(BufferOwner::Session), Some(BufferOwner::Process)];
        let owner = owners.into_iter().flatten().find(|owner| self.0.contains_key(*owner))?;
        self.0.get_mut(owner)
    }

    /// The messages that would be in a buffer.
    pub(crate) fn messages(&self, owner: BufferOwner) -> Vec<OpKey> {
        let account = self.0.get(owner);
        account.into_iter().flat_map(|account| &account.messages).map(|&(message, _)| message).collect()
    }

    /// Forgets a buffer, whatever would be in it.
    pub(crate) fn forget(&mut self, owner: BufferOwner) {
        self.0.remove(owner);
    }
}

impl Account {
    /// Whether there is room for a message, looking for messages that have been sent if there is not.
    fn make_room(&mut self, p2p: &mut P2p, needed_bytes: u64) -> Result<()> {
        if self.has_room(needed_bytes) {
            return Ok(());
        }
        p2p.poll();
        self.settle(p2p);
        if self.has_room(needed_bytes) { Ok(()) } else { Err(self.no_room(needed_bytes)) }
    }

    fn keep(&mut self, p2p: &P2p, message: OpKey, bytes: u64) {
        if self.messages.len() >= self.patience {
            self.settle(p2p);
            self.patience = PATIENCE.max(2 * self.messages.len());
        }
        self.messages.push((message, bytes));
        self.used_bytes += bytes;
    }

    /// Forgets the messages that have been sent.
    fn settle(&mut self, p2p: &P2p) {
        self.messages.retain(|&(message, bytes)| {
            let is_here = !p2p.is_done(message);
            self.used_bytes -= if is_here { 0 } else { bytes };
            is_here
        });
    }

    fn has_room(&self, needed_bytes: u64) -> bool {
        let limit = self.buffer.bytes.unwrap_or(u64::MAX);
        limit - self.used_bytes >= needed_bytes
    }

    #[cold]
    fn no_room(&self, needed_bytes: u64) -> Error {
        let (limit, used) = (self.buffer.bytes.unwrap_or(u64::MAX), self.used_bytes);
        let bytes = needed_bytes - BUFFERED_OVERHEAD_BYTES;
        let text = format!(
            "a message of {bytes} bytes takes {needed_bytes} of the attached buffer, which has {limit}, \
             {used} of them in use"
        );
        Error::new(ErrorClass::Buffer, text)
    }
}

#[cold]
fn no_buffer(bytes: u64) -> Error {
    let text = format!("no buffer is attached that a message of {bytes} bytes could be sent by");
    Error::new(ErrorClass::Buffer, text)
}
