//! An agent's connection with the launcher, as the agent's supervisor uses it: what ends the job here is told there,
//! and what ends it elsewhere is done here. Records of the job's processes go this way, too.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use oxmpi_broker::{Answer, ClientId, Link};
use rustix::event::PollFlags;
use rustix::process::Signal;

use crate::agent::hear;
use crate::crew::Crew;
use crate::names::Questions;
use crate::presence::{Attention, BEAT, Presence};
use crate::report;
use crate::status::Cause;
use crate::supervise::Supervisor;
use crate::talk::{ToAgent, ToLauncher};
use crate::ties;

/// For how long an agent that has said all waits until that is heard.
const FAREWELL: Duration = Duration::from_secs(1);

/// What a link waits for.
pub fn wanted(link: &Link) -> PollFlags {
    if link.is_writing() { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN }
}

/// See the module.
#[derive(Debug)]
pub struct Uplink {
    link: Link,
    presence: Presence,
    attention: Attention,
    said: Instant,
    /// The ranks, and perhaps the launcher, are stopped: nobody can be missed.
    is_stopped: bool,
    /// The launcher knows that the job fails, or is to, and whether somebody has waited in vain.
    has_failed: bool,
    doomed: Option<bool>,
    /// Of those for whom ranks here have waited in vain, so many were told; and so often that others have for ranks
    /// here. When that was so often, the launcher was told that nobody here is waited for.
    missed_told: usize,
    missed_here: u32,
    idle_at: Option<u32>,
    /// The launcher has told to end all.
    is_told_to_end: bool,
    /// Records that are known here, by key, and those that are told in the next fence.
    records: BTreeMap<String, Vec<u8>>,
    untold: Vec<(String, Vec<u8>)>,
    /// Who waits in a fence, and who for a record.
    fenced: Vec<ClientId>,
    asking: Vec<(ClientId, String)>,
    /// What the launcher was asked of published names.
    pub questions: Questions,
}

impl Uplink {
    /// That of an agent whom the launcher knows, and which has begun: it tells that.
    pub fn new(link: Link) -> Self {
        let now = Instant::now();
        let mut uplink = Self {
            link,
            presence: Presence::at(now),
            attention: Attention::begin(),
            said: now,
            is_stopped: false,
            has_failed: false,
            doomed: None,
            missed_told: 0,
            missed_here: 0,
            idle_at: None,
            is_told_to_end: false,
            records: BTreeMap::new(),
            untold: Vec::new(),
            fenced: Vec::new(),
            asking: Vec::new(),
            questions: Questions::default(),
        };
        uplink.tell(&ToLauncher::Alive);
        uplink
    }

    /// What it waits for.
    pub fn wanted(&self) -> PollFlags {
        wanted(&self.link)
    }

    /// When it must be looked at though nothing has come.
    pub fn next_time(&self) -> Instant {
        (self.said + BEAT).min(self.presence.due())
    }

    /// Tells the launcher something. That it has gone is found out when it is heard next.
    pub fn tell(&mut self, what: &ToLauncher) {
        self.said = Instant::now();
        if self.link.send(&what.encode()).is_ok() {
            let _ = self.link.flush();
        }
    }

    /// Tells how all has ended, and waits a moment until the launcher has heard that and goes: a socket that is closed
    /// while it holds what nobody has read takes back what was written.
    pub fn close(mut self, status: u8, is_last_resort: bool) {
        self.tell(&ToLauncher::Ended { status, is_last_resort });
        let until = Instant::now() + FAREWELL;
        if self.link.flush_all().and_then(|()| self.link.end_writing()).is_ok() {
            while let Ok(Some(_)) = hear(&mut self.link, until) {}
        }
    }
}

impl AsFd for Uplink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}

impl Supervisor {
    /// Does what the launcher says.
    pub fn hear_uplink(&mut self) {
        while let Some(uplink) = &mut self.uplink {
            let heard = uplink.link.hear();
            let said = heard.map(|frame| frame.map(|frame| ToAgent::decode(&frame)));
            match said {
                Ok(None) => return,
                Ok(Some(Ok(said))) => {
                    uplink.presence = Presence::now();
                    self.told(said);
                }
                Ok(Some(Err(_))) | Err(_) => self.lose_uplink(),
            }
        }
    }

