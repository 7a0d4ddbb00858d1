//! Where the processes of a node find the memory that one of them has made: a socket with a name that is told by
//! whatever has started them, and a secret that comes the same way.
//!
//! The maker gives the memory's descriptor to whoever proves to know the secret, once for each process. Both look whose
//! user the other one is, and what is mapped is checked by who maps it: its seals, and its size.
//!
//! Before there is any memory, who could come for it is found out: he *knocks*, and the maker sees later who has. That
//! proves nothing to either of them.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use oxmpi_system::poll::{self, Wanted};

use crate::address::{self, Address};
use crate::handshake::Handshake;
use crate::secret::Secret;
use crate::{Link, Malformed};

/// The side of who has made the memory.
#[derive(Debug)]
pub struct Meeting {
    listener: OwnedFd,
    whereabouts: Whereabouts,
}

/// What others are told of it, who are to find it.
#[derive(Clone, Debug)]
pub struct Whereabouts {
    number: u128,
    secret: Secret,
}

/// Says that the descriptor comes with it.
const HERE: &[u8] = b"memory";

impl Meeting {
    /// A new one, which nobody knows yet.
    ///
    /// # Errors
    /// The system's.
    pub fn open() -> io::Result<Self> {
        Self::open_at(Whereabouts { number: address::random()?, secret: Secret::new()? })
    }

    /// One that others know already.
    ///
    /// # Errors
    /// The system's; `AddrInUse` if somebody else is there.
    pub fn open_at(whereabouts: Whereabouts) -> io::Result<Self> {
        Ok(Self { listener: Address::Meeting(whereabouts.number).listen()?, whereabouts })
    }

    /// What is to be told to those who are to come, and to nobody else.
    pub fn whereabouts(&self) -> &Whereabouts {
        &self.whereabouts
    }

    /// The numbers of those who have [knocked](Whereabouts::knock) until now: what they say, whoever they are.
    ///
    /// # Errors
    /// The system's.
    pub fn knocks(&self) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        while let Some((socket, _)) = address::accept(&self.listener)? {
            let mut link = Link::over(socket);
            link.limit();
            // Who has said nothing by now, or something else, is a stranger.
            let said = link.receive().ok().flatten();
            let number = said.and_then(|frame| frame.as_slice().try_into().ok()).map(u32::from_le_bytes);
            numbers.extend(number);
        }
        Ok(numbers)
    }

    /// Gives `memory` to all processes with these numbers, which are in order. The descriptor is not even duplicated:
    /// to close any would give a seat up.
    ///
    /// # Errors
    /// The system's; `TimedOut` if one has not come in `time`, with the numbers of those.
    pub fn give(self, memory: BorrowedFd, to: &[u32], time: Duration) -> io::Result<()> {
        let until = Instant::now() + time;
        let mut missing = to.to_vec();
        let mut guests: Vec<(Link, Handshake)> = Vec::new();
        while !missing.is_empty() {
            if !self.wait(&guests, until)? {
                let text = format!("ranks {missing:?} of this node have not come for its memory");
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            while let Some((socket, _)) = address::accept(&self.listener)? {
                let mut link = Link::over(socket);
                let handshake = Handshake::accept(&mut link, self.whereabouts.secret.clone())?;
                guests.push((link, handshake));
            }
            guests.retain_mut(|(link, handshake)| match handshake.advance(link) {
                Ok(None) => true,
                Ok(Some(number)) => {
                    // Who has gone meanwhile is missed.
                    if let Some(place) = missing.iter().position(|&other| other == number)
                        && link.hand_over(HERE, memory).is_ok()
                    {
                        missing.swap_remove(place);
                    }
                    false
                }
                Err(_) => false,
            });
        }
        Ok(())
    }

    /// Waits until something happens; whether it has before it was too late.
    fn wait(&self, guests: &[(Link, Handshake)], until: Instant) -> io::Result<bool> {
        let guests = guests.iter().map(|(link, _)| link.as_fd());
        wait_for([self.listener.as_fd()].into_iter().chain(guests), until)
    }
}

impl Whereabouts {
    /// As text.
    pub fn to_text(&self) -> String {
        format!("{:032x}{}", self.number, self.secret.to_hex())
    }

