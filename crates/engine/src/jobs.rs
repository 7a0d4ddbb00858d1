//! The jobs whose processes this one has to do with.
//!
//! A process is known everywhere by its [`Whereabouts`], and in one process by a *number*: the ranks of the own job
//! have their ranks, those of each other job the numbers behind all that were given before. So a group of ranks of any
//! job is a range of numbers. Numbers are not used twice: a group may outlive what it was made of.

use oxmpi_base::{Error, ErrorClass, Ordered, Ordinal, Result};
use oxmpi_shm::{Guest, Job};

/// Which process it is, told to others who shall reach it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Whereabouts {
    job: u64,
    rank: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Jobs {
    /// In the order of their numbers; the own job first.
    known: Vec<Known>,
    /// The place of each there.
    places: Ordered<u64, usize>,
}

#[derive(Debug)]
struct Known {
    id: u64,
    size: u32,
    /// The number of its rank 0.
    first: u32,
    /// Its memory, as long as there are peers in it.
    memory: Option<Memory>,
    /// How many want the memory to stay though there are no peers in it yet.
    holds: u32,
    /// How many communicators tie this process to it.
    ties: u32,
    /// Its processes are on another node, and reached without its memory: whose they are.
    elsewhere: Option<Whose>,
}

/// Whose processes on another node are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Of a job that this one has met.
    OtherJob,
    /// Of the own job, of which they are a part.
    OwnJob,
}

/// How the memory of a job comes to be here.
#[derive(Debug)]
pub(crate) enum Memory {
    /// By having a seat there, or because all its ranks are in this process.
    Own(Job),
    /// By attaching it, to be given up in the end.
    Attached(Guest),
}

impl Known {
    fn is_reached(&self) -> bool {
        self.elsewhere.is_some() || self.memory.is_some()
    }
}

impl Memory {
    pub(crate) fn job(&self) -> Job {
        match self {
            Self::Own(job) => *job,
            Self::Attached(guest) => guest.job(),
        }
    }

    pub(crate) fn give_up(self) {
        if let Self::Attached(guest) = self {
            // Where the system refuses, it stays mapped and is only not used.
            drop(guest.retire());
        }
    }
}

impl Whereabouts {
    /// Bytes of its record.
    pub const BYTES: usize = 12;

    /// The process with this rank in a job.
    pub fn new(job: u64, rank: u32) -> Self {
        Self { job, rank }
    }

    /// Writes its record.
    pub fn write(&self, into: &mut Vec<u8>) {
        into.extend_from_slice(&self.job.to_ne_bytes());
        into.extend_from_slice(&self.rank.to_ne_bytes());
    }

    /// Reads its record.
    ///
    /// # Panics
    /// If `from` has fewer than [`Self::BYTES`] bytes.
    pub fn read(from: &[u8]) -> Self {
        let (job, rank) = from[..Self::BYTES].split_at(8);
        Self {
            job: u64::from_ne_bytes(job.try_into().expect("8 bytes")),
            rank: u32::from_ne_bytes(rank.try_into().expect("4 bytes")),
        }
    }

    /// The number that all of its job have, and no other job.
    pub fn job(&self) -> u64 {
        self.job
    }

    /// Its rank there.
    pub fn rank(&self) -> u32 {
        self.rank
    }
}

impl Ordinal for Whereabouts {
    fn ordinal(self) -> u128 {
        u128::from(self.job) << 64 | u128::from(self.rank)
    }
}

impl Jobs {
    /// The own job.
    pub(crate) fn new(own: Job) -> Self {
        let memory = Some(Memory::Own(own));
        let own = Known {
            id: own.id(),
            size: own.size() as u32,
            first: 0,
            memory,
            holds: 0,
            ties: 0,
            elsewhere: None,
        };
        let mut places = Ordered::new();
        places.insert(own.id, 0);
        Self { known: vec![own], places }
    }

    /// Whether a process is of the own job.
    pub(crate) fn is_own(&self, process: Whereabouts) -> bool {
        process.job == self.known[0].id
    }

    /// Whether a job is what of the own one is on another node.
    pub(crate) fn is_part_elsewhere(&self, id: u64) -> bool {
        self.find(id).is_some_and(|known| known.elsewhere == Some(Whose::OwnJob))
    }

    /// Whether processes of other jobs are known on other nodes.
    pub(crate) fn are_others_elsewhere(&self) -> bool {
        self.known.iter().any(|known| known.elsewhere == Some(Whose::OtherJob))
    }

    /// Whether the processes of a job can be reached.
    pub(crate) fn is_attached(&self, id: u64) -> bool {
        self.find(id).is_some_and(Known::is_reached)
    }

