//! One collective as the engine sees it: what each rank has, and what it must get.

use std::sync::Arc;

use oxmpi_datatype::Buffer;
use oxmpi_engine::{Binding, Call, Program};
use oxmpi_op::Reducer;
use oxmpi_plan::{Algorithm, Collective, Root, Shape};

use crate::harness::{Lie, Random, Store, World};

/// A collective on all ranks: where their data lie, and the plan of each.
pub struct Case {
    pub shape: Shape,
    pub algorithm: &'static Algorithm,
    parts: Vec<Part>,
}

/// One rank's part.
struct Part {
    in_place: bool,
    send: Option<Store>,
    recv: Option<Store>,
}

/// Bytes of an element that is reduced: a function `x -> a x + b` modulo a prime. To compose such functions is
/// associative, and not commutative.
pub const UNIT_BYTES: usize = 4;
const PRIME: u32 = 65_521;

/// A collective, and its root if it has one.
pub type Rooted = (Collective, u32);

/// The shape of a collective of `elements` elements, if it moves any, in the order of the ranks.
pub fn shape((collective, root): Rooted, ranks: u32, elements: u64) -> Shape {
    let info = collective.info();
    let bytes = if info.moves_data() { elements * UNIT_BYTES as u64 } else { 0 };
    let unit = if info.is_reduction() { UNIT_BYTES as u32 } else { 1 };
    let shape = Shape { unit, commutative: false, ..Shape::of(collective, ranks, bytes) };
    if info.is_rooted() { shape.rooted(Root::Rank(root)) } else { shape }
}

impl Case {
    /// `in_place` applies to all ranks, or to the root where there is one.
    pub fn new(shape: Shape, algorithm: &'static Algorithm, in_place: bool, lie: Lie) -> Self {
        let store = |_, bytes| Store::new(bytes, lie);
        let parts = (0..shape.ranks).map(|rank| Part::new(&shape, rank, in_place, store)).collect();
        Self { shape, algorithm, parts }
    }

    /// The same in memory of the engines, but for every third buffer; [`Case::free`] gives it back.
    pub fn allocated(world: &mut World, shape: Shape, algorithm: &'static Algorithm, in_place: bool) -> Self {
        let store = |rank: u32, bytes: usize| match world.random.below(3) {
            0 => Store::new(bytes, Lie::Dense),
            place => {
                let memory = world.engines[rank as usize].p2p.allocate(bytes + (16 << 10), 1);
                Store::of_region(memory.expect("there is room").part(place, bytes))
            }
        };
        let mut store = store;
        let parts = (0..shape.ranks).map(|rank| Part::new(&shape, rank, in_place, &mut store)).collect();
        Self { shape, algorithm, parts }
    }

    /// Gives memory back that was allocated.
    pub fn free(self, world: &mut World) {
        for (part, engine) in self.parts.iter().zip(&mut world.engines) {
            for store in part.send.iter().chain(&part.recv) {
                let address = store.buffer().as_dense().map_or(0, |region| region.as_ptr().addr());
                let _is_private = !(1..3).any(|place| engine.p2p.free(address - place));
            }
        }
    }

    pub fn plan(&self, rank: usize) -> Program {
        Program::new(self.algorithm.plan(&self.shape, rank as u32, self.parts[rank].in_place), Call::UNKNOWN)
    }

    pub fn binding(&self, rank: usize) -> Binding {
        self.parts[rank].binding(&self.shape, rank as u32)
    }

    /// What the rank contributes to round `round` is in its memory; what it receives is overwritten.
    pub fn fill(&self, rank: usize, round: u64) {
        let part = &self.parts[rank];
        if let Some(recv) = &part.recv {
            recv.put(&vec![0xdd; recv.buffer().bytes() as usize]);
        }
        let contribution = contribution(&self.shape, rank as u32, round);
        let binding = self.binding(rank);
        let into = match self.shape.collective {
            Collective::Bcast if self.shape.root.rank() as usize == rank => &binding.recv,
            _ => &binding.send,
        };
        if into.bytes() != 0 {
            Store::of(&contribution, Lie::Dense).copy_to(into);
        }
    }

    /// Fails unless the rank has what the standard says that it gets.
    pub fn check(&self, rank: usize, round: u64, note: &str) {
        let expected = expected(&self.shape, rank as u32, round);
        let Some(expected) = expected else { return };
        let binding = self.binding(rank);
        let (part, shape) = (&self.parts[rank], &self.shape);
        let got = Store::new(expected.len(), Lie::Dense);
        got.copy_from(&binding.recv.slice(0, expected.len() as u64));
        let algorithm = self.algorithm.name();
        assert!(
            got.get() == expected,
            "{note}: {algorithm} of {shape:?}, round {round}, rank {rank}, in place: {}",
            part.in_place
        );
        part.send.iter().chain(&part.recv).for_each(|store| drop(store.get()));
    }

    /// What all that identifies the case is, for messages.
    pub fn name(&self) -> String {
        format!("{} of {:?}", self.algorithm.name(), self.shape)
    }
}

impl Part {
    fn new(shape: &Shape, rank: u32, in_place: bool, mut take: impl FnMut(u32, usize) -> Store) -> Self {
        let in_place = in_place && takes_in_place(shape, rank);
        let (send, recv) = lengths(shape, rank);
        let gathers = shape.collective == Collective::Scatter;
        // In place, the vector lies where the block comes to.
        let recv = if in_place && !gathers { send.max(recv) } else { recv };
        let mut store = |bytes: Option<u64>| bytes.map(|bytes| take(rank, bytes as usize));
        Self {
            in_place,
            send: store(send).filter(|_| !in_place || gathers),
            recv: store(recv).filter(|_| !in_place || !gathers),
        }
    }

