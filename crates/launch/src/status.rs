//! The exit contract: what the end of a rank means for the job, and the launcher's exit status.
//!
//! | event | status |
//! |---|---|
//! | every rank leaves with 0 | 0 |
//! | `MPI_Abort(comm, c)` | the low 8 bits of `c`; 1 if these are 0 and `c` is not; `MPI_Abort(comm, 0)` gives 0 |
//! | a rank exits with `k` | `k` of the first one |
//! | a rank exits with 0 between `MPI_Init` and `MPI_Finalize`, or in a session | 1 |
//! | an error that the program does not handle | the low 8 bits of its code, as for `MPI_Abort` |
//! | a rank waits for one that has left | that of a rank that has failed by itself, or then does, else 1 |
//! | a rank dies by signal `s` | 128 + `s` |
//! | the launcher is told to stop by signal `s` | 128 + `s` |
//! | a host, or its agent, is lost | 1 |
//! | time limit | 124 |
//! | the system cannot execute a program | 126; 127 if something it needs does not exist |
//! | output could not be written | 125; 141 (128 + `SIGPIPE`) if whoever read it has gone |
//!
//! All of these end the job, except an exit or a signal after `MPI_Finalize` and the end of all sessions: then the
//! others may finish, and the first such rank still gives the status. Where a rank has exited with 0 before
//! `MPI_Finalize` the others have a short time to print what they know; where one waits in vain, those who have no
//! more to do in MPI, on whatever host they are. A program that never initialises MPI ends the
//! job by exiting with a status other than 0, as under Hydra and Open MPI; with 0 it is done, unless other ranks are in
//! the world model, or over several hosts in a session: they would wait for it for ever. Lost output ends nothing, and
//! counts where the status would be 0.
//!
//! What is said here of the job holds for each of the jobs that its processes have spawned; the launcher's status is
//! that of the first that has failed. A failure ends the jobs that are connected with the one that has failed, too
//! (`ties`). One of a job that has just been spawned is told to who has spawned it, and counts no more, until the two
//! are connected.

use std::time::Duration;

use oxmpi_shm::Phase;

use rustix::io::Errno;

use crate::failure::{NOT_EXECUTABLE, NOT_FOUND, OWN_FAILURE};
use crate::streams::Loss;

/// Exit status when the time limit has ended the job.
const TIME_LIMIT: u8 = 124;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this status.
    Status(u8),
    /// By this signal.
    Signal(i32),
    /// In a way that the launcher cannot see: it serves the process, and has not made it.
    Unseen,
}

/// What has ended the job, or spoils its exit status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A rank has called `MPI_Abort`.
    Aborted {
        /// The rank.
        rank: u32,
        /// The code it gave.
        code: i32,
    },
    /// A process of another job has called `MPI_Abort` on a communicator with processes of this one.
    AbortedFrom {
        /// That process; 0 if it cannot be seen from here.
        pid: i32,
        /// The code it gave.
        code: i32,
    },
    /// A rank has left without `MPI_Init` while others are in the world model.
    Absent {
        /// The rank.
        rank: u32,
        /// Programs that it has run before, as have the others.
        round: u32,
    },
    /// Another job has failed, with which this one is connected.
    Connected {
        /// Its number.
        job: u32,
    },
    /// Nobody wants to hear any more of this job, which is not connected yet with the one that has asked for it.
    Unwanted {
        /// The number of that one.
        job: u32,
    },
    /// The job has failed on another host, where that is told.
    Elsewhere,
    /// A rank has exited or died.
    Ended {
        /// The rank.
        rank: u32,
        /// How.
        exit: Exit,
        /// How far it had come.
        phase: Phase,
    },
    /// The launcher was told to stop by this signal.
    Interrupted(i32),
    /// An error that nobody could handle has ended a rank.
    Failed {
        /// The rank.
        rank: u32,
        /// The error's code.
        code: i32,
    },
    /// A rank has waited for one that had left.
    Stranded {
        /// The rank that waited.
        rank: u32,
        /// The rank that it waited for.
        missed: u32,
    },
    /// A rank's process was made, but could not become the program.
    NotStarted {
        /// The rank.
        rank: u32,
        /// What failed.
        step: Step,
        /// The system's error number.
        errno: i32,
    },
    /// The time limit has passed.
    TimeLimit(Duration),
}

