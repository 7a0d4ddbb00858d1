//! The agents of a launcher: how they are started, and what each is to do.

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use oxmpi_broker::{Link, Secret};
use oxmpi_pmi::NodeMap;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use super::relays::{self, Relay};
use crate::agent::{FLAG, Greeting};
use crate::failure::{Failure, Result};
use crate::hosts::{Host, Launcher, Share};
use crate::job::{Block, Job, StdinTo};
use crate::part::{App, Part};
use crate::presence::Presence;
use crate::spawn::{self, Place, Program, Surroundings};
use crate::supervise::Shared;
use crate::talk::{Member, Members, Order, ToAgent};
use crate::{program, report, streams};

/// How `ssh` starts an agent: it asks nothing. In a process group of its own a question would stop it before anybody
/// sees it.
const SSH: [&str; 4] = ["ssh", "-x", "-o", "BatchMode=yes"];

/// A process here by which one on a host runs, and with which it ends.
#[derive(Debug)]
pub struct Runner {
    pub pid: Pid,
    /// Readable when it has ended.
    pub handle: OwnedFd,
    /// Whether it has.
    pub has_exited: bool,
}

/// An agent, as its launcher knows it.
#[derive(Debug)]
pub struct Agent {
    /// Its host and ranks.
    pub share: Share,
    /// What has started it, unless a [relay](super::relays) has.
    pub runner: Option<Runner>,
    /// The connection with the agent, from when it has come until it goes.
    pub link: Option<Link>,
    /// Whether it has ever come.
    pub has_come: bool,
    /// Whether it has told that its ranks have ended.
    pub has_ended: bool,
    /// Whether it has told that a rank is missed somewhere, and that none of its own is waited for. That counts when it
    /// has heard all that it was told of those that are missed.
    pub is_idle: bool,
    /// How often it was told that one of its own is missed.
    pub missed: u32,
    /// Whether its ranks wait in a fence.
    pub is_fenced: bool,
    /// When it was heard last. To find the programs may take long: its first word is waited for longer.
    pub presence: Presence,
}

impl Runner {
    /// How it has ended, if it has.
    pub fn exit(&self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = rustix::process::waitid(WaitId::PidFd(self.handle.as_fd()), options).ok()??;
        Some(match status.terminating_signal() {
            Some(signal) => format!("was killed by {}", report::signal_name(signal)),
            None => format!("ended with status {}", status.exit_status().unwrap_or_default()),
        })
    }

    /// Kills it.
    pub fn kill(&self) {
        let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
    }

    /// It has ended, and with it all that belongs to it here.
    pub fn bury(&self) {
        self.kill();
        let _ = rustix::process::waitid(WaitId::PidFd(self.handle.as_fd()), WaitIdOptions::EXITED);
    }
}

impl Agent {
    fn new(share: Share, runner: Option<Runner>) -> Self {
        Self {
            share,
            runner,
            link: None,
            has_come: false,
            has_ended: false,
            is_idle: false,
            missed: 0,
            is_fenced: false,
            presence: Presence::now(),
        }
    }

    /// Whether nothing more is to be heard of it.
    pub fn is_over(&self) -> bool {
        self.link.is_none() && self.runner.as_ref().is_none_or(|runner| runner.has_exited)
    }

    /// Tells it that one of its ranks is missed.
    pub fn tell_missed(&mut self, rank: u32) {
        self.missed += 1;
        self.is_idle = false;
        self.tell(&ToAgent::Missed { rank });
    }

    /// Tells it something, if it is there. That it has gone is found out when it is heard next.
    pub fn tell(&mut self, what: &ToAgent) {
        tell(&mut self.link, what);
    }

    /// Kills what has started it, if that is here.
    pub fn kill(&self) {
        self.runner.iter().for_each(Runner::kill);
    }
}

/// Tells somebody something who is there.
pub fn tell(link: &mut Option<Link>, what: &ToAgent) {
    if let Some(link) = link
        && link.send(&what.encode()).is_ok()
    {
        let _ = link.flush();
    }
}

/// Starts an agent for each share of the job's ranks, or who starts it.
///
/// # Errors
/// The launcher's own failure: what starts them is not there, or the system's.
pub fn start(
    job: &Job,
    shares: Vec<Share>,
    (secret, addresses): (&Secret, &[SocketAddr]),
    shared: &mut Shared,
) -> Result<(Vec<Agent>, Vec<Relay>)> {
    shared.feed.copy_to_agents();
    let far = |share: &Share| !Host { name: share.host.clone(), slots: None }.is_here();
    let groups = relays::groups((0..shares.len()).filter(|&at| far(&shares[at])).collect(), job.branches());
    let count = u32::try_from(shares.len()).expect("there are not more hosts than ranks");
    let mut run = |number, share: &Share, wants_input| {
        let greeting = Greeting { number, secret: secret.clone(), addresses: addresses.to_vec() };
        run_on(&share.host, job.launcher.as_ref(), &greeting, wants_input, shared)
    };
    let mut relays = Vec::new();
    for (number, members) in (count..).zip(groups) {
        let wants_input = members.iter().any(|&member| reads(job.stdin, &shares[member]));
        let first = &shares[members[0]];
        relays.push(Relay::new(first.host.clone(), run(number, first, wants_input)?, members));
    }
    let is_relayed = |number: u32| relays.iter().any(|relay| relay.members.contains(&(number as usize)));
    let start = |(number, share): (u32, Share)| {
        let is_own = !is_relayed(number);
        let runner = is_own.then(|| run(number, &share, reads(job.stdin, &share))).transpose()?;
        Ok(Agent::new(share, runner))
    };
    let agents = (0..).zip(shares).map(start).collect::<Result<_>>()?;
    Ok((agents, relays))
}

