//! The buffered mode: sends that are complete at once, as far as there is room for their messages.
//!
//! MPI-5.0: Point-to-Point Communication, Communication Modes; Buffer Allocation and Usage.

use std::fmt;
use std::thread;

use oxmpi_base::{Function, Result};
use oxmpi_core::AttachedBuffer;

use crate::buffer::{OwnedBuffer, SendBuffer};
use crate::buffers::One;
use crate::communicator::Communicator;
use crate::message::Dest;
use crate::owned_request::OwnedRequest;
use crate::persistent::Persistent;
use crate::thread::{Funneled, ThreadLevel};

/// Room for messages of a communicator that are sent in the buffered mode; made by [`Communicator::buffered`].
///
/// Each takes up its own bytes and [`Buffered::OVERHEAD_BYTES`] more, until it has been sent. When it is dropped, this
/// waits for those that have not.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let (rank, size) = (world.rank(), world.size());
/// let buffered = world.buffered(1 << 20)?;
/// // Everybody sends first: no receive is waited for.
/// buffered.send(&vec![rank; 10_000], (rank + 1) % size, 0)?;
/// let (left, _) = world.recv_vec::<usize>((rank + size - 1) % size, 0)?;
/// assert_eq!(left[9_999], (rank + size - 1) % size);
/// # Ok(())
/// # }
/// ```
///
/// There is no buffered send without room:
///
/// ```compile_fail,E0505
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let world = env.world();
/// let buffered = world.buffered(1 << 20)?;
/// drop(world);
/// buffered.send(&[1], 0, 0)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "messages are buffered as long as this is there"]
pub struct Buffered<'c, 'env, L: ThreadLevel = Funneled> {
    comm: &'c Communicator<'env, L>,
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Makes room for messages of so many bytes together, to be sent in the buffered mode. See [`Buffered`].
    ///
    /// # Errors
    /// `Buffer` if the communicator has such room already.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let buffered = world.buffered(1000)?;
    /// buffered.send(&world.rank(), peer, 0)?;
    /// let mut theirs = usize::MAX;
    /// world.recv(&mut theirs, peer, 0)?;
    /// assert_eq!(theirs, peer);
    /// assert!(world.buffered(1000).is_err(), "there is room already");
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn buffered(&self, bytes: usize) -> Result<Buffered<'_, 'env, L>> {
        // The messages are kept by the library: there is no memory of the program's.
        let room = AttachedBuffer { address: 0, bytes: Some(bytes as u64) };
        self.door.call(Function::CommAttachBuffer, |process| {
            process.attach_buffer(self.comm.buffer_owner(), room)
        })?;
        Ok(Buffered { comm: self })
    }
}

