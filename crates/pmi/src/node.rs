//! The memory of a node whose launcher makes none: the first of its ranks makes it, and gives it to the others.
//!
//! Where to find the first one, and the secret by which they know each other, is a record that only the job's processes
//! can get. Costs a fence, and a connection for each rank.

use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use oxmpi_broker::{Meeting, Whereabouts};
use oxmpi_shm::{Claim, Job, Ticket};

use crate::Bootstrap;

/// How long ranks may take to come for the memory, from when all have come to the fence.
const PATIENCE: Duration = Duration::from_secs(60);

/// The seat of this process in the memory of its node.
///
/// # Errors
/// The system's; those of the launcher; who is missing, or cannot be reached though it should be on this node.
pub fn seat(bootstrap: &mut dyn Bootstrap) -> io::Result<Ticket> {
    let place = bootstrap.place().clone();
    let (seat, size) = (place.local_rank(), place.local_size());
    let key = format!("memory.{}", place.node());
    let other = |error: oxmpi_base::Error| io::Error::other(error.text().to_owned());
    let job = if seat == 0 {
        let job = Job::create(size)?;
        let meeting = Meeting::open()?;
        bootstrap.put(&key, meeting.whereabouts().to_text().as_bytes()).map_err(other)?;
        bootstrap.fence().map_err(other)?;
        meeting.give(job.file().as_fd(), &(1..size).collect::<Vec<_>>(), PATIENCE)?;
        job
    } else {
        bootstrap.fence().map_err(other)?;
        let first = place.nodes.ranks_of(place.node()).next().unwrap_or_default();
        let record = bootstrap.get(&key, first).map_err(other)?;
        let found = std::str::from_utf8(&record).ok().and_then(Whereabouts::parse);
        let found =
            found.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the record is damaged"))?;
        let memory = found.take(seat, PATIENCE).map_err(|error| {
            let text = format!(
                "rank {} cannot share memory with rank {first}, which the launcher says is on the same node \
                 (in different namespaces of the network, or of different users, they do not meet): {error}",
                place.rank
            );
            io::Error::new(error.kind(), text)
        })?;
        Job::attach(memory)?
    };
    match job.claim(usize::try_from(seat).expect("a seat"))? {
        Claim::Taken(ticket) => Ok(ticket),
        claim => Err(io::Error::other(format!("seat {seat} of the node is not free: {claim:?}"))),
    }
}
