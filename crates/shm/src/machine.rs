//! What the node offers this process.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use oxmpi_system::thread::CpuSet;

use crate::cgroup;

/// Processors that this process may use at the same time: its affinity mask, cut by a cgroup's quota.
///
/// At least 1. Read once at start-up; costs two small files.
pub fn usable_cpus() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    // That one looks at no mask where there may be more than 1024 processors.
    let bound = CpuSet::of_this_thread().map_or(allowed, |set| set.count());
    [Some(bound), cgroup_quota()].into_iter().flatten().fold(allowed, usize::min).max(1)
}

/// The quota of the cgroup at the root of what this process sees, in whole processors, rounded up.
///
/// `available_parallelism` follows the process's own group; inside a container that one is the root.
fn cgroup_quota() -> Option<usize> {
    let text = fs::read_to_string("/sys/fs/cgroup/cpu.max").ok()?;
    let (quota, period) = text.trim().split_once(' ')?;
    let (quota, period): (u64, u64) = (quota.parse().ok()?, period.parse().ok()?);
    usize::try_from(quota.div_ceil(period.max(1))).ok()
}

/// So much one of so many ranks writes before it writes again where it began, so that who has read that has it no more
/// in a cache of its own: twice as much as the second cache holds, shared by the other ranks.
pub(crate) fn round_bytes(ranks: usize) -> usize {
    let share = (2 * own_cache_bytes() / ranks.saturating_sub(1).max(1)).clamp(LEAST_ROUND, MOST_ROUND);
    1 << share.ilog2()
}

const LEAST_ROUND: usize = 256 << 10;
const MOST_ROUND: usize = 8 << 20;

/// So much two may write in turn in one place, each of which finds in its own cache still what it has read there: a
/// quarter of that, beside what comes and goes by way of it.
pub fn turn_bytes() -> u64 {
    (own_cache_bytes() as u64 / 4).clamp(LEAST_TURN, MOST_TURN)
}

const LEAST_TURN: u64 = 64 << 10;
const MOST_TURN: u64 = 512 << 10;

/// The second cache of a processor.
fn own_cache_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| own_cache_told().unwrap_or(1 << 20))
}

/// The second cache of the first processor, as the system tells it.
fn own_cache_told() -> Option<usize> {
    let text = fs::read_to_string("/sys/devices/system/cpu/cpu0/cache/index2/size").ok()?;
    let kibibytes: usize = text.trim().strip_suffix('K')?.parse().ok()?;
    kibibytes.checked_mul(1 << 10)
}

/// Memory of the node, used or not.
pub(crate) fn memory_bytes() -> u64 {
    if cfg!(miri) {
        return 4 << 30; // it cannot ask
    }
    oxmpi_system::limits::memory_bytes()
}

/// Memory that processes on the node may use together: as far as cgroups leave it to them. Costs some small files.
pub fn node_memory_bytes() -> u64 {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    cgroup::memory_limit(Path::new("/sys/fs/cgroup"), &groups)
        .map_or(memory_bytes(), |limit| limit.min(memory_bytes()))
}

/// Whether the address space of this process is limited (`ulimit -v`).
pub fn has_narrow_address_space() -> bool {
    !cfg!(miri) && oxmpi_system::limits::address_space_bytes().is_some()
}

/// Offers the processor to another rank that wants it.
#[inline]
pub fn yield_now() {
    std::thread::yield_now();
}

/// Nanoseconds since the machine started.
#[inline]
pub fn now_ns() -> u64 {
    oxmpi_system::time::now_ns()
}

/// Time that all threads of a process have had a processor, in nanoseconds; `None` if that cannot be seen from here.
pub(crate) fn processor_time_ns(pid: u32) -> Option<u64> {
    let pid = libc::pid_t::try_from(pid).ok().filter(|&pid| pid != 0)?;
    let mut clock = 0;
    // SAFETY: `clock` is written before the call returns.
    let failure = unsafe { libc::clock_getcpuclockid(pid, &raw mut clock) };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is written before the call returns.
    if failure != 0 || unsafe { libc::clock_gettime(clock, &raw mut time) } != 0 {
        return None;
    }
    Some(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

/// How long a thread that could have run has waited for a processor, as the system counts it.
#[derive(Debug)]
pub struct ProcessorQueue {
    /// None where the system does not count.
    counts: Option<File>,
    /// What has been told.
    told: AtomicU64,
}

impl ProcessorQueue {
    /// That of the thread that calls.
    pub fn of_this_thread() -> Self {
        let queue = Self { counts: File::open("/proc/thread-self/schedstat").ok(), told: AtomicU64::new(0) };
        queue.waited_ns();
        queue
    }

    /// Nanoseconds since this was asked last; 0 where they are not counted. Costs a system call.
    pub fn waited_ns(&self) -> u64 {
        let mut text = [0; 64];
        let length = self.counts.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()).unwrap_or(0);
        // Time on a processor, time in the queue, number of turns.
        let line = str::from_utf8(&text[..length]).unwrap_or_default();
        let total = line.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        total - self.told.swap(total, Ordering::Relaxed).min(total)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::process;

    use super::*;

    #[test]
    fn the_processor_time_of_a_process_grows_as_it_computes() {
        let time = || processor_time_ns(process::id()).expect("it is this process");
        let begin = time();
        while time() < begin + 1_000_000 {}
    }

    #[test]
    fn a_process_that_cannot_be_seen_has_no_time() {
        assert_eq!(processor_time_ns(0), None);
        assert_eq!(processor_time_ns(u32::MAX), None);
    }
}
