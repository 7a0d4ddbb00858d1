//! Moves what ranks print to where it belongs, without ever blocking.
//!
//! Each rank's output and error come through a pipe, are cut into whole lines, and queue up for a sink: the launcher's
//! own output or error, or a file per rank. A full queue stops reading, so a slow reader slows the ranks down and
//! costs no memory. On a terminal an incomplete line is shown after a short time, since it may be a question; whoever
//! prints next begins a new line. So is one that an agent prints where its launcher is on a terminal.
//!
//! Output that cannot be written is a [`Loss`]. A reader that has gone makes the ranks' next write fail, as in any
//! pipeline. A full disk does not end the ranks, whose work may be worth more than what they print: what they go on to
//! print there is thrown away, the user is told at once, and the exit status tells it at the end.

use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use crate::failure::{Failure, Result};
use crate::job::Job;
use crate::output::{LineAssembler, Prefix};
use crate::part::Part;

/// All output of all jobs.
#[derive(Debug)]
pub struct Streams {
    /// By index, as streams: without those of jobs that have ended.
    sinks: BTreeMap<usize, Sink>,
    /// The sink of the launcher's own error output.
    error: usize,
    streams: BTreeMap<usize, Stream>,
    /// The index of the next sink, and that of the next stream.
    next: Next,
    buffer: Box<[u8]>,
    losses: Vec<Loss>,
}

#[derive(Debug)]
struct Next {
    sink: usize,
    stream: usize,
}

/// Where the output of a job goes.
#[derive(Debug)]
pub struct Outlet {
    /// The sink of the first rank, where each has a file.
    files: Option<usize>,
    /// What the lines of its ranks begin with, but for the rank's own number.
    prefix: Prefix,
    /// Nobody else's output could be mixed with that of its one rank.
    is_alone: bool,
}

/// Output that could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where to.
    pub to: String,
    /// Why.
    pub errno: Errno,
}

/// One rank's output or error.
#[derive(Debug)]
struct Stream {
    pipe: Option<OwnedFd>,
    lines: LineAssembler,
    sink: usize,
    /// Since when a line is incomplete.
    partial_since: Option<Instant>,
}

/// Where output goes.
#[derive(Debug)]
struct Sink {
    name: String,
    file: OwnedFd,
    queue: Vec<u8>,
    written: usize,
    most_at_once: usize,
    /// Why nothing is written any more, once that is so.
    broken: Option<Errno>,
    /// Nothing is to come: it is closed when all is written.
    is_ending: bool,
    is_terminal: bool,
    /// The stream whose incomplete line is shown on this terminal.
    open_line: Option<usize>,
}

/// Queue length at which streams are no longer read.
const QUEUE_BYTES: usize = 256 << 10;

/// How long an incomplete line is kept from a terminal.
const PROMPT_TIME: Duration = Duration::from_millis(100);

/// More than a pipe holds: reading this much after a rank's end has read everything the rank wrote.
const DRAIN_BYTES: usize = 4 << 20;

impl Outlet {
    /// That of agents, which have put before each line what belongs there.
    pub fn of_agents() -> Self {
        Self { files: None, prefix: Prefix::default(), is_alone: false }
    }
}

impl Streams {
    /// The launcher's own output; jobs are added by [`Streams::add_job`].
    ///
    /// # Errors
    /// The launcher's own failure, if a descriptor cannot be made.
    pub fn new() -> Result<Self> {
        let duplicate =
            |fd: BorrowedFd| fd.try_clone_to_owned().map_err(|error| Failure::system("use my output", error));
        let mut sinks = vec![Sink::new("standard output".to_owned(), duplicate(rustix::stdio::stdout())?)];
        let error = duplicate(rustix::stdio::stderr())?;
        // Output and error of a terminal or of `2>&1` share a sink, lest a line of one break a line of the other.
        let shared = is_same_file(&sinks[0].file, &error);
        if !shared {
            sinks.push(Sink::new("standard error".to_owned(), error));
        }
        let next = Next { sink: sinks.len(), stream: 0 };
        Ok(Self {
            error: usize::from(!shared),
            sinks: sinks.into_iter().enumerate().collect(),
            streams: BTreeMap::new(),
            next,
            buffer: vec![0; 64 << 10].into(),
            losses: Vec::new(),
        })
    }

