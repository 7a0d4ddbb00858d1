//! Nonblocking operations: begun in a scope, over at its end.
//!
//! MPI-5.0: Point-to-Point Communication, Nonblocking Communication; Collective Communication, Nonblocking
//! Collective Operations.

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{self, AssertUnwindSafe};

use oxmpi_base::{Function, Result};
use oxmpi_core::{Process, RequestKey};
use oxmpi_datatype::Buffer as Memory;
use oxmpi_system::notice::say;

use crate::buffer::{Access, RecvBuffer, SendBuffer};
use crate::buffers::{Buffers, One, OneLent};
use crate::check::Check;
use crate::collective::{self, Collective};
use crate::communicator::Communicator;
use crate::kept::Kept;
use crate::loan::{Lent, Loan, Withheld};
use crate::message::{Source, TagPattern};
use crate::persistent::Persistent;
use crate::request::{Begun, Pending, Request};
use crate::thread::{Funneled, ThreadLevel};

/// A place to begin nonblocking operations in, made by [`Communicator::scope`].
///
/// Its methods return a [`Request`] at once and borrow their buffers until the end of the scope. Operations
/// whose requests are dropped, or even forgotten, are waited for there. (Who drops an active persistent request ends
/// its operation: see [`Active`](crate::Active).)
///
/// ```
/// use oxmpi::{Request, Result, Scope};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// type Sending<'scope> = Request<'scope, &'scope [usize]>;
///
/// /// Begins to send to the next rank.
/// fn to_next<'scope>(scope: &'scope Scope<'scope, '_>, mine: &'scope [usize]) -> Result<Sending<'scope>> {
///     let world = scope.communicator();
///     scope.send(mine, (world.rank() + 1) % world.size(), 0)
/// }
///
/// let (mine, mut theirs) = ([world.rank(); 3], [0; 3]);
/// world.scope(|scope| {
///     let send = to_next(scope, &mine)?;
///     world.recv(&mut theirs, oxmpi::Source::Any, 0)?;
///     send.wait().map(drop)
/// })?;
/// assert_eq!(theirs, [1 - world.rank(); 3]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct Scope<'scope, 'env: 'scope, L: ThreadLevel = Funneled> {
    communicator: &'env Communicator<'env, L>,
    pending: RefCell<Pending>,
    /// The persistent requests that were made here, whether they are still there or not.
    prepared: RefCell<Vec<Prepared>>,
    /// Neither shorter nor longer: a request may not leave its scope.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A persistent request of a scope.
