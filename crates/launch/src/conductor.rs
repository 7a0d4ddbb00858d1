//! The launcher of a job over several hosts: starts an [agent](crate::agent) on each, and is where they meet.
//!
//! Agents are started as ranks are on one machine, by a command that reaches the host; what they print is read, and
//! what they read is fed, in the same way. They connect to a port that is open until all of them have, at the one
//! address of this machine that reaches the hosts, and prove that they know the job's secret. Then each is told which
//! ranks to start. On many hosts [relays] start them. What ends the job on one host ends it on all, and what is
//! connected with it there; who is [lost](crate::presence) ends all that runs. Records of the
//! ranks for each other are kept here, one a node: an agent asks for what its ranks want.

mod agents;
mod names;
mod outcome;
mod port;
mod relays;

use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use oxmpi_broker::{Handshake, Link, Secret};
use rustix::event::PollFlags;
use rustix::process::{Pid, Signal};

use crate::failure::{Failure, Result};
use crate::hosts::{Host, Launcher, Share};
use crate::job::Job;
use crate::orphans;
use crate::presence::{Attention, BEAT, Presence, SILENCE};
use crate::report::{describe, name_ranks, signal_name};
use crate::status::{Cause, lost_output};
use crate::supervise::{GRACE, INTERRUPT_GRACE, Shared, poll};
use crate::talk::{ToAgent, ToLauncher};
use crate::uplink::wanted;
use agents::{Agent, orders};
pub use agents::{Runner, run_on};
use names::Names;
use outcome::Outcome;
pub use relays::BRANCHES;
use relays::Relay;

/// In which all agents must have come.
const START_TIME: Duration = Duration::from_secs(60);
/// What agents have, beyond the time of their ranks, to say that all has ended.
const REACH_TIME: Duration = Duration::from_secs(2);
/// Who has connected and may be anybody: so many at a time.
const MOST_STRANGERS: usize = 256;
/// Of a job that has lost a host.
const LOST: u8 = 1;

/// Whether a job is one for agents.
pub fn is_wanted(job: &Job) -> bool {
    let is_told = matches!(job.launcher, Some(Launcher::Command(_) | Launcher::Fork));
    !job.hosts.is_empty() && (is_told || !job.hosts.iter().all(Host::is_here))
}

/// Runs a job to its end: the launcher's exit status.
///
/// # Errors
/// The launcher's own failure, before any rank has begun.
pub fn run(launcher: &'static str, job: Job) -> Result<u8> {
    let begin = Instant::now();
    let shares = job.shares();
    let listeners = port::listen(&job, &shares)?;
    let mut shared = Shared::take(launcher, job.stdin)?;
    job.remarks().for_each(|remark| shared.streams.say(&format!("{launcher}: {remark}\n")));
    let secret = Secret::new().map_err(|error| Failure::system("make a secret", error))?;
    let address = |listener: &TcpListener| listener.local_addr();
    let addresses: Vec<SocketAddr> = listeners
        .iter()
        .map(address)
        .collect::<std::io::Result<_>>()
        .map_err(|error| Failure::system("listen for agents", error))?;
    let (agents, relays) = agents::start(&job, shares, (&secret, &addresses), &mut shared)?;
    let limit = job.time_limit.and_then(|limit| Some((limit, begin.checked_add(limit)?)));
    shared.reading_limit = limit;
    let hang_at = job.hang_after.and_then(|time| begin.checked_add(time));
    let conductor = Conductor {
        shared,
        job,
        agents,
        relays,
        secret,
        listeners,
        strangers: Vec::new(),
        records: BTreeMap::new(),
        untold: Vec::new(),
        names: Names::default(),
        doomed_by: None,
        outcome: Outcome::default(),
        kill_at: None,
        start_by: Some(begin + START_TIME),
        time_limit: limit,
        hang_at,
        said: begin,
        attention: Attention::begin(),
    };
    Ok(conductor.run())
}

