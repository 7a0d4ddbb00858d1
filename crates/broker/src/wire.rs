//! What is said to a broker and what it answers, as bytes.
//!
//! Pure. A message is the number of its kind, then its fields in order: numbers low byte first, texts and lists after
//! their length. Lengths are checked against what is there before memory is taken, and nothing may be left over.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// What a client wants of the broker of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// End the job: `MPI_Abort` on a communicator with processes of it.
    Abort {
        /// The code.
        code: i32,
    },
    /// The spawned job is connected with who has asked for it, who wants to hear of it no more.
    Connected,
    /// The port that is published under a name, on any host of the launcher.
    Lookup {
        /// The name.
        service: String,
    },
    /// Publish the name of a port.
    Publish {
        /// Under this name.
        service: String,
        /// The port's name.
        port: String,
    },
    /// The descriptor of the job's shared memory.
    Segment,
    /// Start a new job.
    Spawn(Spawn),
    /// Wait until all ranks of the job have asked for this.
    Fence,
    /// A record that a rank of the job has put before a fence.
    Get {
        /// Its key.
        key: String,
    },
    /// Tell all ranks of the job a record, from the next fence on.
    Put {
        /// Its key.
        key: String,
        /// The record.
        record: Vec<u8>,
    },
    /// What jobs of the launcher share on its hosts, if these are several.
    Tree,
    /// Withdraw a name that the job has published.
    Unpublish {
        /// The name.
        service: String,
    },
}

/// What a broker answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done. To [`Request::Segment`], the descriptor comes with it.
    Done,
    /// It cannot be done.
    Failed {
        /// Why.
        text: String,
    },
    /// What is published under a name.
    Published {
        /// The whole name.
        service: String,
        /// The port's name.
        port: String,
    },
    /// What was asked for.
    Record {
        /// All of it.
        record: Vec<u8>,
    },
    /// What jobs of the launcher share.
    Tree {
        /// The address of this host.
        address: String,
        /// Their secret.
        secret: String,
    },
    /// All programs have begun.
    Spawned {
        /// The new job.
        job: u64,
    },
    /// The spawned job has ended, and the client was still interested in it.
    Ended {
        /// How.
        text: String,
    },
}

/// A job to start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spawn {
    /// The rank, in its job, of the process that asks: its own program was started as the new ones are, where they
    /// say nothing else.
    pub rank: u32,
    /// The programs, in the order of their ranks.
    pub blocks: Vec<Block>,
    /// The port at which the new job finds who has started it.
    pub parent_port: String,
}

/// One program of a new job, and how it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The program.
    pub command: OsString,
    /// Its arguments, without its own name.
    pub arguments: Vec<OsString>,
    /// Processes that run it; none if 0.
    pub max_procs: u32,
    /// Its working directory, if it has one of its own.
    pub dir: Option<PathBuf>,
    /// Directories (separated by `:`) to search for it first.
    pub path: Option<OsString>,
    /// Where it is to run: each must be this machine.
    pub hosts: Vec<String>,
    /// Variables to set.
    pub environment: Vec<(OsString, OsString)>,
}

/// Bytes that are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what was sent is no message of this version of oxmpi")
    }
}

impl std::error::Error for Malformed {}

impl From<Malformed> for std::io::Error {
    fn from(malformed: Malformed) -> Self {
        Self::new(std::io::ErrorKind::InvalidData, malformed)
    }
}

impl Request {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Abort { code } => writer.kind(0).number(code.cast_unsigned()),
            Self::Publish { service, port } => writer.kind(1).text(service).text(port),
            Self::Segment => writer.kind(2),
            Self::Spawn(spawn) => spawn.write(writer.kind(3)),
            Self::Unpublish { service } => writer.kind(4).text(service),
            Self::Connected => writer.kind(5),
            Self::Fence => writer.kind(6),
            Self::Get { key } => writer.kind(7).text(key),
            Self::Put { key, record } => writer.kind(8).text(key).bytes(record),
            Self::Tree => writer.kind(9),
            Self::Lookup { service } => writer.kind(10).text(service),
        };
        writer.finish()
    }

    /// What these bytes say.
    ///
    /// # Errors
    /// They are not a request.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::of(bytes);
        let request = match reader.byte()? {
            0 => Self::Abort { code: reader.number()?.cast_signed() },
            1 => Self::Publish { service: reader.text()?, port: reader.text()? },
            2 => Self::Segment,
            3 => Self::Spawn(Spawn::read(&mut reader)?),
            4 => Self::Unpublish { service: reader.text()? },
            5 => Self::Connected,
            6 => Self::Fence,
            7 => Self::Get { key: reader.text()? },
            8 => Self::Put { key: reader.text()?, record: reader.bytes()? },
            9 => Self::Tree,
            10 => Self::Lookup { service: reader.text()? },
            _ => return Err(Malformed),
        };
        reader.end(request)
    }
}

impl Answer {
    /// As bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        match self {
            Self::Done => writer.kind(0),
            Self::Failed { text } => writer.kind(1).text(text),
            Self::Published { service, port } => writer.kind(2).text(service).text(port),
            Self::Spawned { job } => writer.kind(3).long(*job),
            Self::Ended { text } => writer.kind(4).text(text),
            Self::Record { record } => writer.kind(5).bytes(record),
            Self::Tree { address, secret } => writer.kind(6).text(address).text(secret),
        };
        writer.finish()
    }

    /// What these bytes say.
    ///
    /// # Errors
    /// They are not an answer.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::of(bytes);
        let answer = match reader.byte()? {
            0 => Self::Done,
            1 => Self::Failed { text: reader.text()? },
            2 => Self::Published { service: reader.text()?, port: reader.text()? },
            3 => Self::Spawned { job: reader.long()? },
            4 => Self::Ended { text: reader.text()? },
            5 => Self::Record { record: reader.bytes()? },
            6 => Self::Tree { address: reader.text()?, secret: reader.text()? },
            _ => return Err(Malformed),
        };
        reader.end(answer)
    }
}