    /// Whether the launcher's output, and its error, are terminals.
    pub fn terminals(&self) -> [bool; 2] {
        [0, self.error].map(|sink| self.sinks[&sink].is_terminal)
    }

    /// The launcher's output and error go on to these terminals, where they are some.
    pub fn go_on_to(&mut self, terminals: [bool; 2]) {
        for (sink, is_terminal) in [0, self.error].into_iter().zip(terminals) {
            self.sinks.get_mut(&sink).expect("it stays").is_terminal |= is_terminal;
        }
    }

    /// Prepares for the output of a job, whose ranks are added by [`Streams::add_rank`]. The first of this launcher has
    /// the number 1.
    ///
    /// # Errors
    /// The launcher's own failure, if a file cannot be made.
    pub fn add_job(&mut self, job: &Job, number: u32, part: &Part) -> Result<Outlet> {
        let further = (number > 1).then_some(number);
        if further.is_some() {
            self.streams.values_mut().for_each(|stream| stream.lines.cut_lines());
        }
        let files = self.next.sink;
        if let Some(dir) = &job.output_dir {
            self.sinks.extend((files..).zip(rank_files(dir, further, part)?));
            self.next.sink += part.ranks.len();
        }
        let tag = |number| job.tag.then_some(number);
        let prefix = Prefix { job: further.and_then(tag), rank: tag(0), timestamp: job.timestamp };
        let is_alone = further.is_none() && part.size == 1 && prefix == Prefix::default();
        Ok(Outlet { files: job.output_dir.is_some().then_some(files), prefix, is_alone })
    }

    /// Makes the pipes of the rank with this seat on the node; returns the ends that the rank writes to.
    ///
    /// # Errors
    /// The launcher's own failure, if there are no more descriptors.
    pub fn add_rank(&mut self, outlet: &Outlet, seat: u32, rank: u32) -> Result<[OwnedFd; 2]> {
        let sinks = match outlet.files {
            Some(first) => [first + seat as usize; 2],
            None => [0, self.error],
        };
        let prefix = Prefix { rank: outlet.prefix.rank.map(|_| rank), ..outlet.prefix };
        let add = |sink| {
            let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
            rustix::fs::fcntl_setfl(&reader, OFlags::NONBLOCK)?;
            let lines =
                if outlet.is_alone { LineAssembler::transparent() } else { LineAssembler::new(prefix) };
            let stream = Stream { pipe: Some(reader), lines, sink, partial_since: None };
            self.streams.insert(self.next.stream, stream);
            self.next.stream += 1;
            Ok(writer)
        };
        let [output, error] = sinks.map(add);
        let failed = |error: Errno| Failure::system("make a pipe", error);
        Ok([output.map_err(failed)?, error.map_err(failed)?])
    }

    /// Streams so far.
    pub fn count(&self) -> usize {
        self.next.stream
    }

    /// The rank whose stream has this index, as far as it is of the first job.
    pub fn rank(index: usize) -> usize {
        index / 2
    }

    /// Streams to wait for, by index: those whose sink has room.
    pub fn readable(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        let open = self.streams.iter().filter(|(_, stream)| !self.sinks[&stream.sink].is_full());
        open.filter_map(|(&index, stream)| Some((index, stream.pipe.as_ref()?.as_fd())))
    }

    /// Sinks to wait for, by index: those with something to write.
    pub fn writable(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        self.sinks
            .iter()
            .filter(|(_, sink)| !sink.queue.is_empty())
            .map(|(&index, sink)| (index, sink.file.as_fd()))
    }

    /// Reads once from stream `index`; returns the number of bytes, 0 at its end or if there is nothing now.
    pub fn read(&mut self, index: usize) -> usize {
        let Some(stream) = self.streams.get_mut(&index) else { return 0 };
        let Some(pipe) = &stream.pipe else { return 0 };
        match rustix::io::read(pipe, &mut *self.buffer) {
            Ok(bytes) if bytes > 0 && self.sinks[&stream.sink].broken != Some(Errno::PIPE) => {
                let mut text = Vec::new();
                stream.lines.push(&self.buffer[..bytes], SystemTime::now(), &mut text);
                stream.note_partial(Instant::now());
                self.deliver(Some(index), &text);
                bytes
            }
            Err(Errno::AGAIN | Errno::INTR) => 0,
            _ => {
                stream.pipe = None;
                0
            }
        }
    }

