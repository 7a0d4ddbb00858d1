//! Processes that ranks have started and left alone: the launcher inherits them instead of the system's init.
//!
//! So that those that left their rank's process group and session are found at the end of a job, and none stays a
//! zombie where init is a program that buries nobody, as in many containers.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

/// How long killed processes may take to vanish; some wait for a disk that does not answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// Makes the launcher inherit orphans of its descendants.
///
/// # Errors
/// The system's.
pub fn inherit() -> std::io::Result<()> {
    Ok(rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?)
}

/// Buries orphans that have ended. `own` are children that are none.
pub fn bury(own: &[Pid]) {
    for orphan in orphans(own) {
        let _ = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
    }
}

/// Kills and buries all orphans, and those that become orphans thereby. `own` are children that are none.
pub fn kill(own: &[Pid]) {
    let end = Instant::now() + PATIENCE;
    loop {
        let orphans = orphans(own);
        if orphans.is_empty() || Instant::now() > end {
            return;
        }
        for &orphan in &orphans {
            let _ = rustix::process::kill_process(orphan, Signal::KILL);
        }
        let is_left =
            |&pid: &Pid| matches!(rustix::process::waitpid(Some(pid), WaitOptions::NOHANG), Ok(None));
        if orphans.iter().any(is_left) {
            thread::sleep(Duration::from_micros(200));
        }
    }
}

/// The launcher's children that are not its `own`; none if the kernel does not tell.
fn orphans(own: &[Pid]) -> Vec<Pid> {
    let pid = rustix::process::getpid().as_raw_nonzero();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let pids = children.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?));
    pids.filter(|pid| !own.contains(pid) && is_child(*pid)).collect()
}

/// Whether this process has such a child: `/proc` may be that of other processes, which have the same numbers.
fn is_child(pid: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    rustix::process::waitid(WaitId::Pid(pid), options).is_ok()
}
