//! Oxmpi's own launcher: the broker of the node's part of the job.
//!
//! Each request is a short conversation over an abstract socket, as all with brokers: nothing is inherited that a shell
//! or an interpreter in between could close.

use std::{env, io};

use oxmpi_base::Result;
use oxmpi_broker::Broker;

use crate::{Bootstrap, NodeMap, Place, check};

/// See the module.
#[derive(Debug)]
pub(crate) struct Own {
    place: Place,
    broker: Broker,
}

/// The map of nodes, where there are several.
const NODES: &str = "OXMPI_NODES";

impl Own {
    /// What the environment says of other nodes: nothing, if there are none. `part` is the number of the node's part.
    ///
    /// # Errors
    /// `InvalidData` if it is damaged.
    pub fn find(part: u64) -> io::Result<Option<Self>> {
        let Some(map) = env::var_os(NODES) else { return Ok(None) };
        let number = |name| env::var(name).ok()?.parse::<u32>().ok();
        let read = || {
            let (rank, size) = (number("OXMPI_RANK")?, number("OXMPI_SIZE")?);
            let nodes = NodeMap::from_mapping(map.to_str()?, size)?;
            (rank < size).then_some(Place { rank, nodes })
        };
        let wrong = || {
            let text = format!("OXMPI_RANK, OXMPI_SIZE and {NODES} ({map:?}) name no place in a job");
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        Ok(Some(Self { place: read().ok_or_else(wrong)?, broker: Broker::of_job(part) }))
    }
}

impl Bootstrap for Own {
    fn place(&self) -> &Place {
        &self.place
    }

    fn put(&mut self, key: &str, record: &[u8]) -> Result<()> {
        check(key, record);
        self.broker.put(key, record)
    }

    fn fence(&mut self) -> Result<()> {
        self.broker.fence()
    }

    fn get(&mut self, key: &str, _of: u32) -> Result<Vec<u8>> {
        self.broker.get(key)
    }

    /// The state page tells the launcher, with the process's end.
    fn abort(&mut self, _status: u8, _why: &str) {}

    /// The same.
    fn leave(&mut self) {}
}
