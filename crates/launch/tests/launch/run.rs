//! Runs a launcher and collects how it ended; a launcher that hangs is killed.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// The launcher under test.
pub const MPIEXEC: &str = env!("CARGO_BIN_EXE_mpiexec");

const WATCHDOG: Duration = Duration::from_secs(30);

/// How a launcher ended.
#[derive(Debug)]
pub struct Ended {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ended {
    /// Lines of the output, sorted: ranks print in any order.
    pub fn sorted(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.out.lines().collect();
        lines.sort_unstable();
        lines
    }
}

/// An executable file in a folder of its own, which is removed with it.
pub struct Script(PathBuf);

impl Script {
    /// Another process writes it: while this one did, what other tests fork here would hold it open for writing, and
    /// nobody could execute it.
    pub fn new(name: &str, text: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("oxmpi-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a place for temporary files");
        let script = Self(folder.join(name));
        let mut writer = Command::new("sh");
        writer.args(["-c", "printf %s \"$1\" >\"$0\" && chmod 755 \"$0\"", script.path(), text]);
        assert!(writer.status().expect("there is a shell").success(), "it is written");
        script
    }

    pub fn path(&self) -> &str {
        self.0.to_str().expect("a path of letters")
    }

    /// `PATH` where it is found before any other of its name.
    pub fn search_path(&self) -> String {
        format!("{}:{}", self.folder().display(), std::env::var("PATH").unwrap_or_default())
    }

    pub fn folder(&self) -> &Path {
        self.0.parent().expect("it is in one")
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.folder());
    }
}

/// A program that ignores no signals, though whoever runs the tests unattended may.
pub fn heeding(program: &str) -> Command {
    let mut command = Command::new("/usr/bin/env");
    command.args(["--default-signal", program]);
    command
}

/// `mpiexec` with these arguments, not yet started.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = heeding(MPIEXEC);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for name in ["MPIEXEC_TIMEOUT", "OXMPI_GRACE", "PBS_NODEFILE", "SLURM_JOB_ID"] {
        command.env_remove(name);
    }
    command
}

/// Runs `mpiexec` with these arguments.
pub fn mpiexec(arguments: &[&str]) -> Ended {
    finish(command(arguments).spawn().expect("mpiexec is built"))
}

/// Runs `ranks` shells with `script`, after the given options.
pub fn shells(ranks: u32, options: &[&str], script: &str) -> Ended {
    let ranks = ranks.to_string();
    mpiexec(&[&["-n", &ranks], options, &["sh", "-c", script]].concat())
}

/// Runs `mpiexec` with `input`.
pub fn with_input(arguments: &[&str], input: &str) -> Ended {
    let mut child = command(arguments).stdin(Stdio::piped()).spawn().expect("mpiexec is built");
    // Whoever does not want its input may close it.
    let _ = child.stdin.take().expect("it is piped").write_all(input.as_bytes());
    finish(child)
}

/// Waits for a launcher.
pub fn finish(child: Child) -> Ended {
    let pid = process(&child);
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || sender.send(child.wait_with_output()));
    let Ok(output) = receiver.recv_timeout(WATCHDOG) else {
        let _ = rustix::process::kill_process(pid, Signal::KILL);
        panic!("mpiexec hangs");
    };
    let Output { status, stdout, stderr } = output.expect("it can be waited for");
    let text = |bytes| String::from_utf8(bytes).expect("tests print text");
    Ended { status: status.code(), out: text(stdout), err: text(stderr) }
}

/// The process of a launcher.
pub fn process(child: &Child) -> Pid {
    Pid::from_child(child)
}

/// Reads `count` lines of a running launcher's output, and not a byte more.
pub fn read_lines(child: &mut Child, count: usize) -> Vec<String> {
    let output = child.stdout.as_mut().expect("it is piped");
    let mut text = String::new();
    while text.matches('\n').count() < count {
        let mut byte = [0];
        output.read_exact(&mut byte).expect("it prints more");
        text.push(char::from(byte[0]));
    }
    text.lines().map(str::to_owned).collect()
}

/// Waits until process `pid` is gone, or a zombie that nobody has buried.
pub fn wait_until_gone(pid: &str) {
    let end = Instant::now() + WATCHDOG;
    while is_alive(pid) {
        assert!(Instant::now() < end, "process {pid} is left");
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(pid: &str) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}
