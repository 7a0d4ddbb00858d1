//! Partitioned messages: sent in parts, each when it is ready, and seen in parts when they have arrived.
//!
//! The requests are [`Persistent`] ones. While a send is active, each partition that is not ready is a value of its own
//! ([`Partition`]) that gives access to its elements and is given up by making it ready: no element can be changed that
//! may be under way, and threads need nothing but their partitions.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::RequestKey;

use crate::buffers::{Buffers, sealed};
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::door::Door;
use crate::loan::{Lent, Owned};
use crate::message::{Dest, Source};
use crate::persistent::{Active, Persistent};
use crate::thread::{Funneled, ThreadLevel};

/// The buffer of a partitioned send. See [`Communicator::psend_init`].
///
/// ```
/// use oxmpi::{Persistent, SendPartitions};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// struct Halo<'env> {
///     send: Persistent<'env, SendPartitions<usize>>,
/// }
///
/// let halo = Halo { send: world.psend_init(vec![world.rank(); 4], 2, 1 - world.rank(), 0)? };
/// let recv = world.precv_init(vec![0; 4], 2, 1 - world.rank(), 0)?;
/// let (recv, _send) = oxmpi::wait_all(oxmpi::start_all((recv, halo.send))?)?;
/// assert_eq!(recv.buf(), [1 - world.rank(); 4]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct SendPartitions<T: Datatype> {
    buf: Owned<T>,
    /// Whether each partition is ready.
    ready: Box<[AtomicBool]>,
}

/// The buffer of a partitioned receive. See [`Communicator::psend_init`].
///
/// ```
/// use oxmpi::{Active, RecvPartitions};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn have_arrived(recv: &Active<'_, RecvPartitions<usize>>) -> oxmpi::Result<bool> {
///     Ok(recv.arrived(0)? == Some(&[7; 2]) && recv.arrived(1)? == Some(&[7; 2]))
/// }
///
/// let peer = 1 - world.rank();
/// let recv = world.precv_init(vec![0_usize; 4], 2, peer, 0)?.start()?;
/// let mut send = world.psend_init(vec![7_usize; 4], 2, peer, 0)?.start()?;
/// send.partitions().try_for_each(|partition| partition.ready())?;
/// while !have_arrived(&recv)? {
///     // ... compute meanwhile ...
/// }
/// oxmpi::wait_all((recv, send)).map(drop)?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub struct RecvPartitions<T: Datatype> {
    buf: Owned<T>,
    partitions: usize,
}

/// A partition of an active send that is not ready: its elements, to be filled. See [`Communicator::psend_init`].
///
/// ```
/// use oxmpi::Partition;
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn compute(mut partition: Partition<'_, usize>) -> oxmpi::Result<()> {
///     partition.iter_mut().for_each(|element| *element *= 3); // it is a slice
///     partition.ready()
/// }
///
/// let peer = 1 - world.rank();
/// let recv = world.precv_init(vec![0_usize; 4], 2, peer, 0)?.start()?;
/// let mut send = world.psend_init(vec![7_usize; 4], 2, peer, 0)?.start()?;
/// send.partitions().try_for_each(compute)?;
/// assert_eq!(oxmpi::wait_all((recv, send))?.0.buf(), [21; 4]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
///
/// It is gone when the send is completed:
///
/// ```compile_fail,E0505
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// # let send = env.world().psend_init(vec![0; 4], 2, oxmpi::Dest::Null, 0)?;
/// let mut send = send.start()?;
/// let last = send.partitions().last().expect("there are two");
/// send.wait()?;
/// last.ready()
/// # }
/// ```
#[must_use = "a partition is sent when it is ready"]
pub struct Partition<'a, T: Datatype, L: ThreadLevel = Funneled> {
    /// By address: a reference in the argument of `ready` would be exclusive until that returns, which sends.
    elements: Lent<'a, [T]>,
    ready: &'a AtomicBool,
    index: usize,
    door: Door<'a, L>,
    key: RequestKey,
}

