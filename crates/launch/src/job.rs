//! What the user asked for: the description of a job, free of any system object.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use oxmpi_broker::Spawn;

use crate::bind::Policy;
use crate::conductor;
use crate::environment::Rules;
use crate::failure::{Failure, Result};
use crate::hosts::{self, Host, Launcher, Share};

/// A job: one or more blocks of ranks that share a world, and how to run them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// The executables, in the order of their ranks.
    pub blocks: Vec<Block>,
    /// Environment rules for all blocks.
    pub environment: Rules,
    /// How ranks are bound to CPUs.
    pub bind: Policy,
    /// Print where each rank is bound.
    pub report_bindings: bool,
    /// The port of the process that has spawned the job, if one has.
    pub parent_port: Option<String>,
    /// Hosts the job was asked to run on, those of all blocks among them.
    pub hosts: Vec<Host>,
    /// Ranks of each host, if the user says.
    pub per_node: Option<u32>,
    /// Nobody has said how many ranks there are: as many as the hosts have room for.
    pub fills_hosts: bool,
    /// What starts agents on hosts, if the user says.
    pub launcher: Option<Launcher>,
    /// On so many hosts at most the launcher starts agents itself, if the user says.
    pub branches: Option<u32>,
    /// The address at which agents find the launcher, or the name of its interface, if the user says.
    pub interface: Option<String>,
    /// Who reads the launcher's standard input.
    pub stdin: StdinTo,
    /// Begin each line of output with its rank.
    pub tag: bool,
    /// Begin each line of output with the time.
    pub timestamp: bool,
    /// Write the output of each rank to a file of its own in this directory.
    pub output_dir: Option<PathBuf>,
    /// End the job after this time.
    pub time_limit: Option<Duration>,
    /// How long ranks may take to end by themselves where one is missed that has left.
    pub doom_grace: Option<Duration>,
    /// Print what every rank is doing after this time.
    pub hang_after: Option<Duration>,
    /// Tell what the launcher does.
    pub verbose: bool,
    /// Options that mean nothing here, to be named when `verbose`.
    pub ignored: Vec<String>,
}

/// One executable of a job and the ranks that run it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Number of ranks; one if the user gave none.
    pub count: u32,
    /// The program as typed.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Hosts that this block is to run on; those of the job if it names none.
    pub hosts: Vec<Host>,
    /// Working directory; the launcher's if the user gave none.
    pub dir: Option<PathBuf>,
    /// Directories (separated by `:`) to search before `PATH`.
    pub path: Option<OsString>,
    /// Environment rules for this block.
    pub environment: Rules,
}

/// Which ranks read the launcher's standard input; the others read end-of-file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinTo {
    /// Every rank reads a copy.
    All,
    /// No rank.
    None,
    /// This rank of the world.
    Rank(u32),
}

impl Default for StdinTo {
    fn default() -> Self {
        Self::Rank(0)
    }
}

impl StdinTo {
    /// Whether `rank` reads it.
    pub fn reaches(self, rank: u32) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Rank(reader) => reader == rank,
        }
    }
}

/// More ranks than any machine can hold as processes.
pub const MAX_RANKS: u32 = 1 << 20;

impl Job {
    /// Gives the only block as many ranks as there is room for on the hosts, where nobody has said how many.
    ///
    /// # Errors
    /// See [`Job::check`].
    pub fn fill_hosts(&mut self) -> Result<()> {
        if let ([block], true, false) = (&mut *self.blocks, self.fills_hosts, self.hosts.is_empty()) {
            let hosts = if block.hosts.is_empty() { &self.hosts } else { &block.hosts };
            block.count = hosts::room(hosts, self.per_node);
            if block.count == 0 {
                let hosts: Vec<String> = hosts.iter().map(Host::to_string).collect();
                return Err(Failure::own(format!(
                    "the hosts have room for no rank ({}); name slots above 0, or say -n",
                    hosts.join(",")
                )));
            }
        }
        self.check()
    }

    /// All hosts, as often as they are named.
    pub fn named_hosts(&mut self) -> Vec<&mut Host> {
        self.hosts.iter_mut().chain(self.blocks.iter_mut().flat_map(|block| &mut block.hosts)).collect()
    }

    /// Which ranks go to which host, in the order of their first ranks: those of a block to the hosts that it names,
    /// all others together to those of the job.
    pub fn shares(&self) -> Vec<Share> {
        let mut together = (&self.hosts, Vec::new());
        let mut apart = Vec::new();
        let mut first = 0;
        for Block { count, hosts, .. } in &self.blocks {
            let ranks = first..first + count;
            first = ranks.end;
            // The only block that names hosts names them for all.
            match hosts.is_empty() || *hosts == self.hosts {
                true => together.1.extend(ranks),
                false => apart.push((hosts, ranks.collect())),
            }
        }
        let mut ranks_of: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for (hosts, ranks) in iter::once(together).chain(apart) {
            for share in hosts::shares(u32::try_from(ranks.len()).unwrap_or(u32::MAX), hosts, self.per_node) {
                let ranks = share.ranks.iter().map(|&place| ranks[place as usize]);
                ranks_of.entry(share.host).or_default().extend(ranks);
            }
        }
        let mut shares: Vec<Share> =
            ranks_of.into_iter().map(|(host, ranks)| Share { host, ranks }).collect();
        shares.iter_mut().for_each(|share| share.ranks.sort_unstable());
        shares.sort_unstable_by_key(|share| share.ranks[0]);
        shares
    }

