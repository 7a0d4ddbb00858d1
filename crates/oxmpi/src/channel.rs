//! Channels: a sender and a receiver of messages of one type and length, made once.
//!
//! Each end has two persistent requests, which take turns: while the program fills or reads the buffer of one, the
//! other is under way. Messages are received where they were sent as any others: a channel is a way to write it.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests.

use std::fmt;

use oxmpi_base::{Error, ErrorClass, Function, Result};

use crate::buffers::One;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::door::Door;
use crate::message::{Dest, Source, TagPattern};
use crate::persistent::{Active, Persistent};
use crate::thread::{Funneled, ThreadLevel};

/// The end of a channel that sends; made by [`Communicator::sender`].
///
/// When it is dropped, it waits until all has been sent.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(3, |world| {
/// let (rank, size) = (world.rank(), world.size());
/// let mut right = world.sender((rank + 1) % size, 0, 2)?;
/// let mut left = world.receiver::<usize>((rank + size - 1) % size, 0, 2)?;
/// for step in 0..10 {
///     right.send(&[rank, step])?;
///     // ... compute meanwhile ...
///     assert_eq!(left.recv()?, [(rank + size - 1) % size, step]);
/// }
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct Sender<'env, T: Datatype, L: ThreadLevel = Funneled>(Ends<'env, T, L>);

/// The end of a channel that receives; made by [`Communicator::receiver`].
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let peer = 1 - world.rank();
/// let mut theirs = world.receiver::<usize>(peer, 0, 1)?;
/// world.send(&world.rank(), peer, 0)?;
/// assert_eq!(theirs.recv()?, [peer]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
///
/// What has been received is lent until the next message is asked for:
///
/// ```compile_fail,E0499
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let mut channel = env.this().receiver::<f64>(0, 0, 10)?;
/// let first = channel.recv()?;
/// let second = channel.recv()?;
/// assert_eq!(first, second);
/// # Ok(())
/// # }
/// ```
///
/// Messages that nobody has asked for when it is dropped are received by whoever receives next, or lost: two of them
/// may have come already.
pub struct Receiver<'env, T: Datatype, L: ThreadLevel = Funneled>(Ends<'env, T, L>);

/// Requests that take turns; none in place of one that has failed.
struct Ends<'env, T: Datatype, L: ThreadLevel> {
    /// For errors.
    door: Door<'env, ()>,
    turns: [Option<Turn<'env, T, L>>; 2],
    next: usize,
}

enum Turn<'env, T: Datatype, L: ThreadLevel> {
    Active(Active<'env, One<T>, L>),
    Inactive(Persistent<'env, One<T>, L>),
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// The end of a channel that sends messages of `count` elements to `dest`.
    ///
    /// # Errors
    /// As [`Communicator::send`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// if world.rank() == 0 {
    ///     let mut sender = world.sender(1, 0, 3)?;
    ///     (0..10).try_for_each(|step| sender.send(&[step; 3]))?;
    /// } else {
    ///     let mut receiver = world.receiver::<i32>(0, 0, 3)?;
    ///     for step in 0..10 {
    ///         assert_eq!(receiver.recv()?, [step; 3]);
    ///     }
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn sender<T: Datatype + Default>(
        &self,
        dest: impl Into<Dest>,
        tag: i32,
        count: usize,
    ) -> Result<Sender<'env, T, L>> {
        let dest = dest.into();
        Ends::new(self.door, || self.send_init(vec![T::default(); count], dest, tag)).map(Sender)
    }

    /// The end of a channel that receives messages of at most `count` elements from `source`. From now on two receives
    /// are under way, as long as it is there.
    ///
    /// # Errors
    /// As [`Communicator::recv_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// if world.rank() == 0 {
    ///     world.send(&[1.5; 2], 1, 0)?; // messages are those of other calls
    /// } else {
    ///     let mut receiver = world.receiver::<f64>(0, 0, 100)?;
    ///     assert_eq!(receiver.recv()?, [1.5; 2], "shorter than the longest");
    /// }
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn receiver<T: Datatype + Default>(
        &self,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
        count: usize,
    ) -> Result<Receiver<'env, T, L>> {
        let (source, tag) = (source.into(), tag.into());
        let mut ends = Ends::new(self.door, || self.recv_init(vec![T::default(); count], source, tag))?;
        for _ in 0..2 {
            ends.take_turn(|_| Ok(()))?;
        }
        Ok(Receiver(ends))
    }
}

impl<T: Datatype, L: ThreadLevel> Sender<'_, T, L> {
    /// Begins to send a message, of as many elements as the channel's have. It is copied; if two are under way, the
    /// first of them is waited for. See [`Communicator::sender`].
    ///
    /// # Errors
    /// `Count` if there are more elements, or fewer; that of the message before the last, after which the channel
    /// cannot be used.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let (mut sender, mut receiver) = (world.sender(peer, 0, 2)?, world.receiver::<usize>(peer, 0, 2)?);
    /// sender.send(&[world.rank(), 7])?;
    /// assert_eq!(receiver.recv()?, [peer, 7]);
    /// assert!(sender.send(&[1, 2, 3]).is_err(), "messages of this channel have two elements");
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn send(&mut self, message: &[T]) -> Result<()> {
        let door = self.0.door;
        self.fill(|buf| {
            if buf.len() != message.len() {
                let text = format!("there are {} elements, not {}", message.len(), buf.len());
                return door.placed(Function::Start, Err(Error::new(ErrorClass::Count, text)));
            }
            buf.copy_from_slice(message);
            Ok(())
        })
    }

    /// As [`Sender::send`], of what `fill` writes into the channel's own buffer; what is there is the message before
    /// the last. If `fill` fails nothing is sent.
    ///
    /// # Errors
    /// Those of `fill`, and as [`Sender::send`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let mut sender = world.sender(peer, 0, 1000)?;
    /// let mut receiver = world.receiver::<usize>(peer, 0, 1000)?;
    /// sender.fill(|message| {
    ///     message.iter_mut().enumerate().for_each(|(index, element)| *element = index * index);
    ///     Ok(())
    /// })?;
    /// assert_eq!(receiver.recv()?[999], 999 * 999);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn fill(&mut self, fill: impl FnOnce(&mut [T]) -> Result<()>) -> Result<()> {
        self.0.take_turn(|request| fill(request.buf_mut()))
    }
}

