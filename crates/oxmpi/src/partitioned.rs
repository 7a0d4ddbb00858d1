//! Partitioned messages: sent in parts, each when it is ready, and seen in parts when they have arrived.
//!
//! The requests are [`Persistent`] ones. While a send is active, each partition that is not ready is a value of its own
//! ([`Partition`]) that gives access to its elements and is given up by making it ready: no element can be changed that
//! may be under way, and threads need nothing but their partitions. The buffer is the request's own, or a slice that
//! its scope has borrowed.
//!
//! MPI-5.0: Partitioned Point-to-Point Communication.

mod init;

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};

use oxmpi_base::{Function, Result};
use oxmpi_core::RequestKey;

use crate::buffers::{Buffers, Hold, sealed};
use crate::check::Check;
#[cfg(doc)]
use crate::communicator::Communicator;
use crate::datatype::Datatype;
use crate::door::Door;
use crate::loan::{Lent, Owned, memory_at};
use crate::persistent::{Active, Persistent};
#[cfg(doc)]
use crate::scope::Scope;
use crate::thread::{Funneled, ThreadLevel};

use piece::Piece;

/// The buffer of a partitioned send: owned, or borrowed in a scope ([`Lent`]). See [`Communicator::psend_init`].
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
pub struct SendPartitions<T: Datatype, M: Hold<T> = Owned<T>> {
    memory: M,
    /// Whether each partition is ready.
    ready: Box<[AtomicBool]>,
    element: PhantomData<fn() -> T>,
}

/// The buffer of a partitioned receive: owned, or borrowed in a scope ([`Lent`]). See [`Communicator::psend_init`].
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
pub struct RecvPartitions<T: Datatype, M: Hold<T> = Owned<T>> {
    memory: M,
    partitions: usize,
    element: PhantomData<fn() -> T>,
}

/// The buffer of a partitioned send that a scope has borrowed. See [`Scope::psend_init`].
///
/// ```
/// use oxmpi::{Persistent, SendPartitionsLent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn send_all<'b>(send: Persistent<'b, SendPartitionsLent<'b, u8>>) -> oxmpi::Result<()> {
///     let mut sending = send.start()?;
///     sending.partitions().try_for_each(|partition| partition.ready())?;
///     sending.wait().map(drop)
/// }
///
/// let (mut mine, peer) = ([7; 4], 1 - world.rank());
/// let recv = world.precv_init(vec![0_u8; 4], 2, peer, 0)?.start()?;
/// world.scope(|scope| send_all(scope.psend_init(&mut mine, 2, peer, 0)?))?;
/// assert_eq!(recv.wait()?.buf(), [7; 4]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub type SendPartitionsLent<'b, T> = SendPartitions<T, Lent<'b, [T]>>;

/// The buffer of a partitioned receive that a scope has borrowed. See [`Scope::precv_init`].
///
/// ```
/// use oxmpi::{Persistent, RecvPartitionsLent};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn receive<'b>(recv: Persistent<'b, RecvPartitionsLent<'b, u8>>) -> oxmpi::Result<u8> {
///     Ok(recv.start()?.wait()?.buf()[0])
/// }
///
/// let (mut theirs, peer) = ([0; 4], 1 - world.rank());
/// let mut send = world.psend_init(vec![7_u8; 4], 2, peer, 0)?.start()?;
/// send.partitions().try_for_each(|partition| partition.ready())?;
/// assert_eq!(world.scope(|scope| receive(scope.precv_init(&mut theirs, 2, peer, 0)?))?, 7);
/// send.wait().map(drop)?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub type RecvPartitionsLent<'b, T> = RecvPartitions<T, Lent<'b, [T]>>;

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

impl<T: Datatype, M: Hold<T>> Buffers for SendPartitions<T, M> {
    type Given = M::Given;
}
impl<T: Datatype, M: Hold<T>> Buffers for RecvPartitions<T, M> {
    type Given = M::Given;
}

impl<T: Datatype, M: Hold<T>, L: ThreadLevel> Persistent<'_, SendPartitions<T, M>, L> {
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
    pub fn buf(&self) -> M::Ref<'_> {
        self.buffers().memory.elements()
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
    pub fn buf_mut(&mut self) -> M::Mut<'_> {
        self.buffers_mut().memory.elements_mut()
    }
}

impl<T: Datatype, M: Hold<T>, L: ThreadLevel> Persistent<'_, RecvPartitions<T, M>, L> {
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
    pub fn buf(&self) -> M::Ref<'_> {
        self.buffers().memory.elements()
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
    pub fn buf_mut(&mut self) -> M::Mut<'_> {
        self.buffers_mut().memory.elements_mut()
    }
}

