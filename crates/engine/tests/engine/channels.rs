//! Channels come and go, and what they used is used again.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Destructors.

use std::sync::Arc;

use oxmpi_engine::{Address, Call, ChannelKey, ChannelPlan, Lifetime, Lines, Mode, Pattern, PeerId};
use oxmpi_plan::{Collective, Overrides, Shape, compile};

use crate::harness::{Lie, Store, World};
use crate::messages::contents;

/// Opens one more channel of all ranks.
pub fn open_channel(world: &mut World) -> Vec<ChannelKey> {
    open_channel_beside(world, &[])
}

/// The same, and with it end contexts for messages, by rank.
fn open_channel_beside(world: &mut World, beside: &[u32]) -> Vec<ChannelKey> {
    let offers = Offers { beside: beside.to_vec(), ..Offers::make(world) };
    (0..world.engines.len()).map(|rank| offers.open(world, rank)).collect()
}

/// What all ranks have told about a channel that is to be opened.
struct Offers {
    members: Arc<[Address]>,
    lines: Vec<Lines>,
    beside: Vec<u32>,
}

impl Offers {
    fn make(world: &mut World) -> Self {
        let lines = world.engines.iter_mut().map(|engine| engine.take_lines().expect("room")).collect();
        let contexts = world.engines.iter_mut().map(|engine| engine.p2p.open_context());
        let members = (0..)
            .zip(contexts)
            .map(|(rank, context)| Address { peer: PeerId::of_rank(rank), context })
            .collect();
        Self { members, lines, beside: Vec::new() }
    }

    fn open(&self, world: &mut World, rank: usize) -> ChannelKey {
        let lines = self.lines.iter().map(Lines::offset).collect();
        let (rank_in_channel, members) = (rank as u32, Arc::clone(&self.members));
        let beside = self.beside.get(rank).copied();
        let plan = ChannelPlan { rank: rank_in_channel, members, remote: Arc::default(), beside, lines };
        world.engines[rank].open_channel(plan, Some(self.lines[rank])).expect("address space")
    }
}

fn barrier(world: &mut World, channels: &[ChannelKey]) {
    let shape = Shape::of(Collective::Barrier, channels.len() as u32, 0);
    let keys: Vec<_> = (0..channels.len())
        .map(|rank| {
            let plan = oxmpi_engine::Program::new(
                compile(&shape, rank as u32, false, &Overrides::default()),
                Call::UNKNOWN,
            );
            let empty = oxmpi_datatype::Buffer::EMPTY;
            let binding =
                oxmpi_engine::Binding { send: empty.clone(), recv: empty, reducer: None, images: None };
            let key =
                world.engines[rank].keep(channels[rank], Arc::new(plan), binding, Lifetime::Nonblocking);
            world.engines[rank].start(key);
            key
        })
        .collect();
    world.until("a barrier", |engines| engines.iter().zip(&keys).all(|(engine, &key)| engine.is_idle(key)));
    keys.iter().zip(&mut world.engines).for_each(|(&key, engine)| engine.forget(key));
}

fn leave(world: &mut World, channels: &[ChannelKey]) {
    for (engine, &channel) in world.engines.iter_mut().zip(channels) {
        engine.leave_channel(channel);
    }
}

#[test]
fn a_context_is_used_again_when_all_members_have_left_and_no_sooner() {
    let mut world = World::new(3, 1);
    let channels = open_channel(&mut world);
    let context = world.engines[0].channel(channels[0]).context();
    world.engines[0].leave_channel(channels[0]);
    world.engines[1].leave_channel(channels[1]);
    world.settle();
    assert_ne!(world.engines[0].p2p.open_context(), context, "rank 2 may still send");
    world.engines[2].leave_channel(channels[2]);
    world.settle();
    assert_eq!(world.engines[0].p2p.open_context(), context);
}

#[test]
fn messages_that_nobody_received_end_with_their_context() {
    let mut world = World::new(2, 2);
    let beside: Vec<u32> = world.engines.iter_mut().map(|engine| engine.p2p.open_context()).collect();
    let channels = open_channel_beside(&mut world, &beside);
    let from = Store::of(&contents(0, 0, 8), Lie::Dense);
    let to = Address { peer: PeerId::of_rank(1), context: beside[1] };
    assert!(world.engines[0].p2p.send(to, 0, 0, from.buffer(), Mode::Standard).is_none());
    for (rank, channel) in channels.into_iter().enumerate() {
        world.engines[rank].leave_channel(channel);
    }
    world.settle();
    let again: Vec<u32> = (0..2).map(|_| world.engines[1].p2p.open_context()).collect();
    assert!(again.contains(&beside[1]), "{again:?}");
    let any = Pattern { source: None, tag: None };
    assert!(world.engines[1].p2p.probe(beside[1], &any).is_none());
}

/// A rank may open, use and leave a channel before a slow one gets round to opening it.
#[test]
fn a_member_that_leaves_before_another_has_opened_is_remembered() {
    let mut world = World::new(3, 3);
    let offers = [(); 3].map(|()| Offers::make(&mut world));
    for offers in &offers {
        for rank in 0..2 {
            let channel = offers.open(&mut world, rank);
            world.engines[rank].leave_channel(channel);
        }
    }
    let others = open_channel(&mut world);
    world.engines[0].leave_channel(others[0]);
    world.engines[1].leave_channel(others[1]);
    world.settle();
    assert!(!world.engines[2].poll(), "what is remembered keeps nobody busy");
    let context = world.engines[2].channel(others[2]).context();
    world.engines[2].leave_channel(others[2]);
    assert_eq!(world.engines[2].p2p.open_context(), context, "it waits for no other channel");
    for offers in offers.iter().rev() {
        let channel = offers.open(&mut world, 2);
        world.engines[2].leave_channel(channel);
        assert_eq!(world.engines[2].p2p.open_context(), offers.members[2].context);
    }
}

#[test]
fn channels_are_opened_used_and_left_a_thousand_times_in_the_same_memory() {
    let mut world = World::new(3, 4);
    let mut before = None;
    for cycle in 0..1000 {
        let channels = open_channel(&mut world);
        barrier(&mut world, &channels);
        leave(&mut world, &channels);
        world.settle();
        let memory: Vec<_> = world.engines.iter().map(oxmpi_engine::Engine::memory).collect();
        if cycle > 0 {
            assert_eq!(before.as_ref(), Some(&memory), "cycle {cycle}");
        }
        before = Some(memory);
    }
}