/// What a new process does before it becomes the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Takes its place: process group, descriptors, limits, CPUs.
    Prepare,
    /// Changes to the working directory.
    ChangeDir,
    /// Executes the program.
    Execute,
}

/// What the end of a rank means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rank is done.
    Done,
    /// The job goes on, but its status is spoilt.
    Spoils(Cause),
    /// The job must end, after a short time for those who may still end by themselves.
    Dooms(Cause),
    /// The job must end.
    Ends(Cause),
}

/// Judges the end of `rank`, which had come to `phase`.
pub fn judge(rank: u32, exit: Exit, phase: Phase) -> Verdict {
    let cause = Cause::Ended { rank, exit, phase };
    match (phase, exit) {
        (Phase::Aborted(code), _) => Verdict::Ends(Cause::Aborted { rank, code }),
        (Phase::Failed(code), _) => Verdict::Ends(Cause::Failed { rank, code }),
        (Phase::Stranded(missed), _) => Verdict::Dooms(Cause::Stranded { rank, missed }),
        (Phase::Outside | Phase::Finalized, Exit::Status(0) | Exit::Unseen) => Verdict::Done,
        (Phase::Finalized, _) => Verdict::Spoils(cause),
        (Phase::InSession | Phase::Leaving | Phase::Running, Exit::Status(0)) => Verdict::Dooms(cause),
        (Phase::InSession | Phase::Leaving | Phase::Outside | Phase::Running, _) => Verdict::Ends(cause),
    }
}

impl Cause {
    /// The launcher's exit status.
    pub fn status(self) -> u8 {
        match self {
            Self::Elsewhere
            | Self::Absent { .. }
            | Self::Connected { .. }
            | Self::Stranded { .. }
            | Self::Unwanted { .. } => 1,
            Self::Aborted { code, .. } | Self::AbortedFrom { code, .. } | Self::Failed { code, .. } => {
                match code.to_le_bytes()[0] {
                    0 if code != 0 => 1,
                    low => low,
                }
            }
            Self::Ended { exit: Exit::Status(0) | Exit::Unseen, .. } => 1,
            Self::Ended { exit: Exit::Status(status), .. } => status,
            Self::Ended { exit: Exit::Signal(signal), .. } | Self::Interrupted(signal) => by_signal(signal),
            Self::NotStarted { step: Step::Execute, errno: libc::ENOENT, .. } => NOT_FOUND,
            Self::NotStarted { step: Step::Execute, .. } => NOT_EXECUTABLE,
            Self::NotStarted { .. } => OWN_FAILURE,
            Self::TimeLimit(_) => TIME_LIMIT,
        }
    }

    /// Whether it ends all that runs under the launcher, whatever is connected with what.
    pub fn ends_all(self) -> bool {
        matches!(self, Self::Interrupted(_) | Self::TimeLimit(_))
    }

    /// Whether it says only that ranks have waited for others: what left them waiting tells more, wherever it was.
    pub fn is_last_resort(self) -> bool {
        matches!(self, Self::Elsewhere | Self::Stranded { .. })
    }

    /// The rank it is about.
    pub fn rank(self) -> Option<u32> {
        match self {
            Self::Absent { rank, .. }
            | Self::Aborted { rank, .. }
            | Self::Ended { rank, .. }
            | Self::Failed { rank, .. }
            | Self::Stranded { rank, .. }
            | Self::NotStarted { rank, .. } => Some(rank),
            Self::AbortedFrom { .. }
            | Self::Connected { .. }
            | Self::Elsewhere
            | Self::Interrupted(_)
            | Self::TimeLimit(_)
            | Self::Unwanted { .. } => None,
        }
    }
}

/// The launcher's exit status for a job that went well but for `losses` of its output.
pub fn lost_output(losses: &[Loss]) -> u8 {
    match losses {
        [] => 0,
        all if all.iter().all(|loss| loss.errno == Errno::PIPE) => by_signal(libc::SIGPIPE),
        _ => OWN_FAILURE,
    }
}

