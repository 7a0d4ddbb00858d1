//! Compiling a program and running it as a job.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use crate::prefix::alone;
use crate::{is_over_hosts, launcher, prefix, ranks};

/// Seconds that a job may take; far more than any needs on one machine.
const TIME_LIMIT_S: &str = "60";
/// The same on hosts that share one: each message is some calls of the system there, and all take turns.
const OVER_HOSTS_S: &str = "300";

/// By the names of programs, how this process has compiled them last: by which wrapper, with what.
static COMPILED: Mutex<BTreeMap<String, Arc<Mutex<Vec<String>>>>> = Mutex::new(BTreeMap::new());

/// A compiled program.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
}

impl Program {
    /// Compiles `tests/c/NAME.c` with the installed `mpicc`.
    ///
    /// # Panics
    /// If it does not compile.
    pub fn compile(name: &str) -> Self {
        Self::compile_with(name, &[])
    }

    /// The same, with further arguments for the compiler.
    ///
    /// # Panics
    /// If it does not compile.
    pub fn compile_with(name: &str, arguments: &[&str]) -> Self {
        Self::compile_as(name, "mpicc", &["-std=gnu11"], arguments)
    }

    /// The same, with `wrapper` and its options that say what language the source is.
    ///
    /// # Panics
    /// If it does not compile.
    pub fn compile_as(name: &str, wrapper: &str, language: &[&str], arguments: &[&str]) -> Self {
        let path = prefix().join("tests").join(name);
        let asked = [wrapper].iter().chain(language).chain(arguments).map(|&word| word.to_owned()).collect();
        // Tests of one process share what they compile alike; a name has one file, whichever way.
        let compiled = COMPILED
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(name.to_owned())
            .or_default()
            .clone();
        let mut compiled = compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if *compiled != asked {
            compile(&path, name, wrapper, language, arguments);
            *compiled = asked;
        }
        Self { path }
    }

    /// A program that `cargo xtask test` has built.
    ///
    /// # Panics
    /// If it has not.
    pub fn built(name: &str) -> Self {
        let path = prefix().join("tests").join(name);
        assert!(path.exists(), "{} is built by `cargo xtask test`", path.display());
        Self { path }
    }

    /// A program that was compiled otherwise.
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Where the executable lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs the program on each of these numbers of ranks; on those of [`ranks`](ranks()) if there are none.
    ///
    /// # Panics
    /// If a job fails, with everything that it said.
    pub fn passes_on(&self, wanted: &[u32]) {
        let usual = ranks();
        for &ranks in if wanted.is_empty() { &usual } else { wanted } {
            self.on(ranks).passes();
        }
    }

    /// A job of so many ranks.
    pub fn on(&self, ranks: u32) -> Job {
        let mut command = Command::new(launcher());
        // Cargo's search path for libraries would hide the installed one.
        command.env_remove("LD_LIBRARY_PATH");
        let limit = if is_over_hosts() { OVER_HOSTS_S } else { TIME_LIMIT_S };
        command.args(["--timeout", limit, "-n", &ranks.to_string()]);
        Job {
            program: Some(self.path.clone()),
            arguments: Vec::new(),
            ranks,
            over_hosts: is_over_hosts(),
            command,
        }
    }

    /// The program without a launcher: a job of one rank.
    pub fn alone(&self) -> Job {
        let mut command = alone(&self.path);
        command.env_remove("LD_LIBRARY_PATH");
        Job { program: None, arguments: Vec::new(), ranks: 1, over_hosts: false, command }
    }
}