/// See the module.
#[derive(Debug)]
struct Conductor {
    shared: Shared,
    job: Job,
    agents: Vec<Agent>,
    relays: Vec<Relay>,
    secret: Secret,
    /// Until all agents have come.
    listeners: Vec<TcpListener>,
    strangers: Vec<Stranger>,
    /// Records by their keys; those that are told with the next fence.
    records: BTreeMap<String, Vec<u8>>,
    untold: Vec<(String, Vec<u8>)>,
    names: Names,
    /// The agent that was the first to tell that a rank is missed: it is to say why the job ends. Those that tell it
    /// later may know it only from there.
    doomed_by: Option<usize>,
    outcome: Outcome,
    /// When to kill what is left of a job that is being ended.
    kill_at: Option<Instant>,
    /// When all agents must have come; nothing once they have.
    start_by: Option<Instant>,
    time_limit: Option<(Duration, Instant)>,
    hang_at: Option<Instant>,
    /// When agents were told last that the launcher is there.
    said: Instant,
    attention: Attention,
}

/// Who has connected, and has not proved yet who he is.
#[derive(Debug)]
struct Stranger {
    link: Link,
    handshake: Handshake,
    /// When he is not listened to any longer.
    until: Instant,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Agent(usize),
    Exit(usize),
    Feed(usize),
    Guardian,
    Input,
    Listener(usize),
    Relay(usize),
    RelayExit(usize),
    Signal,
    Sink(usize),
    Stranger(usize),
    Stream(usize),
}

impl Conductor {
    fn run(mut self) -> u8 {
        while !(self.agents.iter().all(Agent::is_over) && self.relays.iter().all(Relay::is_over)) {
            for source in self.wait() {
                self.handle(source);
            }
            self.tick(Instant::now());
        }
        self.close()
    }

    fn wait(&self) -> Vec<Source> {
        let mut waiting: Vec<(Source, BorrowedFd, PollFlags)> = Vec::new();
        let mut wait_for = |source, fd, flags| waiting.push((source, fd, flags));
        let Shared { streams, feed, signals, guardian, .. } = &self.shared;
        // Before ends: what an agent has said came before.
        for (index, agent) in self.agents.iter().enumerate() {
            if let Some(link) = &agent.link {
                wait_for(Source::Agent(index), link.as_fd(), wanted(link));
            }
        }
        for (index, relay) in self.relays.iter().enumerate() {
            if let Some(link) = &relay.link {
                wait_for(Source::Relay(index), link.as_fd(), wanted(link));
            }
        }
        for (index, Stranger { link, .. }) in self.strangers.iter().enumerate() {
            wait_for(Source::Stranger(index), link.as_fd(), wanted(link));
        }
        if self.strangers.len() < MOST_STRANGERS {
            for (index, listener) in self.listeners.iter().enumerate() {
                wait_for(Source::Listener(index), listener.as_fd(), PollFlags::IN);
            }
        }
        if let Some(pipe) = guardian.writable() {
            wait_for(Source::Guardian, pipe, PollFlags::OUT);
        }
        wait_for(Source::Signal, signals.as_fd(), PollFlags::IN);
        for (index, agent) in self.agents.iter().enumerate() {
            if let Some(runner) = agent.runner.as_ref().filter(|runner| !runner.has_exited) {
                wait_for(Source::Exit(index), runner.handle.as_fd(), PollFlags::IN);
            }
        }
        for (index, relay) in self.relays.iter().enumerate().filter(|(_, relay)| !relay.runner.has_exited) {
            wait_for(Source::RelayExit(index), relay.runner.handle.as_fd(), PollFlags::IN);
        }
        streams.readable().for_each(|(index, fd)| wait_for(Source::Stream(index), fd, PollFlags::IN));
        streams.writable().for_each(|(index, fd)| wait_for(Source::Sink(index), fd, PollFlags::OUT));
        feed.hungry().for_each(|(index, fd)| wait_for(Source::Feed(index), fd, PollFlags::OUT));
        if feed.wants_input() {
            wait_for(Source::Input, rustix::stdio::stdin(), PollFlags::IN);
        }
        poll(&waiting, self.next_time())
    }

