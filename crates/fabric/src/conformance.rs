//! What every provider is to keep, as tests that each runs over endpoints of its own.
//!
//! Each takes a new [`World`] and panics where a promise of [`Fabric`] is broken. What is drawn at random is the
//! caller's.

use std::collections::{BTreeMap, BTreeSet};

use oxmpi_mem::{Pool, Region};

use crate::{Access, Completion, Fabric, Failure, Of, Order, Place, Posted, Target};

/// Endpoints that have reached one another, and memory for what they post.
#[derive(Debug)]
pub struct World<E> {
    /// The endpoints; of one that was dropped nothing.
    pub ends: Vec<Option<E>>,
    /// What was told to each and not asked for yet.
    told: Vec<Vec<Completion>>,
    patience: Patience,
    pool: Pool,
}

/// How often endpoints are asked for completions.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Until what is to come has come.
    pub most: usize,
    /// After it, since nothing else is to come.
    pub rest: usize,
}

/// A piece of memory that is read or written.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// Where it begins in what is read.
    pub offset: usize,
    /// Its length.
    pub bytes: usize,
    /// What is done.
    pub what: What,
}

/// What is done with a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It is written where nothing may be written.
    Forbidden,
    /// It is read; beyond the end of the memory perhaps.
    Read,
    /// It is written, and that is told.
    Tell,
    /// It is written.
    Write,
}

/// Bytes of the memory that is read, and of each place that is written.
pub const PLACE_BYTES: usize = 120;
/// Messages have no more bytes.
pub const MESSAGE_BYTES: usize = 300;

impl<E: Fabric> World<E> {
    /// The world of these endpoints, which are new.
    pub fn new(ends: Vec<E>, patience: Patience) -> Self {
        let addresses: Vec<_> = ends.iter().map(E::address).collect();
        let mut ends: Vec<Option<E>> = ends.into_iter().map(Some).collect();
        for end in ends.iter_mut().flatten() {
            for (number, address) in (0..).zip(&addresses) {
                assert_eq!(end.reach(address).expect("it is open"), Target(number));
                assert_eq!(end.reach(address).expect("it is open"), Target(number), "the same for the same");
            }
        }
        Self { told: ends.iter().map(|_| Vec::new()).collect(), ends, patience, pool: Pool::default() }
    }

    /// Memory with these bytes.
    pub fn memory(&mut self, bytes: &[u8]) -> Region {
        let memory = self.pool.take(bytes.len());
        memory.write(bytes);
        *memory // which the pool never has back
    }

    /// An endpoint that lives.
    pub fn end(&mut self, number: usize) -> &mut E {
        self.ends[number].as_mut().expect("it lives")
    }

    /// Asks all for some completions.
    fn turn(&mut self) {
        for (end, told) in self.ends.iter_mut().zip(&mut self.told) {
            end.iter_mut().for_each(|end| end.completions(3, told));
        }
    }

    /// Posts until it is accepted; all have their turn meanwhile.
    pub fn insist(&mut self, number: usize, mut post: impl FnMut(&mut E) -> Posted) {
        for _ in 0..self.patience.most {
            if post(self.end(number)).is_accepted() {
                return;
            }
            self.turn();
        }
        panic!("endpoint {number} accepts nothing");
    }

    /// All that is told to each, of which so much is to come.
    pub fn completions(&mut self, expected: &[usize]) -> Vec<Vec<Completion>> {
        let has_come = |told: &[Vec<Completion>]| {
            told.iter().zip(expected).all(|(told, &expected)| told.len() >= expected)
        };
        for _ in 0..self.patience.most {
            if has_come(&self.told) {
                break;
            }
            self.turn();
        }
        (0..self.patience.rest).for_each(|_| self.turn());
        self.told.iter_mut().map(std::mem::take).collect()
    }
}

/// What number `number` holds.
pub fn contents(number: usize, bytes: usize) -> Vec<u8> {
    let mut contents: Vec<u8> = (0..bytes).map(|at| (at * 7 + number * 31) as u8).collect();
    contents.iter_mut().take(1).for_each(|first| *first = number as u8);
    contents
}

