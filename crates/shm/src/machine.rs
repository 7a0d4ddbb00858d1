//! What the node offers this process.

use std::fs;

/// Processors that this process may use at the same time: its affinity mask, cut by a cgroup's quota.
///
/// At least 1. Read once at start-up; costs two small files.
pub fn usable_cpus() -> usize {
    let allowed = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    cgroup_quota().map_or(allowed, |quota| allowed.min(quota)).max(1)
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

/// Offers the processor to another rank that wants it.
#[inline]
pub fn yield_now() {
    rustix::thread::sched_yield();
}
