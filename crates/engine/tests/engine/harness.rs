//! A world of engines, a scheduler that is fixed by a seed, and memory to send from and receive into.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem;

use oxmpi_base::{BasicType, Result};
use oxmpi_datatype::{Buffer, Datatype};
use oxmpi_engine::{
    Address, Addresses, ChannelKey, ChannelPlan, Engine, Form, Mode, Notes, OpKey, Outcome, Pattern, PeerId,
    Received,
};
use oxmpi_fabric::Limits;
use oxmpi_fabric::sim::{Conduct, Sim};
use oxmpi_mem::{Pool, Region, Taken};
use oxmpi_plan::Nodes;
use oxmpi_shm::{Job, Ticket};

/// All engines of a job, a channel of all of them, and a context for messages.
pub struct World {
    pub engines: Vec<Engine>,
    pub channels: Vec<ChannelKey>,
    pub context: u32,
    pub random: Random,
    pub seed: u64,
    /// What the ranks share, node by node.
    jobs: Vec<Job>,
    /// The fabric between nodes, if there are several.
    pub sim: Option<Sim>,
    /// A rank that has its turn only when the others have done nothing for long.
    held: Option<usize>,
    idle: usize,
}

/// Which ranks share a node: so many of the first ones, so many of those behind them.
pub type Split = fn(u32) -> Vec<u32>;

/// Numbers that look random: xorshift64*.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// User memory: some bytes, in one piece or with gaps between them.
pub struct Store {
    memory: Taken,
    buffer: Buffer,
}

/// How the bytes of a [`Store`] lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    Dense,
    Scattered,
}

/// Turns after which whoever waits for the impossible is reported.
const TURNS: usize = 3_000_000;
/// Turns without progress, per rank, after which a rank that is held has one.
const PATIENCE: usize = 20;
/// What is in the gaps of a scattered store.
const GAP: u8 = 0xee;
const BLOCK_BYTES: usize = 3;
const STRIDE_BYTES: usize = 5;

impl World {
    /// Ranks of one node, unless [several](on_nodes) are asked for. Their seats are given up: nobody knows in which
    /// process to read what is long, however fast that is.
    pub fn new(ranks: u32, seed: u64) -> Self {
        match NODES.get() {
            Some((split, conduct)) => Self::of_nodes(&split(ranks), seed, conduct),
            None => Self::of_one_node(ranks, seed),
        }
    }

    fn of_one_node(ranks: u32, seed: u64) -> Self {
        if cfg!(any(miri, portable)) {
            return Self::of_ranks(Job::within_private(ranks).expect("memory for a job"), seed);
        }
        let tickets = Job::within(ranks).expect("shared memory for a job");
        // To close any descriptor of the segment does that.
        drop(tickets[0].job().file().try_clone_to_owned().expect("a descriptor"));
        Self::of_ranks(tickets, seed)
    }

    /// Ranks that live, as their seats say.
    pub fn alive(ranks: u32, seed: u64) -> Self {
        if let Some((split, conduct)) = NODES.get() {
            return Self::of_nodes(&split(ranks), seed, conduct);
        }
        Self::of_ranks(Job::within(ranks).expect("shared memory for a job"), seed)
    }

    fn of_ranks(tickets: Vec<Ticket>, seed: u64) -> Self {
        let jobs = vec![tickets[0].job()];
        let mut engines: Vec<_> = tickets.into_iter().map(Engine::new).collect();
        let channels = engines.iter_mut().map(|engine| engine.open_first_channel(None)).collect();
        let contexts: Vec<_> = engines.iter_mut().map(|engine| engine.p2p.open_context()).collect();
        assert!(contexts.windows(2).all(|pair| pair[0] == pair[1]), "equal calls give equal contexts");
        let random = Random::new(seed);
        Self { engines, channels, context: contexts[0], random, seed, jobs, sim: None, held: None, idle: 0 }
    }

    /// The ranks of several nodes, so many on each, with a fabric between them.
    pub fn of_nodes(nodes: &[u32], seed: u64, conduct: Conduct) -> Self {
        let labels = (0..).zip(nodes).flat_map(|(node, &ranks)| (0..ranks).map(move |_| node));
        Self::of_map(&labels.collect::<Vec<usize>>(), seed, conduct)
    }