/// Each message arrives once and whole, and all is told once. Two send, the third receives, `is_late` or not; which
/// messages have come, in the order of its receives.
pub fn messages_arrive_once_and_whole<E: Fabric>(
    world: &mut World<E>,
    lengths: &[usize],
    is_late: bool,
) -> Vec<usize> {
    let into: Vec<Region> = lengths.iter().map(|_| world.memory(&[0; MESSAGE_BYTES])).collect();
    let post = |world: &mut World<E>| {
        for (context, &into) in (1000..).zip(&into) {
            world.insist(2, |end| end.receive(into, context));
        }
    };
    if !is_late {
        post(world);
    }
    for (number, &bytes) in lengths.iter().enumerate() {
        let message = world.memory(&contents(number, bytes));
        let first = number * 5 % (bytes + 1);
        let pieces = [message.part(0, first), message.part(first, bytes - first)];
        world.insist(number % 2, |end| match end.limits().reads_alone || number % 3 == 0 {
            true => end.send(Target(2), message, Order::Any, number as u64),
            false => end.send_both(Target(2), pieces, Order::Any, number as u64),
        });
    }
    if is_late {
        (0..world.patience.rest).for_each(|_| world.turn());
        post(world);
    }
    let count = lengths.len();
    let told = world.completions(&[count.div_ceil(2), count / 2, count]);
    let sent = told[..2].concat().into_iter().map(|one| match one.of {
        Of::Sent(context) if one.failure.is_none() => context,
        _ => panic!("{one:?}"),
    });
    let mut sent: Vec<u64> = sent.collect();
    sent.sort_unstable();
    assert_eq!(sent, (0..count as u64).collect::<Vec<_>>());
    let mut received = BTreeMap::new();
    for one in &told[2] {
        let Of::Received(context, bytes) = one.of else { panic!("{one:?}") };
        let got = into[context as usize - 1000].part(0, bytes).to_vec();
        let number = usize::from(got[0]);
        assert_eq!(got, contents(number, lengths[number]));
        assert_eq!(received.insert(context, number), None, "a receive is filled once");
    }
    let once: BTreeSet<usize> = received.values().copied().collect();
    assert_eq!(once.len(), count);
    received.into_values().collect()
}

/// What asks for it comes after all that was posted before, and before it nothing that is posted later.
pub fn order_is_kept_where_it_is_asked_for<E: Fabric>(world: &mut World<E>, fences: &[bool]) {
    let into: Vec<Region> = fences.iter().map(|_| world.memory(&[0; 1])).collect();
    for (context, &into) in (0..).zip(&into) {
        world.insist(1, |end| end.receive(into, context));
    }
    for (number, &is_fence) in fences.iter().enumerate() {
        let message = world.memory(&[number as u8]);
        let order = if is_fence { Order::After } else { Order::Any };
        world.insist(0, |end| end.send(Target(1), message, order, 0));
    }
    world.completions(&[fences.len(), fences.len()]);
    let came: Vec<usize> = into.iter().map(|into| usize::from(into.to_vec()[0])).collect();
    for (place, &number) in came.iter().enumerate() {
        for &later in &came[place + 1..] {
            let between = later.min(number) + 1..=later.max(number);
            assert!(later > number || !between.clone().any(|one| fences[one]), "{came:?}");
        }
    }
}