struct Prepared {
    key: RequestKey,
    /// What is to be looked at when it is over.
    check: Option<Box<Check>>,
    /// How many partitions must be ready for it to be over.
    partitions: i32,
    /// Whether it is a receive, which alone is cancelled.
    is_receive: bool,
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// Calls `body`, which may begin nonblocking operations, and waits for all that it has not waited for.
    ///
    /// ```
    /// use oxmpi::Op;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (a, mut sum) = ([1.0, 2.0], [0.0; 2]);
    /// let mut parameters = [7];
    /// world.scope(|scope| {
    ///     let reduction = scope.allreduce(&a, &mut sum, &Op::SUM)?;
    ///     let _ = scope.bcast(&mut parameters, 0)?; // complete at the end of the scope
    ///     // ... compute meanwhile ...
    ///     let sum = reduction.wait()?;
    ///     assert_eq!(sum[1], 2.0 * sum[0]);
    ///     Ok(())
    /// })?;
    /// assert_eq!((sum[0], parameters), (world.size() as f64, [7]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What an operation writes cannot be read while it is under way:
    ///
    /// ```compile_fail,E0502
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// let mut sum = [0.0];
    /// env.world().scope(|scope| {
    ///     let _request = scope.allreduce(&[1.0], &mut sum, &oxmpi::Op::SUM)?;
    ///     println!("{}", sum[0]);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// nor can what it sends be changed:
    ///
    /// ```compile_fail,E0506
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// let mut mine = [1.0];
    /// env.this().scope(|scope| {
    ///     let _request = scope.send(&mine, 0, 0)?;
    ///     mine[0] = 2.0;
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// What the body has made is gone when the scope waits, and cannot be lent:
    ///
    /// ```compile_fail,E0597
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// env.this().scope(|scope| {
    ///     let mut buf = [0];
    ///     scope.recv(&mut buf, 0, 0)?.wait().map(drop)
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    /// That of `body`; else the first one of the operations waited for at the end. When `body` fails, receives that
    /// no message has been matched to are given up, since those who should send it may have failed, too. So are
    /// persistent ones that are active, and what [`Scope::sendrecv`] receives; all else is waited for: sends,
    /// collectives, messages in partitions.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut buf = [0];
    /// let failed = world.scope(|scope| {
    ///     let receive = scope.recv(&mut buf, 1 - world.rank(), 0)?;
    ///     world.send(&1, world.size(), 0)?; // there is no such rank
    ///     receive.wait().map(drop)
    /// });
    /// assert_eq!(failed.map_err(|error| error.class()), Err(oxmpi::ErrorClass::Rank));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If `body` does. Should operations be under way then, the job is ended instead: to wait for them could
    /// take for ever.
    pub fn scope<'call, T>(
        &'call self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'call, L>) -> Result<T>,
    ) -> Result<T> {
        let scope = Scope {
            communicator: self,
            pending: RefCell::default(),
            prepared: RefCell::default(),
            scope: PhantomData,
            env: PhantomData,
        };
        match panic::catch_unwind(AssertUnwindSafe(|| body(&scope))) {
            Ok(result) => {
                if result.is_err() {
                    scope.give_receives_up();
                }
                scope.release_partitions();
                let finished = self.finish(&scope.pending);
                let ended = scope.end_prepared();
                result.and_then(|value| finished.and(ended).map(|()| value))
            }
            Err(payload) => {
                if scope.is_under_way() {
                    say("a scope panicked while operations were under way: the job ends");
                    self.door.fail(PANIC_CODE);
                }
                // All are over, so that is no wait; whoever panics does not want to know how they ended.
                drop((self.finish(&scope.pending), scope.end_prepared()));
                panic::resume_unwind(payload)
            }
        }
    }

    /// Waits for everything; the first error counts.
    fn finish(&self, pending: &RefCell<Pending>) -> Result<()> {
        if pending.borrow().is_empty() {
            return Ok(());
        }
        let mut result = Ok(());
        for (begun, check) in pending.take().into_begun() {
            let outcome = begun.wait(self.door, check);
            result = result.and(outcome.map(drop));
        }
        result
    }
}

/// The exit status of a Rust program that panics.
const PANIC_CODE: i32 = 101;

