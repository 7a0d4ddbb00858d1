//! Sockets of this machine, by abstract names, and what travels over them; and connections to other machines, as far as
//! they tell who is there. Nothing here waits.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::time::Duration;

use crate::{again, check, check_bytes};

/// Listens at an abstract name; up to `most` may wait to be accepted, as far as the system allows.
///
/// # Errors
/// The system's: `AddrInUse` if somebody does already, `InvalidInput` if the name is too long.
pub fn listen(name: &[u8], most: i32) -> io::Result<OwnedFd> {
    let (address, bytes) = address(name)?;
    let socket = open()?;
    // SAFETY: the address is as long.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), bytes) })?;
    // SAFETY: it touches no memory of ours.
    check(unsafe { libc::listen(socket.as_raw_fd(), most) })?;
    Ok(socket)
}

/// Connects to who listens at an abstract name.
///
/// # Errors
/// The system's: `ConnectionRefused` if nobody does, `WouldBlock` if too many want to be accepted, `InvalidInput` if
/// the name is too long.
pub fn connect(name: &[u8]) -> io::Result<OwnedFd> {
    let (address, bytes) = address(name)?;
    let socket = open()?;
    // SAFETY: the address is as long.
    again(|| check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), bytes) }))?;
    Ok(socket)
}

/// Begins to connect by TCP to who listens at an address, which is a `sockaddr_in` or `sockaddr_in6`. Whether anybody
/// does is told by [`receive`]: until that is known, and as long as it is there and silent, with `WouldBlock`, and with
/// `ConnectionRefused` if nobody does. When it is closed the other side hears at once that it was reset.
///
/// # Errors
/// The system's, as far as it knows at once; `InvalidInput` if it is no such address.
pub fn begin_connecting(address: &[u8]) -> io::Result<OwnedFd> {
    let no_address = || io::Error::new(io::ErrorKind::InvalidInput, "it is no address of the Internet");
    let family =
        address.first_chunk().map(|bytes| libc::c_int::from(libc::sa_family_t::from_ne_bytes(*bytes)));
    let family = family.filter(|&family| family == libc::AF_INET || family == libc::AF_INET6);
    let socket = open_of(family.ok_or_else(no_address)?)?;
    let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
    let (place, bytes) = ((&raw const at_once).cast(), size_of::<libc::linger>() as libc::socklen_t);
    // SAFETY: it is as long.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, place, bytes) })?;
    let (place, bytes) = (address.as_ptr().cast(), address.len() as libc::socklen_t);
    // SAFETY: the address is as long; what is in it the system checks.
    match check(unsafe { libc::connect(socket.as_raw_fd(), place, bytes) }) {
        Err(error) if !matches!(error.raw_os_error(), Some(libc::EINPROGRESS | libc::EINTR)) => Err(error),
        _ => Ok(socket),
    }
}

fn open() -> io::Result<OwnedFd> {
    open_of(libc::AF_UNIX)
}

fn open_of(family: libc::c_int) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: it touches no memory of ours.
    let socket = check(unsafe { libc::socket(family, kind, 0) })?;
    // SAFETY: it was just opened, and nobody else has heard of it.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

fn address(name: &[u8]) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    let mut address =
        libc::sockaddr_un { sun_family: libc::AF_UNIX as libc::sa_family_t, sun_path: [0; 108] };
    // A zero before the name says that it is abstract.
    let Some(place) = address.sun_path.get_mut(1..=name.len()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the name of a socket is too long"));
    };
    place.iter_mut().zip(name).for_each(|(place, &byte)| *place = byte as libc::c_char);
    Ok((address, (offset_of!(libc::sockaddr_un, sun_path) + 1 + name.len()) as libc::socklen_t))
}

/// The next connection to who listens, if there is one.
///
/// # Errors
/// The system's: there are no more descriptors.
pub fn accept(listener: BorrowedFd<'_>) -> io::Result<Option<OwnedFd>> {
    loop {
        let (listener, nobody) = (listener.as_raw_fd(), ptr::null_mut());
        // SAFETY: nobody wants to know the address.
        match check(unsafe { libc::accept4(listener, nobody, ptr::null_mut(), libc::SOCK_CLOEXEC) }) {
            // SAFETY: it was just opened, and nobody else has heard of it.
            Ok(socket) => return Ok(Some(unsafe { OwnedFd::from_raw_fd(socket) })),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => return Ok(None),
                io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                _ => return Err(error),
            },
        }
    }
}

/// Whether it is a socket over which bytes come in order.
///
/// # Errors
/// The system's: it is no socket.
pub fn is_stream(socket: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(option::<libc::c_int>(socket, (libc::SOL_SOCKET, libc::SO_TYPE), 0)? == libc::SOCK_STREAM)
}

/// The process, and its user, that was at the other end when the connection was made. The number of one that cannot be
/// seen from here is 0.
///
/// # Errors
/// The system's: it is no socket.
pub fn peer(socket: BorrowedFd<'_>) -> io::Result<(i32, u32)> {
    let nobody = libc::ucred { pid: 0, uid: u32::MAX, gid: u32::MAX };
    let found = option(socket, (libc::SOL_SOCKET, libc::SO_PEERCRED), nobody)?;
    Ok((found.pid, found.uid))
}

