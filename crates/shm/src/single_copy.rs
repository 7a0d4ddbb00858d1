//! Copying straight out of a peer's memory, where the system lets us and it is the faster way.
//!
//! `process_vm_readv` saves the copy into the segment but pays a system call and a walk over the peer's pages.
//! Containers often forbid it, so nothing is assumed: whether it works is known after the first read.

use oxmpi_mem::Region;

/// A peer whose memory may be readable.
#[derive(Clone, Copy, Debug)]
pub struct SingleCopy {
    pid: libc::pid_t,
}

impl SingleCopy {
    /// A candidate, of the process number that it has here; none if that is 0. Whether the system lets us is known
    /// after the first [`SingleCopy::read`].
    pub fn new(pid: u32) -> Option<Self> {
        let pid = libc::pid_t::try_from(pid).ok().filter(|&pid| pid > 0)?;
        Some(Self { pid })
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
    fn a_process_that_is_not_there_is_refused() {
        let mut word = [0u8; 8];
        // SAFETY: `word` is used only through the region until the read is over.
        let region = unsafe { Region::claim(word.as_mut_ptr(), word.len()) };
        let nobody = SingleCopy::new(i32::MAX.cast_unsigned()).expect("a possible number");
        assert!(!nobody.read(std::ptr::from_ref(&word).addr() as u64, &region));
    }
}