    /// Queues what a stream (or the launcher itself) prints, after the end of another stream's line if that is shown
    /// incomplete.
    fn deliver(&mut self, from: Option<usize>, text: &[u8]) {
        let Some(last) = text.last() else { return };
        let sink = from.map_or(self.error, |index| self.streams[&index].sink);
        let sink = self.sinks.get_mut(&sink).expect("it stays as long as its streams");
        if sink.broken.is_some() {
            return;
        }
        match sink.open_line {
            Some(open) if from != Some(open) => {
                sink.queue.push(b'\n');
                self.streams.entry(open).and_modify(|stream| stream.lines.end_line());
            }
            _ => {}
        }
        sink.queue.extend_from_slice(text);
        sink.open_line = from.filter(|_| sink.is_terminal && *last != b'\n');
    }

    /// Writes some of what sink `index` holds; returns what is wrong if that fails.
    pub fn write(&mut self, index: usize) -> Option<&Loss> {
        let sink = self.sinks.get_mut(&index)?;
        let outcome = sink.write();
        let loss = outcome.err().map(|errno| Loss { to: sink.name.clone(), errno });
        if sink.is_over() {
            self.sinks.remove(&index);
        }
        self.losses.push(loss?);
        self.losses.last()
    }

    /// What could not be written so far.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Takes what ranks that have ended left in their pipes, and their incomplete lines: those of these streams, which
    /// are no more then, nor are their files when they are written.
    pub fn finish(&mut self, streams: Range<usize>) {
        for index in streams.clone() {
            let mut bytes = 0;
            while bytes < DRAIN_BYTES {
                match self.read(index) {
                    0 => break,
                    more => bytes += more,
                }
            }
        }
        for index in streams.clone() {
            let Some(stream) = self.streams.get_mut(&index) else { continue };
            let mut text = Vec::new();
            stream.lines.finish(SystemTime::now(), &mut text);
            self.deliver(Some(index), &text);
        }
        let ended: Vec<Stream> = streams.filter_map(|index| self.streams.remove(&index)).collect();
        for file in ended.into_iter().map(|stream| stream.sink).filter(|&sink| sink > self.error) {
            self.sinks.entry(file).and_modify(|sink| sink.is_ending = true);
        }
        self.sinks.retain(|_, sink| !sink.is_over());
    }

    /// When [`Streams::show_prompts`] has something to show.
    pub fn prompt_time(&self) -> Option<Instant> {
        let shown = self.streams.values().filter(|stream| self.sinks[&stream.sink].is_terminal);
        shown.filter_map(|stream| Some(stream.partial_since? + PROMPT_TIME)).min()
    }

    /// Shows incomplete lines on a terminal: they may be questions.
    pub fn show_prompts(&mut self, now: Instant) {
        let is_due = |stream: &Stream| {
            let is_late = stream.partial_since.is_some_and(|since| since + PROMPT_TIME <= now);
            is_late && self.sinks[&stream.sink].is_terminal
        };
        let due = self.streams.iter().filter(|(_, stream)| is_due(stream)).map(|(&index, _)| index);
        for index in due.collect::<Vec<usize>>() {
            let mut text = Vec::new();
            self.streams.entry(index).and_modify(|stream| {
                stream.lines.release(SystemTime::now(), &mut text);
                stream.partial_since = None;
            });
            self.deliver(Some(index), &text);
        }
    }

    /// Gives up what could not be written yet: whoever reads it does not.
    pub fn discard(&mut self) {
        self.sinks.values_mut().for_each(|sink| {
            sink.queue = Vec::new();
            sink.written = 0;
        });
        self.sinks.retain(|_, sink| !sink.is_over());
    }

    /// Prints whole lines of the launcher itself to its error output.
    pub fn say(&mut self, lines: &str) {
        self.deliver(None, lines.as_bytes());
    }
}

impl Stream {
    fn note_partial(&mut self, now: Instant) {
        self.partial_since = self.lines.has_partial().then(|| self.partial_since.unwrap_or(now));
    }
}

/// The same terminal with flags of its own: one that is ready may take a byte and no more, and block for the rest.
fn unblocked(terminal: &OwnedFd) -> Option<OwnedFd> {
    let path = format!("/proc/self/fd/{}", terminal.as_raw_fd());
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).ok()
}

