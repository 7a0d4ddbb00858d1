//! A meeting: processes that make something together tell each other a record each, although they share no
//! communicator that is theirs alone.
//!
//! All know who takes part, and where to reach them. Messages of a meeting carry the sender's rank in the job
//! and a tag below zero, on a context that no other messages with such tags use; those of two processes keep
//! their order, so meetings that are held one after the other do not mix. `ceil(log2 n)` rounds.

use oxmpi_base::Result;
use oxmpi_datatype::Buffer;
use oxmpi_engine::{Address, Mode, OpKey, Pattern, Received};
use oxmpi_mem::Region;
use oxmpi_plan::Peer;

use super::Communicator;
use crate::coll::Record;
use crate::group::Group;
use crate::process::{Process, State};

/// See the module.
#[derive(Debug)]
pub(super) struct Meeting {
    /// Where those that take part are reached; the same order for all.
    places: Vec<Address>,
    /// This process's place among them.
    me: usize,
    line: PrivateLine,
}

/// Where messages arrive that only those can receive who expect them.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrivateLine {
    /// A context of this process.
    pub context: u32,
    /// Below zero.
    pub tag: i32,
}

impl PrivateLine {
    /// That of a number that the members agree on, from 0.
    pub(super) fn numbered(context: u32, number: i32) -> Self {
        Self { context, tag: -1 - number }
    }
}

impl Meeting {
    /// A meeting of the members of `group`, which are members of `comm`, this process being one.
    pub(super) fn inside(state: &State, comm: &Communicator, group: &Group, tag: i32) -> Self {
        let channel = state.engine.channel(comm.channel);
        let place = |rank: u32| {
            let there = group.translate(rank.cast_signed(), &comm.group).expect("it is a rank of the group");
            channel.address(Peer::Local(there.expect("its members are members of the communicator")))
        };
        Self {
            places: (0..group.size()).map(place).collect(),
            me: group.rank().expect("who is not a member does not meet") as usize,
            line: PrivateLine::numbered(channel.context(), tag),
        }
    }

    /// A meeting of any processes of the job, given by their ranks there, this process being one.
    pub(super) fn in_job(state: &State, node_ranks: &[u32], number: i32) -> Self {
        let (me, context) = (state.engine.rank() as u32, state.meeting_context);
        let me = node_ranks.iter().position(|&other| other == me).expect("who is not invited does not meet");
        Self {
            places: node_ranks.iter().map(|&node_rank| Address { node_rank, context }).collect(),
            me,
            line: PrivateLine::numbered(context, number),
        }
    }

    /// Everybody's record, in the order of the places.
    ///
    /// # Errors
    /// None of today's messages; those of a network.
    pub(super) fn exchange<T: Record>(&self, process: &Process, mine: &T) -> Result<Vec<T>> {
        let count = self.places.len();
        let all = process.enter().engine.p2p.pool.take(T::BYTES * count);
        let mut record = Vec::with_capacity(T::BYTES);
        mine.write(&mut record);
        all.part(0, T::BYTES).write(&record);
        // Those of `known` successors are here, own first, and go to whoever is `known` places before.
        let mut known = 1;
        let mut result = Ok(());
        while known < count {
            let round = known.min(count - known);
            let (to, from) = ((self.me + count - known) % count, (self.me + known) % count);
            let sent = all.part(0, round * T::BYTES);
            let received = all.part(known * T::BYTES, round * T::BYTES);
            result = result.and(process.swap(self.places[to], self.places[from], self.line, sent, received));
            known += round;
        }
        let bytes = all.to_vec();
        process.enter().engine.p2p.pool.give(all);
        let mut records: Vec<T> = bytes.chunks_exact(T::BYTES).map(T::read).collect();
        records.rotate_right(self.me);
        result.map(|()| records)
    }
}

impl Process {
    /// Sends one piece of memory on a private line, and fills another from it; neither waits for the other.
    pub(super) fn swap(
        &self,
        to: Address,
        from: Address,
        line: PrivateLine,
        sent: Region,
        received: Region,
    ) -> Result<()> {
        let mut state = self.enter();
        let p2p = &mut state.engine.p2p;
        let pattern = Pattern { source: Some(from.node_rank.cast_signed()), tag: Some(line.tag) };
        let receive = p2p.receive(line.context, pattern, Buffer::dense(received));
        let me = state.engine.rank() as i32;
        let send = state.engine.p2p.send(to, me, line.tag, &Buffer::dense(sent), Mode::Standard);
        drop(state);
        let outcome = |key: OpKey| self.wait_for(|state: &mut State| state.outcome_of(key)).into_result();
        let received = match receive {
            Received::Done(outcome) => outcome.into_result(),
            Received::Pending(key) => outcome(key),
        };
        send.map_or(Ok(()), |key| outcome(key).map(drop))?;
        received.map(drop)
    }
}
