//! Several requests at once, of whatever types.
//!
//! MPI-5.0: Point-to-Point Communication, Persistent Communication Requests (`MPI_Startall`); Multiple
//! Completions (`MPI_Waitall`).

use oxmpi_base::Result;

use crate::buffers::Buffers;
use crate::message::Status;
use crate::owned_request::OwnedRequest;
use crate::persistent::{Active, Persistent};
use crate::request::Request;
use crate::thread::ThreadLevel;

/// What [`start_all`] starts: an inactive request, or a vector, array or tuple of such.
///
/// ```
/// use oxmpi::{Result, Startable, Waitable};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// /// Does so many times what all of some requests do.
/// fn repeat<S: Startable>(times: usize, mut requests: S) -> Result<S> {
///     for _ in 0..times {
///         requests = requests.start()?.wait()?;
///     }
///     Ok(requests)
/// }
///
/// let count = world.allreduce_in_place_init([1], &oxmpi::Op::SUM)?;
/// let (count, _barrier) = repeat(3, (count, world.barrier_init()?))?;
/// assert_eq!(count.buf(), [8]); // doubled three times
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait Startable: Sized {
    /// The same, active.
    ///
    /// ```
    /// use oxmpi::Startable;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// /// What a solver starts in each step, while that is under way.
    /// struct Step<S: Startable>(S::Active);
    ///
    /// fn begin<S: Startable>(requests: S) -> oxmpi::Result<Step<S>> {
    ///     Ok(Step(requests.start()?))
    /// }
    ///
    /// let step = begin((world.barrier_init()?, world.barrier_init()?))?;
    /// // ... compute meanwhile ...
    /// oxmpi::wait_all(step.0).map(drop)?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    type Active: Waitable<Completed = Self>;

    /// Starts all, in order.
    ///
    /// # Errors
    /// As [`start_all`].
    ///
    /// ```
    /// use oxmpi::Startable;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let barriers = [world.barrier_init()?, world.barrier_init()?];
    /// let active = barriers.start()?; // as `start_all`
    /// let [_first, _second] = oxmpi::wait_all(active)?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    fn start(self) -> Result<Self::Active>;
}

/// What [`wait_all`] waits for: a [`Request`], an [`OwnedRequest`], an [`Active`] persistent one, or a vector, array or
/// tuple of such.
///
/// ```
/// use oxmpi::{Startable, Waitable};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// fn compute_beside<W: Waitable>(under_way: W) -> oxmpi::Result<W::Completed> {
///     // ... compute meanwhile ...
///     under_way.wait()
/// }
///
/// let sum = world.allreduce_init([1], [0], &oxmpi::Op::SUM)?;
/// assert_eq!(compute_beside(sum.start()?)?.recv_buf(), [2]);
/// let _barriers = compute_beside(vec![world.barrier_init()?].start()?)?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait Waitable: Sized {
    /// What it gives when it is complete: the same, inactive, if it is persistent; else what its own `wait` gives.
    ///
    /// ```
    /// use oxmpi::{Startable, Waitable};
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// /// Waits, and starts again.
    /// fn next<W: Waitable<Completed: Startable<Active = W>>>(active: W) -> oxmpi::Result<W> {
    ///     active.wait()?.start()
    /// }
    ///
    /// let active = next(world.barrier_init()?.start()?)?;
    /// active.wait().map(drop)?;
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    type Completed;

    /// Waits for all.
    ///
    /// # Errors
    /// As [`wait_all`].
    ///
    /// ```
    /// use oxmpi::Waitable;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let active = (world.barrier_init()?.start()?, world.barrier_init()?.start()?);
    /// let (_first, _second) = active.wait()?; // as `wait_all`
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    fn wait(self) -> Result<Self::Completed>;

    /// Lets the operations have all that the program still keeps from them: others may need it to be complete.
    #[doc(hidden)]
    fn release(&self) {}
}

/// Starts all of `requests`: a tuple, vector or array of persistent requests, of tuples, of vectors, of arrays.
///
/// # Errors
/// As [`Persistent::start`]. All requests are freed then: those that have been started are waited for, but receives
/// that no message has been matched to are given up, as when an [`Active`] one is dropped.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let barriers = vec![world.barrier_init()?, world.barrier_init()?];
/// let sum = world.allreduce_init(vec![1], vec![0], &oxmpi::Op::SUM)?;
/// let active = oxmpi::start_all((barriers, sum))?;
/// let (_barriers, sum) = oxmpi::wait_all(active)?;
/// assert_eq!(sum.recv_buf(), [world.size()]);
/// # Ok(())
/// # }
/// ```
pub fn start_all<S: Startable>(requests: S) -> Result<S::Active> {
    requests.start()
}

