//! Joining the job and leaving it.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The World Model.

use std::fmt;
use std::marker::PhantomData;
use std::thread;

use oxmpi_base::{Function, Result};

use crate::communicator::Communicator;
use crate::door::Door;
use crate::engine::Engine;
use crate::run::refuse_to_ranks;
use crate::thread::{Funneled, ThreadLevel};

/// The MPI environment of this process; everything else borrows from it. See [`init`].
///
/// Dropping it is `MPI_Finalize`: it drops what is attached to [`this`](Self::this), and then to the
/// [`world`](Self::world), what was attached last first, completes what is under way and waits for the other ranks.
/// While a panic unwinds it drops nothing, and does not wait for anybody: the launcher then ends the job as soon as
/// this process has exited.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// fn solve(env: &oxmpi::Environment) -> oxmpi::Result<usize> {
///     let mut ranks = 1;
///     env.world().allreduce_in_place(&mut ranks, &oxmpi::Op::SUM)?;
///     Ok(ranks)
/// }
///
/// let env = oxmpi::init()?;
/// assert_eq!(solve(&env)?, env.world().size());
/// drop(env); // the end of MPI, for this process
/// assert!(oxmpi::init().is_err(), "there is no second beginning");
/// # Ok(())
/// # }
/// ```
///
/// It outlives all that is had of it:
///
/// ```compile_fail,E0505
/// # fn main() -> oxmpi::Result<()> {
/// # let env = oxmpi::init()?;
/// let world = env.world();
/// drop(env);
/// world.barrier()
/// # }
/// ```
#[must_use = "dropping the environment leaves the job"]
pub struct Environment<L: ThreadLevel = Funneled> {
    engine: Engine,
    level: PhantomData<L>,
}

/// Joins the job that the launcher has made; a program started without one is a job of one rank.
///
/// # Errors
/// `Other` if the process has been initialised before, if the job cannot be joined, or if this thread is a rank of
/// [`run`](crate::run()), which has its world already.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// println!("rank {} of {}", world.rank(), world.size());
/// # Ok(())
/// # }
/// ```
pub fn init() -> Result<Environment> {
    init_with()
}

/// As [`init`], with the thread level that the type says.
///
/// # Errors
/// As [`init`].
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init_with::<oxmpi::Multiple>()?;
/// # drop(env);
/// # Ok(())
/// # }
/// ```
pub fn init_with<L: ThreadLevel>() -> Result<Environment<L>> {
    let engine = refuse_to_ranks("has its world already").and_then(|()| Engine::join::<L>());
    engine.map(Environment::of).map_err(|error| error.in_call(Function::InitThread, None))
}

impl<L: ThreadLevel> Environment<L> {
    /// That of a process whose gate is that of the level.
    pub(crate) fn of(engine: Engine) -> Self {
        Self { engine, level: PhantomData }
    }

    /// The communicator of all ranks: `MPI_COMM_WORLD`. See [`init`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// world.barrier()?;
    /// assert_eq!(world.compare(&env.world()), oxmpi::Comparison::Ident);
    /// # Ok(())
    /// # }
    /// ```
    pub fn world(&self) -> Communicator<'_, L> {
        Communicator::new(self.door(), self.engine.world())
    }

    /// The communicator of this rank alone: `MPI_COMM_SELF`.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let mut sum = 3;
    /// env.this().allreduce_in_place(&mut sum, &oxmpi::Op::SUM)?;
    /// assert_eq!(sum, 3, "of one rank");
    /// # Ok(())
    /// # }
    /// ```
    pub fn this(&self) -> Communicator<'_, L> {
        Communicator::new(self.door(), self.engine.myself())
    }

    /// How many processes the job has room for (`MPI_UNIVERSE_SIZE`): as many as it has ranks. What it
    /// [spawns](Communicator::spawn) shares their processors.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// assert_eq!(env.universe_size(), env.world().size());
    /// # Ok(())
    /// # }
    /// ```
    pub fn universe_size(&self) -> usize {
        self.engine.world().size() as usize
    }

    /// Which of the programs that the launcher was told to start, or that were
    /// [spawned](Communicator::spawn_multiple) together, this is (`MPI_APPNUM`), from 0; `None` if the process has been
    /// started alone, or its launcher does not tell.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// // Of `mpiexec -n 1 reader : -n 6 solver` all solvers have number 1.
    /// let programs = env.world().split(env.app_number().map(|number| number as i32), 0)?;
    /// # drop(programs);
    /// # Ok(())
    /// # }
    /// ```
    pub fn app_number(&self) -> Option<usize> {
        oxmpi_core::app_number().map(|number| number as usize)
    }

    /// Whether all ranks of the job read the same clock, so that [`wall_time`](crate::wall_time) of one can be compared
    /// with that of another (`MPI_WTIME_IS_GLOBAL`): those of one machine do.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let mut begin = oxmpi::wall_time();
    /// if env.wall_time_is_global() {
    ///     env.world().allreduce_in_place(&mut begin, &oxmpi::Op::MAX)?; // when the last one has come
    /// }
    /// println!("{} s since all are here", oxmpi::wall_time() - begin);
    /// # assert!(env.wall_time_is_global(), "there is one machine here");
    /// # Ok(())
    /// # }
    /// ```
    pub fn wall_time_is_global(&self) -> bool {
        self.engine.world().is_on_one_node()
    }

    /// Ends all ranks of the job; the launcher exits with `code`. Nothing is dropped. A rank without an environment,
    /// such as a thread of [`run`](crate::run()), has [`Communicator::abort`].
    ///
    /// ```no_run
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// if env.world().size() < 2 {
    ///     env.abort(3);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn abort(&self, code: i32) -> ! {
        self.door().abort(code)
    }

    pub(crate) fn door(&self) -> Door<'_, L> {
        Door::new(&self.engine)
    }
}

impl<L: ThreadLevel> Communicator<'_, L> {
    /// Ends all ranks of the job, whichever communicator this is: `MPI_Abort`. As [`Environment::abort`]; a job of
    /// threads ends with an error that says so.
    ///
    /// ```
    /// let job = oxmpi::run(2, |world| {
    ///     if world.rank() == 1 {
    ///         world.abort(3);
    ///     }
    ///     world.barrier()
    /// });
    /// let error = job.expect_err("a rank has given up");
    /// assert_eq!(error.text(), "rank 1 has called MPI_Abort with code 3");
    /// ```
    pub fn abort(&self, code: i32) -> ! {
        self.door.abort(code)
    }
}

impl<L: ThreadLevel> Drop for Environment<L> {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        // As the standard deletes attributes; outside of the call, which their destructors may not be in.
        for comm in [self.engine.myself(), self.engine.world()] {
            comm.detach_all().into_iter().rev().for_each(drop);
        }
        if let Err(error) = self.door().call(Function::Finalize, |_| self.engine.leave()) {
            self.door().give_up(Function::Finalize, error);
        }
    }
}

impl<L: ThreadLevel> fmt::Debug for Environment<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment").field("world", self.engine.world()).finish()
    }
}
