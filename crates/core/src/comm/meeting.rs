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

    /// Everybody's record, by rank; in `ceil(log2 n)` rounds. Whoever fails tells those who wait for him why, and so
    /// all fail.
    ///
    /// # Errors
    /// `Group` if a member means another group; `ProcAborted` if one is of another job, and gone.
    pub(super) fn exchange<T: Record>(&self, process: &Process, mine: &T) -> Result<Vec<T>> {
        let count = self.places.len();
        let mut known = Vec::with_capacity(T::BYTES * count);
        mine.write(&mut known);
        let mut known = Ok(known);
        // Those of `ranks` successors are known, own first, and go to whoever is as many ranks before.
        let mut ranks = 1;
        while ranks < count {
            let (to, from) = ((self.me + count - ranks) % count, (self.me + ranks) % count);
            let round = ranks.min(count - ranks) * T::BYTES;
            let told = known.as_ref().map(|known| &known[..round]).map_err(Error::clone);
            self.letters.write(process, self.places[to], &encode(&told));
            let heard = self.letters.read(process, self.places[from].peer).and_then(|heard| decode(&heard));
            known = known.and_then(|known| Ok([known, records(heard?, round, from)?].concat()));
            ranks *= 2;
        }
        let mut records: Vec<T> = known?.chunks_exact(T::BYTES).map(T::read).collect();
        records.rotate_right(self.me);
        Ok(records)
    }

    /// What the member with the rank `root` tells, who alone passes something; along a binomial tree.
    ///
    /// # Errors
    /// What the root passes; `ProcAborted` if who tells this process is of another job, and gone.
    pub(super) fn spread(
        &self,
        process: &Process,
        root: u32,
        told: Option<Result<Vec<u8>>>,
    ) -> Result<Vec<u8>> {
        let (count, root) = (self.places.len(), root as usize);
        let place = |distance: usize| self.places[(root + distance) % count];
        // The parent of a rank, counted from the root, is the rank with its lowest bit cleared.
        let me = (self.me + count - root) % count;
        let (lowest, parent) =
            if me == 0 { (count.next_power_of_two(), 0) } else { (me & me.wrapping_neg(), me & (me - 1)) };
        let read = || self.letters.read(process, place(parent).peer).and_then(|heard| decode(&heard));
        let told = told.unwrap_or_else(read);
        let halves = successors(Some(lowest / 2), |step| Some(step / 2)).take_while(|&step| step > 0);
        for child in halves.map(|step| me + step).filter(|&child| child < count) {
            self.letters.write(process, place(child), &encode(&told));
        }
        told
    }
}

/// The records that a member tells in a round, of so many bytes.
fn records(heard: Vec<u8>, bytes: usize, from: usize) -> Result<Vec<u8>> {
    if heard.len() == bytes {
        return Ok(heard);
    }
    let text = format!("rank {from} of the group does not name the same members");
    Err(Error::new(ErrorClass::Group, text))
}

/// What is told in a letter: something, or why there is nothing.
pub(super) fn encode<T: AsRef<[u8]>>(told: &Result<T>) -> Vec<u8> {
    match told {
        Ok(told) => [&0_i32.to_ne_bytes(), told.as_ref()].concat(),
        Err(error) => [&error.class().code().to_ne_bytes(), error.text().as_bytes()].concat(),
    }
}

pub(super) fn decode(heard: &[u8]) -> Result<Vec<u8>> {
    let (class, rest) = heard.split_at_checked(4).ok_or_else(not_oxmpi)?;
    match i32::from_ne_bytes(class.try_into().expect("4 bytes")) {
        0 => Ok(rest.to_vec()),
        class => {
            let class = ErrorClass::from_code(class).ok_or_else(not_oxmpi)?;
            Err(Error::new(class, String::from_utf8_lossy(rest)))
        }
    }
}

#[cold]
pub(super) fn not_oxmpi() -> Error {
    Error::new(ErrorClass::Other, "the other side is no process of this version of oxmpi")
}
