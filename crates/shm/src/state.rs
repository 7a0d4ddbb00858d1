//! A rank's state page: what it is doing, for the launcher and for reports about hangs.
//!
//! The rank pays a plain store per MPI call. A report about its pending requests is written only when the
//! launcher asks, from inside the rank's waiting loop: the rank is never stopped to be looked at.

use std::sync::atomic::AtomicU8;

use crate::seat::Seat;
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// How far a rank has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It has not initialised MPI yet, and perhaps never will.
    Outside,
    /// Between `MPI_Init` and `MPI_Finalize`.
    Running,
    /// Outside the world model, in a session.
    InSession,
    /// In `MPI_Finalize`, with no session open: it asks for nothing more of what belongs to the world model, and all
    /// that it will ever tell there has been told. It still answers.
    Leaving,
    /// After `MPI_Finalize` and the end of all sessions.
    Finalized,
    /// It has called `MPI_Abort` with this code.
    Aborted(i32),
    /// An error of this code, which nobody could handle, has ended it.
    Failed(i32),
    /// It has ended because it could only have waited for ever for this rank of the job, which had left.
    Stranded(u32),
}

impl Phase {
    /// Whether the rank uses MPI now.
    pub fn is_in_mpi(self) -> bool {
        matches!(self, Self::Running | Self::InSession | Self::Leaving)
    }

    /// Whether the rank has left MPI, so that nothing is to be expected of it unless it comes back.
    pub fn has_left(self) -> bool {
        matches!(self, Self::Finalized | Self::Aborted(_) | Self::Failed(_) | Self::Stranded(_))
    }
}

/// The other jobs that a rank is connected with, as far as it shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ties {
    /// Some of them, by [`Job::id`](crate::Job::id).
    pub jobs: Vec<u64>,
    /// How many there are besides.
    pub more: u32,
}

const TIES: usize = 8;
const TEXT_BYTES: usize = 3072;
const SETTINGS_BYTES: usize = 512;