/// Bytes go where they are to go, where that is allowed, and nowhere else; data comes when they are there.
pub fn memory_is_written_and_read_where_that_is_allowed<E: Fabric>(world: &mut World<E>, pieces: &[Piece]) {
    let shown = world.memory(&contents(3, PLACE_BYTES));
    let open = world.memory(&vec![0; PLACE_BYTES * pieces.len()]);
    let shown = world.end(1).register(shown, Access::Read).expect("there is room");
    let place = world.end(1).register(open, Access::Write).expect("there is room");
    let mut reads = Vec::new();
    let mut expected: BTreeMap<u64, bool> = BTreeMap::new();
    for (number, &Piece { offset, bytes, what }) in pieces.iter().enumerate() {
        let context = number as u64;
        let memory = world.memory(&contents(number, bytes));
        let at = place.behind((number * PLACE_BYTES) as u64);
        let data = (what == What::Tell).then_some(number as u32);
        let write =
            |at: Place| move |end: &mut E| end.write(Target(1), memory, at, data, Order::Any, context);
        match what {
            What::Write | What::Tell => world.insist(0, write(at)),
            What::Forbidden => world.insist(0, write(shown)),
            What::Read => {
                let from = shown.behind(offset as u64);
                world.insist(0, |end| end.read(Target(1), from, memory, context));
                reads.push((number, memory));
            }
        }
        let is_allowed = what != What::Forbidden && (what != What::Read || offset + bytes <= PLACE_BYTES);
        expected.insert(context, is_allowed);
    }
    let tells = pieces.iter().filter(|piece| piece.what == What::Tell).count();
    let told = world.completions(&[pieces.len(), tells]);
    for one in &told[0] {
        let (Of::Read(context) | Of::Written(context)) = one.of else { panic!("{one:?}") };
        let is_allowed = expected.remove(&context).expect("once");
        // A write may have been over when it departed.
        let may_be_over = is_allowed || matches!(one.of, Of::Written(_));
        let fails = one.failure == Some(Failure::Refused) && !is_allowed;
        assert!(fails || may_be_over && one.failure.is_none(), "{one:?}, {:?}", pieces[context as usize]);
    }
    assert!(expected.is_empty(), "not told: {expected:?}");
    let (last, into) = (world.memory(&[1]), world.memory(&[0]));
    world.insist(1, |end| end.receive(into, 0));
    world.insist(0, |end| end.send(Target(1), last, Order::After, 0));
    world.completions(&[1, 1]);
    for (number, memory) in reads {
        let Piece { offset, bytes, .. } = pieces[number];
        let right = match offset + bytes <= PLACE_BYTES {
            true => contents(3, PLACE_BYTES)[offset..offset + bytes].to_vec(),
            false => contents(number, bytes),
        };
        assert_eq!(memory.to_vec(), right);
    }
    let data = told[1].iter().map(|one| match one.of {
        Of::Told(data) => data,
        _ => panic!("{one:?}"),
    });
    let data: Vec<u32> = data.collect();
    assert_eq!(data.len(), tells, "each once");
    for (number, &Piece { bytes, what, .. }) in pieces.iter().enumerate() {
        assert_eq!(data.contains(&(number as u32)), what == What::Tell);
        if matches!(what, What::Write | What::Tell) {
            assert_eq!(open.part(number * PLACE_BYTES, bytes).to_vec(), contents(number, bytes));
        }
    }
}

/// A write that has begun may go on after its place was unregistered, but not after what is to come behind it; whether
/// it did go on.
pub fn what_is_written_is_over_when_a_message_behind_it_comes<E: Fabric>(
    world: &mut World<E>,
    bytes: usize,
) -> bool {
    let (from, open) = (world.memory(&contents(1, bytes)), world.memory(&vec![0; bytes]));
    let (message, into) = (world.memory(&[1]), world.memory(&[0]));
    let place = world.end(1).register(open, Access::Write).expect("there is room");
    world.insist(1, |end| end.receive(into, 0));
    world.insist(0, |end| end.write(Target(1), from, place, None, Order::Any, 0));
    world.insist(0, |end| end.send(Target(1), message, Order::After, 1));
    let mut turns = 0..world.patience.most;
    let mut turn_until = |world: &mut World<E>, is_so: &dyn Fn(&World<E>) -> bool| {
        while !is_so(world) {
            turns.next().expect("it comes at last");
            world.turn();
        }
    };
    let has_come = |world: &World<E>| !world.told[1].is_empty();
    turn_until(world, &|world| open.part(0, 1).to_vec() != [0] || has_come(world));
    world.end(1).unregister(place);
    let before = open.to_vec();
    turn_until(world, &has_come);
    let has_gone_on = open.to_vec() != before;
    open.write(&vec![7; bytes]);
    world.completions(&[2, 1]);
    assert_eq!(open.to_vec(), vec![7; bytes]);
    has_gone_on
}

