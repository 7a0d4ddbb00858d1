//! Jobs that come and go leave nothing in a process that meets them. A process of its own, as it looks at all of it.

use std::fs;
use std::os::fd::OwnedFd;

use oxmpi_shm::{Claim, Guest, Job, Phase};
use rustix::fs::{MemfdFlags, SealFlags};

/// A segment like that of `job`, which this process has not mapped: the same beginning, and nothing else.
fn like(job: Job, seals: SealFlags) -> OwnedFd {
    let mut header = [0; 4096];
    rustix::io::pread(job.file(), &mut header, 0).expect("it is long");
    let file = rustix::fs::memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let file = file.expect("a file");
    let bytes = rustix::fs::fstat(job.file()).expect("a file").st_size.cast_unsigned();
    rustix::fs::ftruncate(&file, bytes).expect("sparse");
    rustix::fs::fcntl_add_seals(&file, seals).expect("seals");
    rustix::io::pwrite(&file, &header, 0).expect("room");
    file
}

/// Mappings, their bytes, bytes of memory, and descriptors of this process.
fn used() -> (usize, usize, usize, usize) {
    let mappings = fs::read_to_string("/proc/self/maps").expect("/proc").lines().count();
    let pages = fs::read_to_string("/proc/self/statm").expect("/proc");
    let mut pages = pages.split(' ').map(|word| word.parse::<usize>().expect("a number") * 4096);
    let files = fs::read_dir("/proc/self/fd").expect("/proc").count();
    (mappings, pages.next().expect("all"), pages.next().expect("in memory"), files)
}

/// Meets a job like `job`, and uses a megabyte of memory at `far`.
fn meet(job: Job, far: u64, round: u16) {
    let guest = Guest::attach(like(job, SealFlags::SHRINK | SealFlags::GROW)).expect("it is well-formed");
    let other = guest.job();
    assert_eq!(
        (other.id(), other.size(), other.state(1).call()),
        (job.id(), 2, 0),
        "nothing of earlier ones"
    );
    other.state(1).set_call(round);
    let memory = other.segment().region(far, 1 << 20).expect("it is in an arena");
    assert_eq!(memory.part(5, 2).to_vec(), [0; 2]);
    memory.write(&[1; 1 << 20]);
    memory.part(5, 2).write(&round.to_ne_bytes());
    let state = other.state(1);
    guest.retire().expect("room");
    assert_eq!((state.call(), state.phase(), memory.part(5, 2).to_vec()), (0, Phase::Outside, vec![0; 2]));
    assert_eq!((other.id(), other.owner(1)), (0, None));
}

#[test]
fn a_thousand_jobs_one_after_the_other_cost_what_one_does() {
    let job = Job::create(2).expect("a segment");
    let Ok(Claim::Taken(ticket)) = job.claim(1) else { panic!("nobody has it") };
    let far = Job::join(ticket).arena.take(1 << 20).expect("memory").offset;
    (1..20).for_each(|round| meet(job, far, round));
    let before = used();
    (1..1000).for_each(|round| meet(job, far, round));
    let after = used();
    assert_eq!((after.0, after.1, after.3), (before.0, before.1, before.3));
    assert!(after.2 < before.2 + (1 << 20), "{} bytes in memory, then {}", before.2, after.2);

    for seals in [SealFlags::empty(), SealFlags::GROW, SealFlags::SHRINK] {
        Guest::attach(like(job, seals)).expect_err("it may change its size");
    }

    // The same of jobs that this process makes for others.
    let make = |round| {
        let made = Job::create(3).expect("a segment");
        assert_eq!((made.size(), made.state(2).call()), (3, 0), "nothing of earlier ones");
        made.state(2).set_call(round);
        Guest::of(made).retire().expect("room");
    };
    (1..20).for_each(make);
    let before = used();
    (1..200).for_each(make);
    let after = used();
    assert_eq!((after.0, after.1, after.3), (before.0, before.1, before.3));

    Guest::of(job).retire().expect_err("this process has a seat there");
    let own = job.file().try_clone_to_owned().expect("a descriptor");
    Guest::attach(own).expect_err("it is this process's own");
    assert_eq!(job.owner(1), Some(std::process::id()), "the seat was not given up");
}
