//! A relay: `mpiexec` on a host, which starts agents on that host and others for a launcher elsewhere, where it would
//! start too many ([`conductor::relays`](crate::conductor)).
//!
//! It tells the launcher how what has started an agent has ended, passes on what agents print and read, and ends when
//! they all have. When the launcher goes, or is not heard any more, it kills what it has started; the agents notice by
//! themselves.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use oxmpi_broker::Link;
use rustix::event::PollFlags;

use crate::agent::Greeting;
use crate::conductor::{Runner, run_on};
use crate::failure::Result;
use crate::hosts::Launcher;
use crate::job::StdinTo;
use crate::orphans;
use crate::presence::{Attention, BEAT, Presence, SILENCE};
use crate::supervise::{Shared, poll};
use crate::talk::{Members, ToAgent, ToLauncher};
use crate::uplink::wanted;

/// See the module.
#[derive(Debug)]
struct Relay {
    shared: Shared,
    /// The agents, by number, and how they run.
    agents: Vec<(u32, Runner)>,
    link: Option<Link>,
    presence: Presence,
    attention: Attention,
    said: Instant,
    /// The launcher is stopped: it cannot be missed.
    is_stopped: bool,
    /// When to kill what is left.
    kill_at: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
enum Source {
    Exit(usize),
    Feed(usize),
    Guardian,
    Input,
    Link,
    Signal,
    Sink(usize),
    Stream(usize),
}

/// Starts these agents, and sees them to their end.
///
/// # Errors
/// The launcher's own failure: what starts agents is not there, or the system's.
pub fn run(name: &'static str, link: Link, greeting: &Greeting, members: Members) -> Result<u8> {
    let reads = members.agents.iter().any(|member| member.reads);
    let mut shared = Shared::take(name, if reads { StdinTo::All } else { StdinTo::None })?;
    shared.feed.copy_to_agents();
    shared.streams.go_on_to(members.terminals);
    let mut agents = Vec::new();
    for (index, member) in members.agents.iter().enumerate() {
        // The first is on this host.
        let launcher = if index == 0 { Some(&Launcher::Fork) } else { members.launcher.as_ref() };
        let greeting = Greeting { number: member.number, ..greeting.clone() };
        let runner = run_on(&member.host, launcher, &greeting, member.reads, &mut shared)?;
        agents.push((member.number, runner));
    }
    let now = Instant::now();
    let relay = Relay {
        shared,
        agents,
        link: Some(link),
        presence: Presence::at(now),
        attention: Attention::begin(),
        said: now,
        is_stopped: false,
        kill_at: None,
    };
    Ok(relay.run())
}

impl Relay {
    fn run(mut self) -> u8 {
        while !self.agents.iter().all(|(_, runner)| runner.has_exited) {
            for source in self.wait() {
                self.handle(source);
            }
            self.tick(Instant::now());
        }
        self.agents.drain(..).for_each(|(_, runner)| runner.bury());
        orphans::kill(&[self.shared.guardian.pid()]);
        let all = 0..self.shared.streams.count();
        self.shared.streams.finish(all);
        self.shared.guardian.dismiss();
        self.flush();
        self.link.iter_mut().for_each(|link| drop(link.flush_all()));
        0
    }

    /// Writes what agents have printed, and is there for the launcher meanwhile, as [agents](crate::agent) are.
    fn flush(&mut self) {
        while let Some(link) = &self.link {
            let until = self.next_time().expect("there is a link");
            if self.shared.flush_some(Some((link.as_fd(), wanted(link))), Some(until)).is_break() {
                return;
            }
            self.hear();
            self.tick(Instant::now());
        }
    }