    /// On so many hosts at most the launcher starts agents itself.
    pub fn branches(&self) -> u32 {
        self.branches.unwrap_or(conductor::BRANCHES)
    }

    /// Whether it can be started, as far as numbers tell.
    ///
    /// # Errors
    /// The launcher's own failure, if there are too few or too many ranks, or the reader of the input is none of them.
    pub fn check(&self) -> Result<()> {
        let size: u64 = self.blocks.iter().map(|block| u64::from(block.count)).sum();
        if size == 0 || size > u64::from(MAX_RANKS) {
            return Err(Failure::own(format!("the job has {size} ranks; it can have 1 to {MAX_RANKS}")));
        }
        match self.stdin {
            StdinTo::Rank(rank) if u64::from(rank) >= size => {
                Err(Failure::own(format!("--stdin {rank}: the job has ranks 0 to {}", size - 1)))
            }
            _ => Ok(()),
        }
    }

    /// The job that a rank of this one spawns. What the rank does not say is as for its own program.
    ///
    /// # Errors
    /// The launcher's own failure, if the job has too few or too many ranks, or a variable has no name.
    pub fn child(&self, wanted: Spawn) -> Result<Self> {
        let like = self.block_of(wanted.rank);
        let size: u64 = wanted.blocks.iter().map(|block| u64::from(block.max_procs)).sum();
        if size == 0 || size > u64::from(MAX_RANKS) {
            return Err(Failure::own(format!("maxprocs is {size} in all; it can be 1 to {MAX_RANKS}")));
        }
        let mut job = Self {
            blocks: Vec::new(),
            hosts: Vec::new(),
            launcher: None,
            interface: None,
            parent_port: Some(wanted.parent_port),
            stdin: StdinTo::None,
            time_limit: None, // the first job's concerns all
            hang_after: None,
            ignored: Vec::new(),
            output_dir: self.output_dir.clone(),
            environment: self.environment.clone(),
            ..*self
        };
        for block in wanted.blocks {
            let is_wrong = |name: &OsString| name.is_empty() || name.as_bytes().contains(&b'=');
            if let Some((name, _)) = block.environment.iter().find(|(name, _)| is_wrong(name)) {
                let text = format!("`{}` cannot be the name of a variable", name.to_string_lossy());
                return Err(Failure::own(text));
            }
            let mut environment = like.environment.clone();
            environment.set.extend(block.environment);
            let hosts: std::result::Result<Vec<Host>, String> =
                block.hosts.iter().map(|host| Host::parse(host)).collect();
            job.hosts.extend(hosts.map_err(|why| Failure::own(format!("the info key host names {why}")))?);
            job.blocks.push(Block {
                count: block.max_procs,
                program: block.command,
                arguments: block.arguments,
                hosts: Vec::new(),
                dir: block.dir.or_else(|| like.dir.clone()),
                path: block.path.or_else(|| like.path.clone()),
                environment,
            });
        }
        Ok(job)
    }

    /// What `rank` runs; nothing, with nothing special, if there is no such rank.
    fn block_of(&self, rank: u32) -> Block {
        let mut first = 0_u32;
        let mut blocks = self.blocks.iter();
        let found = blocks.find(|block| {
            first = first.saturating_add(block.count);
            rank < first
        });
        found.cloned().unwrap_or_default()
    }

    /// What is said of options without effect, if the user wants to be told.
    pub fn remarks(&self) -> impl Iterator<Item = String> {
        self.ignored.iter().filter(|_| self.verbose).map(|option| format!("{option} has no effect here"))
    }