impl<'env, L: ThreadLevel> Buffered<'_, 'env, L> {
    /// What a message takes up beside its own bytes. See [`Buffered`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// // As much as two messages of 100 numbers take up, and no more.
    /// let buffered = world.buffered(2 * (100 * size_of::<f64>() + <oxmpi::Buffered>::OVERHEAD_BYTES))?;
    /// buffered.send(&[1.5; 100], peer, 0)?;
    /// buffered.send(&[2.5; 100], peer, 0)?;
    /// assert_eq!(world.recv_vec::<f64>(peer, 0)?.0, [1.5; 100]);
    /// assert_eq!(world.recv_vec::<f64>(peer, 0)?.0, [2.5; 100]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub const OVERHEAD_BYTES: usize = oxmpi_core::BUFFERED_OVERHEAD_BYTES as usize;

    /// Sends, and returns at once: the message has been copied. See [`Buffered`].
    ///
    /// # Errors
    /// `Buffer` if there is no room for it beside those that have not been sent; else as [`Communicator::send`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let buffered = world.buffered(1000)?;
    /// let mut message = [world.rank(); 3];
    /// buffered.send(&message, peer, 0)?;
    /// message.fill(9); // it has been copied
    /// assert_eq!(world.recv_vec::<usize>(peer, 0)?.0, [peer; 3]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send<B>(&self, buf: &B, dest: impl Into<Dest>, tag: i32) -> Result<()>
    where
        B: SendBuffer + ?Sized,
    {
        let Communicator { door, comm, .. } = self.comm;
        let dest = dest.into();
        // SAFETY: the message is copied when the call returns, and a send does not write.
        let memory = unsafe { buf.lend().claim() };
        door.call(Function::Bsend, |process| process.bsend(comm, None, &memory, dest.to_core()?, tag))
    }

    /// As [`Buffered::send`], for where a request is wanted: one that is complete at once, and has the buffer.
    ///
    /// # Errors
    /// As there; `NoMem` if there is no memory for another request.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let buffered = world.buffered(1000)?;
    /// // Both are completed the same way.
    /// let requests = [buffered.isend([world.rank(); 3], peer, 0)?, world.irecv([usize::MAX; 3], peer, 0)?];
    /// let [sent, received] = oxmpi::wait_all(requests)?;
    /// assert_eq!((sent.0, received.0), (vec![world.rank(); 3], vec![peer; 3]));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn isend<B: OwnedBuffer>(
        &self,
        buf: B,
        dest: impl Into<Dest>,
        tag: i32,
    ) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
        let (dest, comm) = (dest.into(), &self.comm.comm);
        self.comm.owned(Function::Ibsend, buf.own().within(One::new), |process, memory| {
            process.ibsend(comm, None, &memory, dest.to_core()?, tag)
        })
    }

    /// A persistent send in the buffered mode of what the request keeps, complete at once each time. See [`Buffered`].
    ///
    /// # Errors
    /// As [`Communicator::send`]. Whether there is room is told by each [start](Persistent::start), which fails with
    /// class `Buffer` if there is none.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let buffered = world.buffered(1000)?;
    /// let mut send = buffered.send_init([0; 3], peer, 0)?;
    /// for step in 0..3 {
    ///     send.buf_mut().fill(step);
    ///     send = send.start()?.wait()?; // nobody has begun to receive
    ///     assert_eq!(world.recv_vec::<i32>(peer, 0)?.0, [step; 3]);
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// It ends before the room for its messages:
    ///
    /// ```compile_fail,E0505
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// # let world = env.world();
    /// let buffered = world.buffered(1000)?;
    /// let send = buffered.send_init([0; 3], 0, 0)?;
    /// drop(buffered);
    /// send.start()?.wait().map(drop)
    /// # }
    /// ```
    pub fn send_init<B: OwnedBuffer>(
        &self,
        buf: B,
        dest: impl Into<Dest>,
        tag: i32,
    ) -> Result<Persistent<'_, One<B::Element>, L>> {
        let (dest, comm) = (dest.into(), &self.comm.comm);
        self.comm.persistent_message(Function::BsendInit, buf.own().within(One::new), |process, memory| {
            process.bsend_init(comm, None, memory, dest.to_core()?, tag)
        })
    }

    /// Waits until all messages have been sent. See [`Buffered`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let buffered = world.buffered(100 + <oxmpi::Buffered>::OVERHEAD_BYTES)?;
    /// for step in 0..3_u8 {
    ///     buffered.send(&[step; 100], peer, 0)?;
    ///     assert_eq!(world.recv_vec::<u8>(peer, 0)?.0, [step; 100]);
    ///     buffered.flush(); // there is room for the next
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn flush(&self) {
        let Communicator { door, comm, .. } = self.comm;
        door.run(Function::CommFlushBuffer, |process| process.flush_buffer(comm.buffer_owner()));
    }
}

impl<L: ThreadLevel> Drop for Buffered<'_, '_, L> {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        let Communicator { door, comm, .. } = self.comm;
        // C code that knows the communicator may have done so: then nothing is in it.
        let _ = door.call(Function::CommDetachBuffer, |process| process.detach_buffer(comm.buffer_owner()));
    }
}

impl<L: ThreadLevel> fmt::Debug for Buffered<'_, '_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffered").field("comm", &self.comm.comm).finish()
    }
}