/// What needs an endpoint that has died, as `kill` lets it, is told, once, and why.
pub fn who_needs_the_dead_hears_of_it<E: Fabric>(world: &mut World<E>, kill: impl FnOnce(&mut Option<E>)) {
    let shown = world.memory(&[7; 100]);
    let place = world.end(1).register(shown, Access::Read).expect("there is room");
    // They know each other, and no more is to come.
    let (message, into) = (world.memory(&[1; 10]), world.memory(&[0; 10]));
    world.insist(1, |end| end.receive(into, 0));
    world.insist(0, |end| end.send(Target(1), message, Order::Any, 0));
    world.completions(&[1, 1]);
    kill(&mut world.ends[1]);
    world.ends[1] = None;
    for context in 0..10 {
        let memory = world.memory(&[context as u8; 10]);
        world.insist(0, |end| match context % 2 {
            0 => end.send(Target(1), memory, Order::Any, context),
            _ => end.read(Target(1), place, memory, context),
        });
    }
    let told = world.completions(&[10]).swap_remove(0);
    let contexts: BTreeSet<u64> = told
        .iter()
        .map(|one| match one.of {
            Of::Sent(context) | Of::Read(context) => context,
            _ => panic!("{one:?}"),
        })
        .collect();
    assert_eq!((contexts.len(), told.len()), (10, 10), "all, once");
    assert!(told.iter().all(|one| one.failure.is_none_or(|why| why == Failure::Gone)), "{told:?}");
    let are_gone = |one: &&Completion| matches!(one.of, Of::Read(_)) && one.failure.is_some();
    assert_eq!(told.iter().filter(are_gone).count(), 5, "reads of the dead fail: {told:?}");
    let memory = world.memory(&[1]);
    for (context, data) in [(42, None), (43, Some(3))] {
        world.insist(0, |end| end.write(Target(1), memory, place, data, Order::After, context));
        let told = world.completions(&[1]).swap_remove(0);
        assert_eq!((told.len(), told[0].of), (1, Of::Written(context)), "{told:?}");
        assert!(told[0].failure.is_none_or(|why| why == Failure::Gone), "{told:?}");
    }
}

/// Who has never been met, and has died, is no less dead: what needs it is told, once, and why.
pub fn who_needs_the_dead_hears_of_it_without_having_met_them<E: Fabric>(
    world: &mut World<E>,
    kill: impl FnOnce(&mut Option<E>),
) {
    let shown = world.memory(&[7; 100]);
    let place = world.end(1).register(shown, Access::Read).expect("there is room");
    kill(&mut world.ends[1]);
    world.ends[1] = None;
    let memory = world.memory(&[0; 10]);
    world.insist(0, |end| end.read(Target(1), place, memory, 1));
    world.insist(0, |end| end.send(Target(1), memory, Order::Any, 2));
    let mut told = world.completions(&[2]).swap_remove(0);
    told.sort_unstable_by_key(|one| matches!(one.of, Of::Sent(_)));
    assert_eq!(told.len(), 2, "both, once: {told:?}");
    assert_eq!(told[0], Completion { of: Of::Read(1), failure: Some(Failure::Gone) });
    // A message may have been over when it departed.
    assert_eq!((told[1].of, told[1].failure.unwrap_or(Failure::Gone)), (Of::Sent(2), Failure::Gone));
}

/// Of a message that is longer than its receive, the beginning arrives.
pub fn a_message_that_is_too_long_for_its_receive_is_cut<E: Fabric>(world: &mut World<E>) {
    let (message, into) = (world.memory(&contents(1, 20)), world.memory(&[0; 10]));
    world.insist(1, |end| end.receive(into, 5));
    world.insist(0, |end| end.send(Target(1), message, Order::Any, 0));
    let told = world.completions(&[1, 1]);
    assert_eq!(told[1], [Completion { of: Of::Received(5, 10), failure: Some(Failure::Truncated) }]);
    assert_eq!(into.to_vec(), contents(1, 20)[..10]);
}
