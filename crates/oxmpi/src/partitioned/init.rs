//! How requests of partitioned messages are made: of vectors that they keep, and of slices that a scope has borrowed.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication.

use std::marker::PhantomData;
use std::sync::atomic::AtomicBool;

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::{Process, RequestKey, TagPattern};
use oxmpi_datatype::Buffer as Memory;

use super::{RecvPartitions, RecvPartitionsLent, SendPartitions, SendPartitionsLent};
use crate::buffer::{Buffer, RecvBuffer, SendBuffer};
use crate::buffers::Hold;
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::loan::{Lent, Loan, Owned};
use crate::message::{Dest, Source};
use crate::persistent::Persistent;
use crate::scope::Scope;
use crate::thread::ThreadLevel;

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// A partitioned send of `buf`, in `partitions` partitions of the same length.
    ///
    /// The receiver may have another number of partitions. Sends and receives with the same communicator, ranks and tag
    /// belong together in the order in which they are made.
    ///
    /// # Errors
    /// `Arg` if there are no partitions, or the elements cannot be divided among them; else as [`Communicator::send`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init_with::<oxmpi::Multiple>()?;
    /// let world = env.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let send = world.psend_init(vec![0; 400], 4, (rank + 1) % size, 0)?;
    /// let recv = world.precv_init(vec![0; 400], 2, (rank + size - 1) % size, 0)?;
    /// let (recv, mut send) = oxmpi::start_all((recv, send))?;
    /// std::thread::scope(|threads| {
    ///     for mut partition in send.partitions() {
    ///         threads.spawn(move || {
    ///             partition.fill(7);
    ///             partition.ready()
    ///         });
    ///     }
    /// });
    /// let first = loop {
    ///     if let Some(first) = recv.arrived(0)? {
    ///         break first;
    ///     }
    /// };
    /// assert_eq!(first, [7; 200]);
    /// let (recv, _send) = oxmpi::wait_all((recv, send))?;
    /// assert_eq!(recv.buf(), [7; 400]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// A partition that is ready cannot be changed:
    ///
    /// ```compile_fail,E0382
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// let mut send = env.world().psend_init(vec![0; 4], 2, oxmpi::Dest::Null, 0)?.start()?;
    /// for mut partition in send.partitions() {
    ///     partition.ready()?;
    ///     partition[0] = 1;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn psend_init<T: Datatype>(
        &self,
        buf: Vec<T>,
        partitions: usize,
        dest: impl Into<Dest>,
        tag: i32,
    ) -> Result<Persistent<'env, SendPartitions<T>, L>> {
        let kept = Owned::lent(buf);
        let count = self.counted(Function::PsendInit, kept.described(), partitions)?;
        let kept = kept.within(|memory| SendPartitions::new(memory, partitions));
        self.persistent_message(Function::PsendInit, kept, self.psend(count, dest.into(), tag))
    }

    /// A partitioned receive into `buf`, in `partitions` partitions of the same length. See
    /// [`Communicator::psend_init`].
    ///
    /// # Errors
    /// `Arg` if there are no partitions, or the elements cannot be divided among them; `Rank` if `source` is not a
    /// rank, `Tag` if the tag is negative.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// // The sender may divide the message otherwise.
    /// let send = world.psend_init(vec![7; 12], 4, peer, 0)?;
    /// let recv = world.precv_init(vec![0; 12], 3, peer, 0)?;
    /// let (recv, _send) = oxmpi::wait_all(oxmpi::start_all((recv, send))?)?;
    /// assert_eq!(recv.buf(), [7; 12]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn precv_init<T: Datatype>(
        &self,
        buf: Vec<T>,
        partitions: usize,
        source: impl Into<Source>,
        tag: i32,
    ) -> Result<Persistent<'env, RecvPartitions<T>, L>> {
        let kept = Owned::lent(buf);
        let count = self.counted(Function::PrecvInit, kept.described(), partitions)?;
        let kept = kept.within(|memory| RecvPartitions::new(memory, partitions));
        self.persistent_message(Function::PrecvInit, kept, self.precv(count, source.into(), tag))
    }

    /// So many partitions as core counts them.
    fn counted(&self, function: Function, loan: &Loan<'_>, partitions: usize) -> Result<i32> {
        self.door.placed(function, checked_partitions(loan.elements(), partitions))
    }

    /// What makes a send of memory.
    fn psend(&self, count: i32, dest: Dest, tag: i32) -> impl FnOnce(&Process, Memory) -> Result<RequestKey> {
        move |process, memory| process.psend_init(&self.comm, memory, count, dest.to_core()?, tag)
    }

    /// What makes a receive into memory.
    fn precv(
        &self,
        count: i32,
        source: Source,
        tag: i32,
    ) -> impl FnOnce(&Process, Memory) -> Result<RequestKey> {
        let tag = TagPattern::Tag(tag);
        move |process, memory| process.precv_init(&self.comm, memory, count, source.to_core()?, tag)
    }
}