    /// Takes in the memory of a job.
    ///
    /// # Errors
    /// `Other` if there are no numbers left for its ranks.
    pub(crate) fn attach(&mut self, memory: Memory) -> Result<()> {
        let (id, size) = (memory.job().id(), memory.job().size() as u32);
        if let Some(known) = self.find_mut(id) {
            known.memory = Some(memory);
            return Ok(());
        }
        self.add(id, size, Some(memory), None)
    }

    /// Gives numbers to the ranks of a job on another node, which is not known yet.
    ///
    /// # Errors
    /// `Other` if there are none left.
    pub(crate) fn add_elsewhere(&mut self, id: u64, size: u32, whose: Whose) -> Result<()> {
        self.add(id, size, None, Some(whose))
    }

    fn add(&mut self, id: u64, size: u32, memory: Option<Memory>, elsewhere: Option<Whose>) -> Result<()> {
        let last = self.known.last().expect("the own job is there");
        let first = last.first + last.size; // never beyond the numbers, see below
        if first.checked_add(size).is_none() {
            return Err(Error::new(ErrorClass::Other, "more processes have been met than can be numbered"));
        }
        self.places.insert(id, self.known.len());
        self.known.push(Known { id, size, first, memory, holds: 0, ties: 0, elsewhere });
        Ok(())
    }

    /// Lets the memory of a job stay until [`Jobs::let_go`] as often, if it is here; whether it is.
    pub(crate) fn hold(&mut self, id: u64) -> bool {
        let known = self.find_mut(id).filter(|known| known.is_reached());
        known.map(|known| known.holds += 1).is_some()
    }

    /// See [`Jobs::hold`].
    pub(crate) fn let_go(&mut self, id: u64) {
        if let Some(known) = self.find_mut(id) {
            known.holds = known.holds.saturating_sub(1);
        }
    }

    /// A communicator ties this process to a job.
    pub(crate) fn tie(&mut self, id: u64) {
        if let Some(known) = self.find_mut(id) {
            known.ties += 1;
        }
    }

    /// One less does.
    pub(crate) fn untie(&mut self, id: u64) {
        if let Some(known) = self.find_mut(id) {
            known.ties = known.ties.saturating_sub(1);
        }
    }

    /// Whether anything ties this process to another job, whose memory is here: that of one on another host says
    /// nothing to a launcher.
    pub(crate) fn is_tied(&self, id: u64) -> bool {
        let is_tied = |known: &Known| known.memory.is_some() && known.holds + known.ties != 0;
        id != self.known[0].id && self.find(id).is_some_and(is_tied)
    }

    /// The other jobs whose memory is here.
    pub(crate) fn attached(&self) -> impl Iterator<Item = u64> {
        self.known[1..].iter().filter(|known| known.memory.is_some()).map(|known| known.id)
    }

    /// Whether somebody wants the memory of a job to stay.
    pub(crate) fn is_held(&self, id: u64) -> bool {
        self.find(id).is_some_and(|known| known.holds != 0)
    }

    /// Forgets the memory of a job, of which no peer is left: what it was.
    pub(crate) fn detach(&mut self, id: u64) -> Option<Memory> {
        self.find_mut(id)?.memory.take()
    }

    /// The memory in which a process is found.
    ///
    /// # Errors
    /// `Other` if it is not here, or holds no such rank.
    pub(crate) fn memory(&self, of: Whereabouts) -> Result<Job> {
        let memory = self.find(of.job).and_then(|known| known.memory.as_ref().map(Memory::job));
        memory.filter(|memory| (of.rank as usize) < memory.size()).ok_or_else(|| unknown(of))
    }

    /// The number of a process.
    ///
    /// # Errors
    /// `Other` if its job is not known, or has no such rank.
    pub(crate) fn number(&self, of: Whereabouts) -> Result<u32> {
        let known = self.find(of.job).filter(|known| of.rank < known.size);
        known.map(|known| known.first + of.rank).ok_or_else(|| unknown(of))
    }

    /// The process with a number.
    pub(crate) fn whereabouts(&self, number: u32) -> Whereabouts {
        let after = self.known.partition_point(|known| known.first <= number);
        let known = &self.known[after - 1]; // the own job begins at 0
        Whereabouts { job: known.id, rank: number - known.first }
    }

    fn find(&self, id: u64) -> Option<&Known> {
        self.places.get(id).map(|&place| &self.known[place])
    }

    fn find_mut(&mut self, id: u64) -> Option<&mut Known> {
        self.places.get(id).map(|&place| &mut self.known[place])
    }
}

#[cold]
fn unknown(Whereabouts { job, rank }: Whereabouts) -> Error {
    Error::new(ErrorClass::Other, format!("rank {rank} of job {job:016x} is not known here"))
}
