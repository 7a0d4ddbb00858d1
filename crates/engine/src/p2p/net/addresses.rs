//! Where processes of other nodes are: parts of the own job, which is told all when it begins, and processes of other
//! jobs, each when it is met. They become peers when something is to be sent, or comes.

use oxmpi_base::{Error, ErrorClass, Result};

use super::Net;
use super::carrier::Carrier;
use crate::jobs::{Whereabouts, Whose};
use crate::p2p::P2p;
use crate::peers::{PeerId, Peers};

/// Where a process of another node is: its rank in the whole of its job, and its address.
pub(crate) type Elsewhere = (u32, Vec<u8>);

impl Net {
    /// The peer that is this process, if it is on another node that is known.
    ///
    /// # Errors
    /// `Other` if there is no such rank, or its address is none.
    pub(super) fn meet(&mut self, process: Whereabouts, peers: &mut Peers) -> Option<Result<PeerId>> {
        let addresses = self.addresses.get(process.job())?;
        if let Some(&known) = peers.foreign.get(process) {
            return Some(Ok(known));
        }
        let Some(Some((rank, address))) = addresses.get(process.rank() as usize) else {
            let text = format!("job {:016x} has no rank {}", process.job(), process.rank());
            return Some(Err(Error::new(ErrorClass::Other, text)));
        };
        let target = self.fabric.reach(address);
        Some(target.map(|target| {
            let id = peers.add_elsewhere(process, *rank, self.carriers.len());
            self.carriers.push(Carrier::new(id, target));
            id
        }))
    }
}

impl P2p {
    /// Lets the ranks of a job on another node be reached, by their addresses, as far as they are there; with these,
    /// their ranks in the whole.
    ///
    /// # Errors
    /// `Other` if this process has no endpoint, or there are no numbers left for the ranks.
    pub(crate) fn attach_elsewhere(
        &mut self,
        job: u64,
        size: u32,
        whose: Whose,
        addresses: Vec<Option<Elsewhere>>,
    ) -> Result<()> {
        let no_endpoint = || Error::new(ErrorClass::Other, "this process has no endpoint of a fabric");
        let net = self.net.as_mut().ok_or_else(no_endpoint)?;
        if !self.peers.jobs.is_attached(job) {
            self.peers.jobs.add_elsewhere(job, size, whose)?;
            net.addresses.insert(job, addresses);
        }
        Ok(())
    }

    /// Lets one process of another job, of which so many share its memory, be reached.
    ///
    /// # Errors
    /// As [`P2p::attach_elsewhere`].
    pub(crate) fn meet_elsewhere(
        &mut self,
        process: Whereabouts,
        job_size: u32,
        at: Elsewhere,
    ) -> Result<()> {
        let nowhere = vec![None; job_size as usize];
        self.attach_elsewhere(process.job(), job_size, Whose::OtherJob, nowhere)?;
        let all = self.net.as_mut().and_then(|net| net.addresses.get_mut(process.job()));
        if let Some(place) = all.and_then(|all| all.get_mut(process.rank() as usize)) {
            place.get_or_insert(at);
        }
        Ok(())
    }

    /// Whether a process can be reached, here or elsewhere.
    pub(crate) fn is_reached(&self, process: Whereabouts) -> bool {
        let elsewhere = self.net.as_ref().and_then(|net| net.addresses.get(process.job()));
        match elsewhere {
            Some(all) => matches!(all.get(process.rank() as usize), Some(Some(_))),
            None => self.peers.jobs.is_attached(process.job()),
        }
    }

    /// The peer that a process is.
    ///
    /// # Errors
    /// `Other` if its job is not attached.
    pub(crate) fn peer(&mut self, process: Whereabouts) -> Result<PeerId> {
        let elsewhere = self.net.as_mut().and_then(|net| net.meet(process, &mut self.peers));
        elsewhere.unwrap_or_else(|| self.peers.find(process))
    }
}