    fn next_time(&self) -> Option<Instant> {
        let agents = self.agents.iter().filter(|agent| agent.link.is_some()).map(|agent| &agent.presence);
        let relays = self.relays.iter().filter(|relay| relay.link.is_some()).map(|relay| &relay.presence);
        let first_due = agents.chain(relays).map(Presence::due).min();
        let times = [
            self.kill_at,
            self.start_by.filter(|_| self.kill_at.is_none()),
            self.time_limit.map(|(_, at)| at).filter(|_| self.kill_at.is_none()),
            self.hang_at,
            self.shared.streams.prompt_time(),
            self.strangers.iter().map(|stranger| stranger.until).min(),
            first_due.filter(|_| self.start_by.is_none()),
            first_due.map(|_| self.said + BEAT),
        ];
        times.into_iter().flatten().min()
    }

    fn handle(&mut self, source: Source) {
        let Shared { streams, feed, guardian, .. } = &mut self.shared;
        match source {
            Source::Agent(index) => self.hear(index),
            Source::Exit(index) => self.agent_exited(index),
            Source::Feed(reader) => feed.write(reader),
            Source::Guardian => drop(guardian.send()),
            Source::Input => feed.read(),
            Source::Listener(index) => self.accept(index),
            Source::Relay(index) => self.hear_relay(index),
            Source::RelayExit(index) => self.relay_exited(index),
            Source::Signal => {
                while let Some(signal) = self.shared.signals.next() {
                    self.signalled(signal);
                }
            }
            Source::Sink(sink) => self.shared.write(sink),
            Source::Stranger(index) => self.greet(index),
            Source::Stream(stream) => drop(streams.read(stream)),
        }
    }

    /// Lets everybody in who wants to; who it is he must prove.
    fn accept(&mut self, index: usize) {
        let Some(listener) = self.listeners.get(index) else { return };
        while let Ok((stream, _)) = listener.accept() {
            let _ = stream.set_nodelay(true); // it is only slower without
            let mut link = Link::over(stream.into());
            if let Ok(handshake) = Handshake::accept(&mut link, self.secret.clone()) {
                self.strangers.push(Stranger { link, handshake, until: Instant::now() + SILENCE });
            }
        }
    }

    /// Goes on with who may be an agent.
    fn greet(&mut self, index: usize) {
        let Some(Stranger { link, handshake, .. }) = self.strangers.get_mut(index) else { return };
        let number = match handshake.advance(link) {
            Ok(None) => return,
            Ok(Some(number)) => Some(number),
            Err(_) => None,
        };
        let link = self.strangers.swap_remove(index).link;
        let Some(number) = number.and_then(|number| usize::try_from(number).ok()) else { return };
        let terminals = self.shared.streams.terminals();
        let relay = number.checked_sub(self.agents.len()).and_then(|relay| self.relays.get_mut(relay));
        if let Some(relay) = relay.filter(|relay| !relay.has_come) {
            (relay.has_come, relay.link, relay.presence) = (true, Some(link), Presence::now());
            let members = agents::members(&self.job, &self.agents, &relay.members, terminals);
            relay.tell(&ToAgent::Relay(members));
        } else if let Some(agent) = self.agents.get_mut(number).filter(|agent| !agent.has_come) {
            (agent.has_come, agent.link, agent.presence) = (true, Some(link), Presence::now());
        }
        if self.agents.iter().all(|agent| agent.has_come) && self.start_by.take().is_some() {
            self.listeners.clear();
            self.strangers.clear();
            let orders = orders(&self.job, &self.shares(), terminals);
            let first_word = Instant::now() + START_TIME;
            for (agent, order) in self.agents.iter_mut().zip(orders) {
                agent.presence = Presence::at(first_word);
                agent.tell(&ToAgent::Begin(Box::new(order)));
            }
        }
    }

