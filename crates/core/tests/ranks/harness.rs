//! Jobs whose ranks are threads, what delays or ends these, and a watchdog that names who waits for whom.

use std::any::Any;
use std::cell::Cell;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use oxmpi_core::{Communicator, Everybody, Phase, Process, Settings, Start};
use oxmpi_datatype::Buffer;
use oxmpi_engine::Engine;
use oxmpi_engine::machine::{Bed, StatePage, usable_cpus};
use oxmpi_fabric::Fabric;
use oxmpi_mem::{Callers, Pool, Region};
use oxmpi_pmi::{Bootstrap, NodeMap, Place, within};

/// Nothing takes so long, on the busiest machine: somebody waits for ever.
const PATIENCE: Duration = Duration::from_secs(60);
/// What ranks that are asked what they wait for need to answer: they look up four times a second.
const ANSWER: Duration = Duration::from_secs(2);

/// A rank, as its thread sees it.
pub struct Rank {
    process: Process,
    /// Its job, of those that run.
    pub job: usize,
    random: Mutex<Random>,
    /// Calls that are left to it.
    life: Option<AtomicU32>,
}

/// How the thread of a rank ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// As the seed said.
    Died,
    /// The rank ended its process with this status.
    Exited(u8),
    /// It left MPI.
    Finalized,
}

/// Which rank dies, and when.
#[derive(Clone, Copy, Debug)]
pub struct Death {
    pub job: usize,
    pub rank: u32,
    /// Calls before it.
    pub calls: u32,
}

/// Numbers that look random: xorshift64*.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// A rank before it begins.
struct Seated {
    engine: Engine,
    /// How it finds those on other nodes, if there are any.
    wiring: Option<Wiring>,
}

/// Where a rank is, who tells it of the others, and how it reaches them.
type Wiring = (Place, Box<dyn Bootstrap>, Box<dyn Fabric>);

struct Died;
struct Exited(u8);

/// What others see of a rank.
#[derive(Clone, Copy)]
struct Seen {
    job: usize,
    rank: usize,
    page: &'static StatePage,
    bed: Bed,
}

/// Runs a job of so many ranks, none of which fails; on one node, unless [several](on_nodes) are asked for.
pub fn run(ranks: u32, seed: u64, body: impl Fn(&Rank) + Sync) {
    match NODES.get() {
        Some((split, network)) => run_on_nodes(&split(ranks), seed, network(seed), body),
        None => run_jobs(&[ranks], seed, body),
    }
}

/// Lets the jobs that a test [runs](run) have several nodes, with such a network between them.
pub fn on_nodes(split: Split, network: Network, test: impl Fn()) {
    NODES.set(Some((split, network)));
    test();
    NODES.set(None);
}

/// On which nodes so many ranks are.
pub type Split = fn(u32) -> Vec<u32>;
/// A network of a seed, which opens endpoints.
pub type Network = fn(u64) -> Box<dyn FnMut() -> Box<dyn Fabric>>;

thread_local! {
    static NODES: Cell<Option<(Split, Network)>> = const { Cell::new(None) };
}

/// Runs jobs of these sizes that can reach each other, of which no rank fails.
pub fn run_jobs(sizes: &[u32], seed: u64, body: impl Fn(&Rank) + Sync) {
    run_jobs_on(&of_all_processors(sizes), seed, body);
}

/// The same of jobs that are told each how many processors its ranks share.
pub fn run_jobs_on(jobs: &[(u32, usize)], seed: u64, body: impl Fn(&Rank) + Sync) {
    let ends = run_engines(reaching_each_other(jobs), seed, None, body);
    assert!(ends.iter().flatten().all(|end| *end == End::Finalized), "seed {seed}: {ends:?}");
}

/// Runs a job whose ranks are on these nodes, each with an endpoint that is opened now; no rank fails.
fn run_on_nodes(
    node_of: &[u32],
    seed: u64,
    mut open: impl FnMut() -> Box<dyn Fabric>,
    body: impl Fn(&Rank) + Sync,
) {
    let map = NodeMap::of(node_of.iter().copied());
    let ranks_of = |node| map.ranks_of(node).count() as u32;
    let new = |node| Engine::of_new_job_on(ranks_of(node), usable_cpus()).expect("shared memory");
    let mut nodes: Vec<Vec<Seated>> = (0..map.count()).map(|_| Vec::new()).collect();
    let mut engines: Vec<_> = (0..map.count()).map(|node| new(node).into_iter()).collect();
    for (&node, bootstrap) in map.labels().iter().zip(within(&map)) {
        let engine = engines[node as usize].next().expect("one for each rank");
        let wiring: Wiring = (bootstrap.place().clone(), Box::new(bootstrap), open());
        nodes[node as usize].push(Seated { engine, wiring: Some(wiring) });
    }
    let ends = run_engines(nodes, seed, None, body);
    assert!(ends.iter().flatten().all(|end| *end == End::Finalized), "seed {seed}: {ends:?}");
}

