//! Oxmpi's own launcher: the broker of the node's part of the job.
//!
//! Each request is a short conversation over an abstract socket, as all with brokers: nothing is inherited that a shell
//! or an interpreter in between could close. For the broker a key begins with the round of the job in which it is put:
//! a program that follows another one on the same ranks has records of its own.

use std::{env, io};

use oxmpi_base::Result;
use oxmpi_broker::Broker;
use oxmpi_shm::Ticket;

use crate::{Bootstrap, NodeMap, Place, check};

/// See the module.
#[derive(Debug)]
pub(crate) struct Own {
    broker: Broker,
    round: u32,
}

/// The map of nodes, where there are several.
const NODES: &str = "OXMPI_NODES";

impl Own {
    /// What the environment says of other nodes, and the place of this process there: nothing, if there are none. The
    /// `ticket` is of the node's part.
    ///
    /// # Errors
    /// `InvalidData` if it is damaged.
    pub fn find(ticket: &Ticket) -> io::Result<Option<(Self, Place)>> {
        let (broker, round) = (Broker::of_job(ticket.job().id()), ticket.round());
        Ok(Self::told_place()?.map(|place| (Self { broker, round }, place)))
    }

    /// The place of this process, or of the rank that has started it, where there are several nodes.
    ///
    /// # Errors
    /// `InvalidData` if the environment is damaged.
    pub fn told_place() -> io::Result<Option<Place>> {
        let Some(map) = env::var_os(NODES) else { return Ok(None) };
        let number = |name| env::var(name).ok()?.parse::<u32>().ok();
        let read = || {
            let (rank, size) = (number("OXMPI_RANK")?, number("OXMPI_SIZE")?);
            let nodes = NodeMap::from_mapping(map.to_str()?, size)?;
            (rank < size).then_some(Place { rank, nodes })
        };
        read().map(Some).ok_or_else(|| {
            let text = format!("OXMPI_RANK, OXMPI_SIZE and {NODES} ({map:?}) name no place in a job");
            io::Error::new(io::ErrorKind::InvalidData, text)
        })
    }

    fn in_round(&self, key: &str) -> String {
        format!("{}.{key}", self.round)
    }
}

impl Bootstrap for Own {
    fn put(&mut self, key: &str, record: &[u8]) -> Result<()> {
        check(key, record);
        self.broker.put(&self.in_round(key), record)
    }

    fn fence(&mut self) -> Result<()> {
        self.broker.fence()
    }

    fn get(&mut self, key: &str, _of: u32) -> Result<Vec<u8>> {
        self.broker.get(&self.in_round(key))
    }

    /// The state page tells the launcher, with the process's end.
    fn abort(&mut self, _status: u8, _why: &str) {}

    /// The same.
    fn leave(&mut self) {}
}