impl<'scope, 'env, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// The communicator of the scope. See [`Communicator::scope`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// world.scope(|scope| {
    ///     assert_eq!(scope.communicator().rank(), world.rank());
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn communicator(&self) -> &'env Communicator<'env, L> {
        self.communicator
    }

    /// Begins to receive the first message that matches.
    ///
    /// # Errors
    /// `Rank` if `source` is not a rank; `Tag` if the tag is negative.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let (mine, mut left) = ([rank], [usize::MAX]);
    /// world.scope(|scope| {
    ///     let _ = scope.send(&mine, (rank + 1) % size, 0)?;
    ///     let (left, status) = scope.recv(&mut left, oxmpi::Source::Any, 0)?.wait_status()?;
    ///     assert_eq!(status.source(), Some(left[0]));
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// A buffer is for one message:
    ///
    /// ```compile_fail,E0499
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// let mut buf = [0];
    /// env.this().scope(|scope| {
    ///     let first = scope.recv(&mut buf, 0, 1)?;
    ///     let second = scope.recv(&mut buf, 0, 2)?;
    ///     first.wait().and(second.wait()).map(drop)
    /// })
    /// # }
    /// ```
    pub fn recv<B: RecvBuffer + ?Sized>(
        &'scope self,
        buf: &'scope mut B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>> {
        let (source, tag) = (source.into(), tag.into().to_core());
        let comm = &self.communicator.comm;
        self.receive(Function::Irecv, buf, |process, memory| {
            process.irecv(comm, memory, source.to_core()?, tag)
        })
    }

    #[inline]
    pub(crate) fn receive<B: RecvBuffer + ?Sized>(
        &'scope self,
        function: Function,
        buf: &'scope mut B,
        begin: impl FnOnce(&'env Process, Memory) -> Result<RequestKey>,
    ) -> Result<Request<'scope, &'scope mut B::View, L>> {
        let (buf, loan) = Withheld::lent(buf);
        let check = loan.check();
        // SAFETY: `note` keeps the operation to the scope, and the loan is of what may be written.
        let memory = unsafe { loan.claim() };
        self.message(function, buf, check, |process| begin(process, memory))
    }

    pub(crate) fn collective<C: Collective<'scope>, R>(
        &'scope self,
        collective: C,
        result: Withheld<R>,
    ) -> Result<Request<'scope, R, L>> {
        let Communicator { door, comm, .. } = self.communicator;
        let function = C::FUNCTIONS.nonblocking;
        let check = collective.check();
        // SAFETY: `note` keeps the operation to the scope; the arguments go no further than it does.
        let arguments = unsafe { collective::arguments(function, &collective) };
        let key = door.call(function, |process| {
            // SAFETY: as above.
            process.call_nonblocking(comm, arguments.as_ref(), || unsafe { collective.bind(process, comm) })
        })?;
        let begun = Begun { key, collective: Some(function), is_receive: false, receives: false };
        Ok(self.note(begun, check, result))
    }

    #[inline]
    pub(crate) fn message<R>(
        &'scope self,
        function: Function,
        result: Withheld<R>,
        check: Option<Box<Check>>,
        begin: impl FnOnce(&'env Process) -> Result<RequestKey>,
    ) -> Result<Request<'scope, R, L>> {
        let key = self.communicator.door.call(function, begin)?;
        let is_receive = matches!(function, Function::Imrecv | Function::Irecv);
        let receives = is_receive || matches!(function, Function::Isendrecv | Function::IsendrecvReplace);
        Ok(self.note(Begun { key, collective: None, is_receive, receives }, check, result))
    }

    /// Notes an operation, so that it is over before `'scope` is; `result` is kept till then.
    #[inline]
    fn note<R>(
        &'scope self,
        begun: Begun,
        check: Option<Box<Check>>,
        result: Withheld<R>,
    ) -> Request<'scope, R, L> {
        let slot = self.pending.borrow_mut().insert(begun, check);
        Request::new(self.communicator.door, &self.pending, slot, result)
    }
}

