//! The agents of a launcher: how they are started, and what each is to do.

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Instant;

use oxmpi_broker::{Link, Secret};
use oxmpi_pmi::NodeMap;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use crate::agent::{FLAG, Greeting};
use crate::failure::{Failure, Result};
use crate::hosts::{Host, Launcher, Share};
use crate::job::{Block, Job, StdinTo};
use crate::part::{App, Part};
use crate::spawn::{self, Place, Program, Surroundings};
use crate::supervise::Shared;
use crate::talk::{Order, ToAgent};
use crate::{program, report, streams};

/// An agent, as its launcher knows it.
#[derive(Debug)]
pub struct Agent {
    /// Its host and ranks.
    pub share: Share,
    /// What has started it, which ends when it ends.
    pub pid: Pid,
    /// Readable when that has ended.
    pub handle: OwnedFd,
    /// Whether that has.
    pub has_exited: bool,
    /// The connection with the agent, from when it has come until it goes.
    pub link: Option<Link>,
    /// Whether it has ever come.
    pub has_come: bool,
    /// Whether it has told that its ranks have ended.
    pub has_ended: bool,
    /// Whether it has told that a rank is missed, and that none of its own is waited for.
    pub has_doomed: bool,
    /// See there.
    pub is_idle: bool,
    /// Whether its ranks wait in a fence.
    pub is_fenced: bool,
    /// When it was heard last. To find the programs may take long: its first word is waited for longer.
    pub heard: Instant,
}

impl Agent {
    /// Whether nothing more is to be heard of it.
    pub fn is_over(&self) -> bool {
        self.has_exited && self.link.is_none()
    }

    /// Tells it something, if it is there. That it has gone is found out when it is heard next.
    pub fn tell(&mut self, what: &ToAgent) {
        if let Some(link) = &mut self.link
            && link.send(&what.encode()).is_ok()
        {
            let _ = link.flush();
        }
    }

    /// How what has started it has ended, if it has.
    pub fn exit(&self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = rustix::process::waitid(WaitId::PidFd(self.handle.as_fd()), options).ok()??;
        Some(match status.terminating_signal() {
            Some(signal) => format!("was killed by {}", report::signal_name(signal)),
            None => format!("ended with status {}", status.exit_status().unwrap_or_default()),
        })
    }

    /// Kills what has started it.
    pub fn kill(&self) {
        let _ = rustix::process::kill_process_group(self.pid, Signal::KILL);
    }

    /// It has ended, and with it all that belongs to it here.
    pub fn bury(&self) {
        self.kill();
        let _ = rustix::process::waitid(WaitId::PidFd(self.handle.as_fd()), WaitIdOptions::EXITED);
    }
}

/// Starts an agent for each share of the job's ranks.
///
/// # Errors
/// The launcher's own failure: what starts them is not there, or the system's.
pub fn start(
    job: &Job,
    shares: Vec<Share>,
    (secret, addresses): (&Secret, &[SocketAddr]),
    shared: &mut Shared,
) -> Result<Vec<Agent>> {
    let own = env::current_exe().map_err(|error| Failure::system("find my own program", error))?;
    shared.feed.copy_to_agents();
    let start = |(number, share): (u32, Share)| {
        let greeting = Greeting { number, secret: secret.clone(), addresses: addresses.to_vec() };
        let input = shared.feed.add_agent(greeting.to_line().as_bytes(), reads(job.stdin, &share))?;
        let program = agent_program(job.launcher.as_ref(), &share.host, own.as_os_str())?;
        let pid = spawn_agent(&program, number, input, shared)?;
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty())
            .map_err(|error| Failure::system("watch an agent", error))?;
        Ok(Agent {
            share,
            pid,
            handle,
            has_exited: false,
            link: None,
            has_come: false,
            has_ended: false,
            has_doomed: false,
            is_idle: false,
            is_fenced: false,
            heard: Instant::now(),
        })
    };
    (0..).zip(shares).map(start).collect()
}

/// Whether one of these ranks reads the launcher's standard input.
fn reads(stdin: StdinTo, share: &Share) -> bool {
    share.ranks.iter().any(|&rank| stdin.reaches(rank))
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
            vec!["ssh".into(), "-x".into(), host.into(), OsStr::from_bytes(&quoted).into(), FLAG.into()]
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

/// What each agent is told to do.
pub fn orders(job: &Job, shares: &[Share]) -> Vec<Order> {
    let mut labels = vec![0; job.size() as usize];
    for (node, share) in shares.iter().enumerate() {
        share.ranks.iter().for_each(|&rank| labels[rank as usize] = node);
    }
    let nodes = if shares.len() > 1 { NodeMap::of(labels).to_mapping() } else { String::new() };
    let outer: Vec<_> = env::vars_os().collect();
    let here = env::current_dir().unwrap_or_default();
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
                blocks.push(Block { count, dir: Some(dir), ..block.clone() });
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
        Order { part, job, outer: outer.clone() }
    };
    shares.iter().map(order).collect()
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
        let hosts = ["x:1", "y:3"].map(Host::parse);
        let orders = orders(&job, &shares(4, &hosts, None));
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