/// Waits for all of `requests`, of whatever kinds, and gives what each gives.
///
/// # Errors
/// The first one of those of their own `wait`; all requests are freed then, after the others are complete, too.
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let peer = 1 - world.rank();
/// let sum = world.allreduce_init([1], [0], &oxmpi::Op::SUM)?.start()?;
/// let sends = vec![world.isend(vec![1; 3], peer, 0)?, world.isend(vec![2; 2], peer, 1)?];
/// let barrier = world.ibarrier()?;
/// let mut first = [0; 3];
/// world.scope(|scope| {
///     let receive = scope.recv(&mut first, peer, 0)?;
///     // ... compute meanwhile ...
///     let (sum, _, _, first) = oxmpi::wait_all((sum, sends, barrier, receive))?;
///     assert_eq!((sum.recv_buf(), first), (&[2][..], &mut [1; 3][..]));
///     Ok(())
/// })?;
/// let mut second = [0; 2];
/// world.recv(&mut second, peer, 1)?;
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub fn wait_all<W: Waitable>(requests: W) -> Result<W::Completed> {
    requests.wait()
}

impl<'env, B: Buffers, L: ThreadLevel> Startable for Persistent<'env, B, L> {
    type Active = Active<'env, B, L>;

    fn start(self) -> Result<Self::Active> {
        Persistent::start(self)
    }
}

impl<'env, B: Buffers, L: ThreadLevel> Waitable for Active<'env, B, L> {
    type Completed = Persistent<'env, B, L>;

    fn wait(self) -> Result<Self::Completed> {
        Active::wait(self)
    }

    fn release(&self) {
        Active::release(self);
    }
}

impl<B: Buffers, L: ThreadLevel> Waitable for OwnedRequest<'_, B, L> {
    type Completed = (B::Given, Status);

    fn wait(self) -> Result<Self::Completed> {
        OwnedRequest::wait(self)
    }
}

impl<R, L: ThreadLevel> Waitable for Request<'_, R, L> {
    type Completed = R;

    fn wait(self) -> Result<Self::Completed> {
        Request::wait(self)
    }
}

impl<S: Startable> Startable for Vec<S> {
    type Active = Vec<S::Active>;

    fn start(self) -> Result<Self::Active> {
        self.into_iter().map(S::start).collect()
    }
}

impl<W: Waitable> Waitable for Vec<W> {
    type Completed = Vec<W::Completed>;

    fn wait(self) -> Result<Self::Completed> {
        let mut failed = None;
        let wait = |one: W| match one.wait() {
            Ok(completed) => Some(completed),
            Err(error) => {
                failed.get_or_insert(error); // the others are waited for all the same
                None
            }
        };
        self.release();
        let completed = self.into_iter().filter_map(wait).collect();
        failed.map_or(Ok(completed), Err)
    }

    fn release(&self) {
        self.iter().for_each(W::release);
    }
}

impl<S: Startable, const N: usize> Startable for [S; N] {
    type Active = [S::Active; N];

    fn start(self) -> Result<Self::Active> {
        Vec::from(self).start().map(as_many)
    }
}

impl<W: Waitable, const N: usize> Waitable for [W; N] {
    type Completed = [W::Completed; N];

    fn wait(self) -> Result<Self::Completed> {
        Vec::from(self).wait().map(as_many)
    }

    fn release(&self) {
        self.iter().for_each(W::release);
    }
}

fn as_many<T, const N: usize>(all: Vec<T>) -> [T; N] {
    all.try_into().ok().expect("there are as many as there were")
}

macro_rules! tuples {
    ($(($($part:ident $index:tt),+);)*) => {$(
        impl<$($part: Startable),+> Startable for ($($part,)+) {
            type Active = ($($part::Active,)+);

            fn start(self) -> Result<Self::Active> {
                Ok(($(self.$index.start()?,)+))
            }
        }

        impl<$($part: Waitable),+> Waitable for ($($part,)+) {
            type Completed = ($($part::Completed,)+);

            fn wait(self) -> Result<Self::Completed> {
                self.release();
                let ended = ($(self.$index.wait(),)+); // all of them, even if one has failed
                Ok(($(ended.$index?,)+))
            }

            fn release(&self) {
                $(self.$index.release();)+
            }
        }
    )*};
}

tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}
