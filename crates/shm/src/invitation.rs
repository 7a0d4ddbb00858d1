//! How a process finds the job that its launcher has made, and its seat there: by the variables that it was started
//! with, which programs in between may have handed on.

use std::fs::{self, File};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::{io, iter};

use oxmpi_system::file;

use crate::seat::{self, Claim};
use crate::segment::shows_segment;
use crate::{Job, Phase, Ticket, lifeline};

/// What a process finds in its environment.
#[derive(Debug)]
pub enum Invitation {
    /// No launcher has started it.
    None,
    /// Another process that lives has the seat: it has started this one, which is not of the job.
    Occupied {
        /// The rank that the seat is of.
        rank: usize,
        /// The process that has it, or 0 if it cannot be seen from here.
        pid: u32,
    },
    /// A seat in a job, which is this process's now.
    Seat(Ticket),
}

impl Job {
    /// The seat that the launcher has given this process, claimed for it.
    ///
    /// # Errors
    /// `InvalidData` if the environment is damaged; `AlreadyExists` if this process has the seat already, by another
    /// copy of oxmpi; `ConnectionReset` if the seat's last owner died in MPI; those of [`Job::attach`].
    pub fn inherited() -> io::Result<Invitation> {
        let Some(fd) = number_from_environment("OXMPI_JOB_FD")? else { return Ok(Invitation::None) };
        let Some(rank) = number_from_environment("OXMPI_LOCAL_RANK")? else { return Ok(Invitation::None) };
        let (job, is_inherited) = Self::of_launcher(fd)?;
        let rank = usize::try_from(rank).ok().filter(|&rank| rank < job.size()).ok_or_else(|| {
            let text =
                format!("OXMPI_LOCAL_RANK is {rank}, but the node has {} ranks of the job", job.size());
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?;
        let lifeline = lifeline::inherited()?;
        let ticket = match job.claim(rank)? {
            Claim::Occupied(pid) => return Ok(Invitation::Occupied { rank, pid }),
            Claim::Here => return Err(joined_before(rank)),
            Claim::Deserted => return Err(deserted(rank)),
            Claim::Taken(ticket) => ticket,
        };
        // What else has their numbers is the program's own.
        let job_fd = is_inherited.then_some(fd);
        [job_fd, lifeline].into_iter().flatten().for_each(keep_from_children);
        // Before the other ranks' successors are waited for: the launcher may die meanwhile.
        if let Some(lifeline) = lifeline {
            lifeline::arm(lifeline);
        }
        if ticket.round() > 0 {
            job.succeed(rank, ticket.round())?;
        }
        Ok(Invitation::Seat(ticket))
    }

    /// The job that this process's environment names: by the descriptor that it has inherited, or, where a program in
    /// between has closed that, by the same one of an ancestor: the launcher has it, and so has a rank. And whether it
    /// is the first.
    fn of_launcher(fd: u64) -> io::Result<(Self, bool)> {
        let id = number_from_environment("OXMPI_JOB_ID")?;
        let own = |file| {
            let job = Self::attach(file)?;
            let is_it = id.is_none_or(|id| id == job.id());
            let text = "the descriptor is that of another job";
            is_it.then_some(job).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, text))
        };
        let theirs = |pid| {
            let path = format!("/proc/{pid}/fd/{fd}");
            // To open another file may be felt: by a device, or by who waits at a pipe.
            if !shows_segment(&fs::read_link(&path).ok()?) {
                return None;
            }
            own(File::options().read(true).write(true).open(path).ok()?.into()).ok()
        };
        let inherited = inherited_file(fd, file::keeps_size).and_then(own);
        inherited.map(|job| (job, true)).or_else(|error| {
            let job = ancestors().find_map(theirs).ok_or_else(|| {
                let text = format!("descriptor {fd}: {error}; no program that this one descends from has it");
                io::Error::new(error.kind(), text)
            })?;
            Ok((job, false))
        })
    }

