//! How processes of other jobs are reached: by their memory on this machine, over the network on others.
//!
//! The memory is had of their job's launcher. Who is on another machine is told of by itself: everybody of both groups
//! that meet opens an endpoint, unless it has one, and tells its address. What launchers keep is not asked for.

use oxmpi_base::{Error, ErrorClass, Ordered, Result};
use oxmpi_broker::Broker;
use oxmpi_engine::Whereabouts;
use oxmpi_fabric::Fabric;
use oxmpi_libfabric::Libfabric;

use super::broker::failed;
use crate::nodes::ADDRESS_BYTES;
use crate::process::{Process, State};
use crate::progress::Absence;
use crate::record::Record;

/// Whom a process reaches of those that it is to meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// Not those on other machines of which nothing was told.
    Near,
    /// All of them.
    Everybody,
}

/// What a process tells others of it, on other machines; nothing if it has found no network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// The rank in its whole job.
    rank: u32,
    /// How many ranks of this job share its memory.
    job_size: u32,
    /// Where it is reached.
    address: Vec<u8>,
}

impl Process {
    /// Makes sure that members of other jobs, each with its machine, can be reached until they are let go, if that is
    /// this machine or they are known: their jobs are noted in `reached`, be there an error or not.
    pub(crate) fn reach_all(
        &self,
        members: impl Iterator<Item = (Whereabouts, u64)>,
        reached: &mut Vec<u64>,
    ) -> Result<Reach> {
        let (mut reach, mut jobs) = (Reach::Everybody, Ordered::new());
        {
            let state = self.enter();
            let own = state.engine.machine();
            for (process, machine) in members {
                if machine == own || state.engine.is_reached(process) {
                    jobs.insert(process.job(), ());
                } else {
                    reach = Reach::Near;
                }
            }
        }
        for (job, ()) in jobs.iter() {
            self.reach(job)?;
            reached.push(job);
        }
        Ok(reach)
    }

    /// Makes sure that the processes of a job can be reached, until they are [let go](oxmpi_engine::Engine::let_go).
    fn reach(&self, job: u64) -> Result<()> {
        if self.enter().engine.hold(job) {
            return Ok(());
        }
        let file = Broker::of_job(job).segment().map_err(|error| {
            failed(ErrorClass::Other, &format!("the memory of job {job:016x} is not to be had"), &error)
        })?;
        let mut state = self.enter();
        state.engine.attach(job, file)?;
        assert!(state.engine.hold(job), "it is attached");
        Ok(())
    }

    /// What this process tells those on other machines, who can reach it from then on.
    ///
    /// # Errors
    /// `Other` if there is no network.
    pub(crate) fn introduction(&self) -> Result<Introduction> {
        let mut state = self.enter();
        let address = match state.engine.fabric_address() {
            Some(address) => address,
            None => state.join_fabric(self.is_reproducible)?,
        };
        if address.len() > ADDRESS_BYTES {
            let text = format!("an address of {} bytes is too long", address.len());
            return Err(Error::new(ErrorClass::Other, text));
        }
        Ok(Introduction { rank: self.world().rank(), job_size: state.engine.size() as u32, address })
    }

    /// Lets a process be reached that has introduced itself, if it is on another machine and was not met before.
    ///
    /// # Errors
    /// `Other` if there are no numbers left for its job.
    pub(crate) fn meet_elsewhere(
        &self,
        process: Whereabouts,
        machine: u64,
        introduction: Introduction,
    ) -> Result<()> {
        let Introduction { rank, job_size, address } = introduction;
        let mut state = self.enter();
        let is_known = machine == state.engine.machine() || state.engine.is_reached(process);
        if is_known || address.is_empty() {
            return Ok(());
        }
        state.engine.meet_elsewhere(process, job_size, (rank, address))
    }
}

impl State {
    /// Opens an endpoint of the network that there is: where this process is reached.
    fn join_fabric(&mut self, is_reproducible: bool) -> Result<Vec<u8>> {
        let fabric: Box<dyn Fabric> = Box::new(Libfabric::open()?);
        let (prices, address) = (fabric.prices().filter(|_| !is_reproducible), fabric.address());
        self.engine.join_fabric(fabric)?;
        self.absence.get_or_insert_with(Absence::of_network);
        prices.into_iter().for_each(|prices| self.plans.meet_network(prices));
        Ok(address)
    }
}

/// [`Reach`], or that there was an error.
pub(crate) struct Reached(pub Option<Reach>);

impl Record for Reached {
    const BYTES: usize = 1;

    fn write(&self, into: &mut Vec<u8>) {
        into.push(match self.0 {
            None => 0,
            Some(Reach::Near) => 1,
            Some(Reach::Everybody) => 2,
        });
    }

    fn read(from: &[u8]) -> Self {
        Self(match from[0] {
            1 => Some(Reach::Near),
            2 => Some(Reach::Everybody),
            _ => None,
        })
    }
}

impl Record for Introduction {
    const BYTES: usize = 12 + ADDRESS_BYTES;

    fn write(&self, into: &mut Vec<u8>) {
        let end = into.len() + Self::BYTES;
        for number in [self.rank, self.job_size, self.address.len() as u32] {
            into.extend_from_slice(&number.to_ne_bytes());
        }
        into.extend_from_slice(&self.address);
        into.resize(end, 0);
    }

    fn read(from: &[u8]) -> Self {
        let number = |at: usize| u32::from_ne_bytes(from[at..at + 4].try_into().expect("4 bytes"));
        let bytes = (number(8) as usize).min(ADDRESS_BYTES);
        Self { rank: number(0), job_size: number(4), address: from[12..12 + bytes].to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_introduction_survives_its_record() {
        for address in [Vec::new(), b"tcp\0abc".to_vec(), vec![7; ADDRESS_BYTES]] {
            let mine = Introduction { rank: 70_000, job_size: 3, address };
            let mut bytes = Vec::new();
            mine.write(&mut bytes);
            assert_eq!((bytes.len(), Introduction::read(&bytes)), (Introduction::BYTES, mine));
        }
    }
}