    fn told(&mut self, said: ToAgent) {
        match said {
            // A second order is none, nor is one that is not for who starts ranks.
            ToAgent::Alive | ToAgent::Begin(_) | ToAgent::Kill { .. } | ToAgent::Relay(_) => {}
            ToAgent::Alone => self.part().into_iter().for_each(|crew| crew.others_have_ended = true),
            ToAgent::Doom { is_stranded } => {
                if let Some(uplink) = &mut self.uplink {
                    uplink.doomed = uplink.doomed.max(Some(is_stranded));
                }
                self.part().into_iter().for_each(|crew| crew.doom_as_elsewhere(is_stranded));
            }
            ToAgent::End { all, signal, grace } => {
                let Some(uplink) = &mut self.uplink else { return };
                uplink.has_failed = true;
                self.outcome.failure.get_or_insert(Cause::Elsewhere); // why what ends now does
                let is_again = all && std::mem::replace(&mut uplink.is_told_to_end, true);
                let signal = Signal::from_named_raw(signal).unwrap_or(Signal::TERM);
                let ended = match (all, self.crews.iter().position(|crew| !crew.speaks_for_all)) {
                    (true, _) => (0..self.crews.len()).collect(),
                    (false, Some(part)) => [vec![part], ties::ended_with(&self.crews, part)].concat(),
                    (false, None) => Vec::new(),
                };
                for index in ended {
                    let crew = &mut self.crews[index];
                    match crew.is_ending() {
                        // It ends soon, and says what its ranks were doing, as on the host that was faster.
                        false if crew.ends_when_answered() && !is_again => {}
                        false => crew.end_with(crew.words_for_stranded(), signal, grace),
                        true if is_again => crew.hurry(),
                        true => {}
                    }
                }
            }
            ToAgent::Fenced => self.leave_fence(),
            ToAgent::Inquire { limit } => self.inquire(limit.map(Cause::TimeLimit)),
            ToAgent::Missed { rank } => {
                self.uplink.iter_mut().for_each(|uplink| uplink.missed_here += 1);
                self.part().into_iter().for_each(|crew| crew.miss(rank));
            }
            ToAgent::Name { number, found } => self.take_name(number, found),
            ToAgent::Record { key, record } => self.take_record(&key, record),
            ToAgent::Signal(signal) => {
                if let (Some(uplink), libc::SIGSTOP | libc::SIGCONT) = (&mut self.uplink, signal) {
                    uplink.is_stopped = signal == libc::SIGSTOP;
                }
                let signal = match signal {
                    libc::SIGSTOP => Some(Signal::STOP),
                    signal => Signal::from_named_raw(signal),
                };
                signal.into_iter().for_each(|signal| self.signal(signal));
            }
        }
    }

    /// The part of the job that the launcher has started, unless it has ended; what that has spawned has its own ends.
    fn part(&mut self) -> Option<&mut Crew> {
        self.crews.iter_mut().find(|crew| !crew.speaks_for_all)
    }

