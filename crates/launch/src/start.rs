//! Starts a job: everything that can go wrong is found out before the first process is made.

use std::env;
use std::ffi::{CString, OsStr};
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Instant;

use oxmpi_system::thread::CpuSet;
use rustix::fs::OFlags;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions};

use crate::birth::Origin;
use crate::crew::{Crew, Rank};
use crate::environment::{self, ADDRESS, HOST, NODES, PARENT_PORT, RankVariables, Variable};
use crate::executable::Needs;
use crate::failure::{Failure, Result};
use crate::feed::Feed;
use crate::guardian::Guardian;
use crate::hosts::Host;
use crate::job::{Block, Job, StdinTo};
use crate::part::{App as Numbers, Part};
use crate::report::ForeignMpi;
use crate::signals::Signals;
use crate::spawn::{self, Place, Program, Surroundings};
use crate::streams::{Outlet, Streams};
use crate::supervise::{Shared, Supervisor};
use crate::{library, orphans, program};

/// Starts all ranks of `job`, the first of this launcher.
///
/// # Errors
/// A program that is not there or not executable, a host that is not this machine, or a failure of the system. Ranks
/// that were started before the failure die with the launcher.
pub fn start(launcher: &'static str, job: Job) -> Result<Supervisor> {
    let begin = Instant::now();
    let site = Site::here();
    let plan = Plan::at(job, &site)?;
    let job = &plan.job;
    let mut supervisor = Supervisor::new(Shared::take(launcher, job.stdin)?, site);
    supervisor.time_limit = job.time_limit.and_then(|limit| Some((limit, begin.checked_add(limit)?)));
    supervisor.shared.reading_limit = supervisor.time_limit;
    supervisor.hang_at = job.hang_after.and_then(|time| begin.checked_add(time));
    supervisor.begin(plan, Origin::User)?;
    Ok(supervisor)
}

/// Where a launcher starts ranks.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// How the host is called, if the launcher is an agent.
    pub host: Option<String>,
    /// From where it has reached who has sent it.
    pub address: Option<IpAddr>,
    /// Variables that the ranks inherit.
    pub outer: Vec<Variable>,
}

impl Site {
    /// This machine, for a launcher that is no agent.
    pub fn here() -> Self {
        Self { outer: env::vars_os().collect(), ..Self::default() }
    }
}

/// A job about which everything is known that can be known before it is started.
#[derive(Debug)]
pub struct Plan {
    job: Job,
    part: Part,
    programs: Vec<Program>,
    /// Of each rank; none for those not bound.
    cpus: Vec<Vec<usize>>,
}

impl Plan {
    /// Finds the programs, and what they need.
    ///
    /// # Errors
    /// A program that is not there or not executable, a host that is not this machine, or a failure of the system.
    pub fn at(job: Job, site: &Site) -> Result<Self> {
        check_hosts(&job.hosts, site)?;
        let part = Part::whole(job.blocks.iter().map(|block| block.count));
        Self::of_part(job, part, site)
    }

    /// The same of a node's part of a job, whose blocks are those of `job`.
    ///
    /// # Errors
    /// As for [`Plan::at`].
    pub fn of_part(job: Job, part: Part, site: &Site) -> Result<Self> {
        let programs = programs(&job, &part, site)?;
        let cpus = bindings(&job)?;
        Ok(Self { job, part, programs, cpus })
    }

    /// The job, without processes.
    ///
    /// # Errors
    /// The launcher's own failure, if there is no memory for what its ranks share.
    pub fn crew(&self, launcher: &str, number: u32, origin: Origin) -> Result<Crew> {
        let segment = oxmpi_shm::Job::create(self.job.size())
            .map_err(|error| Failure::system("make shared memory", error))?;
        let foreign = foreign_mpi(&self.job, &self.programs);
        let mut crew = Crew::new(launcher, number, self.job.clone(), origin, segment, foreign);
        if let Some(host) = &self.part.host {
            crew.speaker = format!("{launcher} on {host}");
            crew.speaks_for_all = false;
            crew.meets_others = self.job.size() < self.part.size;
        }
        Ok(crew)
    }