/// Makes the program at `path` of `c/NAME.c`.
fn compile(path: &Path, name: &str, wrapper: &str, language: &[&str], arguments: &[&str]) {
    let folder = path.parent().expect("it lies in the prefix");
    fs::create_dir_all(folder).expect("the prefix can be written to");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("c/{name}.c"));
    let mut compiler = Command::new(prefix().join("bin").join(wrapper));
    compiler.args(language);
    compiler.args(["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-pthread"]);
    // Another process may be running what it has compiled: that keeps its file.
    let fresh = folder.join(format!("{name}.{}", process::id()));
    compiler.arg("-o").arg(&fresh).arg(source).args(arguments);
    let output = compiler.output().unwrap_or_else(|error| panic!("{wrapper}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::rename(&fresh, path).expect("both lie in one folder");
}

/// A program about to be run by `mpiexec`.
#[derive(Debug)]
pub struct Job {
    /// What the command is given to run, if it is not the program itself.
    program: Option<PathBuf>,
    arguments: Vec<String>,
    ranks: u32,
    /// Whether it has several.
    over_hosts: bool,
    command: Command,
}

/// How a job ended and what it wrote.
#[derive(Debug)]
pub struct Ended {
    /// The exit status of `mpiexec`.
    pub status: Option<i32>,
    /// Its standard output.
    pub out: String,
    /// Its standard error, where reports of failures go.
    pub err: String,
}

impl Job {
    /// Sets a variable for all ranks.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Gives `mpiexec` an option; a later one of the same name replaces an earlier one.
    pub fn option(mut self, option: &str) -> Self {
        self.command.arg(option);
        self
    }

    /// On these hosts, which `-host` takes and all of which are this machine; it needs libfabric.
    pub fn over(mut self, hosts: &str) -> Self {
        self.over_hosts = true;
        self.option("-launcher").option("fork").option("-host").option(hosts)
    }

    /// Lets `mpiexec` end the job soon after all ranks have begun, which takes longer on several hosts.
    pub fn ends_soon(self) -> Self {
        let limit = if self.over_hosts { "--timeout=10" } else { "--timeout=1" };
        self.option(limit)
    }

    /// Gives the program an argument.
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Lets the program, which begins with `begin_jobs` of `tests/c/jobs.h`, spawn further jobs until there are `jobs`,
    /// of `each` ranks but for the first.
    pub fn with_jobs(mut self, jobs: u32, each: u32) -> Self {
        self.ranks += (jobs - 1) * each;
        ["--jobs", &jobs.to_string(), "--each", &each.to_string()]
            .iter()
            .fold(self, |job, word| job.argument(word))
    }

    /// Lets a shell prepare the place before it becomes `mpiexec`: set limits, change the folder.
    pub fn after(mut self, preparation: &str) -> Self {
        let mut shell = Command::new("sh");
        shell.env_remove("LD_LIBRARY_PATH").args(["-c", &format!("{preparation} && exec \"$@\""), "sh"]);
        shell.arg(self.command.get_program()).args(self.command.get_args());
        self.command = shell;
        self
    }

    /// Lets every rank be run by another program, named with its options.
    pub fn by(mut self, program: &[&str]) -> Self {
        self.command.args(program);
        self
    }

    /// Runs the job to its end.
    ///
    /// # Panics
    /// If `mpiexec` cannot be started.
    pub fn run(self) -> Ended {
        self.start().ended()
    }

    /// Starts the job. What it prints must fit into a pipe.
    ///
    /// # Panics
    /// If `mpiexec` cannot be started.
    pub fn start(mut self) -> Running {
        self.command.args(&self.program).args(&self.arguments);
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let name = format!("{:?}", self.command);
        Running { name, ranks: self.ranks, child: self.command.spawn().expect("mpiexec is installed") }
    }

    /// Runs the job and checks that all ranks came to their end, as one job.
    ///
    /// # Panics
    /// If not, with everything that the job said.
    pub fn passes(self) {
        self.start().passes();
    }
}

/// A job that runs.
#[derive(Debug)]
pub struct Running {
    name: String,
    ranks: u32,
    child: Child,
}

impl Running {
    /// Waits for the end of the job.
    ///
    /// # Panics
    /// If the system does not tell.
    pub fn ended(self) -> Ended {
        let output = self.child.wait_with_output().expect("it is this process's child");
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Ended { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Waits for the end of the job, and checks that all ranks came to it, as one job.
    ///
    /// # Panics
    /// If not, with everything that the job said.
    pub fn passes(self) {
        let (name, ranks) = (self.name.clone(), self.ranks);
        let ended = self.ended();
        let passed = ended.status == Some(0) && ended.out.contains(&format!("passed on {ranks}\n"));
        assert!(passed, "{name} ended with status {:?}:\n{}{}", ended.status, ended.out, ended.err);
    }
}

/// Whether ranks of several hosts can talk here; if not, says that a test is skipped.
pub fn has_libfabric() -> bool {
    let is_there = Command::new("fi_info").arg("--version").output().is_ok_and(|it| it.status.success());
    if !is_there {
        // Not by a macro, whose output the test harness would keep.
        drop(writeln!(io::stderr(), "SKIPPED, FOR WANT OF LIBFABRIC"));
    }
    is_there
}
