//! Many requests at once, of which the next that is complete is asked for.
//!
//! MPI-5.0: Point-to-Point Communication, Multiple Completions.

use std::collections::HashMap;
use std::fmt;

use oxmpi_base::{Error, ErrorClass, Function, Result, order};
use oxmpi_core::{Completion, RequestKey, SetKey};

use crate::door::Door;
use crate::message::Status;
use crate::request::Request;
use crate::scope::Scope;
use crate::thread::{Funneled, ThreadLevel};

/// Requests of a scope that are completed in the order in which their operations end.
///
/// To wait for the next costs the same however many there are, where `MPI_Waitany` looks at all. Requests that are in
/// the set when it is dropped are waited for at the end of the scope, as all others.
///
/// ```
/// use oxmpi::Source;
///
/// # fn main() -> oxmpi::Result<()> {
/// let env = oxmpi::init()?;
/// let world = env.world();
/// let mine = [world.rank()];
/// let mut theirs = vec![[usize::MAX]; world.size()];
/// world.scope(|scope| {
///     let mut set = scope.request_set();
///     for (rank, buf) in theirs.iter_mut().enumerate() {
///         set.insert(scope.recv(buf, rank, 0)?);
///     }
///     for rank in 0..world.size() {
///         let _ = scope.send(&mine, rank, 0)?;
///     }
///     while let Some((index, done)) = set.wait_any() {
///         let (buf, status) = done?;
///         assert_eq!((buf[0], status.source()), (index, Some(index)));
///     }
///     Ok(())
/// })
/// # }
/// ```
#[must_use = "a set is there to be waited for"]
pub struct RequestSet<'scope, R, L: ThreadLevel = Funneled> {
    door: Door<'scope, L>,
    set: SetKey,
    requests: HashMap<RequestKey, (usize, Request<'scope, R, L>)>,
    next_index: usize,
}

impl<'scope, L: ThreadLevel> Scope<'scope, '_, L> {
    /// A set of no requests yet. See [`RequestSet`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// # oxmpi::run(2, |world| {
    /// let mut theirs = [[usize::MAX]; 2];
    /// world.scope(|scope| {
    ///     let mut receives = scope.request_set();
    ///     for (rank, buf) in theirs.iter_mut().enumerate() {
    ///         receives.insert(scope.recv(buf, rank, 0)?);
    ///     }
    ///     (0..2).try_for_each(|rank| world.send(&world.rank(), rank, 0))?;
    ///     receives.wait_all().map(drop)
    /// })?;
    /// assert_eq!(theirs, [[0], [1]]);
    /// # Ok(())
    /// # })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn request_set<R>(&'scope self) -> RequestSet<'scope, R, L> {
        let door = self.communicator().door;
        let set = door.run(Function::Waitany, |process| process.open_set());
        RequestSet { door, set, requests: HashMap::new(), next_index: 0 }
    }
}

impl<'scope, R, L: ThreadLevel> RequestSet<'scope, R, L> {
    /// Puts a request in: its index, by which it will be known. Indices count from 0.
    ///
    /// A program may have several ranks, as threads of [`run`](crate::run()). A request of another one than the set's
    /// ends the job.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut bufs = [[0]; 2];
    /// this.scope(|scope| {
    ///     let [first, second] = &mut bufs;
    ///     let mut set = scope.request_set();
    ///     let of_first = set.insert(scope.recv(first, 0, 1)?);
    ///     let of_second = set.insert(scope.recv(second, 0, 2)?);
    ///     assert_eq!((of_first, of_second), (0, 1));
    ///     this.send(&7, 0, 2)?;
    ///     assert_eq!(set.wait_any().map(|(index, _)| index), Some(of_second));
    ///     this.send(&7, 0, 1)
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn insert(&mut self, request: Request<'scope, R, L>) -> usize {
        if !request.door().is_that_of(self.door) {
            let text = "a request of another rank is put into a set";
            self.door.give_up(Function::Waitany, Error::new(ErrorClass::Request, text));
        }
        let (index, key) = (self.next_index, request.key());
        self.next_index += 1;
        let set = self.set;
        let put = self.door.call(Function::Waitany, |process| process.put_in_set(set, key));
        put.expect("a request of a scope is in no other set");
        self.requests.insert(key, (index, request));
        index
    }

