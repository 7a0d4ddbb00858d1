//! The broker of a process that nobody has launched: an `mpiexec` that it starts itself, when it needs one.
//!
//! That is called with [`FLAG`], and with one end of a pair of sockets as its standard input: a descriptor that is
//! handed on without a moment at which other programs of this process could inherit it. The segment follows over the
//! pair. `mpiexec` answers when it can be found, and stays while the other end is open. It goes into the background by
//! itself: the process that was called ends at once, and nobody's child is left.

use std::env;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use oxmpi_system::thread::set_variable;

use crate::Link;
use crate::peer::Peer;
use crate::wire::{Answer, Malformed};

/// The word that tells `mpiexec` to serve a singleton.
const FLAG: &str = "--oxmpi-serve";

/// Where `mpiexec` is, if the user says so.
const VARIABLE: &str = "OXMPI_MPIEXEC";

/// libfabric's variable by which `ofi_rxm` sends as much at once over sockets, and how much ranks do: enough for 64 KiB
/// with what stands before them. Processes that reach each other must have the same, wherever their jobs were started.
pub const EAGER_LIMIT: (&str, u32) = ("FI_OFI_RXM_EAGER_LIMIT", 66 << 10);

/// Lets this process, which nobody has started, send as much at once as ranks do, some of which it may meet on other
/// machines: unless the user has said how much, or there are threads that may be reading the environment.
pub fn send_as_ranks_do() {
    let (name, value) = EAGER_LIMIT;
    if env::var_os(name).is_none() {
        set_variable(name, &value.to_string());
    }
}

/// Starts `mpiexec` for this process, whose job has the number `job`; returns what keeps it there.
pub(crate) fn start(segment: BorrowedFd, job: u64) -> io::Result<OwnedFd> {
    let (own, theirs) = UnixStream::pair()?;
    let program = find();
    let failed = |what: &str, error: io::Error| {
        io::Error::new(error.kind(), format!("{} {what}: {error}", program.display()))
    };
    let mut child = Command::new(&program)
        .arg(FLAG)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .map_err(|error| failed("cannot be started", error))?;
    let mut link = Link::over(own.into());
    let mut converse = || {
        link.hand_over(&job.to_le_bytes(), segment)?;
        Ok(Answer::decode(&link.wait_for_frame()?.0)?)
    };
    let outcome = converse();
    // It has ended already, or does so now. Whoever waits for all children may have been faster.
    let _ = child.wait();
    match outcome {
        Ok(Answer::Done) => Ok(link.into_socket()),
        Ok(Answer::Failed { text }) => Err(io::Error::other(text)),
        Ok(_) => Err(failed("is of another version", Malformed.into())),
        Err(error) => Err(failed("does not serve oxmpi", error)),
    }
}

/// The launcher to start: what the user names, or the one beside this library or program, or what is found by name.
fn find() -> PathBuf {
    if let Some(named) = env::var_os(VARIABLE).filter(|name| !name.is_empty()) {
        return named.into();
    }
    let here = library().into_iter().chain(env::current_exe().ok());
    // A library lies in `lib` or `lib/oxmpi`, a program perhaps in `bin` itself.
    let places = ["../../bin/mpiexec", "../bin/mpiexec"];
    let candidates = here.flat_map(|file| {
        let folder = file.parent().map(Path::to_owned).unwrap_or_default();
        places.map(|place| folder.join(place))
    });
    candidates.into_iter().find(|path| path.is_file()).unwrap_or_else(|| "mpiexec".into())
}

/// Where the library was loaded from, if this program has loaded it.
fn library() -> Option<PathBuf> {
    let maps = std::fs::read("/proc/self/maps").ok()?;
    let paths = maps.split(|&byte| byte == b'\n').filter_map(|line| {
        let path = line.get(line.iter().position(|&byte| byte == b'/')?..)?;
        Some(Path::new(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path)))
    });
    let is_library = |path: &&Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("libmpi_abi.so"))
    };
    paths.into_iter().find(is_library).map(Path::to_owned)
}

/// The singleton that an `mpiexec` serves, as that sees it.
#[derive(Debug)]
pub struct Host {
    link: Link,
    /// Its job.
    pub job: u64,
    /// Its process; 0 if it cannot be seen from here.
    pub pid: i32,
    /// Its job's shared memory.
    pub segment: OwnedFd,
}

impl Host {
    /// Whether `mpiexec` was called, with these words, to serve the singleton at its standard input.
    pub fn is_called_by(words: &[impl AsRef<OsStr>]) -> bool {
        matches!(words, [word] if word.as_ref() == FLAG)
    }

    /// Hears the singleton at the other end of `socket` out.
    ///
    /// # Errors
    /// The system's; `InvalidData` if it is none.
    pub fn greet(socket: OwnedFd) -> io::Result<Self> {
        let pid = Peer::of(&socket)?.pid;
        let mut link = Link::with_files(socket);
        let (frame, segment) = link.wait_for_frame()?;
        let job = frame.as_slice().try_into().map(u64::from_le_bytes).map_err(|_| Malformed)?;
        let segment = segment.ok_or(Malformed)?;
        Ok(Self { link, job, pid, segment })
    }

    /// Tells the singleton that it is served, or why not.
    ///
    /// # Errors
    /// The system's: it has gone.
    pub fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        self.link.send(&answer.encode())?;
        self.link.flush_all()
    }

    /// Whether the singleton wants its broker no more, or is gone.
    pub fn has_gone(&mut self) -> bool {
        !matches!(self.link.receive(), Ok(None))
    }
}

/// Readable when the singleton may have gone.
impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}
