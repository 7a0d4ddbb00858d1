//! Wishes for the plans of persistent collectives: what the info key `oxmpi_plan` is in C.
//!
//! MPI-5.0: Collective Communication, Persistent Collective Operations; The Info Object.

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use crate::communicator::Communicator;
use crate::thread::{Funneled, ThreadLevel};

/// How the algorithm of a persistent collective is chosen. See [`Communicator::planned`].
///
/// Ranks need not wish the same: if one names an algorithm, that is taken, or of several the first in the order of
/// `oxmpi plan`; else, if one wants to measure, it is measured.
///
/// ```
/// use oxmpi::Plan;
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let sum = |plan| world.planned(plan).allreduce_init([0; 500], [0; 500], &oxmpi::Op::SUM);
/// // What is asked for if it is there, and all ranks have the same.
/// assert_eq!(sum(Plan::Algorithm("ring"))?.algorithm(), Some("ring"));
/// assert_eq!(sum(Plan::Algorithm("no such"))?.algorithm(), sum(Plan::Estimate)?.algorithm());
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plan<'a> {
    /// By a model of the machine.
    #[default]
    Estimate,
    /// By trying all admissible ones, which takes up to 100 ms, on memory of the library's own. Where the program's
    /// own operations combine, or buffers are very long, the estimate holds.
    Measure,
    /// This one, as `oxmpi plan` calls it, if it is admissible; else the estimate holds.
    Algorithm(&'a str),
}

/// A communicator whose persistent collectives are planned by a wish: see [`Communicator::planned`].
///
/// ```
/// use oxmpi::{Op, Plan};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let measured = world.planned(Plan::Measure);
/// assert_eq!(measured.size(), world.size()); // the same communicator
/// let sums = [measured.allreduce_init([1], [0], &Op::SUM)?, measured.scan_init([1], [0], &Op::SUM)?];
/// let [sum, scan] = oxmpi::wait_all(oxmpi::start_all(sums)?)?;
/// assert_eq!((sum.recv_buf()[0], scan.recv_buf()[0]), (2, world.rank() + 1));
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Planned<'c, 'env, L: ThreadLevel = Funneled> {
    view: Communicator<'env, L>,
    of: PhantomData<&'c Communicator<'env, L>>,
}

impl<'env, L: ThreadLevel> Communicator<'env, L> {
    /// The same communicator, whose persistent collectives are planned as `plan` says.
    ///
    /// ```
    /// use oxmpi::Plan;
    ///
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let world = env.world();
    /// let sum = world.planned(Plan::Measure).allreduce_init(vec![1.0; 500], vec![0.0; 500], &oxmpi::Op::SUM)?;
    /// if world.rank() == 0 {
    ///     println!("the fastest is {}", sum.algorithm().unwrap_or("a copy"));
    /// }
    /// let sum = sum.start()?.wait()?;
    /// assert_eq!(sum.recv_buf()[499], world.size() as f64);
    /// # Ok(())
    /// # }
    /// ```
    pub fn planned(&self, plan: Plan<'_>) -> Planned<'_, 'env, L> {
        let wish = match plan {
            Plan::Estimate => "estimate",
            Plan::Measure => "measure",
            Plan::Algorithm(name) => name,
        };
        let wish = Some(wish.to_owned());
        let view = Communicator { door: self.door, comm: Arc::clone(&self.comm), wish, is_view: true };
        Planned { view, of: PhantomData }
    }
}

impl<'env, L: ThreadLevel> Deref for Planned<'_, 'env, L> {
    type Target = Communicator<'env, L>;

    fn deref(&self) -> &Self::Target {
        &self.view
    }
}