fn by_signal(signal: i32) -> u8 {
    128 + u8::try_from(signal & 0x7f).expect("7 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(exit: Exit, phase: Phase) -> (bool, u8) {
        match judge(0, exit, phase) {
            Verdict::Done => (false, 0),
            Verdict::Spoils(cause) => (false, cause.status()),
            Verdict::Dooms(cause) | Verdict::Ends(cause) => (true, cause.status()),
        }
    }

    #[test]
    fn who_leaves_with_0_or_waits_in_vain_leaves_the_others_a_short_time() {
        for phase in [Phase::Running, Phase::InSession, Phase::Leaving] {
            let cause = Cause::Ended { rank: 1, exit: Exit::Status(0), phase };
            assert_eq!(judge(1, Exit::Status(0), phase), Verdict::Dooms(cause));
            assert!(matches!(judge(1, Exit::Status(2), phase), Verdict::Ends(_)));
        }
        let cause = Cause::Stranded { rank: 2, missed: 0 };
        assert_eq!(judge(2, Exit::Status(1), Phase::Stranded(0)), Verdict::Dooms(cause));
        assert_eq!(cause.status(), 1);
    }

    #[test]
    fn a_fatal_error_is_not_an_abort() {
        let cause = Cause::Failed { rank: 0, code: 6 };
        assert_eq!(judge(0, Exit::Status(6), Phase::Failed(6)), Verdict::Ends(cause));
        assert_eq!((cause.status(), Cause::Failed { rank: 0, code: 256 }.status()), (6, 1));
    }

    #[test]
    fn an_abort_gives_its_code_and_never_hides_as_success() {
        for (code, expected) in [(42, 42), (0, 0), (256, 1), (-1, 255), (300, 44), (i32::MIN, 1)] {
            assert_eq!(status(Exit::Status(9), Phase::Aborted(code)), (true, expected), "code {code}");
        }
    }

    #[test]
    fn leaving_between_init_and_finalize_ends_the_job_even_with_0() {
        assert_eq!(status(Exit::Status(0), Phase::Running), (true, 1));
        assert_eq!(status(Exit::Status(3), Phase::Running), (true, 3));
        assert_eq!(status(Exit::Signal(libc::SIGSEGV), Phase::Running), (true, 139));
    }

    #[test]
    fn leaving_with_an_open_session_is_like_leaving_without_finalize() {
        assert_eq!(status(Exit::Status(0), Phase::InSession), (true, 1));
        assert_eq!(status(Exit::Status(3), Phase::InSession), (true, 3));
        assert_eq!(status(Exit::Signal(libc::SIGKILL), Phase::InSession), (true, 137));
    }

    #[test]
    fn after_finalize_the_others_may_finish() {
        assert_eq!(status(Exit::Status(0), Phase::Finalized), (false, 0));
        assert_eq!(status(Exit::Status(7), Phase::Finalized), (false, 7));
        assert_eq!(status(Exit::Signal(libc::SIGKILL), Phase::Finalized), (false, 137));
    }

    #[test]
    fn a_served_process_that_is_gone_has_failed_if_it_was_in_mpi() {
        assert_eq!(status(Exit::Unseen, Phase::Running), (true, 1));
        assert_eq!(status(Exit::Unseen, Phase::Finalized), (false, 0));
        assert_eq!(status(Exit::Unseen, Phase::Outside), (false, 0));
        assert_eq!(status(Exit::Unseen, Phase::Aborted(3)), (true, 3));
    }

    #[test]
    fn a_program_without_mpi_counts_by_its_status() {
        assert_eq!(status(Exit::Status(0), Phase::Outside), (false, 0));
        assert_eq!(status(Exit::Status(5), Phase::Outside), (true, 5));
    }

    #[test]
    fn output_that_only_a_gone_reader_has_missed_is_as_for_any_filter() {
        let loss = |errno| Loss { to: "standard output".to_owned(), errno };
        assert_eq!(lost_output(&[]), 0);
        assert_eq!(lost_output(&[loss(Errno::PIPE)]), 141);
        assert_eq!(lost_output(&[loss(Errno::PIPE), loss(Errno::NOSPC)]), 125);
    }

    #[test]
    fn the_launchers_own_endings_have_their_own_numbers() {
        assert_eq!(Cause::Interrupted(libc::SIGINT).status(), 130);
        assert_eq!(Cause::TimeLimit(Duration::from_secs(1)).status(), 124);
        let not_started = |step, errno| Cause::NotStarted { rank: 0, step, errno }.status();
        assert_eq!(not_started(Step::Execute, libc::ENOENT), 127);
        assert_eq!(not_started(Step::Execute, libc::EACCES), 126);
        assert_eq!(not_started(Step::ChangeDir, libc::ENOENT), 125);
    }
}
