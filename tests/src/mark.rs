//! A mark on all processes of some jobs, by which those are found that are left.

use std::fs;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Job;

/// A variable in the environment that processes inherit. What they share has no names, and is left only if they are.
#[derive(Debug)]
pub struct Mark(String);

const VARIABLE: &str = "OXMPI_TEST_MARK";

/// How long the last processes may take to vanish.
const PATIENCE: Duration = Duration::from_secs(20);

impl Mark {
    /// One that nothing else has.
    #[expect(clippy::new_without_default, reason = "no two are equal")]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Self(format!("{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// A name that nothing else has, for a service.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Marks all that a job will consist of.
    pub fn on(&self, job: Job) -> Job {
        job.env(VARIABLE, &self.0)
    }

    /// Checks that no process is left.
    ///
    /// # Panics
    /// If one is, for long.
    pub fn is_gone(&self) {
        let begin = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "left are {left:?}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// What bears the mark: numbers and names of processes.
    fn processes(&self) -> Vec<String> {
        let mark = format!("{VARIABLE}={}\0", self.0);
        let bears_mark = |entry: &fs::DirEntry| {
            let variables = fs::read(entry.path().join("environ")).unwrap_or_default();
            variables.windows(mark.len()).any(|window| window == mark.as_bytes())
        };
        let name = |entry: fs::DirEntry| {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            format!("{} {}", entry.file_name().to_string_lossy(), name.trim())
        };
        let entries = fs::read_dir("/proc").expect("/proc").flatten();
        entries.filter(bears_mark).map(name).collect()
    }
}
