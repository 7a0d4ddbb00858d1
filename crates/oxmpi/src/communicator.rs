//! Communicators, and the blocking operations on them.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching; Point-to-Point Communication, Blocking Send and
//! Receive Operations; Collective Communication.

use std::mem;
use std::sync::Arc;

use oxmpi_base::{Function, Result};
use oxmpi_core as core;

use crate::buffer::RecvBuffer;
use crate::collective::{self, Collective};
use crate::door::Door;
use crate::engine::before_free;
use crate::message::{Source, Status, TagPattern};
use crate::thread::{Funneled, ThreadLevel};

/// A group of ranks with a context of its own: its messages never meet those of another communicator.
///
/// The methods of the communicator itself block. Nonblocking operations are begun in a
/// [`scope`](Communicator::scope), persistent ones are made by the methods that end in `_init`. All
/// collectives must be called by all ranks of the communicator, in the same order. Bad arguments are returned as
/// errors. So is that ranks disagree, about which collective it is, its root, operation or length: to who reads what
/// another one tells at once, to who only tells when he reads next; what has been received is undefined then, and the
/// communicator can be used on.
///
/// Dropping a communicator frees it; operations that are under way on it end first.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// // A library's messages never meet those of the program, whatever their tags are.
/// let library = world.duplicate()?;
/// let peer = 1 - world.rank();
/// let of_library = library.irecv(0, peer, 0)?;
/// let of_program = world.irecv(0, peer, 0)?;
/// world.send(&1, peer, 0)?;
/// library.send(&2, peer, 0)?;
/// assert_eq!((of_program.wait()?.0, of_library.wait()?.0), (vec![1], vec![2]));
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Communicator<'env, L: ThreadLevel = Funneled> {
    pub(crate) door: Door<'env, L>,
    pub(crate) comm: Arc<core::Communicator>,
    /// What is wished for the persistent collectives that are made by it.
    pub(crate) wish: Option<String>,
    /// Whether it is freed by somebody else: it is a view of another one.
    pub(crate) is_view: bool,
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    pub(crate) fn new(door: Door<'env, L>, comm: &Arc<core::Communicator>) -> Self {
        Self { door, comm: Arc::clone(comm), wish: None, is_view: false }
    }

    /// This process's rank, from 0.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// assert!(world.rank() < world.size());
    /// # Ok(())
    /// # }
    /// ```
    pub fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    /// Number of ranks.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// assert_eq!(env.this().size(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn size(&self) -> usize {
        self.comm.size() as usize
    }

    /// Receives the first message that matches.
    ///
    /// # Errors
    /// `Rank` if `source` is not a rank; `Tag` if the tag is negative; `Truncate` if the message is longer than
    /// `buf`, which then holds its beginning.
    ///
    /// ```
    /// use oxmpi::{Source, TagPattern};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[1u8, 2, 3], 0, 5)?;
    /// let mut buf = [0u8; 8];
    /// let status = this.recv(&mut buf, Source::Any, TagPattern::Any)?;
    /// assert_eq!((status.tag(), status.count::<u8>()), (Some(5), Some(3)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv<B>(
        &self,
        buf: &mut B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Status>
    where
        B: RecvBuffer + ?Sized,
    {
        let (source, tag) = (source.into(), tag.into().to_core());
        let loan = buf.lend_mut();
        let check = loan.check();
        // SAFETY: the receive is complete when the call returns, and the loan is of what may be written.
        let buffer = unsafe { loan.claim() };
        let status = self.door.call(Function::Recv, |process| {
            process.recv(&self.comm, buffer, source.to_core()?, tag)?.into_result()
        });
        self.door.checked(Function::Recv, check, status).map(Status::from)
    }

    /// Waits for a message that matches, and tells about it without receiving it.
    ///
    /// # Errors
    /// `Rank` if `source` is not a rank; `Tag` if the tag is negative.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[1.5f32; 3], 0, 0)?;
    /// let expected = this.probe(0, 0)?.count::<f32>().expect("whole elements");
    /// let mut buf = vec![0.0f32; expected];
    /// this.recv(&mut buf, 0, 0)?;
    /// assert_eq!(buf, [1.5; 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn probe(&self, source: impl Into<Source>, tag: impl Into<TagPattern>) -> Result<Status> {
        let (source, tag) = (source.into(), tag.into().to_core());
        let status =
            self.door.call(Function::Probe, |process| process.probe(&self.comm, source.to_core()?, tag));
        status.map(Status::from)
    }

    /// Tells about a message that matches, if one has arrived.
    ///
    /// # Errors
    /// As [`Communicator::probe`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// assert!(this.iprobe(oxmpi::Source::Any, 0)?.is_none());
    /// this.send(&[7; 3], 0, 0)?;
    /// let status = loop {
    ///     if let Some(status) = this.iprobe(0, 0)? {
    ///         break status;
    ///     }
    /// };
    /// let mut buf = vec![0; status.count::<i32>().expect("whole elements")];
    /// this.recv(&mut buf, 0, 0)?;
    /// assert_eq!(buf, [7; 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn iprobe(&self, source: impl Into<Source>, tag: impl Into<TagPattern>) -> Result<Option<Status>> {
        let (source, tag) = (source.into(), tag.into().to_core());
        let status =
            self.door.call(Function::Iprobe, |process| process.iprobe(&self.comm, source.to_core()?, tag));
        Ok(status?.map(Status::from))
    }

    pub(crate) fn blocking<'b, C: Collective<'b>>(&self, collective: C) -> Result<()> {
        let function = C::FUNCTIONS.blocking;
        let check = collective.check();
        // SAFETY: the collective is complete when the call returns; its arguments go no further than it does.
        let arguments = unsafe { collective::arguments(function, &collective) };
        let result = self.door.call(function, |process| {
            // SAFETY: as above.
            let describe = || unsafe { collective.bind(process, &self.comm) };
            process.call_blocking(&self.comm, arguments.as_ref(), describe)
        });
        self.door.checked(function, check, result)
    }
}

impl<L: ThreadLevel> Drop for Communicator<'_, L> {
    fn drop(&mut self) {
        if self.is_view {
            return;
        }
        let (deleted, attached) = self.door.run(Function::CommFree, |process| {
            let comm = mem::replace(&mut self.comm, Arc::clone(process.myself()));
            let lives_as_long_as_the_process =
                Arc::ptr_eq(&comm, process.world()) || Arc::ptr_eq(&comm, process.myself());
            if lives_as_long_as_the_process {
                return (Ok(()), Vec::new());
            }
            let deleted = before_free(process, &comm);
            let attached = comm.detach_all();
            process.comm_free(comm).expect("what was made can be freed");
            (deleted, attached)
        });
        if let Err(error) = deleted {
            self.door.give_up(Function::CommFree, error);
        }
        drop(attached); // outside of the call: their destructors may call, and panic
    }
}
