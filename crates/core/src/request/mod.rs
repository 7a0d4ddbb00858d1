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
//! | `origin`, `leaks` | where they come from, and which were forgotten |
//! | `progress`, `standing` | how far they have come, and how the engine's board shows it |
//! | `array` | several of them, seen on the board |
//! | `completing`, `several`, `set` | waiting for them, testing, cancelling and freeing them |
//! | `waking` | who is woken for them |
//!
//! MPI-5.0: Point-to-Point Communication, Communication Completion; Persistent Communication Requests.

pub(crate) mod activity;
pub(crate) mod array;
mod completing;
pub(crate) mod completion;
mod conclusion;
pub(crate) mod generalized;
mod leaks;
pub(crate) mod message;
pub(crate) mod origin;
mod partitioned;
mod persistent;
mod progress;
mod send_receive;
mod sendrecv;
mod set;
mod several;
mod standing;
pub(crate) mod waking;

use std::mem;
use std::sync::Arc;

use oxmpi_base::{Error, ErrorClass, Result, Status};
use oxmpi_engine::{ChannelKey, Engine, Key, OpKey, Outcome, RunKey, Slab};
use oxmpi_mem::reserve::{Growth, has_room};

use self::completion::{not_persistent, still_active};
use self::generalized::Generalized;
use self::message::PersistentMessage;
use self::origin::Origins;
use self::partitioned::Partitioned;
use self::send_receive::SendReceive;
use crate::comm::Communicator;
use crate::comm::duplication::Duplication;
use crate::process::State;

/// The number of a request.
pub type RequestKey = Key<Request>;

/// See the module.
#[derive(Debug)]
pub struct Request {
    kind: Kind,
    /// The communicator; of what the engine knows, [`Requests`] notes its context instead.
    comm: Option<Arc<Communicator>>,
}

/// What a request stands for, and how far it has come.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A receive that was over at once.
    Complete(Status),
    /// As `Complete`, and it went wrong.
    Failed(Box<Outcome>),
    /// A communicator that is duplicated.
    Duplication(Box<Duplication>),
    /// Until these buffered messages have been sent.
    Flush(Vec<OpKey>),
    /// Something that the program does.
    Generalized(Generalized),
    /// A partitioned send or receive, and whether it is active.
    Partitioned { partitioned: Partitioned, active: bool },
    /// A persistent collective: its run, and the channel of its own. See [`What::Prepared`].
    PersistentCollective { run: RunKey, channel: ChannelKey },
    /// A persistent send or receive that is over when it is started, and whether it is active.
    PersistentMessage { message: PersistentMessage, active: bool },
    /// A message to somebody, and one from somebody.
    SendReceive(Box<SendReceive>),
}

/// All requests of a process.
///
/// Of messages and nonblocking collectives, which most requests stand for, there is a [`Note`], and a place that is
/// reserved for the number.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    all: Slab<Request>,
    /// By place.
    notes: Vec<Note>,
    /// Those of duplicates that are made for others.
    unwanted: Vec<RequestKey>,
    pub(crate) origins: Origins,
}

/// What is known of every request.
#[derive(Clone, Copy, Debug)]
struct Note {
    /// The context of the communicator.
    context: u32,
    what: What,
}

/// What a request stands for.
#[derive(Clone, Copy, Debug)]
enum What {
    /// What a [`Request`] says.
    Kept,
    /// A collective that was under way; the communicator is told that it is used meanwhile.
    Collective(RunKey),
    /// A collective that was over at once.
    Collected,
    /// A message that was under way; the communicator is told that it is used meanwhile.
    Message(OpKey),
    /// A persistent message, as long as the request is there; as above. Whether it is active is shown on the board.
    Planned(OpKey),
    /// The run of a persistent collective, as the [`Request`] says, too; active or not as above.
    Prepared(RunKey),
    /// What was over at once and says nothing about itself.
    Nothing,
}

impl Request {
    /// The channel of a persistent collective, and the communicator.
    fn channel(&self) -> Option<(ChannelKey, Arc<Communicator>)> {
        match self.kind {
            Kind::PersistentCollective { channel, .. } => Some((channel, self.comm.clone()?)),
            _ => None,
        }
    }

    /// Whether this is a persistent collective or a partitioned operation of a communicator, and under way.
    fn is_under_way_on(&self, comm: &Arc<Communicator>, engine: &Engine) -> bool {
        let is_of = |request: &Self| request.comm.as_ref().is_some_and(|own| Arc::ptr_eq(own, comm));
        match self.kind {
            Kind::Partitioned { ref partitioned, active } => {
                active && is_of(self) && partitioned.is_under_way(&engine.p2p)
            }
            Kind::PersistentCollective { run, .. } => is_of(self) && !engine.is_idle(run),
            _ => false,
        }
    }

    fn may_start(&self) -> Result<()> {
        match &self.kind {
            Kind::Partitioned { active: false, .. } | Kind::PersistentMessage { active: false, .. } => Ok(()),
            Kind::Partitioned { .. } | Kind::PersistentMessage { .. } => Err(still_active()),
            _ => Err(not_persistent()),
        }
    }
}

impl State {
    /// Whether there is memory for another request, which takes so much of another table besides.
    ///
    /// # Errors
    /// `NoMem`.
    pub(crate) fn check_memory(&self, besides: Growth) -> Result<()> {
        if self.has_memory(besides) { Ok(()) } else { Err(no_memory()) }
    }

    /// The same, without saying why.
    #[inline]
    pub(crate) fn has_memory(&self, besides: Growth) -> bool {
        has_room(self.requests.all.growth().max(besides))
    }

    /// The same of a message that may have to wait.
    ///
    /// # Errors
    /// `NoMem`.
    pub(crate) fn check_memory_for_message(&self) -> Result<()> {
        self.check_memory(self.engine.p2p.growth())
    }
}

#[cold]
fn no_memory() -> Error {
    let requests = "there is no memory for more requests than there are, or were";
    Error::new(ErrorClass::NoMem, requests)
}

impl Requests {
    /// Takes in one that keeps its communicator.
    fn add(&mut self, kind: Kind, comm: &Arc<Communicator>) -> RequestKey {
        let key = self.all.insert(Request { kind, comm: Some(Arc::clone(comm)) });
        self.note(key, comm.context, What::Kept);
        key
    }

    /// Takes in what is over; whoever calls it sees to it that the communicator stays.
    fn add_over(&mut self, kind: Kind, context: u32) -> RequestKey {
        let key = self.all.insert(Request { kind, comm: None });
        self.note(key, context, What::Kept);
        key
    }

    /// Takes in what is no [`Request`]; as [`Requests::add_over`].
    #[inline(always)]
    fn add_number(&mut self, what: What, context: u32) -> RequestKey {
        let key = self.all.reserve();
        self.note(key, context, what);
        key
    }

    #[inline(always)]
    fn note(&mut self, key: RequestKey, context: u32, what: What) {
        if key.place() >= self.notes.len() {
            self.make_room(key.place());
        }
        let note = &mut self.notes[key.place()];
        // One by one: words that are written alone and read together wait for all that was stored before.
        note.context = context;
        note.what = what;
    }

    #[cold]
    fn make_room(&mut self, place: usize) {
        self.notes.resize(place + 1, Note { context: 0, what: What::Kept });
    }

    /// The context of a request that there is.
    #[inline]
    fn context(&self, key: RequestKey) -> u32 {
        self.notes[key.place()].context
    }

    /// What a request stands for that there is.
    #[inline]
    fn what(&self, key: RequestKey) -> What {
        self.notes[key.place()].what
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