    /// Begins a further round of the job together with the successors of all ranks.
    fn succeed(&self, rank: usize, round: u32) -> io::Result<()> {
        self.state(rank).set_phase(Phase::Outside);
        seat::succeed(self.size(), |other| &self.state(other).seat, (rank, round), || self.clear(rank))
    }
}

#[cold]
fn joined_before(rank: usize) -> io::Error {
    let text = format!(
        "this process is rank {rank} already, by another copy of oxmpi in it; Rust and C in one \
         program share one if the crate is built with its feature `c`"
    );
    io::Error::new(io::ErrorKind::AlreadyExists, text)
}

#[cold]
fn deserted(rank: usize) -> io::Error {
    let text = format!("the process that was rank {rank} before has ended without MPI_Finalize");
    io::Error::new(io::ErrorKind::ConnectionReset, text)
}

pub(crate) fn number_from_environment(name: &str) -> io::Result<Option<u64>> {
    let Some(text) = std::env::var_os(name) else { return Ok(None) };
    match text.to_str().and_then(|text| text.parse().ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, format!("{name} is {text:?}, not a number"))),
    }
}

/// A descriptor of this process's own for one that it was left under a number, which is handed on to nobody any more.
/// That one stays open. It is left alone if it is not that: others may have opened something by this number.
///
/// # Errors
/// The system's, if it is not open; `InvalidData` if it is not what was left.
pub fn take_inherited(number: u64, is_it: impl FnOnce(BorrowedFd<'_>) -> bool) -> io::Result<OwnedFd> {
    let own = inherited_file(number, is_it)?;
    keep_from_children(number);
    Ok(own)
}

/// A descriptor of our own for the one that the launcher let us inherit. That one stays open: to close it would give
/// the seat up. Of what is the program's own there is none, not even for a moment: to close that would give up what the
/// process has locked in the file.
fn inherited_file(fd: u64, is_it: impl FnOnce(BorrowedFd<'_>) -> bool) -> io::Result<OwnedFd> {
    let other = |text| io::Error::new(io::ErrorKind::InvalidData, text);
    let fd = i32::try_from(fd).map_err(|_| other("no such descriptor"))?;
    // SAFETY: the descriptor is only borrowed for the calls; if it is not open they say so.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    file::metadata(borrowed)?;
    if is_it(borrowed) { borrowed.try_clone_to_owned() } else { Err(other("something else has this number")) }
}

/// The processes that this one descends from, as far as they can be seen from here.
fn ancestors() -> impl Iterator<Item = u32> {
    const MOST: usize = 100; // against numbers that change while they are read
    let parent = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name before may hold anything: the state follows its last parenthesis, then the parent.
        stat.rsplit(')').next()?.split_whitespace().nth(1)?.parse().ok().filter(|&pid| pid != 0)
    };
    iter::successors(Some(std::os::unix::process::parent_id()).filter(|&pid| pid != 0), parent).take(MOST)
}

/// What this process starts is not of the job, and need not hold what belongs to it.
fn keep_from_children(fd: u64) {
    let Ok(fd) = i32::try_from(fd) else { return };
    // SAFETY: the call changes what becomes of a descriptor in other programs; on one that is not open it fails.
    unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::ring::RingSize;

    #[test]
    fn a_further_round_finds_its_part_as_it_was_at_first() {
        let first = Job::within(1).expect("a segment").remove(0);
        let job = first.job();
        let mut member = Job::join(first);
        let block = member.arena.take(8).expect("memory");
        job.segment().region(block.offset, 5).expect("inside").write(b"hello");
        job.rings(0).show(0, job.rings(0).place(block, RingSize::SMALL, 0));
        job.knocks(0).knock(0);
        job.succeed(0, 0).expect("memory");
        assert!(job.rings(0).first(0).is_none() && !job.doorway(0).is_waiting());
        job.knocks(0).take(|_| panic!("nobody has knocked in this round"));
        assert_eq!(job.segment().region(block.offset, 5).expect("inside").to_vec(), [0; 5]);
    }
}
