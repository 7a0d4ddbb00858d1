//! A rank's seat in its job: who has it, and who may have it next.
//!
//! A seat is claimed when MPI is initialised, once. What says that its owner lives is a lock on a byte of the segment's
//! file (a POSIX record lock): the system takes it away with the process, however that ends, the process's children
//! do not inherit it, and whoever asks is told a process number of his own namespace, or that he cannot see it. The
//! number that a process has for itself says none of this.
//!
//! While the owner lives nobody else gets the seat. An owner that has finalized and gone may have a successor, as in
//! `mpiexec sh -c 'a && b'`: the successors of all ranks are the next *round* of the job.
//!
//! The lock goes when its process closes any descriptor of the file: a process that has claimed a seat closes none.
//!
//! Who has claimed a seat has a [`Ticket`], for which the ends of everything are given out, once: whatever becomes of
//! the lock, nobody in this process sends by the same rings or gives out the same memory.

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::process;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Job;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// What a seat looks like in the segment.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Seat {
    /// A random number of the last owner's; 0 if there was none.
    owner: AtomicU64,
    /// Where its process has that number in its own memory.
    proof: AtomicU64,
    /// How many owners it had before the last.
    round: AtomicU32,
    /// The round for which the rank's part of the segment is clear.
    clear: AtomicU32,
}

/// What a process can be recognised by: a random number that it has at an address, where other processes have
/// something else or nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    pub address: u64,
    pub number: u64,
}

/// A seat that this process has claimed, and not taken yet: see [`Job::join`].
///
/// There are no two of a seat, so that there are no two who have taken it:
///
/// ```compile_fail,E0382
/// # use oxmpi_shm::{Job, Ticket};
/// fn join_twice(ticket: Ticket) {
///     let member = Job::join(ticket);
///     let another = Job::join(ticket);
/// }
/// ```
#[derive(Debug)]
#[must_use = "a seat that was claimed cannot be given up"]
pub struct Ticket {
    job: Job,
    rank: usize,
    round: u32,
    key: Key,
}

/// A seat: the device and the number of the segment's file, and the rank. Not what the segment says of itself, where
/// others write.
type Key = (u64, u64, usize);

/// The seats of which this process has a ticket, or has taken.
static HELD: Mutex<Vec<Key>> = Mutex::new(Vec::new());

/// What a claim to a seat comes to.
#[derive(Debug)]
pub enum Claim {
    /// The last owner is gone, and was in MPI to the end.
    Deserted,
    /// This process has the seat already.
    Here,
    /// A process has it that lives: its number, or 0 if it cannot be seen from here.
    Occupied(u32),
    /// It is this process's.
    Taken(Ticket),
}

impl Ticket {
    /// That of a seat which is yet to be claimed; none if this process has one, or had and has used it.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn reserve(job: Job, rank: usize) -> io::Result<Option<Self>> {
        let file = oxmpi_system::file::metadata(job.file())?;
        let key = (file.device, file.inode, rank);
        let mut held = held();
        if held.contains(&key) {
            return Ok(None);
        }
        held.push(key);
        Ok(Some(Self { job, rank, round: 0, key }))
    }

    /// That of a seat in a segment of this process alone, which has just been made: once for each rank.
    pub(crate) fn of_nobody_else(job: Job, rank: usize) -> Self {
        // No file has the number 0.
        Self { job, rank, round: 0, key: (std::ptr::from_ref(job.segment()).addr() as u64, 0, rank) }
    }

    /// The job.
    pub fn job(&self) -> Job {
        self.job
    }

    /// The rank there.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many processes have had the seat before.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The seat is held for ever.
    pub(crate) fn use_up(self) -> (Job, usize) {
        let used = ManuallyDrop::new(self);
        (used.job, used.rank)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        held().retain(|key| *key != self.key);
    }
}

fn held() -> MutexGuard<'static, Vec<Key>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seat {
    /// Claims the seat for this process. `has_left` says whether the last owner had left MPI.
    ///
    /// # Errors
    /// The system's, if there are no random numbers or no locks.
    pub(crate) fn claim(&self, mut ticket: Ticket, has_left: impl FnOnce() -> bool) -> io::Result<Claim> {
        let (job, rank) = (ticket.job, ticket.rank);
        let file = job.file();
        if let Some(pid) = owner(file, rank)? {
            return Ok(if pid == process::id() { Claim::Here } else { Claim::Occupied(pid) });
        }
        if !lock(file, rank)? {
            return Ok(Claim::Occupied(owner(file, rank)?.unwrap_or(0))); // it was faster
        }
        let proof: &'static u64 = Box::leak(Box::new(identity()?));
        let proof = Proof { address: ptr::from_ref(proof).expose_provenance() as u64, number: *proof };
        Ok(match self.take_over(proof, has_left) {
            Ok(round) => {
                ticket.round = round;
                Claim::Taken(ticket)
            }
            Err(claim) => claim,
        })
    }

    /// Makes who has this proof, and the lock, the owner: how many there were before.
    fn take_over(&self, proof: Proof, has_left: impl FnOnce() -> bool) -> Result<u32, Claim> {
        let before = self.owner.load(Ordering::Acquire); // pairs with the Release below
        if before != 0 && !has_left() {
            return Err(Claim::Deserted);
        }
        // Only copies of oxmpi in one process can both have come so far.
        if self.owner.compare_exchange(before, proof.number, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return Err(Claim::Here);
        }
        self.proof.store(proof.address, Ordering::Release); // pairs with the Acquire in `proof`
        let round = if before == 0 { 0 } else { self.round() + 1 };
        self.round.store(round, Ordering::Release); // pairs with the Acquire in `round`
        Ok(round)
    }

    /// Where the last owner's process has a number in its own memory, and which.
    pub(crate) fn proof(&self) -> Proof {
        let address = self.proof.load(Ordering::Acquire); // pairs with the Release in `claim`
        Proof { address, number: self.owner.load(Ordering::Acquire) }
    }

    /// How many owners the seat had before the last.
    pub(crate) fn round(&self) -> u32 {
        self.round.load(Ordering::Acquire) // pairs with the Release in `claim`
    }

    /// Says that nothing of earlier rounds is left in the rank's part of the segment.
    fn note_clear(&self, round: u32) {
        self.clear.store(round, Ordering::Release); // pairs with the Acquire in `is_clear`
    }

    fn is_clear(&self, round: u32) -> bool {
        self.clear.load(Ordering::Acquire) >= round // pairs with the Release in `note_clear`
    }
}

