//! Messages that have been matched before they are received, and those whose length is not known before.
//!
//! MPI-5.0: Point-to-Point Communication, Probe and Cancel (Matching Probe, Matched Receives).

use std::fmt;
use std::mem::MaybeUninit;
use std::slice;
use std::thread;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{MessageKey, Process};
use oxmpi_datatype::Buffer as Memory;

use crate::buffer::{OwnedBuffer, RecvBuffer};
use crate::buffers::One;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::door::Door;
use crate::loan::Loan;
use crate::message::{Source, Status, TagPattern};
use crate::owned_request::OwnedRequest;
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::{Funneled, ThreadLevel};

/// A message that has been found and that nobody else can receive any more.
///
/// It says how long it is, so that the memory can be made for it. One that is dropped is thrown away.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let this = env.this();
/// this.send(&[1.5, 2.5], 0, 7)?;
/// let message = this.mprobe(0, 7)?;
/// let mut buf = vec![0.0; message.status().count::<f64>().expect("whole elements")];
/// message.recv(&mut buf)?;
/// assert_eq!(buf, [1.5, 2.5]);
/// # Ok(())
/// # }
/// ```
///
/// It is received once:
///
/// ```compile_fail,E0382
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let message = env.this().mprobe(0, 7)?;
/// message.recv(&mut [0; 2])?;
/// message.recv(&mut [0; 2])?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a message that is dropped is thrown away"]
pub struct Message<'env, L: ThreadLevel = Funneled> {
    door: Door<'env, L>,
    /// `None` if it comes from nobody, or has been received.
    key: Option<MessageKey>,
    status: Status,
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// Waits for a message that matches, and takes it: only [`Message::recv`] receives it.
    ///
    /// # Errors
    /// As [`Communicator::probe`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[1, 2, 3], 0, 7)?;
    /// let message = this.mprobe(oxmpi::Source::Any, 7)?;
    /// // Nobody else can receive it now: threads can share a source.
    /// assert!(this.iprobe(oxmpi::Source::Any, 7)?.is_none());
    /// assert_eq!(message.recv_vec::<i32>()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn mprobe(&self, source: impl Into<Source>, tag: impl Into<TagPattern>) -> Result<Message<'env, L>> {
        let (source, tag) = (source.into(), tag.into().to_core());
        let found =
            self.door.call(Function::Mprobe, |process| process.mprobe(&self.comm, source.to_core()?, tag));
        found.map(|(status, key)| Message { door: self.door, key, status: status.into() })
    }

    /// Takes a message that matches, if one has arrived.
    ///
    /// # Errors
    /// As [`Communicator::probe`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// assert!(this.improbe(0, 0)?.is_none());
    /// this.send(&[1, 2, 3], 0, 0)?;
    /// let message = loop {
    ///     if let Some(message) = this.improbe(0, 0)? {
    ///         break message;
    ///     }
    ///     // ... compute meanwhile ...
    /// };
    /// assert_eq!(message.recv_vec::<i32>()?, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn improbe(
        &self,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Option<Message<'env, L>>> {
        let (source, tag) = (source.into(), tag.into().to_core());
        let found = self
            .door
            .call(Function::Improbe, |process| process.improbe(&self.comm, source.to_core()?, tag))?;
        Ok(found.map(|(status, key)| Message { door: self.door, key, status: status.into() }))
    }

    /// Receives the first message that matches, however long it is.
    ///
    /// # Errors
    /// As [`Communicator::recv`], but for the length; as [`Message::recv_vec`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&['o', 'x'], 0, 0)?;
    /// let (letters, status) = this.recv_vec::<char>(0, 0)?;
    /// assert_eq!((letters, status.source()), (vec!['o', 'x'], Some(0)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_vec<T: Datatype>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<(Vec<T>, Status)> {
        let message = self.mprobe(source, tag)?;
        let status = message.status();
        Ok((message.recv_vec()?, status))
    }

    /// Receives into memory that need not be initialised, and gives what has been received.
    ///
    /// # Errors
    /// As [`Communicator::recv`]; `Type` if the message ends within an element.
    ///
    /// ```
    /// use std::mem::MaybeUninit;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[1, 2, 3], 0, 0)?;
    /// let mut memory = [const { MaybeUninit::<i32>::uninit() }; 100];
    /// let (received, _) = this.recv_uninit(&mut memory, 0, 0)?;
    /// assert_eq!(received, [1, 2, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_uninit<'b, T: Datatype>(
        &self,
        buf: &'b mut [MaybeUninit<T>],
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<(&'b mut [T], Status)> {
        let status = self.recv(&mut *buf, source, tag)?;
        let whole = self.door.placed(Function::Recv, status.whole::<T>())?;
        let received = &mut buf[..whole];
        // SAFETY: they are borrowed until the check is over.
        let check = unsafe { Loan::at_uninit(received.into()) }.checked::<T>().check();
        self.door.checked(Function::Recv, check, Ok(()))?;
        // SAFETY: so many elements have been written, without their padding, and are values.
        Ok((unsafe { slice::from_raw_parts_mut(received.as_mut_ptr().cast(), received.len()) }, status))
    }
}