impl<T: Datatype, M: Hold<T>> SendPartitions<T, M> {
    fn new(memory: M, partitions: usize) -> Self {
        let ready = (0..partitions).map(|_| AtomicBool::new(false)).collect();
        Self { memory, ready, element: PhantomData }
    }
}

impl<T: Datatype, M: Hold<T>> RecvPartitions<T, M> {
    fn new(memory: M, partitions: usize) -> Self {
        Self { memory, partitions, element: PhantomData }
    }
}

impl<'scope, L: ThreadLevel> Scope<'scope, '_, L> {
    /// A partitioned send of what the scope has borrowed, in `partitions` partitions of the same length.
    ///
    /// # Errors
    /// As [`Communicator::psend_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let (mut mine, mut theirs) = (vec![0; 6], vec![0; 6]);
    /// world.scope(|scope| {
    ///     let mut send = scope.psend_init(&mut mine[..], 3, peer, 0)?;
    ///     let mut recv = scope.precv_init(&mut theirs[..], 3, peer, 0)?;
    ///     for step in 1..4 {
    ///         let (receiving, mut sending) = oxmpi::start_all((recv, send))?;
    ///         for mut partition in sending.partitions() {
    ///             partition.fill(step);
    ///             partition.ready()?; // goes while the next is computed
    ///         }
    ///         (recv, send) = oxmpi::wait_all((receiving, sending))?;
    ///         assert_eq!(recv.buf(), [step; 6]);
    ///     }
    ///     Ok(())
    /// })?;
    /// assert_eq!((mine, theirs), (vec![3; 6], vec![3; 6])); // where they were
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What is borrowed cannot be used but by the request, and its partitions, as long as the scope lasts:
    ///
    /// ```compile_fail,E0503
    /// # fn main() -> oxmpi::Result<()> {
    /// # let env = oxmpi::init()?;
    /// let mut buf = [0; 4];
    /// env.this().scope(|scope| {
    ///     let send = scope.psend_init(&mut buf, 2, oxmpi::Dest::Null, 0)?;
    ///     buf[0] = 1;
    ///     send.start()?.wait().map(drop)
    /// })
    /// # }
    /// ```
    pub fn psend_init<T, B>(
        &'scope self,
        buf: &'scope mut B,
        partitions: usize,
        dest: impl Into<Dest>,
        tag: i32,
    ) -> Result<Persistent<'scope, SendPartitionsLent<'scope, T>, L>>
    where
        T: Datatype,
        B: SendBuffer + RecvBuffer + Buffer<Element = T, View = [T]> + ?Sized,
    {
        let (comm, lent) = (self.communicator(), Lent::of(buf));
        let count = comm.counted(Function::PsendInit, lent.described(), partitions)?;
        let lent = lent.within(|memory| SendPartitions::new(memory, partitions));
        self.prepare_message(Function::PsendInit, lent, None, count, comm.psend(count, dest.into(), tag))
    }

    /// A partitioned receive into what the scope has borrowed, in `partitions` partitions of the same length. See
    /// [`Scope::psend_init`].
    ///
    /// # Errors
    /// As [`Communicator::precv_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let (mut mine, mut theirs) = ([7; 4], [0; 4]);
    /// world.scope(|scope| {
    ///     let recv = scope.precv_init(&mut theirs, 2, peer, 0)?.start()?;
    ///     let send = scope.psend_init(&mut mine, 2, peer, 0)?.start()?.wait()?;
    ///     let first = loop {
    ///         if let Some(first) = recv.arrived(0)? {
    ///             break first;
    ///         }
    ///         // ... compute meanwhile ...
    ///     };
    ///     assert_eq!((first, send.buf()), (&[7; 2][..], &[7; 4][..]));
    ///     recv.wait().map(drop)
    /// })?;
    /// assert_eq!(theirs, [7; 4]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn precv_init<T, B>(
        &'scope self,
        buf: &'scope mut B,
        partitions: usize,
        source: impl Into<Source>,
        tag: i32,
    ) -> Result<Persistent<'scope, RecvPartitionsLent<'scope, T>, L>>
    where
        T: Datatype,
        B: SendBuffer + RecvBuffer + Buffer<Element = T, View = [T]> + ?Sized,
    {
        let (comm, lent) = (self.communicator(), Lent::of(buf));
        let count = comm.counted(Function::PrecvInit, lent.described(), partitions)?;
        let (check, receive) = (lent.described().check(), comm.precv(count, source.into(), tag));
        let lent = lent.within(|memory| RecvPartitions::new(memory, partitions));
        self.prepare_message(Function::PrecvInit, lent, check, 0, receive)
    }
}

/// So many partitions as core counts them, if the elements can be divided among them.
fn checked_partitions(elements: usize, partitions: usize) -> Result<i32> {
    let wrong = |what: &str| Error::new(ErrorClass::Arg, format!("partitions is {partitions}{what}"));
    let count = i32::try_from(partitions).map_err(|_| wrong(", and that is too many"))?;
    if count > 0 && !elements.is_multiple_of(partitions) {
        return Err(wrong(&format!(", which do not divide {elements} elements")));
    }
    Ok(count)
}
