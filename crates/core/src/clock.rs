//! Time and place.
//!
//! MPI-5.0: MPI Environmental Management, Timers and Synchronization; Implementation Information.

use std::fs;

/// Seconds since the machine started, as far as its clock tells.
pub fn wall_time() -> f64 {
    oxmpi_system::time::now_ns() as f64 * wall_tick()
}

/// Resolution of [`wall_time`], in seconds.
pub const fn wall_tick() -> f64 {
    1e-9
}

/// Name of the machine.
pub fn processor_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { "localhost".to_owned() } else { name.trim().to_owned() }
}