/// Runs jobs, of which a rank may die; how each rank of each ended.
pub fn run_until(
    sizes: &[u32],
    seed: u64,
    death: Option<Death>,
    body: impl Fn(&Rank) + Sync,
) -> Vec<Vec<End>> {
    run_engines(reaching_each_other(&of_all_processors(sizes)), seed, death, body)
}

fn run_engines(
    jobs: Vec<Vec<Seated>>,
    seed: u64,
    death: Option<Death>,
    body: impl Fn(&Rank) + Sync,
) -> Vec<Vec<End>> {
    let sizes: Vec<usize> = jobs.iter().map(Vec::len).collect();
    let seen = |job: usize, (rank, Seated { engine, .. }): (usize, &Seated)| Seen {
        job,
        rank,
        page: engine.state(),
        bed: engine.bed(),
    };
    let all: Vec<Seen> = (0..)
        .zip(&jobs)
        .flat_map(|(job, ranks)| ranks.iter().enumerate().map(move |rank| seen(job, rank)))
        .collect();
    let (tell, told) = mpsc::channel();
    let (all, body) = (&all, &body);
    thread::scope(|scope| {
        let start = |(place, seated): (usize, Seated)| {
            let (me, tell) = (all[place], tell.clone());
            scope.spawn(move || {
                let dies = |death: &Death| (death.job, death.rank as usize) == (me.job, me.rank);
                let life = death.filter(dies).map(|death| AtomicU32::new(death.calls));
                let seed = Random::of(seed, place as u64);
                let end = catch_unwind(AssertUnwindSafe(|| live(seated, me.job, seed, life, body)));
                show_gone(me, all, end.is_ok());
                tell.send(place).expect("the watchdog stays");
                end
            })
        };
        let threads: Vec<_> = jobs.into_iter().flatten().enumerate().map(start).collect();
        watch(all, &told, seed);
        let mut ends = threads.into_iter().map(|thread| thread.join().expect("panics are caught"));
        let end = |end: Result<(), Box<dyn Any + Send>>| end.map_or_else(ended, |()| End::Finalized);
        sizes.iter().map(|&size| ends.by_ref().take(size).map(end).collect()).collect()
    })
}

fn of_all_processors(sizes: &[u32]) -> Vec<(u32, usize)> {
    sizes.iter().map(|&ranks| (ranks, usable_cpus())).collect()
}

fn reaching_each_other(jobs: &[(u32, usize)]) -> Vec<Vec<Seated>> {
    let new = |&(ranks, cpus): &(u32, usize)| Engine::of_new_job_on(ranks, cpus).expect("shared memory");
    let mut all: Vec<_> = jobs.iter().map(new).collect();
    for (of, other) in (0..jobs.len()).flat_map(|of| (0..jobs.len()).map(move |other| (of, other))) {
        if let Ok([engines, others]) = all.get_disjoint_mut([of, other]) {
            engines.iter_mut().for_each(|engine| engine.attach_here(&others[0]).expect("numbers enough"));
        }
    }
    let seated = |engine| Seated { engine, wiring: None };
    all.into_iter().map(|engines| engines.into_iter().map(seated).collect()).collect()
}

/// The life of a rank from beginning to end.
fn live(seated: Seated, job: usize, random: Random, life: Option<AtomicU32>, body: impl Fn(&Rank)) {
    let end: fn(u8) -> ! = |status| resume_unwind(Box::new(Exited(status)));
    let Seated { mut engine, wiring } = seated;
    let (settings, phase) = (Settings::default(), Phase::Running);
    let meet = |(place, mut launcher, fabric): Wiring| {
        let met = Everybody::meet_over(&mut engine, &place, launcher.as_mut(), &settings, fabric);
        let everybody = met.expect("all come");
        (launcher, everybody)
    };
    // Who tells ranks of several nodes of each other is no broker, here.
    let is_launched = wiring.is_none();
    let (launcher, everybody) = wiring.map(meet).unzip();
    let start = Start { is_launched, launcher, everybody, settings, phase, end: Arc::new(end) };
    let process = Process::new(engine, start, Callers::ANY).expect("all ranks have the same settings");
    let rank = Rank { process, job, random: Mutex::new(random), life };
    body(&rank);
    rank.mpi().finalize().expect("a barrier");
}