    /// Starts the ranks of `crew`.
    ///
    /// # Errors
    /// The launcher's own failure; ranks that were started before it are those of the crew.
    pub fn start(&self, crew: &mut Crew, shared: &mut Shared) -> Result<()> {
        let (error_reader, errors) = pipe()?;
        rustix::fs::fcntl_setfl(&error_reader, OFlags::NONBLOCK)
            .map_err(|error| Failure::system("prepare a pipe", error))?;
        check_open_files(&self.job, &self.part)?;
        let outlet = shared.streams.add_job(&self.job, crew.number, &self.part)?;
        crew.spawn_errors = Some(error_reader);
        crew.streams = shared.streams.count()..shared.streams.count();
        let mut starter = Starter { job: &self.job, part: &self.part, crew, shared, outlet, errors };
        starter.announce(&self.cpus);
        let blocks = self.part.apps.iter().zip(&self.job.blocks).zip(&self.programs);
        let ranks = blocks.flat_map(|((&numbers, block), program)| {
            (0..block.count).map(move |_| App { numbers, block, program })
        });
        for ((seat, app), cpus) in (0..).zip(ranks).zip(&self.cpus) {
            starter.start_rank(seat, &app, cpus)?;
        }
        Ok(())
    }
}

impl Shared {
    /// Takes the launcher's signals, and makes what all jobs need.
    ///
    /// # Errors
    /// The launcher's own failure.
    pub fn take(launcher: &'static str, stdin: StdinTo) -> Result<Self> {
        let signals = Signals::take().map_err(|error| Failure::system("take signals", error))?;
        orphans::inherit().map_err(|error| Failure::system("inherit orphans", error))?;
        let guardian = Guardian::start().map_err(|error| Failure::system("start the guardian", error))?;
        let open_files = raise_open_files();
        let (streams, feed) = (Streams::new()?, Feed::new(stdin)?);
        Ok(Self { launcher, streams, feed, signals, guardian, open_files, reading_limit: None })
    }
}

/// Descriptors that the launcher keeps for each rank: that of its process, its lifeline, its output and its error.
const FILES_PER_RANK: u64 = 4;
/// Those of the launcher itself, and those of a rank that are closed when it has been started.
const FILES_BESIDE: u64 = 24;

/// What a rank runs.
struct App<'a> {
    /// How the command line counts it.
    numbers: Numbers,
    block: &'a Block,
    program: &'a Program,
}

/// A job whose ranks are being started.
struct Starter<'a> {
    job: &'a Job,
    part: &'a Part,
    crew: &'a mut Crew,
    shared: &'a mut Shared,
    outlet: Outlet,
    errors: OwnedFd,
}