    /// Waits for the next operation that is complete: its index, and what [`Request::wait_status`] returns. `None` if
    /// the set is empty.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut bufs = [[0]; 2];
    /// this.scope(|scope| {
    ///     let mut set = scope.request_set();
    ///     for (tag, buf) in (0..).zip(&mut bufs) {
    ///         set.insert(scope.recv(buf, 0, tag)?);
    ///     }
    ///     this.send(&10, 0, 0)?;
    ///     this.send(&11, 0, 1)?;
    ///     while let Some((index, done)) = set.wait_any() {
    ///         let (buf, status) = done?;
    ///         assert_eq!((buf[0], status.tag()), (10 + index, Some(index as i32)));
    ///     }
    ///     assert!(set.is_empty());
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_any(&mut self) -> Option<(usize, Result<(R, Status)>)> {
        let set = self.set;
        let done = self.door.run(Function::Waitany, |process| process.wait_in_set(set));
        self.finish(done)
    }

    /// The same of an operation that is complete already; `None` if none is, or the set is empty. See [`RequestSet`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut buf = [0];
    /// this.scope(|scope| {
    ///     let mut set = scope.request_set();
    ///     set.insert(scope.recv(&mut buf, 0, 0)?);
    ///     assert!(set.test_any().is_none());
    ///     this.send(&7, 0, 0)?;
    ///     let done = loop {
    ///         if let Some((_, done)) = set.test_any() {
    ///             break done;
    ///         }
    ///         // ... compute meanwhile ...
    ///     };
    ///     assert_eq!(done?.0, &[7]);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn test_any(&mut self) -> Option<(usize, Result<(R, Status)>)> {
        let set = self.set;
        let done = self.door.run(Function::Testany, |process| process.test_in_set(set));
        self.finish(done)
    }

    /// Waits for all, and gives back what they give back, in the order in which they were put in. See
    /// [`RequestSet`].
    ///
    /// # Errors
    /// The first one of [`Request::wait`], after all are complete.
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut bufs = [[0]; 3];
    /// this.scope(|scope| {
    ///     let mut set = scope.request_set();
    ///     for (tag, buf) in (0..).zip(&mut bufs) {
    ///         set.insert(scope.recv(buf, 0, tag)?);
    ///     }
    ///     (0..3).rev().try_for_each(|tag| this.send(&tag, 0, tag))?;
    ///     // In the order in which they were put in, not in that in which they were complete.
    ///     assert_eq!(set.wait_all()?, [[0], [1], [2]]);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_all(mut self) -> Result<Vec<R>> {
        let mut done: Vec<_> = std::iter::from_fn(|| self.wait_any()).collect();
        order::by_key(&mut done, |(index, _)| *index as u64);
        done.into_iter().map(|(_, result)| result.map(|(result, _)| result)).collect()
    }

    /// Number of requests that have not been waited for. See [`RequestSet`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut buf = [0];
    /// this.scope(|scope| {
    ///     let mut set = scope.request_set();
    ///     set.insert(scope.recv(&mut buf, 0, 0)?);
    ///     assert_eq!(set.len(), 1);
    ///     this.send(&7, 0, 0)?;
    ///     set.wait_any();
    ///     assert_eq!(set.len(), 0);
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether all have been waited for. See [`RequestSet`].
    ///
    /// ```
    /// # fn main() -> oxmpi::Result<()> {
    /// let env = oxmpi::init()?;
    /// let this = env.this();
    /// let mut buf = [0];
    /// this.scope(|scope| {
    ///     let mut set = scope.request_set();
    ///     assert!(set.is_empty());
    ///     set.insert(scope.recv(&mut buf, 0, 0)?);
    ///     assert!(!set.is_empty());
    ///     this.send(&7, 0, 0)
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    fn finish(&mut self, done: Option<(RequestKey, Completion)>) -> Option<(usize, Result<(R, Status)>)> {
        let (key, completion) = done?;
        let (index, request) = self.requests.remove(&key).expect("what is in the set was put in here");
        Some((index, request.finish(completion)))
    }
}

impl<'scope, R, L: ThreadLevel> Extend<Request<'scope, R, L>> for RequestSet<'scope, R, L> {
    fn extend<I: IntoIterator<Item = Request<'scope, R, L>>>(&mut self, requests: I) {
        for request in requests {
            self.insert(request);
        }
    }
}

impl<R, L: ThreadLevel> Drop for RequestSet<'_, R, L> {
    fn drop(&mut self) {
        let set = self.set;
        self.door.run(Function::Waitany, |process| process.close_set(set));
    }
}

impl<R, L: ThreadLevel> fmt::Debug for RequestSet<'_, R, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestSet").field("len", &self.len()).finish_non_exhaustive()
    }
}
