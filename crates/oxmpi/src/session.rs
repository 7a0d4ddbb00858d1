//! Sessions: MPI for who does not know who else uses it.
//!
//! All sessions and the world model share one process (decision 12). What is derived from a session borrows from it.
//!
//! MPI-5.0: Process Initialization, Creation, and Management, The Sessions Model.

use std::fmt;
use std::marker::PhantomData;
use std::thread;

use oxmpi_base::{Function, Result};

use crate::door::Door;
use crate::engine::Engine;
use crate::run::refuse_to_ranks;
use crate::thread::{Funneled, ThreadLevel};

/// A use of MPI that is independent of all others in the program: of the [`Environment`](crate::Environment), and of
/// other sessions.
///
/// A library opens one of its own, whether or not the program has begun the world model, as often as it likes, and
/// makes communicators of [sets of processes](Session::process_set). Ranks that have none are not missed, and to open
/// and to close one is local, but for the first use of MPI of a process: on several nodes, under another launcher than
/// our `mpiexec`, and in a spawned job, that joins the job with all its ranks, and waits until they use MPI, too.
///
/// Dropping it closes it. What ranks still receive from this one is sent before if nobody else uses MPI. While a panic
/// unwinds nothing is waited for: the launcher then ends the job as soon as this process has exited.
///
/// It is a use by the process of the operating system. A rank that is a thread, of [`run`](crate::run()) or
/// [`test`](macro@crate::test), is none and can open none; a thread that such a rank starts can, but has one of the
/// process, which knows nothing of the rank.
///
/// ```
/// use oxmpi::{Communicator, Op, Session};
///
/// # fn main() -> oxmpi::Result<()> {
/// let session = Session::new()?;
/// let all = session.process_set("mpi://WORLD").expect("it always is there");
/// let comm = Communicator::from_group(&all, "org.example.library")?;
/// let mut ranks = 1;
/// comm.allreduce_in_place(&mut ranks, &Op::SUM)?;
/// assert_eq!(ranks, comm.size());
/// # Ok(())
/// # }
/// ```
///
/// What is made from it ends before it does:
///
/// ```compile_fail,E0505
/// # fn main() -> oxmpi::Result<()> {
/// let session = oxmpi::Session::new()?;
/// let this = session.process_set("mpi://SELF").expect("it always is there");
/// drop(session);
/// println!("{}", this.size()); // the group borrows the session
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping the session closes it"]
pub struct Session<L: ThreadLevel = Funneled> {
    engine: Engine,
    level: PhantomData<L>,
}

impl Session {
    /// Opens a session, for this thread. See [`Session`].
    ///
    /// # Errors
    /// `Other` if the job cannot be joined, if this thread is a rank of [`run`](crate::run()), or if MPI was
    /// initialised first as the world model of another thread, [`Funneled`], even if that has ended since.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let session = oxmpi::Session::new()?;
    /// let this = session.process_set("mpi://SELF").expect("it always is there");
    /// assert_eq!((this.size(), this.rank()), (1, Some(0)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Result<Self> {
        Self::with_level()
    }
}

impl<L: ThreadLevel> Session<L> {
    /// Opens a session with the thread level that the type says.
    ///
    /// # Errors
    /// As [`Session::new`]; `Other` if MPI was initialised first as a world model that is [`Funneled`], even if that
    /// has ended since, and the session is to be [`Multiple`](crate::Multiple).
    ///
    /// ```
    /// use oxmpi::{Multiple, Session};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let session = Session::<Multiple>::with_level()?;
    /// let size = std::thread::scope(|threads| {
    ///     threads.spawn(|| session.process_set("mpi://SELF").map(|this| this.size())).join()
    /// });
    /// assert_eq!(size.ok(), Some(Some(1)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_level() -> Result<Self> {
        let engine = refuse_to_ranks("sessions are of processes").and_then(|()| Engine::open::<L>());
        let engine = engine.map_err(|error| error.in_call(Function::SessionInit, None))?;
        Ok(Self { engine, level: PhantomData })
    }

    pub(crate) fn door(&self) -> Door<'_, L> {
        Door::new(&self.engine)
    }
}

impl<L: ThreadLevel> Drop for Session<L> {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.door().run(Function::SessionFinalize, |_| self.engine.close());
        }
    }
}

impl<L: ThreadLevel> fmt::Debug for Session<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}
