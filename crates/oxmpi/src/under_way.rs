//! Operations that are under way, of whatever kinds: which of them is over first.
//!
//! MPI-5.0: Point-to-Point Communication, Multiple Completions.

use oxmpi_base::{Error, ErrorClass, Function, Result};
use oxmpi_core::RequestKey;

use crate::buffers::Buffers;
use crate::door::Door;
use crate::owned_request::OwnedRequest;
use crate::persistent::Active;
use crate::request::Request;
use crate::thread::ThreadLevel;

/// An operation that is under way: a [`Request`], an [`OwnedRequest`] or an [`Active`] persistent request.
///
/// ```
/// use oxmpi::{UnderWay, wait_any};
///
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// let this = world.rank();
/// let (receive, barrier) = (world.irecv(0, this, 0)?, world.barrier_init()?.start()?);
/// let under_way: [&dyn UnderWay; 2] = [&receive, &barrier]; // of different kinds
/// assert_eq!(wait_any(&under_way)?, Some(1));
/// world.send(&7, this, 0)?;
/// assert_eq!(receive.wait()?.0, [7]);
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub trait UnderWay: sealed::Known {}

impl<R, L: ThreadLevel> UnderWay for Request<'_, R, L> {}
impl<B: Buffers, L: ThreadLevel> UnderWay for OwnedRequest<'_, B, L> {}
impl<B: Buffers, L: ThreadLevel> UnderWay for Active<'_, B, L> {}

/// Waits until one of `requests` is over: its index, the least if there are several; `None` if there are none.
///
/// It stays what it is: to wait for it, which returns at once, gives what it gives, and tells how it has ended. Of many
/// requests of one kind a [`RequestSet`](crate::RequestSet) finds the next one faster. A partitioned send of which
/// a partition is not [ready](crate::Partition::ready) is not over before it is, and nobody makes it so meanwhile.
///
/// # Errors
/// `Request` if they are not all of one rank, where a program has several as threads of [`run`](crate::run()).
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let this = env.this();
/// let never = this.irecv([0.0], 0, 9)?;
/// let mut sum = [0];
/// world.scope(|scope| {
///     let sum = scope.allreduce(&[1], &mut sum, &oxmpi::Op::SUM)?;
///     assert_eq!(oxmpi::wait_any(&[&never, &sum])?, Some(1));
///     assert_eq!(sum.wait()?, [world.size()]);
///     Ok(())
/// })?;
/// this.send(&[1.5], 0, 9)?;
/// assert_eq!(never.wait()?.0, [1.5]);
/// # Ok(())
/// # }
/// ```
pub fn wait_any(requests: &[&dyn UnderWay]) -> Result<Option<usize>> {
    wait(Function::Waitany, requests)
}

/// The same of one that is over already; `None` if none is. See [`wait_any`].
///
/// # Errors
/// `Request` if they are not all of one rank, where a program has several as threads of [`run`](crate::run()).
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let this = env.this();
/// let receive = this.irecv(0, 0, 0)?;
/// assert_eq!(oxmpi::test_any(&[&receive])?, None);
/// this.send(&7, 0, 0)?;
/// while oxmpi::test_any(&[&receive])?.is_none() {
///     // ... compute meanwhile ...
/// }
/// assert_eq!(receive.wait()?.0, [7]);
/// # Ok(())
/// # }
/// ```
pub fn test_any(requests: &[&dyn UnderWay]) -> Result<Option<usize>> {
    Ok(test(Function::Testany, requests)?.first().copied())
}

/// Waits until one of `requests` is over, and tells all that are, in order; none if there are none. See [`wait_any`].
///
/// # Errors
/// `Request` if they are not all of one rank, where a program has several as threads of [`run`](crate::run()).
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let this = env.this();
/// let (first, second) = (this.irecv(0, 0, 1)?, this.irecv(0, 0, 2)?);
/// this.send(&7, 0, 2)?;
/// assert_eq!(oxmpi::wait_some(&[&first, &second])?, [1]);
/// assert_eq!(second.wait()?.0, [7]);
/// this.send(&8, 0, 1)?;
/// assert_eq!(first.wait()?.0, [8]);
/// # Ok(())
/// # }
/// ```
pub fn wait_some(requests: &[&dyn UnderWay]) -> Result<Vec<usize>> {
    wait(Function::Waitsome, requests)?;
    test(Function::Waitsome, requests)
}