fn ended(how: Box<dyn Any + Send>) -> End {
    match how.downcast::<Exited>() {
        Ok(exited) => End::Exited(exited.0),
        Err(how) if how.is::<Died>() => End::Died,
        Err(panic) => resume_unwind(panic),
    }
}

/// What a launcher does when a rank has ended, as it should or not.
fn show_gone(me: Seen, all: &[Seen], is_well: bool) {
    me.page.set_gone();
    for other in all {
        if !is_well && other.job == me.job {
            other.page.release();
        }
        other.bed.ring();
    }
}

/// Waits until all ranks have ended. If they do not, says what each is waiting for, and ends the test program: nothing
/// else ends threads that wait for ever.
fn watch(all: &[Seen], told: &mpsc::Receiver<usize>, seed: u64) {
    let begin = Instant::now();
    let mut is_under_way = vec![true; all.len()];
    while is_under_way.contains(&true) {
        match told.recv_timeout(PATIENCE.saturating_sub(begin.elapsed())) {
            Ok(place) => is_under_way[place] = false,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let waiting = all.iter().zip(&is_under_way).filter(|(_, is_under_way)| **is_under_way);
                let waiting: Vec<Seen> = waiting.map(|(seen, _)| *seen).collect();
                waiting.iter().for_each(|seen| seen.page.ask());
                waiting.iter().for_each(|seen| seen.bed.ring());
                thread::sleep(ANSWER);
                let report = |seen: &Seen| {
                    let says = seen.page.report().unwrap_or_else(|| "waits for nothing".to_owned());
                    format!("job {} rank {} ({:?}): {says}\n", seen.job, seen.rank, seen.page.phase())
                };
                let reports: String = waiting.iter().map(report).collect();
                // Not by a macro, whose output the test harness would keep.
                drop(writeln!(io::stderr(), "seed {seed}: {} ranks wait for ever\n{reports}", waiting.len()));
                process::abort();
            }
        }
    }
}

impl Rank {
    /// The process, for the next call: the thread may be delayed before it, or die.
    pub fn mpi(&self) -> &Process {
        if let Some(life) = &self.life
            && life.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
        {
            resume_unwind(Box::new(Died));
        }
        match self.below(64) {
            0 => thread::sleep(Duration::from_micros(self.below(500) as u64)),
            1..8 => thread::yield_now(),
            _ => {}
        }
        &self.process
    }

    /// Uses up the calls that are left to this rank, which is one that dies.
    pub fn die(&self) -> ! {
        loop {
            self.mpi();
        }
    }

    pub fn world(&self) -> &Arc<Communicator> {
        self.process.world()
    }

    pub fn rank(&self) -> u32 {
        self.world().rank()
    }

    pub fn size(&self) -> u32 {
        self.world().size()
    }

    /// A number below `end`, of its own.
    pub fn below(&self, end: usize) -> usize {
        self.random.lock().expect("nobody panics inside").below(end)
    }
}

impl Random {
    /// Numbers that all who name the same two seeds have alike.
    pub fn of(seed: u64, place: u64) -> Self {
        let mut random = Self(
            (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (place + 1).wrapping_mul(0xd1b5_4a32_d192_ed03)
                | 1,
        );
        random.below(2);
        random
    }

    pub fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
    }
}

/// Memory that holds these bytes.
pub fn memory(bytes: &[u8]) -> Region {
    let region = Pool::default().take(bytes.len());
    region.write(bytes);
    *region
}

/// Memory with something else in it than what is expected.
pub fn blank(bytes: usize) -> Region {
    memory(&vec![0xa5; bytes])
}

/// A buffer that holds these numbers.
pub fn ints(values: impl IntoIterator<Item = i32>) -> Buffer {
    Buffer::dense(int_memory(values))
}

pub fn int_memory(values: impl IntoIterator<Item = i32>) -> Region {
    memory(&values.into_iter().flat_map(i32::to_ne_bytes).collect::<Vec<u8>>())
}

pub fn read_ints(region: &Region) -> Vec<i32> {
    let number = |bytes: &[u8]| i32::from_ne_bytes(bytes.try_into().expect("4 bytes"));
    region.to_vec().chunks_exact(4).map(number).collect()
}
