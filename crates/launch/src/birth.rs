//! Where a job comes from, and who still waits to hear how it fares.

use oxmpi_broker::ClientId;

use crate::status::Cause;

/// Who has asked for a job.
#[derive(Debug)]
pub enum Origin {
    /// The user, by the command line.
    User,
    /// Nobody: the launcher serves a process that is a job of its own.
    Host,
    /// A process of another job of this launcher.
    Spawned(Birth),
}

/// A spawned job, as the process sees it that has asked for it.
#[derive(Debug)]
pub struct Birth {
    /// The job that has asked.
    pub parent: u64,
    /// Who wants to be told; `None` when he has gone, or is connected with the job by MPI.
    pub client: Option<ClientId>,
    /// All programs have begun, which has been told.
    pub has_begun: bool,
    /// How it has failed, which is not told yet.
    pub failure: Option<String>,
    /// Why it has failed and what the user is told of that, should who has asked be connected with it by then.
    pub unsaid: Option<(Cause, String)>,
}

impl Origin {
    /// Whether it is the process that the launcher serves.
    pub fn is_host(&self) -> bool {
        matches!(self, Self::Host)
    }

    /// The job that has asked for it.
    pub fn parent(&self) -> Option<u64> {
        self.birth().map(|birth| birth.parent)
    }

    /// Whether somebody wants to be told how it ends: then that is all that comes of it.
    pub fn is_watched(&self) -> bool {
        self.birth().is_some_and(|birth| birth.client.is_some())
    }

    /// Whether this client wants to be told how it ends.
    pub fn is_watched_by(&self, client: ClientId) -> bool {
        self.birth().is_some_and(|birth| birth.client == Some(client))
    }

    /// How it came to be, if it was spawned.
    pub fn birth(&self) -> Option<&Birth> {
        match self {
            Self::Spawned(birth) => Some(birth),
            Self::User | Self::Host => None,
        }
    }

    /// The same, to be changed.
    pub fn birth_mut(&mut self) -> Option<&mut Birth> {
        match self {
            Self::Spawned(birth) => Some(birth),
            Self::User | Self::Host => None,
        }
    }
}