    fn shares(&self) -> Vec<Share> {
        self.agents.iter().map(|agent| agent.share.clone()).collect()
    }

    fn hear(&mut self, index: usize) {
        while let Some(link) = &mut self.agents[index].link {
            let heard = link.hear();
            match heard.map(|frame| frame.map(|frame| ToLauncher::decode(&frame))) {
                Ok(None) => return,
                Ok(Some(Ok(said))) => {
                    self.agents[index].presence = Presence::now();
                    self.told(index, said);
                }
                Ok(Some(Err(_))) | Err(_) => self.lose(index, "its agent has gone"),
            }
        }
    }

    fn told(&mut self, index: usize, said: ToLauncher) {
        match said {
            ToLauncher::Alive => {}
            ToLauncher::Doomed { is_stranded } => {
                self.doomed_by.get_or_insert(index);
                self.tell_others(index, &ToAgent::Doom { is_stranded });
            }
            ToLauncher::Ended { status, is_last_resort } => {
                self.agents[index].has_ended = true;
                self.names.forget(index);
                self.outcome.ended(status, is_last_resort);
                self.look_for_missed();
                self.look_for_last();
            }
            ToLauncher::Failed { all, status, is_last_resort, text } => {
                if !text.is_empty() {
                    let host = self.agents[index].share.host.clone();
                    self.say(&format!("on {host}: {text}"));
                }
                self.outcome.failed(status, is_last_resort);
                match all {
                    true => self.end(Signal::TERM, GRACE),
                    false => self.end_connected(),
                }
            }
            ToLauncher::Fence(records) => {
                self.agents[index].is_fenced = true;
                self.untold.extend(records);
                if self.agents.iter().all(|agent| agent.is_fenced) {
                    self.records.extend(std::mem::take(&mut self.untold));
                    for agent in &mut self.agents {
                        agent.is_fenced = false;
                        agent.tell(&ToAgent::Fenced);
                    }
                }
                self.look_for_missed();
            }
            ToLauncher::Get { key } => {
                let record = self.records.get(&key).cloned();
                self.agents[index].tell(&ToAgent::Record { key, record });
            }
            ToLauncher::Exited { .. } => {} // an agent has started none
            ToLauncher::Idle { missed } => {
                self.agents[index].is_idle = missed == self.agents[index].missed;
                self.look_for_last();
            }
            ToLauncher::Lookup { number, service } => {
                let found = self.names.look_up(&service);
                self.agents[index].tell(&ToAgent::Name { number, found });
            }
            ToLauncher::Missed { rank } => {
                let others = self.agents.iter_mut().enumerate().filter(|(other, _)| *other != index);
                let missed = others.map(|(_, agent)| agent).find(|agent| agent.share.ranks.contains(&rank));
                missed.into_iter().for_each(|agent| agent.tell_missed(rank));
            }
            ToLauncher::Publish { number, service, port } => {
                let found = self.names.publish(index, service, port).then(String::new);
                self.agents[index].tell(&ToAgent::Name { number, found });
            }
            ToLauncher::Unpublish { number, service } => {
                self.names.withdraw(index, &service);
                self.agents[index].tell(&ToAgent::Name { number, found: Some(String::new()) });
            }
        }
    }

    /// Lets an agent know when nobody on other hosts is waited for any more. Where a rank is missed, that is the one
    /// that has told it.
    fn look_for_last(&mut self) {
        let left: Vec<usize> =
            (0..self.agents.len()).filter(|&index| !self.agents[index].has_ended).collect();
        let last = match &*left {
            [last] => Some(*last),
            left if left.iter().all(|&index| self.agents[index].is_idle) => self.doomed_by,
            _ => None,
        };
        last.into_iter().for_each(|index| self.agents[index].tell(&ToAgent::Alone));
    }

