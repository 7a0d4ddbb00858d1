//! Requests: operations that are under way, and persistent ones.
//!
//! A persistent request is *inactive* until it is started and after it has been completed; any other is active
//! until it is completed, which ends it.
//!
//! | module | what |
//! |---|---|
//! | `activity`, `message`, `send_receive`, `generalized` | what requests stand for |
//! | `partitioned` | partitioned operations, and what threads tell and ask of them |
//! | `completion` | how operations end |
//! | `persistent`, `sendrecv`, `conclusion` | making and starting them |
//! | `progress` | how far they have come |
//! | `completing` | waiting for them, testing, cancelling and freeing them |
//!
//! MPI-5.0: Point-to-Point Communication, Communication Completion; Persistent Communication Requests.

pub(crate) mod activity;
mod completing;
pub(crate) mod completion;
mod conclusion;
pub(crate) mod generalized;
pub(crate) mod message;
mod partitioned;
mod persistent;
mod progress;
mod send_receive;
mod sendrecv;

use std::mem;
use std::sync::Arc;

use oxmpi_base::{Result, Status};
use oxmpi_engine::{ChannelKey, Engine, Key, OpKey, Outcome, RunKey, Slab};

use self::activity::Activity;
use self::completion::misuse;
use self::generalized::Generalized;
use self::message::PersistentMessage;
use self::partitioned::Partitioned;
use self::send_receive::SendReceive;
use crate::comm::Communicator;
use crate::comm::duplication::Duplication;

/// The number of a request.
pub type RequestKey = Key<Request>;

/// See the module.
#[derive(Debug)]
pub struct Request {
    kind: Kind,
    comm: Arc<Communicator>,
}

/// What a request stands for, and how far it has come.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Something that was over at once.
    Complete(Status),
    /// As `Complete`, and it went wrong.
    Failed(Box<Outcome>),
    /// A message under way.
    Message(OpKey),
    /// A nonblocking collective.
    Collective(RunKey),
    /// A communicator that is duplicated.
    Duplication(Box<Duplication>),
    /// Until these buffered messages have been sent.
    Flush(Vec<OpKey>),
    /// Something that the program does.
    Generalized(Generalized),
    /// A partitioned send or receive, and whether it is active.
    Partitioned { partitioned: Partitioned, active: bool },
    /// A persistent collective: whether it is active, its run, and the channel of its own.
    PersistentCollective { active: bool, run: RunKey, channel: ChannelKey },
    /// A persistent send or receive, and its message while it is active.
    PersistentMessage { message: PersistentMessage, active: Option<Activity> },
    /// A message to somebody, and one from somebody.
    SendReceive(Box<SendReceive>),
}

/// All requests of a process.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    all: Slab<Request>,
    /// Those of duplicates that are made for others.
    unwanted: Vec<RequestKey>,
}

impl Request {
    fn new(kind: Kind, comm: &Arc<Communicator>) -> Self {
        Self { kind, comm: Arc::clone(comm) }
    }

    fn is_active(&self) -> bool {
        match &self.kind {
            Kind::Partitioned { active, .. } | Kind::PersistentCollective { active, .. } => *active,
            Kind::PersistentMessage { active, .. } => active.is_some(),
            Kind::Generalized(generalized) => generalized.is_active(),
            _ => true,
        }
    }

    /// The channel of a persistent collective, and the communicator.
    fn channel(&self) -> Option<(ChannelKey, Arc<Communicator>)> {
        match self.kind {
            Kind::PersistentCollective { channel, .. } => Some((channel, Arc::clone(&self.comm))),
            _ => None,
        }
    }

    /// Whether this is a persistent collective or a partitioned operation of a communicator, and under way.
    fn is_under_way_on(&self, comm: &Arc<Communicator>, engine: &Engine) -> bool {
        match self.kind {
            Kind::Partitioned { ref partitioned, active } => {
                active && Arc::ptr_eq(&self.comm, comm) && partitioned.is_under_way(&engine.p2p)
            }
            Kind::PersistentCollective { run, .. } => Arc::ptr_eq(&self.comm, comm) && !engine.is_idle(run),
            _ => false,
        }
    }

    fn may_start(&self) -> Result<()> {
        match &self.kind {
            Kind::Partitioned { active: false, .. } | Kind::PersistentCollective { active: false, .. } => {
                Ok(())
            }
            Kind::PersistentMessage { active: None, .. } => Ok(()),
            Kind::Partitioned { .. } | Kind::PersistentCollective { .. } | Kind::PersistentMessage { .. } => {
                Err(misuse("an active request is started"))
            }
            _ => Err(misuse("a request that is not persistent is started")),
        }
    }
}

impl Kind {
    pub(crate) fn message(activity: Activity) -> Self {
        match activity {
            Activity::Over(outcome) if outcome.error.is_none() => Self::Complete(outcome.status),
            Activity::Over(outcome) => Self::Failed(Box::new(outcome)),
            Activity::UnderWay(op) => Self::Message(op),
        }
    }
}

impl Requests {
    /// Takes in one that stands for something on `comm`.
    #[inline]
    pub(crate) fn add(&mut self, kind: Kind, comm: &Arc<Communicator>) -> RequestKey {
        self.all.insert(Request::new(kind, comm))
    }

    /// Notes that nobody but others wants what this one makes.
    pub(crate) fn note_unwanted(&mut self, key: RequestKey) {
        self.unwanted.push(key);
    }

    /// Those that were noted so.
    pub(crate) fn take_unwanted(&mut self) -> Vec<RequestKey> {
        mem::take(&mut self.unwanted)
    }

    /// The channels of persistent collectives, each with its communicator.
    pub(crate) fn channels(&self) -> impl Iterator<Item = (ChannelKey, Arc<Communicator>)> {
        self.all.iter().filter_map(Request::channel)
    }

    /// The persistent collectives and partitioned operations on a communicator that are under way.
    pub(crate) fn under_way_on(
        &self,
        comm: &Arc<Communicator>,
        engine: &Engine,
    ) -> impl Iterator<Item = RequestKey> {
        let all = self.all.entries();
        all.filter(|(_, request)| request.is_under_way_on(comm, engine)).map(|(key, _)| key)
    }
}
