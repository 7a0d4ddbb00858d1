//! Channels come and go, and what they used is used again.
//!
//! MPI-5.0: Groups, Contexts, Communicators, and Caching, Communicator Destructors.

use std::sync::Arc;

use oxmpi_engine::{
    Address, Addresses, Call, ChannelKey, ChannelPlan, Engine, Form, Lifetime, Lines, Mode, Notes, Pattern,
    PeerId, Received,
};
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

/// The same with room for few runs, and on each rank for others.
pub fn open_shallow_channel(world: &mut World, lines: u8) -> Vec<ChannelKey> {
    let depths = [(); 3].map(|()| (world.random.pick(&[1, 2, 3, 15]), world.random.pick(&[0, 1, 3])));
    let form = |rank: usize| {
        let (depth, behind) = depths[rank % 3];
        Form::of_word(u32::from_ne_bytes([lines | behind << 4, depth, 0, 0]))
    };
    let offers = Offers::of_forms(world, form);
    (0..world.engines.len()).map(|rank| offers.open(world, rank)).collect()
}

/// What all ranks have told about a channel that is to be opened.
struct Offers {
    members: Addresses,
    form: Form,
    lines: Vec<Lines>,
    beside: Vec<u32>,
}

impl Offers {
    fn make(world: &mut World) -> Self {
        Self::of_forms(world, |_| Form::of_communicator(Notes::Calls))
    }

    /// The same, of ranks that have room for different numbers of runs.
    fn of_forms(world: &mut World, form: impl Fn(usize) -> Form) -> Self {
        let forms: Vec<Form> = (0..world.engines.len()).map(form).collect();
        let take = |(engine, &form): (&mut Engine, _)| engine.take_lines(form).expect("room");
        let lines = world.engines.iter_mut().zip(&forms).map(take).collect();
        let form = forms.into_iter().reduce(Form::common).expect("there are ranks");
        let contexts = world.engines.iter_mut().map(|engine| engine.p2p.open_context());
        let members = (0..)
            .zip(contexts)
            .map(|(rank, context)| Address { peer: PeerId::of_rank(rank), context })
            .collect();
        Self { members, form, lines, beside: Vec::new() }
    }

