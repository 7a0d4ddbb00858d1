//! Jobs of threads: ranks without a launcher.
//!
//! Each rank is a thread with an engine of its own, as a process has one, and all share the job's segment, as processes
//! do. What is different is what threads share: statics, the current directory, and the end.
//!
//! A rank that cannot go on - it waits for one that has left, or has called [`Communicator::abort`] - has no process to
//! end. The thread that has called sleeps for ever instead, the rank's first one or another: to unwind it would give
//! buffers back that its operations may still use.
//!
//! MPI-5.0: Process Initialization, Creation, and Management.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use oxmpi_base::{Error, ErrorClass, Result, order};
use oxmpi_core::{Exit, Phase, Seat, Seats};

use crate::communicator::Communicator;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::thread::{Funneled, ThreadLevel};

/// Runs `body` on so many ranks, which are threads of this process: gives what it returns, in the order of the ranks.
///
/// No launcher is needed, and nothing else of the machine; so examples and tests have as many ranks as they like. The
/// ranks are a job of their own, whatever this process is else. As they share the process, a static is one for all, and
/// so is what a library keeps in one. The [`Environment`] and a [`Session`](crate::Session) are the process's, too: a
/// rank is refused them, and gives a library a [duplicate](Communicator::duplicate) of its world instead. A group or a
/// communicator of another job of this program, which a rank may have come by, has no process that the rank knows: it
/// is refused where communicators are made.
///
/// The `body` is `'static`, since a rank may outlive the call: one that cannot go on never returns.
///
/// # Errors
/// Class `Other`, whatever other ranks return, if a rank has ended the job: it has called [`Communicator::abort`], or
/// could not go on after an error. Else that of the first rank that has returned one; else, class `Other`, that a rank
/// waits for one that has left. The text says which. `Arg` if there are to be no ranks; `Other` if the system refuses.
///
/// # Panics
/// If a rank does.
///
/// A rank that panics or aborts ends the job: the others are left where they are.
///
/// ```
/// use oxmpi::Op;
///
/// # fn main() -> oxmpi::Result<()> {
/// let sums = oxmpi::run(4, |world| {
///     let mut sum = world.rank();
///     world.allreduce_in_place(&mut sum, &Op::SUM)?;
///     Ok(sum)
/// })?;
/// assert_eq!(sums, [6; 4]);
/// # Ok(())
/// # }
/// ```
///
/// What a rank needs of its caller it owns, or shares:
///
/// ```
/// # use std::sync::Arc;
/// # fn main() -> oxmpi::Result<()> {
/// let weights = Arc::new([0.5, 0.25]);
/// let sum = oxmpi::run(2, move |world| {
///     let mut sum = weights[world.rank()];
///     world.allreduce_in_place(&mut sum, &oxmpi::Op::SUM)?;
///     Ok(sum)
/// })?;
/// assert_eq!(sum, [0.75; 2]);
/// # Ok(())
/// # }
/// ```
///
/// Nothing of a rank leaves it:
///
/// ```compile_fail,E0521
/// # fn main() -> oxmpi::Result<()> {
/// let worlds = std::sync::Mutex::new(Vec::new());
/// oxmpi::run_with::<oxmpi::Multiple, _>(2, move |world| {
///     worlds.lock().expect("nobody panics").push(world);
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
pub fn run<T: Send + 'static>(
    ranks: usize,
    body: impl Fn(Communicator<'_>) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    run_with::<Funneled, T>(ranks, body)
}

/// As [`run`], with the thread level that the type says.
///
/// A rank cannot go on if one of its threads cannot, whatever the others do.
///
/// # Errors
/// As [`run`].
///
/// ```
/// use oxmpi::Multiple;
///
/// # fn main() -> oxmpi::Result<()> {
/// oxmpi::run_with::<Multiple, _>(2, |world| {
///     let peer = 1 - world.rank();
///     std::thread::scope(|threads| {
///         let received = threads.spawn(|| world.recv_vec::<usize>(peer, 0));
///         world.send(&world.rank(), peer, 0)?;
///         assert_eq!(received.join().expect("it does not panic")?.0, [peer]);
///         Ok(())
///     })
/// })?;
/// # Ok(())
/// # }
/// ```
pub fn run_with<L: ThreadLevel, T: Send + 'static>(
    ranks: usize,
    body: impl Fn(Communicator<'_, L>) -> Result<T> + Send + Sync + 'static,
) -> Result<Vec<T>> {
    let (mut values, mut stuck) = (Vec::new(), None);
    for end in run_all(ranks, body)? {
        match end {
            Ok(value) => values.push(value?),
            Err(end) => stuck = stuck.or(Some(end)),
        }
    }
    stuck.map_or(Ok(values), |stuck| Err(Error::new(ErrorClass::Other, stuck.to_string())))
}

/// A rank that could not go on.
pub(crate) struct Stuck {
    rank: usize,
    phase: Phase,
}