    fn binding(&self, shape: &Shape, rank: u32) -> Binding {
        let whole =
            |store: &Option<Store>| store.as_ref().map_or(Buffer::EMPTY, |store| store.buffer().clone());
        let (mut send, mut recv) = (whole(&self.send), whole(&self.recv));
        let own = |buffer: &Buffer| buffer.slice(u64::from(rank) * shape.bytes, shape.bytes);
        if self.in_place {
            match shape.collective {
                Collective::Allgather | Collective::Gather => send = own(&recv),
                Collective::Scatter => recv = own(&send),
                _ => send = recv.clone(),
            }
        }
        let reducer = reduces(shape).then(|| composition(shape.commutative));
        Binding { send, recv, reducer, images: None }
    }
}

pub fn reduces(shape: &Shape) -> bool {
    shape.collective.info().is_reduction()
}

fn takes_in_place(shape: &Shape, rank: u32) -> bool {
    match shape.collective {
        Collective::Barrier | Collective::Bcast => false,
        Collective::Exscan => rank > 0,
        collective => !collective.info().is_rooted() || shape.root == Root::Rank(rank),
    }
}

/// Bytes of the send and of the receive buffer, where they count.
fn lengths(shape: &Shape, rank: u32) -> (Option<u64>, Option<u64>) {
    let (one, all) = (Some(shape.bytes), Some(shape.bytes * u64::from(shape.ranks)));
    let at_root = |bytes: Option<u64>| bytes.filter(|_| shape.root == Root::Rank(rank));
    match shape.collective {
        Collective::Allgather => (one, all),
        Collective::Allreduce => (one, one),
        Collective::Alltoall => (all, all),
        Collective::Barrier => (None, None),
        Collective::Bcast => (None, one),
        Collective::Exscan => (one, one.filter(|_| rank > 0)),
        Collective::Gather => (one, at_root(all)),
        Collective::Reduce => (one, at_root(one)),
        Collective::ReduceScatterBlock => (all, one),
        Collective::Scan => (one, one),
        Collective::Scatter => (at_root(all), one),
    }
}

/// What is in the send buffer of a rank.
fn contribution(shape: &Shape, rank: u32, round: u64) -> Vec<u8> {
    let bytes = match shape.collective {
        Collective::Alltoall | Collective::ReduceScatterBlock | Collective::Scatter => {
            shape.bytes * u64::from(shape.ranks)
        }
        _ => shape.bytes,
    };
    Random::new(round * 1000 + u64::from(rank) + 1).bytes(bytes as usize)
}

/// What is in the receive buffer of a rank in the end, if it counts.
fn expected(shape: &Shape, rank: u32, round: u64) -> Option<Vec<u8>> {
    let of = |peer: u32| contribution(shape, peer, round);
    let block = |peer: u32, of_rank: u32| {
        let begin = of_rank as usize * shape.bytes as usize;
        of(peer)[begin..begin + shape.bytes as usize].to_vec()
    };
    let combined = |ranks: u32| {
        let combine = |left: Vec<u8>, right: Vec<u8>| compose(&left, &right, shape.commutative);
        (0..ranks).map(of).reduce(combine).unwrap_or_default()
    };
    lengths(shape, rank).1?;
    Some(match shape.collective {
        Collective::Allgather | Collective::Gather => (0..shape.ranks).map(of).collect::<Vec<_>>().concat(),
        Collective::Allreduce | Collective::Reduce => combined(shape.ranks),
        Collective::Alltoall => (0..shape.ranks).map(|peer| block(peer, rank)).collect::<Vec<_>>().concat(),
        Collective::Barrier => Vec::new(),
        Collective::Bcast => of(shape.root.rank()),
        Collective::Exscan => combined(rank),
        Collective::ReduceScatterBlock => {
            let begin = rank as usize * shape.bytes as usize;
            combined(shape.ranks)[begin..][..shape.bytes as usize].to_vec()
        }
        Collective::Scan => combined(rank + 1),
        Collective::Scatter => block(shape.root.rank(), rank),
    })
}

/// The user's operation: composition of functions, or something that commutes.
pub fn composition(commutative: bool) -> Reducer {
    let function = move |left: &mut [u8], right: &mut [u8], count: u64| {
        assert_eq!((left.len(), right.len()), (count as usize * UNIT_BYTES, count as usize * UNIT_BYTES));
        right.copy_from_slice(&compose(left, right, commutative));
    };
    Reducer::user(UNIT_BYTES as u64, commutative, Arc::new(function))
}

pub fn compose(left: &[u8], right: &[u8], commutative: bool) -> Vec<u8> {
    // Half of what these tests compute: numbers of 32 bits, which the products of two numbers below 65536 and one of
    // them more still are, so that the compiler takes several at once.
    let pair = |unit: [u8; UNIT_BYTES]| {
        let both = u32::from_le_bytes(unit);
        (both & 0xffff, both >> 16)
    };
    let mut combined = left.to_vec();
    let units = combined.as_chunks_mut::<UNIT_BYTES>().0.iter_mut();
    for (left, right) in units.zip(right.as_chunks::<UNIT_BYTES>().0) {
        let ((a, b), (c, d)) = (pair(*left), pair(*right));
        let (slope, offset) = if commutative { (a * c, b + d) } else { (a * c, a * d + b) };
        *left = ((slope % PRIME) | ((offset % PRIME) << 16)).to_le_bytes();
    }
    combined
}
