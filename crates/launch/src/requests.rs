//! What the supervisor does for those who ask the brokers of its jobs, and for the process that it serves.

use std::time::Duration;

use oxmpi_broker::{Answer, ClientId, Event, Request, Spawn, Tree};
use rustix::process::Signal;

use crate::birth::{Birth, Origin};
use crate::crew::Crew;
use crate::failure::{Failure, Result};
use crate::report;
use crate::start::Plan;
use crate::status::Cause;
use crate::supervise::Supervisor;

impl Supervisor {
    /// Begins a job.
    ///
    /// # Errors
    /// The launcher's own failure. Ranks that were started before it are left; those of a spawned job are killed.
    pub fn begin(&mut self, plan: Plan, origin: Origin) -> Result<()> {
        let is_spawned = origin.birth().is_some();
        let number = if is_spawned { self.numbers.next().expect("they do not end") } else { 1 };
        let mut crew = plan.crew(self.shared.launcher, number, origin)?;
        match self.server.serve(crew.id()) {
            Err(error) if is_spawned => return Err(Failure::system("listen for requests", error)),
            // Only what the job asks for later fails then.
            _ => {}
        }
        match plan.start(&mut crew, &mut self.shared) {
            Err(failure) if is_spawned => {
                crew.spawn_errors = None;
                if let Some(birth) = crew.origin.birth_mut() {
                    birth.failure = Some(failure.to_string());
                }
                crew.end_with(String::new(), Signal::KILL, Duration::ZERO);
            }
            started => started?,
        }
        self.crews.push(crew);
        Ok(())
    }

    /// Does what a client of a broker wants, or forgets him.
    pub fn asked(&mut self, event: Event) {
        let (client, pid, job, request) = match event {
            Event::Gone(client) => return self.forget(client),
            Event::Request { client, pid, job, request } => (client, pid, job, request),
        };
        // A job that has ended is served no more.
        let Some(index) = self.crews.iter().position(|crew| crew.id() == job) else { return };
        match request {
            Request::Abort { code } => {
                self.server.answer(client, &Answer::Done, None);
                self.end(index, Cause::AbortedFrom { pid, code });
            }
            Request::Connected => self.connected(client),
            Request::Fence => self.enter_fence(client),
            Request::Get { key } => self.get(client, key),
            Request::Lookup { service } => self.look_up(client, service),
            Request::Put { key, record } => self.put(client, key, record),
            Request::Publish { service, port } => self.publish(client, job, service, port),
            Request::Segment => {
                let file = self.crews[index].segment.file().try_clone_to_owned();
                match file {
                    Ok(file) => self.server.answer(client, &Answer::Done, Some(file)),
                    Err(error) => {
                        self.server.answer(client, &Answer::Failed { text: error.to_string() }, None);
                    }
                }
            }
            Request::Spawn(spawn) => {
                if let Err(failure) = self.spawn(index, client, spawn) {
                    self.server.answer(client, &Answer::Failed { text: failure.to_string() }, None);
                }
            }
            Request::Tree => {
                let none = || Answer::Failed { text: "the launcher has one host".to_owned() };
                let answer = self.tree.as_ref().map_or_else(none, Tree::to_answer);
                self.server.answer(client, &answer, None);
            }
            Request::Unpublish { service } => self.unpublish(client, job, service),
        }
    }

    /// Spawns a job for a process of the one at `parent`; who has asked is told later how it goes.
    fn spawn(&mut self, parent: usize, client: ClientId, spawn: Spawn) -> Result<()> {
        let parent = &self.crews[parent];
        if parent.is_ending() {
            return Err(Failure::own("the job is being ended"));
        }
        let plan = Plan::at(parent.job.child(spawn)?, &self.site)?;
        let birth = Birth {
            parent: parent.id(),
            client: Some(client),
            has_begun: false,
            failure: None,
            unsaid: None,
        };
        self.begin(plan, Origin::Spawned(birth))
    }

