//! Faults that tests ask for: a process that comes to a named point is killed, stopped, or late there.
//!
//! `OXMPI_FAULT=rank=1,point=before-post,count=17,do=kill` kills rank 1 when it is about to post for the 17th time; of
//! several jobs all that see the variable do so. `do=stop:300` stops it, and lets it go on after 300 milliseconds;
//! `do=delay:300` keeps this one thread there for as long. Only what is built with debug assertions has faults:
//! elsewhere, and so in installations for use, a point costs nothing and does nothing.

/// A place where things can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Asleep, or about to be.
    Asleep,
    /// About to map the memory of another job.
    Attaching,
    /// About to post in a collective.
    BeforePost,
    /// Something is posted, and nobody has been woken for it.
    BeforeRing,
    /// About to copy what another rank has posted.
    InCopy,
}

/// Comes to a point.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn reach(_: Point) {}

#[cfg(debug_assertions)]
pub use asked::reach;

#[cfg(debug_assertions)]
mod asked {
    use std::process::{Command, Stdio};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;
    use std::{env, thread};

    use super::Point;

    /// What is asked for.
    const VARIABLE: &str = "OXMPI_FAULT";
    /// Who this is.
    const RANK: &str = "OXMPI_RANK";

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Fault {
        rank: u32,
        point: Point,
        /// How often the point is reached before.
        count: u64,
        what: What,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum What {
        Delay(Duration),
        Kill,
        Stop(Duration),
    }

    /// Comes to a point.
    pub fn reach(point: Point) {
        static ASKED: OnceLock<Option<Fault>> = OnceLock::new();
        static REACHED: AtomicU64 = AtomicU64::new(0);
        let Some(fault) = ASKED.get_or_init(own) else { return };
        if fault.point == point && REACHED.fetch_add(1, Ordering::Relaxed) + 1 == fault.count {
            fault.what.happen();
        }
    }

    /// The fault that this process shall have.
    fn own() -> Option<Fault> {
        let text = env::var(VARIABLE).ok()?;
        let fault = Fault::parse(&text).unwrap_or_else(|| panic!("{VARIABLE} is `{text}`"));
        let rank = env::var(RANK).ok()?.parse().ok();
        Some(fault).filter(|fault| rank == Some(fault.rank))
    }

    impl Fault {
        pub(super) fn parse(text: &str) -> Option<Self> {
            let value = |name: &str| {
                text.split(',')
                    .find_map(|pair| pair.split_once('=').filter(|pair| pair.0 == name))
                    .map(|pair| pair.1)
            };
            let point = match value("point")? {
                "asleep" => Point::Asleep,
                "attaching" => Point::Attaching,
                "before-post" => Point::BeforePost,
                "before-ring" => Point::BeforeRing,
                "in-copy" => Point::InCopy,
                _ => return None,
            };
            let (what, time) = value("do").map(|what| what.split_once(':').unwrap_or((what, "0")))?;
            let time = Duration::from_millis(time.parse().ok()?);
            let what = match what {
                "delay" => What::Delay(time),
                "kill" => What::Kill,
                "stop" => What::Stop(time),
                _ => return None,
            };
            let (rank, count) = (value("rank")?.parse().ok()?, value("count").unwrap_or("1").parse().ok()?);
            Some(Self { rank, point, count, what })
        }
    }

    impl What {
        fn happen(self) {
            match self {
                Self::Delay(time) => thread::sleep(time),
                Self::Kill => send(libc::SIGKILL),
                Self::Stop(time) => {
                    let script = format!("sleep {}; kill -CONT $PPID", time.as_secs_f64());
                    let mut shell = Command::new("/bin/sh");
                    shell
                        .args(["-c", &script])
                        .stdin(Stdio::null())
                        .stdout(Stdio::null())
                        .stderr(Stdio::null());
                    let mut shell = shell.spawn().expect("there is a shell");
                    send(libc::SIGSTOP);
                    shell.wait().expect("it is this process's child");
                }
            }
        }
    }

    fn send(signal: libc::c_int) {
        // SAFETY: what it does to this process is what is wanted.
        let status = unsafe { libc::raise(signal) };
        assert_eq!(status, 0, "one may do that to oneself");
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn what_is_asked_for_is_understood() {
            let fault = |point, count, what| Some(Fault { rank: 1, point, count, what });
            let text = "rank=1,point=before-post,count=17,do=kill";
            assert_eq!(Fault::parse(text), fault(Point::BeforePost, 17, What::Kill));
            let time = Duration::from_millis(300);
            assert_eq!(
                Fault::parse("do=stop:300,point=asleep,rank=1"),
                fault(Point::Asleep, 1, What::Stop(time))
            );
            assert_eq!(
                Fault::parse("do=delay:300,point=in-copy,rank=1"),
                fault(Point::InCopy, 1, What::Delay(time))
            );
            for wrong in ["", "rank=1", "rank=1,point=nowhere,do=kill", "rank=x,point=asleep,do=kill"] {
                assert_eq!(Fault::parse(wrong), None, "{wrong}");
            }
        }
    }
}