impl<T: Datatype, L: ThreadLevel> Receiver<'_, T, L> {
    /// Waits for the next message. See [`Communicator::sender`].
    ///
    /// # Errors
    /// `Truncate` if it is longer than the channel's are, `Type` if it does not end at the end of an element, or is no
    /// value of its type; after either the channel cannot be used.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let (mut sender, mut receiver) = (world.sender(peer, 0, 1)?, world.receiver::<i32>(peer, 0, 1)?);
    /// let mut sum = 0;
    /// for step in 0..10 {
    ///     sender.send(&[step])?;
    ///     sum += receiver.recv()?[0];
    /// }
    /// assert_eq!(sum, 45);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv(&mut self) -> Result<&[T]> {
        self.0.begin_what_was_read()?;
        self.0.end_turn()?;
        self.0.read()
    }

    /// The next message, if it has come.
    ///
    /// # Errors
    /// As [`Receiver::recv`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let (mut sender, mut receiver) = (world.sender(peer, 0, 1)?, world.receiver::<usize>(peer, 0, 1)?);
    /// sender.send(&[world.rank()])?;
    /// let theirs = loop {
    ///     if let Some(message) = receiver.try_recv()? {
    ///         break message[0];
    ///     }
    ///     // ... compute meanwhile ...
    /// };
    /// assert_eq!(theirs, peer);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_recv(&mut self) -> Result<Option<&[T]>> {
        self.0.begin_what_was_read()?;
        if let Some(Turn::Active(active)) = &self.0.turns[self.0.next]
            && !active.test()?
        {
            return Ok(None);
        }
        self.0.end_turn()?;
        self.0.read().map(Some)
    }
}

impl<'env, T: Datatype, L: ThreadLevel> Ends<'env, T, L> {
    fn new(
        door: Door<'env, L>,
        mut make: impl FnMut() -> Result<Persistent<'env, One<T>, L>>,
    ) -> Result<Self> {
        let turns = [Some(Turn::Inactive(make()?)), Some(Turn::Inactive(make()?))];
        Ok(Self { door: door.of_any_level(), turns, next: 0 })
    }

    /// Starts the next request, when it is inactive and `prepare` has had it.
    fn take_turn(
        &mut self,
        prepare: impl FnOnce(&mut Persistent<'env, One<T>, L>) -> Result<()>,
    ) -> Result<()> {
        self.end_turn()?;
        let turn = &mut self.turns[self.next];
        let Some(Turn::Inactive(request)) = turn else { return failed(self.door) };
        prepare(request)?;
        let Some(Turn::Inactive(request)) = turn.take() else { return failed(self.door) };
        *turn = Some(Turn::Active(request.start()?));
        self.next = 1 - self.next;
        Ok(())
    }

    /// Waits for the next request, if it is active.
    fn end_turn(&mut self) -> Result<()> {
        let turn = &mut self.turns[self.next];
        *turn = match turn.take() {
            None => return failed(self.door),
            Some(Turn::Active(active)) => Some(Turn::Inactive(active.wait()?)),
            inactive => inactive,
        };
        Ok(())
    }

    /// Starts the request again whose message the program has had.
    fn begin_what_was_read(&mut self) -> Result<()> {
        match self.turns[self.next] {
            Some(Turn::Inactive(_)) => self.take_turn(|_| Ok(())),
            _ => Ok(()),
        }
    }

    /// What the next request, which is inactive, has received. It is gone if that is an error.
    fn read(&mut self) -> Result<&[T]> {
        let turn = &mut self.turns[self.next];
        let Some(Turn::Inactive(request)) = turn else { return failed(self.door) };
        let received = match self.door.placed(Function::Wait, request.status().whole::<T>()) {
            Ok(received) => received,
            Err(error) => {
                *turn = None;
                return Err(error);
            }
        };
        match turn {
            Some(Turn::Inactive(request)) => Ok(&request.buf()[..received]),
            _ => failed(self.door),
        }
    }
}

#[cold]
fn failed<R>(door: Door<'_, ()>) -> Result<R> {
    let error = Error::new(ErrorClass::Request, "a message of this channel has failed before");
    door.placed(Function::Start, Err(error))
}

impl<T: Datatype, L: ThreadLevel> Drop for Receiver<'_, T, L> {
    /// What has not come is not waited for.
    fn drop(&mut self) {
        for turn in self.0.turns.iter().flatten() {
            if let Turn::Active(active) = turn {
                active.cancel();
            }
        }
    }
}

impl<T: Datatype, L: ThreadLevel> fmt::Debug for Sender<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").field("next", &self.0.next).finish_non_exhaustive()
    }
}

impl<T: Datatype, L: ThreadLevel> fmt::Debug for Receiver<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("next", &self.0.next).finish_non_exhaustive()
    }
}
