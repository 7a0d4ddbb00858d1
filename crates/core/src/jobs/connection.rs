//! The connection between the roots of two groups, of any job.

use std::time::{Duration, Instant};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_broker::{Link, Spawning};

use super::broker::failed;
use super::port::Call;
use crate::process::{Process, State};
use crate::wait::Awaited;

/// What the root of a group hears the other root by.
#[derive(Debug)]
pub(crate) struct Connection {
    link: Link,
    /// What this is for, in reports.
    function: &'static str,
    /// The other job, if this one has started it: until they are connected, its launcher tells when it fails, and
    /// that is all that comes of it.
    started: Option<Spawning>,
    /// The attempt that it is until the other root has answered, where this one has called.
    call: Option<Call>,
}

/// What comes over sockets rings no bell: it is looked for so often at first, and more seldom if it takes long.
const NAP: Duration = Duration::from_millis(1);
const LONG_NAP: Duration = Duration::from_millis(10);

/// How long the end of a job may take whose process has gone.
const PATIENCE: Duration = Duration::from_secs(2);

impl Connection {
    pub(super) fn over(link: Link, function: &'static str) -> Self {
        Self { link, function, started: None, call: None }
    }

    /// To a port where somebody may accept, or not.
    pub(super) fn calling(link: Link, call: Call) -> Self {
        Self { call: Some(call), ..Self::over(link, "MPI_Comm_connect") }
    }

    /// With the job that this one has started.
    pub(super) fn with(self, started: Spawning) -> Self {
        Self { started: Some(started), ..self }
    }

    /// The groups are connected by a communicator.
    pub(crate) fn complete(self) {
        if let Some(started) = self.started {
            started.connected();
        }
    }

    /// Tells the other root something, and hears what that tells.
    ///
    /// # Errors
    /// `Other` if it has gone, or is no process of oxmpi; `Spawn` if it is of a job that has been started, and ended;
    /// `Port` if it has not accepted.
    pub(crate) fn exchange(&mut self, process: &Process, told: &[u8]) -> Result<Vec<u8>> {
        let Self { link, function, started, call } = self;
        let gone = |error| match &call {
            Some(call) => call.refused(&error),
            None => failed(ErrorClass::Other, "the other job does not answer", &error),
        };
        link.send(told).map_err(gone)?;
        let mut gone_at = None;
        let heard = process.wait_for_others(&format!("{function}: waits for the other job"), || {
            match (link.flush().and_then(|_| link.receive()), &mut *started) {
                (Ok(Some(heard)), _) => Some(Ok(heard)),
                (Ok(None), None) => call.as_ref()?.time_out().map(Err),
                // What it told before its end is there by now.
                (Ok(None), Some(started)) => started.ended().map(|how| match link.receive() {
                    Ok(Some(heard)) => Ok(heard),
                    _ => Err(ended(how)),
                }),
                (Err(error), None) => Some(Err(gone(error))),
                // Its launcher knows why, or is about to.
                (Err(error), Some(started)) => match started.ended() {
                    Some(how) => Some(Err(ended(how))),
                    None if gone_at.get_or_insert_with(Instant::now).elapsed() < PATIENCE => None,
                    None => Some(Err(failed(ErrorClass::Spawn, "the new job does not answer", &error))),
                },
            }
        })?;
        *call = None;
        Ok(heard)
    }
}

/// A job that was started has ended too early.
#[cold]
pub(super) fn ended(how: String) -> Error {
    Error::new(ErrorClass::Spawn, format!("the new job has ended before it began with MPI: {how}"))
}

impl Process {
    /// Waits until `look` finds what comes from outside of the job.
    pub(super) fn wait_for_others<T>(
        &self,
        what: &str,
        look: impl FnMut() -> Option<Result<T>>,
    ) -> Result<T> {
        self.wait_at_leisure(FromOutside { what, look, begin: Instant::now() })
    }
}

/// Something that no rank of the job tells.
struct FromOutside<'a, L> {
    what: &'a str,
    look: L,
    begin: Instant,
}

impl<T, L: FnMut() -> Option<Result<T>>> Awaited for FromOutside<'_, L> {
    type Outcome = Result<T>;

    fn look(&mut self, _: &mut State) -> Option<Result<T>> {
        (self.look)()
    }

    fn describe(&self, _: &State) -> Option<String> {
        Some(self.what.to_owned())
    }

    fn nap(&self) -> Option<Duration> {
        Some(if self.begin.elapsed() < 20 * LONG_NAP { NAP } else { LONG_NAP })
    }
}
