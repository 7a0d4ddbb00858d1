//! Published names of an agent's jobs, which jobs on all hosts of the launcher find.
//!
//! A name is published on its own host, as by any launcher, where jobs of others find it, too. Before, the launcher is
//! asked, who keeps those of all hosts; so is he for what is not found here. Who wants something is answered when he
//! has answered: whoever hears of that then finds what there is.

use std::collections::BTreeMap;
use std::io;

use oxmpi_broker::{Answer, ClientId};

use crate::crew::Crew;
use crate::supervise::Supervisor;
use crate::talk::ToLauncher;
use crate::uplink::Uplink;

/// What the launcher was asked, by number, and who waits for that.
#[derive(Debug, Default)]
pub struct Questions {
    asked: BTreeMap<u32, (ClientId, Question)>,
    last: u32,
}

#[derive(Debug)]
enum Question {
    Lookup { service: String },
    Publish { job: u64, service: String, port: String },
    Unpublish,
}

/// The number of what is not answered.
const NOTHING: u32 = 0;

impl Questions {
    fn add(&mut self, client: ClientId, question: Question) -> u32 {
        self.last = self.last.checked_add(1).unwrap_or(NOTHING + 1);
        self.asked.insert(self.last, (client, question));
        self.last
    }
}

impl Uplink {
    fn ask(&mut self, client: ClientId, question: Question, said: impl FnOnce(u32) -> ToLauncher) {
        let number = self.questions.add(client, question);
        self.tell(&said(number));
    }
}

impl Supervisor {
    /// Publishes a name for a job.
    pub fn publish(&mut self, client: ClientId, job: u64, service: String, port: String) {
        let Some(uplink) = &mut self.uplink else {
            let done = self.server.publish(job, service, port);
            return self.settle(client, done);
        };
        let question = Question::Publish { job, service: service.clone(), port: port.clone() };
        uplink.ask(client, question, |number| ToLauncher::Publish { number, service, port });
    }

    /// Withdraws a name that a job has published.
    pub fn unpublish(&mut self, client: ClientId, job: u64, service: String) {
        if !self.server.unpublish(job, &service) {
            let text = format!("{service:?} is not published by this job");
            return self.server.answer(client, &Answer::Failed { text }, None);
        }
        match &mut self.uplink {
            Some(uplink) => {
                uplink.ask(client, Question::Unpublish, |number| ToLauncher::Unpublish { number, service });
            }
            None => self.server.answer(client, &Answer::Done, None),
        }
    }

    /// Looks a name up that was not found on this host.
    pub fn look_up(&mut self, client: ClientId, service: String) {
        match &mut self.uplink {
            Some(uplink) => {
                let question = Question::Lookup { service: service.clone() };
                uplink.ask(client, question, |number| ToLauncher::Lookup { number, service });
            }
            None => {
                let text = format!("nobody has published {service:?} on this machine");
                self.server.answer(client, &Answer::Failed { text }, None);
            }
        }
    }

    /// What the launcher has answered: a port, or that it is so; nothing if it is not.
    pub fn take_name(&mut self, number: u32, found: Option<String>) {
        let asked = self.uplink.as_mut().and_then(|uplink| uplink.questions.asked.remove(&number));
        let Some((client, question)) = asked else { return };
        match (question, found) {
            (Question::Lookup { service }, Some(port)) => {
                self.server.answer(client, &Answer::Published { service, port }, None);
            }
            (Question::Lookup { service }, None) => {
                let text = format!("nobody has published {service:?} on a host of this job's mpiexec");
                self.server.answer(client, &Answer::Failed { text }, None);
            }
            (Question::Publish { job, service, port }, Some(_)) => {
                self.publish_here(client, job, service, port)
            }
            (Question::Publish { service, .. }, None) => {
                let text = format!("{service:?} is published already");
                self.server.answer(client, &Answer::Failed { text }, None);
            }
            (Question::Unpublish, _) => self.server.answer(client, &Answer::Done, None),
        }
    }

    /// The launcher has the name. Somebody else may have it here, or the job has ended meanwhile.
    fn publish_here(&mut self, client: ClientId, job: u64, service: String, port: String) {
        let done = match self.crews.iter().map(Crew::id).any(|id| id == job) {
            true => self.server.publish(job, service.clone(), port),
            false => Err(io::Error::other("the job has ended")),
        };
        if let (Err(_), Some(uplink)) = (&done, &mut self.uplink) {
            uplink.tell(&ToLauncher::Unpublish { number: NOTHING, service });
        }
        self.settle(client, done);
    }

    /// A job ends, and with it what it has published.
    pub fn withdraw_names(&mut self, job: u64) {
        let Some(uplink) = &mut self.uplink else { return };
        for service in self.server.names_of(job) {
            uplink.tell(&ToLauncher::Unpublish { number: NOTHING, service });
        }
    }

    fn settle(&mut self, client: ClientId, done: io::Result<()>) {
        let failed = |error: io::Error| Answer::Failed { text: error.to_string() };
        self.server.answer(client, &done.map_or_else(failed, |()| Answer::Done), None);
    }
}