/// Starts this program on a host.
///
/// # Errors
/// As [`start`].
pub fn run_on(
    host: &str,
    launcher: Option<&Launcher>,
    greeting: &Greeting,
    wants_input: bool,
    shared: &mut Shared,
) -> Result<Runner> {
    let own = env::current_exe().map_err(|error| Failure::system("find my own program", error))?;
    let input = shared.feed.add_agent(greeting.to_line().as_bytes(), wants_input)?;
    let program = agent_program(launcher, host, own.as_os_str())?;
    let pid = spawn_agent(&program, greeting.number, input, shared)?;
    let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty())
        .map_err(|error| Failure::system("watch an agent", error))?;
    Ok(Runner { pid, handle, has_exited: false })
}

/// Whether one of these ranks reads the launcher's standard input.
pub fn reads(stdin: StdinTo, share: &Share) -> bool {
    share.ranks.iter().any(|&rank| stdin.reaches(rank))
}

/// What a relay is told: the agents that it is to start.
pub fn members(job: &Job, agents: &[Agent], numbers: &[usize], terminals: [bool; 2]) -> Members {
    let member = |&number: &usize| Member {
        number: u32::try_from(number).expect("there are not more hosts than ranks"),
        host: agents[number].share.host.clone(),
        reads: reads(job.stdin, &agents[number].share),
    };
    let here = env::current_dir().unwrap_or_default();
    let launcher = job.launcher.as_ref().map(|launcher| launcher.found_from(&here));
    Members { launcher, agents: numbers.iter().map(member).collect(), terminals }
}

fn spawn_agent(program: &Program, number: u32, input: OwnedFd, shared: &mut Shared) -> Result<Pid> {
    let outlet = streams::Outlet::of_agents();
    let [output, error] = shared.streams.add_rank(&outlet, 0, number)?;
    let place = Place {
        rank: number,
        environment: &[],
        streams: [input.as_fd(), output.as_fd(), error.as_fd()],
        inherited: &[],
        cpus: None,
    };
    let surroundings = Surroundings {
        launcher: rustix::process::getpid(),
        signals: shared.signals.before(),
        open_files: shared.open_files,
        // It cannot be executed if it was found a moment ago: its end tells enough.
        errors: error.as_fd(),
    };
    let failed = |error| Failure::system("start an agent", error);
    let pid = spawn::spawn(program, &place, &surroundings).map_err(failed)?;
    shared.guardian.watch(pid).map_err(failed)?;
    Ok(pid)
}

/// What starts the agent of a host: `own` is this program, which is at the same place there.
fn agent_program(launcher: Option<&Launcher>, host: &str, own: &OsStr) -> Result<Program> {
    let is_here = Host { name: host.to_owned(), slots: None }.is_here();
    let words: Vec<OsString> = match launcher {
        Some(Launcher::Fork) => vec![own.into(), FLAG.into()],
        Some(Launcher::Command(words)) => [&words[..], &[host.into(), own.into(), FLAG.into()]].concat(),
        Some(Launcher::Ssh) | None if is_here => vec![own.into(), FLAG.into()],
        Some(Launcher::Ssh) | None => {
            // A shell reads the command there.
            let quoted = own.as_bytes().split(|&byte| byte == b'\'').collect::<Vec<_>>().join(&b"'\\''"[..]);
            let quoted = [b"'", &quoted[..], b"'"].concat();
            let command = [host.into(), OsStr::from_bytes(&quoted).into(), FLAG.into()];
            [&SSH.map(OsString::from)[..], &command].concat()
        }
    };
    let search = env::var_os("PATH").unwrap_or_default();
    let block = Block { count: 1, program: words[0].clone(), ..Block::default() };
    let path = program::resolve(&block, &search)?;
    let c_string = |word: &OsStr| {
        CString::new(word.as_bytes()).map_err(|_| Failure::own("the name of a host contains a zero byte"))
    };
    let line = |(name, value): (OsString, OsString)| {
        CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).expect("it has come from there")
    };
    Ok(Program {
        path: c_string(path.as_os_str())?,
        arguments: words.iter().map(|word| c_string(word)).collect::<Result<_>>()?,
        environment: env::vars_os().map(line).collect(),
        dir: None,
        foreign_mpi: None,
    })
}