/// How long ago the system of the other machine has acknowledged something by TCP, whatever its process does.
///
/// # Errors
/// The system's: it is no connection by TCP.
pub fn since_acknowledged(socket: BorrowedFd<'_>) -> io::Result<Duration> {
    // SAFETY: it is some numbers, and zeroes are some.
    let nothing = unsafe { std::mem::zeroed::<libc::tcp_info>() };
    let info = option(socket, (libc::IPPROTO_TCP, libc::TCP_INFO), nothing)?;
    Ok(Duration::from_millis(info.tcpi_last_ack_recv.into()))
}

/// An option of a level that is some numbers, of which an older system may tell the first ones alone.
fn option<T: Copy>(socket: BorrowedFd<'_>, (level, name): (i32, i32), mut value: T) -> io::Result<T> {
    let mut bytes = size_of::<T>() as libc::socklen_t;
    let place = (&raw mut value).cast();
    // SAFETY: there is room of the length that is told; the callers' types are what the option holds.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, place, &raw mut bytes) })?;
    Ok(value)
}

/// Says that nothing more is written: the other side hears that behind all else.
///
/// # Errors
/// The system's.
pub fn end_writing(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: it touches no memory of ours.
    check(unsafe { libc::shutdown(socket.as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// Room for one descriptor in a message, as the system wants it aligned.
#[repr(C)]
#[derive(Clone, Copy)]
struct Control {
    header: libc::cmsghdr,
    file: RawFd,
}

/// How much of it is filled.
const CONTROL_BYTES: usize = size_of::<libc::cmsghdr>() + size_of::<RawFd>();

impl Control {
    fn holding(file: RawFd) -> Self {
        // SAFETY: it is some numbers, and zeroes are some.
        let mut control = unsafe { std::mem::zeroed::<Self>() };
        control.header.cmsg_len = CONTROL_BYTES as _;
        control.header.cmsg_level = libc::SOL_SOCKET;
        control.header.cmsg_type = libc::SCM_RIGHTS;
        control.file = file;
        control
    }
}

/// Writes what there is room for, with a descriptor if there is one; how many bytes that were.
///
/// # Errors
/// The system's: `WouldBlock` if there is no room.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], file: Option<BorrowedFd<'_>>) -> io::Result<usize> {
    let mut piece = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut control = file.map(|file| Control::holding(file.as_raw_fd()));
    let message = message(&mut piece, control.as_mut());
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: the message names the bytes, which are only read, and what goes with them.
    again(|| check_bytes(unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, flags) }))
}

/// Reads what is there, and a descriptor if one comes along; how many bytes that were, 0 at the end.
///
/// # Errors
/// The system's: `WouldBlock` if nothing is there.
pub fn receive_with_file(socket: BorrowedFd<'_>, room: &mut [u8]) -> io::Result<(usize, Option<OwnedFd>)> {
    let mut piece = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    let mut control = Control::holding(-1);
    let mut message = message(&mut piece, Some(&mut control));
    let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
    // SAFETY: the message names room for the bytes, and for one descriptor.
    let bytes = again(|| check_bytes(unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) }))?;
    let header = &control.header;
    let has_file = message.msg_controllen >= CONTROL_BYTES
        && (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_RIGHTS);
    // SAFETY: the system has just opened it for the caller.
    let file = has_file.then(|| unsafe { OwnedFd::from_raw_fd(control.file) });
    Ok((bytes, file))
}

/// Reads what is there, and no descriptors; how many bytes that were, 0 at the end.
///
/// # Errors
/// As for [`receive_with_file`].
pub fn receive(socket: BorrowedFd<'_>, room: &mut [u8]) -> io::Result<usize> {
    let (socket, place) = (socket.as_raw_fd(), room.as_mut_ptr().cast());
    // SAFETY: there is as much room.
    again(|| check_bytes(unsafe { libc::recv(socket, place, room.len(), libc::MSG_DONTWAIT) }))
}