    fn open(&self, world: &mut World, rank: usize) -> ChannelKey {
        let lines = self.lines.iter().map(Lines::offset).collect();
        let (members, remote) = (self.members.clone(), Addresses::NONE);
        let (beside, form) = (self.beside.get(rank).copied(), self.form);
        let plan = ChannelPlan { rank: rank as u32, members, remote, beside, lines, form };
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
    world.look_at_departures();
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
    world.look_at_departures();
    let again: Vec<u32> = (0..2).map(|_| world.engines[1].p2p.open_context()).collect();
    assert!(again.contains(&beside[1]), "{again:?}");
    let any = Pattern { source: None, tag: None };
    assert!(world.engines[1].p2p.probe(beside[1], &any).is_none());
}

/// What waits for room in a ring comes behind what is shown at once.
#[test]
fn messages_that_wait_for_room_end_with_their_context_and_reach_no_other() {
    for seed in 0..50 {
        let mut world = World::new(2, seed);
        let beside: Vec<u32> = world.engines.iter_mut().map(|engine| engine.p2p.open_context()).collect();
        let channels = open_channel_beside(&mut world, &beside);
        let from = Store::of(&contents(0, 0, 8), Lie::Dense);
        let to = Address { peer: PeerId::of_rank(1), context: beside[1] };
        let mut waiting = Vec::new();
        while waiting.len() < 1 + seed as usize {
            waiting.extend(world.engines[0].p2p.send(to, 0, 0, from.buffer(), Mode::Standard));
        }
        waiting.into_iter().for_each(|key| world.engines[0].p2p.detach(key));
        for (engine, &channel) in world.engines.iter_mut().zip(&channels) {
            engine.leave_channel(channel);
            engine.suspect();
        }
        let others = open_channel(&mut world);
        let again = world.engines[1].p2p.open_context();
        world.settle();
        world.look_at_departures();
        world.look_at_departures(); // one sees only now that the other has left
        barrier(&mut world, &others);
        let free = world.engines[1].p2p.open_context();
        assert!(![again, world.engines[1].channel(others[1]).context()].contains(&beside[1]));
        let any = Pattern { source: None, tag: None };
        let probed = [again, free].map(|context| world.engines[1].p2p.probe(context, &any).is_some());
        assert_eq!(probed, [false; 2], "seed {seed}");
        let next = world.engines[1].p2p.open_context();
        assert!([free, next].contains(&beside[1]), "seed {seed}");
    }
}

/// What was only shown lies at its sender, and is gone there when it would come to a context that has ended.
#[test]
fn messages_that_were_only_shown_end_with_their_context_and_reach_no_other() {
    for seed in 0..50 {
        let mut world = World::new(2, seed);
        world.engines[1].p2p.keep_at_most(0);
        let beside: Vec<u32> = world.engines.iter_mut().map(|engine| engine.p2p.open_context()).collect();
        let channels = open_channel_beside(&mut world, &beside);
        let [from, other] = [1, 2].map(|byte| Store::of(&[byte; 8], Lie::Dense));
        let to = |context: u32| Address { peer: PeerId::of_rank(1), context };
        let mut waiting = Vec::new();
        while waiting.len() < 5 {
            waiting.extend(world.engines[0].p2p.send(to(beside[1]), 0, 0, from.buffer(), Mode::Standard));
            world.settle();
        }
        // One is asked for.
        let (late, into) = (Store::of(&[3; 8], Lie::Dense), Store::new(8, Lie::Dense));
        waiting.extend(world.engines[0].p2p.send(to(beside[1]), 0, 1, late.buffer(), Mode::Standard));
        world.settle();
        let pattern = Pattern { source: Some(0), tag: Some(1) };
        match world.engines[1].p2p.receive(beside[1], pattern, None, into.buffer().clone()) {
            Received::Pending(receive) => world.engines[1].p2p.detach(receive),
            Received::Done(_) => panic!("it was only shown"),
        }
        waiting.into_iter().for_each(|key| world.engines[0].p2p.detach(key));
        leave(&mut world, &channels);
        world.look_at_departures();
        world.look_at_departures();
        world.settle();
        assert_eq!(into.get(), late.get(), "who asks before the end gets it");
        let again: Vec<u32> = (0..3).map(|_| world.engines[1].p2p.open_context()).collect();
        if seed % 2 == 0 {
            world.engines[1].p2p.keep_at_most(64 << 20);
        }
        for &context in &again {
            let sent = world.engines[0].p2p.send(to(context), 0, 0, other.buffer(), Mode::Standard);
            if seed % 2 == 0 {
                world.settle();
            }
            let into = Store::new(8, Lie::Dense);
            let pattern = Pattern { source: Some(0), tag: Some(0) };
            let from = Some(PeerId::of_rank(0));
            let received = world.engines[1].p2p.receive(context, pattern, from, into.buffer().clone());
            world.finish(1, received);
            assert_eq!(into.get(), [2; 8], "seed {seed}: a message of another context");
            world.finish_send(0, sent);
        }
        world.settle();
        if seed % 2 == 0 {
            assert!(world.engines.iter().all(Engine::is_quiet), "they have come, and were refused");
            let again: Vec<u32> = (0..3).map(|_| world.engines[1].p2p.open_context()).collect();
            assert!(again.contains(&beside[1]), "seed {seed}: {again:?}");
        }
    }
}

#[test]
fn who_opens_and_leaves_channels_needs_constant_memory_though_another_member_leaves_late() {
    let mut world = World::new(3, 5);
    let kept: Vec<_> = (0..10).map(|_| open_channel(&mut world)).collect();
    for channels in &kept {
        world.engines[0].leave_channel(channels[0]);
    }
    let mut before = 0;
    for cycle in 0..1000 {
        let channels = open_channel(&mut world);
        leave(&mut world, &channels);
        let (memory, _) = world.engines[0].memory();
        assert!(cycle < 100 || memory == before, "cycle {cycle}: {memory} bytes, {before} before");
        before = memory;
    }
    for channels in kept {
        (1..3).for_each(|rank| world.engines[rank].leave_channel(channels[rank]));
    }
    world.look_at_departures();
    world.look_at_departures();
    let context = world.engines[0].p2p.open_context();
    assert!(context < 50, "context {context}: those that were left are used again");
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
        assert_eq!(world.engines[2].p2p.open_context(), offers.members.at(2).context);
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
