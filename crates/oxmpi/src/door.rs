//! The one way from this crate into the process: every call goes through [`Door::run`].

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::process;
use std::ptr;

use oxmpi_base::{Error, ErrorClass, Function, Result, Status};
use oxmpi_core::{Completion, Process, RequestKey};
use oxmpi_system::notice::say;

use crate::check::Check;

/// A borrowed process, with the thread level of its environment.
pub(crate) struct Door<'env, L> {
    process: &'env Process,
    level: PhantomData<L>,
}

impl<L> Clone for Door<'_, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Door<'_, L> {}

impl<'env, L> Door<'env, L> {
    pub fn new(process: &'env Process) -> Self {
        Self { process, level: PhantomData }
    }

    /// The same, for a call by who holds a value of the level.
    pub fn of_any_level(self) -> Door<'env, ()> {
        Door::new(self.process)
    }

    /// Whether both lead into the same process. A program may have several, one for each rank that is a thread, whose
    /// requests have the same numbers.
    pub fn is_that_of<M>(self, other: Door<'_, M>) -> bool {
        ptr::eq(self.process, other.process)
    }

    /// Calls into the process on behalf of `function`, which reports will name while the call lasts, and errors.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn call<R>(self, function: Function, call: impl FnOnce(&'env Process) -> Result<R>) -> Result<R> {
        self.run(function, call).map_err(|error| self.place(error, function))
    }

    /// As [`Door::call`], of what does not wait: reports need not name it.
    ///
    /// # Errors
    /// Those of `call`.
    #[inline]
    pub fn quietly<R>(self, function: Function, call: impl FnOnce(&'env Process) -> Result<R>) -> Result<R> {
        let fuse = AbortOnUnwind;
        let result = call(self.process);
        mem::forget(fuse);
        result.map_err(|error| self.place(error, function))
    }

    /// As [`Door::call`], of what cannot fail.
    ///
    /// The memory lent to an operation must outlive it, but a panic on the way (a defect of oxmpi, or a panic
    /// in a user's reduction) would return the memory while the operation may still be under way. Therefore
    /// a panic ends the process here.
    #[inline]
    pub fn run<R>(self, function: Function, call: impl FnOnce(&'env Process) -> R) -> R {
        self.process.note_call(function.index());
        let fuse = AbortOnUnwind;
        let result = call(self.process);
        mem::forget(fuse);
        self.process.note_call(0);
        result
    }

    /// Waits for an operation and completes it: what it says about itself comes into `status`, if it has not failed;
    /// `collective` is as for [`Door::outcome`].
    ///
    /// # Errors
    /// `Request` if there is no such request; that of the operation, as [`Door::outcome`].
    #[inline]
    pub fn wait(self, key: RequestKey, collective: Option<Function>, status: &mut Status) -> Result<()> {
        self.of_any_level().wait_at_any_level(key, collective, status)
    }

    /// The same of who does not want to know what the operation says about itself: to copy that as a whole when it has
    /// just been written field by field takes a processor up to 10 ns.
    ///
    /// # Errors
    /// As [`Door::wait`].
    #[inline]
    pub fn wait_for_end(self, key: RequestKey, collective: Option<Function>) -> Result<()> {
        self.of_any_level().wait_for_end_at_any_level(key, collective)
    }

    /// Ends a receive that no message has matched yet; one that has been matched goes on. It is to be waited for either
    /// way.
    ///
    /// # Errors
    /// `Request` if it is no receive: nothing else is cancelled.
    pub fn cancel(self, key: RequestKey, is_receive: bool) -> Result<()> {
        if !is_receive {
            let error = Error::new(ErrorClass::Request, "what is cancelled is no receive");
            return Err(self.place(error, Function::Cancel));
        }
        self.call(Function::Cancel, |process| process.cancel(key))
    }

    /// How an operation has ended; `collective` says which function began it if it is a collective.
    ///
    /// # Errors
    /// That of the operation, which is over all the same: what has failed writes no more, since a run tells that it has
    /// failed when its last message has come or has been withdrawn.
    pub fn outcome(self, completion: Completion, collective: Option<Function>) -> Result<Status> {
        match (completion.error, collective) {
            (None, _) => Ok(completion.status),
            (Some(error), None) => Err(self.place(error, Function::Wait)),
            (Some(error), Some(function)) => Err(self.place(error, function)),
        }
    }

    /// How `function` has ended, when what it may have written has been looked at. Whoever makes memory visible again
    /// that an operation has written calls this first, also if that has failed.
    ///
    /// # Errors
    /// That of `result`; else `Type` if what has been received is no value.
    #[inline]
    pub fn checked<R>(self, function: Function, check: Option<Box<Check>>, result: Result<R>) -> Result<R> {
        let Some(check) = check else { return result };
        let looked = self.placed(function, check.run());
        result.and_then(|value| looked.map(|()| value))
    }

    /// A result of `function`, which says so if it is an error.
    #[inline]
    pub fn placed<R>(self, function: Function, result: Result<R>) -> Result<R> {
        result.map_err(|error| self.place(error, function))
    }

    /// Ends the job because of an error that nobody could handle.
    #[cold]
    pub fn give_up(self, function: Function, error: Error) -> ! {
        let error = self.place(error, function);
        say(format_args!("{error}: the job ends"));
        self.process.note_call(function.index());
        self.fail(error.class().code())
    }

    #[cold]
    fn place(self, error: Error, function: Function) -> Error {
        error.in_call(function, Some(self.process.world().rank()))
    }

    /// Ends the job because of something that nobody could handle.
    pub fn fail(self, code: i32) -> ! {
        self.process.fail(code)
    }

    /// Ends the job at the program's wish.
    pub fn abort(self, code: i32) -> ! {
        self.process.abort(code)
    }
}

impl Door<'_, ()> {
    /// With [`Door::wait_for_end_at_any_level`] the one call of [`Process::wait`], so that this becomes part of it: to
    /// give completions on in memory takes 10 ns a call, as they are written field by field and copied whole.
    #[inline(never)]
    fn wait_at_any_level(
        self,
        key: RequestKey,
        collective: Option<Function>,
        status: &mut Status,
    ) -> Result<()> {
        *status = self.complete(key, collective)?;
        Ok(())
    }

    #[inline(never)]
    fn wait_for_end_at_any_level(self, key: RequestKey, collective: Option<Function>) -> Result<()> {
        self.complete(key, collective).map(drop)
    }

    #[inline(always)]
    fn complete(self, key: RequestKey, collective: Option<Function>) -> Result<Status> {
        let completion = self.call(Function::Wait, |process| process.wait(key))?;
        match completion.error {
            None => Ok(completion.status),
            Some(error) => Err(self.place(error, collective.unwrap_or(Function::Wait))),
        }
    }
}

impl<L> fmt::Debug for Door<'_, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Process")
    }
}

struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    #[cold]
    fn drop(&mut self) {
        process::abort();
    }
}
