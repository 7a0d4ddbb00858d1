//! Two processes of a job find out that they are of the same job, without saying what only such know.
//!
//! | who | says |
//! |---|---|
//! | who has connected | its number, and a random number |
//! | who has accepted | another random number, and a proof over both that it knows the secret |
//! | who has connected | its own proof |
//!
//! Each proof is over what the other side has made up, so none can be had from an earlier conversation; and the two are
//! not alike, so none can be sent back. What follows is as safe as the connection: it is neither encrypted nor signed.

use std::io;

use crate::Link;
use crate::link::STRANGERS_FRAME_BYTES;
use crate::secret::{self, BYTES, Secret};

/// See the module: one side of it.
#[derive(Debug)]
pub struct Handshake {
    secret: Secret,
    own: [u8; BYTES],
    state: State,
}

#[derive(Debug)]
enum State {
    /// Accepted: waits for the other's number.
    Accepted,
    /// Has connected, with this number: waits for the other's proof.
    Connected(u32),
    /// Waits for the proof of who has this number, and has made up the other one.
    Challenged(u32, [u8; BYTES]),
}

/// The longest that is said: two numbers, or one and a proof.
const LONGEST_BYTES: usize = 2 * BYTES;
const _: () = assert!(LONGEST_BYTES <= STRANGERS_FRAME_BYTES);

const NUMBER_BYTES: usize = 4;

impl Handshake {
    /// The side that has connected, as the process with this number.
    ///
    /// # Errors
    /// The system's; `InvalidInput` is none.
    pub fn connect(link: &mut Link, secret: Secret, number: u32) -> io::Result<Self> {
        let own = secret::random()?;
        link.limit();
        link.send(&[&number.to_le_bytes()[..], &own].concat())?;
        link.flush()?;
        Ok(Self { secret, own, state: State::Connected(number) })
    }

    /// The side that has accepted.
    ///
    /// # Errors
    /// The system's.
    pub fn accept(link: &mut Link, secret: Secret) -> io::Result<Self> {
        link.limit();
        Ok(Self { secret, own: secret::random()?, state: State::Accepted })
    }

    /// Goes on as far as possible now; the number of who has connected, once both know that the other one is of the
    /// job.
    ///
    /// # Errors
    /// The system's; `PermissionDenied` if the other side is not of the job.
    pub fn advance(&mut self, link: &mut Link) -> io::Result<Option<u32>> {
        link.flush()?;
        while let Some(frame) = link.receive()? {
            match self.state {
                State::Accepted => {
                    let (number, theirs) = split::<NUMBER_BYTES>(&frame)?;
                    let (number, theirs) = (u32::from_le_bytes(number), whole(theirs)?);
                    let proof = self.proof(b"accepts", number, &theirs);
                    link.send(&[&self.own[..], &proof].concat())?;
                    link.flush()?;
                    self.state = State::Challenged(number, theirs);
                }
                State::Connected(number) => {
                    let (theirs, proof) = split::<BYTES>(&frame)?;
                    let expected =
                        self.secret.proof(&[b"accepts", &number.to_le_bytes(), &self.own, &theirs]);
                    if !secret::is_same(proof, &expected) {
                        return Err(stranger());
                    }
                    let own = self.secret.proof(&[b"connects", &number.to_le_bytes(), &self.own, &theirs]);
                    link.send(&own)?;
                    link.flush()?;
                    link.unlimit();
                    return Ok(Some(number));
                }
                State::Challenged(number, theirs) => {
                    if !secret::is_same(&frame, &self.proof(b"connects", number, &theirs)) {
                        return Err(stranger());
                    }
                    link.unlimit();
                    return Ok(Some(number));
                }
            }
        }
        Ok(None)
    }

    /// As seen by who has accepted.
    fn proof(&self, what: &[u8], number: u32, theirs: &[u8; BYTES]) -> [u8; BYTES] {
        self.secret.proof(&[what, &number.to_le_bytes(), theirs, &self.own])
    }
}

