//! What the user asked for: the description of a job, free of any system object.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::bind::Policy;
use crate::environment::Rules;

/// A job: one or more blocks of ranks that share a world, and how to run them.
#[derive(Debug, Default, PartialEq)]
pub struct Job {
    /// The executables, in the order of their ranks.
    pub blocks: Vec<Block>,
    /// Environment rules for all blocks.
    pub environment: Rules,
    /// How ranks are bound to CPUs.
    pub bind: Policy,
    /// Print where each rank is bound.
    pub report_bindings: bool,
    /// Hosts the job was asked to run on; each must be this machine.
    pub hosts: Vec<String>,
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
#[derive(Debug, Default, PartialEq)]
pub struct Block {
    /// Number of ranks; one if the user gave none.
    pub count: u32,
    /// The program as typed.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
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

impl Job {
    /// Number of ranks of all blocks.
    pub fn size(&self) -> u32 {
        self.blocks.iter().map(|block| block.count).sum()
    }
}
