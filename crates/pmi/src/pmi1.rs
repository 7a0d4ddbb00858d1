//! Launchers that speak PMI-1: Hydra, that of Intel MPI, Flux, and Slurm as `srun --mpi=pmi2`.
//!
//! A process inherits a stream, whose number is in `PMI_FD`, and says lines over it, each of which is answered by one:
//! `cmd=put kvsname=k key=a value=b`. Values are short, and of few characters: records go as hexadecimal digits, in
//! pieces.

mod line;

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_system::socket::is_stream;

use crate::{Bootstrap, NodeMap, Place, ancestors, check};
use line::Line;

/// See the module.
#[derive(Debug)]
pub(crate) struct Pmi1 {
    /// Who this process is, and what the launcher says of where the others are.
    pub place: Place,
    wire: Wire,
    space: String,
    /// Digits of a piece of a record.
    piece: usize,
    has_left: bool,
}

#[derive(Debug)]
struct Wire {
    stream: BufReader<UnixStream>,
}

/// The variable with the number of the stream.
const STREAM: &str = "PMI_FD";
/// The one with the rank.
const RANK: &str = "PMI_RANK";

/// Longer than any line that is said here.
const LONGEST_LINE: u64 = 1 << 20;

/// Of a piece of a record, at least, and at most: Slurm reads lines of 1024 bytes.
const PIECE: (usize, usize) = (64, 800);

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

/// Whether this process is told of a stream.
pub(crate) fn has_stream() -> bool {
    env::var_os(STREAM).is_some()
}

/// The rank of such a launcher that has started this process, and its process: it has taken the stream, which it keeps
/// from those whom it starts.
pub(crate) fn rank_above() -> Option<(usize, u32)> {
    let stream = number(STREAM)?;
    ancestors::rank_above([STREAM, RANK], |process| process.keeps(stream))
}

impl Pmi1 {
    /// The launcher of this process, if it speaks PMI-1.
    ///
    /// # Errors
    /// The system's; `InvalidData` if it says what is no PMI-1, or not where the processes are, or if there is no such
    /// stream.
    pub fn find() -> io::Result<Option<Self>> {
        let (Some(stream), Some(rank), Some(size)) = (number(STREAM), number(RANK), number("PMI_SIZE"))
        else {
            return Ok(None);
        };
        // We would talk into what others have opened by this number.
        let stream = oxmpi_shm::take_inherited(stream, |stream| is_stream(stream).unwrap_or(false));
        let stream = UnixStream::from(stream.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => damaged(format!("{STREAM} names no stream")),
            _ => error,
        })?);
        let (rank, size) = (u32::try_from(rank), u32::try_from(size));
        match (rank, size) {
            (Ok(rank), Ok(size)) if rank < size => Self::greet(stream, rank, size).map(Some),
            _ => Err(damaged("PMI_RANK and PMI_SIZE name no process".to_owned())),
        }
    }

    /// Begins to speak.
    fn greet(stream: UnixStream, rank: u32, size: u32) -> io::Result<Self> {
        let mut wire = Wire { stream: BufReader::new(stream) };
        let version = Line::of("init").with("pmi_version", "1").with("pmi_subversion", "1");
        wire.ask(&version, "response_to_init")?;
        let most = wire.ask(&Line::of("get_maxes"), "maxes")?;
        let space = wire.ask(&Line::of("get_my_kvsname"), "my_kvsname")?.needed("kvsname")?.to_owned();
        let value: usize = most.needed("vallen_max")?.parse().map_err(|_| damaged(most.to_string()))?;
        // Some count the zero at the end, and some the name of the key.
        let piece = (value.saturating_sub(32) & !1).clamp(PIECE.0, PIECE.1);
        let key = Line::of("get").with("kvsname", &space).with("key", "PMI_process_mapping");
        let nodes = match size {
            1 => NodeMap::one(1),
            size => {
                let mapping = wire.ask(&key, "get_result")?;
                let text = mapping.needed("value")?;
                let unknown =
                    || damaged(format!("the launcher does not tell where the processes are: {text}"));
                NodeMap::from_mapping(text, size).ok_or_else(unknown)?
            }
        };
        Ok(Self { place: Place { rank, nodes }, wire, space, piece, has_left: false })
    }

    fn put_piece(&mut self, key: &str, value: &str) -> io::Result<()> {
        let line = Line::of("put").with("kvsname", &self.space).with("key", key).with("value", value);
        self.wire.ask(&line, "put_result").map(drop)
    }

    fn get_piece(&mut self, key: &str) -> io::Result<String> {
        let line = Line::of("get").with("kvsname", &self.space).with("key", key);
        Ok(self.wire.ask(&line, "get_result")?.needed("value")?.to_owned())
    }

    fn get_record(&mut self, key: &str) -> io::Result<Vec<u8>> {
        let first = self.get_piece(&piece_key(key, 0))?;
        let wrong = || damaged(format!("the record {key} is not as it was put"));
        let (bytes, digits) = first.split_once('-').ok_or_else(wrong)?;
        let bytes =
            bytes.parse().ok().filter(|&bytes: &usize| bytes <= crate::RECORD_BYTES).ok_or_else(wrong)?;
        let mut digits = digits.to_owned();
        for number in 1.. {
            if digits.len() >= 2 * bytes {
                break;
            }
            let more = self.get_piece(&piece_key(key, number))?;
            if more.is_empty() {
                return Err(wrong());
            }
            digits += &more;
        }
        from_hex(&digits).filter(|record| record.len() == bytes).ok_or_else(wrong)
    }
}

