//! Desks for what is posted: memory in which the two members of a channel write in turn.
//!
//! They are what [desks for messages](oxmpi_shm::ring::Desk) are: a desk belongs to one of two processes, who posts on
//! it hands it over with the post, and whoever has completed the run in which it came has it. So an answer is written
//! where the question was read, whose lines are in the writer's cache. The line that shows the post, which the other
//! one acquires, orders what both write and read there.
//!
//! One is made by who posts after it has read what the other one posted: where one of two only posts, it would go and
//! never come back. Each is longer than all that this rank has made for the pair, so that they take no more than twice
//! [`turn_bytes`]. They are never given back. A desk that nobody reads is lost, and nothing else.

use oxmpi_shm::{Block, turn_bytes};

use super::P2p;
use crate::peers::PeerId;

/// A desk that is this rank's, until it posts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PostDesk {
    /// In the segment that both see.
    pub offset: u64,
    /// A power of two.
    pub bytes: u64,
}

/// Those of a pair.
#[derive(Debug, Default)]
pub(crate) struct PostDesks {
    /// The last that came is the last.
    here: Vec<PostDesk>,
    /// The longest that this rank has made.
    made_bytes: u64,
    /// This rank has read what the other one posted, and posted nothing since.
    answers: bool,
}

impl P2p {
    /// Where so much is posted that only `reader` reads; `None` if that is no desk.
    pub(crate) fn take_post_desk(&mut self, reader: PeerId, bytes: u64) -> Option<PostDesk> {
        let desks = self.peers[reader].post_desks.as_mut()?;
        let answers = std::mem::replace(&mut desks.answers, false);
        if bytes > turn_bytes() {
            return None;
        }
        // It could have been in a block.
        self.arena.has_lent(bytes as usize);
        if let Some(place) = desks.here.iter().rposition(|desk| desk.bytes >= bytes) {
            return Some(desks.here.remove(place));
        }
        if !answers || desks.made_bytes >= bytes || !self.has_few_ranks(reader) {
            return None;
        }
        let Block { offset, bytes } = self.arena.take(bytes as usize).ok()?;
        let desk = PostDesk { offset, bytes: bytes as u64 };
        self.peers[reader].post_desks.get_or_insert_default().made_bytes = desk.bytes;
        Some(desk)
    }

    /// What `writer` has posted beyond a line was read.
    pub(crate) fn has_read_post(&mut self, writer: PeerId) {
        self.peers[writer].post_desks.get_or_insert_default().answers = true;
    }

    /// What was on a desk of `writer` was read, in a run that is complete.
    pub(crate) fn put_post_desk(&mut self, writer: PeerId, desk: PostDesk) {
        self.peers[writer].post_desks.get_or_insert_default().here.push(desk);
    }
}

#[cfg(test)]
mod tests {
    use oxmpi_shm::Job;

    use super::*;
    use crate::engine::Engine;

    fn two() -> [Engine; 2] {
        let tickets = Job::within_private(2).expect("memory for a job");
        tickets.into_iter().map(Engine::new).collect::<Vec<_>>().try_into().expect("two")
    }

    /// The other one, as the first knows it.
    fn other([one, other]: &mut [Engine; 2]) -> PeerId {
        one.peer(other.whereabouts()).expect("it is reached")
    }

    #[test]
    fn who_posts_without_having_read_makes_none() {
        let mut two = two();
        let (other, p2p) = (other(&mut two), &mut two[0].p2p);
        assert_eq!(p2p.take_post_desk(other, 1000), None);
        p2p.has_read_post(other);
        assert!(p2p.take_post_desk(other, 1000).is_some());
        assert_eq!(p2p.take_post_desk(other, 5000), None, "it has read nothing since");
    }

    #[test]
    fn each_that_is_made_is_longer_and_none_too_long() {
        let mut two = two();
        let (other, p2p) = (other(&mut two), &mut two[0].p2p);
        let mut made = |bytes: u64| {
            p2p.has_read_post(other);
            p2p.take_post_desk(other, bytes).map(|desk| desk.bytes)
        };
        assert_eq!(made(1000), Some(1024));
        assert_eq!(made(700), None);
        assert_eq!(made(1025), Some(2048));
        assert_eq!(made(turn_bytes()), Some(turn_bytes().next_power_of_two()));
        assert_eq!(made(turn_bytes()), None);
        assert_eq!(made(turn_bytes() + 1), None);
    }

    #[test]
    fn of_those_that_were_read_the_last_that_is_long_enough_goes() {
        let mut two = two();
        let (other, p2p) = (other(&mut two), &mut two[0].p2p);
        let desks = [(0, 4096), (4096, 1024), (8192, 4096)].map(|(offset, bytes)| PostDesk { offset, bytes });
        desks.iter().for_each(|&desk| p2p.put_post_desk(other, desk));
        let taken = [1025, 1024, 1025, 1].map(|bytes| p2p.take_post_desk(other, bytes));
        assert_eq!(taken, [Some(desks[2]), Some(desks[1]), Some(desks[0]), None]);
    }
}