    /// A client is connected by MPI with the job that it has asked for. From now on what its ranks show counts, and so
    /// does what they have shown before, if that has ended the job: the client has not listened to it.
    fn connected(&mut self, client: ClientId) {
        if let Some(index) = self.born_for(client) {
            return self.take_over(index);
        }
        let Some(ended) = self.unheard.iter().position(|crew| crew.origin.is_watched_by(client)) else {
            return;
        };
        // Among the others only for what it is connected with, which its ranks still show.
        self.crews.push(self.unheard.remove(ended));
        self.take_over(self.crews.len() - 1);
        let mut crew = self.crews.pop().expect("pushed above");
        self.shared.streams.say(&crew.last_words(self.shared.launcher));
        crew.give_up();
    }

    /// The job at `index` is no longer a matter of who has asked for it, nor is what has gone wrong with it.
    fn take_over(&mut self, index: usize) {
        let crew = &mut self.crews[index];
        let Some(birth) = crew.origin.birth_mut() else { return };
        birth.client = None;
        let unsaid = birth.unsaid.take();
        if let Some(cause) = crew.spoilt() {
            self.note_spoilt(index, cause);
        }
        if let Some((cause, text)) = unsaid {
            self.crews[index].end_saying(text);
            self.note(index, |outcome| &mut outcome.failure, cause);
            self.end_connected(index);
        }
    }

    /// A client has gone, and with it the job that it has asked for and is not connected with.
    fn forget(&mut self, client: ClientId) {
        let heard = self.unheard.extract_if(.., |crew| crew.origin.is_watched_by(client));
        heard.for_each(Crew::give_up);
        let Some(born) = self.born_for(client) else { return };
        let Some(birth) = self.crews[born].origin.birth_mut() else { return };
        birth.client = None;
        let parent = birth.parent;
        let number = self.crews.iter().find(|crew| crew.id() == parent).map_or(1, |crew| crew.number);
        self.end_aside(born, Cause::Unwanted { job: number });
    }

    /// The job whose birth a client wants to hear of, by index.
    fn born_for(&self, client: ClientId) -> Option<usize> {
        self.crews.iter().position(|crew| crew.origin.is_watched_by(client))
    }

    /// Tells who has asked for the job at `index` that all its programs have begun.
    pub fn tell_begun(&mut self, index: usize) {
        let crew = &mut self.crews[index];
        let job = crew.id();
        let Some(birth) = crew.origin.birth_mut() else { return };
        birth.has_begun = true;
        if let Some(client) = birth.client {
            self.server.answer(client, &Answer::Spawned { job }, None);
        }
    }

    /// The job at `index` has ended: who has asked for it is told, and nobody can ask it any more.
    pub fn tell_end(&mut self, index: usize) {
        self.read_spawn_error(index);
        let crew = &mut self.crews[index];
        let spoilt = crew.spoilt().map(|cause| report::describe(cause, &crew.states()));
        if let Some(birth) = crew.origin.birth_mut()
            && let Some(client) = birth.client
        {
            let text = birth.failure.take().or(spoilt);
            let text = text.unwrap_or_else(|| "all its processes have ended".to_owned());
            let answer = if birth.has_begun { Answer::Ended { text } } else { Answer::Failed { text } };
            self.server.answer(client, &answer, None);
        }
        let job = crew.id();
        self.withdraw_names(job);
        self.server.dismiss(job);
        // Nobody can say any more that he is connected with these.
        let orphaned = self.unheard.extract_if(.., |crew| crew.origin.parent() == Some(job));
        orphaned.for_each(Crew::give_up);
    }

    /// Gives up a job that has ended and is no more among the others, or keeps it while who has asked for it may still
    /// say that he is connected with it.
    pub fn part_with(&mut self, crew: Crew) {
        let is_unsaid = crew.origin.birth().is_some_and(|birth| birth.unsaid.is_some());
        match (is_unsaid || crew.spoilt().is_some()) && crew.origin.is_watched() {
            true => self.unheard.push(crew),
            false => crew.give_up(),
        }
    }

    /// The process that the launcher serves may want it no more.
    pub fn hear_host(&mut self) {
        if !self.host.as_mut().is_some_and(|host| host.has_gone()) {
            return;
        }
        self.host = None;
        let host = self.crews.iter().position(|crew| crew.origin.is_host());
        // One that is in MPI is about to end, or goes on: its process tells.
        if let Some(index) = host.filter(|&index| !self.crews[index].segment.state(0).phase().is_in_mpi()) {
            self.rank_ended(index, 0);
        }
    }
}