impl<'env, L: ThreadLevel> Message<'env, L> {
    /// What the message says about itself. (Nobody has sent it if it was asked for from [`Source::Null`].)
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[1.5; 3], 0, 7)?;
    /// let message = this.mprobe(0, 7)?;
    /// assert_eq!((message.status().tag(), message.status().count::<f64>()), (Some(7), Some(3)));
    /// message.recv(&mut [0.0; 3])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn status(&self) -> Status {
        self.status
    }

    /// Receives it. See [`Message`].
    ///
    /// # Errors
    /// `Truncate` if the message is longer than `buf`, which then holds its beginning.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[1.5, 2.5], 0, 0)?;
    /// let mut buf = [0.0; 9];
    /// let status = this.mprobe(0, 0)?.recv(&mut buf)?;
    /// assert_eq!((status.count::<f64>(), &buf[..2]), (Some(2), &[1.5, 2.5][..]));
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv<B: RecvBuffer + ?Sized>(self, buf: &mut B) -> Result<Status> {
        let loan = buf.lend_mut();
        let (door, check) = (self.door, loan.check());
        // SAFETY: the receive is complete when the call returns, and the loan is of what may be written.
        let status = self.receive(unsafe { loan.claim() });
        door.checked(Function::Mrecv, check, status)
    }

    /// Begins to receive it, into what the request keeps until then. See [`Message`].
    ///
    /// # Errors
    /// `NoMem` if there is no memory for another request: the message is thrown away then. That it is longer than `buf`
    /// is told by [`OwnedRequest::wait`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let send = world.isend(vec![world.rank(); 100_000], peer, 0)?;
    /// let message = world.mprobe(peer, 0)?;
    /// let count = message.status().count::<usize>().expect("whole elements");
    /// let receive = message.irecv(vec![0; count])?;
    /// // ... compute meanwhile ...
    /// assert_eq!(receive.wait()?.0, vec![peer; 100_000]);
    /// send.wait()?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn irecv<B: OwnedBuffer>(mut self, buf: B) -> Result<OwnedRequest<'env, One<B::Element>, L>> {
        let begin = |process: &Process, memory| process.imrecv(self.key, memory);
        let receive = OwnedRequest::message(self.door, Function::Imrecv, buf.own().within(One::new), begin)?;
        self.key = None;
        Ok(receive)
    }

    /// Receives it into a vector of its length. See [`Message`].
    ///
    /// # Errors
    /// `Type` if the message does not end at the end of an element, `NoMem` if there is no memory for it; it is thrown
    /// away then.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&['o', 'x'], 0, 0)?;
    /// assert_eq!(this.mprobe(0, 0)?.recv_vec::<char>()?, ['o', 'x']);
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_vec<T: Datatype>(self) -> Result<Vec<T>> {
        let door = self.door;
        let mut elements: Vec<T> = door.placed(Function::Mrecv, self.room())?;
        let room = elements.spare_capacity_mut();
        let count = self.status.count::<T>().unwrap_or(0).min(room.len());
        // SAFETY: the vector is not used before the message, and the check, are over.
        let loan = unsafe { Loan::at_uninit((&mut room[..count]).into()) }.checked::<T>();
        let check = loan.check();
        // SAFETY: as in `recv`.
        let status = self.receive(unsafe { loan.claim() })?;
        assert!(status.count::<T>() == Some(count), "a message has the length that it has told");
        door.checked(Function::Mrecv, check, Ok(()))?;
        // SAFETY: so many elements have been written, without their padding, and are values.
        unsafe { elements.set_len(count) };
        Ok(elements)
    }

    /// Memory for the message.
    fn room<T: Datatype>(&self) -> Result<Vec<T>> {
        let count = self.status.whole::<T>()?;
        let mut room = Vec::new();
        room.try_reserve_exact(count).map_err(|_| {
            Error::new(ErrorClass::NoMem, format!("there is no memory for {count} elements that were sent"))
        })?;
        Ok(room)
    }

    fn receive(mut self, memory: Memory) -> Result<Status> {
        let key = self.key.take();
        self.door.call(Function::Mrecv, |process| process.mrecv(key, memory)?.into_result()).map(Status::from)
    }
}

impl<'scope, L: ThreadLevel> Scope<'scope, '_, L> {
    /// Begins to receive a message that has been matched. See [`Message`].
    ///
    /// # Errors
    /// `NoMem` if there is no memory for another request; `Request` if the message is not this rank's, where a program
    /// has several as threads of [`run`](crate::run()). It is thrown away then.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// this.send(&[1, 2, 3], 0, 0)?;
    /// let message = this.mprobe(0, 0)?;
    /// let mut buf = vec![0; message.status().count::<i32>().expect("whole elements")];
    /// this.scope(|scope| {
    ///     let receive = scope.mrecv(message, &mut buf)?;
    ///     // ... compute meanwhile ...
    ///     assert_eq!(receive.wait()?, &[1, 2, 3]);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn mrecv<B: RecvBuffer + ?Sized>(
        &'scope self,
        mut message: Message<'_, L>,
        buf: &'scope mut B,
    ) -> Result<Request<'scope, &'scope mut B::View, L>> {
        let door = self.communicator().door;
        if !message.door.is_that_of(door) {
            let error = Error::new(ErrorClass::Request, "the message is another rank's");
            return door.placed(Function::Imrecv, Err(error));
        }
        let key = message.key;
        let receive = self.receive(Function::Imrecv, buf, |process, memory| process.imrecv(key, memory))?;
        message.key = None;
        Ok(receive)
    }
}

impl<L: ThreadLevel> Drop for Message<'_, L> {
    fn drop(&mut self) {
        let Some(key) = self.key.take() else { return };
        if thread::panicking() {
            return; // it is refused when the process ends
        }
        // It is longer than no memory, if it has a length, which is what is to be done with it.
        let _ =
            self.door.call(Function::Mrecv, |process| process.mrecv(Some(key), Memory::EMPTY)?.into_result());
    }
}

impl<L: ThreadLevel> fmt::Debug for Message<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("status", &self.status).finish_non_exhaustive()
    }
}
