//! The connection between the roots of two groups, of any job.

use std::time::Duration;

use oxmpi_base::{ErrorClass, Result};
use oxmpi_broker::Link;

use super::broker::failed;
use crate::process::{Process, State};
use crate::wait::Awaited;

/// What the root of a group hears the other root by.
#[derive(Debug)]
pub(crate) struct Connection {
    link: Link,
    /// What this is for, in reports.
    function: &'static str,
}

/// What comes over sockets rings no bell.
const NAP: Duration = Duration::from_millis(1);

impl Connection {
    pub(super) fn over(link: Link, function: &'static str) -> Self {
        Self { link, function }
    }

    /// Tells the other root something, and hears what that tells.
    ///
    /// # Errors
    /// `Other` if it has gone, or is no process of oxmpi.
    pub(crate) fn exchange(&mut self, process: &Process, told: &[u8]) -> Result<Vec<u8>> {
        let Self { link, function } = self;
        let gone = |error| failed(ErrorClass::Other, "the other job does not answer", &error);
        link.send(told).map_err(gone)?;
        process.wait_for_others(&format!("{function}: waits for the other job"), || {
            link.flush().and_then(|_| link.receive()).map_err(gone).transpose()
        })
    }
}

impl Process {
    /// Waits until `look` finds what comes from outside of the job.
    pub(super) fn wait_for_others<T>(
        &self,
        what: &str,
        look: impl FnMut() -> Option<Result<T>>,
    ) -> Result<T> {
        self.wait_for(FromOutside { what, look })
    }
}

/// Something that no rank of the job tells.
struct FromOutside<'a, L> {
    what: &'a str,
    look: L,
}

impl<T, L: FnMut() -> Option<Result<T>>> Awaited for FromOutside<'_, L> {
    type Outcome = Result<T>;

    fn look(&mut self, _: &mut State) -> Option<Result<T>> {
        (self.look)()
    }

    fn describe(&self, _: &State) -> Option<String> {
        Some(self.what.to_owned())
    }

    fn nap(&self) -> Duration {
        NAP
    }
}