impl<'scope, 'env, L: ThreadLevel> Scope<'scope, 'env, L> {
    /// A persistent receive into what the scope has borrowed.
    ///
    /// # Errors
    /// As [`Communicator::recv_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let (mut mine, mut theirs) = ([0; 3], [0; 3]);
    /// world.scope(|scope| {
    ///     let mut send = scope.send_init(&mut mine, peer, 0)?;
    ///     let mut recv = scope.recv_init(&mut theirs, peer, 0)?;
    ///     for step in 1..4 {
    ///         send.buf_mut().fill(step);
    ///         (recv, send) = oxmpi::wait_all(oxmpi::start_all((recv, send))?)?;
    ///         assert_eq!(recv.buf(), [step; 3]);
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!((mine, theirs), ([3; 3], [3; 3]));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What is borrowed cannot be used but by the request, as long as the scope lasts:
    ///
    /// ```compile_fail,E0503
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// let mut buf = [0];
    /// env.this().scope(|scope| {
    ///     let request = scope.send_init(&mut buf, 0, 0)?;
    ///     buf[0] = 1;
    ///     request.start()?.wait().map(drop)
    /// })
    /// # }
    /// ```
    ///
    /// What a view has borrowed lies where it lies:
    ///
    /// ```
    /// use oxmpi::{Shape, ViewMut};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// # let world = env.world();
    /// let mut matrix = vec![0; 12]; // 3 rows of 4
    /// let mut column = ViewMut::new(&mut matrix, &Shape::strided(3, 1, 4))?;
    /// world.scope(|scope| {
    ///     let mut sum = scope.allreduce_in_place_init(&mut column, &oxmpi::Op::SUM)?;
    ///     for step in 1..4 {
    ///         sum.buf_mut().copy_from_slice(&[step; 3]);
    ///         sum = sum.start()?.wait()?;
    ///         assert_eq!(sum.buf().to_vec(), [step * world.size(); 3]);
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!(matrix[4..6], [3 * world.size(), 0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn recv_init<B>(
        &'scope self,
        buf: &'scope mut B,
        source: impl Into<Source>,
        tag: impl Into<TagPattern>,
    ) -> Result<Persistent<'scope, OneLent<'scope, B::View>, L>>
    where
        B: SendBuffer + RecvBuffer + ?Sized,
        B::View: Access,
    {
        let lent = Lent::of(buf).within(One::new);
        let (check, receive) =
            (lent.described().check(), self.communicator.receive_init(source.into(), tag.into()));
        self.prepare_message(Function::RecvInit, lent, check, 0, receive)
    }

    /// A persistent message in what the scope has borrowed, which `make` makes of the memory: `check` is to be looked
    /// at, and so many partitions must be ready, before it is over.
    pub(crate) fn prepare_message<B: Buffers>(
        &'scope self,
        function: Function,
        lent: Kept<B, Loan<'scope>>,
        check: Option<Box<Check>>,
        partitions: i32,
        make: impl FnOnce(&'env Process, Memory) -> Result<RequestKey>,
    ) -> Result<Persistent<'scope, B, L>> {
        // SAFETY: the scope is told at once.
        let made = unsafe { self.communicator.message_of(function, lent, make) }?;
        Ok(self.keep(made, check, partitions))
    }

    /// A persistent collective in what the scope has borrowed.
    pub(crate) fn prepare<C: Collective<'scope>, B: Buffers>(
        &'scope self,
        lent: Kept<B, C>,
    ) -> Result<Persistent<'scope, B, L>> {
        let check = lent.described().check();
        // SAFETY: the scope is told at once.
        let made = unsafe { self.communicator.collective_of(lent) }?;
        Ok(self.keep(made, check, 0))
    }