    /// Ends a job in which ranks wait for those of a host where all have ended, if nothing else does.
    fn look_for_missed(&mut self) {
        if self.doomed_by.is_some() || self.outcome.has_failed() {
            return;
        }
        let waits = self.agents.iter().find(|agent| agent.is_fenced);
        let ended = self.agents.iter().find(|agent| agent.has_ended);
        if let (Some(waits), Some(ended)) = (waits, ended) {
            let (ranks, host) = (name_ranks(&ended.share.ranks), &ended.share.host);
            let waits = &waits.share.host;
            let text = format!("{ranks} ended on {host}; those on {waits} wait for them in MPI_Init");
            self.fail(LOST, &text);
        }
    }

    /// An agent is reached no more.
    fn lose(&mut self, index: usize, why: &str) {
        let agent = &mut self.agents[index];
        agent.link = None;
        if !agent.has_ended && self.kill_at.is_none() {
            let text = format!("lost host {}: {why}", agent.share.host);
            self.fail(LOST, &text);
        }
    }

    /// Kills what has started an agent, here or elsewhere: on a host that is reached no more nothing ends it.
    fn kill_runner(&mut self, index: usize) {
        self.agents[index].kill();
        let number = u32::try_from(index).expect("there are not more hosts than ranks");
        let relay = self.relays.iter_mut().find(|relay| relay.members.contains(&index));
        relay.into_iter().for_each(|relay| relay.tell(&ToAgent::Kill { number }));
    }

    /// What has started an agent has ended.
    fn agent_exited(&mut self, index: usize) {
        let Some(runner) = &mut self.agents[index].runner else { return };
        let Some(how) = runner.exit() else { return };
        runner.has_exited = true;
        self.note_exit(index, &how);
    }

    /// The same, here or elsewhere.
    fn note_exit(&mut self, index: usize, how: &str) {
        let Some(agent) = self.agents.get(index).filter(|agent| !agent.has_come) else { return };
        if self.kill_at.is_none() {
            let text = format!("host {}: the agent {how} before it was there", agent.share.host);
            self.fail(LOST, &text);
        }
    }

    fn hear_relay(&mut self, index: usize) {
        while let Some(link) = &mut self.relays[index].link {
            let heard = link.hear();
            match heard.map(|frame| frame.map(|frame| ToLauncher::decode(&frame))) {
                Ok(None) => return,
                Ok(Some(Ok(said))) => {
                    self.relays[index].presence = Presence::now();
                    if let ToLauncher::Exited { number, how } = said
                        && self.relays[index].note_exit(number as usize)
                    {
                        self.note_exit(number as usize, &how);
                    }
                }
                Ok(Some(Err(_))) | Err(_) if self.relays[index].is_done() => self.relays[index].link = None,
                Ok(Some(Err(_))) | Err(_) => self.lose_relay(index, "its relay has gone"),
            }
        }
    }

    /// A relay is reached no more: nor is what its agents print.
    fn lose_relay(&mut self, index: usize, why: &str) {
        let relay = &mut self.relays[index];
        relay.link = None;
        if self.kill_at.is_none() {
            let text = format!("lost host {}: {why}", relay.host);
            self.fail(LOST, &text);
        }
    }

    /// What has started a relay has ended.
    fn relay_exited(&mut self, index: usize) {
        let relay = &mut self.relays[index];
        let Some(how) = relay.runner.exit() else { return };
        relay.runner.has_exited = true;
        if !relay.has_come && self.kill_at.is_none() {
            let text = format!("host {}: the relay {how} before it was there", relay.host);
            self.fail(LOST, &text);
        }
    }

