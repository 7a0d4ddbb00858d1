//! Standard input of the ranks.
//!
//! A file or pipe is handed to its one reader as it is: nobody reads ahead, so what the rank leaves is still there for
//! the next command of a script. Only a terminal (whose foreground is the launcher) and `--stdin all` are copied.

use std::io::IsTerminal;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use crate::failure::{Failure, Result};
use crate::job::StdinTo;

/// Who reads what.
#[derive(Debug)]
pub struct Feed {
    to: StdinTo,
    is_copied: bool,
    null: OwnedFd,
    source: Source,
    buffer: Vec<u8>,
    readers: Vec<Reader>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Ended,
    Open,
    /// The launcher is in the background of its terminal.
    Paused,
}

/// A rank that gets a copy.
#[derive(Debug)]
struct Reader {
    pipe: OwnedFd,
    taken: usize,
}

impl Feed {
    /// Prepares for ranks that read as `to` says.
    ///
    /// # Errors
    /// The launcher's own failure, if there is no `/dev/null`.
    pub fn new(to: StdinTo) -> Result<Self> {
        let null = rustix::fs::open(c"/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| Failure::system("open /dev/null", error))?;
        let is_copied = match to {
            StdinTo::All => true,
            StdinTo::None => false,
            StdinTo::Rank(_) => std::io::stdin().is_terminal(),
        };
        let source = if is_copied { Source::Open } else { Source::Ended };
        Ok(Self { to, is_copied, null, source, buffer: Vec::new(), readers: Vec::new() })
    }

    /// What `rank` reads.
    ///
    /// # Errors
    /// The launcher's own failure, if there are no more descriptors.
    pub fn add_rank(&mut self, rank: u32) -> Result<OwnedFd> {
        let failed = |error| Failure::system("hand on standard input", error);
        let given = match (self.to.reaches(rank), self.is_copied) {
            (false, _) => self.null.as_fd(),
            (true, false) => rustix::stdio::stdin(),
            (true, true) => return self.add_reader().map_err(|error| failed(error.into())),
        };
        given.try_clone_to_owned().map_err(failed)
    }

    /// What a rank of a further job reads: nothing.
    ///
    /// # Errors
    /// As for [`Feed::add_rank`].
    pub fn nothing(&self) -> Result<OwnedFd> {
        self.null.try_clone().map_err(|error| Failure::system("hand on standard input", error))
    }

    /// Standard input is to be copied: it goes to other hosts.
    pub fn copy_to_agents(&mut self) {
        self.is_copied = true;
        self.source = match self.to {
            StdinTo::None => Source::Ended,
            StdinTo::All | StdinTo::Rank(_) => Source::Open,
        };
    }

    /// What an agent reads: `first`, which is short, and then a copy of standard input if its ranks want that.
    ///
    /// # Errors
    /// As for [`Feed::add_rank`].
    pub fn add_agent(&mut self, first: &[u8], wants_input: bool) -> Result<OwnedFd> {
        let failed = |error: Errno| Failure::system("hand on standard input", error);
        let reader = self.add_reader().map_err(failed)?;
        let pipe = &self.readers.last().expect("it was added").pipe;
        let written = rustix::io::write(pipe, first).map_err(failed)?;
        assert_eq!(written, first.len(), "an empty pipe has room");
        if !wants_input {
            self.readers.pop();
        }
        Ok(reader)
    }

    fn add_reader(&mut self) -> std::result::Result<OwnedFd, Errno> {
        let (reader, pipe) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        rustix::fs::fcntl_setfl(&pipe, OFlags::NONBLOCK)?;
        self.readers.push(Reader { pipe, taken: 0 });
        Ok(reader)
    }

    /// Whether to wait for the launcher's standard input: when all readers have taken what there was.
    pub fn wants_input(&self) -> bool {
        self.source == Source::Open && self.buffer.is_empty()
    }

    /// Readers to wait for, by index: those that have not taken everything.
    pub fn hungry(&self) -> impl Iterator<Item = (usize, BorrowedFd<'_>)> {
        let hungry = self.readers.iter().enumerate().filter(|(_, reader)| reader.taken < self.buffer.len());
        hungry.map(|(index, reader)| (index, reader.pipe.as_fd()))
    }

    /// Takes what standard input has.
    pub fn read(&mut self) {
        let mut bytes = vec![0; 16 << 10];
        match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::IO) => self.source = Source::Paused,
            Ok(0) | Err(_) => {
                self.source = Source::Ended;
                self.readers.clear();
            }
            Ok(count) => {
                bytes.truncate(count);
                self.buffer = bytes;
            }
        }
    }

    /// Gives reader `index` what it has not taken yet. A reader that is gone is forgotten.
    pub fn write(&mut self, index: usize) {
        let Some(reader) = self.readers.get_mut(index) else { return };
        match rustix::io::write(&reader.pipe, &self.buffer[reader.taken..]) {
            Ok(bytes) => reader.taken += bytes,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => drop(self.readers.swap_remove(index)),
        }
        if self.readers.iter().all(|reader| reader.taken == self.buffer.len()) {
            self.buffer.clear();
            self.readers.iter_mut().for_each(|reader| reader.taken = 0);
        }
        if self.readers.is_empty() {
            self.source = Source::Ended;
        }
    }

    /// The launcher may be in the foreground again.
    pub fn resume(&mut self) {
        if self.source == Source::Paused {
            self.source = Source::Open;
        }
    }
}
