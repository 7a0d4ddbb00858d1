//! Who has started this process, and its seat.

use std::io;

use oxmpi_shm::{Invitation, Job, Ticket};

use crate::own::Own;
use crate::pmi1::Pmi1;
use crate::pmix::Pmix;
use crate::{Bootstrap, NodeMap, Place, foreign, node, pmi1, pmix};

/// How a process finds itself.
#[derive(Debug)]
pub enum Joined {
    /// Nobody has launched it: it is a job of its own.
    Alone,
    /// It has a seat in a job.
    Member(World),
    /// Another process that lives has the seat: it has started this one, which is not of the job.
    Outsider {
        /// The rank that the seat is of.
        rank: usize,
        /// The process that has it, or 0 if it cannot be seen from here.
        pid: u32,
    },
}

/// What a process has of its job when it begins.
#[derive(Debug)]
pub struct World {
    /// Its seat in the memory of its node, which has a seat for each rank of the node, in their order.
    pub ticket: Ticket,
    /// Who it is, and where the others are.
    pub place: Place,
    /// The launcher, if there is one to talk to: always, where the job has several nodes.
    pub bootstrap: Option<Box<dyn Bootstrap>>,
    /// Whether the launcher is oxmpi's own, which can be asked for more: a broker.
    pub has_broker: bool,
}

/// Finds the job of this process, and takes its seat there.
///
/// # Errors
/// The system's; `InvalidData` if the environment is damaged; `AlreadyExists` if this process has the seat already, by
/// another copy of oxmpi; `ConnectionReset` if the seat's last owner died in MPI; `Unsupported` if it is one of several
/// processes of a launcher that cannot be talked to.
pub fn join() -> io::Result<Joined> {
    // oxmpi's own launcher hides the stream of another one from its ranks: who has one nevertheless was started by a
    // launcher that runs within such a rank, whose invitation it sees, too.
    if pmi1::has_stream() {
        return among_others();
    }
    Ok(match Job::inherited()? {
        Invitation::None => among_others()?,
        Invitation::Occupied { rank, pid } => {
            // That is the rank on the node.
            let rank = Own::told_place().ok().flatten().map_or(rank, |place| place.rank as usize);
            Joined::Outsider { rank, pid }
        }
        Invitation::Seat(ticket) => Joined::Member(World::of_launcher(ticket)?),
    })
}

/// The same where no memory was made by who has started this process.
fn among_others() -> io::Result<Joined> {
    if let Some((rank, pid)) = pmi1::rank_above().or_else(pmix::rank_above) {
        return Ok(Joined::Outsider { rank, pid });
    }
    if let Some(launcher) = Pmi1::find()? {
        let told = launcher.place.clone();
        return World::among(Box::new(launcher), &told).map(Joined::Member);
    }
    if let Some(launcher) = Pmix::find()? {
        let told = launcher.place.clone();
        return World::among(Box::new(launcher), &told).map(Joined::Member);
    }
    foreign::refuse()?;
    Ok(Joined::Alone)
}

impl World {
    /// That of a launcher which makes no memory, and has `told` where the processes are.
    fn among(mut launcher: Box<dyn Bootstrap>, told: &Place) -> io::Result<Self> {
        let (ticket, place) = node::seat(&mut *launcher, told)?;
        Ok(Self { ticket, place, bootstrap: Some(launcher), has_broker: false })
    }

    /// That of a job of oxmpi's launcher, which has made the node's memory.
    fn of_launcher(ticket: Ticket) -> io::Result<Self> {
        let has_broker = true;
        if let Some((own, place)) = Own::find(&ticket)? {
            check_seat(&ticket, &place)?;
            return Ok(Self { ticket, place, bootstrap: Some(Box::new(own)), has_broker });
        }
        let number = |number| u32::try_from(number).expect("ranks are counted in 32 bits");
        let place = Place { rank: number(ticket.rank()), nodes: NodeMap::one(number(ticket.job().size())) };
        Ok(Self { ticket, place, bootstrap: None, has_broker })
    }
}

/// Whether a seat is the one that a place has on its node.
///
/// # Errors
/// `InvalidData`.
fn check_seat(ticket: &Ticket, place: &Place) -> io::Result<()> {
    let is = |number: u32, what: usize| usize::try_from(number) == Ok(what);
    if is(place.local_rank(), ticket.rank()) && is(place.local_size(), ticket.job().size()) {
        return Ok(());
    }
    let text = format!(
        "rank {} should have seat {} of {} on its node, and has {} of {}",
        place.rank,
        place.local_rank(),
        place.local_size(),
        ticket.rank(),
        ticket.job().size()
    );
    Err(io::Error::new(io::ErrorKind::InvalidData, text))
}
