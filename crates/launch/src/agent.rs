//! An agent: `mpiexec` on a host, which starts the ranks of that host as `mpiexec` does on one machine, for a launcher
//! elsewhere.
//!
//! It is called with [`FLAG`] alone. The first line of its standard input says who it is, where the launcher is, and
//! the job's secret: that stands in no argument and no variable, which others on the host could see. What follows is
//! standard input for the ranks. What they print goes to its own output, which the launcher reads. All else is said
//! over a connection to the launcher, on which both prove that they know the secret.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use oxmpi_broker::{Handshake, Link, Secret, Tree};
use rustix::event::{PollFd, PollFlags, Timespec};

use crate::birth::Origin;
use crate::failure::{Failure, Result};
use crate::presence::SILENCE;
use crate::relay;
use crate::start::{Plan, Site};
use crate::supervise::{Shared, Supervisor};
use crate::talk::{Order, ToAgent, ToLauncher};
use crate::uplink::Uplink;

/// The word that makes `mpiexec` an agent.
pub const FLAG: &str = "--oxmpi-agent";

/// What the first line of its input begins with; changes with what is said over the connection.
const GREETING: &str = "oxmpi-agent-8";

/// More than the line can have.
const LONGEST_LINE: usize = 16 << 10;

/// For how long each address is tried.
const CONNECT_TIME: Duration = Duration::from_secs(2);

/// For how long other agents may be waited for.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the first line says.
#[derive(Clone, Debug)]
pub struct Greeting {
    /// Which of the agents it is.
    pub number: u32,
    /// What both know.
    pub secret: Secret,
    /// Where the launcher may be found.
    pub addresses: Vec<SocketAddr>,
}

impl Greeting {
    /// The line.
    pub fn to_line(&self) -> String {
        let addresses: Vec<String> = self.addresses.iter().map(SocketAddr::to_string).collect();
        format!("{GREETING} {} {} {}\n", self.number, self.secret.to_hex(), addresses.join(","))
    }

    /// What a line says, without its end.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        if words.next() != Some(GREETING) {
            return None;
        }
        let (number, secret) = (words.next()?.parse().ok()?, Secret::from_hex(words.next()?)?);
        let addresses = words.next()?.split(',').map(|address| address.parse().ok());
        let greeting = Self { number, secret, addresses: addresses.collect::<Option<_>>()? };
        words.next().is_none().then_some(greeting)
    }
}

/// Runs the agent to its end.
///
/// # Errors
/// The agent's own failure, where the launcher cannot be told.
pub fn run(launcher: &'static str) -> Result<u8> {
    let line = first_line().map_err(|error| Failure::system("read who I am", error))?;
    let greeting = Greeting::parse(&line)
        .ok_or_else(|| Failure::own("an agent is started by mpiexec, of the same version of oxmpi"))?;
    let failed = |error| Failure::system("join the job's launcher", error);
    let (mut link, address) = connect(&greeting).map_err(failed)?;
    let order = match hear(&mut link, Instant::now() + PATIENCE).map_err(failed)? {
        Some(ToAgent::Begin(order)) => *order,
        Some(ToAgent::Relay(members)) => return relay::run(launcher, link, &greeting, members),
        _ => return Ok(0), // the job has failed before it began
    };
    match begin(launcher, order, address) {
        Ok(mut supervisor) => {
            supervisor.uplink = Some(Uplink::new(link));
            supervisor.tree = Some(Tree::new(&greeting.secret, address));
            Ok(supervisor.run())
        }
        Err(failure) => tell_failure(link, &failure).map_err(failed),
    }
}

/// Tells the launcher why there are no ranks here, or not all: the status.
fn tell_failure(mut link: Link, failure: &Failure) -> io::Result<u8> {
    let said = ToLauncher::Failed {
        all: true,
        status: failure.status(),
        is_last_resort: false,
        text: failure.to_string(),
    };
    link.send(&said.encode())?;
    link.flush_all()?;
    // It has been told when the launcher says anything, or goes.
    let _ = hear(&mut link, Instant::now() + SILENCE);
    Ok(failure.status())
}

fn begin(launcher: &'static str, order: Order, address: IpAddr) -> Result<Supervisor> {
    let Order { part, job, outer, terminals } = order;
    let stdin = job.stdin;
    let site = Site { host: part.host.clone(), address: Some(address), outer };
    let numbers = part.numbers_of_spawned();
    let plan = Plan::of_part(job, part, &site)?;
    let mut shared = Shared::take(launcher, stdin)?;
    shared.streams.go_on_to(terminals);
    let mut supervisor = Supervisor::new(shared, site);
    supervisor.numbers = numbers;
    supervisor.begin(plan, Origin::User)?;
    Ok(supervisor)
}

/// The first line of the standard input, and not a byte more: the rest is the ranks'.
fn first_line() -> io::Result<String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < LONGEST_LINE {
        match rustix::io::retry_on_intr(|| rustix::io::read(rustix::stdio::stdin(), &mut byte))? {
            1 if byte != [b'\n'] => line.push(byte[0]),
            _ => break,
        }
    }
    String::from_utf8(line).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Finds the launcher, and lets it know who this is; from which address.
fn connect(Greeting { number, secret, addresses }: &Greeting) -> io::Result<(Link, IpAddr)> {
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses {
        match TcpStream::connect_timeout(address, CONNECT_TIME) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                let own = stream.local_addr()?.ip();
                let mut link = Link::over(stream.into());
                let mut handshake = Handshake::connect(&mut link, secret.clone(), *number)?;
                let until = Instant::now() + SILENCE;
                while handshake.advance(&mut link)?.is_none() {
                    wait(&link, until)?;
                }
                return Ok((link, own));
            }
            Err(error) => failure = io::Error::new(error.kind(), format!("{address}: {error}")),
        }
    }
    Err(failure)
}

/// What the launcher says next but that it is there; nothing if it goes.
pub(crate) fn hear(link: &mut Link, until: Instant) -> io::Result<Option<ToAgent>> {
    loop {
        match link.receive() {
            Ok(Some(frame)) => match ToAgent::decode(&frame)? {
                ToAgent::Alive => {}
                said => return Ok(Some(said)),
            },
            Ok(None) => wait(link, until)?,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}

/// Waits until there is something to read.
fn wait(link: &Link, until: Instant) -> io::Result<()> {
    let left = until.saturating_duration_since(Instant::now());
    let timeout = Timespec::try_from(left).expect("it is short");
    let ready = rustix::io::retry_on_intr(|| {
        rustix::event::poll(&mut [PollFd::new(link, PollFlags::IN)], Some(&timeout))
    })?;
    if ready == 0 { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_agent_learns_who_it_is_from_one_line() {
        let addresses: Vec<SocketAddr> =
            ["10.0.0.1:77", "[fe80::1]:5"].map(|address| address.parse().expect("an address")).to_vec();
        let secret = Secret::new().expect("random numbers");
        let line = Greeting { number: 3, secret: secret.clone(), addresses: addresses.clone() }.to_line();
        let found = Greeting::parse(line.strip_suffix('\n').expect("a line")).expect("it is one");
        assert_eq!((found.number, found.addresses), (3, addresses));
        assert_eq!(found.secret.to_hex(), secret.to_hex());
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_panic(rest in "[ 0-9a-f,:.]{0,90}") {
            let _ = Greeting::parse(&format!("{GREETING} {rest}"));
            let _ = Greeting::parse(&rest);
        }
    }
}