/// Begins a further round of a job, in the seat of a rank, together with the successors of all ranks: `seat` is that of
/// each. What earlier rounds have left is cleared when no process is there any more that could look at it; nobody goes
/// on before all of it is.
///
/// # Errors
/// Those of `clear`.
pub(crate) fn succeed<'a>(
    ranks: usize,
    seat: impl Fn(usize) -> &'a Seat,
    (rank, round): (usize, u32),
    clear: impl FnOnce() -> io::Result<()>,
) -> io::Result<()> {
    wait_until(|| (0..ranks).all(|other| seat(other).round() >= round));
    clear()?;
    seat(rank).note_clear(round);
    wait_until(|| (0..ranks).all(|other| seat(other).is_clear(round)));
    Ok(())
}

/// The process that has the seat of `rank` and lives; 0 if it is there but cannot be seen from here.
///
/// # Errors
/// The system's, if it has no locks.
pub(crate) fn owner(file: BorrowedFd, rank: usize) -> io::Result<Option<u32>> {
    // The kind of lock that belongs to an open file: so a lock of this very process is in its way, too.
    let found = control(file, libc::F_OFD_GETLK, record(rank))?;
    let is_free = libc::c_int::from(found.l_type) == libc::F_UNLCK;
    Ok((!is_free).then(|| u32::try_from(found.l_pid).unwrap_or(0)))
}

fn lock(file: BorrowedFd, rank: usize) -> io::Result<bool> {
    match control(file, libc::F_SETLK, record(rank)) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn record(rank: usize) -> libc::flock {
    libc::flock {
        l_type: libc::F_WRLCK as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: rank as libc::off_t,
        l_len: 1,
        l_pid: 0,
    }
}

fn control(file: BorrowedFd, command: libc::c_int, mut record: libc::flock) -> io::Result<libc::flock> {
    // SAFETY: these commands read and write the one record, which is valid for the call.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut record) };
    if result == 0 { Ok(record) } else { Err(io::Error::last_os_error()) }
}

/// A number that no other process has: random, above 0, positive as a signed number.
///
/// # Errors
/// The system's.
pub(crate) fn identity() -> io::Result<u64> {
    Ok((u64::from_ne_bytes(oxmpi_system::random::bytes()?) >> 1).max(1))
}

/// Looks until `is_so`, more and more seldom: for what takes other processes milliseconds at least.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let mut pause = Duration::from_micros(50);
    while !is_so() {
        #[cfg(not(loom))]
        std::thread::sleep(pause);
        #[cfg(loom)]
        loom::thread::yield_now();
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    use super::*;
    use crate::sync::UnsafeCell;

    /// Two seats, and for each what the system does for it and what belongs to its rank.
    struct Shared([Place; 2]);

    struct Place {
        seat: Seat,
        /// The record lock: its owner has it as long as it lives.
        lock: Mutex<()>,
        /// The rank's part of the segment, which others use too.
        part: UnsafeCell<u32>,
    }

    /// Both seats have had an owner that has left MPI. What those used is there still.
    fn shared() -> Arc<Shared> {
        let place = || {
            let [owner, proof] = [1, 0].map(AtomicU64::new);
            let [round, clear] = [0, 0].map(AtomicU32::new);
            let seat = Seat { owner, proof, round, clear };
            Place { seat, lock: Mutex::new(()), part: UnsafeCell::new(7) }
        };
        Arc::new(Shared([place(), place()]))
    }

    impl Shared {
        fn take_over(&self, rank: usize) -> u32 {
            let proof = Proof { address: 0, number: 2 + rank as u64 };
            self.0[rank].seat.take_over(proof, || true).expect("who was there has left")
        }

        /// A process that begins the next round, and uses the other's part when that has begun.
        fn succeed(&self, rank: usize) {
            let _alive = self.0[rank].lock.lock().expect("nobody panics");
            let round = self.take_over(rank);
            let clear = || {
                // SAFETY: loom checks that nobody else uses it: that is what the test is about.
                self.0[rank].part.with_mut(|part| unsafe { *part = 0 });
                Ok(())
            };
            succeed(2, |other| &self.0[other].seat, (rank, round), clear).expect("it is clear");
            // SAFETY: as above.
            self.0[1 - rank].part.with(|part| assert_eq!(unsafe { *part }, 0, "it is clear"));
        }
    }

    /// The last process of the first rank still looks at what the second one had when that one's successor is there.
    #[test]
    fn nobody_clears_what_another_uses_or_uses_what_is_not_clear() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(3);
        model.check(|| {
            let shared = shared();
            let alive = shared.0[0].lock.lock().expect("nobody panics");
            let successors = [0, 1].map(|rank| {
                let shared = shared.clone();
                thread::spawn(move || shared.succeed(rank))
            });
            // SAFETY: as in `succeed`.
            shared.0[1].part.with(|part| assert_eq!(unsafe { *part }, 7, "it was in use"));
            drop(alive);
            successors.into_iter().for_each(|thread| thread.join().expect("nobody panics"));
        });
    }
}