impl Spawn {
    fn write<'w>(&self, writer: &'w mut Writer) -> &'w mut Writer {
        writer.number(self.rank).text(&self.parent_port).list(&self.blocks, |writer, block| {
            writer.words(&block.command).list(&block.arguments, |writer, word| writer.words(word));
            writer.number(block.max_procs);
            writer.option(block.dir.as_ref().map(|dir| dir.as_os_str()));
            writer.option(block.path.as_deref()).list(&block.hosts, |writer, host| writer.text(host));
            writer.list(&block.environment, |writer, (name, value)| writer.words(name).words(value))
        })
    }

    fn read(reader: &mut Reader) -> Result<Self, Malformed> {
        let (rank, parent_port) = (reader.number()?, reader.text()?);
        let blocks = reader.list(|reader| {
            Ok(Block {
                command: reader.words()?,
                arguments: reader.list(Reader::words)?,
                max_procs: reader.number()?,
                dir: reader.option()?.map(PathBuf::from),
                path: reader.option()?,
                hosts: reader.list(Reader::text)?,
                environment: reader.list(|reader| Ok((reader.words()?, reader.words()?)))?,
            })
        })?;
        Ok(Self { rank, blocks, parent_port })
    }
}

/// A message that is being written: its kind, then its fields.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// The message.
    pub fn finish(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }

    /// The number of a kind, or another byte.
    pub fn kind(&mut self, kind: u8) -> &mut Self {
        self.0.push(kind);
        self
    }

    /// A number.
    pub fn number(&mut self, number: u32) -> &mut Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    /// A long number.
    pub fn long(&mut self, number: u64) -> &mut Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    /// What is too long for its length has none that a frame could hold either.
    fn length(&mut self, length: usize) -> &mut Self {
        self.number(u32::try_from(length).unwrap_or(u32::MAX))
    }

    /// Words of the system, after their length.
    pub fn words(&mut self, words: &OsStr) -> &mut Self {
        self.length(words.len()).0.extend_from_slice(words.as_bytes());
        self
    }

    /// Bytes, after their length.
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.words(OsStr::from_bytes(bytes))
    }

    /// A text, after its length.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.words(OsStr::new(text))
    }

    /// Words that may be missing.
    pub fn option(&mut self, words: Option<&OsStr>) -> &mut Self {
        match words {
            None => self.kind(0),
            Some(words) => self.kind(1).words(words),
        }
    }

    /// A list, after its length, each item as `write` does it.
    pub fn list<T>(
        &mut self,
        list: &[T],
        write: impl for<'w> Fn(&'w mut Self, &T) -> &'w mut Self,
    ) -> &mut Self {
        self.length(list.len());
        for item in list {
            write(self, item);
        }
        self
    }
}

/// What is left to read of a message. Each part is an error if it is not there.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

#[allow(clippy::missing_errors_doc)] // see the type
impl<'a> Reader<'a> {
    /// All of a message.
    pub fn of(message: &'a [u8]) -> Self {
        Self(message)
    }

    fn take(&mut self, bytes: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.0.split_first_chunk().ok_or(Malformed)?;
        self.0 = rest;
        Ok(*taken)
    }

    /// A byte, or the number of a kind.
    pub fn byte(&mut self) -> Result<u8, Malformed> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    /// A number.
    pub fn number(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// A long number.
    pub fn long(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length, of things that take a byte each at least.
    fn length(&mut self) -> Result<usize, Malformed> {
        let length = usize::try_from(self.number()?).map_err(|_| Malformed)?;
        if length <= self.0.len() { Ok(length) } else { Err(Malformed) }
    }

    /// Words of the system.
    pub fn words(&mut self) -> Result<OsString, Malformed> {
        let length = self.length()?;
        Ok(OsString::from_vec(self.take(length)?.to_vec()))
    }

    /// Bytes.
    pub fn bytes(&mut self) -> Result<Vec<u8>, Malformed> {
        Ok(self.words()?.into_vec())
    }

    /// A text.
    pub fn text(&mut self) -> Result<String, Malformed> {
        self.words()?.into_string().map_err(|_| Malformed)
    }

    /// Words that may be missing.
    pub fn option(&mut self) -> Result<Option<OsString>, Malformed> {
        match self.byte()? {
            0 => Ok(None),
            1 => self.words().map(Some),
            _ => Err(Malformed),
        }
    }

    /// A list, each item as `read` does it.
    pub fn list<T>(&mut self, read: impl Fn(&mut Self) -> Result<T, Malformed>) -> Result<Vec<T>, Malformed> {
        let length = self.length()?;
        let mut list = Vec::new(); // grows with what is there
        for _ in 0..length {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// `whole`, if nothing is left.
    pub fn end<T>(&self, whole: T) -> Result<T, Malformed> {
        if self.0.is_empty() { Ok(whole) } else { Err(Malformed) }
    }
}

#[cfg(test)]
mod tests;
