//! The beginnings of messages that are announced, written before they are asked for.
//!
//! Who announces a long message to a rank of the own job has nothing to do for it until the receiver asks for the data.
//! Meanwhile it writes the first piece on a [desk](oxmpi_shm::ring::Desk), if it has one, so that it only hands that
//! over when it is asked. Each peer has one such beginning at most: desks are few, and of many messages that are
//! announced together all but the first are written while others are read. There is none for who has read the last
//! long message in the sender's own memory.
//!
//! A desk with a beginning is still a desk: if nobody asks for that message, the next one is written over it. What is
//! written belongs to one announcement. A persistent send that is announced again has other data, and begins anew.

use oxmpi_shm::ring::{CELL_BYTES, DESK_BYTES, Desk, Header, Receiver};

use super::{Op, OpKey, P2p};
use crate::peers::{Peer, PeerId};

/// See the module.
#[derive(Debug)]
pub(crate) struct Beginning {
    of: OpKey,
    desk: Desk,
}

impl P2p {
    /// A send was announced: its first piece is written, if there is a desk for it.
    pub(super) fn write_beginning(&mut self, to: PeerId, of: OpKey) {
        let peer = &mut self.peers[to];
        if peer.reads_itself || !peer.outbox.streams.is_empty() {
            return;
        }
        let Some(op) = self.ops.get(of) else { return };
        let is_over = |other: &mut Beginning| !self.ops.get(other.of).is_some_and(Op::is_announced);
        let desk = match &peer.beginning {
            None => take_desk(&mut peer.receiver, &mut peer.desks),
            Some(_) => peer.beginning.take_if(is_over).map(|other| other.desk),
        };
        if let Some(desk) = desk {
            peer.told(); // who sleeps wakes meanwhile
            op.buffer.read(0, &desk.part(op.buffer.bytes().min(DESK_BYTES as u64) as usize));
            peer.beginning = Some(Beginning { of, desk });
        }
    }
}

impl Peer {
    /// Before a send is announced: what was written for it before is no beginning of it.
    pub(super) fn forget_beginning(&mut self, of: OpKey) {
        let old = self.beginning.take_if(|beginning| beginning.of == of);
        self.desks.extend(old.map(|beginning| beginning.desk));
    }

    /// Sends the first piece of a message, as much as `header` says, if it is written already and there is room;
    /// whether it has.
    pub(super) fn send_beginning(&mut self, header: Header, of: OpKey) -> bool {
        let Self { sender: Some(sender), beginning, .. } = self else { return false };
        if header.bytes <= CELL_BYTES as u64 {
            return false;
        }
        let take = || beginning.take_if(|beginning| beginning.of == of).map(|beginning| beginning.desk);
        let Some(room) = sender.room_on(take, header.bytes as usize) else { return false };
        room.send(header);
        self.told();
        true
    }
}

/// A desk that is this rank's now: what was read there last is in its caches.
pub(super) fn take_desk(receiver: &mut Option<Receiver>, desks: &mut Vec<Desk>) -> Option<Desk> {
    receiver.as_mut().and_then(Receiver::take_desk).or_else(|| desks.pop())
}

#[cfg(test)]
mod tests {
    use oxmpi_datatype::Buffer;
    use oxmpi_mem::{Pool, Taken};
    use oxmpi_shm::Job;

    use super::*;
    use crate::engine::Engine;
    use crate::p2p::{Address, Mode};

    const BYTES: usize = 3 * DESK_BYTES;

    /// A rank with two desks for another one.
    struct Rank {
        engine: Engine,
        to: Address,
        data: Vec<Taken>,
        _other: Engine,
    }

    impl Rank {
        fn new() -> Self {
            let tickets = Job::within_private(2).expect("memory for a job");
            let [mut engine, other] = <[_; 2]>::try_from(tickets).expect("two").map(Engine::new);
            let to = Address {
                peer: engine.peer(other.whereabouts()).expect("it is reached"),
                context: engine.p2p.open_context(),
            };
            for _ in 0..2 {
                let block = engine.p2p.arena.take(DESK_BYTES).expect("memory");
                let segment = engine.p2p.peers.job().segment();
                engine.p2p.peers[to.peer].desks.extend(Desk::new(segment, block));
            }
            Self { engine, to, data: Vec::new(), _other: other }
        }

        /// Announces a message of this byte.
        fn announce(&mut self, byte: u8) -> OpKey {
            let data = Pool::default().take(BYTES);
            data.write(&[byte; BYTES]);
            let buffer = Buffer::dense(data.part(0, BYTES));
            self.data.push(data);
            self.engine.p2p.send(self.to, 0, 0, &buffer, Mode::Standard).expect("it is long")
        }

        fn beginning(&self) -> Option<(OpKey, Vec<u8>)> {
            let beginning = self.engine.p2p.peers[self.to.peer].beginning.as_ref()?;
            Some((beginning.of, beginning.desk.part(DESK_BYTES).to_vec()))
        }

        fn desks(&self) -> usize {
            self.engine.p2p.peers[self.to.peer].desks.len()
        }
    }

    #[test]
    fn one_message_has_a_beginning_until_it_is_over() {
        let mut rank = Rank::new();
        let first = rank.announce(1);
        rank.announce(2);
        assert_eq!((rank.beginning(), rank.desks()), (Some((first, vec![1; DESK_BYTES])), 1));
        rank.engine.p2p.fail(first, oxmpi_base::Error::new(oxmpi_base::ErrorClass::Other, "it is over"));
        let third = rank.announce(3);
        assert_eq!((rank.beginning(), rank.desks()), (Some((third, vec![3; DESK_BYTES])), 1));
        rank.engine.p2p.peers[rank.to.peer].forget_beginning(third);
        assert_eq!((rank.beginning(), rank.desks()), (None, 2));
    }

    #[test]
    fn nothing_is_written_for_who_reads_itself() {
        let mut rank = Rank::new();
        rank.engine.p2p.peers[rank.to.peer].reads_itself = true;
        rank.announce(1);
        assert_eq!((rank.beginning(), rank.desks()), (None, 2));
    }
}