fn split<const N: usize>(frame: &[u8]) -> io::Result<([u8; N], &[u8])> {
    frame.split_first_chunk().map(|(first, rest)| (*first, rest)).ok_or_else(stranger)
}

fn whole(bytes: &[u8]) -> io::Result<[u8; BYTES]> {
    bytes.try_into().map_err(|_| stranger())
}

fn stranger() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "who is at the other end is not of this job")
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use proptest::prelude::*;

    use super::*;

    fn pair() -> (Link, Link) {
        let (left, right) = UnixStream::pair().expect("sockets");
        (Link::over(left.into()), Link::over(right.into()))
    }

    fn kind(outcome: io::Result<Option<u32>>) -> io::ErrorKind {
        outcome.expect_err("it is refused").kind()
    }

    #[test]
    fn who_knows_the_secret_is_known_by_his_number() {
        let secret = Secret::new().expect("random numbers");
        let (mut left, mut right) = pair();
        let mut accepted = Handshake::accept(&mut right, secret.clone()).expect("open");
        let mut connected = Handshake::connect(&mut left, secret, 7).expect("open");
        assert_eq!(accepted.advance(&mut right).expect("no stranger"), None);
        assert_eq!(connected.advance(&mut left).expect("no stranger"), Some(7));
        assert_eq!(accepted.advance(&mut right).expect("no stranger"), Some(7));
        let long = vec![1; 3 * LONGEST_BYTES];
        left.send(&long).expect("no longer limited");
        left.flush().expect("open");
        assert_eq!(right.receive().expect("no longer limited"), Some(long));
    }

    #[test]
    fn neither_side_believes_who_has_another_secret() {
        let (mut left, mut right) = pair();
        let secret = || Secret::new().expect("random numbers");
        let mut accepted = Handshake::accept(&mut right, secret()).expect("open");
        let mut connected = Handshake::connect(&mut left, secret(), 7).expect("open");
        assert_eq!(accepted.advance(&mut right).expect("he may be of the job"), None);
        assert_eq!(kind(connected.advance(&mut left)), io::ErrorKind::PermissionDenied);
        left.send(&[0; BYTES]).expect("short");
        left.flush().expect("open");
        assert_eq!(kind(accepted.advance(&mut right)), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn what_one_has_said_is_no_proof_when_it_is_sent_back() {
        let secret = Secret::new().expect("random numbers");
        let (mut left, mut right) = pair();
        let mut accepted = Handshake::accept(&mut right, secret).expect("open");
        left.send(&[9; NUMBER_BYTES + BYTES]).expect("short");
        left.flush().expect("open");
        assert_eq!(accepted.advance(&mut right).expect("he may be of the job"), None);
        let said = left.receive().expect("open").expect("it was said");
        left.send(&said[BYTES..]).expect("short");
        left.flush().expect("open");
        assert_eq!(kind(accepted.advance(&mut right)), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn who_is_not_known_yet_cannot_make_the_other_take_memory() {
        let secret = Secret::new().expect("random numbers");
        let (left, mut right) = pair();
        let mut accepted = Handshake::accept(&mut right, secret).expect("open");
        rustix::io::write(&left, &1_000_000_u32.to_le_bytes()).expect("room");
        assert_eq!(kind(accepted.advance(&mut right)), io::ErrorKind::InvalidData);
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_side_panic(bytes in proptest::collection::vec(any::<u8>(), 0..99), accepts: bool) {
            let secret = Secret::new().expect("random numbers");
            let (left, mut right) = pair();
            let mut side = match accepts {
                true => Handshake::accept(&mut right, secret),
                false => Handshake::connect(&mut right, secret, 1),
            }.expect("open");
            rustix::io::write(&left, &bytes).expect("room");
            prop_assert!(!matches!(side.advance(&mut right), Ok(Some(_))));
        }
    }
}
