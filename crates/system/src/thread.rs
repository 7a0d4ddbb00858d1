//! Threads: where they run, what they sleep on, and the barriers that they make each other pass.

use std::sync::atomic::AtomicU32;
use std::time::Duration;
use std::{env, fs, io};

use crate::check;
use crate::time::timespec;

/// A thread, by its number in the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadId(libc::pid_t);

impl ThreadId {
    /// That of the caller.
    pub fn of_this_thread() -> Self {
        // SAFETY: it asks for a number.
        Self(unsafe { libc::gettid() })
    }
}

/// Sets a variable of the environment, unless there are other threads, which may be reading it; whether it did.
///
/// # Panics
/// As [`env::set_var`].
pub fn set_variable(name: &str, value: &str) -> bool {
    let is_single = fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    if is_single {
        // SAFETY: nobody else looks at the environment meanwhile: there is this thread alone, and only it could make
        // another one.
        unsafe { env::set_var(name, value) };
    }
    is_single
}

/// Whether the process may have another thread than the caller, but for those of this name.
pub fn has_others_than(name: &str) -> bool {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return true };
    let is_named = |thread: &fs::DirEntry| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|found| found.trim_end() == name)
    };
    threads.filter(|thread| !thread.as_ref().is_ok_and(is_named)).count() > 1
}

/// Processors: bits, as the system numbers them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CpuSet([Word; WORDS]);

type Word = libc::c_ulong;
/// The system refuses a set that is shorter than its own, and is content with a longer one. No kernel is made for more
/// than 8192; libc's type holds 1024.
const WORDS: usize = (1 << 13) / Word::BITS as usize;

impl CpuSet {
    /// So many there can be: their numbers are less.
    pub const MAX_CPU: usize = WORDS * Word::BITS as usize;

    /// These.
    ///
    /// # Panics
    /// If no processor can have one of these numbers.
    pub fn of(cpus: &[usize]) -> Self {
        let mut words = [0; WORDS];
        cpus.iter().for_each(|&cpu| words[cpu / Word::BITS as usize] |= bit(cpu));
        Self(words)
    }

    /// Those that the caller may use.
    ///
    /// # Errors
    /// The system's; `InvalidInput` if the machine can have more than [`CpuSet::MAX_CPU`].
    pub fn of_this_thread() -> io::Result<Self> {
        let mut words = [0; WORDS];
        // SAFETY: there is room of the length that is told.
        check(unsafe { libc::sched_getaffinity(0, size_of_val(&words), words.as_mut_ptr().cast()) })?;
        Ok(Self(words))
    }

    /// Makes these the ones that a thread may use.
    ///
    /// # Errors
    /// The system's: there is no such thread, or it may use none of them.
    pub fn confine(&self, thread: ThreadId) -> io::Result<()> {
        // SAFETY: the set is only read, and as long.
        check(unsafe { libc::sched_setaffinity(thread.0, size_of_val(&self.0), self.0.as_ptr().cast()) })?;
        Ok(())
    }

    /// Whether this one is among them.
    ///
    /// # Panics
    /// If no processor can have this number.
    pub fn contains(&self, cpu: usize) -> bool {
        self.0[cpu / Word::BITS as usize] & bit(cpu) != 0
    }

    /// Without this one.
    ///
    /// # Panics
    /// If no processor can have this number.
    pub fn without(mut self, cpu: usize) -> Self {
        self.0[cpu / Word::BITS as usize] &= !bit(cpu);
        self
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

fn bit(cpu: usize) -> Word {
    1 << (cpu % Word::BITS as usize)
}

impl std::fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries((0..Self::MAX_CPU).filter(|&cpu| self.contains(cpu))).finish()
    }
}

/// The processor that the caller runs on, at the moment; `None` where the system does not tell.
pub fn this_cpu() -> Option<usize> {
    // SAFETY: it asks for a number.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Who is woken by a change of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Among {
    /// Threads of this process.
    Process,
    /// Threads of whoever has mapped the word, too.
    Processes,
}