/// How the ranks of a job have ended, or just the one that has ended the job.
///
/// # Errors
/// `Arg` if there are no ranks; `Other` if the system refuses, or a rank cannot join.
///
/// # Panics
/// If a rank does.
pub(crate) fn run_all<L: ThreadLevel, R: Send + 'static>(
    ranks: usize,
    body: impl Fn(Communicator<'_, L>) -> R + Send + Sync + 'static,
) -> Result<Vec<std::result::Result<R, Stuck>>> {
    let wrong = |_| Error::new(ErrorClass::Arg, format!("ranks is {ranks}: so many there cannot be"));
    let (seats, seen) = Seat::of_new_job(u32::try_from(ranks).map_err(wrong)?)?;
    let (body, seen) = (Arc::new(body), Arc::new(seen));
    let (tell, told) = mpsc::channel();
    for (rank, seat) in seats.into_iter().enumerate() {
        let (body, seen) = (Arc::clone(&body), Arc::clone(&seen));
        let teller = Arc::new(Teller { rank, seen, tell: Mutex::new(Some(tell.clone())) });
        let life = move || {
            IS_RANK.set(true);
            let stuck = Arc::clone(&teller);
            let lived = catch_unwind(AssertUnwindSafe(|| live(seat, stuck, &*body)));
            teller.tell(lived.map_or_else(End::Panicked, End::Returned));
        };
        let refused = |error| Error::new(ErrorClass::Other, format!("cannot start rank {rank}: {error}"));
        thread::Builder::new().name(format!("rank {rank}")).spawn(life).map_err(refused)?;
    }
    let mut ends = Vec::new();
    for (rank, end) in told.iter().take(ranks) {
        match end {
            End::Returned(value) => ends.push((rank, Ok(value?))),
            End::Panicked(payload) => resume_unwind(payload),
            End::Stuck(phase @ Phase::Stranded(_)) => ends.push((rank, Err(Stuck { rank, phase }))),
            // The job ends.
            End::Stuck(phase) => return Ok(vec![Err(Stuck { rank, phase })]),
        }
    }
    order::by_key(&mut ends, |(rank, _)| *rank as u64);
    Ok(ends.into_iter().map(|(_, end)| end).collect())
}

/// Refuses what only processes have to the thread that has begun as a rank: it would be part of two jobs.
///
/// # Errors
/// `Other` if this is such a thread.
pub(crate) fn refuse_to_ranks(what: &str) -> Result<()> {
    if IS_RANK.get() {
        let text = format!("this rank is a thread of `oxmpi::run`, and {what}");
        return Err(Error::new(ErrorClass::Other, text));
    }
    Ok(())
}

/// How a rank has ended.
enum End<R> {
    /// With what it gives, if it could join.
    Returned(Result<R>),
    Panicked(Box<dyn Any + Send>),
    /// The thread that could not go on never returns.
    Stuck(Phase),
}

/// How ranks tell who has started them.
type Tell<R> = mpsc::Sender<(usize, End<R>)>;

/// Tells how a rank has ended: what is told first, by whichever of its threads.
struct Teller<R> {
    rank: usize,
    seen: Arc<Seats>,
    tell: Mutex<Option<Tell<R>>>,
}

impl<R> Teller<R> {
    /// Tells the other ranks, too.
    fn tell(&self, end: End<R>) {
        let Some(tell) = self.tell.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        self.seen.show_gone(self.rank, matches!(end, End::Returned(Ok(_))));
        // Who has failed to start all ranks does not listen.
        let _ = tell.send((self.rank, end));
    }
}

/// What a thread of the rank does in place of ending the process: it sleeps for ever.
impl<R: Send> Exit for Teller<R> {
    fn exit(&self, _status: u8) -> ! {
        self.tell(End::Stuck(self.seen.phase(self.rank)));
        loop {
            thread::park();
        }
    }
}

/// The life of a rank: it joins, and leaves; or a thread of it is `stuck`.
fn live<L: ThreadLevel, R>(
    seat: Seat,
    stuck: Arc<dyn Exit>,
    body: impl Fn(Communicator<'_, L>) -> R,
) -> Result<R> {
    // SAFETY: the rank is used by its environment, which has this level; it has no sessions.
    let callers = unsafe { L::callers() };
    let env = Environment::of(Engine::of_thread(seat.take(stuck, callers)?));
    Ok(body(env.world()))
}

thread_local! {
    /// Whether this thread has begun as a rank.
    static IS_RANK: Cell<bool> = const { Cell::new(false) };
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} ", self.rank)?;
        match self.phase {
            Phase::Aborted(code) => write!(f, "has called MPI_Abort with code {code}"),
            Phase::Stranded(missed) => write!(f, "waits for rank {missed}, which has left"),
            _ => write!(f, "could not go on after an error"),
        }
    }
}