    fn signalled(&mut self, signal: i32) {
        match signal {
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP if self.kill_at.is_some() => {
                self.tell_all(&ToAgent::End { all: true, signal, grace: Duration::ZERO });
                self.kill_at = self.kill_at.min(Some(Instant::now() + REACH_TIME));
            }
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP => {
                if !self.outcome.has_failed() {
                    self.say(&format!("stopped by {}", signal_name(signal)));
                    self.outcome.failed(Cause::Interrupted(signal).status(), false);
                }
                self.end(Signal::from_named_raw(signal).unwrap_or(Signal::TERM), INTERRUPT_GRACE);
            }
            libc::SIGCHLD => orphans::bury(&self.children()),
            libc::SIGQUIT => self.inquire(None),
            libc::SIGTSTP => {
                self.signal(libc::SIGSTOP);
                let _ = rustix::process::kill_process(rustix::process::getpid(), Signal::STOP);
            }
            libc::SIGCONT => {
                self.forgive_silence(Instant::now());
                self.signal(libc::SIGCONT);
                self.shared.feed.resume();
            }
            signal => self.signal(signal),
        }
    }

    fn tick(&mut self, now: Instant) {
        self.shared.streams.show_prompts(now);
        self.strangers.retain(|stranger| stranger.until > now);
        if self.said + BEAT <= now {
            self.said = now;
            self.tell_all(&ToAgent::Alive);
        }
        if self.hang_at.take_if(|at| *at <= now).is_some() {
            self.inquire(None);
        }
        if let Some((limit, _)) = self.time_limit.take_if(|(_, at)| *at <= now) {
            self.inquire(Some(limit));
        }
        if self.start_by.is_some_and(|at| at <= now) && self.kill_at.is_none() {
            let text = format!(
                "no agent has come from {} in {} s; is this machine found from there at {}?",
                self.absent(),
                START_TIME.as_secs(),
                self.addresses()
            );
            self.fail(LOST, &text);
        }
        if self.attention.was_away(now) {
            self.forgive_silence(now);
        }
        if self.start_by.is_none() {
            self.look_who_is_lost(now);
        }
        if self.kill_at.is_some_and(|at| at <= now) {
            self.kill_at = Some(now + START_TIME);
            for relay in &mut self.relays {
                relay.link = None;
                relay.runner.kill();
            }
            for agent in &mut self.agents {
                agent.link = None; // who is still there notices
                agent.kill();
            }
        }
    }

    fn look_who_is_lost(&mut self, now: Instant) {
        let silence = |link: &Option<Link>, presence: &mut Presence| presence.lost(link.as_ref()?, now);
        for index in 0..self.agents.len() {
            let agent = &mut self.agents[index];
            if let Some(silence) = silence(&agent.link, &mut agent.presence) {
                self.lose(index, &format!("nothing was heard from it for {} s", silence.as_secs()));
                self.kill_runner(index);
            }
        }
        for index in 0..self.relays.len() {
            let relay = &mut self.relays[index];
            if let Some(silence) = silence(&relay.link, &mut relay.presence) {
                self.lose_relay(
                    index,
                    &format!("nothing was heard from its relay for {} s", silence.as_secs()),
                );
                self.relays[index].runner.kill();
            }
        }
    }

    /// Asks the ranks what they are doing; the job ends with that where it is the time limit. Before there are ranks
    /// it is hosts that are waited for.
    fn inquire(&mut self, limit: Option<Duration>) {
        if self.start_by.is_none() {
            return self.tell_all(&ToAgent::Inquire { limit });
        }
        let text = format!("no agent has come yet from {}", self.absent());
        match limit.map(Cause::TimeLimit) {
            Some(cause) => self.fail(cause.status(), &format!("{}; {text}", describe(cause, &[]))),
            None => self.say(&text),
        }
    }

