//! Whether the other end of a connection is still there.
//!
//! Each end of a [`Link`](oxmpi_broker::Link) over the network says with every [`BEAT`] that it is there. A host that
//! has vanished says nothing, and its system acknowledges nothing either: after [`SILENCE`] it is lost. A process that
//! gets no processor, or is stopped by somebody, says nothing, but its system acknowledges what comes: it has
//! [`STUPOR`]. One that has ended is told by its system.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use oxmpi_system::socket::since_acknowledged;

/// How often each side says that it is there.
pub const BEAT: Duration = Duration::from_secs(1);
/// Who has not been heard for so long is lost, if his system is silent, too.
pub const SILENCE: Duration = Duration::from_secs(4);
/// Who has not been heard for so long is lost.
const STUPOR: Duration = Duration::from_secs(60);

/// There is a reason to look with every [`BEAT`].
const ABSENCE: Duration = Duration::from_secs(2);

/// When the other end was heard last.
#[derive(Clone, Copy, Debug)]
pub struct Presence {
    heard: Instant,
    /// When it is to be looked whether it is lost.
    due: Instant,
}

impl Presence {
    /// Of who is heard at a time, or is not expected to say anything before.
    pub fn at(heard: Instant) -> Self {
        Self { heard, due: heard + SILENCE }
    }

    /// Of who is heard now.
    pub fn now() -> Self {
        Self::at(Instant::now())
    }

    /// Takes it as heard at this time, for it could not have been heard before.
    pub fn forgive(&mut self, now: Instant) {
        *self = Self::at(self.heard.max(now));
    }

    /// When it is to be looked whether it is lost.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// For how long it has not been heard, if that means that it is lost.
    pub fn lost(&mut self, link: &impl AsFd, now: Instant) -> Option<Duration> {
        if now < self.due {
            return None;
        }
        let silent = now.saturating_duration_since(self.heard);
        // Of two beats at least one is acknowledged by now.
        let answers = || since_acknowledged(link.as_fd()).is_ok_and(|since| since < SILENCE - BEAT);
        if silent >= STUPOR || !answers() {
            return Some(silent);
        }
        self.due = now + BEAT;
        None
    }
}

/// Whether somebody was there to hear others. Who looks seldom was stopped himself, with them perhaps, as jobs are
/// whose turn it is not, or where a machine sleeps: for that time he misses nobody.
#[derive(Clone, Copy, Debug)]
pub struct Attention(Instant);

impl Attention {
    /// From now on.
    pub fn begin() -> Self {
        Self(Instant::now())
    }

    /// He looks; whether he had been away.
    pub fn was_away(&mut self, now: Instant) -> bool {
        now.saturating_duration_since(std::mem::replace(&mut self.0, now)) > ABSENCE
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn who_was_stopped_himself_misses_nobody() {
        let mut attention = Attention::begin();
        let begin = attention.0;
        let looks = [1, 2, 10, 11].map(|second| attention.was_away(begin + Duration::from_secs(second)));
        assert_eq!(looks, [false, false, true, false]);
    }

    #[test]
    fn who_says_nothing_has_longer_if_his_system_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut here = TcpStream::connect(listener.local_addr().expect("it is bound")).expect("it listens");
        let (_there, _) = listener.accept().expect("it has connected");
        here.write_all(b"beat").expect("it is open");
        let (mut presence, second) = (Presence::now(), Duration::from_secs(1));
        let begin = presence.heard;
        for (after, lost) in [(3, None), (4, None), (59, None), (60, Some(60 * second))] {
            assert_eq!(presence.lost(&here, begin + after * second), lost, "{after} s");
            assert!(lost.is_some() || presence.due() > begin + after * second, "{after} s");
        }
        presence.forgive(begin + 70 * second);
        assert_eq!(presence.due(), begin + 74 * second);
    }

    #[test]
    fn who_says_nothing_is_lost_if_nobody_answers_for_him() {
        let (here, _there) = UnixStream::pair().expect("sockets");
        let (mut presence, second) = (Presence::now(), Duration::from_secs(1));
        let begin = presence.heard;
        assert_eq!(presence.lost(&here, begin + 3 * second), None);
        assert_eq!(presence.lost(&here, begin + 4 * second), Some(4 * second));
    }
}