impl Among {
    fn flag(self) -> libc::c_int {
        match self {
            Self::Process => libc::FUTEX_PRIVATE_FLAG,
            Self::Processes => 0,
        }
    }
}

/// Sleeps while `word` has this `value`, until it is [woken](wake), the time is over, a signal comes, or for nothing.
pub fn sleep_while(word: &AtomicU32, value: u32, among: Among, timeout: Option<Duration>) {
    let limit = timeout.map(timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the time, if there is one, can be read until the call returns.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT | among.flag(), value, limit) };
}

/// Wakes so many of those who [sleep](sleep_while) on `word`.
pub fn wake(word: &AtomicU32, most: u32, among: Among) {
    let most = i32::try_from(most).unwrap_or(i32::MAX);
    // SAFETY: to the system the word is an address alone.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | among.flag(), most) };
}

/// Who passes a barrier: `membarrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passing {
    /// Running threads of processes that have registered for it, and the caller.
    Registered,
    /// Running threads of this process, which has registered for it.
    ThisProcess,
}

/// Registers this process for barriers.
///
/// # Errors
/// The system's: it has none, or denies them.
pub fn register(passing: Passing) -> io::Result<()> {
    membarrier(match passing {
        Passing::Registered => libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED,
        Passing::ThisProcess => libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED,
    })
}

/// Makes them pass a full barrier.
///
/// # Errors
/// The system's; `OutOfMemory` if it lacks some for the moment.
pub fn barrier(passing: Passing) -> io::Result<()> {
    membarrier(match passing {
        Passing::Registered => libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED,
        Passing::ThisProcess => libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED,
    })
}

fn membarrier(command: libc::membarrier_cmd) -> io::Result<()> {
    // SAFETY: it touches no memory of ours.
    let returned = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) };
    if returned < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_set_beside_other_threads() {
        const NAME: &str = "OXMPI_NOBODY_SETS_THIS";
        std::thread::scope(|scope| {
            let (end, ended) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || ended.recv());
            assert!(!set_variable(NAME, "1"));
            drop(end);
        });
        assert_eq!(env::var_os(NAME), None);
    }

    #[test]
    fn a_thread_runs_where_it_may() {
        let set = CpuSet::of_this_thread().expect("an affinity mask");
        let here = this_cpu().expect("Linux tells");
        assert!(set.contains(here) && set.count() >= 1, "{here} of {set:?}");
        assert_eq!(set.without(here).count(), set.count() - 1);
        set.confine(ThreadId::of_this_thread()).expect("it may already");
    }

    /// Those of the largest machines, of which libc's type has the first 1024 alone.
    #[test]
    fn a_set_holds_what_any_kernel_numbers() {
        let cpus = [0, 63, 64, 1023, 1024, 8191];
        let set = CpuSet::of(&cpus);
        assert_eq!((set.count(), set.without(8191).count()), (6, 5));
        assert!(cpus.into_iter().all(|cpu| set.contains(cpu)) && !set.contains(8190), "{set:?}");
        assert!(size_of_val(&set.0) >= 8192 / 8, "what the system asks for");
    }

    #[test]
    fn nobody_sleeps_while_the_word_has_another_value() {
        sleep_while(&AtomicU32::new(1), 0, Among::Process, None);
        sleep_while(&AtomicU32::new(1), 0, Among::Processes, Some(Duration::from_secs(60)));
    }

    #[test]
    fn who_sleeps_is_woken_or_wakes_in_time() {
        let word = AtomicU32::new(0);
        sleep_while(&word, 0, Among::Process, Some(Duration::from_millis(1)));
        std::thread::scope(|scope| {
            let sleeper =
                scope.spawn(|| sleep_while(&word, 0, Among::Process, Some(Duration::from_secs(60))));
            while !sleeper.is_finished() {
                wake(&word, 1, Among::Process);
                std::thread::yield_now();
            }
        });
    }

    #[test]
    fn who_has_registered_passes() {
        if register(Passing::ThisProcess).is_ok() {
            barrier(Passing::ThisProcess).expect("it has registered");
        }
    }
}
