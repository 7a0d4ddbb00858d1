//! Copying straight out of a peer's memory, where the system lets us and it is the faster way.
//!
//! `process_vm_readv` saves the copy into the segment but pays a system call and a walk over the peer's pages.
//! Containers often forbid it, so nothing is assumed: a word is really read from the peer first.

use oxmpi_mem::Region;

/// The right to read a peer's memory, found out by doing it.
#[derive(Clone, Copy, Debug)]
pub struct SingleCopy {
    pid: libc::pid_t,
}

impl SingleCopy {
    /// Tries to read the word at `address` of process `pid`, which must turn out to be `expected`.
    pub fn probe(pid: u32, address: u64, expected: u64) -> Option<Self> {
        let candidate = Self { pid: libc::pid_t::try_from(pid).ok()? };
        let mut word = [0u8; 8];
        // SAFETY: `word` is exclusively ours for the life of the region.
        let region = unsafe { Region::claim(word.as_mut_ptr(), word.len()) };
        (candidate.read(address, &region) && u64::from_ne_bytes(word) == expected).then_some(candidate)
    }

    /// Reads the peer's bytes from `address` into `into`, all of them; false if the system refuses.
    pub fn read(&self, address: u64, into: &Region) -> bool {
        let mut done = 0;
        while done < into.len() {
            let rest = into.part(done, into.len() - done);
            let local = libc::iovec { iov_base: rest.as_ptr().cast(), iov_len: rest.len() };
            let from = (address as usize).wrapping_add(done) as *mut libc::c_void;
            let remote = libc::iovec { iov_base: from, iov_len: rest.len() };
            // SAFETY: the system writes to `rest`, which is claimed, and checks the peer's addresses itself.
            let copied =
                unsafe { libc::process_vm_readv(self.pid, &raw const local, 1, &raw const remote, 1, 0) };
            match usize::try_from(copied) {
                Ok(copied) if copied > 0 => done += copied,
                _ => return false,
            }
        }
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_word_is_no_proof() {
        let word = 0x1234_5678_9abc_def0u64;
        let address = std::ptr::from_ref(&word).addr() as u64;
        assert!(SingleCopy::probe(std::process::id(), address, !word).is_none());
        // The right one proves it wherever the system allows a process to read itself.
        if let Some(copy) = SingleCopy::probe(std::process::id(), address, word) {
            let mut target = [0u8; 8];
            // SAFETY: `target` is used only through the region until the read is over.
            let region = unsafe { Region::claim(target.as_mut_ptr(), 8) };
            assert!(copy.read(address, &region));
            assert_eq!(u64::from_ne_bytes(target), word);
        }
    }
}
