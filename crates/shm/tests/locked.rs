//! A program that locks all its memory, and may not lock more, meets another job. A process of its own, as it all is
//! locked.

use std::io;

use oxmpi_shm::{Guest, Job};

/// Takes the right from the calling thread to lock as much as it likes, if it has that.
fn lock_no_more_than(bytes: u64) {
    const VERSION_3: u32 = 0x2008_0522;
    const IPC_LOCK: u32 = 14;
    let mut header = [VERSION_3, 0];
    let mut sets = [0_u32; 6]; // what is effective, permitted, inheritable, and twice as many bits
    // SAFETY: the header can be read and the sets be written.
    assert_eq!(unsafe { libc::syscall(libc::SYS_capget, header.as_mut_ptr(), sets.as_mut_ptr()) }, 0);
    sets[0] &= !(1 << IPC_LOCK);
    // SAFETY: both can be read.
    assert_eq!(unsafe { libc::syscall(libc::SYS_capset, header.as_mut_ptr(), sets.as_ptr()) }, 0);
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit can be written.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &raw mut limit) }, 0);
    // Not everybody may raise it.
    limit.rlim_cur = limit.rlim_max.min(bytes);
    // SAFETY: the limit can be read.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit) }, 0);
}

#[test]
fn a_job_that_cannot_be_given_up_where_memory_is_locked_stays() {
    let far = {
        let ticket = Job::within(1).expect("a segment").remove(0);
        Job::join(ticket).arena.take(1 << 20).expect("memory").offset
    };
    let job = Job::create(1).expect("a segment");
    let file = || job.file().try_clone_to_owned().expect("a descriptor");
    let guest = Guest::attach(file()).expect("a segment");
    let memory = guest.job().segment().region(far, 5).expect("it is in an arena");
    memory.write(b"hello");
    lock_no_more_than(1 << 19);
    // SAFETY: it touches no memory.
    assert_eq!(unsafe { libc::mlockall(libc::MCL_FUTURE) }, 0, "{}", io::Error::last_os_error());
    assert_eq!(guest.retire().expect_err("it may not").raw_os_error(), Some(libc::EAGAIN));
    // SAFETY: as above.
    assert_eq!(unsafe { libc::munlockall() }, 0);
    assert_eq!(memory.to_vec(), b"hello");
    let guest = Guest::attach(file()).expect("a segment");
    guest.retire().expect("it may");
}