impl Starter<'_> {
    /// Tells the user what he asked to be told.
    fn announce(&mut self, cpus: &[Vec<usize>]) {
        let Self { job, part, crew, shared, .. } = self;
        let mut say = |line: String| shared.streams.say(&format!("{}: {line}\n", crew.speaker));
        job.remarks().for_each(&mut say);
        if job.verbose {
            let program = |block: &Block| format!("{} x {}", block.count, block.program.to_string_lossy());
            say(format!("starting {}", job.blocks.iter().map(program).collect::<Vec<_>>().join(", ")));
            let usable = crew.segment.cpus();
            if job.size() as usize > usable {
                say(format!("{} ranks take turns on {usable} CPUs", job.size()));
            }
        }
        if job.report_bindings || job.verbose {
            for (rank, cpus) in part.ranks.iter().zip(cpus) {
                say(match cpus.as_slice() {
                    [] => format!("rank {rank} is not bound"),
                    cpus => format!("rank {rank} is bound to CPU {}", name_cpus(cpus)),
                });
            }
        }
    }

    /// Starts the rank with this seat on the node.
    fn start_rank(&mut self, seat: u32, app: &App<'_>, cpus: &[usize]) -> Result<()> {
        let rank = self.part.ranks[seat as usize];
        let failed = |error| Failure::system(&format!("start rank {rank}"), error);
        let Self { crew, shared, .. } = self;
        let cpus = (!cpus.is_empty()).then(|| CpuSet::of(cpus));
        let (life_reader, lifeline) = pipe()?;
        let life = oxmpi_system::file::metadata(life_reader.as_fd()).map_err(failed)?;
        let [output, error] = shared.streams.add_rank(&self.outlet, seat, rank)?;
        crew.streams.end = shared.streams.count();
        let is_first = matches!(crew.origin, Origin::User);
        let input = if is_first { shared.feed.add_rank(rank)? } else { shared.feed.nothing()? };
        let variables = RankVariables {
            rank,
            size: self.part.size,
            local_rank: seat,
            local_size: self.job.size(),
            app_number: app.numbers.number,
            max_procs: app.numbers.count,
            job_fd: spawn::number(&crew.segment.file()),
            job_id: crew.segment.id(),
            lifeline_fd: spawn::number(&life_reader),
            lifeline: [life.device, life.inode],
        };
        let line =
            |(name, value): (&str, i64)| CString::new(format!("{name}={value}")).expect("has no zero byte");
        let place = Place {
            rank,
            environment: &variables.list().map(line),
            streams: [input.as_fd(), output.as_fd(), error.as_fd()],
            inherited: &[crew.segment.file(), life_reader.as_fd()],
            cpus: cpus.as_ref(),
        };
        let surroundings = Surroundings {
            launcher: rustix::process::getpid(),
            signals: shared.signals.before(),
            open_files: shared.open_files,
            errors: self.errors.as_fd(),
        };
        let pid = spawn::spawn(app.program, &place, &surroundings).map_err(failed)?;
        // Without a guardian the job goes on.
        let _ = shared.guardian.watch(pid);
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty()).map_err(|error| {
            end_unknown(pid);
            failed(error.into())
        })?;
        let program = app.block.program.to_string_lossy().into_owned();
        crew.ranks.push(Rank {
            number: rank,
            pid,
            handle,
            lifeline: Some(lifeline),
            program,
            exit: None,
            missed_until: None,
        });
        Ok(())
    }
}

/// Ends a rank that was started, and that nothing else knows of.
fn end_unknown(pid: Pid) {
    let _ = rustix::process::kill_process(pid, Signal::KILL);
    let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
}

/// Refuses hosts other than this machine.
fn check_hosts(hosts: &[Host], site: &Site) -> Result<()> {
    match hosts.iter().find(|host| !host.is_here() && Some(&host.name) != site.host.as_ref()) {
        Some(host) => Err(Failure::own(format!(
            "host {} is not {}; what is spawned cannot run elsewhere yet",
            host.name,
            site.host.as_deref().unwrap_or("this machine"),
        ))),
        None => Ok(()),
    }
}

/// What the ranks of each block become.
fn programs(job: &Job, part: &Part, site: &Site) -> Result<Vec<Program>> {
    let path = site.outer.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
    let search = path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let library = library::folder();
    let inherited = Inherited { search: &search, site, library: library.as_deref(), part };
    job.blocks.iter().map(|block| program(job, block, &inherited)).collect()
}

/// What is the same for all programs.
struct Inherited<'a> {
    search: &'a OsStr,
    site: &'a Site,
    library: Option<&'a Path>,
    part: &'a Part,
}

