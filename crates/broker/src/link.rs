//! Frames over a stream socket, without ever waiting.
//!
//! A frame is its length, in 4 bytes, low byte first, and as many bytes. No byte is read beyond the frame that was
//! asked for: what follows may be meant for somebody else, who shares the socket (`MPI_Comm_join`). For his sake the
//! socket's own flags are left as they are, too.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use oxmpi_system::poll::{self, Wanted};
use oxmpi_system::socket;

/// The longest frame.
pub const MAX_FRAME_BYTES: usize = 64 << 20;

/// That of somebody who has not proved yet who he is.
pub(crate) const STRANGERS_FRAME_BYTES: usize = 64;

/// A stream of frames to and from another process.
#[derive(Debug)]
pub struct Link {
    socket: OwnedFd,
    outgoing: VecDeque<Outgoing>,
    incoming: Incoming,
    /// Whether descriptors are taken that come with frames.
    takes_files: bool,
    /// No frame is taken that is longer than what strangers may say.
    is_limited: bool,
}

#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    written: usize,
    /// A descriptor that goes with the first byte.
    file: Option<OwnedFd>,
}

/// What has come of the next frame.
#[derive(Debug, Default)]
struct Incoming {
    header: [u8; HEADER_BYTES],
    header_bytes: usize,
    body: Vec<u8>,
    file: Option<OwnedFd>,
}

const HEADER_BYTES: usize = 4;

/// As much as is read at once.
const CHUNK_BYTES: usize = 64 << 10;

impl Link {
    /// Speaks over a stream socket. The descriptor is closed with the link; its duplicates stay as they are.
    pub fn over(socket: OwnedFd) -> Self {
        let (outgoing, incoming) = (VecDeque::new(), Incoming::default());
        Self { socket, outgoing, incoming, takes_files: false, is_limited: false }
    }

    /// The same, of what may be something else.
    ///
    /// # Errors
    /// `InvalidInput` if it is a socket of another kind; else the system's: it is none.
    pub fn over_stream(socket: OwnedFd) -> io::Result<Self> {
        match socket::is_stream(socket.as_fd())? {
            true => Ok(Self::over(socket)),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a socket of another kind")),
        }
    }

    /// The same, where the other side may send descriptors: a Unix socket.
    pub(crate) fn with_files(socket: OwnedFd) -> Self {
        Self { takes_files: true, ..Self::over(socket) }
    }

    /// Takes none but short frames, as long as nobody knows who sends them.
    pub(crate) fn limit(&mut self) {
        self.is_limited = true;
    }

    /// Takes all that can be frames again.
    pub(crate) fn unlimit(&mut self) {
        self.is_limited = false;
    }

