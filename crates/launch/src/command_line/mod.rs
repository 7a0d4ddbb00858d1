//! From the words of the command line to the description of a job.
//!
//! Pure but for the files that options name, which the caller reads. A lone `:` separates blocks; options that
//! concern the whole job may stand in any block.

mod config_file;
mod table;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use oxmpi_manual::FORMATS;
pub use table::manual;
use table::{ERRHANDLERS, Known, Setting};

use crate::bind::Policy;
use crate::environment::{Inherit, Rules, Variable};
use crate::failure::{Failure, Result};
use crate::hosts::{Host, Launcher};
use crate::job::{Block, Job, StdinTo};

/// What the user wants.
#[derive(Debug, PartialEq)]
pub enum Request {
    /// The help text.
    Help,
    /// The manual in this form.
    Manual(String),
    /// A job.
    Run(Box<Job>),
    /// The version.
    Version,
}

/// Reads a file that an option names.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> std::io::Result<String>;

/// More than a file that an option names can sensibly hold.
const LONGEST_FILE_BYTES: u64 = 16 << 20;

/// Reads a file that the command line names; a device may have no end.
pub fn read_file(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(LONGEST_FILE_BYTES + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LONGEST_FILE_BYTES {
        true => Err(std::io::Error::other(format!("it is longer than {LONGEST_FILE_BYTES} bytes"))),
        false => Ok(text),
    }
}

/// Understands the words after the launcher's own name.
///
/// # Errors
/// The launcher's own failure, which names the word that was wrong and, for an unknown option, the nearest known one.
pub fn parse(words: &[OsString], read_file: ReadFile) -> Result<Request> {
    let job = Job::default();
    let mut parser = Parser { job, read_file, counted: 0, is_in_file: false, hosts_by: None, request: None };
    for section in words.split(|word| word == ":") {
        parser.section(section)?;
        if let Some(request) = parser.request.take() {
            return Ok(request);
        }
    }
    let Parser { mut job, counted, .. } = parser;
    job.fills_hosts = counted == 0;
    if !job.fills_hosts {
        job.check()?;
    }
    Ok(Request::Run(Box::new(job)))
}

struct Parser<'a> {
    job: Job,
    read_file: ReadFile<'a>,
    /// Blocks of which the user has said how many ranks they have.
    counted: usize,
    /// The words come from a configuration file.
    is_in_file: bool,
    /// The first option that has named hosts.
    hosts_by: Option<(Setting, String)>,
    request: Option<Request>,
}

/// What a section says about its ranks before its program.
#[derive(Default)]
struct Draft {
    block: Block,
    count: Option<u32>,
    per_node: Option<u32>,
    /// The options that are about its ranks alone.
    own: Vec<String>,
    /// The option that names a configuration file.
    config: Option<String>,
}

