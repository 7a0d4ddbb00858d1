//! What a rank has told others reaches them though it calls no more, be it out of the program's hands.
//!
//! MPI-5.0: MPI Terms and Conventions, Progress.

use oxmpi_engine::{Engine, Mode, Received};
use oxmpi_fabric::Limits;
use oxmpi_fabric::sim::Conduct;

use crate::harness::{Lie, Store, World};
use crate::messages::contents;

/// What is sent over a network that does nothing by itself, like sockets, or by itself.
const CONDUCTS: [Conduct; 3] = [
    Conduct::SMOOTH,
    Conduct { limits: Limits { reads_alone: false, ..Conduct::SMOOTH.limits }, ..Conduct::SMOOTH },
    Conduct::ROUGH,
];
/// Polls of one rank in which all has come that comes.
const POLLS: usize = 3000;

/// A message from rank 0 to rank 1, which waits for it.
struct Told {
    world: World,
    from: Store,
    into: Store,
    received: Received,
}

impl Told {
    fn new(seed: u64, conduct: Conduct, bytes: usize) -> Self {
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let (from, into) = (Store::of(&contents(0, 0, bytes), Lie::Dense), Store::new(bytes, Lie::Dense));
        let received = world.receive(1, Some(0), Some(0), &into);
        Self { world, from, into, received }
    }

    fn send(&mut self, mode: Mode) -> bool {
        self.world.send(0, 1, 0, &self.from, mode).is_none()
    }

    /// Whether rank 1 gets it by its own calls alone, and those of who stands in for rank 0.
    fn comes(&mut self, mut beside: impl FnMut(&mut Engine)) -> bool {
        let Received::Pending(key) = self.received else { return true };
        let [sender, receiver] = &mut self.world.engines[..] else { unreachable!("there are two") };
        for _ in 0..POLLS {
            receiver.poll();
            beside(sender);
        }
        receiver.p2p.is_done(key) && self.into.get() == self.from.get()
    }
}

/// As the thread does that is invited for it.
fn look_while_behind(engine: &mut Engine) {
    if engine.p2p.is_behind() {
        engine.poll_without_callbacks();
    }
}

#[test]
fn what_was_told_goes_when_its_call_ends() {
    for conduct in CONDUCTS {
        let mut told = Told::new(1, conduct, 8);
        assert!(told.send(Mode::Standard) && !told.comes(|_| {}), "it lies here until somebody looks");
        told.world.engines[0].p2p.send_off();
        assert!(told.comes(look_while_behind));
        assert!(!told.world.engines[0].p2p.send_off() && !told.world.engines[0].p2p.is_behind());
    }
}

#[test]
fn a_network_that_sends_by_itself_needs_no_more_looks() {
    let mut told = Told::new(1, Conduct::SMOOTH, 8);
    assert!(told.send(Mode::Standard) && !told.world.engines[0].p2p.send_off());
    assert!(told.comes(|_| {}));
}

/// As where a socket is full: what was posted is still with the network after that has told all that is over.
#[test]
fn a_message_that_a_look_does_not_move_on_needs_more_looks() {
    let limits = Limits { reads_alone: false, ..Conduct::SMOOTH.limits };
    let mut told = Told::new(1, Conduct { limits, delay: (1000, 1000), ..Conduct::SMOOTH }, 8);
    assert!(told.send(Mode::Standard));
    while told.world.engines[0].p2p.send_off() {
        told.world.engines[0].poll(); // until there is a connection
    }
    told.world.engines[0].poll();
    assert!(told.world.engines[0].p2p.is_behind() && told.world.engines[0].p2p.send_off());
    // What is told then is behind it.
    assert!(told.send(Mode::Standard) && told.world.engines[0].p2p.is_behind());
    assert!(told.comes(look_while_behind));
    assert!(!told.world.engines[0].p2p.is_behind());
}

/// There is no connection: what is told is behind until there is one, and somebody looks.
#[test]
fn what_the_network_does_not_take_goes_when_it_does() {
    for (seed, conduct) in (0..).zip(CONDUCTS) {
        let mut told = Told::new(seed, conduct, 8);
        told.world.sim.as_ref().expect("there are nodes").shut(true);
        assert!(told.send(Mode::Standard) && told.world.engines[0].p2p.send_off());
        assert!(!told.comes(look_while_behind) && told.world.engines[0].p2p.is_behind());
        told.world.sim.as_ref().expect("there are nodes").shut(false);
        assert!(told.comes(look_while_behind) && !told.world.engines[0].p2p.is_behind());
    }
}