impl Bootstrap for Pmi1 {
    fn put(&mut self, key: &str, record: &[u8]) -> Result<()> {
        check(key, record);
        let digits: String = record.iter().map(|byte| format!("{byte:02x}")).collect();
        let head = format!("{}-", record.len());
        let (first, rest) = digits.split_at(digits.len().min(self.piece - head.len()));
        let mut put = || {
            self.put_piece(&piece_key(key, 0), &format!("{head}{first}"))?;
            let pieces = rest.as_bytes().chunks(self.piece);
            for (number, piece) in (1..).zip(pieces) {
                self.put_piece(&piece_key(key, number), &String::from_utf8_lossy(piece))?;
            }
            Ok(())
        };
        put().map_err(|error| failed("put a record", &error))
    }

    fn fence(&mut self) -> Result<()> {
        let come = self.wire.ask(&Line::of("barrier_in"), "barrier_out");
        come.map(drop).map_err(|error| failed("wait for the others", &error))
    }

    fn get(&mut self, key: &str, _of: u32) -> Result<Vec<u8>> {
        self.get_record(key).map_err(|error| failed("get a record", &error))
    }

    fn abort(&mut self, status: u8, _why: &str) {
        // Nothing answers, and who cannot be told has gone.
        let _ = self.wire.say(&Line::of("abort").with("exitcode", &status.to_string()));
        self.has_left = true;
    }

    fn leave(&mut self) {
        if !std::mem::replace(&mut self.has_left, true) {
            let _ = self.wire.ask(&Line::of("finalize"), "finalize_ack");
        }
    }
}

impl Wire {
    fn say(&mut self, line: &Line) -> io::Result<()> {
        self.stream.get_mut().write_all(format!("{line}\n").as_bytes())
    }

    /// Says a line, and hears what is answered.
    fn ask(&mut self, line: &Line, answer: &str) -> io::Result<Line> {
        self.say(line)?;
        let mut text = Vec::new();
        io::Read::take(&mut self.stream, LONGEST_LINE).read_until(b'\n', &mut text)?;
        if text.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&text);
        match Line::parse(&text) {
            Some(heard) if heard.command() == answer && heard.is_good() => Ok(heard),
            _ => Err(damaged(format!("the launcher answers `{line}` by `{}`", text.trim_end()))),
        }
    }
}

fn piece_key(key: &str, number: usize) -> String {
    format!("oxmpi.{key}.{number}")
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| u8::try_from(16 * digit(high)? + digit(low)?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

fn damaged(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cold]
fn failed(what: &str, error: &io::Error) -> Error {
    Error::new(ErrorClass::Other, format!("the launcher cannot be asked to {what}: {error}"))
}

#[cfg(test)]
mod tests;