impl Parser<'_> {
    /// One block: options, a program, its arguments.
    fn section(&mut self, words: &[OsString]) -> Result<()> {
        let mut draft = Draft::default();
        let mut rest = words;
        while let Some((word, after)) = rest.split_first() {
            if word == "--" {
                rest = after;
                break;
            }
            let Some(typed) = option_name(word) else { break };
            rest = self.option(&typed, after, &mut draft)?;
            if self.request.is_some() {
                return Ok(());
            }
        }
        let Some((program, arguments)) = rest.split_first() else {
            return match draft.config {
                Some(_) if draft.own.is_empty() => Ok(()),
                Some(config) => Err(Failure::own(format!(
                    "{config}: beside it stands {}, but no program; say it in the file, before the program \
                     of each block that it is for (variables of all blocks with -genv)",
                    draft.own.join(" ")
                ))),
                None => Err(Failure::own("no program to run; see --help")),
            };
        };
        self.counted += usize::from(draft.count.is_some());
        let count = draft.count.or(draft.per_node).unwrap_or(1);
        let (program, arguments) = (program.clone(), arguments.to_vec());
        self.job.blocks.push(Block { count, program, arguments, ..draft.block });
        Ok(())
    }

    /// Takes one option and its values; returns the words after them.
    fn option<'w>(
        &mut self,
        typed: &Typed,
        after: &'w [OsString],
        draft: &mut Draft,
    ) -> Result<&'w [OsString]> {
        let (Known { entry, setting }, joined) = typed.find()?;
        // As Hydra has it, too: the name of a variable and its value are one word, or two.
        let is_variable = matches!(setting, Setting::Env | Setting::Genv);
        let is_one_word = is_variable && after.first().is_some_and(|word| word.as_bytes().contains(&b'='));
        let wanted = match is_one_word {
            true => 1,
            false => entry.values.len() - usize::from(joined.is_some()),
        };
        if after.len() < wanted {
            let usage = entry.values.join(" ");
            return Err(Failure::own(format!("{} lacks a value: {0} {usage}", typed.dashed())));
        }
        let (values, rest) = after.split_at(wanted);
        let values: Vec<OsString> = joined.into_iter().chain(values.iter().cloned()).collect();
        let given = Given { typed, values };
        if !self.set_for_block(*setting, &given, draft)? {
            self.set_for_job(*setting, &given, draft)?;
        } else if !matches!(setting, Setting::EnvAll | Setting::HostFile | Setting::Hosts | Setting::PerNode)
        {
            draft.own.push(given.to_string());
        }
        Ok(rest)
    }

    /// Applies a setting of the block; `false` if it is one of the job.
    fn set_for_block(&mut self, setting: Setting, given: &Given, draft: &mut Draft) -> Result<bool> {
        let environment = &mut draft.block.environment;
        match setting {
            Setting::Count => draft.count = Some(given.number(0, "ranks")?),
            Setting::Dir => draft.block.dir = Some(given.directory()?),
            Setting::Env => environment.set.push(given.variable()?),
            Setting::EnvAll => environment.inherit = Some(Inherit::All),
            Setting::EnvList => environment.inherit = Some(Inherit::Only(given.list())),
            Setting::EnvNone => environment.inherit = Some(Inherit::None),
            Setting::Export => given.export(environment)?,
            Setting::HostFile => {
                let hosts = Host::in_file(&given.read(self.read_file)?);
                self.hosts(setting, given, hosts, &mut draft.block)?;
            }
            Setting::Hosts => {
                let hosts = Host::in_list(&given.value().to_string_lossy());
                self.hosts(setting, given, hosts, &mut draft.block)?;
            }
            Setting::Path => draft.block.path = Some(given.value().clone()),
            Setting::PerNode => {
                draft.per_node = Some(given.number(1, "ranks")?);
                self.job.per_node = draft.per_node;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Applies a setting of the whole job.
    fn set_for_job(&mut self, setting: Setting, given: &Given, draft: &mut Draft) -> Result<()> {
        let job = &mut self.job;
        match setting {
            Setting::BindTo => job.bind = given.policy()?,
            Setting::BranchCount => job.branches = Some(given.number(1, "hosts")?),
            Setting::ConfigFile => {
                draft.config = Some(given.to_string());
                self.config_file(given)?;
            }
            Setting::Genv => job.environment.set.push(given.variable()?),
            Setting::GenvAll => job.environment.inherit = Some(Inherit::All),
            Setting::GenvList => job.environment.inherit = Some(Inherit::Only(given.list())),
            Setting::GenvNone => job.environment.inherit = Some(Inherit::None),
            Setting::HangAfter => job.hang_after = Some(given.seconds()?),
            Setting::Help => self.request = Some(Request::Help),
            Setting::InitialErrhandler => {
                given.check_errhandler()?;
                job.tell("OXMPI_INITIAL_ERRHANDLER", given);
            }
            Setting::Interface => job.interface = Some(given.value().to_string_lossy().into_owned()),
            Setting::Launcher => job.launcher = Some(Launcher::parse(given.value())),
            Setting::Manual => self.request = Some(Request::Manual(given.manual_format()?)),
            Setting::MemoryAllocKinds => job.tell("OXMPI_MEMORY_ALLOC_KINDS", given),
            Setting::OutputDir => job.output_dir = Some(given.directory()?),
            Setting::ReportBindings => job.report_bindings = true,
            Setting::Stdin => job.stdin = given.stdin()?,
            Setting::Tag => job.tag = true,
            Setting::TimeLimit => job.time_limit = Some(given.seconds()?),
            Setting::Timestamp => job.timestamp = true,
            Setting::Verbose => job.verbose = true,
            Setting::Version => self.request = Some(Request::Version),
            _ => job.ignored.push(given.to_string()),
        }
        Ok(())
    }

    /// Takes hosts of a block, of options of one kind: of both kinds launchers disagree what they mean.
    fn hosts(
        &mut self,
        setting: Setting,
        given: &Given,
        hosts: std::result::Result<Vec<Host>, String>,
        block: &mut Block,
    ) -> Result<()> {
        let (kind, before) = self.hosts_by.get_or_insert_with(|| (setting, given.to_string()));
        if *kind != setting {
            return Err(
                given.wrong(&format!("hosts are named already by {before}; one of both can be given"))
            );
        }
        let hosts = hosts.map_err(|why| given.wrong(&why))?;
        block.hosts.extend_from_slice(&hosts);
        self.job.hosts.extend(hosts);
        Ok(())
    }

    fn config_file(&mut self, given: &Given) -> Result<()> {
        if self.is_in_file {
            return Err(given.wrong("a configuration file cannot name another one"));
        }
        let text = given.read(self.read_file)?;
        let blocks = config_file::blocks(&text).map_err(|error| given.wrong(&error))?;
        self.is_in_file = true;
        let outcome = blocks.iter().try_for_each(|block| self.section(block));
        self.is_in_file = false;
        outcome
    }
}

impl Job {
    fn tell(&mut self, name: &str, given: &Given) {
        self.environment.set.push((name.into(), given.value().clone()));
    }
}

/// An option as the user typed it.
struct Typed {
    dashes: &'static str,
    name: String,
    /// What follows the first `=`.
    joined: Option<OsString>,
}

/// The option that `word` is, if it is one.
fn option_name(word: &OsStr) -> Option<Typed> {
    let word = word.as_bytes();
    let (dashes, word) = match word.strip_prefix(b"--") {
        Some(word) => ("--", word),
        None => ("-", word.strip_prefix(b"-")?),
    };
    let mut parts = word.splitn(2, |&byte| byte == b'=');
    let name = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let joined = parts.next().map(|value| OsString::from_vec(value.to_vec()));
    (!word.is_empty()).then_some(Typed { dashes, name, joined })
}

impl Typed {
    /// The table's entry, and the value joined to the name by `=`, if any.
    fn find(&self) -> Result<(&'static Known, Option<OsString>)> {
        match table::find(&self.name) {
            Some(known) if self.joined.is_none() || known.entry.values.len() == 1 => {
                Ok((known, self.joined.clone()))
            }
            Some(_) => Err(Failure::own(format!("{} takes no value joined by =", self.dashed()))),
            None => Err(Failure::own(match table::nearest(&self.name) {
                Some(known) => {
                    format!("unknown option {}; did you mean {}{known}?", self.dashed(), self.dashes)
                }
                None => format!("unknown option {}; see --help", self.dashed()),
            })),
        }
    }

    fn dashed(&self) -> String {
        format!("{}{}", self.dashes, self.name)
    }
}

/// An option with its values.
struct Given<'a> {
    typed: &'a Typed,
    values: Vec<OsString>,
}

impl Given<'_> {
    /// The first value.
    fn value(&self) -> &OsString {
        self.values.first().expect("asked only of options that the table gives a value")
    }

    /// A number of `what`.
    fn number(&self, least: u32, what: &str) -> Result<u32> {
        let number = self.value().to_str().and_then(|text| text.parse().ok());
        let wrong = || self.wrong(&format!("it must be a number of {what}"));
        number.filter(|&number| number >= least).ok_or_else(wrong)
    }

    fn seconds(&self) -> Result<Duration> {
        let text = self.value().to_string_lossy();
        parse_seconds(&text).ok_or_else(|| self.wrong("it must be a number of seconds above 0"))
    }

    fn policy(&self) -> Result<Policy> {
        let text = self.value().to_string_lossy();
        Policy::from_name(&text)
            .ok_or_else(|| self.wrong("it must be share, core, hwthread, numa, socket or none"))
    }

    fn check_errhandler(&self) -> Result<()> {
        match ERRHANDLERS.iter().any(|name| self.value().eq_ignore_ascii_case(name)) {
            true => Ok(()),
            false => Err(self.wrong(&format!("it must be one of {}", ERRHANDLERS.join(", ")))),
        }
    }

    fn manual_format(&self) -> Result<String> {
        let known = self.value().to_str().filter(|format| FORMATS.contains(format));
        known.map(str::to_owned).ok_or_else(|| self.wrong("it must be man, bash, zsh or fish"))
    }

    fn stdin(&self) -> Result<StdinTo> {
        match self.value().to_str() {
            Some("all") => Ok(StdinTo::All),
            Some("none") => Ok(StdinTo::None),
            Some(text) => {
                text.parse().map(StdinTo::Rank).map_err(|_| self.wrong("it must be a rank, all or none"))
            }
            None => Err(self.wrong("it must be a rank, all or none")),
        }
    }

    fn directory(&self) -> Result<PathBuf> {
        let path = PathBuf::from(self.value());
        Some(path).filter(|path| *path != Path::new("")).ok_or_else(|| self.wrong("it must be a directory"))
    }

    /// The two values as a variable, or the one that is `NAME=VALUE`.
    fn variable(&self) -> Result<Variable> {
        match self.values.as_slice() {
            [name, value] => self.named(name.clone(), value.clone()),
            _ => self.assignment().unwrap_or_else(|| Err(self.wrong("the variable lacks a value"))),
        }
    }

    /// `-x NAME` passes a variable on, `-x NAME=VALUE` sets it.
    fn export(&self, environment: &mut Rules) -> Result<()> {
        match self.assignment() {
            Some(variable) => environment.set.push(variable?),
            None => environment.pass.push(self.named(self.value().clone(), OsString::new())?.0),
        }
        Ok(())
    }

    /// The value as a variable, if it is `NAME=VALUE`.
    fn assignment(&self) -> Option<Result<Variable>> {
        let bytes = self.value().as_bytes();
        let at = bytes.iter().position(|&byte| byte == b'=')?;
        let (name, value) = (bytes[..at].to_vec(), bytes[at + 1..].to_vec());
        Some(self.named(OsString::from_vec(name), OsString::from_vec(value)))
    }

    fn named(&self, name: OsString, value: OsString) -> Result<Variable> {
        match name.is_empty() || name.as_bytes().contains(&b'=') {
            true => Err(self.wrong("the name of a variable is not empty and has no =")),
            false => Ok((name, value)),
        }
    }

    /// The value as a list separated by commas.
    fn list(&self) -> Vec<OsString> {
        let parts = self.value().as_bytes().split(|&byte| byte == b',');
        parts.filter(|part| !part.is_empty()).map(|part| OsString::from_vec(part.to_vec())).collect()
    }

    fn read(&self, read_file: ReadFile) -> Result<String> {
        read_file(Path::new(self.value())).map_err(|error| self.wrong(&error.to_string()))
    }

    fn wrong(&self, why: &str) -> Failure {
        Failure::own(format!("{self}: {why}"))
    }
}

impl std::fmt::Display for Given<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.typed.dashes, self.typed.name)?;
        self.values.iter().try_for_each(|value| match value.is_empty() {
            true => write!(f, " ''"),
            false => write!(f, " {}", value.to_string_lossy()),
        })
    }
}

/// A number of seconds above 0, with a fraction if need be.
pub fn parse_seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests;
