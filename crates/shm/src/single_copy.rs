//! Copying straight out of a peer's memory, where the system lets us and it is the faster way.
//!
//! `process_vm_readv` saves the copy into the segment but pays a system call and a walk over the peer's pages.
//! Containers often forbid it, so nothing is assumed: whether it works is known after the first read.
//!
//! All that names the peer to the system is a process number. Between containers it may mean another process, and
//! when the peer has died it may be used again. So each process shows where it has a random number, and each read
//! reads that too: what comes from a process that has not the number there is no message.

use oxmpi_mem::Region;

use crate::Job;
use crate::seat::Proof;

/// A peer whose memory may be readable.
#[derive(Clone, Copy, Debug)]
pub struct SingleCopy {
    pid: libc::pid_t,
    proof: Proof,
}

impl SingleCopy {
    /// The process that has the seat of `rank`; none if it cannot be seen from here, or not be read. Costs two system
    /// calls.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn of(job: &Job, rank: usize) -> Option<Self> {
        let pid = libc::pid_t::try_from(job.owner(rank)?).ok().filter(|&pid| pid > 0)?;
        let candidate = Self { pid, proof: job.state(rank).seat.proof() };
        (candidate.read_some(0, &Region::EMPTY) == Some(0)).then_some(candidate)
    }

    /// Reads the peer's bytes from `address` into `into`, all of them; false if the system refuses, or it is another
    /// process. Then what is in `into` is unspecified.
    pub fn read(&self, address: u64, into: &Region) -> bool {
        let mut done = 0;
        while done < into.len() {
            let rest = into.part(done, into.len() - done);
            match self.read_some(address.wrapping_add(done as u64), &rest) {
                Some(bytes) if bytes > 0 => done += bytes,
                _ => return false,
            }
        }
        true
    }

    /// Reads the proof and the beginning of what is wanted, at once: both from the same process. How many bytes of the
    /// latter, if it is the peer.
    fn read_some(&self, address: u64, into: &Region) -> Option<usize> {
        const PROOF_BYTES: usize = size_of::<u64>();
        let piece = |base: *mut u8, bytes| libc::iovec { iov_base: base.cast(), iov_len: bytes };
        let there = |address: u64| address as usize as *mut u8;
        let mut number = 0u64;
        let local = [piece((&raw mut number).cast(), PROOF_BYTES), piece(into.as_ptr(), into.len())];
        let remote = [piece(there(self.proof.address), PROOF_BYTES), piece(there(address), into.len())];
        let (local, remote) = (local.as_ptr(), remote.as_ptr());
        // SAFETY: the system writes to `number` and to what `into` claims, and checks the peer's addresses itself.
        let copied = unsafe { libc::process_vm_readv(self.pid, local, 2, remote, 2, 0) };
        let bytes = usize::try_from(copied).ok()?.checked_sub(PROOF_BYTES)?;
        (number == self.proof.number).then_some(bytes)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::fs;
    use std::process::{Child, Command};

    use super::*;

    /// A process of another program, until the end of a test.
    struct Other(Child);

    impl Other {
        fn start() -> Self {
            Self(Command::new("sleep").arg("60").spawn().expect("a program"))
        }

        /// An address at which it has something.
        fn used_address(&self) -> u64 {
            let maps = fs::read_to_string(format!("/proc/{}/maps", self.0.id())).expect("its mappings");
            let stack = maps.lines().find(|line| line.contains("[stack]")).expect("it has a stack");
            let (_, end) = stack.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
            u64::from_str_radix(end, 16).expect("a number") - 64
        }
    }

    impl Drop for Other {
        fn drop(&mut self) {
            self.0.kill().and_then(|()| self.0.wait()).expect("it is ours");
        }
    }

    fn reads(copy: &SingleCopy, word: &u64) -> Option<u64> {
        let mut found = 0u64;
        // SAFETY: `found` is used only through the region until the read is over.
        let region = unsafe { Region::claim((&raw mut found).cast(), size_of::<u64>()) };
        copy.read(std::ptr::from_ref(word).addr() as u64, &region).then_some(found)
    }

    fn of_this_process() -> Option<SingleCopy> {
        let job = Job::within(1).expect("a segment").remove(0).job();
        SingleCopy::of(&job, 0) // none where the system does not know the call
    }

    #[test]
    fn the_process_that_has_the_seat_is_read() {
        if let Some(copy) = of_this_process() {
            assert_eq!(reads(&copy, &42), Some(42));
        }
    }

    #[test]
    fn a_process_that_is_not_there_is_refused() {
        let proof = Proof { address: std::ptr::from_ref(&0u64).addr() as u64, number: 0 };
        assert_eq!(reads(&SingleCopy { pid: i32::MAX, proof }, &42), None);
    }

    #[test]
    fn a_process_that_has_not_the_number_is_refused() {
        let Some(copy) = of_this_process() else { return };
        let other = Other::start();
        let pid = other.0.id().cast_signed();
        assert_eq!(reads(&SingleCopy { pid, ..copy }, &42), None, "nothing is there, or something else");
        // There is something else, and it can be read.
        let address = other.used_address();
        let proof = Proof { address, ..copy.proof };
        let wrong = SingleCopy { pid, proof };
        assert_eq!(wrong.read_some(address, &Region::EMPTY), None);
        // A number that has changed hands between two reads.
        let proof = Proof { number: copy.proof.number ^ 1, ..copy.proof };
        assert_eq!(reads(&SingleCopy { proof, ..copy }, &42), None);
    }
}
