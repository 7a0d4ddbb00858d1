//! A meeting: the members of a group tell each other what making something together needs, by letters. They
//! need share no communicator that is theirs alone; it is enough that each knows where all are reached.

use std::iter::successors;

use oxmpi_base::{Error, ErrorClass, Result};
use oxmpi_engine::Address;
use oxmpi_plan::Peer;

use super::Communicator;
use super::correspondence::{Correspondence, Subject};
use crate::group::Group;
use crate::process::{Process, State};
use crate::record::Record;

/// See the module.
#[derive(Debug)]
pub(super) struct Meeting {
    /// Where the members of the group are reached, by rank.
    places: Vec<Address>,
    /// This process's rank.
    me: usize,
    letters: Correspondence,
}

impl State {
    /// Where a process is met, given by its number.
    ///
    /// # Errors
    /// `Other` if it cannot be reached.
    pub(super) fn meeting_place(&mut self, number: u32) -> Result<Address> {
        let peer = self.engine.peer(self.engine.at_number(number))?;
        Ok(Address { peer, context: self.letters.meeting_context() })
    }
}

impl Meeting {
    /// A meeting of the members of `group`, which are members of `comm`, this process being one.
    pub(super) fn inside(state: &State, comm: &Communicator, group: &Group, subject: Subject<'_>) -> Self {
        let channel = state.engine.channel(comm.channel);
        let place = |rank: u32| {
            let there = group.translate(rank.cast_signed(), &comm.group).expect("it is a rank of the group");
            channel.address(Peer::Local(there.expect("its members are members of the communicator")))
        };
        let places = (0..group.size()).map(place).collect();
        Self::new(places, group, Correspondence::new(channel.context(), subject))
    }

    /// A meeting of the members of any group, this process being one.
    ///
    /// # Errors
    /// `Other` if a member cannot be reached.
    pub(super) fn of_group(state: &mut State, group: &Group, subject: Subject<'_>) -> Result<Self> {
        let places = group.members().map(|number| state.meeting_place(number)).collect::<Result<_>>()?;
        Ok(Self::new(places, group, Correspondence::new(state.letters.meeting_context(), subject)))
    }

    fn new(places: Vec<Address>, group: &Group, letters: Correspondence) -> Self {
        let me = group.rank().expect("who is not a member does not meet");
        Self { places, me: me as usize, letters }
    }

    /// This process's rank in the group.
    pub(super) fn rank(&self) -> u32 {
        self.me as u32
    }

    /// Everybody's record, by rank; in `ceil(log2 n)` rounds.
    ///
    /// # Errors
    /// `Group` if a member means another group.
    pub(super) fn exchange<T: Record>(&self, process: &Process, mine: &T) -> Result<Vec<T>> {
        let count = self.places.len();
        let mut bytes = Vec::with_capacity(T::BYTES * count);
        mine.write(&mut bytes);
        // Those of `known` successors are here, own first, and go to whoever is `known` ranks before.
        let mut known = 1;
        while known < count {
            let (to, from) = ((self.me + count - known) % count, (self.me + known) % count);
            let round = known.min(count - known) * T::BYTES;
            self.letters.write(process, self.places[to], &bytes[..round]);
            let told = self.letters.read(process, self.places[from].peer);
            if told.len() != round {
                let text = format!("rank {from} of the group does not name the same members");
                return Err(Error::new(ErrorClass::Group, text));
            }
            bytes.extend_from_slice(&told);
            known *= 2;
        }
        let mut records: Vec<T> = bytes.chunks_exact(T::BYTES).map(T::read).collect();
        records.rotate_right(self.me);
        Ok(records)
    }

    /// What the member with the rank `root` tells, who alone passes something; along a binomial tree.
    pub(super) fn spread(&self, process: &Process, root: u32, told: Option<Vec<u8>>) -> Vec<u8> {
        let (count, root) = (self.places.len(), root as usize);
        let place = |distance: usize| self.places[(root + distance) % count];
        // The parent of a rank, counted from the root, is the rank with its lowest bit cleared.
        let me = (self.me + count - root) % count;
        let (lowest, parent) =
            if me == 0 { (count.next_power_of_two(), 0) } else { (me & me.wrapping_neg(), me & (me - 1)) };
        let told = told.unwrap_or_else(|| self.letters.read(process, place(parent).peer));
        let halves = successors(Some(lowest / 2), |step| Some(step / 2)).take_while(|&step| step > 0);
        for child in halves.map(|step| me + step).filter(|&child| child < count) {
            self.letters.write(process, place(child), &told);
        }
        told
    }
}