impl<T: Datatype> Buffers for SendPartitions<T> {
    type Given = Vec<T>;
}
impl<T: Datatype> Buffers for RecvPartitions<T> {
    type Given = Vec<T>;
}

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
        let ((buf, loan), dest) = (Owned::lent(buf), dest.into());
        // SAFETY: the request keeps the memory for as long as the request may be active.
        let buffer = unsafe { loan.claim() };
        let key = self.door.call(Function::PsendInit, |process| {
            let count = checked_partitions(buf.elements(), partitions)?;
            process.psend_init(&self.comm, buffer, count, dest.to_core()?, tag)
        })?;
        let ready = (0..partitions).map(|_| AtomicBool::new(false)).collect();
        Ok(Persistent::new(self.door, key, None, SendPartitions { buf, ready }))
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
        let ((buf, loan), source) = (Owned::lent(buf), source.into());
        // SAFETY: as for the send, and the memory is owned.
        let buffer = unsafe { loan.claim() };
        let key = self.door.call(Function::PrecvInit, |process| {
            let count = checked_partitions(buf.elements(), partitions)?;
            process.precv_init(&self.comm, buffer, count, source.to_core()?, oxmpi_core::TagPattern::Tag(tag))
        })?;
        Ok(Persistent::new(self.door, key, None, RecvPartitions { buf, partitions }))
    }
}

impl<T: Datatype, L: ThreadLevel> Persistent<'_, SendPartitions<T>, L> {
    /// The elements of all partitions. See [`Communicator::psend_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let send = world.psend_init(vec![1, 2, 3, 4], 2, 1 - world.rank(), 0)?;
    /// assert_eq!(send.buf(), [1, 2, 3, 4]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn buf(&self) -> &[T] {
        self.buffers().buf.as_slice()
    }

    /// The elements of all partitions, to fill them. See [`Communicator::psend_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut send = world.psend_init(vec![0; 4], 2, 1 - world.rank(), 0)?;
    /// send.buf_mut()[..2].fill(5); // before it is started
    /// assert_eq!(send.buf(), [5, 5, 0, 0]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn buf_mut(&mut self) -> &mut [T] {
        self.buffers_mut().buf.as_mut_slice()
    }
}

impl<T: Datatype, L: ThreadLevel> Persistent<'_, RecvPartitions<T>, L> {
    /// The elements of all partitions. See [`Communicator::psend_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let send = world.psend_init(vec![7; 4], 2, peer, 0)?;
    /// let recv = world.precv_init(vec![0; 4], 2, peer, 0)?;
    /// let (recv, _send) = oxmpi::wait_all(oxmpi::start_all((recv, send))?)?;
    /// assert_eq!(recv.buf(), [7; 4]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn buf(&self) -> &[T] {
        self.buffers().buf.as_slice()
    }

    /// The elements of all partitions, to change them. See [`Communicator::psend_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut recv = world.precv_init(vec![1; 4], 2, 1 - world.rank(), 0)?;
    /// recv.buf_mut().fill(0);
    /// assert_eq!(recv.buf(), [0; 4]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn buf_mut(&mut self) -> &mut [T] {
        self.buffers_mut().buf.as_mut_slice()
    }
}

impl<T: Datatype, L: ThreadLevel> Active<'_, SendPartitions<T>, L> {
    /// The partitions that are not ready. [`Active::wait`] makes those ready that still are not.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let recv = world.precv_init(vec![0_usize; 4], 2, peer, 0)?.start()?;
    /// let mut send = world.psend_init(vec![7_usize; 4], 2, peer, 0)?.start()?;
    /// for mut partition in send.partitions() {
    ///     let index = partition.index();
    ///     partition.fill(index);
    ///     partition.ready()?; // goes while the next is computed
    /// }
    /// assert_eq!(oxmpi::wait_all((recv, send))?.0.buf(), [0, 0, 1, 1]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn partitions(&mut self) -> impl Iterator<Item = Partition<'_, T, L>> {
        let (door, key, SendPartitions { buf, ready }) = self.operation();
        let each = buf.elements() / ready.len();
        let not_ready = ready.iter().enumerate().filter(|(_, ready)| !ready.load(Ordering::Relaxed));
        not_ready.map(move |(index, ready)| {
            // SAFETY: as the partition is not ready, the send does not use its elements; nor does another `Partition`,
            // since this method borrows the request exclusively for as long as any lives.
            let elements = unsafe { buf.part_mut(index * each, each) };
            Partition { elements: Lent::of(elements).0, ready, index, door, key }
        })
    }
}