    /// The same, of ranks on these nodes.
    pub fn of_map(node_of: &[usize], seed: u64, conduct: Conduct) -> Self {
        Self::of_endpoints(node_of, seed, conduct, |_| conduct.limits)
    }

    /// The same, of which each has limits of its own.
    pub fn of_endpoints(
        node_of: &[usize],
        seed: u64,
        conduct: Conduct,
        limits: impl Fn(usize) -> Limits,
    ) -> Self {
        let sim = Sim::new(seed, conduct);
        let ranks_of = |node: usize| node_of.iter().filter(|&&of| of == node).count() as u32;
        let nodes = node_of.iter().max().map_or(0, |last| last + 1);
        let there = (0..nodes).filter(|&node| ranks_of(node) != 0);
        let mut worlds: BTreeMap<usize, Self> =
            there.map(|node| (node, Self::of_one_node(ranks_of(node), seed))).collect();
        let (random, context) = (Random::new(seed), worlds[&node_of[0]].context);
        let next = |node| worlds.get_mut(node).expect("it has ranks").engines.remove(0);
        let engines = node_of.iter().map(next).collect();
        let jobs = worlds.values_mut().flat_map(|world| mem::take(&mut world.jobs)).collect();
        let mut world = Self {
            engines,
            channels: Vec::new(),
            context,
            random,
            seed,
            jobs,
            sim: Some(sim),
            held: None,
            idle: 0,
        };
        world.meet(limits);
        world.channels = world.open_spread_channel(Some(context));
        world
    }

    /// Lets all reach all.
    fn meet(&mut self, limits: impl Fn(usize) -> Limits) {
        let sim = self.sim.as_ref().expect("there are nodes");
        let mut addresses: BTreeMap<u64, Vec<(u32, Vec<u8>)>> = BTreeMap::new();
        for (rank, engine) in (0..).zip(&mut self.engines) {
            let endpoint = sim.open_within(limits(rank as usize));
            engine.join_fabric(Box::new(endpoint)).expect("it carries frames");
            let address = engine.fabric_address().expect("just joined");
            addresses.entry(engine.whereabouts().job()).or_default().push((rank, address));
        }
        for engine in &mut self.engines {
            let here = engine.whereabouts().job();
            for (&job, addresses) in addresses.iter().filter(|(job, _)| **job != here) {
                engine.attach_elsewhere(job, addresses.clone()).expect("numbers enough");
            }
        }
    }

    /// A channel of all ranks, in which those who share a node have lines; `beside` ends with it.
    pub fn open_spread_channel(&mut self, beside: Option<u32>) -> Vec<ChannelKey> {
        let form = Form::of_communicator(Notes::Calls);
        let take = |engine: &mut Engine| {
            (engine.p2p.open_context(), engine.take_lines(form).expect("there is room"))
        };
        let own: Vec<_> = self.engines.iter_mut().map(take).collect();
        let open = |rank: usize| {
            let at = |(other, &(context, _))| Address { peer: self.peer(rank, other), context };
            let members: Addresses = own.iter().enumerate().map(at).collect();
            let lines = own.iter().map(|(_, lines)| lines.offset()).collect();
            let plan =
                ChannelPlan { rank: rank as u32, members, remote: Addresses::NONE, beside, lines, form };
            self.engines[rank].open_channel(plan, Some(own[rank].1)).expect("there is room")
        };
        (0..own.len()).map(open).collect()
    }

    /// Which ranks share a node.
    pub fn nodes(&self) -> Nodes {
        let jobs: Vec<u64> = self.engines.iter().map(|engine| engine.whereabouts().job()).collect();
        let place = |job: &u64| jobs.iter().position(|first| first == job).expect("it is there") as u32;
        let labels: Vec<u32> = jobs.iter().map(place).collect();
        Nodes::of(&labels)
    }

    fn joined(mut self, mut other: Self) -> Self {
        self.engines.append(&mut other.engines);
        self.channels.append(&mut other.channels);
        self.jobs.append(&mut other.jobs);
        self
    }

    /// What an engine knows another one as.
    pub fn peer(&mut self, of: usize, other: usize) -> PeerId {
        let process = self.engines[other].whereabouts();
        self.engines[of].peer(process).expect("it is reached")
    }

    /// Where an engine sends messages of the common context to another one.
    pub fn address(&mut self, from: usize, to: usize) -> Address {
        Address { peer: self.peer(from, to), context: self.context }
    }

