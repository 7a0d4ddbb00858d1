//! A walk through the crate: one function for each thing that MPI does.
//!
//! `cargo oxmpi run -n 4 -p tour` runs all, `... -- ring halo` some, on whatever number of ranks; so does
//! `cargo test -p tour`, on threads. README.md says which of rsmpi's examples each is the counterpart of.

mod collectives;
mod communicators;
mod data;
mod messages;
mod nonblocking;
mod persistent;

use oxmpi::{Communicator, Result};

type Stop = (&'static str, fn(&Communicator<'_>) -> Result<()>);

const STOPS: [Stop; 30] = [
    ("hello", messages::hello),
    ("ring", messages::ring),
    ("modes", messages::modes),
    ("nobody", messages::nobody),
    ("unknown_length", messages::unknown_length),
    ("time", messages::time),
    ("threads", messages::threads),
    ("barrier", collectives::barrier),
    ("broadcast", collectives::broadcast),
    ("gather", collectives::gather),
    ("gather_blocks", collectives::gather_blocks),
    ("exchange", collectives::exchange),
    ("reduce", collectives::reduce),
    ("user_operation", collectives::user_operation),
    ("scan", collectives::scan),
    ("overlap", nonblocking::overlap),
    ("many_requests", nonblocking::many_requests),
    ("collectives_at_once", nonblocking::collectives_at_once),
    ("owned_buffers", nonblocking::owned_buffers),
    ("futures", nonblocking::futures),
    ("structures", data::structures),
    ("columns", data::columns),
    ("packed", data::packed),
    ("complex_numbers", data::complex_numbers),
    ("split", communicators::split),
    ("groups", communicators::groups),
    ("attributes", communicators::attributes),
    ("between_groups", communicators::between_groups),
    ("grid", communicators::grid),
    ("halo", persistent::halo),
];

fn main() -> Result<()> {
    let env = oxmpi::init()?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let chosen = STOPS.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|word| word == name));
    walk(&env.world(), chosen)
}

fn walk<'a>(world: &Communicator<'_>, stops: impl Iterator<Item = &'a Stop>) -> Result<()> {
    for (name, stop) in stops {
        stop(&world.duplicate()?)?;
        if world.rank() == 0 {
            println!("{name}: done");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[oxmpi::test(ranks = [1, 2, 3, 4])]
    fn every_stop_is_reached(world: Communicator<'_>) -> Result<()> {
        walk(&world, STOPS.iter())
    }
}