/// As much of a rank's settings as it shows.
pub fn shown_settings(text: &str) -> &str {
    let mut end = text.len().min(SETTINGS_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// One page of the segment, written by its rank.
#[repr(C, align(4096))]
pub struct StatePage {
    pub(crate) seat: Seat,
    call: AtomicU32,
    phase: AtomicU32,
    code: AtomicU32,
    asked: AtomicU32,
    answered: AtomicU32,
    length: AtomicU32,
    gone: AtomicU32,
    released: AtomicU32,
    arrivals: AtomicU32,
    /// Ties that found no place.
    more_ties: AtomicU32,
    /// Numbers of jobs; 0 where there is none.
    ties: [AtomicU64; TIES],
    text: [AtomicU8; TEXT_BYTES],
    /// The round of the job that the settings were shown in, plus 1.
    settings_round: AtomicU32,
    settings_length: AtomicU32,
    settings: [AtomicU8; SETTINGS_BYTES],
}

impl StatePage {
    /// Notes which call the rank is in, an index of `base::generated::functions`; 0 is none.
    #[inline]
    pub fn set_call(&self, call: u16) {
        self.call.store(u32::from(call), Ordering::Relaxed);
    }

    /// Which call the rank is in.
    pub fn call(&self) -> u16 {
        self.call.load(Ordering::Relaxed) as u16
    }

    /// Notes how far the rank has come.
    pub fn set_phase(&self, phase: Phase) {
        let number = match phase {
            Phase::Outside => 0,
            Phase::Running => 1,
            Phase::Finalized => 2,
            Phase::Aborted(_) => 3,
            Phase::InSession => 4,
            Phase::Leaving => 5,
            Phase::Failed(_) => 6,
            Phase::Stranded(_) => 7,
        };
        match phase {
            Phase::Aborted(code) | Phase::Failed(code) => {
                self.code.store(code.cast_unsigned(), Ordering::Relaxed);
            }
            Phase::Stranded(rank) => self.code.store(rank, Ordering::Relaxed),
            _ => {}
        }
        self.phase.store(number, Ordering::Release); // pairs with the Acquire in `phase`
    }

    /// How far the rank has come.
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            1 => Phase::Running,
            2 => Phase::Finalized,
            3 => Phase::Aborted(self.code.load(Ordering::Relaxed).cast_signed()),
            4 => Phase::InSession,
            5 => Phase::Leaving,
            6 => Phase::Failed(self.code.load(Ordering::Relaxed).cast_signed()),
            7 => Phase::Stranded(self.code.load(Ordering::Relaxed)),
            _ => Phase::Outside,
        }
    }

    /// Notes that the rank's process has ended: for the launcher, who knows.
    pub fn set_gone(&self) {
        self.gone.store(1, Ordering::Release); // pairs with the Acquire in `is_gone`
    }

    /// Whether the rank's process has ended.
    pub fn is_gone(&self) -> bool {
        self.gone.load(Ordering::Acquire) != 0
    }

    /// Tells the rank that not all others will come to where it waits for them in the end.
    pub fn release(&self) {
        self.released.store(1, Ordering::Relaxed);
    }

    /// Whether it is in vain to wait for all others in the end.
    pub fn is_released(&self) -> bool {
        self.released.load(Ordering::Relaxed) != 0
    }

    /// Notes that the rank is at this meeting of those with which ranks begin.
    pub fn arrive(&self, meeting: u32) {
        self.arrivals.store(meeting, Ordering::Release); // pairs with the Acquire in `has_arrived`
    }

    /// Whether it is there, or was.
    pub fn has_arrived(&self, meeting: u32) -> bool {
        self.arrivals.load(Ordering::Acquire) >= meeting
    }

    /// Shows what the rank was told in a round of the job. Of two ranks that show this, and then look at each other's
    /// by [`StatePage::settings`], one sees the other's at least.
    pub fn show_settings(&self, round: u32, text: &str) {
        let text = shown_settings(text);
        for (cell, byte) in self.settings.iter().zip(text.bytes()) {
            cell.store(byte, Ordering::Relaxed);
        }
        self.settings_length.store(text.len() as u32, Ordering::Relaxed);
        self.settings_round.store(round + 1, Ordering::Release); // pairs with the Acquire in `settings`
        // Each rank stores, then loads what others store. With a fence between on both sides, not both loads can
        // miss both stores.
        fence(Ordering::SeqCst);
    }

    /// What the rank has shown in a round of the job, if it has.
    pub fn settings(&self, round: u32) -> Option<String> {
        if self.settings_round.load(Ordering::Acquire) != round + 1 {
            return None;
        }
        let length = (self.settings_length.load(Ordering::Relaxed) as usize).min(SETTINGS_BYTES);
        let bytes: Vec<u8> =
            self.settings[..length].iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Shows that the rank is connected with another job, for launchers: once for each job, until [`StatePage::untie`].
    /// To be called by the rank, by one thread at a time; so for that.
    pub fn tie(&self, job: u64) {
        match self.ties.iter().find(|tie| tie.load(Ordering::Relaxed) == 0) {
            Some(place) => place.store(job, Ordering::Release), // pairs with the Acquire in `ties`
            None => self
                .more_ties
                .store(self.more_ties.load(Ordering::Relaxed).saturating_add(1), Ordering::Release),
        }
    }

    /// Shows that the rank is not connected with a job any more.
    pub fn untie(&self, job: u64) {
        match self.ties.iter().find(|tie| tie.load(Ordering::Relaxed) == job) {
            Some(place) => place.store(0, Ordering::Release), // as in `tie`
            None => {
                let more = self.more_ties.load(Ordering::Relaxed).saturating_sub(1);
                self.more_ties.store(more, Ordering::Release);
            }
        }
    }

    /// The other jobs that the rank is connected with.
    pub fn ties(&self) -> Ties {
        // Pair with the Release in `tie` and `untie`: whoever sees a tie sees what was done before.
        let jobs = self.ties.iter().map(|tie| tie.load(Ordering::Acquire));
        let jobs = jobs.filter(|&job| job != 0).collect();
        Ties { jobs, more: self.more_ties.load(Ordering::Acquire) }
    }

    /// Is connected with nobody.
    pub(crate) fn clear_ties(&self) {
        self.ties.iter().for_each(|tie| tie.store(0, Ordering::Relaxed));
        self.more_ties.store(0, Ordering::Relaxed);
    }

    /// Asks the rank for a report.
    pub fn ask(&self) {
        self.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether somebody waits for a report of this rank.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed) != self.answered.load(Ordering::Relaxed)
    }

    /// Answers [`StatePage::ask`]; what does not fit is cut.
    pub fn answer(&self, report: &str) {
        let mut end = report.len().min(TEXT_BYTES);
        while !report.is_char_boundary(end) {
            end -= 1;
        }
        for (cell, byte) in self.text.iter().zip(report[..end].bytes()) {
            cell.store(byte, Ordering::Relaxed);
        }
        self.length.store(end as u32, Ordering::Relaxed);
        // Pairs with the Acquire in `report`.
        self.answered.store(self.asked.load(Ordering::Relaxed), Ordering::Release);
    }

    /// What the rank answered last, once it has answered all that it was asked.
    pub fn report(&self) -> Option<String> {
        let answered = self.answered.load(Ordering::Acquire);
        if answered == 0 || answered != self.asked.load(Ordering::Relaxed) {
            return None;
        }
        let length = (self.length.load(Ordering::Relaxed) as usize).min(TEXT_BYTES);
        let bytes: Vec<u8> = self.text[..length].iter().map(|cell| cell.load(Ordering::Relaxed)).collect();
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<StatePage>() == 4096);