fn program(job: &Job, block: &Block, inherited: &Inherited) -> Result<Program> {
    let &Inherited { search, site, library, part } = inherited;
    if let Some(dir) = block.dir.as_deref().filter(|dir| !dir.is_dir()) {
        return Err(Failure::own(format!("working directory {} does not exist", dir.display())));
    }
    let path = program::resolve(block, search)?;
    let seen = block.dir.as_deref().unwrap_or(Path::new("")).join(&path);
    let needs = Needs::of(&seen);
    if let Some(interpreter) = &needs.interpreter {
        program::check_interpreter(&block.program, block.dir.as_deref(), interpreter)?;
    }
    let mut environment = environment::compose(&site.outer, &job.environment, &block.environment);
    if let Some(folder) = library {
        library::offer(folder, &seen, needs.run_path.as_deref(), &mut environment);
    }
    if let Some(port) = &job.parent_port {
        environment.push((PARENT_PORT.into(), port.into()));
    }
    if !part.nodes.is_empty() {
        environment.push((NODES.into(), part.nodes.as_str().into()));
    }
    if let Some(host) = &site.host {
        environment.push((HOST.into(), host.into()));
    }
    environment::send_much_at_once(&mut environment);
    // Who is spawned may have its parents on other hosts.
    if !part.nodes.is_empty() || site.host.is_some() {
        environment::spare_memory(&mut environment, part.size);
    }
    if let Some(address) = site.address {
        environment.push((ADDRESS.into(), address.to_string().into()));
    }
    let line = |(name, value): &Variable| c_string(&[name.as_bytes(), b"=", value.as_bytes()].concat());
    let arguments = [&block.program].into_iter().chain(&block.arguments);
    Ok(Program {
        path: c_string(path.as_os_str().as_bytes())?,
        arguments: arguments.map(|word| c_string(word.as_bytes())).collect::<Result<_>>()?,
        environment: environment.iter().map(line).collect::<Result<_>>()?,
        dir: block.dir.as_ref().map(|dir| c_string(dir.as_os_str().as_bytes())).transpose()?,
        foreign_mpi: needs.foreign_mpi().map(str::to_owned),
    })
}

/// The first program that is linked with another MPI.
fn foreign_mpi(job: &Job, programs: &[Program]) -> Option<ForeignMpi> {
    job.blocks.iter().zip(programs).find_map(|(block, program)| {
        let library = program.foreign_mpi.clone()?;
        Some(ForeignMpi { program: block.program.to_string_lossy().into_owned(), library })
    })
}

fn c_string(bytes: &[u8]) -> Result<CString> {
    CString::new(bytes)
        .map_err(|_| Failure::own(format!("`{}` contains a zero byte", String::from_utf8_lossy(bytes))))
}

/// The CPUs of each rank; none for those not bound.
fn bindings(job: &Job) -> Result<Vec<Vec<usize>>> {
    let bound = job.bind.bind_to(oxmpi_shm::allowed_cpus(), job.size() as usize);
    bound.map_err(|error| Failure::system("ask for my CPUs", error))
}

/// `0-3,8`.
fn name_cpus(cpus: &[usize]) -> String {
    let runs = cpus.chunk_by(|left, right| left + 1 == *right);
    let name = |run: &[usize]| match run {
        [first, .., last] => format!("{first}-{last}"),
        run => run.iter().map(usize::to_string).collect(),
    };
    runs.map(name).collect::<Vec<String>>().join(",")
}

/// Lets the launcher open as much as it may: its ranks may spawn more. Returns the limit that ranks shall have.
fn raise_open_files() -> Rlimit {
    let before = rustix::process::getrlimit(Resource::Nofile);
    let all = Rlimit { current: before.maximum, maximum: before.maximum };
    // Where it does not help, opening a descriptor will fail and say so.
    let _ = rustix::process::setrlimit(Resource::Nofile, all);
    before
}

/// Refuses a job with more ranks than this process can have descriptors for, before the first is started.
fn check_open_files(job: &Job, part: &Part) -> Result<()> {
    // Ranks of several nodes meet: each is connected until the last has come.
    let meets = u64::from(!part.nodes.is_empty());
    let per_rank =
        FILES_PER_RANK + u64::from(job.output_dir.is_some()) + u64::from(job.stdin == StdinTo::All) + meets;
    let needed = u64::from(job.size()) * per_rank + FILES_BESIDE;
    match rustix::process::getrlimit(Resource::Nofile).current {
        Some(limit) if limit < needed => Err(Failure::own(format!(
            "{} ranks need {needed} open files of the launcher, {per_rank} each, and it may have {limit} \
             (ulimit -Hn)",
            job.size()
        ))),
        _ => Ok(()),
    }
}

fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    rustix::pipe::pipe_with(PipeFlags::CLOEXEC).map_err(|error| Failure::system("make a pipe", error))
}