    /// Number of ranks of all blocks.
    pub fn size(&self) -> u32 {
        self.blocks.iter().map(|block| block.count).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_spawned_job_is_as_the_program_of_its_spawner_unless_it_says_otherwise() {
        let block = |count, dir: &str| Block { count, dir: Some(dir.into()), ..Block::default() };
        let mut parent = Job { blocks: vec![block(2, "a"), block(1, "b")], tag: true, ..Job::default() };
        parent.blocks[1].environment.set.push(("X".into(), "1".into()));
        let wanted = |dir: Option<&str>| oxmpi_broker::Block {
            command: "program".into(),
            max_procs: 3,
            dir: dir.map(Into::into),
            environment: vec![("Y".into(), "2".into())],
            ..oxmpi_broker::Block::default()
        };
        let blocks = vec![wanted(None), wanted(Some("c"))];
        let spawn = Spawn { rank: 2, blocks, parent_port: "port".to_owned() };
        let child = parent.child(spawn.clone()).expect("nothing is wrong");
        assert!(child.tag && child.size() == 6 && child.parent_port.as_deref() == Some("port"));
        let dirs: Vec<_> = child.blocks.iter().map(|block| block.dir.clone()).collect();
        assert_eq!(dirs, [Some("b".into()), Some("c".into())]);
        let set = [("X".into(), "1".into()), ("Y".into(), "2".into())];
        assert_eq!(child.blocks[0].environment.set, set);
        assert_eq!(parent.child(Spawn { rank: 1, ..spawn }).expect("right").blocks[0].dir, Some("a".into()));
    }

    fn placed(counts: &[u32], named: &[&str], all: &str) -> String {
        let hosts = |list: &str| match list {
            "" => Vec::new(),
            list => Host::in_list(list).expect("they are hosts"),
        };
        let block = |(&count, &list)| Block { count, hosts: hosts(list), ..Block::default() };
        let blocks = counts.iter().zip(named).map(block).collect();
        let shares = Job { blocks, hosts: hosts(all), ..Job::default() }.shares();
        let share = |Share { host, ranks }: &Share| format!("{host}{ranks:?}");
        shares.iter().map(share).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ranks_of_a_block_run_on_the_hosts_that_it_names() {
        assert_eq!(placed(&[1, 4], &["b", "a"], "b,a"), "b[0] a[1, 2, 3, 4]");
        assert_eq!(placed(&[1, 2, 2], &["b", "a,b", "b:9"], "b,a,b,b:9"), "b[0, 2, 3, 4] a[1]");
        assert_eq!(placed(&[2, 2], &["a,b", "a,b"], "a,b,a,b"), "a[0, 2] b[1, 3]");
    }

    #[test]
    fn blocks_that_name_no_hosts_share_those_of_the_job() {
        assert_eq!(placed(&[1, 4], &["a:2,b:4", ""], "a:2,b:4"), "a[0, 1] b[2, 3, 4]");
        assert_eq!(placed(&[1, 2], &["", ""], "x,y,z"), "x[0] y[1] z[2]");
        assert_eq!(placed(&[1, 2, 1], &["", "b", "a"], "b,a"), "b[0, 1, 2] a[3]");
        assert_eq!(placed(&[1, 2], &["c", ""], "a,b,c"), "c[0] a[1] b[2]", "lines of a file, and its hosts");
    }

    proptest! {
        #[test]
        fn every_rank_has_one_host(blocks in vec((1_u32..9, "([abc](:[1-3])?(,[abc](:[1-3])?)?)?"), 1..5)) {
            let (counts, named): (Vec<u32>, Vec<&str>) =
                blocks.iter().map(|(count, hosts)| (*count, &**hosts)).unzip();
            let all: Vec<&str> =
                iter::once("a").chain(named.iter().copied().filter(|list| !list.is_empty())).collect();
            let shares = placed(&counts, &named, &all.join(","));
            let mut ranks: Vec<u32> =
                shares.split(|letter: char| !letter.is_ascii_digit()).flat_map(str::parse).collect();
            ranks.sort_unstable();
            prop_assert_eq!(ranks, (0..counts.iter().sum()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn hosts_without_room_do_not_say_how_many_ranks_there_are() {
        let hosts = Host::in_list("a:0,b:0").expect("they are hosts");
        let mut job = Job { blocks: vec![Block::default()], hosts, fills_hosts: true, ..Job::default() };
        let error = job.fill_hosts().expect_err("there is room for none").to_string();
        assert!(error.contains("(a:0,b:0)") && error.contains("-n"), "{error}");
        job.per_node = Some(2);
        job.fill_hosts().expect("two on each");
        assert_eq!(job.size(), 4);
    }

    #[test]
    fn what_cannot_be_spawned_is_refused() {
        let spawn = |max_procs, name: &str| {
            let environment = vec![(name.into(), "1".into())];
            let block = oxmpi_broker::Block { max_procs, environment, ..oxmpi_broker::Block::default() };
            Job::default().child(Spawn { blocks: vec![block], ..Spawn::default() })
        };
        assert!(spawn(1, "X").is_ok());
        for wrong in [spawn(0, "X"), spawn(u32::MAX, "X"), spawn(1, ""), spawn(1, "X=1")] {
            wrong.expect_err("refused");
        }
        let block = oxmpi_broker::Block { max_procs: 1, hosts: vec!["a:x".to_owned()], ..Default::default() };
        let spawn = Spawn { blocks: vec![block], ..Spawn::default() };
        let error = Job::default().child(spawn).expect_err("refused").to_string();
        assert!(error.starts_with("the info key host names `a:x`: "), "{error}");
    }
}