/// The same of those that are over already.
///
/// # Errors
/// `Request` if they are not all of one rank, where a program has several as threads of [`run`](crate::run()).
///
/// ```
/// # fn main() -> oxmpi::Result<()> {
/// # oxmpi::run(2, |world| {
/// use oxmpi::{UnderWay, test_some};
///
/// let peer = 1 - world.rank();
/// let requests = [world.isend(vec![1; 3], peer, 0)?, world.irecv(vec![0; 3], peer, 0)?];
/// let mut over = 0;
/// while over < 2 {
///     let under_way: Vec<&dyn UnderWay> = requests.iter().map(|request| request as _).collect();
///     over = test_some(&under_way)?.len();
/// }
/// for request in requests {
///     assert_eq!(request.wait()?.0, [1; 3]);
/// }
/// # Ok(())
/// # })?;
/// # Ok(())
/// # }
/// ```
pub fn test_some(requests: &[&dyn UnderWay]) -> Result<Vec<usize>> {
    test(Function::Testsome, requests)
}

/// Waits for one of the requests of this call.
fn wait(function: Function, requests: &[&dyn UnderWay]) -> Result<Option<usize>> {
    let Some((door, keys)) = known(function, requests)? else { return Ok(None) };
    door.call(function, |process| process.await_any(&keys))
}

/// Those of the requests of this call that are over.
fn test(function: Function, requests: &[&dyn UnderWay]) -> Result<Vec<usize>> {
    let Some((door, keys)) = known(function, requests)? else { return Ok(Vec::new()) };
    let statuses = door.call(function, |process| process.request_statuses(&keys))?;
    let over = statuses.iter().enumerate().filter(|(_, status)| status.is_some());
    Ok(over.map(|(index, _)| index).collect())
}

/// The process of requests, and their numbers, if there are any.
///
/// # Errors
/// `Request` if they are not all of one rank.
fn known<'r>(function: Function, requests: &[&'r dyn UnderWay]) -> Result<Option<Numbers<'r>>> {
    let Some(first) = requests.first() else { return Ok(None) };
    let door = first.known().door;
    let number = |(index, request): (usize, &&'r dyn UnderWay)| {
        let Number { door: its, key } = request.known();
        let text = || format!("requests[{index}] is another rank's than requests[0]");
        its.is_that_of(door).then_some(Some(key)).ok_or_else(|| Error::new(ErrorClass::Request, text()))
    };
    let keys: Result<Vec<_>> = requests.iter().enumerate().map(number).collect();
    Ok(Some((door, door.placed(function, keys)?)))
}

/// A process, and numbers of its requests.
type Numbers<'r> = (Door<'r, ()>, Vec<Option<RequestKey>>);

/// A request's process, and its number. See [`UnderWay`].
#[derive(Debug)]
pub struct Number<'r> {
    door: Door<'r, ()>,
    key: RequestKey,
}

mod sealed {
    use super::Number;

    /// What core knows.
    pub trait Known {
        /// By which it knows it.
        fn known(&self) -> Number<'_>;
    }
}

impl<R, L: ThreadLevel> sealed::Known for Request<'_, R, L> {
    fn known(&self) -> Number<'_> {
        Number { door: self.door().of_any_level(), key: self.key() }
    }
}

impl<B: Buffers, L: ThreadLevel> sealed::Known for OwnedRequest<'_, B, L> {
    fn known(&self) -> Number<'_> {
        Number { door: self.door().of_any_level(), key: self.key() }
    }
}

impl<B: Buffers, L: ThreadLevel> sealed::Known for Active<'_, B, L> {
    fn known(&self) -> Number<'_> {
        let (door, key, _) = self.operation();
        Number { door: door.of_any_level(), key }
    }
}
