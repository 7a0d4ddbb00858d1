//! A fabric within one process, in which a seed decides what happens.
//!
//! There is a clock that nobody reads on a wall: it moves when completions are asked for. What is posted departs some
//! time later, when its bytes are read, and arrives some time after that. How late, what passes what on the way, what
//! is refused and in which order completions are told is drawn from the seed, within the [`Conduct`], and so is whether
//! messages, and writes with data, are over when they have departed or when they have arrived. So who makes the same
//! calls sees the same things.
//!
//! An endpoint that is [killed](Sim::kill), or dropped, does nothing any more. What had departed from it may arrive or
//! not; what is on its way to it fails.

mod endpoint;
mod random;
mod world;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_mem::Region;

use crate::{Access, Completion, Fabric, Limits, Order, Place, Posted, Target};
use world::{Action, World};

/// The fabric: endpoints are opened here, and die.
#[derive(Clone, Debug)]
pub struct Sim(Arc<Mutex<World>>);

/// How the fabric behaves.
#[derive(Clone, Copy, Debug)]
pub struct Conduct {
    /// What each endpoint can do.
    pub limits: Limits,
    /// How long something takes on its way, at least and at most, in ticks of the clock; and how long it waits before
    /// that, at most.
    pub delay: (u64, u64),
    /// Whether things to one peer pass each other.
    pub reorders: bool,
    /// Of so many posts about one is refused though there is room; none if 0.
    pub refuses: usize,
    /// Pieces of memory that an endpoint can have registered.
    pub registered: usize,
    /// Whether a write that tells nothing arrives in two parts, and its place is looked at with the first: the second
    /// is written, whatever is unregistered meanwhile. Over tcp the rest of a long one takes its time, too.
    pub tears: bool,
}

/// What an endpoint takes of what others post to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Taking {
    /// All.
    #[default]
    All,
    /// Nothing, though it is accepted, and arrives later: its process computes, and it moves in calls alone.
    Later,
    /// Nothing: posts are refused, as where a connection has no room.
    Nothing,
}

/// What was posted until now, and accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages.
    pub sends: u64,
    /// Pieces of memory that were read, or are to be.
    pub reads: u64,
    /// The same, of those written.
    pub writes: u64,
}

/// An endpoint of a [`Sim`].
#[derive(Debug)]
pub struct SimFabric {
    world: Arc<Mutex<World>>,
    me: usize,
    limits: Limits,
}

impl Conduct {
    /// Long and uneven ways, short queues, and no order.
    pub const ROUGH: Self = Self {
        limits: Limits {
            message_bytes: 16 << 10,
            remote_bytes: 30_000,
            reads_alone: true,
            tells_writes: true,
            under_way: 7,
            receives: 6,
        },
        delay: (1, 60),
        reorders: true,
        refuses: 5,
        registered: usize::MAX,
        tears: false,
    };
    /// Short and even ways, and what a good network has room for.
    pub const SMOOTH: Self = Self {
        limits: Limits {
            message_bytes: 128 << 10,
            remote_bytes: 1 << 30,
            reads_alone: true,
            tells_writes: true,
            under_way: 256,
            receives: 16,
        },
        delay: (1, 1),
        reorders: false,
        refuses: 0,
        registered: usize::MAX,
        tears: false,
    };
}

impl Sim {
    /// A fabric without endpoints.
    pub fn new(seed: u64, conduct: Conduct) -> Self {
        Self(Arc::new(Mutex::new(World::new(seed, conduct))))
    }

    /// One endpoint more.
    pub fn open(&self) -> SimFabric {
        let limits = self.world().conduct().limits;
        self.open_within(limits)
    }

    /// The same with limits of its own for what it may post.
    pub fn open_within(&self, limits: Limits) -> SimFabric {
        SimFabric { me: self.world().open(), world: Arc::clone(&self.0), limits }
    }

    /// Lets the endpoint with an address die, if there is one.
    pub fn kill(&self, address: &[u8]) {
        let mut world = self.world();
        if let Some(endpoint) = world.find(address) {
            world.kill(endpoint);
        }
    }

    /// What the endpoint with an address takes from now on, if there is one.
    pub fn let_take(&self, address: &[u8], taking: Taking) {
        let mut world = self.world();
        if let Some(endpoint) = world.find(address) {
            world.let_take(endpoint, taking);
        }
    }

    /// Lets the endpoint with an address find no memory for what it posts, from now on: all others are gone for it.
    pub fn starve(&self, address: &[u8]) {
        let mut world = self.world();
        if let Some(endpoint) = world.find(address) {
            world.starve(endpoint);
        }
    }

    /// Refuses all that is posted, as where connections are yet to be made, or does so no more.
    pub fn shut(&self, is_shut: bool) {
        self.world().is_shut = is_shut;
    }

    /// The time, in ticks.
    pub fn now(&self) -> u64 {
        self.world().now()
    }

    /// What all endpoints have posted.
    pub fn traffic(&self) -> Traffic {
        self.world().traffic()
    }

    /// Pieces of memory that endpoints which live have registered.
    pub fn registered(&self) -> usize {
        self.world().registered()
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SimFabric {
    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fabric for SimFabric {
    fn limits(&self) -> Limits {
        self.limits
    }

    fn address(&self) -> Vec<u8> {
        World::address(self.me)
    }

    fn reach(&mut self, address: &[u8]) -> Result<Target> {
        let found = self.world().find(address).map(|place| Target(place as u32));
        found.ok_or_else(|| Error::new(ErrorClass::Other, format!("no endpoint has the address {address:?}")))
    }

    fn host(&self, of: Target) -> Option<String> {
        Some(format!("host {}", of.0))
    }

    fn obstacle(&self, _to: Target) -> Option<Error> {
        let is_starved = self.world().is_starved(self.me);
        is_starved.then(|| Error::new(ErrorClass::NoMem, "this endpoint has no memory"))
    }

    fn send_both(&mut self, to: Target, pieces: [Region; 2], order: Order, context: u64) -> Posted {
        let bytes: usize = pieces.iter().map(Region::len).sum();
        assert!(bytes <= self.limits.message_bytes, "long messages are sent in parts");
        self.world().post(self.me, to, order, Action::Send { pieces, context })
    }

    fn receive(&mut self, into: Region, context: u64) -> Posted {
        self.world().receive(self.me, into, context)
    }

    fn register(&mut self, memory: Region, access: Access) -> Result<Place> {
        self.world().register(self.me, memory, access).ok_or_else(|| {
            Error::new(ErrorClass::NoMem, "as much memory is registered as this endpoint can have registered")
        })
    }

    fn unregister(&mut self, place: Place) {
        self.world().unregister(self.me, place);
    }

    fn write(
        &mut self,
        to: Target,
        from: Region,
        place: Place,
        data: Option<u32>,
        order: Order,
        context: u64,
    ) -> Posted {
        assert!(from.len() <= self.limits.remote_bytes, "much is written in pieces");
        assert!(data.is_none() || self.limits.tells_writes, "writes tell nothing here");
        self.world().post(self.me, to, order, Action::Write { from, place, data, context })
    }

    fn read(&mut self, from: Target, place: Place, into: Region, context: u64) -> Posted {
        assert!(into.len() <= self.limits.remote_bytes, "much is read in pieces");
        self.world().post(self.me, from, Order::Any, Action::Read { place, into, context })
    }

    fn completions(&mut self, most: usize, list: &mut Vec<Completion>) {
        let mut world = self.world();
        world.tick();
        world.complete(self.me, most, list);
    }
}

impl Drop for SimFabric {
    fn drop(&mut self) {
        self.world().kill(self.me);
    }
}