    /// The ranks of several jobs, each of which all others have attached.
    pub fn of_jobs(sizes: &[u32], seed: u64) -> Self {
        let mut worlds: Vec<Self> = sizes.iter().map(|&ranks| Self::alive(ranks, seed)).collect();
        for of in 0..worlds.len() {
            for other in (0..worlds.len()).filter(|&other| other != of) {
                let [world, other] = worlds.get_disjoint_mut([of, other]).expect("two worlds");
                for engine in &mut world.engines {
                    engine.attach_here(&other.engines[0]).expect("numbers enough");
                }
            }
        }
        worlds.into_iter().reduce(Self::joined).expect("there are jobs")
    }

    /// Lets `rank` have its turn only when the others are stuck.
    pub fn hold(&mut self, rank: Option<usize>) {
        self.held = rank;
        self.idle = 0;
    }

    /// The rank whose turn it is.
    pub fn next_rank(&mut self) -> usize {
        let ranks = self.engines.len();
        let rank = self.random.below(ranks);
        match self.held {
            Some(held) if held == rank && ranks > 1 && self.idle < PATIENCE * ranks => (rank + 1) % ranks,
            _ => rank,
        }
    }

    /// Notes whether the last turn achieved something.
    pub fn note(&mut self, moved: bool) {
        self.idle = if moved { 0 } else { self.idle + 1 };
    }

    /// One poll of one engine.
    pub fn turn(&mut self) {
        let rank = self.next_rank();
        let moved = self.engines[rank].poll();
        self.note(moved);
    }

    /// Polls engines in random order until `done`.
    pub fn until(&mut self, what: &str, mut done: impl FnMut(&mut [Engine]) -> bool) {
        for _ in 0..TURNS {
            if done(&mut self.engines) {
                return;
            }
            self.turn();
        }
        self.report(what);
    }

    /// Polls each engine often enough for everything to happen that can.
    pub fn settle(&mut self) {
        let (mut idle, patience) = (0, if self.sim.is_some() { 300 } else { 3 });
        while idle < patience {
            let moved = self.engines.iter_mut().map(Engine::poll).filter(|&moved| moved).count() > 0;
            idle = if moved { 0 } else { idle + 1 };
        }
    }

    /// Lets all engines look which channels all have left: they do so seldom.
    pub fn look_at_departures(&mut self) {
        self.engines.iter_mut().for_each(Engine::suspect);
    }

    /// Fails, and says what each rank is waiting for.
    pub fn report(&self, what: &str) -> ! {
        let ranks = self.engines.iter().enumerate();
        let pending: Vec<_> =
            ranks.map(|(rank, engine)| format!("rank {rank}: {}", engine.describe(&()).join("; "))).collect();
        panic!("seed {}: {what} does not happen\n{}", self.seed, pending.join("\n"));
    }

    pub fn send(&mut self, src: u32, dst: u32, tag: i32, from: &Store, mode: Mode) -> Option<OpKey> {
        let to = self.address(src as usize, dst as usize);
        self.engines[src as usize].p2p.send(to, src.cast_signed(), tag, &from.buffer, mode)
    }

    pub fn receive(&mut self, dst: u32, source: Option<u32>, tag: Option<i32>, into: &Store) -> Received {
        let pattern = Pattern { source: source.map(u32::cast_signed), tag };
        let from = source.map(|source| self.peer(dst as usize, source as usize));
        self.engines[dst as usize].p2p.receive(self.context, pattern, from, into.buffer.clone())
    }

    /// Polls until a receive of `rank` is over.
    pub fn finish(&mut self, rank: u32, received: Received) -> Outcome {
        match received {
            Received::Done(outcome) => outcome,
            Received::Pending(key) => {
                let rank = rank as usize;
                self.until("the end of a receive", |engines| engines[rank].p2p.is_done(key));
                self.engines[rank].p2p.take_outcome(key).expect("it is done")
            }
        }
    }

    /// Polls until a send of `rank` is over.
    pub fn finish_send(&mut self, rank: u32, key: Option<OpKey>) {
        if let Some(key) = key {
            let outcome = self.finish(rank, Received::Pending(key));
            assert!(outcome.error.is_none(), "seed {}: {outcome:?}", self.seed);
        }
    }
}

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn word(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.word() >> 33) as usize % limit
    }

    pub fn chance(&mut self) -> bool {
        self.below(2) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }

    pub fn bytes(&mut self, bytes: usize) -> Vec<u8> {
        let mut result = vec![0; bytes];
        for chunk in result.chunks_mut(8) {
            chunk.copy_from_slice(&self.word().to_le_bytes()[..chunk.len()]);
        }
        result
    }
}