impl Sink {
    fn new(name: String, file: OwnedFd) -> Self {
        // A pipe that is ready takes a page without blocking, and nobody else's flags are touched.
        let is_file =
            rustix::fs::fstat(&file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
        let most_at_once = if is_file { usize::MAX } else { 4096 };
        let is_terminal = file.is_terminal();
        let file = if is_terminal { unblocked(&file).unwrap_or(file) } else { file };
        Self {
            name,
            file,
            queue: Vec::new(),
            written: 0,
            most_at_once,
            broken: None,
            is_ending: false,
            is_terminal,
            open_line: None,
        }
    }

    fn is_over(&self) -> bool {
        self.is_ending && self.queue.is_empty()
    }

    fn is_full(&self) -> bool {
        self.queue.len() - self.written > QUEUE_BYTES
    }

    /// Writes some of the queue.
    ///
    /// # Errors
    /// The system's, which stays: the queue is lost, and so is what would join it.
    fn write(&mut self) -> std::result::Result<(), Errno> {
        let rest = &self.queue[self.written..];
        match rustix::io::write(&self.file, &rest[..rest.len().min(self.most_at_once)]) {
            Ok(bytes) => self.written += bytes,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(errno) => {
                self.broken = Some(errno);
                self.queue = Vec::new();
                self.written = 0;
                return Err(errno);
            }
        }
        if self.written == self.queue.len() {
            self.queue.clear();
            self.written = 0;
        } else if self.written > QUEUE_BYTES {
            self.queue.drain(..self.written);
            self.written = 0;
        }
        Ok(())
    }
}

/// A sink for each rank: `DIR/rank.R`, with as many digits as the last rank needs; `DIR/job.J.rank.R` for a further
/// job.
fn rank_files(dir: &Path, job: Option<u32>, part: &Part) -> Result<Vec<Sink>> {
    let failed = |path: &Path, error| Failure::own(format!("cannot write {}: {error}", path.display()));
    fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    let digits = (part.size - 1).to_string().len();
    let job = job.map(|job| format!("job.{job}.")).unwrap_or_default();
    let open = |rank: &u32| {
        let path = dir.join(format!("{job}rank.{rank:0digits$}"));
        let file = fs::File::create(&path).map_err(|error| failed(&path, error))?;
        Ok(Sink::new(path.display().to_string(), file.into()))
    };
    part.ranks.iter().map(open).collect()
}

fn is_same_file(left: &OwnedFd, right: &OwnedFd) -> bool {
    match (rustix::fs::fstat(left), rustix::fs::fstat(right)) {
        (Ok(left), Ok(right)) => (left.st_dev, left.st_ino) == (right.st_dev, right.st_ino),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_job_that_has_ended_no_pipe_and_no_file_is_left_when_all_is_written() {
        let folder = std::env::temp_dir().join(format!("oxmpi-streams-{}", std::process::id()));
        let job = Job { output_dir: Some(folder.clone()), ..Job::default() };
        let part = Part::whole([2].into_iter());
        let mut streams = Streams::new().expect("descriptors");
        let own = streams.sinks.len();
        for number in 1..4 {
            let outlet = streams.add_job(&job, number, &part).expect("a place for temporary files");
            let begin = streams.count();
            for rank in 0..2 {
                let [output, error] = streams.add_rank(&outlet, rank, rank).expect("descriptors");
                rustix::io::write(&output, b"begin\nend").expect("it is short");
                rustix::io::write(&error, b"error").expect("it is short");
            }
            streams.finish(begin..streams.count());
            assert_eq!((streams.streams.len(), streams.sinks.len()), (0, own + 2));
            let files: Vec<usize> = streams.writable().map(|(sink, _)| sink).collect();
            files.into_iter().for_each(|file| assert_eq!(streams.write(file), None));
            assert_eq!(streams.sinks.len(), own);
        }
        let read = |name| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let texts = ["rank.0", "rank.1", "job.2.rank.0", "job.3.rank.1"].map(read);
        fs::remove_dir_all(&folder).expect("my own directory");
        assert!(texts.iter().all(|text| text.contains("begin\n") && text.contains("error")), "{texts:?}");
    }
}