    fn wait(&self) -> Vec<Source> {
        let mut waiting: Vec<(Source, BorrowedFd, PollFlags)> = Vec::new();
        let mut wait_for = |source, fd, flags| waiting.push((source, fd, flags));
        let Shared { streams, feed, signals, guardian, .. } = &self.shared;
        if let Some(link) = &self.link {
            wait_for(Source::Link, link.as_fd(), wanted(link));
        }
        if let Some(pipe) = guardian.writable() {
            wait_for(Source::Guardian, pipe, PollFlags::OUT);
        }
        wait_for(Source::Signal, signals.as_fd(), PollFlags::IN);
        for (index, (_, runner)) in self.agents.iter().enumerate().filter(|(_, agent)| !agent.1.has_exited) {
            wait_for(Source::Exit(index), runner.handle.as_fd(), PollFlags::IN);
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
        let link_times = self.link.iter().flat_map(|_| [self.said + BEAT, self.presence.due()]);
        link_times.chain(self.kill_at).chain(self.shared.streams.prompt_time()).min()
    }

    fn handle(&mut self, source: Source) {
        let Shared { streams, feed, guardian, .. } = &mut self.shared;
        match source {
            Source::Exit(index) => self.agent_exited(index),
            Source::Feed(reader) => feed.write(reader),
            Source::Guardian => drop(guardian.send()),
            Source::Input => feed.read(),
            Source::Link => self.hear(),
            Source::Signal => {
                while let Some(signal) = self.shared.signals.next() {
                    self.signalled(signal);
                }
            }
            Source::Sink(sink) => self.shared.write(sink),
            Source::Stream(stream) => drop(streams.read(stream)),
        }
    }

    fn agent_exited(&mut self, index: usize) {
        let (number, runner) = &mut self.agents[index];
        let Some(how) = runner.exit() else { return };
        runner.has_exited = true;
        let number = *number;
        self.tell(&ToLauncher::Exited { number, how });
    }

    fn hear(&mut self) {
        while let Some(link) = &mut self.link {
            let heard = link.hear();
            let said = match heard.map(|frame| frame.map(|frame| ToAgent::decode(&frame))) {
                Ok(None) => return,
                Ok(Some(Ok(said))) => said,
                Ok(Some(Err(_))) | Err(_) => return self.give_up(),
            };
            self.presence = Presence::now();
            match said {
                ToAgent::End { all: true, grace, .. } => {
                    let at = Instant::now() + grace + SILENCE;
                    self.kill_at = Some(self.kill_at.map_or(at, |before| before.min(at)));
                }
                ToAgent::Kill { number } => {
                    let of = self.agents.iter().filter(|(agent, _)| *agent == number);
                    of.for_each(|(_, runner)| runner.kill());
                }
                ToAgent::Signal(signal @ (libc::SIGSTOP | libc::SIGCONT)) => {
                    self.is_stopped = signal == libc::SIGSTOP;
                }
                _ => {}
            }
        }
    }

    fn signalled(&mut self, signal: i32) {
        match signal {
            libc::SIGINT | libc::SIGTERM | libc::SIGHUP => self.give_up(),
            libc::SIGCHLD => {
                let own = self.agents.iter().map(|(_, runner)| runner.pid);
                orphans::bury(&own.chain([self.shared.guardian.pid()]).collect::<Vec<_>>());
            }
            libc::SIGCONT => self.shared.feed.resume(),
            _ => {} // the launcher tells agents itself
        }
    }

    fn tick(&mut self, now: Instant) {
        self.shared.streams.show_prompts(now);
        if self.said + BEAT <= now {
            self.tell(&ToLauncher::Alive);
        }
        if self.attention.was_away(now) || self.is_stopped {
            self.presence.forgive(now);
        }
        let presence = &mut self.presence;
        let is_silent = self.link.as_ref().is_some_and(|link| presence.lost(link, now).is_some());
        if is_silent || self.kill_at.take_if(|at| *at <= now).is_some() {
            self.give_up();
        }
    }

    /// Nothing is left to be waited for.
    fn give_up(&mut self) {
        self.link = None;
        self.kill_at = None;
        self.agents.iter().for_each(|(_, runner)| runner.kill());
    }

    /// Tells the launcher something. That it has gone is found out when it is heard next.
    fn tell(&mut self, what: &ToLauncher) {
        self.said = Instant::now();
        if let Some(link) = &mut self.link
            && link.send(&what.encode()).is_ok()
        {
            let _ = link.flush();
        }
    }
}