impl<T: Datatype, M: Hold<T> + Piece<T>, L: ThreadLevel> Active<'_, SendPartitions<T, M>, L> {
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
        let (door, key, SendPartitions { memory, ready, .. }) = self.operation();
        let (whole, partitions) = (memory.whole(), ready.len());
        let not_ready = ready.iter().enumerate().filter(|(_, ready)| !ready.load(Ordering::Relaxed));
        not_ready.map(move |(index, ready)| {
            // SAFETY: as the partition is not ready, the send does not use its elements; nor does another `Partition`,
            // since this method borrows the request exclusively for as long as any lives.
            let elements = unsafe { &mut *partition_of(whole, index, partitions) };
            Partition { elements: Lent::new(elements), ready, index, door, key }
        })
    }
}

impl<T: Datatype, M: Hold<T> + Piece<T>, L: ThreadLevel> Active<'_, RecvPartitions<T, M>, L> {
    /// The elements of a partition, if all of them have arrived. See [`Communicator::psend_init`].
    ///
    /// # Errors
    /// `Arg` if there is no such partition; `Request` if the receive has failed, so that it does not arrive any more:
    /// [`Active::wait`] says how; `Type` if what has arrived is no value of the type. [`Active::wait`] makes one of it,
    /// and fails.
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
        let (door, key, RecvPartitions { memory, partitions, .. }) = self.operation();
        let has_arrived = door.quietly(Function::Parrived, |process| {
            process.parrived(key, i32::try_from(partition).unwrap_or(i32::MAX))
        })?;
        if !has_arrived {
            return Ok(None);
        }
        let arrived = partition_of(memory.whole(), partition, *partitions);
        if !T::LAYOUT.needs_no_check() {
            // SAFETY: they are there, and nobody writes them now.
            let elements = unsafe { memory_at(arrived.cast::<T>(), arrived.len()) };
            let looked = Check::new(elements, const { &T::LAYOUT }).only_look();
            door.placed(Function::Parrived, looked)?;
        }
        // SAFETY: what has arrived is not written again before the next start, which needs the request itself.
        Ok(Some(unsafe { &*arrived }))
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

impl<T: Datatype, M: Hold<T>> sealed::Own for SendPartitions<T, M> {
    type Back = M::Given;

    fn give(self) -> M::Given {
        self.memory.give()
    }

    fn leak(&mut self) {
        self.memory.leak();
    }

    fn begin(&mut self) {
        self.ready.iter_mut().for_each(|ready| *ready.get_mut() = false);
    }

    fn release(&self, mark: &mut dyn FnMut(i32)) {
        let not_ready = (0..).zip(&self.ready).filter(|(_, ready)| !ready.swap(true, Ordering::Relaxed));
        not_ready.for_each(|(index, _)| mark(index));
    }
}

impl<T: Datatype, M: Hold<T>> sealed::Own for RecvPartitions<T, M> {
    type Back = M::Given;

    fn give(self) -> M::Given {
        self.memory.give()
    }

    fn leak(&mut self) {
        self.memory.leak();
    }

    fn check(&mut self) -> Result<()> {
        self.memory.check()
    }
}

mod piece {
    use std::ptr::NonNull;

    /// Memory in one piece: a request's own, or a slice that its scope has borrowed.
    pub trait Piece<T> {
        /// Where all elements are, for as long as this is there.
        #[doc(hidden)]
        fn whole(&self) -> NonNull<[T]>;
    }
}

impl<T: Datatype> Piece<T> for Owned<T> {
    fn whole(&self) -> NonNull<[T]> {
        self.whole()
    }
}

impl<T: Datatype> Piece<T> for Lent<'_, [T]> {
    fn whole(&self) -> NonNull<[T]> {
        self.whole()
    }
}

/// Where the elements of a partition are.
///
/// # Panics
/// If there is no such partition.
fn partition_of<T>(whole: NonNull<[T]>, index: usize, partitions: usize) -> *mut [T] {
    assert!(index < partitions, "there are so many partitions");
    let each = whole.len() / partitions;
    ptr::slice_from_raw_parts_mut(whole.as_ptr().cast::<T>().wrapping_add(index * each), each)
}

impl<T: Datatype, M: Hold<T>> fmt::Debug for SendPartitions<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendPartitions").field("partitions", &self.ready.len()).finish_non_exhaustive()
    }
}

impl<T: Datatype, M: Hold<T>> fmt::Debug for RecvPartitions<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvPartitions").field("partitions", &self.partitions).finish_non_exhaustive()
    }
}

impl<T: Datatype, L: ThreadLevel> fmt::Debug for Partition<'_, T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "partition {} of {} elements", self.index, self.len())
    }
}
