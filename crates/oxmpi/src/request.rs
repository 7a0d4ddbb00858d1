//! Requests of nonblocking operations, and the list that a scope keeps of them.

use std::cell::RefCell;
use std::fmt;

use oxmpi_base::{Function, Result};
use oxmpi_core::{Completion, RequestKey};

use crate::check::Check;
use crate::door::Door;
use crate::loan::Withheld;
use crate::message::Status;
use crate::thread::{Funneled, ThreadLevel};

/// A nonblocking operation that has been begun; `R` is what it gives back when it is complete. See [`Request::wait`].
///
/// ```
/// use oxmpi::{Request, Result};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn finish(receive: Request<'_, &mut [usize]>) -> Result<usize> {
///     Ok(receive.wait()?.iter().sum())
/// }
///
/// let peer = 1 - world.rank();
/// let (mine, mut theirs) = ([world.rank(); 3], [0; 3]);
/// world.scope(|scope| {
///     let _ = scope.send(&mine, peer, 0)?; // waited for when the scope ends
///     assert_eq!(finish(scope.recv(&mut theirs, peer, 0)?)?, 3 * peer);
///     Ok(())
/// })?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
///
/// It is completed once:
///
/// ```compile_fail,E0382
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let mut buf = [0];
/// env.this().scope(|scope| {
///     let receive = scope.recv(&mut buf, 0, 0)?;
///     receive.wait()?;
///     receive.wait().map(drop)
/// })
/// # }
/// ```
///
/// and not outside of its scope:
///
/// ```compile_fail,E0521
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let (mut buf, mut request) = ([0], None);
/// env.this().scope(|scope| {
///     request = Some(scope.recv(&mut buf, 0, 0)?);
///     Ok(())
/// })
/// # }
/// ```
#[must_use = "the buffer can be used before the end of the scope only when the request has been waited for"]
pub struct Request<'scope, R, L: ThreadLevel = Funneled> {
    door: Door<'scope, L>,
    pending: &'scope RefCell<Pending>,
    slot: usize,
    result: Withheld<R>,
}

/// The operations of a scope that are under way.
#[derive(Default)]
pub(crate) struct Pending {
    slots: Vec<Option<Occupied>>,
    /// Those that are not occupied: there are as many in all as operations that were ever under way together.
    free: Vec<usize>,
    /// So many operations were begun.
    number: u64,
}

/// A slot with the operation of this number, and what is to be looked at when that is over.
struct Occupied {
    number: u64,
    begun: Begun,
    check: Option<Box<Check>>,
}

/// An operation that has been begun.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    pub key: RequestKey,
    /// The function that has begun it, if it is a collective.
    pub collective: Option<Function>,
    /// Whether it is a receive, which alone the program cancels.
    pub is_receive: bool,
    /// Whether it receives a message, perhaps beside a send: that is given up when its scope fails.
    pub receives: bool,
}

impl<'scope, R, L: ThreadLevel> Request<'scope, R, L> {
    pub(crate) fn new(
        door: Door<'scope, L>,
        pending: &'scope RefCell<Pending>,
        slot: usize,
        result: Withheld<R>,
    ) -> Self {
        Self { door, pending, slot, result }
    }

    /// Waits until the operation is complete, and gives its buffer back: the one that is written, if there is
    /// one.
    ///
    /// # Errors
    /// That of the operation; the buffer then comes back at the end of the scope.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut buf = [0; 2];
    /// this.scope(|scope| {
    ///     let receive = scope.recv(&mut buf, 0, 0)?;
    ///     this.send(&[1, 2], 0, 0)?;
    ///     assert_eq!(receive.wait()?, &[1, 2]);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(self) -> Result<R> {
        self.wait_status().map(|(result, _)| result)
    }

    /// As [`Request::wait`], with what a received message says about itself.
    ///
    /// # Errors
    /// As [`Request::wait`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let mut buf = [0; 9];
    /// world.scope(|scope| {
    ///     let receive = scope.recv(&mut buf, oxmpi::Source::Any, 0)?;
    ///     world.send(&[1, 2, 3], peer, 0)?;
    ///     let (buf, status) = receive.wait_status()?;
    ///     assert_eq!((status.source(), status.count::<i32>()), (Some(peer), Some(3)));
    ///     assert_eq!(buf[..3], [1, 2, 3]);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_status(self) -> Result<(R, Status)> {
        let (begun, check) = self.pending.borrow_mut().remove(self.slot);
        let status = begun.wait(self.door, check)?;
        // SAFETY: the operation is complete, and `wait` has looked at what it has written.
        Ok((unsafe { self.result.give_back() }, status.into()))
    }

    /// Whether [`Request::wait`] would return at once.
    ///
    /// # Errors
    /// None yet.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut buf = [0];
    /// this.scope(|scope| {
    ///     let receive = scope.recv(&mut buf, 0, 0)?;
    ///     assert!(!receive.test()?);
    ///     this.send(&[1], 0, 0)?;
    ///     while !receive.test()? {}
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn test(&self) -> Result<bool> {
        let key = self.pending.borrow().key(self.slot);
        Ok(self.door.call(Function::RequestGetStatus, |process| process.request_status(key))?.is_some())
    }
}