impl<T: Datatype, L: ThreadLevel> Active<'_, RecvPartitions<T>, L> {
    /// The elements of a partition, if all of them have arrived. See [`Communicator::psend_init`].
    ///
    /// # Errors
    /// `Arg` if there is no such partition; `Type` if what has arrived is no value of the type. [`Active::wait`] makes
    /// one of it, and fails.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let recv = world.precv_init(vec![0_usize; 4], 2, peer, 0)?.start()?;
    /// let mut send = world.psend_init(vec![7_usize; 4], 2, peer, 0)?.start()?;
    /// send.partitions().try_for_each(|partition| partition.ready())?;
    /// let second = loop {
    ///     if let Some(second) = recv.arrived(1)? {
    ///         break second;
    ///     }
    ///     // ... compute meanwhile ...
    /// };
    /// assert_eq!(second, [7, 7]);
    /// oxmpi::wait_all((recv, send)).map(drop)?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn arrived(&self, partition: usize) -> Result<Option<&[T]>> {
        let (door, key, RecvPartitions { buf, partitions }) = self.operation();
        let has_arrived = door.quietly(Function::Parrived, |process| {
            process.parrived(key, i32::try_from(partition).unwrap_or(i32::MAX))
        })?;
        let each = buf.elements() / partitions;
        if has_arrived {
            door.placed(Function::Parrived, buf.look_at(partition * each, each))?;
        }
        // SAFETY: what has arrived is not written again before the next start, which needs the request itself.
        Ok(has_arrived.then(|| unsafe { buf.part(partition * each, each) }))
    }
}

impl<T: Datatype, L: ThreadLevel> Partition<'_, T, L> {
    /// Which one it is. See [`Communicator::psend_init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut send = world.psend_init(vec![0; 6], 3, oxmpi::Dest::Null, 0)?.start()?;
    /// assert!(send.partitions().map(|partition| partition.index()).eq(0..3));
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// Lets the partition be sent. See [`Communicator::psend_init`].
    ///
    /// # Errors
    /// None yet; what goes wrong is told by [`Active::wait`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let peer = 1 - world.rank();
    /// let recv = world.precv_init(vec![0_usize; 4], 2, peer, 0)?.start()?;
    /// let mut send = world.psend_init(vec![7_usize; 4], 2, peer, 0)?.start()?;
    /// for partition in send.partitions() {
    ///     // ... compute what is in it ...
    ///     partition.ready()?;
    /// }
    /// assert_eq!(send.partitions().count(), 0, "all are ready");
    /// oxmpi::wait_all((recv, send)).map(drop)?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn ready(self) -> Result<()> {
        let Self { ready, index, door, key, .. } = self;
        ready.store(true, Ordering::Relaxed); // seen by who has the request after all partitions are gone
        door.quietly(Function::Pready, |process| process.pready(key, index as i32))
    }
}

impl<T: Datatype, L: ThreadLevel> Deref for Partition<'_, T, L> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.elements.see()
    }
}

impl<T: Datatype, L: ThreadLevel> DerefMut for Partition<'_, T, L> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.elements.see_mut()
    }
}

impl<T: Datatype> sealed::Own for SendPartitions<T> {
    type Back = Vec<T>;

    fn give(self) -> Vec<T> {
        self.buf.into_vec()
    }

    fn leak(&mut self) {
        self.buf.leak();
    }

    fn begin(&mut self) {
        self.ready.iter_mut().for_each(|ready| *ready.get_mut() = false);
    }

    fn release(&self, mark: &mut dyn FnMut(i32)) {
        let not_ready = (0..).zip(&self.ready).filter(|(_, ready)| !ready.swap(true, Ordering::Relaxed));
        not_ready.for_each(|(index, _)| mark(index));
    }
}

impl<T: Datatype> sealed::Own for RecvPartitions<T> {
    type Back = Vec<T>;

    fn give(self) -> Vec<T> {
        self.buf.into_vec()
    }

    fn leak(&mut self) {
        self.buf.leak();
    }

    fn check(&mut self) -> Result<()> {
        self.buf.check()
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

impl<T: Datatype> fmt::Debug for SendPartitions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {} partitions", self.buf, self.ready.len())
    }
}

impl<T: Datatype> fmt::Debug for RecvPartitions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {} partitions", self.buf, self.partitions)
    }
}

impl<T: Datatype, L: ThreadLevel> fmt::Debug for Partition<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition {} of {} elements", self.index, self.len())
    }
}