    /// Tells the launcher what it does not know yet; notices that it has gone.
    pub fn beat(&mut self, now: Instant) {
        let Some(uplink) = &mut self.uplink else { return };
        let part = self.crews.iter().find(|crew| !crew.speaks_for_all);
        // What has failed here may have parted from the job.
        let ends_job = |cause: &Cause| cause.ends_all() || part.is_some_and(Crew::is_ending);
        let failure = self.outcome.failure().filter(ends_job);
        if let Some(cause) = failure.filter(|_| !uplink.has_failed) {
            uplink.has_failed = true;
            uplink.tell(&ToLauncher::Failed {
                all: cause.ends_all(),
                status: cause.status(),
                is_last_resort: cause.is_last_resort(),
                text: String::new(),
            });
        }
        // Before it is told why: who is missed is waited for.
        for &rank in part.map_or(&[][..], Crew::missed).get(uplink.missed_told..).unwrap_or_default() {
            uplink.missed_told += 1;
            uplink.tell(&ToLauncher::Missed { rank });
        }
        let doomed = part.and_then(Crew::doomed);
        if let Some(is_stranded) = doomed.filter(|_| doomed > uplink.doomed) {
            uplink.doomed = doomed;
            uplink.tell(&ToLauncher::Doomed { is_stranded });
        }
        let missed = uplink.missed_here;
        // Who has no part any more waits for nobody.
        let is_idle = part.map_or(missed > 0 || uplink.doomed.is_some(), |crew| crew.is_idle(now));
        if uplink.idle_at != Some(missed) && is_idle {
            uplink.idle_at = Some(missed);
            uplink.tell(&ToLauncher::Idle { missed });
        }
        if uplink.said + BEAT <= now {
            uplink.tell(&ToLauncher::Alive);
        }
        if uplink.attention.was_away(now) || uplink.is_stopped {
            uplink.presence.forgive(now);
        } else if uplink.presence.lost(&uplink.link, now).is_some() {
            self.lose_uplink();
        }
    }

    /// The launcher has gone, or cannot be reached any more: the job ends here, at once.
    fn lose_uplink(&mut self) {
        self.uplink = None;
        for crew in &mut self.crews {
            let text = report::lost_launcher(&crew.speaker);
            crew.end_with(text, Signal::KILL, Duration::ZERO);
        }
    }

    /// A rank has come to a fence.
    pub fn enter_fence(&mut self, client: ClientId) {
        let ranks = self.part().map_or(0, |crew| crew.ranks.len());
        let Some(uplink) = &mut self.uplink else { return self.refuse(client) };
        uplink.fenced.push(client);
        if uplink.fenced.len() == ranks {
            let untold = std::mem::take(&mut uplink.untold);
            uplink.tell(&ToLauncher::Fence(untold));
        }
    }

    fn leave_fence(&mut self) {
        let Some(uplink) = &mut self.uplink else { return };
        for client in std::mem::take(&mut uplink.fenced) {
            self.server.answer(client, &Answer::Done, None);
        }
    }

    /// A rank tells all others a record.
    pub fn put(&mut self, client: ClientId, key: String, record: Vec<u8>) {
        let Some(uplink) = &mut self.uplink else { return self.refuse(client) };
        let answer = match uplink.records.contains_key(&key) {
            true => Answer::Failed { text: format!("the key {key} was put before") },
            false => {
                uplink.untold.push((key.clone(), record.clone()));
                uplink.records.insert(key, record);
                Answer::Done
            }
        };
        self.server.answer(client, &answer, None);
    }

    /// A rank wants a record.
    pub fn get(&mut self, client: ClientId, key: String) {
        let Some(uplink) = &mut self.uplink else { return self.refuse(client) };
        if let Some(record) = uplink.records.get(&key) {
            let record = record.clone();
            return self.server.answer(client, &Answer::Record { record }, None);
        }
        let is_asked = uplink.asking.iter().any(|(_, other)| *other == key);
        uplink.asking.push((client, key.clone()));
        if !is_asked {
            uplink.tell(&ToLauncher::Get { key });
        }
    }

    fn take_record(&mut self, key: &str, record: Option<Vec<u8>>) {
        let Some(uplink) = &mut self.uplink else { return };
        let (wanted, rest) = std::mem::take(&mut uplink.asking).into_iter().partition(|(_, of)| of == key);
        uplink.asking = rest;
        if let Some(record) = &record {
            uplink.records.insert(key.to_owned(), record.clone());
        }
        let answer = match record {
            Some(record) => Answer::Record { record },
            None => Answer::Failed { text: format!("nobody has put the key {key}") },
        };
        let wanted: Vec<(ClientId, String)> = wanted;
        wanted.into_iter().for_each(|(client, _)| self.server.answer(client, &answer, None));
    }

    fn refuse(&mut self, client: ClientId) {
        let text = "the job has one node, and nothing to exchange".to_owned();
        self.server.answer(client, &Answer::Failed { text }, None);
    }
}
