//! What a process of MPI asks of brokers.

use std::fmt::Display;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use oxmpi_base::{Error, ErrorClass, Result};

use crate::address::Address;
use crate::wire::{Answer, Request, Spawn};
use crate::{Link, Tree, singleton};

/// The broker of a job. Each request is a connection of its own.
#[derive(Clone, Debug)]
pub struct Broker {
    job: u64,
    /// Of a singleton, its own: keeps the broker there.
    keeper: Option<Arc<OwnedFd>>,
}

/// A job that is being started, and what is heard of it then. Who drops it does not want the job, which ends.
#[derive(Debug)]
pub struct Spawning {
    link: Link,
    state: State,
}

/// For how long who ends another job waits for its launcher.
const HEARING: Duration = Duration::from_secs(1);

#[derive(Debug)]
enum State {
    Starting,
    Running,
    Failed,
    Ended(String),
}

impl Broker {
    /// The broker of the job with this number. Whether there is one, the first request tells.
    pub fn of_job(job: u64) -> Self {
        Self { job, keeper: None }
    }

    /// Starts a broker for the job of this process alone, whose number is `job`. The broker ends with this process, or
    /// when this value is dropped and all that it has started has ended.
    ///
    /// # Errors
    /// The system's; `NotFound` if there is no `mpiexec`.
    pub fn start_for_singleton(segment: BorrowedFd, job: u64) -> io::Result<Self> {
        let keeper = singleton::start(segment, job)?;
        Ok(Self { job, keeper: Some(Arc::new(keeper)) })
    }

    /// Whether this process has started it.
    pub fn is_own(&self) -> bool {
        self.keeper.is_some()
    }

    /// The job's number.
    pub fn job(&self) -> u64 {
        self.job
    }

    /// The job's shared memory. Whoever maps it looks whether it is that of the job that he wants. It is not for
    /// processes of the job itself: to close any descriptor of theirs would give their seats up.
    ///
    /// # Errors
    /// The system's; `NotFound` if there is no such job, or it has no broker.
    pub fn segment(&self) -> io::Result<OwnedFd> {
        match self.ask(&Request::Segment)? {
            (Answer::Done, Some(file)) => Ok(file),
            (answer, _) => Err(io::Error::other(refusal(answer))),
        }
    }

    /// Begins to start a new job.
    ///
    /// # Errors
    /// `Spawn` if the broker cannot be asked.
    pub fn spawn(&self, spawn: &Spawn) -> Result<Spawning> {
        let begin = || {
            let mut link = self.connect()?;
            link.send(&Request::Spawn(spawn.clone()).encode())?;
            link.flush_all()?;
            Ok(Spawning { link, state: State::Starting })
        };
        begin().map_err(|error: io::Error| failed(ErrorClass::Spawn, "the launcher cannot be asked", error))
    }

    /// Publishes the name of a port under the name `service`, until it is withdrawn or the job ends.
    ///
    /// # Errors
    /// `Service` if the name is taken, or the broker cannot be asked.
    pub fn publish(&self, service: &str, port: &str) -> Result<()> {
        self.settle(
            ErrorClass::Service,
            &Request::Publish { service: service.to_owned(), port: port.to_owned() },
        )
    }

    /// Withdraws a name that this job has published.
    ///
    /// # Errors
    /// `Service` if the job has not published it, or the broker cannot be asked.
    pub fn unpublish(&self, service: &str) -> Result<()> {
        self.settle(ErrorClass::Service, &Request::Unpublish { service: service.to_owned() })
    }

    /// The name of the port that is published under the name `service` by a job of the same launcher, on any host.
    ///
    /// # Errors
    /// `Name` if there is none, or the broker cannot be asked.
    pub fn lookup(&self, service: &str) -> Result<String> {
        match self.ask(&Request::Lookup { service: service.to_owned() }) {
            Ok((Answer::Published { service: found, port }, _)) if found == service => Ok(port),
            Ok((answer, _)) => Err(Error::new(ErrorClass::Name, refusal(answer))),
            Err(error) => Err(failed(ErrorClass::Name, "the launcher cannot be asked", error)),
        }
    }

    /// What this job shares with others of its launcher on other hosts; nothing if there are none.
    pub fn tree(&self) -> Option<Tree> {
        match self.ask(&Request::Tree) {
            Ok((Answer::Tree { address, secret }, _)) => Tree::parse(&address, &secret),
            _ => None,
        }
    }

    /// Ends the job, as `MPI_Abort` does. Waits a moment until that is heard: a launcher that is stopped hears it when
    /// it goes on, and who is not listened to after as long does not end it.
    ///
    /// # Errors
    /// The system's; `NotFound` if there is no such job any more.
    pub fn abort(&self, code: i32) -> io::Result<()> {
        let address = Address::Broker(self.job);
        let mut link = Link::with_files(address.connect_until(Some(Instant::now() + HEARING))?);
        link.send(&Request::Abort { code }.encode())?;
        link.flush_all()?;
        if !link.wait_for(HEARING)? {
            return Ok(());
        }
        match Answer::decode(&link.wait_for_frame()?.0)? {
            Answer::Done => Ok(()),
            answer => Err(io::Error::other(refusal(answer))),
        }
    }