/// A message of one piece, with room for one descriptor or none.
fn message(piece: &mut libc::iovec, control: Option<&mut Control>) -> libc::msghdr {
    // SAFETY: it is some numbers and addresses, and zeroes are some.
    let mut message = unsafe { std::mem::zeroed::<libc::msghdr>() };
    message.msg_iov = piece;
    message.msg_iovlen = 1;
    if let Some(control) = control {
        message.msg_control = ptr::from_mut(control).cast();
        message.msg_controllen = CONTROL_BYTES as _;
    }
    message
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::fs::File;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::os::unix::net::{UnixDatagram, UnixStream};

    use super::*;

    #[test]
    fn who_listens_is_found_by_name() {
        let name = format!("oxmpi-test-{}", std::process::id());
        assert_eq!(connect(name.as_bytes()).expect_err("nobody").kind(), io::ErrorKind::ConnectionRefused);
        let listener = listen(name.as_bytes(), 10).expect("a free name");
        assert_eq!(listen(name.as_bytes(), 10).expect_err("taken").kind(), io::ErrorKind::AddrInUse);
        assert!(accept(listener.as_fd()).expect("it listens").is_none());
        let there = connect(name.as_bytes()).expect("it listens");
        let here = accept(listener.as_fd()).expect("it listens").expect("somebody");
        let own = i32::try_from(std::process::id()).expect("a number");
        assert_eq!(peer(here.as_fd()).expect("a socket"), (own, crate::limits::user()));
        end_writing(there.as_fd()).expect("it is open");
        assert_eq!(receive(here.as_fd(), &mut [0]).expect("it is open"), 0);
        assert_eq!(listen(&[b'x'; 108], 1).expect_err("too long").kind(), io::ErrorKind::InvalidInput);
    }

    /// A `sockaddr_in` of this machine.
    fn at_port(port: u16) -> [u8; 16] {
        let mut address = [0; 16];
        address[..2].copy_from_slice(&(libc::AF_INET as libc::sa_family_t).to_ne_bytes());
        address[2..4].copy_from_slice(&port.to_be_bytes());
        address[4..8].copy_from_slice(&[127, 0, 0, 1]);
        address
    }

    #[test]
    fn a_connection_tells_whether_anybody_listens_though_nobody_accepts() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = at_port(listener.local_addr().expect("it is bound").port());
        let ends = |socket: &OwnedFd| loop {
            match receive(socket.as_fd(), &mut [0]) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    crate::poll::wait([(socket.as_fd(), crate::poll::Wanted::Reading)], None)
                        .expect("it is open");
                }
                ended => break ended.map_err(|error| error.kind()),
            }
        };
        let there = begin_connecting(&address).expect("somebody listens");
        assert_eq!(receive(there.as_fd(), &mut [0]).expect_err("silent").kind(), io::ErrorKind::WouldBlock);
        drop(begin_connecting(&address).expect("somebody listens"));
        let (accepted, _) = listener.accept().expect("the first");
        drop(accepted);
        assert_eq!(ends(&there), Ok(0));
        let (reset, _) = listener.accept().expect("the second");
        assert_eq!(ends(&reset.into()), Err(io::ErrorKind::ConnectionReset));
        drop(listener);
        let refused =
            begin_connecting(&address).map_err(|error| error.kind()).and_then(|socket| ends(&socket));
        assert_eq!(refused, Err(io::ErrorKind::ConnectionRefused));
        for wrong in [&b""[..], &[0; 16], &address[..8]] {
            assert_eq!(begin_connecting(wrong).expect_err("wrong").kind(), io::ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn a_descriptor_comes_with_its_bytes_and_only_one() {
        let (here, there) = UnixStream::pair().expect("sockets");
        let mut room = [0; 8];
        let error = receive_with_file(here.as_fd(), &mut room).expect_err("nothing");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        let file = File::open("/dev/null").expect("it is there");
        assert_eq!(send(there.as_fd(), b"with", Some(file.as_fd())).expect("room"), 4);
        let (bytes, sent) = receive_with_file(here.as_fd(), &mut room).expect("it is there");
        let known = |fd: BorrowedFd<'_>| crate::file::metadata(fd).expect("a file").inode;
        let sent = sent.expect("it was sent");
        assert_eq!((bytes, known(sent.as_fd())), (4, known(file.as_fd())));
        // SAFETY: it asks for a number.
        assert_eq!(unsafe { libc::fcntl(sent.as_raw_fd(), libc::F_GETFD) }, libc::FD_CLOEXEC);
        assert_eq!(send(there.as_fd(), b"without", None).expect("room"), 7);
        let (bytes, none) = receive_with_file(here.as_fd(), &mut room).expect("it is there");
        assert!(bytes == 7 && none.is_none());
        drop(here);
        assert_eq!(send(there.as_fd(), b"late", None).expect_err("closed").kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_stream_is_told_from_what_is_none() {
        let (stream, _other) = UnixStream::pair().expect("sockets");
        assert!(is_stream(stream.as_fd()).expect("a socket"));
        assert!(!is_stream(UnixDatagram::unbound().expect("a socket").as_fd()).expect("a socket"));
        is_stream(File::open("/dev/null").expect("it is there").as_fd()).expect_err("no socket");
    }
    #[test]
    fn the_other_system_acknowledges_what_its_process_does_not_read() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let here = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        let (_there, _) = listener.accept().expect("it has connected");
        let rest = Duration::from_millis(300);
        std::thread::sleep(rest);
        let silent = since_acknowledged(here.as_fd()).expect("a connection");
        assert!(silent >= rest - Duration::from_millis(20), "{silent:?}");
        assert_eq!(send(here.as_fd(), b"beat", None).expect("room"), 4);
        let prompt = since_acknowledged(here.as_fd()).expect("a connection");
        assert!(prompt < silent, "{prompt:?}");
        let (local, _other) = UnixStream::pair().expect("sockets");
        since_acknowledged(local.as_fd()).expect_err("nobody acknowledges");
    }
}