impl Store {
    pub fn new(bytes: usize, lie: Lie) -> Self {
        match lie {
            Lie::Dense => {
                let memory = take(bytes);
                let buffer = Buffer::dense(*memory);
                Self { memory, buffer }
            }
            Lie::Scattered => Self::scattered(bytes).expect("a small vector"),
        }
    }

    /// Memory that an engine has given: it stays there.
    pub fn of_region(region: Region) -> Self {
        Self { memory: Taken::EMPTY, buffer: Buffer::dense(region) }
    }

    pub fn of(bytes: &[u8], lie: Lie) -> Self {
        let store = Self::new(bytes.len(), lie);
        store.put(bytes);
        store
    }

    /// Elements of 3 bytes, 5 bytes apart, and what is left behind them.
    fn scattered(bytes: usize) -> Result<Self> {
        let blocks = bytes / BLOCK_BYTES;
        let memory = take(blocks * STRIDE_BYTES + bytes % BLOCK_BYTES);
        memory.write(&vec![GAP; memory.len()]);
        let byte = Datatype::basic(BasicType::Byte);
        let block = Datatype::contiguous(BLOCK_BYTES as i64, &byte)?;
        let element = Datatype::resized(0, STRIDE_BYTES as i64, &block)?;
        element.commit();
        // SAFETY: the elements lie in `memory`, which is never freed and of which no reference exists.
        let buffer = unsafe { Buffer::new(memory.as_ptr(), blocks as u64, &element) }?;
        let rest = memory.part(blocks * STRIDE_BYTES, bytes % BLOCK_BYTES);
        let buffer = if rest.is_empty() { buffer } else { Buffer::joined(vec![buffer, Buffer::dense(rest)]) };
        Ok(Self { memory, buffer })
    }

    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub fn put(&self, bytes: &[u8]) {
        let packed = take(bytes.len());
        packed.write(bytes);
        self.buffer.write(0, &packed);
        give(packed);
    }

    /// Copies all bytes over the beginning of `into`.
    pub fn copy_to(&self, into: &Buffer) {
        into.write(0, &self.dense());
    }

    /// Fills all bytes from the beginning of `from`.
    pub fn copy_from(&self, from: &Buffer) {
        from.read(0, &self.dense());
    }

    fn dense(&self) -> Region {
        self.buffer.as_dense().expect("a dense store")
    }

    /// The bytes; no gap has been written to.
    pub fn get(&self) -> Vec<u8> {
        let bytes = self.buffer.bytes() as usize;
        let packed = take(bytes);
        self.buffer.read(0, &packed);
        if self.memory.len() > bytes {
            let memory = self.memory.to_vec();
            let gaps = memory.chunks_exact(STRIDE_BYTES).take(bytes / BLOCK_BYTES);
            let untouched = gaps.flat_map(|element| &element[BLOCK_BYTES..]).all(|&byte| byte == GAP);
            assert!(untouched, "a gap was written to");
        }
        let result = packed.to_vec();
        give(packed);
        result
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.engines.clear();
        for job in &self.jobs {
            job.show_nothing().expect("memory for nothing");
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        give(mem::replace(&mut self.memory, Taken::EMPTY));
    }
}

thread_local! {
    /// Where the memory of all stores comes from.
    static POOL: RefCell<Pool> = RefCell::default();
    /// How new worlds are split, if they are.
    static NODES: Cell<Option<(Split, Conduct)>> = const { Cell::new(None) };
}

/// How many of so many seeds a test takes: on several nodes fewer, where each takes longer.
pub fn seeds(on_one_node: u64) -> u64 {
    if NODES.get().is_some() { on_one_node / 16 } else { on_one_node }
}

/// Runs a test on several nodes.
pub fn on_nodes(split: Split, conduct: Conduct, test: fn()) {
    NODES.set(Some((split, conduct)));
    test();
    NODES.set(None);
}

fn take(bytes: usize) -> Taken {
    POOL.with_borrow_mut(|pool| pool.take(bytes))
}

fn give(taken: Taken) {
    POOL.with_borrow_mut(|pool| pool.give(taken));
}