    /// Tells all ranks of the job a record, from the next fence on.
    ///
    /// # Errors
    /// `Other` if the key is taken, or the broker cannot be asked.
    pub fn put(&self, key: &str, record: &[u8]) -> Result<()> {
        let request = Request::Put { key: key.to_owned(), record: record.to_owned() };
        self.settle(ErrorClass::Other, &request)
    }

    /// Waits until all ranks of the job have called this.
    ///
    /// # Errors
    /// `Other` if the broker is gone.
    pub fn fence(&self) -> Result<()> {
        self.settle(ErrorClass::Other, &Request::Fence)
    }

    /// A record that a rank of the job has put before a fence.
    ///
    /// # Errors
    /// `Other` if nobody has, or the broker is gone.
    pub fn get(&self, key: &str) -> Result<Vec<u8>> {
        match self.ask(&Request::Get { key: key.to_owned() }) {
            Ok((Answer::Record { record }, _)) => Ok(record),
            Ok((answer, _)) => Err(Error::new(ErrorClass::Other, refusal(answer))),
            Err(error) => Err(failed(ErrorClass::Other, "the launcher cannot be asked", error)),
        }
    }

    /// A request that is done, or not.
    fn settle(&self, class: ErrorClass, request: &Request) -> Result<()> {
        match self.ask(request) {
            Ok((Answer::Done, _)) => Ok(()),
            Ok((answer, _)) => Err(Error::new(class, refusal(answer))),
            Err(error) => Err(failed(class, "the launcher cannot be asked", error)),
        }
    }

    fn ask(&self, request: &Request) -> io::Result<(Answer, Option<OwnedFd>)> {
        let mut link = self.connect()?;
        link.send(&request.encode())?;
        link.flush_all()?;
        let (frame, file) = link.wait_for_frame()?;
        Ok((Answer::decode(&frame)?, file))
    }

    fn connect(&self) -> io::Result<Link> {
        Ok(Link::with_files(Address::Broker(self.job).connect_until(None)?))
    }
}

impl Spawning {
    /// Whether the new job has begun, once that is known: its number, or why it has not.
    ///
    /// # Errors
    /// `Spawn`: a program is not there or not executable, or the system lacks something. Nothing is left of the job.
    pub fn poll(&mut self) -> Option<Result<u64>> {
        match self.hear()? {
            Ok(Answer::Spawned { job }) => {
                self.state = State::Running;
                Some(Ok(job))
            }
            Ok(answer) => {
                self.state = State::Failed;
                Some(Err(Error::new(ErrorClass::Spawn, refusal(answer))))
            }
            Err(error) => {
                self.state = State::Failed;
                Some(Err(failed(ErrorClass::Spawn, "the launcher has not answered", error)))
            }
        }
    }

    /// Both jobs are connected by MPI, and nothing more is to be heard: each is on its own.
    pub fn connected(mut self) {
        // A launcher that has gone has ended the job.
        let _ = self.link.send(&Request::Connected.encode()).and_then(|()| self.link.flush_all());
    }

    /// How the job that has begun has ended, if it has; or its launcher.
    pub fn ended(&mut self) -> Option<String> {
        if let State::Running = self.state
            && let Some(heard) = self.hear()
        {
            self.state = State::Ended(match heard {
                Ok(Answer::Ended { text }) => text,
                Ok(_) => "the launcher says what nobody has asked".to_owned(),
                Err(error) => format!("the launcher has gone ({error})"),
            });
        }
        match &self.state {
            State::Ended(text) => Some(text.clone()),
            _ => None,
        }
    }

    fn hear(&mut self) -> Option<io::Result<Answer>> {
        let frame = self.link.receive().transpose()?;
        Some(frame.and_then(|frame| Ok(Answer::decode(&frame)?)))
    }
}

/// Readable when there may be something to hear.
impl AsFd for Spawning {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}

/// The name of the port that is published under the name `service` by a process of this user on this machine.
///
/// # Errors
/// `Name` if there is none, or its publisher does not answer.
pub fn lookup(service: &str) -> Result<String> {
    let ask = || -> io::Result<Answer> {
        let mut link = Link::over(Address::of_service(service).connect()?);
        Ok(Answer::decode(&link.wait_for_frame()?.0)?)
    };
    match ask() {
        Ok(Answer::Published { service: found, port }) if found == service => Ok(port),
        Ok(_) => Err(Error::new(ErrorClass::Name, format!("nobody has published {service:?}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(Error::new(ErrorClass::Name, format!("nobody has published {service:?} on this machine")))
        }
        Err(error) => {
            Err(failed(ErrorClass::Name, format!("who has published {service:?} is silent"), error))
        }
    }
}

fn failed(class: ErrorClass, what: impl Display, error: io::Error) -> Error {
    Error::new(class, format!("{what}: {error}"))
}

fn refusal(answer: Answer) -> String {
    match answer {
        Answer::Failed { text } => text,
        _ => "the launcher has answered what was not asked".to_owned(),
    }
}