    /// Sends the ranks a signal, if there are any yet: agents that wait for their order take every other word for the
    /// end of the job. Nothing is owed to them afterwards, since who has been stopped goes on before it says more.
    /// Relays are there before, and are not to miss a launcher that is stopped.
    fn signal(&mut self, signal: i32) {
        let what = ToAgent::Signal(signal);
        match self.start_by {
            Some(_) => self.relays.iter_mut().for_each(|relay| relay.tell(&what)),
            None => self.tell_all(&what),
        }
    }

    /// The hosts of agents that have not come.
    fn absent(&self) -> String {
        let absent = self.agents.iter().filter(|agent| !agent.has_come);
        absent.map(|agent| &*agent.share.host).collect::<Vec<_>>().join(", ")
    }

    /// Nobody could be heard.
    fn forgive_silence(&mut self, now: Instant) {
        self.agents.iter_mut().for_each(|agent| agent.presence.forgive(now));
        self.relays.iter_mut().for_each(|relay| relay.presence.forgive(now));
    }

    fn addresses(&self) -> String {
        let name = |listener: &TcpListener| listener.local_addr().map(|address| address.to_string());
        self.listeners.iter().filter_map(|listener| name(listener).ok()).collect::<Vec<_>>().join(", ")
    }

    /// Ends the job because of something that the user has not been told.
    fn fail(&mut self, status: u8, text: &str) {
        if !self.outcome.has_failed() {
            self.say(text);
            self.outcome.failed(status, false);
        }
        self.end(Signal::TERM, GRACE);
    }

    /// Ends the job on all hosts, and what is connected with it there. An agent kills what does not end by itself, and
    /// stays for what has parted from the job, however long that goes on.
    fn end_connected(&mut self) {
        if self.kill_at.is_none() {
            self.tell_all(&ToAgent::End { all: false, signal: Signal::TERM.as_raw(), grace: GRACE });
        }
    }

    /// Ends all that runs on all hosts, if it is not being ended.
    fn end(&mut self, signal: Signal, grace: Duration) {
        if self.kill_at.is_none() {
            self.kill_at = Some(Instant::now() + grace + REACH_TIME);
            self.tell_all(&ToAgent::End { all: true, signal: signal.as_raw(), grace });
            self.listeners.clear();
            self.strangers.clear();
            self.agents.iter().filter(|agent| !agent.has_come).for_each(Agent::kill);
            self.relays.iter().filter(|relay| !relay.has_come).for_each(|relay| relay.runner.kill());
        }
    }

    fn tell_all(&mut self, what: &ToAgent) {
        self.agents.iter_mut().for_each(|agent| agent.tell(what));
        self.relays.iter_mut().for_each(|relay| relay.tell(what));
    }

    /// What runs here, and others elsewhere with it.
    fn runners(&self) -> impl Iterator<Item = &Runner> {
        let agents = self.agents.iter().filter_map(|agent| agent.runner.as_ref());
        agents.chain(self.relays.iter().map(|relay| &relay.runner))
    }

    fn tell_others(&mut self, but: usize, what: &ToAgent) {
        let others = self.agents.iter_mut().enumerate().filter(|(index, _)| *index != but);
        others.for_each(|(_, agent)| agent.tell(what));
    }

    fn say(&mut self, text: &str) {
        let line = format!("{}: {text}\n", self.shared.launcher);
        self.shared.streams.say(&line);
    }

    fn children(&self) -> Vec<Pid> {
        self.runners().map(|runner| runner.pid).chain([self.shared.guardian.pid()]).collect()
    }

    /// All agents have ended: prints what they left.
    fn close(mut self) -> u8 {
        self.runners().for_each(Runner::bury);
        orphans::kill(&[self.shared.guardian.pid()]);
        let all = 0..self.shared.streams.count();
        self.shared.streams.finish(all);
        self.shared.guardian.dismiss();
        let cut_short = self.shared.flush().map(Cause::status);
        match cut_short.unwrap_or(self.outcome.status()) {
            0 => lost_output(self.shared.streams.losses()),
            status => status,
        }
    }
}