/// What each agent is told to do; what its ranks print goes to `terminals`, output and error.
pub fn orders(job: &Job, shares: &[Share], terminals: [bool; 2]) -> Vec<Order> {
    let mut labels = vec![0; job.size() as usize];
    for (node, share) in shares.iter().enumerate() {
        share.ranks.iter().for_each(|&rank| labels[rank as usize] = node);
    }
    let nodes = if shares.len() > 1 { NodeMap::of(labels).to_mapping() } else { String::new() };
    let here = env::current_dir().unwrap_or_default();
    let outer: Vec<_> = env::vars_os().collect();
    let search = env::var_os("PATH").unwrap_or_default();
    let order = |share: &Share| {
        let mut part = Part {
            host: Some(share.host.clone()),
            ranks: share.ranks.clone(),
            size: job.size(),
            nodes: nodes.clone(),
            apps: Vec::new(),
        };
        let mut blocks = Vec::new();
        let mut first = 0;
        for (number, block) in (0..).zip(&job.blocks) {
            let ranks = first..first + block.count;
            first = ranks.end;
            let count = share.ranks.iter().filter(|rank| ranks.contains(rank)).count();
            if count > 0 {
                part.apps.push(App { number, count: block.count });
                let dir: PathBuf = here.join(block.dir.as_deref().unwrap_or(&here));
                let count = u32::try_from(count).expect("not more than the block has");
                let path = path_from(&here, block.path.as_deref(), &search);
                blocks.push(Block { count, hosts: Vec::new(), dir: Some(dir), path, ..block.clone() });
            }
        }
        let stdin = if reads(job.stdin, share) { job.stdin } else { StdinTo::None };
        let output_dir = job.output_dir.as_ref().map(|dir| here.join(dir));
        let job = Job {
            blocks,
            hosts: Vec::new(),
            launcher: None,
            interface: None,
            per_node: None,
            stdin,
            output_dir,
            ..job.clone()
        };
        Order { part, job, outer: outer.clone(), terminals }
    };
    shares.iter().map(order).collect()
}

/// The path of a block for who is elsewhere. Directories that are seen from here stand in it though they come from
/// `search`, the value of `PATH`, which itself stays as it is: ranks have a directory of their own to see that from.
/// Unchanged where a `:` in the name of `here` would separate, too.
fn path_from(here: &Path, path: Option<&OsStr>, search: &OsStr) -> Option<OsString> {
    let is_seen_from_here = env::split_paths(search).any(|dir| dir.is_relative());
    let both = path.into_iter().chain(is_seen_from_here.then_some(search));
    let all: Vec<_> = both.flat_map(env::split_paths).map(|dir| here.join(dir)).collect();
    (!all.is_empty()).then(|| env::join_paths(all).ok()).flatten().or_else(|| path.map(OsStr::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::shares;

    #[test]
    fn each_host_is_told_its_ranks_and_what_they_run() {
        let block = |count, program: &str| Block { count, program: program.into(), ..Block::default() };
        let job =
            Job { blocks: vec![block(2, "a"), block(2, "b")], stdin: StdinTo::Rank(3), ..Job::default() };
        let hosts = Host::in_list("x:1,y:3").expect("they are hosts");
        let orders = orders(&job, &shares(4, &hosts, None), [true, false]);
        assert_eq!(orders.len(), 2);
        let [x, y] = [&orders[0], &orders[1]];
        assert_eq!((&*x.part.ranks, &*y.part.ranks), (&[0][..], &[1, 2, 3][..]));
        assert_eq!(y.part.apps, [App { number: 0, count: 2 }, App { number: 1, count: 2 }]);
        assert_eq!(y.job.blocks.iter().map(|block| block.count).collect::<Vec<_>>(), [1, 2]);
        assert_eq!((x.job.stdin, y.job.stdin), (StdinTo::None, StdinTo::Rank(3)));
        assert_eq!(
            (&*x.part.nodes, &*y.part.nodes),
            ("(vector,(0,1,1),(1,1,3))", "(vector,(0,1,1),(1,1,3))")
        );
    }

    #[test]
    fn a_command_gets_the_host_and_ssh_a_word_that_its_shell_leaves_alone() {
        let words = |program: Program| -> Vec<String> {
            program.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect()
        };
        let enter = Launcher::Command(["env", "--"].map(OsString::from).to_vec());
        let program = agent_program(Some(&enter), "h", OsStr::new("/a b/mpiexec")).expect("env is there");
        assert_eq!(words(program), ["env", "--", "h", "/a b/mpiexec", FLAG]);
        let here = agent_program(None, "localhost", OsStr::new("/bin/sh")).expect("it is there");
        assert_eq!(words(here), ["/bin/sh", FLAG]);
    }
}
