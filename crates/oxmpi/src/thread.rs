//! Thread levels, as types.
//!
//! MPI-5.0: External Interfaces, MPI and Threads.

use std::marker::PhantomData;

use oxmpi_mem::Callers;

/// How the threads of a program may use MPI: [`Funneled`] or [`Multiple`].
///
/// Everything that belongs to an [`Environment`](crate::Environment), or a [`Session`](crate::Session), carries its
/// level, so that the compiler knows which values may cross to another thread.
///
/// ```
/// use oxmpi::{Communicator, Op, ThreadLevel};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// /// Serves programs of either level.
/// fn count<L: ThreadLevel>(world: &Communicator<'_, L>) -> oxmpi::Result<usize> {
///     let mut count = 1;
///     world.allreduce_in_place(&mut count, &Op::SUM)?;
///     Ok(count)
/// }
///
/// assert_eq!(count(&world)?, 2);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
///
/// Whether calls need a lock is no value that a program can have:
///
/// ```compile_fail,E0133
/// fn callers<L: oxmpi::ThreadLevel>() {
///     L::callers();
/// }
/// ```
pub trait ThreadLevel: Level + 'static {}

/// Only the thread that initialised MPI, or opened the session, calls on its behalf: `MPI_THREAD_FUNNELED`.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?; // as `init_with::<oxmpi::Funneled>()`
/// let world: oxmpi::Communicator<'_, oxmpi::Funneled> = env.world();
/// world.barrier()?;
/// # Ok(())
/// # }
/// ```
///
/// Nothing that belongs to such an environment or session is `Send` or `Sync`. Where this environment came first no
/// call takes a lock; where a session did there is one, for other threads may open sessions too.
///
/// ```compile_fail,E0277
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// std::thread::scope(|threads| {
///     threads.spawn(|| world.barrier()); // a funneled communicator cannot be shared
/// });
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Funneled(PhantomData<*const ()>);

/// Any thread calls MPI at any time: `MPI_THREAD_MULTIPLE`.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init_with::<oxmpi::Multiple>()?;
/// let world = env.world();
/// let rank = std::thread::scope(|threads| threads.spawn(|| world.rank()).join());
/// assert_eq!(rank.ok(), Some(world.rank()));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Multiple(());

impl ThreadLevel for Funneled {}
impl ThreadLevel for Multiple {}

/// What a level means for the door to the process's state. Not for implementation elsewhere.
pub trait Level {
    /// What the standard calls it.
    #[doc(hidden)]
    const LEVEL: oxmpi_core::ThreadLevel;

    /// Whether values of the level stay in the thread that has made the first of them.
    #[doc(hidden)]
    fn is_confined() -> bool {
        Self::LEVEL < oxmpi_core::ThreadLevel::Serialized
    }

    /// Who comes to the door.
    ///
    /// # Safety
    /// It is the door of a process that is used by values of this level alone.
    #[doc(hidden)]
    unsafe fn callers() -> Callers;
}

impl Level for Funneled {
    const LEVEL: oxmpi_core::ThreadLevel = oxmpi_core::ThreadLevel::Funneled;

    unsafe fn callers() -> Callers {
        // SAFETY: whoever enters the gate holds a value that borrows `Environment<Funneled>` or is it. The
        // marker in `Funneled` makes all of them neither `Send` nor `Sync`, so they stay in the thread that
        // made the environment, and its calls follow one another. A session that is opened later is refused unless
        // it is `Session<Funneled>` and opened by the same thread (`Engine::open`).
        unsafe { Callers::in_turn() }
    }
}

impl Level for Multiple {
    const LEVEL: oxmpi_core::ThreadLevel = oxmpi_core::ThreadLevel::Multiple;

    unsafe fn callers() -> Callers {
        Callers::ANY
    }
}