    /// Notes a persistent request, of which so many partitions must be ready before it is over, so that it is over
    /// before `'scope` is. When the list is full, those that are no more leave it, and it has room for as many as are
    /// left.
    fn keep<B: Buffers>(
        &'scope self,
        request: Persistent<'env, B, L>,
        check: Option<Box<Check>>,
        partitions: i32,
    ) -> Persistent<'scope, B, L> {
        let mut prepared = self.prepared.borrow_mut();
        if prepared.len() == prepared.capacity() {
            prepared.retain(|one| self.is_active(one.key).is_ok());
            let left = prepared.len();
            prepared.reserve(left);
        }
        let (key, is_receive) = (request.key(), request.is_receive());
        prepared.push(Prepared { key, check, partitions, is_receive });
        request
    }

    /// Whether a persistent request is active.
    ///
    /// # Errors
    /// If it is no more.
    fn is_active(&self, key: RequestKey) -> Result<bool> {
        self.communicator.door.run(Function::RequestGetStatus, |process| process.is_active(key))
    }

    /// Whether one of its operations is under way, waited for or not.
    fn is_under_way(&self) -> bool {
        let (pending, prepared) = (self.pending.borrow(), self.prepared.borrow());
        let status = |key| {
            self.communicator.door.run(Function::RequestGetStatus, |process| process.request_status(key))
        };
        // A persistent request that is no more is not under way, and an inactive one is over.
        pending.keys().chain(prepared.iter().map(|one| one.key)).any(|key| matches!(status(key), Ok(None)))
    }

    /// Ends the receives that no message has matched yet. Persistent ones were forgotten: who drops one does the same.
    fn give_receives_up(&self) {
        let (door, prepared) = (self.communicator.door, self.prepared.borrow());
        let forgotten = prepared.iter().filter(|one| one.is_receive).map(|one| one.key);
        let active = forgotten.filter(|&key| matches!(self.is_active(key), Ok(true)));
        for key in self.pending.borrow().receives().chain(active) {
            door.cancel(key, true).expect("a receive that was not waited for can be cancelled");
        }
    }

    /// Makes all partitions ready of what was forgotten, before anything is waited for: others may need them to go on.
    fn release_partitions(&self) {
        let (door, prepared) = (self.communicator.door, self.prepared.borrow());
        for Prepared { key, partitions, .. } in prepared.iter().filter(|one| one.partitions > 0) {
            if matches!(self.is_active(*key), Ok(true)) {
                for partition in 0..*partitions {
                    // Those that are ready already are refused.
                    let _ = door.quietly(Function::Pready, |process| process.pready(*key, partition));
                }
            }
        }
    }

    /// Ends the persistent requests that are still there, since they were forgotten: the first error counts.
    fn end_prepared(&self) -> Result<()> {
        let door = self.communicator.door;
        let mut result = Ok(());
        for Prepared { key, check, .. } in self.prepared.take() {
            let Ok(is_active) = self.is_active(key) else { continue };
            if is_active {
                let begun = Begun { key, collective: None, is_receive: false, receives: false };
                let outcome = begun.wait(door, check);
                result = result.and(outcome.map(drop));
            }
            let freed = door.call(Function::RequestFree, |process| process.request_free(key));
            freed.expect("an inactive request can be freed");
        }
        result
    }
}

impl<L: ThreadLevel> fmt::Debug for Scope<'_, '_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pending = self.pending.borrow().len();
        f.debug_struct("Scope").field("pending", &pending).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::Dest;

    #[test]
    fn operations_that_overlap_take_the_place_of_those_that_are_over() {
        let run = crate::run(1, |world| {
            let (sent, mut received) = (7, 0);
            world.scope(|scope| {
                let standing = scope.recv(&mut received, 0, 0)?;
                let mut before = scope.send(&sent, Dest::Null, 0)?;
                for _ in 0..1000 {
                    let next = scope.send(&sent, Dest::Null, 0)?;
                    before.wait()?;
                    before = next;
                }
                let pending = scope.pending.borrow();
                assert_eq!((pending.len(), pending.keys().count()), (2, 2));
                assert!(pending.room() < 10);
                drop(pending);
                world.send(&sent, 0, 0)?;
                standing.wait().map(drop)
            })
        });
        run.map(drop).expect("a rank alone");
    }

    #[test]
    fn persistent_requests_that_are_no_more_leave_the_list() {
        let run = crate::run(1, |world| {
            let mut bufs = [[0]; 1000];
            let [kept, others @ ..] = &mut bufs;
            world.scope(|scope| {
                let kept = scope.recv_init(kept, 0, 0)?;
                for buf in others {
                    drop(scope.recv_init(buf, 0, 0)?);
                }
                assert!(scope.prepared.borrow().capacity() < 10);
                assert!(scope.prepared.borrow().iter().any(|one| one.key == kept.key()));
                Ok(())
            })
        });
        run.map(drop).expect("a rank alone");
    }
}