impl<'scope, V: ?Sized, L: ThreadLevel> Request<'scope, &'scope mut V, L> {
    /// Gives a receive up, unless a message has been matched to it: the buffer, as it was, and no status. What has been
    /// matched is waited for, and received as by [`Request::wait_status`].
    ///
    /// # Errors
    /// That of the message; `Request` if the operation is more than a receive, and left to the scope.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut answer = [-1];
    /// world.scope(|scope| {
    ///     let receive = scope.recv(&mut answer, oxmpi::Source::Any, 7)?;
    ///     // ... it is not wanted any more ...
    ///     let (answer, status) = receive.cancel()?;
    ///     assert!(status.is_none(), "nobody has sent one");
    ///     assert_eq!(answer, &[-1]);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A send is not cancelled:
    ///
    /// ```compile_fail,E0599
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// env.this().scope(|scope| scope.send(&7, 0, 0)?.cancel().map(drop))
    /// # }
    /// ```
    pub fn cancel(self) -> Result<(&'scope mut V, Option<Status>)> {
        let begun = self.pending.borrow().begun(self.slot);
        self.door.cancel(begun.key, begun.is_receive)?;
        let (buf, status) = self.wait_status()?;
        Ok((buf, status.unless_cancelled()))
    }
}

impl<'scope, R, L: ThreadLevel> Request<'scope, R, L> {
    pub(crate) fn door(&self) -> Door<'scope, L> {
        self.door
    }

    pub(crate) fn key(&self) -> RequestKey {
        self.pending.borrow().key(self.slot)
    }

    /// What the operation gives back, of which this is the completion.
    pub(crate) fn finish(self, completion: Completion) -> Result<(R, Status)> {
        let (begun, check) = self.pending.borrow_mut().remove(self.slot);
        let status = begun.end(self.door, check, completion)?;
        // SAFETY: the operation is complete, and `end` has looked at what it has written.
        Ok((unsafe { self.result.give_back() }, status.into()))
    }
}

impl Begun {
    /// Waits until the operation is complete.
    pub fn wait<L>(self, door: Door<'_, L>, check: Option<Box<Check>>) -> Result<oxmpi_base::Status> {
        let mut status = oxmpi_base::Status::EMPTY;
        let outcome = door.wait(self.key, self.collective, &mut status);
        door.checked(Function::Wait, check, outcome)?;
        Ok(status)
    }

    /// How it has ended.
    fn end<L>(
        self,
        door: Door<'_, L>,
        check: Option<Box<Check>>,
        completion: Completion,
    ) -> Result<oxmpi_base::Status> {
        let outcome = door.outcome(completion, self.collective);
        door.checked(Function::Wait, check, outcome)
    }
}

impl Pending {
    /// Number of operations under way.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether nothing is under way.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The operations.
    pub fn keys(&self) -> impl Iterator<Item = RequestKey> {
        self.slots.iter().flatten().map(|occupied| occupied.begun.key)
    }

    /// Those that receive a message.
    pub fn receives(&self) -> impl Iterator<Item = RequestKey> {
        self.slots.iter().flatten().filter(|one| one.begun.receives).map(|one| one.begun.key)
    }

    /// All operations, in the order in which they were begun, each with what is to be looked at when it is over.
    pub fn into_begun(self) -> impl Iterator<Item = (Begun, Option<Box<Check>>)> {
        let mut all: Vec<_> = self.slots.into_iter().flatten().collect();
        all.sort_unstable_by_key(|occupied| occupied.number);
        all.into_iter().map(|occupied| (occupied.begun, occupied.check))
    }

    /// Notes an operation, and what is to be looked at when it is over; the result is its slot.
    #[inline]
    pub fn insert(&mut self, begun: Begun, check: Option<Box<Check>>) -> usize {
        self.number += 1;
        let occupied = Some(Occupied { number: self.number, begun, check });
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot] = occupied;
                slot
            }
            None => {
                self.slots.push(occupied);
                self.slots.len() - 1
            }
        }
    }

    #[cfg(test)]
    pub fn room(&self) -> usize {
        self.slots.capacity()
    }

    fn key(&self, slot: usize) -> RequestKey {
        self.begun(slot).key
    }

    fn begun(&self, slot: usize) -> Begun {
        self.slots[slot].as_ref().expect("a request that exists has not been waited for").begun
    }

    /// Forgets an operation.
    fn remove(&mut self, slot: usize) -> (Begun, Option<Box<Check>>) {
        let occupied = self.slots[slot].take().expect("a request is waited for once");
        self.free.push(slot);
        (occupied.begun, occupied.check)
    }
}

impl<R, L: ThreadLevel> fmt::Debug for Request<'_, R, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("slot", &self.slot).finish_non_exhaustive()
    }
}