    /// What such a text tells.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, secret) = text.split_at_checked(32)?;
        if !number.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        Some(Self { number: u128::from_str_radix(number, 16).ok()?, secret: Secret::from_hex(secret)? })
    }

    /// Those of another group of processes, who share memory of their own.
    #[must_use]
    pub fn of_group(&self, group: u32) -> Self {
        Self { number: self.number.wrapping_add(group.into()), secret: self.secret.clone() }
    }

    /// Shows that the process with this number reaches who is there, and is trusted by its user: what is returned says
    /// so until it is dropped. `None` if nobody is seen there, or another user.
    ///
    /// # Errors
    /// The system's; `WouldBlock` if more knock at once than the system lets wait (`net.core.somaxconn`).
    pub fn knock(&self, number: u32) -> io::Result<Option<Link>> {
        let mut link = match Address::Meeting(self.number).connect() {
            Ok(socket) => Link::over(socket),
            Err(error) => {
                let is_apart =
                    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
                return if is_apart { Ok(None) } else { Err(error) };
            }
        };
        link.send(&number.to_le_bytes())?;
        link.flush()?;
        Ok(Some(link))
    }

    /// Goes there, as the process with this number, and takes the memory.
    ///
    /// # Errors
    /// The system's; `NotFound` if nobody is there, whom this process could see; `PermissionDenied` if it is another
    /// user, or somebody who does not know the secret; `TimedOut`.
    pub fn take(&self, number: u32, time: Duration) -> io::Result<OwnedFd> {
        let until = Instant::now() + time;
        let mut link = Link::with_files(Address::Meeting(self.number).connect_until(Some(until))?);
        let mut handshake = Handshake::connect(&mut link, self.secret.clone(), number)?;
        let wait = |link: &Link| match wait_for([link.as_fd()], until)? {
            true => Ok(()),
            false => Err(io::Error::from(io::ErrorKind::TimedOut)),
        };
        while handshake.advance(&mut link)?.is_none() {
            wait(&link)?;
        }
        loop {
            match link.receive_with()? {
                Some((frame, Some(memory))) if frame == HERE => return Ok(memory),
                Some(_) => return Err(Malformed.into()),
                None => wait(&link)?,
            }
        }
    }
}

/// Waits until one of them can be read; whether one could before it was too late.
fn wait_for<'fd>(fds: impl IntoIterator<Item = BorrowedFd<'fd>>, until: Instant) -> io::Result<bool> {
    let left = until.saturating_duration_since(Instant::now());
    poll::wait(fds.into_iter().map(|fd| (fd, Wanted::Reading)), Some(left))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::thread;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn memory() -> OwnedFd {
        let file = File::from(oxmpi_system::file::in_memory(c"test").expect("memory"));
        file.write_all_at(b"shared", 0).expect("memory");
        file.into()
    }

    #[test]
    fn whoever_is_told_gets_the_memory_and_nobody_else() {
        let meeting = Meeting::open().expect("a socket");
        let told = Whereabouts::parse(&meeting.whereabouts().to_text()).expect("it is one");
        let stranger = Whereabouts { secret: Secret::new().expect("random"), ..told.clone() };
        thread::scope(|scope| {
            scope.spawn(|| meeting.give(memory().as_fd(), &[1, 2], LONG).expect("both come"));
            assert!(stranger.take(1, LONG).is_err());
            for number in [2, 1] {
                let file = std::fs::File::from(told.take(number, LONG).expect("it is given"));
                let mut text = [0; 6];
                file.read_exact_at(&mut text, 0).expect("it is that long");
                assert_eq!(&text, b"shared");
            }
        });
        assert_eq!(told.take(1, LONG).expect_err("over").kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn who_has_knocked_is_known_and_takes_memory_later() {
        let meeting = Meeting::open().expect("a socket");
        let told = meeting.whereabouts().clone();
        let knocks: Vec<Link> =
            [7, 5].map(|number| told.knock(number).expect("it listens").expect("here")).into();
        let stranger = Address::Meeting(told.number).connect().expect("it listens");
        assert_eq!(meeting.knocks().expect("it listens"), [7, 5]);
        assert_eq!(meeting.knocks().expect("it listens"), []);
        drop((knocks, stranger));
        thread::scope(|scope| {
            scope.spawn(|| meeting.give(memory().as_fd(), &[5], LONG).expect("it comes"));
            told.take(5, LONG).expect("it is given");
        });
        assert!(told.knock(7).expect("nobody is there").is_none());
    }

    #[test]
    fn groups_have_meetings_of_their_own() {
        let meeting = Meeting::open().expect("a socket");
        let other = meeting.whereabouts().of_group(1);
        assert!(other.knock(1).expect("nobody is there").is_none());
        let _own = Meeting::open_at(other.clone()).expect("it is free");
        assert!(other.knock(1).expect("it listens").is_some());
        assert!(meeting.knocks().expect("it listens").is_empty());
        let taken = Meeting::open_at(other).expect_err("somebody is there");
        assert_eq!(taken.kind(), io::ErrorKind::AddrInUse);
    }

    #[test]
    fn who_does_not_come_is_named() {
        let meeting = Meeting::open().expect("a socket");
        let error = meeting.give(memory().as_fd(), &[3], Duration::from_millis(1)).expect_err("nobody comes");
        assert!(error.kind() == io::ErrorKind::TimedOut && error.to_string().contains('3'), "{error}");
    }

    #[test]
    fn what_is_no_place_is_not_read_as_one() {
        for wrong in ["", "12", &"0".repeat(95), &"0".repeat(97), &"+".repeat(96), &"\u{e9}".repeat(48)] {
            assert!(Whereabouts::parse(wrong).is_none(), "{wrong}");
        }
    }
}