/// A copy that fills a frame goes past the ring, and waits elsewhere for room.
#[test]
fn what_is_buffered_goes_like_what_was_sent() {
    for (seed, conduct) in (0..).zip(CONDUCTS) {
        let mut told = Told::new(seed, conduct, 6000);
        told.world.sim.as_ref().expect("there are nodes").shut(true);
        let to = told.world.address(0, 1);
        let sender = &mut told.world.engines[0].p2p;
        sender.send_copy(to, 0, 0, told.from.buffer());
        assert!(sender.send_off());
        told.world.sim.as_ref().expect("there are nodes").shut(false);
        assert!(told.comes(look_while_behind) && !told.world.engines[0].p2p.is_behind());
    }
}

/// Who is told that a synchronous message was received may wait for that alone.
#[test]
fn an_answer_goes_when_the_call_ends_that_has_made_it() {
    for (seed, conduct) in (0..).zip(CONDUCTS) {
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let (from, into) = (Store::of(&contents(0, 0, 8), Lie::Dense), Store::new(8, Lie::Dense));
        let sent = world.send(0, 1, 0, &from, Mode::Synchronous).expect("it is not received");
        world.settle();
        let received = world.receive(1, Some(0), Some(0), &into);
        world.finish(1, received);
        world.engines[1].p2p.send_off();
        for _ in 0..POLLS {
            world.engines[0].poll();
            look_while_behind(&mut world.engines[1]);
        }
        assert!(world.engines[0].p2p.is_done(sent) && !world.engines[1].p2p.is_behind(), "seed {seed}");
        world.finish_send(0, Some(sent));
    }
}

/// More than may be under way: the rest goes as its receiver takes what was sent.
#[test]
fn what_waits_for_its_receiver_goes_as_that_takes_more() {
    for (seed, conduct) in (0..).zip(CONDUCTS) {
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let stores: Vec<_> = (0..30).map(|number| Store::of(&contents(0, number, 8), Lie::Dense)).collect();
        for from in &stores {
            assert!(world.send(0, 1, 0, from, Mode::Standard).is_none(), "there is room in the ring");
            // Each in a frame of its own.
            (0..100).for_each(|_| _ = world.engines[0].p2p.send_off());
        }
        assert!(world.engines[0].p2p.send_off(), "more than may be under way");
        for from in &stores {
            let into = Store::new(8, Lie::Dense);
            let received = world.receive(1, Some(0), Some(0), &into);
            for _ in 0..POLLS / 10 {
                world.engines[1].poll();
                look_while_behind(&mut world.engines[0]);
            }
            assert!(world.finish(1, received).error.is_none());
            assert_eq!(into.get(), from.get(), "seed {seed}");
        }
        assert!(!world.engines[0].p2p.is_behind());
    }
}

/// Nobody looks for ever for the sake of one who is not there any more.
#[test]
fn nothing_is_behind_for_a_peer_that_is_gone() {
    for (seed, conduct) in (0..).zip(CONDUCTS) {
        let mut world = World::of_nodes(&[1, 1], seed, conduct);
        let from = Store::of(&contents(0, 0, 8), Lie::Dense);
        for _ in 0..25 {
            assert!(world.send(0, 1, 0, &from, Mode::Standard).is_none(), "there is room in the ring");
            (0..100).for_each(|_| _ = world.engines[0].p2p.send_off());
        }
        assert!(world.engines[0].p2p.is_behind());
        let address = world.engines[1].fabric_address().expect("it has joined");
        world.sim.as_ref().expect("there are nodes").kill(&address);
        for turn in 0..POLLS {
            let engine = &mut world.engines[0];
            if turn % 100 == 0 {
                let mut absent = engine.absent_or_silent(true);
                engine.look_after_needed(&mut absent);
                engine.ask_after(&absent, false);
            }
            look_while_behind(engine);
        }
        assert!(!world.engines[0].p2p.is_behind(), "seed {seed}");
    }
}