    /// Queues a frame, for [`Link::flush`].
    ///
    /// # Errors
    /// `InvalidInput` if it is longer than [`MAX_FRAME_BYTES`].
    pub fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.send_with(frame, None)
    }

    /// Queues a frame with a descriptor.
    ///
    /// # Errors
    /// As for [`Link::send`].
    pub(crate) fn send_with(&mut self, frame: &[u8], file: Option<OwnedFd>) -> io::Result<()> {
        if frame.len() > MAX_FRAME_BYTES {
            let text = format!("{} bytes are longer than a frame can be ({MAX_FRAME_BYTES})", frame.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        self.outgoing.push_back(Outgoing { bytes: with_header(frame), written: 0, file });
        Ok(())
    }

    /// Sends a short frame, where nothing else is under way, with a descriptor that is not even duplicated: some are
    /// not to be closed, nor any duplicate of them.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn hand_over(&self, frame: &[u8], file: BorrowedFd) -> io::Result<()> {
        let bytes = with_header(frame);
        let written = socket::send(self.socket.as_fd(), &bytes, Some(file))?;
        assert_eq!(written, bytes.len(), "a socket that holds nothing yet has room");
        Ok(())
    }

    /// Writes what the socket takes of what is queued; whether that was all.
    ///
    /// # Errors
    /// The system's; `BrokenPipe` if the other side has gone.
    pub fn flush(&mut self) -> io::Result<bool> {
        while let Some(next) = self.outgoing.front_mut() {
            match next.write(&self.socket) {
                Ok(()) if next.written == next.bytes.len() => drop(self.outgoing.pop_front()),
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Whether there is something to flush.
    pub fn is_writing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// The next frame, if all of it has come.
    ///
    /// # Errors
    /// The system's; `UnexpectedEof` if the other side has closed, `InvalidData` if it sends what is no frame.
    pub fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.receive_with()?.map(|(frame, _)| frame))
    }

    /// The same, after the socket has taken what it does of what is queued. Who has gone is heard to the end: what he
    /// has said before may be here, though nothing can be written to him any more.
    ///
    /// # Errors
    /// As for [`Link::flush`] and [`Link::receive`].
    pub fn hear(&mut self) -> io::Result<Option<Vec<u8>>> {
        let flushed = self.flush();
        match self.receive()? {
            None => flushed.map(|_| None),
            heard => Ok(heard),
        }
    }

    /// The same, with the descriptor that came with it.
    ///
    /// # Errors
    /// As for [`Link::receive`].
    pub(crate) fn receive_with(&mut self) -> io::Result<Option<(Vec<u8>, Option<OwnedFd>)>> {
        loop {
            let wanted = self.incoming.wanted(self.is_limited)?;
            if wanted == 0 {
                let Incoming { body, file, .. } = std::mem::take(&mut self.incoming);
                return Ok(Some((body, file)));
            }
            let mut chunk = [0; CHUNK_BYTES];
            let room = &mut chunk[..wanted.min(CHUNK_BYTES)];
            match read(&self.socket, room, self.takes_files, &mut self.incoming.file) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => self.incoming.take(&room[..bytes]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the other side has closed; what it has sent before may still be there.
    pub fn is_closed(&self) -> bool {
        poll::wait([(self.socket.as_fd(), Wanted::End)], Some(Duration::ZERO)).unwrap_or(false)
    }

    /// Says that nothing more is written: the other side hears that behind all else.
    ///
    /// # Errors
    /// The system's.
    pub fn end_writing(&self) -> io::Result<()> {
        socket::end_writing(self.socket.as_fd())
    }

    /// Writes all that is queued, however long it takes.
    ///
    /// # Errors
    /// As for [`Link::flush`].
    pub fn flush_all(&mut self) -> io::Result<()> {
        while !self.flush()? {
            self.wait(Wanted::Writing)?;
        }
        Ok(())
    }

    /// The next frame, however long it takes, with the descriptor that came with it.
    ///
    /// # Errors
    /// As for [`Link::receive`].
    pub(crate) fn wait_for_frame(&mut self) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
        loop {
            if let Some(frame) = self.receive_with()? {
                return Ok(frame);
            }
            self.wait(Wanted::Reading)?;
        }
    }

    /// Waits for something to receive, but not for longer than this; whether there is.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn wait_for(&self, limit: Duration) -> io::Result<bool> {
        poll::wait([(self.socket.as_fd(), Wanted::Reading)], Some(limit))
    }

    /// The socket alone: nothing may be under way.
    pub(crate) fn into_socket(self) -> OwnedFd {
        self.socket
    }

    fn wait(&self, wanted: Wanted) -> io::Result<()> {
        poll::wait([(self.socket.as_fd(), wanted)], None).map(drop)
    }
}

/// For waiting: readable when something may be received, writable when there may be room to flush.
impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Outgoing {
    fn write(&mut self, socket: &OwnedFd) -> io::Result<()> {
        let file = self.file.as_ref().map(AsFd::as_fd);
        self.written += socket::send(socket.as_fd(), &self.bytes[self.written..], file)?;
        self.file = None;
        Ok(())
    }
}

impl Incoming {
    /// Bytes that the frame lacks, as far as that is known; 0 if it is there.
    fn wanted(&self, is_limited: bool) -> io::Result<usize> {
        if self.header_bytes < HEADER_BYTES {
            return Ok(HEADER_BYTES - self.header_bytes);
        }
        let most = if is_limited { STRANGERS_FRAME_BYTES } else { MAX_FRAME_BYTES };
        let length = u32::from_le_bytes(self.header);
        match usize::try_from(length) {
            Ok(bytes) if bytes <= most => Ok(bytes - self.body.len()),
            _ => {
                let text = format!("the other side begins a frame of {length} bytes, which is none of oxmpi");
                Err(io::Error::new(io::ErrorKind::InvalidData, text))
            }
        }
    }

    /// Takes bytes, not more than are wanted.
    fn take(&mut self, bytes: &[u8]) {
        if self.header_bytes < HEADER_BYTES {
            self.header[self.header_bytes..][..bytes.len()].copy_from_slice(bytes);
            self.header_bytes += bytes.len();
        } else {
            // Grows with what has come: nobody makes us take memory by promising much.
            self.body.extend_from_slice(bytes);
        }
    }
}

fn with_header(frame: &[u8]) -> Vec<u8> {
    let length = u32::try_from(frame.len()).expect("no frame is so long");
    [&length.to_le_bytes()[..], frame].concat()
}

/// Reads once; keeps the first descriptor that comes along, if any is wanted.
fn read(
    socket: &OwnedFd,
    room: &mut [u8],
    takes_files: bool,
    file: &mut Option<OwnedFd>,
) -> io::Result<usize> {
    if !takes_files {
        return socket::receive(socket.as_fd(), room);
    }
    let (bytes, new) = socket::receive_with_file(socket.as_fd(), room)?;
    *file = file.take().or(new);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use proptest::prelude::*;

    use super::*;

    fn pair() -> (Link, Link) {
        let (left, right) = UnixStream::pair().expect("sockets");
        (Link::with_files(left.into()), Link::with_files(right.into()))
    }

    #[test]
    fn a_frame_longer_than_the_sockets_buffer_comes_in_pieces() {
        let (mut left, mut right) = pair();
        let frame: Vec<u8> = (0..3_000_000_u32).map(|byte| byte.to_le_bytes()[0]).collect();
        left.send(&frame).expect("not too long");
        left.send(b"").expect("short");
        assert!(!left.flush().expect("open") && left.is_writing(), "no buffer is so large");
        let mut frames = Vec::new();
        while frames.len() < 2 {
            left.flush().expect("open");
            frames.extend(right.receive().expect("open"));
        }
        assert!(frames[0] == frame && frames[1].is_empty() && !left.is_writing());
    }

    #[test]
    fn nothing_is_read_beyond_a_frame_and_the_users_descriptor_stays_as_it_was() {
        let (mut user, other) = UnixStream::pair().expect("sockets");
        let mut link = Link::over(user.try_clone().expect("a descriptor").into());
        (&other).write_all(b"\x02\0\0\0hiuser").expect("room");
        assert_eq!(link.receive().expect("open").as_deref(), Some(&b"hi"[..]));
        drop(link);
        let mut rest = [0; 4];
        user.read_exact(&mut rest).expect("open");
        assert_eq!(&rest, b"user");
        assert!(!rustix::fs::fcntl_getfl(&user).expect("open").contains(rustix::fs::OFlags::NONBLOCK));
    }

    /// A socket that is closed while it holds what nobody has read refuses what is written to it from then on.
    #[test]
    fn who_has_gone_is_heard_to_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let there = TcpStream::connect(listener.local_addr().expect("it has one")).expect("it listens");
        let (mut there, mut here) =
            (Link::over(there.into()), Link::over(listener.accept().expect("it has come").0.into()));
        here.send(b"unread").expect("short");
        here.flush_all().expect("open");
        there.wait(Wanted::Reading).expect("open");
        there.send(b"farewell").expect("short");
        there.flush_all().expect("open");
        drop(there);
        here.wait(Wanted::Reading).expect("open");
        here.send(b"too late").expect("short");
        assert_eq!(here.hear().expect("it has said that").as_deref(), Some(&b"farewell"[..]));
        here.hear().expect_err("it has gone");
    }

    #[test]
    fn what_is_no_stream_socket_is_refused() {
        let (left, _right) = pair();
        Link::over_stream(left.into_socket()).expect("it is one");
        let file = File::open("/dev/null").expect("it is there");
        Link::over_stream(file.into()).expect_err("no socket");
        let datagrams = std::os::unix::net::UnixDatagram::unbound().expect("a socket");
        let error = Link::over_stream(datagrams.into()).expect_err("no stream");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn a_frame_that_is_too_long_is_an_error_on_both_sides() {
        let (mut left, right) = pair();
        let too_long = vec![0; MAX_FRAME_BYTES + 1];
        assert_eq!(left.send(&too_long).expect_err("too long").kind(), io::ErrorKind::InvalidInput);
        rustix::io::write(&right, b"GET / HTTP/1.0").expect("room");
        assert_eq!(left.receive().expect_err("no frame").kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_torn_frame_is_an_unexpected_end() {
        let (mut left, right) = pair();
        rustix::io::write(&right, b"\x05\0\0\0abc").expect("room");
        assert!(left.receive().expect("open").is_none());
        drop(right);
        assert_eq!(left.receive().expect_err("closed").kind(), io::ErrorKind::UnexpectedEof);
        left.send(b"more").expect("short");
        assert_eq!(left.flush().expect_err("closed").kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_closed_link_is_told_from_one_that_is_silent_and_what_was_said_stays() {
        let (mut left, mut right) = pair();
        assert!(!right.is_closed());
        left.send(b"bye").expect("short");
        left.flush_all().expect("room");
        assert!(!right.is_closed());
        drop(left);
        assert!(right.is_closed());
        assert_eq!(right.receive().expect("it has come").as_deref(), Some(&b"bye"[..]));
    }

    #[test]
    fn a_descriptor_travels_with_its_frame_and_is_closed_on_exec() {
        let (mut left, mut right) = pair();
        let file = rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
        rustix::io::write(&file, b"shared").expect("memory");
        left.send(b"first").expect("short");
        left.send_with(b"second", Some(file)).expect("short");
        left.flush_all().expect("room");
        assert!(right.wait_for_frame().expect("open").1.is_none());
        let (frame, file) = right.wait_for_frame().expect("open");
        let file = file.expect("it was sent");
        assert!(rustix::io::fcntl_getfd(&file).expect("open").contains(rustix::io::FdFlags::CLOEXEC));
        let mut text = [0; 6];
        std::os::unix::fs::FileExt::read_exact_at(&File::from(file), &mut text, 0)
            .expect("it is long enough");
        assert_eq!((&frame[..], &text), (&b"second"[..], b"shared"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let (mut left, right) = pair();
            rustix::io::write(&right, &bytes).expect("room");
            drop(right);
            while let Ok(frame) = left.receive() {
                prop_assert!(frame.is_some_and(|frame| frame.len() <= bytes.len()));
            }
        }
    }
}
